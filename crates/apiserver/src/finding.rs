//! What is not a resource: health, version, discovery, OpenAPI, metrics.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use parking_lot::Mutex;
use quadrille_machinery::status::Status;
use serde_json::{Value, json};

use crate::{
    accept,
    auth::service_account,
    catalog::Catalog,
    discovery, kinds, openapi,
    options::Query,
    path::{Path, Target},
    reply,
    resource::Resource,
    server::Shared,
};

/// A document as it goes out.
#[derive(Clone, Debug)]
struct Document {
    body: Bytes,
    etag: String,
}

/// Discovery and OpenAPI documents, built when first asked for and kept until the catalog changes.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    kept: Mutex<(u64, HashMap<String, Document>)>,
}

impl Documents {
    /// The document of a name, made by `make` unless it is kept.
    fn get(
        &self,
        catalog: &Catalog,
        name: &str,
        make: impl FnOnce(&[Arc<Resource>]) -> Option<Value>,
    ) -> Option<Document> {
        self.get_bytes(catalog, name, |all| {
            Some(reply::typed_first(&make(all)?).into())
        })
    }

    /// The same for what is no JSON.
    fn get_bytes(
        &self,
        catalog: &Catalog,
        name: &str,
        make: impl FnOnce(&[Arc<Resource>]) -> Option<Bytes>,
    ) -> Option<Document> {
        {
            let mut kept = self.kept.lock();
            if kept.0 != catalog.generation {
                *kept = (catalog.generation, HashMap::new());
            }
            if let Some(document) = kept.1.get(name) {
                return Some(document.clone());
            }
        }
        let body = make(catalog.resources())?;
        let document = Document {
            etag: discovery::etag(&body),
            body,
        };
        let mut kept = self.kept.lock();
        if kept.0 == catalog.generation {
            kept.1.insert(name.to_owned(), document.clone());
        }
        Some(document)
    }
}

fn health(check: Option<&str>) -> Response {
    match check {
        None | Some("ping" | "etcd" | "log") => reply::text(200, "ok"),
        Some(_) => page(),
    }
}

/// 404 in plain text: what is no API at all.
pub(crate) fn page() -> Response {
    reply::text(404, "404 page not found\n")
}

fn version() -> Response {
    let kubernetes = kinds::load().kubernetes();
    let mut parts = kubernetes.split('.');
    let (major, minor) = (parts.next().unwrap_or("1"), parts.next().unwrap_or("0"));
    reply::json(
        200,
        serde_json::to_string_pretty(&json!({
            "major": major,
            "minor": minor,
            "gitVersion": format!("v{kubernetes}"),
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "none",
            "compiler": "rustc",
            "platform": "linux/amd64",
            "emulationMajor": major,
            "emulationMinor": minor,
            "minCompatibilityMajor": major,
            "minCompatibilityMinor": minor,
        }))
        .unwrap_or_default(),
    )
}

/// The answer to a path that is no resource.
pub(crate) fn answer(shared: &Shared, path: &Path, query: &Query, headers: &HeaderMap) -> Response {
    let catalog = shared.catalog.snapshot();
    let documents = &shared.documents;
    match path {
        Path::Root => reply::value(200, &json!({ "paths": root_paths(&catalog) })),
        Path::CoreVersions if wants_aggregated(headers) => aggregated(
            documents.get(&catalog, "core", |all| {
                Some(discovery::aggregated(all, true))
            }),
            headers,
        ),
        Path::Groups if wants_aggregated(headers) => aggregated(
            documents.get(&catalog, "groups", |all| {
                Some(discovery::aggregated(all, false))
            }),
            headers,
        ),
        Path::CoreVersions => reply::value(200, &discovery::api_versions(&shared.address.read())),
        Path::Groups => reply::value(200, &discovery::group_list(catalog.resources())),
        Path::Group(name) => found(discovery::group(catalog.resources(), name)),
        Path::Version { group, version } => {
            match discovery::resource_list(catalog.resources(), group, version) {
                Some(list) => reply::value(200, &list),
                None => no_such_path(is_built_in_group(&catalog, group)),
            }
        }
        Path::Lost => no_such_path(true),
        Path::OpenApiV2 => openapi_v2(documents, &catalog, headers),
        Path::OpenApiV3(None) => {
            let document = documents.get(&catalog, "v3", |all| Some(openapi::index(all)));
            let mut response = cached(document, headers);
            // Real servers do not say that their index is JSON.
            if response.headers().contains_key(header::CONTENT_TYPE) {
                let plain = HeaderValue::from_static("text/plain; charset=utf-8");
                response.headers_mut().insert(header::CONTENT_TYPE, plain);
            }
            response
        }
        Path::OpenApiV3(Some(name)) => {
            let Some((group, version)) = group_version(name) else {
                return page();
            };
            let document = documents.get(&catalog, &format!("v3/{name}"), |all| {
                openapi::document(all, group, version)
            });
            openapi_v3(document, &catalog, group, version, query, headers)
        }
        Path::TokenIssuer => token_issuer(&shared.address.read()),
        Path::TokenKeys => token_keys(shared),
        Path::Health { check } => health(check.as_deref()),
        Path::ServerVersion => version(),
        Path::Metrics | Path::Unknown | Path::Resource(_) => page(),
    }
}

/// What a verifier of service accounts' tokens must know. Both documents may be kept for an hour.
fn token_issuer(address: &str) -> Response {
    let document = json!({
        "issuer": service_account::ISSUER,
        "jwks_uri": format!("https://{address}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    });
    public_document(&document, "application/json")
}

fn token_keys(shared: &Shared) -> Response {
    let keys = json!({ "keys": [shared.service_account_key.public_key()] });
    public_document(&keys, "application/jwk-set+json")
}

fn public_document(document: &Value, content_type: &'static str) -> Response {
    let mut response = reply::value(200, document);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=3600"),
    );
    response
}

fn root_paths(catalog: &Catalog) -> Vec<String> {
    let mut paths: BTreeSet<String> = [
        "/.well-known/openid-configuration",
        "/api",
        "/apis",
        "/apis/",
        "/healthz",
        "/livez",
        "/metrics",
        "/openapi/v2",
        "/openapi/v3",
        "/openid/v1/jwks",
        "/readyz",
        "/version",
    ]
    .map(str::to_owned)
    .into();
    for resource in catalog.resources() {
        if resource.group.is_empty() {
            paths.insert(format!("/api/{}", resource.version));
        } else {
            paths.insert(format!("/apis/{}", resource.group));
            paths.insert(format!("/apis/{}/{}", resource.group, resource.version));
        }
    }
    paths.into_iter().collect()
}

/// The group and version of an OpenAPI document: `api/v1`, `apis/apps/v1`.
fn group_version(name: &str) -> Option<(&str, &str)> {
    match name.split('/').collect::<Vec<_>>().as_slice() {
        ["api", version] => Some(("", version)),
        ["apis", group, version] => Some((group, version)),
        _ => None,
    }
}

/// Whether a client prefers discovery in one document.
fn wants_aggregated(headers: &HeaderMap) -> bool {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let first = accept.split(',').find(|clause| {
        let media = clause.split(';').next().unwrap_or("").trim();
        matches!(media, "application/json" | "*/*" | "")
    });
    first.is_some_and(|clause| {
        clause.contains("as=APIGroupDiscoveryList") && clause.contains("v=v2")
    })
}

fn found(document: Option<Value>) -> Response {
    document.map_or_else(page, |document| reply::value(200, &document))
}

fn aggregated(document: Option<Document>, headers: &HeaderMap) -> Response {
    let mut response = cached(document, headers);
    let media = HeaderValue::from_static(discovery::AGGREGATED_MEDIA_TYPE);
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("Accept"));
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
    response
}

/// A document that the client may have already.
fn cached(document: Option<Document>, headers: &HeaderMap) -> Response {
    let Some(document) = document else {
        return page();
    };
    let known = headers
        .get(header::IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    let mut response = if known == Some(document.etag.as_str()) {
        let mut response = reply::json(304, Bytes::new());
        response.headers_mut().remove(header::CONTENT_TYPE);
        response
    } else {
        reply::json(200, document.body)
    };
    if let Ok(etag) = HeaderValue::from_str(&document.etag) {
        response.headers_mut().insert(header::ETAG, etag);
    }
    response
}

/// The version 2 document, as JSON or as protobuf: whichever the client names first.
fn openapi_v2(documents: &Documents, catalog: &Catalog, headers: &HeaderMap) -> Response {
    let known = |media: &&str| {
        let json = ["*/*", "application/*", "application/json"];
        json.contains(media) || is_protobuf_v2(media)
    };
    let mut response = match accept::media_types(headers).into_iter().find(known) {
        Some(media) if is_protobuf_v2(media) => {
            let document = documents.get_bytes(catalog, "v2 as protobuf", |all| {
                Some(openapi::swagger_protobuf(all).into())
            });
            let mut response = cached(document, headers);
            if response.headers().contains_key(header::CONTENT_TYPE) {
                let protobuf = HeaderValue::from_static(openapi::PROTOBUF_V2);
                response
                    .headers_mut()
                    .insert(header::CONTENT_TYPE, protobuf);
            }
            response
        }
        Some(_) => {
            let document = documents.get(catalog, "v2", |all| Some(openapi::swagger(all)));
            cached(document, headers)
        }
        None => {
            let mut response = reply::json(406, Bytes::new());
            response.headers_mut().remove(header::CONTENT_TYPE);
            response
        }
    };
    let vary = HeaderValue::from_static("Accept");
    response.headers_mut().append(header::VARY, vary);
    response
}

fn is_protobuf_v2(media: &str) -> bool {
    media == openapi::PROTOBUF_V2 || media == openapi::PROTOBUF_V2_OLD
}

/// A version 3 document: under the hash that the index names it may be kept for a year.
fn openapi_v3(
    document: Option<Document>,
    catalog: &Catalog,
    group: &str,
    version: &str,
    query: &Query,
    headers: &HeaderMap,
) -> Response {
    let hash = openapi::document_hash(catalog.resources(), group, version);
    let (Some(mut document), Some(hash)) = (document, hash) else {
        return page();
    };
    document.etag = format!("\"{hash}\"");
    let asked = query.get("hash");
    if asked.is_some_and(|asked| asked != hash) {
        let location = format!(
            "/openapi/v3/{}?hash={hash}",
            openapi::document_path(group, version)
        );
        let mut response = reply::json(301, Bytes::new());
        if let Ok(location) = HeaderValue::from_str(&location) {
            response.headers_mut().insert(header::LOCATION, location);
        }
        return response;
    }
    let mut response = cached(Some(document), headers);
    if asked.is_some() {
        let forever = HeaderValue::from_static("public, immutable");
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, forever);
    }
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

/// Whether a path leads to a document that can only be read.
pub(crate) fn is_document(path: &Path) -> bool {
    matches!(
        path,
        Path::CoreVersions
            | Path::Groups
            | Path::Group(_)
            | Path::Version { .. }
            | Path::ServerVersion
    )
}

fn is_built_in_group(catalog: &Catalog, group: &str) -> bool {
    let mut resources = catalog.resources().iter();
    resources.any(|resource| resource.is_built_in() && resource.group == group)
}

/// A resource that nobody serves.
pub(crate) fn unknown_resource(catalog: &Catalog, target: &Target) -> Response {
    no_such_path(is_built_in_group(catalog, &target.group))
}

/// Built-in groups say with a Status that a path leads nowhere, all others with a page.
fn no_such_path(built_in: bool) -> Response {
    if built_in {
        reply::status(&Status::no_such_path())
    } else {
        page()
    }
}

/// A path of a served resource that leads nowhere: a wrong scope, or a part that it does not have. Custom
/// resources deny the whole object for the latter.
pub(crate) fn page_not_found(resource: &Resource, target: &Target) -> Response {
    if !resource.is_built_in() && target.subresource.is_some() {
        let name = target.name.as_deref().unwrap_or_default();
        return reply::status(&Status::not_found(&resource.group, &resource.plural, name));
    }
    no_such_path(resource.is_built_in())
}

//! `serviceaccounts/token`: a token that stands for an account.

use axum::response::Response;
use jiff::Timestamp;
use quadrille_machinery::{field_error::FieldError, status::Status};
use serde_json::{Value, json};

use super::{
    super::{Request, get},
    spoken,
};
use crate::{
    auth::service_account::{Binding, Reference},
    clock,
    options::WriteOptions,
    policies::{self, Operation},
    reply,
};

/// How long a token lives when nobody says.
const DEFAULT_LIFETIME_SECONDS: i64 = 3600;
/// The shortest life that may be asked for.
const MIN_LIFETIME_SECONDS: i64 = 600;
/// The longest.
const MAX_LIFETIME_SECONDS: i64 = 1 << 32;

/// Issues a token for the named account.
pub(crate) fn create(request: &Request) -> Result<Response, Status> {
    let options = WriteOptions::read(&request.query, "CreateOptions")?;
    let mut asked = spoken::read(request, &options, "authentication.k8s.io", "TokenRequest")?;
    let account = get::current(request)?.object(&request.resource)?;
    let now = request.shared.clock.now();
    let lifetime = asked["spec"]["expirationSeconds"]
        .as_i64()
        .unwrap_or(DEFAULT_LIFETIME_SECONDS);
    let wrong = match lifetime {
        ..MIN_LIFETIME_SECONDS => Some("may not specify a duration less than 10 minutes"),
        MIN_LIFETIME_SECONDS..=MAX_LIFETIME_SECONDS => None,
        _ => Some("may not specify a duration larger than 2^32 seconds"),
    };
    if let Some(why) = wrong {
        let error = FieldError::invalid("spec.expirationSeconds", json!(lifetime), why);
        return Err(Status::invalid(
            "authentication.k8s.io",
            "TokenRequest",
            "",
            &[error],
        ));
    }
    policies::admit(
        request,
        &options.change(Operation::Create, &asked, &Value::Null),
    )?;
    let audiences: Vec<String> = asked["spec"]["audiences"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let binding = Binding {
        namespace: text(&account["metadata"]["namespace"]),
        serviceaccount: Reference {
            name: text(&account["metadata"]["name"]),
            uid: text(&account["metadata"]["uid"]),
        },
        ..bound(request, &asked["spec"]["boundObjectRef"])?
    };
    let token = request
        .shared
        .service_account_key
        .issue(binding, &audiences, now.as_second(), lifetime)
        .map_err(Status::internal)?;
    let expires = Timestamp::from_second(now.as_second() + lifetime).unwrap_or(now);
    for field in ["name", "namespace", "uid"] {
        asked["metadata"][field] = account["metadata"][field].clone();
    }
    asked["metadata"]["creationTimestamp"] = json!(&clock::seconds(now));
    asked["spec"]["expirationSeconds"] = json!(lifetime);
    if audiences.is_empty() {
        asked["spec"]["audiences"] = json!([crate::auth::service_account::ISSUER]);
    }
    asked["spec"]
        .as_object_mut()
        .map(|spec| spec.entry("boundObjectRef").or_insert(Value::Null));
    asked["status"] = json!({ "token": token, "expirationTimestamp": clock::seconds(expires) });
    Ok(reply::value(201, &asked))
}

/// The object whose life bounds the token's: it must exist, with the uid that the client saw.
fn bound(request: &Request, reference: &Value) -> Result<Binding, Status> {
    let Some(kind) = reference["kind"].as_str().filter(|kind| !kind.is_empty()) else {
        return Ok(Binding::default());
    };
    let name = reference["name"].as_str().unwrap_or("").to_owned();
    let namespace = request.namespace().unwrap_or_default();
    let (plural, key) = match kind {
        "Pod" => ("pods", format!("pods/{namespace}/{name}")),
        "Secret" => ("secrets", format!("secrets/{namespace}/{name}")),
        "Node" => ("nodes", format!("nodes/{name}")),
        other => {
            let api_version = reference["apiVersion"].as_str().unwrap_or_default();
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            return Err(Status::bad_request(format!(
                "cannot bind token to object of type {group}/{version}, Kind={other}"
            )));
        }
    };
    let record = request
        .shared
        .store
        .get(key.as_bytes())
        .map_err(Status::internal)?;
    let record = record.ok_or_else(|| Status::not_found("", plural, &name))?;
    let object: Value = serde_json::from_slice(&record.value).map_err(Status::internal)?;
    let account = request.name()?;
    if kind == "Pod" && object["spec"]["serviceAccountName"] != account {
        return Err(Status::bad_request(format!(
            "cannot bind token for serviceaccount {account:?} to pod running with different serviceaccount name."
        )));
    }
    let uid = object["metadata"]["uid"].as_str().unwrap_or("").to_owned();
    if let Some(wanted) = reference["uid"]
        .as_str()
        .filter(|wanted| !wanted.is_empty())
        && wanted != uid
    {
        return Err(Status::conflict(
            "",
            kind,
            &name,
            &format!(
                "the UID in the bound object reference ({wanted}) does not match the UID in record. The object might have been deleted and then recreated"
            ),
        ));
    }
    let reference = Some(Reference { name, uid });
    Ok(match kind {
        "Pod" => Binding {
            pod: reference,
            ..Binding::default()
        },
        "Secret" => Binding {
            secret: reference,
            ..Binding::default()
        },
        _ => Binding {
            node: reference,
            ..Binding::default()
        },
    })
}

//! Custom resource definitions, ours and other people's.

use std::{borrow::Cow, iter};

use anyhow::{Context as _, ensure};
use http::{Request, header};
use kube::{Client, client::Body};
use quadrille_apiserver::{Definitions, Options, Server, auth::User};
use quadrille_node::third_party;
use quadrille_store::{Options as StoreOptions, Store};
use quadrille_testkit::{Cluster, assets, real};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Applies a definition as a dry run, over one that is there already too; gives the warnings.
async fn try_out(cluster: &Cluster, definition: &Value) -> anyhow::Result<Vec<String>> {
    let name = definition["metadata"]["name"].as_str().context("a name")?;
    let request = Request::patch(format!(
        "{COLLECTION}/{name}?dryRun=All&fieldManager=tests&fieldValidation=Strict&force=true"
    ))
    .header(header::CONTENT_TYPE, "application/apply-patch+yaml")
    .body(Body::from(serde_json::to_vec(definition)?))?;
    let response = cluster.client().send(request).await?;
    let status = response.status();
    let warnings = response.headers().get_all(header::WARNING).iter();
    let warnings = warnings
        .map(|value| value.to_str().unwrap_or("?").to_owned())
        .collect();
    let body = response.into_body().collect_bytes().await?;
    ensure!(
        status.is_success(),
        "{name}: {status} {}",
        String::from_utf8_lossy(&body)
    );
    Ok(warnings)
}

#[tokio::test]
async fn our_definitions_are_accepted_without_a_warning() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    for definition in &quadrille_types::definitions() {
        let warnings = try_out(&cluster, definition).await?;
        assert_eq!(warnings, Vec::<String>::new(), "{}", definition["metadata"]);
    }
    Ok(())
}

#[tokio::test]
async fn definitions_of_other_projects_are_accepted() -> anyhow::Result<()> {
    if real::is_skipped() {
        return Ok(());
    }
    let cluster = Cluster::start().await?;
    let mut definitions: Vec<Value> =
        vec![serde_saphyr::from_str(assets::SECRET_PROVIDER_CLASS_CRD)?];
    for source in assets::CRD_SOURCES {
        for path in assets::crds(source.name)? {
            let text = std::fs::read_to_string(&path)?;
            definitions
                .push(serde_saphyr::from_str(&text).with_context(|| path.display().to_string())?);
        }
    }
    assert!(definitions.len() > 80, "{}", definitions.len());
    for definition in &definitions {
        try_out(&cluster, definition).await?;
    }
    Ok(())
}

/// A stored definition without what is another one each time.
#[derive(Debug, PartialEq)]
struct Stored {
    metadata: Value,
    /// To the letter.
    spec: String,
    status: Value,
}

impl Stored {
    async fn read(client: &Client, name: &str) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Parts<'a> {
            metadata: Value,
            #[serde(borrow)]
            spec: &'a RawValue,
            status: Value,
        }
        let request = Request::get(format!("{COLLECTION}/{name}")).body(Vec::new())?;
        let text = client.request_text(request).await?;
        let mut parts: Parts<'_> = serde_json::from_str(&text)?;
        let metadata = parts.metadata.as_object_mut().context("metadata")?;
        for field in [
            "creationTimestamp",
            "managedFields",
            "resourceVersion",
            "uid",
        ] {
            metadata.remove(field);
        }
        let conditions = parts.status["conditions"].as_array_mut();
        for condition in conditions.context("conditions")? {
            condition["lastTransitionTime"].take();
        }
        Ok(Self {
            metadata: parts.metadata,
            spec: parts.spec.get().to_owned(),
            status: parts.status,
        })
    }
}

/// An embedded server with these definitions and no others.
async fn server_with(definitions: Definitions) -> anyhow::Result<(Server, Client)> {
    let mut options = Options::new(Store::in_memory(StoreOptions::default())?)?;
    options.definitions = definitions;
    let server = Server::start(options).await?;
    let client = Client::new(server.router_as(&User::admin()), "default");
    Ok((server, client))
}

/// Nobody checks what is installed: here is where a definition that is not complete, or not valid, is found.
#[tokio::test]
async fn what_is_installed_is_what_the_api_would_store() -> anyhow::Result<()> {
    let ours = quadrille_types::DEFINITIONS.lines().map(Cow::from);
    let shipped: Vec<Cow<'static, str>> = ours
        .chain(third_party::definitions().map(Cow::from))
        .collect();
    assert!(shipped.len() > 60, "{}", shipped.len());
    let (_installing, installed) = server_with(Box::new(shipped.clone().into_iter())).await?;
    let (_empty, created) = server_with(Box::new(iter::empty())).await?;
    for text in &shipped {
        let definition: Value = serde_json::from_str(text)?;
        let name = definition["metadata"]["name"].as_str().context("a name")?;
        let request = Request::post(format!("{COLLECTION}?fieldValidation=Strict"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(text.as_bytes().to_vec())?;
        let _: Value = created
            .request(request)
            .await
            .with_context(|| name.to_owned())?;
        let wanted = Stored::read(&created, name).await?;
        let found = Stored::read(&installed, name).await?;
        assert!(found == wanted, "{name}: {found:#?}\nwanted: {wanted:#?}");
    }
    Ok(())
}

//! Custom resource definitions for a cluster that runs already.

use anyhow::Context;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    runtime::wait::conditions::is_crd_established,
};
use serde_json::Value;

use crate::eventually_object;

/// Applies definitions and waits until their kinds are served. Doing it again changes nothing.
pub async fn install(client: &Client, definitions: &[Value]) -> anyhow::Result<()> {
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let params = PatchParams::apply("testkit").force();
    let mut names = Vec::new();
    for definition in definitions {
        let name = definition["metadata"]["name"]
            .as_str()
            .context("a definition has a name")?;
        api.patch(name, &params, &Patch::Apply(definition))
            .await
            .with_context(|| format!("apply {name}"))?;
        names.push(name);
    }
    for name in names {
        let condition = is_crd_established();
        eventually_object(&api, name, "the definition is established", |object| {
            kube::runtime::wait::Condition::matches_object(&condition, object)
        })
        .await;
    }
    Ok(())
}

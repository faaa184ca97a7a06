//! The Endpoints of a Deployment: one for each template of its artifact; those that lost theirs go.

use std::{collections::BTreeMap, sync::Arc};

use quadrille_machinery::patch::merge;
use quadrille_planes::Trouble;
use quadrille_render::deployment_system::endpoint_templates;
use quadrille_types::{DeployableArtifact, Deployment, Endpoint};
use serde_json::{Value, json};

use crate::{
    chain::shelves::{is_going, name, namespace, uid},
    platform::step::Kind,
    releases::Context,
};

type Words = BTreeMap<String, String>;

/// Makes the Endpoints of a Deployment be those of its artifact.
pub(super) async fn see_to(
    context: &Context,
    deployment: &Deployment,
    artifact: &DeployableArtifact,
    there: &[Arc<Endpoint>],
) -> Result<(), Trouble> {
    // What is wrong with templates was told before anything was rendered.
    let wanted = endpoint_templates::of(deployment, artifact).unwrap_or_default();
    let collection = Kind::Endpoint.path(namespace(deployment));
    for surplus in there.iter().filter(|one| {
        let is_wanted = wanted.iter().any(|wanted| name(wanted) == name(&***one));
        !is_wanted && !is_going(&***one)
    }) {
        let path = format!("{collection}/{}", name(&**surplus));
        context.control.delete(path, uid(&**surplus)).await?;
    }
    for endpoint in &wanted {
        let known = there.iter().find(|one| name(&***one) == name(endpoint));
        match known {
            None => make(context, &collection, endpoint).await?,
            Some(known) if is_going(&**known) => {}
            Some(known) => {
                let Some(patch) = difference(known, endpoint) else {
                    continue;
                };
                let url = format!("{collection}/{}", name(endpoint));
                context.control.patch_at(url, &patch).await?;
            }
        }
    }
    Ok(())
}

async fn make(context: &Context, collection: &str, endpoint: &Endpoint) -> Result<(), Trouble> {
    let mut object = json!(endpoint);
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    match context.control.create(collection.to_owned(), &object).await {
        // The watch brings it, or it is somebody else's, which its own status tells.
        Err(Trouble::AlreadyExists(_)) => Ok(()),
        made => made.map(drop),
    }
}

/// What has to change of an Endpoint; nothing if nothing has to. Labels and annotations that others put there are theirs.
fn difference(known: &Endpoint, wanted: &Endpoint) -> Option<Value> {
    let is_there = |has: &Option<Words>, wants: &Option<Words>| {
        let mut wanted = wants.iter().flatten();
        wanted.all(|(key, value)| has.as_ref().and_then(|has| has.get(key)) == Some(value))
    };
    let (has, wants) = (&known.metadata, &wanted.metadata);
    let is_labelled =
        is_there(&has.labels, &wants.labels) && is_there(&has.annotations, &wants.annotations);
    let spec = merge::between(&json!(known.spec), &json!(wanted.spec));
    if spec.is_none() && is_labelled {
        return None;
    }
    Some(json!({
        "metadata": {
            "resourceVersion": has.resource_version,
            "labels": wants.labels,
            "annotations": wants.annotations.clone().unwrap_or_default(),
        },
        "spec": spec.unwrap_or_else(|| json!({})),
    }))
}

//! The Endpoints of a Deployment: one for each template of its artifact.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use quadrille_types::{
    DeployableArtifact, Deployment, Endpoint, EndpointTemplate,
    annotations::{DESCRIPTION, DISPLAY_NAME},
    endpoint::BackendKind,
    labels::hierarchy,
    names::generate,
};

use super::{
    error::{At, Found, Mistakes},
    overrides::{self, artifact_name},
};
use crate::ports::Listens;

/// The name of a template that has none.
const UNNAMED: &str = "endpoint";

/// The Endpoints that there should be for a Deployment. Others that it owns have lost their template.
pub fn of(
    deployment: &Deployment,
    artifact: &DeployableArtifact,
) -> Result<Vec<Endpoint>, Mistakes> {
    let mut found = Found::default();
    let wanted = overrides::wanted(artifact, deployment, &mut found);
    check(&wanted.templates, artifact, &mut found);
    found.finish()?;
    let endpoints = wanted.templates.into_iter();
    Ok(endpoints
        .map(|template| endpoint(deployment, template))
        .collect())
}

fn name_of(template: &EndpointTemplate) -> &str {
    let name = template.metadata.name.as_deref();
    name.filter(|name| !name.is_empty()).unwrap_or(UNNAMED)
}

/// Notes what is wrong with templates.
pub(super) fn check(
    templates: &[EndpointTemplate],
    artifact: &DeployableArtifact,
    found: &mut Found,
) {
    let at = At::new(artifact_name(artifact), "spec.configuration");
    let mut names = BTreeSet::new();
    for (index, template) in templates.iter().enumerate() {
        let at = at.entry("endpointTemplates", index);
        let name = name_of(template);
        if !names.insert(name) {
            found.push(
                at.below("metadata.name")
                    .wrong(format!("is {name:?}, which comes twice: give each its own")),
            );
        }
        let backend = &template.spec.backend_ref;
        if backend.kind != BackendKind::Component {
            continue;
        }
        match &backend.component_ref {
            None => found.push(
                at.below("spec.backendRef.componentRef")
                    .wrong("is missing: give the port that the component listens on"),
            ),
            Some(component) if !(1..=65535).contains(&component.port) => {
                found.push(
                    at.below("spec.backendRef.componentRef.port")
                        .wrong(format!("is {}, must be 1 to 65535", component.port)),
                );
            }
            Some(_) => {}
        }
    }
}

/// Where the pods of a deployment listen: at the ports of templates that lead to them.
pub(super) fn listens(templates: &[EndpointTemplate]) -> Vec<Listens> {
    let ports = templates.iter().filter_map(|template| {
        let backend = &template.spec.backend_ref;
        let component = backend
            .component_ref
            .as_ref()
            .filter(|_| backend.kind == BackendKind::Component)?;
        Some(Listens {
            port: component.port,
            target_port: component.port,
            transport: template.spec.protocol.transport(),
        })
    });
    ports.collect()
}

fn endpoint(deployment: &Deployment, template: EndpointTemplate) -> Endpoint {
    let owner = &deployment.metadata;
    let own_name = owner.name.as_deref().unwrap_or_default();
    let name = name_of(&template).to_owned();
    let mut labels = owner.labels.clone().unwrap_or_default();
    let logical = labels.get(hierarchy::NAME).cloned();
    labels.insert(
        hierarchy::DEPLOYMENT.to_owned(),
        logical.unwrap_or_else(|| own_name.to_owned()),
    );
    labels.insert(hierarchy::NAME.to_owned(), name.clone());
    let said = template.metadata.annotations.unwrap_or_default();
    let mut annotations: BTreeMap<String, String> = owner.annotations.clone().unwrap_or_default();
    annotations.retain(|key, _| [DISPLAY_NAME, DESCRIPTION].contains(&key.as_str()));
    for key in [DISPLAY_NAME, DESCRIPTION] {
        if let Some(text) = said.get(key) {
            annotations.insert(key.to_owned(), text.clone());
        }
    }
    let mut endpoint = Endpoint::new(&generate::name(&[own_name, &name]), template.spec);
    endpoint.metadata = ObjectMeta {
        name: endpoint.metadata.name.take(),
        namespace: owner.namespace.clone(),
        labels: Some(labels),
        annotations: Some(annotations).filter(|annotations| !annotations.is_empty()),
        owner_references: owner.uid.clone().map(|uid| {
            vec![OwnerReference {
                api_version: format!("{}/{}", quadrille_types::GROUP, quadrille_types::VERSION),
                kind: "Deployment".to_owned(),
                name: own_name.to_owned(),
                uid,
                controller: Some(true),
                block_owner_deletion: Some(true),
            }]
        }),
        ..ObjectMeta::default()
    };
    endpoint
}

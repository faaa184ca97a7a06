//! What runs of a Deployment, with its Endpoints.

use std::collections::BTreeMap;

use quadrille_types::{
    Build, ConfigurationGroup, DeployableArtifact, Deployment, DeploymentTrack,
    Endpoint as ExposedEndpoint, EndpointTemplate, SecretReference, SecretReferenceSpec,
    annotations::DISPLAY_NAME, endpoint::BackendKind, labels::hierarchy,
    release_state::ReleaseState, workload::Endpoint,
};
use serde_json::Value;

use super::{Own, Running, Whose, given, groups, own_name};
use crate::deployment_system::{
    Deployed, Ground, Mistakes,
    deployment::{self, Inputs},
    endpoint::{self, EndpointInputs},
    endpoint_templates,
    error::Found,
    migration::{
        MigrationError, Warning,
        pile::{Site, called, label, name, read},
    },
    overrides,
};

/// The container of every Deployment.
const CONTAINER: &str = "main";

/// What runs of a Deployment.
pub(super) fn running(
    whose: Whose<'_>,
    track: &DeploymentTrack,
    deployment: &Deployment,
    warnings: &mut Vec<Warning>,
) -> Result<Running, MigrationError> {
    let by = format!("Deployment {}", own_name(&deployment.metadata));
    let labels = deployment.metadata.labels.clone().unwrap_or_default();
    let environment = labels.get(hierarchy::ENVIRONMENT);
    let site = whose
        .pile
        .site(environment.map_or("", String::as_str), &by)?;
    let artifact = artifact(whose, deployment, &by)?;
    let builds: Vec<Build> = whose.pile.all("Build")?;
    let all: Vec<ConfigurationGroup> = whose.pile.all("ConfigurationGroup")?;
    let secrets = secrets(whose)?;
    let plan = deployment::plan(&Inputs {
        deployment,
        artifact: &artifact,
        builds: builds.iter().collect(),
        project: whose.project,
        component: whose.component,
        track,
        environment: site.stage(),
        plane: site.plane(),
        groups: all.iter().collect(),
        secrets: &secrets,
        rivals: Vec::new(),
    });
    let plan = plan.map_err(|mistakes| unrendered(&site, &mistakes))?;
    warnings.extend(plan.notes.iter().map(|note| Warning::new(&by, note)));
    let mut objects: Vec<Value> = plan.objects.into_iter().map(|one| one.object).collect();
    let mut ends = vec![("Deployment", own_name(&deployment.metadata).to_owned())];
    let endpoints = endpoint_templates::of(deployment, &artifact);
    for endpoint in endpoints.map_err(|mistakes| unrendered(&site, &mistakes))? {
        let endpoint = as_written(whose, endpoint)?;
        ends.push(("Endpoint", own_name(&endpoint.metadata).to_owned()));
        objects.extend(exposed(
            whose, track, deployment, &site, &endpoint, warnings,
        ));
    }
    let wanted = overrides::wanted(&artifact, deployment, &mut Found::default());
    tell_leftovers(deployment, &artifact, &wanted.templates, warnings);
    let (env, files) = given(&wanted.settings);
    let image = deployed_image(&objects);
    let (used, secrets) = wanted.settings.names();
    let parts = [
        own_name(&whose.component.metadata),
        own_name(&track.metadata),
    ];
    Ok(Running {
        groups: groups(whose, &used, &parts),
        parts: parts.map(str::to_owned).to_vec(),
        site,
        by: ("Deployment", own_name(&deployment.metadata).to_owned()),
        objects,
        state: ReleaseState::Active,
        container: CONTAINER.to_owned(),
        own: Own {
            image,
            command: Vec::new(),
            args: wanted.args,
            env,
            files,
        },
        endpoints: listens(&wanted.templates),
        connections: Vec::new(),
        secrets,
        ends,
    })
}

pub(super) fn unrendered(site: &Site, mistakes: &Mistakes) -> MigrationError {
    MigrationError::NotRendered {
        environment: site.name.clone(),
        cause: mistakes.to_string(),
    }
}

/// The references to secrets of the organization, by name.
pub(super) fn secrets(
    whose: Whose<'_>,
) -> Result<BTreeMap<String, SecretReferenceSpec>, MigrationError> {
    let all: BTreeMap<String, SecretReference> = whose.pile.by_name("SecretReference")?;
    Ok(all
        .into_iter()
        .map(|(name, one)| (name, one.spec))
        .collect())
}

fn artifact(
    whose: Whose<'_>,
    deployment: &Deployment,
    by: &str,
) -> Result<DeployableArtifact, MigrationError> {
    let wanted = &deployment.spec.deployment_artifact_ref;
    let mut own = whose.pile.of_kind("DeployableArtifact").filter(|one| {
        label(one, hierarchy::COMPONENT) == called(&whose.component.metadata)
            && [name(one), label(one, hierarchy::NAME)].contains(&wanted.as_str())
    });
    match own.next() {
        Some(found) => Ok(read(found)?),
        None => whose.pile.get("DeployableArtifact", wanted, by),
    }
}

/// An Endpoint as it is among the documents, or as its template makes it.
fn as_written(whose: Whose<'_>, made: ExposedEndpoint) -> Result<ExposedEndpoint, MigrationError> {
    let mut written = whose.pile.of_kind("Endpoint");
    match written.find(|one| name(one) == own_name(&made.metadata)) {
        Some(found) => Ok(read(found)?),
        None => Ok(made),
    }
}

/// What leads to an Endpoint.
fn exposed(
    whose: Whose<'_>,
    track: &DeploymentTrack,
    deployment: &Deployment,
    site: &Site,
    endpoint: &ExposedEndpoint,
    warnings: &mut Vec<Warning>,
) -> Vec<Value> {
    let component = whose.component;
    let component_type = component.spec.older_type.as_deref().unwrap_or_default();
    let owner = whose.names();
    let who = Deployed {
        organization: owner.organization,
        project: owner.project,
        environment: &site.name,
        component: called(&component.metadata),
        component_type,
        track: called(&track.metadata),
        deployment: called(&deployment.metadata),
    };
    let ground = Ground::of_deployment(&who, owner.component, own_name(&track.metadata));
    let exposure = endpoint::plan(&EndpointInputs {
        name: own_name(&endpoint.metadata),
        called: called(&endpoint.metadata),
        spec: &endpoint.spec,
        is_web_application: component_type == "WebApplication",
        place: ground.place(owner, site.stage(), site.plane()),
        taken: &[],
    });
    let about = format!("Endpoint {}", own_name(&endpoint.metadata));
    match exposure {
        Ok(exposure) => {
            let notes = exposure.notes.iter();
            warnings.extend(notes.map(|note| Warning::new(&about, note)));
            exposure.objects.into_iter().map(|one| one.object).collect()
        }
        Err(error) => {
            let words = format!(
                "nothing leads to it in {} now, nor will: {error}",
                site.name
            );
            warnings.push(Warning::new(about, words));
            Vec::new()
        }
    }
}

/// What is written and moves nowhere.
fn tell_leftovers(
    deployment: &Deployment,
    artifact: &DeployableArtifact,
    templates: &[EndpointTemplate],
    warnings: &mut Vec<Warning>,
) {
    let is_said = |value: Option<&Value>| {
        value.is_some_and(|value| value.as_object().is_none_or(|fields| !fields.is_empty()))
    };
    let configuration = artifact.spec.configuration.as_ref();
    let overrides = deployment.spec.configuration_overrides.as_ref();
    let whose = [
        (
            overrides::artifact_name(artifact),
            "spec.configuration.dependencies",
            configuration.and_then(|one| one.dependencies.as_ref()),
        ),
        (
            overrides::deployment_name(deployment),
            "spec.configurationOverrides.dependencies",
            overrides.and_then(|one| one.dependencies.as_ref()),
        ),
    ];
    for (whose, field, dependencies) in whose {
        if is_said(dependencies) {
            let words = format!(
                "{field} is not moved: nothing reads it today. Write what the component needs as dependencies.endpoints of \
                 its Workload"
            );
            warnings.push(Warning::new(whose, words));
        }
    }
    for template in templates {
        if template.spec.backend_ref.kind != BackendKind::Component {
            let words = format!(
                "endpoint {} leads elsewhere (backendRef.type: target), so the Workload does not list it; its routes are \
                 in the type",
                template.metadata.name.as_deref().unwrap_or_default()
            );
            warnings.push(Warning::new(overrides::artifact_name(artifact), words));
        }
    }
}

/// What a workload of the chain listens on, by the templates of endpoints that lead to the pods.
fn listens(templates: &[EndpointTemplate]) -> BTreeMap<String, Endpoint> {
    let listening = templates.iter().filter_map(|template| {
        let backend = &template.spec.backend_ref;
        let component = backend
            .component_ref
            .as_ref()
            .filter(|_| backend.kind == BackendKind::Component)?;
        let name = template.metadata.name.as_deref();
        let name = name.filter(|name| !name.is_empty()).unwrap_or("endpoint");
        let annotations = template.metadata.annotations.as_ref();
        let endpoint = Endpoint {
            protocol: template.spec.protocol,
            port: component.port,
            target_port: None,
            visibility: Vec::new(),
            display_name: annotations.and_then(|notes| notes.get(DISPLAY_NAME).cloned()),
            base_path: backend.base_path.clone(),
            schema: None,
        };
        Some((name.to_owned(), endpoint))
    });
    listening.collect()
}

/// The image that was found, wherever it comes from.
fn deployed_image(objects: &[Value]) -> String {
    let mut pods = objects.iter().filter_map(super::super::pods::of);
    let pod = pods.next();
    let image = pod.and_then(|pod| pod.pointer("/spec/containers/0/image"));
    image.and_then(Value::as_str).unwrap_or_default().to_owned()
}

//! What runs of a Deployment, with its Endpoints.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::{
    Build, ConfigurationGroup, DeployableArtifact, Deployment, DeploymentTrack,
    Endpoint as ExposedEndpoint, SecretReference, SecretReferenceSpec, annotations::DISPLAY_NAME,
    endpoint::BackendKind, labels::hierarchy, release_state::ReleaseState, workload::Endpoint,
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
    let endpoints = endpoints(whose, track, deployment, &artifact, &site)?;
    for endpoint in &endpoints {
        ends.push(("Endpoint", own_name(&endpoint.metadata).to_owned()));
        objects.extend(exposed(whose, track, deployment, &site, endpoint, warnings));
    }
    let wanted = overrides::wanted(&artifact, deployment, &mut Found::default());
    tell_leftovers(deployment, &artifact, &endpoints, warnings);
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
        endpoints: listens(&endpoints),
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

/// The Endpoints of a Deployment: those that its templates make, as they are among the documents where they are there, and
/// those that somebody made by hand.
fn endpoints(
    whose: Whose<'_>,
    track: &DeploymentTrack,
    deployment: &Deployment,
    artifact: &DeployableArtifact,
    site: &Site,
) -> Result<Vec<ExposedEndpoint>, MigrationError> {
    let made = endpoint_templates::of(deployment, artifact);
    let made = made.map_err(|mistakes| unrendered(site, &mistakes))?;
    let mut names: BTreeSet<&str> = made.iter().map(|one| own_name(&one.metadata)).collect();
    let mut endpoints = Vec::new();
    for document in whose.pile.of_kind("Endpoint") {
        let belongs = [
            (hierarchy::COMPONENT, called(&whose.component.metadata)),
            (hierarchy::DEPLOYMENT_TRACK, called(&track.metadata)),
            (hierarchy::ENVIRONMENT, site.called.as_str()),
            (hierarchy::DEPLOYMENT, called(&deployment.metadata)),
        ]
        .iter()
        .all(|(key, value)| label(document, key) == *value);
        if names.remove(name(document)) || belongs {
            endpoints.push(read(document)?);
        }
    }
    let left = made
        .iter()
        .filter(|one| names.contains(own_name(&one.metadata)));
    endpoints.extend(left.cloned());
    endpoints.sort_by(|one, other| own_name(&one.metadata).cmp(own_name(&other.metadata)));
    Ok(endpoints)
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
    endpoints: &[ExposedEndpoint],
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
    for endpoint in endpoints {
        if endpoint.spec.backend_ref.kind != BackendKind::Component {
            let words = "leads elsewhere (backendRef.type: target), so the Workload does not list it; its routes are in the type";
            let about = format!("Endpoint {}", own_name(&endpoint.metadata));
            warnings.push(Warning::new(about, words));
        }
    }
}

/// What a workload of the chain listens on: where endpoints lead to the pods.
fn listens(endpoints: &[ExposedEndpoint]) -> BTreeMap<String, Endpoint> {
    let listening = endpoints.iter().filter_map(|endpoint| {
        let backend = &endpoint.spec.backend_ref;
        let component = backend
            .component_ref
            .as_ref()
            .filter(|_| backend.kind == BackendKind::Component)?;
        let annotations = endpoint.metadata.annotations.as_ref();
        let listens = Endpoint {
            protocol: endpoint.spec.protocol,
            port: component.port,
            target_port: None,
            visibility: Vec::new(),
            display_name: annotations.and_then(|notes| notes.get(DISPLAY_NAME).cloned()),
            base_path: backend.base_path.clone(),
            schema: None,
        };
        Some((called(&endpoint.metadata).to_owned(), listens))
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

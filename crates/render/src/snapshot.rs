//! From a component and everything that it names to a snapshot that never changes.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_objects::digest::Digest;
use quadrille_types::{
    ComponentReleaseSpec, ComponentSpec, ComponentTypeSpec, Problem, TraitSpec,
    component::{DeployedBy, TraitInstance},
    component_release::{ComponentProfile, FrozenComponentType, FrozenTrait},
    names::{ComponentName, generate},
    reference::Reference,
    workload::{WorkloadOwner, WorkloadTemplate},
};
use serde_json::json;

/// Hexadecimal digits of a snapshot's hash in its name.
const DIGITS: usize = 10;

/// A snapshot, and what it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// What it holds.
    pub spec: ComponentReleaseSpec,
    /// The hash over what it holds; the same content has the same hash, whoever owns it.
    pub hash: String,
    /// The name of its object.
    pub name: String,
}

/// A component that can be deployed names a type that allows its traits. All problems are told.
pub fn take(
    component: &str,
    spec: &ComponentSpec,
    workload: &WorkloadTemplate,
    component_type: &ComponentTypeSpec,
    traits: &BTreeMap<Reference, TraitSpec>,
) -> Result<Snapshot, Vec<Problem>> {
    let resolved = spec.resolve().map_err(|problem| vec![problem])?;
    let DeployedBy::ComponentType {
        reference,
        workload_type,
    } = resolved.deployed_by
    else {
        return Err(vec![Problem::new(
            "spec.componentType",
            "is missing: the older type is deployed by other kinds",
        )]);
    };
    let mut problems = Vec::new();
    if component_type.workload_type != workload_type {
        problems.push(Problem::new(
            "spec.componentType.name",
            format!(
                "says {workload_type}, but {} {} runs a {}",
                reference.kind, reference.name, component_type.workload_type
            ),
        ));
    }
    let embedded = component_type
        .traits
        .iter()
        .map(|used| used.instance_name.as_str());
    let mut instances: BTreeSet<&str> = embedded.collect();
    for (index, used) in resolved.traits.iter().enumerate() {
        let field = format!("spec.traits[{index}]");
        let wanted = used.reference();
        if !component_type.allows(&reference.kind, &wanted) {
            let words = format!(
                "{} {} is not allowed by {} {}",
                wanted.kind, wanted.name, reference.kind, reference.name
            );
            problems.push(Problem::new(&field, words));
        }
        if !instances.insert(&used.instance_name) {
            let words = format!(
                "is {:?}, which another trait of the component or its type has",
                used.instance_name
            );
            problems.push(Problem::new(format!("{field}.instanceName"), words));
        }
    }
    let mut named: BTreeSet<Reference> = resolved
        .traits
        .iter()
        .map(TraitInstance::reference)
        .collect();
    named.extend(
        component_type
            .traits
            .iter()
            .map(|used| used.reference(&reference.kind)),
    );
    let mut frozen = Vec::new();
    for wanted in named {
        match traits.get(&wanted) {
            Some(found) => frozen.push(FrozenTrait {
                kind: wanted.kind,
                name: wanted.name,
                spec: found.clone(),
            }),
            None => problems.push(Problem::new(
                "spec.traits",
                format!("{} {:?} not found", wanted.kind, wanted.name),
            )),
        }
    }
    if let Err(problem) = workload.resolve("workload") {
        problems.push(problem);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let traits = resolved
        .traits
        .into_iter()
        .map(with_kind)
        .collect::<Vec<_>>();
    let profile = ComponentProfile {
        parameters: spec.parameters.clone(),
        traits,
    };
    let spec = ComponentReleaseSpec {
        owner: WorkloadOwner {
            project_name: resolved.project,
            component_name: ComponentName::new(component),
        },
        component_type: FrozenComponentType {
            kind: reference.kind,
            name: format!("{workload_type}/{}", reference.name),
            spec: component_type.clone(),
        },
        traits: frozen,
        component_profile: (profile != ComponentProfile::default()).then_some(profile),
        workload: workload.clone(),
    };
    let hash = hash(&spec);
    let name = format!("{component}-{hash}");
    let name = if name.len() > generate::RESOURCE_LIMIT {
        generate::name(&[component, &hash])
    } else {
        name
    };
    Ok(Snapshot { spec, hash, name })
}

fn with_kind(mut used: TraitInstance) -> TraitInstance {
    used.kind = Some(used.reference().kind);
    used
}

/// The hash over what a snapshot holds. It depends on the content as JSON and on nothing else, so another version of this
/// program gives the same as long as documents are read the same.
pub fn hash(spec: &ComponentReleaseSpec) -> String {
    let content = json!({
        "componentType": spec.component_type,
        "traits": spec.traits,
        "componentProfile": spec.component_profile,
        "workload": spec.workload,
    });
    let digest = Digest::of([content.to_string().as_str()]).to_string();
    digest[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests;

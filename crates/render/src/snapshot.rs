//! From a component and everything that it names to a snapshot that never changes.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_objects::digest::Digest;
use quadrille_types::{
    ComponentReleaseSpec, ComponentSpec, ComponentTypeSpec, Problem, TraitSpec,
    component::{DeployedBy, TraitInstance},
    component_release::{ComponentProfile, FrozenComponentType, FrozenTrait},
    names::{ComponentName, generate},
    reference::Reference,
    templates::SchemaSection,
    workload::{WorkloadOwner, WorkloadTemplate},
};
use serde_json::{Value, json};

use crate::passwords;

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
            let allowed = component_type.allowed_traits.iter();
            let allowed: Vec<&str> = allowed.map(|entry| entry.name.as_str()).collect();
            let words = format!(
                "{} {} is not allowed by {} {}; it allows [{}]",
                wanted.kind,
                wanted.name,
                reference.kind,
                reference.name,
                allowed.join(", ")
            );
            problems.push(Problem::new(&field, words));
        }
        if !instances.insert(&used.instance_name) {
            let words = format!(
                "is {:?}, which another trait of the component or its type has; give it one of its own",
                used.instance_name
            );
            problems.push(Problem::new(format!("{field}.instanceName"), words));
        }
    }
    let own = resolved.traits.iter().enumerate();
    let own = own.map(|(index, used)| (used.reference(), format!("spec.traits[{index}]")));
    let embedded = component_type.traits.iter();
    let embedded = embedded.map(|used| {
        let field = "spec.componentType".to_owned();
        (used.reference(&reference.kind), field)
    });
    // Each once, by name; the component's own place is told where both have it.
    let named: BTreeMap<Reference, String> = embedded.chain(own).collect();
    let mut frozen = Vec::new();
    for (wanted, field) in named {
        match traits.get(&wanted) {
            Some(found) => frozen.push(FrozenTrait {
                kind: wanted.kind,
                name: wanted.name,
                spec: found.clone(),
            }),
            None => {
                let Reference { kind, name } = wanted;
                let words = format!("{kind} {name:?} not found; make it first, or name another");
                problems.push(Problem::new(field, words));
            }
        }
    }
    if let Err(problem) = workload.resolve("workload") {
        problems.push(problem);
    }
    let schema = component_type.parameters.as_ref();
    problems.extend(secrets("spec.parameters", schema, spec.parameters.as_ref()));
    for (index, used) in resolved.traits.iter().enumerate() {
        let schema = traits.get(&used.reference());
        let schema = schema.and_then(|found| found.parameters.as_ref());
        let field = format!("spec.traits[{index}].parameters");
        problems.extend(secrets(&field, schema, used.parameters.as_ref()));
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
    let name = name_of(component, &hash);
    Ok(Snapshot { spec, hash, name })
}

/// The name of a snapshot.
fn name_of(component: &str, hash: &str) -> String {
    let name = format!("{component}-{hash}");
    if name.len() > generate::RESOURCE_LIMIT {
        generate::name(&[component, hash])
    } else {
        name
    }
}

/// Whether the name of a snapshot is that of what it holds. Then nobody can put something else in its place; one that
/// somebody named otherwise may be deleted and made anew with another content.
pub fn is_sealed(name: &str, component: &str, spec: &Value) -> bool {
    let part = |field: &str, usual: Value| spec.get(field).cloned().unwrap_or(usual);
    let hash = hash_of(&json!({
        "componentType": part("componentType", Value::Null),
        "traits": part("traits", json!([])),
        "componentProfile": part("componentProfile", Value::Null),
        "workload": part("workload", Value::Null),
    }));
    name == name_of(component, &hash)
}

/// What is in a snapshot is kept, shown and compared, so nothing that a type calls a password may get into one.
fn secrets(field: &str, schema: Option<&SchemaSection>, given: Option<&Value>) -> Vec<Problem> {
    let places = passwords::places(field, schema, given).into_iter();
    places
        .map(|place| {
            Problem::new(
                place,
                "is a password, and what is in a release is kept and shown: use a SecretReference, or set it for each \
                 environment in its ReleaseBinding",
            )
        })
        .collect()
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
    hash_of(&content)
}

fn hash_of(content: &Value) -> String {
    let digest = Digest::of([content.to_string().as_str()]).to_string();
    digest[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests;

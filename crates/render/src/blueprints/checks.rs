//! What is wrong with a type or trait beyond its expressions: planes that don't exist, traits that get in each other's way.

use std::collections::BTreeSet;

use quadrille_template::Problem;
use quadrille_types::{
    ComponentTypeSpec, TraitSpec, component_type::usual_trait_kind, reference::Reference,
    release::TargetPlane, templates::PostRenderValidation,
};

fn wrong_plane(path: &str, written: Option<&str>) -> Option<Problem> {
    let unknown = TargetPlane::read(written).is_none();
    unknown.then(|| {
        let words = format!("there is no plane {:?}", written.unwrap_or_default());
        Problem::new(format!("{path}.targetPlane"), words)
            .remedy("write dataplane or observabilityplane")
    })
}

pub(super) fn planes_of_type(spec: &ComponentTypeSpec) -> Vec<Problem> {
    let resources = spec
        .resources
        .iter()
        .enumerate()
        .filter_map(|(index, resource)| {
            wrong_plane(
                &format!("spec.resources[{index}]"),
                resource.target_plane.as_deref(),
            )
        });
    resources
        .chain(planes_of_rules(&spec.post_render_validations))
        .collect()
}

pub(super) fn planes_of_trait(spec: &TraitSpec) -> Vec<Problem> {
    let creates = spec.creates.iter().enumerate();
    let creates = creates.filter_map(|(index, create)| {
        wrong_plane(
            &format!("spec.creates[{index}]"),
            create.target_plane.as_deref(),
        )
    });
    let patches = spec.patches.iter().enumerate();
    let patches = patches.filter_map(|(index, patch)| {
        wrong_plane(
            &format!("spec.patches[{index}]"),
            patch.target_plane.as_deref(),
        )
    });
    let removes = spec.removes.iter().enumerate();
    let removes = removes.filter_map(|(index, remove)| {
        wrong_plane(
            &format!("spec.removes[{index}]"),
            remove.target_plane.as_deref(),
        )
    });
    let rules = planes_of_rules(&spec.post_render_validations);
    creates.chain(patches).chain(removes).chain(rules).collect()
}

fn planes_of_rules(rules: &[PostRenderValidation]) -> impl Iterator<Item = Problem> {
    rules.iter().enumerate().filter_map(|(index, rule)| {
        wrong_plane(
            &format!("spec.postRenderValidations[{index}]"),
            rule.target_plane.as_deref(),
        )
    })
}

/// What is wrong with the traits that a type has and allows.
pub(super) fn traits_of_type(kind: &str, spec: &ComponentTypeSpec) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut instances = BTreeSet::new();
    let mut embedded = BTreeSet::new();
    for (index, used) in spec.traits.iter().enumerate() {
        if !instances.insert(used.instance_name.as_str()) {
            let words = format!(
                "{:?} is the name of another trait of this type",
                used.instance_name
            );
            problems.push(Problem::new(
                format!("spec.traits[{index}].instanceName"),
                words,
            ));
        }
        embedded.insert(used.reference(kind));
    }
    let usual = usual_trait_kind(kind);
    let mut allowed = BTreeSet::new();
    for (index, entry) in spec.allowed_traits.iter().enumerate() {
        let path = format!("spec.allowedTraits[{index}]");
        let reference = Reference::given(entry.kind.as_deref(), usual, &entry.name);
        if embedded.contains(&reference) {
            let words = format!(
                "{} {} is a trait of the type already",
                reference.kind, reference.name
            );
            problems.push(
                Problem::new(path.clone(), words)
                    .remedy("take it out of allowedTraits or of traits"),
            );
        }
        if !allowed.insert(reference) {
            problems.push(Problem::new(path, format!("{:?} comes twice", entry.name)));
        }
    }
    problems
}

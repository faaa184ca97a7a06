//! Who belongs to whom, by labels. A parent that is missing, or that could be either of two, is said, and looked for again
//! when something changes.

use std::sync::Arc;

use kube::Resource;
use quadrille_types::{
    Component, DataPlane, Deployment, DeploymentTrack, Environment, Project, conditions::Reason,
    labels::hierarchy,
};

use super::shelves::{Belongs, label, logical, named};
use crate::{
    chain::{
        inputs::plane,
        shelves::{in_project, is_going, name, namespace},
    },
    releases::Inner,
};

/// What is wrong: a word for machines and one for people.
pub(super) type Problem = (Reason, String);

/// Whom something belongs to.
pub(super) struct Parents {
    pub(super) project: Arc<Project>,
    pub(super) component: Arc<Component>,
    pub(super) track: Arc<DeploymentTrack>,
    pub(super) environment: Arc<Environment>,
    pub(super) plane: Arc<DataPlane>,
}

/// A step of the hierarchy.
#[derive(Clone, Copy)]
struct Level {
    kind: &'static str,
    key: &'static str,
    missing: Reason,
}

const PROJECT: Level = Level {
    kind: "Project",
    key: hierarchy::PROJECT,
    missing: Reason::ProjectNotFound,
};
const COMPONENT: Level = Level {
    kind: "Component",
    key: hierarchy::COMPONENT,
    missing: Reason::ComponentNotFound,
};
const TRACK: Level = Level {
    kind: "DeploymentTrack",
    key: hierarchy::DEPLOYMENT_TRACK,
    missing: Reason::DeploymentTrackNotFound,
};
const ENVIRONMENT: Level = Level {
    kind: "Environment",
    key: hierarchy::ENVIRONMENT,
    missing: Reason::EnvironmentNotFound,
};
const DEPLOYMENT: Level = Level {
    kind: "Deployment",
    key: hierarchy::DEPLOYMENT,
    missing: Reason::DeploymentNotFound,
};

/// Whoever looks for its parents.
struct Child<'a, K> {
    whose: String,
    object: &'a K,
}

impl<'a, K: Resource> Child<'a, K> {
    fn wanted(&self, level: Level) -> Result<&'a str, Problem> {
        label(self.object, level.key).ok_or_else(|| {
            let words = format!(
                "{}: metadata.labels[{}] is not there: it names the {} that this belongs to",
                self.whose, level.key, level.kind
            );
            (level.missing, words)
        })
    }

    /// Where parents of a level are looked for.
    fn within(&self, path: &[(Level, &str)]) -> String {
        let mut words = vec![format!("organization {}", namespace(self.object))];
        let levels = path.iter();
        words.extend(levels.map(|(level, name)| format!("{} {name}", level.kind)));
        words.join(", ")
    }

    /// The only one of those found.
    fn only<P: Resource>(
        &self,
        level: Level,
        wanted: &str,
        path: &[(Level, &str)],
        mut found: Vec<&Arc<P>>,
    ) -> Result<Arc<P>, Problem> {
        let (whose, kind, key) = (&self.whose, level.kind, level.key);
        let place = self.within(path);
        found.sort_by(|one, other| name(&***one).cmp(name(&***other)));
        match found.as_slice() {
            [one] => Ok(Arc::clone(one)),
            [] => Err((
                level.missing,
                format!(
                    "{whose} refers to {kind} {wanted:?}, which does not exist in {place}: create it, or correct the label {key}"
                ),
            )),
            [one, other, ..] => Err((
                Reason::AmbiguousParent,
                format!(
                    "{whose} refers to {kind} {wanted:?}, and both {} and {} have that name in {place}: delete one, or give it \
                     another label {}",
                    name(&***one),
                    name(&***other),
                    hierarchy::NAME
                ),
            )),
        }
    }

    fn check_organization(&self) -> Result<(), Problem> {
        let here = namespace(self.object);
        match label(self.object, hierarchy::ORGANIZATION) {
            Some(said) if said != here => Err((
                Reason::InvalidConfiguration,
                format!(
                    "{}: metadata.labels[{}] is {said:?}, but it is in the namespace of organization {here:?}: make it that",
                    self.whose,
                    hierarchy::ORGANIZATION
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// What is named after these: the cell is called after the object, and labels after its label, so both must be one.
fn check_name(level: Level, object: &impl Resource) -> Result<(), Problem> {
    let (own, said) = (name(object), logical(object));
    if own == said {
        return Ok(());
    }
    let words = format!(
        "{} {own}: metadata.labels[{}] is {said:?}, but it must be the name of the object, {own:?}: correct it",
        level.kind,
        hierarchy::NAME
    );
    Err((Reason::InvalidConfiguration, words))
}

/// Whether another one, which stays, has the same name in labels: whatever belongs to that name is not this one's to take
/// along.
pub(crate) fn is_rivalled<'a, K: Resource + 'a>(
    object: &K,
    mut near: impl Iterator<Item = &'a Arc<K>>,
) -> bool {
    near.any(|one| {
        name(&**one) != name(object) && logical(&**one) == logical(object) && !is_going(&**one)
    })
}

/// The project and the component that labels name.
fn owners<K: Resource>(
    world: &Inner,
    child: &Child<'_, K>,
) -> Result<(Arc<Project>, Arc<Component>), Problem> {
    child.check_organization()?;
    let here = namespace(child.object);
    let wanted = child.wanted(PROJECT)?;
    let projects = world.shelves.projects.within(here);
    let found = projects.filter(|one| logical(&***one) == wanted).collect();
    let project = child.only(PROJECT, wanted, &[], found)?;
    check_name(PROJECT, &*project)?;
    let path = [(PROJECT, wanted)];
    let wanted = child.wanted(COMPONENT)?;
    let components = world
        .chain
        .components
        .of_group(here, &in_project(name(&*project)));
    let found = components
        .filter(|one| logical(&***one) == wanted)
        .collect();
    let component = child.only(COMPONENT, wanted, &path, found)?;
    Ok((project, component))
}

/// Everybody whom a deployment or an endpoint belongs to. `kind` is the word for it.
pub(super) fn parents<K: Resource>(
    world: &Inner,
    kind: &str,
    object: &K,
) -> Result<Parents, Problem> {
    let child = Child {
        whose: format!("{kind} {}", name(object)),
        object,
    };
    let here = namespace(object);
    let (project, component) = owners(world, &child)?;
    let at = Belongs::of(object);
    let path = [(PROJECT, at.project), (COMPONENT, at.component)];
    let wanted = child.wanted(TRACK)?;
    let group = named(&[at.project, at.component, wanted]);
    let found = world.system.tracks.of_group(here, &group).collect();
    let track = child.only(TRACK, wanted, &path, found)?;
    let wanted = child.wanted(ENVIRONMENT)?;
    let environments = world.shelves.environments.within(here);
    let found = environments
        .filter(|one| logical(&***one) == wanted)
        .collect();
    let environment = child.only(ENVIRONMENT, wanted, &[], found)?;
    check_name(ENVIRONMENT, &*environment)?;
    let plane =
        plane(&world.shelves, here, wanted).map_err(|words| (Reason::DataPlaneNotFound, words))?;
    Ok(Parents {
        project,
        component,
        track,
        environment,
        plane,
    })
}

/// The deployment that an endpoint belongs to.
pub(super) fn deployment<K: Resource>(
    world: &Inner,
    kind: &str,
    object: &K,
) -> Result<Arc<Deployment>, Problem> {
    let child = Child {
        whose: format!("{kind} {}", name(object)),
        object,
    };
    let at = Belongs::of(object);
    let wanted = child.wanted(DEPLOYMENT)?;
    let path = [
        (PROJECT, at.project),
        (COMPONENT, at.component),
        (TRACK, at.track),
        (ENVIRONMENT, at.environment),
    ];
    let group = at.deployment_named(wanted);
    let found = world.system.deployments.of_group(at.namespace, &group);
    child.only(DEPLOYMENT, wanted, &path, found.collect())
}

/// Whether a track or an artifact belongs to somebody.
pub(super) fn component_of<K: Resource>(
    world: &Inner,
    kind: &str,
    object: &K,
) -> Result<Arc<Component>, Problem> {
    let child = Child {
        whose: format!("{kind} {}", name(object)),
        object,
    };
    owners(world, &child).map(|(_, component)| component)
}

#[cfg(test)]
mod tests {
    use quadrille_planes::feed::{News, Told};
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::shelf::Shelf;

    fn fill<K: Resource<DynamicType = ()> + DeserializeOwned>(
        shelf: &mut Shelf<K>,
        objects: &[Value],
    ) {
        for object in objects {
            let heard = shelf.hear(News::Changed(Told::from(object.clone())));
            assert_eq!(heard.changed.len(), 1, "{object}");
        }
    }

    fn object(kind: &str, name: &str, labels: &[(&str, &str)], spec: &Value) -> Value {
        let labels: serde_json::Map<String, Value> = labels
            .iter()
            .map(|(key, value)| (format!("openchoreo.dev/{key}"), json!(value)))
            .collect();
        json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": kind,
            "metadata": { "name": name, "namespace": "acme", "labels": labels },
            "spec": spec,
        })
    }

    const OF_CART: [(&str, &str); 2] = [("project", "shop"), ("component", "cart")];

    fn world() -> Inner {
        let mut world = Inner::default();
        let none = json!({});
        let along = json!({ "deploymentPipelineRef": "default" });
        fill(
            &mut world.shelves.projects,
            &[object("Project", "shop", &[], &along)],
        );
        let plane = json!({ "dataPlaneRef": "local" });
        fill(
            &mut world.shelves.environments,
            &[object("Environment", "dev", &[], &plane)],
        );
        fill(
            &mut world.shelves.planes,
            &[object("DataPlane", "local", &[], &none)],
        );
        let owned = json!({ "owner": { "projectName": "shop" }, "type": "Service" });
        fill(
            &mut world.chain.components,
            &[object("Component", "cart", &[], &owned)],
        );
        let mut labels = OF_CART.to_vec();
        labels.push(("name", "main"));
        fill(
            &mut world.system.tracks,
            &[object("DeploymentTrack", "cart-main", &labels, &none)],
        );
        world
    }

    fn deployment(labels: &[(&str, &str)]) -> Deployment {
        let spec = json!({ "deploymentArtifactRef": "a" });
        serde_json::from_value(object("Deployment", "cart-dev", labels, &spec)).unwrap()
    }

    fn all() -> Vec<(&'static str, &'static str)> {
        let mut labels = OF_CART.to_vec();
        labels.extend([("deployment-track", "main"), ("environment", "dev")]);
        labels
    }

    fn problem(world: &Inner, labels: &[(&str, &str)]) -> (Reason, String) {
        match parents(world, "Deployment", &deployment(labels)) {
            Ok(_) => panic!("its parents were found"),
            Err(problem) => problem,
        }
    }

    #[test]
    fn parents_are_found_by_the_names_that_labels_have_for_them() {
        let found = parents(&world(), "Deployment", &deployment(&all()));
        let Ok(found) = found else {
            panic!("a parent is missing");
        };
        assert_eq!(name(&*found.track), "cart-main");
        assert_eq!(name(&*found.plane), "local");
    }

    #[test]
    fn whoever_is_missing_is_named_with_where_it_was_looked_for() {
        let mut labels = all();
        labels[2].1 = "next";
        let (reason, words) = problem(&world(), &labels);
        assert_eq!(reason, Reason::DeploymentTrackNotFound);
        assert_eq!(
            words,
            "Deployment cart-dev refers to DeploymentTrack \"next\", which does not exist in organization acme, Project shop, \
             Component cart: create it, or correct the label openchoreo.dev/deployment-track"
        );
        let (reason, words) = problem(&world(), &OF_CART);
        assert_eq!(reason, Reason::DeploymentTrackNotFound);
        assert!(words.contains("metadata.labels[openchoreo.dev/deployment-track] is not there"));
    }

    #[test]
    fn two_of_one_name_are_both_named_and_neither_is_taken() {
        let mut world = world();
        let mut labels = OF_CART.to_vec();
        labels.push(("name", "main"));
        fill(
            &mut world.system.tracks,
            &[object("DeploymentTrack", "other", &labels, &json!({}))],
        );
        let (reason, words) = problem(&world, &all());
        assert_eq!(reason, Reason::AmbiguousParent);
        assert!(
            words.contains("both cart-main and other have that name"),
            "{words}"
        );
    }

    #[test]
    fn a_project_that_labels_call_otherwise_would_have_two_cells() {
        let mut world = world();
        let along = json!({ "deploymentPipelineRef": "default" });
        fill(
            &mut world.shelves.projects,
            &[object("Project", "p1", &[("name", "store")], &along)],
        );
        let mut labels = all();
        labels[0].1 = "store";
        let (reason, words) = problem(&world, &labels);
        assert_eq!(reason, Reason::InvalidConfiguration);
        assert!(
            words.contains("it must be the name of the object, \"p1\""),
            "{words}"
        );
        let mut labels = all();
        labels.push(("organization", "other"));
        assert_eq!(problem(&world, &labels).0, Reason::InvalidConfiguration);
    }
}

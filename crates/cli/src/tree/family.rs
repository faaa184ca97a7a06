//! Who belongs to whom among our kinds in one namespace.

use std::collections::{HashMap, HashSet};

use futures::future::join_all;
use quadrille_controllers::preview;
use quadrille_types::{Environment, labels::hierarchy};
use serde_json::{Value, json};

use super::{branch::Branch, made::Made};
use crate::{
    cluster::Cluster,
    failure::Failure,
    fields::{self, text},
    kinds, output,
    plane::typed,
    requests::{OBJECTS, not_served},
};

/// A namespace may hold our kinds without being an organization's.
const NO_ORGANIZATION: &str = "there is no organization of that name";

/// Everything of our kinds in a namespace, and what releases made on their planes.
pub(super) struct Family {
    /// The organization itself, or why it is not there.
    organization: Result<Value, &'static str>,
    /// In the order of our kinds, each by name.
    members: Vec<Value>,
    made: Made,
}

impl Family {
    /// Reads a namespace. Kinds that the user may not see are named and left out.
    pub(super) async fn of(cluster: &Cluster) -> Result<Self, Failure> {
        let namespace = &cluster.namespace;
        let kinds = kinds::all_of_ours();
        let lists = kinds
            .iter()
            .filter(|kind| kind.is_namespaced)
            .map(async |kind| {
                let answer = cluster.read(&kind.path(Some(namespace)), OBJECTS).await;
                (kind, answer)
            });
        let mut members = Vec::new();
        let mut unserved = Vec::new();
        for (kind, answer) in join_all(lists).await {
            match answer {
                Ok(list) => members.extend(fields::items(&list["items"]).iter().map(|object| {
                    let mut object = object.clone();
                    object["apiVersion"] = kind.api_version().into();
                    object["kind"] = kind.kind().into();
                    object
                })),
                Err(kube::Error::Api(status)) if status.code == 403 => {
                    output::aside(&format!("(you may not see {})", kind.plural()));
                }
                // An older platform has fewer kinds.
                Err(kube::Error::Api(status)) if status.code == 404 => unserved.push(kind),
                Err(error) => return Err(cluster.failed(&error)),
            }
        }
        let namespaced = kinds.iter().filter(|kind| kind.is_namespaced).count();
        match unserved.as_slice() {
            [] => {}
            [kind, ..] if unserved.len() == namespaced => {
                return Err(not_served(kind.api_version(), kind.kind()));
            }
            some => {
                let names: Vec<&str> = some.iter().map(|kind| kind.plural()).collect();
                let names = names.join(", ");
                output::aside(&format!("(the cluster does not serve {names})"));
            }
        }
        let path = format!("/apis/openchoreo.dev/v1alpha1/organizations/{namespace}");
        let organization = match cluster.read(&path, OBJECTS).await {
            Ok(organization) => Ok(organization),
            // Whoever is of one organization may not see that there are others; its name is known all the same.
            Err(kube::Error::Api(status)) if status.code == 403 => Err("you may not see it itself"),
            Err(kube::Error::Api(status)) if status.code == 404 => Err(NO_ORGANIZATION),
            Err(error) => return Err(cluster.failed(&error)),
        };
        let releases = members.iter().filter(|object| object["kind"] == "Release");
        let made = Made::by(cluster, releases).await?;
        Ok(Self {
            organization,
            members,
            made,
        })
    }

    /// The whole organization; nothing if there is nothing at all.
    pub(super) fn organization(&self, namespace: &str) -> Option<Branch> {
        let mut organization = match &self.organization {
            Ok(organization) => organization.clone(),
            Err(NO_ORGANIZATION) if self.members.is_empty() => return None,
            Err(_) => json!({ "metadata": { "name": namespace } }),
        };
        organization["kind"] = "Organization".into();
        let mut branch = self.below(&organization);
        if let Err(words) = &self.organization {
            (*words).clone_into(&mut branch.words);
        }
        Some(branch)
    }

    /// An object with everything below it.
    pub(super) fn below(&self, object: &Value) -> Branch {
        let children = self.children();
        let name = fields::name(object);
        let direct: Vec<&Value> = match text(object, "kind") {
            "Organization" => children.get(&None).cloned().unwrap_or_default(),
            "Environment" => self
                .members
                .iter()
                .filter(|child| is_in(child, name))
                .collect(),
            "DataPlane" => {
                let on_it = self.members.iter().filter(|child| is_on(child, name));
                // Seen from its plane, an environment is what runs in it.
                let on_it = on_it.map(|environment| self.below(environment));
                return Branch::ours(object, on_it.collect());
            }
            _ => return self.branch(object, &children),
        };
        let direct = direct.into_iter();
        let below = direct.map(|child| self.branch(child, &children));
        Branch::ours(object, below.collect())
    }

    /// An object with its children; those of a release are what it put onto its plane.
    fn branch(&self, object: &Value, children: &Children<'_>) -> Branch {
        let own = children.get(&Some(identity(object))).into_iter().flatten();
        let mut below: Vec<Branch> = own.map(|child| self.branch(child, children)).collect();
        if object["kind"] == "Release" {
            let entries = fields::items(&object["status"]["resources"]).iter();
            below.extend(entries.map(|entry| {
                let made = self.made.below(text(entry, "uid"));
                Branch::entry(entry, made)
            }));
        }
        Branch::ours(object, below)
    }

    /// Everybody's children.
    fn children(&self) -> Children<'_> {
        let by_uid: HashMap<&str, Identity> = self
            .members
            .iter()
            .map(|object| (fields::uid(object), identity(object)))
            .collect();
        let known: HashSet<&Identity> = by_uid.values().collect();
        let has = |kind: &str, name: &str| {
            let wanted = (kind.to_owned(), name.to_owned());
            known.contains(&wanted).then_some(wanted)
        };
        let by_label: HashMap<String, Identity> = self
            .members
            .iter()
            .filter_map(|object| Some((called(object)?, identity(object))))
            .collect();
        let mut children = Children::new();
        for object in &self.members {
            let owners = fields::items(&object["metadata"]["ownerReferences"]).iter();
            let mut owners = owners.filter_map(|owner| by_uid.get(text(owner, "uid")).cloned());
            let owner = &object["spec"]["owner"];
            let parent = owners
                .next()
                .or_else(|| labelled(object, &by_label))
                .or_else(|| has("Component", text(owner, "componentName")))
                .or_else(|| has("Project", text(owner, "projectName")));
            children.entry(parent).or_default().push(object);
        }
        children
    }
}

/// Children by their parent; those of nobody belong to the organization itself.
type Children<'a> = HashMap<Option<Identity>, Vec<&'a Value>>;

/// Kind and name: which member it is, within a namespace.
type Identity = (String, String);

fn identity(object: &Value) -> Identity {
    (
        text(object, "kind").to_owned(),
        fields::name(object).to_owned(),
    )
}

/// What the labels of others call a project, a component or a track: by whom it belongs to, and its logical name.
fn called(object: &Value) -> Option<String> {
    let kind = text(object, "kind");
    let levels = LEVELS.iter().position(|(level, _)| *level == kind)?;
    let mut path: Vec<&str> = LEVELS[..levels]
        .iter()
        .map(|(_, key)| label(object, key))
        .collect();
    if kind == "Component" {
        path = vec![text(&object["spec"]["owner"], "projectName")];
    }
    let own = match label(object, hierarchy::NAME) {
        "" => fields::name(object),
        own => own,
    };
    path.push(own);
    Some(format!("{kind}:{}", path.join("/")))
}

/// Those whom labels name, from the top down.
const LEVELS: [(&str, &str); 3] = [
    ("Project", hierarchy::PROJECT),
    ("Component", hierarchy::COMPONENT),
    ("DeploymentTrack", hierarchy::DEPLOYMENT_TRACK),
];

/// The closest of those whom an object's labels name. A Release says whose it is otherwise.
fn labelled(object: &Value, by_label: &HashMap<String, Identity>) -> Option<Identity> {
    let own = text(object, "kind");
    if own == "Release" || LEVELS[..2].iter().any(|(level, _)| *level == own) {
        return None;
    }
    let levels = (1..=LEVELS.len()).rev();
    levels
        .filter(|count| LEVELS[count - 1].0 != own)
        .find_map(|count| {
            let path: Vec<&str> = LEVELS[..count]
                .iter()
                .map(|(_, key)| label(object, key))
                .collect();
            let wanted = format!("{}:{}", LEVELS[count - 1].0, path.join("/"));
            by_label.get(&wanted).cloned()
        })
}

fn label<'a>(object: &'a Value, key: &str) -> &'a str {
    text(&object["metadata"]["labels"], key)
}

/// Whether a release is in an environment.
fn is_in(object: &Value, environment: &str) -> bool {
    object["kind"] == "Release" && text(&object["spec"], "environmentName") == environment
}

/// Whether an environment is on a plane.
fn is_on(object: &Value, plane: &str) -> bool {
    object["kind"] == "Environment"
        && typed::<Environment>(object.clone())
            .ok()
            .and_then(|environment| preview::plane_of(&environment).ok())
            .is_some_and(|name| name.name == plane)
}

#[cfg(test)]
mod tests;

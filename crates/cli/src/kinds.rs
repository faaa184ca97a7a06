//! Kinds as people name them: `env`, `environments`, `Environment`, or any other kind that the cluster serves.

use kube::{
    core::ApiResource,
    discovery::{Discovery, Scope},
};
use quadrille_planes::feed::url_path;
use serde_json::Value;

use crate::{cluster::Cluster, failure::Failure, nearest::nearest, progress};

/// A kind that was found.
pub(crate) struct Found {
    resource: ApiResource,
    pub(crate) is_namespaced: bool,
}

impl Found {
    /// The path of its collection.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        url_path(&self.resource, namespace)
    }

    /// An object of it, as it is called: `environment.openchoreo.dev/staging`.
    pub(crate) fn called(&self, name: &str) -> String {
        called(&self.resource.group, &self.resource.kind, name)
    }

    /// Many of it.
    pub(crate) fn plural(&self) -> &str {
        &self.resource.plural
    }

    /// Its word.
    pub(crate) fn kind(&self) -> &str {
        &self.resource.kind
    }

    /// Its word, as people type it.
    pub(crate) fn word(&self) -> String {
        self.resource.kind.to_lowercase()
    }

    /// Its version with the group.
    pub(crate) fn api_version(&self) -> &str {
        &self.resource.api_version
    }

    /// Whether it is one of ours.
    pub(crate) fn is_ours(&self) -> bool {
        self.resource.group == quadrille_types::GROUP
    }
}

/// An object, as it is called.
pub(crate) fn called(group: &str, kind: &str, name: &str) -> String {
    let kind = kind.to_lowercase();
    if group.is_empty() {
        format!("{kind}/{name}")
    } else {
        format!("{kind}.{group}/{name}")
    }
}

/// Every kind of ours, in their order.
pub(crate) fn all_of_ours() -> Vec<Found> {
    let kinds = ours()
        .into_iter()
        .map(|(resource, is_namespaced, _)| Found {
            resource,
            is_namespaced,
        });
    kinds.collect()
}

/// The words for kinds of ours, one and many; who knows a short name needs no completion.
pub(crate) fn words() -> Vec<String> {
    let kinds = ours().into_iter();
    kinds
        .flat_map(|(_, _, names)| names.into_iter().take(2))
        .collect()
}

/// The names of our kinds: word, plural, short names.
fn ours() -> Vec<(ApiResource, bool, Vec<String>)> {
    let kinds = quadrille_types::definitions()
        .into_iter()
        .map(|definition| {
            let spec = &definition["spec"];
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (kind, plural) = (word(&spec["names"]["kind"]), word(&spec["names"]["plural"]));
            let mut names = vec![kind.to_lowercase(), plural.clone()];
            names.extend(
                spec["names"]["shortNames"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(word),
            );
            let resource = ApiResource {
                group: quadrille_types::GROUP.to_owned(),
                version: quadrille_types::VERSION.to_owned(),
                api_version: format!("{}/{}", quadrille_types::GROUP, quadrille_types::VERSION),
                kind,
                plural,
            };
            (resource, spec["scope"] == "Namespaced", names)
        });
    kinds.collect()
}

/// The definition of one of our kinds, by any of its names.
pub(crate) fn definition(name: &str) -> Option<Value> {
    let wanted = name.to_lowercase();
    let at = ours()
        .iter()
        .position(|(_, _, names)| names.contains(&wanted))?;
    quadrille_types::definitions().into_iter().nth(at)
}

/// Our kinds, as documents name them.
pub(crate) fn kinds() -> Vec<String> {
    ours()
        .into_iter()
        .map(|(resource, ..)| resource.kind)
        .collect()
}

/// The path to make an object of one of our kinds at, if it is one.
pub(crate) fn path_of_ours(document: &Value) -> Option<String> {
    let (resource, is_namespaced, _) = ours()
        .into_iter()
        .find(|(resource, ..)| document["kind"] == resource.kind.as_str())?;
    let namespace = document["metadata"]["namespace"].as_str();
    Some(url_path(&resource, namespace.filter(|_| is_namespaced)))
}

impl Cluster {
    /// Finds a kind by any of its names; our own need no request.
    pub(crate) async fn named_kind(&self, name: &str) -> Result<Found, Failure> {
        let wanted = name.to_lowercase();
        let ours = ours();
        let is_meant = |resource: &ApiResource| {
            let full = |word: &str| format!("{word}.{}", resource.group);
            full(&resource.plural) == wanted || full(&resource.kind.to_lowercase()) == wanted
        };
        let known = ours.iter().find(|(resource, _, names)| {
            names.contains(&wanted) && !is_of_kubernetes(&wanted) || is_meant(resource)
        });
        if let Some((resource, is_namespaced, _)) = known {
            return Ok(Found {
                resource: resource.clone(),
                is_namespaced: *is_namespaced,
            });
        }
        let words = format!("asking {} what it serves", self.url);
        let discovery = Discovery::new(self.client.clone()).run();
        let discovery = progress::during(&words, discovery).await;
        let discovery = discovery.map_err(|error| self.failed(&error))?;
        let mut served: Vec<String> = ours.into_iter().flat_map(|(_, _, names)| names).collect();
        for group in discovery.groups() {
            if group.name() == quadrille_types::GROUP {
                // They were looked at above.
                continue;
            }
            for (resource, capabilities) in group.recommended_resources() {
                let names = [resource.kind.to_lowercase(), resource.plural.clone()];
                if names.contains(&wanted) || is_meant(&resource) || is_short(&resource, &wanted) {
                    return Ok(Found {
                        is_namespaced: capabilities.scope == Scope::Namespaced,
                        resource,
                    });
                }
                served.push(resource.plural);
            }
        }
        Err(unknown(&wanted, &served))
    }
}

/// Whether a kind of Kubernetes itself has the word, which then means that one, as for kubectl; ours of the same name has
/// its group behind it: `deployments.openchoreo.dev`.
fn is_of_kubernetes(word: &str) -> bool {
    ["deployment", "deployments", "service", "services"].contains(&word)
}

/// The short names that everybody knows; discovery as we read it does not tell them.
fn is_short(resource: &ApiResource, word: &str) -> bool {
    let known = [
        ("", "pods", "po"),
        ("", "services", "svc"),
        ("", "namespaces", "ns"),
        ("", "configmaps", "cm"),
        ("", "events", "ev"),
        ("", "nodes", "no"),
        ("", "serviceaccounts", "sa"),
        ("", "persistentvolumeclaims", "pvc"),
        ("", "persistentvolumes", "pv"),
        ("apps", "deployments", "deploy"),
        ("apps", "replicasets", "rs"),
        ("apps", "statefulsets", "sts"),
        ("apps", "daemonsets", "ds"),
        ("batch", "cronjobs", "cj"),
        ("networking.k8s.io", "networkpolicies", "netpol"),
        ("autoscaling", "horizontalpodautoscalers", "hpa"),
        ("apiextensions.k8s.io", "customresourcedefinitions", "crd"),
    ];
    known.contains(&(&resource.group, &resource.plural, word))
}

fn unknown(wanted: &str, served: &[String]) -> Failure {
    let failure = Failure::usage(format!("there is no kind {wanted:?}"));
    let failure = match nearest(wanted, served.iter().map(String::as_str)) {
        Some(name) => failure.next(format!("Did you mean {name}?")),
        None => failure,
    };
    failure.next("See them all: kubectl api-resources")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_suggests_the_nearest_kind() {
        let served = ["environments", "releases"].map(ToOwned::to_owned);
        let said = unknown("enviroments", &served).to_string();
        assert!(said.contains("Did you mean environments?"), "{said}");
        let said = unknown("bananas", &served).to_string();
        assert!(!said.contains("Did you mean"), "{said}");
    }

    #[test]
    fn our_kinds_have_their_short_names() {
        let ours = ours();
        let names: Vec<&String> = ours.iter().flat_map(|(_, _, names)| names).collect();
        for name in ["env", "environments", "organization", "deppipe", "release"] {
            assert!(names.iter().any(|known| *known == name), "{name}");
        }
    }
}

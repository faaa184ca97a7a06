//! The last steps: labels, what restarts pods, order, ids.

use std::collections::{BTreeMap, BTreeSet};

use quadrille_objects::{digest::Digest, identity::split_api_version};
use quadrille_template::Candidate;
use quadrille_types::{
    annotations::{CONFIG_DIGEST, RESTARTED_AT},
    names::generate,
    release::TargetPlane,
};
use serde_json::{Map, Value};

use crate::{error::RenderError, plan::Planned};

/// An object on its way.
#[derive(Clone, Debug)]
pub(crate) struct Rendered<'a> {
    pub(crate) plane: TargetPlane,
    pub(crate) object: Value,
    /// The type or trait that made it, for messages.
    pub(crate) made_by: &'a str,
}

impl Candidate for Rendered<'_> {
    fn plane(&self) -> &str {
        self.plane.as_str()
    }

    fn object(&self) -> &Value {
        &self.object
    }

    fn object_mut(&mut self) -> &mut Value {
        &mut self.object
    }
}

impl Rendered<'_> {
    fn text(&self, path: &[&str]) -> &str {
        let found = path.iter().try_fold(&self.object, |at, key| at.get(key));
        found.and_then(Value::as_str).unwrap_or_default()
    }

    fn api_version(&self) -> &str {
        self.text(&["apiVersion"])
    }

    fn kind(&self) -> &str {
        self.text(&["kind"])
    }

    fn namespace(&self) -> &str {
        self.text(&["metadata", "namespace"])
    }

    fn name(&self) -> &str {
        self.text(&["metadata", "name"])
    }

    /// What objects are ordered by.
    fn order(&self) -> (&str, &str, &str, &str) {
        (
            self.kind(),
            self.api_version(),
            self.namespace(),
            self.name(),
        )
    }

    fn group(&self) -> &str {
        split_api_version(self.api_version()).0
    }
}

/// Fails where patches have taken away what every object has.
pub(crate) fn check_complete(objects: &[Rendered<'_>]) -> Result<(), RenderError> {
    for rendered in objects {
        for (text, field) in [
            (rendered.api_version(), "apiVersion"),
            (rendered.kind(), "kind"),
            (rendered.name(), "metadata.name"),
        ] {
            if text.is_empty() {
                return Err(RenderError::Incomplete {
                    whose: rendered.made_by.to_owned(),
                    object: format!("{} {}", rendered.kind(), rendered.name())
                        .trim()
                        .to_owned(),
                    field,
                });
            }
        }
    }
    Ok(())
}

/// Puts labels on everything. Ours win: objects are found by them.
pub(crate) fn label(objects: &mut [Rendered<'_>], labels: &Map<String, Value>) {
    for rendered in objects {
        let Some(own) = object_at(&mut rendered.object, &["metadata", "labels"]) else {
            continue;
        };
        if own.is_empty() {
            own.clone_from(labels);
        } else {
            own.extend(labels.clone());
        }
    }
}

/// The object at a path, made where there is none; `None` where something else is in the way.
fn object_at<'a>(object: &'a mut Value, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    let mut at = object;
    for key in path {
        let fields = at.as_object_mut()?;
        at = fields
            .entry(*key)
            .or_insert_with(|| Value::Object(Map::new()));
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
    }
    at.as_object_mut()
}

/// Notes on the pods of what runs which configuration they read, and when somebody asked for a restart, so that a change
/// of either starts them anew. Pods of jobs read what is there when they start.
pub(crate) fn note_restarts(
    objects: &mut [Rendered<'_>],
    workload_type: &str,
    restarted_at: Option<&str>,
) {
    if !matches!(workload_type, "deployment" | "statefulset") {
        return;
    }
    let digest = config_digest(objects);
    let runs = objects.iter_mut().filter(|rendered| {
        rendered.plane == TargetPlane::Data && rendered.kind().eq_ignore_ascii_case(workload_type)
    });
    for rendered in runs {
        let notes = [
            (CONFIG_DIGEST, digest.as_deref()),
            (RESTARTED_AT, restarted_at),
        ];
        for (key, value) in notes {
            let Some(value) = value else { continue };
            let path = ["spec", "template", "metadata", "annotations"];
            if let Some(annotations) = object_at(&mut rendered.object, &path) {
                annotations.insert(key.to_owned(), Value::String(value.to_owned()));
            }
        }
    }
}

/// A digest of what pods read: names may change without it, contents may not. Routes, services and the like are not read
/// by pods and restart none.
fn config_digest(objects: &[Rendered<'_>]) -> Option<String> {
    let mut read: Vec<&Rendered<'_>> = objects
        .iter()
        .filter(|rendered| is_read_by_pods(rendered))
        .collect();
    if read.is_empty() {
        return None;
    }
    read.sort_by(|a, b| a.order().cmp(&b.order()));
    let texts: Vec<String> = read
        .into_iter()
        .map(|rendered| {
            let fields = rendered.object.as_object().into_iter().flatten();
            let content: BTreeMap<_, _> = fields.filter(|(name, _)| *name != "metadata").collect();
            serde_json::to_string(&content).expect("an object is plain JSON")
        })
        .collect();
    let digest = Digest::of(texts.iter().map(String::as_str)).to_string();
    Some(digest[..16].to_owned())
}

fn is_read_by_pods(rendered: &Rendered<'_>) -> bool {
    rendered.plane == TargetPlane::Data
        && matches!(
            (rendered.group(), rendered.kind()),
            ("", "ConfigMap" | "Secret")
                | (
                    "external-secrets.io" | "secrets-store.csi.x-k8s.io" | "bitnami.com",
                    _
                )
        )
}

/// Orders objects and gives each its id.
pub(crate) fn number(mut objects: Vec<Rendered<'_>>) -> Result<Vec<Planned>, RenderError> {
    objects.sort_by(|a, b| a.order().cmp(&b.order()));
    let ids = ids(&objects)?;
    let planned = objects.into_iter().zip(ids).map(|(rendered, id)| Planned {
        id,
        plane: rendered.plane,
        object: rendered.object,
    });
    Ok(planned.collect())
}

fn ids(objects: &[Rendered<'_>]) -> Result<Vec<String>, RenderError> {
    let mut identities = BTreeSet::new();
    let mut taken = BTreeSet::new();
    let mut ids = Vec::with_capacity(objects.len());
    for rendered in objects {
        let (plane, kind, name) = (rendered.plane, rendered.kind(), rendered.name());
        let (group, namespace) = (rendered.group(), rendered.namespace());
        if !identities.insert((plane, group, kind, namespace, name)) {
            return Err(RenderError::Duplicate {
                object: format!("{kind} {name}"),
            });
        }
        let kind = kind.to_lowercase();
        let mut id = id_of(&[&kind, name]);
        if !taken.insert((plane, id.clone())) {
            // Another group or namespace has a kind and name like this.
            let parts = [kind.as_str(), group, namespace, name];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            id = generate::name_within(generate::LABEL_LIMIT, &parts);
            taken.insert((plane, id.clone()));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// An object of the data plane, with the id that its kind and name give it.
pub(crate) fn planned(object: Value) -> Planned {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Planned {
        id: id_of(&[&kind, name]),
        plane: TargetPlane::Data,
        object,
    }
}

/// The id of an object: kind and name where that fits into a label.
pub(crate) fn id_of(parts: &[&str; 2]) -> String {
    let plain = parts.join("-");
    if plain.len() <= generate::LABEL_LIMIT {
        plain
    } else {
        generate::name_within(generate::LABEL_LIMIT, parts)
    }
}

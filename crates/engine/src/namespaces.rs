//! Namespaces of a plane that belong to nobody's inventory: found by their labels.

use std::collections::HashSet;

use http::{Request, header};
use quadrille_objects::{GroupKind, owned};
use quadrille_planes::{Served, Trouble, feed::url_path};
use serde_json::{Value, json};

use crate::{requests::built, site::Site};

/// A namespace that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceFound {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Whether it is on its way out already.
    pub is_going: bool,
}

const PATH: &str = "/api/v1/namespaces";

/// The namespaces that carry all these labels.
pub async fn labelled(
    site: &Site,
    labels: &[(&str, &str)],
) -> Result<Vec<NamespaceFound>, Trouble> {
    let selector: Vec<String> = labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("labelSelector", &selector.join(","))
        .finish();
    let request = built(Request::get(format!("{PATH}?{query}")).body(Vec::new()))?;
    let list: Value = site.guarded().read(request).await?.unwrap_or_default();
    let text = |object: &Value, key: &str| {
        let text = object["metadata"][key].as_str();
        text.unwrap_or_default().to_owned()
    };
    let items = list["items"].as_array().into_iter().flatten();
    Ok(items
        .map(|object| NamespaceFound {
            name: text(object, "name"),
            uid: text(object, "uid"),
            is_going: object["metadata"]["deletionTimestamp"].is_string(),
        })
        .collect())
}

/// Deletes exactly this namespace, with everything in it.
pub async fn delete(site: &Site, found: &NamespaceFound) -> Result<(), Trouble> {
    let body = json!({
        "apiVersion": "v1", "kind": "DeleteOptions",
        "preconditions": { "uid": found.uid },
    });
    let request = Request::delete(format!("{PATH}/{}", found.name))
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.to_string().into_bytes());
    let deleted = site.guarded().write::<Value>(built(request)?).await;
    site.lost_namespace(&found.name);
    match deleted {
        // Gone, or another one by now.
        Ok(_) | Err(Trouble::NotFound(_) | Trouble::Conflict(_)) => Ok(()),
        Err(trouble) => Err(trouble),
    }
}

/// The claims for volumes in a namespace, by name: what would be lost with it.
pub async fn claims(site: &Site, namespace: &str) -> Result<Vec<String>, Trouble> {
    let path = format!("{PATH}/{namespace}/persistentvolumeclaims");
    let request = Request::get(path)
        .header(header::ACCEPT, METADATA)
        .body(Vec::new());
    let list: Value = site
        .guarded()
        .read(built(request)?)
        .await?
        .unwrap_or_default();
    let items = list["items"].as_array().into_iter().flatten();
    let names = items.filter_map(|object| object["metadata"]["name"].as_str());
    Ok(names.map(str::to_owned).collect())
}

/// An object in a namespace that belongs to somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// The object.
    pub object: String,
    /// Whose it is, as the label has it.
    pub owner: String,
    /// Whose it is, for people.
    pub called: String,
}

/// Kinds that are looked for in a namespace besides those that are watched: what somebody who knows the plane by
/// another way most likely has there.
const USUAL: &[(&str, &str, &str)] = &[
    ("", "v1", "ConfigMap"),
    ("", "v1", "Secret"),
    ("", "v1", "Service"),
    ("", "v1", "ServiceAccount"),
    ("", "v1", "PersistentVolumeClaim"),
    ("apps", "v1", "Deployment"),
    ("apps", "v1", "StatefulSet"),
    ("batch", "v1", "CronJob"),
    ("batch", "v1", "Job"),
    ("networking.k8s.io", "v1", "NetworkPolicy"),
];
/// How many objects of a kind are looked at: some may be copies, made by the cluster for others.
const SOME: usize = 20;

/// Looks whether somebody else than `owner` has something in a namespace: the plane is asked, since whoever it is may
/// be unknown here.
pub async fn tenant(
    site: &Site,
    namespace: &str,
    owner: Option<&str>,
) -> Result<Option<Tenant>, Trouble> {
    let marks = site.marks();
    let mut selector = format!("{},{}", marks.selector, marks.lens.owner_label);
    if let Some(owner) = owner {
        selector = format!("{selector},{}!={owner}", marks.lens.owner_label);
    }
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("labelSelector", &selector)
        .append_pair("limit", &SOME.to_string())
        .finish();
    let usual = USUAL.iter().map(|(group, version, kind)| {
        let kind = GroupKind {
            group: (*group).into(),
            kind: (*kind).into(),
        };
        (kind, (*version).into())
    });
    let mut kinds = site.watched();
    kinds.extend(usual);
    let mut asked = HashSet::new();
    for (kind, version) in kinds {
        if !asked.insert(kind.clone()) {
            continue;
        }
        let ask = |served| some_of(site, served, namespace, &query);
        let found = site.in_any_version(&kind, &version, ask).await;
        let list = match found {
            Ok(list) => list,
            // Who may not see a kind has nothing of it, and cannot tell whether others have.
            Err(Trouble::Forbidden(_) | Trouble::NotServed(_)) => continue,
            Err(trouble) => return Err(trouble),
        };
        let mut items = list["items"].as_array().into_iter().flatten();
        // Labels are copied: by people, and by the cluster onto what it makes for an object.
        let is_applied = |object: &&Value| owned::was_applied_by(object, site.manager());
        if let Some(object) = items.find(is_applied) {
            let metadata = &object["metadata"];
            let owner = metadata["labels"][marks.lens.owner_label].as_str();
            return Ok(Some(Tenant {
                object: format!("{} {}", kind.kind, metadata["name"].as_str().unwrap_or("")),
                owner: owner.unwrap_or_default().to_owned(),
                called: marks.owner_of(object),
            }));
        }
    }
    Ok(None)
}

/// Objects of a kind in a namespace, as far as the query selects them.
async fn some_of(
    site: &Site,
    served: Served,
    namespace: &str,
    query: &str,
) -> Result<Value, Trouble> {
    if !served.namespaced {
        return Ok(Value::Null);
    }
    let path = url_path(&served.resource, Some(namespace));
    let request = Request::get(format!("{path}?{query}"))
        .header(header::ACCEPT, METADATA)
        .body(Vec::new());
    let list = site.guarded().read(built(request)?).await?;
    Ok(list.unwrap_or_default())
}

/// Metadata is all that is looked at.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Gives a namespace to somebody else, by its labels; those without a value are taken off.
pub async fn hand_over(
    site: &Site,
    found: &NamespaceFound,
    labels: &[(&str, Option<&str>)],
) -> Result<(), Trouble> {
    let labels: serde_json::Map<String, Value> = labels
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.map_or(Value::Null, Value::from)))
        .collect();
    let patch = json!({ "metadata": { "uid": found.uid, "labels": labels } });
    let request = Request::patch(format!("{PATH}/{}", found.name))
        .header(header::CONTENT_TYPE, "application/merge-patch+json")
        .body(patch.to_string().into_bytes());
    match site.guarded().write::<Value>(built(request)?).await {
        Ok(_) | Err(Trouble::NotFound(_) | Trouble::Conflict(_)) => Ok(()),
        Err(trouble) => Err(trouble),
    }
}

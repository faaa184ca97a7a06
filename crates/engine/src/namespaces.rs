//! Namespaces of a plane that belong to nobody's inventory: found by their labels.

use http::{Request, header};
use quadrille_planes::Trouble;
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

/// Gives a namespace to somebody else, by its labels.
pub async fn hand_over(
    site: &Site,
    found: &NamespaceFound,
    labels: &[(&str, &str)],
) -> Result<(), Trouble> {
    let labels: serde_json::Map<String, Value> = labels
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::from(*value)))
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

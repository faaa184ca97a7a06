//! Requests for objects of any kind.

use http::{Request, header};
use quadrille_objects::Identity;
use quadrille_planes::{Served, Trouble, feed::url_path};
use serde_json::{Value, json};

/// What becomes of an object's dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They go after it.
    Background,
    /// It goes after them.
    Foreground,
}

impl Propagation {
    const fn word(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
        }
    }
}

pub(crate) fn get(served: &Served, identity: &Identity) -> Result<Request<Vec<u8>>, Trouble> {
    built(Request::get(path(served, identity)).body(Vec::new()))
}

/// A forced apply: what we ask for is ours. That nothing foreign is taken is seen to before.
pub(crate) fn apply(
    served: &Served,
    identity: &Identity,
    object: &Value,
    manager: &str,
) -> Result<Request<Vec<u8>>, Trouble> {
    let url = format!(
        "{}?fieldManager={manager}&force=true&fieldValidation=Strict",
        path(served, identity)
    );
    let request = Request::patch(url).header(header::CONTENT_TYPE, "application/apply-patch+yaml");
    built(request.body(body(object)))
}

/// Creates nothing: only asks whether the object would be taken, under a name that is free.
pub(crate) fn rehearse(
    served: &Served,
    identity: &Identity,
    object: &Value,
    manager: &str,
) -> Result<Request<Vec<u8>>, Trouble> {
    let url = format!(
        "{}?fieldManager={manager}&dryRun=All&fieldValidation=Strict",
        collection(served, identity)
    );
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("name");
        metadata.remove("resourceVersion");
        metadata.insert("generateName".to_owned(), "rehearsal-".into());
    }
    let request = Request::post(url).header(header::CONTENT_TYPE, "application/json");
    built(request.body(body(&object)))
}

pub(crate) fn delete(
    served: &Served,
    identity: &Identity,
    uid: &str,
    propagation: Propagation,
) -> Result<Request<Vec<u8>>, Trouble> {
    let options = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": { "uid": uid },
        "propagationPolicy": propagation.word(),
    });
    let request =
        Request::delete(path(served, identity)).header(header::CONTENT_TYPE, "application/json");
    built(request.body(body(&options)))
}

pub(crate) fn create_namespace(
    name: &str,
    labels: &[(&str, &str)],
    manager: &str,
) -> Result<Request<Vec<u8>>, Trouble> {
    let labels: serde_json::Map<String, Value> = labels
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::from(*value)))
        .collect();
    let options = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": { "name": name, "labels": labels },
    });
    let request = Request::post(format!("/api/v1/namespaces?fieldManager={manager}"))
        .header(header::CONTENT_TYPE, "application/json");
    built(request.body(body(&options)))
}

fn path(served: &Served, identity: &Identity) -> String {
    format!("{}/{}", collection(served, identity), identity.name)
}

fn collection(served: &Served, identity: &Identity) -> String {
    let namespace = served.namespaced.then_some(&*identity.namespace);
    url_path(&served.resource, namespace)
}

/// A tree as it is sent.
pub fn body(object: &Value) -> Vec<u8> {
    serde_json::to_vec(object).expect("a value is JSON")
}

/// A request that can be sent.
pub fn built(request: http::Result<Request<Vec<u8>>>) -> Result<Request<Vec<u8>>, Trouble> {
    request.map_err(|error| Trouble::Unsendable(error.to_string()))
}

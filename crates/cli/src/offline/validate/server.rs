//! An API server for a moment: in memory, in this process, with our kinds. What it refuses, any cluster refuses.

use std::collections::BTreeSet;

use http::{Request, header};
use kube::Client;
use parking_lot::Mutex;
use quadrille_apiserver::{Options, Server, auth::User};
use quadrille_store::{Options as StoreOptions, Store};
use serde_json::{Value, json};

use crate::{documents::Document, failure::Failure, kinds};

/// The server, and the namespaces that it has by now.
pub(super) struct Examiner {
    // Serves as long as it lives.
    _server: Server,
    client: Client,
    namespaces: Mutex<BTreeSet<String>>,
}

impl Examiner {
    pub(super) async fn start() -> Result<Self, Failure> {
        let failed = |error: &(dyn std::error::Error + 'static)| {
            Failure::new("documents cannot be checked").because(error)
        };
        let store = Store::in_memory(StoreOptions::default()).map_err(|error| failed(&error))?;
        let mut options = Options::new(store).map_err(|error| failed(&error))?;
        options.definitions = Box::new(quadrille_types::DEFINITIONS.lines().map(Into::into));
        options.housekeeping = false;
        let server = Server::start(options)
            .await
            .map_err(|error| failed(&error))?;
        let client = Client::new(server.router_as(&User::admin()), "default");
        Ok(Self {
            _server: server,
            client,
            namespaces: Mutex::default(),
        })
    }

    /// What is wrong with a document of ours: the field, and why. Documents of other kinds are not looked at.
    pub(super) async fn examine(
        &self,
        document: &Document,
    ) -> Result<Vec<(String, String)>, Failure> {
        let Some(path) = kinds::path_of_ours(&document.object) else {
            let mut complaints = Vec::new();
            if is_ours(&document.object) {
                complaints.push(("kind".to_owned(), unknown_kind(document.kind())));
            }
            return Ok(complaints);
        };
        let mut object = document.object.clone();
        if path.contains("/namespaces/") {
            self.make_namespace(document.namespace().unwrap_or("default"))
                .await?;
        }
        // What a server wrote is no part of what is asked for.
        if let Some(metadata) = object["metadata"].as_object_mut() {
            for field in [
                "resourceVersion",
                "uid",
                "managedFields",
                "creationTimestamp",
                "generation",
            ] {
                metadata.remove(field);
            }
        }
        match self.create(&path, &object).await {
            Ok(()) => Ok(Vec::new()),
            Err(kube::Error::Api(status)) => Ok(complaints(&status)),
            Err(error) => Err(Failure::new("documents cannot be checked").because(&error)),
        }
    }

    async fn make_namespace(&self, name: &str) -> Result<(), Failure> {
        if name == "default" || !self.namespaces.lock().insert(name.to_owned()) {
            return Ok(());
        }
        let namespace =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        let request = Request::post("/api/v1/namespaces")
            .header(header::CONTENT_TYPE, "application/json")
            .body(namespace.to_string().into_bytes())
            .map_err(|error| Failure::new(format!("{name:?} is no namespace")).because(&error))?;
        let made: Result<Value, kube::Error> = self.client.request(request).await;
        made.map(drop)
            .map_err(|error| Failure::new(format!("{name:?} is no namespace")).because(&error))
    }

    async fn create(&self, path: &str, object: &Value) -> Result<(), kube::Error> {
        let request = Request::post(format!("{path}?dryRun=All&fieldValidation=Strict"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(object.to_string().into_bytes())
            .map_err(kube::Error::HttpError)?;
        let made: Value = self.client.request(request).await?;
        drop(made);
        Ok(())
    }
}

fn is_ours(object: &Value) -> bool {
    let group = object["apiVersion"]
        .as_str()
        .and_then(|text| text.split_once('/'));
    group.is_some_and(|(group, _)| group == quadrille_types::GROUP)
}

fn unknown_kind(kind: &str) -> String {
    let words = kinds::kinds();
    let near = crate::nearest::nearest(kind, words.iter().map(String::as_str));
    match near {
        Some(near) => format!("there is no such kind; did you mean {near}?"),
        None => "there is no such kind".to_owned(),
    }
}

/// Each cause by itself, with its field.
fn complaints(status: &kube::core::Status) -> Vec<(String, String)> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let causes: Vec<(String, String)> = causes
        .filter(|cause| !cause.field.is_empty())
        .map(|cause| {
            (
                cause.field.clone(),
                format!("{}: {}", cause.field, cause.message),
            )
        })
        .collect();
    if !causes.is_empty() {
        return causes;
    }
    let strict = status.message.split_once("strict decoding error: ");
    let Some((_, fields)) = strict else {
        return vec![(String::new(), status.message.clone())];
    };
    let each = fields.split(", ").map(|words| {
        let field = words.split('"').nth(1).unwrap_or_default();
        let parent = field.rsplit_once('.').map_or(field, |(parent, _)| parent);
        let path = if words.starts_with("unknown") {
            field
        } else {
            parent
        };
        (path.to_owned(), words.to_owned())
    });
    each.collect()
}

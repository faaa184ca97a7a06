//! Requests to a cluster, and what is said when one fails.

use std::{io, time::Duration};

use http::{Request, header};
use kube::{
    core::ApiResource,
    discovery::{self, ApiCapabilities, Scope},
};
use quadrille_planes::feed::url_path;
use serde_json::Value;

use crate::{cluster::Cluster, documents::Document, failure::Failure, progress};

/// How long an answer may take: longer than any server gives itself.
const DEADLINE: Duration = Duration::from_secs(70);

/// The form in which a server gives whole objects.
pub(crate) const OBJECTS: &str = "application/json";
/// The form in which it gives tables of them.
pub(crate) const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

/// How an object is applied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apply {
    /// In whose name.
    pub(crate) manager: &'static str,
    /// Whether the server is only asked what would come of it.
    pub(crate) is_rehearsal: bool,
}

impl Cluster {
    /// Sends a request, and says so when the answer takes long.
    pub(crate) async fn send(&self, request: Request<Vec<u8>>) -> Result<Value, kube::Error> {
        let answer = tokio::time::timeout(DEADLINE, self.client.request(request));
        let words = format!("waiting for {}", self.url);
        progress::during(&words, answer).await.unwrap_or_else(|_| {
            let words = format!("no answer within {} s", DEADLINE.as_secs());
            let late = io::Error::new(io::ErrorKind::TimedOut, words);
            Err(kube::Error::Service(Box::new(late)))
        })
    }

    /// Reads a path in some form.
    pub(crate) async fn read(&self, path: &str, form: &str) -> Result<Value, kube::Error> {
        let request = Request::get(path)
            .header(header::ACCEPT, form)
            .body(Vec::new())
            .map_err(kube::Error::HttpError)?;
        self.send(request).await
    }

    /// Reads an object; nothing if it is not there.
    pub(crate) async fn get(&self, path: &str) -> Result<Option<Value>, Failure> {
        match self.read(path, OBJECTS).await {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Applies an object on the server's side, with force.
    pub(crate) async fn apply(
        &self,
        path: &str,
        object: &Value,
        how: Apply,
    ) -> Result<Value, kube::Error> {
        let rehearsal = if how.is_rehearsal { "&dryRun=All" } else { "" };
        let manager = how.manager;
        let url =
            format!("{path}?fieldManager={manager}&force=true&fieldValidation=Strict{rehearsal}");
        let request = Request::patch(url)
            .header(header::CONTENT_TYPE, "application/apply-patch+yaml")
            .body(object.to_string().into_bytes())
            .map_err(kube::Error::HttpError)?;
        self.send(request).await
    }

    /// The path of the object that a document describes.
    pub(crate) async fn path_of(&self, document: &Document) -> Result<String, Failure> {
        let api_version = document.object["apiVersion"].as_str().unwrap_or_default();
        let kind = self.kind(api_version, document.kind()).await;
        let (resource, is_namespaced) = kind?;
        let namespace = document.namespace().unwrap_or(&self.namespace);
        let collection = url_path(&resource, is_namespaced.then_some(namespace));
        Ok(format!("{collection}/{}", document.name()))
    }

    /// Finds a kind that the cluster serves, by its version and word.
    async fn kind(&self, api_version: &str, kind: &str) -> Result<(ApiResource, bool), Failure> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let wanted = kube::core::GroupVersionKind::gvk(group, version, kind);
        let words = format!("waiting for {}", self.url);
        let found = discovery::pinned_kind(&self.client, &wanted);
        match progress::during(&words, found).await {
            Ok((resource, ApiCapabilities { scope, .. })) => {
                Ok((resource, scope == Scope::Namespaced))
            }
            Err(kube::Error::Api(status)) if status.code == 404 => {
                Err(not_served(api_version, kind))
            }
            Err(kube::Error::Discovery(_)) => Err(not_served(api_version, kind)),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// What went wrong, and what to do.
    pub(crate) fn failed(&self, error: &kube::Error) -> Failure {
        match error {
            kube::Error::Api(status) if status.code == 403 => Failure::new("you may not do that")
                .saying(&status.message)
                .next(format!(
                    "See what you may do there: kubectl auth can-i --list -n {}",
                    self.namespace
                ))
                .next("or ask a platform admin for a role: quad user add NAME --role developer"),
            kube::Error::Api(status) if status.code == 401 => {
                Failure::new(format!("{} does not know you", self.url))
                    .finally()
                    .saying(&status.message)
                    .next("Take a fresh kubeconfig: `quad up` writes one at every start")
            }
            kube::Error::Api(status) => {
                let failure = Failure::new(status.message.clone());
                if status.code == 404 && status.message.starts_with("namespaces ") {
                    failure.next("An organization is a namespace: quad get organizations")
                } else if status.message.ends_with("field not declared in schema") {
                    failure.next("See which fields there are: kubectl explain KIND --recursive")
                } else {
                    failure
                }
            }
            error => Failure::new(format!("{} does not answer", self.url))
                .finally()
                .unanswered(error)
                .next("Start the platform here: quad up")
                .next("or name another cluster: --kubeconfig FILE"),
        }
    }
}

/// The cluster has no such kind.
pub(crate) fn not_served(api_version: &str, kind: &str) -> Failure {
    let failure = Failure::new(format!(
        "the cluster does not serve {kind} of {api_version}"
    ));
    if api_version.starts_with(quadrille_types::GROUP) {
        failure.next("Install our kinds: kubectl apply -f deploy/crds/")
    } else {
        failure.next("Install its definition first, or check apiVersion and kind.")
    }
}

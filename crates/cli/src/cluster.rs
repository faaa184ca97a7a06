//! The cluster that a verb talks to: by a kubeconfig, as kubectl finds it, or by the one of `quad up`.

use std::path::{Path, PathBuf};

use http::{Request, header};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
    core::ApiResource,
    discovery::{self, ApiCapabilities, Scope},
};
use quadrille_planes::feed::url_path;
use serde_json::Value;

use crate::{data_folder::default_kubeconfig, documents::Document, failure::Failure};

/// Which cluster.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Which {
    /// The kubeconfig [default: $KUBECONFIG, ~/.kube/config, or that of `quad up`].
    #[arg(long, value_name = "FILE", global = true)]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig [default: its current one].
    #[arg(long, global = true)]
    context: Option<String>,
    /// The namespace (organization) [default: that of the context].
    #[arg(short, long, global = true)]
    namespace: Option<String>,
}

/// A cluster that can be talked to.
pub(crate) struct Cluster {
    pub(crate) client: Client,
    /// The namespace of what says none.
    pub(crate) namespace: String,
    /// Where it is.
    pub(crate) url: String,
}

impl Which {
    /// Finds it. Nothing is sent yet.
    pub(crate) async fn find(&self) -> Result<Cluster, Failure> {
        let kubeconfig = self.read()?;
        let options = KubeConfigOptions {
            context: self.context.clone(),
            ..KubeConfigOptions::default()
        };
        let config = Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(|error| {
                Failure::new("the kubeconfig does not lead to a cluster")
                    .because(&error)
                    .next("See its contexts: kubectl config get-contexts")
            })?;
        let url = config.cluster_url.to_string();
        let namespace = self.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
        let client = quadrille_planes::connect::over(&config)
            .map_err(|error| Failure::new(format!("no way to {url}")).because(&error))?;
        Ok(Cluster {
            client,
            namespace,
            url,
        })
    }

    fn read(&self) -> Result<Kubeconfig, Failure> {
        let named = |path: &Path| {
            Kubeconfig::read_from(path).map_err(|error| {
                Failure::new(format!("{} is no kubeconfig", path.display())).because(&error)
            })
        };
        if let Some(path) = &self.kubeconfig {
            return named(path);
        }
        if std::env::var_os("KUBECONFIG").is_some() {
            return Kubeconfig::read().map_err(|error| {
                Failure::new("$KUBECONFIG cannot be read")
                    .because(&error)
                    .next("Start a platform here: quad up")
            });
        }
        // Whoever started `quad up` a minute ago means that.
        let ours = default_kubeconfig();
        if let Some(path) = ours.filter(|path| path.exists()) {
            return named(&path);
        }
        Kubeconfig::read().map_err(|error| {
            Failure::new("there is no cluster to talk to")
                .because(&error)
                .next("Start one here: quad up")
                .next("or name one: --kubeconfig FILE")
        })
    }
}

impl Cluster {
    /// The path of the object that a document describes.
    pub(crate) async fn path_of(&self, document: &Document) -> Result<String, Failure> {
        let api_version = document.object["apiVersion"].as_str().unwrap_or_default();
        let kind = self.kind(api_version, document.kind()).await;
        let (resource, is_namespaced) = kind.map_err(|failure| failure.at(&document.place))?;
        let namespace = document.namespace().unwrap_or(&self.namespace);
        let collection = url_path(&resource, is_namespaced.then_some(namespace));
        Ok(format!("{collection}/{}", document.name()))
    }

    /// Reads an object; nothing if it is not there.
    pub(crate) async fn get(&self, path: &str) -> Result<Option<Value>, Failure> {
        let request = Request::get(path)
            .header(header::ACCEPT, "application/json")
            .body(Vec::new())
            .map_err(|error| Failure::new("the request cannot be made").because(&error))?;
        match self.client.request(request).await {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Finds a kind that the cluster serves, by its version and word.
    async fn kind(&self, api_version: &str, kind: &str) -> Result<(ApiResource, bool), Failure> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let wanted = kube::core::GroupVersionKind::gvk(group, version, kind);
        match discovery::pinned_kind(&self.client, &wanted).await {
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
                .because(error)
                .next("See what you may do: kubectl auth can-i --list"),
            kube::Error::Api(status) if status.code == 401 => {
                Failure::new(format!("{} does not know you", self.url))
                    .because(error)
                    .next("Take a fresh kubeconfig: `quad up` writes one")
            }
            kube::Error::Api(status) => Failure::new(status.message.clone()),
            error => Failure::new(format!("{} does not answer", self.url))
                .because(error)
                .next("Start the platform here: quad up")
                .next("or name another cluster: --kubeconfig FILE"),
        }
    }
}

fn not_served(api_version: &str, kind: &str) -> Failure {
    let failure = Failure::new(format!(
        "the cluster does not serve {kind} of {api_version}"
    ));
    if api_version.starts_with(quadrille_types::GROUP) {
        failure.next("Install our kinds: kubectl apply -f deploy/crds/")
    } else {
        failure.next("Install its definition first, or check apiVersion and kind.")
    }
}

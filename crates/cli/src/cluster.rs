//! The cluster that a verb talks to: by a kubeconfig, as kubectl finds it, or by the one of `quad up`.

use std::path::{Path, PathBuf};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::{data_folder::default_kubeconfig, failure::Failure, nearest::nearest};

/// Which cluster.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Which {
    /// The kubeconfig [default: $KUBECONFIG, that of `quad up`, or ~/.kube/config].
    #[arg(long, value_name = "FILE", global = true, value_hint = clap::ValueHint::FilePath)]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig [default: its current one].
    #[arg(long, global = true)]
    context: Option<String>,
    /// The namespace (organization) [default: that of the context].
    #[arg(short, long, global = true)]
    namespace: Option<String>,
}

/// A cluster that can be talked to.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) client: Client,
    /// The namespace of what says none.
    pub(crate) namespace: String,
    /// Where it is.
    pub(crate) url: String,
}

impl Which {
    /// The namespace, if one was said.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Finds it. Nothing is sent yet.
    pub(crate) async fn find(&self) -> Result<Cluster, Failure> {
        let kubeconfig = self.read()?;
        if let Some(context) = &self.context {
            known(context, &kubeconfig)?;
        }
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
            url: url.trim_end_matches('/').to_owned(),
        })
    }

    fn read(&self) -> Result<Kubeconfig, Failure> {
        let named = |path: &Path| {
            Kubeconfig::read_from(path).map_err(|error| {
                Failure::new(format!("{} is no kubeconfig", path.display()))
                    .because(&error)
                    .next("Start a platform here, which writes one: quad up")
            })
        };
        if let Some(path) = &self.kubeconfig {
            return named(path);
        }
        if std::env::var_os("KUBECONFIG").is_some_and(|value| !value.is_empty()) {
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

/// A context that is not there is a typing error more often than not.
fn known(context: &str, kubeconfig: &Kubeconfig) -> Result<(), Failure> {
    let names: Vec<&str> = kubeconfig
        .contexts
        .iter()
        .map(|known| known.name.as_str())
        .collect();
    if names.contains(&context) {
        return Ok(());
    }
    let failure = Failure::usage(format!("there is no context {context:?} in the kubeconfig"));
    Err(match nearest(context, names.iter().copied()) {
        Some(name) => failure.next(format!("Did you mean {name}?")),
        None => failure.next(format!("There are: {}", names.join(", "))),
    })
}

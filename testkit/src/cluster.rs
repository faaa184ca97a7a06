//! A cluster for one test.

use std::{
    path::PathBuf,
    sync::{Arc, LazyLock},
};

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client,
    api::PostParams,
    core::{NamespaceResourceScope, Resource},
};
use quadrille_apiserver::clock::{Clock, SystemClock};
use quadrille_node::third_party;
use tokio::sync::OnceCell;

use crate::{builders::mk, clock::ManualClock, definitions, embedded::Embedded, real, wire::Wire};

/// Which kind of cluster a test has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterKind {
    /// Our own API server, in the test's process, for this test alone.
    Embedded,
    /// kube-apiserver and all around it, shared by the test run.
    Real,
}

/// A cluster for one test: a client as administrator, our definitions, and a namespace that nobody else uses.
#[derive(Clone)]
pub struct Cluster {
    /// Nothing for a real one.
    embedded: Option<Arc<Embedded>>,
    client: Client,
    wire: Wire,
    namespace: String,
}

impl Cluster {
    /// An embedded cluster of the test's own; a real one when the test run asks for that
    /// ([`real::KUBECONFIG_VARIABLE`]).
    pub async fn start() -> anyhow::Result<Self> {
        if real::is_asked_for() {
            Self::real().await
        } else {
            Self::embedded().await
        }
    }

    /// An embedded cluster, whatever the test run asks for.
    pub async fn embedded() -> anyhow::Result<Self> {
        let embedded = Embedded::start(Arc::new(SystemClock), &[]).await?;
        let client = embedded.client();
        Self::over(client, Some(embedded)).await
    }

    /// A cluster that runs pods: embedded with a simulated node, or a real one (its nodes are simulated too).
    pub async fn start_with_node() -> anyhow::Result<Self> {
        if real::is_asked_for() {
            Self::real().await
        } else {
            Self::with_node().await
        }
    }

    /// An embedded cluster with a simulated node and all controllers of workloads. [`Self::embedded`] has none:
    /// tests there write statuses by hand.
    pub async fn with_node() -> anyhow::Result<Self> {
        let options = quadrille_node::Options::default();
        Self::with_node_and(Arc::new(SystemClock), options, &[]).await
    }

    /// A cluster that runs pods and has the kinds of other projects that releases are made of, but nobody who gives those
    /// life.
    pub async fn start_with_other_kinds() -> anyhow::Result<Self> {
        static TEXTS: LazyLock<Vec<String>> =
            LazyLock::new(|| third_party::definitions().collect());
        static INSTALLED: OnceCell<()> = OnceCell::const_new();
        if !real::is_asked_for() {
            let options = quadrille_node::Options::default();
            return Self::with_node_and(Arc::new(SystemClock), options, &TEXTS).await;
        }
        let client = real::shared_client().await?;
        INSTALLED
            .get_or_try_init(async || {
                let parsed = TEXTS.iter().map(|text| serde_json::from_str(text));
                definitions::install(&client, &parsed.collect::<Result<Vec<_>, _>>()?).await
            })
            .await?;
        Self::real().await
    }

    /// The same, by a clock in the test's hand: the server's times and everything that waits on the node.
    pub async fn with_node_at(clock: &ManualClock) -> anyhow::Result<Self> {
        let options = quadrille_node::Options::simulated(Arc::new(clock.clone()));
        Self::with_node_and(Arc::new(clock.clone()), options, &[]).await
    }

    async fn with_node_and(
        clock: Arc<dyn Clock>,
        options: quadrille_node::Options,
        others: &'static [String],
    ) -> anyhow::Result<Self> {
        let mut embedded = Embedded::start(clock, others).await?;
        embedded.run_pods(options);
        let client = embedded.client();
        Self::over(client, Some(embedded)).await
    }

    /// The real control plane of this test run, and a new namespace in it. Only where one is asked for
    /// ([`real::is_asked_for`]): elsewhere nobody may have built it.
    pub async fn real() -> anyhow::Result<Self> {
        // Once per process; across processes, doing it again changes nothing.
        static DEFINITIONS: OnceCell<()> = OnceCell::const_new();
        let client = real::shared_client().await?;
        DEFINITIONS
            .get_or_try_init(async || {
                definitions::install(&client, &quadrille_types::definitions()).await
            })
            .await?;
        Self::over(client, None).await
    }

    async fn over(direct: Client, embedded: Option<Embedded>) -> anyhow::Result<Self> {
        let namespace: Namespace =
            mk(serde_json::json!({ "metadata": { "generateName": "test-" } }));
        let api = Api::<Namespace>::all(direct.clone());
        let created = api.create(&PostParams::default(), &namespace).await?;
        let namespace = created.metadata.name.unwrap_or_default();
        let wire = Wire::default();
        let client = wire.attach(direct, &namespace);
        Ok(Self {
            embedded: embedded.map(Arc::new),
            client,
            wire,
            namespace,
        })
    }

    /// Which kind of cluster this is.
    pub fn kind(&self) -> ClusterKind {
        if self.embedded.is_some() {
            ClusterKind::Embedded
        } else {
            ClusterKind::Real
        }
    }

    /// A client as administrator; its calls pass [`Self::wire`], its default namespace is the test's own.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The wire under [`Self::client`]: its log, and faults to inject.
    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    /// A kubeconfig file with which programs reach the cluster as administrator. Its default namespace is
    /// `default`, not the test's own.
    pub async fn kubeconfig(&self) -> anyhow::Result<PathBuf> {
        match &self.embedded {
            Some(embedded) => embedded.kubeconfig().await,
            None => real::shared_kubeconfig().await,
        }
    }

    /// The test's own namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Objects of a kind in the test's own namespace.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client(), &self.namespace)
    }

    /// Objects of a kind in the whole cluster. A real one is shared: use [`Self::unique`] names.
    pub fn all<K>(&self) -> Api<K>
    where
        K: Resource,
        K::DynamicType: Default,
    {
        Api::all(self.client())
    }

    /// A name for something outside the namespace, that no other test has.
    pub fn unique(&self, name: &str) -> String {
        format!("{name}-{}", self.namespace)
    }
}

//! A cluster where organizations come and go, and controllers that can be killed.

use std::{fmt::Debug, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, ListParams, Patch, PatchParams},
    core::NamespaceResourceScope,
};
use quadrille_controllers::{Clock, Options, SystemClock, lease::Terms};
use quadrille_testkit::{Cluster, ClusterKind, eventually, wire::Wire};
use quadrille_types::{
    DataPlane, DeploymentPipeline, Environment, Organization, Project, Release,
    conditions::ConditionType,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// A cluster with controllers.
pub(crate) struct Stage {
    pub(crate) cluster: Cluster,
    /// What passes between the controllers and the cluster.
    pub(crate) wire: Wire,
    /// What the controllers take for the time of day.
    pub(crate) clock: Arc<dyn Clock>,
    running: Vec<JoinHandle<()>>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Stage {
    /// A cluster without controllers yet.
    pub(crate) async fn at_rest() -> Self {
        Self::on(Cluster::start().await.unwrap())
    }

    /// The same on this cluster.
    pub(crate) fn on(cluster: Cluster) -> Self {
        Self {
            cluster,
            wire: Wire::default(),
            clock: Arc::new(SystemClock),
            running: Vec::new(),
        }
    }

    /// Controllers for these organizations; on a cluster of its own, for everything.
    pub(crate) fn run(&mut self, organizations: &[&str]) {
        let whole = self.cluster.kind() == ClusterKind::Embedded;
        if whole {
            self.run_for(None);
        } else {
            self.run_apart(organizations);
        }
    }

    /// Controllers for each of these organizations, which know nothing of the others.
    pub(crate) fn run_apart(&mut self, organizations: &[&str]) {
        for organization in organizations {
            self.run_for(Some(organization));
        }
    }

    fn run_for(&mut self, scope: Option<&str>) {
        let (client, lease) = (self.client(), self.cluster.namespace().to_owned());
        self.run_with(&client, scope, &lease);
    }

    /// Controllers for an organization that are somebody, and have their lease where they may.
    pub(crate) fn run_as(&mut self, client: &Client, organization: &str) {
        self.run_with(client, Some(organization), "quadrille-system");
    }

    fn run_with(&mut self, client: &Client, scope: Option<&str>, lease: &str) {
        let client = self.wire.attach(client.clone(), self.cluster.namespace());
        let options = Options {
            control: client.clone(),
            local: client,
            namespace: scope.map(ToOwned::to_owned),
            lease: Terms {
                name: scope.unwrap_or("everything").to_owned(),
                duration: Duration::from_mins(1),
                renewal: Duration::from_secs(20),
                ..Terms::new(lease, "test")
            },
            planes: quadrille_controllers::Settings::default(),
            clock: Arc::clone(&self.clock),
            without: quadrille_controllers::Without::default(),
        };
        let run = async move { quadrille_controllers::run(&options).await };
        self.running.push(tokio::spawn(run));
    }

    /// Kills the controllers as a crash does.
    pub(crate) fn kill(&mut self) {
        for running in self.running.drain(..) {
            running.abort();
        }
    }

    /// The test's own client: faults on the controllers' wire don't touch it.
    pub(crate) fn client(&self) -> Client {
        self.cluster.client()
    }

    /// Objects of a kind in an organization.
    pub(crate) fn api<K>(&self, organization: &str) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client(), organization)
    }

    /// Applies an object to an organization.
    pub(crate) async fn apply<K>(&self, organization: &str, name: &str, spec: Value) -> K
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let object = json!({
            "apiVersion": K::api_version(&()), "kind": K::kind(&()),
            "metadata": { "name": name }, "spec": spec,
        });
        let patch = PatchParams::apply("test").force();
        let api = self.api::<K>(organization);
        api.patch(name, &patch, &Patch::Apply(&object))
            .await
            .unwrap()
    }

    /// Annotates an object.
    pub(crate) async fn annotate<K>(&self, api: &Api<K>, name: &str, key: &str)
    where
        K: Clone + Debug + DeserializeOwned,
    {
        let patch = json!({ "metadata": { "annotations": { key: "true" } } });
        let parameters = PatchParams::default();
        api.patch(name, &parameters, &Patch::Merge(&patch))
            .await
            .unwrap();
    }

    /// Makes an organization and waits for its namespace.
    pub(crate) async fn organization(&self, name: &str) {
        let object = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Organization",
            "metadata": { "name": name },
        });
        let object: Organization = serde_json::from_value(object).unwrap();
        let api = self.cluster.all::<Organization>();
        api.create(&kube::api::PostParams::default(), &object)
            .await
            .unwrap();
        until_said(&api, name, ConditionType::Ready, "True", "NamespaceCreated").await;
    }

    /// An organization with one of everything, and a release that is in place.
    pub(crate) async fn furnished(&self, organization: &str) {
        self.organization(organization).await;
        self.furnish(organization).await;
    }

    /// One of everything, and a release that is in place, in a namespace that was made for it.
    pub(crate) async fn furnish(&self, organization: &str) {
        let plane = json!({ "kubernetesCluster": { "inCluster": true } });
        self.apply::<DataPlane>(organization, "local", plane).await;
        let environment = json!({ "dataPlaneRef": "local" });
        self.apply::<Environment>(organization, "development", environment)
            .await;
        let paths = json!([{
            "sourceEnvironmentRef": "development", "targetEnvironmentRefs": [],
        }]);
        let pipeline = json!({ "promotionPaths": paths });
        self.apply::<DeploymentPipeline>(organization, "main", pipeline)
            .await;
        let project = json!({ "deploymentPipelineRef": "main" });
        self.apply::<Project>(organization, "shop", project).await;
        self.release(organization).await;
        let releases = self.api::<Release>(organization);
        until_said(&releases, "cart", ConditionType::Ready, "True", "").await;
        let environments = self.api::<Environment>(organization);
        until_said(
            &environments,
            "development",
            ConditionType::Ready,
            "True",
            "",
        )
        .await;
        let projects = self.api::<Project>(organization);
        until_said(&projects, "shop", ConditionType::Ready, "True", "").await;
    }

    /// A release of one config map in the organization's cell.
    pub(crate) async fn release(&self, organization: &str) {
        let config = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "cart", "namespace": cell(organization) },
            "data": { "value": "1" },
        });
        let release = json!({
            "owner": { "projectName": "shop", "componentName": "cart" },
            "environmentName": "development",
            "resources": [{ "id": "config", "object": config }],
        });
        self.apply::<Release>(organization, "cart", release).await;
    }

    /// Waits until nothing of an organization is left, on the plane neither.
    pub(crate) async fn nothing_left(&self, organization: &str) {
        let organizations = self.cluster.all::<Organization>();
        gone(&organizations, organization).await;
        let namespaces = self.cluster.all::<Namespace>();
        gone(&namespaces, organization).await;
        gone(&namespaces, &cell(organization)).await;
        let left = ListParams::default().labels(&format!("organization-name={organization}"));
        let left = namespaces.list(&left).await.unwrap();
        assert!(left.items.is_empty(), "{:?}", left.items);
    }

    /// Deletes an object, if it is there.
    pub(crate) async fn delete<K>(&self, api: &Api<K>, name: &str)
    where
        K: Clone + Debug + DeserializeOwned,
    {
        match api.delete(name, &DeleteParams::default()).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => panic!("delete {name}: {error}"),
        }
    }
}

/// The namespace of an organization's release.
pub(crate) fn cell(organization: &str) -> String {
    format!("{organization}-cell")
}

/// Waits until a condition has a status and its reason or message contains some words.
pub(crate) async fn until_said<K>(
    api: &Api<K>,
    name: &str,
    condition: ConditionType,
    status: &str,
    words: &str,
) where
    K: Clone + Debug + DeserializeOwned + Serialize + Resource,
{
    let what = format!("{name}: {condition} is {status} {words}");
    eventually(&what, async || {
        let object = api.get(name).await.unwrap();
        let object = serde_json::to_value(&object).unwrap();
        let conditions = object["status"]["conditions"].as_array();
        let found = conditions.into_iter().flatten().find(|one| {
            one["type"] == condition.as_str()
                && one["status"] == status
                && one["observedGeneration"] == object["metadata"]["generation"]
        });
        let said = |key: &str| {
            found.is_some_and(|one| one[key].as_str().unwrap_or_default().contains(words))
        };
        if said("reason") || said("message") {
            Ok(())
        } else {
            Err(serde_json::to_string_pretty(&object["status"]).unwrap())
        }
    })
    .await;
}

/// Whether an object is gone.
pub(crate) async fn is_gone<K>(api: &Api<K>, name: &str) -> bool
where
    K: Clone + Debug + DeserializeOwned,
{
    api.get_opt(name).await.unwrap().is_none()
}

/// Waits until an object is gone.
pub(crate) async fn gone<K>(api: &Api<K>, name: &str)
where
    K: Clone + Debug + DeserializeOwned + Serialize,
{
    eventually(&format!("{name} is gone"), async || {
        match api.get_opt(name).await.unwrap() {
            None => Ok(()),
            Some(left) => Err(serde_json::to_string_pretty(&left).unwrap()),
        }
    })
    .await;
}

//! A control plane with one local data plane, one environment, and controllers that can be killed.

use std::time::Duration;

use k8s_openapi::api::core::v1::Event;
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
};
use quadrille_controllers::{Options, lease::Terms};
use quadrille_testkit::{Cluster, eventually, wire::Wire};
use quadrille_types::{
    DataPlane, Environment, Release,
    conditions::{ConditionType, find},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// A platform for one test.
pub(crate) struct Platform {
    pub(crate) cluster: Cluster,
    /// What passes between the controllers and the cluster.
    pub(crate) wire: Wire,
    running: Option<JoinHandle<()>>,
}

impl Drop for Platform {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Platform {
    /// A platform whose controllers run.
    pub(crate) async fn start() -> Self {
        let mut platform = Self::at_rest().await;
        platform.run();
        platform
    }

    /// A platform whose controllers don't run yet.
    pub(crate) async fn at_rest() -> Self {
        let cluster = Cluster::start().await.unwrap();
        let platform = Self {
            cluster,
            wire: Wire::default(),
            running: None,
        };
        let plane = json!({ "kubernetesCluster": { "inCluster": true } });
        platform.apply::<DataPlane>("local", plane).await;
        platform
            .apply::<Environment>("dev", json!({ "dataPlaneRef": "local" }))
            .await;
        platform
    }

    /// The namespace of everything.
    pub(crate) fn namespace(&self) -> &str {
        self.cluster.namespace()
    }

    /// The test's own client: faults on the controllers' wire don't touch it.
    pub(crate) fn client(&self) -> Client {
        self.cluster.client()
    }

    fn options(&self, wire: &Wire, identity: &str) -> Options {
        let client = wire.attach(self.cluster.client(), self.namespace());
        Options {
            control: client.clone(),
            local: client,
            namespace: Some(self.namespace().to_owned()),
            lease: Terms {
                duration: Duration::from_mins(1),
                renewal: Duration::from_secs(20),
                ..Terms::new(self.namespace(), identity)
            },
            planes: quadrille_controllers::Settings::default(),
            clock: std::sync::Arc::new(quadrille_controllers::SystemClock),
            without: quadrille_controllers::Without::default(),
        }
    }

    /// Starts the controllers.
    pub(crate) fn run(&mut self) {
        let options = self.options(&self.wire, "test");
        self.running = Some(tokio::spawn(async move {
            quadrille_controllers::run(&options).await;
        }));
    }

    /// Kills the controllers as a crash does: whatever they were doing.
    pub(crate) fn kill(&mut self) {
        if let Some(running) = self.running.take() {
            running.abort();
        }
    }

    /// Applies an object of ours.
    pub(crate) async fn apply<K>(&self, name: &str, spec: Value) -> K
    where
        K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
            + serde::de::DeserializeOwned
            + Clone
            + std::fmt::Debug,
    {
        let object = json!({
            "apiVersion": K::api_version(&()), "kind": K::kind(&()),
            "metadata": { "name": name }, "spec": spec,
        });
        let patch = PatchParams::apply("test").force();
        self.cluster
            .api::<K>()
            .patch(name, &patch, &Patch::Apply(&object))
            .await
            .unwrap()
    }

    /// Applies a release with these objects; their namespace is the test's own unless they say otherwise.
    pub(crate) async fn release(&self, name: &str, objects: &[(&str, Value)]) -> Release {
        self.release_with(name, objects, json!({})).await
    }

    /// The same with further fields of its spec.
    pub(crate) async fn release_with(
        &self,
        name: &str,
        objects: &[(&str, Value)],
        fields: Value,
    ) -> Release {
        let resources: Vec<Value> = objects
            .iter()
            .map(|(id, object)| json!({ "id": id, "object": self.placed(object) }))
            .collect();
        let mut spec = json!({
            "owner": { "projectName": "shop", "componentName": name },
            "environmentName": "dev",
            "resources": resources,
        });
        for (key, value) in fields.as_object().unwrap() {
            spec[key] = value.clone();
        }
        self.apply::<Release>(name, spec).await
    }

    fn placed(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let metadata = object["metadata"].as_object_mut();
        if let Some(metadata) = metadata {
            match metadata.get("namespace") {
                None => {
                    metadata.insert("namespace".to_owned(), self.namespace().into());
                }
                Some(Value::Null) => {
                    metadata.remove("namespace");
                }
                Some(_) => {}
            }
        }
        object
    }

    /// Reads a release.
    pub(crate) async fn read(&self, name: &str) -> Release {
        self.cluster.api::<Release>().get(name).await.unwrap()
    }

    /// Waits until a condition of a release has a status, for its current generation.
    pub(crate) async fn until(
        &self,
        name: &str,
        condition: ConditionType,
        status: &str,
    ) -> Release {
        self.until_said(name, condition, status, "").await
    }

    /// Waits until a condition of a release has a status and its reason or message contains some words.
    pub(crate) async fn until_said(
        &self,
        name: &str,
        condition: ConditionType,
        status: &str,
        words: &str,
    ) -> Release {
        let what = format!("{name}: {condition} is {status} {words}");
        eventually(&what, async || {
            let release = self.read(name).await;
            let known = release.status.clone().unwrap_or_default();
            let found = find(&known.conditions, condition);
            let holds = found.is_some_and(|found| {
                found.status == status
                    && found.observed_generation == release.metadata.generation
                    && (found.reason.contains(words) || found.message.contains(words))
            });
            if holds {
                Ok(release)
            } else {
                Err(serde_json::to_string_pretty(&known).unwrap())
            }
        })
        .await
    }

    /// Waits until all objects of a release are in place.
    pub(crate) async fn applied(&self, name: &str) -> Release {
        self.until(name, ConditionType::ResourcesApplied, "True")
            .await
    }

    /// Deletes a release.
    pub(crate) async fn delete(&self, name: &str) {
        let api = self.cluster.api::<Release>();
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Waits until a release is gone.
    pub(crate) async fn gone(&self, name: &str) {
        eventually(&format!("release {name} is gone"), async || {
            match self.cluster.api::<Release>().get_opt(name).await.unwrap() {
                None => Ok(()),
                Some(left) => Err(serde_json::to_string_pretty(&left.status).unwrap()),
            }
        })
        .await;
    }

    /// Objects of any kind in the test's namespace.
    pub(crate) fn any(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        Api::namespaced_with(self.client(), self.namespace(), &kind)
    }

    /// Config maps of the test's namespace, except those that every namespace has: name and data.
    pub(crate) async fn configs(&self) -> Vec<(String, Value)> {
        let api = self.any("", "v1", "ConfigMap");
        let list = api.list(&ListParams::default()).await.unwrap();
        list.items
            .into_iter()
            .filter(|config| config.name_any() != "kube-root-ca.crt")
            .map(|config| (config.name_any(), config.data["data"].clone()))
            .collect()
    }

    /// Waits until the config maps of the namespace are these.
    pub(crate) async fn until_configs(&self, expected: &[(&str, &str)]) {
        let expected: Vec<(String, Value)> = expected
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!({ "value": value })))
            .collect();
        eventually("the config maps are as expected", async || {
            let found = self.configs().await;
            if found == expected {
                Ok(())
            } else {
                Err(format!("{found:?}"))
            }
        })
        .await;
    }

    /// What events say about a release.
    pub(crate) async fn events(&self, name: &str) -> Vec<String> {
        let list = self
            .cluster
            .api::<Event>()
            .list(&ListParams::default())
            .await
            .unwrap();
        list.items
            .into_iter()
            .filter(|event| event.involved_object.name.as_deref() == Some(name))
            .map(|event| {
                let reason = event.reason.unwrap_or_default();
                format!("{reason}: {}", event.message.unwrap_or_default())
            })
            .collect()
    }
}

/// A config map with one value.
pub(crate) fn config(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name }, "data": { "value": value },
    })
}

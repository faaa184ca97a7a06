//! An organization with a pipeline of three environments, and components of small types: what they become is there as
//! soon as it is applied, on a cluster without nodes as well.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use quadrille_testkit::{Cluster, clock::ManualClock, eventually};
use quadrille_types::{
    Approval, Component, ComponentRelease, ComponentType, DataPlane, DeploymentPipeline,
    Environment, Project, Release, ReleaseBinding, Workload, conditions::ConditionType,
    names::generate,
};
use serde_json::{Value, json};

use crate::stage::{Stage, until_said};

/// A stage with an organization on it.
pub(crate) struct Shop {
    pub(crate) stage: Stage,
    pub(crate) org: String,
}

/// Where a pipeline leads: dev → staging → prod (approval).
pub(crate) fn paths() -> Value {
    json!([
        { "sourceEnvironmentRef": "dev", "targetEnvironmentRefs": [{ "name": "staging" }] },
        { "sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [
            { "name": "prod", "requiresApproval": true }] },
    ])
}

impl Shop {
    /// An organization with everything but components; its controllers run.
    pub(crate) async fn open() -> Self {
        let shop = Self::closed().await;
        Self::furnish(shop).await
    }

    /// One with a component that is ready in staging and asks for production; and which release of it.
    pub(crate) async fn asking() -> (Self, String) {
        let shop = Self::open().await;
        shop.component("cart", "shop", "cart:1").await;
        shop.until_ready("cart", "dev").await;
        let release = shop.latest("cart").await;
        shop.bind("cart", "shop", "staging", &release).await;
        shop.until_ready("cart", "staging").await;
        shop.bind("cart", "shop", "prod", &release).await;
        shop.until_asked("cart").await;
        (shop, release)
    }

    /// Waits until somebody has to agree to what is asked for in production.
    pub(crate) async fn until_asked(&self, name: &str) {
        let ready = ConditionType::Ready;
        self.until(name, "prod", ready, "False", "ApprovalRequired")
            .await;
    }

    /// The same; its controllers take this clock for the time of day.
    pub(crate) async fn open_at(clock: &ManualClock) -> Self {
        let mut shop = Self::closed().await;
        shop.stage.clock = Arc::new(clock.clone());
        Self::furnish(shop).await
    }

    /// The same on this cluster.
    pub(crate) async fn open_on(cluster: Cluster) -> Self {
        Self::furnish(Self::on(cluster)).await
    }

    /// No controllers run yet.
    pub(crate) async fn closed() -> Self {
        Self::on(Cluster::start().await.unwrap())
    }

    fn on(cluster: Cluster) -> Self {
        let org = cluster.unique("acme");
        let stage = Stage::on(cluster);
        Self { stage, org }
    }

    pub(crate) async fn furnish(mut self) -> Self {
        self.stage.run(&[&self.org.clone()]);
        self.stage.organization(&self.org).await;
        let plane = json!({ "kubernetesCluster": { "inCluster": true } });
        self.apply::<DataPlane>("local", plane).await;
        for environment in ["dev", "staging", "prod"] {
            let spec = json!({ "dataPlaneRef": "local" });
            self.apply::<Environment>(environment, spec).await;
        }
        self.pipeline(json!({ "promotionPaths": paths() })).await;
        for project in ["shop", "office"] {
            let spec = json!({ "deploymentPipelineRef": "main" });
            self.apply::<Project>(project, spec).await;
        }
        self.apply::<ComponentType>("page", page("one")).await;
        for environment in ["dev", "staging", "prod"] {
            let api = self.api::<Environment>();
            until_said(&api, environment, ConditionType::Ready, "True", "").await;
        }
        self
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>,
    {
        self.stage.api::<K>(&self.org)
    }

    pub(crate) async fn apply<K>(&self, name: &str, spec: Value) -> K
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        self.stage.apply::<K>(&self.org, name, spec).await
    }

    pub(crate) async fn pipeline(&self, spec: Value) {
        self.apply::<DeploymentPipeline>("main", spec).await;
    }

    /// A component that deploys itself, and its workload.
    pub(crate) async fn component(&self, name: &str, project: &str, image: &str) {
        self.component_with(
            name,
            project,
            json!({ "container": { "image": image } }),
            json!({}),
        )
        .await;
    }

    /// The same with more to say.
    pub(crate) async fn component_with(
        &self,
        name: &str,
        project: &str,
        workload: Value,
        more: Value,
    ) {
        let mut template = workload;
        template["owner"] = json!({ "projectName": project, "componentName": name });
        self.apply::<Workload>(name, template).await;
        let mut spec = json!({
            "owner": { "projectName": project }, "autoDeploy": true,
            "componentType": { "name": "proxy/page" },
        });
        let more = more.as_object().cloned().unwrap_or_default();
        spec.as_object_mut().unwrap().extend(more);
        self.apply::<Component>(name, spec).await;
    }

    /// Points a binding at a release; makes it if there is none.
    pub(crate) async fn bind(&self, name: &str, project: &str, environment: &str, release: &str) {
        let spec = json!({
            "owner": { "projectName": project, "componentName": name },
            "environment": environment, "releaseName": release,
        });
        self.apply::<ReleaseBinding>(&format!("{name}-{environment}"), spec)
            .await;
    }

    /// Somebody's word, as the server's administrator.
    pub(crate) async fn approve(&self, name: &str, environment: &str, release: &str, more: Value) {
        let mut spec = json!({
            "owner": { "projectName": "shop", "componentName": name },
            "environment": environment, "releaseName": release, "by": "anybody",
        });
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap_or_default());
        let object = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Approval",
            "metadata": { "generateName": "word-" }, "spec": spec,
        });
        let approval: Approval = serde_json::from_value(object).unwrap();
        let api = self.api::<Approval>();
        api.create(&PostParams::default(), &approval).await.unwrap();
    }

    pub(crate) async fn until_ready(&self, name: &str, environment: &str) {
        self.until(name, environment, ConditionType::Ready, "True", "")
            .await;
    }

    pub(crate) async fn until(
        &self,
        name: &str,
        environment: &str,
        condition: ConditionType,
        status: &str,
        words: &str,
    ) {
        let api = self.api::<ReleaseBinding>();
        let binding = format!("{name}-{environment}");
        eventually(&format!("there is a binding {binding}"), async || {
            let found = api.get_opt(&binding).await.unwrap();
            found.map(drop).ok_or("none")
        })
        .await;
        until_said(&api, &binding, condition, status, words).await;
    }

    /// The release that a component was last made into.
    pub(crate) async fn latest(&self, name: &str) -> String {
        let component = self.api::<Component>().get(name).await.unwrap();
        component.status.unwrap().latest_release.unwrap().name
    }

    /// Waits until the release of an environment is another one, and ready.
    pub(crate) async fn until_another(&self, name: &str, environment: &str, than: &str) -> String {
        let api = self.api::<ReleaseBinding>();
        let binding = format!("{name}-{environment}");
        eventually(&format!("{binding} runs another than {than}"), async || {
            let status = api.get(&binding).await.unwrap().status.unwrap_or_default();
            match status.current_release {
                Some(current) if current != than => Ok(()),
                current => Err(format!("{current:?}")),
            }
        })
        .await;
        self.until_ready(name, environment).await;
        self.binding(name, environment)
            .await
            .status
            .unwrap()
            .current_release
            .unwrap()
    }

    pub(crate) async fn binding(&self, name: &str, environment: &str) -> ReleaseBinding {
        let api = self.api::<ReleaseBinding>();
        api.get(&format!("{name}-{environment}")).await.unwrap()
    }

    /// The namespace of a cell.
    pub(crate) fn cell(&self, project: &str, environment: &str) -> String {
        generate::cell_namespace(
            &self.org.as_str().into(),
            &project.into(),
            &environment.into(),
        )
    }

    /// What a component became in an environment, as the plane has it.
    pub(crate) async fn data(&self, name: &str, project: &str, environment: &str) -> Option<Value> {
        let cell = self.cell(project, environment);
        let api: Api<ConfigMap> = Api::namespaced(self.stage.client(), &cell);
        let found = api.get_opt(name).await.unwrap()?;
        Some(json!(found.data))
    }

    pub(crate) async fn until_data(&self, name: &str, environment: &str, field: &str, value: &str) {
        eventually(
            &format!("{name} in {environment}: {field} is {value}"),
            async || {
                let data = self
                    .data(name, "shop", environment)
                    .await
                    .unwrap_or_default();
                if data[field] == value {
                    Ok(())
                } else {
                    Err(data.to_string())
                }
            },
        )
        .await;
    }

    /// Changes an object.
    pub(crate) async fn patch<K>(&self, name: &str, patch: Value)
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let parameters = PatchParams::default();
        self.api::<K>()
            .patch(name, &parameters, &Patch::Merge(&patch))
            .await
            .unwrap();
    }

    /// What is said of all bindings.
    pub(crate) async fn bindings(&self) -> Vec<Value> {
        let list = self
            .api::<ReleaseBinding>()
            .list(&ListParams::default())
            .await;
        let bindings = list.unwrap().items.into_iter();
        bindings
            .map(|binding| json!([binding.metadata.name, binding.status]))
            .collect()
    }

    pub(crate) async fn releases(&self) -> Vec<String> {
        let list = self.api::<Release>().list(&ListParams::default()).await;
        let names = list.unwrap().items.into_iter();
        names.filter_map(|release| release.metadata.name).collect()
    }

    pub(crate) async fn snapshots(&self, name: &str) -> Vec<String> {
        let only = ListParams::default().fields(&format!("spec.owner.componentName={name}"));
        let list = self.api::<ComponentRelease>().list(&only).await.unwrap();
        let names = list.items.into_iter();
        names.filter_map(|release| release.metadata.name).collect()
    }
}

/// A type that becomes a config map, and a service where there are endpoints. `mark` tells its versions apart.
pub(crate) fn page(mark: &str) -> Value {
    json!({
        "workloadType": "proxy",
        "parameters": { "openAPIV3Schema": { "type": "object", "properties": {
            "title": { "type": "string", "default": "untitled" } } } },
        "environmentConfigs": { "openAPIV3Schema": { "type": "object", "properties": {
            "size": { "type": "integer", "default": 1 } } } },
        "allowedTraits": [{ "name": "note" }],
        "resources": [
            { "id": "page", "template": {
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {
                    "name": "${metadata.componentName}", "namespace": "${metadata.namespace}",
                },
                "data": {
                    "mark": mark,
                    "image": "${workload.container.image}",
                    "title": "${parameters.title}",
                    "size": "${string(environmentConfigs.size)}",
                    "needs": "${dependencies.envVars.map(one, one.name + '=' + one.value).join(',')}",
                },
            }},
            { "id": "service", "includeWhen": "${size(workload.endpoints) > 0}", "template": {
                "apiVersion": "v1", "kind": "Service",
                "metadata": {
                    "name": "${metadata.componentName}", "namespace": "${metadata.namespace}",
                },
                "spec": {
                    "selector": "${metadata.podSelectors}", "ports": "${workload.toServicePorts()}",
                },
            }},
        ],
    })
}

//! An organization as OpenChoreo 0.4 has it: a plane with gateways, a pipeline of three environments, two projects, and
//! components that are deployed by Deployments or by instances of classes.

use std::{collections::BTreeMap, fmt::Debug};

use kube::{
    Api,
    api::{ListParams, Patch, PatchParams, PostParams},
    core::NamespaceResourceScope,
};
use quadrille_testkit::{Cluster, eventually};
use quadrille_types::{
    Approval, Build, Component, DataPlane, DeployableArtifact, Deployment, DeploymentPipeline,
    DeploymentTrack, Environment, Project, Release, ScheduledTaskClass, ServiceClass,
    WebApplicationClass, conditions::ConditionType, names::generate,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{gateways, stage::Stage};

/// An object of one of our kinds.
pub(crate) trait Ours:
    kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>
    + Clone
    + Debug
    + Serialize
    + DeserializeOwned
{
}

impl<K> Ours for K where
    K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned
{
}

/// A stage with an organization on it.
pub(crate) struct Orchard {
    pub(crate) stage: Stage,
    pub(crate) org: String,
    /// Who looks after gateways; ends with this value.
    _gateways: JoinSet<()>,
}

/// Where a pipeline leads: dev → staging → prod (approval).
pub(crate) fn paths() -> Value {
    json!([
        { "sourceEnvironmentRef": "dev", "targetEnvironmentRefs": [{ "name": "staging" }] },
        { "sourceEnvironmentRef": "staging", "targetEnvironmentRefs": [
            { "name": "prod", "requiresApproval": true }] },
    ])
}

/// An artifact that is an image, with this configuration.
pub(crate) fn image(image: &str, configuration: Value) -> Value {
    let mut spec = json!({ "targetArtifact": { "fromImageRef": { "tag": image } } });
    spec["configuration"] = configuration;
    spec
}

/// An endpoint template that is open to the world.
pub(crate) fn template(name: &str, port: u16, base_path: &str) -> Value {
    json!({ "metadata": { "name": name }, "spec": {
        "type": "REST",
        "backendRef": {
            "basePath": base_path, "type": "componentRef", "componentRef": { "port": port },
        },
        "networkVisibilities": { "public": { "enable": true } },
    }})
}

/// A configuration of one endpoint that is open to the world.
pub(crate) fn offering() -> Value {
    json!({ "endpointTemplates": [template("api", 8080, "/api")] })
}

/// A value with fields of another put over it.
pub(crate) fn with(mut base: Value, more: &Value) -> Value {
    match (base.as_object_mut(), more.as_object()) {
        (Some(fields), Some(more)) => {
            for (key, value) in more {
                let merged = with(fields.remove(key).unwrap_or_default(), value);
                fields.insert(key.clone(), merged);
            }
            base
        }
        _ => more.clone(),
    }
}

impl Orchard {
    /// An organization with everything but components; its controllers run.
    pub(crate) async fn open() -> Self {
        let mut orchard = Self::closed().await;
        let org = orchard.org.clone();
        orchard.stage.run(&[&org]);
        orchard.furnish().await;
        orchard
    }

    /// No controllers run yet, and nothing is there.
    pub(crate) async fn closed() -> Self {
        let stage = Stage::on(Cluster::start_with_other_kinds().await.unwrap());
        let gateways = gateways::open(&stage.cluster).await;
        let org = stage.cluster.unique("acme");
        Self {
            stage,
            org,
            _gateways: gateways,
        }
    }

    /// Everything but components.
    pub(crate) async fn furnish(&self) {
        self.stage.organization(&self.org).await;
        self.plane(json!({})).await;
        for environment in ["dev", "staging", "prod"] {
            self.environment(environment, json!({})).await;
        }
        self.pipeline(json!({ "promotionPaths": paths() })).await;
        for project in ["shop", "office"] {
            self.project(project).await;
        }
        let runs = json!({ "deploymentTemplate": { "replicas": 1 } });
        self.put::<ServiceClass>("default", &[], runs.clone()).await;
        self.put::<WebApplicationClass>("default", &[], runs).await;
        let at = json!({ "cronJobTemplate": { "schedule": "0 6 * * 1" } });
        self.put::<ScheduledTaskClass>("default", &[], at).await;
        for environment in ["dev", "staging", "prod"] {
            self.until_ready::<Environment>(environment).await;
        }
    }

    /// The data plane, with these fields over the usual ones.
    pub(crate) async fn plane(&self, more: Value) {
        let namespace = self.stage.cluster.namespace();
        let gateway = |name: &str, host: &str, port: u16| json!({ "name": name, "namespace": namespace, "http": { "host": host, "port": port } });
        let usual = json!({
            "kubernetesCluster": { "inCluster": true },
            "registry": { "prefix": "registry.test" },
            "gateway": { "ingress": {
                "external": gateway("external", "apps.test", 8080),
                "internal": gateway("internal", "inside.test", 8081),
            }},
        });
        self.put::<DataPlane>("local", &[], with(usual, &more))
            .await;
    }

    /// An environment, with these fields over the usual ones.
    pub(crate) async fn environment(&self, name: &str, more: Value) {
        let usual = json!({ "dataPlaneRef": "local" });
        self.put::<Environment>(name, &[], with(usual, &more)).await;
    }

    pub(crate) async fn pipeline(&self, spec: Value) {
        self.put::<DeploymentPipeline>("main", &[], spec).await;
    }

    pub(crate) async fn project(&self, name: &str) {
        let spec = json!({ "deploymentPipelineRef": "main" });
        self.put::<Project>(name, &[], spec).await;
    }

    /// A component of a type, and its track: the name of that as an object is another one than its name as a track.
    pub(crate) async fn component(&self, name: &str, project: &str, of_type: &str) {
        let spec = json!({ "owner": { "projectName": project }, "type": of_type });
        self.put::<Component>(name, &[("project", project)], spec)
            .await;
        self.track(name, project).await;
    }

    pub(crate) async fn track(&self, component: &str, project: &str) {
        let parents = [("project", project), ("component", component)];
        let labels = self.labels("main", &parents);
        let name = track_of(component);
        self.put_as::<DeploymentTrack>(&name, labels, json!({}))
            .await;
    }

    /// An artifact of a component's track.
    pub(crate) async fn artifact(&self, name: &str, component: &str, project: &str, spec: Value) {
        let parents = of_track(project, component);
        self.put::<DeployableArtifact>(name, &parents, spec).await;
    }

    /// A build of a component's track that has made this image, or none yet.
    pub(crate) async fn build(
        &self,
        name: &str,
        component: &str,
        project: &str,
        image: Option<&str>,
    ) {
        let spec = json!({
            "owner": { "projectName": project, "componentName": component },
            "repository": {
                "url": "https://git.test/shop.git", "appPath": "/", "revision": { "branch": "main" },
            },
            "templateRef": { "name": "docker" },
        });
        let parents = of_track(project, component);
        self.put::<Build>(name, &parents, spec).await;
        if let Some(image) = image {
            let status = json!({ "status": { "imageStatus": { "image": image } } });
            let builds = self.api::<Build>();
            let how = PatchParams::default();
            builds
                .patch_status(name, &how, &Patch::Merge(&status))
                .await
                .unwrap();
        }
    }

    /// A Deployment of a component's track, called after component and environment.
    pub(crate) async fn deploy(
        &self,
        component: &str,
        project: &str,
        environment: &str,
        artifact: &str,
    ) {
        let name = format!("{component}-{environment}");
        self.deploy_as(&name, component, project, environment, artifact, json!({}))
            .await;
    }

    /// The same under a name, with more to say.
    pub(crate) async fn deploy_as(
        &self,
        name: &str,
        component: &str,
        project: &str,
        environment: &str,
        artifact: &str,
        more: Value,
    ) {
        let mut parents = of_track(project, component).to_vec();
        parents.push(("environment", environment));
        let spec = with(json!({ "deploymentArtifactRef": artifact }), &more);
        self.put::<Deployment>(name, &parents, spec).await;
    }

    /// A service with an endpoint for the world, deployed to the first environment: component, track, artifact
    /// `<component>-1` and Deployment `<component>-dev`.
    pub(crate) async fn service(&self, component: &str, project: &str) {
        self.service_with(component, project, offering()).await;
    }

    /// The same with another configuration.
    pub(crate) async fn service_with(&self, component: &str, project: &str, configuration: Value) {
        self.component(component, project, "Service").await;
        let artifact = format!("{component}-1");
        let spec = image(&format!("registry.test/{component}:1"), configuration);
        self.artifact(&artifact, component, project, spec).await;
        self.deploy(component, project, "dev", &artifact).await;
    }

    /// Whoever it is, in labels: the organization, the parents, and the object's own name.
    pub(crate) fn labels(&self, name: &str, parents: &[(&str, &str)]) -> Value {
        let mut labels = json!({
            "openchoreo.dev/organization": self.org, "openchoreo.dev/name": name,
        });
        for (parent, value) in parents {
            labels[format!("openchoreo.dev/{parent}")] = json!(value);
        }
        labels
    }

    /// Applies an object with the labels of its parents.
    pub(crate) async fn put<K: Ours>(&self, name: &str, parents: &[(&str, &str)], spec: Value) {
        self.put_as::<K>(name, self.labels(name, parents), spec)
            .await;
    }

    /// The same with any labels: they may give it another name than its own.
    pub(crate) async fn put_as<K: Ours>(&self, name: &str, labels: Value, spec: Value) {
        let object = document::<K>(name, labels, spec);
        self.send::<K>(name, &object).await;
    }

    async fn send<K: Ours>(&self, name: &str, object: &Value) {
        self.try_send::<K>(name, object).await.unwrap();
    }

    /// The same, to learn what the server says to it.
    pub(crate) async fn try_put<K: Ours>(
        &self,
        name: &str,
        parents: &[(&str, &str)],
        spec: Value,
    ) -> Result<K, kube::Error> {
        let object = document::<K>(name, self.labels(name, parents), spec);
        self.try_send::<K>(name, &object).await
    }

    /// Makes the labels and the spec of an object what is given; the rest of it is others'.
    async fn try_send<K: Ours>(&self, name: &str, object: &Value) -> Result<K, kube::Error> {
        let api = self.api::<K>();
        let how = PostParams::default();
        loop {
            let sent = match api.get_opt(name).await? {
                Some(there) => {
                    let mut there = json!(there);
                    there["metadata"]["labels"] = object["metadata"]["labels"].clone();
                    there["spec"] = object["spec"].clone();
                    let there: K =
                        serde_json::from_value(there).map_err(kube::Error::SerdeError)?;
                    api.replace(name, &how, &there).await
                }
                None => {
                    let new = serde_json::from_value(object.clone());
                    api.create(&how, &new.map_err(kube::Error::SerdeError)?)
                        .await
                }
            };
            match sent {
                // Somebody else was faster: their part of it is taken over.
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                sent => return sent,
            }
        }
    }

    /// Changes an object.
    pub(crate) async fn patch<K: Ours>(&self, name: &str, patch: Value) {
        let how = PatchParams::default();
        let api = self.api::<K>();
        api.patch(name, &how, &Patch::Merge(&patch)).await.unwrap();
    }

    pub(crate) async fn delete<K: Ours>(&self, name: &str) {
        self.stage.delete(&self.api::<K>(), name).await;
    }

    pub(crate) async fn gone<K: Ours>(&self, name: &str) {
        crate::stage::gone(&self.api::<K>(), name).await;
    }

    pub(crate) fn api<K: Ours>(&self) -> Api<K> {
        self.stage.api::<K>(&self.org)
    }

    /// An object as it is now, if it is there.
    pub(crate) async fn get<K: Ours>(&self, name: &str) -> Option<Value> {
        let found = self.api::<K>().get_opt(name).await.unwrap();
        found.map(|found| json!(found))
    }

    /// All names of a kind.
    pub(crate) async fn names<K: Ours>(&self) -> Vec<String> {
        let list = self.api::<K>().list(&ListParams::default()).await.unwrap();
        let mut names: Vec<String> = list
            .items
            .iter()
            .filter_map(|one| one.meta().name.clone())
            .collect();
        names.sort();
        names
    }

    pub(crate) async fn until_ready<K: Ours>(&self, name: &str) {
        self.until::<K>(name, "True", "").await;
    }

    /// Waits until an object says of its latest generation that it is ready, or not, in some words.
    pub(crate) async fn until<K: Ours>(&self, name: &str, status: &str, words: &str) {
        self.until_of::<K>(name, ConditionType::Ready, status, words)
            .await;
    }

    pub(crate) async fn until_of<K: Ours>(
        &self,
        name: &str,
        condition: ConditionType,
        status: &str,
        words: &str,
    ) {
        let kind = K::kind(&());
        let what = format!("{kind} {name}: {condition} is {status} {words}");
        eventually(&what, async || {
            let object = self.get::<K>(name).await.ok_or("it is not there")?;
            let said = said(&object, condition);
            let holds = said["status"] == status
                && said["observedGeneration"] == object["metadata"]["generation"];
            let speaks = ["reason", "message"]
                .iter()
                .any(|key| said[*key].as_str().unwrap_or_default().contains(words));
            if holds && speaks {
                Ok(())
            } else {
                Err(format!("{:#}", object["status"]))
            }
        })
        .await;
    }

    /// What a condition says now.
    pub(crate) async fn said<K: Ours>(&self, name: &str, condition: ConditionType) -> Value {
        let object = self.get::<K>(name).await.unwrap_or_default();
        said(&object, condition)
    }

    /// The namespace of a cell.
    pub(crate) fn cell(&self, project: &str, environment: &str) -> String {
        generate::cell_namespace(
            &self.org.as_str().into(),
            &project.into(),
            &environment.into(),
        )
    }

    /// Waits until all Releases that there are have nothing more to say.
    pub(crate) async fn until_releases_are_ready(&self) {
        for release in self.releases().await.into_keys() {
            self.until_ready::<Release>(&release).await;
        }
    }

    /// What each Release is made of, and which writing of it is the last: generation and revision by name.
    pub(crate) async fn releases(&self) -> BTreeMap<String, (i64, String)> {
        let list = self.api::<Release>().list(&ListParams::default()).await;
        let of = |release: Release| {
            let metadata = release.metadata;
            let written = (metadata.generation?, metadata.resource_version?);
            Some((metadata.name?, written))
        };
        list.unwrap().items.into_iter().filter_map(of).collect()
    }

    /// The Releases of components: those of cells are there as soon as somebody means to run something there.
    pub(crate) async fn released(&self) -> Vec<String> {
        let list = self.api::<Release>().list(&ListParams::default()).await;
        let releases = list.unwrap().items.into_iter();
        releases
            .filter(|release| json!(release)["spec"]["owner"]["componentName"].is_string())
            .filter_map(|release| release.metadata.name)
            .collect()
    }

    /// The objects of a Release, by their ids.
    pub(crate) async fn objects(&self, release: &str) -> BTreeMap<String, Value> {
        let release = self.get::<Release>(release).await.unwrap_or_default();
        let resources = release["spec"]["resources"].as_array().cloned();
        let of = |resource: Value| {
            let id = resource["id"].as_str()?.to_owned();
            Some((id, resource["object"].clone()))
        };
        resources
            .unwrap_or_default()
            .into_iter()
            .filter_map(of)
            .collect()
    }

    /// The first object of a kind in a Release.
    pub(crate) async fn object(&self, release: &str, kind: &str) -> Option<Value> {
        let objects = self.objects(release).await.into_values();
        objects.into_iter().find(|object| object["kind"] == kind)
    }

    /// Somebody's word, as the server's administrator.
    pub(crate) async fn approve(&self, component: &str, environment: &str, release: &str) {
        let object = json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Approval",
            "metadata": { "generateName": "word-" },
            "spec": {
                "owner": { "projectName": "shop", "componentName": component },
                "environment": environment, "releaseName": release, "by": "anybody",
            },
        });
        let approval: Approval = serde_json::from_value(object).unwrap();
        let api = self.api::<Approval>();
        api.create(&PostParams::default(), &approval).await.unwrap();
    }
}

fn document<K: Ours>(name: &str, labels: Value, spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": { "name": name },
    });
    object["metadata"]["labels"] = labels;
    object["spec"] = spec;
    object
}

/// The name of a component's track as an object.
pub(crate) fn track_of(component: &str) -> String {
    format!("{component}-main")
}

/// The parents of what is of a component's track.
pub(crate) fn of_track<'a>(project: &'a str, component: &'a str) -> [(&'a str, &'a str); 3] {
    [
        ("project", project),
        ("component", component),
        ("deployment-track", "main"),
    ]
}

/// The name of the Endpoint that a Deployment makes of a template.
pub(crate) fn endpoint_of(deployment: &str, template: &str) -> String {
    generate::name(&[deployment, template])
}

/// The name of the Release of such an Endpoint.
pub(crate) fn endpoint_release(deployment: &str, template: &str) -> String {
    format!("endpoint-{}", endpoint_of(deployment, template))
}

/// The name of what a component's track is called in its cell.
pub(crate) fn on_plane(component: &str) -> String {
    generate::name(&[component, &track_of(component)])
}

/// What a condition of an object says.
pub(crate) fn said(object: &Value, condition: ConditionType) -> Value {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let found = conditions.find(|one| one["type"] == condition.as_str());
    found.cloned().unwrap_or_default()
}

//! What there is around a component: the pipeline of its project, and where it is bound. It is read once, and decided
//! upon as a whole.

mod older;

pub(crate) use self::older::Older;

use kube::ResourceExt;
use quadrille_types::{
    Component, ComponentRelease, DeploymentPipeline, Problem, Project, ReleaseBinding,
    component::DeployedBy,
    conditions::{self, ConditionType},
    deployment_pipeline::{Promotion, Resolved},
    names::EnvironmentName,
};

use super::{
    live::given,
    named::Name,
    reads::{newest_first, understood},
};
use serde_json::Value;

use crate::{cluster::Cluster, documents::Document, failure::Failure, nearest::nearest};

/// A component, where it can go, and where it is.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) component: Component,
    pub(crate) pipeline: Resolved,
    pub(crate) bindings: Vec<ReleaseBinding>,
    /// What deploys it, where that is not the chain.
    pub(crate) older: Option<Older>,
}

impl Scene {
    /// Reads it.
    pub(crate) async fn read(cluster: &Cluster, name: &Name) -> Result<Self, Failure> {
        Self::read_any(cluster, name).await?.of_the_chain()
    }

    /// Reads it, whatever deploys it.
    pub(crate) async fn read_any(cluster: &Cluster, name: &Name) -> Result<Self, Failure> {
        let kind = cluster.named_kind("components").await?;
        let component = cluster.object(&kind, &name.component).await?;
        let component: Component = understood(component)?;
        name.agrees(&component)?;
        Self::around_any(cluster, component, &[]).await
    }

    /// What the verbs of the chain can change.
    fn of_the_chain(self) -> Result<Self, Failure> {
        let Some(older) = &self.older else {
            return Ok(self);
        };
        let name = self.name();
        Err(Failure::new(format!(
            "component {name} is no matter of this verb: it is deployed by a {}",
            older.kind
        ))
        .next(format!(
            "See it: quad status {name}; move it to a component type: quad migrate {name}"
        )))
    }

    /// Reads what is around a component, which need not be there yet: documents go over what is there.
    pub(crate) async fn around(
        cluster: &Cluster,
        component: Component,
        documents: &[Document],
    ) -> Result<Self, Failure> {
        let scene = Self::around_any(cluster, component, documents).await?;
        scene.of_the_chain()
    }

    async fn around_any(
        cluster: &Cluster,
        component: Component,
        documents: &[Document],
    ) -> Result<Self, Failure> {
        let name = component.name_any();
        let project = component.spec.owner.project_name.to_string();
        let resolved = component.spec.resolve();
        let resolved = resolved.map_err(|problem| unclear("component", &name, &problem))?;
        let older = match resolved.deployed_by {
            DeployedBy::OlderKind(kind) => Some(Older::read(cluster, &component, kind).await?),
            DeployedBy::ComponentType { .. } => None,
        };
        let found: Project = understood(named(cluster, documents, "Project", &project).await?)?;
        let pipeline = found.spec.resolve();
        let pipeline = pipeline
            .map_err(|problem| unclear("project", &project, &problem))?
            .pipeline;
        let found = named(cluster, documents, "DeploymentPipeline", pipeline.as_str()).await?;
        let found: DeploymentPipeline = understood(found)?;
        let pipeline = found
            .spec
            .resolve()
            .map_err(|problem| unclear("deploymentpipeline", pipeline.as_str(), &problem))?;
        let mut bindings: Vec<ReleaseBinding> = match &older {
            Some(older) => older.bindings(&component)?,
            None => {
                cluster
                    .of_component("releasebindings", &project, &name)
                    .await?
            }
        };
        // In the order of the pipeline; what is not in it comes last.
        let order = paths(&pipeline).concat();
        bindings.sort_by_key(|binding| {
            let place = &binding.spec.environment;
            let known = order.iter().position(|known| *known == place);
            known.unwrap_or(order.len())
        });
        Ok(Self {
            component,
            pipeline,
            bindings,
            older,
        })
    }

    /// What deploys a component of an older kind in an environment.
    pub(crate) fn older_object(&self, environment: &EnvironmentName) -> Option<&Value> {
        self.older.as_ref()?.object(environment)
    }

    /// The component's name.
    pub(crate) fn name(&self) -> String {
        self.component.name_any()
    }

    /// Its project.
    pub(crate) fn project(&self) -> &str {
        self.component.spec.owner.project_name.as_str()
    }

    /// What is wrong with the component itself.
    pub(crate) fn trouble(&self) -> Option<&str> {
        let status = self.component.status.as_ref()?;
        let ready = conditions::find(&status.conditions, ConditionType::Ready)?;
        (ready.status == "False").then_some(ready.message.as_str())
    }

    /// An environment that was typed: one of the pipeline, or one where the component is bound all the same.
    pub(crate) fn environment(&self, typed: &str) -> Result<EnvironmentName, Failure> {
        let bound = self
            .bindings
            .iter()
            .map(|binding| &binding.spec.environment);
        let known: Vec<&EnvironmentName> = self
            .pipeline
            .environments()
            .into_iter()
            .chain(bound)
            .collect();
        if let Some(found) = known.iter().find(|name| name.as_str() == typed) {
            return Ok((*found).clone());
        }
        let failure = Failure::new(format!(
            "there is no environment {typed} in the pipeline of project {}",
            self.project()
        ));
        let names = known.iter().map(|name| name.as_str());
        Err(match nearest(typed, names) {
            Some(near) => failure.next(format!("Did you mean {near}?")),
            None => failure.next(format!("It goes: {}", self.pipeline.shown())),
        })
    }

    /// The first environment of the pipeline.
    pub(crate) fn first(&self) -> Result<EnvironmentName, Failure> {
        self.pipeline.first().cloned().ok_or_else(|| {
            Failure::new(format!(
                "the pipeline of project {} has no environments",
                self.project()
            ))
            .next("See it: quad get deploymentpipelines")
        })
    }

    /// The promotions into an environment.
    pub(crate) fn steps_to<'a>(
        &'a self,
        environment: &'a EnvironmentName,
    ) -> impl Iterator<Item = &'a Promotion> {
        Resolved::into(&self.pipeline, environment)
    }

    /// All bindings in an environment.
    pub(crate) fn bindings_in<'a>(
        &'a self,
        environment: &EnvironmentName,
    ) -> impl Iterator<Item = &'a ReleaseBinding> {
        let all = self.bindings.iter();
        all.filter(move |binding| binding.spec.environment == *environment)
    }

    /// The binding in an environment. Two are one too many: nobody can tell which is meant. Not so of an older kind: each of
    /// its tracks may be there, and what waits for somebody comes first.
    pub(crate) fn binding(
        &self,
        environment: &EnvironmentName,
    ) -> Result<Option<&ReleaseBinding>, Failure> {
        let mut found = self.bindings_in(environment);
        let first = found.next();
        if self.older.is_some() {
            return Ok(first);
        }
        match (first, found.next()) {
            (Some(one), Some(other)) => Err(Failure::new(format!(
                "{} is bound to {environment} twice: {} and {}",
                self.name(),
                one.name_any(),
                other.name_any()
            ))
            .next(format!(
                "Delete one: quad delete releasebinding {}",
                other.name_any()
            ))),
            _ => Ok(first),
        }
    }

    /// The binding in an environment, which must be there.
    pub(crate) fn bound(&self, environment: &EnvironmentName) -> Result<&ReleaseBinding, Failure> {
        self.binding(environment)?.ok_or_else(|| {
            let name = self.name();
            let next = if self.pipeline.first() == Some(environment) {
                format!("Deploy it: quad deploy {name}")
            } else {
                format!("Promote it: quad promote {name} --to {environment}")
            };
            Failure::new(format!("{name} was never deployed to {environment}")).next(next)
        })
    }

    /// The snapshots of the component, the newest first.
    pub(crate) async fn releases(
        &self,
        cluster: &Cluster,
    ) -> Result<Vec<ComponentRelease>, Failure> {
        let mut found: Vec<ComponentRelease> = cluster
            .of_component("componentreleases", self.project(), &self.name())
            .await?;
        newest_first(&mut found);
        Ok(found)
    }
}

/// The ways through a pipeline: the first one whole, what branches off from where it does.
pub(crate) fn paths(pipeline: &Resolved) -> Vec<Vec<&EnvironmentName>> {
    let is_target = |name: &EnvironmentName| pipeline.into(name).next().is_some();
    let environments = pipeline.environments();
    let mut left: Vec<&Promotion> = pipeline.promotions().iter().collect();
    let mut paths = Vec::new();
    let firsts = environments.into_iter().filter(|name| !is_target(name));
    for first in firsts {
        paths.push(walked(first, &mut left));
    }
    while let Some(step) = left.first() {
        let from = &step.from;
        paths.push(walked(from, &mut left));
    }
    paths
}

/// From an environment along the first ways out.
fn walked<'a>(
    first: &'a EnvironmentName,
    left: &mut Vec<&'a Promotion>,
) -> Vec<&'a EnvironmentName> {
    let mut path = vec![first];
    let mut here = first;
    while let Some(at) = left.iter().position(|step| step.from == *here) {
        here = &left.remove(at).to;
        path.push(here);
    }
    path
}

/// An object that a component depends on: that of the documents, else that of the cluster.
async fn named(
    cluster: &Cluster,
    documents: &[Document],
    kind: &str,
    name: &str,
) -> Result<Value, Failure> {
    if let Some(document) = given(documents, kind, name) {
        return Ok(document.object.clone());
    }
    let kind = cluster.named_kind(kind).await?;
    cluster.object(&kind, name).await
}

/// A snapshot of these that was typed.
pub(crate) fn chosen(
    releases: &[ComponentRelease],
    component: &str,
    typed: &str,
) -> Result<String, Failure> {
    let names: Vec<String> = releases.iter().map(ResourceExt::name_any).collect();
    if names.iter().any(|name| name == typed) {
        return Ok(typed.to_owned());
    }
    let failure = Failure::new(format!("{component} has no release {typed}"));
    Err(match nearest(typed, names.iter().map(String::as_str)) {
        Some(near) => failure.next(format!("Did you mean {near}?")),
        None => failure.next(format!(
            "See which there are: quad release list {component}"
        )),
    })
}

/// What cannot be understood.
fn unclear(kind: &str, name: &str, problem: &Problem) -> Failure {
    Failure::new(format!("{kind} {name} cannot be understood"))
        .saying(problem.to_string())
        .next(format!("Look at it: quad get {kind} {name} -o yaml"))
}

#[cfg(test)]
pub(super) mod tests;

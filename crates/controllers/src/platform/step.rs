//! What is to be done about an object of the platform: the result of a decision, before anything is done.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{Resource, core::ApiResource};
use quadrille_objects::word;
use quadrille_types::{
    Approval, ClusterComponentType, ClusterTrait, Component, ComponentRelease, ComponentType,
    DataPlane, DeploymentPipeline, Environment, Organization, Project, Release, ReleaseBinding,
    Trait, Workload, annotations,
    conditions::{ConditionType, Holds, Judgement, Reason, record},
    finalizers,
};
use std::{collections::BTreeMap, fmt, sync::Arc};

use crate::key::Key;

/// The kinds that are looked after here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Organization,
    Project,
    Environment,
    DataPlane,
    DeploymentPipeline,
    Release,
    Component,
    Workload,
    ComponentRelease,
    ReleaseBinding,
    Approval,
    ComponentType,
    ClusterComponentType,
    Trait,
    ClusterTrait,
    /// A project in an environment: no object of its own, but its Release.
    Cell,
}

impl Kind {
    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Organization => "Organization",
            Self::Project => "Project",
            Self::Environment => "Environment",
            Self::DataPlane => "DataPlane",
            Self::DeploymentPipeline => "DeploymentPipeline",
            Self::Release => "Release",
            Self::Component => "Component",
            Self::Workload => "Workload",
            Self::ComponentRelease => "ComponentRelease",
            Self::ReleaseBinding => "ReleaseBinding",
            Self::Approval => "Approval",
            Self::ComponentType => "ComponentType",
            Self::ClusterComponentType => "ClusterComponentType",
            Self::Trait => "Trait",
            Self::ClusterTrait => "ClusterTrait",
            Self::Cell => "cell",
        }
    }

    /// The path of its collection in a namespace.
    pub(crate) fn path(self, namespace: &str) -> String {
        use quadrille_planes::feed::url_path;
        let within = Some(namespace).filter(|namespace| !namespace.is_empty());
        let resource = match self {
            Self::Organization => ApiResource::erase::<Organization>(&()),
            Self::Project => ApiResource::erase::<Project>(&()),
            Self::Environment => ApiResource::erase::<Environment>(&()),
            Self::DataPlane => ApiResource::erase::<DataPlane>(&()),
            Self::DeploymentPipeline => ApiResource::erase::<DeploymentPipeline>(&()),
            Self::Release | Self::Cell => ApiResource::erase::<Release>(&()),
            Self::Component => ApiResource::erase::<Component>(&()),
            Self::Workload => ApiResource::erase::<Workload>(&()),
            Self::ComponentRelease => ApiResource::erase::<ComponentRelease>(&()),
            Self::ReleaseBinding => ApiResource::erase::<ReleaseBinding>(&()),
            Self::Approval => ApiResource::erase::<Approval>(&()),
            Self::ComponentType => ApiResource::erase::<ComponentType>(&()),
            Self::ClusterComponentType => ApiResource::erase::<ClusterComponentType>(&()),
            Self::Trait => ApiResource::erase::<Trait>(&()),
            Self::ClusterTrait => ApiResource::erase::<ClusterTrait>(&()),
        };
        url_path(&resource, within)
    }

    /// The finalizer that holds its objects until everything of theirs is gone; nothing where nothing has to go.
    pub(crate) fn finalizer(self) -> Option<&'static str> {
        match self {
            Self::Organization => Some(finalizers::ORGANIZATION),
            Self::Project => Some(finalizers::PROJECT),
            Self::Environment => Some(finalizers::ENVIRONMENT),
            Self::DataPlane => Some(finalizers::DATA_PLANE),
            Self::DeploymentPipeline => Some(finalizers::DEPLOYMENT_PIPELINE),
            Self::Release => Some(finalizers::RELEASE),
            Self::Component => Some(finalizers::COMPONENT),
            Self::ReleaseBinding => Some(finalizers::RELEASE_BINDING),
            Self::Workload
            | Self::Approval
            | Self::ComponentRelease
            | Self::ComponentType
            | Self::ClusterComponentType
            | Self::Trait
            | Self::ClusterTrait
            | Self::Cell => None,
        }
    }
}

/// An object of the platform, whichever of its name it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Thing {
    pub(crate) kind: Kind,
    pub(crate) key: Key,
}

impl fmt::Display for Thing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.kind.word(), self.key.name)
    }
}

/// An object that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) thing: Thing,
    pub(crate) uid: Arc<str>,
    /// Whether it is on its way out already.
    pub(crate) is_going: bool,
}

impl Found {
    pub(crate) fn of(kind: Kind, object: &impl Resource) -> Self {
        let metadata = object.meta();
        Self {
            thing: Thing {
                kind,
                key: Key::of(object),
            },
            uid: word(metadata.uid.as_deref().unwrap_or_default()),
            is_going: metadata.deletion_timestamp.is_some(),
        }
    }
}

/// What is to be done about an object.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// What is to be said of it.
    pub(crate) said: Vec<Judgement>,
    /// Fields of the status besides conditions; nothing takes a field away.
    pub(crate) fields: BTreeMap<&'static str, serde_json::Value>,
    /// What has to go before it may.
    pub(crate) removes: Vec<Found>,
    /// Namespaces that have to go, on which planes.
    pub(crate) sweeps: Vec<Sweep>,
    /// The namespace that an organization has.
    pub(crate) namespace: Option<NamespaceWish>,
    /// Once all that has to go is gone, it goes.
    pub(crate) may_go: bool,
    /// What people are told as it goes.
    pub(crate) note: Option<String>,
}

/// Namespaces that were made for an object, on one plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// The plane, by the name of its object in the same namespace.
    pub(crate) plane: String,
    /// What they are labelled with.
    pub(crate) labels: Vec<(&'static str, String)>,
    /// Whether nothing was ever put there, as far as anybody knows: then a plane that does not answer is not waited
    /// for.
    pub(crate) may_skip: bool,
}

/// What becomes of an organization's namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceWish {
    /// It is made.
    Make,
    /// It gets its labels back.
    Label,
    /// It goes.
    Remove,
    /// It was there before, and stays; only the labels go.
    Leave,
}

impl Step {
    /// Says something.
    pub(crate) fn say(
        &mut self,
        condition: ConditionType,
        holds: Holds,
        reason: Reason,
        message: impl Into<String>,
    ) {
        self.said.push(Judgement {
            condition,
            holds,
            reason: reason.as_str(),
            message: message.into(),
            generation: None,
        });
    }

    /// Says that it is on its way out, and what is waited for. `ends` is the word of its kind for that.
    pub(crate) fn ending(&mut self, ends: Reason, reason: Reason, words: impl Into<String>) {
        let words = words.into();
        self.say(ConditionType::Ready, Holds::False, ends, words.clone());
        self.say(ConditionType::Finalizing, Holds::True, reason, words);
    }

    /// The conditions that follow from those that were there.
    pub(crate) fn conditions(
        &self,
        before: &[Condition],
        generation: Option<i64>,
        now: &Time,
    ) -> Vec<Condition> {
        let mut conditions = before.to_vec();
        for judgement in &self.said {
            let judgement = Judgement {
                generation,
                ..judgement.clone()
            };
            record(&mut conditions, judgement, now);
        }
        conditions
    }
}

/// Whether an object carries an annotation with the value `true`.
pub(crate) fn is_annotated(object: &impl Resource, annotation: &str) -> bool {
    let annotations = object.meta().annotations.as_ref();
    annotations.is_some_and(|all| all.get(annotation).is_some_and(|value| value == "true"))
}

/// Whether what is left on a plane may be left.
pub(crate) fn is_abandoned(object: &impl Resource) -> bool {
    is_annotated(object, annotations::ABANDON)
}

/// Some names for people, and how many more there are.
pub(crate) fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(5);
    names.truncate(5);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

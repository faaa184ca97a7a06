//! What is to be done about an object of the platform: the result of a decision, before anything is done.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{Resource, core::ApiResource};
use quadrille_objects::word;
use quadrille_types::{
    ApiBinding, Approval, Build, ClusterComponentType, ClusterTrait, Component, ComponentRelease,
    ComponentType, ConfigurationGroup, DataPlane, DeployableArtifact, Deployment,
    DeploymentPipeline, DeploymentTrack, Endpoint, Environment, Organization, Project,
    PublishedApi, Release, ReleaseBinding, ScheduledTask, ScheduledTaskBinding, Service,
    ServiceBinding, Trait, WebApplication, WebApplicationBinding, Workload, annotations,
    conditions::{ConditionType, Holds, Judgement, Reason, record},
    finalizers,
};
use std::{collections::BTreeMap, fmt, sync::Arc};

use crate::key::Key;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($object:ty) = $word:literal $(, held by $finalizer:path)?;)*) => {
        /// The kinds that are looked after here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// Its word.
            pub(crate) fn word(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)*
                }
            }

            fn resource(self) -> ApiResource {
                match self {
                    $(Self::$kind => ApiResource::erase::<$object>(&()),)*
                }
            }

            /// The finalizer that holds its objects until everything of theirs is gone; nothing where nothing has to
            /// go.
            pub(crate) fn finalizer(self) -> Option<&'static str> {
                match self {
                    $(Self::$kind => None$(.or(Some($finalizer)))?,)*
                }
            }
        }
    };
}

kinds! {
    Organization(Organization) = "Organization", held by finalizers::ORGANIZATION;
    Project(Project) = "Project", held by finalizers::PROJECT;
    Environment(Environment) = "Environment", held by finalizers::ENVIRONMENT;
    DataPlane(DataPlane) = "DataPlane", held by finalizers::DATA_PLANE;
    DeploymentPipeline(DeploymentPipeline) = "DeploymentPipeline", held by finalizers::DEPLOYMENT_PIPELINE;
    Release(Release) = "Release", held by finalizers::RELEASE;
    Component(Component) = "Component", held by finalizers::COMPONENT;
    Workload(Workload) = "Workload";
    ComponentRelease(ComponentRelease) = "ComponentRelease";
    ReleaseBinding(ReleaseBinding) = "ReleaseBinding", held by finalizers::RELEASE_BINDING;
    Approval(Approval) = "Approval";
    ComponentType(ComponentType) = "ComponentType";
    ClusterComponentType(ClusterComponentType) = "ClusterComponentType";
    Trait(Trait) = "Trait";
    ClusterTrait(ClusterTrait) = "ClusterTrait";
    /// A project in an environment: no object of its own, but its Release.
    Cell(Release) = "cell";
    DeploymentTrack(DeploymentTrack) = "DeploymentTrack", held by finalizers::DEPLOYMENT_TRACK;
    DeployableArtifact(DeployableArtifact) = "DeployableArtifact", held by finalizers::DEPLOYABLE_ARTIFACT;
    Build(Build) = "Build";
    ConfigurationGroup(ConfigurationGroup) = "ConfigurationGroup";
    Deployment(Deployment) = "Deployment", held by finalizers::DEPLOYMENT;
    Endpoint(Endpoint) = "Endpoint", held by finalizers::ENDPOINT;
    Service(Service) = "Service";
    WebApplication(WebApplication) = "WebApplication";
    ScheduledTask(ScheduledTask) = "ScheduledTask";
    ServiceBinding(ServiceBinding) = "ServiceBinding", held by finalizers::BINDING;
    WebApplicationBinding(WebApplicationBinding) = "WebApplicationBinding", held by finalizers::BINDING;
    ScheduledTaskBinding(ScheduledTaskBinding) = "ScheduledTaskBinding", held by finalizers::BINDING;
    Api(PublishedApi) = "API";
    ApiBinding(ApiBinding) = "APIBinding", held by finalizers::BINDING;
}

impl Kind {
    /// The path of its collection in a namespace.
    pub(crate) fn path(self, namespace: &str) -> String {
        use quadrille_planes::feed::url_path;
        let within = Some(namespace).filter(|namespace| !namespace.is_empty());
        url_path(&self.resource(), within)
    }
}

/// The lane that a thing is looked at in: that of an organization for what may have to wait for a plane of theirs, so that
/// it delays nobody else; and one for all the rest.
pub(crate) type ThingLane = Option<Arc<str>>;

impl Thing {
    /// Its lane, which is always the same one.
    pub(crate) fn lane(&self) -> ThingLane {
        match self.kind {
            Kind::Environment | Kind::Project | Kind::Cell => Some(Arc::clone(&self.key.namespace)),
            _ => None,
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

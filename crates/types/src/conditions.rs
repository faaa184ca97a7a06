//! Status conditions: their types and reasons, and how a list of them changes.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$word_doc])* $word,)*
        }

        impl $name {
            /// Every word there is.
            pub const ALL: &'static [Self] = &[$(Self::$word,)*];

            /// The word as objects carry it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$word => stringify!($word),)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What a condition is about.
    ConditionType {
        /// All is as asked for.
        Ready,
        /// The object was seen and noted (Project, `DataPlane`).
        Created,
        /// The object can be used (`DeploymentPipeline`).
        Available,
        /// A Release's objects are all in the plane as written.
        ResourcesApplied,
        /// A Release's objects are all doing well.
        ResourcesReady,
        /// A Release would remove more than is safe and waits for a word.
        PruneBlocked,
        /// A plane answers.
        Reachable,
        /// The object is being cleaned up.
        Finalizing,
        /// An Organization is being cleaned up.
        Deleting,
        /// A binding's Release is what was asked for.
        ReleaseSynced,
        /// A binding's needs of other components are met.
        ConnectionsResolved,
        /// A binding's needs of resources are met.
        ResourceDependenciesReady,
        /// The release that a binding asks for may run in its environment.
        Admitted,
        /// A change of a component type or trait reaches its components.
        RolledOut,
        /// What a Deployment runs is known: its artifact, and the image of it.
        ArtifactResolved,
    }
}

words! {
    /// Why a condition has its status.
    Reason {
        /// Organization: its namespace exists.
        NamespaceCreated,
        /// Organization: a namespace of that name belongs to somebody else.
        NamespaceConflict,
        /// Organization: its namespace is being made.
        NamespaceMissing,
        /// Organization: somebody deletes its namespace.
        NamespaceTerminating,
        /// Organization: is going away.
        OrganizationFinalizing,
        /// Project: noted.
        ProjectCreated,
        /// Project: is going away.
        ProjectFinalizing,
        /// Environment: usable.
        EnvironmentReady,
        /// Environment: is going away.
        EnvironmentFinalizing,
        /// `DataPlane`: noted.
        DataPlaneCreated,
        /// `DataPlane`: is going away; the spelling is an old one.
        DataplaneFinalizing,
        /// `DeploymentPipeline`: usable.
        DeploymentPipelineAvailable,
        /// Nothing is left to do.
        Reconciled,
        /// The spec cannot be understood; the message names the field.
        InvalidConfiguration,
        /// A referenced pipeline does not exist.
        DeploymentPipelineNotFound,
        /// A referenced project type does not exist.
        ProjectTypeNotFound,
        /// A referenced environment does not exist.
        EnvironmentNotFound,
        /// A referenced data plane does not exist.
        DataPlaneNotFound,
        /// A referenced data plane is not ready.
        DataPlaneNotReady,
        /// A field that may not change was changed.
        ImmutableFieldChanged,
        /// Something still uses the object, so it cannot go.
        DeletionBlocked,
        /// A plane answers.
        PlaneReachable,
        /// A plane answers, and its version is one that nobody has tried.
        VersionSkew,
        /// A plane answers, and the credentials for it expire soon.
        CertificateExpiring,
        /// Nobody has tried to reach a plane yet.
        NotTried,
        /// A plane is to be reached by its agent.
        AgentNotConnected,
        /// The credentials for a plane are missing or unusable; the message names field and fix.
        CredentialsNotFound,
        /// A release waits for its plane.
        PlaneUnreachable,
        /// A release has objects in another plane than its environment's.
        PlaneChanged,
        /// Objects are being applied.
        Applying,
        /// Everything was applied.
        ApplySucceeded,
        /// At least one object could not be applied.
        ApplyFailed,
        /// Objects that are no longer asked for are not gone yet.
        PruneInProgress,
        /// Nothing is asked for.
        NothingToApply,
        /// Objects are still on their way.
        ResourcesProgressing,
        /// At least one object is in trouble.
        ResourcesDegraded,
        /// Everything is healthy.
        ResourcesHealthy,
        /// Everything was suspended on purpose.
        ResourcesSuspended,
        /// An object of that name belongs to somebody else.
        OwnershipConflict,
        /// A Release waits for another one.
        DependencyNotReady,
        /// More would be removed than is safe.
        TooMuchToPrune,
        /// Something that holds data would be removed.
        DataWouldBeLost,
        /// Clean-up is under way.
        CleanupInProgress,
        /// Clean-up failed and will be tried again.
        CleanupFailed,
        /// Component: it was checked, and its snapshot is there.
        ComponentReleaseReady,
        /// A referenced component type does not exist.
        ComponentTypeNotFound,
        /// A referenced trait does not exist.
        TraitNotFound,
        /// A component has no workload.
        WorkloadNotFound,
        /// A workflow is not one that the type allows.
        WorkflowNotAllowed,
        /// A referenced project does not exist.
        ProjectNotFound,
        /// A referenced component does not exist.
        ComponentNotFound,
        /// A snapshot or the binding of it could not be written.
        AutoDeployFailed,
        /// Something is going away.
        #[allow(clippy::enum_variant_names, reason = "it is the word that objects carry")]
        Finalizing,
        /// A referenced component release does not exist.
        ComponentReleaseNotFound,
        /// A component release is not for this binding.
        InvalidReleaseConfiguration,
        /// The objects could not be rendered.
        RenderingFailed,
        /// A Release of that name belongs to somebody else.
        ReleaseOwnershipConflict,
        /// The Release was written.
        ReleaseCreated,
        /// The Release is as it should be.
        ReleaseSynced,
        /// The objects were taken away, as asked.
        ResourcesUndeployed,
        /// The plane refused objects.
        ResourceApplyFailed,
        /// Nobody can say how the objects are.
        ResourcesUnknown,
        /// Everything that is needed of other components is there.
        AllConnectionsResolved,
        /// Something that is needed of other components is not there.
        ConnectionsPending,
        /// Nothing is needed of other components.
        NoConnections,
        /// Everything that is needed of resources is there.
        AllResourceDependenciesReady,
        /// Something that is needed of resources is not there.
        ResourceDependenciesPending,
        /// Nothing is needed of resources.
        NoResourceDependencies,
        /// All is as asked for.
        Ready,
        /// All is as asked for, and stopped on purpose.
        ReadyWithSuspendedResources,
        /// A job has ended well.
        JobCompleted,
        /// A job runs.
        JobRunning,
        /// A job has failed.
        JobFailed,
        /// A job is run by the clock.
        CronJobScheduled,
        /// A job would be run by the clock, and is suspended.
        CronJobSuspended,
        /// The environment is the first of its pipeline.
        FirstEnvironment,
        /// The release was ready in an environment before this one.
        PromotionInOrder,
        /// The release was not ready in an environment before this one.
        PromotionOutOfOrder,
        /// Somebody has to agree.
        ApprovalRequired,
        /// Somebody agreed.
        Approved,
        /// Somebody refused.
        ApprovalRejected,
        /// A word has ended.
        ApprovalExpired,
        /// A word was taken back.
        ApprovalWithdrawn,
        /// The change has reached everybody whom it concerns.
        RolloutComplete,
        /// The change is reaching one after another.
        RolloutProgressing,
        /// The first ones that the change reached are in trouble: it goes no further.
        RolloutStopped,
        /// The definition has mistakes; the message names them.
        InvalidDefinition,
        /// The plane was given up; the message says what was left there.
        Abandoned,
        /// Deployment: what it runs is known.
        ArtifactResolvedSuccessfully,
        /// Deployment: there is no such artifact.
        ArtifactNotFound,
        /// Deployment: there is no such build.
        ArtifactBuildNotFound,
        /// Deployment: it runs.
        DeploymentReady,
        /// Deployment: it is on its way.
        DeploymentProgressing,
        /// Deployment: what it runs is in trouble.
        DeploymentDegraded,
        /// Deployment: is going away.
        DeploymentFinalizing,
        /// Deployment track: is there.
        DeploymentTrackAvailable,
        /// Deployment track: is going away.
        DeploymentTrackFinalizing,
        /// A referenced deployment track does not exist.
        DeploymentTrackNotFound,
        /// Deployable artifact: is there.
        DeployableArtifactAvailable,
        /// Deployable artifact: is going away.
        DeployableArtifactFinalizing,
        /// A referenced deployment does not exist.
        DeploymentNotFound,
        /// Two objects could be the one that labels name.
        AmbiguousParent,
        /// Endpoint: it is reached.
        EndpointReady,
        /// Endpoint: it is on its way.
        EndpointProgressing,
        /// Endpoint: its gateway refuses it.
        EndpointNotAccepted,
        /// Endpoint: is going away.
        EndpointFinalizing,
        /// Binding of a class: it runs.
        ResourcesActive,
        /// Binding of a class: objects are still on their way.
        ResourceHealthProgressing,
        /// Binding of a class: at least one object is in trouble.
        ResourceHealthDegraded,
        /// A referenced class of services does not exist.
        ServiceClassNotFound,
        /// A referenced class of web applications does not exist.
        WebApplicationClassNotFound,
        /// A referenced class of scheduled tasks does not exist.
        ScheduledTaskClassNotFound,
        /// A referenced class of APIs does not exist.
        APIClassNotFound,
        /// A referenced API does not exist.
        APINotFound,
        /// A component has no binding in an environment.
        ServiceBindingNotFound,
        /// Nobody offers an API.
        APIBindingNotFound,
        /// A Release could not be made.
        ReleaseCreationFailed,
        /// A Release could not be changed.
        ReleaseUpdateFailed,
        /// A Release could not be taken away.
        ReleaseDeletionFailed,
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// It does.
    True,
    /// It does not.
    False,
    /// Nobody can say.
    Unknown,
}

impl Holds {
    /// The word as objects carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// A judgement to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What is judged.
    pub condition: ConditionType,
    /// The verdict.
    pub holds: Holds,
    /// Why, for machines: one of [`Reason`]'s words, or that of whoever was asked.
    pub reason: &'static str,
    /// Why, for people.
    pub message: String,
    /// The generation that was judged.
    pub generation: Option<i64>,
}

/// The condition of a type, if it is there.
pub fn find(conditions: &[Condition], condition: ConditionType) -> Option<&Condition> {
    conditions
        .iter()
        .find(|known| known.type_ == condition.as_str())
}

/// Whether a condition is there and holds.
pub fn is_true(conditions: &[Condition], condition: ConditionType) -> bool {
    find(conditions, condition).is_some_and(|known| known.status == Holds::True.as_str())
}

/// Records a judgement. The transition time moves only when the verdict does. Returns whether anything
/// changed, so that an unchanged status need not be written.
pub fn record(conditions: &mut Vec<Condition>, judgement: Judgement, now: &Time) -> bool {
    let mut next = Condition {
        type_: judgement.condition.as_str().to_owned(),
        status: judgement.holds.as_str().to_owned(),
        reason: judgement.reason.to_owned(),
        message: judgement.message,
        observed_generation: judgement.generation,
        last_transition_time: now.clone(),
    };
    match conditions
        .iter_mut()
        .find(|known| known.type_ == next.type_)
    {
        None => conditions.push(next),
        Some(known) => {
            if known.status == next.status {
                next.last_transition_time = known.last_transition_time.clone();
            }
            if *known == next {
                return false;
            }
            *known = next;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    fn at(second: i64) -> Time {
        Time(Timestamp::from_second(second).unwrap())
    }

    fn ready(holds: Holds, message: &str) -> Judgement {
        Judgement {
            condition: ConditionType::Ready,
            holds,
            reason: Reason::Reconciled.as_str(),
            message: message.to_owned(),
            generation: Some(1),
        }
    }

    #[test]
    fn the_transition_time_moves_only_with_the_verdict() {
        let mut list = vec![];
        assert!(record(&mut list, ready(Holds::True, "fine"), &at(1)));
        assert!(!record(&mut list, ready(Holds::True, "fine"), &at(2)));
        assert!(record(&mut list, ready(Holds::True, "still fine"), &at(3)));
        assert_eq!(list[0].last_transition_time, at(1));
        assert!(record(&mut list, ready(Holds::False, "broken"), &at(4)));
        assert_eq!(list[0].last_transition_time, at(4));
        assert_eq!(list.len(), 1);
        assert!(!is_true(&list, ConditionType::Ready));
        assert!(find(&list, ConditionType::Created).is_none());
    }

    #[test]
    fn every_word_can_stand_in_a_condition() {
        for reason in Reason::ALL {
            let word = reason.as_str();
            assert!(
                word.chars().all(char::is_alphanumeric) && word.starts_with(char::is_uppercase)
            );
        }
        assert_eq!(ConditionType::Ready.to_string(), "Ready");
    }
}

//! `Release`: the rendered objects of one component in one environment. The only thing that the engine
//! reads, and where it writes down what it did.

mod status;

use std::time::Duration;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use status::{Health, ObjectError, ObjectStatus, PlaneRef, ReleaseStatus};

use crate::{
    go_duration,
    names::{ComponentName, EnvironmentName, ProjectName, ReleaseName, ResourceId, ResourceName},
    problem::Problem,
    raw_object::RawObject,
    schema,
};

/// What is asked of a release: that these objects exist in that environment.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "openchoreo.dev",
    version = "v1alpha1",
    kind = "Release",
    plural = "releases",
    namespaced,
    category = "openchoreo",
    status = "ReleaseStatus",
    derive = "PartialEq",
    doc = "The rendered Kubernetes objects of one component in one environment.",
    selectable = ".spec.environmentName",
    selectable = ".spec.owner.projectName",
    selectable = ".spec.owner.componentName",
    printcolumn(name = "Project", type_ = "string", json_path = ".spec.owner.projectName"),
    printcolumn(name = "Component", type_ = "string", json_path = ".spec.owner.componentName"),
    printcolumn(name = "Environment", type_ = "string", json_path = ".spec.environmentName"),
    printcolumn(name = "Healthy", type_ = "string", json_path = ".status.healthy"),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message",
        priority = 1
    ),
    validation = Rule::new(
        "!has(self.spec.dependsOn) || self.spec.dependsOn.all(other, other.name != self.metadata.name)"
    )
    .message("a release cannot depend on itself")
    .field_path(".spec.dependsOn")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[(
    "(has(self.targetPlane) ? self.targetPlane : 'dataplane') == \
     (has(oldSelf.targetPlane) ? oldSelf.targetPlane : 'dataplane')",
    "targetPlane is immutable; make another object"
)])))]
pub struct ReleaseSpec {
    /// Whose objects these are; cannot change.
    pub owner: ReleaseOwner,
    /// The environment that the objects belong to; cannot change.
    #[schemars(extend("x-kubernetes-validations" = schema::rules(&[
        ("self == oldSelf", "environmentName is immutable; make another object"),
    ])))]
    pub environment_name: EnvironmentName,
    /// Which plane of the environment is meant; the data plane where nothing is said. Cannot change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = schema::TARGET_PLANES))]
    pub target_plane: Option<String>,
    /// The objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub resources: Vec<ReleaseObject>,
    /// Releases of the same namespace that must be in place first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub depends_on: Vec<ReleaseRef>,
    /// How often to look at the plane although no event came from it; every few hours where nothing is said,
    /// never for 0s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = go_duration::PATTERN))]
    pub interval: Option<String>,
    /// The same while something is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = go_duration::PATTERN))]
    pub progressing_interval: Option<String>,
}

/// Whose objects a release holds: a component's, a resource's, or those of the project's cell itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::rules(&[
    ("self == oldSelf", "owner is immutable; make another object"),
    (
        "!has(self.componentName) || !has(self.resourceName)",
        "a release belongs to a component or to a resource, not to both",
    ),
])))]
pub struct ReleaseOwner {
    /// The project.
    pub project_name: ProjectName,
    /// The component, if it is a component's release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component_name: Option<ComponentName>,
    /// The resource, if it is a resource's release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<ResourceName>,
}

/// One object of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReleaseObject {
    /// Which object of the release it is, also when its name changes.
    pub id: ResourceId,
    /// The object itself.
    pub object: RawObject,
}

/// Another release of the same namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReleaseRef {
    /// Its name.
    pub name: ReleaseName,
}

/// Which plane of an environment a release is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetPlane {
    /// The data plane.
    Data,
    /// The plane that observes it.
    Observability,
}

/// How often a release is audited: its objects are read although no event came from the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// When all is well.
    pub settled: Audit,
    /// While something is under way.
    pub progressing: Audit,
}

/// How often to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audit {
    /// As often as whoever looks thinks right.
    Usual,
    /// Never.
    Never,
    /// That often.
    Every(Duration),
}

impl TargetPlane {
    /// The plane of a word; the data plane where there is none. `None` for a word that means nothing.
    pub fn read(written: Option<&str>) -> Option<Self> {
        match written {
            None | Some("" | "dataplane") => Some(Self::Data),
            Some("observabilityplane") => Some(Self::Observability),
            Some(_) => None,
        }
    }

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Data => schema::TARGET_PLANES[0],
            Self::Observability => schema::TARGET_PLANES[1],
        }
    }
}

impl ReleaseSpec {
    /// The plane that is meant.
    pub fn target_plane(&self) -> Result<TargetPlane, Problem> {
        let written = self.target_plane.as_deref();
        TargetPlane::read(written).ok_or_else(|| {
            let written = written.unwrap_or_default();
            Problem::new("spec.targetPlane", format!("is unknown: {written:?}"))
        })
    }

    /// The intervals that are meant.
    pub fn intervals(&self) -> Result<Intervals, Problem> {
        let read = |field: &str, written: Option<&str>| match written.map(go_duration::parse) {
            None => Ok(Audit::Usual),
            Some(Some(Duration::ZERO)) => Ok(Audit::Never),
            Some(Some(interval)) => Ok(Audit::Every(interval)),
            Some(None) => Err(Problem::new(
                field,
                format!("is no duration: {:?}", written.unwrap_or_default()),
            )),
        };
        Ok(Intervals {
            settled: read("spec.interval", self.interval.as_deref())?,
            progressing: read(
                "spec.progressingInterval",
                self.progressing_interval.as_deref(),
            )?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(fields: &Value) -> ReleaseSpec {
        let mut spec = json!({"owner": {"projectName": "p"}, "environmentName": "dev"});
        spec.as_object_mut()
            .unwrap()
            .append(&mut fields.as_object().unwrap().clone());
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn intervals_are_usual_unless_written_and_zero_means_never() {
        let usual = read(&json!({})).intervals().unwrap();
        assert_eq!(
            (usual.settled, usual.progressing),
            (Audit::Usual, Audit::Usual)
        );
        let never = read(&json!({"interval": "0s", "progressingInterval": "1m"}))
            .intervals()
            .unwrap();
        assert_eq!(
            (never.settled, never.progressing),
            (Audit::Never, Audit::Every(Duration::from_mins(1)))
        );
        let wrong = read(&json!({"interval": "soon"})).intervals().unwrap_err();
        assert_eq!(wrong.field, "spec.interval");
    }

    #[test]
    fn the_data_plane_is_meant_unless_another_is_named() {
        assert_eq!(read(&json!({})).target_plane(), Ok(TargetPlane::Data));
        let observed = read(&json!({"targetPlane": "observabilityplane"}));
        assert_eq!(observed.target_plane(), Ok(TargetPlane::Observability));
        assert!(
            read(&json!({"targetPlane": "moon"}))
                .target_plane()
                .is_err()
        );
    }
}

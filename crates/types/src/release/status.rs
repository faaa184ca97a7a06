//! What the engine writes down about a release: enough to find every object again after a crash, and to
//! know without asking the plane that nothing changed.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    names::{ResourceId, Uid},
    raw_object::RawObject,
    schema,
};

/// What was seen of a release.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseStatus {
    /// The generation that was last acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How the release is doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The plane that the objects were sent to, kept so that they can be removed again whatever becomes
    /// of the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<PlaneRef>,
    /// How many objects are healthy, for people to read: `3/4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healthy: Option<String>,
    /// Every object that is, or may be, in the plane because of this release. An object that is no
    /// longer asked for stays here until it is gone, so an id may appear twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ObjectStatus>,
}

/// The plane that objects were sent to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PlaneRef {
    /// `DataPlane` or `ClusterDataPlane`.
    pub kind: String,
    /// The name of the plane.
    pub name: String,
    /// Its namespace, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its uid: a plane that was made anew under the same name is another plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<Uid>,
    /// Whether it was given up for good: what is there may be left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<bool>,
}

/// One object in the plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    /// Which object of the release it is.
    pub id: ResourceId,
    /// Its API group; nothing for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Its API version.
    #[schemars(length(min = 1))]
    pub version: String,
    /// Its kind.
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Its name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Its namespace; nothing for an object of the whole cluster.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The uid that the plane gave it; nothing until the plane answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<Uid>,
    /// The digest of what was last applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The digest of the set of fields that are ours: an edit by somebody else changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owned_fields_digest: Option<String>,
    /// How the object is doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_status: Option<Health>,
    /// Why it is not healthy, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_message: Option<String>,
    /// What went wrong when it was last applied or removed; nothing if all went well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ObjectError>,
    /// The object's own status, as it was last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub status: Option<RawObject>,
    /// When its health last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub last_observed_time: Option<Time>,
}

/// What went wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectError {
    /// Why, for machines: the plane's own reason, or one of ours.
    pub reason: String,
    /// Why, for people; never holds the content of a Secret.
    pub message: String,
}

/// How an object is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum Health {
    /// Nobody can say.
    Unknown,
    /// On its way.
    Progressing,
    /// As it should be.
    Healthy,
    /// Stopped on purpose.
    Suspended,
    /// In trouble.
    Degraded,
}

//! Names and ids as types of their own, so that a project is never taken for a component.

pub mod generate;

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

macro_rules! name_types {
    ($($(#[$doc:meta])* $name:ident: $longest:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the text as it is; the API server has checked it, or will.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The plain text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "minLength": 1, "maxLength": $longest })
            }
        }
    )*};
}

name_types! {
    /// The name of an organization: also the namespace that holds everything of it.
    OrganizationName: 63;
    /// The name of a project within its organization.
    ProjectName: 253;
    /// The name of a component within its project.
    ComponentName: 253;
    /// The name of a resource (a database, a queue …) within its project.
    ResourceName: 253;
    /// The name of an environment within its organization.
    EnvironmentName: 253;
    /// The name of a deployment pipeline within its organization.
    PipelineName: 253;
    /// The name of a release within its namespace.
    ReleaseName: 253;
    /// Which object of a release is meant, also when its name changes.
    ResourceId: 253;
    /// A name that a data plane is known by to its agent.
    PlaneId: 63;
    /// The uid that the API server gave to an object.
    Uid: 128;
}

//! Kinds whose spec may be left out.
//!
//! The derived root struct demands its `spec`. A spec type that reads itself through `Option` is asked
//! even when the field is missing, and can answer with its default.

/// Makes a missing or null `spec` read as the default. The type must carry `#[serde(remote = "Self")]`,
/// which turns the derived implementations into inherent functions that are called here.
macro_rules! optional_spec {
    ($spec:ident) => {
        impl<'de> serde::Deserialize<'de> for $spec {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Given($spec);

                impl<'de> serde::Deserialize<'de> for Given {
                    fn deserialize<D: serde::Deserializer<'de>>(
                        deserializer: D,
                    ) -> Result<Self, D::Error> {
                        $spec::deserialize(deserializer).map(Self)
                    }
                }

                let given = Option::<Given>::deserialize(deserializer)?;
                Ok(given.map_or_else(Self::default, |given| given.0))
            }
        }

        impl serde::Serialize for $spec {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $spec::serialize(self, serializer)
            }
        }
    };
}

pub(crate) use optional_spec;

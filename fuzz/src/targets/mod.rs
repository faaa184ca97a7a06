//! What is fuzzed.

mod expressions;
mod ownership;
mod patches;
mod schemas;
mod selectors;
mod templates;

use std::{fmt, sync::LazyLock};

use quadrille_machinery::{schema::Schema, structural};
use serde_json::json;

/// A kind with a list of each sort.
static LISTS: LazyLock<Schema> = LazyLock::new(|| {
    structural::schema(Some(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "items": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {
                    "name": {"type": "string"}, "value": {"type": "integer"},
                }},
            },
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "list": {"type": "array", "items": {"type": "integer"}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        }},
    }})))
});

/// A reader of strangers' input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Target {
    /// CEL: compiled, priced, evaluated.
    Expressions,
    /// `managedFields` and applies over them.
    Ownership,
    /// JSON patches, merge patches, strategic merge patches.
    Patches,
    /// Custom resource definitions and objects of them.
    Schemas,
    /// Label and field selectors.
    Selectors,
    /// Templates, their schemas and patches.
    Templates,
}

impl Target {
    pub(crate) const ALL: [Self; 6] = [
        Self::Expressions,
        Self::Ownership,
        Self::Patches,
        Self::Schemas,
        Self::Selectors,
        Self::Templates,
    ];

    /// Sound inputs to start from.
    pub(crate) fn seeds(self) -> &'static [&'static str] {
        match self {
            Self::Expressions => expressions::SEEDS,
            Self::Ownership => ownership::SEEDS,
            Self::Patches => patches::SEEDS,
            Self::Schemas => schemas::SEEDS,
            Self::Selectors => selectors::SEEDS,
            Self::Templates => templates::SEEDS,
        }
    }

    /// What its language is made of.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Expressions => expressions::WORDS,
            Self::Ownership => ownership::WORDS,
            Self::Patches => patches::WORDS,
            Self::Schemas => schemas::WORDS,
            Self::Selectors => selectors::WORDS,
            Self::Templates => templates::WORDS,
        }
    }

    /// Takes an input. Whatever it says about it is fine; it has to say something, soon.
    pub(crate) fn run(self, input: &[u8]) {
        match self {
            Self::Expressions => expressions::run(input),
            Self::Ownership => ownership::run(input),
            Self::Patches => patches::run(input),
            Self::Schemas => schemas::run(input),
            Self::Selectors => selectors::run(input),
            Self::Templates => templates::run(input),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

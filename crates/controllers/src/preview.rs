//! What a release comes to, for whoever asks before the controller acts: the same reading, and nothing is done.

use std::sync::Arc;

use quadrille_objects::{Desired, Record, Stamp, live::Lens};
pub use quadrille_planes::PlaneName;
use quadrille_types::Environment;
use serde_json::Value;

use crate::{
    data_planes::Surroundings,
    platform::shelves,
    releases::{Facts, Written},
};

/// A release as the controller reads it.
pub struct Preview {
    /// Its uid, which its objects are labelled with.
    pub uid: Arc<str>,
    /// The environment that it is for.
    pub environment: Arc<str>,
    /// What it asks for, or why that cannot be understood.
    pub desired: Result<Arc<[Desired]>, String>,
    /// What was written down about objects that are, or may be, in the plane because of it.
    pub records: Vec<Record>,
    /// What is put onto its objects.
    pub stamp: Stamp,
    /// Whether it may take over what others made.
    pub may_adopt: bool,
    /// Whether its current generation may remove anything.
    pub may_remove_anything: bool,
}

impl Preview {
    /// Reads a release as the API shows it.
    pub fn read(release: Value) -> serde_json::Result<Self> {
        let facts = Facts::read(serde_json::from_value::<Written>(release)?);
        Ok(Self {
            stamp: facts.stamp(),
            may_remove_anything: facts.may_prune == Some(facts.generation),
            uid: facts.uid,
            environment: facts.environment,
            desired: facts.desired,
            records: facts.records,
            may_adopt: facts.may_adopt,
        })
    }
}

/// How objects of releases are read in a plane: whose they are, and who applied them.
pub fn lens() -> Lens {
    Surroundings::marks().lens
}

/// The plane that an environment asks for, or why nobody can tell.
pub fn plane_of(environment: &Environment) -> Result<PlaneName, String> {
    shelves::plane_of(environment)
}

//! Families of kinds that the controllers can leave alone.

use clap::ValueEnum;
use quadrille_controllers::Without;

/// A family of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Family {
    /// Deployments and Endpoints, and the classes with their instances and bindings.
    DeploymentSystem,
}

/// What is left out.
pub(crate) fn without(families: &[Family]) -> Without {
    Without {
        deployment_system: families.contains(&Family::DeploymentSystem),
    }
}

//! `quad release`: snapshots of a component: which there are, what is in one, what differs between two.

mod compare;
mod list;
mod show;

use kube::ResourceExt as _;
use quadrille_types::ComponentRelease;

use super::reads::understood;
use crate::{arguments::TEMPLATE, cluster::Cluster, failure::Failure, runtime::block_on};

/// Look at releases: snapshots of a component that never change.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad release list cart                       which there are, and where they run\n  quad release diff cart-1a2b cart-3c4d        what differs between two",
    help_template = TEMPLATE,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    List(list::Arguments),
    Show(show::Arguments),
    Diff(compare::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        match &arguments.action {
            Action::List(arguments) => list::run(arguments).await,
            Action::Show(arguments) => show::run(arguments).await,
            Action::Diff(arguments) => compare::run(arguments).await,
        }
    })
}

/// Reads a snapshot; one that is not there is a failure that names the nearest.
async fn read(cluster: &Cluster, name: &str) -> Result<ComponentRelease, Failure> {
    let kind = cluster.named_kind("componentreleases").await?;
    understood(cluster.object(&kind, name).await?)
}

/// The image that a snapshot runs.
fn image(release: &ComponentRelease) -> String {
    let workload = &release.spec.workload;
    let containers = workload
        .container
        .iter()
        .chain(workload.containers.values());
    let mut images = containers.map(|container| container.image.clone());
    images.next().unwrap_or_else(|| "-".to_owned())
}

/// Where a snapshot is bound to, of these bindings: what waits there is told apart.
fn places(release: &ComponentRelease, bindings: &[quadrille_types::ReleaseBinding]) -> Vec<String> {
    let name = release.name_any();
    let mut places = Vec::new();
    for binding in bindings {
        let place = &binding.spec.environment;
        let runs = super::standing::running(binding);
        if runs.is_some_and(|runs| runs.release == name) {
            places.push(place.to_string());
        } else if binding.spec.release_name.as_deref() == Some(&name)
            && !binding.spec.is_undeployed()
        {
            places.push(format!("({place})"));
        }
    }
    places
}

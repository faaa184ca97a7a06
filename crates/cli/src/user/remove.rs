//! `quad user remove`: somebody may nothing any more.

use std::{io::ErrorKind, path::PathBuf};

use serde_json::json;

use super::team::Team;
use crate::{
    arguments::{Output, TEMPLATE},
    failure::Failure,
    output,
};

/// Take all roles and the kubeconfig from somebody.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad user remove anna                      take her roles and her kubeconfig\n  quad user remove anna --data-dir ./data    of another instance",
    help_template = TEMPLATE
)]
pub(super) struct Arguments {
    /// Who.
    name: String,
    /// The folder of the instance [default: quadrille/default in the state folder].
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(super) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = arguments.name.as_str();
    let team = Team::of(arguments.data_dir.as_deref()).await?;
    let members = team.members(None).await?;
    let theirs: Vec<_> = members
        .into_iter()
        .filter(|member| member.name == name)
        .collect();
    if theirs.is_empty() {
        return Err(Failure::new(format!("there is no local user {name}"))
            .next("See who there is: quad user list"));
    }
    team.unbind(name, &theirs).await?;
    // Known by its label, the name is a plain one, so this is a file of ours.
    match std::fs::remove_file(team.kubeconfig(name)) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return Err(Failure::new(format!(
                "{name} may nothing any more, but the kubeconfig cannot be removed"
            ))
            .because(&error));
        }
    }
    output::tell(
        arguments.output,
        &format!(
            "{name} is no longer a user. Copies of the kubeconfig still say who they are, and may nothing."
        ),
        &json!({ "name": name, "removed": true }),
    )
}

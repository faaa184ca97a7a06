//! `quad user list`: who there is.

use std::path::PathBuf;

use serde_json::json;

use super::team::{Member, Team};
use crate::{
    arguments::{Output, TEMPLATE},
    data_folder::shown,
    failure::Failure,
    output,
};

/// Show local users and their roles.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad user list            a line for each role of each user\n  quad user list -o json    the same for scripts",
    help_template = TEMPLATE
)]
pub(super) struct Arguments {
    /// The folder of the instance [default: quadrille/default in the state folder].
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(super) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let team = Team::of(arguments.data_dir.as_deref()).await?;
    let members = team.members(None).await?;
    match arguments.output {
        Output::Json => {
            let all: Vec<_> = members.iter().map(|member| facts(&team, member)).collect();
            output::say(&json!(all).to_string())
        }
        Output::Text if members.is_empty() => {
            output::say("No local users. Make one: quad user add anna --role developer")
        }
        Output::Text => output::write(table(&team, &members).as_bytes()),
    }
}

fn facts(team: &Team, member: &Member) -> serde_json::Value {
    json!({
        "name": member.name,
        "role": member.role,
        "organization": member.organization,
        "kubeconfig": team.kubeconfig(&member.name),
    })
}

fn table(team: &Team, members: &[Member]) -> String {
    let rows = members.iter().map(|member| {
        let file = team.kubeconfig(&member.name);
        let kubeconfig = if file.exists() {
            shown(&file)
        } else {
            "elsewhere".to_owned()
        };
        let organization = if member.organization.is_empty() {
            "(all)".to_owned()
        } else {
            member.organization.clone()
        };
        [
            member.name.clone(),
            member.role.clone(),
            organization,
            kubeconfig,
        ]
    });
    let head = ["NAME", "ROLE", "ORGANIZATION", "KUBECONFIG"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let [first, second, third] = [width(0), width(1), width(2)];
    let lines = rows.iter().map(|[name, role, organization, kubeconfig]| {
        format!("{name:first$}   {role:second$}   {organization:third$}   {kubeconfig}\n")
    });
    lines.collect()
}

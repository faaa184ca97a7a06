//! `quad user`: local users of an instance, so that one laptop can play a team.

mod add;
mod list;
mod remove;
mod team;

use crate::{arguments::TEMPLATE, failure::Failure, runtime::block_on};

/// Add, list and remove local users of what `quad up` runs.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad user add anna --role developer    make anna a developer of the organization default\n  quad user list                         see who there is",
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
    Add(add::Arguments),
    List(list::Arguments),
    Remove(remove::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    block_on(async {
        match &arguments.action {
            Action::Add(arguments) => add::run(arguments).await,
            Action::List(arguments) => list::run(arguments).await,
            Action::Remove(arguments) => remove::run(arguments).await,
        }
    })
}

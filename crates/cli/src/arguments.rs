//! What can be typed.

use clap::{Parser, Subcommand, ValueEnum};

use crate::{
    apply,
    chain::{
        approve, deploy, history, promote, reject, release, restart, rollback, status, undeploy,
    },
    completion, convert, delete, describe, diff, down, get, manual, migrate,
    offline::{explain, init, render, schema, validate, workload},
    tree, up, user, version, wait,
};

/// An internal developer platform for Kubernetes, in one binary.
#[derive(Debug, Parser)]
#[command(
    name = "quad",
    version,
    before_help = "Examples:\n  quad up                 start the platform here; Ctrl-C stops it, your data stays\n  quad up --ephemeral     the same on a free port, keeping nothing",
    help_template = TEMPLATE,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Examples first: they answer most questions.
pub(crate) const TEMPLATE: &str =
    "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Up(up::Arguments),
    Down(down::Arguments),
    Deploy(deploy::Arguments),
    Status(status::Arguments),
    Promote(promote::Arguments),
    Approve(approve::Arguments),
    Reject(reject::Arguments),
    Rollback(rollback::Arguments),
    Undeploy(undeploy::Arguments),
    Restart(restart::Arguments),
    History(history::Arguments),
    Release(release::Arguments),
    Apply(apply::Arguments),
    Diff(diff::Arguments),
    Get(get::Arguments),
    Describe(describe::Arguments),
    Tree(tree::Arguments),
    Wait(wait::Arguments),
    Delete(delete::Arguments),
    Convert(convert::Arguments),
    Migrate(migrate::Arguments),
    Render(render::Arguments),
    Validate(validate::Arguments),
    Explain(explain::Arguments),
    Schema(schema::Arguments),
    Init(init::Arguments),
    Workload(workload::Arguments),
    User(user::Arguments),
    Version(version::Arguments),
    Completion(completion::Arguments),
    Man(manual::Arguments),
}

/// For whom to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    #[default]
    Text,
    /// For scripts.
    Json,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_of_every_verb_starts_with_two_examples() {
        let mut command = Arguments::command();
        command.build();
        let verbs: Vec<String> = command
            .get_subcommands()
            .map(|verb| verb.get_name().to_owned())
            .collect();
        for arguments in verbs
            .iter()
            .map(|verb| vec!["quad", verb, "--help"])
            .chain([vec!["quad", "--help"]])
        {
            let help = Arguments::try_parse_from(arguments)
                .unwrap_err()
                .to_string();
            let mut lines = help.lines();
            assert_eq!(lines.next(), Some("Examples:"), "{help}");
            let examples = lines.take_while(|line| line.starts_with("  quad ")).count();
            assert_eq!(examples, 2, "{help}");
        }
    }

    #[test]
    fn a_mistyped_verb_suggests_the_nearest() {
        let error = Arguments::try_parse_from(["quad", "dwon"]).unwrap_err();
        assert!(error.to_string().contains("'down'"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}

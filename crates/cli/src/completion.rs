//! `quad completion`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    arguments::{self, TEMPLATE},
    failure::Failure,
    output,
};

/// Write a completion script for a shell; bash completes names of objects too.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad completion bash > ~/.local/share/bash-completion/completions/quad\n  quad completion zsh > \"${fpath[1]}/_quad\"",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// For which shell.
    shell: Shell,
}

/// Completes names of objects.
const NAMES: &str = include_str!("completion/names.bash");

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut command = arguments::Arguments::command();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "quad", &mut script);
    if arguments.shell == Shell::Bash {
        script.extend_from_slice(NAMES.as_bytes());
    }
    output::write(&script)
}

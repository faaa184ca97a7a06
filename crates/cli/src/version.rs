//! `quad version`.

use serde_json::json;

use crate::{
    arguments::{Output, TEMPLATE},
    failure::Failure,
    output,
};

/// The version of this command.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Show the version.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad version            for people\n  quad version -o json    for scripts",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let kubernetes = quadrille_apiserver::kinds::load().kubernetes();
    let words = match arguments.output {
        Output::Text => format!("quad {VERSION} (serves the API of Kubernetes {kubernetes})"),
        Output::Json => json!({ "version": VERSION, "kubernetesVersion": kubernetes }).to_string(),
    };
    output::say(&words)
}

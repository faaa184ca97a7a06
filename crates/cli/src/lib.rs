//! Verbs of the `quad` command, one file each.
//!
//! A verb reads its arguments, does its work and gives back nothing or a [`Failure`]: the thing, the cause
//! and the next command, with an exit code. Nothing here computes state; that is the business of the rooms
//! below.

mod arguments;
mod completion;
mod data_folder;
mod down;
mod failure;
mod instance;
mod kubeconfig;
mod output;
mod style;
mod up;
mod version;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

use self::arguments::{Arguments, Verb};

/// Runs the command line; everything is said on the standard streams, and the exit code is the result.
pub fn run<Argument>(arguments: impl IntoIterator<Item = Argument>) -> ExitCode
where
    Argument: Into<OsString> + Clone,
{
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Nothing is left to try when the terminal itself is gone.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let result = match &arguments.verb {
        Verb::Up(arguments) => up::run(arguments),
        Verb::Down(arguments) => down::run(arguments),
        Verb::Version(arguments) => version::run(arguments),
        Verb::Completion(arguments) => completion::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

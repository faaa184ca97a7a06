//! Verbs of the `quad` command, one file each.
//!
//! A verb reads its arguments, does its work and gives back nothing or a [`Failure`]: the thing, the cause
//! and the next command, with an exit code. Nothing here computes state; that is the business of the rooms
//! below.

mod age;
mod apply;
mod arguments;
mod chain;
mod cluster;
mod completion;
mod confirm;
mod controller;
mod convert;
mod data_folder;
mod delete;
mod describe;
mod diff;
mod documents;
mod down;
mod failure;
mod families;
mod fields;
mod get;
mod instance;
mod kinds;
mod kubeconfig;
mod manual;
mod migrate;
mod nearest;
mod object;
mod offline;
mod output;
mod patience;
mod plane;
mod progress;
mod requests;
mod runtime;
mod signals;
mod style;
mod table;
mod terminal;
mod tree;
mod up;
mod user;
mod version;
mod wait;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

use self::arguments::{Arguments, Verb};

/// Runs the command line; everything is said on the standard streams, and the exit code is the result.
pub fn run<Argument>(arguments: impl IntoIterator<Item = Argument>) -> ExitCode
where
    Argument: Into<OsString> + Clone,
{
    parsed(arguments, |arguments: &Arguments| match &arguments.verb {
        Verb::Up(arguments) => up::run(arguments),
        Verb::Down(arguments) => down::run(arguments),
        Verb::Deploy(arguments) => chain::deploy::run(arguments),
        Verb::Status(arguments) => chain::status::run(arguments),
        Verb::Promote(arguments) => chain::promote::run(arguments),
        Verb::Approve(arguments) => chain::approve::run(arguments),
        Verb::Reject(arguments) => chain::reject::run(arguments),
        Verb::Rollback(arguments) => chain::rollback::run(arguments),
        Verb::Undeploy(arguments) => chain::undeploy::run(arguments),
        Verb::Restart(arguments) => chain::restart::run(arguments),
        Verb::History(arguments) => chain::history::run(arguments),
        Verb::Release(arguments) => chain::release::run(arguments),
        Verb::Apply(arguments) => apply::run(arguments),
        Verb::Get(arguments) => get::run(arguments),
        Verb::Describe(arguments) => describe::run(arguments),
        Verb::Tree(arguments) => tree::run(arguments),
        Verb::Diff(arguments) => diff::run(arguments),
        Verb::Wait(arguments) => wait::run(arguments),
        Verb::Delete(arguments) => delete::run(arguments),
        Verb::Convert(arguments) => convert::run(arguments),
        Verb::Migrate(arguments) => migrate::run(arguments),
        Verb::Render(arguments) => offline::render::run(arguments),
        Verb::Validate(arguments) => offline::validate::run(arguments),
        Verb::Explain(arguments) => offline::explain::run(arguments),
        Verb::Schema(arguments) => offline::schema::run(arguments),
        Verb::Init(arguments) => offline::init::run(arguments),
        Verb::Workload(arguments) => offline::workload::run(arguments),
        Verb::User(arguments) => user::run(arguments),
        Verb::Version(arguments) => version::run(arguments),
        Verb::Completion(arguments) => completion::run(arguments),
        Verb::Man(arguments) => manual::run(arguments),
    })
}

/// Runs the command line of `quad-controller`.
pub fn run_controller<Argument>(arguments: impl IntoIterator<Item = Argument>) -> ExitCode
where
    Argument: Into<OsString> + Clone,
{
    parsed(arguments, controller::run)
}

fn parsed<Argument, Arguments: Parser>(
    arguments: impl IntoIterator<Item = Argument>,
    run: impl FnOnce(&Arguments) -> Result<(), failure::Failure>,
) -> ExitCode
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
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

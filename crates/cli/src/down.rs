//! `quad down`: stops the instance of a data folder and waits until it is gone.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    arguments::{Output, TEMPLATE},
    data_folder::{self, command_on, shown},
    failure::Failure,
    instance::{self, Facts, Found},
    output,
};

/// Stop what `quad up` started.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Examples:\n  quad down                      stop the instance of the default folder\n  quad down --data-dir ./data    stop the instance of another one",
    help_template = TEMPLATE
)]
pub(crate) struct Arguments {
    /// The folder of the instance [default: quadrille/default in the state folder].
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// Seconds to wait for it to end.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
    /// For whom to write.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// How often to look whether it is gone.
const LOOK: Duration = Duration::from_millis(20);
/// How often to say that it is not.
const SAY: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = data_folder::locate(arguments.data_dir.as_deref())?;
    let facts = match look(&folder)? {
        Found::Nobody => {
            return output::tell(
                arguments.output,
                &format!("Nothing runs on {}.", shown(&folder)),
                &json!({ "stopped": false, "dataDir": folder }),
            );
        }
        Found::Running(facts) => facts.ok_or_else(|| starting(&folder))?,
    };
    end(&facts)?;
    let started = Instant::now();
    let limit = Duration::from_secs(arguments.timeout);
    let mut said = started;
    while look(&folder)? != Found::Nobody {
        if started.elapsed() >= limit {
            return Err(Failure::not_yet(format!(
                "process {} has not ended after {} s; it was asked to and may still do so",
                facts.pid, arguments.timeout
            ))
            .next(format!(
                "Wait longer: {}",
                command_on(&folder, "down --timeout 120")
            ))
            .next(format!(
                "or end it the hard way; acknowledged writes stay: kill -9 {}",
                facts.pid
            )));
        }
        if said.elapsed() >= SAY {
            said = Instant::now();
            let seconds = started.elapsed().as_secs();
            eprintln!(
                "waiting for process {} to finish its requests … {seconds} s",
                facts.pid
            );
        }
        thread::sleep(LOOK);
    }
    output::tell(
        arguments.output,
        &format!(
            "Stopped (process {}). Your data stays in {}; start again with: {}",
            facts.pid,
            shown(&folder),
            command_on(&folder, "up"),
        ),
        &json!({ "stopped": true, "pid": facts.pid, "dataDir": folder }),
    )
}

fn look(folder: &Path) -> Result<Found, Failure> {
    instance::find(folder).map_err(|error| {
        Failure::new(format!("{} cannot be looked at", folder.display())).because(&error)
    })
}

fn starting(folder: &Path) -> Failure {
    Failure::not_yet(format!(
        "an instance on {} is just starting",
        folder.display()
    ))
    .next(format!(
        "Try again in a moment: {}",
        command_on(folder, "down")
    ))
}

fn end(facts: &Facts) -> Result<(), Failure> {
    let Some(pid) = Pid::from_raw(facts.pid).filter(|_| facts.pid > 1) else {
        return Err(Failure::new(format!(
            "the lock file names no process ({})",
            facts.pid
        )));
    };
    match kill_process(pid, Signal::TERM) {
        // Gone between looking and signalling: what was wanted.
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(
            Failure::new(format!("process {} cannot be told to end", facts.pid))
                .because(&error)
                .next(format!(
                    "It may belong to somebody else: ps -o user,args {}",
                    facts.pid
                )),
        ),
    }
}

//! The `quad-controller` command: arguments and wiring only. It uses the system's allocator: it holds many small
//! things for long and is mostly idle, and so takes a third less memory.

use std::process::ExitCode;

fn main() -> ExitCode {
    quadrille_cli::run_controller(std::env::args_os())
}

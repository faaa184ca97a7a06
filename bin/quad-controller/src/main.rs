//! The `quad-controller` command: arguments and wiring only.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    quadrille_cli::run_controller(std::env::args_os())
}

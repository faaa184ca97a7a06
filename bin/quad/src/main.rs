//! The `quad` command: arguments and wiring only.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    quadrille_cli::run(std::env::args_os())
}

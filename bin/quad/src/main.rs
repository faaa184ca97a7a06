//! The `quad` command: arguments and wiring only.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    quadrille_cli::run(std::env::args_os())
}

//! The `quad-controller` command: arguments and wiring only. It holds many small things for long: of the allocators that were
//! tried, jemalloc keeps them in the least memory (mimalloc takes half as much again), and the system's takes a fifth more
//! of the processor.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    quadrille_cli::run_controller(std::env::args_os())
}

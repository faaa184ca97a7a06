//! `cargo xtask`: generators, checks, benches and conformance runs.

fn main() {}

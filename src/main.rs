//! The `rock-matrix` binary: takes a snapshot of the environment and hands it to [`rock_matrix::cli`].

use std::process::ExitCode;

/// Lists of thousands of names are made by several threads at once: the arenas of glibc ask the kernel for every piece
/// that they grow by, and musl's allocator has one lock.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let environment = rock_matrix::sys::Environment::snapshot();
    rock_matrix::cli::run(std::env::args_os(), environment).into()
}

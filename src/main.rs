//! The `rock-matrix` binary: takes a snapshot of the environment and hands it to
//! [`rock_matrix::cli`].

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Indexes and plans hold many short texts, and threads make them: glibc's allocator takes 10 to
/// 20 % longer for an index of 3,000 wheels, and moves the end of each thread's heap hundreds of
/// times.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    rock_matrix::sys::ignore_sigxfsz();
    let environment = rock_matrix::sys::Environment::snapshot();
    rock_matrix::cli::run(std::env::args_os(), environment).into()
}

//! The `rock-matrix` binary: takes a snapshot of the environment and hands it to
//! [`rock_matrix::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    rock_matrix::sys::ignore_sigxfsz();
    let environment = rock_matrix::sys::Environment::snapshot();
    rock_matrix::cli::run(std::env::args_os(), environment).into()
}

//! A GitHub on loopback, for trying a publish without an account.
//!
//! ```text
//! cargo run -p fake-github -- --fault 'upload#2=cut:100000'
//! ```
#![allow(unreachable_pub, reason = "one program of private modules")]
#![allow(
    clippy::disallowed_methods,
    reason = "not part of the product, which keeps effects in one module"
)]

mod args;
mod state_dir;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use args::Args;
use fake_github::model::LoggedRequest;
use fake_github::server::{FakeServer, system_clock};

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If stderr is not writable, only the exit code reports the error.
            let _ = writeln!(io::stderr(), "fake-github: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Args) -> io::Result<()> {
    let mut github = arguments.github().map_err(io::Error::other)?;
    if let Some(folder) = &arguments.state {
        state_dir::load(folder, &mut github)?;
    }
    arguments.set_up(&mut github);
    github.ledger.exchanges = arguments.record.is_some().then(Vec::new);
    let server = FakeServer::start_at(github, arguments.port, system_clock())?;
    write!(io::stdout(), "{}", arguments.greeting(&server.url()))?;
    io::stdout().flush()?;

    let mut signals = signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
    ])?;
    let (mut shown, mut saved) = (0, (0, 0));
    loop {
        let is_over = signals.pending().next().is_some();
        if !arguments.quiet {
            shown = show(&server, shown)?;
        }
        if let Some(folder) = &arguments.state {
            let github = server.github();
            let done = (
                github.ledger.requests.len(),
                github.ledger.reached.values().sum::<u64>(),
            );
            if done != saved {
                saved = done;
                state_dir::save(folder, &github)?;
            }
        }
        if is_over {
            if let Some(file) = &arguments.record {
                state_dir::record(file, &server.github())?;
            }
            return farewell(&server);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Prints requests that are answered, or that are followed by another request.
fn show(server: &FakeServer, from: usize) -> io::Result<usize> {
    let github = server.github();
    let requests = &github.ledger.requests;
    let is_settled = |at: usize| {
        requests[at].status != 0 || requests[at].fault.is_some() || at + 1 < requests.len()
    };
    let to = (from..requests.len())
        .find(|at| !is_settled(*at))
        .unwrap_or(requests.len());
    for logged in &requests[from..to] {
        writeln!(io::stderr(), "{}", line(logged))?;
    }
    Ok(to)
}

fn line(logged: &LoggedRequest) -> String {
    let path = logged.url.splitn(4, '/').nth(3).unwrap_or_default();
    let status = if logged.status == 0 {
        "---".to_owned()
    } else {
        logged.status.to_string()
    };
    let fault = logged
        .fault
        .map(|fault| format!("  ({fault})"))
        .unwrap_or_default();
    format!(
        "#{} {status} {} /{path} {} B{fault}",
        logged.number, logged.method, logged.size_bytes
    )
}

/// Prints the states that were reached and the mistakes of the client.
fn farewell(server: &FakeServer) -> io::Result<()> {
    let github = server.github();
    let ledger = &github.ledger;
    let mut out = io::stderr();
    writeln!(
        out,
        "\n{} requests, {} of them writes",
        ledger.requests.len(),
        ledger.writes()
    )?;
    for (state, count) in &ledger.reached {
        writeln!(out, "{count:>6}  {state:?}")?;
    }
    for complaint in &ledger.complaints {
        writeln!(out, "complaint: {complaint}")?;
    }
    if ledger.leaks > 0 {
        writeln!(out, "the token came to another host {} times", ledger.leaks)?;
    }
    let replay = ledger.replay();
    if !replay.is_empty() {
        writeln!(out, "the same faults again: {replay}")?;
    }
    Ok(())
}

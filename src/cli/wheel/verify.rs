//! `wheel verify`: check wheels against their filenames, RECORD and METADATA.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Format, OutputFormat, report};
use crate::audit::{WheelFile, find_wheels, finding_paths, verify_wheel};
use crate::cli::reporters::WheelReporter;
use crate::cli::{Exit, Shell};
use crate::codes::wheel as codes;
use crate::diagnostic::{Diagnostic, Location, Severity, counted};

/// Verify the archive, RECORD and metadata of wheels
///
/// Compares every member with RECORD, and METADATA and WHEEL with the filename.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Exits with 1 if a wheel has an error.

Examples:
  rock-matrix wheel verify dist                 every wheel in a directory
  rock-matrix wheel verify dist/*.whl --json    one line per wheel")]
pub(super) struct Args {
    /// Wheels, or directories with wheels
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let (paths, mut all) = find_wheels(&args.wheels);
    let reporter = WheelReporter::new(shell);
    for path in &paths {
        let found = check(path, &reporter);
        let text = match args.format.get() {
            Format::Human => human(path, &found),
            Format::Json => json(path, &found),
        };
        if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
            return exit;
        }
        all.extend(found);
    }
    report(shell, all)
}

fn check(path: &Path, reporter: &WheelReporter) -> Vec<Diagnostic> {
    let wheel = match WheelFile::open(path) {
        Ok(wheel) => wheel,
        Err(fault) => return vec![fault],
    };
    let mut found = verify_wheel(&wheel.file_name, &wheel.name, &wheel.file, reporter);
    found.extend(encoded_name(&wheel, path));
    found
}

/// Reports a percent-encoded filename, which installers refuse.
pub(super) fn encoded_name(wheel: &WheelFile, path: &Path) -> Option<Diagnostic> {
    let message = format!(
        "the filename `{}` is percent-encoded, as in a URL",
        wheel.file_name
    );
    wheel.file_name.contains('%').then(|| {
        Diagnostic::new(&codes::BAD_WHEEL_NAME, message)
            .at(Location::File(path.display().to_string().into()), "")
            .help(format!("rename it to `{}`", wheel.name))
    })
}

fn human(path: &Path, found: &[Diagnostic]) -> String {
    let count = |severity| found.iter().filter(|one| one.severity == severity).count();
    let errors = count(Severity::Error);
    let (warnings, notes) = (count(Severity::Warning), count(Severity::Note));
    let mut text = format!(
        "{:6} {}",
        if errors == 0 { "ok" } else { "failed" },
        path.display()
    );
    for (count, word) in [(errors, "error"), (warnings, "warning"), (notes, "note")] {
        if count > 0 {
            let _ = write!(text, ", {}", counted(count, word));
        }
    }
    text + "\n"
}

fn json(path: &Path, found: &[Diagnostic]) -> String {
    let findings: Vec<serde_json::Value> = found
        .iter()
        .map(|one| {
            let paths = finding_paths(one);
            serde_json::json!({
                "code": one.code.id,
                "name": one.code.name,
                "severity": one.severity.to_string(),
                "path": paths.first(),
                "paths": paths,
                "message": one.message,
                "notes": one.notes,
                "help": one.help,
            })
        })
        .collect();
    let is_ok = !found.iter().any(Diagnostic::is_error);
    let document = serde_json::json!({
        "version": 1,
        "wheel": path.display().to_string(),
        "ok": is_ok,
        "findings": findings,
    });
    format!("{document}\n")
}

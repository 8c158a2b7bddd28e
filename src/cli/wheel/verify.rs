//! `wheel verify`: whether wheels are what their names and RECORDs say.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::bar::Watchers;
use super::{Format, Printing, report};
use crate::audit::{WheelFile, find_wheels, verify_wheel};
use crate::cli::{Exit, Shell};
use crate::codes::wheel as codes;
use crate::diagnostic::{Diagnostic, Location, Severity, counted};

/// Check wheels: container, every member against RECORD, METADATA and WHEEL against the file name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits with 1 when an error was found in one of the wheels.

Examples:
  rock-matrix wheel verify dist                      every wheel of a folder
  rock-matrix wheel verify dist/*.whl
  rock-matrix wheel verify dist/*.whl --format json  one line a wheel")]
pub(super) struct Args {
    /// The wheels, or folders of them
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    #[command(flatten)]
    printing: Printing,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let (paths, mut all) = find_wheels(&args.wheels);
    for path in &paths {
        let found = check(path, shell);
        let text = match args.printing.format() {
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

fn check(path: &Path, shell: &Shell) -> Vec<Diagnostic> {
    let wheel = match WheelFile::open(path) {
        Ok(wheel) => wheel,
        Err(fault) => return vec![fault],
    };
    let mut found = verify_wheel(
        &wheel.file_name,
        &wheel.name,
        &wheel.file,
        &Watchers::of(shell),
    );
    found.extend(encoded_name(&wheel, path));
    found
}

/// The name of a file as it stands in an address, which installers refuse.
pub(super) fn encoded_name(wheel: &WheelFile, path: &Path) -> Option<Diagnostic> {
    let message = format!(
        "the file is named `{}`, percent-encoded as in an address",
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
    let (warnings, remarks) = (count(Severity::Warning), count(Severity::Note));
    let mut text = format!(
        "{:6} {}",
        if errors == 0 { "ok" } else { "failed" },
        path.display()
    );
    for (count, word) in [
        (errors, "error"),
        (warnings, "warning"),
        (remarks, "remark"),
    ] {
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
            let member = one.labels.iter().find_map(|label| match &label.location {
                Location::Member { member, .. } => Some(member.as_str()),
                _ => None,
            });
            serde_json::json!({
                "code": one.code.id,
                "name": one.code.name,
                "severity": one.severity.to_string(),
                "path": member,
                "message": one.message,
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

//! `wheel verify`: whether wheels are what their names and RECORDs say.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::bar::{Bar, Watchers};
use super::judging::{Judge, told_once, vouched};
use super::{Format, Printing, WheelFile, expected, report};
use crate::audit::{self, FileFacts, Look, Reading};
use crate::cli::{Exit, Shell};
use crate::codes::{rocm as rocm_codes, wheel as codes};
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Severity, counted};
use crate::elf::LayoutError;
use crate::sys;
use crate::wheel::{self, RecordVerifier, Wheel};

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
    let (paths, mut all) = expected::files(&args.wheels);
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
    report(shell, &all)
}

fn check(path: &Path, shell: &Shell) -> Vec<Diagnostic> {
    let wheel = match super::open(path) {
        Ok(wheel) => wheel,
        Err(fault) => return vec![fault],
    };
    let mut found = verified(&wheel, Watchers::of(shell));
    found.extend(encoded_name(&wheel, path));
    found
}

/// What is wrong with a wheel: its container, members against RECORD, METADATA and WHEEL against
/// the name, and libraries that loaders refuse or crash on. Large libraries are read once for all
/// of it.
fn verified(file: &WheelFile, watchers: Watchers) -> Vec<Diagnostic> {
    let bar = Bar::new(watchers, &file.shown);
    let watch = |progress| bar.tell(progress);
    let whole = || wheel::verify_with_progress(&file.file, &file.name, &watch);
    let Ok(opened) = Wheel::open(&file.file) else {
        return whole();
    };
    let reading = Reading {
        look: Look::Layouts,
        asked: &|_| false,
        make_scratch: &sys::allocate_scratch,
        vouching: Some(&RecordVerifier::new(opened.record())),
        watch: &watch,
    };
    let Ok(files) = audit::inspect(opened.archive(), reading) else {
        return whole();
    };
    let vouched = vouched(&files);
    let mut found = wheel::verify_except(&opened, &file.name, &|member| {
        vouched.contains(member.name())
    });
    for file_facts in &files {
        found.extend(audit::damaged(&file.shown, file_facts));
        let place = Location::Member {
            wheel: file.shown.clone(),
            member: file_facts.path.clone(),
        };
        let finding = |fault: &LayoutError| {
            Diagnostic::new(&rocm_codes::DAMAGED_LAYOUT, fault.to_string()).at(place.clone(), "")
        };
        found.extend(file_facts.layout_faults.iter().map(finding));
    }
    found
}

/// What `wheel check` says of a wheel without options, the same way on every machine, but for its
/// size and for other wheels; and what is taken of it, where it can be read.
pub(in crate::cli) fn proved_with<R>(
    file: &WheelFile,
    compat: &'static Compat,
    watchers: Watchers,
    take: impl FnOnce(&Wheel<'_>, &[FileFacts]) -> R,
) -> (Vec<Diagnostic>, Option<R>) {
    let judge = Judge {
        watchers,
        vouches: true,
        ..Judge::alone(compat, Look::Everything)
    };
    let proved = judge.with_report(&file.file, &file.shown, &file.name, |wheel, report| {
        let vouched = vouched(&report.files);
        let mut found =
            wheel::verify_except(wheel, &file.name, &|member| vouched.contains(member.name()));
        let fresh: Vec<Diagnostic> = report
            .findings
            .iter()
            .filter(|one| !found.contains(one))
            .cloned()
            .collect();
        found.extend(fresh);
        told_once(&mut found);
        (found, take(wheel, &report.files))
    });
    match proved {
        Ok((found, taken)) => (found, Some(taken)),
        // What keeps a wheel from being read is among the faults of the container, which are all to
        // be told.
        Err(faults) => {
            let whole = wheel::verify(&file.file, &file.name);
            (
                if whole.iter().any(Diagnostic::is_error) {
                    whole
                } else {
                    faults
                },
                None,
            )
        }
    }
}

/// The name of a file as it stands in an address, which installers refuse.
pub(super) fn encoded_name(wheel: &WheelFile, path: &Path) -> Option<Diagnostic> {
    let message = format!(
        "the file is named `{}`, percent-encoded as in an address",
        wheel.shown
    );
    wheel.shown.contains('%').then(|| {
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

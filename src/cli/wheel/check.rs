//! `wheel check`: every gate a wheel must pass, in one go.

use std::path::{Path, PathBuf};

use super::bar::{Bar, Watchers};
use super::judging::{Judge, Options};
use super::{Format, Printing, WheelFile, report};
use crate::audit::{self, FindingView, GfxDocument, Look};
use crate::bytes::ReadAt;
use crate::cli::{Exit, Shell};
use crate::diagnostic::registry::rocm as codes;
use crate::diagnostic::{Diagnostic, Place, Severity, counted};
use crate::names::GfxTarget;
use crate::wheel;

/// Check wheels: RECORD and METADATA, the platforms they claim, their label, their libraries and their code for GPUs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits with 1 when an error was found in one of the wheels. `rock-matrix explain CODE` tells more of a finding.

Examples:
  rock-matrix wheel check dist/*.whl
  rock-matrix wheel check built.whl --expect gfx90a,gfx942
  rock-matrix wheel check built.whl --max-size 100MB
  rock-matrix wheel check built.whl --allow R110,R113       known, and not to fail on
  rock-matrix wheel check rocm_sdk_core.whl --profile sdk")]
pub(super) struct Args {
    /// The wheels
    #[arg(required = true, value_name = "WHEEL")]
    wheels: Vec<PathBuf>,
    /// The gfx targets that every file with bundles must hold code for, and no others
    #[arg(long, value_name = "TARGETS", value_delimiter = ',')]
    expect: Vec<GfxTarget>,
    /// The largest file that is taken, in bytes, MB or GB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
    /// Findings not to fail on, by code or name
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    allow: Vec<String>,
    /// What kind of wheel it is: those of the ROCm SDK carry ROCm's libraries on purpose
    #[arg(long, value_enum, default_value = "default")]
    profile: Profile,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    printing: Printing,
}

/// What kind of wheel it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Profile {
    /// Any wheel
    Default,
    /// A package of the ROCm SDK
    Sdk,
}

/// What packages of the SDK do on purpose: they carry ROCm, and lie where pure Python lies.
const SDK_ALLOWS: [&str; 3] = ["R104", "R111", "W054"];

/// A size with a unit: GitHub and the index count in powers of ten for MB, and in powers of two for MiB.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "B" => 1,
        "MB" | "M" => 1_000_000,
        "GB" | "G" => 1_000_000_000,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err("a size is a number with B, MB, GB, MiB or GiB, such as `100MB`".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "a size begins with a number, such as `100MB`".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "no file is as large".to_owned())
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let judge = match args.options.judge(Look::Everything, shell) {
        Ok(judge) => judge,
        Err(exit) => return exit,
    };
    let mut all = Vec::new();
    let mut printed = Exit::Done;
    for path in &args.wheels {
        let checked = super::open(path)
            .map_err(|fault| vec![fault])
            .and_then(|file| check(&file, args, &judge, Watchers::of(shell)));
        let (targets, found) = checked.unwrap_or_else(|faults| (Vec::new(), faults));
        let text = match args.printing.format() {
            Format::Human => human(path, &targets, &found),
            Format::Json => json(path, &targets, &found),
        };
        printed = shell.print(&text);
        all.extend(found);
    }
    match report(shell, &all) {
        Exit::Done => printed,
        exit => exit,
    }
}

fn check(
    file: &WheelFile,
    args: &Args,
    judge: &Judge,
    watchers: Watchers,
) -> Result<(Vec<String>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let bar = Bar::new(watchers, &file.shown);
    let whole = wheel::verify_watched(&file.file, &file.name, &|progress| bar.tell(progress));
    drop(bar);
    let told = judge.with_report(&file.file, &file.shown, &file.name, |_, report| {
        let mut found = report.findings.clone();
        if !args.expect.is_empty() {
            found.extend(audit::unexpected(&file.shown, &report.files, &args.expect));
        }
        (GfxDocument::new(&report.files).targets().to_vec(), found)
    });
    let (targets, judged) = match told {
        Ok(told) => told,
        // What keeps a wheel from being read is among the faults of the container already.
        Err(_) if whole.iter().any(Diagnostic::is_error) => return Err(whole),
        Err(faults) => return Err(faults),
    };
    // METADATA is looked at by both.
    let fresh: Vec<Diagnostic> = judged.into_iter().filter(|finding| !whole.contains(finding)).collect();
    let mut found: Vec<Diagnostic> = whole.into_iter().chain(fresh).collect();
    if let Some(most) = args.max_size.filter(|most| file.file.size_bytes() > *most) {
        let message = format!("it has {} bytes, and at most {most} are taken", file.file.size_bytes());
        let place = Place::File(file.shown.as_str().into());
        found.push(Diagnostic::new(&codes::WHEEL_TOO_LARGE, message).at(place, ""));
    }
    let allowed = |finding: &Diagnostic| {
        let by_profile = args.profile == Profile::Sdk && SDK_ALLOWS.contains(&finding.code.id);
        let named = |word: &String| finding.code.id.eq_ignore_ascii_case(word) || finding.code.name == word;
        by_profile || args.allow.iter().any(named)
    };
    let soft = |finding: Diagnostic| if allowed(&finding) { finding.severity(Severity::Note) } else { finding };
    Ok((targets, found.into_iter().map(soft).collect()))
}

fn human(path: &Path, targets: &[String], found: &[Diagnostic]) -> String {
    let count = |severity| found.iter().filter(|finding| finding.severity == severity).count();
    let errors = count(Severity::Error);
    let mut text = format!("{:6} {}", if errors == 0 { "ok" } else { "failed" }, path.display());
    for (count, word) in [(errors, "error"), (count(Severity::Warning), "warning")] {
        if count > 0 {
            text.push_str(&format!(", {}", counted(count, word)));
        }
    }
    if !targets.is_empty() {
        text.push_str(&format!(", for {}", targets.join(" ")));
    }
    text + "\n"
}

fn json(path: &Path, targets: &[String], found: &[Diagnostic]) -> String {
    let document = serde_json::json!({
        "version": 1,
        "wheel": path.display().to_string(),
        "ok": !found.iter().any(Diagnostic::is_error),
        "gfx": targets,
        "findings": found.iter().map(FindingView::new).collect::<Vec<_>>(),
    });
    format!("{document}\n")
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        assert_eq!((size("100MB"), size("2GiB"), size("7")), (Ok(100_000_000), Ok(2 << 30), Ok(7)));
        assert!(size("x").is_err() && size("1 parsec").is_err() && size("99999999999999GB").is_err());
    }
}

//! `wheel check`: every gate a wheel must pass, in one go.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::expected;
use super::judging::{Judge, told_once, vouched};
use super::options::Options;
use super::summary::summary;
use super::verify::encoded_name;
use super::{Format, Printing, WheelFile, report};
use crate::audit::{
    self, DeviceWheels, Expected, Facts, FileFacts, FindingView, GfxDocument, Look, SplitCode,
};
use crate::bytes::ReadAt;
use crate::cli::{Exit, Shell, Verbosity, sdk};
use crate::codes;
use crate::diagnostic::{Code, Diagnostic, Severity, counted, nearest};
use crate::names::GfxTarget;
use crate::sdk::verify::ON_PURPOSE;
use crate::wheel;

/// Check wheels: RECORD and METADATA, the platforms they claim, their label, their libraries and
/// their code for GPUs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits with 1 when an error was found in one of the wheels. `rock-matrix explain CODE` tells more of
a finding.

Examples:
  rock-matrix wheel check dist/*.whl
  rock-matrix wheel check built.whl --expect gfx90a,gfx942
  rock-matrix wheel check dist --expect torch,torchaudio,torchvision --with aotriton
                                             all wheels of a build, with all that they must hold
  rock-matrix wheel check built.whl --max-size 100MB
  rock-matrix wheel check built.whl --allow R110,R113
                                             known, and not to fail on
  rock-matrix wheel check rocm_sdk_core.whl --profile sdk
  rock-matrix wheel check libraries.whl device_gfx942.whl
                                             code split off into archives of other wheels
  rock-matrix wheel check dist/*.whl --json  a line each: findings, gfx, platform, ROCm, torch")]
pub(super) struct Args {
    /// The wheels, or folders of them
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    /// The gfx targets that every file with bundles must hold code for, and no others (families and
    /// products stand for theirs); and distributions of which there must be a finished wheel, with
    /// all that it must hold and require
    #[arg(long, value_name = "TARGETS|NAMES", value_delimiter = ',')]
    expect: Vec<String>,
    /// What the expected wheels were built with, such as aotriton: they must hold that, too
    #[arg(
        long,
        value_name = "FEATURES",
        value_delimiter = ',',
        requires = "expect"
    )]
    with: Vec<String>,
    /// Hand the versions of the expected wheels to later steps, as `torch_version` and so on, in
    /// the file that `GITHUB_OUTPUT` names
    #[arg(long, requires = "expect")]
    github_output: bool,
    /// The largest file that is taken, in bytes, MB or GB [default: what a release on GitHub takes,
    /// under 2 GiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
    /// Findings not to fail on, by code or name
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = code)]
    allow: Vec<&'static Code>,
    /// What kind of wheel it is: those of the ROCm SDK carry ROCm's libraries on purpose, and
    /// promise other things
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
    /// A package of the ROCm SDK, with what it promises by itself; `sdk verify` looks at all of
    /// them together
    Sdk,
}

/// A size with a unit: GitHub and the index count in powers of ten for MB, and in powers of two for
/// MiB.
fn size(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "B" => 1,
        "MB" | "M" => 1_000_000,
        "GB" | "G" => 1_000_000_000,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => {
            return Err(
                "a size is a number with B, MB, GB, MiB or GiB, such as `100MB`".to_owned(),
            );
        }
    };
    let number: u64 = number
        .parse()
        .map_err(|_| "a size begins with a number, such as `100MB`".to_owned())?;
    number
        .checked_mul(factor)
        .ok_or_else(|| "no file is as large".to_owned())
}

/// A code by its number or name.
pub(super) fn code(word: &str) -> Result<&'static Code, String> {
    codes::find(word).ok_or_else(|| {
        let near = nearest::nearest(word, codes::all().flat_map(|code| [code.id, code.name]));
        nearest::with_nearest(format!("there is no code `{word}`"), near)
    })
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let judge = match args.options.judge(Look::Everything, shell) {
        Ok(mut judge) => {
            judge.vouches = true;
            judge
        }
        Err(exit) => return exit,
    };
    let (paths, mut all) = expected::files(&args.wheels);
    let words = match expected::words(&args.expect, judge.compat, shell) {
        Ok(words) => words,
        Err(exit) => return exit,
    };
    let expected = match expected::expected(&words, &args.with, &paths, judge.compat, shell) {
        Ok(expected) => expected,
        Err(exit) => return exit,
    };
    let mut checked: Vec<Checked> = paths
        .iter()
        .map(|path| look(path, args.profile, &judge, &expected))
        .collect();
    let splits: Vec<SplitCode> = checked
        .iter_mut()
        .map(|one| std::mem::take(&mut one.split))
        .collect();
    let missing = audit::missing_archives(&splits);
    for (one, missing) in checked.into_iter().zip(missing) {
        let (path, told, summary) = (one.path, one.told.clone(), one.summary.clone());
        let found = judged(one, args, &words.targets, &splits, missing, &judge);
        let text = match args.printing.format() {
            Format::Human => human(path, &summary, &found, shell.verbosity),
            Format::Json => json(path, &told, &found),
        };
        if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
            return exit;
        }
        all.extend(found);
    }
    all.extend(judge.unmatched(paths.len()));
    let shortfalls = expected.shortfalls(judge.compat);
    let is_whole = !shortfalls.iter().any(Diagnostic::is_error);
    all.extend(shortfalls);
    let exit = report(shell, &all);
    if args.github_output
        && is_whole
        && let Err(exit) = shell.write_outputs(&expected::outputs(&expected))
    {
        return exit;
    }
    exit
}

/// What a look at one wheel told.
struct Checked<'p> {
    path: &'p Path,
    shown: String,
    size_bytes: u64,
    told: Told,
    /// What was checked, in a few lines; none of a wheel that cannot be read.
    summary: Vec<String>,
    /// The files with code for GPUs, unless the wheel cannot be read.
    files: Option<Vec<FileFacts>>,
    split: SplitCode,
    found: Vec<Diagnostic>,
}

/// What programs are told of a wheel, beside what was found; nothing of one that cannot be read.
#[derive(Debug, Clone, Default)]
struct Told {
    targets: Vec<String>,
    /// The best platform, of a wheel with libraries.
    overall_tag: Option<String>,
    facts: Option<Facts>,
}

fn look<'p>(path: &'p Path, profile: Profile, judge: &Judge, expected: &Expected) -> Checked<'p> {
    let mut checked = Checked {
        path,
        shown: String::new(),
        size_bytes: 0,
        told: Told::default(),
        summary: Vec::new(),
        files: None,
        split: SplitCode::default(),
        found: Vec::new(),
    };
    match super::open(path) {
        Ok(file) => {
            look_into(&file, profile, judge, expected, &mut checked);
            checked.found.extend(encoded_name(&file, path));
        }
        Err(fault) => checked.found.push(fault),
    }
    checked
}

fn look_into(
    file: &WheelFile,
    profile: Profile,
    judge: &Judge,
    expected: &Expected,
    checked: &mut Checked<'_>,
) {
    checked.shown.clone_from(&file.shown);
    checked.size_bytes = file.file.size_bytes();
    let told = judge.with_report(&file.file, &file.shown, &file.name, |wheel, report| {
        let vouched = vouched(&report.files);
        let whole =
            wheel::verify_except(wheel, &file.name, &|member| vouched.contains(member.name()));
        checked.told = Told {
            targets: GfxDocument::new(&report.files).targets().to_vec(),
            overall_tag: report.verdict.as_ref().map(|verdict| verdict.overall.tag()),
            facts: Some(Facts::new(report)),
        };
        let with_code = report
            .files
            .iter()
            .filter(|file| !file.inventory.is_empty());
        let devices = DeviceWheels::new(wheel.metadata(), judge.compat);
        let split = SplitCode::new(&file.shown, &report.files).with_device_wheels(devices);
        checked.summary = summary(wheel, report, file.file.size_bytes());
        let promised = match profile {
            Profile::Default => Vec::new(),
            Profile::Sdk => sdk::alone(
                wheel,
                &report.files,
                &file.shown,
                &file.name,
                judge.compat.sdk_tables(),
            )
            .unwrap_or_else(|error| vec![error.diagnostic(&file.shown)]),
        };
        let lacks = if expected.has(&file.name) {
            expected
                .lacks(
                    &file.shown,
                    wheel,
                    file.file.size_bytes(),
                    &file.name,
                    judge.compat,
                )
                .unwrap_or_else(|error| vec![error.diagnostic(&file.shown)])
        } else {
            Vec::new()
        };
        (
            with_code.cloned().collect::<Vec<_>>(),
            split,
            report.findings.clone(),
            whole,
            lacks,
            promised,
        )
    });
    checked.found = match told {
        Ok((files, split, judged, whole, lacks, promised)) => {
            (checked.files, checked.split) = (Some(files), split);
            // The files of dist-info are looked at by both.
            let fresh: Vec<Diagnostic> = judged
                .into_iter()
                .filter(|finding| !whole.contains(finding))
                .collect();
            let mut found: Vec<Diagnostic> = whole
                .into_iter()
                .chain(fresh)
                .chain(lacks)
                .chain(promised)
                .collect();
            told_once(&mut found);
            found
        }
        // What keeps a wheel from being read is among the faults of the container, which are all to
        // be told.
        Err(faults) => {
            let whole = wheel::verify(&file.file, &file.name);
            if whole.iter().any(Diagnostic::is_error) {
                whole
            } else {
                faults
            }
        }
    };
}

/// What was found, with what only all wheels together and the options tell.
fn judged(
    checked: Checked<'_>,
    args: &Args,
    targets: &[GfxTarget],
    splits: &[SplitCode],
    missing: Vec<Diagnostic>,
    judge: &Judge,
) -> Vec<Diagnostic> {
    let mut found = checked.found;
    if let Some(files) = &checked.files {
        found.extend(missing);
        if !targets.is_empty() {
            found.extend(audit::unexpected(&checked.shown, files, splits, targets));
        }
        found.extend(audit::too_large(
            &checked.shown,
            checked.size_bytes,
            args.max_size,
            judge.compat,
        ));
    }
    let is_on_purpose =
        |finding: &Diagnostic| args.profile == Profile::Sdk && ON_PURPOSE.contains(&finding.code);
    let allowed = |finding: &Diagnostic| args.allow.contains(&finding.code);
    let soft = |finding: Diagnostic| {
        if allowed(&finding) {
            finding.severity(Severity::Note)
        } else {
            finding
        }
    };
    found
        .into_iter()
        .filter(|finding| !is_on_purpose(finding))
        .map(soft)
        .collect()
}

fn human(path: &Path, summary: &[String], found: &[Diagnostic], verbosity: Verbosity) -> String {
    let count = |severity| {
        found
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let errors = count(Severity::Error);
    let mut text = format!(
        "{:6} {}",
        if errors == 0 { "ok" } else { "failed" },
        path.display()
    );
    for (count, word) in [(errors, "error"), (count(Severity::Warning), "warning")] {
        if count > 0 {
            text.push_str(&format!(", {}", counted(count, word)));
        }
    }
    text.push('\n');
    for line in summary.iter().filter(|_| verbosity > Verbosity::Quiet) {
        let _ = writeln!(text, "       {line}");
    }
    if verbosity == Verbosity::Verbose {
        let notes = found
            .iter()
            .filter(|finding| finding.severity == Severity::Note)
            .count();
        let _ = writeln!(
            text,
            "       RECORD, METADATA, platforms, label, search paths, code for GPUs and size were checked"
        );
        if notes > 0 {
            let _ = writeln!(text, "       {}", counted(notes, "remark"));
        }
    }
    text
}

/// The keys that `wheel show` has too are the same ones, also those below `rock`.
fn json(path: &Path, told: &Told, found: &[Diagnostic]) -> String {
    let mut document = serde_json::json!({
        "version": 1,
        "wheel": path.display().to_string(),
        "ok": !found.iter().any(Diagnostic::is_error),
        "gfx": told.targets,
    });
    if let Some(tag) = &told.overall_tag {
        document["overall_tag"] = serde_json::json!(tag);
    }
    if let Some(facts) = &told.facts {
        document["rock"] = serde_json::json!(facts);
    }
    document["findings"] =
        serde_json::json!(found.iter().map(FindingView::new).collect::<Vec<_>>());
    format!("{document}\n")
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            (size("100MB"), size("2GiB"), size("7")),
            (Ok(100_000_000), Ok(2 << 30), Ok(7))
        );
        assert!(
            size("x").is_err() && size("1 parsec").is_err() && size("99999999999999GB").is_err()
        );
    }
}

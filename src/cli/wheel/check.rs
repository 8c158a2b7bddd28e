//! `wheel check`: run all checks of a wheel.

use std::path::{Path, PathBuf};

use super::expected;
use super::options::{AuditSettings, Options};
use super::verify::encoded_name;
use super::{Format, OutputFormat, fail, report};
use crate::audit::expected::ExpectedWheels;
use crate::audit::{
    Auditor, CheckDetail, CheckedWheel, VerifiedWheel, WheelFile, add_cross_wheel_findings,
    find_wheels, parse_size, pypi_findings,
};
use crate::bytes::ReadAt as _;
use crate::cli::{Exit, Shell, Verbosity, load};
use crate::codes;
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::sdk::verify::{self as sdk_verify, ON_PURPOSE};

/// Check RECORD, METADATA, platforms, label, libraries and GPU code of wheels
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Exits with 1 if a wheel has an error. `rock-matrix explain CODE` explains a finding.

Examples:
  rock-matrix wheel check dist/*.whl
  rock-matrix wheel check dist --expect torch,torchaudio --with aotriton   wheels of a build
  rock-matrix wheel check built.whl --expect gfx90a,gfx942                 these targets only
  rock-matrix wheel check built.whl --max-size 100MB
  rock-matrix wheel check built.whl --allow R110,R113                      known findings
  rock-matrix wheel check built.whl --profile pypi                         what PyPI rejects
  rock-matrix wheel check rocm_sdk_core.whl --profile sdk
  rock-matrix wheel check libraries.whl device_gfx942.whl                  GPU code in other wheels
  rock-matrix wheel check dist/*.whl --json                                one line per wheel")]
pub(super) struct Args {
    /// Wheels, or directories with wheels
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    /// Require code for exactly these GPU targets, or wheels of these distributions
    ///
    /// Every file with offload bundles must contain code for these targets and no others; families
    /// and products select their targets. Each distribution must have a finished wheel, with the
    /// contents and requirements that the compatibility data lists:
    /// `rock-matrix compat list wheel-contents`.
    #[arg(
        long,
        value_name = "TARGETS|NAMES",
        value_delimiter = ',',
        help_heading = "Checks"
    )]
    expect: Vec<String>,
    /// Features that the expected wheels were built with, such as aotriton
    ///
    /// The wheels must also contain what these features add.
    #[arg(
        long,
        value_name = "FEATURES",
        value_delimiter = ',',
        requires = "expect",
        help_heading = "Checks"
    )]
    with: Vec<String>,
    /// Maximum size of a wheel, such as 100MB [default: GitHub's limit, under 2 GiB]
    ///
    /// In bytes, or with the unit B, MB, GB, MiB or GiB. GitHub's limit is that of a release asset.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Checks")]
    max_size: Option<u64>,
    /// Report these findings as notes, given by code or name
    ///
    /// Notes do not affect the exit code. Separate several with commas.
    #[arg(
        long,
        value_name = "CODES",
        value_delimiter = ',',
        value_parser = code,
        help_heading = "Checks"
    )]
    allow: Vec<&'static Code>,
    /// Kind of wheel
    ///
    /// Packages of the ROCm SDK contain ROCm libraries on purpose and have other requirements.
    #[arg(long, value_enum, default_value = "default", help_heading = "Checks")]
    profile: Profile,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
    /// Write the versions of the expected wheels to the file that GITHUB_OUTPUT names
    ///
    /// Later steps of a workflow read them as `torch_version` and so on. Nothing is written if an
    /// expected wheel is missing.
    #[arg(
        long,
        requires = "expect",
        help_heading = "Output",
        hide_short_help = true
    )]
    github_output: bool,
    #[command(flatten)]
    options: Options,
}

/// The kind of a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Profile {
    /// Any wheel
    Default,
    /// A wheel to upload to PyPI, which rejects local version labels and `linux_*` platform tags
    Pypi,
    /// A package of the ROCm SDK, checked on its own; `sdk verify` checks all packages together
    Sdk,
}

impl Profile {
    /// Returns the codes of findings that are intended for wheels of this kind.
    fn intended_findings(self) -> &'static [&'static Code] {
        match self {
            Self::Sdk => &ON_PURPOSE,
            Self::Default | Self::Pypi => &[],
        }
    }
}

/// Parses a code, given by its number or name.
pub(super) fn code(word: &str) -> Result<&'static Code, String> {
    codes::find(word).ok_or_else(|| {
        let near = nearest::nearest(word, codes::all().flat_map(|code| [code.id, code.name]));
        nearest::with_nearest(format!("there is no code `{word}`"), near)
    })
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let settings = AuditSettings {
        verify_record: true,
        ..AuditSettings::default()
    };
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let auditor = match args.options.auditor(settings, compat, shell) {
        Ok(auditor) => auditor,
        Err(errors) => return fail(shell, &errors),
    };
    let (paths, mut all) = find_wheels(&args.wheels);
    let words = match expected::words(&args.expect, compat, shell) {
        Ok(words) => words,
        Err(errors) => return fail(shell, &errors),
    };
    let expected = match expected::expected(&words, &args.with, &paths, compat) {
        Ok(expected) => expected,
        Err(errors) => return fail(shell, &errors),
    };
    let mut checked: Vec<CheckedWheel> = paths
        .iter()
        .map(|path| check(path, args.profile, &auditor, &expected))
        .collect();
    add_cross_wheel_findings(&mut checked, &words.targets, args.max_size, compat);
    for (path, mut wheel) in paths.iter().zip(checked) {
        wheel.filter_findings(args.profile.intended_findings(), &args.allow);
        let shown = path.display().to_string();
        let text = match args.format.get() {
            Format::Human => wheel.to_text(&shown, detail(shell.verbosity)),
            Format::Json => wheel.to_json(&shown),
        };
        if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
            return exit;
        }
        all.extend(wheel.findings);
    }
    all.extend(args.options.unmatched_excludes(&auditor, paths.len()));
    let shortfalls = expected.missing_wheels(compat);
    let is_whole = !shortfalls.iter().any(Diagnostic::is_error);
    all.extend(shortfalls);
    let exit = report(shell, all);
    if args.github_output
        && is_whole
        && let Err(exit) = shell.write_outputs(&expected::outputs(&expected))
    {
        return exit;
    }
    exit
}

fn detail(verbosity: Verbosity) -> CheckDetail {
    match verbosity {
        Verbosity::Quiet => CheckDetail::Result,
        Verbosity::Normal => CheckDetail::Audit,
        Verbosity::Verbose => CheckDetail::Everything,
    }
}

/// Opens and checks a wheel.
fn check(
    path: &Path,
    profile: Profile,
    auditor: &Auditor<'_>,
    expected: &ExpectedWheels,
) -> CheckedWheel {
    let file = match WheelFile::open(path) {
        Ok(file) => file,
        Err(error) => {
            let unreadable = VerifiedWheel::Unreadable {
                findings: vec![error],
            };
            return CheckedWheel::new("", 0, &unreadable, expected);
        }
    };
    let verified = auditor.audit_and_verify(&file.file_name, &file.name, &file.file);
    let mut checked =
        CheckedWheel::new(&file.file_name, file.file.size_bytes(), &verified, expected);
    if let (Some(audited), Profile::Sdk) = (verified.audited(), profile) {
        let promised = sdk_verify::verify_wheel(
            audited.wheel(),
            audited.files(),
            &file.file_name,
            &file.name,
            auditor.compat().sdk_tables(),
        );
        checked
            .findings
            .extend(promised.unwrap_or_else(|error| vec![error.diagnostic(&file.file_name)]));
    }
    if profile == Profile::Pypi {
        checked.findings.extend(pypi_findings(
            &file.name,
            file.file.size_bytes(),
            auditor.compat(),
        ));
    }
    checked.findings.extend(encoded_name(&file, path));
    checked
}

//! `wheel show`: the platforms that wheels run on, and those that their filenames claim.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::options::{AuditSettings, Options};
use super::{Format, fail, report};
use crate::audit::gfx::{GfxDocument, SplitCode, missing_archives};
use crate::audit::{
    AuditDocument, AuditedWheel, Auditor, InspectedFile, InspectedKind, InspectionDepth,
    JsonDialect, ResolvedLibrary, WheelFile, find_wheels, format_size, policy_blockers,
};
use crate::cli::{Exit, Shell, load};
use crate::diagnostic::{Diagnostic, Diagnostics, counted};

/// Show which platforms wheels run on, and whether their filenames are accurate
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix wheel show dist/*.whl
  rock-matrix wheel show built.whl --no-host-libs   the same result on every machine",
    after_long_help = "\
Exits with 0 if every wheel could be read, whatever the findings; `wheel check` fails on findings.

Examples:
  rock-matrix wheel show dist/*.whl
  rock-matrix wheel show built.whl --no-host-libs      the same result on every machine
  rock-matrix wheel show built.whl --exclude-preset rocm,torch
  rock-matrix wheel show built.whl --json              auditwheel's keys, and ours under `rock`
  rock-matrix wheel show built.whl --json=auditwheel   only auditwheel's keys"
)]
pub(super) struct Args {
    /// Wheels, or folders with wheels
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    /// Output format
    #[arg(
        long,
        value_enum,
        default_value = "human",
        value_name = "FORMAT",
        conflicts_with = "json",
        help_heading = "Output"
    )]
    format: Format,
    /// Same as --format json, or only auditwheel's keys with =auditwheel
    ///
    /// Prints one line per wheel.
    #[arg(
        long,
        value_name = "KEYS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "own",
        help_heading = "Output"
    )]
    json: Option<JsonReaders>,
    #[command(flatten)]
    options: Options,
    /// Accepted for compatibility with auditwheel: wheels without libraries never fail
    #[arg(long, hide = true)]
    allow_pure_python_wheel: bool,
}

/// The programs that JSON is for.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum JsonReaders {
    /// auditwheel's keys, and ours under `rock`
    Own,
    /// Only auditwheel's keys
    Auditwheel,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let settings = AuditSettings {
        depth: InspectionDepth::Tables,
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
    let dialect = match (args.json, args.format) {
        (Some(JsonReaders::Auditwheel), _) => Some(JsonDialect::Auditwheel),
        (Some(JsonReaders::Own), _) | (None, Format::Json) => Some(JsonDialect::Rock),
        (None, Format::Human) => None,
    };
    let (paths, mut all) = find_wheels(&args.wheels);
    let (mut waiting, mut all_judged) = (Vec::new(), all.is_empty());
    for (number, path) in paths.iter().enumerate() {
        let shown = show(path, &auditor, dialect);
        all_judged &= shown.is_judged;
        waiting.push(shown);
        let is_last = number + 1 == paths.len();
        // GPU code of a wheel may be in the wheels that follow.
        if is_last || waiting.iter().all(|shown: &Shown| shown.split.is_empty()) {
            for (text, found) in outputs(std::mem::take(&mut waiting)) {
                if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
                    return exit;
                }
                all.extend(found);
            }
        }
    }
    all.extend(args.options.unmatched_excludes(&auditor, paths.len()));
    match report(shell, all) {
        // Findings are reported, but only `wheel check` fails on them.
        Exit::Fault if all_judged => Exit::Done,
        exit => exit,
    }
}

/// The result for one wheel.
struct Shown {
    form: ShowForm,
    found: Vec<Diagnostic>,
    split: SplitCode,
    is_judged: bool,
}

/// The form in which a wheel is shown.
enum ShowForm {
    Text(String),
    /// A document, and the files whose GPU code may be in other wheels.
    Document(Box<AuditDocument>, Vec<InspectedFile>),
}

/// Returns the output and the findings of each wheel, in order.
fn outputs(waiting: Vec<Shown>) -> Vec<(String, Vec<Diagnostic>)> {
    let splits: Vec<SplitCode> = waiting.iter().map(|shown| shown.split.clone()).collect();
    let missing = missing_archives(&splits);
    let one = |(shown, missing): (Shown, Vec<Diagnostic>)| match shown.form {
        ShowForm::Text(text) => (text, [shown.found, missing].concat()),
        ShowForm::Document(document, _) if shown.split.is_empty() => (json(&document), shown.found),
        ShowForm::Document(document, files) => (
            json(&document.with_other_wheels(&files, &splits, &missing)),
            shown.found,
        ),
    };
    waiting.into_iter().zip(missing).map(one).collect()
}

/// Audits a wheel and shows the result, or the errors if it cannot be read.
fn show(path: &Path, auditor: &Auditor<'_>, dialect: Option<JsonDialect>) -> Shown {
    let try_show = || {
        let file = WheelFile::open(path)?;
        let audited = auditor.audit_as(&file.file_name, &file.name, &file.file)?;
        Ok::<_, Diagnostics>(shown(&audited, dialect))
    };
    try_show().unwrap_or_else(|errors| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let form = match (dialect, errors.as_slice().first()) {
            (Some(_), Some(first)) => ShowForm::Document(
                Box::new(AuditDocument::of_error(&name, first.message.clone())),
                Vec::new(),
            ),
            _ => ShowForm::Text(String::new()),
        };
        Shown {
            form,
            found: errors.into_vec(),
            split: SplitCode::default(),
            is_judged: false,
        }
    })
}

fn shown(audited: &AuditedWheel<'_>, dialect: Option<JsonDialect>) -> Shown {
    let split = audited.split_code();
    let (form, found) = match dialect {
        Some(dialect) => {
            let files = audited
                .files()
                .iter()
                .filter(|file| !split.is_empty() && !file.inventory.is_empty());
            let document = Box::new(AuditDocument::new(audited, dialect));
            (
                ShowForm::Document(document, files.cloned().collect()),
                Vec::new(),
            )
        }
        None => (ShowForm::Text(human(audited)), audited.findings().to_vec()),
    };
    Shown {
        form,
        found,
        split,
        is_judged: true,
    }
}

fn json(document: &AuditDocument) -> String {
    serde_json::to_string(document).expect("texts, lists and maps of texts serialise") + "\n"
}

/// Maximum number of reasons against a platform that are shown; the rest is counted.
const SHOWN: usize = 3;
/// Width of the first column.
const WIDTH: usize = 10;

fn line(text: &mut String, word: &str, fact: &str) {
    let _ = writeln!(text, "  {word:WIDTH$}{fact}");
}

fn human(audited: &AuditedWheel<'_>) -> String {
    let libraries = audited
        .files()
        .iter()
        .filter(|file| matches!(file.kind, InspectedKind::Library(_)))
        .count();
    let unpacked: u64 = audited
        .wheel()
        .archive()
        .members()
        .iter()
        .map(crate::wheel::ZipMember::size_bytes)
        .sum();
    let mut text = format!("{}\n", audited.name());
    let Some(compliance) = audited.compliance() else {
        line(&mut text, "platform", &unaudited(audited));
        gfx_line(&mut text, audited);
        return text;
    };
    line(
        &mut text,
        "holds",
        &format!(
            "{}, {} unpacked",
            counted(libraries, "ELF file"),
            format_size(unpacked)
        ),
    );
    let claimed = audited.name().platform_tags().as_slice().join(", ");
    line(&mut text, "claims", &claimed);
    let unjudged = audited.unaudited_tags();
    if !unjudged.is_empty() {
        let verb = if unjudged.len() == 1 { "is" } else { "are" };
        line(
            &mut text,
            "",
            &format!("{} {verb} not judged", unjudged.join(", ")),
        );
    }
    line(&mut text, "platform", &compliance.overall_policy().tag());
    line(&mut text, "symbols", &symbols(audited));
    if compliance.symbol_policy() != compliance.own_symbol_policy() {
        let with_libraries = format!(
            "{} with the libraries of this machine that it needs",
            compliance.symbol_policy().tag()
        );
        line(&mut text, "", &with_libraries);
    }
    if let Some(next) = policy_blockers(audited.files(), compliance) {
        let hidden = next.reasons.len().saturating_sub(SHOWN);
        let more = (hidden > 0).then(|| format!("and {hidden} more"));
        for (number, reason) in next.reasons.iter().take(SHOWN).chain(&more).enumerate() {
            let word = if number == 0 {
                format!("{} lacks ", next.tag)
            } else {
                " ".repeat(next.tag.len() + 7)
            };
            line(
                &mut text,
                if number == 0 { "next" } else { "" },
                &(word + reason),
            );
        }
    }
    let external = compliance.gaps.first().map(|gap| &gap.libraries);
    for (number, (name, found)) in external.into_iter().flatten().enumerate() {
        let place = match found {
            ResolvedLibrary::System(library) => format!("{name} => {}", library.real_path),
            _ => format!("{name}, not found here"),
        };
        line(&mut text, if number == 0 { "needs" } else { "" }, &place);
    }
    gfx_line(&mut text, audited);
    let rocm: Vec<String> = audited
        .rocm_majors()
        .iter()
        .map(|(major, names)| {
            format!(
                "{major}, by {}",
                names.iter().next().map_or("", String::as_str)
            )
        })
        .collect();
    if !rocm.is_empty() {
        line(&mut text, "ROCm", &rocm.join("; "));
    }
    if let Some(need) = audited.torch() {
        line(
            &mut text,
            "torch",
            &format!("{need}, by the symbols that it needs"),
        );
    }
    text
}

/// Returns the platform of a wheel without audited libraries.
fn unaudited(audited: &AuditedWheel<'_>) -> String {
    let claims = audited.name().platform_tags().as_slice().join(", ");
    if audited.has_unaudited_libraries() {
        "none: no library can be judged".to_owned()
    } else if let Some(system) = audited.unaudited_system() {
        format!("{claims} by its name: files for {system} are not judged")
    } else {
        format!(
            "{claims}{}: it contains no libraries to judge",
            if audited.name().is_platform_independent() {
                ""
            } else {
                " by its name"
            }
        )
    }
}

fn gfx_line(text: &mut String, audited: &AuditedWheel<'_>) {
    let gfx = GfxDocument::new(audited.files());
    if !gfx.targets().is_empty() {
        line(text, "gfx", &gfx.targets().join(" "));
    }
}

/// Returns the policy that the wheel's own symbols comply with, and the newest version of each
/// prefix.
fn symbols(audited: &AuditedWheel<'_>) -> String {
    let Some(compliance) = audited.compliance() else {
        return String::new();
    };
    match compliance.newest_own_versions().as_slice() {
        [] => compliance.own_symbol_policy().tag(),
        versions => format!(
            "{}: {}",
            compliance.own_symbol_policy().tag(),
            versions.join(", ")
        ),
    }
}

//! `wheel show`: which platforms have what wheels need, and what their names claim.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::expected;
use super::judging::Judge;
use super::options::Options;
use super::sizes::size;
use super::{Format, report};
use crate::audit::{
    self, DeviceWheels, Document, FileFacts, FileKind, Found, GfxDocument, Look, Readers, Report,
    SplitCode,
};
use crate::cli::{Exit, Shell};
use crate::diagnostic::{Diagnostic, counted};
use crate::wheel::Wheel;

/// Show which platforms have what wheels need, and whether their names tell the truth
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits with 0 when a verdict was printed, whatever it is; `wheel check` fails on findings.

Examples:
  rock-matrix wheel show dist/*.whl
  rock-matrix wheel show built.whl --no-host-libs     the same everywhere
  rock-matrix wheel show built.whl --exclude-preset rocm,torch
  rock-matrix wheel show built.whl --json             auditwheel's keys, and ours under `rock`
  rock-matrix wheel show built.whl --json=auditwheel  auditwheel's keys alone")]
pub(super) struct Args {
    /// The wheels, or folders of them
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    #[command(flatten)]
    options: Options,
    /// Print JSON, one line a wheel
    #[arg(long, value_name = "READERS", num_args = 0..=1, require_equals = true, default_missing_value = "own")]
    json: Option<JsonReaders>,
    /// How to print the result
    #[arg(
        long,
        value_enum,
        default_value = "human",
        value_name = "FORMAT",
        conflicts_with = "json"
    )]
    format: Format,
    /// Taken for auditwheel's sake: a wheel without libraries is no failure here
    #[arg(long, hide = true)]
    allow_pure_python_wheel: bool,
}

/// Whose readers JSON is for.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum JsonReaders {
    /// Those that know our key `rock`
    Own,
    /// Those that take auditwheel's keys and no other
    Auditwheel,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let judge = match args.options.judge(Look::Tables, shell) {
        Ok(judge) => judge,
        Err(exit) => return exit,
    };
    let readers = match (args.json, args.format) {
        (Some(JsonReaders::Auditwheel), _) => Some(Readers::Auditwheel),
        (Some(JsonReaders::Own), _) | (None, Format::Json) => Some(Readers::Own),
        (None, Format::Human) => None,
    };
    let (paths, mut all) = expected::files(&args.wheels);
    let (mut waiting, mut all_judged) = (Vec::new(), all.is_empty());
    for (number, path) in paths.iter().enumerate() {
        let shown = show(path, &judge, readers);
        all_judged &= shown.is_judged;
        waiting.push(shown);
        let is_last = number + 1 == paths.len();
        // Where code was split off, the wheels that follow tell whether it is there.
        if is_last || waiting.iter().all(|shown: &Shown| shown.split.is_empty()) {
            for (text, found) in told(std::mem::take(&mut waiting)) {
                if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
                    return exit;
                }
                all.extend(found);
            }
        }
    }
    all.extend(judge.unmatched(paths.len()));
    match report(shell, &all) {
        // A verdict is no failure: what `check` fails on is told.
        Exit::Fault if all_judged => Exit::Done,
        exit => exit,
    }
}

/// What is shown of one wheel.
struct Shown {
    what: What,
    found: Vec<Diagnostic>,
    split: SplitCode,
    is_judged: bool,
}

/// The form in which a wheel is shown.
enum What {
    Text(String),
    /// A document, and the files with code for GPUs that other wheels have to do with.
    Document(Box<Document>, Vec<FileFacts>),
}

/// The texts for these wheels, in order, with what a person should know of each.
fn told(waiting: Vec<Shown>) -> Vec<(String, Vec<Diagnostic>)> {
    let splits: Vec<SplitCode> = waiting.iter().map(|shown| shown.split.clone()).collect();
    let missing = audit::missing_archives(&splits);
    let one = |(shown, missing): (Shown, Vec<Diagnostic>)| match shown.what {
        What::Text(text) => (text, [shown.found, missing].concat()),
        What::Document(document, _) if shown.split.is_empty() => (json(&document), shown.found),
        What::Document(document, files) => (
            json(&document.among(&files, &splits, &missing)),
            shown.found,
        ),
    };
    waiting.into_iter().zip(missing).map(one).collect()
}

/// What is shown of a wheel: the verdict with what a person should know, or the faults that kept it
/// from being judged.
fn show(path: &Path, judge: &Judge, readers: Option<Readers>) -> Shown {
    let opened = super::open(path).map_err(|fault| vec![fault]);
    let shown = opened.and_then(|file| {
        judge.with_report(&file.file, &file.shown, &file.name, |wheel, report| {
            let devices = DeviceWheels::new(wheel.metadata(), judge.compat);
            let split = SplitCode::new(&file.shown, &report.files).with_device_wheels(devices);
            let (what, found) = match readers {
                Some(readers) => {
                    let files = report
                        .files
                        .iter()
                        .filter(|file| !split.is_empty() && !file.inventory.is_empty());
                    (
                        What::Document(
                            Box::new(Document::new(report, readers)),
                            files.cloned().collect(),
                        ),
                        Vec::new(),
                    )
                }
                None => (What::Text(human(wheel, report)), report.findings.clone()),
            };
            Shown {
                what,
                found,
                split,
                is_judged: true,
            }
        })
    });
    shown.unwrap_or_else(|found| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let what = match (readers, found.first()) {
            (Some(_), Some(first)) => What::Document(
                Box::new(Document::of_fault(&name, first.message.clone())),
                Vec::new(),
            ),
            _ => What::Text(String::new()),
        };
        Shown {
            what,
            found,
            split: SplitCode::default(),
            is_judged: false,
        }
    })
}

fn json(document: &Document) -> String {
    serde_json::to_string(document).expect("texts, lists and maps of texts serialise") + "\n"
}

/// How many reasons against a platform are named; the rest is counted.
const SHOWN: usize = 3;
/// How wide the words before the facts are.
const WIDTH: usize = 10;

fn line(text: &mut String, word: &str, fact: &str) {
    let _ = writeln!(text, "  {word:WIDTH$}{fact}");
}

fn human(wheel: &Wheel<'_>, report: &Report<'_>) -> String {
    let libraries = report
        .files
        .iter()
        .filter(|file| matches!(file.kind, FileKind::Library(_)))
        .count();
    let unpacked: u64 = wheel
        .archive()
        .members()
        .iter()
        .map(crate::wheel::ZipMember::size_bytes)
        .sum();
    let mut text = format!("{}\n", report.name);
    let Some(verdict) = &report.verdict else {
        line(&mut text, "platform", &unjudged(report));
        gfx_line(&mut text, report);
        return text;
    };
    line(
        &mut text,
        "holds",
        &format!(
            "{}, {} unpacked",
            counted(libraries, "ELF file"),
            size(unpacked)
        ),
    );
    let claimed = report.name.platform.tags().join(", ");
    line(&mut text, "claims", &claimed);
    let unjudged = report.unjudged_tags();
    if !unjudged.is_empty() {
        let verb = if unjudged.len() == 1 { "is" } else { "are" };
        line(
            &mut text,
            "",
            &format!("{} {verb} not judged", unjudged.join(", ")),
        );
    }
    line(&mut text, "platform", &verdict.overall.tag());
    line(&mut text, "symbols", &symbols(report));
    if verdict.symbols != verdict.own_symbols {
        let with_libraries = format!(
            "{} with the libraries of this machine that it needs",
            verdict.symbols.tag()
        );
        line(&mut text, "", &with_libraries);
    }
    if let Some(next) = audit::obstacles(&report.files, verdict) {
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
    let external = verdict.references.first().map(|one| &one.libraries);
    for (number, (name, found)) in external.into_iter().flatten().enumerate() {
        let place = match found {
            Found::Machine(machine) => format!("{name} => {}", machine.real_path),
            _ => format!("{name}, not found here"),
        };
        line(&mut text, if number == 0 { "needs" } else { "" }, &place);
    }
    gfx_line(&mut text, report);
    let rocm: Vec<String> = report
        .rocm
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
    if let Some(need) = &report.torch {
        line(
            &mut text,
            "torch",
            &format!("{need}, by the symbols that it needs"),
        );
    }
    text
}

/// The platform of a wheel of which no library was judged.
fn unjudged(report: &Report<'_>) -> String {
    let claims = report.name.platform.tags().join(", ");
    if report.has_unjudged_libraries() {
        "none: no library of it can be judged".to_owned()
    } else if let Some(system) = report
        .foreign_system
        .or(report.has_windows_files().then_some("Windows"))
    {
        format!("{claims} by its name: what it holds for {system} is not judged")
    } else {
        format!(
            "{claims}{}: it holds no libraries to judge",
            if report.name.is_any_platform() {
                ""
            } else {
                " by its name"
            }
        )
    }
}

fn gfx_line(text: &mut String, report: &Report<'_>) {
    let gfx = GfxDocument::new(&report.files);
    if !gfx.targets().is_empty() {
        line(text, "gfx", &gfx.targets().join(" "));
    }
}

/// The policy that the wheel's own symbols allow, and the newest version of each prefix.
fn symbols(report: &Report<'_>) -> String {
    let Some(verdict) = &report.verdict else {
        return String::new();
    };
    let mut newest: std::collections::BTreeMap<&str, &str> = std::collections::BTreeMap::new();
    for version in verdict.own_versions.values().flatten() {
        let Some((prefix, _)) = version.split_once('_') else {
            continue;
        };
        let entry = newest.entry(prefix).or_insert(version);
        if crate::audit::numbers(entry) < crate::audit::numbers(version) {
            *entry = version;
        }
    }
    let versions: Vec<&str> = newest.into_values().collect();
    match versions.as_slice() {
        [] => verdict.own_symbols.tag(),
        versions => format!("{}: {}", verdict.own_symbols.tag(), versions.join(", ")),
    }
}

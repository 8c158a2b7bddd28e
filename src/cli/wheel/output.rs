//! Writing a changed wheel beside the old one or elsewhere.

use std::path::{Path, PathBuf};

use super::bar::{Bar, Watchers};
use super::{Format, Printing, fail, report};
use crate::audit::WheelFile;
use crate::cli::{Exit, Shell};
use crate::codes::wheel as codes;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::sys::{self, OnExisting, WriteOutcome};
use crate::wheel::{self, DosTime, LabelCheck, RenamePlan, RewriteOptions, Wheel, WheelRewriter};

/// Where the new wheel goes.
#[derive(Debug, clap::Args)]
pub(super) struct Destination {
    /// Write into this folder [default: that of the wheel]
    #[arg(short, long, value_name = "DIR")]
    wheel_dir: Option<PathBuf>,
    /// Replace a file of the new name that has other content
    #[arg(long)]
    force: bool,
}

/// Opens a wheel, decides what changes, writes the new wheel and says where it is. A wheel with
/// faults that installers refuse and that stay is refused; `label` says whether the label is among
/// what changes.
pub(super) fn change(
    path: &Path,
    destination: &Destination,
    printing: &Printing,
    shell: &Shell,
    label: LabelCheck,
    decide: impl FnOnce(&Wheel<'_>, &WheelFile) -> Result<RenamePlan<'static>, Diagnostic>,
) -> Exit {
    let written = || {
        let input = WheelFile::open(path)?;
        let opened =
            Wheel::open(&input.file).map_err(|error| error.diagnostic(&input.file_name))?;
        check_copied(&opened, &input, label)?;
        let change = decide(&opened, &input)?;
        let (out, saved) = save(path, &opened, &change, destination, shell)?;
        Ok::<_, Diagnostics>((out, saved, change))
    };
    match written() {
        Ok((out, saved, change)) => tell(path, &out, saved, change, printing, shell),
        Err(errors) => fail(shell, &errors),
    }
}

/// Checks that the wheel has nothing that installers refuse and that the new one would have again.
pub(super) fn check_copied(
    opened: &Wheel<'_>,
    input: &WheelFile,
    label: LabelCheck,
) -> Result<(), Diagnostics> {
    Diagnostics::check(wheel::persistent_errors(
        opened.headers(),
        &input.name,
        label,
    ))
}

/// Says where the changed wheel is, and what a person should know of it.
pub(super) fn tell(
    path: &Path,
    out: &Path,
    saved: WriteOutcome,
    change: RenamePlan<'_>,
    printing: &Printing,
    shell: &Shell,
) -> Exit {
    let warned = report(shell, change.findings);
    // What is written is told by its path alone.
    if saved != WriteOutcome::Written {
        shell.say(&format!("is there already: {}", out.display()));
    }
    let printed = match printing.format() {
        Format::Human => format!("{}\n", out.display()),
        Format::Json => {
            let document = serde_json::json!({
                "version": 1,
                "input": path.display().to_string(),
                "wheel": out.display().to_string(),
                "label": change.name.label().map(|label| label.to_string()),
                "tags": change.name.expanded_tags(),
                "written": saved == WriteOutcome::Written,
            });
            format!("{document}\n")
        }
    };
    match shell.print(&printed) {
        Exit::Done => warned,
        exit => exit,
    }
}

/// Writes a changed wheel, as a whole or not at all.
///
/// # Errors
/// When it would take the place of another file, or cannot be made or written.
pub(super) fn save(
    path: &Path,
    opened: &Wheel<'_>,
    change: &RenamePlan<'_>,
    destination: &Destination,
    shell: &Shell,
) -> Result<(PathBuf, WriteOutcome), Diagnostic> {
    let time = source_date(shell.environment.get("SOURCE_DATE_EPOCH"))?;
    let folder = destination
        .wheel_dir
        .as_deref()
        .or_else(|| path.parent())
        .unwrap_or(Path::new(""));
    let out = folder.join(change.name.to_string());
    if out == path || sys::is_same_file(path, &out) {
        if change.edits.is_empty() && !opened.archive().needs_rewriting() {
            return Ok((out, WriteOutcome::Unchanged));
        }
        let message = format!(
            "the result would replace the wheel it is made from, `{}`",
            path.display()
        );
        return Err(Diagnostic::new(&codes::OUTPUT_IS_INPUT, message)
            .help("give another folder with `-w DIR`"));
    }
    let existing = if destination.force {
        OnExisting::Replace
    } else {
        OnExisting::Keep
    };
    let options = RewriteOptions {
        time,
        ..RewriteOptions::default()
    };
    let shown = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let bar = Bar::new(Watchers::of(shell), &change.name.to_string());
    let saved = sys::save::<Diagnostic>(&out, existing, |target| {
        let rewriter = WheelRewriter {
            wheel: opened,
            edits: &change.edits,
            options: &options,
        };
        rewriter
            .write(target, &|progress| bar.tell(progress))
            .map(drop)
            .map_err(|error| error.diagnostic(&shown))
    })?;
    if saved == WriteOutcome::Kept {
        let message = format!("`{}` is there and has other content", out.display());
        let place = Location::File(out.display().to_string().into());
        return Err(Diagnostic::new(&codes::OUTPUT_EXISTS, message)
            .at(place, "")
            .help("replace it with `--force`, or write elsewhere with `-w DIR`"));
    }
    Ok((out, saved))
}

/// The time for all members, where the environment gives one.
pub(super) fn source_date(text: Option<&str>) -> Result<Option<DosTime>, Diagnostic> {
    Ok(source_date_s(text)?.map(DosTime::from_epoch_s))
}

/// The same in seconds since 1970-01-01, moved into the range that members of wheels can say.
///
/// # Errors
/// When it is no number.
pub(in crate::cli) fn source_date_s(text: Option<&str>) -> Result<Option<i64>, Diagnostic> {
    text.map(|text| {
        text.parse().map(DosTime::clamp_epoch_s).map_err(|_| {
            let message =
                format!("`SOURCE_DATE_EPOCH` is `{text}`, which is no whole number of seconds");
            Diagnostic::new(&codes::BAD_SOURCE_DATE, message)
                .help("set it to seconds since 1970-01-01, or unset it")
        })
    })
    .transpose()
}

/// Returns the first of the errors of a wheel that cannot be read.
pub(super) fn first(errors: Vec<Diagnostic>) -> Diagnostic {
    errors
        .into_iter()
        .next()
        .unwrap_or_else(|| Diagnostic::new(&codes::DAMAGED_ZIP, "the wheel cannot be read"))
}

//! Writing a changed wheel, into the directory of the input or another one.

use std::path::{Path, PathBuf};

use super::{Format, OutputFormat, fail, report};
use crate::audit::{ProgressReporter as _, WheelFile};
use crate::cli::reporters::WheelReporter;
use crate::cli::{Exit, Shell};
use crate::codes::wheel as codes;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::sys::{self, OnExisting, WriteOutcome};
use crate::wheel::{
    self, DosTime, LabelCheck, RenamePlan, RewriteOptions, Wheel, WheelRewriter, parse_source_date,
};

// The directory of the new wheel.
#[derive(Debug, clap::Args)]
pub(super) struct OutputFolder {
    /// Directory for the new wheel [default: that of the input]
    #[arg(
        short = 'o',
        long,
        value_name = "DIR",
        short_alias = 'w',
        alias = "wheel-dir"
    )]
    out: Option<PathBuf>,
}

// The directory of the new wheel, and whether a file in it may be replaced.
#[derive(Debug, clap::Args)]
pub(super) struct DestinationArgs {
    #[command(flatten)]
    folder: OutputFolder,
    /// Replace an existing file that has different content
    #[arg(long, aliases = ["force", "overwrite"])]
    replace: bool,
}

impl DestinationArgs {
    pub(super) fn destination(&self) -> Destination<'_> {
        Destination {
            folder: &self.folder,
            overwrite: self.replace,
        }
    }
}

/// The destination of the new wheel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Destination<'a> {
    pub(super) folder: &'a OutputFolder,
    /// Whether an existing file with different content is replaced.
    pub(super) overwrite: bool,
}

/// Opens a wheel, plans a change with `decide`, writes the new wheel and prints its path.
///
/// Fails if the wheel has errors that installers refuse and that the change keeps; `label` states
/// how its label is checked.
pub(super) fn change(
    path: &Path,
    destination: Destination<'_>,
    format: &OutputFormat,
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
        Ok((out, saved, change)) => tell(path, &out, saved, change, format, shell),
        Err(errors) => fail(shell, &errors),
    }
}

/// Checks that the wheel has no errors that installers refuse and that the new one would keep.
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

/// Prints the path of the changed wheel, and reports its findings.
pub(super) fn tell(
    path: &Path,
    out: &Path,
    saved: WriteOutcome,
    change: RenamePlan<'_>,
    format: &OutputFormat,
    shell: &Shell,
) -> Exit {
    let warned = report(shell, change.findings);
    if saved != WriteOutcome::Written {
        shell.say(&format!("already up to date: {}", out.display()));
    }
    let printed = match format.get() {
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

/// Writes a changed wheel atomically.
///
/// # Errors
/// Returns an error if it would replace its input or another file, or cannot be written.
pub(super) fn save(
    path: &Path,
    opened: &Wheel<'_>,
    change: &RenamePlan<'_>,
    destination: Destination<'_>,
    shell: &Shell,
) -> Result<(PathBuf, WriteOutcome), Diagnostic> {
    let time = source_date(shell.environment.get("SOURCE_DATE_EPOCH"))?;
    let folder = destination
        .folder
        .out
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
            .help("choose another directory with `--out DIR`"));
    }
    let existing = if destination.overwrite {
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
    let reporter = WheelReporter::new(shell);
    let on_progress = reporter.start(&change.name.to_string());
    let saved = sys::save::<Diagnostic>(&out, existing, |target| {
        let rewriter = WheelRewriter {
            wheel: opened,
            edits: &change.edits,
            options: &options,
        };
        rewriter
            .write(target, &*on_progress)
            .map(drop)
            .map_err(|error| error.diagnostic(&shown))
    })?;
    if saved == WriteOutcome::Kept {
        let message = format!("`{}` exists with different content", out.display());
        let place = Location::File(out.display().to_string().into());
        return Err(Diagnostic::new(&codes::OUTPUT_EXISTS, message)
            .at(place, "")
            .help("replace it with `--replace`, or choose another directory with `--out DIR`"));
    }
    Ok((out, saved))
}

/// Parses `SOURCE_DATE_EPOCH`, the time of all members.
pub(super) fn source_date(text: Option<&str>) -> Result<Option<DosTime>, Diagnostic> {
    let time_s = text.map(parse_source_date).transpose()?;
    Ok(time_s.map(DosTime::from_epoch_s))
}

/// Returns the first error of a wheel that cannot be read.
pub(super) fn first(errors: Vec<Diagnostic>) -> Diagnostic {
    errors
        .into_iter()
        .next()
        .unwrap_or_else(|| Diagnostic::new(&codes::DAMAGED_ZIP, "the wheel cannot be read"))
}

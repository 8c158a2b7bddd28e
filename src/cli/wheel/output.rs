//! Writing a changed wheel beside the old one or elsewhere.

use std::path::{Path, PathBuf};

use super::{Format, Printing, WheelFile, report};
use crate::cli::{Exit, Shell};
use crate::diagnostic::registry::wheel as codes;
use crate::diagnostic::{Diagnostic, Place};
use crate::sys::{self, Existing, Saved};
use crate::wheel::{self, Change, DosTime, Wheel, WriteOptions};

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

/// Opens a wheel, decides what changes, writes the new wheel and says where it is.
pub(super) fn change(
    path: &Path,
    destination: &Destination,
    printing: &Printing,
    shell: &Shell,
    decide: impl FnOnce(&Wheel<'_>, &WheelFile) -> Result<Change, Diagnostic>,
) -> Exit {
    let done = write(path, destination, shell, decide);
    let (out, saved, change) = match done {
        Ok(done) => done,
        Err(fault) => return report(shell, &[fault]),
    };
    let warned = report(shell, &change.findings);
    // What is written is told by its path alone.
    if saved != Saved::Written {
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
                "written": saved == Saved::Written,
            });
            format!("{document}\n")
        }
    };
    match shell.print(&printed) {
        Exit::Done => warned,
        exit => exit,
    }
}

fn write(
    path: &Path,
    destination: &Destination,
    shell: &Shell,
    decide: impl FnOnce(&Wheel<'_>, &WheelFile) -> Result<Change, Diagnostic>,
) -> Result<(PathBuf, Saved, Change), Diagnostic> {
    let time = source_date(shell.environment.get("SOURCE_DATE_EPOCH"))?;
    let input = super::open(path)?;
    let opened = Wheel::open(&input.file).map_err(|error| error.diagnostic(&input.shown))?;
    let change = decide(&opened, &input)?;
    let folder = destination.wheel_dir.as_deref().or_else(|| path.parent()).unwrap_or(Path::new(""));
    let out = folder.join(change.name.to_string());
    if out == path || sys::is_same_file(path, &out) {
        if change.edits.is_empty() {
            return Ok((out, Saved::Same, change));
        }
        let message = format!("the result would replace the wheel it is made from, `{}`", path.display());
        return Err(Diagnostic::new(&codes::OUTPUT_IS_INPUT, message).help("give another folder with `-w DIR`"));
    }
    let existing = if destination.force { Existing::Replace } else { Existing::Keep };
    let options = WriteOptions { time, ..WriteOptions::default() };
    let saved = sys::save::<Diagnostic>(&out, existing, |target| {
        wheel::rewrite(&opened, &change.edits, &options, target)
            .map(drop)
            .map_err(|error| error.diagnostic(&input.shown))
    })?;
    if saved == Saved::Kept {
        let message = format!("`{}` is there and has other content", out.display());
        let place = Place::File(out.display().to_string().into());
        return Err(Diagnostic::new(&codes::OUTPUT_EXISTS, message)
            .at(place, "")
            .help("replace it with `--force`, or write elsewhere with `-w DIR`"));
    }
    Ok((out, saved, change))
}

/// The time for all members, where the environment gives one.
pub(super) fn source_date(text: Option<&str>) -> Result<Option<DosTime>, Diagnostic> {
    text.map(|text| {
        text.parse().map(DosTime::from_epoch_s).map_err(|_| {
            let message = format!("`SOURCE_DATE_EPOCH` is `{text}`, which is no whole number of seconds");
            Diagnostic::new(&codes::BAD_SOURCE_DATE, message).help("set it to seconds since 1970-01-01, or unset it")
        })
    })
    .transpose()
}

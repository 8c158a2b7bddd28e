//! `wheel label`: set or remove the local version label.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::error::ErrorKind;

use super::OutputFormat;
use super::output::{self, OutputArgs, first};
use crate::audit::{Inspection, check_under_name};
use crate::cli::{Exit, Shell, load, misused};
use crate::codes::rocm as codes;
use crate::diagnostic::{Diagnostic, Severity, shell_line};
use crate::names::{LocalLabel, NewLabelError, has_wheel_extension, parse_new_label};
use crate::sys;
use crate::wheel::{ExistingLabel, LabelCheck, Wheel, ZipMember, relabel, remove_label};

/// Set the local version label of wheels, in their filenames and metadata
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix wheel label [OPTIONS] <WHEEL|DIR>... <LABEL>\n       \
        rock-matrix wheel label [OPTIONS] --local <LABEL> <WHEEL|DIR>...\n       \
        rock-matrix wheel label [OPTIONS] --remove <WHEEL|DIR>...",
    after_long_help = "\
A label has letters and digits, in segments separated by dots. ROCm versions are read with dots
(rocm7.1) and without them (rocm71). Prefer dots: rocm714 may be ROCm 7.14 or 7.1.4.

The input is not modified: the new wheel is written under its new name, and its path is printed.
Compressed members are copied without recompressing them. SOURCE_DATE_EPOCH sets the time of all
members. --json prints one document for each wheel, on one line.

Examples:
  rock-matrix wheel label built.whl rocm7.1torch2.9                   next to built.whl
  rock-matrix wheel label built.whl rocm7.1torch2.9 --replace         change the label
  rock-matrix wheel label built.whl gfx942 --append                   extend the label
  rock-matrix wheel label built.whl --remove                          remove the label
  rock-matrix wheel label dist/*.whl rocm7.1 --out wheelhouse         several wheels
  rock-matrix wheel label dist rocm7.1 --out wheelhouse               all wheels in a directory
  rock-matrix wheel label built.whl rocm7.1 --check-label             fail if contradicted"
)]
pub(super) struct Args {
    /// Wheels to label, or directories with wheels, then the label; the files are not modified
    ///
    /// With --local or --remove, there is no label after the wheels.
    #[arg(
        value_name = "WHEEL|DIR|LABEL",
        required = true,
        // Unlike that of paths, this parser accepts the empty label, which has its own error.
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    words: Vec<PathBuf>,
    /// Label to set, instead of the last argument
    #[arg(
        long,
        value_name = "LABEL",
        alias = "label",
        value_parser = parse_new_label,
        hide_short_help = true
    )]
    local: Option<LocalLabel>,
    /// Replace a different label of the wheel, and an existing file that has different content
    ///
    /// With --append, only an existing file is replaced.
    #[arg(long, aliases = ["force", "overwrite"])]
    replace: bool,
    /// Append to the label of the wheel
    #[arg(long)]
    append: bool,
    /// Remove the label of the wheel
    #[arg(long, conflicts_with_all = ["local", "append", "check_label"])]
    remove: bool,
    /// Fail if the libraries or GPU code of the wheel contradict the label
    ///
    /// Without this option, the libraries of wheels with up to 16 MiB of files are compared with
    /// the label, and contradictions are warnings.
    #[arg(long)]
    check_label: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    format: OutputFormat,
}

impl Args {
    /// Returns the wheels and the label, which is the last argument unless `--local` sets it;
    /// `None` to remove the label.
    ///
    /// # Errors
    /// The exit code of the command, after reporting that there is no label or that it is invalid.
    fn wheels_and_label(&self, shell: &Shell) -> Result<(&[PathBuf], Option<LocalLabel>), Exit> {
        let (last, wheels) = self.words.split_last().expect("clap requires an argument");
        let text = last.to_string_lossy();
        if self.remove || self.local.is_some() {
            if !sys::exists(last) && !has_wheel_extension(&text) && is_label(&text) {
                let option = if self.remove { "--remove" } else { "--local" };
                let text = format!(
                    "the label `{text}` cannot be used with '{option}': leave out one of them"
                );
                return Err(misused(
                    &["wheel", "label"],
                    ErrorKind::ArgumentConflict,
                    &text,
                ));
            }
            return Ok((&self.words, self.local.clone()));
        }
        let missing = |text: &str| {
            misused(
                &["wheel", "label"],
                ErrorKind::MissingRequiredArgument,
                text,
            )
        };
        if let Some(error) = self.label_first_error(&shell.arguments) {
            return Err(missing(&error));
        }
        if wheels.is_empty() || has_wheel_extension(&text) || sys::is_directory(last) {
            return Err(missing(
                "the following required arguments were not provided:\n  <LABEL>",
            ));
        }
        let label = parse_new_label(&text).map_err(|error| {
            let text = if text.is_empty() {
                "the label is empty: use `--remove` to remove the label of the wheels".to_owned()
            } else {
                format!("invalid value '{text}' for '<LABEL>': {error}")
            };
            misused(&["wheel", "label"], ErrorKind::ValueValidation, &text)
        })?;
        Ok((wheels, Some(label)))
    }

    /// Returns the error that the label is before the wheels, with the corrected command line,
    /// which keeps all options; `None` if the first argument is not a label, or the last one
    /// neither a wheel nor a directory. `arguments` begins with the program.
    fn label_first_error(&self, arguments: &[OsString]) -> Option<String> {
        let (label, wheels) = self.words.split_first()?;
        let last = wheels.last()?;
        let is_wheel = has_wheel_extension(&last.to_string_lossy());
        if !(is_wheel || sys::is_directory(last)) || sys::exists(label) {
            return None;
        }
        let text = label.to_str()?;
        if has_wheel_extension(text) || !is_label(text) {
            return None;
        }
        let mut words: Vec<&OsStr> = vec![OsStr::new("rock-matrix")];
        words.extend(arguments.iter().skip(1).map(OsString::as_os_str));
        let from = words.iter().position(|word| *word == label.as_os_str())?;
        let label = words.remove(from);
        let to = words.iter().rposition(|word| *word == last.as_os_str())?;
        words.insert(to + 1, label);
        Some(format!(
            "the label comes after the wheels: `{}`",
            shell_line(words)
        ))
    }
}

/// Whether a text is a label, possibly without a readable ROCm version.
fn is_label(text: &str) -> bool {
    !matches!(parse_new_label(text), Err(NewLabelError::Invalid(_)))
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let existing = match (args.append, args.replace) {
        (true, _) => ExistingLabel::Append,
        (false, true) => ExistingLabel::Replace,
        (false, false) => ExistingLabel::Refuse,
    };
    let (wheels, label) = match args.wheels_and_label(shell) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    output::rename_each(
        wheels,
        args.output.destination(args.replace),
        &args.format,
        shell,
        LabelCheck::Ignore,
        |wheel, file| {
            let changed = match &label {
                Some(label) => relabel(wheel, &file.name, label, existing),
                None => remove_label(wheel, &file.name),
            };
            changed.map_err(|error| error.diagnostic(&file.file_name).into())
        },
        |mut changed, wheel, file| {
            let check =
                |inspection| check_under_name(&changed.name, &file.file, inspection, compat);
            let mut refused = Vec::new();
            if args.check_label {
                let found =
                    check(Inspection::GPU_TABLES).map_err(|error| first(error.diagnostics()))?;
                refused.extend(found.into_iter().filter(contradicts_label));
            } else if label.is_some() && is_small(wheel) {
                // Libraries that cannot be read do not contradict the label.
                let found = check(Inspection::LIBRARIES).unwrap_or_default().into_iter();
                let warnings = found
                    .filter(contradicts_label)
                    .map(|finding| finding.severity(Severity::Warning));
                changed.findings.extend(warnings);
            }
            output::unless_refused(changed, refused, wheel, file)
        },
    )
}

/// Maximum unpacked size of a wheel whose libraries are compared with the label in any case: reading
/// larger ones would take longer than labelling the wheel.
const SMALL_WHEEL_BYTES: u64 = 16 << 20;

fn is_small(wheel: &Wheel<'_>) -> bool {
    let members = wheel.archive().members().iter();
    members.map(ZipMember::size_bytes).sum::<u64>() <= SMALL_WHEEL_BYTES
}

fn contradicts_label(finding: &Diagnostic) -> bool {
    finding.is_error() && finding.code == &codes::NAME_NOT_IN_CONTENTS
}

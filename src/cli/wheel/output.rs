//! Writing changed wheels, into the directories of the inputs or another one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Format, OutputFormat, fail, report};
use crate::audit::{ProgressReporter as _, WheelFile, find_wheels};
use crate::bytes::ByteSink;
use crate::cli::reporters::WheelReporter;
use crate::cli::{Exit, Shell, output_path};
use crate::codes::wheel as codes;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::names::WheelName;
use crate::sys::{self, OnExisting, WriteOutcome};
use crate::wheel::{
    self, DosTime, LabelCheck, RenamePlan, RewriteOptions, Wheel, WheelRewriter, parse_source_date,
};

// The directory of the new wheels, and whether they are written.
#[derive(Debug, clap::Args)]
pub(super) struct OutputArgs {
    /// Directory for the new wheels [default: that of the input]
    #[arg(
        short = 'o',
        long,
        value_name = "DIR",
        short_alias = 'w',
        alias = "wheel-dir",
        value_parser = output_path::several_files()
    )]
    out: Option<PathBuf>,
    /// Print the paths of the new wheels without writing anything
    #[arg(short = 'n', long)]
    dry_run: bool,
}

impl OutputArgs {
    /// Returns the destination of the new wheels, where existing files with different content may
    /// be replaced.
    pub(super) fn destination(&self, overwrite: bool) -> Destination<'_> {
        Destination {
            folder: self.out.as_deref(),
            overwrite,
            is_dry_run: self.dry_run,
        }
    }
}

// The destination of the new wheels, and whether files in it may be replaced.
#[derive(Debug, clap::Args)]
pub(super) struct DestinationArgs {
    #[command(flatten)]
    output: OutputArgs,
    /// Replace an existing file that has different content
    #[arg(long, aliases = ["force", "overwrite"])]
    replace: bool,
}

impl DestinationArgs {
    pub(super) fn destination(&self) -> Destination<'_> {
        self.output.destination(self.replace)
    }
}

/// The destination of the new wheels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Destination<'a> {
    /// The directory; `None` for that of each input.
    folder: Option<&'a Path>,
    /// Whether an existing file with different content is replaced.
    overwrite: bool,
    /// Whether nothing is written.
    is_dry_run: bool,
}

/// A changed wheel in its destination.
#[derive(Debug)]
pub(super) struct ChangedWheel {
    path: PathBuf,
    name: WheelName,
    outcome: WriteOutcome,
    findings: Vec<Diagnostic>,
}

/// Returns the wheels and those in directories, each once, and the errors of [`find_wheels`].
pub(super) fn distinct_wheels(wheels: &[PathBuf]) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let (found, errors) = find_wheels(wheels);
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in found {
        if !paths.iter().any(|earlier| is_same_path(earlier, &path)) {
            paths.push(path);
        }
    }
    (paths, errors)
}

/// Whether two paths, whose files need not exist, have the same filename in the same directory.
fn is_same_path(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    if one.file_name() != other.file_name() {
        return false;
    }
    let (one, other) = (folder(one), folder(other));
    one == other || sys::is_same_file(&one, &other)
}

/// Returns the path of a result: in `folder`, or in the directory of its input.
fn result_path(input: &Path, folder: Option<&Path>, name: &WheelName) -> PathBuf {
    let folder = folder.or_else(|| input.parent());
    folder.unwrap_or(Path::new("")).join(name.to_string())
}

/// Returns an error for each wheel whose result would have the path of another one's, by the path of
/// the wheel. `name` returns the name of a result. Results that are their inputs are left out.
pub(super) fn shared_results(
    wheels: &[PathBuf],
    folder: Option<&Path>,
    name: impl Fn(&Path) -> Option<WheelName>,
) -> BTreeMap<PathBuf, Diagnostic> {
    if wheels.len() < 2 {
        return BTreeMap::new();
    }
    let results: Vec<(&PathBuf, PathBuf)> = wheels
        .iter()
        .filter_map(|wheel| Some((wheel, result_path(wheel, folder, &name(wheel)?))))
        .filter(|(wheel, result)| !is_same_path(wheel, result))
        .collect();
    let mut errors = BTreeMap::new();
    for (wheel, result) in &results {
        let other = results
            .iter()
            .find(|(other, shared)| other != wheel && is_same_path(shared, result));
        if let Some((other, _)) = other {
            let message = format!(
                "`{}` would also be the result of `{}`",
                result.display(),
                other.display()
            );
            let error = Diagnostic::new(&codes::OUTPUT_EXISTS, message)
                .at(Location::File(wheel.display().to_string().into()), "")
                .help("change this wheel on its own, with another `--out DIR`");
            errors.insert((*wheel).clone(), error);
        }
    }
    errors
}

/// Changes wheels, and those in directories, with `change`, and prints the paths of the new wheels.
/// Wheels that `shared` returns an error for are not changed. Returns the exit code of the most
/// severe error.
pub(super) fn change_each(
    wheels: &[PathBuf],
    destination: Destination<'_>,
    format: &OutputFormat,
    shell: &Shell,
    shared: impl FnOnce(&[PathBuf]) -> BTreeMap<PathBuf, Diagnostic>,
    mut change: impl FnMut(&Path, &mut WheelWriter<'_>) -> Result<ChangedWheel, Diagnostics>,
) -> Exit {
    let time = match source_date(shell.environment.get("SOURCE_DATE_EPOCH")) {
        Ok(time) => time,
        Err(error) => return fail(shell, &error.into()),
    };
    let (paths, errors) = distinct_wheels(wheels);
    let mut shared = shared(&paths);
    let mut writer = WheelWriter {
        destination,
        time,
        shell,
        protected: paths.clone(),
    };
    let mut exit = report(shell, errors);
    for path in &paths {
        let result = match shared.remove(path) {
            Some(error) => Err(error.into()),
            None => change(path, &mut writer),
        };
        let next = match result {
            Ok(mut changed) => {
                let warned = report(shell, std::mem::take(&mut changed.findings));
                let printed = print(path, &changed, destination.is_dry_run, format, shell);
                if let exit @ (Exit::Machine | Exit::Fault) = printed {
                    return exit;
                }
                warned
            }
            Err(errors) => fail(shell, &errors),
        };
        exit = std::cmp::max_by_key(exit, next, |exit| exit.code());
    }
    exit
}

/// Renames wheels, and those in directories: opens each, plans its change with `plan`, checks it
/// with `check`, writes the new wheel and prints its path.
///
/// Fails if a wheel has errors that installers refuse and that the change keeps; `label` states how
/// its label is checked.
pub(super) fn rename_each(
    wheels: &[PathBuf],
    destination: Destination<'_>,
    format: &OutputFormat,
    shell: &Shell,
    label: LabelCheck,
    plan: impl Fn(&Wheel<'_>, &WheelFile) -> Result<RenamePlan<'static>, Diagnostics>,
    check: impl Fn(
        RenamePlan<'static>,
        &Wheel<'_>,
        &WheelFile,
    ) -> Result<RenamePlan<'static>, Diagnostics>,
) -> Exit {
    // Errors are reported when the wheel is changed.
    let name = |path: &Path| {
        let input = WheelFile::open(path).ok()?;
        let opened = Wheel::open(&input.file).ok()?;
        Some(plan(&opened, &input).ok()?.name)
    };
    let shared = |paths: &[PathBuf]| shared_results(paths, destination.folder, name);
    change_each(
        wheels,
        destination,
        format,
        shell,
        shared,
        |path, writer| {
            let input = WheelFile::open(path)?;
            let opened =
                Wheel::open(&input.file).map_err(|error| error.diagnostic(&input.file_name))?;
            check_copied(&opened, &input, label)?;
            let change = check(plan(&opened, &input)?, &opened, &input)?;
            writer
                .save(path, &opened, change)
                .map_err(Diagnostics::from)
        },
    )
}

/// Returns a change, or the errors with which it is refused: the given ones, and rows of RECORD
/// without a hash, which writing the wheel would report next.
pub(super) fn unless_refused(
    change: RenamePlan<'static>,
    mut refused: Vec<Diagnostic>,
    opened: &Wheel<'_>,
    input: &WheelFile,
) -> Result<RenamePlan<'static>, Diagnostics> {
    if refused.is_empty() {
        return Ok(change);
    }
    let rewriter = WheelRewriter {
        wheel: opened,
        edits: &change.edits,
        options: &RewriteOptions::default(),
    };
    let weak_hashes = rewriter.weak_hash_error();
    refused.extend(weak_hashes.map(|error| error.diagnostic(&input.file_name)));
    Err(refused.into())
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

/// Prints the path of a changed wheel.
fn print(
    input: &Path,
    changed: &ChangedWheel,
    is_dry_run: bool,
    format: &OutputFormat,
    shell: &Shell,
) -> Exit {
    let is_new = changed.outcome == WriteOutcome::Written;
    let path = changed.path.display();
    if !is_new {
        shell.say(&format!("already up to date: {path}"));
    }
    let verb = if is_new && is_dry_run { "write  " } else { "" };
    shell.print(&match format.get() {
        Format::Human => format!("{verb}{path}\n"),
        Format::Json => {
            let document = serde_json::json!({
                "version": 1,
                "input": input.display().to_string(),
                "wheel": path.to_string(),
                "label": changed.name.label().map(|label| label.to_string()),
                "tags": changed.name.expanded_tags(),
                "written": is_new && !is_dry_run,
            });
            format!("{document}\n")
        }
    })
}

/// Writes the wheels of a run.
pub(super) struct WheelWriter<'a> {
    destination: Destination<'a>,
    /// The time of all members.
    time: Option<DosTime>,
    shell: &'a Shell,
    /// The inputs and results of this run, which are never replaced.
    protected: Vec<PathBuf>,
}

impl WheelWriter<'_> {
    /// Writes a changed wheel atomically. A dry run only compares it with an existing file.
    ///
    /// # Errors
    /// Returns an error if it would replace an input, a result for another wheel or, unless
    /// permitted, another file, or if it cannot be written.
    pub(super) fn save(
        &mut self,
        path: &Path,
        opened: &Wheel<'_>,
        change: RenamePlan<'_>,
    ) -> Result<ChangedWheel, Diagnostic> {
        let out = result_path(path, self.destination.folder, &change.name);
        let outcome = if out == path || sys::is_same_file(path, &out) {
            if !change.edits.is_empty() || opened.archive().needs_rewriting() {
                return Err(replaces_input(path));
            }
            WriteOutcome::Unchanged
        } else {
            self.write(path, &out, opened, &change)?
        };
        if outcome == WriteOutcome::Kept {
            return Err(self.conflict(path, &out));
        }
        self.protected.push(out.clone());
        Ok(ChangedWheel {
            path: out,
            name: change.name,
            outcome,
            findings: change.findings,
        })
    }

    fn write(
        &self,
        path: &Path,
        out: &Path,
        opened: &Wheel<'_>,
        change: &RenamePlan<'_>,
    ) -> Result<WriteOutcome, Diagnostic> {
        let is_dry_run = self.destination.is_dry_run;
        let is_protected = self.is_protected(out);
        // Results of a dry run are not there to be compared.
        if is_dry_run && is_protected && !sys::exists(out) {
            return Ok(WriteOutcome::Kept);
        }
        let existing = if self.destination.overwrite && !is_protected {
            OnExisting::Replace
        } else {
            OnExisting::Keep
        };
        let options = RewriteOptions {
            time: self.time,
            ..RewriteOptions::default()
        };
        let shown = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let reporter = WheelReporter::new(self.shell);
        let on_progress = reporter.start(&change.name.to_string());
        let write = |target: &mut dyn ByteSink| {
            let rewriter = WheelRewriter {
                wheel: opened,
                edits: &change.edits,
                options: &options,
            };
            rewriter
                .write(target, &*on_progress)
                .map(drop)
                .map_err(|error| error.diagnostic(&shown))
        };
        if is_dry_run {
            sys::preview_save(out, existing, write)
        } else {
            sys::save(out, existing, write)
        }
    }

    /// Whether this is an input or a result of this run, by any path.
    fn is_protected(&self, path: &Path) -> bool {
        let mut protected = self.protected.iter();
        protected.any(|protected| protected == path || sys::is_same_file(protected, path))
    }

    /// Returns the error that a file with different content exists.
    fn conflict(&self, path: &Path, out: &Path) -> Diagnostic {
        let shown = out.display();
        let (message, file, help) = if self.is_protected(out) {
            (
                format!("the result would replace `{shown}`, another wheel of this run"),
                path,
                "change this wheel on its own, with another `--out DIR`",
            )
        } else {
            (
                format!("`{shown}` exists with different content"),
                out,
                "replace it with `--replace`, or choose another directory with `--out DIR`",
            )
        };
        Diagnostic::new(&codes::OUTPUT_EXISTS, message)
            .at(Location::File(file.display().to_string().into()), "")
            .help(help)
    }
}

/// Returns the error that the result has the name of its input.
fn replaces_input(path: &Path) -> Diagnostic {
    let message = format!(
        "the result would replace the wheel it is made from, `{}`",
        path.display()
    );
    Diagnostic::new(&codes::OUTPUT_IS_INPUT, message)
        .help("choose another directory with `--out DIR`")
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

//! Input shared by several commands (compatibility data, matrix files, texts), and output of data.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::wheel::fail;
use super::{Exit, Shell, output_path};
use crate::codes::plan as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, Sink, SourceText};
use crate::plan::workspace::{self, DataDirectories, Workspace, WorkspaceOptions};
use crate::plan::{LARGEST_PLAN_BYTES, Plan, PlanInputs};
use crate::sys;

/// Maximum size of files without another limit: logs, reports of machines, lists of runs and
/// results, checksums, rendered files.
pub(super) const MAX_FILE_BYTES: u64 = 64 << 20;

/// Returns the options of this run that select compatibility tables and recipes.
pub(super) fn data_options(shell: &Shell) -> Vec<String> {
    let directories = &shell.directories;
    let options = [
        ("--compat", directories.named_compat()),
        ("--recipes", directories.named_recipes()),
    ];
    options
        .into_iter()
        .filter_map(|(name, directory)| Some([name.to_owned(), directory?.display().to_string()]))
        .flatten()
        .collect()
}

/// Reads a text file, or standard input if the path is `-`.
///
/// # Errors
/// The exit code of the command, after reporting the error.
pub(super) fn source(shell: &Shell, path: &Path) -> Result<SourceText, Exit> {
    workspace::read_text(path, MAX_FILE_BYTES).map_err(|error| shell.report(&[error]))
}

/// Reads a saved plan, of at most [`LARGEST_PLAN_BYTES`], or standard input if the path is `-`.
///
/// # Errors
/// The exit code of the command, after reporting the error.
pub(super) fn plan_source(shell: &Shell, path: &Path) -> Result<SourceText, Exit> {
    workspace::read_text(path, LARGEST_PLAN_BYTES).map_err(|error| shell.report(&[error]))
}

/// Reads a text file, or standard input if the path is `-`. An error goes to the sink.
///
/// # Errors
/// The exit code of the command.
pub(super) fn read_source(path: &Path, sink: &mut Sink) -> Result<SourceText, Exit> {
    read_limited(path, MAX_FILE_BYTES, sink)
}

/// Reads a text file of at most `limit_bytes`, or standard input if the path is `-`. An error goes
/// to the sink.
///
/// # Errors
/// The exit code of the command.
pub(super) fn read_limited(
    path: &Path,
    limit_bytes: u64,
    sink: &mut Sink,
) -> Result<SourceText, Exit> {
    workspace::read_text(path, limit_bytes).map_err(|error| {
        sink.push(error);
        Exit::Fault
    })
}

/// Writes a file atomically, or streams to stdout, also if the path is `-`. A closed pipe is not an error.
pub(super) fn write_output(
    shell: &Shell,
    out: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Exit {
    let Some(path) = output_path::document_file(out, false) else {
        // Escape sequences could control a terminal or a workflow runner.
        if shell.environment.stdout_is_terminal || shell.is_in_actions() {
            let mut text = Vec::new();
            return match write(&mut text) {
                Ok(()) => shell.print(&String::from_utf8_lossy(&text)),
                Err(error) => shell.no_stdout(&error),
            };
        }
        return match sys::write_to_stdout(write) {
            Ok(()) => Exit::Done,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Err(error) => shell.no_stdout(&error),
        };
    };
    match sys::write_streamed(path, write) {
        Ok(()) => {
            shell.say(&format!("wrote {}", path.display()));
            Exit::Done
        }
        Err(error) => {
            shell.report(&[error.into()]);
            Exit::Machine
        }
    }
}

/// Refuses to overwrite an input with the output.
///
/// # Errors
/// The exit code of the command, after reporting the error.
pub(super) fn refuse_overwriting_input<'a>(
    shell: &Shell,
    out: Option<&Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Exit> {
    let Some(out) = out else { return Ok(()) };
    if !inputs
        .into_iter()
        .any(|input| sys::is_same_file(out, input))
    {
        return Ok(());
    }
    let message = format!("`--out {}` would overwrite an input", out.display());
    shell.report(&[Diagnostic::new(&codes::OUT_IS_INPUT, message).help("choose another file")]);
    Err(Exit::Fault)
}

/// Returns the compatibility data: the built-in tables, or those of the user, which replace them
/// (`--compat`) or are merged with them (`matrices/compat`); see [`DataDirectories`].
///
/// # Errors
/// The exit code of the command, after reporting errors in the directory.
pub(super) fn compat(shell: &Shell) -> Result<&'static Compat, Exit> {
    if let Some(compat) = shell.compat.get() {
        return Ok(compat);
    }
    let compat = compat_in(&shell.directories, shell)?;
    Ok(shell.compat.get_or_init(|| compat))
}

/// Returns the compatibility data of these directories, which need not be those of the working
/// directory. Leaked on purpose: exiting is faster than dropping it.
///
/// # Errors
/// The exit code of the command, after reporting errors in the directory.
pub(super) fn compat_in(
    directories: &DataDirectories,
    shell: &Shell,
) -> Result<&'static Compat, Exit> {
    static BUILT_IN: LazyLock<Compat> = LazyLock::new(Compat::embedded);
    let compat: &'static Compat = match directories.load_compat() {
        Ok(None) => &BUILT_IN,
        Ok(Some(compat)) => Box::leak(Box::new(compat)),
        Err(errors) => return Err(fail(shell, &errors)),
    };
    Ok(compat)
}

/// Returns the data that matrix files are read with: these tables, the user's recipes and this
/// machine.
pub(super) fn workspace_options<'c>(shell: &'c Shell, compat: &'c Compat) -> WorkspaceOptions<'c> {
    WorkspaceOptions::new(compat, &shell.directories, &shell.environment)
}

/// Loads these matrix files, or those in `matrices/` if there are none. Errors and warnings go to
/// the sink.
///
/// # Errors
/// The exit code of the command.
pub(super) fn workspace<'c>(
    shell: &'c Shell,
    compat: &'c Compat,
    files: &[PathBuf],
    sink: &mut Sink,
) -> Result<Workspace<'c>, Exit> {
    collected(
        Workspace::load(files, &workspace_options(shell, compat)),
        sink,
    )
}

/// Plans the jobs of matrix files. Errors and warnings go to the sink.
///
/// # Errors
/// The exit code of the command.
pub(super) fn plan(
    workspace: &Workspace<'_>,
    inputs: &PlanInputs,
    sink: &mut Sink,
) -> Result<Plan, Exit> {
    collected(workspace.plan(inputs), sink)
}

/// Drops the warnings about values of axes that no job has: only `check` and `plan` report them, not
/// the commands that use the jobs.
pub(super) fn without_idle_values<T>(
    (value, mut warnings): (T, Vec<Diagnostic>),
) -> (T, Vec<Diagnostic>) {
    warnings.retain(|warning| warning.code.id != codes::VALUE_WITHOUT_JOB.id);
    (value, warnings)
}

/// Moves the warnings about a value, or the errors without one, to the sink.
///
/// # Errors
/// The exit code of the command.
pub(super) fn collected<T>(
    result: Result<(T, Vec<Diagnostic>), Diagnostics>,
    sink: &mut Sink,
) -> Result<T, Exit> {
    let (value, warnings) = result.map_err(|errors| Exit::collect(errors, sink))?;
    sink.extend(warnings);
    Ok(value)
}

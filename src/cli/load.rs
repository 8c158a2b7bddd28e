//! Input shared by several commands (compatibility data, recipes, matrix files), and output of
//! data.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::limits::MAX_FILE_BYTES;
use super::{Exit, Shell};
use crate::codes::{build, plan as codes};
use crate::compat::Compat;
use crate::config::recipe::{self, RecipeDocument, RecipeSet};
use crate::config::{AxisOverrides, GfxSelection, MatrixConfig};
use crate::diagnostic::{Diagnostic, Severity, Sink, SourceText};
use crate::plan::{self, Plan, PlanInputs};
use crate::publish::LARGEST_LISTING_BYTES;
use crate::sys::{self, FileError};

/// Reads a text file, named as the user gave it.
///
/// # Errors
/// The exit code of the command, after reporting the error.
pub(super) fn source(shell: &Shell, path: &Path) -> Result<SourceText, Exit> {
    reported(shell, |sink| read_source(path, sink))
}

/// Reads a saved plan, of at most [`plan::LARGEST_PLAN_BYTES`].
///
/// # Errors
/// The exit code of the command, after reporting the error.
pub(super) fn plan_source(shell: &Shell, path: &Path) -> Result<SourceText, Exit> {
    reported(shell, |sink| {
        read_limited(path, plan::LARGEST_PLAN_BYTES, sink)
    })
}

/// Reads a file and reports why it cannot be read.
///
/// # Errors
/// The exit code of the command, after reporting the error.
pub(super) fn reported(
    shell: &Shell,
    read: impl FnOnce(&mut Sink) -> Result<SourceText, Exit>,
) -> Result<SourceText, Exit> {
    let mut sink = Sink::new();
    read(&mut sink).inspect_err(|_| {
        shell.report(&sink.finish());
    })
}

/// Reads a text file. An error goes to the sink.
///
/// # Errors
/// The exit code of the command.
pub(super) fn read_source(path: &Path, sink: &mut Sink) -> Result<SourceText, Exit> {
    read_limited(path, MAX_FILE_BYTES, sink)
}

/// Reads a text file of limited size. An error goes to the sink.
///
/// # Errors
/// The exit code of the command.
pub(super) fn read_limited(
    path: &Path,
    limit_bytes: u64,
    sink: &mut Sink,
) -> Result<SourceText, Exit> {
    match sys::read_text(path, limit_bytes) {
        Ok(text) => Ok(SourceText::new(path.display().to_string(), text)),
        Err(error) => {
            sink.push(error.into());
            Err(Exit::Fault)
        }
    }
}

/// Reads a text file without a name for messages.
pub(super) fn text(path: &Path) -> Result<String, FileError> {
    sys::read_text(path, MAX_FILE_BYTES)
}

/// Reads a saved listing or a manifest of at most [`LARGEST_LISTING_BYTES`].
pub(super) fn listing_text(path: &Path) -> Result<String, FileError> {
    sys::read_text(path, LARGEST_LISTING_BYTES)
}

/// Writes a file atomically, or streams to stdout. A closed pipe is not an error.
pub(super) fn deliver(
    shell: &Shell,
    out: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Exit {
    let Some(path) = out else {
        // Escape sequences could control a terminal or a workflow runner.
        if shell.environment.stdout_is_terminal || shell.is_in_actions() {
            let mut text = Vec::new();
            return match write(&mut text) {
                Ok(()) => shell.print(&String::from_utf8_lossy(&text)),
                Err(error) => shell.no_stdout(&error),
            };
        }
        let mut stdout = io::BufWriter::with_capacity(1 << 18, io::stdout().lock());
        return match write(&mut stdout).and_then(|()| stdout.flush()) {
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
pub(super) fn spare<'a>(
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

/// Returns the compatibility data: built in, or from `--compat`. Leaked on purpose: exiting is
/// faster than dropping it.
///
/// # Errors
/// The exit code of the command, after reporting errors in the folder.
pub(super) fn compat(shell: &Shell) -> Result<&'static Compat, Exit> {
    static SHIPPED: LazyLock<Compat> = LazyLock::new(Compat::embedded);
    match &shell.folders.compat {
        None => Ok(&SHIPPED),
        Some(folder) => Ok(Box::leak(Box::new(super::facts::read(shell, folder)?))),
    }
}

/// Returns all available recipes: those of `--recipes`, then `more`, and the built-in ones that
/// these do not replace.
///
/// # Errors
/// Fails if the folder cannot be read. Errors in its files go to the sink.
pub(super) fn recipes(
    shell: &Shell,
    more: &[SourceText],
    sink: &mut Sink,
) -> Result<Arc<RecipeSet>, Exit> {
    let (mut documents, mut broken) = (Vec::new(), Vec::new());
    let mut read = |source: &SourceText, sink: &mut Sink| match recipe::from_source(source, sink) {
        Some(document) => documents.push(document),
        None => broken.extend(recipe::name_in(source)),
    };
    if let Some(folder) = &shell.folders.recipes {
        let files = sys::files_with_extension(folder, &["yaml", "yml"])
            .map_err(|error| shell.report(&[error.into()]))?;
        if files.is_empty() {
            let message = format!("there are no recipes in `{}`", folder.display());
            let fault = Diagnostic::new(&build::NO_RECIPES, message);
            return Err(shell.report(&[
                fault.help("give a folder with recipe files, such as matrices/recipes")
            ]));
        }
        for path in files {
            if let Some(source) = super::documents::source(&path, sink) {
                read(&source, sink);
            }
        }
    }
    for source in more {
        read(source, sink);
    }
    Ok(Arc::new(
        RecipeSet::with_shipped(documents).with_broken(broken),
    ))
}

/// A valid matrix file with its recipe.
#[derive(Debug)]
pub(super) struct Matrix {
    /// The matrix file.
    pub(super) config: MatrixConfig,
    /// Its recipe.
    pub(super) recipe: Arc<RecipeDocument>,
}

/// Reads these matrix files, or those in `matrices/` if there are none. Errors in the files go to
/// the sink.
///
/// # Errors
/// Fails if there is no file.
pub(super) fn matrices(
    shell: &Shell,
    compat: &Compat,
    files: &[PathBuf],
    sink: &mut Sink,
) -> Result<Vec<Matrix>, Exit> {
    given(shell, compat, files, &AxisOverrides::default(), sink)
}

/// Reads matrix files like [`matrices`], with values of the command line that replace theirs.
///
/// # Errors
/// Fails if there is no file.
pub(super) fn given(
    shell: &Shell,
    compat: &Compat,
    files: &[PathBuf],
    given: &AxisOverrides,
    sink: &mut Sink,
) -> Result<Vec<Matrix>, Exit> {
    super::documents::documents(shell, compat, files, given, sink)
        .map(|documents| documents.matrices)
}

/// Plans these files, with the targets of this machine for `gfx: [host]`; `None` if there are
/// errors.
pub(super) fn plan(
    shell: &Shell,
    matrices: &[Matrix],
    compat: &Compat,
    options: &PlanInputs,
    sink: &mut Sink,
) -> Option<Plan> {
    let errors = sink.error_count();
    let mut targets = None;
    let mut files = Vec::new();
    for matrix in matrices {
        let mut config = matrix.config.clone();
        if config.gfx == GfxSelection::Host {
            let targets = targets.get_or_insert_with(|| {
                crate::host::gfx_targets(&sys::read_host_facts(
                    &sys::HostRoots::default(),
                    &shell.environment,
                    &[],
                ))
            });
            let targets = if targets.is_empty() {
                let fault = without_gpu(&config);
                let is_error = fault.is_error();
                sink.push(fault);
                if is_error {
                    return None;
                }
                &config.gfx_fallback
            } else {
                &*targets
            };
            (config.families, config.gfx) = (
                targets.iter().map(ToString::to_string).collect(),
                GfxSelection::Targets(targets.clone()),
            );
        }
        files.push((
            config,
            matrix
                .recipe
                .profile(&matrix.config.distribution.normalized()),
        ));
    }
    plan::plan(files, compat, options, sink).filter(|_| sink.error_count() == errors)
}

/// Returns the diagnostic for `gfx: [host]` without a GPU: a warning if the file has a fallback.
fn without_gpu(config: &MatrixConfig) -> Diagnostic {
    let message = "`gfx: [host]` selects this machine's GPUs, and it has none";
    let fault = Diagnostic::new(&codes::HOST_WITHOUT_GPU, message).at(config.places.of("gfx"), "");
    if config.gfx_fallback.is_empty() {
        return fault.help(
            "list the targets, set `gfx-fallback` to the targets to build without a GPU, or build on the machine with the GPU; `rock-matrix doctor` shows the GPUs that it detects",
        );
    }
    let targets: Vec<String> = config
        .gfx_fallback
        .iter()
        .map(ToString::to_string)
        .collect();
    fault
        .severity(Severity::Warning)
        .note(format!("`gfx-fallback` is used: {}", targets.join(", ")))
}

//! Matrix and recipe files from disk, each fault of each file as a diagnostic.

use std::path::{Path, PathBuf};

use super::limits::MAX_DOCUMENT_BYTES;
use super::load::{Matrix, recipes};
use super::{Exit, Shell};
use crate::codes::{host, matrix as codes};
use crate::compat::Compat;
use crate::config::{self, AxisOverrides, HostRocm, Lookups};
use crate::diagnostic::{Diagnostic, Location, Sink, SourceText};
use crate::{sys, yaml};

/// What was read.
#[derive(Debug)]
pub(super) struct Documents {
    /// The matrix files without faults of their own, each with its recipe.
    pub(super) matrices: Vec<Matrix>,
    /// How many files were looked at.
    pub(super) files: usize,
}

/// Reads matrix and recipe files; without any named, the matrix files of `matrices/`. A recipe file
/// among them is checked, and can be named by the matrix files beside it. Every fault of every file
/// goes to the sink.
///
/// # Errors
/// When there is no file to read, after saying so.
pub(super) fn documents(
    shell: &Shell,
    compat: &Compat,
    files: &[PathBuf],
    given: &AxisOverrides,
    sink: &mut Sink,
) -> Result<Documents, Exit> {
    let files = if files.is_empty() {
        default_files(shell)?
    } else {
        without_twins(files)
    };
    let mut given_recipes = Vec::new();
    let mut sources = Vec::new();
    for path in &files {
        let Some(source) = source(path, sink) else {
            continue;
        };
        if is_recipe(&source) {
            given_recipes.push(source);
        } else {
            sources.push(source);
        }
    }
    let recipes = recipes(shell, &given_recipes, sink)?;
    let mut lookups = Lookups::new(compat, recipes.clone());
    lookups.given = given.clone();
    lookups.host_rocm = host_rocm(shell, compat);
    let mut matrices = Vec::new();
    for source in &sources {
        let Some(config) = config::read(source, &lookups, sink) else {
            continue;
        };
        // A recipe that is not there was told of by `config::read`.
        if let Some(recipe) = recipes.known(&config.recipe) {
            matrices.push(Matrix { config, recipe });
        }
    }
    recipes
        .faults()
        .into_iter()
        .for_each(|fault| sink.push(fault));
    Ok(Documents {
        matrices,
        files: files.len(),
    })
}

/// Finds the ROCm of this machine.
fn host_rocm<'c>(shell: &'c Shell, compat: &'c Compat) -> HostRocm<'c> {
    let environment = &shell.environment;
    HostRocm::new(move || {
        let facts = sys::add_hip_version(
            sys::read_host_facts(&sys::HostRoots::default(), environment, &[]),
            environment,
        );
        crate::host::system_rocm(&facts, |hip| compat.rocm_of_hip(hip))
    })
}

/// The matrix file of this text; every fault of it goes to the sink.
///
/// # Errors
/// When the recipes cannot be read, after saying so.
pub(super) fn matrix(
    shell: &Shell,
    compat: &Compat,
    source: &SourceText,
    sink: &mut Sink,
) -> Result<Option<Matrix>, Exit> {
    let recipes = recipes(shell, &[], sink)?;
    let mut lookups = Lookups::new(compat, recipes.clone());
    lookups.host_rocm = host_rocm(shell, compat);
    let config = config::read(source, &lookups, sink);
    recipes
        .faults()
        .into_iter()
        .for_each(|fault| sink.push(fault));
    Ok(config.and_then(|config| {
        let recipe = recipes.known(&config.recipe)?;
        Some(Matrix { config, recipe })
    }))
}

/// The one matrix file that is meant: the one named, or the only one of `matrices/`.
///
/// # Errors
/// When there is none or another number of them, after saying so.
pub(super) fn only_file(shell: &Shell, files: &[PathBuf]) -> Result<PathBuf, Exit> {
    let files = if files.is_empty() {
        default_files(shell)?
    } else {
        without_twins(files)
    };
    match files.as_slice() {
        [one] => Ok(one.clone()),
        _ => {
            let message = format!(
                "this is done with one matrix file, and there are {}",
                files.len()
            );
            let fault = Diagnostic::new(&codes::BAD_ISSUE, message);
            Err(shell.report(&[fault.help("name the matrix file that is meant")]))
        }
    }
}

/// The text of a file; why it has none goes to the sink.
pub(super) fn source(path: &Path, sink: &mut Sink) -> Option<SourceText> {
    let name = path.display().to_string();
    let place = Location::File(name.as_str().into());
    if let Some(kind) = sys::special_file_kind(path) {
        // Reading a pipe waits for whoever writes to it, maybe for ever.
        let message = format!("cannot read `{name}`: it is {kind}, not a file");
        let fault = Diagnostic::new(&host::CANNOT_READ_FILE, message).at(place, "");
        sink.push(fault.help("save what is in it as a file, and name that"));
        return None;
    }
    let bytes = match sys::read_bytes(path, MAX_DOCUMENT_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => {
            let help = if sys::exists(path) {
                "give a YAML file that can be read"
            } else {
                "check the name of the file"
            };
            sink.push(Diagnostic::from(error).at(place, "").help(help));
            return None;
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => Some(SourceText::new(name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
            let message = format!(
                "the file is not UTF-8 text: byte {at} is 0x{:02x}",
                bytes[at]
            );
            // What cannot be read is shown as U+FFFD, which the text has at the same byte.
            let text = SourceText::new(name, String::from_utf8_lossy(bytes).into_owned());
            let place = if utf16 {
                place
            } else {
                text.location(at..at + char::REPLACEMENT_CHARACTER.len_utf8())
            };
            let help = if utf16 {
                "save the file as UTF-8; it looks like UTF-16"
            } else {
                "save the file as UTF-8"
            };
            sink.push(
                Diagnostic::new(&codes::NOT_UTF8, message)
                    .at(place, "")
                    .help(help),
            );
            None
        }
    }
}

/// A recipe has `steps`; one that has lost them has a name still, and no `version` as a matrix file
/// has.
fn is_recipe(source: &SourceText) -> bool {
    yaml::parse(source, &mut Sink::new()).is_some_and(|root| {
        let has = |key: &str| root.get(key).is_some();
        has("steps") || (has("recipe") && has("name") && !has("version") && !has("axes"))
    })
}

fn without_twins(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut seen = std::collections::BTreeSet::new();
    files
        .iter()
        .filter(|path| seen.insert(*path))
        .cloned()
        .collect()
}

fn default_files(shell: &Shell) -> Result<Vec<PathBuf>, Exit> {
    let found = sys::files_with_extension(Path::new(crate::config::MATRICES), &["yaml", "yml"]);
    let fault = match found {
        Ok(files) if !files.is_empty() => return Ok(files),
        Ok(_) => Diagnostic::new(
            &codes::NO_MATRIX_FILE,
            "there is no matrix file in `matrices/`",
        )
        .help("name one, or write a first one with `rock-matrix init`"),
        Err(error) => Diagnostic::from(error).help("name the matrix files"),
    };
    Err(shell.report(&[fault]))
}

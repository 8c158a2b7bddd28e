//! Reads matrix and recipe files, and reports every error in them.

use std::path::{Path, PathBuf};

use super::limits::MAX_DOCUMENT_BYTES;
use super::load::{Matrix, recipes};
use super::{Exit, Shell};
use crate::codes::{host, matrix as codes};
use crate::compat::Compat;
use crate::config::{self, AxisOverrides, HostRocm, Lookups};
use crate::diagnostic::{Diagnostic, Location, Sink, SourceText};
use crate::{sys, yaml};

/// Matrix and recipe files loaded from disk.
#[derive(Debug)]
pub(super) struct Documents {
    /// The valid matrix files, each with its recipe.
    pub(super) matrices: Vec<Matrix>,
    /// The number of files, including invalid ones and recipes.
    pub(super) files: usize,
}

/// Reads matrix and recipe files; by default the matrix files in `matrices/`. A recipe file among
/// them is checked, and the matrix files can use it. All errors go to the sink.
///
/// # Errors
/// When there is no file to read; the reason was reported.
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
        without_duplicates(files)
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
        // `config::read` reported unknown recipes.
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

/// Returns the matrix file in a text. All errors in it go to the sink.
///
/// # Errors
/// When the recipes cannot be read; the reason was reported.
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

/// Returns the only matrix file: the one given, or the only one in `matrices/`.
///
/// # Errors
/// When there is not exactly one; this was reported.
pub(super) fn only_file(shell: &Shell, files: &[PathBuf]) -> Result<PathBuf, Exit> {
    let files = if files.is_empty() {
        default_files(shell)?
    } else {
        without_duplicates(files)
    };
    match files.as_slice() {
        [one] => Ok(one.clone()),
        _ => {
            let message = format!(
                "this requires exactly one matrix file, and there are {}",
                files.len()
            );
            let fault = Diagnostic::new(&codes::BAD_ISSUE, message);
            Err(shell.report(&[fault.help("name one matrix file")]))
        }
    }
}

/// Reads a file. Errors go to the sink.
pub(super) fn source(path: &Path, sink: &mut Sink) -> Option<SourceText> {
    let name = path.display().to_string();
    let place = Location::File(name.as_str().into());
    if let Some(kind) = sys::special_file_kind(path) {
        // Reading a pipe could block forever.
        let message = format!("cannot read `{name}`: it is {kind}, not a file");
        let fault = Diagnostic::new(&host::CANNOT_READ_FILE, message).at(place, "");
        sink.push(fault.help("save its content as a file, and give that"));
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
            // The first invalid byte becomes U+FFFD at the same offset.
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

/// Whether a file is a recipe, and not a matrix file: it has `steps`, or else a name and neither
/// `version` nor `axes`.
fn is_recipe(source: &SourceText) -> bool {
    yaml::parse(source, &mut Sink::new()).is_some_and(|root| {
        let has = |key: &str| root.get(key).is_some();
        has("steps") || (has("recipe") && has("name") && !has("version") && !has("axes"))
    })
}

fn without_duplicates(files: &[PathBuf]) -> Vec<PathBuf> {
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
        .help("name one, or create one with `rock-matrix init`"),
        Err(error) => Diagnostic::from(error).help("name the matrix files"),
    };
    Err(shell.report(&[fault]))
}

//! Reads matrix files, recipes and issues as text.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::MAX_DOCUMENT_BYTES;
use crate::config::MATRICES;
use rock_diagnostic::codes::{host, matrix as codes};
use rock_diagnostic::{Diagnostic, Location, SourceText, shell_quoted};
use rock_names::has_wheel_extension;
use rock_sys as sys;

/// The first bytes of a ZIP archive: the signature of a local file header.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Whether a path on the command line, `-`, means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a UTF-8 file of at most 16 MiB, or standard input if the path is `-`.
///
/// # Errors
/// If the file is missing, special, a wheel, too large or not UTF-8.
pub fn read_document(path: &Path) -> Result<SourceText, Diagnostic> {
    if is_stdin(path) {
        return read_stdin_document(MAX_DOCUMENT_BYTES);
    }
    let name = path.display().to_string();
    let place = Location::File(name.as_str().into());
    if let Some(kind) = sys::special_file_kind(path) {
        // Reading a pipe could block forever.
        let message = format!("cannot read `{name}`: it is {kind}, not a file");
        let error = Diagnostic::new(&host::CANNOT_READ_FILE, message).at(place, "");
        return Err(error.help("save its content as a file, and give that"));
    }
    if sys::is_directory(path) {
        let message = format!("cannot read `{name}`: it is a directory");
        let error = Diagnostic::new(&host::CANNOT_READ_FILE, message).at(place, "");
        if has_only_wheels(path) {
            let quoted = shell_quoted(path);
            return Err(error.help(format!(
                "check the wheels in it with `rock-matrix wheel check {quoted}`"
            )));
        }
        let directory = name.trim_end_matches('/');
        return Err(error.help(format!(
            "name the files in it, such as `{directory}/*.yaml`"
        )));
    }
    if has_wheel_extension(&name) && sys::exists(path) {
        let message = format!("`{name}` is a wheel, not a matrix file");
        let error = Diagnostic::new(&codes::NOT_UTF8, message).at(place, "");
        let quoted = shell_quoted(path);
        return Err(error.help(format!("check it with `rock-matrix wheel check {quoted}`")));
    }
    let bytes = sys::read_bytes(path, MAX_DOCUMENT_BYTES).map_err(|error| {
        let help = if sys::exists(path) {
            "give a YAML file that can be read".to_owned()
        } else if let Some(near) = similar_file(path) {
            format!("did you mean `{}`?", near.display())
        } else {
            "check the name of the file".to_owned()
        };
        Diagnostic::from(error).at(place, "").help(help)
    })?;
    decode(name, bytes)
}

/// Returns the file that a path to no file may stand for: with the extension `.yaml`, in
/// `matrices/`, or both.
fn similar_file(path: &Path) -> Option<PathBuf> {
    let mut with_extension = path.as_os_str().to_owned();
    with_extension.push(".yaml");
    let with_extension = PathBuf::from(with_extension);
    let in_matrices = |path: &Path| Path::new(MATRICES).join(path);
    [
        in_matrices(path),
        in_matrices(with_extension.as_path()),
        with_extension,
    ]
    .into_iter()
    .find(|path| sys::is_file(path))
}

/// Whether a directory has wheels and no YAML files.
pub(super) fn has_only_wheels(directory: &Path) -> bool {
    let has_files = |extensions: &[&str]| {
        sys::files_with_extension(directory, extensions).is_ok_and(|files| !files.is_empty())
    };
    has_files(&["whl"]) && !has_files(&["yaml", "yml"])
}

/// Reads standard input as UTF-8 text.
///
/// # Errors
/// If it cannot be read or was read before, is larger than `limit_bytes` or is not UTF-8.
pub(super) fn read_stdin_document(limit_bytes: u64) -> Result<SourceText, Diagnostic> {
    static WAS_READ: AtomicBool = AtomicBool::new(false);
    if WAS_READ.swap(true, Ordering::Relaxed) {
        let message = "standard input cannot be read for two arguments";
        return Err(Diagnostic::new(&host::CANNOT_READ_FILE, message)
            .help("pass `-` once, and save the other input as a file"));
    }
    decode(sys::STDIN.to_owned(), sys::read_stdin(limit_bytes)?)
}

/// Reads a UTF-8 file of at most `limit_bytes`, or standard input if the path is `-`.
///
/// # Errors
/// If it cannot be read, is too large or is not UTF-8.
pub fn read_text(path: &Path, limit_bytes: u64) -> Result<SourceText, Diagnostic> {
    if is_stdin(path) {
        return read_stdin_document(limit_bytes);
    }
    let text = sys::read_text(path, limit_bytes)?;
    Ok(SourceText::new(path.display().to_string(), text))
}

/// Decodes UTF-8; the error is located at the first invalid byte.
fn decode(name: String, bytes: Vec<u8>) -> Result<SourceText, Diagnostic> {
    if bytes.starts_with(ZIP_MAGIC) {
        let message = "the file is a ZIP archive, not a matrix file";
        return Err(Diagnostic::new(&codes::NOT_UTF8, message)
            .at(Location::File(name.into()), "")
            .help("give a YAML file"));
    }
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(SourceText::new(name, text)),
        Err(error) => error,
    };
    let at = error.utf8_error().valid_up_to();
    let bytes = error.as_bytes();
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let message = format!(
        "the file is not UTF-8 text: byte {at} is 0x{:02x}",
        bytes[at]
    );
    let place = if is_utf16 {
        Location::File(name.into())
    } else {
        // The first invalid byte becomes U+FFFD at the same offset.
        SourceText::new(name, String::from_utf8_lossy(bytes).into_owned())
            .location(at..at + char::REPLACEMENT_CHARACTER.len_utf8())
    };
    let help = if is_utf16 {
        "save the file as UTF-8; it looks like UTF-16"
    } else {
        "save the file as UTF-8"
    };
    Err(Diagnostic::new(&codes::NOT_UTF8, message)
        .at(place, "")
        .help(help))
}

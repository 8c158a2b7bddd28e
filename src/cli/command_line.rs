//! The command line of this run, repeated in hints.

use std::ffi::{OsStr, OsString};

use super::publish::quoted;

/// Returns the command line of this run, as a shell reads it, with other options: without those of `left_out`, and with those
/// of `more` that it does not have. `arguments` begins with the program.
///
/// The environment is not repeated; tokens are only there.
pub(super) fn repeated(arguments: &[OsString], left_out: &[&str], more: &[&str]) -> String {
    let separator = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (options, operands) = arguments.split_at(separator);
    let is_kept = |option: &&OsString| !left_out.iter().any(|name| *option == name);
    let is_new = |option: &&&str| !options.iter().any(|known| known == **option);
    let options = options.iter().skip(1).filter(is_kept).map(OsString::as_os_str);
    let more = more.iter().filter(is_new).map(OsStr::new);
    let words = options.chain(more).chain(operands.iter().map(OsString::as_os_str));
    std::iter::once("rock-matrix".to_owned()).chain(words.map(quoted)).collect::<Vec<_>>().join(" ")
}

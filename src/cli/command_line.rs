//! The command line of this run, repeated in hints.

use std::ffi::{OsStr, OsString};

use crate::diagnostic::shell_line;

/// Returns the command line of this run, as a shell reads it, with other options: without those of
/// `left_out`, and with the words of `more`, of which options that it has already are not repeated.
/// `arguments` begins with the program. An option of `left_out` that ends with `=` takes a value,
/// which is left out with it; one that ends with `[=]` may have a value after `=`.
///
/// The environment is not repeated; tokens are only there.
pub(super) fn repeated(arguments: &[OsString], left_out: &[&str], more: &[&str]) -> String {
    let separator = arguments
        .iter()
        .position(|argument| argument == "--")
        .unwrap_or(arguments.len());
    let (options, operands) = arguments.split_at(separator);
    let mut kept: Vec<&OsStr> = Vec::new();
    let mut options = options.iter().skip(1);
    while let Some(word) = options.next() {
        let is_option_with_value =
            |name: &str| name.strip_suffix('=').is_some_and(|bare| word == bare);
        let begins_so = |name: &str| {
            name.ends_with('=') && word.as_encoded_bytes().starts_with(name.as_bytes())
        };
        let has_optional_value = |name: &str| {
            name.strip_suffix("[=]").is_some_and(|bare| {
                let rest = word.as_encoded_bytes().strip_prefix(bare.as_bytes());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
            })
        };
        if left_out.iter().any(|name| is_option_with_value(name)) {
            options.next();
        } else if !left_out
            .iter()
            .any(|name| word == name || begins_so(name) || has_optional_value(name))
        {
            kept.push(word);
        }
    }
    let is_new = |word: &&&str| {
        !word.starts_with('-') || !kept.iter().any(|known| *known == OsStr::new(word))
    };
    let more: Vec<&OsStr> = more.iter().filter(is_new).map(OsStr::new).collect();
    let words = kept
        .into_iter()
        .chain(more)
        .chain(operands.iter().map(OsString::as_os_str));
    shell_line(std::iter::once(OsStr::new("rock-matrix")).chain(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_with_their_values_are_replaced() {
        let line = |words: &[&str]| {
            let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
            repeated(
                &arguments,
                &["--dry-run", "--continue=", "--resume[=]"],
                &["--resume"],
            )
        };
        let expected = "rock-matrix build 'a b' --engine docker --resume";
        assert_eq!(line(&["x", "build", "a b", "--engine", "docker"]), expected);
        assert_eq!(
            line(&[
                "x",
                "build",
                "a b",
                "--continue",
                "build",
                "--engine",
                "docker",
                "--dry-run"
            ]),
            expected
        );
        assert_eq!(
            line(&[
                "x",
                "build",
                "a b",
                "--continue=build",
                "--engine",
                "docker"
            ]),
            expected
        );
        for resume in ["--resume", "--resume=build"] {
            let words = ["x", "build", resume, "a b", "--engine", "docker"];
            assert_eq!(line(&words), expected);
        }
        assert_eq!(
            line(&["x", "build", "--", "--dry-run"]),
            "rock-matrix build --resume -- --dry-run"
        );
    }
}

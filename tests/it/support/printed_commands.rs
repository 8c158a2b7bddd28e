//! Commands that messages print, tried where they are printed.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use regex::Regex;

/// Commands that write nothing and ask nobody on the network, so that they can be run wherever they are printed.
const READING: [&str; 8] =
    ["check", "compat explain", "compat list", "explain", "plan", "recipe list", "recipe show", "render recipe"];

/// Tries each command of the program between backticks in a message. One that only reads is run, and must not be refused as
/// a command line; of others the command line is parsed with all its values, by `--help` at its end. A text that has
/// placeholders is no command line yet.
pub fn try_printed_commands(message: &str, shell: impl Fn() -> Command) {
    static PRINTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`(rock-matrix [^`\n]+)`").unwrap());
    static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[A-Z]{2,}\b|…|\[|\*").unwrap());
    static TRIED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    for found in message.lines().filter(|line| !line.starts_with('{')).flat_map(|line| PRINTED.captures_iter(line)) {
        let line = &found[1];
        if PLACEHOLDER.is_match(line) || !TRIED.lock().unwrap().insert(line.to_owned()) {
            continue;
        }
        let words = shlex::split(line).unwrap_or_else(|| panic!("no shell reads the printed `{line}`"));
        let begins = |reading: &str| words[1..].join(" ").starts_with(&format!("{reading} "));
        let reads = READING.iter().any(|reading| begins(reading)) && !words.iter().any(|word| word == "--out");
        let tried = if reads { line.to_owned() } else { format!("{line} --help") };
        let output = shell().args(["-c", &tried]).output().unwrap();
        let is_taken = matches!(output.status.code(), Some(0)) || reads && matches!(output.status.code(), Some(1));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(is_taken, "`{line}` is printed, and ends with {}:\n{stderr}\nprinted by:\n{message}", output.status);
    }
}

//! Commands that messages print, tried where they are printed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::UNIX_EPOCH;

use regex::Regex;
use sha2::{Digest as _, Sha256};

/// Commands that write nothing and ask nobody on the network, so that they can be run wherever they
/// are printed.
const READING: [&[&str]; 8] = [
    &["check"],
    &["compat", "explain"],
    &["compat", "list"],
    &["explain"],
    &["plan"],
    &["recipe", "list"],
    &["recipe", "show"],
    &["render", "recipe"],
];

/// Tries each command of the program between backticks in a message; `program` makes the command of
/// these arguments. One that only reads is run and must succeed, or find the faults that the
/// message is about; of others the command line is parsed with all its values, by `--help`. A text
/// that has placeholders is no command line yet.
pub fn try_printed_commands(message: &str, program: impl Fn(&[&str]) -> Command) {
    static PRINTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"`rock-matrix ([^`\n]+)`").unwrap());
    static PLACEHOLDER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b[A-Z]{2,}\b|…|\[|\*|\$'").unwrap());
    static TRIED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // JSON quotes the quotes of a command.
    let lines = message.lines().filter(|line| !line.starts_with('{'));
    for found in lines.flat_map(|line| PRINTED.captures_iter(line)) {
        let line = &found[1];
        if PLACEHOLDER.is_match(line) || !TRIED.lock().unwrap().insert(line.to_owned()) {
            continue;
        }
        let words =
            shlex::split(line).unwrap_or_else(|| panic!("no shell reads the printed `{line}`"));
        let is_operator = |word: &&str| [">", ">>", "|", "&&"].contains(word);
        let mut words: Vec<&str> = words
            .iter()
            .map(String::as_str)
            .take_while(|word| !is_operator(word))
            .collect();
        let reads =
            READING.iter().any(|reading| words.starts_with(reading)) && !words.contains(&"--out");
        if !reads {
            let end = words
                .iter()
                .position(|word| *word == "--")
                .unwrap_or(words.len());
            words.insert(end, "--help");
        }
        // Help, and the explanation of a code, are the same in each project.
        let temporary = std::env::temp_dir();
        let is_the_same =
            (!reads || words[0] == "explain") && !line.contains(temporary.to_str().unwrap());
        let parsed = is_the_same.then(|| parsed_before(&words));
        if parsed.as_ref().is_some_and(|mark| mark.exists()) {
            continue;
        }
        let output = program(&words).output().unwrap();
        let finds_faults =
            reads && ["check", "plan"].contains(&words[0]) && output.status.code() == Some(1);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() || finds_faults,
            "`{line}` is printed, and ends with {}:\n{stderr}\nprinted by:\n{message}",
            output.status
        );
        if let Some(mark) = parsed {
            std::fs::create_dir_all(mark.parent().unwrap()).unwrap();
            std::fs::write(mark, "").unwrap();
        }
    }
}

/// The file that is there if another test has tried a command with this build of the program.
fn parsed_before(words: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_rock-matrix"))
        .metadata()
        .unwrap();
    let built = program.modified().unwrap().duration_since(UNIX_EPOCH);
    let built = built.unwrap().as_nanos();
    let folder = format!("printed-{built:x}-{:x}", program.len());
    let name = rock_matrix::names::Digest::new(Sha256::digest(words.join("\0")).into());
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(folder)
        .join(name.to_hex())
}

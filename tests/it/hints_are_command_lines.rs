//! Every command and option that a message, an explanation or an example of `--help` prints is one
//! that the program accepts.
//!
//! Whether a hint solves the problem that prints it is shown by the stories of that problem; here a
//! renamed option or command cannot leave a hint behind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::Project;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Options of git, docker, pip, gh, compilers and linkers that texts mention.
const OTHER_OPTIONS: [&str; 15] = [
    "--abort",
    "--block-size",
    "--continue",
    "--device",
    "--env",
    "--find-links",
    "--group-add",
    "--mount",
    "--offload-compress",
    "--quit",
    "--shm-size",
    "--slurp",
    "--spare-dynamic-tags",
    "--volume",
    "--with-fpectl",
];

/// The Rust files of the program, without those that hold only tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().unwrap() != "tests" {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && path.file_name().unwrap() != "tests.rs"
        {
            found.push(path);
        }
    }
}

/// The code of a file without comments and tests, with the lines of a text joined as the compiler
/// joins them.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap()
        .to_owned();
    let joined = regex::Regex::new(r"\\\n\s*")
        .unwrap()
        .replace_all(&text, "")
        .into_owned();
    // Doc comments of arguments are what `--help` prints.
    let is_comment = |line: &str| line.starts_with("//") && !line.starts_with("///");
    joined
        .lines()
        .filter(|line| !is_comment(line.trim_start()))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the visible options of a command and its subcommands.
fn options(command: &clap::Command) -> BTreeSet<String> {
    let own = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .filter_map(|argument| Some(format!("--{}", argument.get_long()?)));
    own.chain(command.get_subcommands().flat_map(options))
        .collect()
}

/// The words of a printed command, with a value for each placeholder and without what follows it in
/// a shell.
fn words(command: &str) -> Vec<String> {
    let command = command
        .replace("{engine}", "docker")
        .replace("{options}", "")
        .replace("--older-than AGE", "--older-than 30d")
        .replace("TARGET", "gfx942")
        .replace("NAME", "name");
    let command = regex::Regex::new(r"\{[^{}]*\}|…")
        .unwrap()
        .replace_all(&command, "x")
        .into_owned();
    let command = regex::Regex::new(r" (&&|\||>|<) ")
        .unwrap()
        .splitn(&command, 2)
        .next()
        .unwrap()
        .to_owned();
    shlex::split(&command).unwrap_or_else(|| panic!("no shell reads `{command}`"))
}

/// Asserts that the program knows the command and its options. `--help` at the end keeps it from
/// running.
fn assert_known(project: &Project, command: &str, place: &str) {
    let mut words = words(command);
    words.push("--help".to_owned());
    let run = project
        .command(&words.iter().map(String::as_str).collect::<Vec<_>>())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    // A text may name an option without its value.
    let is_known = run.status.success() || stderr.starts_with("error: a value is required for");
    assert!(
        is_known,
        "{place} prints `rock-matrix {command}`, which is refused:\n{stderr}"
    );
}

/// An example of `--help` without its description, which follows after at least two spaces.
fn example(line: &str) -> &str {
    let columns = regex::Regex::new(r" {2,}").unwrap();
    let ends = columns
        .find_iter(line)
        .map(|gap| gap.start())
        .chain([line.len()]);
    let mut commands = ends.map(|end| &line[..end]);
    // Two spaces in quotes are a part of the command.
    commands
        .find(|command| shlex::split(command).is_some())
        .unwrap_or(line)
}

#[test]
fn commands_in_messages_are_taken() {
    let mut files = Vec::new();
    sources(&Path::new(ROOT).join("src"), &mut files);
    sources(&Path::new(ROOT).join("crates"), &mut files);
    let printed = regex::Regex::new(r"`rock-matrix ([a-z][^`\n]*)`").unwrap();
    let mut commands = BTreeSet::new();
    for path in files {
        for found in printed.captures_iter(&code(&path)) {
            commands.insert((
                found[1].replace("\\\"", "\""),
                path.strip_prefix(ROOT).unwrap().display().to_string(),
            ));
        }
    }
    assert!(commands.len() > 100, "{commands:?}");
    let project = Project::new();
    for (command, place) in commands {
        assert_known(&project, &command, &place);
    }
}

#[test]
fn options_in_messages_exist() {
    let mut files = Vec::new();
    sources(&Path::new(ROOT).join("src"), &mut files);
    sources(&Path::new(ROOT).join("crates"), &mut files);
    let named = regex::Regex::new(r"`(--[a-z][a-z0-9-]*)[^`\n]*`").unwrap();
    let known = options(&rock_matrix::cli::command());
    let mut unknown = BTreeSet::new();
    for path in files {
        for found in named.captures_iter(&code(&path)) {
            let option = &found[1];
            if !known.contains(option) && !OTHER_OPTIONS.contains(&option) {
                let place = path.strip_prefix(ROOT).unwrap().display();
                unknown.insert(format!("{place}: {option}"));
            }
        }
    }
    assert_eq!(unknown, BTreeSet::new());
}

#[test]
fn examples_of_help_are_taken() {
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/cli.md")).unwrap();
    let page = regex::Regex::new(r"\s*\\\n\s*")
        .unwrap()
        .replace_all(&page, " ")
        .into_owned();
    let examples: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("  rock-matrix "))
        .map(example)
        .collect();
    assert!(examples.len() > 150, "{examples:?}");
    let project = Project::new();
    for example in examples {
        assert_known(&project, example, "docs/cli.md");
    }
}

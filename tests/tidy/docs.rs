//! Commands that the documents and the help texts show, and links between documents.

use std::path::Path;

use rock_matrix::names::without_dots;

use crate::none;
use crate::sources::{self, SourceFile};

/// Command lines inside fenced blocks: those that start with `rock-matrix`, a prompt before it or
/// not, up to a pipe, a redirection, a comment, or the gap before a description.
fn shown_commands(markdown: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut is_fenced = false;
    for line in markdown.replace("\\\n", " ").lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced {
            commands.extend(command_of(line));
        }
    }
    commands
}

fn command_of(line: &str) -> Option<String> {
    let line = line.trim_start();
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let rest = line
        .strip_prefix("rock-matrix")
        .filter(|rest| rest.is_empty() || rest.starts_with(' '))?;
    let ends = [
        "  ", " | ", " > ", " # ", " && ", " < ", " 2>", " >> ", "; ",
    ];
    let end = ends
        .iter()
        .filter_map(|end| rest.find(end))
        .min()
        .unwrap_or(rest.len());
    Some(format!("rock-matrix{}", &rest[..end]).trim_end().to_owned())
}

/// Why a command line is not one of ours.
fn command_fault(line: &str) -> Option<String> {
    let Some(words) = shlex::split(line) else {
        return Some(format!("`{line}` is not quoted well"));
    };
    let error = rock_matrix::cli::command()
        .try_get_matches_from(words)
        .err()?;
    // `--help` and `--version` end the parse as errors that go to stdout.
    error.use_stderr().then(|| {
        format!(
            "`{line}`: {}",
            error.to_string().lines().next().unwrap_or_default()
        )
    })
}

fn link_faults(file: &SourceFile, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let link = regex::Regex::new(r"\]\(([^)#\s]+)(#[^)]*)?\)").unwrap();
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let targets = link
        .captures_iter(&file.text)
        .map(|found| found[1].to_owned());
    let local = targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    local
        .filter(|target| {
            !without_dots(&format!("{folder}/{target}")).is_some_and(|path| exists(&path))
        })
        .map(|target| format!("{}: the link to `{target}` leads nowhere", file.path))
        .collect()
}

fn pages() -> Vec<SourceFile> {
    sources::all()
        .into_iter()
        .filter(|file| file.path.ends_with(".md"))
        .collect()
}

#[test]
fn commands_in_documents_are_commands_of_ours() {
    // The reference shows usage lines with placeholders; its examples are checked where they are
    // made.
    let pages = pages()
        .into_iter()
        .filter(|file| file.path != "docs/cli.md");
    let faults = pages.flat_map(|file| {
        let faults: Vec<String> = shown_commands(&file.text)
            .iter()
            .filter_map(|line| command_fault(line))
            .collect();
        faults
            .into_iter()
            .map(move |fault| format!("{}: {fault}", file.path))
    });
    none("commands in documents", &faults.collect::<Vec<_>>());
}

#[test]
fn examples_in_help_texts_are_commands_of_ours() {
    fn examples(command: &clap::Command, found: &mut Vec<String>) {
        let after = command
            .get_after_long_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        found.extend(after.replace("\\\n", " ").lines().filter_map(command_of));
        command
            .get_subcommands()
            .for_each(|inner| examples(inner, found));
    }
    let mut found = Vec::new();
    examples(&rock_matrix::cli::command(), &mut found);
    assert!(!found.is_empty());
    none(
        "examples in help texts",
        &found
            .iter()
            .filter_map(|line| command_fault(line))
            .collect::<Vec<_>>(),
    );
}

/// Every command that does something, by its words, with the text below its options.
fn help_texts(command: &clap::Command, name: &str, found: &mut Vec<(String, String)>) {
    let after = command
        .get_after_long_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    found.push((name.to_owned(), after));
    for inner in command.get_subcommands() {
        help_texts(inner, &format!("{name} {}", inner.get_name()), found);
    }
}

/// What is ugly in a text below the options: a line that `--help`, which is so wide, would break
/// anew.
fn help_fault(name: &str, after: &str) -> Option<String> {
    let wide = after
        .lines()
        .find(|line| line.chars().count() > rock_matrix::cli::HELP_WIDTH);
    match wide {
        Some(line) => Some(format!("{name}: a line would be broken anew: {line}")),
        None if !after.contains("Examples:\n  ") => Some(format!("{name}: no examples")),
        None => None,
    }
}

#[test]
fn every_help_text_has_examples_and_lines_that_help_does_not_break_anew() {
    let mut found = Vec::new();
    help_texts(&rock_matrix::cli::command(), "rock-matrix", &mut found);
    none(
        "help texts",
        &found
            .iter()
            .filter_map(|(name, after)| help_fault(name, after))
            .collect::<Vec<_>>(),
    );
    assert!(help_fault("x", "Examples:\n  rock-matrix x").is_none());
    assert!(help_fault("x", "no more than this").is_some());
    assert!(help_fault("x", &format!("Examples:\n  {}", "x".repeat(99))).is_some());
}

#[test]
fn links_between_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let faults = pages()
        .iter()
        .flat_map(|file| link_faults(file, |path| root.join(path).exists()))
        .collect::<Vec<_>>();
    none("links", &faults);
}

#[test]
fn planted_faults_of_documents_are_caught() {
    let page = "rock-matrix is prose\n```console\n$ rock-matrix doctor --format json | head\nrock-matrix nonsense  # no\n\
                rock-matrix man \\\n  --out x\n```\n";
    let commands = shown_commands(page);
    assert_eq!(
        commands,
        [
            "rock-matrix doctor --format json",
            "rock-matrix nonsense",
            "rock-matrix man"
        ]
    );
    let faults: Vec<String> = commands
        .iter()
        .filter_map(|line| command_fault(line))
        .collect();
    assert_eq!(
        faults,
        ["`rock-matrix nonsense`: error: unrecognized subcommand 'nonsense'"]
    );
    assert!(command_fault("rock-matrix doctor --no-such").is_some());
    assert!(command_fault("rock-matrix doctor --help").is_none());

    let file = SourceFile::planted(
        "docs/a.md",
        "[x](../README.md) [y](b.md#part) [z](https://example.com) [w](#here)",
    );
    assert!(link_faults(&file, |_| true).is_empty());
    assert_eq!(
        link_faults(&file, |path| path == "README.md"),
        ["docs/a.md: the link to `b.md` leads nowhere"]
    );
}

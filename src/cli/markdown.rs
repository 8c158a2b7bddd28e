//! The command line as one Markdown page, generated from the same definitions as `--help`.

use std::fmt::Write;

use clap::{Arg, Command};

use super::completed_value::JOB_IDS;
use super::help::GROUPS;

/// Returns the text of `docs/cli.md`.
pub fn reference() -> String {
    let root = super::command();
    let mut text = String::from(
        "# Command line\n\n\
         This page is generated from the program's own definitions by `ROCK_BLESS=1 cargo test`.\n",
    );
    let _ = writeln!(text, "\n{}", about(&root));
    for group in &GROUPS {
        let _ = writeln!(text, "\n**{}**\n", group.name);
        for command in group.commands {
            let command = root
                .find_subcommand(command)
                .expect("every command of a group exists");
            let _ = writeln!(
                text,
                "- [`{}`](#{}): {}",
                command.get_name(),
                anchor(command),
                about(command)
            );
        }
    }
    text.push_str("\n## Global options\n\n");
    list(
        &mut text,
        root.get_arguments()
            .filter(|argument| argument.is_global_set()),
    );
    for command in root.get_subcommands() {
        section(&mut text, command, "rock-matrix", 2);
    }
    text.push_str(EXIT_CODES);
    text
}

/// Exit codes, as `cli::Exit` has them.
const EXIT_CODES: &str = "\n## Exit codes\n\n\
    | code | meaning |\n|---|---|\n\
    | 0 | success, or nothing to do |\n\
    | 1 | invalid input or artifact, or `--check` found a difference |\n\
    | 2 | command-line error |\n\
    | 3 | error of the machine, network or credentials |\n\
    | 4 | a build step failed |\n\
    | 101 | internal error |\n\
    | 124 | a build reached its time limit and can be resumed |\n\
    | 130 | stopped by SIGINT |\n\
    | 143 | stopped by SIGTERM |\n";

fn section(text: &mut String, command: &Command, parent: &str, level: usize) {
    let name = format!("{parent} {}", command.get_name());
    let _ = writeln!(text, "\n{} {name}\n\n{}", "#".repeat(level), about(command));
    let mut plain = command.clone();
    let usage = plain.render_usage().to_string();
    let _ = writeln!(
        text,
        "\n```text\n{}\n```",
        usage.trim_start_matches("Usage: ").trim()
    );
    let own = || {
        command
            .get_arguments()
            .filter(|argument| !is_everywhere(argument))
    };
    if own().next().is_some() {
        text.push('\n');
        list(text, own());
    }
    if let Some(after) = command.get_after_long_help() {
        let _ = writeln!(text, "\n```text\n{}\n```", after.to_string().trim());
    }
    for inner in command.get_subcommands() {
        section(text, inner, &name, level + 1);
    }
}

fn list<'a>(text: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    for argument in arguments.filter(|argument| !argument.is_hide_set()) {
        let _ = write!(text, "- `{}`: {}", spelled(argument), help(argument));
        let values: Vec<String> = argument
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set() && value.get_name() != JOB_IDS)
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        if argument.get_action().takes_values() && !values.is_empty() {
            let _ = write!(text, " (one of {})", values.join(", "));
        }
        let defaults: Vec<_> = argument
            .get_default_values()
            .iter()
            .map(|value| value.to_string_lossy())
            .collect();
        if argument.get_action().takes_values() && !defaults.is_empty() {
            let _ = write!(text, " [default: `{}`]", defaults.join(" "));
        }
        text.push('\n');
    }
}

/// Returns the help of an argument as one paragraph.
fn help(argument: &Arg) -> String {
    let text = argument
        .get_long_help()
        .or_else(|| argument.get_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    text.trim_end().replace("\n\n", ". ").replace(":. ", ": ")
}

/// Returns an argument as help spells it: `-q, --quiet`, `--out <DIR>`, `[FILES]...`.
fn spelled(argument: &Arg) -> String {
    if argument.is_positional() {
        return argument.to_string();
    }
    match argument.get_short() {
        Some(short) => format!("-{short}, {argument}"),
        None => argument.to_string(),
    }
}

/// Whether every command has this argument, so that it is described once.
fn is_everywhere(argument: &Arg) -> bool {
    argument.is_global_set() || ["help", "version"].contains(&argument.get_id().as_str())
}

fn about(command: &Command) -> String {
    command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn anchor(command: &Command) -> String {
    format!("rock-matrix-{}", command.get_name())
}

#[cfg(test)]
mod tests {
    use super::reference;

    #[test]
    fn every_command_has_its_section_and_its_line_in_the_list() {
        let text = reference();
        for command in crate::cli::command().get_subcommands() {
            let name = command.get_name();
            assert!(
                text.contains(&format!("\n## rock-matrix {name}\n")),
                "{name}"
            );
            assert!(
                text.contains(&format!("- [`{name}`](#rock-matrix-{name}): ")),
                "{name}"
            );
        }
    }
}

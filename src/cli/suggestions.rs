//! Tips of command-line errors: where an unknown option or command exists.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::diagnostic::{shell_line, shell_quoted};

/// Options that delete or overwrite something, so that no error suggests them.
const DELETING: [&str; 10] = [
    "--apply",
    "--replace",
    "--discard-changes",
    "--discard-commits",
    "--delete-after-extract",
    "--whole",
    "--delete-tags",
    "--clean-duplicates",
    "--force",
    "--overwrite",
];

/// The subcommand that a group's first argument is most likely an argument of.
const DEFAULT_SUBCOMMANDS: [(&str, &str); 7] = [
    ("attention", "report --gfx"),
    ("compat", "list"),
    ("index", "build"),
    ("recipe", "show"),
    ("sdk", "plan"),
    ("source", "plan"),
    ("wheel", "show"),
];

/// Commands with a required argument, and an alternative to it.
const ALTERNATIVES: [(&[&str], &str); 4] = [
    (
        &["index", "build"],
        "`--published` indexes releases instead of a directory",
    ),
    (&["pick"], "`--wheels DIR` searches a directory of wheels"),
    (
        &["release", "prune"],
        "either `--keep` or `--older-than` is enough",
    ),
    (
        &["release", "prune"],
        "`--state FILE` reads saved releases, without `--repo`",
    ),
];

/// Options that became commands: command, option, and the new form.
const REPLACED_OPTIONS: [(&str, &str, &str); 8] = [
    ("publish", "--prune", "rock-matrix release prune"),
    (
        "publish",
        "--subjects",
        "rock-matrix release subjects FILES --out FILE",
    ),
    ("build", "--test", "rock-matrix test JOB --dist DIR"),
    ("index", "--yank", "rock-matrix index yank DIR FILES"),
    (
        "index",
        "--yank-older-than",
        "rock-matrix index yank DIR --older-than AGE",
    ),
    ("index", "--unyank", "rock-matrix index unyank DIR FILES"),
    ("doctor", "--script", "rock-matrix attention script"),
    ("doctor", "--log", "rock-matrix attention judge FILE"),
];

/// An option of more commands than this is too common for a tip.
const MAX_TIPS: usize = 3;

/// Replaces clap's tips with ones that lead to a command line that works.
pub(super) fn improved(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let Some(option) = context(&error, ContextKind::InvalidArg) else {
                return error;
            };
            let name = option.split('=').next().unwrap_or_default().to_owned();
            let command = first_command(arguments);
            if name == "--only"
                && let Some(tip) = filtered_plan(arguments)
            {
                error.remove(ContextKind::Suggested);
                error.remove(ContextKind::SuggestedArg);
                add_tips(&mut error, std::iter::once(tip));
                return error;
            }
            let replaced = REPLACED_OPTIONS
                .iter()
                .find(|(of, option, _)| Some(*of) == command && *option == name);
            if let Some((_, _, form)) = replaced {
                error.remove(ContextKind::Suggested);
                error.remove(ContextKind::SuggestedArg);
                add_tips(&mut error, std::iter::once(format!("use `{form}`")));
                return error;
            }
            // clap's other tip, `-- --option`, makes a file name of a mistyped option.
            error.remove(ContextKind::Suggested);
            let suggested = context(&error, ContextKind::SuggestedArg);
            if suggested.is_some_and(|option| DELETING.contains(&option.as_str())) {
                error.remove(ContextKind::SuggestedArg);
            }
            if context(&error, ContextKind::SuggestedArg).is_none() {
                let mut commands = Vec::new();
                if !DELETING.contains(&name.as_str()) {
                    commands_with_option(&super::command(), &name, "rock-matrix", &mut commands);
                }
                if commands.len() <= MAX_TIPS {
                    let tip = |command| format!("`{command}` has the option `{name}`");
                    add_tips(&mut error, commands.into_iter().map(tip));
                }
            }
        }
        ErrorKind::InvalidSubcommand => {
            let Some(word) = context(&error, ContextKind::InvalidSubcommand) else {
                return error;
            };
            let root = super::command();
            let group = first_command(arguments);
            let mut commands = Vec::new();
            subcommands_named(&root, &word, "rock-matrix", &mut commands);
            let default = DEFAULT_SUBCOMMANDS
                .iter()
                .find(|(name, _)| Some(*name) == group);
            if !commands.is_empty() {
                error.remove(ContextKind::SuggestedSubcommand);
            }
            let is_misspelled = error.get(ContextKind::SuggestedSubcommand).is_some();
            if let (Some((group, default)), true) = (default, commands.is_empty() && !is_misspelled)
            {
                let default = match *group {
                    "compat" if word.contains('=') => "explain",
                    _ => default,
                };
                let word = shell_quoted(&word);
                commands.push(format!("rock-matrix {group} {default} {word}"));
            }
            let tip = |command| format!("did you mean `{command}`?");
            add_tips(&mut error, commands.into_iter().map(tip));
        }
        ErrorKind::MissingRequiredArgument => {
            let path: Vec<&str> = arguments
                .iter()
                .skip(1)
                .filter_map(|argument| argument.to_str())
                .filter(|argument| !argument.starts_with('-'))
                .collect();
            let tips = ALTERNATIVES
                .iter()
                .filter(|(command, _)| path.starts_with(command))
                .map(|(_, tip)| (*tip).to_owned());
            add_tips(&mut error, tips);
        }
        _ => {}
    }
    error
}

/// Returns the tip that pipes a filtered plan into a command that reads jobs: `build`, `test` and
/// `render` except `render workflow`.
fn filtered_plan(arguments: &[OsString]) -> Option<String> {
    let words: Vec<&str> = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| argument.to_str())
        .collect();
    let command = first_command(arguments)?;
    let at = words.iter().position(|word| *word == command)?;
    let reader = match (command, words.get(at + 1).copied()) {
        ("build" | "test", _) => format!("{command} - --all"),
        ("render", Some("workflow")) => return None,
        ("render", Some("script")) => "render script - --out scripts/".to_owned(),
        ("render", Some(kind @ ("docker" | "recipe"))) => format!("render {kind} -"),
        ("render", _) => "render -".to_owned(),
        _ => return None,
    };
    let mut plan: Vec<&str> = Vec::new();
    let mut before = "";
    for word in words {
        let is_output = ["--out", "-o"].contains(&before);
        let is_matrix = word.ends_with(".yaml") || word.ends_with(".yml");
        if is_matrix && !is_output && !word.starts_with('-') {
            plan.push(word);
        } else if before == "--only" {
            plan.extend(["--only", word]);
        } else if word.starts_with("--only=") {
            plan.push(word);
        }
        before = word;
    }
    if !plan.iter().any(|word| word.starts_with("--only")) {
        plan.extend(["--only", "AXIS=VALUE"]);
    }
    let plan = shell_line(plan);
    Some(format!(
        "filter a plan: `rock-matrix plan {plan} --json | rock-matrix {reader}`"
    ))
}

/// Global options with a value.
const VALUED: [&str; 4] = ["--color", "--message-format", "--compat", "--recipes"];

/// Returns the first argument that is neither an option nor the value of a global one: the command.
fn first_command(arguments: &[OsString]) -> Option<&str> {
    let mut words = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| argument.to_str());
    while let Some(word) = words.next() {
        if VALUED.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// Returns the commands with a subcommand of this name, such as `rock-matrix release prune` for
/// `prune`.
fn subcommands_named(command: &Command, name: &str, path: &str, found: &mut Vec<String>) {
    for inner in command.get_subcommands() {
        let path = format!("{path} {}", inner.get_name());
        if inner.get_name() == name {
            found.push(path.clone());
        }
        subcommands_named(inner, name, &path, found);
    }
}

fn commands_with_option(command: &Command, option: &str, path: &str, found: &mut Vec<String>) {
    let Some(name) = option.strip_prefix("--") else {
        return;
    };
    for inner in command.get_subcommands() {
        let path = format!("{path} {}", inner.get_name());
        let has_option = inner
            .get_arguments()
            .filter(|argument| !argument.is_global_set() && !argument.is_hide_set())
            .any(|argument| argument.get_long() == Some(name));
        if has_option {
            found.push(path.clone());
        }
        commands_with_option(inner, option, &path, found);
    }
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

fn add_tips(error: &mut clap::Error, tips: impl Iterator<Item = String>) {
    let tips: Vec<_> = tips.map(Into::into).collect();
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(words: &[&str]) -> String {
        let arguments: Vec<OsString> = ["rock-matrix"]
            .iter()
            .chain(words)
            .map(OsString::from)
            .collect();
        let error = crate::cli::parsed(arguments.clone()).unwrap_err();
        improved(error, &arguments).to_string()
    }

    #[test]
    fn tips_name_the_right_command_line() {
        for (words, tip) in [
            (
                &["repair", "x.whl"][..],
                "did you mean `rock-matrix wheel repair`?",
            ),
            (
                &["compat", "torch"],
                "did you mean `rock-matrix compat list torch`?",
            ),
            (
                &["index", "dist"],
                "did you mean `rock-matrix index build dist`?",
            ),
            (&["publish", "--prune"], "use `rock-matrix release prune`"),
            (
                &["plan", "--strip"],
                "`rock-matrix wheel repair` has the option `--strip`",
            ),
        ] {
            let text = error(words);
            assert!(text.contains(&format!("tip: {tip}")), "{text}");
        }
    }

    #[test]
    fn a_filter_of_plans_is_piped_into_commands_that_read_jobs() {
        for (words, tip) in [
            (
                &["build", "--only", "torch=2.9.1", "--only=python=3.12"][..],
                "`rock-matrix plan --only torch=2.9.1 --only=python=3.12 --json | \
                 rock-matrix build - --all`",
            ),
            (
                &["render", "docker", "my m.yaml", "--only", "gfx=a;b"],
                "`rock-matrix plan 'my m.yaml' --only 'gfx=a;b' --json | rock-matrix render docker -`",
            ),
            (
                &["render", "script", "--only"],
                "`rock-matrix plan --only AXIS=VALUE --json | \
                 rock-matrix render script - --out scripts/`",
            ),
            (
                &["render", "workflow", "--only", "torch=2.9.1"],
                "`rock-matrix plan` has the option `--only`",
            ),
        ] {
            let text = error(words);
            assert!(text.contains(tip), "{text}");
        }
    }

    #[test]
    fn no_tip_makes_a_value_of_an_option_or_deletes() {
        let text = error(&["build", "--no-such-option"]);
        assert!(!text.contains("as a value"), "{text}");
        let text = error(&["clean", "--whol"]);
        assert!(!text.contains("tip:"), "{text}");
    }
}

//! Tips of command-line errors: the commands and options that were meant, and a check for long
//! options with one dash that are read as something else.

mod table;

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use itertools::Itertools as _;

use super::completed_value;
use crate::compat::Compat;
use crate::diagnostic::nearest::nearest_few;
use crate::diagnostic::{shell_line, shell_quoted};
use crate::names::has_wheel_extension;

/// Options that delete or overwrite something, which errors do not suggest for similar names.
const DELETING: [&str; 10] = [
    "apply",
    "clean-duplicates",
    "delete-after-extract",
    "delete-tags",
    "discard-changes",
    "discard-commits",
    "force",
    "overwrite",
    "replace",
    "whole",
];

/// Minimum number of characters of the beginning of a name that the name is suggested for: `--all`
/// is no beginning of `--allow`.
const MIN_PREFIX_CHARS: usize = 4;

/// Minimum number of characters of a name that is suggested for a longer word, as out for output.
const MIN_NAME_CHARS: usize = 3;

/// Maximum number of values of a missing argument that a tip lists.
const MAX_LISTED_VALUES: usize = 8;

/// Minimum number of characters of a long option that is recognized with one dash: `-out`.
const MIN_OPTION_CHARS: usize = 3;

/// Refuses long options with one dash, as other programs have them, that are read as a short option
/// with a value: `-only` is `-o` with the value `nly`, so that the output would be written to a file
/// with this name.
pub(super) fn check_single_dashes(
    arguments: &[OsString],
    matches: &clap::ArgMatches,
) -> Result<(), clap::Error> {
    // Most command lines have no such word, and need no second command.
    if single_dash_words(arguments).next().is_none() {
        return Ok(());
    }
    let mut all = super::command();
    let (mut named, mut matches) = (&mut all, matches);
    while let Some((name, inner)) = matches.subcommand() {
        named = named.find_subcommand_mut(name).expect("it was parsed");
        matches = inner;
    }
    let is_value = |word: &str| {
        let values = matches
            .ids()
            .filter_map(|id| matches.try_get_raw(id.as_str()).ok().flatten());
        values.flatten().any(|value| value == word)
    };
    let text = single_dash_words(arguments)
        .filter(|word| !is_value(word))
        .find_map(|word| single_dash_text(word, named));
    match text {
        Some(text) => Err(named.error(ErrorKind::UnknownArgument, text)),
        None => Ok(()),
    }
}

/// Returns the error text for a word that is a long option of the command with one dash.
fn single_dash_text(word: &str, command: &Command) -> Option<String> {
    let option = option_with_name(command, single_dash_name(word)?)?;
    let long = option.get_long()?;
    let (first, value) = word.strip_prefix('-')?.split_at_checked(1)?;
    let options = if first.chars().eq(option.get_short()) {
        format!("`-{first}` or `--{long}`")
    } else {
        format!("`--{long}`")
    };
    Some(format!(
        "`{word}` would be `-{first}` with the value `{value}`: write {options}"
    ))
}

/// Returns the words before `--` that may be long options with one dash.
fn single_dash_words(arguments: &[OsString]) -> impl Iterator<Item = &str> {
    arguments
        .iter()
        .skip(1)
        .map_while(|word| Some(word.to_str().unwrap_or_default()).filter(|word| *word != "--"))
        .filter(|word| single_dash_name(word).is_some())
}

/// Returns the name in a word such as `-name` or `-name=value`.
fn single_dash_name(word: &str) -> Option<&str> {
    let name = word.strip_prefix('-')?.split('=').next()?;
    let is_long = name.len() >= MIN_OPTION_CHARS;
    (is_long && name.starts_with(|c: char| c.is_ascii_lowercase())).then_some(name)
}

/// Returns the option with this long name or alias. `-output` and `-outfile` of other programs are
/// the option `-o`.
fn option_with_name<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|argument| {
        argument.get_long() == Some(name)
            || argument
                .get_all_aliases()
                .is_some_and(|aliases| aliases.contains(&name))
            || (argument.get_short() == Some('o') && name.starts_with("out"))
    })
}

/// Replaces clap's tips with ones that lead to a command line that works, and its usage with that
/// of `--help`.
pub(super) fn improved(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let kind = error.kind();
    let has_tips = matches!(
        kind,
        ErrorKind::UnknownArgument
            | ErrorKind::InvalidSubcommand
            | ErrorKind::ArgumentConflict
            | ErrorKind::MissingRequiredArgument
    );
    if !has_tips {
        return error;
    }
    let root = super::command();
    let (command, path) = command_of(&root, &error);
    // clap's usage has the options that were passed, as if they were required.
    let usage = command.clone().render_usage();
    let tips = match kind {
        ErrorKind::UnknownArgument => option_tips(&mut error, command, &path, arguments),
        ErrorKind::InvalidSubcommand => {
            subcommand_tips(&mut error, &root, command, &path, arguments)
        }
        ErrorKind::ArgumentConflict => conflict_tips(&error, &path),
        _ => {
            let (group, name) = path.rsplit_once(' ').unwrap_or(("", path.as_str()));
            let mut tips = table::tips(group, name);
            tips.extend(value_tip(&error, command));
            if path == "wheel retag" {
                tips.extend(tag_tip(arguments));
            }
            tips
        }
    };
    add_tips(&mut error, tips);
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    error
}

/// Returns tips for two options that exclude each other. An option that is given twice has none.
fn conflict_tips(error: &clap::Error, path: &str) -> Vec<String> {
    let arguments: Vec<String> = [ContextKind::InvalidArg, ContextKind::PriorArg]
        .into_iter()
        .flat_map(|kind| context(error, kind))
        .unique()
        .collect();
    if arguments.len() < 2 {
        return Vec::new();
    }
    arguments
        .iter()
        .flat_map(|argument| table::tips(path, option_name(argument)))
        .unique()
        .collect()
}

/// Returns a tip with the values of a missing argument, if it accepts only these and has few.
fn value_tip(error: &clap::Error, command: &Command) -> Option<String> {
    let missing = context(error, ContextKind::InvalidArg);
    let argument = command
        .get_positionals()
        .find(|argument| missing.contains(&argument.to_string()))
        .filter(|argument| !argument.is_hide_possible_values_set())?;
    let values = argument.get_possible_values();
    let name = argument.get_value_names()?.first()?;
    (1..=MAX_LISTED_VALUES).contains(&values.len()).then(|| {
        let values = values.iter().map(clap::builder::PossibleValue::get_name);
        format!("{name} is one of {}", values.format(", "))
    })
}

/// Adds a tip to an error that has none.
pub(super) fn add_tip(error: &mut clap::Error, tip: String) {
    let kinds = [ContextKind::Suggested, ContextKind::SuggestedSubcommand];
    if kinds.into_iter().all(|kind| error.get(kind).is_none()) {
        add_tips(error, vec![tip]);
    }
}

/// Returns a tip for a word that may be a misspelled subcommand of a group.
pub(super) fn subcommand_tip(group: &str, word: &str) -> Option<String> {
    let known = table::tips(group, word).into_iter().next();
    known.or_else(|| {
        let root = super::command();
        let similar = similar(word, subcommands(root.find_subcommand(group)?));
        let line = format!("rock-matrix {group} {}", similar.first()?);
        Some(format!("did you mean `{line}`?"))
    })
}

/// Returns tips for an unknown option: what to use instead, or the argument that it names. Options
/// with similar names are added to the error.
fn option_tips(
    error: &mut clap::Error,
    command: &Command,
    path: &str,
    arguments: &[OsString],
) -> Vec<String> {
    // clap's tip `-- --option` makes a filename of a mistyped option, and the options that it
    // considers similar hardly are.
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedArg);
    let Some(option) = context(error, ContextKind::InvalidArg).into_iter().next() else {
        return Vec::new();
    };
    let mut option = option_name(&option).to_owned();
    // clap names only the first letter that it does not know.
    if let Some(name) = misread_option(&option, arguments) {
        let shown = ContextValue::String(format!("-{name}"));
        error.insert(ContextKind::InvalidArg, shown);
        let long = option_with_name(command, name).and_then(Arg::get_long);
        if let Some(long) = long.filter(|long| !DELETING.contains(long)) {
            let similar = ContextValue::String(format!("--{long}"));
            error.insert(ContextKind::SuggestedArg, similar);
            return Vec::new();
        }
        option = format!("--{name}");
    }
    let option = option.as_str();
    if option == "--only"
        && let Some(tip) = filtered_plan(command, path, arguments)
    {
        return vec![tip];
    }
    let mut tips = table::tips(path, option);
    if tips.is_empty() && option.starts_with('-') {
        tips = table::tips("", option);
    }
    if !tips.is_empty() {
        return tips;
    }
    let Some(name) = option.strip_prefix("--") else {
        // Without a dash, it is an argument too many.
        return if option.starts_with('-') {
            Vec::new()
        } else {
            table::default_tips(path, option)
        };
    };
    if DELETING.contains(&name) {
        return Vec::new();
    }
    if let Some(argument) = argument_named(command, name) {
        return vec![format!(
            "write it without an option: `rock-matrix {path} {argument}`"
        )];
    }
    let options = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .filter_map(clap::Arg::get_long)
        .filter(|long| !DELETING.contains(long));
    if let Some(similar) = similar(name, options).first() {
        let similar = ContextValue::String(format!("--{similar}"));
        error.insert(ContextKind::SuggestedArg, similar);
    }
    Vec::new()
}

/// Returns the name of the long option with one dash that contains an unknown short option: `json`
/// for `-j` of `-json`.
fn misread_option<'a>(option: &str, arguments: &'a [OsString]) -> Option<&'a str> {
    let letter = option.strip_prefix('-')?;
    if letter.starts_with('-') || arguments.iter().any(|word| word.as_os_str() == option) {
        return None;
    }
    single_dash_words(arguments)
        .filter_map(single_dash_name)
        .find(|name| name.contains(letter))
}

/// Returns the tip for a tag among the arguments of `wheel retag`: the options that set it.
fn tag_tip(arguments: &[OsString]) -> Option<String> {
    let words = arguments.iter().filter_map(|word| word.to_str());
    let options = words
        .skip_while(|word| *word != "retag")
        .skip(1)
        .find_map(tag_options)?;
    Some(format!("write tags as options: `{options}`"))
}

/// Returns the options that set a Python, ABI or platform tag, or all three as in filenames.
fn tag_options(word: &str) -> Option<String> {
    let is_platform = |tag: &str| {
        let starts = ["linux_", "macosx_", "manylinux", "musllinux", "win_"];
        ["any", "win32"].contains(&tag) || starts.iter().any(|start| tag.starts_with(start))
    };
    let is_python = |tag: &str| {
        let names = ["cp", "pp", "py"];
        let version = names.iter().find_map(|name| tag.strip_prefix(name));
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    if has_wheel_extension(word) || word.contains('/') {
        return None;
    }
    let tag = word.strip_prefix('+').unwrap_or(word);
    let parts: Vec<&str> = tag.split('-').collect();
    match parts[..] {
        [tag] if is_platform(tag) => Some(shell_line(["--platform-tag", word])),
        [tag] if is_python(tag) => Some(shell_line(["--python-tag", word])),
        ["abi3" | "none"] => Some(shell_line(["--abi-tag", word])),
        [python, abi, platform] if is_python(python) && is_platform(platform) => {
            Some(shell_line([
                "--python-tag",
                python,
                "--abi-tag",
                abi,
                "--platform-tag",
                platform,
            ]))
        }
        _ => None,
    }
}

/// Returns the tip that pipes a filtered plan into a command that reads jobs: `build`, `test` and
/// `render` except `render workflow`. The other options of the command line are kept.
fn filtered_plan(command: &Command, path: &str, arguments: &[OsString]) -> Option<String> {
    let (input, default_out): (&[&str], &[&str]) = match path {
        "build" | "test" => (&["-", "--all"], &[]),
        "render" | "render docker" | "render recipe" => (&["-"], &[]),
        "render script" => (&["-"], &["--out", "scripts/"]),
        _ => return None,
    };
    let mut words = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| argument.to_str());
    let (mut plan, mut kept): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut has_out = false;
    while let Some(word) = words.next() {
        if word == "--only" {
            plan.extend(words.next().into_iter().flat_map(|value| [word, value]));
            continue;
        }
        let Some((option, takes_next)) = option_of_word(command, word) else {
            let extension = Path::new(word).extension();
            let is_matrix = extension.is_some_and(|one| one == "yaml" || one == "yml");
            if word.starts_with("--only=") || (is_matrix && !word.starts_with('-')) {
                plan.push(word);
            }
            continue;
        };
        let long = option.get_long().unwrap_or_default();
        let value = if takes_next { words.next() } else { None };
        match long {
            // `-` replaces these.
            "all" => {}
            "matrix" | "plan" => {
                plan.extend(value.or_else(|| Some(word.split_once('=')?.1)));
            }
            _ => {
                if ["compat", "recipes"].contains(&long) {
                    plan.extend([word].into_iter().chain(value));
                }
                has_out |= long == "out";
                kept.extend([word].into_iter().chain(value));
            }
        }
    }
    if !plan.iter().any(|word| word.starts_with("--only")) {
        plan.extend(["--only", "AXIS=VALUE"]);
    }
    let plan = shell_line(plan);
    let out: &[&str] = if has_out { &[] } else { default_out };
    let reader = shell_line(path.split(' ').chain([input, out].concat()).chain(kept));
    Some(format!(
        "filter a plan: `rock-matrix plan {plan} --json | rock-matrix {reader}`"
    ))
}

/// Returns the option of the command that a word sets, and whether its value is the next word.
fn option_of_word<'c>(command: &'c Command, word: &str) -> Option<(&'c Arg, bool)> {
    let (option, has_value) = if let Some(text) = word.strip_prefix("--") {
        let name = text.split('=').next()?;
        (option_with_name(command, name)?, text.contains('='))
    } else {
        let mut letters = word.strip_prefix('-')?.chars();
        let letter = letters.next();
        let mut options = command.get_arguments();
        let option = options.find(|option| letter.is_some() && option.get_short() == letter)?;
        (option, letters.next().is_some())
    };
    let takes_value = option.get_action().takes_values() && !option.is_require_equals_set();
    Some((option, takes_value && !has_value))
}

/// Returns tips for an unknown subcommand: the command to use instead, or the subcommand that the
/// word is an argument of. Subcommands with similar names are added to the error.
fn subcommand_tips(
    error: &mut clap::Error,
    root: &Command,
    group: &Command,
    path: &str,
    arguments: &[OsString],
) -> Vec<String> {
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedSubcommand);
    let Some(word) = context(error, ContextKind::InvalidSubcommand)
        .into_iter()
        .next()
    else {
        return Vec::new();
    };
    let mut tips = table::tips(path, &word);
    if path.is_empty() && word == "show" {
        tips.extend(show_tip(arguments));
    }
    if tips.is_empty() && word == "help" {
        tips.push(format!("did you mean `rock-matrix help {path}`?"));
    }
    let groups = groups_with_subcommand(root, &word);
    // In a group, a verb of other programs is rarely a command of another group.
    let is_elsewhere = groups.len() == 1 && !table::is_typed(&word);
    if tips.is_empty() && (path.is_empty() || is_elsewhere) {
        let tip = |group: &&str| {
            let words = ["rock-matrix", *group, word.as_str()];
            let line = shell_line(words.into_iter().chain(words_after(&word, arguments)));
            format!("did you mean `{line}`?")
        };
        tips.extend(groups.iter().map(tip));
    }
    if !tips.is_empty() {
        return tips;
    }
    let similar: Vec<String> = similar(&word, subcommands(group))
        .into_iter()
        .map(str::to_owned)
        .collect();
    if !similar.is_empty() {
        let similar = ContextValue::Strings(similar);
        error.insert(ContextKind::SuggestedSubcommand, similar);
        return Vec::new();
    }
    let is_command = !groups.is_empty() || root.find_subcommand(&word).is_some();
    if !is_command && !table::is_typed(&word) {
        tips = table::default_tips(path, &word);
        if tips.is_empty() && path == "compat" {
            tips = compat_tips(&word);
        }
    }
    if tips.is_empty() && !path.is_empty() {
        let names: Vec<&str> = subcommands(group).collect();
        tips.push(format!("the subcommands are {}", names.join(", ")));
    }
    tips
}

/// Returns the tip for `show` and a file: the command that prints a saved plan or a wheel.
fn show_tip(arguments: &[OsString]) -> Option<String> {
    let file = words_after("show", arguments).find(|word| !word.starts_with('-'))?;
    let command = if Path::new(file).extension()? == "json" {
        "plan"
    } else if has_wheel_extension(file) {
        "wheel show"
    } else {
        return None;
    };
    let words = shell_line(words_after("show", arguments));
    Some(format!("did you mean `rock-matrix {command} {words}`?"))
}

/// Returns the words after a subcommand on the command line.
fn words_after<'a>(
    subcommand: &str,
    arguments: &'a [OsString],
) -> impl Iterator<Item = &'a str> + use<'a> {
    let at = arguments.iter().position(|word| word == subcommand);
    let after = at.map_or(&[][..], |at| &arguments[at + 1..]);
    after.iter().filter_map(|word| word.to_str())
}

/// Returns tips for a word after `compat` that is not a subcommand: the table with this or a
/// similar name, or the values that it stands for in the built-in data. The options of a command
/// line with an error, such as `--compat`, are unknown.
fn compat_tips(word: &str) -> Vec<String> {
    let tables = completed_value::tables();
    let pairs = Compat::embedded().pairs_of_value(word);
    if pairs.is_empty() {
        let similar = similar(word, tables.iter().map(String::as_str)).into_iter();
        similar
            .take(1)
            .map(|table| format!("did you mean `rock-matrix compat list {table}`?"))
            .collect()
    } else {
        pairs
            .into_iter()
            .map(|pair| {
                let pair = shell_quoted(pair);
                format!("did you mean `rock-matrix compat explain {pair}`?")
            })
            .collect()
    }
}

/// Returns the command that the usage of an error shows, with its path below the program.
fn command_of<'c>(root: &'c Command, error: &clap::Error) -> (&'c Command, String) {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    let (mut command, mut path) = (root, Vec::new());
    // The first two words are `Usage: rock-matrix`.
    for word in usage.unwrap_or_default().split_whitespace().skip(2) {
        let Some(inner) = command.find_subcommand(word) else {
            break;
        };
        command = inner;
        path.push(inner.get_name());
    }
    (command, path.join(" "))
}

/// Returns the names of the visible subcommands of a command.
fn subcommands(command: &Command) -> impl Iterator<Item = &str> {
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
        .map(Command::get_name)
}

/// Returns the commands with a subcommand of this name, such as `release` for `prune`.
fn groups_with_subcommand<'c>(root: &'c Command, name: &str) -> Vec<&'c str> {
    root.get_subcommands()
        .filter(|group| subcommands(group).any(|inner| inner == name))
        .map(Command::get_name)
        .collect()
}

/// Returns the names that resemble a word, or else those that begin with it or that it begins with.
fn similar<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let names: Vec<&str> = names.collect();
    let near = nearest_few(word, names.iter().copied());
    if !near.is_empty() {
        return near;
    }
    let is_part = |name: &&str| {
        (word.len() >= MIN_PREFIX_CHARS && name.starts_with(word))
            || (name.len() >= MIN_NAME_CHARS && word.starts_with(*name))
            || name
                .strip_prefix(word)
                .is_some_and(|rest| rest.starts_with('-'))
    };
    names.into_iter().filter(is_part).collect()
}

/// Returns the positional argument that has the name of an option, in the singular or plural.
fn argument_named<'c>(command: &'c Command, name: &str) -> Option<&'c str> {
    let name = name.strip_suffix('s').unwrap_or(name);
    let is_same = |other: &str| {
        let other = other.strip_suffix(['s', 'S']).unwrap_or(other);
        other.eq_ignore_ascii_case(name)
    };
    command.get_positionals().find_map(|argument| {
        let value = argument.get_value_names()?.first()?.as_str();
        // `FILE|JOB` accepts both.
        let part = value.split('|').find(|part| is_same(part));
        part.or_else(|| is_same(argument.get_id().as_str()).then_some(value))
    })
}

/// Returns the name of an option that clap shows with its value: `--gfx` of `--gfx <LIST>`.
fn option_name(text: &str) -> &str {
    text.split([' ', '=']).next().unwrap_or_default()
}

/// Returns the texts of this kind in an error.
fn context(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn add_tips(error: &mut clap::Error, tips: Vec<String>) {
    if !tips.is_empty() {
        let tips = tips.into_iter().map(Into::into).collect();
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
    fn a_filter_of_plans_is_piped_into_commands_that_read_jobs() {
        for (words, tip) in [
            (
                &["build", "--only", "torch=2.9.1", "--only=python=3.12"][..],
                "`rock-matrix plan --only torch=2.9.1 --only=python=3.12 --json | \
                 rock-matrix build - --all`",
            ),
            (
                &[
                    "-v",
                    "build",
                    "--only",
                    "python=3.12",
                    "--matrix=m.yaml",
                    "--recipes",
                    "r",
                    "--resume",
                    "-n",
                    "-o",
                    "x.yaml",
                    "--all",
                ],
                "`rock-matrix plan --only python=3.12 m.yaml --recipes r --json | \
                 rock-matrix build - --all -v --recipes r --resume -n -o x.yaml`",
            ),
            (
                &["render", "script", "--only", "python=3.12", "--out", "d"],
                "`rock-matrix plan --only python=3.12 --json | \
                 rock-matrix render script - --out d`",
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
    fn an_option_with_one_dash_is_no_short_option_with_a_value() {
        for words in [
            &["plan", "-out", "plan.json"][..],
            &["plan", "-out=plan.json"],
            &["plan", "-output", "plan.json"],
        ] {
            let text = error(words);
            assert!(text.contains("write `-o` or `--out`"), "{text}");
            assert!(text.contains("Usage: rock-matrix plan"), "{text}");
        }
        for (words, option) in [
            (&["plan", "-only", "python=3.12"][..], "--only"),
            (&["plan", "-only=python=3.12"], "--only"),
            (&["plan", "-only-failed", "run.json"], "--only-failed"),
            (&["wheel", "repair", "a.whl", "-wheel-dir=x"], "--out"),
        ] {
            let text = error(words);
            assert!(text.contains(&format!("write `{option}`\n")), "{text}");
        }
        // The values of options are not options, and `check` has no `-o`.
        for words in [
            &["plan", "-o=-out"][..],
            &["plan", "-onl"],
            &["plan", "--", "-out", "-only"],
            &["render", "--docker-arg", "-out"],
        ] {
            let arguments = ["rock-matrix"].iter().chain(words).map(OsString::from);
            assert!(crate::cli::parsed(arguments).is_ok(), "{words:?}");
        }
        assert!(!error(&["check", "-out"]).contains("write `-o`"));
    }

    #[test]
    fn unknown_options_with_one_dash_are_shown_whole() {
        for (words, name, tip) in [
            (
                &["plan", "-json"][..],
                "-json",
                "a similar argument exists: '--json'",
            ),
            (
                &["plan", "-version"],
                "-version",
                "a similar argument exists: '--version'",
            ),
            (
                &["plan", "-gpu=gfx942"],
                "-gpu",
                "a similar argument exists: '--gfx'",
            ),
            (
                &["plan", "-dry-run"],
                "-dry-run",
                "`rock-matrix plan` builds and publishes nothing",
            ),
            (
                &["plan", "-target", "x"],
                "-target",
                "`--only AXIS=VALUE` selects jobs",
            ),
            (
                &["build", "-job", "x"],
                "-job",
                "write it without an option: `rock-matrix build JOB`",
            ),
        ] {
            let text = error(words);
            let first = format!("error: unexpected argument '{name}' found\n");
            assert!(text.starts_with(&first), "{text}");
            assert!(text.contains(&format!("tip: {tip}")), "{text}");
        }
        assert!(error(&["plan", "-x"]).contains("unexpected argument '-x' found"));
        assert!(!error(&["clean", "-whole"]).contains("tip:"));
    }

    #[test]
    fn few_values_of_a_missing_argument_are_listed() {
        for (command, tip) in [
            (
                &["env"][..],
                "tip: `rock-matrix compat list profiles` lists the profiles",
            ),
            (
                &["recipe", "show"],
                "tip: `rock-matrix recipe list` lists the recipes",
            ),
            (&["completions"], "tip: SHELL is one of bash, "),
        ] {
            let text = error(command);
            assert!(text.contains(tip), "{text}");
        }
        assert!(
            !error(&["env"]).contains("is one of"),
            "data may have others"
        );
        assert!(!error(&["wheel", "label"]).contains("is one of"));
    }

    #[test]
    fn usage_lines_do_not_contain_the_options_that_were_passed() {
        for (words, usage) in [
            (
                &["render", "docker", "--json", "--foo"][..],
                "render docker [OPTIONS] [FILE|JOB]...",
            ),
            (
                &["plan", "--json", "--out", "x", "--foo"],
                "plan [OPTIONS] [FILES]...",
            ),
            (
                &["plan", "--json", "--format", "human"],
                "plan [OPTIONS] [FILES]...",
            ),
        ] {
            let text = error(words);
            let expected = format!("\nUsage: rock-matrix {usage}\n");
            assert!(text.contains(&expected), "{text}");
        }
    }

    #[test]
    fn an_option_that_is_given_twice_has_no_tip() {
        for words in [
            &["pick", "--rocm", "6.4", "--rocm", "7.0"][..],
            &["pick", "--torch", "2.8", "--torch", "2.9"],
        ] {
            let text = error(words);
            assert!(text.contains("cannot be used multiple times"), "{text}");
            assert!(!text.contains("tip:"), "{text}");
        }
    }

    #[test]
    fn tips_name_the_right_command_line() {
        for (words, tip) in [
            (
                &["repair", "a b.whl", "--strip"][..],
                "did you mean `rock-matrix wheel repair 'a b.whl' --strip`?",
            ),
            (
                &["yank", "dist", "a==1"],
                "did you mean `rock-matrix index yank dist a==1`?",
            ),
            (
                &["index", "prune", "dist"],
                "did you mean `rock-matrix index yank`?",
            ),
            (
                &["index", "build", "dist", "--dry-run"],
                "`--out DIR` writes the pages to another directory",
            ),
            (
                &["index", "build", "dist", "--force"],
                "`rock-matrix index build` replaces its pages without such an option",
            ),
            (
                &["publish", "dist", "--out", "d", "--force"],
                "`--replace` replaces published files that differ",
            ),
            (
                &["release", "prune", "--out", "d", "--keep", "2"],
                "releases in a directory are subdirectories, which you can delete",
            ),
            (
                &["compat", "torch"],
                "did you mean `rock-matrix compat list torch`?",
            ),
            (
                &["compat", "torhc"],
                "did you mean `rock-matrix compat list torch`?",
            ),
            (
                &["compat", "gfx942"],
                "did you mean `rock-matrix compat explain gfx=gfx942`?",
            ),
            (
                &["compat", "RX 7900 XTX"],
                "did you mean `rock-matrix compat explain gfx=gfx1100`?",
            ),
            (
                &["compat", "nonsense"],
                "the subcommands are list, explain, expand, refresh",
            ),
            (
                &["index", "dist"],
                "did you mean `rock-matrix index build dist`?",
            ),
            (&["publish", "--prune"], "use `rock-matrix release prune`"),
            (&["wheel", "info"], "did you mean `rock-matrix wheel show`?"),
            (
                &["wheel", "verify-all"],
                "a similar subcommand exists: 'verify'",
            ),
            (
                &["wheel", "repiar"],
                "a similar subcommand exists: 'repair'",
            ),
            (
                &["wheel", "x.whl"],
                "did you mean `rock-matrix wheel show x.whl`?",
            ),
            (&["wheel", "help"], "did you mean `rock-matrix help wheel`?"),
            (
                &["wheel", "lddtree", "x.whl"],
                "did you mean `rock-matrix wheel show`?",
            ),
            (&["addtag"], "did you mean `rock-matrix wheel repair`?"),
            (
                &["build", "--print-build-identifiers"],
                "`rock-matrix plan --format ids` prints the IDs of the jobs",
            ),
            (
                &["index", "list"],
                "did you mean `rock-matrix report packages`?",
            ),
            (
                &["index", "serve"],
                "`python3 -m http.server --directory DIR` serves an index",
            ),
            (
                &["index", "upload"],
                "the subcommands are build, yank, unyank",
            ),
            (
                &["compat", "torch=2.6.0"],
                "did you mean `rock-matrix compat explain torch=2.6.0`?",
            ),
            (
                &["index", "build"],
                "`--published` indexes releases instead of a directory",
            ),
            (&["matrix", "plan"], "did you mean `rock-matrix plan`?"),
            (
                &["release", "upload"],
                "did you mean `rock-matrix publish`?",
            ),
            (
                &["release", "notes"],
                "did you mean `rock-matrix report notes`?",
            ),
            (
                &["release", "clean"],
                "the subcommands are preflight, prune, subjects",
            ),
            (&["sdk", "create"], "did you mean `rock-matrix sdk build`?"),
            (
                &["compat", "check"],
                "did you mean `rock-matrix compat explain`?",
            ),
            (
                &["source", "fetch"],
                "did you mean `rock-matrix source checkout`?",
            ),
            (
                &["recipe", "flash-attn"],
                "did you mean `rock-matrix recipe show flash-attn`?",
            ),
            (&["validate"], "did you mean `rock-matrix check`?"),
            (&["version"], "did you mean `rock-matrix --version`?"),
            (
                &["show", "plan.json"],
                "did you mean `rock-matrix plan plan.json`?",
            ),
            (
                &["show", "--json", "a b.whl"],
                "did you mean `rock-matrix wheel show --json 'a b.whl'`?",
            ),
            (
                &["show", "flash-attn"],
                "did you mean `rock-matrix recipe show flash-attn`?",
            ),
            (
                &["wheel", "retag", "a.whl", "manylinux_2_28_x86_64"],
                "write tags as options: `--platform-tag manylinux_2_28_x86_64`",
            ),
            (
                &["wheel", "retag", "a.whl", "py2.py3"],
                "write tags as options: `--python-tag py2.py3`",
            ),
            (
                &["wheel", "retag", "a.whl", "cp312-abi3-linux_x86_64"],
                "write tags as options: `--python-tag cp312 --abi-tag abi3 --platform-tag linux_x86_64`",
            ),
            (
                &["wheel", "gfx", "a.whl", "--gpu", "gfx942"],
                "`--require LIST` fails if code for a target is missing",
            ),
            (
                &["wheel", "check", "a.whl", "--strict"],
                "errors fail `rock-matrix wheel check` without an option",
            ),
            (
                &["check", "--strict"],
                "no option makes errors of warnings; `--json` prints both",
            ),
            (
                &["-C", "x", "plan"],
                "run `cd DIR` first: files are found in the working directory",
            ),
            (
                &["render", "docker", "--project", "x"],
                "run `cd DIR` first: files are found in the working directory",
            ),
            (
                &["plan", "--no-color"],
                "`--color never` prints without colors",
            ),
            (
                &["plan", "-f", "json"],
                "`--json` prints JSON, and `--format ids` the IDs of the jobs",
            ),
            (
                &["plan", "--exit-code"],
                "`--diff OLD.json --json` lists the changes",
            ),
            (
                &["plan", "--why"],
                "`--explain` shows the reason for each excluded combination",
            ),
            (
                &["build", "--python", "3.12"],
                "`rock-matrix plan --only AXIS=VALUE --format ids` prints IDs of jobs",
            ),
            (
                &["wheel", "label", "a.whl", "x", "--inplace"],
                "no command modifies its input; the new wheel is another file",
            ),
            (
                &["wheel", "check", "-o", "x", "a.whl"],
                "`rock-matrix wheel check` writes no file",
            ),
            (
                &["index", "yank", "dist", "a==1", "-y"],
                "`--apply` writes the changes, without a question",
            ),
            (
                &["pick", "rel", "gafime-rocm"],
                "`--published SOURCE` or `--wheels DIR` names the wheels to search",
            ),
            (
                &["init", "--gfx", "gfx942"],
                "edit these values in the matrix file that `rock-matrix init` writes",
            ),
            (
                &["init", "--force"],
                "`rock-matrix init` keeps existing files",
            ),
            (
                &["pick", "--index", "https://example.org"],
                "`--published SOURCE` is a repository on GitHub",
            ),
            (
                &["plan", "--detailed-exitcode"],
                "`--diff OLD.json --json` lists the changes",
            ),
            (
                &["publish", "d", "--skip-existing"],
                "`rock-matrix publish` skips files that are in place",
            ),
            (
                &["plan", "--list"],
                "`rock-matrix plan` lists all jobs without an option",
            ),
            (
                &["plan", "--output", "x"],
                "a similar argument exists: '--out'",
            ),
            (
                &["env", "--list"],
                "`rock-matrix compat list profiles` lists the profiles",
            ),
            (
                &["build", "--jobs", "4"],
                "`vars: {max-jobs: N}` in the matrix file limits the parallel compilers",
            ),
            (
                &["build", "--job", "x"],
                "write it without an option: `rock-matrix build JOB`",
            ),
            (
                &["render", "--job", "x"],
                "write it without an option: `rock-matrix render JOB`",
            ),
            (
                &["render", "script", "--job", "x"],
                "write it without an option: `rock-matrix render script JOB`",
            ),
            (
                &["wheel", "check", "--dir", "x"],
                "write it without an option: `rock-matrix wheel check DIR`",
            ),
            (
                &["index", "yank", "dist", "a==1", "--message", "x"],
                "`--reason TEXT` sets the reason",
            ),
            (
                &["pick", "--gfx", "gfx90a"],
                "`--published DIR` searches a directory of releases or wheels",
            ),
            (
                &["render", "--dry-run"],
                "`rock-matrix render` runs nothing",
            ),
            (
                &["render", "workflow", "--dry-run"],
                "`rock-matrix render` runs nothing; with `--out`, `--check` writes nothing",
            ),
            (
                &["build", "--force"],
                "`rock-matrix build` builds again without an option",
            ),
            (
                &["init", "--dry-run"],
                "`rock-matrix init` keeps existing files",
            ),
            (
                &["publish", "--token", "x"],
                "a similar argument exists: '--token-file'",
            ),
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
    fn no_tip_makes_a_value_of_an_option_or_deletes() {
        let text = error(&["build", "--no-such-option"]);
        assert!(!text.contains("as a value"), "{text}");
        for words in [
            &["clean", "--whol"][..],
            &["build", "--release"],
            &["build", "--wheel"],
            &["publish", "--all"],
            &["create-x"],
            &["update"],
        ] {
            let text = error(words);
            assert!(!text.contains("tip:"), "{text}");
        }
    }
}

//! Tips of command-line errors: the commands and options that were meant.

mod tables;

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::diagnostic::nearest::{nearest, nearest_few};
use crate::diagnostic::{shell_line, shell_quoted};
use tables::{
    ALTERNATIVES, COMMON_OPTIONS, COMMON_VERBS, CONFLICTS, DEFAULT_SUBCOMMANDS, DELETING,
    FOREIGN_OPTIONS, FOREIGN_SUBCOMMANDS, REPLACED_OPTIONS,
};

/// An option of more commands than this is too common for a tip.
const MAX_TIPS: usize = 3;

/// Minimum number of characters of the beginning of a name that the name is suggested for.
const MIN_PREFIX_CHARS: usize = 3;

/// Minimum number of characters of a name that is suggested for a longer word.
const MIN_NAME_CHARS: usize = 4;

/// Minimum number of characters of the beginning of an option that the option is suggested for:
/// `--all` is no beginning of `--allow`.
const MIN_OPTION_PREFIX_CHARS: usize = 4;

/// Minimum number of characters of an option that is suggested for a longer one, as out for
/// output.
const MIN_OPTION_CHARS: usize = 3;

/// Replaces clap's tips with ones that lead to a command line that works.
pub(super) fn improved(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => suggest_option(&mut error, arguments),
        ErrorKind::InvalidSubcommand => suggest_subcommand(&mut error, arguments),
        ErrorKind::ArgumentConflict => suggest_for_conflict(&mut error, arguments),
        ErrorKind::MissingRequiredArgument => {
            let root = super::command();
            let (_, path) = parent_command(&root, arguments);
            let tips = ALTERNATIVES
                .iter()
                .filter(|(command, _)| path == command.join(" "))
                .map(|(_, tip)| (*tip).to_owned());
            add_tips(&mut error, tips);
        }
        _ => {}
    }
    error
}

/// Adds a tip to an error that has none.
pub(super) fn add_tip(error: &mut clap::Error, tip: String) {
    let kinds = [ContextKind::Suggested, ContextKind::SuggestedSubcommand];
    if kinds.into_iter().all(|kind| error.get(kind).is_none()) {
        add_tips(error, std::iter::once(tip));
    }
}

/// Returns a tip for a word that may be a misspelled subcommand of a group.
pub(super) fn subcommand_tip(group: &str, word: &str) -> Option<String> {
    let root = super::command();
    let forms = foreign_forms(group, word);
    if !forms.is_empty() {
        return Some(format!("did you mean `{}`?", forms.join("`, or `")));
    }
    let similar = similar_subcommands(root.find_subcommand(group)?, word);
    let line = format!("rock-matrix {group} {}", similar.first()?);
    Some(format!("did you mean `{line}`?"))
}

/// Suggests options of the command, and commands that have the option.
fn suggest_option(error: &mut clap::Error, arguments: &[OsString]) {
    let Some(option) = context(error, ContextKind::InvalidArg) else {
        return;
    };
    let name = option.split('=').next().unwrap_or_default();
    // clap's tip `-- --option` makes a file name of a mistyped option, and the options that it
    // considers similar hardly are.
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedArg);
    let root = super::command();
    let (command, path) = parent_command(&root, arguments);
    if name == "--only"
        && let Some(tip) = filtered_plan(&path, arguments)
    {
        add_tips(error, std::iter::once(tip));
        return;
    }
    let replaced = REPLACED_OPTIONS
        .iter()
        .find(|(of, option, _)| is_within(&path, of) && *option == name);
    if let Some((_, _, form)) = replaced {
        add_tips(error, std::iter::once(format!("use `{form}`")));
        return;
    }
    let foreign = FOREIGN_OPTIONS
        .iter()
        .find(|(of, options, _)| is_within(&path, of) && options.contains(&name));
    if let Some((_, _, tip)) = foreign {
        add_tips(error, std::iter::once((*tip).to_owned()));
        return;
    }
    if DELETING.contains(&name) {
        return;
    }
    if let Some(argument) = argument_named(command, name) {
        let line = format!("rock-matrix {path} {argument}");
        let tip = format!("write it without an option: `{line}`");
        add_tips(error, std::iter::once(tip));
        return;
    }
    if let Some(similar) = similar_option(command, name) {
        let similar = ContextValue::String(format!("--{similar}"));
        error.insert(ContextKind::SuggestedArg, similar);
        return;
    }
    let mut commands = Vec::new();
    if !COMMON_OPTIONS.contains(&name) {
        commands_with_option(&root, name, "rock-matrix", &mut commands);
    }
    if commands.len() <= MAX_TIPS {
        let tip = |command| format!("`{command}` has the option `{name}`");
        add_tips(error, commands.into_iter().map(tip));
    }
}

/// Returns the tip that pipes a filtered plan into a command that reads jobs: `build`, `test` and
/// `render` except `render workflow`.
fn filtered_plan(path: &str, arguments: &[OsString]) -> Option<String> {
    let reader = match path {
        "build" | "test" => format!("{path} - --all"),
        "render" | "render docker" | "render recipe" => format!("{path} -"),
        "render script" => format!("{path} - --out scripts/"),
        _ => return None,
    };
    let words = arguments.iter().filter_map(|argument| argument.to_str());
    let mut plan: Vec<&str> = Vec::new();
    let mut before = "";
    for word in words {
        let is_output = ["--out", "-o"].contains(&before);
        let is_matrix = Path::new(word)
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml");
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

/// Suggests subcommands, or the subcommand that the word is an argument of.
fn suggest_subcommand(error: &mut clap::Error, arguments: &[OsString]) {
    let Some(word) = context(error, ContextKind::InvalidSubcommand) else {
        return;
    };
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedSubcommand);
    let root = super::command();
    let (command, path) = parent_command(&root, arguments);
    let is_common = !path.is_empty() && COMMON_VERBS.contains(&word.as_str());
    let mut forms: Vec<String> = foreign_forms(&path, &word)
        .iter()
        .map(|form| (*form).to_owned())
        .collect();
    if word == "help" && !path.is_empty() {
        forms.push(format!("rock-matrix help {path}"));
    } else if forms.is_empty() && !is_common {
        subcommands_named(&root, &word, "rock-matrix", &mut forms);
    }
    if forms.is_empty() && !is_common {
        let similar = similar_subcommands(command, &word);
        if !similar.is_empty() {
            let names = similar.into_iter().map(str::to_owned).collect();
            error.insert(
                ContextKind::SuggestedSubcommand,
                ContextValue::Strings(names),
            );
            return;
        }
        let default = DEFAULT_SUBCOMMANDS.iter().find(|(group, _)| *group == path);
        forms.extend(default.map(|(group, default)| {
            let default = match *group {
                "compat" if word.contains('=') => "explain",
                _ => default,
            };
            format!("rock-matrix {group} {default} {}", shell_quoted(&word))
        }));
    }
    if forms.is_empty() && !path.is_empty() {
        let names = command.get_subcommands().map(Command::get_name);
        let names: Vec<&str> = names.collect();
        let tip = format!("the subcommands are {}", names.join(", "));
        add_tips(error, std::iter::once(tip));
        return;
    }
    let tip = |form| format!("did you mean `{form}`?");
    add_tips(error, forms.into_iter().map(tip));
}

/// Suggests what to do instead of combining two options.
fn suggest_for_conflict(error: &mut clap::Error, arguments: &[OsString]) {
    let mut names = Vec::new();
    for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
        match error.get(kind) {
            Some(ContextValue::String(text)) => names.push(option_name(text).to_owned()),
            Some(ContextValue::Strings(texts)) => {
                names.extend(texts.iter().map(|text| option_name(text).to_owned()));
            }
            _ => {}
        }
    }
    let is_given = |option: &str| names.iter().any(|name| name == option);
    let root = super::command();
    let (_, path) = parent_command(&root, arguments);
    let tips = CONFLICTS.iter().filter(|(command, option, others, _)| {
        *command == path && is_given(option) && others.iter().any(|other| is_given(other))
    });
    add_tips(error, tips.map(|(.., tip)| (*tip).to_owned()));
}

/// Returns the name of an option that clap shows with its value: `--gfx` of `--gfx <LIST>`.
fn option_name(text: &str) -> &str {
    text.split([' ', '=']).next().unwrap_or_default()
}

/// Returns the command that the arguments name, as far as its subcommands exist, with its path
/// below the program: `wheel` for `wheel info`.
fn parent_command<'c>(root: &'c Command, arguments: &[OsString]) -> (&'c Command, String) {
    let (mut command, mut path) = (root, Vec::new());
    let mut words = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| argument.to_str());
    while let Some(word) = words.next() {
        if takes_value(root, word) || takes_value(command, word) {
            words.next();
        } else if !word.starts_with('-') {
            let Some(inner) = command.find_subcommand(word) else {
                break;
            };
            command = inner;
            path.push(inner.get_name());
        }
    }
    (command, path.join(" "))
}

/// Whether a word is an option of a command whose value is the next word.
fn takes_value(command: &Command, word: &str) -> bool {
    command.get_arguments().any(|argument| {
        let longs = argument.get_long_and_visible_aliases().unwrap_or_default();
        let hidden = argument.get_all_aliases().unwrap_or_default();
        let long = word.strip_prefix("--");
        let is_long = long.is_some_and(|long| longs.contains(&long) || hidden.contains(&long));
        let is_short = word
            .strip_prefix('-')
            .is_some_and(|short| argument.get_short().is_some_and(|c| short == c.to_string()));
        (is_long || is_short) && argument.get_action().takes_values()
    })
}

/// Whether a command is this one or below it.
fn is_within(path: &str, command: &str) -> bool {
    path.strip_prefix(command)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns the commands that do what other programs call so.
fn foreign_forms(path: &str, word: &str) -> &'static [&'static str] {
    FOREIGN_SUBCOMMANDS
        .iter()
        .find(|(group, words, _)| *group == path && words.contains(&word))
        .map(|(_, _, forms)| *forms)
        .unwrap_or_default()
}

/// Returns the subcommands whose names resemble a word, or begin with it.
fn similar_subcommands<'c>(command: &'c Command, word: &str) -> Vec<&'c str> {
    let names = || {
        let visible = command
            .get_subcommands()
            .filter(|inner| !inner.is_hide_set());
        visible.map(Command::get_name)
    };
    let near = nearest_few(word, names());
    if near.is_empty() {
        names().filter(|name| has_prefix(word, name)).collect()
    } else {
        near
    }
}

/// Whether one of two words begins with the other, which is not too short.
fn has_prefix(word: &str, name: &str) -> bool {
    (word.len() >= MIN_PREFIX_CHARS && name.starts_with(word))
        || (name.len() >= MIN_NAME_CHARS && word.starts_with(name))
}

/// Returns the visible option of a command that resembles a name, without dashes.
fn similar_option<'c>(command: &'c Command, name: &str) -> Option<&'c str> {
    let bare = name.strip_prefix("--")?;
    let options = || {
        let visible = command
            .get_arguments()
            .filter(|argument| !argument.is_hide_set());
        visible
            .filter_map(clap::Arg::get_long)
            .filter(|long| !DELETING.iter().any(|name| name[2..] == **long))
    };
    let begins = |long: &&str| {
        (bare.len() >= MIN_OPTION_PREFIX_CHARS && long.starts_with(bare))
            || (long.len() >= MIN_OPTION_CHARS && bare.starts_with(*long))
            || long
                .strip_prefix(bare)
                .is_some_and(|rest| rest.starts_with('-'))
    };
    nearest(bare, options()).or_else(|| options().find(begins))
}

/// Returns the name of the positional argument that an option of this name stands for.
fn argument_named(command: &Command, option: &str) -> Option<String> {
    let bare = option.strip_prefix("--")?;
    let is_named = |name: &str| {
        let name = name.to_lowercase();
        let without_s = |text: &str| text.strip_suffix('s').unwrap_or(text).to_owned();
        without_s(&name) == without_s(bare)
    };
    command.get_positionals().find_map(|argument| {
        let names = argument.get_value_names().unwrap_or_default();
        let is_same =
            is_named(argument.get_id().as_str()) || names.iter().any(|name| is_named(name));
        names.first().filter(|_| is_same).map(ToString::to_string)
    })
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
                &["index", "list"],
                "did you mean `rock-matrix report packages`?",
            ),
            (
                &["index", "serve"],
                "the subcommands are build, yank, unyank",
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
                &["pick", "--wheels", "d", "--gfx", "gfx942"],
                "`rock-matrix wheel gfx DIR --require LIST` checks the GPU code of wheels",
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
                &["render", "--dry-run"],
                "`rock-matrix render` runs nothing",
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
            &["build", "--force"],
            &["build", "--release"],
            &["build", "--wheel"],
            &["check", "--strict"],
            &["publish", "--all"],
            &["create-x"],
            &["update"],
        ] {
            let text = error(words);
            assert!(!text.contains("tip:"), "{text}");
        }
    }

    #[test]
    fn every_suggested_command_exists() {
        let root = crate::cli::command();
        for (group, words, forms) in FOREIGN_SUBCOMMANDS {
            let command = match *group {
                "" => &root,
                group => root.find_subcommand(group).unwrap(),
            };
            for word in *words {
                assert!(command.find_subcommand(word).is_none(), "{group} {word}");
            }
            for form in *forms {
                let mut command = &root;
                let words = form.split(' ').skip(1);
                for word in words.take_while(|word| !word.starts_with('-')) {
                    match command.find_subcommand(word) {
                        Some(inner) => command = inner,
                        None => assert!(command.get_positionals().next().is_some(), "{form}"),
                    }
                }
            }
        }
    }
}

//! Words and options that people type as for similar programs, with what to use here.

use crate::diagnostic::shell_quoted;

/// One line for each tip: what is typed, ` -> `, and a command line or a sentence.
///
/// - The last word of what is typed has alternatives, separated by `|`. The words before it are the
///   command that it is typed after.
/// - An option counts for the subcommands of the command, too. One without a command counts for all
///   commands that have neither this option nor a line of their own for it. An option that exists
///   has a tip for conflicts with other options.
/// - A command that exists has a tip for missing arguments.
/// - `*` is any other word, and `*=*` any other word with an equals sign. In a tip, `*` is the
///   word.
const TIPS: &str = r"
inspect|info -> rock-matrix wheel show
inspect|info -> rock-matrix doctor
audit|auditwheel|delocate -> rock-matrix wheel check
audit|auditwheel|delocate -> rock-matrix wheel repair
addtag -> rock-matrix wheel repair
lddtree -> rock-matrix wheel show
upload|push|deploy -> rock-matrix publish
install|search|find -> rock-matrix pick
version -> rock-matrix --version
new|create -> rock-matrix init
run|compile -> rock-matrix build
list|ls -> rock-matrix plan
list|ls -> rock-matrix help --all
jobs|matrix|graph -> rock-matrix plan
diff -> rock-matrix plan --diff OLD.json
why -> rock-matrix plan --explain
lint|validate -> rock-matrix check
apply -> rock-matrix build
apply -> rock-matrix publish
generate|export -> rock-matrix render
ci|github|actions -> rock-matrix render workflow
dockerfile -> rock-matrix render docker
cache -> rock-matrix clean
config|settings -> rock-matrix help config
docs|examples -> rock-matrix help
profiles -> rock-matrix compat list profiles
--no-color|--no-colors|--no-colour -> `--color never` prints without colors
-C|--directory|--project|--cwd -> run `cd DIR` first: files are found in the working directory

attention show|explain|predict|info|list -> rock-matrix attention report
attention check|verify|test|run -> rock-matrix attention script
attention check|verify|test|run -> rock-matrix attention judge
attention * -> rock-matrix attention report --gfx *

build --list -> `rock-matrix plan` lists the jobs
build --print-build-identifiers -> `rock-matrix plan --format ids` prints the IDs of the jobs
build --force|--rebuild -> `rock-matrix build` builds again without an option; `--resume` continues an unfinished build
build --jobs|--parallel|-j -> `vars: {max-jobs: N}` in the matrix file limits the parallel compilers
build --filter|--select|--python|--torch|--rocm|--backend -> `rock-matrix plan --only AXIS=VALUE --format ids` prints IDs of jobs
build --test -> use `rock-matrix test JOB --dist DIR`

check --strict|--deny-warnings|--werror|-W -> no option makes errors of warnings; `--json` prints both with their severity
check --fix -> `rock-matrix check` changes nothing; it prints how to fix each error

compat show|view|get|info|ls|tables -> rock-matrix compat list
compat check|test|query|verify -> rock-matrix compat explain
compat update|upgrade|sync|fetch|pull -> rock-matrix compat refresh
compat families|targets -> rock-matrix compat expand
compat actions|profiles -> rock-matrix compat list *
compat *=* -> rock-matrix compat explain *

doctor --fix -> `rock-matrix doctor` changes nothing; it prints how to fix what it finds
doctor --script -> use `rock-matrix attention script`
doctor --log -> use `rock-matrix attention judge FILE`

env -> `rock-matrix compat list profiles` lists the profiles
env --list|--all -> `rock-matrix compat list profiles` lists the profiles

explain --list|--all -> `rock-matrix explain` lists all codes without an option

index create|new|init|make|update|generate|add -> rock-matrix index build
index delete|remove|rm|prune -> rock-matrix index yank
index list|ls|show -> rock-matrix report packages
index serve -> `python3 -m http.server --directory DIR` serves an index
index build -> `--published` indexes releases instead of a directory
index build --force|--overwrite|--replace -> `rock-matrix index build` replaces its pages without such an option
index build --dry-run|-n -> `--out DIR` writes the pages to another directory, such as one for a preview
index --yank -> use `rock-matrix index yank DIR FILES`
index --yank-older-than -> use `rock-matrix index yank DIR --older-than AGE`
index --unyank -> use `rock-matrix index unyank DIR FILES`
index yank --message|--comment|-m -> `--reason TEXT` sets the reason
index yank --file|--files|--dir -> write them without options: `rock-matrix index yank DIR FILES`
index yank --yes|-y -> `--apply` writes the changes, without a question
index unyank --yes|-y -> `--apply` writes the changes, without a question
index unyank --file|--files|--dir -> write them without options: `rock-matrix index unyank DIR FILES`
index * -> rock-matrix index build *

init --dry-run|-n -> `rock-matrix init` keeps existing files; `rock-matrix init DIR` writes to a new directory
init --force -> `rock-matrix init` keeps existing files; remove those that it should write again
init --backend|--gfx|--gpu|--torch|--rocm|--python -> edit these values in the matrix file that `rock-matrix init` writes
init --list -> `rock-matrix recipe list` lists the recipes
init --template -> `--recipe NAME` selects what to start with
init --name -> `--distribution NAME` sets the project to build

pick -> `--published DIR` searches a directory of releases or wheels
pick --index|--index-url|--extra-index-url|--find-links|-f -> `--published SOURCE` is a repository on GitHub, a list of releases, or a directory
pick * -> `--published SOURCE` or `--wheels DIR` names the wheels to search, and the argument the distribution
pick --list|--all -> `rock-matrix report packages` lists all published wheels

plan --list|--all -> `rock-matrix plan` lists all jobs without an option
plan --jobs|--ids|--print-build-identifiers -> `--format ids` prints the IDs of the jobs
plan --compare|--base|--against -> `--diff OLD.json` shows what changed since a saved plan
plan --torch|--rocm|--python|--backend -> `--only AXIS=VALUE` keeps the jobs with a value
plan --torch|--rocm|--python|--backend -> `--axis AXIS=VALUES` plans other values
plan --detailed-exitcode|--exit-code -> `--diff OLD.json --json` lists the changes as JSON
plan --why|--reasons|--excluded -> `--explain` shows the reason for each excluded combination
plan -f -> `--json` prints JSON, and `--format ids` the IDs of the jobs
plan --filter|--select|--job|--target -> `--only AXIS=VALUE` selects jobs
plan --dry-run|-n -> `rock-matrix plan` builds and publishes nothing
plan --skip|--exclude -> `exclude` in the matrix file removes combinations, and `--only AXIS=VALUE` keeps the jobs with a value
plan --strip -> `rock-matrix wheel repair` has the option `--strip`

publish --force|--overwrite -> `--replace` replaces published files that differ
publish --dir|--dest -> `--out DIR` publishes to a directory
publish --prune -> use `rock-matrix release prune`
publish --skip-existing -> `rock-matrix publish` skips files that are in place without such an option
publish --subjects -> use `rock-matrix release subjects FILES --out FILE`
publish --upload|--push -> `rock-matrix publish` uploads without such an option
publish --yes|-y -> `rock-matrix publish` asks no questions

recipe info|view|get|inspect|describe|explain -> rock-matrix recipe show
recipe create|init|add|make -> rock-matrix recipe new
recipe ls -> rock-matrix recipe list
recipe show -> `rock-matrix recipe list` lists the recipes
recipe check|lint -> rock-matrix check
recipe * -> rock-matrix recipe show *

release upload|create|new|add|edit|push -> rock-matrix publish
release list|ls|show|view -> rock-matrix report packages
release list|ls|show|view -> rock-matrix report listing
release check|verify|test -> rock-matrix release preflight
release prune --out|--dir|--dist|--published -> releases in a directory are subdirectories, which you can delete; `rock-matrix index yank DIR --older-than 90d --keep 3` yanks old nightly builds
release prune -> either `--keep` or `--older-than` is enough
release prune -> `--state FILE` reads saved releases, without `--repo`

render github|ci|actions|yaml -> rock-matrix render workflow
render dockerfile|container|podman -> rock-matrix render docker
render --dry-run|-n -> `rock-matrix render` runs nothing; with `--out`, `--check` writes nothing and compares the files
render --list -> `rock-matrix plan` lists the jobs
render workflow --only -> `rock-matrix plan` has the option `--only`

report html|site|web|finder -> rock-matrix report page
report list|ls|show|wheels|table -> rock-matrix report packages
report --html -> `rock-matrix report page` writes a web page

sdk create|make|new|package|pack -> rock-matrix sdk build
sdk download|get|pull|install -> rock-matrix sdk fetch
sdk list|ls|show|info -> rock-matrix sdk plan
sdk list|ls|show|info -> rock-matrix sdk targets
sdk check|test|lint -> rock-matrix sdk verify
sdk * -> rock-matrix sdk plan --artifact-dir *

source clone|fetch|sync|update|pull|get|download -> rock-matrix source checkout
source diff|show -> rock-matrix source status
source patch|apply -> rock-matrix source checkout
source patch|apply -> rock-matrix source save-patches
source freeze -> rock-matrix source lock
source build -> rock-matrix build
source * -> rock-matrix source plan *

test --list -> `rock-matrix plan` lists the jobs

wheel info|inspect|list|ls|view|contents|metadata|lddtree -> rock-matrix wheel show
wheel --inplace|--in-place -> no command modifies its input; the new wheel is another file
wheel check --out|-o -> `rock-matrix wheel check` writes no file; `--json` prints the findings as JSON
wheel check --ignore|--disable -> `--allow CODE` reports an error as a note
wheel check --strict|--fail-on|--werror -> errors fail `rock-matrix wheel check` without an option; `--profile pypi` adds what PyPI rejects
wheel gfx --gpu|--gfx|--target|--targets|--arch -> `--require LIST` fails if code for a target is missing
wheel lint|audit|validate|test -> rock-matrix wheel check
wheel fix|graft|bundle|delocate|auditwheel|addtag -> rock-matrix wheel repair
wheel strip -> rock-matrix wheel repair --strip
wheel tags|tag -> rock-matrix wheel retag
wheel rename -> rock-matrix wheel retag
wheel rename -> rock-matrix wheel label
wheel gpus|targets|arch -> rock-matrix wheel gfx
wheel upload|publish -> rock-matrix publish
wheel build -> rock-matrix build
wheel pack|unpack|convert -> `python3 -m wheel` packs, unpacks and converts wheels
wheel * -> rock-matrix wheel show *
";

/// A line of the table.
#[derive(Debug)]
struct Row {
    /// The command that the words are typed after; empty for the program itself.
    group: &'static str,
    words: &'static str,
    tip: &'static str,
}

impl Row {
    /// Whether the row is for this word, typed after the command at `path`.
    fn is_for(&self, path: &str, word: &str) -> bool {
        let is_below = path
            .strip_prefix(self.group)
            .is_some_and(|rest| rest.starts_with(' '));
        (self.group == path || (is_below && word.starts_with('-')))
            && self.words.split('|').any(|other| other == word)
    }

    /// Returns the tip for this word.
    fn tip(&self, word: &str) -> String {
        let tip = self.tip.replace('*', &shell_quoted(word));
        if tip.starts_with("rock-matrix ") {
            format!("did you mean `{tip}`?")
        } else {
            tip
        }
    }
}

fn rows() -> impl Iterator<Item = Row> {
    TIPS.lines().filter_map(|line| {
        let (typed, tip) = line.split_once(" -> ")?;
        let (group, words) = typed.rsplit_once(' ').unwrap_or(("", typed));
        Some(Row { group, words, tip })
    })
}

/// Returns the tips for a word or option, typed after the command at `path`.
pub(super) fn tips(path: &str, word: &str) -> Vec<String> {
    rows()
        .filter(|row| row.is_for(path, word))
        .map(|row| row.tip(word))
        .collect()
}

/// Returns the tips for a word that is probably an argument of the most common subcommand.
pub(super) fn default_tips(path: &str, word: &str) -> Vec<String> {
    let pattern = if word.contains('=') { "*=*" } else { "*" };
    let tips = |pattern| {
        rows()
            .filter(|row| row.is_for(path, pattern))
            .map(|row| row.tip(word))
            .collect::<Vec<_>>()
    };
    let found = tips(pattern);
    if found.is_empty() { tips("*") } else { found }
}

/// Whether the word is typed after any command, so that it is hardly an argument.
pub(super) fn is_typed(word: &str) -> bool {
    rows().any(|row| row.words.split('|').any(|other| other == word))
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use clap::{Command, CommandFactory};

    use super::*;

    /// Returns the kind of clap's error for a command line with `--help`.
    fn kind(line: &str) -> ErrorKind {
        let words = line.split_whitespace().chain(["--help"]);
        let parsed = crate::cli::Cli::command().try_get_matches_from(words);
        parsed.unwrap_err().kind()
    }

    fn find<'c>(root: &'c Command, path: &str) -> Option<&'c Command> {
        path.split_whitespace()
            .try_fold(root, |command, word| command.find_subcommand(word))
    }

    #[test]
    fn rows_are_for_existing_commands_without_such_subcommands() {
        let root = crate::cli::command();
        for line in TIPS.lines().filter(|line| !line.is_empty()) {
            assert!(line.contains(" -> "), "{line}");
        }
        for row in rows() {
            let group = find(&root, row.group).unwrap_or_else(|| panic!("{row:?}"));
            // The tip for missing arguments of a command is a sentence.
            let is_of_command = !row.tip.starts_with("rock-matrix ");
            for word in row.words.split('|') {
                let exists = group.find_subcommand(word).is_some();
                assert!(!exists || is_of_command, "{word}: {row:?}");
            }
        }
    }

    #[test]
    fn tips_name_existing_commands_and_options() {
        let root = crate::cli::command();
        for row in rows() {
            let typed = format!("{} {}", row.group, row.words);
            let path = if find(&root, &typed).is_some() {
                typed.as_str()
            } else {
                row.group
            };
            let quoted = row.tip.split('`').skip(1).step_by(2);
            let is_line = row.tip.starts_with("rock-matrix ");
            for text in quoted.chain(is_line.then_some(row.tip)) {
                let line = if text.starts_with("rock-matrix ") {
                    text.to_owned()
                } else if text.starts_with("--") {
                    let program = match text {
                        // The option of the command before it.
                        "--strip" => "rock-matrix wheel repair".to_owned(),
                        "--only" => "rock-matrix plan".to_owned(),
                        _ => format!("rock-matrix {path}"),
                    };
                    format!("{program} {text}")
                } else {
                    continue;
                };
                let kind = kind(&line);
                // An option alone lacks its value; a placeholder may not be a value.
                let is_known = match kind {
                    ErrorKind::DisplayHelp
                    | ErrorKind::DisplayVersion
                    | ErrorKind::ValueValidation => true,
                    ErrorKind::InvalidValue => text.starts_with("--") && !text.contains(' '),
                    _ => false,
                };
                assert!(is_known, "{line}: {kind:?}");
            }
        }
    }
}

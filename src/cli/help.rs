//! `help`, and the layout of `-h` and `--help`: commands in groups, global options explained once.

use std::ffi::OsString;
use std::fmt::Write;

use clap::builder::{StyledStr, Styles};
use clap::{Arg, Command};

use super::{Exit, Shell, suggestions};
use crate::config::recipe;
use crate::diagnostic::nearest::nearest;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix help wheel repair   all options of `wheel repair`
  rock-matrix help global         options that every command has
  rock-matrix help config         the project file and environment variables
  rock-matrix help matrix         the format of matrix files, with an example
  rock-matrix help recipes        the format of recipes, with an example")]
pub(super) struct Args {
    /// A command, `global` for the options that every command has, `config` for defaults, or
    /// `matrix` or `recipes` for the format of matrix files or recipes
    #[arg(value_name = "COMMAND")]
    topic: Vec<String>,
    /// List all commands
    #[arg(long, conflicts_with = "topic")]
    all: bool,
}

/// A group of commands, as `rock-matrix --help` lists them.
#[derive(Debug)]
pub(super) struct CommandGroup {
    pub(super) name: &'static str,
    pub(super) commands: &'static [&'static str],
    /// Whether `help --all` alone lists the group.
    is_advanced: bool,
}

/// All groups, in the order in which people need them.
pub(super) const GROUPS: [CommandGroup; 8] = [
    group("Plan", &["init", "check", "plan", "render"]),
    group("Build", &["build", "test", "clean"]),
    group("Wheels", &["wheel"]),
    group("Publish", &["publish", "release", "index", "report"]),
    group("Install", &["pick", "doctor", "attention", "env"]),
    advanced("Torch and ROCm from source", &["source", "sdk"]),
    advanced("Knowledge", &["compat", "explain", "recipe"]),
    advanced("Shell", &["completions", "man", "schema", "help"]),
];

/// Commands of which the short list has one line for each subcommand.
const EXPANDED: [&str; 1] = ["wheel"];

const fn group(name: &'static str, commands: &'static [&'static str]) -> CommandGroup {
    CommandGroup {
        name,
        commands,
        is_advanced: false,
    }
}

const fn advanced(name: &'static str, commands: &'static [&'static str]) -> CommandGroup {
    CommandGroup {
        is_advanced: true,
        ..group(name, commands)
    }
}

/// Topics that are not commands.
const TOPICS: [&str; 4] = ["global", "config", "matrix", "recipes"];

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let topic: Vec<&str> = args.topic.iter().map(String::as_str).collect();
    match topic.as_slice() {
        _ if args.all => shell.print(&all_commands()),
        ["global"] => shell.print(&global_options()),
        ["config"] => shell.print(CONFIGURATION),
        ["matrix"] => shell.print(MATRIX_FILES),
        ["recipes"] => shell.print(&recipe_format()),
        _ => {
            let words: Vec<OsString> = std::iter::once("rock-matrix")
                .chain(topic)
                .chain(["--help"])
                .map(OsString::from)
                .collect();
            match super::parsed(words.clone()) {
                Ok(_) => Exit::Done,
                Err(error) => {
                    let mut error = suggestions::improved(error, &words);
                    if let [topic] = args.topic.as_slice()
                        && let Some(near) = nearest(topic, TOPICS)
                    {
                        let line = format!("rock-matrix help {near}");
                        suggestions::add_tip(&mut error, format!("did you mean `{line}`?"));
                    }
                    super::print_clap_error(&error, shell.annotations)
                }
            }
        }
    }
}

/// Returns the command line as `-h` and `--help` show it. This builds every command, which takes
/// longer than running a small one.
pub(super) fn command_with_layout() -> Command {
    let command = super::command();
    let template = StyledStr::from(root_template(&command));
    decorated(command).help_template(template)
}

/// Number of examples in the short help of a command.
const SHORT_EXAMPLES: usize = 2;

/// Gives a command and its subcommands a short help with the first examples of the long one, and a
/// line about the global options.
fn decorated(command: Command) -> Command {
    let options: Vec<String> = command
        .get_arguments()
        .filter(|argument| argument.is_global_set())
        .map(short_or_long)
        .collect();
    let long = command.get_after_long_help().cloned().unwrap_or_default();
    let mut short = StyledStr::new();
    if command.get_name() == "rock-matrix" {
        // The list of all commands leaves no room for more.
        let _ = writeln!(
            short,
            "Global options: see `help global`; defaults in a project file: see `help config`"
        );
    } else {
        if let Some(examples) = first_examples(&long.to_string()) {
            let _ = writeln!(short, "{examples}");
        }
        let options = options.join(", ");
        let _ = writeln!(
            short,
            "Global options: {options} (see `rock-matrix help global`)"
        );
    }
    command
        .after_help(short)
        .after_long_help(long)
        .mut_subcommands(decorated)
}

/// Returns the first examples of the text below a long help. An example is a line that is indented
/// by two spaces, with the lines below it that are indented further.
fn first_examples(text: &str) -> Option<String> {
    let (_, examples) = text.split_once("Examples:\n")?;
    let mut count = 0;
    let lines = examples.lines().take_while(|line| {
        count += usize::from(!line.starts_with("   "));
        count <= SHORT_EXAMPLES
    });
    let mut short = "Examples:\n".to_owned();
    for line in lines {
        let _ = writeln!(short, "{line}");
    }
    Some(short)
}

/// `-q` for `-q, --quiet`; `--color` for an option without a short form.
fn short_or_long(argument: &Arg) -> String {
    argument.get_short().map_or_else(
        || format!("--{}", argument.get_long().unwrap_or_default()),
        |short| format!("-{short}"),
    )
}

/// Returns the help template of the program itself: the common commands in groups.
fn root_template(root: &Command) -> String {
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for group in GROUPS.iter().filter(|group| !group.is_advanced) {
        write_group(&mut text, root, group, |name| EXPANDED.contains(&name));
    }
    let others: Vec<&str> = GROUPS
        .iter()
        .filter(|group| group.is_advanced)
        .flat_map(|group| group.commands)
        .copied()
        .filter(|name| *name != "help")
        .collect();
    let _ = write!(
        text,
        "\nOther commands: {} (see `help --all`){{after-help}}\n",
        others.join(", ")
    );
    text
}

/// Returns a list of all commands and subcommands.
fn all_commands() -> String {
    let root = super::command();
    let mut text = String::new();
    for group in &GROUPS {
        write_group(&mut text, &root, group, |_| true);
    }
    // Without the styles of a terminal, and without the first blank line.
    StyledStr::from(text).to_string().trim_start().to_owned()
}

/// Writes the heading and the commands of a group; of those that `is_expanded` selects, one line for
/// each subcommand.
fn write_group(
    text: &mut String,
    root: &Command,
    group: &CommandGroup,
    is_expanded: impl Fn(&str) -> bool,
) {
    let header = Styles::default().get_header().to_owned();
    let _ = writeln!(text, "\n{header}{}:{header:#}", group.name);
    for name in group.commands {
        let command = root
            .find_subcommand(name)
            .expect("every command of a group exists");
        if command.has_subcommands() && is_expanded(name) {
            for inner in command.get_subcommands() {
                write_command(text, &format!("{name} {}", inner.get_name()), inner);
            }
        } else {
            write_command(text, name, command);
        }
    }
}

fn write_command(text: &mut String, name: &str, command: &Command) {
    let literal = Styles::default().get_literal().to_owned();
    let about = command.get_about().cloned().unwrap_or_default();
    let _ = writeln!(text, "  {literal}{name:<19}{literal:#}  {about}");
}

/// Returns the help of the options that every command has.
fn global_options() -> String {
    let root = super::command();
    let arguments = root
        .get_arguments()
        .filter(|argument| argument.is_global_set())
        .map(|argument| argument.clone().help_heading("Global options"));
    Command::new("rock-matrix")
        .disable_help_flag(true)
        .max_term_width(super::HELP_WIDTH)
        .help_template("{options}\n{after-help}")
        .after_help(GLOBAL_NOTES)
        .args(arguments)
        .render_long_help()
        .to_string()
}

/// Returns the text of `help recipes`: the recipe of `recipe new`, and the commands for recipes.
fn recipe_format() -> String {
    let example: String = recipe::starter("my-kernels")
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect();
    format!("{RECIPES}\n{example}\n{RECIPE_COMMANDS}")
}

/// The text of `help matrix`.
const MATRIX_FILES: &str = "\
A matrix file is a YAML file in matrices/. It names a distribution, the recipe that builds it, and
the versions to build it for: every combination of the values of `axes` is a job, except those that
the compatibility data or `exclude` leaves out. A whole matrix file:

  version: 1                    # of the format
  distribution: my-kernels
  recipe: hip-extension         # builds the Python project in a directory
  vars:
    source: .                   # a variable of the recipe: the directory
  axes:
    my-kernels: [\"1.0\"]         # versions of the distribution
    python: [\"3.12\"]            # quoted, because other tools read 3.10 as 3.1
    torch: [\"2.9.1\"]
    rocm: [\"6.3\", \"6.4\"]
  gfx: [gfx942, gfx1100]        # GPU targets, families or products such as mi300x

docs/matrix-reference.md describes all keys.

  rock-matrix init                write a matrix file for the project in this directory
  rock-matrix init --recipe NAME  write one for a recipe of yours
  rock-matrix schema              print the JSON schema of matrix files, for editors
  rock-matrix check               check all matrix files
  rock-matrix plan --explain      list the jobs, and the reasons for excluded combinations
  rock-matrix compat explain torch=2.9.1 rocm=6.4  ask whether versions work together
";

/// The first paragraph of `help recipes`.
const RECIPES: &str = "\
A recipe is a YAML file that describes how a distribution is built: its sources, the steps in order,
and the wheels to collect. A matrix file selects it with `recipe: NAME`. A whole recipe:
";

/// The end of `help recipes`.
const RECIPE_COMMANDS: &str = "\
`{{ }}` inserts values of the job; docs/recipes.md describes them, and all keys. A recipe is found
in matrices/recipes or --recipes DIR, among the files on the command line, or in the program.

  rock-matrix recipe new NAME    write this recipe to matrices/recipes/NAME.yaml
  rock-matrix recipe list        list all recipes
  rock-matrix recipe show NAME   show the variables and stages of a recipe
  rock-matrix check              check recipes for all jobs of the matrix files
  rock-matrix render recipe JOB  print the steps of a job with all values filled in
";

/// The text of `help config`.
const CONFIGURATION: &str = "\
Defaults of options are read from rock-matrix.toml, or from [tool.rock-matrix] in pyproject.toml:
the nearest file, from the working directory upwards. Paths are relative to the file.

  compat = \"facts\"           # directory of compatibility tables
  recipes = \"recipes\"        # directory of recipes
  engine = \"docker\"          # of build, test and render: local, docker or podman
  jobs = 4                   # threads of wheel repair and sdk build
  color = \"never\"            # auto, always or never
  message-format = \"json\"    # human or json

Environment variables override the file, and options override both: ROCK_MATRIX_COMPAT,
ROCK_MATRIX_RECIPES, ROCK_MATRIX_ENGINE, ROCK_MATRIX_JOBS, ROCK_MATRIX_COLOR,
ROCK_MATRIX_MESSAGE_FORMAT. ROCK_MATRIX_API_URL sets --api-url; a file cannot, because the server
receives the token of the environment.

Without compat and recipes, rows in matrices/compat and recipes in matrices/recipes of the working
directory are used before the built-in ones.
";

/// The text below the list of global options.
const GLOBAL_NOTES: &str = "\
Exit codes: 0 success, 1 invalid input or artifact, 2 command-line error, 3 machine, network or
credentials, 4 a build step failed, 124 a build reached its time limit.

Defaults can be set in a project file: see `rock-matrix help config`.";

#[cfg(test)]
mod tests {
    use clap::error::{ContextKind, ContextValue};

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let root = crate::cli::command();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|group| group.commands)
            .copied()
            .collect();
        grouped.sort_unstable();
        let mut all: Vec<&str> = root
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    /// Adds the words of every subcommand.
    fn add_paths(command: &Command, path: &[String], paths: &mut Vec<Vec<String>>) {
        for inner in command.get_subcommands() {
            let path = [path, &[inner.get_name().to_owned()]].concat();
            add_paths(inner, &path, paths);
            paths.push(path);
        }
    }

    fn find<'c>(root: &'c Command, path: &[String]) -> &'c Command {
        path.iter().fold(root, |command, name| {
            command.find_subcommand(name).expect("the command exists")
        })
    }

    fn usage(root: &Command, path: &[String]) -> String {
        let mut command = find(root, path).clone();
        command.render_usage().to_string().trim().to_owned()
    }

    /// Whether a usage line has an argument with these brackets, which is not the value of an
    /// option.
    fn has_argument(line: &str, argument: &str) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        words
            .windows(2)
            .any(|pair| !pair[0].contains("--") && pair[1].trim_end_matches("...") == argument)
    }

    /// An argument that every form of a command needs has angle brackets in the usage and in the
    /// list of arguments.
    #[test]
    fn usage_lines_and_lists_agree_on_required_arguments() {
        let root = crate::cli::command();
        let mut paths = Vec::new();
        add_paths(&root, &[], &mut paths);
        let mut wrong = Vec::new();
        for path in &paths {
            let usage = usage(&root, path);
            for argument in find(&root, path).get_positionals() {
                let shown = argument.to_string();
                let name = shown.trim_end_matches("...");
                let name = name.trim_matches(|c: char| "<>[]".contains(c));
                let is_wrong = if argument.is_required_set() {
                    has_argument(&usage, &format!("[{name}]"))
                } else {
                    let required = format!("<{name}>");
                    usage.lines().all(|line| has_argument(line, &required))
                };
                if is_wrong {
                    wrong.push(format!("{shown}: {usage}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn usage_lines_show_required_arguments() {
        let root = crate::cli::command();
        let mut paths = Vec::new();
        add_paths(&root, &[], &mut paths);
        let mut hidden = Vec::new();
        for path in &paths {
            let words = std::iter::once("rock-matrix").chain(path.iter().map(String::as_str));
            let Err(error) = crate::cli::parsed(words.map(OsString::from)) else {
                continue;
            };
            let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
                continue;
            };
            let usage = usage(&root, path);
            let is_hidden = |name: &&String| {
                let word = name.split(' ').next().unwrap_or_default();
                // `<FILES>...` is a part of `<FILES...|--dist <DIR>>`, and `<WHEEL|LABEL>...` are two
                // arguments of the usage.
                let word = word.trim_matches(|c: char| "<>.".contains(c));
                !word.split('|').all(|part| usage.contains(part))
            };
            let missing = missing.iter().filter(is_hidden);
            hidden.extend(missing.map(|name| format!("{name}: {usage}")));
        }
        assert!(hidden.is_empty(), "{hidden:#?}");
    }

    /// These commands check their arguments themselves.
    #[test]
    fn usage_lines_of_checked_commands_show_required_arguments() {
        let root = crate::cli::command();
        for (name, expected) in [
            ("build", "[OPTIONS] <JOB...|--all|--recipe <NAME>>"),
            ("test", "[OPTIONS] <JOB...|--all>"),
            ("clean", "[OPTIONS] <JOB...|--all>"),
            (
                "publish",
                "[OPTIONS] <FILES...|--dist <DIR>> --out <DIR>\n       \
                 rock-matrix publish [OPTIONS] <FILES...|--dist <DIR>> --repo <OWNER/REPO> \
                 --tag <TAG>",
            ),
        ] {
            let usage = usage(&root, &[name.to_owned()]);
            assert_eq!(usage, format!("Usage: rock-matrix {name} {expected}"));
        }
    }

    #[test]
    fn the_topics_about_formats_fit_on_one_screen() {
        for text in [super::recipe_format(), super::MATRIX_FILES.to_owned()] {
            assert!(text.lines().count() <= 40, "{text}");
            let is_wide = |line: &&str| line.chars().count() > 100;
            assert_eq!(text.lines().find(is_wide), None);
        }
    }

    #[test]
    fn short_help_has_the_first_examples() {
        let text = "About.\n\n\
                    Examples:\n  one \\\n      --more\n  two\n      what it does\n  three";
        assert_eq!(
            first_examples(text).unwrap(),
            "Examples:\n  one \\\n      --more\n  two\n      what it does\n"
        );
        assert_eq!(first_examples("About."), None);
    }

    /// Text below the short help is made from that below the long one.
    #[test]
    fn examples_are_written_once() {
        fn check(command: &Command, twice: &mut Vec<String>) {
            if command.get_after_help().is_some() {
                twice.push(command.get_name().to_owned());
            }
            for inner in command.get_subcommands() {
                check(inner, twice);
            }
        }
        let mut twice = Vec::new();
        check(&crate::cli::command(), &mut twice);
        assert!(twice.is_empty(), "{twice:?}");
    }

    /// One screen has 40 lines of 100 columns.
    #[test]
    fn short_help_fits_on_one_screen() {
        fn check(command: &mut Command, name: &str, too_long: &mut Vec<String>) {
            let lines = command.render_help().to_string().lines().count();
            if lines > 40 {
                too_long.push(format!("{name}: {lines}"));
            }
            for inner in command.get_subcommands_mut() {
                let name = format!("{name} {}", inner.get_name());
                check(inner, &name, too_long);
            }
        }
        let mut too_long = Vec::new();
        check(&mut command_with_layout(), "rock-matrix", &mut too_long);
        assert!(too_long.is_empty(), "{too_long:#?}");
    }
}

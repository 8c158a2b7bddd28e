//! Overviews of recipes, for people who write matrix files.

use std::fmt::Write as _;

use serde::Serialize;

use super::page::{comments, head};
use super::{RecipeDocument, StepDocument};

/// An overview of a recipe, as `recipe show` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecipeOverview {
    /// Its name.
    pub name: String,
    /// Description of the build.
    pub about: String,
    /// Axes that a matrix file must have.
    pub requires: Vec<String>,
    /// Names of its backends, the default one first.
    pub backends: Vec<String>,
    /// Its variables, including those of recipes that it uses.
    pub variables: Vec<RecipeVariable>,
    /// Its stages in order, for `--resume`.
    pub stages: Vec<String>,
    /// The command of each stage in brief, for people.
    #[serde(skip)]
    pub stage_commands: Vec<String>,
}

/// A variable that a matrix file may set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecipeVariable {
    /// Its name.
    pub name: String,
    /// Its meaning.
    pub meaning: String,
    /// Its default; empty if it has none.
    pub default: String,
    /// Whether a matrix file must set it.
    #[serde(rename = "required")]
    pub is_required: bool,
}

impl RecipeOverview {
    /// Creates the overview of a recipe that is merged with those it uses. `texts` are the contents
    /// of all their files, its own first; their comments describe the build and the variables.
    pub(super) fn new(whole: &RecipeDocument, texts: &[&str]) -> Self {
        let comments: Vec<(String, String)> =
            texts.iter().flat_map(|text| comments(text)).collect();
        let meaning = |name: &String| {
            let commented = comments
                .iter()
                .find(|(known, comment)| known == name && !comment.is_empty());
            commented
                .map(|(_, comment)| comment.clone())
                .unwrap_or_default()
        };
        let variable = |(name, default): (&String, &String)| RecipeVariable {
            name: name.clone(),
            meaning: meaning(name),
            default: default.clone(),
            is_required: whole.required_vars.contains(name),
        };
        Self {
            name: whole.name.clone(),
            about: texts.first().map(|text| head(text)).unwrap_or_default(),
            requires: whole.requires.clone(),
            backends: whole.backends.keys().cloned().collect(),
            variables: whole.vars.iter().map(variable).collect(),
            stages: whole.steps.iter().map(|step| step.stage.clone()).collect(),
            stage_commands: whole.steps.iter().map(stage_command).collect(),
        }
    }

    /// Returns the first sentence of the description.
    pub fn summary(&self) -> &str {
        self.about
            .split_inclusive(". ")
            .next()
            .unwrap_or_default()
            .trim_end()
            .trim_end_matches('.')
    }
}

/// Formats the overview for a terminal.
impl std::fmt::Display for RecipeOverview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = format!("{}\n", self.name);
        push_wrapped(&mut text, &self.about, "  ");
        for (what, names) in [
            ("required axes", &self.requires),
            ("backends", &self.backends),
        ] {
            if !names.is_empty() {
                let _ = writeln!(text, "\n{what}: {}", names.join(", "));
            }
        }
        if !self.variables.is_empty() {
            text.push_str("\nvariables, set under `vars` in a matrix file:\n");
        }
        for variable in &self.variables {
            let default = match (variable.is_required, variable.default.as_str()) {
                (true, _) => " (required)".to_owned(),
                (false, "") => String::new(),
                (false, default) => format!(" (default: {default})"),
            };
            let _ = writeln!(text, "  {}{default}", variable.name);
            push_wrapped(&mut text, &variable.meaning, "      ");
        }
        text.push_str(
            "\nstages, in order; `rock-matrix build JOB --resume=STAGE` starts at one of them:\n",
        );
        let width = self
            .stages
            .iter()
            .map(String::len)
            .max()
            .unwrap_or_default();
        for (stage, command) in self.stages.iter().zip(&self.stage_commands) {
            let _ = writeln!(text, "  {stage:<width$}  {command}");
        }
        let others = "Before these stages, a build prepares Python and torch and copies the \
            sources. After them, it tests the wheel.";
        text.push('\n');
        push_wrapped(&mut text, others, "");
        f.write_str(&text)
    }
}

/// Describes the command of a stage, such as `cmake --build` or `a bash script`.
fn stage_command(step: &StepDocument) -> String {
    let is_shell = |program: &str| matches!(program, "bash" | "sh");
    let is_python = |program: &str| {
        matches!(
            program.trim_matches(['{', '}', ' ']),
            "interpreter" | "python" | "python3"
        )
    };
    let command = match step.argv.as_slice() {
        _ if !step.rock_matrix.is_empty() => leading_words("rock-matrix", &step.rock_matrix),
        _ if step.place.is_some() => "installs files into an environment".to_owned(),
        [program, option, ..] if option == "-c" && is_python(program) => {
            "a Python program".to_owned()
        }
        [program, rest @ ..] if !is_shell(program) => leading_words(program, rest),
        _ => "a bash script".to_owned(),
    };
    let remark = match (step.finally, &step.when) {
        (true, _) => ", at the end, even after a failure",
        (false, Some(_)) => ", for some jobs",
        (false, None) => "",
    };
    format!("{command}{remark}")
}

/// Returns a program with its first arguments, up to one with an expression.
fn leading_words(program: &str, arguments: &[String]) -> String {
    const MAX_ARGUMENTS: usize = 3;
    let program = match program.trim_matches(['{', '}', ' ']) {
        "interpreter" => "python",
        name => name,
    };
    let is_plain = |word: &&str| !word.contains("{{") && !word.contains(char::is_whitespace);
    let arguments = arguments
        .iter()
        .map(String::as_str)
        .take_while(is_plain)
        .take(MAX_ARGUMENTS);
    let words: Vec<&str> = std::iter::once(program).chain(arguments).collect();
    words.join(" ")
}

/// Appends a paragraph, wrapped at 100 characters.
fn push_wrapped(text: &mut String, paragraph: &str, indent: &str) {
    const WIDTH: usize = 100;
    let mut line = String::new();
    for word in paragraph.split_whitespace() {
        if !line.is_empty()
            && indent.len() + line.chars().count() + 1 + word.chars().count() > WIDTH
        {
            let _ = writeln!(text, "{indent}{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        let _ = writeln!(text, "{indent}{line}");
    }
}

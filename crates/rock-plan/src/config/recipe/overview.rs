//! Overviews of recipes, for people who write matrix files.

use std::fmt::Write as _;

use serde::Serialize;

use super::RecipeDocument;
use super::page::{comments, head};

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
        let _ = writeln!(text, "\nstages: {}", self.stages.join(", "));
        f.write_str(&text)
    }
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

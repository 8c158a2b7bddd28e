//! The values that the expressions of a recipe see.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value as Json, json};

use super::job_values::values_of;
use crate::codes::build as codes;
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_plan::Job;
use rock_plan::config::recipe::{FactDocument, RecipeDocument};
use rock_template::{ExpressionEnv, Object, Serde, TemplateError, TemplateSpan, Value};

/// The place where steps run; paths and preparation depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildSite {
    /// On this machine, in the job directory.
    Host {
        /// The job directory, absolute.
        folder: String,
        /// The directory that relative paths of a matrix file start from, absolute.
        caller: String,
    },
    /// On the machine that a script is run on; variables of the script name the directories.
    Script,
    /// Inside a container with the job directory mounted.
    Container,
}

/// Encodes a shell variable as part of a word. A script renders it as `"$NAME"`. No other text can
/// contain the delimiter, because files with control characters are rejected.
pub fn shell_variable(name: &str) -> String {
    format!("{SHELL_VARIABLE}{name}{SHELL_VARIABLE}")
}

/// The delimiter around the name of a shell variable in a word.
pub const SHELL_VARIABLE: char = '\u{1}';

/// The script variable that names the directory that relative paths of a matrix file start from.
pub const CALLER_VARIABLE: &str = "ROCK_CALLER";

impl BuildSite {
    /// Returns the job directory as the step sees it, absolute.
    pub fn folder(&self) -> String {
        match self {
            Self::Host { folder, .. } => folder.clone(),
            Self::Script => shell_variable("ROCK_FOLDER"),
            Self::Container => super::container::MOUNT.to_owned(),
        }
    }

    /// Returns the directory that relative paths of a matrix file start from, as the step sees it,
    /// absolute.
    pub fn caller(&self) -> String {
        match self {
            Self::Host { caller, .. } => caller.clone(),
            Self::Script => shell_variable(CALLER_VARIABLE),
            Self::Container => super::container::CALLER_MOUNT.to_owned(),
        }
    }
}

/// The source of a recipe fact that must be detected before the steps can be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactSource {
    /// The trimmed output of this command.
    Command(Vec<String>),
    /// The trimmed content of this file, as its site sees it; relative to the directory in which
    /// rock-matrix is called. With a pattern, its first group or match.
    File {
        /// The path of the file.
        path: String,
        /// A regular expression; if empty, the fact is the whole content.
        find: String,
    },
    /// The first of these paths that exists, as its site sees it.
    FirstPath(Vec<String>),
    /// The value of this environment variable.
    Variable(String),
}

/// Returns the facts that have no answer, by name and with their sources. Each source is passed to
/// `answer` once it can be evaluated with the `given` facts and the earlier answers, because
/// commands may refer to facts.
///
/// # Errors
/// If a fact cannot be computed, or if facts depend on each other.
pub fn questions(
    job: &Job,
    document: &RecipeDocument,
    compat: &Compat,
    site: &BuildSite,
    given: &BTreeMap<String, String>,
    answer: &mut dyn FnMut(&str, &FactSource) -> Option<String>,
) -> Result<Vec<(String, FactSource)>, Diagnostic> {
    // Without questions, skip the evaluation: the build evaluates the facts again.
    if document
        .facts
        .iter()
        .all(|(name, fact)| given.contains_key(name) || !fact.is_question())
    {
        return Ok(Vec::new());
    }
    let mut open = Vec::new();
    ExpressionContext::resolve(job, document, compat, site, given, &mut |name, question| {
        let answer = answer(name, &question);
        if answer.is_none() {
            open.push((name.to_owned(), question));
        }
        answer
    })
    .map(|_| open)
}

/// The values that expressions see, and the environment that evaluates expressions.
#[derive(Debug)]
pub(super) struct ExpressionContext<'d> {
    recipes: ExpressionEnv,
    values: Value,
    pub(super) document: &'d RecipeDocument,
}

/// Values by name. A fact is visible as soon as it is computed.
#[derive(Debug)]
struct ExpressionNames(Mutex<BTreeMap<String, Value>>);

impl ExpressionNames {
    fn add(&self, name: &str, value: &Json) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.to_owned(), Value::from(Serde(value)));
    }
}

impl Object for ExpressionNames {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(key.as_str()?)
            .cloned()
    }
}

impl<'d> ExpressionContext<'d> {
    /// Collects the values of a job. `given` contains facts known from elsewhere (`--fact`, answers
    /// to [`questions`]). A fact that is neither given nor computed has its stand-in, else its
    /// default, else `<name>`, so that a dry run shows where it is used.
    ///
    /// # Errors
    /// If a fact cannot be computed, or if facts depend on each other.
    pub(super) fn new(
        job: &Job,
        document: &'d RecipeDocument,
        compat: &Compat,
        site: &BuildSite,
        given: &BTreeMap<String, String>,
    ) -> Result<Self, Diagnostic> {
        Self::resolve(job, document, compat, site, given, &mut |name, _| {
            let fact = document.facts.get(name);
            let known = fact.and_then(|fact| fact.stand_in.as_ref().or(fact.default.as_ref()));
            Some(known.cloned().unwrap_or_else(|| format!("<{name}>")))
        })
    }

    /// Computes facts until none is left or none of the rest can be computed. `answer` may leave a
    /// question open.
    fn resolve(
        job: &Job,
        document: &'d RecipeDocument,
        compat: &Compat,
        site: &BuildSite,
        given: &BTreeMap<String, String>,
        answer: &mut dyn FnMut(&str, FactSource) -> Option<String>,
    ) -> Result<Self, Diagnostic> {
        let values = values_of(job, document, compat, site);
        let names = values
            .iter()
            .map(|(name, value)| (name.clone(), Value::from(Serde(value))))
            .collect();
        let names = Arc::new(ExpressionNames(Mutex::new(names)));
        let context = Self {
            recipes: ExpressionEnv::default(),
            values: Value::from_dyn_object(names.clone()),
            document,
        };
        let mut waiting: Vec<(&String, &FactDocument)> = Vec::new();
        for (name, fact) in &document.facts {
            if values.contains_key(name) {
                let message =
                    format!("fact `{name}` has the name of a value that every recipe can use");
                let fault = Diagnostic::new(&codes::BAD_RECIPE, message).help("rename it");
                return Err(match document.place_of(&format!("{name}:")) {
                    Some(place) => fault.at(place, ""),
                    None => fault,
                });
            }
            match given.get(name) {
                Some(value) => names.add(name, &json!(value)),
                None => waiting.push((name, fact)),
            }
        }
        let mut open = false;
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut failed = None;
            waiting.retain(|(name, fact)| match context.fact(name, fact, compat) {
                Ok(FactValue::Value(value)) => {
                    names.add(name, &value);
                    false
                }
                Ok(FactValue::Question(question)) => {
                    match answer(name, question) {
                        Some(text) => names.add(name, &json!(text)),
                        None => open = true,
                    }
                    false
                }
                Err(fault) => {
                    failed = Some(fault);
                    true
                }
            });
            if waiting.len() == before {
                if open {
                    return Ok(context);
                }
                let names: Vec<String> = waiting
                    .iter()
                    .map(|(name, _)| format!("`{name}`"))
                    .collect();
                let why = failed.map(|fault| {
                    std::iter::once(fault.message)
                        .chain(fault.notes)
                        .collect::<Vec<_>>()
                });
                let why = why.unwrap_or_default().join(": ");
                let fault = Diagnostic::new(
                    &codes::FACT_CYCLE,
                    format!(
                        "recipe `{}`: facts {} cannot be computed",
                        document.name,
                        names.join(", ")
                    ),
                );
                let fault = match document.place_of(&format!("{}:", waiting[0].0)) {
                    Some(place) => fault.at(place, ""),
                    None => fault,
                };
                return Err(fault
                    .note(why)
                    .help("break the cycle, or define the missing name"));
            }
        }
        Ok(context)
    }

    /// Evaluates a fact with the values known so far.
    fn fact(
        &self,
        name: &str,
        fact: &FactDocument,
        compat: &Compat,
    ) -> Result<FactValue, Diagnostic> {
        if let Some(expression) = &fact.expr {
            let value = self
                .recipes
                .evaluate(expression, &self.values)
                .map_err(|e| self.bad(expression, &e))?;
            return Ok(FactValue::Value(
                serde_json::to_value(&value).unwrap_or(Json::Null),
            ));
        }
        if let Some(table) = &fact.table {
            return self.row(name, table, fact, compat).map(FactValue::Value);
        }
        if let Some(stage) = fact.stage() {
            let beside = self.document.steps.iter().find(|step| step.stage == stage);
            if !self.holds(beside.and_then(|step| step.when.as_deref()))? {
                return Ok(FactValue::Value(json!(
                    fact.default.as_deref().unwrap_or_default()
                )));
            }
            return Ok(FactValue::Value(json!(shell_variable(&late_name(name)))));
        }
        Ok(FactValue::Question(if let Some(command) = &fact.command {
            FactSource::Command(self.words(command)?)
        } else if let Some(file) = &fact.file {
            FactSource::File {
                path: self.required(file)?,
                find: fact.find.clone(),
            }
        } else if let Some(paths) = &fact.path {
            FactSource::FirstPath(self.words(paths)?)
        } else {
            FactSource::Variable(fact.env.clone().unwrap_or_default())
        }))
    }

    /// Evaluates a text; returns `None` if its expression yields none.
    ///
    /// # Errors
    /// If the text does not parse or refers to an unknown name.
    pub(super) fn text(&self, text: &str) -> Result<Option<String>, Diagnostic> {
        self.recipes
            .text(text, &self.values)
            .map_err(|error| self.bad(text, &error))
    }

    /// Evaluates a text; none becomes an empty string.
    ///
    /// # Errors
    /// See [`Self::text`].
    pub(super) fn required(&self, text: &str) -> Result<String, Diagnostic> {
        self.text(text).map(Option::unwrap_or_default)
    }

    /// Evaluates a text, and keeps inserted values separate from literal text.
    ///
    /// # Errors
    /// See [`Self::text`].
    pub(super) fn spans(&self, text: &str) -> Result<Vec<TemplateSpan>, Diagnostic> {
        self.recipes
            .spans(text, &self.values)
            .map_err(|error| self.bad(text, &error))
    }

    /// Evaluates a condition; without one, the result is true.
    ///
    /// # Errors
    /// See [`Self::text`].
    pub(super) fn holds(&self, condition: Option<&str>) -> Result<bool, Diagnostic> {
        match condition {
            None => Ok(true),
            Some(text) => self
                .recipes
                .is_true(text, &self.values)
                .map_err(|error| self.bad(text, &error)),
        }
    }

    /// Evaluates the words of a command: an expression that yields a list gives several words; one
    /// that yields none or an empty string is dropped.
    ///
    /// # Errors
    /// See [`Self::text`].
    pub(super) fn words(&self, items: &[String]) -> Result<Vec<String>, Diagnostic> {
        let mut words = Vec::new();
        for item in items {
            let value = self
                .recipes
                .evaluate(item, &self.values)
                .map_err(|error| self.bad(item, &error))?;
            match value.try_iter() {
                Ok(items) if value.as_str().is_none() => {
                    words.extend(items.map(|item| item.to_string()));
                }
                _ if value.is_none() => {}
                _ => words.push(value.to_string()),
            }
        }
        words.retain(|word| !word.is_empty());
        Ok(words)
    }

    fn bad(&self, text: &str, error: &TemplateError) -> Diagnostic {
        let shown: String = text
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(120)
            .collect();
        let fault = Diagnostic::new(&codes::BAD_EXPRESSION, format!("cannot evaluate `{shown}`"))
            .note(error.to_string())
            .help("docs/recipes.md lists the names that expressions can use");
        match self.document.place_of(text) {
            Some(place) => fault.at(place, ""),
            None => fault.note(format!("in the built-in recipe `{}`", self.document.name)),
        }
    }
}

/// Returns the value of a fact that is read from a file: all of `text`, or the first group or match
/// of the pattern `find`, trimmed.
pub fn found(text: &str, find: &str) -> Option<String> {
    if find.is_empty() {
        return Some(text.trim().to_owned());
    }
    let captures = regex::Regex::new(find).ok()?.captures(text)?;
    captures
        .get(1)
        .or_else(|| captures.get(0))
        .map(|found| found.as_str().trim().to_owned())
}

/// Returns the script variable that holds a deferred fact.
pub fn late_name(fact: &str) -> String {
    format!("{LATE}{fact}")
}

/// The prefix of the script variables that hold deferred facts.
pub const LATE: &str = "ROCK_FACT_";

/// The result of evaluating a fact.
enum FactValue {
    Value(Json),
    Question(FactSource),
}

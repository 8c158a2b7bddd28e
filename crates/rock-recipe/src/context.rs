//! What the expressions of a recipe see.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value as Json, json};

use super::job_values::values_of;
use crate::codes::build as codes;
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_plan::Job;
use rock_plan::config::recipe::{FactDocument, RecipeDocument};
use rock_plan::template::{ExpressionEnv, Object, Serde, TemplateError, TemplateSpan, Value};

/// Where steps run; paths and preparation differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildSite {
    /// On this machine, in the job's folder (absolute).
    Host {
        /// The job's folder, absolute.
        folder: String,
        /// The folder that relative paths of a matrix file start from, absolute.
        caller: String,
    },
    /// On whatever machine a script is run: the script's own variables name the folders.
    Script,
    /// Inside a container, with the job's folder mounted.
    Container,
}

/// A shell variable inside a word. A script renders it as `"$NAME"`; no other text can hold the
/// character around it, since files with control characters are refused.
pub fn shell_variable(name: &str) -> String {
    format!("{SHELL_VARIABLE}{name}{SHELL_VARIABLE}")
}

/// What encloses the name of a shell variable in a word.
pub const SHELL_VARIABLE: char = '\u{1}';

/// The variable of a script that names the folder which relative paths of a matrix file start from.
pub const CALLER_VARIABLE: &str = "ROCK_CALLER";

impl BuildSite {
    /// The job's folder as the step sees it, absolute.
    pub fn folder(&self) -> String {
        match self {
            Self::Host { folder, .. } => folder.clone(),
            Self::Script => shell_variable("ROCK_FOLDER"),
            Self::Container => super::container::MOUNT.to_owned(),
        }
    }

    /// The folder that relative paths of a matrix file start from, as the step sees it, absolute.
    pub fn caller(&self) -> String {
        match self {
            Self::Host { caller, .. } => caller.clone(),
            Self::Script => shell_variable(CALLER_VARIABLE),
            Self::Container => super::container::CALLER_MOUNT.to_owned(),
        }
    }
}

/// What a recipe wants to know of the machine before its steps can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactSource {
    /// The trimmed output of this command.
    Command(Vec<String>),
    /// The trimmed content of this file, as its site sees it; relative to where rock-matrix is
    /// called. With a pattern, its first group or match.
    File {
        /// The file.
        path: String,
        /// A regular expression; empty: all of it.
        find: String,
    },
    /// The first of these paths that is there, as its site sees it.
    FirstPath(Vec<String>),
    /// The value of this variable.
    Variable(String),
}

/// The questions that have no answer, by the fact's name. Each is put to `answer` once it can be
/// asked with what is `given` and with the answers before it, since commands may name facts.
///
/// # Errors
/// Returns an error if a fact cannot be computed, or if facts need each other.
pub fn questions(
    job: &Job,
    document: &RecipeDocument,
    compat: &Compat,
    site: &BuildSite,
    given: &BTreeMap<String, String>,
    answer: &mut dyn FnMut(&str, &FactSource) -> Option<String>,
) -> Result<Vec<(String, FactSource)>, Diagnostic> {
    // Without a question nothing is evaluated here: the build evaluates the facts again.
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

/// The names that expressions see, and how to evaluate one.
#[derive(Debug)]
pub(super) struct ExpressionContext<'d> {
    recipes: ExpressionEnv,
    values: Value,
    pub(super) document: &'d RecipeDocument,
}

/// Values by name. A fact is seen as soon as it is computed.
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
    /// Collects the values of a job. `given` are facts known from elsewhere (`--fact`, answers to
    /// [`questions`]); one that is neither given nor computed has its default, else `<name>`, so
    /// that a dry run shows where it goes.
    ///
    /// # Errors
    /// A fact that cannot be computed, or facts that need each other.
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

    /// Computes facts until none is left, or none can be. `answer` may leave a question open.
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
                    format!("fact `{name}` has the name of a value that every recipe sees");
                let fault =
                    Diagnostic::new(&codes::BAD_RECIPE, message).help("give it another name");
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
                    .help("break the circle, or name what is missing"));
            }
        }
        Ok(context)
    }

    /// One fact with what is known so far.
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

    /// A text; `None` when the expression gives none.
    ///
    /// # Errors
    /// When it does not parse or names something unknown.
    pub(super) fn text(&self, text: &str) -> Result<Option<String>, Diagnostic> {
        self.recipes
            .text(text, &self.values)
            .map_err(|error| self.bad(text, &error))
    }

    /// A text that must be one.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub(super) fn required(&self, text: &str) -> Result<String, Diagnostic> {
        self.text(text).map(Option::unwrap_or_default)
    }

    /// A text, with what expressions insert kept apart.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub(super) fn spans(&self, text: &str) -> Result<Vec<TemplateSpan>, Diagnostic> {
        self.recipes
            .spans(text, &self.values)
            .map_err(|error| self.bad(text, &error))
    }

    /// A condition; none given is true.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub(super) fn holds(&self, condition: Option<&str>) -> Result<bool, Diagnostic> {
        match condition {
            None => Ok(true),
            Some(text) => self
                .recipes
                .is_true(text, &self.values)
                .map_err(|error| self.bad(text, &error)),
        }
    }

    /// Words of a command: an expression that gives a list gives several, one that gives none or
    /// nothing is dropped.
    ///
    /// # Errors
    /// As [`Self::text`].
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
            .help("docs/recipes.md lists the names that expressions see");
        match self.document.place_of(text) {
            Some(place) => fault.at(place, ""),
            None => fault.note(format!("in the shipped recipe `{}`", self.document.name)),
        }
    }
}

/// What a fact takes from the text of a file: all of it, or the first group or match of a pattern,
/// trimmed.
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

/// The variable of a script that holds a fact which is asked while the build runs.
pub fn late_name(fact: &str) -> String {
    format!("{LATE}{fact}")
}

/// How the names of such variables begin.
pub const LATE: &str = "ROCK_FACT_";

/// What a fact gives.
enum FactValue {
    Value(Json),
    Question(FactSource),
}

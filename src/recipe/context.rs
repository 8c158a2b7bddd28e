//! What the expressions of a recipe see.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::compat::Compat;
use crate::config::recipe::RecipeDocument;
use crate::diagnostic::{Diagnostic, registry::build as codes};
use crate::plan::Job;
use crate::template::{Recipes, Serde, Value};

/// Where steps run; paths and preparation differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// On this machine, in the job's folder (absolute).
    Host {
        /// The job's folder, absolute.
        folder: String,
        /// The folder that relative paths of a matrix file start from, absolute.
        caller: String,
    },
    /// Inside a container, with the job's folder mounted.
    Container,
}

impl Site {
    /// The job's folder as the step sees it, absolute.
    pub fn folder(&self) -> &str {
        match self {
            Self::Host { folder, .. } => folder,
            Self::Container => super::container::MOUNT,
        }
    }

    /// The folder that relative paths of a matrix file start from, as the step sees it, absolute.
    pub fn caller(&self) -> &str {
        match self {
            Self::Host { caller, .. } => caller,
            Self::Container => super::container::CALLER_MOUNT,
        }
    }
}

/// The names that expressions see, and how to evaluate one.
#[derive(Debug)]
pub(super) struct Context {
    recipes: Recipes,
    values: Value,
}

impl Context {
    /// Collects the values of a job. `given` are facts known from elsewhere (`--fact`, commands that were run).
    ///
    /// # Errors
    /// A fact that cannot be computed, or facts that need each other.
    pub(super) fn new(
        job: &Job,
        document: &RecipeDocument,
        compat: &Compat,
        site: &Site,
        given: &BTreeMap<String, String>,
    ) -> Result<Self, Diagnostic> {
        let recipes = Recipes::default();
        let mut values = values_of(job, document, compat, site);
        let mut waiting: Vec<(&String, &str)> = Vec::new();
        for (name, fact) in &document.facts {
            match (given.get(name), &fact.expr, &fact.default) {
                (Some(value), _, _) => drop(values.insert(name.clone(), json!(value))),
                (None, Some(expression), _) => waiting.push((name, expression)),
                (None, None, Some(default)) => drop(values.insert(name.clone(), json!(default))),
                (None, None, None) => drop(values.insert(name.clone(), json!(format!("<{name}>")))),
            }
        }
        while !waiting.is_empty() {
            let before = waiting.len();
            let seen = Value::from(Serde(&values));
            let mut failed = None;
            waiting.retain(|(name, expression)| match recipes.evaluate(expression, &seen) {
                Ok(value) => {
                    values.insert((*name).clone(), serde_json::to_value(&value).unwrap_or(Json::Null));
                    false
                }
                Err(error) => {
                    failed = Some(((*name).clone(), error));
                    true
                }
            });
            if waiting.len() == before {
                let names: Vec<String> = waiting.iter().map(|(name, _)| format!("`{name}`")).collect();
                let (name, error) = failed.expect("one failed, since none was computed");
                return Err(Diagnostic::new(
                    &codes::FACT_CYCLE,
                    format!("recipe `{}`: facts {} cannot be computed", document.name, names.join(", ")),
                )
                .note(format!("`{name}`: {error}"))
                .help("break the circle, or name what is missing"));
            }
        }
        Ok(Self { recipes, values: Value::from(Serde(&values)) })
    }

    /// A text; `None` when the expression gives none.
    ///
    /// # Errors
    /// When it does not parse or names something unknown.
    pub(super) fn text(&self, text: &str) -> Result<Option<String>, Diagnostic> {
        self.recipes.text(text, &self.values).map_err(|error| bad(text, &error))
    }

    /// A text that must be one.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub(super) fn required(&self, text: &str) -> Result<String, Diagnostic> {
        self.text(text).map(Option::unwrap_or_default)
    }

    /// A condition; none given is true.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub(super) fn holds(&self, condition: Option<&str>) -> Result<bool, Diagnostic> {
        match condition {
            None => Ok(true),
            Some(text) => self.recipes.is_true(text, &self.values).map_err(|error| bad(text, &error)),
        }
    }

    /// Words of a command: an expression that gives a list gives several, one that gives none or nothing is dropped.
    ///
    /// # Errors
    /// As [`Self::text`].
    pub(super) fn words(&self, items: &[String]) -> Result<Vec<String>, Diagnostic> {
        let mut words = Vec::new();
        for item in items {
            let value = self.recipes.evaluate(item, &self.values).map_err(|error| bad(item, &error))?;
            match value.try_iter() {
                Ok(items) if value.as_str().is_none() => words.extend(items.map(|item| item.to_string())),
                _ if value.is_none() => {}
                _ => words.push(value.to_string()),
            }
        }
        words.retain(|word| !word.is_empty());
        Ok(words)
    }
}

fn bad(text: &str, error: &crate::template::TemplateError) -> Diagnostic {
    Diagnostic::new(&codes::BAD_EXPRESSION, format!("cannot evaluate `{text}`"))
        .note(error.to_string())
        .help("docs/recipes.md lists the names that expressions see")
}

fn values_of(job: &Job, document: &RecipeDocument, compat: &Compat, site: &Site) -> Map<String, Json> {
    let snake = |name: &str| name.replace('-', "_");
    let mut values = Map::new();
    for (name, value) in &job.axes {
        values.insert(snake(name), json!(value));
    }
    let mut vars = Map::new();
    for (name, default) in &document.vars {
        vars.insert(snake(name), json!(job.settings.vars.get(name).unwrap_or(default)));
    }
    let distribution = job.distribution.normalized();
    let package = if document.package.is_empty() { &distribution } else { &document.package };
    let row = job.package.as_ref().and_then(|version| compat.package(package, version));
    let text = |value: Option<String>| json!(value.unwrap_or_default());
    let full_version = match (&job.version, &job.label) {
        (Some(version), Some(label)) => format!("{}+{label}", version.normalized()),
        (Some(version), None) => version.normalized(),
        (None, _) => String::new(),
    };
    let more = [
        ("id", json!(job.id)),
        ("distribution", json!(distribution)),
        ("file_form", json!(job.distribution.file_form())),
        ("version", text(job.version.as_ref().map(ToString::to_string))),
        ("full_version", json!(full_version)),
        ("label", text(job.label.as_ref().map(ToString::to_string))),
        ("wheel", json!(job.wheel)),
        ("backend", json!(job.backend)),
        ("gfx", json!(job.gfx.iter().map(ToString::to_string).collect::<Vec<_>>())),
        ("rocm", text(job.rocm.as_ref().map(ToString::to_string))),
        ("torch", text(job.torch.as_ref().map(ToString::to_string))),
        ("python", text(job.python.map(|python| python.to_string()))),
        ("torch_from", json!(job.settings.torch_from.word())),
        ("python_from", json!(job.settings.python_from.word())),
        ("platform", json!(job.settings.platform.word())),
        ("folder", json!(site.folder())),
        ("in_container", json!(*site == Site::Container)),
        ("interpreter", json!(super::prepare::interpreter(job, document, site))),
        ("vars", Json::Object(vars)),
        (
            "package",
            json!({
                "known": row.is_some(),
                "version": row.map(|row| row.version.as_str()).unwrap_or_default(),
                "env": row.map(|row| row.env.as_slice()).unwrap_or_default(),
                "cxx_std": row.map(|row| row.cxx_std.as_str()).unwrap_or_default(),
                "tag": row.map(|row| row.tag.as_str()).unwrap_or_default(),
                "commit": match &job.package {
                    Some(crate::names::PackageVersion::Commit { hash, .. }) => hash.as_str(),
                    _ => "",
                },
                "sdist_sha256": row
                    .and_then(|row| row.sdist_sha256.get(job.version.as_ref()?.as_str()))
                    .map(String::as_str)
                    .unwrap_or_default(),
            }),
        ),
    ];
    values.extend(more.map(|(name, value)| (name.to_owned(), value)));
    values
}

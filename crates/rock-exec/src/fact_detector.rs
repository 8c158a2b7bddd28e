//! Detects the facts of a recipe on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::build_options::{BuildOptions, CallerEnv};
use super::limits::MAX_FACT_FILE_BYTES;
use rock_diagnostic::Diagnostic;
use rock_plan::Job;
use rock_plan::config::recipe::RecipeDocument;
use rock_recipe::codes::build as codes;
use rock_recipe::{self as recipe, BuildSite, FactSource, render};
use rock_sys::{self as sys, PathBelow};

/// Time limit of a fact's command.
const FACT_TIMEOUT: Duration = Duration::from_mins(2);

/// Detects the facts that a recipe asks for.
#[derive(Debug)]
pub(super) struct FactDetector<'a> {
    pub(super) recipe: &'a RecipeDocument,
    pub(super) options: &'a BuildOptions,
    pub(super) caller: CallerEnv<'a>,
    pub(super) site: &'a BuildSite,
    /// The job directory on this machine. The steps of a container see it at another path.
    pub(super) directory: &'a Path,
}

impl FactDetector<'_> {
    /// Returns the facts that the options set, and those detected on this machine. A dry run reads
    /// files, but does not start processes.
    ///
    /// # Errors
    /// Returns an error for each fact without a value and without a default.
    pub(super) fn detect(&self, job: &Job) -> Result<BTreeMap<String, String>, Vec<Diagnostic>> {
        let mut facts = self.options.facts.clone();
        let mut found = BTreeMap::new();
        let open = recipe::questions(
            job,
            self.recipe,
            self.caller.compat,
            self.site,
            &facts,
            &mut |name, question| {
                if !self.can_answer(question) {
                    return None;
                }
                // The default too, so that facts which depend on it are detected as well.
                let answer = self.answer(question).or_else(|| self.default(name))?;
                found.insert(name.to_owned(), answer.clone());
                Some(answer)
            },
        );
        let open = open.map_err(|error| vec![error])?;
        facts.extend(found);
        if self.options.dry_run {
            return Ok(facts);
        }
        let errors: Vec<Diagnostic> = open
            .iter()
            .filter(|(name, _)| self.default(name).is_none())
            .map(|(name, question)| missing_fact(name, question))
            .collect();
        if errors.is_empty() {
            Ok(facts)
        } else {
            Err(errors)
        }
    }

    /// Returns the default of a fact. A dry run shows its stand-in instead, if it has one.
    fn default(&self, name: &str) -> Option<String> {
        let fact = self.recipe.facts.get(name)?;
        if self.options.dry_run && fact.stand_in.is_some() {
            return None;
        }
        fact.default.clone()
    }

    /// Whether this machine can answer: commands run only where the steps run as well, and not in
    /// a dry run.
    fn can_answer(&self, question: &FactSource) -> bool {
        let is_command = matches!(question, FactSource::Command(_));
        !(is_command && (self.options.dry_run || *self.site == BuildSite::Container))
    }

    /// Returns the answer of this machine, if it has one.
    fn answer(&self, question: &FactSource) -> Option<String> {
        let environment = self.caller.environment;
        match question {
            FactSource::Command(argv) => {
                let (name, arguments) = argv.split_first()?;
                let program = sys::find_program(name, environment)
                    .or_else(|| name.contains('/').then(|| name.into()))?;
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let output = sys::probe(&program, &arguments, environment, FACT_TIMEOUT);
                output.succeeded.then(|| output.stdout.trim().to_owned())
            }
            FactSource::File { path, find } => {
                let text = match Path::new(path).strip_prefix(self.site.folder()) {
                    Ok(rest) => PathBelow::new(self.directory, rest).read_text(MAX_FACT_FILE_BYTES),
                    Err(_) => sys::read_text(&self.local_path(path), MAX_FACT_FILE_BYTES),
                };
                recipe::found(&text.ok()?, find)
            }
            FactSource::FirstPath(paths) => paths
                .iter()
                .find(|path| sys::exists(&self.local_path(path)))
                .cloned(),
            FactSource::Variable(name) => environment.get(name).map(str::to_owned),
        }
    }

    /// Returns the path on this machine of a path that steps use.
    fn local_path(&self, path: &str) -> PathBuf {
        match Path::new(path).strip_prefix(self.site.folder()) {
            Ok(rest) => self.directory.join(rest),
            Err(_) => self.caller.directory().join(path),
        }
    }
}

/// Returns the error for a fact without a value.
fn missing_fact(name: &str, question: &FactSource) -> Diagnostic {
    let reason = match question {
        FactSource::Command(argv) => {
            format!("`{}` failed or was not found", render::command(argv))
        }
        FactSource::File { path, .. } => format!("`{path}` cannot be read, or has no match"),
        FactSource::FirstPath(paths) => format!("none of `{}` exists", paths.join("`, `")),
        FactSource::Variable(name) => format!("the variable `{name}` is not set"),
    };
    Diagnostic::new(
        &codes::FACT_UNKNOWN,
        format!("the fact `{name}` of the recipe has no value: {reason}"),
    )
    .help(format!("set it with `--fact {name}=VALUE`"))
}

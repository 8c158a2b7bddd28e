//! Deferred facts: facts that the build detects before or after a stage.

use std::collections::BTreeSet;

use super::context::{SHELL_VARIABLE, late_name};
use super::step::{Step, facts_in};
use super::step_builder::StepBuilder;
use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;
use rock_plan::config::recipe::FactDocument;

const FACTS: &str = include_str!("../templates/recipe/facts.py");

/// The position, relative to a stage, at which facts are detected.
#[derive(Debug, Clone, Copy)]
pub(super) enum FactStage {
    /// Right before the stage.
    Before,
    /// Right after the stage.
    After,
}

/// A fact that is detected before or after a stage: a command with its words, a file with a
/// pattern, or paths.
struct DeferredFact<'a> {
    name: &'a str,
    kind: &'a str,
    fact: &'a FactDocument,
    words: Vec<String>,
}

impl StepBuilder<'_> {
    /// Returns the steps that detect the facts before or after a stage. Facts whose words refer to
    /// others at the same position are detected after them, so there may be several steps. Given
    /// facts need no step.
    ///
    /// # Errors
    /// If an expression of a fact or of the recipe's environment cannot be evaluated.
    pub(super) fn ask(
        &self,
        stage: &str,
        place: FactStage,
        asked: &mut BTreeSet<String>,
    ) -> Result<Vec<Step>, Diagnostic> {
        let (name, asked_here): (String, fn(&FactDocument) -> &str) = match place {
            FactStage::Before => (format!("facts-of-{stage}"), |fact| &fact.before),
            FactStage::After => (format!("facts-{stage}"), |fact| &fact.after),
        };
        let mut waiting = Vec::new();
        for (name, fact) in self
            .document
            .facts
            .iter()
            .filter(|(_, fact)| asked_here(fact) == stage)
        {
            if self.context.required(&format!("{{{{ {name} }}}}"))? == variable(name) {
                let (kind, words) = match (&fact.command, &fact.file, &fact.path) {
                    (Some(command), ..) => ("command", self.context.words(command)?),
                    (_, Some(file), _) => (
                        "file",
                        vec![self.context.required(file)?, fact.find.clone()],
                    ),
                    (.., paths) => (
                        "path",
                        self.context.words(paths.as_deref().unwrap_or_default())?,
                    ),
                };
                waiting.push(DeferredFact {
                    name,
                    kind,
                    fact,
                    words,
                });
            }
        }
        let mut steps: Vec<Step> = Vec::new();
        while !waiting.is_empty() {
            let open: Vec<String> = waiting.iter().map(|asked| variable(asked.name)).collect();
            let names_open = |asked: &DeferredFact<'_>| {
                asked
                    .words
                    .iter()
                    .any(|w| open.iter().any(|name| w.contains(name)))
            };
            let (mut later, now): (Vec<_>, Vec<_>) = waiting.into_iter().partition(names_open);
            if now.is_empty() {
                // They refer to each other: each is detected as it is, and reports that it found
                // nothing.
                steps.push(self.question(&name, steps.len(), std::mem::take(&mut later)));
            } else {
                steps.push(self.question(&name, steps.len(), now));
            }
            waiting = later;
        }
        for step in &mut steps {
            self.set_shared_env(step)?;
            Self::leave_out_unasked(step, asked);
            asked.extend(step.facts.iter().cloned());
        }
        Ok(steps)
    }

    /// Removes from a step those variables of the recipe's own environment that need a fact which
    /// is not detected yet.
    pub(super) fn leave_out_unasked(step: &mut Step, asked: &BTreeSet<String>) {
        let known = |text: &str| facts_in(text).all(|fact| asked.contains(fact));
        step.env.retain(|_, value| known(value));
        step.env_if
            .retain(|_, only| asked.contains(&only.fact) && known(&only.value));
        step.env_extend.retain(|_, extend| {
            [&extend.prepend, &extend.append]
                .into_iter()
                .flatten()
                .all(|text| known(text))
        });
    }

    /// Rejects a step that refers to a fact which is detected later.
    ///
    /// # Errors
    /// If there is such a fact; the diagnostic names it and the stage at which it is detected.
    pub(super) fn check_asked(
        &self,
        step: &Step,
        asked: &BTreeSet<String>,
    ) -> Result<(), Diagnostic> {
        let Some(fact) = step.needs().into_iter().find(|fact| !asked.contains(*fact)) else {
            return Ok(());
        };
        let beside = self
            .document
            .facts
            .get(fact)
            .and_then(FactDocument::stage)
            .unwrap_or_default();
        let message = format!(
            "stage `{}` needs the fact `{fact}`, which is only evaluated at stage `{beside}`",
            step.stage
        );
        let fault = Diagnostic::new(&codes::BAD_RECIPE, message)
            .help("move the stage after that stage, or evaluate the fact earlier");
        Err(
            match self.document.place_of(&format!("stage: {}", step.stage)) {
                Some(place) => fault.at(place, ""),
                None => fault.note(format!("in the built-in recipe `{}`", self.document.name)),
            },
        )
    }

    fn question(&self, stage: &str, number: usize, all: Vec<DeferredFact<'_>>) -> Step {
        let name = if number == 0 {
            stage.to_owned()
        } else {
            format!("{stage}-{}", number + 1)
        };
        let mut step = self.program(name, FACTS, []);
        for asked in all {
            let default = asked
                .fact
                .default
                .as_ref()
                .map_or_else(|| "-".to_owned(), |text| format!("={text}"));
            step.argv.extend([
                asked.name.to_owned(),
                asked.kind.to_owned(),
                default,
                asked.words.len().to_string(),
            ]);
            step.argv.extend(asked.words);
            step.facts.push(asked.name.to_owned());
        }
        step
    }
}

/// Returns the fact as expressions see it.
fn variable(fact: &str) -> String {
    format!("{SHELL_VARIABLE}{}{SHELL_VARIABLE}", late_name(fact))
}

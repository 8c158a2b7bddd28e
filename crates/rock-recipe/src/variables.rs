//! The environment of a step.

use indexmap::IndexMap;

use super::context::{LATE, SHELL_VARIABLE};
use super::step::{OnlyIf, ParallelJobsVariable, Step, VariableExtension};
use super::step_builder::StepBuilder;
use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;
use rock_names::Platform;
use rock_plan::config::recipe::{EnvValue, PATH_SEPARATOR};

impl StepBuilder<'_> {
    /// Sets the variables that all steps share, for a step that has no variables yet.
    ///
    /// # Errors
    /// See [`Self::set_env`].
    pub(super) fn set_shared_env(&self, step: &mut Step) -> Result<(), Diagnostic> {
        if self.shared.get().is_none() {
            let mut shared = Step::default();
            if let Some(programs) = &self.programs {
                let separator = self.separator(PATH_SEPARATOR).to_owned();
                extend(
                    &mut shared,
                    "PATH",
                    &VariableExtension {
                        prepend: Some(programs.clone()),
                        append: None,
                        separator,
                    },
                );
            }
            self.set_env(&mut shared, &self.document.env)?;
            let _ = self.shared.set(shared);
        }
        if let Some(shared) = self.shared.get() {
            step.env.clone_from(&shared.env);
            step.env_remove.clone_from(&shared.env_remove);
            step.env_extend.clone_from(&shared.env_extend);
            step.env_if.clone_from(&shared.env_if);
            step.jobs.clone_from(&shared.jobs);
        }
        Ok(())
    }

    fn separator<'s>(&self, word: &'s str) -> &'s str {
        match (word, self.platform) {
            (PATH_SEPARATOR, Platform::Linux) => ":",
            (PATH_SEPARATOR, Platform::Windows) => ";",
            (other, _) => other,
        }
    }

    /// Adds variables to those of a step: a later one replaces an earlier one, or extends its
    /// value.
    ///
    /// # Errors
    /// If an expression cannot be evaluated, or yields no number where one is needed.
    pub(super) fn set_env(
        &self,
        step: &mut Step,
        env: &IndexMap<String, EnvValue>,
    ) -> Result<(), Diagnostic> {
        let context = self.context;
        for (name, value) in env {
            match value {
                EnvValue::Text(text) => set(step, name, context.text(text)?),
                EnvValue::List(items) => match context.words(items)?.join(" ") {
                    nothing if nothing.is_empty() => {}
                    text => set(step, name, Some(text)),
                },
                EnvValue::Remove => set(step, name, None),
                EnvValue::Extend {
                    prepend,
                    append,
                    separator,
                } => {
                    let part = |part: &Option<String>| {
                        part.as_deref().map(|text| context.text(text)).transpose()
                    };
                    let some = |text: Option<Option<String>>| {
                        text.flatten().filter(|text| !text.is_empty())
                    };
                    let separator = self.separator(separator).to_owned();
                    let (prepend, append) = (some(part(prepend)?), some(part(append)?));
                    extend(
                        step,
                        name,
                        &VariableExtension {
                            prepend,
                            append,
                            separator,
                        },
                    );
                }
                EnvValue::If { fact, value } => {
                    let answer = context.required(&format!("{{{{ {fact} }}}}"))?;
                    let Some(value) = context.text(value)? else {
                        continue;
                    };
                    let late = answer
                        .strip_prefix(SHELL_VARIABLE)
                        .and_then(|text| text.strip_suffix(SHELL_VARIABLE));
                    match late.and_then(|variable| variable.strip_prefix(LATE)) {
                        Some(fact) => {
                            step.env_if.insert(
                                name.clone(),
                                OnlyIf {
                                    fact: fact.to_owned(),
                                    value,
                                },
                            );
                        }
                        None if answer.is_empty() => {}
                        None => set(step, name, Some(value)),
                    }
                }
                EnvValue::Jobs { count, gib_per_job } => {
                    let (count, gib) = (context.required(count)?, context.required(gib_per_job)?);
                    step.jobs = Some(jobs(name, &count, &gib)?);
                }
            }
        }
        Ok(())
    }
}

/// Sets or removes a variable, regardless of how it was set before.
fn set(step: &mut Step, name: &str, value: Option<String>) {
    step.env.remove(name);
    step.env_extend.remove(name);
    step.env_if.remove(name);
    step.env_remove.retain(|removed| removed != name);
    match value {
        Some(value) => drop(step.env.insert(name.to_owned(), value)),
        None => step.env_remove.push(name.to_owned()),
    }
}

/// Extends the value that the step sets, else the inherited one.
fn extend(step: &mut Step, name: &str, more: &VariableExtension) {
    if more.prepend.is_none() && more.append.is_none() {
        return;
    }
    if let Some(known) = step.env.get_mut(name) {
        *known = more.apply(Some(known));
        return;
    }
    if step.env_remove.iter().any(|removed| removed == name) {
        return set(step, name, Some(more.apply(None)));
    }
    let joined = |first: Option<String>, second: Option<String>| match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}{}{second}", more.separator)),
        (first, second) => first.or(second),
    };
    let known = step.env_extend.remove(name).unwrap_or_default();
    let extend = VariableExtension {
        prepend: joined(more.prepend.clone(), known.prepend),
        append: joined(known.append, more.append.clone()),
        separator: more.separator.clone(),
    };
    step.env_extend.insert(name.to_owned(), extend);
}

fn jobs(variable: &str, count: &str, gib: &str) -> Result<ParallelJobsVariable, Diagnostic> {
    let fault = |text: &str, what: &str, help: &str| {
        Diagnostic::new(
            &codes::BAD_EXPRESSION,
            format!("`{text}` is not a valid {what} for `{variable}`"),
        )
        .help(help)
    };
    let tenths_gib_per_job = tenths(gib).ok_or_else(|| {
        fault(
            gib,
            "number of GiB",
            "write a number above 0 with at most one decimal, such as `2.8`",
        )
    })?;
    let count = match count {
        "" => None,
        text => match text.parse() {
            Ok(count @ 1..=1024) => Some(count),
            _ => {
                return Err(fault(
                    text,
                    "number of jobs",
                    "write a number from 1 to 1024, or leave it empty",
                ));
            }
        },
    };
    Ok(ParallelJobsVariable {
        variable: variable.to_owned(),
        count,
        tenths_gib_per_job,
    })
}

/// Parses tenths: `2.8` becomes 28.
fn tenths(text: &str) -> Option<u32> {
    let (whole, decimal) = text.split_once('.').unwrap_or((text, "0"));
    let tenths = whole.parse::<u32>().ok()?.checked_mul(10)?
        + decimal.parse::<u32>().ok().filter(|_| decimal.len() == 1)?;
    (1..=100_000).contains(&tenths).then_some(tenths)
}

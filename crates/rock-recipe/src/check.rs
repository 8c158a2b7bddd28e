//! Checks that a recipe works for every job of a plan, without facts of the machine.

use std::collections::BTreeMap;

use super::build::refused;
use super::{Build, BuildSite, build};
use crate::codes::build as codes;
use rock_compat::{Compat, variable_diagnostic};
use rock_diagnostic::{Diagnostic, Sink};
use rock_names::Platform;
use rock_plan::Job;
use rock_plan::config::recipe::RecipeDocument;

/// The number of jobs that are checked. Of a larger plan only the first ones are, so that a plan of
/// a million jobs does not take an hour.
const MOST_JOBS: usize = 5_000;

/// Evaluates every condition, and every part whose condition holds, for each job. Facts of the
/// machine have stand-ins. Each error is reported once, with the number of affected jobs and the ID
/// of one of them. Advice against values of variables and the diagnostics that `also` returns for a
/// job and its build are reported in the same way.
pub fn check(
    jobs: impl IntoIterator<Item = Job>,
    document: &RecipeDocument,
    compat: &Compat,
    also: &dyn Fn(&Job, &Build) -> Vec<Diagnostic>,
    sink: &mut Sink,
) {
    let mut found: Vec<(Diagnostic, usize, String)> = Vec::new();
    for job in jobs.into_iter().take(MOST_JOBS) {
        let built = build(&job, document, compat, &site_of(&job), &BTreeMap::new());
        let found_in = |build: Build| [against(&job, &build, compat), also(&job, &build)].concat();
        for diagnostic in built.map_or_else(|faults| faults, found_in) {
            match found.iter_mut().find(|(known, _, _)| *known == diagnostic) {
                Some((_, count, _)) => *count += 1,
                None => found.push((diagnostic, 1, job.id.clone())),
            }
        }
    }
    for (diagnostic, count, id) in found {
        let jobs = if count == 1 {
            format!("for job `{id}`")
        } else {
            format!("for {count} jobs, such as `{id}`")
        };
        sink.push(diagnostic.note(jobs));
    }
}

/// Returns the reasons why a recipe refuses a job, without the errors of its steps. Facts of the
/// machine have stand-ins.
pub fn refusals_of_job(job: &Job, document: &RecipeDocument, compat: &Compat) -> Vec<Diagnostic> {
    refused(job, document, compat, &site_of(job))
}

/// Returns the place where the build of a job is checked.
fn site_of(job: &Job) -> BuildSite {
    if job.settings.platform == Platform::Windows {
        BuildSite::Script
    } else {
        BuildSite::Container
    }
}

/// Returns the recipe's warnings, and the advice in the compatibility data against variables of the
/// steps and of the container.
fn against(job: &Job, build: &Build, compat: &Compat) -> Vec<Diagnostic> {
    let warned = build
        .warnings
        .iter()
        .filter(|found| found.code.id == codes::WARNED_BY_RECIPE.id);
    let mut found: Vec<Diagnostic> = warned.cloned().collect();
    let mut add = |profiles: &[&str], who: &str, name: &str, value: &str| {
        let rules = compat
            .broken_variable_rules(profiles, name, value)
            .into_iter();
        found.extend(rules.map(|rule| variable_diagnostic(rule, who, &format!("{name}={value}"))));
    };
    let mut of_job: Vec<&str> = Vec::new();
    for step in &build.steps {
        let profiles: Vec<&str> = compat.stage_profiles(&step.stage).collect();
        let who = format!("stage `{}`", step.stage);
        step.env
            .iter()
            .for_each(|(name, value)| add(&profiles, &who, name, value));
        of_job.extend(profiles);
    }
    for (name, value) in container_variables(&job.settings.docker.args) {
        add(&of_job, "the container of `docker`", name, value);
    }
    found
}

/// Returns the variables with a value among the arguments of a container: `-e A=b`, `--env A=b`,
/// `--env=A=b`, `-eA=b`.
fn container_variables(arguments: &[String]) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let setting = match word {
            "-e" | "--env" => words.next(),
            _ if word.starts_with("--env=") => word.strip_prefix("--env="),
            _ if word.starts_with("--") => None,
            _ => word
                .strip_prefix("-e")
                .map(|rest| rest.strip_prefix('=').unwrap_or(rest)),
        };
        found.extend(setting.and_then(|setting| setting.split_once('=')));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{MOST_JOBS, check, container_variables, refusals_of_job};
    use crate::fixture::flash_attn;
    use rock_compat::Compat;
    use rock_diagnostic::{Sink, SourceText};
    use rock_plan::config::TorchFrom;
    use rock_plan::config::recipe::from_source;

    #[test]
    fn jobs_are_tried_up_to_the_limit() {
        let (job, compat) = (
            flash_attn("2.8.3", "6.2", "2.5.1", "ck", ""),
            Compat::embedded(),
        );
        let text = "recipe: 1\nname: flash-attn\nsteps: [{stage: build, argv: [\"{{ nothing }}\"]}]\n\
            collect: {wheels: \"dist/*.whl\"}\n";
        let document =
            from_source(&SourceText::new("flash-attn.yaml", text), &mut Sink::new()).unwrap();
        let tried = |jobs: usize| {
            let mut sink = Sink::new();
            check(
                std::iter::repeat_n(job.clone(), jobs),
                &document,
                &compat,
                &|_, _| Vec::new(),
                &mut sink,
            );
            let found = sink.finish();
            found
                .iter()
                .flat_map(|one| &one.notes)
                .any(|note| note.starts_with(&format!("for {MOST_JOBS} jobs,")))
        };
        assert_eq!(
            (tried(MOST_JOBS - 1), tried(MOST_JOBS), tried(MOST_JOBS + 1)),
            (false, true, true)
        );
    }

    #[test]
    fn settings_are_refused_without_rules_of_the_recipe() {
        let compat = Compat::embedded();
        let mut job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
        let text = "recipe: 1\nname: flash-attn\nsteps: [{stage: build, argv: [make]}]\n\
            collect: {wheels: \"dist/*.whl\"}\n";
        let document =
            from_source(&SourceText::new("flash-attn.yaml", text), &mut Sink::new()).unwrap();
        assert!(refusals_of_job(&job, &document, &compat).is_empty());
        job.settings.torch_from = TorchFrom::Image;
        let found = refusals_of_job(&job, &document, &compat);
        assert_eq!(
            found
                .iter()
                .map(|one| one.message.as_str())
                .collect::<Vec<_>>(),
            ["`python-from: uv` cannot use the torch of `torch-from: image`"]
        );
    }

    #[test]
    fn variables_of_a_container_are_found_in_every_spelling() {
        let words = [
            "-e",
            "A=1",
            "--env",
            "B=2",
            "--env=C=3=4",
            "-eD=5",
            "-e=E=6",
            "--env-file=F=7",
            "-v",
            "/x:/y",
            "-e",
            "G",
        ];
        let found = words.map(str::to_owned);
        assert_eq!(
            container_variables(&found),
            [("A", "1"), ("B", "2"), ("C", "3=4"), ("D", "5"), ("E", "6")]
        );
    }
}

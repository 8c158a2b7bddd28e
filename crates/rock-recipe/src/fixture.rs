//! Jobs for tests, planned from matrix text with the embedded compatibility data and the shipped
//! recipes, like the command line does.

use std::collections::BTreeMap;

use super::{Build, BuildSite, build};
use rock_compat::Compat;
use std::sync::Arc;

use rock_diagnostic::{Diagnostic, Sink, SourceText};
use rock_plan::config::recipe::RecipeSet;
use rock_plan::config::{self, Lookups};
use rock_plan::{self as plan, Job, JobView, PlanInputs};

/// Plans the jobs of a matrix file. `version` is added, and so are `distribution` and `recipe` if
/// they are missing.
pub fn jobs(text: &str) -> Vec<Job> {
    let compat = Compat::embedded();
    let recipes = Arc::new(RecipeSet::with_shipped([]));
    let head = if text.contains("distribution:") {
        ""
    } else {
        "distribution: flash-attn\nrecipe: flash-attn\n"
    };
    let mut sink = Sink::new();
    let source = SourceText::new("m.yaml", format!("version: 1\n{head}{text}"));
    let config = config::read(&source, &Lookups::new(&compat, recipes.clone()), &mut sink);
    let plan = config.and_then(|config| {
        let recipe = recipes.known(&config.recipe)?;
        let profile = recipe.profile(&config.distribution.normalized());
        plan::plan(
            vec![(config, profile)],
            &compat,
            &PlanInputs::default(),
            &mut sink,
        )
    });
    let diagnostics = sink.finish();
    let plan =
        plan.unwrap_or_else(|| panic!("{}", rock_diagnostic::render::human(&diagnostics, false)));
    plan.jobs().map(JobView::to_job).collect()
}

/// Returns the only job of flash-attn with these versions; `more` contains additional lines of the
/// matrix file.
pub fn flash_attn(version: &str, rocm: &str, torch: &str, backend: &str, more: &str) -> Job {
    let text = format!(
        "axes:\n  flash-attn: [\"{version}\"]\n  python: [\"3.11\"]\n  torch: [\"{torch}\"]\n  rocm: [\"{rocm}\"]\n  backend: \
         [{backend}]\n{more}\n{}",
        if more.contains("gfx:") {
            ""
        } else {
            "gfx: [gfx90a, gfx942, gfx1030, gfx1100]\n"
        }
    );
    let mut jobs = jobs(&text);
    assert_eq!(jobs.len(), 1, "{text}");
    jobs.remove(0)
}

/// Returns the build of a job with its shipped recipe, in a container.
///
/// # Errors
/// See [`build`].
pub fn made(job: &Job) -> Result<Build, Vec<Diagnostic>> {
    made_at(job, &BuildSite::Container)
}

/// Returns the build of a job with its shipped recipe.
///
/// # Errors
/// See [`build`].
pub fn made_at(job: &Job, site: &BuildSite) -> Result<Build, Vec<Diagnostic>> {
    let document = RecipeSet::with_shipped([]).known(&job.recipe).unwrap();
    build(job, &document, &Compat::embedded(), site, &BTreeMap::new())
}

/// Returns the environment of a stage, sorted: `NAME=value`, and `-NAME` for a removed variable.
pub fn environment(build: &Build, stage: &str) -> Vec<String> {
    let step = build.steps.iter().find(|step| step.stage == stage).unwrap();
    let set = step
        .env
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let jobs = step
        .jobs
        .iter()
        .map(|jobs| format!("{}=({} per job)", jobs.variable, jobs.tenths_gib_per_job));
    let mut all: Vec<String> = set
        .chain(step.env_remove.iter().map(|name| format!("-{name}")))
        .chain(jobs)
        .collect();
    all.sort();
    all
}

/// Returns the argument vector of a stage as one line.
pub fn argv(build: &Build, stage: &str) -> String {
    build
        .steps
        .iter()
        .find(|step| step.stage == stage)
        .unwrap()
        .argv
        .join(" ")
}

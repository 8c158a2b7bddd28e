//! The resolved steps of a job, as YAML and as commands for the dry run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::script::{SharedPrograms, step_view};
use crate::container::is_about_image;
use crate::{Build, SHELL_VARIABLE, Step};
use rock_names::has_wheel_extension;
use rock_plan::Job;
use rock_yaml as yaml;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct BuildView<'a> {
    job: &'a str,
    recipe: &'a str,
    wheel: &'a str,
    #[serde(skip_serializing_if = "CollectView::is_empty")]
    collect: CollectView<'a>,
    steps: Vec<StepTextView<'a>>,
}

/// The files that the build delivers, as in the recipe.
#[derive(Serialize)]
struct CollectView<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    wheels: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    archive: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    relabel: bool,
}

impl CollectView<'_> {
    fn is_empty(&self) -> bool {
        self.wheels.is_empty() && self.archive.is_empty()
    }
}

/// The dry run of a job.
#[derive(Serialize)]
struct DryRunView<'a> {
    #[serde(flatten)]
    build: BuildView<'a>,
    /// The command that starts the container; `None` on this machine.
    container: Option<&'a str>,
    /// The stage that the build starts at; earlier ones are skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct StepTextView<'a> {
    stage: &'a str,
    argv: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<&'a str, Option<String>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extend_env: BTreeMap<&'a str, ExtendView<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env_where: BTreeMap<&'a str, OnlyIfView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<JobsView<'a>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_s: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    clean: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    outdated: &'a [String],
    #[serde(skip_serializing_if = "is_zero")]
    retries: u32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    outputs: BTreeMap<&'a str, OutputView<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    finally: bool,
}

#[derive(Serialize)]
struct ExtendView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    prepend: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    append: Option<String>,
    sep: &'a str,
}

#[derive(Serialize)]
struct OnlyIfView<'a> {
    fact: &'a str,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct JobsView<'a> {
    variable: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    gib_per_job: String,
}

#[derive(Serialize)]
struct OutputView<'a> {
    glob: &'a str,
    count: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The first line of [`recipe`].
const NOT_A_RECIPE: &str = "\
# The resolved steps of a job. This is not a recipe: see `rock-matrix help recipes`.
";

/// Renders the steps as YAML; a variable without a value is removed. The document has resolved
/// values only, so a comment at its top says that it is not a recipe.
pub fn recipe(job: &Job, build: &Build) -> String {
    let steps = yaml::to_yaml(&build_view(job, build))
        .expect("the view contains only strings, numbers, lists and mappings");
    format!("{NOT_A_RECIPE}{steps}")
}

/// Renders the dry run of a job as one line of JSON: the keys of [`recipe`], the container command
/// or null, and the stage that it starts at unless that is the first one.
pub fn dry_run_json(job: &Job, build: &Build, container: Option<&str>, from: usize) -> String {
    let view = DryRunView {
        build: build_view(job, build),
        container,
        start: build
            .steps
            .get(from)
            .filter(|_| from > 0)
            .map(|step| step.stage.as_str()),
    };
    serde_json::to_string(&view)
        .expect("the view contains only strings, numbers, lists and mappings")
        + "\n"
}

fn build_view<'a>(job: &'a Job, build: &'a Build) -> BuildView<'a> {
    BuildView {
        job: &job.id,
        recipe: &job.recipe,
        wheel: &job.wheel,
        collect: CollectView {
            wheels: &build.wheels,
            archive: &build.archive,
            relabel: build.relabel,
        },
        steps: build.steps.iter().map(view).collect(),
    }
}

fn view(step: &Step) -> StepTextView<'_> {
    let set = step
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), Some(plain(value))));
    let removed = step.env_remove.iter().map(|name| (name.as_str(), None));
    let extended = step.env_extend.iter().map(|(name, extend)| {
        let view = ExtendView {
            prepend: extend.prepend.as_deref().map(plain),
            append: extend.append.as_deref().map(plain),
            sep: &extend.separator,
        };
        (name.as_str(), view)
    });
    StepTextView {
        stage: &step.stage,
        argv: step.argv.iter().map(|word| plain(word)).collect(),
        env: set.chain(removed).collect(),
        extend_env: extended.collect(),
        env_where: step
            .env_if
            .iter()
            .map(|(name, only)| {
                (
                    name.as_str(),
                    OnlyIfView {
                        fact: &only.fact,
                        value: plain(&only.value),
                    },
                )
            })
            .collect(),
        jobs: step.jobs.as_ref().map(|jobs| JobsView {
            variable: &jobs.variable,
            count: jobs.count,
            gib_per_job: format!(
                "{}.{}",
                jobs.tenths_gib_per_job / 10,
                jobs.tenths_gib_per_job % 10
            ),
        }),
        cwd: plain(&step.cwd),
        timeout_s: step.timeout_s,
        clean: &step.clean,
        outdated: &step.outdated,
        retries: step.retries,
        outputs: step
            .outputs
            .iter()
            .map(|o| {
                (
                    o.name.as_str(),
                    OutputView {
                        glob: &o.glob,
                        count: o.count,
                    },
                )
            })
            .collect(),
        finally: step.finally,
    }
}

/// Replaces the script variables in a text by their shell syntax, `${ROCK_FOLDER}`.
fn plain(text: &str) -> String {
    let parts = text.split(SHELL_VARIABLE).enumerate();
    parts
        .map(|(number, part)| {
            if number % 2 == 1 {
                format!("${{{part}}}")
            } else {
                part.to_owned()
            }
        })
        .collect()
}

/// Renders the dry run of a job: the container command, if there is one, and each step. Programs of
/// ours appear as `"$NAME"`, as in the script. Steps before `from` are only named.
pub fn dry_run(job: &Job, build: &Build, docker: Result<&str, &str>, from: usize) -> String {
    let gfx: Vec<String> = job.gfx.iter().map(ToString::to_string).collect();
    let mut text = format!("\n== {}\n", job.id);
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "   {name:<8} {value}");
        }
    };
    let what = match (has_wheel_extension(&job.wheel), job.archive(), job.sdist()) {
        (true, ..) => "wheel",
        (_, Some(_), _) => "archive",
        (.., Some(_)) => "sdist",
        (.., None) => "tree",
    };
    line(what, &job.wheel);
    for wheel in &job.extra_wheels {
        line("wheel", wheel);
    }
    line("gfx", &gfx.join(" "));
    line(
        "runner",
        &job.runner_group
            .iter()
            .chain(&job.runner)
            .cloned()
            .collect::<Vec<_>>()
            .join(", "),
    );
    line(
        "estimate",
        job.estimate
            .as_ref()
            .map_or("", |estimate| &estimate.verdict),
    );
    let in_container = docker.is_ok();
    let warnings = job.warnings.iter();
    for warning in warnings.filter(|warning| in_container || !is_about_image(warning)) {
        line("note", warning);
    }
    match docker {
        Ok(docker) => {
            for line in docker.lines() {
                let _ = writeln!(text, "   $ {line}");
            }
        }
        Err(why) => line("image", why),
    }
    let mut programs = SharedPrograms::default();
    for (number, step) in build.steps.iter().enumerate() {
        let view = step_view(step, &mut programs);
        let passed_over = if number < from { "  skipped" } else { "" };
        let _ = writeln!(
            text,
            "   {}/{} {}{passed_over}",
            number + 1,
            build.steps.len(),
            step.stage
        );
        if number < from {
            continue;
        }
        for line in &view.lines {
            let _ = writeln!(text, "       {line}");
        }
    }
    text
}

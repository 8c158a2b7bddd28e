//! The build of a job as an ordered list of steps.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use super::container::CALLER_MOUNT;
use super::context::{BuildSite, ExpressionContext};
use super::prepare;
use super::smoke::{SMOKE_TEST, TestPreparation};
use super::step::Step;
use super::step_builder::StepBuilder;
use crate::codes::build as codes;
use rock_compat::Compat;
use rock_diagnostic::{Code, Diagnostic};
use rock_plan::Job;
use rock_plan::config::recipe::{RecipeDocument, RefuseDocument};
use rock_plan::config::{Platform, PythonFrom, TorchFrom};
/// The directory, inside the job directory, for wheels that are only tested, not built.
pub const TESTED: &str = "tested";

/// The build of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The number of leading steps that fetch checkouts, that this program runs itself, or that
    /// prepare the environment. They come first, whatever the recipe says.
    pub ready: usize,
    /// Words for `--resume` and the index of the step that each starts at, in recipe order.
    pub resume_points: Vec<(String, usize)>,
    /// Glob of the wheels that the build must produce, relative to the job directory.
    pub wheels: String,
    /// Glob of the archive that the build must produce instead of wheels; empty if there is none.
    pub archive: String,
    /// Whether the label is set on the finished wheel, because the build itself cannot set it.
    pub relabel: bool,
    /// Whether a step reads from the directory that relative paths of a matrix file start from.
    pub uses_caller: bool,
    /// The preparation for testing a finished wheel in a place where it was not built.
    pub elsewhere: TestPreparation,
    /// Warnings to show before the build runs.
    pub warnings: Vec<Diagnostic>,
}

impl Build {
    /// Excludes a directory from the source trees that contain it: wheels of an earlier build are
    /// not sources. `folder` is absolute, as the steps see it.
    pub fn leave_out(&mut self, folder: &str) {
        for step in self
            .steps
            .iter_mut()
            .filter(|step| !step.left_out.is_empty())
        {
            let Some(below) = step
                .inputs
                .iter()
                .find_map(|tree| Path::new(folder).strip_prefix(tree).ok())
            else {
                continue;
            };
            let pattern: String = below
                .iter()
                .flat_map(|name| ["/".to_owned(), escaped(&name.to_string_lossy())])
                .collect();
            if !pattern.is_empty() && !step.left_out.contains(&pattern) {
                step.leave_out(&pattern);
            }
        }
    }

    /// Describes the source trees that are copied: their origin and the excluded patterns.
    pub fn copies(&self) -> Vec<String> {
        let mut copies = Vec::new();
        for step in self.steps.iter().filter(|step| !step.left_out.is_empty()) {
            let left_out: Vec<&str> = step
                .left_out
                .iter()
                .map(|pattern| pattern.trim_start_matches('/'))
                .collect();
            let left_out = left_out.join(", ");
            for (name, path) in step.sources() {
                let path = path
                    .strip_prefix(CALLER_MOUNT)
                    .map_or(path, |below| below.trim_start_matches('/'));
                copies.push(format!(
                    "source `{name}` is copied from `{path}` without {left_out}, \
                    releases, virtual environments and files that git ignores"
                ));
            }
        }
        copies
    }

    /// Reduces the build to the test of an existing wheel: the steps that prepare the environment
    /// and the smoke test remain. The wheel is taken from a directory below [`TESTED`], so that the
    /// wheel of an earlier build is not replaced.
    #[must_use]
    pub fn only_test(mut self) -> Self {
        let tested = format!("{TESTED}/{}", self.wheels);
        for step in self
            .steps
            .iter_mut()
            .filter(|step| step.stage == SMOKE_TEST)
        {
            step.argv
                .iter_mut()
                .filter(|word| **word == self.wheels)
                .for_each(|word| word.clone_from(&tested));
        }
        self.wheels = tested;
        let mut number = 0;
        self.steps.retain(|step| {
            number += 1;
            let is_needed = step.stage == SMOKE_TEST || self.elsewhere.stages.contains(&step.stage);
            (number <= self.ready && !step.host) || is_needed
        });
        let last = self.steps.len().saturating_sub(1);
        self.steps
            .splice(last..last, self.elsewhere.requires.take());
        self.resume_points.clear();
        self
    }
}

/// Escapes a name to a pattern that matches only this name.
fn escaped(name: &str) -> String {
    let is_special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}');
    name.chars()
        .map(|c| {
            if is_special(c) {
                format!("[{c}]")
            } else {
                c.to_string()
            }
        })
        .collect()
}

/// The file, relative to the job directory, in which the build records what it actually used.
pub const RECORD_FILE: &str = "used.json";
/// The file, relative to the job directory, in which a build step writes its counts: name → word →
/// number.
pub const FIGURES_FILE: &str = "figures.json";

/// Returns the reasons why this recipe cannot build this job that are known without its steps.
pub(super) fn refused(
    job: &Job,
    document: &RecipeDocument,
    compat: &Compat,
    site: &BuildSite,
) -> Vec<Diagnostic> {
    let context = accepted(job, document, compat, site, &BTreeMap::new());
    context.err().unwrap_or_default()
}

/// Returns the values of a job that this recipe does not refuse.
///
/// # Errors
/// Returns the reasons why this recipe cannot build this job.
fn accepted<'d>(
    job: &Job,
    document: &'d RecipeDocument,
    compat: &Compat,
    site: &BuildSite,
    given: &BTreeMap<String, String>,
) -> Result<ExpressionContext<'d>, Vec<Diagnostic>> {
    let faults = refusals(job, document, compat);
    if !faults.is_empty() {
        return Err(faults);
    }
    let context =
        ExpressionContext::new(job, document, compat, site, given).map_err(|fault| vec![fault])?;
    let refused = told(&context, &document.refuse, &codes::REFUSED_BY_RECIPE);
    if refused.is_empty() {
        Ok(context)
    } else {
        Err(refused)
    }
}

/// Creates the build of a job. `given` contains facts known from elsewhere.
///
/// # Errors
/// Returns the reasons why this recipe cannot build this job.
pub fn build(
    job: &Job,
    document: &RecipeDocument,
    compat: &Compat,
    site: &BuildSite,
    given: &BTreeMap<String, String>,
) -> Result<Build, Vec<Diagnostic>> {
    let context = accepted(job, document, compat, site, given)?;
    let warnings = told(&context, &document.warn, &codes::WARNED_BY_RECIPE);
    if warnings.iter().any(Diagnostic::is_error) {
        return Err(warnings);
    }
    let python = prepare::interpreter(job, document, site);
    let platform = job.settings.platform;
    let programs = prepare::programs(job, document, site);
    let maker = StepBuilder {
        document,
        context: &context,
        job,
        python: &python,
        site,
        platform,
        programs,
        shared: OnceCell::new(),
    };
    let libraries = maker.libraries(job, compat);
    let mut build = maker.build(prepare::steps(job, document, compat, site), libraries)?;
    build.warnings.splice(0..0, warnings);
    Ok(build)
}

/// Returns the diagnostics of the recipe's rules that apply to a job or cannot be evaluated.
fn told(
    context: &ExpressionContext<'_>,
    all: &[RefuseDocument],
    code: &'static Code,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for one in all {
        match context.holds(Some(&one.when)) {
            Ok(false) => {}
            Ok(true) => match (context.required(&one.reason), context.required(&one.help)) {
                (Ok(reason), Ok(help)) => {
                    let diagnostic = Diagnostic::new(code, reason);
                    found.push(if help.is_empty() {
                        diagnostic
                    } else {
                        diagnostic.help(help)
                    });
                }
                (reason, help) => found.extend([reason.err(), help.err()].into_iter().flatten()),
            },
            Err(fault) => found.push(fault),
        }
    }
    found
}

/// Returns the reasons that rule a job out before any expression is evaluated.
fn refusals(job: &Job, document: &RecipeDocument, compat: &Compat) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let found = |python_from| matches!(python_from, PythonFrom::Image | PythonFrom::Host);
    let (torch_from, python_from) = (job.settings.torch_from, job.settings.python_from);
    if job.settings.platform == Platform::Windows
        && !found(python_from)
        && python_from != PythonFrom::Uv
    {
        let message = format!("`python-from: {python_from}` is not available on Windows");
        let fault = Diagnostic::new(&codes::WINDOWS_JOB, message);
        faults.push(fault.help("set `python-from: uv`, or `host` for the Python of the machine"));
    }
    let installed_torch = document.installed_torch(job);
    let finds_torch =
        matches!(torch_from, TorchFrom::Image | TorchFrom::Host) && installed_torch.is_some();
    if finds_torch && !found(python_from) {
        let message = format!(
            "`python-from: {python_from}` cannot use the torch of `torch-from: {torch_from}`"
        );
        let fault = Diagnostic::new(&codes::TORCH_OF_ANOTHER_PYTHON, message);
        faults.push(fault.help(format!(
            "set `python-from: {torch_from}`, or take torch from an index"
        )));
    }
    let is_index =
        matches!(torch_from, TorchFrom::PytorchIndex | TorchFrom::AmdIndex) && job.rocm.is_some();
    if let (Some(torch), true) = (installed_torch, is_index)
        && prepare::index_of(job, torch, compat).is_none()
    {
        let message = format!(
            "the compatibility data has no index of `torch-from: {torch_from}` for torch {torch}"
        );
        let fault = Diagnostic::new(&codes::FACT_UNKNOWN, message);
        faults.push(fault.help("add one under `indexes`, or add a row to `torch-indexes`"));
    }
    for name in job
        .settings
        .vars
        .keys()
        .filter(|name| !document.vars.contains_key(*name))
    {
        let known: Vec<&str> = document.vars.keys().map(String::as_str).collect();
        let fault = Diagnostic::new(
            &codes::UNKNOWN_VARIABLE,
            format!("recipe `{}` has no variable `{name}`", document.name),
        );
        faults.push(
            match rock_diagnostic::nearest::nearest(name, known.iter().copied()) {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None => fault.help(format!("its variables are {}", known.join(", "))),
            },
        );
    }
    faults
}

//! The whole build of one job as ordered steps.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::context::{Context, Site};
use super::prepare;
use super::step::{Extend, Jobs, Output, Step};
use crate::compat::Compat;
use crate::config::recipe::{EditDocument, EnvValue, RecipeDocument, SourceDocument, StepDocument};
use crate::config::{Platform, PythonFrom, TorchFrom};
use crate::diagnostic::{Diagnostic, registry::build as codes};
use crate::plan::Job;

const COPY: &str = include_str!("../../templates/recipe/copy.py");
const EDIT: &str = include_str!("../../templates/recipe/edit.py");
const RECORD: &str = include_str!("../../templates/recipe/record.py");
const REMOVE: &str = include_str!("../../templates/recipe/remove.py");
const SMOKE: &str = include_str!("../../templates/recipe/smoke.py");
const UNPACK: &str = include_str!("../../templates/recipe/unpack.py");

/// What is done for one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// How many of them make the place ready: they come first, whatever the recipe says.
    pub ready: usize,
    /// Glob of the wheels that must be there at the end, relative to the job's folder.
    pub wheels: String,
    /// Whether the label is set on the finished wheel, because the build itself cannot.
    pub relabel: bool,
    /// Whether a step reads from the folder that relative paths of a matrix file start from.
    pub uses_caller: bool,
    /// What a person should know before it runs.
    pub warnings: Vec<Diagnostic>,
}

/// The stage that installs the wheel and tries it.
const SMOKE_TEST: &str = "smoke-test";

impl Build {
    /// The same without what makes the wheel: the place is made ready, and a wheel that is there already is tried.
    #[must_use]
    pub fn only_test(mut self) -> Self {
        let mut number = 0;
        self.steps.retain(|step| {
            number += 1;
            number <= self.ready || step.stage == SMOKE_TEST
        });
        self
    }
}

/// The file, relative to the job's folder, in which the build records what it really used.
pub const RECORD_FILE: &str = "used.json";

/// Makes the steps of a job. `given` are facts known from elsewhere.
///
/// # Errors
/// Every reason why this job cannot be built by this recipe.
pub fn build(
    job: &Job,
    document: &RecipeDocument,
    compat: &Compat,
    site: &Site,
    given: &BTreeMap<String, String>,
) -> Result<Build, Vec<Diagnostic>> {
    let mut faults = refusals(job, document);
    if !faults.is_empty() {
        return Err(faults);
    }
    let context = Context::new(job, document, compat, site, given).map_err(|fault| vec![fault])?;
    for refusal in &document.refuse {
        match context.holds(Some(&refusal.when)) {
            Ok(false) => {}
            Ok(true) => match (context.required(&refusal.reason), context.required(&refusal.help)) {
                (Ok(reason), Ok(help)) => {
                    let fault = Diagnostic::new(&codes::REFUSED_BY_RECIPE, reason);
                    faults.push(if help.is_empty() { fault } else { fault.help(help) });
                }
                (reason, help) => faults.extend([reason.err(), help.err()].into_iter().flatten()),
            },
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let python = prepare::interpreter(job, document, site);
    let maker = Maker { document, context: &context, python: &python, site };
    maker.build(prepare::steps(job, document, compat, site))
}

/// What rules a job out before any expression is evaluated.
fn refusals(job: &Job, document: &RecipeDocument) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    if job.settings.platform == Platform::Windows {
        faults.push(
            Diagnostic::new(&codes::WINDOWS_JOB, format!("job `{}` is for Windows", job.id))
                .help("build it on a Windows runner; here its commands can only be planned"),
        );
    }
    let found = |python_from| matches!(python_from, PythonFrom::Image | PythonFrom::Host);
    let (torch_from, python_from) = (job.settings.torch_from, job.settings.python_from);
    let finds_torch = matches!(torch_from, TorchFrom::Image | TorchFrom::Host) && job.torch.is_some();
    if finds_torch && !found(python_from) {
        let message = format!("the torch of `torch-from: {torch_from}` is not there for `python-from: {python_from}`");
        let fault = Diagnostic::new(&codes::TORCH_OF_ANOTHER_PYTHON, message);
        faults.push(fault.help(format!("set `python-from: {torch_from}`, or take torch from an index")));
    }
    for name in job.settings.vars.keys().filter(|name| !document.vars.contains_key(*name)) {
        let known: Vec<&str> = document.vars.keys().map(String::as_str).collect();
        let fault =
            Diagnostic::new(&codes::UNKNOWN_VARIABLE, format!("recipe `{}` has no variable `{name}`", document.name));
        faults.push(match crate::diagnostic::nearest::nearest(name, known.iter().copied()) {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None => fault.help(format!("it has {}", known.join(", "))),
        });
    }
    faults
}

/// Makes steps out of the parts of a document.
struct Maker<'a> {
    document: &'a RecipeDocument,
    context: &'a Context<'a>,
    /// The interpreter of every program of ours.
    python: &'a str,
    site: &'a Site,
}

impl Maker<'_> {
    /// All steps after those that make ready; every fault of every part.
    fn build(&self, before: Vec<Step>) -> Result<Build, Vec<Diagnostic>> {
        let (document, context) = (self.document, self.context);
        let mut faults = Vec::new();
        let ready = before.len();
        let mut steps = before;
        let mut warnings = Vec::new();
        let mut uses_caller = false;
        for (name, source) in &document.sources {
            match context.holds(source.when.as_deref()) {
                Ok(false) => {}
                Ok(true) => match self.source(name, source, &mut warnings) {
                    Ok(made) => {
                        uses_caller |= source.path.is_some() || source.artifact.is_some();
                        steps.extend(made);
                    }
                    Err(fault) => faults.push(fault),
                },
                Err(fault) => faults.push(fault),
            }
        }
        for (number, edit) in document.edits.iter().enumerate() {
            let made = context
                .holds(edit.when.as_deref())
                .and_then(|holds| holds.then(|| self.edit(number, edit)).transpose());
            made.map_or_else(|fault| faults.push(fault), |step| steps.extend(step));
        }
        for written in &document.steps {
            let made =
                context.holds(written.when.as_deref()).and_then(|holds| holds.then(|| self.step(written)).transpose());
            made.map_or_else(|fault| faults.push(fault), |step| steps.extend(step));
        }
        let wheels = inside(context.required(&document.collect.wheels)).unwrap_or_else(|fault| {
            faults.push(fault);
            String::new()
        });
        if !document.collect.record.is_empty() {
            self.record().map_or_else(|fault| faults.push(fault), |step| steps.push(step));
        }
        if !wheels.is_empty() {
            self.smoke(&wheels).map_or_else(|fault| faults.push(fault), |step| steps.push(step));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Build { steps, ready, wheels, relabel: document.collect.relabel, uses_caller, warnings })
    }

    /// A step that runs a program of ours.
    fn program<const N: usize>(&self, stage: String, program: &str, arguments: [String; N]) -> Step {
        let argv = [self.python.to_owned(), "-c".to_owned(), program.to_owned()].into_iter().chain(arguments).collect();
        Step { stage, argv, ..Step::default() }
    }

    fn source(
        &self,
        name: &str,
        source: &SourceDocument,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Vec<Step>, Diagnostic> {
        let context = self.context;
        let target = format!("src/{name}");
        let digest = context.required(&source.sha256)?;
        if (source.sdist.is_some() || source.artifact.is_some()) && digest.is_empty() {
            let message = format!("source `{name}` has no digest, so whatever comes is built");
            warnings.push(Diagnostic::new(&codes::UNPINNED_SOURCE, message).help("give its `sha256`"));
        }
        if let Some(requirement) = &source.sdist {
            let requirement = context.required(requirement)?;
            let archives = format!("sdist/{name}");
            let mut fetch = Step {
                stage: format!("fetch-{name}"),
                argv: vec![self.python.to_owned()],
                clean: vec![archives.clone()],
                retries: 2,
                ..Step::default()
            };
            let words =
                ["-m", "pip", "download", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", "--dest"];
            fetch.argv.extend(words.map(str::to_owned));
            fetch.argv.extend([archives.clone(), requirement]);
            self.set_env(&mut fetch, &source.env)?;
            return Ok(vec![fetch, self.program(format!("unpack-{name}"), UNPACK, [archives, digest, target])]);
        }
        if let Some(address) = &source.git {
            let reference = context.required(&source.r#ref)?;
            if reference.starts_with('-') {
                let fault =
                    Diagnostic::new(&codes::BAD_EXPRESSION, format!("`{reference}` is no commit, tag or branch"));
                return Err(fault.help("name the commit in full"));
            }
            let is_commit = reference.len() == 40 && reference.bytes().all(|b| b.is_ascii_hexdigit());
            if !is_commit {
                let message =
                    format!("source `{name}` is `{reference}` of a repository, which may come to mean another commit");
                warnings.push(Diagnostic::new(&codes::UNPINNED_SOURCE, message).help("name the commit in full"));
            }
            let address = context.required(address)?;
            let git = |words: &[&str]| ["git"].iter().chain(words).map(|word| (*word).to_owned()).collect::<Vec<_>>();
            let step = |stage: String, argv| Step { stage, argv, ..Step::default() };
            let mut clone = step(
                format!("fetch-{name}"),
                git(&["clone", "--no-checkout", "--filter=blob:none", "--", &address, &target]),
            );
            clone.clean = vec![target.clone()];
            clone.retries = 2;
            let checkout = git(&["-C", &target, "checkout", "--detach", &reference]);
            let mut steps = vec![clone, step(format!("checkout-{name}"), checkout)];
            if source.submodules {
                let words = ["-C", &target, "submodule", "update", "--init", "--recursive", "--depth", "1"];
                let mut submodules = step(format!("submodules-{name}"), git(&words));
                submodules.retries = 2;
                steps.push(submodules);
            }
            for step in &mut steps {
                self.set_env(step, &source.env)?;
            }
            return Ok(steps);
        }
        let stage = format!("fetch-{name}");
        if let Some(archive) = &source.artifact {
            let archive = self.of_caller(context.required(archive)?);
            let mut unpack = self.program(stage, UNPACK, [archive.clone(), digest, target]);
            unpack.inputs.push(archive);
            return Ok(vec![unpack]);
        }
        let path = self.of_caller(context.required(source.path.as_deref().unwrap_or_default())?);
        let mut copy = self.program(stage, COPY, [path.clone(), target]);
        copy.inputs.push(path);
        Ok(vec![copy])
    }

    /// A path that starts where rock-matrix is called.
    fn of_caller(&self, path: String) -> String {
        if path.starts_with('/') { path } else { format!("{}/{path}", self.site.caller()) }
    }

    fn edit(&self, number: usize, edit: &EditDocument) -> Result<Step, Diagnostic> {
        let stage = format!("edit-{}", number + 1);
        let Some(file) = &edit.file else {
            let mut step = self.program(stage, REMOVE, []);
            for path in self.context.words(&edit.remove)? {
                step.argv.push(inside(Ok(path))?);
            }
            return Ok(step);
        };
        let arguments = [
            inside(self.context.required(file))?,
            edit.find.clone(),
            self.context.required(&edit.replace)?,
            self.context.required(&edit.unless)?,
            if edit.required { "required" } else { "optional" }.to_owned(),
        ];
        Ok(self.program(stage, EDIT, arguments))
    }

    fn step(&self, written: &StepDocument) -> Result<Step, Diagnostic> {
        let context = self.context;
        let argv = match &written.shell {
            None => context.words(&written.argv)?,
            Some(_) => ["bash", "-euo", "pipefail", "-c", &written.script].map(str::to_owned).into(),
        };
        let mut step = Step {
            stage: written.stage.clone(),
            argv,
            cwd: inside(context.required(&written.cwd))?,
            timeout_s: written.timeout_min.map(|minutes| minutes * 60),
            retries: written.retry,
            ..Step::default()
        };
        for path in context.words(&written.clean)? {
            step.clean.push(inside(Ok(path))?);
        }
        for (name, output) in &written.outputs {
            let glob = inside(context.required(&output.glob))?;
            step.outputs.push(Output { name: name.clone(), glob, count: output.count });
        }
        self.set_env(&mut step, &self.document.env)?;
        self.set_env(&mut step, &written.env)?;
        Ok(step)
    }

    fn record(&self) -> Result<Step, Diagnostic> {
        let mut step = self.program("record".to_owned(), RECORD, [RECORD_FILE.to_owned()]);
        for (name, command) in &self.document.collect.record {
            let words = self.context.words(command)?;
            let quoted: Vec<_> = words.iter().map(|word| shlex::try_quote(word).unwrap_or_default()).collect();
            step.argv.extend([name.clone(), quoted.join(" ")]);
        }
        Ok(step)
    }

    fn smoke(&self, wheels: &str) -> Result<Step, Diagnostic> {
        let context = self.context;
        let version = if self.document.collect.relabel { "" } else { "{{ full_version }}" };
        let arguments = [
            wheels.to_owned(),
            context.required("{{ distribution }}")?,
            context.required(version)?,
            context.required(&self.document.test.cpu)?,
            context.required(&self.document.test.gpu)?,
        ];
        Ok(self.program(SMOKE_TEST.to_owned(), SMOKE, arguments))
    }

    fn set_env(&self, step: &mut Step, env: &IndexMap<String, EnvValue>) -> Result<(), Diagnostic> {
        let context = self.context;
        for (name, value) in env {
            let value = match value {
                EnvValue::Text(text) => context.text(text)?,
                EnvValue::List(items) => match context.words(items)?.join(" ") {
                    nothing if nothing.is_empty() => continue,
                    text => Some(text),
                },
                EnvValue::Remove => None,
                EnvValue::Extend { prepend, append, separator } => {
                    let part = |part: &Option<String>| part.as_deref().map(|text| context.text(text)).transpose();
                    let extend = Extend {
                        prepend: part(prepend)?.flatten(),
                        append: part(append)?.flatten(),
                        separator: separator.clone(),
                    };
                    step.env_extend.insert(name.clone(), extend);
                    continue;
                }
                EnvValue::Jobs { count, gib_per_job } => {
                    let (count, gib) = (context.required(count)?, context.required(gib_per_job)?);
                    step.jobs = Some(jobs(name, &count, &gib)?);
                    continue;
                }
            };
            match value {
                Some(value) => {
                    step.env_remove.retain(|removed| removed != name);
                    step.env.insert(name.clone(), value);
                }
                None => {
                    step.env.remove(name);
                    if !step.env_remove.contains(name) {
                        step.env_remove.push(name.clone());
                    }
                }
            }
        }
        Ok(())
    }
}

fn jobs(variable: &str, count: &str, gib: &str) -> Result<Jobs, Diagnostic> {
    let fault = |text: &str, what: &str, help: &str| {
        Diagnostic::new(&codes::BAD_EXPRESSION, format!("`{text}` is no {what} for `{variable}`")).help(help)
    };
    let tenths_gib_per_job = tenths(gib)
        .ok_or_else(|| fault(gib, "number of GiB", "write a number above 0 with at most one decimal, such as `2.8`"))?;
    let count = match count {
        "" => None,
        text => match text.parse() {
            Ok(count @ 1..=1024) => Some(count),
            _ => return Err(fault(text, "number of jobs", "write a number from 1 to 1024, or leave it empty")),
        },
    };
    Ok(Jobs { variable: variable.to_owned(), count, tenths_gib_per_job })
}

/// A path that stays in the job's folder.
fn inside(path: Result<String, Diagnostic>) -> Result<String, Diagnostic> {
    let path = path?;
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        let fault = Diagnostic::new(&codes::PATH_OUTSIDE, format!("`{path}` is not in the job's folder"));
        return Err(fault.help("write a path relative to the job's folder, without `..`"));
    }
    Ok(path)
}

/// `2.8` as 28.
fn tenths(text: &str) -> Option<u32> {
    let (whole, decimal) = text.split_once('.').unwrap_or((text, "0"));
    let tenths =
        whole.parse::<u32>().ok()?.checked_mul(10)? + decimal.parse::<u32>().ok().filter(|_| decimal.len() == 1)?;
    (1..=100_000).contains(&tenths).then_some(tenths)
}

//! The whole build of one job as ordered steps.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::context::{Context, Site};
use super::prepare;
use super::step::{Extend, Jobs, Output, Step};
use crate::compat::Compat;
use crate::config::Platform;
use crate::config::recipe::{EditDocument, EnvValue, RecipeDocument, SourceDocument};
use crate::diagnostic::{Diagnostic, registry::build as codes};
use crate::plan::Job;

const EDIT: &str = include_str!("../../templates/recipe/edit.py");
const UNPACK: &str = include_str!("../../templates/recipe/unpack.py");
const RECORD: &str = include_str!("../../templates/recipe/record.py");
const SMOKE: &str = include_str!("../../templates/recipe/smoke.py");

/// What is done for one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// Glob of the wheels that must be there at the end, relative to the job's folder.
    pub wheels: String,
    /// Whether the label is set on the finished wheel, because the build itself cannot.
    pub relabel: bool,
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
    assemble(job, document, compat, site, &context).map_err(|fault| vec![fault])
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

fn assemble(
    job: &Job,
    document: &RecipeDocument,
    compat: &Compat,
    site: &Site,
    context: &Context,
) -> Result<Build, Diagnostic> {
    let mut steps = prepare::steps(job, document, compat, site);
    let python = prepare::interpreter(job, document, site);
    for (name, source) in &document.sources {
        if context.holds(source.when.as_deref())? {
            steps.extend(source_steps(name, source, &python, site, context)?);
        }
    }
    for (number, edit) in document.edits.iter().enumerate() {
        if context.holds(edit.when.as_deref())? {
            steps.push(edit_step(number, edit, &python, context)?);
        }
    }
    for written in &document.steps {
        if !context.holds(written.when.as_deref())? {
            continue;
        }
        let mut step = Step {
            stage: written.stage.clone(),
            argv: context.words(&written.argv)?,
            cwd: context.required(&written.cwd)?,
            timeout_s: written.timeout_min.map(|minutes| minutes * 60),
            clean: context.words(&written.clean)?,
            retries: written.retry,
            ..Step::default()
        };
        for (name, output) in &written.outputs {
            step.outputs.push(Output {
                name: name.clone(),
                glob: context.required(&output.glob)?,
                count: output.count,
            });
        }
        set_env(&mut step, &document.env, context)?;
        set_env(&mut step, &written.env, context)?;
        steps.push(step);
    }
    let wheels = context.required(&document.collect.wheels)?;
    if !document.collect.record.is_empty() {
        steps.push(record_step(document, &python, context)?);
    }
    if !wheels.is_empty() {
        steps.push(smoke_step(document, &wheels, &python, context)?);
    }
    Ok(Build { steps, wheels, relabel: document.collect.relabel })
}

fn python_step(stage: String, python: &str, program: &str, arguments: impl IntoIterator<Item = String>) -> Step {
    let argv = [python.to_owned(), "-c".to_owned(), program.to_owned()].into_iter().chain(arguments).collect();
    Step { stage, argv, ..Step::default() }
}

fn source_steps(
    name: &str,
    source: &SourceDocument,
    python: &str,
    site: &Site,
    context: &Context,
) -> Result<Vec<Step>, Diagnostic> {
    let target = format!("src/{name}");
    let mut steps = Vec::new();
    if let Some(requirement) = &source.sdist {
        let requirement = context.required(requirement)?;
        let archives = format!("sdist/{name}");
        let words = ["-m", "pip", "download", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", "--dest"];
        let mut argv = vec![python.to_owned()];
        argv.extend(words.map(str::to_owned));
        argv.extend([archives.clone(), requirement]);
        let mut fetch = Step { stage: format!("fetch-{name}"), argv, clean: vec![archives.clone()], ..Step::default() };
        fetch.retries = 2;
        set_env(&mut fetch, &source.env, context)?;
        steps.push(fetch);
        let arguments = [archives, context.required(&source.sha256)?, target];
        steps.push(python_step(format!("unpack-{name}"), python, UNPACK, arguments));
    } else if let Some(address) = &source.git {
        let reference = context.required(&source.r#ref)?;
        let git = |words: &[&str]| ["git"].iter().chain(words).map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let address = context.required(address)?;
        let step = |stage: String, argv| Step { stage, argv, ..Step::default() };
        let mut clone =
            step(format!("fetch-{name}"), git(&["clone", "--no-checkout", "--filter=blob:none", &address, &target]));
        clone.clean = vec![target.clone()];
        clone.retries = 2;
        steps.push(clone);
        steps.push(step(format!("checkout-{name}"), git(&["-C", &target, "checkout", "--detach", &reference])));
        if source.submodules {
            let words = ["-C", &target, "submodule", "update", "--init", "--recursive", "--depth", "1"];
            steps.push(step(format!("submodules-{name}"), git(&words)));
        }
    } else if let Some(path) = &source.path {
        const COPY: &str = "import shutil, sys\n\
            shutil.rmtree(sys.argv[2], ignore_errors=True)\n\
            shutil.copytree(sys.argv[1], sys.argv[2], symlinks=True, ignore=shutil.ignore_patterns('.git', 'build', 'dist', '*.egg-info', '__pycache__'))\n";
        let path = context.required(path)?;
        let path = if path.starts_with('/') { path } else { format!("{}/{path}", site.caller()) };
        let arguments = [path, target];
        steps.push(python_step(format!("fetch-{name}"), python, COPY, arguments));
    }
    Ok(steps)
}

fn edit_step(number: usize, edit: &EditDocument, python: &str, context: &Context) -> Result<Step, Diagnostic> {
    let stage = format!("edit-{}", number + 1);
    if let Some(file) = &edit.file {
        let arguments = [
            context.required(file)?,
            edit.find.clone(),
            context.required(&edit.replace)?,
            context.required(&edit.unless)?,
        ];
        return Ok(python_step(stage, python, EDIT, arguments));
    }
    const REMOVE: &str = "import os, shutil, sys\n\
        for path in sys.argv[1:]:\n    \
            if os.path.isdir(path) and not os.path.islink(path):\n        shutil.rmtree(path)\n    \
            elif os.path.lexists(path):\n        os.remove(path)\n";
    Ok(python_step(stage, python, REMOVE, context.words(&edit.remove)?))
}

fn record_step(document: &RecipeDocument, python: &str, context: &Context) -> Result<Step, Diagnostic> {
    let mut arguments = vec![RECORD_FILE.to_owned()];
    for (name, command) in &document.collect.record {
        arguments.push(name.clone());
        let words = context.words(command)?;
        let quoted: Vec<_> = words.iter().map(|word| shlex::try_quote(word).unwrap_or_default().into_owned()).collect();
        arguments.push(quoted.join(" "));
    }
    Ok(python_step("record".to_owned(), python, RECORD, arguments))
}

fn smoke_step(document: &RecipeDocument, wheels: &str, python: &str, context: &Context) -> Result<Step, Diagnostic> {
    let arguments = [
        wheels.to_owned(),
        context.required("{{ distribution }}")?,
        if document.collect.relabel { String::new() } else { context.required("{{ full_version }}")? },
        context.required(&document.test.cpu)?,
    ];
    Ok(python_step("smoke-test".to_owned(), python, SMOKE, arguments))
}

fn set_env(step: &mut Step, env: &IndexMap<String, EnvValue>, context: &Context) -> Result<(), Diagnostic> {
    for (name, value) in env {
        let value = match value {
            EnvValue::Text(text) => context.text(text)?,
            EnvValue::List(items) => Some(context.words(items)?.join(" ")).filter(|text| !text.is_empty()),
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
            EnvValue::Jobs { gib_per_job } => {
                let gib = context.required(gib_per_job)?;
                let tenths = tenths(&gib).ok_or_else(|| {
                    Diagnostic::new(&codes::BAD_EXPRESSION, format!("`{gib}` is no number of GiB for `{name}`"))
                        .help("write a number above 0 with at most one decimal, such as `2.8`")
                })?;
                step.jobs = Some(Jobs { variable: name.clone(), tenths_gib_per_job: tenths });
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

/// `2.8` as 28.
fn tenths(text: &str) -> Option<u32> {
    let (whole, decimal) = text.split_once('.').unwrap_or((text, "0"));
    let tenths =
        whole.parse::<u32>().ok()?.checked_mul(10)? + decimal.parse::<u32>().ok().filter(|_| decimal.len() == 1)?;
    (1..=100_000).contains(&tenths).then_some(tenths)
}

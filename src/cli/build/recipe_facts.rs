//! The facts of a recipe, given on the command line or detected on this machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::BuildRequest;
use crate::cli::Shell;
use crate::cli::jobs::Ready;
use crate::cli::limits::MAX_FACT_FILE_BYTES;
use crate::codes::build as codes;
use crate::compat::Compat;
use crate::diagnostic::Diagnostic;
use crate::plan::Job;
use crate::recipe::{self, BuildSite, FactSource};
use crate::render;
use crate::sys::{self, PathBelow};

/// Time limit of a fact's command.
const FACT_TIMEOUT: Duration = Duration::from_mins(2);

/// Returns the facts given by hand and those detected on this machine. A dry run reads files, but
/// does not start processes.
pub(super) fn given(
    job: &Job,
    ready: &Ready,
    args: &BuildRequest<'_>,
    shell: &Shell,
    compat: &Compat,
    site: &BuildSite,
    folder: &Path,
) -> Result<BTreeMap<String, String>, Vec<Diagnostic>> {
    let mut given: BTreeMap<String, String> = args.options.fact.iter().cloned().collect();
    let fact = |name: &str| ready.recipe.facts.get(name);
    let is_shown =
        |name: &str| args.options.dry_run && fact(name).is_some_and(|fact| fact.stand_in.is_some());
    let default = |name: &str| {
        fact(name)
            .filter(|_| !is_shown(name))
            .and_then(|fact| fact.default.clone())
    };
    let is_looked_at = |question: &FactSource| {
        !(args.options.dry_run && matches!(question, FactSource::Command(_)))
    };
    let mut found = BTreeMap::new();
    let open = recipe::questions(
        job,
        &ready.recipe,
        compat,
        site,
        &given,
        &mut |name, question| {
            if !can_answer(question, site) || !is_looked_at(question) {
                return None;
            }
            // The default too, so that facts which depend on it are detected as well.
            let answer = answer(question, shell, site, folder).or_else(|| default(name))?;
            found.insert(name.to_owned(), answer.clone());
            Some(answer)
        },
    );
    let open = open.map_err(|fault| vec![fault])?;
    given.extend(found);
    if args.options.dry_run {
        return Ok(given);
    }
    let open = open.iter().filter(|(name, _)| default(name).is_none());
    let faults: Vec<Diagnostic> = open
        .map(|(name, question)| {
            let why = match question {
                FactSource::Command(argv) => {
                    format!("`{}` failed or was not found", render::command(argv))
                }
                FactSource::File { path, .. } => {
                    format!("`{path}` cannot be read, or has no match")
                }
                FactSource::FirstPath(paths) => {
                    format!("none of `{}` exists", paths.join("`, `"))
                }
                FactSource::Variable(name) => format!("the variable `{name}` is not set"),
            };
            Diagnostic::new(
                &codes::FACT_UNKNOWN,
                format!("the fact `{name}` of the recipe has no value: {why}"),
            )
            .help(format!("set it with `--fact {name}=VALUE`"))
        })
        .collect();
    if faults.is_empty() {
        Ok(given)
    } else {
        Err(faults)
    }
}

/// Whether this machine can answer: commands run only where the steps run as well.
fn can_answer(question: &FactSource, site: &BuildSite) -> bool {
    !matches!(
        (question, site),
        (FactSource::Command(_), BuildSite::Container)
    )
}

/// Returns the answer of this machine, if it has one.
fn answer(question: &FactSource, shell: &Shell, site: &BuildSite, folder: &Path) -> Option<String> {
    let environment = &shell.environment;
    let seen = site.folder();
    // The steps of a container see the job's folder at another path.
    let here = |path: &str| match Path::new(path).strip_prefix(&seen) {
        Ok(rest) => folder.join(rest),
        Err(_) => environment.current_dir.join(path),
    };
    match question {
        FactSource::Command(argv) => {
            let (name, arguments) = argv.split_first()?;
            let program = sys::find_program(name, environment)
                .or_else(|| name.contains('/').then(|| name.into()))?;
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let said = sys::probe(&program, &arguments, environment, FACT_TIMEOUT);
            said.succeeded.then(|| said.stdout.trim().to_owned())
        }
        FactSource::File { path, find } => {
            let text = match Path::new(path).strip_prefix(&seen) {
                Ok(rest) => PathBelow::new(folder, rest).read_text(MAX_FACT_FILE_BYTES),
                Err(_) => sys::read_text(&here(path), MAX_FACT_FILE_BYTES),
            };
            recipe::found(&text.ok()?, find)
        }
        FactSource::FirstPath(paths) => paths.iter().find(|path| sys::exists(&here(path))).cloned(),
        FactSource::Variable(name) => environment.get(name).map(str::to_owned),
    }
}

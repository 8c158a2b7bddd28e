//! Turns a step into a process on this machine.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::job_directory::FACTS;
use super::limits::MAX_ANSWER_BYTES;
use rock_host::{HostFacts, build_memory_bytes, build_threads};
use rock_names::Digest;
use rock_recipe::{self as recipe, CALLER_VARIABLE, LATE, SHELL_VARIABLE, Step};
use rock_sys::process::Invocation;
use rock_sys::{self as sys, Environment, PathBelow};

/// The environment variable that marks the processes of a build, so that they can be found again.
/// Its value is the job directory.
pub(super) const MARK: &str = "ROCK_JOB_FOLDER";

/// The environment variable with the time of archives and their members, in seconds since
/// 1970-01-01 UTC (reproducible-builds.org, "`SOURCE_DATE_EPOCH`").
pub const SOURCE_DATE: &str = "SOURCE_DATE_EPOCH";

/// A tenth of a GiB in bytes.
const TENTH_OF_GIB: u64 = (1 << 30) / 10;

/// The environment and resources that steps have on this machine.
#[derive(Debug, Clone)]
pub struct HostEnv<'a> {
    /// The inherited environment.
    pub environment: &'a Environment,
    /// Threads that a build may use.
    pub threads: u32,
    /// Memory that a build may use, in tenths of a GiB.
    pub memory_tenths_gib: u32,
}

impl<'a> HostEnv<'a> {
    /// Returns the environment and the resources of a machine with these facts.
    pub fn new(environment: &'a Environment, facts: &HostFacts) -> Self {
        Self {
            environment,
            threads: build_threads(facts),
            memory_tenths_gib: u32::try_from(build_memory_bytes(facts) / TENTH_OF_GIB)
                .unwrap_or(u32::MAX),
        }
    }
}

/// Returns the process of a step in a job directory.
pub fn invocation(step: &Step, directory: &Path, surroundings: &HostEnv<'_>) -> Invocation {
    let mut set = step.env.clone();
    for (name, extend) in &step.env_extend {
        set.insert(
            name.clone(),
            extend.apply(surroundings.environment.get(name)),
        );
    }
    for (name, only) in step
        .env_if
        .iter()
        .filter(|(_, only)| !answer(&only.fact, directory).is_empty())
    {
        set.insert(name.clone(), only.value.clone());
    }
    let caller = surroundings.environment.current_dir.display().to_string();
    let fill = |text: &mut String| fill(text, directory, &caller);
    set.values_mut().for_each(fill);
    if let Some(jobs) = &step.jobs {
        let inherited = surroundings.environment.get(&jobs.variable);
        let count = jobs.value(
            inherited,
            surroundings.threads,
            surroundings.memory_tenths_gib,
        );
        set.insert(jobs.variable.clone(), count);
    }
    let is_given = surroundings
        .environment
        .get(SOURCE_DATE)
        .is_some_and(|text| !text.is_empty());
    if !is_given && !step.env_remove.iter().any(|name| name == SOURCE_DATE) {
        set.entry(SOURCE_DATE.to_owned())
            .or_insert_with(|| source_date_s(directory).to_string());
    }
    let is_there = |word: &&String| {
        step.optional_word(word)
            .is_none_or(|fact| !answer(fact, directory).is_empty())
    };
    let mut argv: Vec<String> = step.argv.iter().filter(is_there).cloned().collect();
    let mut cwd = step.cwd.clone();
    fill(&mut cwd);
    argv.iter_mut().for_each(fill);
    if let (true, Some(program)) = (step.host, argv.first_mut()) {
        // The running program itself, independent of its path.
        *program = sys::current_program().unwrap_or_else(|| program.clone());
    }
    Invocation {
        argv,
        set_env: set,
        remove_env: step.env_remove.clone(),
        current_dir: if cwd.is_empty() {
            directory.to_owned()
        } else {
            directory.join(&cwd)
        },
        mark: Some((MARK.to_owned(), directory.display().to_string())),
        ..Invocation::default()
    }
}

/// Returns the digest of the current values of the deferred facts that a step needs; empty if it
/// needs none.
pub(super) fn answers(step: &Step, directory: &Path) -> String {
    let taken: Vec<_> = step
        .needs()
        .into_iter()
        .map(|fact| (fact, answer(fact, directory)))
        .collect();
    let digest =
        |taken| Digest::new(Sha256::digest(serde_json::json!(taken).to_string().as_bytes()).into());
    if taken.is_empty() {
        String::new()
    } else {
        digest(taken).to_string()
    }
}

/// Returns the value of a deferred fact that an earlier step detected; empty if there is none.
fn answer(fact: &str, directory: &Path) -> String {
    PathBelow::new(directory, Path::new(FACTS).join(fact))
        .read_text(MAX_ANSWER_BYTES)
        .unwrap_or_default()
}

/// Returns the time of archives, in seconds since 1970-01-01 UTC: that of the newest commit among
/// the sources, else the earliest that a zip archive can store.
pub fn source_date_s(directory: &Path) -> i64 {
    let notes = sys::glob(directory, recipe::SOURCE_DATES).unwrap_or_default();
    let name = |path: &Path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .map(str::to_owned)
    };
    let dates = notes
        .iter()
        .filter_map(|path| answer(&name(path)?, directory).trim().parse().ok());
    dates.max().unwrap_or(recipe::FIRST_DATE_S)
}

/// Replaces the shell variables that a script would have by the caller's directory and the deferred
/// facts of earlier steps.
fn fill(text: &mut String, directory: &Path, caller: &str) {
    if !text.contains(SHELL_VARIABLE) {
        return;
    }
    let part = |(number, part): (usize, &str)| match part.strip_prefix(LATE) {
        Some(fact) if number % 2 == 1 => answer(fact, directory),
        None if number % 2 == 1 && part == CALLER_VARIABLE => caller.to_owned(),
        _ => part.to_owned(),
    };
    *text = text.split(SHELL_VARIABLE).enumerate().map(part).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use rock_recipe::{OnlyIf, ParallelJobsVariable, VariableExtension, late_name};

    fn step() -> Step {
        let extend = VariableExtension {
            prepend: Some("/opt/bin".into()),
            append: None,
            separator: ":".into(),
        };
        Step {
            argv: vec!["make".into()],
            env_extend: [("PATH".to_owned(), extend)].into(),
            jobs: Some(ParallelJobsVariable {
                variable: "MAX_JOBS".into(),
                count: None,
                tenths_gib_per_job: 28,
            }),
            cwd: "src/x".into(),
            ..Step::default()
        }
    }

    fn check(variables: &[(&str, &str)]) -> Invocation {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let environment = Environment {
            variables,
            ..Environment::default()
        };
        let surroundings = HostEnv {
            environment: &environment,
            threads: 16,
            memory_tenths_gib: 84,
        };
        invocation(&step(), Path::new("/job"), &surroundings)
    }

    #[test]
    fn a_variable_is_extended_and_jobs_are_counted() {
        let found = check(&[("PATH", "/bin")]);
        assert_eq!(found.set_env["PATH"], "/opt/bin:/bin");
        assert_eq!(found.set_env["MAX_JOBS"], "3");
        assert_eq!(found.current_dir, Path::new("/job/src/x"));
    }

    #[test]
    fn an_answer_at_the_limit_is_read_and_a_larger_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let read = |bytes: u64| {
            let text = vec![b'x'; usize::try_from(bytes).unwrap()];
            sys::write_atomic(&directory.path().join("facts/root"), &text).unwrap();
            answer("root", directory.path()).len() as u64
        };
        assert_eq!(
            (read(MAX_ANSWER_BYTES), read(MAX_ANSWER_BYTES + 1)),
            (MAX_ANSWER_BYTES, 0)
        );
    }

    #[test]
    fn facts_of_earlier_steps_are_where_a_script_has_its_variables() {
        let directory = tempfile::tempdir().unwrap();
        sys::write_atomic(&directory.path().join("facts/root"), b"/opt/rocm").unwrap();
        sys::write_atomic(&directory.path().join("facts/math"), b"").unwrap();
        let root = rock_recipe::shell_variable(&late_name("root"));
        let only = |fact: &str| OnlyIf {
            fact: fact.into(),
            value: format!("{root}/{fact}"),
        };
        let step = Step {
            argv: vec![
                "make".into(),
                rock_recipe::shell_variable(&late_name("math")),
                format!("-I{root}/include"),
            ],
            env: [("ROCM_HOME".to_owned(), root.clone())].into(),
            env_if: [
                ("A".to_owned(), only("root")),
                ("B".to_owned(), only("math")),
            ]
            .into(),
            ..Step::default()
        };
        let environment = Environment::default();
        let surroundings = HostEnv {
            environment: &environment,
            threads: 1,
            memory_tenths_gib: 10,
        };
        let found = invocation(&step, directory.path(), &surroundings);
        assert_eq!(found.argv, ["make", "-I/opt/rocm/include"]);
        let set: Vec<_> = found
            .set_env
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            set,
            [
                "A=/opt/rocm/root",
                "ROCM_HOME=/opt/rocm",
                "SOURCE_DATE_EPOCH=315532800"
            ]
        );
    }

    #[test]
    fn a_step_of_this_program_gets_the_directory_of_its_caller() {
        let caller = rock_recipe::shell_variable(CALLER_VARIABLE);
        let step = Step {
            argv: vec!["rock-matrix".into(), format!("--from={caller}/a")],
            host: true,
            ..Step::default()
        };
        let environment = Environment {
            current_dir: "/called/here".into(),
            ..Environment::default()
        };
        let surroundings = HostEnv {
            environment: &environment,
            threads: 1,
            memory_tenths_gib: 10,
        };
        let found = invocation(&step, Path::new("/job"), &surroundings);
        assert_eq!(found.argv[1], "--from=/called/here/a");
        assert_ne!(
            found.argv[0], "rock-matrix",
            "the program that runs, wherever it lies"
        );
    }

    #[test]
    fn a_number_of_jobs_in_the_environment_wins() {
        assert_eq!(check(&[("MAX_JOBS", "5")]).set_env["MAX_JOBS"], "5");
        assert_eq!(check(&[]).set_env["PATH"], "/opt/bin");
    }
}

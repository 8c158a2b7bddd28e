//! A step as a process of this machine.

use std::path::Path;

use crate::recipe::Step;
use crate::sys::Environment;
use crate::sys::process::Invocation;

/// The variable by which everything that belongs to a build is found again. Its value is the job's folder.
pub(super) const MARK: &str = "ROCK_JOB_FOLDER";

/// What steps find on this machine.
#[derive(Debug, Clone)]
pub struct Surroundings<'a> {
    /// The inherited environment.
    pub environment: &'a Environment,
    /// Threads that a build may use.
    pub threads: u32,
    /// Memory that a build may use, in tenths of a GiB.
    pub memory_tenths_gib: u32,
}

/// The process of a step in a job's folder.
pub fn invocation(step: &Step, folder: &Path, surroundings: &Surroundings<'_>) -> Invocation {
    let mut set = step.env.clone();
    for (name, extend) in &step.env_extend {
        set.insert(name.clone(), extend.apply(surroundings.environment.get(name)));
    }
    if let Some(jobs) = &step.jobs {
        let inherited = surroundings.environment.get(&jobs.variable);
        let count = jobs.value(inherited, surroundings.threads, surroundings.memory_tenths_gib);
        set.insert(jobs.variable.clone(), count);
    }
    Invocation {
        argv: step.argv.clone(),
        set,
        remove: step.env_remove.clone(),
        folder: if step.cwd.is_empty() { folder.to_owned() } else { folder.join(&step.cwd) },
        mark: Some((MARK.to_owned(), folder.display().to_string())),
        ..Invocation::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::{Extend, Jobs};

    fn step() -> Step {
        let extend = Extend { prepend: Some("/opt/bin".into()), append: None, separator: ":".into() };
        Step {
            argv: vec!["make".into()],
            env_extend: [("PATH".to_owned(), extend)].into(),
            jobs: Some(Jobs { variable: "MAX_JOBS".into(), count: None, tenths_gib_per_job: 28 }),
            cwd: "src/x".into(),
            ..Step::default()
        }
    }

    fn check(variables: &[(&str, &str)]) -> Invocation {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let environment = Environment { variables, ..Environment::default() };
        let surroundings = Surroundings { environment: &environment, threads: 16, memory_tenths_gib: 84 };
        invocation(&step(), Path::new("/job"), &surroundings)
    }

    #[test]
    fn a_variable_is_extended_and_jobs_are_counted() {
        let found = check(&[("PATH", "/bin")]);
        assert_eq!(found.set["PATH"], "/opt/bin:/bin");
        assert_eq!(found.set["MAX_JOBS"], "3");
        assert_eq!(found.folder, Path::new("/job/src/x"));
    }

    /// B7
    #[test]
    fn a_number_of_jobs_in_the_environment_wins() {
        assert_eq!(check(&[("MAX_JOBS", "5")]).set["MAX_JOBS"], "5");
        assert_eq!(check(&[]).set["PATH"], "/opt/bin");
    }
}

//! One step of a build: a process with everything it needs.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{LATE, SHELL_VARIABLE};

/// The option of `source checkout` that names the folder.
pub(super) const CHECKOUT_OPTION: &str = "--checkout-dir";

/// A process to run. Paths in `cwd`, `outputs` and `clean` are relative to the job's folder; those
/// inside `argv` and `env` are absolute where it matters, as the folder is seen on the host or
/// inside the container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// The stage it belongs to, a name for `--continue`. Unique within a build.
    pub stage: String,
    /// Program and arguments; no shell stands between.
    pub argv: Vec<String>,
    /// Variables set for this process, beside those inherited.
    pub env: BTreeMap<String, String>,
    /// Variables taken away.
    pub env_remove: Vec<String>,
    /// Variables whose inherited value is extended.
    pub env_extend: BTreeMap<String, VariableExtension>,
    /// Variables set where a fact, asked by an earlier step, has an answer.
    pub env_if: BTreeMap<String, OnlyIf>,
    /// A variable that gets the number of parallel jobs, unless it is set already.
    pub jobs: Option<ParallelJobsVariable>,
    /// Working folder, relative to the job's folder; empty: the job's folder.
    pub cwd: String,
    /// Seconds until it is stopped; `None`: as long as the build may take.
    pub timeout_s: Option<u64>,
    /// Files it must leave behind.
    pub outputs: Vec<StepOutput>,
    /// Paths removed before it runs, relative to the job's folder.
    pub clean: Vec<String>,
    /// Paths removed before it runs, relative to the job's folder, unless it last ran with the same
    /// command and variables: what it can reuse after a change of sources alone.
    pub outdated: Vec<String>,
    /// How often it is tried again after a failure.
    pub retries: u32,
    /// Files and folders outside the job's folder that it reads, absolute as it sees them. When
    /// they change, it is run again.
    pub inputs: Vec<String>,
    /// Patterns of what it leaves out of a source tree that it copies, besides what git ignores;
    /// they are its last arguments. Empty: it copies none.
    pub left_out: Vec<String>,
    /// Whether it runs on this machine, by this program, before a container begins.
    pub host: bool,
    /// Whether it runs after a failure too: such steps are the last, and what the build failed with
    /// stays.
    pub finally: bool,
    /// The facts that it asks: their values lie in `facts/NAME` afterwards, and words of later
    /// steps name them by [`super::late_name`].
    pub facts: Vec<String>,
}

impl Step {
    /// Adds a pattern of what it leaves out of the source tree that it copies.
    pub(super) fn leave_out(&mut self, pattern: &str) {
        self.argv.push(pattern.to_owned());
        self.left_out.push(pattern.to_owned());
    }

    /// The sources that it copies, by name, and where from, as far as that is known before the
    /// first step: what a fact of the build names is there when the build runs.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let name = self.stage.strip_prefix("fetch-").unwrap_or(&self.stage);
        let late = format!("{SHELL_VARIABLE}{LATE}");
        self.inputs
            .iter()
            .filter(move |path| !path.contains(&late))
            .map(move |path| (name, path.as_str()))
    }

    /// The folder that this program checks a source out into, relative to the job's folder, where
    /// that is the step.
    pub fn checkout_folder(&self) -> Option<&str> {
        let option = self
            .argv
            .iter()
            .position(|word| word == CHECKOUT_OPTION)
            .filter(|_| self.host)?;
        self.argv.get(option + 1).map(String::as_str)
    }

    /// The fact whose answer a word of its command is, alone: without an answer there is no such
    /// word.
    pub fn optional_word<'w>(&self, word: &'w str) -> Option<&'w str> {
        // What asks facts counts the words of their commands.
        let fact = word
            .strip_prefix(SHELL_VARIABLE)?
            .strip_suffix(SHELL_VARIABLE)?
            .strip_prefix(LATE)?;
        (self.facts.is_empty() && !fact.contains(SHELL_VARIABLE)).then_some(fact)
    }

    /// The facts of earlier steps whose answers it takes.
    pub fn needs(&self) -> BTreeSet<&str> {
        let extended = self
            .env_extend
            .values()
            .flat_map(|extend| [&extend.prepend, &extend.append])
            .flatten();
        let texts = self
            .argv
            .iter()
            .chain(self.env.values())
            .chain(extended)
            .chain(&self.clean)
            .chain(&self.outdated)
            .chain([&self.cwd]);
        let texts = texts.chain(self.env_if.values().map(|only| &only.value));
        let conditions = self.env_if.values().map(|only| only.fact.as_str());
        texts
            .flat_map(|text| facts_in(text))
            .chain(conditions)
            .collect()
    }
}

/// The facts whose answers stand in a text.
pub(super) fn facts_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(SHELL_VARIABLE)
        .skip(1)
        .step_by(2)
        .filter_map(|name| name.strip_prefix(LATE))
}

/// A value that depends on whether a fact has an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnlyIf {
    /// The fact.
    pub fact: String,
    /// The variable's value then; else it is left as it is.
    pub value: String,
}

/// Texts put before and after a variable's inherited value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableExtension {
    /// Put before.
    pub prepend: Option<String>,
    /// Put after.
    pub append: Option<String>,
    /// What stands between.
    pub separator: String,
}

impl VariableExtension {
    /// The new value for an inherited one; an empty or missing one adds no separator.
    pub fn apply(&self, inherited: Option<&str>) -> String {
        let parts = [
            self.prepend.as_deref(),
            inherited.filter(|text| !text.is_empty()),
            self.append.as_deref(),
        ];
        parts
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(&self.separator)
    }
}

/// A variable that gets the number of parallel jobs, counted where and when the step runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParallelJobsVariable {
    /// `MAX_JOBS`.
    pub variable: String,
    /// The number itself, where the matrix file names it.
    pub count: Option<u32>,
    /// Memory that one job may take, in tenths of a GiB.
    pub tenths_gib_per_job: u32,
}

impl ParallelJobsVariable {
    /// The variable's value on a machine: what is inherited wins, then the number of the matrix
    /// file, then as many as threads and memory (in tenths of a GiB) allow.
    pub fn value(&self, inherited: Option<&str>, threads: u32, memory_tenths_gib: u32) -> String {
        if let Some(inherited) = inherited.filter(|text| !text.is_empty()) {
            return inherited.to_owned();
        }
        let computed = || {
            super::parallel_jobs::parallel_jobs(threads, memory_tenths_gib, self.tenths_gib_per_job)
        };
        self.count.unwrap_or_else(computed).to_string()
    }
}

/// Files that a step leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepOutput {
    /// What the recipe calls them, `wheel`.
    pub name: String,
    /// A glob, relative to the job's folder.
    pub glob: String,
    /// How many files must match.
    pub count: usize,
}

#[cfg(test)]
mod tests {
    use super::{ParallelJobsVariable, VariableExtension};

    #[test]
    fn an_inherited_number_of_jobs_always_wins() {
        let jobs = |count| ParallelJobsVariable {
            variable: "MAX_JOBS".into(),
            count,
            tenths_gib_per_job: 28,
        };
        assert_eq!(jobs(Some(8)).value(Some("3"), 16, 620), "3");
        assert_eq!(jobs(Some(8)).value(Some(""), 16, 620), "8");
        assert_eq!(jobs(None).value(None, 16, 620), "16");
    }

    #[test]
    fn an_extended_variable_has_no_stray_separator() {
        let extend = VariableExtension {
            prepend: Some("/a".into()),
            append: Some("/z".into()),
            separator: ":".into(),
        };
        assert_eq!(extend.apply(Some("/usr")), "/a:/usr:/z");
        assert_eq!(extend.apply(Some("")), "/a:/z");
        assert_eq!(
            VariableExtension {
                append: None,
                ..extend
            }
            .apply(None),
            "/a"
        );
    }
}

//! A build step: a process with everything it needs.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{LATE, SHELL_VARIABLE};

/// The option of `source checkout` that names the directory.
pub(super) const CHECKOUT_OPTION: &str = "--checkout-dir";

/// A process to run. Paths in `cwd`, `outputs` and `clean` are relative to the job directory; those
/// inside `argv` and `env` are absolute where necessary, as the directory is seen on the host or
/// inside the container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// The stage, a name for `--resume`; unique within a build.
    pub stage: String,
    /// Program and arguments, run without a shell.
    pub argv: Vec<String>,
    /// Variables set for this process, in addition to the inherited ones.
    pub env: BTreeMap<String, String>,
    /// Variables that are removed.
    pub env_remove: Vec<String>,
    /// Variables whose inherited value is extended.
    pub env_extend: BTreeMap<String, VariableExtension>,
    /// Variables that are set if a fact that an earlier step detected has a value.
    pub env_if: BTreeMap<String, OnlyIf>,
    /// A variable that gets the number of parallel jobs, unless it is set already.
    pub jobs: Option<ParallelJobsVariable>,
    /// The working directory, relative to the job directory; if empty, the job directory itself.
    pub cwd: String,
    /// The time limit in seconds; `None` if only that of the build applies.
    pub timeout_s: Option<u64>,
    /// Files that the step must produce.
    pub outputs: Vec<StepOutput>,
    /// Paths to remove before the step runs, relative to the job directory.
    pub clean: Vec<String>,
    /// Paths to remove before the step runs, relative to the job directory, unless it last ran with
    /// the same command and variables: the step can reuse them if only sources changed.
    pub outdated: Vec<String>,
    /// The number of retries after a failure.
    pub retries: u32,
    /// Files and directories outside of the job directory that the step reads, absolute as it sees
    /// them. If they change, the step runs again.
    pub inputs: Vec<String>,
    /// Patterns of the files that the step excludes from a source tree that it copies, in addition
    /// to those that git ignores; they are its last arguments. Empty if it copies no tree.
    pub left_out: Vec<String>,
    /// Whether this program runs the step on this machine before a container starts.
    pub host: bool,
    /// Whether the step also runs after a failure. Such steps are the last, and the original
    /// failure of the build is kept.
    pub finally: bool,
    /// The facts that the step detects. Their values are in `facts/NAME` afterwards, and words of
    /// later steps refer to them by [`super::late_name`].
    pub facts: Vec<String>,
}

impl Step {
    /// Adds a pattern of files to exclude from the source tree that the step copies.
    pub(super) fn leave_out(&mut self, pattern: &str) {
        self.argv.push(pattern.to_owned());
        self.left_out.push(pattern.to_owned());
    }

    /// Returns the names and origins of the sources that the step copies, as far as they are known
    /// before the first step: a path that contains a deferred fact is known only when the build
    /// runs.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let name = self.stage.strip_prefix("fetch-").unwrap_or(&self.stage);
        let late = format!("{SHELL_VARIABLE}{LATE}");
        self.inputs
            .iter()
            .filter(move |path| !path.contains(&late))
            .map(move |path| (name, path.as_str()))
    }

    /// Returns the directory that this program checks a source out into, relative to the job
    /// directory, if the step is such a checkout.
    pub fn checkout_folder(&self) -> Option<&str> {
        let option = self
            .argv
            .iter()
            .position(|word| word == CHECKOUT_OPTION)
            .filter(|_| self.host)?;
        self.argv.get(option + 1).map(String::as_str)
    }

    /// Returns the fact if a word of the command is nothing but its value; if the fact has no
    /// value, the word is omitted.
    pub fn optional_word<'w>(&self, word: &'w str) -> Option<&'w str> {
        // A step that detects facts counts the words of their commands, so none is omitted.
        let fact = word
            .strip_prefix(SHELL_VARIABLE)?
            .strip_suffix(SHELL_VARIABLE)?
            .strip_prefix(LATE)?;
        (self.facts.is_empty() && !fact.contains(SHELL_VARIABLE)).then_some(fact)
    }

    /// Returns the facts of earlier steps that the step uses.
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

/// Returns the facts that a text refers to.
pub(super) fn facts_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(SHELL_VARIABLE)
        .skip(1)
        .step_by(2)
        .filter_map(|name| name.strip_prefix(LATE))
}

/// A value that depends on whether a fact has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnlyIf {
    /// The fact.
    pub fact: String,
    /// The variable's value if the fact has one; otherwise the variable is not changed.
    pub value: String,
}

/// Texts before and after a variable's inherited value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableExtension {
    /// The text before it.
    pub prepend: Option<String>,
    /// The text after it.
    pub append: Option<String>,
    /// The separator between the parts.
    pub separator: String,
}

impl VariableExtension {
    /// Returns the new value for an inherited one; an empty or missing one adds no separator.
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

/// A variable for the number of parallel jobs, computed where and when the step runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParallelJobsVariable {
    /// The variable, such as `MAX_JOBS`.
    pub variable: String,
    /// The number, if the matrix file sets it.
    pub count: Option<u32>,
    /// Memory that one job may take, in tenths of a GiB.
    pub tenths_gib_per_job: u32,
}

impl ParallelJobsVariable {
    /// Returns the variable's value on a machine: the inherited one, else the number in the matrix
    /// file, else as many as threads and memory (in tenths of a GiB) allow.
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

/// Files that a step produces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepOutput {
    /// The name in the recipe, such as `wheel`.
    pub name: String,
    /// A glob, relative to the job directory.
    pub glob: String,
    /// The number of files that must match.
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

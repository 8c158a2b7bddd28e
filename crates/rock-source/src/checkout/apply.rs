//! Runs the steps of a checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::error::CheckoutError;
use super::git::{GitCall, GitOutput, GitRunner};
use super::{CheckoutEvent, CheckoutListener, CheckoutResult, STATE, repository};
use crate::{
    CheckoutCommand, CheckoutFacts, CheckoutOutcome, CheckoutSpec, CheckoutState, CheckoutStep,
    CommandPlace, DirectoryKind, RepositoryRecord,
};
use rock_bytes::start_threads;
use rock_sys as sys;
use rock_sys::process::ProcessStatus;

/// The file with the environment of a build, relative to the directory of the checkout.
const BUILD_ENVIRONMENT: &str = ".rock/build_env.json";
/// A running checkout.
pub(super) struct CheckoutRun<'a, 'b> {
    pub(super) git: &'a GitRunner<'a>,
    pub(super) wanted: &'a CheckoutSpec,
    pub(super) facts: CheckoutFacts,
    listener: Mutex<&'a mut CheckoutListener<'b>>,
    /// The paths of the existing submodules.
    pub(super) submodules: Vec<String>,
    /// The upstream commits by repository.
    upstream: BTreeMap<String, String>,
    /// The commits with the changes of hipify by repository.
    pub(super) hipified: BTreeMap<String, String>,
    pub(super) left_changed: BTreeSet<String>,
    /// Whether the hipify script exists and ran.
    pub(super) is_hipified: bool,
    has_begun: bool,
    /// The URL of the remote before this run.
    origin_before: Option<String>,
}

/// Confirms that the tree is up to date, and updates the recorded options.
pub(super) fn confirm(
    git: &GitRunner<'_>,
    wanted: &CheckoutSpec,
    facts: &CheckoutFacts,
) -> Result<CheckoutResult, CheckoutError> {
    let before = facts.state.as_ref();
    let mut state = CheckoutState::begun(wanted, before);
    state.outcome = CheckoutOutcome::Done;
    state.commit = before.and_then(|before| before.commit.clone());
    // The recorded URL has no password, so an equal one may still have another password.
    if before.is_some_and(|before| before.origin != state.origin || state.origin != wanted.origin) {
        repoint(git, &wanted.origin)?;
    }
    write_build_environment(git, wanted)?;
    if before != Some(&state) {
        sys::write_unsynced(&git.directory("").join(STATE), state.to_json().as_bytes())?;
    }
    Ok(CheckoutResult {
        state,
        was_up_to_date: true,
    })
}

fn repoint(git: &GitRunner<'_>, origin: &str) -> Result<(), CheckoutError> {
    let call = GitCall::git("", &["remote", "set-url", "origin", origin]);
    let output = git.run(&call, &mut |_| ())?;
    match output.status {
        ProcessStatus::Code(0) => Ok(()),
        // There is no remote of that name.
        ProcessStatus::Code(2) => git
            .succeed(&GitCall::git("", &["remote", "add", "origin", origin]))
            .map(drop),
        _ => Err(CheckoutError::git(&call, output)),
    }
}

fn write_build_environment(
    git: &GitRunner<'_>,
    wanted: &CheckoutSpec,
) -> Result<(), CheckoutError> {
    let path = git.directory("").join(BUILD_ENVIRONMENT);
    if wanted.build_environment.is_empty() {
        return Ok(sys::remove(&path)?);
    }
    let text = serde_json::to_string_pretty(&wanted.build_environment)
        .expect("strings can be serialized")
        + "\n";
    sys::write_if_changed(&path, text.as_bytes())?;
    Ok(())
}

impl<'a, 'b> CheckoutRun<'a, 'b> {
    pub(super) fn new(
        git: &'a GitRunner<'a>,
        wanted: &'a CheckoutSpec,
        facts: CheckoutFacts,
        listener: Mutex<&'a mut CheckoutListener<'b>>,
    ) -> Self {
        let paths = facts.repositories.iter().map(|found| found.path.clone());
        let submodules = paths.filter(|path| !path.is_empty()).collect();
        Self {
            git,
            wanted,
            facts,
            listener,
            submodules,
            upstream: BTreeMap::new(),
            hipified: BTreeMap::new(),
            left_changed: BTreeSet::new(),
            is_hipified: false,
            has_begun: false,
            origin_before: None,
        }
    }

    /// Runs all steps.
    pub(super) fn all(mut self, steps: &[CheckoutStep]) -> Result<CheckoutResult, CheckoutError> {
        let taken = self.take(steps);
        if let Err(fault) = &taken
            && self.has_begun
            && fault.leaves_all_committed()
        {
            let state = CheckoutState {
                outcome: CheckoutOutcome::Incomplete,
                ..self.state()
            };
            self.write(&state)?;
        }
        taken?;
        write_build_environment(self.git, self.wanted)?;
        let state = self.made()?;
        self.write(&state)?;
        Ok(CheckoutResult {
            state,
            was_up_to_date: false,
        })
    }

    fn take(&mut self, steps: &[CheckoutStep]) -> Result<(), CheckoutError> {
        if self.facts.directory != DirectoryKind::Repository {
            self.begin()?;
        }
        for (number, step) in steps.iter().enumerate() {
            self.report(CheckoutEvent::Step {
                number: number + 1,
                of: steps.len(),
                title: &step.title(),
            });
            if !matches!(
                step,
                CheckoutStep::Repoint { .. } | CheckoutStep::Fetch { .. }
            ) {
                self.begin()?;
            }
            self.step(step)?;
        }
        Ok(())
    }

    fn state(&self) -> CheckoutState {
        CheckoutState::begun(self.wanted, self.facts.state.as_ref())
    }

    fn write(&self, state: &CheckoutState) -> Result<(), CheckoutError> {
        Ok(sys::write_unsynced(
            &self.git.directory("").join(STATE),
            state.to_json().as_bytes(),
        )?)
    }

    /// Records that the tree is being changed.
    fn begin(&mut self) -> Result<(), CheckoutError> {
        if !self.has_begun {
            self.write(&self.state())?;
            self.has_begun = true;
        }
        Ok(())
    }

    fn made(&self) -> Result<CheckoutState, CheckoutError> {
        let mut state = self.state();
        state.outcome = CheckoutOutcome::Done;
        state.commit = self.upstream.get("").cloned();
        let record = |path: &String| -> Result<RepositoryRecord, CheckoutError> {
            let head = repository::head(self.git, path)?;
            Ok(RepositoryRecord {
                path: path.clone(),
                upstream: self
                    .upstream
                    .get(path)
                    .cloned()
                    .unwrap_or_else(|| head.clone()),
                hipified: self.hipified.get(path).cloned(),
                head,
                is_left_changed: self.left_changed.contains(path),
            })
        };
        state.repositories = self
            .repositories()
            .iter()
            .map(record)
            .collect::<Result<_, _>>()?;
        Ok(state)
    }

    /// Returns the outer repository, then every submodule.
    pub(super) fn repositories(&self) -> Vec<String> {
        std::iter::once(String::new())
            .chain(self.submodules.iter().cloned())
            .collect()
    }

    pub(super) fn report(&self, event: CheckoutEvent<'_>) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        (*listener)(event);
    }

    /// Runs a call and reports its events.
    pub(super) fn run(&self, call: &GitCall) -> Result<GitOutput, CheckoutError> {
        self.report(CheckoutEvent::Command(&call.repository, &call.argv));
        self.git.run(call, &mut |line| {
            self.report(line.map_or(CheckoutEvent::Tick, CheckoutEvent::Line));
        })
    }

    pub(super) fn succeed(&self, call: &GitCall) -> Result<GitOutput, CheckoutError> {
        let output = self.run(call)?;
        if output.is_success() {
            Ok(output)
        } else {
            Err(CheckoutError::git(call, output))
        }
    }

    /// Returns the calls of a command, one per repository.
    pub(super) fn calls(&self, order: &CheckoutCommand) -> Vec<GitCall> {
        let places = match &order.place {
            CommandPlace::Outer => vec![String::new()],
            CommandPlace::Submodules => self.submodules.clone(),
            CommandPlace::Every => self.repositories(),
            CommandPlace::In(path) => vec![path.clone()],
        };
        let call = |repository| GitCall {
            argv: order.argv.clone(),
            repository,
            is_long: true,
            ..GitCall::default()
        };
        places.into_iter().map(call).collect()
    }

    /// Runs the commands of a step in order, each in all its repositories in parallel.
    pub(super) fn run_all(&self, step: &CheckoutStep) -> Result<(), CheckoutError> {
        for order in step.orders() {
            start_threads();
            let done: Vec<_> = self
                .calls(&order)
                .par_iter()
                .map(|call| self.succeed(call))
                .collect();
            for output in done {
                output?;
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &CheckoutStep) -> Result<(), CheckoutError> {
        match step {
            CheckoutStep::Initialise { origin } => self.initialise(step, origin),
            CheckoutStep::Repoint { origin } => {
                let output = self.git.run(
                    &GitCall::git("", &["remote", "get-url", "origin"]),
                    &mut |_| (),
                )?;
                self.origin_before = output.is_success().then(|| output.line());
                repoint(self.git, origin)
            }
            CheckoutStep::Fetch { reference, .. } => self.fetch(step, reference),
            CheckoutStep::Save { repositories } => self.save(repositories),
            CheckoutStep::Tag => {
                self.run_all(step)?;
                self.upstream
                    .insert(String::new(), repository::head(self.git, "")?);
                if !self.wanted.submodules {
                    self.submodules.clear();
                }
                Ok(())
            }
            CheckoutStep::Submodules { .. } => self.update_submodules(step),
            CheckoutStep::TagSubmodules => {
                self.run_all(step)?;
                for path in &self.submodules {
                    self.upstream
                        .insert(path.clone(), repository::head(self.git, path)?);
                }
                Ok(())
            }
            CheckoutStep::Quiet => self.quiet(),
            CheckoutStep::Series {
                stage, set, name, ..
            } => self.series(step, *stage, set, name),
            CheckoutStep::Hipify { .. } => self.hipify(step),
            CheckoutStep::CommitHipify { identity } if self.is_hipified => {
                self.commit_hipify(identity)
            }
            CheckoutStep::CommitHipify { .. } => Ok(()),
            CheckoutStep::EndSession { .. }
            | CheckoutStep::Discard { .. }
            | CheckoutStep::DropTags
            | CheckoutStep::CheckOut { .. } => self.run_all(step),
        }
    }

    fn initialise(&self, step: &CheckoutStep, origin: &str) -> Result<(), CheckoutError> {
        for order in step.orders() {
            for call in self.calls(&order) {
                let output = self.run(&call)?;
                match output.status {
                    ProcessStatus::Code(0) => {}
                    // An interrupted run already created the remote.
                    ProcessStatus::Code(3) => repoint(self.git, origin)?,
                    _ => return Err(CheckoutError::git(&call, output)),
                }
            }
        }
        Ok(repository::exclude(&self.git.directory(""))?)
    }

    fn fetch(&self, step: &CheckoutStep, reference: &str) -> Result<(), CheckoutError> {
        for order in step.orders() {
            for call in self.calls(&order) {
                let output = self.run(&call)?;
                if output.is_success() {
                    continue;
                }
                // A failed fetch must not change the remote.
                let recorded = self
                    .facts
                    .state
                    .as_ref()
                    .map(|before| before.origin.as_str());
                let before = self
                    .origin_before
                    .as_deref()
                    .or(recorded.filter(|origin| !origin.contains("***@")));
                if let Some(before) = before.filter(|_| !self.has_begun) {
                    repoint(self.git, before)?;
                }
                return Err(CheckoutError::fetch(&self.wanted.origin, reference, output));
            }
        }
        Ok(())
    }

    fn update_submodules(&mut self, step: &CheckoutStep) -> Result<(), CheckoutError> {
        for order in step.orders() {
            for call in self.calls(&order) {
                let output = self.run(&call)?;
                if !output.is_success() {
                    return Err(CheckoutError::Submodules {
                        output: output.stderr,
                    });
                }
            }
        }
        let now = repository::submodules(self.git)?;
        // The worktree of a submodule that upstream removed would count as new files of the outer
        // repository. Its commits stay below `.git/modules`.
        for path in self.submodules.iter().filter(|path| !now.contains(path)) {
            let directory = self.git.directory(path);
            if sys::is_file(&directory.join(".git")) {
                sys::remove(&directory)?;
            }
        }
        self.submodules = now;
        Ok(())
    }

    /// Configures git to ignore that submodules are at other commits.
    fn quiet(&self) -> Result<(), CheckoutError> {
        for repository in self.repositories() {
            let submodules = repository::submodules_of(self.git, &repository)?;
            if submodules.is_empty() {
                continue;
            }
            let words = [
                "config",
                "--local",
                "--null",
                "--get-regexp",
                r"^submodule\..*\.ignore$",
            ];
            // The exit status only shows whether there are any.
            let set = crate::submodule_settings(
                &self
                    .git
                    .run(&GitCall::git(&repository, &words), &mut |_| ())?
                    .stdout,
            );
            let is_set = |name: &str| {
                set.iter()
                    .any(|(known, value)| known == name && value == "all")
            };
            for (name, _) in submodules.iter().filter(|(name, _)| !is_set(name)) {
                self.succeed(&GitCall::git(
                    &repository,
                    &["config", &format!("submodule.{name}.ignore"), "all"],
                ))?;
            }
            let mut words = vec!["update-index", "--skip-worktree", "--"];
            words.extend(submodules.iter().map(|(_, path)| path.as_str()));
            self.succeed(&GitCall::git(&repository, &words))?;
        }
        Ok(())
    }
}

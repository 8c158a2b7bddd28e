//! Takes the steps of a checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::fault::CheckoutFault;
use super::git::{Call, Git, Said};
use super::{Event, Listener, Made, STATE, repository};
use crate::{Facts, FolderKind, Order, Outcome, Place, RepositoryRecord, State, Step, Wanted};
use rock_bytes::start_threads;
use rock_sys as sys;
use rock_sys::process::ProcessStatus;

/// What a build is given, below the folder.
const BUILD_ENVIRONMENT: &str = ".rock/build_env.json";
/// A checkout under way.
pub(super) struct Run<'a, 'b> {
    pub(super) git: &'a Git<'a>,
    pub(super) wanted: &'a Wanted,
    pub(super) facts: Facts,
    tell: Mutex<&'a mut Listener<'b>>,
    /// Paths of the submodules that are there.
    pub(super) submodules: Vec<String>,
    /// Commits of upstream, by repository.
    upstream: BTreeMap<String, String>,
    /// What hipify made, by repository.
    pub(super) hipified: BTreeMap<String, String>,
    pub(super) left_changed: BTreeSet<String>,
    /// Whether the script that hipifies was there and ran.
    pub(super) is_hipified: bool,
    has_begun: bool,
    /// The address that the remote had until this run.
    origin_before: Option<String>,
}

/// Says that all is as it is wanted, and writes down what is said in other words now.
pub(super) fn confirm(
    git: &Git<'_>,
    wanted: &Wanted,
    facts: &Facts,
) -> Result<Made, CheckoutFault> {
    let before = facts.state.as_ref();
    let mut state = State::begun(wanted, before);
    state.outcome = Outcome::Done;
    state.commit = before.and_then(|before| before.commit.clone());
    // Of an address with a password it is not known whether that is still the same.
    if before.is_some_and(|before| before.origin != state.origin || state.origin != wanted.origin) {
        repoint(git, &wanted.origin)?;
    }
    write_build_environment(git, wanted)?;
    if before != Some(&state) {
        sys::write_unsynced(&git.folder("").join(STATE), state.to_json().as_bytes())?;
    }
    Ok(Made {
        state,
        was_there: true,
    })
}

fn repoint(git: &Git<'_>, origin: &str) -> Result<(), CheckoutFault> {
    let call = Call::git("", &["remote", "set-url", "origin", origin]);
    let said = git.run(&call, &mut |_| ())?;
    match said.status {
        ProcessStatus::Code(0) => Ok(()),
        // There is no remote of that name.
        ProcessStatus::Code(2) => git
            .succeed(&Call::git("", &["remote", "add", "origin", origin]))
            .map(drop),
        _ => Err(CheckoutFault::git(&call, said)),
    }
}

fn write_build_environment(git: &Git<'_>, wanted: &Wanted) -> Result<(), CheckoutFault> {
    let path = git.folder("").join(BUILD_ENVIRONMENT);
    if wanted.build_environment.is_empty() {
        return Ok(sys::remove(&path)?);
    }
    let text = serde_json::to_string_pretty(&wanted.build_environment)
        .expect("texts have a JSON form")
        + "\n";
    sys::write_if_changed(&path, text.as_bytes())?;
    Ok(())
}

impl<'a, 'b> Run<'a, 'b> {
    pub(super) fn new(
        git: &'a Git<'a>,
        wanted: &'a Wanted,
        facts: Facts,
        tell: Mutex<&'a mut Listener<'b>>,
    ) -> Self {
        let paths = facts.repositories.iter().map(|found| found.path.clone());
        let submodules = paths.filter(|path| !path.is_empty()).collect();
        Self {
            git,
            wanted,
            facts,
            tell,
            submodules,
            upstream: BTreeMap::new(),
            hipified: BTreeMap::new(),
            left_changed: BTreeSet::new(),
            is_hipified: false,
            has_begun: false,
            origin_before: None,
        }
    }

    /// Takes all steps.
    pub(super) fn all(mut self, steps: &[Step]) -> Result<Made, CheckoutFault> {
        let taken = self.take(steps);
        if let Err(fault) = &taken
            && self.has_begun
            && fault.leaves_all_committed()
        {
            let state = State {
                outcome: Outcome::Incomplete,
                ..self.state()
            };
            self.write(&state)?;
        }
        taken?;
        write_build_environment(self.git, self.wanted)?;
        let state = self.made()?;
        self.write(&state)?;
        Ok(Made {
            state,
            was_there: false,
        })
    }

    fn take(&mut self, steps: &[Step]) -> Result<(), CheckoutFault> {
        if self.facts.folder != FolderKind::Repository {
            self.begin()?;
        }
        for (number, step) in steps.iter().enumerate() {
            self.say(Event::Step {
                number: number + 1,
                of: steps.len(),
                title: &step.title(),
            });
            if !matches!(step, Step::Repoint { .. } | Step::Fetch { .. }) {
                self.begin()?;
            }
            self.step(step)?;
        }
        Ok(())
    }

    fn state(&self) -> State {
        State::begun(self.wanted, self.facts.state.as_ref())
    }

    fn write(&self, state: &State) -> Result<(), CheckoutFault> {
        Ok(sys::write_unsynced(
            &self.git.folder("").join(STATE),
            state.to_json().as_bytes(),
        )?)
    }

    /// Writes down that the tree is being changed.
    fn begin(&mut self) -> Result<(), CheckoutFault> {
        if !self.has_begun {
            self.write(&self.state())?;
            self.has_begun = true;
        }
        Ok(())
    }

    fn made(&self) -> Result<State, CheckoutFault> {
        let mut state = self.state();
        state.outcome = Outcome::Done;
        state.commit = self.upstream.get("").cloned();
        let record = |path: &String| -> Result<RepositoryRecord, CheckoutFault> {
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

    /// The outer repository, then every submodule.
    pub(super) fn repositories(&self) -> Vec<String> {
        std::iter::once(String::new())
            .chain(self.submodules.iter().cloned())
            .collect()
    }

    pub(super) fn say(&self, event: Event<'_>) {
        let mut tell = self.tell.lock().unwrap_or_else(PoisonError::into_inner);
        (*tell)(event);
    }

    /// Runs a call, and says so.
    pub(super) fn run(&self, call: &Call) -> Result<Said, CheckoutFault> {
        self.say(Event::Command(&call.repository, &call.argv));
        self.git.run(call, &mut |line| {
            self.say(line.map_or(Event::Tick, Event::Line));
        })
    }

    pub(super) fn succeed(&self, call: &Call) -> Result<Said, CheckoutFault> {
        let said = self.run(call)?;
        if said.is_good() {
            Ok(said)
        } else {
            Err(CheckoutFault::git(call, said))
        }
    }

    /// The calls that an order stands for.
    pub(super) fn calls(&self, order: &Order) -> Vec<Call> {
        let places = match &order.place {
            Place::Outer => vec![String::new()],
            Place::Submodules => self.submodules.clone(),
            Place::Every => self.repositories(),
            Place::In(path) => vec![path.clone()],
        };
        let call = |repository| Call {
            argv: order.argv.clone(),
            repository,
            is_long: true,
            ..Call::default()
        };
        places.into_iter().map(call).collect()
    }

    /// Runs what a step says, each order in all its repositories at once.
    pub(super) fn run_all(&self, step: &Step) -> Result<(), CheckoutFault> {
        for order in step.orders() {
            start_threads();
            let done: Vec<_> = self
                .calls(&order)
                .par_iter()
                .map(|call| self.succeed(call))
                .collect();
            for said in done {
                said?;
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), CheckoutFault> {
        match step {
            Step::Initialise { origin } => self.initialise(step, origin),
            Step::Repoint { origin } => {
                let said = self.git.run(
                    &Call::git("", &["remote", "get-url", "origin"]),
                    &mut |_| (),
                )?;
                self.origin_before = said.is_good().then(|| said.line());
                repoint(self.git, origin)
            }
            Step::Fetch { reference, .. } => self.fetch(step, reference),
            Step::Save { repositories } => self.save(repositories),
            Step::Tag => {
                self.run_all(step)?;
                self.upstream
                    .insert(String::new(), repository::head(self.git, "")?);
                if !self.wanted.submodules {
                    self.submodules.clear();
                }
                Ok(())
            }
            Step::Submodules { .. } => self.update_submodules(step),
            Step::TagSubmodules => {
                self.run_all(step)?;
                for path in &self.submodules {
                    self.upstream
                        .insert(path.clone(), repository::head(self.git, path)?);
                }
                Ok(())
            }
            Step::Quiet => self.quiet(),
            Step::Series {
                stage, set, name, ..
            } => self.series(step, *stage, set, name),
            Step::Hipify { .. } => self.hipify(step),
            Step::CommitHipify { identity } if self.is_hipified => self.commit_hipify(identity),
            Step::CommitHipify { .. } => Ok(()),
            Step::EndSession { .. }
            | Step::Discard { .. }
            | Step::DropTags
            | Step::CheckOut { .. } => self.run_all(step),
        }
    }

    fn initialise(&self, step: &Step, origin: &str) -> Result<(), CheckoutFault> {
        for order in step.orders() {
            for call in self.calls(&order) {
                let said = self.run(&call)?;
                match said.status {
                    ProcessStatus::Code(0) => {}
                    // A run that was ended before had made the remote.
                    ProcessStatus::Code(3) => repoint(self.git, origin)?,
                    _ => return Err(CheckoutFault::git(&call, said)),
                }
            }
        }
        Ok(repository::exclude(&self.git.folder(""))?)
    }

    fn fetch(&self, step: &Step, reference: &str) -> Result<(), CheckoutFault> {
        for order in step.orders() {
            for call in self.calls(&order) {
                let said = self.run(&call)?;
                if said.is_good() {
                    continue;
                }
                // What is fetched from stays what it was.
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
                return Err(CheckoutFault::fetch(&self.wanted.origin, reference, said));
            }
        }
        Ok(())
    }

    fn update_submodules(&mut self, step: &Step) -> Result<(), CheckoutFault> {
        for order in step.orders() {
            for call in self.calls(&order) {
                let said = self.run(&call)?;
                if !said.is_good() {
                    return Err(CheckoutFault::Submodules { said: said.talk });
                }
            }
        }
        let now = repository::submodules(self.git)?;
        // A work tree that upstream no longer has would count as new files of the outer one. Its
        // commits stay below `.git/modules`.
        for path in self.submodules.iter().filter(|path| !now.contains(path)) {
            let folder = self.git.folder(path);
            if sys::is_file(&folder.join(".git")) {
                sys::remove(&folder)?;
            }
        }
        self.submodules = now;
        Ok(())
    }

    /// Lets git ignore that submodules are at other commits.
    fn quiet(&self) -> Result<(), CheckoutFault> {
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
            // The exit code says only whether there are any.
            let set = crate::submodule_settings(
                &self
                    .git
                    .run(&Call::git(&repository, &words), &mut |_| ())?
                    .output,
            );
            let is_set = |name: &str| {
                set.iter()
                    .any(|(known, value)| known == name && value == "all")
            };
            for (name, _) in submodules.iter().filter(|(name, _)| !is_set(name)) {
                self.succeed(&Call::git(
                    &repository,
                    &["config", &format!("submodule.{name}.ignore"), "all"],
                ))?;
            }
            let mut words = vec!["update-index", "--skip-worktree", "--"];
            words.extend(submodules.iter().map(|(_, path)| path.as_str()));
            self.succeed(&Call::git(&repository, &words))?;
        }
        Ok(())
    }
}

//! Takes the steps of a checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::fault::CheckoutFault;
use super::git::{Call, Git, Said};
use super::{Event, HIPIFIED_INDEX, Listener, Made, STATE, repository};
use crate::bytes::start_threads;
use crate::codes::checkout as codes;
use crate::diagnostic::Diagnostic;
use crate::source::{
    Facts, FolderKind, HIPIFY_SCRIPT, Hipify, Order, Outcome, Place, RepositoryRecord, State, Step,
    UPSTREAM_TAG, Wanted, named,
};
use crate::sys;
use crate::sys::process::ProcessStatus;

/// What a build is given, below the folder.
const BUILD_ENVIRONMENT: &str = ".rock/build_env.json";
/// The index that what is kept is staged in, in the git folder of a repository.
const SAVED_INDEX: &str = "rock-saved.index";
/// Where commits of what was kept are.
const SAVED: &str = "refs/rock-matrix/saved";

/// A checkout under way.
pub(super) struct Run<'a, 'b> {
    pub(super) git: &'a Git<'a>,
    pub(super) wanted: &'a Wanted,
    facts: Facts,
    tell: Mutex<&'a mut Listener<'b>>,
    /// Paths of the submodules that are there.
    pub(super) submodules: Vec<String>,
    /// Commits of upstream, by repository.
    upstream: BTreeMap<String, String>,
    /// What hipify made, by repository.
    hipified: BTreeMap<String, String>,
    left_changed: BTreeSet<String>,
    /// Whether the script that hipifies was there and ran.
    is_hipified: bool,
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
    fn calls(&self, order: &Order) -> Vec<Call> {
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
    fn run_all(&self, step: &Step) -> Result<(), CheckoutFault> {
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
            let set = crate::source::submodule_settings(
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

    /// Keeps what is not committed in a commit under a ref, and tells of it.
    fn save(&self, repositories: &[String]) -> Result<(), CheckoutFault> {
        for path in repositories {
            let Some(git_folder) = repository::git_folder(&self.git.folder(path)) else {
                continue;
            };
            let index = git_folder.join(SAVED_INDEX);
            if sys::is_file(&git_folder.join("index")) {
                sys::copy_atomic(&git_folder.join("index"), &index)?;
            }
            let staged = |words: &[&str]| {
                let call =
                    Call::git(path, words).with("GIT_INDEX_FILE", index.display().to_string());
                self.succeed(&call).map(|said| said.line())
            };
            staged(&["add", "--all"])?;
            let tree = staged(&["write-tree"])?;
            let head = self
                .facts
                .repositories
                .iter()
                .find(|found| found.path == *path);
            let head = head.and_then(|found| found.status.head.clone());
            let mut words = vec![
                "-c",
                "user.name=rock-matrix",
                "-c",
                "user.email=rock-matrix@localhost",
                "commit-tree",
            ];
            if let Some(head) = &head {
                words.extend(["-p", head]);
            }
            words.extend(["-m", "Left by a checkout that was ended", &tree]);
            let commit = self.succeed(&Call::git(path, &words))?.line();
            let reference = format!("{SAVED}/{}", &commit[..commit.len().min(12)]);
            self.succeed(&Call::git(path, &["update-ref", &reference, &commit]))?;
            sys::remove(&index)?;
            let message = format!(
                "what an ended checkout left in {} is kept as `{reference}`",
                named(path)
            );
            let help =
                format!("look with `git show --stat {reference}` whether some of it is yours");
            self.say(Event::Told(
                &Diagnostic::new(&codes::CHANGES_KEPT, message).help(help),
            ));
        }
        Ok(())
    }

    fn hipify(&mut self, step: &Step) -> Result<(), CheckoutFault> {
        if !sys::is_file(&self.git.folder("").join(HIPIFY_SCRIPT)) {
            return Ok(());
        }
        for order in step.orders() {
            for call in self.calls(&order) {
                // What Python keeps of its modules would be new files.
                let said = self.run(&call.with("PYTHONDONTWRITEBYTECODE", "1"))?;
                if !said.is_good() {
                    let repositories = self.repositories();
                    self.run_all(&Step::Discard { repositories })?;
                    let text = format!(
                        "{}\n{}",
                        String::from_utf8_lossy(&said.output).trim_end(),
                        said.talk
                    );
                    return Err(CheckoutFault::Hipify {
                        status: said.status,
                        said: text.trim().to_owned(),
                    });
                }
            }
        }
        self.is_hipified = true;
        if self.wanted.hipify == Hipify::Leave {
            start_threads();
            let changed: Result<Vec<_>, CheckoutFault> = self
                .repositories()
                .into_par_iter()
                .map(|path| Ok((self.leave_changed(&path)?, path)))
                .collect();
            self.left_changed = changed?
                .into_iter()
                .filter(|(is_changed, _)| *is_changed)
                .map(|(_, path)| path)
                .collect();
        }
        Ok(())
    }

    fn is_changed(&self, repository: &str) -> Result<bool, CheckoutFault> {
        let words = [
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=normal",
            "--ignore-submodules=all",
        ];
        Ok(!self
            .git
            .succeed(&Call::git(repository, &words))?
            .output
            .is_empty())
    }

    /// Remembers what hipify changed in an index of its own, so that changes by a person are told
    /// from it.
    fn leave_changed(&self, repository: &str) -> Result<bool, CheckoutFault> {
        let Some(git_folder) = repository::git_folder(&self.git.folder(repository)) else {
            return Ok(false);
        };
        let is_changed = self.is_changed(repository)?;
        if is_changed {
            let index = git_folder.join(HIPIFIED_INDEX);
            sys::copy_atomic(&git_folder.join("index"), &index)?;
            let add = Call::git(repository, &["add", "--all"])
                .with("GIT_INDEX_FILE", index.display().to_string());
            self.succeed(&add)?;
        }
        Ok(is_changed)
    }

    fn commit_hipify(&mut self, identity: &[String]) -> Result<(), CheckoutFault> {
        start_threads();
        let made: Result<Vec<_>, CheckoutFault> = self
            .repositories()
            .into_par_iter()
            .map(|path| {
                Ok(self
                    .commit_hipified(&path, identity)?
                    .map(|commit| (path, commit)))
            })
            .collect();
        self.hipified = made?.into_iter().flatten().collect();
        Ok(())
    }

    /// Commits what hipify changed in a repository, at the time of upstream's commit; `None` where
    /// it changed nothing.
    fn commit_hipified(
        &self,
        repository: &str,
        identity: &[String],
    ) -> Result<Option<String>, CheckoutFault> {
        if !self.is_changed(repository)? {
            return Ok(None);
        }
        let orders = Step::CommitHipify {
            identity: identity.to_vec(),
        }
        .orders();
        let call = |order: &Order| Call {
            argv: order.argv.clone(),
            is_long: true,
            ..Call::git(repository, &[])
        };
        let [add, commit, tag] = orders.as_slice() else {
            return Ok(None);
        };
        self.succeed(&call(add))?;
        // Files can be another on the disk and the same to git, such as by the ends of their lines.
        let staged = Call::git(
            repository,
            &["diff", "--cached", "--quiet", "--ignore-submodules=all"],
        );
        if self.git.run(&staged, &mut |_| ())?.is_good() {
            return Ok(None);
        }
        let words = [
            "show",
            "--no-patch",
            "--format=%cd",
            "--date=raw",
            &format!("refs/tags/{UPSTREAM_TAG}"),
        ];
        let date = format!(
            "@{}",
            self.git.succeed(&Call::git(repository, &words))?.line()
        );
        let commit = call(commit)
            .with("GIT_AUTHOR_DATE", date.clone())
            .with("GIT_COMMITTER_DATE", date);
        self.succeed(&commit)?;
        self.succeed(&call(tag))?;
        repository::head(self.git, repository).map(Some)
    }
}

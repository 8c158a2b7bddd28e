//! Locks sources: makes a manifest of local source trees, or of the current state of their
//! repositories.

use std::path::{Path, PathBuf};

use rock_compat::Compat;
use rock_compat::rows::ProjectRow;
use rock_diagnostic::render::redact_urls;
use rock_diagnostic::{Diagnostic, Location, Sink};
use rock_sys::{Environment, FileError, Signals};

use crate::checkout::{self, CheckoutError, STATE};
use crate::codes::sources as codes;
use crate::git_query::git_line;
use crate::limits::LARGEST_LOCKED_BYTES;
use crate::manifest::{ManifestEntry, SourceManifest, file_name};
use crate::related::is_commit;
use crate::{
    CheckoutOutcome, CheckoutState, ExplicitSelection, ProjectQuery, ProjectSelection,
    ResolvedProject, SourceRef, projects, resolve,
};

/// The file with the version of a project.
const VERSION_FILE: &str = "version.txt";

/// Options of a [`SourceLock`].
#[derive(Debug, Clone)]
pub struct LockOptions {
    /// The platform of the projects, `linux` or `windows`.
    pub platform: String,
    /// The projects to lock, by name, directory or distribution; empty for all that are checked
    /// out, or for all of the preset or platform if remote repositories are read.
    pub projects: Vec<String>,
    /// The directory that contains the trees, each in the directory of its project.
    pub checkout_root: PathBuf,
    /// The text that is appended to versions, `+rocm7.2`.
    pub version_suffix: String,
    /// The ref of torch; `None` for that of its tree. If remote repositories are read, also the ref
    /// to read torch at.
    pub torch_ref: Option<String>,
}

/// The manifest of a set of sources, with the problems of the sources.
#[derive(Debug, Clone)]
pub struct SourceLock {
    manifest: SourceManifest,
    diagnostics: Vec<Diagnostic>,
    file_name: String,
}

impl LockOptions {
    /// Creates the options to lock the trees of a platform in the working directory.
    pub fn new(platform: &str) -> Self {
        Self {
            platform: platform.to_owned(),
            projects: Vec::new(),
            checkout_root: PathBuf::from("."),
            version_suffix: String::new(),
            torch_ref: None,
        }
    }
}

impl SourceLock {
    /// Locks local source trees. A tree that a checkout made has the commit, ref and patches of the
    /// checkout; any other tree has those that git reports.
    pub fn of_trees(options: &LockOptions, compat: &Compat, environment: &Environment) -> Self {
        let locker = Locker {
            options,
            compat,
            environment,
        };
        let mut sink = Sink::new();
        let manifest = locker.manifest(&options.checkout_root, &mut sink);
        locker.finish(manifest, sink)
    }

    /// Locks the remote repositories of a preset, or of the platform. Only the files with versions
    /// and pins are fetched, into the empty directory `scratch`. `on_fetch` is called before each
    /// fetch with the ref and the URL.
    ///
    /// # Errors
    /// When a pin is invalid, a commit cannot be fetched, or a signal arrives.
    pub fn of_remotes(
        options: &LockOptions,
        preset: Option<&str>,
        scratch: &Path,
        compat: &Compat,
        environment: &Environment,
        signals: &Signals,
        on_fetch: &mut dyn FnMut(&str, &str),
    ) -> Result<Self, CheckoutError> {
        let locker = Locker {
            options,
            compat,
            environment,
        };
        let mut sink = Sink::new();
        let fetched = locker.fetch(preset, scratch, signals, on_fetch, &mut sink)?;
        let mut manifest = SourceManifest::default();
        if let Some(fetched) = fetched {
            manifest = locker.manifest(scratch, &mut sink);
            for tree in fetched {
                let entries = &mut manifest.entries;
                if let Some(entry) = entries.iter_mut().find(|entry| entry.key == tree.key) {
                    entry.repo = tree.url;
                    entry.branch = Some(tree.reference).filter(|reference| !is_commit(reference));
                }
            }
        }
        Ok(locker.finish(manifest, sink))
    }

    /// Returns the manifest. It is incomplete if there are [errors](Self::diagnostics).
    pub fn manifest(&self) -> &SourceManifest {
        &self.manifest
    }

    /// Returns the problems of the sources: errors, and warnings about trees that do not fit
    /// together.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the filename of the manifest, which has the platform and the ref of torch.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }
}

/// A tree that was fetched from its repository.
struct FetchedTree {
    /// The key of the project in a manifest.
    key: String,
    url: String,
    reference: String,
}

struct Locker<'l> {
    options: &'l LockOptions,
    compat: &'l Compat,
    environment: &'l Environment,
}

impl<'l> Locker<'l> {
    /// Returns the row of torch, which is first in build order and pins the other projects.
    fn torch_row(&self) -> Option<&'l ProjectRow> {
        projects::on(self.compat, &self.options.platform)
            .into_iter()
            .next()
    }

    /// Checks whether the trees fit together, and returns the result.
    fn finish(&self, manifest: SourceManifest, mut sink: Sink) -> SourceLock {
        sink.extend(manifest.check_companions(self.compat));
        if manifest.entries.is_empty() && !sink.has_errors() {
            let root = self.options.checkout_root.display().to_string();
            let message = format!("no source tree found in `{root}`");
            sink.push(
                Diagnostic::new(&codes::NO_TREE, message)
                    .at(Location::File(root.into()), "")
                    .help(
                        "pass the directory that contains the trees with `--checkout-root`, or \
                         create them with `rock-matrix source checkout`",
                    ),
            );
        }
        let torch = self.torch_row().and_then(|row| manifest.entry(&row.folder));
        let reference = torch.map_or("unknown", |torch| {
            torch.branch.as_deref().unwrap_or(&torch.commit)
        });
        SourceLock {
            file_name: file_name(&self.options.platform, reference),
            diagnostics: sink.finish(),
            manifest,
        }
    }

    /// Returns the manifest of the trees below a directory.
    fn manifest(&self, root: &Path, sink: &mut Sink) -> SourceManifest {
        let options = self.options;
        let mut rows = projects::on(self.compat, &options.platform);
        let is_named = !options.projects.is_empty();
        if is_named {
            let mut named = Vec::new();
            for name in &options.projects {
                match projects::find(self.compat, name, &options.platform) {
                    Ok(row) => named.push(row),
                    Err(error) => sink.push(error),
                }
            }
            rows.retain(|row| named.contains(row));
        }
        let torch = self.torch_row().map(|row| root.join(&row.folder));
        let mut manifest = SourceManifest::default();
        for row in rows {
            let directory = root.join(&row.folder);
            let git = self.environment.current_dir.join(&directory).join(".git");
            if !rock_sys::exists(&git) {
                if is_named {
                    sink.push(no_checkout(row, &directory));
                }
                continue;
            }
            match self.entry(row, &directory) {
                Ok((mut entry, warning)) => {
                    sink.extend(warning);
                    if Some(&directory) == torch.as_ref() && options.torch_ref.is_some() {
                        entry.branch.clone_from(&options.torch_ref);
                    }
                    entry.version = self
                        .version(row, &directory, torch.as_deref())
                        .map(|text| text + &options.version_suffix);
                    manifest.entries.push(entry);
                }
                Err(error) => sink.push(*error),
            }
        }
        manifest
    }

    /// Fetches the files with versions and pins of each project below a directory. Torch comes
    /// first because it pins the others. Returns `None` if there are errors, which go to the sink.
    fn fetch(
        &self,
        preset: Option<&str>,
        scratch: &Path,
        signals: &Signals,
        on_fetch: &mut dyn FnMut(&str, &str),
        sink: &mut Sink,
    ) -> Result<Option<Vec<FetchedTree>>, CheckoutError> {
        let (options, compat) = (self.options, self.compat);
        let mut selection = ProjectSelection::new(&options.platform);
        selection.preset = preset.map(str::to_owned);
        let selected = match selection.select(compat, &options.projects) {
            Ok(selected) => selected,
            Err(errors) => {
                sink.extend(errors);
                return Ok(None);
            }
        };
        let torch = self.torch_row();
        let mut rows = selected.rows.clone();
        if let Some(torch) = torch.filter(|torch| !rows.contains(torch)) {
            rows.insert(0, torch);
        }
        let pins = compat.source_tables().pins.iter();
        let pins = pins
            .filter(|pin| pin.beside == "torch")
            .map(|pin| pin.file.as_str());
        let files: Vec<&str> = std::iter::once(VERSION_FILE).chain(pins).collect();
        let mut fetched = Vec::new();
        for row in rows {
            let is_torch = Some(row) == torch;
            let explicit = ExplicitSelection {
                reference: options.torch_ref.clone().filter(|_| is_torch),
                ..ExplicitSelection::default()
            };
            selection.torch_dir = torch
                .filter(|_| !is_torch)
                .map(|torch| scratch.join(&torch.folder));
            let current_dir = &self.environment.current_dir;
            let pins = match selection.read_pins(compat, &selected, &explicit, current_dir) {
                Ok((pins, warnings)) => {
                    sink.extend(warnings);
                    pins
                }
                Err(errors) => {
                    sink.extend(errors);
                    return Ok(None);
                }
            };
            let query = ProjectQuery {
                row,
                explicit: &explicit,
                preset: selected.preset,
                files: &pins,
                related_os: &selection.related_os,
            };
            let ResolvedProject {
                url,
                reference: SourceRef::Known(reference),
                ..
            } = resolve(&query, compat).map_err(|error| CheckoutError::Refused(vec![error]))?
            else {
                continue;
            };
            on_fetch(&reference.value, &url.value);
            let directory = scratch.join(&row.folder);
            rock_sys::create_directory(&directory)?;
            let files = if is_torch {
                files.as_slice()
            } else {
                &files[..1]
            };
            checkout::fetch_files(
                &directory,
                &url.value,
                &reference.value,
                files,
                self.environment,
                signals,
            )?;
            fetched.push(FetchedTree {
                key: row.folder.clone(),
                url: url.value,
                reference: reference.value,
            });
        }
        Ok(Some(fetched))
    }

    /// Returns the manifest entry of a tree, and a diagnostic if it has changed since its checkout.
    fn entry(
        &self,
        row: &ProjectRow,
        directory: &Path,
    ) -> Result<(ManifestEntry, Option<Diagnostic>), Box<Diagnostic>> {
        let shown = directory.display().to_string();
        let path = directory.join(STATE);
        let file = self.environment.current_dir.join(&path);
        let head = self.git_line(directory, &["rev-parse", "--verify", "HEAD"]);
        if !rock_sys::exists(&file) {
            return Ok((self.entry_of_clone(row, directory, head)?, None));
        }
        let text = rock_sys::read_text(&file, LARGEST_LOCKED_BYTES).map_err(|error| {
            let path = path.clone();
            Box::new(FileError { path, ..error }.into())
        })?;
        let again = "run `rock-matrix source checkout` there again";
        let state = CheckoutState::parse(&text).map_err(|error| {
            let message = format!("`{}`: {error}", path.display());
            Box::new(bad_tree(&shown, message, again))
        })?;
        let is_done = state.outcome == CheckoutOutcome::Done;
        let Some(commit) = state.commit.clone().filter(|_| is_done) else {
            let message = format!("the checkout in `{shown}` is incomplete");
            return Err(bad_tree(&shown, message, again).into());
        };
        let outer = state
            .repositories
            .iter()
            .find(|repository| repository.path.is_empty());
        let is_moved = outer
            .zip(head.as_ref())
            .is_some_and(|(outer, head)| outer.head != *head);
        let (set, patches) = state
            .patches
            .map(|patches| (patches.set, patches.files))
            .unwrap_or_default();
        let entry = ManifestEntry {
            key: row.folder.clone(),
            repo: state.origin,
            commit,
            branch: Some(state.reference).filter(|reference| !is_commit(reference)),
            version: None,
            patchset: Some(set).filter(|_| !patches.is_empty()),
            patches,
        };
        Ok((entry, is_moved.then(|| moved_tree(&shown))))
    }

    /// Returns the manifest entry of a tree that no checkout made.
    fn entry_of_clone(
        &self,
        row: &ProjectRow,
        directory: &Path,
        head: Option<String>,
    ) -> Result<ManifestEntry, Box<Diagnostic>> {
        let origin = || self.git_line(directory, &["remote", "get-url", "origin"]);
        let Some((commit, repo)) = head.and_then(|head| Some((head, origin()?))) else {
            let shown = directory.display().to_string();
            let message = format!("`{shown}` has no commit or no remote `origin`");
            return Err(bad_tree(&shown, message, "clone it from its repository").into());
        };
        Ok(ManifestEntry {
            key: row.folder.clone(),
            repo: redact_urls(&repo).into_owned(),
            commit,
            branch: self.git_line(directory, &["symbolic-ref", "--short", "--quiet", "HEAD"]),
            ..ManifestEntry::default()
        })
    }

    /// Returns the version of a tree. The version of triton is in torch's tree.
    fn version(&self, row: &ProjectRow, directory: &Path, torch: Option<&Path>) -> Option<String> {
        let pin = self
            .compat
            .source_tables()
            .pins
            .iter()
            .find(|pin| pin.pin == row.release_pin);
        let file = match pin {
            Some(pin) => torch?.join(&pin.file),
            None => directory.join(VERSION_FILE),
        };
        let file = self.environment.current_dir.join(file);
        let text = rock_sys::read_text(&file, LARGEST_LOCKED_BYTES).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn git_line(&self, directory: &Path, arguments: &[&str]) -> Option<String> {
        git_line(directory, arguments, self.environment)
    }
}

/// Returns the error for a named project that is not checked out.
fn no_checkout(row: &ProjectRow, directory: &Path) -> Diagnostic {
    let shown = directory.display().to_string();
    let message = format!("there is no git checkout of {} at `{shown}`", row.project);
    Diagnostic::new(&codes::NO_TREE, message)
        .at(Location::File(shown.into()), "")
        .help(format!(
            "create it with `rock-matrix source checkout {}`",
            row.project
        ))
}

/// Returns the error for a tree without a known commit.
fn bad_tree(shown: &str, message: String, help: &str) -> Diagnostic {
    Diagnostic::new(&codes::NO_TREE, message)
        .at(Location::File(shown.into()), "")
        .help(help)
}

/// Returns the error for a tree with commits on top of its checkout.
fn moved_tree(shown: &str) -> Diagnostic {
    let message = format!(
        "`{shown}` has changed since its checkout: the manifest cannot list its new commits"
    );
    Diagnostic::new(&codes::TREE_MOVED, message)
        .at(Location::File(shown.into()), "")
        .help(
            "save them with `rock-matrix source save-patches`, and check out again with the \
             patches",
        )
}

#[cfg(test)]
mod tests {
    use super::{LARGEST_LOCKED_BYTES, LockOptions, Locker, SourceLock, VERSION_FILE};
    use rock_compat::Compat;
    use rock_sys::Environment;

    fn environment(current_dir: &std::path::Path) -> Environment {
        Environment {
            current_dir: current_dir.to_owned(),
            ..Environment::default()
        }
    }

    #[test]
    fn a_version_in_a_file_at_the_limit_is_read_and_in_a_larger_one_is_not() {
        let (compat, directory) = (Compat::embedded(), tempfile::tempdir().unwrap());
        let projects = &compat.source_tables().projects;
        let row = projects
            .iter()
            .find(|row| row.release_pin.is_empty())
            .unwrap();
        let locker = Locker {
            options: &LockOptions::new("linux"),
            compat: &compat,
            environment: &environment(directory.path()),
        };
        let read = |bytes: u64| {
            let blanks = usize::try_from(bytes).unwrap() - "2.9.0".len();
            let text = "2.9.0".to_owned() + &" ".repeat(blanks);
            rock_sys::write_atomic(&directory.path().join(VERSION_FILE), text.as_bytes()).unwrap();
            locker.version(row, directory.path(), None)
        };
        assert_eq!(
            (read(LARGEST_LOCKED_BYTES), read(LARGEST_LOCKED_BYTES + 1)),
            (Some("2.9.0".to_owned()), None)
        );
    }

    #[test]
    fn trees_that_are_not_there_cannot_be_locked() {
        let (compat, directory) = (Compat::embedded(), tempfile::tempdir().unwrap());
        let mut options = LockOptions::new("linux");
        let lock = |options: &LockOptions| {
            let lock = SourceLock::of_trees(options, &compat, &environment(directory.path()));
            let messages = lock.diagnostics().iter().map(|error| error.message.clone());
            (messages.collect::<Vec<_>>(), lock.file_name().to_owned())
        };
        let name = "therock-manifest_torch_linux_unknown.json".to_owned();
        let none = "no source tree found in `.`".to_owned();
        assert_eq!(lock(&options), (vec![none], name.clone()));
        options.projects = vec!["audio".to_owned()];
        let none = "there is no git checkout of audio at `./pytorch_audio`".to_owned();
        assert_eq!(lock(&options), (vec![none], name));
    }
}

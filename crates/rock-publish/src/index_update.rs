//! The next state of an index: its files, with the yanks of its last state.

use std::collections::BTreeSet;

use rock_bytes::start_threads;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, counted, shell_line, shell_quoted};
use rock_index::{
    FileLinks, IndexFile, SimpleRepository, YankReport, YankStatus, carry_over, label_order,
    repository, yank_notes,
};
use rock_names::YankedFiles;
use rock_plan::config::recipe::shipped_runtime_requirements;
use rock_sys::{DirectorySwap, real_path};

use crate::codes::release as codes;
use crate::index_input::InheritedYanks;
use crate::{
    INDEX, IndexDirectory, IndexInput, IndexOptions, IndexSummary, RebuiltFile, YankRuleSet,
    clear_missing_metadata, index_summaries, lock_for_replacement, rebuilt_warning,
    write_metadata_files,
};

/// The files that an index will list, and the directory of its pages as it is.
#[derive(Debug)]
pub struct IndexUpdate<'a> {
    options: &'a IndexOptions,
    compat: &'a Compat,
    links: FileLinks,
    directory: IndexDirectory,
    files: Vec<IndexFile>,
    /// Files of older releases that newer ones rebuilt.
    rebuilt: Vec<RebuiltFile>,
    /// The files that were yanked before.
    yanked: YankedFiles,
    /// The files that the other indexes in the directories of wheels or releases yank.
    inherited: Vec<InheritedYanks>,
    /// Notes about files that the index yanks from now on because other indexes do.
    inherited_notes: Vec<String>,
    /// The lock for writing the pages; `None` for a preview.
    lock: Option<DirectorySwap>,
}

/// An index after its pages were written.
#[derive(Debug)]
pub struct WrittenIndex {
    /// Number of all pages.
    pub page_count: usize,
    /// Number of METADATA files that were written next to the wheels.
    pub metadata_count: usize,
    /// Number of METADATA files of deleted wheels that were removed.
    pub removed_metadata_count: usize,
    /// Whether any file was written or removed.
    pub is_changed: bool,
    /// The directories of the index, and how to install from them.
    pub indexes: Vec<IndexSummary>,
}

impl<'a> IndexUpdate<'a> {
    /// Reads the pages of an index that will list these files, and locks it for replacement unless
    /// the action is a preview. Calls `on_wait` before waiting for another process. Files that the
    /// index yanks stay yanked, except those that it inherited from the indexes of releases.
    ///
    /// # Errors
    /// The directory is not one of [`IndexOptions::check_target`], the index cannot be locked or
    /// read, or an edit would create the index of a directory of wheels or change other things.
    pub fn open(
        input: IndexInput,
        options: &'a IndexOptions,
        compat: &'a Compat,
        on_wait: impl FnOnce(),
    ) -> Result<Self, Diagnostics> {
        options.check_target()?;
        options.check_edited()?;
        let IndexInput {
            mut files,
            rebuilt,
            mut inherited,
        } = input;
        if options.omits_metadata {
            for file in &mut files {
                file.metadata = None;
            }
        } else if options.metadata_directory().is_none()
            && let Some(wheels) = &options.wheels
        {
            clear_missing_metadata(&mut files, wheels);
        }
        let links = options.links();
        let lock = options
            .action
            .is_applied()
            .then(|| lock_for_replacement(&options.out, on_wait))
            .transpose()?;
        let directory = IndexDirectory::read(&options.out)?;
        let before = directory.yanked_files()?;
        let out = real_path(&options.out);
        let inherited_notes = inherited
            .iter()
            .filter_map(|yanks| inherited_note(yanks, &before, &files))
            .collect();
        let yanked = inherited
            .iter()
            .fold(before, |yanked, yanks| yanked.without(&yanks.files));
        inherited.retain(|yanks| real_path(&yanks.directory.join(INDEX)) != out);
        carry_over(&yanked.clone().ignoring_digests(), &mut files);
        let update = Self {
            options,
            compat,
            links,
            directory,
            files,
            rebuilt,
            yanked,
            inherited,
            inherited_notes,
            lock,
        };
        if options.action.is_edit() {
            update.check_same_pages()?;
        }
        Ok(update)
    }

    /// Yanks and unyanks the files that the rules select at this time, in seconds since 1970, or
    /// only reports them in a preview. Returns also notes.
    pub fn yank(&mut self, rules: &YankRuleSet, now_s: u64) -> (YankReport, Vec<String>) {
        let action = self.options.action;
        let changes = rules.changes(&self.files, now_s);
        if action.is_applied() {
            changes.apply(&mut self.files);
        }
        let mut notes: Vec<String> = changes.undated_note().into_iter().collect();
        notes.extend(yank_notes(&self.yanked, &self.files));
        notes.append(&mut self.inherited_notes);
        let unyanked = self
            .inherited
            .iter()
            .filter_map(|yanks| unyanked_note(yanks, &self.files, &changes.unyank));
        notes.extend(unyanked);
        let report = YankReport::new(changes, action.is_applied());
        if action.is_edit() {
            notes.extend(report.kept_note());
            notes.extend(rules.label_notes(&self.files));
        }
        (report, notes)
    }

    /// Returns warnings about labels that installers order wrongly, and about rebuilt files. Yanked
    /// files are not recommended. A preview has no warnings.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        if self.lock.is_none() {
            return Vec::new();
        }
        let yanked: BTreeSet<&str> = self
            .files
            .iter()
            .filter(|file| file.yanked != YankStatus::No)
            .map(|file| file.name.as_str())
            .collect();
        let is_offered = |file: &&RebuiltFile| !yanked.contains(file.name.as_str());
        rebuilt_warning(self.rebuilt.iter().filter(is_offered))
            .into_iter()
            .chain(label_order(&self.files))
            .collect()
    }

    /// Writes the pages that differ. If they are below the directory of the wheels, writes the
    /// METADATA of each wheel next to it before, and removes that of deleted wheels afterwards.
    /// METADATA of other wheels stays, because another index may announce it. `None` for a preview,
    /// which writes nothing.
    ///
    /// # Errors
    /// The pages cannot be made, or a file cannot be written; the index is then unchanged. Or a
    /// METADATA file of a deleted wheel cannot be removed.
    pub fn write(mut self) -> Result<Option<WrittenIndex>, Diagnostics> {
        let Some(lock) = self.lock.take() else {
            return Ok(None);
        };
        let summaries = || {
            index_summaries(
                self.files.iter(),
                self.directory.path(),
                |folder| !self.directory.has_folder(folder),
                self.compat,
            )
        };
        start_threads();
        let (pages, indexes) = rayon::join(|| self.pages(&self.files, &self.links), summaries);
        let pages = pages?;
        let directory = self.options.metadata_directory();
        let metadata_count = match directory {
            Some(wheels) => write_metadata_files(&self.files, wheels)?,
            None => 0,
        };
        let written_count = self.directory.replace(&pages, lock)?;
        let removed_metadata_count = match directory {
            Some(wheels) if written_count > 0 => self.directory.remove_orphaned_metadata(wheels)?,
            _ => 0,
        };
        let written = WrittenIndex {
            page_count: pages.pages.len(),
            metadata_count,
            removed_metadata_count,
            is_changed: metadata_count + written_count > 0,
            indexes,
        };
        // Leaked on purpose: freeing the many small strings takes a tenth of the run.
        std::mem::forget((self.files, pages));
        Ok(Some(written))
    }

    /// Checks that the index has exactly the pages of these files, so that yanking files changes
    /// nothing else. A new index of published releases has none.
    fn check_same_pages(&self) -> Result<(), Diagnostics> {
        if self.directory.is_empty() {
            return Ok(());
        }
        let pages = self.pages(&self.files, &self.links)?;
        if self.directory.has_pages(&pages) {
            return Ok(());
        }
        let help = match self.changed_options() {
            Some(changes) => format!("{changes}, so that only yanks change"),
            None => "pass exactly the options that it was built with, such as `--base-url`, `--repo`, `--tag` or `--no-metadata`; if the wheels or their `.metadata` files changed, run `rock-matrix index build` first".to_owned(),
        };
        Err(Diagnostic::new(
            &codes::INDEX_DIFFERS,
            format!(
                "`{}` would also change in other ways",
                self.directory.path().display()
            ),
        )
        .help(help)
        .into())
    }

    /// Returns the changes of the options with which the index of a directory of wheels has exactly
    /// the pages of these files; `None` if there are none, for example because wheels were added.
    fn changed_options(&self) -> Option<String> {
        self.options.wheels.as_ref()?;
        let options = IndexOptions {
            base_url: self.directory.base_url(),
            omits_metadata: !self.directory.has_metadata(),
            ..self.options.clone()
        };
        let mut files = self.files.clone();
        if options.omits_metadata {
            for file in &mut files {
                file.metadata = None;
            }
        }
        let pages = self.pages(&files, &options.links()).ok()?;
        if !self.directory.has_pages(&pages) {
            return None;
        }
        let mut changes = Vec::new();
        if options.base_url != self.options.base_url {
            changes.push(match options.base_url {
                Some(base) => format!("pass `--base-url {}`", shell_quoted(base.to_string())),
                None => "leave out `--base-url`, or `--repo` and `--tag`".to_owned(),
            });
        }
        if options.omits_metadata && !self.options.omits_metadata {
            changes.push("pass `--no-metadata`".to_owned());
        }
        Some(changes.join(" and "))
    }

    /// Returns the pages of an index of these files.
    fn pages(
        &self,
        files: &[IndexFile],
        links: &FileLinks,
    ) -> Result<SimpleRepository, Diagnostics> {
        let files: Vec<&IndexFile> = files.iter().collect();
        repository(&files, links, self.compat, shipped_runtime_requirements)
            .map_err(|error| Diagnostic::new(&codes::CANNOT_INDEX, error.to_string()).into())
    }
}

/// Returns a note if the index in the directory of a release yanks files that were not yanked in
/// this index before.
fn inherited_note(
    yanks: &InheritedYanks,
    before: &YankedFiles,
    files: &[IndexFile],
) -> Option<String> {
    let mut new = yanks.among(files);
    new.retain(|file| before.reason(&file.name, file.digest).is_none());
    let first = new.first()?;
    let others = match new.len() - 1 {
        0 => String::new(),
        count => format!(" and {}", counted(count, "other file")),
    };
    Some(format!(
        "yanked, because the index in `{}` yanks it: {}{others}",
        yanks.directory.display(),
        first.name
    ))
}

/// Returns a note if the index in the directory of a release yanks unyanked files.
fn unyanked_note(
    yanks: &InheritedYanks,
    files: &[IndexFile],
    unyanked: &BTreeSet<String>,
) -> Option<String> {
    let mut still = yanks.among(files);
    still.retain(|file| unyanked.contains(&file.name));
    if still.is_empty() {
        return None;
    }
    let directory = yanks.directory.display().to_string();
    let mut words = vec!["rock-matrix", "index", "unyank", directory.as_str()];
    words.extend(still.iter().map(|file| file.name.as_str()));
    words.push("--apply");
    Some(format!(
        "the index in `{directory}` yanks this, too, so `index build` will yank it again; unyank \
         it there: `{}`",
        shell_line(words)
    ))
}

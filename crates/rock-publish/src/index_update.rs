//! The next state of an index: its files, with the yanks of its last state.

use std::collections::BTreeSet;
use std::path::Path;

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics};
use rock_index::{
    FileLinks, IndexFile, SimpleRepository, YankReport, YankStatus, carry_over, label_order,
    repository, yank_notes,
};
use rock_names::YankedFiles;
use rock_plan::config::recipe::shipped_run_time;
use rock_sys::DirectorySwap;

use crate::codes::release as codes;
use crate::{
    IndexDirectory, IndexSummary, RebuiltFile, YankRuleSet, index_summaries, rebuilt_warning,
    write_metadata_files,
};

/// The files that an index will list, and the directory of its pages as it is.
#[derive(Debug)]
pub struct IndexUpdate {
    directory: IndexDirectory,
    files: Vec<IndexFile>,
    /// The files that were yanked before.
    yanked: YankedFiles,
}

/// The pages of an index after they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenIndex {
    /// Number of all pages.
    pub page_count: usize,
    /// Whether any file was written or removed.
    pub is_changed: bool,
}

impl IndexUpdate {
    /// Creates the update of an index to these files. Files that it yanks stay yanked, except those
    /// that are `inherited` from the indexes of releases.
    ///
    /// # Errors
    /// A page that may have yanked files cannot be read.
    pub fn new(
        directory: IndexDirectory,
        mut files: Vec<IndexFile>,
        inherited: &YankedFiles,
    ) -> Result<Self, Diagnostics> {
        let yanked = directory.yanked_files()?.without(inherited);
        carry_over(&yanked.clone().ignoring_digests(), &mut files);
        Ok(Self {
            directory,
            files,
            yanked,
        })
    }

    /// Checks that the index has exactly the pages of these files, or none, so that yanking files
    /// changes nothing else.
    ///
    /// # Errors
    /// The pages differ, or cannot be made.
    pub fn check_same_pages(&self, links: &FileLinks, compat: &Compat) -> Result<(), Diagnostics> {
        if self.directory.is_empty() || self.directory.has_pages(&self.pages(links, compat)?) {
            return Ok(());
        }
        Err(Diagnostic::new(
            &codes::INDEX_DIFFERS,
            format!(
                "`{}` would also change in other ways",
                self.directory.path().display()
            ),
        )
        .help(
            "pass the options that it was built with, such as `--base-url`, `--repo`, `--tag` or `--no-metadata`; if the wheels changed, run `rock-matrix index build` first",
        )
        .into())
    }

    /// Yanks and unyanks the files that the rules select at this time, in seconds since 1970, or
    /// only reports them unless `is_applied`. Returns also notes.
    pub fn yank(
        &mut self,
        rules: &YankRuleSet,
        is_applied: bool,
        now_s: u64,
    ) -> (YankReport, Vec<String>) {
        let changes = rules.changes(&self.files, now_s);
        if is_applied {
            changes.apply(&mut self.files);
        }
        let mut notes: Vec<String> = changes.undated_note().into_iter().collect();
        notes.extend(yank_notes(&self.yanked, &self.files));
        (YankReport::new(changes, is_applied), notes)
    }

    /// Returns warnings about labels that installers order wrongly, and about `rebuilt` files.
    /// Yanked files are not recommended.
    pub fn warnings(&self, mut rebuilt: Vec<RebuiltFile>) -> Vec<Diagnostic> {
        let yanked: BTreeSet<&str> = self
            .files
            .iter()
            .filter(|file| file.yanked != YankStatus::No)
            .map(|file| file.name.as_str())
            .collect();
        rebuilt.retain(|file| !yanked.contains(file.name.as_str()));
        rebuilt_warning(&rebuilt)
            .into_iter()
            .chain(label_order(&self.files))
            .collect()
    }

    /// Returns the directories of the index, and how to install from them.
    pub fn summaries(&self, compat: &Compat) -> Vec<IndexSummary> {
        index_summaries(self.files.iter(), self.directory.path(), compat)
    }

    /// Writes the pages that differ, after the METADATA of each wheel in the directory `wheels`.
    ///
    /// # Errors
    /// The pages cannot be made, or a file cannot be written; the index is then unchanged.
    pub fn write(
        self,
        wheels: Option<&Path>,
        links: &FileLinks,
        swap: DirectorySwap,
        compat: &Compat,
    ) -> Result<WrittenIndex, Diagnostics> {
        let pages = self.pages(links, compat)?;
        let metadata_count = match wheels {
            Some(wheels) => write_metadata_files(&self.files, wheels)?,
            None => 0,
        };
        let page_count = self.directory.replace(&pages, wheels, swap)?;
        let written = WrittenIndex {
            page_count: pages.pages.len(),
            is_changed: metadata_count + page_count > 0,
        };
        // Leaked on purpose: freeing the many small strings takes a tenth of the run.
        std::mem::forget((self.files, pages));
        Ok(written)
    }

    fn pages(&self, links: &FileLinks, compat: &Compat) -> Result<SimpleRepository, Diagnostics> {
        let files: Vec<&IndexFile> = self.files.iter().collect();
        repository(&files, links, compat, shipped_run_time)
            .map_err(|error| Diagnostic::new(&codes::CANNOT_INDEX, error.to_string()).into())
    }
}

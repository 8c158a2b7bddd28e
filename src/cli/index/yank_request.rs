//! The files that `index yank` and `index unyank` select.

use std::path::PathBuf;

use crate::cli::{Exit, Shell, load};
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Sink};
use crate::index::IndexFile;
use crate::names::Age;
use crate::plan::workspace::Workspace;
use crate::publish::YankRuleSet;

/// The files that a command yanks and unyanks.
#[derive(Debug, Default)]
pub(super) struct YankRequest<'a> {
    /// Selections to yank, such as `flash-attn<2.6: superseded`.
    pub(super) yank: &'a [String],
    /// Selections to unyank.
    pub(super) unyank: &'a [String],
    /// Yanks nightly builds older than this.
    pub(super) older_than: Option<Age>,
    /// The number of the newest nightly versions that are kept.
    pub(super) keep: usize,
    /// Matrix files with further rules.
    pub(super) rules: &'a [PathBuf],
    /// Whether the files are yanked and unyanked, instead of listed.
    pub(super) is_applied: bool,
    /// Whether nothing else in the index may change.
    pub(super) is_edit: bool,
}

impl YankRequest<'_> {
    /// Parses the rules; their errors go to the sink.
    ///
    /// # Errors
    /// A matrix file cannot be read; the sink has the reason.
    pub(super) fn rules(
        &self,
        compat: &Compat,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<YankRuleSet, Exit> {
        let mut rules = YankRuleSet::default();
        for text in self.yank {
            sink.extend(rules.add_yank(text).err());
        }
        for text in self.unyank {
            sink.extend(rules.add_unyank(text).err());
        }
        if let Some(age) = self.older_than {
            rules.add_nightly(age, self.keep);
        }
        if self.rules.is_empty() {
            return Ok(rules);
        }
        let options = load::workspace_options(shell, compat);
        let (workspace, found) = Workspace::load_valid(self.rules, &options)
            .map_err(|errors| Exit::collect(errors, sink))?;
        sink.extend(found.finish());
        for matrix in workspace.matrices() {
            if !rules.add_matrix(matrix.config()) {
                shell.say(&format!(
                    "{} has no rules: `release` has neither `yank` nor `yank-older-than`",
                    matrix.path()
                ));
            }
        }
        Ok(rules)
    }
}

/// Reports selectors that match no file.
///
/// # Errors
/// A rule of the command line matches no file.
pub(super) fn check_matches(
    rules: &YankRuleSet,
    files: &[IndexFile],
    sink: &mut Sink,
) -> Result<(), Exit> {
    let unmatched = rules.unmatched(files);
    let has_errors = unmatched.iter().any(Diagnostic::is_error);
    sink.extend(unmatched);
    if has_errors { Err(Exit::Fault) } else { Ok(()) }
}

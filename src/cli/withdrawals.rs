//! Yanked files of indexes, for commands that recommend wheels.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::index::withdrawn_in;
use super::published::Published;
use super::{Exit, Shell};
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::index::{IndexFile, YankStatus};
use crate::names::YankedFiles;
use crate::publish::INDEX;

// Options that select yanked wheels.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Withdrawals {
    /// Index whose yanked wheels are not recommended; can be repeated
    ///
    /// INDEX is a directory that `index build` wrote. The index in the directory of a release is
    /// read automatically.
    #[arg(long = "yanked-in", alias = "withdrawn-in", value_name = "INDEX")]
    withdrawn_in: Vec<PathBuf>,
}

impl Withdrawals {
    /// Returns the yanked files of the given indexes, with any bytes, and of the indexes in the
    /// directories of published releases, with the bytes in these.
    ///
    /// # Errors
    /// A given directory is not an index of this program; the sink has the diagnostic.
    pub(super) fn read(&self, published: &Published, sink: &mut Sink) -> Result<YankedFiles, Exit> {
        let mut withdrawn = YankedFiles::default();
        for folder in published.folders() {
            withdrawn.extend(withdrawn_in(&folder.join(INDEX), sink)?.unwrap_or_default());
        }
        for index in &self.withdrawn_in {
            let Some(found) = withdrawn_in(index, sink)? else {
                sink.push(
                    Diagnostic::new(&codes::NOT_AN_INDEX, format!("there is no index in `{}`", index.display()))
                        .at(Location::Argument("--yanked-in".to_owned()), "")
                        .help("pass the directory that `rock-matrix index build` wrote, such as `DIR/simple`"),
                );
                return Err(Exit::Fault);
            };
            withdrawn.extend(found.ignoring_digests());
        }
        Ok(withdrawn)
    }
}

/// Reports files that stay yanked although their bytes changed, and yanked files that the index no
/// longer lists. `before` are the files that were yanked.
pub(super) fn tell_of_names(before: &YankedFiles, files: &[&IndexFile], shell: &Shell) {
    if before.is_empty() {
        return;
    }
    let is_other = |file: &&&IndexFile| {
        let (name, digest) = (file.name.as_str(), file.digest);
        file.yanked != YankStatus::No
            && before.reason(name, None).is_some()
            && before.reason(name, digest).is_none()
    };
    for file in files.iter().filter(is_other) {
        shell.say(&format!(
            "still yanked, although its bytes changed (revert with `index unyank`): {}",
            file.name
        ));
    }
    let listed: BTreeSet<String> = files.iter().map(|file| file.name.to_lowercase()).collect();
    for name in before.names().filter(|name| !listed.contains(*name)) {
        shell.say(&format!("no longer listed, so its yank is dropped: {name}"));
    }
}

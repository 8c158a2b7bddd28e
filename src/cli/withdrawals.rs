//! What is withdrawn from indexes, for those who recommend wheels.

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

// Options that select withdrawn wheels.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Withdrawals {
    /// An index: what is withdrawn there is recommended to nobody. That of each release in a folder
    /// is read without asking
    #[arg(long, value_name = "DIR")]
    withdrawn_in: Vec<PathBuf>,
}

impl Withdrawals {
    /// What is withdrawn in the indexes named, whatever its bytes, and in those of the folders of
    /// what is published, each of which is about the bytes that lie there.
    ///
    /// # Errors
    /// When one that is named is no index of this program; the sink has which.
    pub(super) fn read(&self, published: &Published, sink: &mut Sink) -> Result<YankedFiles, Exit> {
        let mut withdrawn = YankedFiles::default();
        for folder in published.folders() {
            withdrawn.extend(withdrawn_in(&folder.join(INDEX), sink)?.unwrap_or_default());
        }
        for index in &self.withdrawn_in {
            let Some(found) = withdrawn_in(index, sink)? else {
                sink.push(
                    Diagnostic::new(&codes::NOT_AN_INDEX, format!("there is no index in `{}`", index.display()))
                        .at(Location::Argument("--withdrawn-in".to_owned()), "")
                        .help("give the folder that `rock-matrix index build` wrote, such as `DIR/simple`"),
                );
                return Err(Exit::Fault);
            };
            withdrawn.extend(found.ignoring_digests());
        }
        Ok(withdrawn)
    }
}

/// Says which files an index withdraws although other bytes of their names were meant, and what it
/// withdrew and does not list any more. `before` is what it withdrew.
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
            "not the bytes that were withdrawn, and withdrawn too (`--unyank` offers it): {}",
            file.name
        ));
    }
    let listed: BTreeSet<String> = files.iter().map(|file| file.name.to_lowercase()).collect();
    for name in before.names().filter(|name| !listed.contains(*name)) {
        shell.say(&format!(
            "not listed any more, and not remembered as withdrawn: {name}"
        ));
    }
}

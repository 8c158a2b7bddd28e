//! What is withdrawn from indexes, for those who recommend wheels.

use std::path::PathBuf;

use super::Exit;
use super::index::withdrawn_in;
use super::published::Published;
use crate::diagnostic::{Diagnostic, Place, Sink, registry::release as codes};
use crate::names::Withdrawn;
use crate::publish::INDEX;

/// Which wheels are passed over
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Withdrawals {
    /// An index: what is withdrawn there is recommended to nobody. That of a folder of releases is read without asking
    #[arg(long, value_name = "DIR")]
    withdrawn_in: Vec<PathBuf>,
}

impl Withdrawals {
    /// What is withdrawn in the indexes named, whatever its bytes, and in those of the folders of what is published, each of
    /// which is about the bytes that lie there.
    ///
    /// # Errors
    /// When one that is named is no index of this program; the sink has which.
    pub(super) fn read(&self, published: &Published, sink: &mut Sink) -> Result<Withdrawn, Exit> {
        let beside = published.folders().filter_map(|folder| withdrawn_in(&folder.join(INDEX)));
        let mut withdrawn: Withdrawn = beside.flatten().collect();
        for index in &self.withdrawn_in {
            let Some(found) = withdrawn_in(index) else {
                sink.push(
                    Diagnostic::new(&codes::NOT_AN_INDEX, format!("there is no index in `{}`", index.display()))
                        .at(Place::Argument("--withdrawn-in".to_owned()), "")
                        .help("give the folder that `rock-matrix index build` wrote, such as `DIR/simple`"),
                );
                return Err(Exit::Fault);
            };
            withdrawn.extend(found.whatever_the_bytes());
        }
        Ok(withdrawn)
    }
}

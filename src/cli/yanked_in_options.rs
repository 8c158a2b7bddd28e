//! `--yanked-in`: indexes whose yanked files are not recommended.

use std::path::PathBuf;

use super::Exit;
use crate::diagnostic::Sink;
use crate::publish::{PublishedReleases, PublishedYanks};

// Options that select yanked wheels.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct YankedInOptions {
    /// Index whose yanked wheels are not recommended; can be repeated
    ///
    /// INDEX is a directory that `index build` wrote. The index in the directory of a release, such
    /// as `releases/v1/simple`, yanks files of that release alone; it is read automatically if the
    /// release is read from its directory.
    #[arg(long = "yanked-in", alias = "withdrawn-in", value_name = "INDEX")]
    yanked_in: Vec<PathBuf>,
}

impl YankedInOptions {
    /// Returns the yanked files of the given indexes, with any bytes, and of the indexes in the
    /// directories of published releases, with the bytes there.
    ///
    /// # Errors
    /// A given directory is not an index of this program; the sink has the diagnostic.
    pub(super) fn read(
        &self,
        published: &PublishedReleases,
        sink: &mut Sink,
    ) -> Result<PublishedYanks, Exit> {
        PublishedYanks::read(published, &self.yanked_in)
            .map_err(|errors| Exit::collect(errors, sink))
    }
}

//! Archives that are fetched side by side, and unpacked while others are still on their way.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::store::Store;
use super::unpack::{Unpacker, Way};
use super::{Fetched, download};
use crate::bytes::start_threads;
use crate::cli::Shell;
use crate::cli::threads::on_threads;
use crate::cli::wheel::{Bar, Watchers};
use crate::diagnostic::Diagnostic;
use crate::names::Digest;
use crate::sys::{self, DirectoryLock};
use crate::wheel::ProgressMeter;

/// How it is done.
#[derive(Debug)]
pub(super) struct Work<'w> {
    /// The folder that one run at a time writes to.
    pub(super) folder: &'w Path,
    pub(super) way: &'w Way,
    /// How many archives are fetched at once.
    pub(super) fetched_at_once: u16,
    /// How many archives are unpacked at once; as many as there are processors where it is not
    /// said.
    pub(super) unpacked_at_once: Option<u16>,
    /// Whether archives go once they are unpacked.
    pub(super) removes_archives: bool,
}

impl Work<'_> {
    /// Fetches archives and unpacks them.
    ///
    /// # Errors
    /// Everything that could not be fetched, is not what was published, or cannot be unpacked.
    pub(super) fn all(
        &self,
        store: &Store,
        wanted: &[Fetched],
        shell: &Shell,
    ) -> Result<(), Vec<Diagnostic>> {
        let waits = || shell.say("waiting for another run to end");
        let one = |fault: Diagnostic| vec![fault];
        sys::create_directory(self.folder).map_err(|error| one(error.into()))?;
        let lock = DirectoryLock::acquire(self.folder, waits).map_err(|error| one(error.into()))?;
        lock.sweep().map_err(|error| one(error.into()))?;
        let unpacker =
            Unpacker::begin(self.way, &lock, waits).map_err(|error| one(error.into()))?;
        let bar = Bar::new(Watchers::of(shell), "artifacts");
        let watch = |progress| bar.tell(progress);
        let meter = ProgressMeter::new(
            wanted.iter().map(|one| one.published.size_bytes).sum(),
            &watch,
        );
        let faults = Mutex::new(Vec::new());
        let note = |(place, fault): (usize, Diagnostic)| {
            faults
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((place, fault));
        };
        let (meter, note, unpacker_of_all) = (&meter, &note, unpacker.as_ref());
        on_threads(self.unpacked_at_once, || {
            start_threads();
            rayon::scope(|unpacking| {
                let fetch = move |(place, one): (usize, &'_ Fetched)| match (
                    self.fetch(store, one, unpacker_of_all, meter, shell),
                    unpacker_of_all,
                ) {
                    (Err(fault), _) => note((place, fault)),
                    (Ok(None), _) | (Ok(Some(_)), None) => {}
                    (Ok(Some(digest)), Some(unpacker)) => unpacking.spawn(move |_| {
                        if let Err(fault) = self.unpack(unpacker, &wanted[place], digest, shell) {
                            note((place, fault));
                        }
                    }),
                };
                on_threads(Some(self.fetched_at_once), || {
                    start_threads();
                    wanted
                        .par_iter()
                        .enumerate()
                        .with_max_len(1)
                        .for_each(fetch);
                });
            });
        });
        let mut faults = faults.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !faults.is_empty() {
            faults.sort_by_key(|(place, _)| *place);
            return Err(faults.into_iter().map(|(_, fault)| fault).collect());
        }
        if let Some(unpacker) = unpacker {
            unpacker
                .finish(self.folder, wanted.iter().map(|one| &one.published))
                .map_err(one)?;
        }
        if self.removes_archives && matches!(self.way, Way::OneTree(_)) {
            let removed = wanted
                .iter()
                .filter_map(|one| download::remove(&one.archive).err());
            let faults: Vec<Diagnostic> = removed.map(Diagnostic::from).collect();
            return if faults.is_empty() {
                Ok(())
            } else {
                Err(faults)
            };
        }
        Ok(())
    }

    /// Fetches an archive, and tells its digest; `None` where it is needed no more.
    fn fetch(
        &self,
        store: &Store,
        one: &Fetched,
        unpacker: Option<&Unpacker>,
        meter: &ProgressMeter<'_>,
        shell: &Shell,
    ) -> Result<Option<Digest>, Diagnostic> {
        let Fetched {
            published,
            archive,
            path,
        } = one;
        let sum = download::sum(store, published)?;
        if let (Some(sum), Some(unpacker)) = (sum, unpacker)
            && self.removes_archives
            && unpacker.has(published, sum)
        {
            download::remove(archive)?;
            meter.add(published.size_bytes);
            shell.detail(&format!("there already: {}", path.display()));
            return Ok(None);
        }
        let here = download::fetched(store, published, sum, archive, meter)?;
        shell.detail(&format!(
            "{} {}",
            if here.is_new {
                "fetched"
            } else {
                "there already:"
            },
            archive.display()
        ));
        Ok(Some(here.digest))
    }

    fn unpack(
        &self,
        unpacker: &Unpacker,
        one: &Fetched,
        digest: Digest,
        shell: &Shell,
    ) -> Result<(), Diagnostic> {
        let is_new = unpacker.unpack(&one.published, &one.archive, digest)?;
        let shown = if matches!(self.way, Way::OneTree(_)) {
            &one.archive
        } else {
            &one.path
        };
        shell.detail(&format!(
            "{} {}",
            if is_new { "unpacked" } else { "there already:" },
            shown.display()
        ));
        if self.removes_archives && matches!(self.way, Way::Apart(_)) {
            download::remove(&one.archive)?;
        }
        Ok(())
    }
}

//! Files that turned out to be others than they were known to be.

use std::collections::BTreeMap;

use crate::cli::publish::Gathered;
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location};
use crate::github::{GithubError, PublishResult};
use crate::sys;

/// The files that could not be sent because `--known`, or the manifest beside them, tells another
/// digest than they have.
pub(super) fn wrongly_known(
    files: &[Gathered],
    end: &PublishResult,
) -> BTreeMap<String, Diagnostic> {
    let PublishResult::Incomplete(faults) = end else {
        return BTreeMap::new();
    };
    let unsent = |gathered: &&Gathered| {
        matches!(
            faults.get(gathered.asset.name()),
            Some(GithubError::File { .. })
        )
    };
    let of_file = |gathered: &Gathered| {
        let by = gathered.known.as_ref()?;
        let (_, found) = sys::hash_file(&gathered.path).ok()?;
        let (name, told) = (gathered.asset.name(), gathered.asset.digest);
        let fault = Diagnostic::new(
            &codes::KNOWN_DIGEST_IS_WRONG,
            format!(
                "`{}` tells another digest of `{name}` than the file has",
                by.display()
            ),
        );
        let fault = fault
            .at(Location::File(gathered.asset.shown.as_str().into()), "")
            .note(format!("it tells {told}"))
            .note(format!("the file has {found}"))
            .help("where the file is right, publish it with `--read-all`; else bring the file that was meant");
        (found != told).then(|| (name.to_owned(), fault))
    };
    files.iter().filter(unsent).filter_map(of_file).collect()
}

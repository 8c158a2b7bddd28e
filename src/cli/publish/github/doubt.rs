//! Files with another digest than recorded.

use std::collections::BTreeMap;

use crate::cli::publish::Gathered;
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location};
use crate::github::{GithubError, PublishResult};
use crate::sys;

/// Returns diagnostics for the files that were not uploaded because they do not have the digest in
/// the file of `--known` or the manifest next to them.
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
            format!("the digest of `{name}` does not match `{}`", by.display()),
        );
        let fault = fault
            .at(Location::File(gathered.asset.shown.as_str().into()), "")
            .note(format!("recorded: {told}"))
            .note(format!("actual: {found}"))
            .help("if the file is right, publish it with `--read-all`; otherwise provide the right file");
        (found != told).then(|| (name.to_owned(), fault))
    };
    files.iter().filter(unsent).filter_map(of_file).collect()
}

//! Saved listings of releases.

use std::path::Path;

use crate::cli::{Exit, load};
use crate::diagnostic::Sink;
use crate::publish::{LARGEST_LISTING_BYTES, ReleaseListing, invalid_listing};

/// Reads a saved listing of releases.
pub(in crate::cli) fn saved_listing(path: &Path, sink: &mut Sink) -> Result<ReleaseListing, Exit> {
    let source = load::read_limited(path, LARGEST_LISTING_BYTES, sink)?;
    ReleaseListing::from_json(&source.text).map_err(|error| {
        sink.push(invalid_listing(&source, &error));
        Exit::Fault
    })
}

//! Saved listings of releases.

use std::path::Path;

use crate::cli::published::no_listing;
use crate::cli::{Exit, load};
use crate::diagnostic::Sink;
use crate::publish::{LARGEST_LISTING_BYTES, ReleaseListing};

/// Reads a saved listing of releases.
pub(in crate::cli) fn saved_listing(path: &Path, sink: &mut Sink) -> Result<ReleaseListing, Exit> {
    let source = load::read_limited(path, LARGEST_LISTING_BYTES, sink)?;
    ReleaseListing::from_json(&source.text).map_err(|error| {
        sink.push(no_listing(&source, &error));
        Exit::Fault
    })
}

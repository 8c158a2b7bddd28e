//! Reads the GPU targets that local wheels have code for.

use std::collections::BTreeMap;

use rock_audit::gfx::GfxDocument;
use rock_audit::{InspectOptions, Inspection, inspect_members};
use rock_sys::{PositionalFile, ScratchSpace};
use rock_wheel::ZipArchive;

use crate::LocalAsset;

/// Returns the GPU targets that the wheels have code for, by filename. Platform-independent wheels
/// have none. Wheels whose bytes were not read are left out, and so are invalid ones, which other
/// checks report.
pub fn gfx_targets_read(files: &[LocalAsset]) -> BTreeMap<String, Vec<String>> {
    let Ok(scratch) = ScratchSpace::new(None) else {
        return BTreeMap::new();
    };
    files
        .iter()
        .filter_map(|file| Some((file.name().to_owned(), read_targets(file, &scratch)?)))
        .collect()
}

fn read_targets(file: &LocalAsset, scratch: &ScratchSpace) -> Option<Vec<String>> {
    if file.asset.wheel()?.is_platform_independent() {
        return Some(Vec::new());
    }
    if file.recorded_in.is_some() {
        return None;
    }
    let source = PositionalFile::open(&file.path).ok()?;
    let archive = ZipArchive::open(&source).ok()?;
    let options = InspectOptions {
        inspection: Inspection::default(),
        keeps_symbol: &|_| false,
        make_scratch: &|size_bytes| scratch.allocate(size_bytes),
        record: None,
        progress: &|_| {},
    };
    let members = inspect_members(&archive, options).ok()?;
    Some(GfxDocument::new(&members).targets().to_vec())
}

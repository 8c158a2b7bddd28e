//! Reads the GPU targets that local wheels have code for, and the ROCm that they need.

use std::collections::BTreeMap;

use rock_audit::gfx::GfxDocument;
use rock_audit::{InspectOptions, Inspection, inspect_members, needed_rocm_majors};
use rock_compat::Compat;
use rock_sys::{PositionalFile, ScratchSpace};
use rock_wheel::ZipArchive;

use crate::LocalAsset;

/// Facts from the libraries of a wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WheelCode {
    /// The GPU targets that it has code for.
    pub gfx: Vec<String>,
    /// The major versions of ROCm of which its libraries need one; empty if they need none.
    pub needs_rocm: Vec<u32>,
}

/// Returns the GPU targets that the wheels have code for and the ROCm that they need, by filename.
/// Platform-independent wheels have none. Wheels whose bytes were not read are left out, and so are
/// invalid ones, which other checks report.
pub fn wheel_code_read(files: &[LocalAsset], compat: &Compat) -> BTreeMap<String, WheelCode> {
    let Ok(scratch) = ScratchSpace::new(None) else {
        return BTreeMap::new();
    };
    files
        .iter()
        .filter_map(|file| Some((file.name().to_owned(), read_code(file, &scratch, compat)?)))
        .collect()
}

fn read_code(file: &LocalAsset, scratch: &ScratchSpace, compat: &Compat) -> Option<WheelCode> {
    if file.asset.wheel()?.is_platform_independent() {
        return Some(WheelCode::default());
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
    Some(WheelCode {
        gfx: GfxDocument::new(&members).targets().to_vec(),
        needs_rocm: needed_rocm_majors(&members, compat).into_iter().collect(),
    })
}

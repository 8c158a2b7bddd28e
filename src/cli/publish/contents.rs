//! Contents and build records of the files of a release: the torch of their builds and the gfx
//! targets of their code.

use std::collections::BTreeMap;

use super::{Args, Gathered};
use crate::audit::gfx::GfxDocument;
use crate::audit::{self, InspectOptions, InspectionDepth};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::Sink;
use crate::exec::{self, BuildRecord};
use crate::publish::built_with_other_torch;
use crate::sys::{PositionalFile, ScratchSpace};
use crate::wheel::ZipArchive;

/// Reports wheels that were built with another torch than their label names, by the `build.json`
/// next to them. Ignores records of files with other bytes.
pub(super) fn check_torch(files: &[Gathered], args: &Args, compat: &Compat, sink: &mut Sink) {
    let is_allowed = args.allows(&codes::BUILT_WITH_OTHER_TORCH);
    for file in files {
        let path = file
            .path
            .with_file_name(exec::record_name(file.asset.name()));
        let Ok(Some(record)) = BuildRecord::load(&path) else {
            continue;
        };
        let digest = file.asset.digest.to_string();
        let is_of_it = record
            .wheels
            .iter()
            .any(|wheel| wheel.name == file.asset.name() && wheel.digest == digest);
        if is_of_it {
            sink.extend(built_with_other_torch(
                &file.asset,
                &record.used,
                is_allowed,
                compat,
            ));
        }
    }
}

/// Returns the GPU targets that the wheels have code for, by filename. Platform-independent wheels
/// have none. Wheels whose bytes were not read are left out, and so are invalid ones, which other
/// checks report.
pub(super) fn gfx_read(files: &[Gathered]) -> BTreeMap<String, Vec<String>> {
    let Ok(room) = ScratchSpace::new(None) else {
        return BTreeMap::new();
    };
    let of_file = |file: &Gathered| {
        let wheel = file.asset.wheel()?;
        let name = file.asset.name().to_owned();
        if wheel.is_platform_independent() {
            return Some((name, Vec::new()));
        }
        if file.known.is_some() {
            return None;
        }
        let opened = PositionalFile::open(&file.path).ok()?;
        let archive = ZipArchive::open(&opened).ok()?;
        let options = InspectOptions {
            depth: InspectionDepth::Everything,
            keeps_symbol: &|_| false,
            make_scratch: &|size_bytes| room.allocate(size_bytes),
            record: None,
            progress: &|_| {},
        };
        let files = audit::inspect_members(&archive, options).ok()?;
        Some((name, GfxDocument::new(&files).targets().to_vec()))
    };
    files.iter().filter_map(of_file).collect()
}

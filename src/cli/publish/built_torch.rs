//! The torch that wheels were built with, by their build records.

use super::Args;
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::Sink;
use crate::exec::{self, BuildRecord};
use crate::publish::{LocalAsset, built_with_other_torch};

/// Reports wheels that were built with another torch than their label names, by the `build.json`
/// next to them. Ignores records of files with other bytes.
pub(super) fn check_torch(files: &[LocalAsset], args: &Args, compat: &Compat, sink: &mut Sink) {
    let is_allowed = args.allows(&codes::BUILT_WITH_OTHER_TORCH);
    for file in files {
        let path = file.path.with_file_name(exec::record_name(file.name()));
        let Ok(Some(record)) = BuildRecord::load(&path) else {
            continue;
        };
        let digest = file.asset.digest.to_string();
        let is_of_it = record
            .wheels
            .iter()
            .any(|wheel| wheel.name == file.name() && wheel.digest == digest);
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

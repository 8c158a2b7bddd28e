//! Reports wheels whose libraries need ROCm and whose labels do not name it.

use rock_diagnostic::{Diagnostic, Location, shell_quoted};

use crate::codes::release as codes;
use crate::{Asset, ReleaseDetails};

/// Reports offered wheels whose libraries need ROCm, but whose labels name no accelerator. Skips
/// packages of the ROCm SDK.
pub fn missing_rocm_labels(offered: &[Asset], details: &ReleaseDetails) -> Vec<Diagnostic> {
    let unlabelled = |asset: &&Asset| asset.label.is_none() && !asset.file.is_of_sdk;
    offered
        .iter()
        .filter(unlabelled)
        .filter_map(|asset| missing_label(asset, details.needs_rocm(asset)))
        .collect()
}

fn missing_label(asset: &Asset, majors: &[u32]) -> Option<Diagnostic> {
    let first = majors.first()?;
    let versions: Vec<String> = majors.iter().map(u32::to_string).collect();
    let replace = match asset.wheel()?.label() {
        Some(_) => " --replace",
        None => "",
    };
    let message = format!(
        "`{}` needs ROCm {}, but its name does not contain a ROCm version",
        asset.name(),
        versions.join(" or ")
    );
    let path = shell_quoted(&asset.shown);
    Some(
        Diagnostic::new(&codes::ROCM_NOT_IN_LABEL, message)
            .at(Location::File(asset.shown.as_str().into()), "")
            .help(format!(
                "set the version that it was built with, such as `rock-matrix wheel label {path} \
                 rocm{first}.0{replace}`, remove {path}, and publish to a new release, because \
                 this one keeps the wheel"
            )),
    )
}

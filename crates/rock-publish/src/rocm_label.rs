//! Reports wheels whose libraries need ROCm and whose labels do not name it.

use rock_diagnostic::{Diagnostic, Location, shell_quoted};

use crate::codes::release as codes;
use crate::{Asset, ReleaseDetails};

/// Reports offered wheels whose libraries need ROCm, but whose labels name no accelerator. Skips
/// packages of the ROCm SDK. `is_kept` returns whether the release has the wheel of a name when the
/// run ends. The minor version of ROCm is unknown, so that the advice is an example.
pub fn missing_rocm_labels(
    offered: &[Asset],
    details: &ReleaseDetails,
    is_kept: impl Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let unlabelled = |asset: &&Asset| asset.label.is_none() && !asset.file.is_of_sdk;
    offered
        .iter()
        .filter(unlabelled)
        .filter_map(|asset| {
            let majors = details.needs_rocm(asset);
            missing_label(asset, majors, is_kept(asset.name()))
        })
        .collect()
}

fn missing_label(asset: &Asset, majors: &[u32], is_kept: bool) -> Option<Diagnostic> {
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
    let publish = if is_kept {
        "publish to a new release, because this one keeps the wheel"
    } else {
        "publish the new wheel"
    };
    Some(
        Diagnostic::new(&codes::ROCM_NOT_IN_LABEL, message)
            .at(Location::File(asset.shown.as_str().into()), "")
            .help(format!(
                "set the version that it was built with (for ROCm {first}.0 with `rock-matrix wheel \
                 label {path} rocm{first}.0{replace}`), remove {path}, and {publish}"
            )),
    )
}

#[cfg(test)]
mod tests {
    use super::missing_rocm_labels;
    use crate::testing::asset;
    use crate::{Asset, ReleaseDetails};

    #[test]
    fn a_new_release_is_advised_only_if_this_one_has_the_wheel() {
        let wheel = Asset {
            needs_rocm: vec![7],
            ..asset("demo-1.0-py3-none-any.whl", 1)
        };
        let help = |is_kept: bool| {
            let offered = std::slice::from_ref(&wheel);
            let found = missing_rocm_labels(offered, &ReleaseDetails::default(), |_| is_kept);
            found[0].help.clone().unwrap()
        };
        let command = "rock-matrix wheel label dist/demo-1.0-py3-none-any.whl rocm7.0`";
        assert!(help(false).contains(command));
        assert!(help(false).ends_with(".whl, and publish the new wheel"));
        assert!(help(true).ends_with("publish to a new release, because this one keeps the wheel"));
    }
}

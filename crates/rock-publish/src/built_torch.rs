//! Compares the torch that a build used with the one in the label of its wheel.
//!
//! Input: a label, and the `torch`, `torch-hip` and `hip` entries of the build record. Output: the
//! contradictions.

use std::collections::BTreeMap;

use super::Asset;
use crate::codes::release as codes;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Location, Severity};
use rock_names::{Accelerator, LabelParts, RocmVersion, Version};

/// Returns the contradictions between a label and the torch and HIP of a build, one sentence each;
/// empty if the build recorded none of them. The ROCm version of that torch comes from its local
/// version label, or else from its HIP version.
pub fn torch_contradictions(
    label: &LabelParts,
    used: &BTreeMap<String, Option<String>>,
    compat: &Compat,
) -> Vec<String> {
    let recorded = |name: &str| used.get(name).and_then(Option::as_deref).map(str::trim);
    let torch = recorded("torch").and_then(|text| text.parse::<Version>().ok());
    let mut found = Vec::new();
    if let (Some(named), Some(torch)) = (&label.torch, &torch)
        && named.minor() != torch.minor()
    {
        found.push(format!(
            "the label names torch {}, but the build used torch {torch}",
            named.minor()
        ));
    }
    let Accelerator::Rocm(rocm) = &label.accelerator else {
        return found;
    };
    let local = torch
        .as_ref()
        .and_then(|torch| torch.local())
        .and_then(|local| local.strip_prefix("rocm"));
    let of_torch = local.and_then(|text| text.parse::<RocmVersion>().ok());
    let hip = recorded("torch-hip");
    let of_hip = || compat.rocm_of_hip(&RocmVersion::from_leading_numbers(hip?)?);
    match (of_torch.or_else(of_hip), hip) {
        (Some(other), _) if other.minor() != rocm.minor() => {
            found.push(format!(
                "the label names ROCm {rocm}, but the build used a torch for ROCm {other}"
            ));
        }
        (None, Some("None")) => {
            found.push(format!(
                "the label names ROCm {rocm}, but the build used a torch without HIP"
            ));
        }
        _ => {}
    }
    let compiler = recorded("hip").and_then(RocmVersion::from_leading_numbers);
    if let Some(other) = compiler.and_then(|hip| compat.rocm_of_hip(&hip))
        && other.minor() != rocm.minor()
    {
        found.push(format!(
            "the label names ROCm {rocm}, but the build used the HIP of ROCm {other}"
        ));
    }
    found
}

/// Returns a diagnostic if a wheel was built with another torch than its label names. It is a note
/// for pure Python wheels, which do not depend on that torch, and if `is_allowed`; otherwise an
/// error.
pub fn built_with_other_torch(
    asset: &Asset,
    used: &BTreeMap<String, Option<String>>,
    is_allowed: bool,
    compat: &Compat,
) -> Option<Diagnostic> {
    let found = torch_contradictions(asset.label.as_ref()?, used, compat);
    let (first, others) = found.split_first()?;
    let is_pure = asset.wheel()?.is_platform_independent();
    let message = format!("`{}`: {first}", asset.name());
    let finding = Diagnostic::new(&codes::BUILT_WITH_OTHER_TORCH, message)
        .severity(if is_pure || is_allowed {
            Severity::Note
        } else {
            Severity::Error
        })
        .at(Location::File(asset.shown.as_str().into()), "");
    let finding = others
        .iter()
        .fold(finding, |finding, other| finding.note(other.clone()));
    if is_pure {
        return Some(finding.note(
            "the wheel has no compiled code, so its contents do not depend on the torch of the \
             build",
        ));
    }
    Some(finding.help(format!(
        "build it with the torch and ROCm of its label, or publish it anyway with `--allow {}`",
        codes::BUILT_WITH_OTHER_TORCH.id
    )))
}

#[cfg(test)]
mod tests {
    use super::torch_contradictions;
    use rock_compat::Compat;
    use rock_names::LabelParts;

    fn check(label: &str, torch: &str, hip: &str, expect: &[&str]) {
        let known = ["6.2", "6.4", "10.0"].map(|version| version.parse().unwrap());
        let parts = LabelParts::parse(&label.parse().unwrap(), &known)
            .unwrap()
            .parts;
        let used = [("torch", torch), ("torch-hip", hip)]
            .map(|(name, text)| (name.to_owned(), Some(text.to_owned())));
        assert_eq!(
            torch_contradictions(&parts, &used.into(), &Compat::embedded()),
            expect,
            "{label} {torch} {hip}"
        );
    }

    #[test]
    fn another_torch_and_one_without_hip_contradict_a_label() {
        check(
            "rocm62torch2.5",
            "2.5.1+rocm6.2",
            "6.2.41133-dd7f95766",
            &[],
        );
        check("rocm62torch2.5triton", "2.5.0", "6.2.41133", &[]);
        let other = "the label names torch 2.5, but the build used torch 1.13.0a0";
        check("rocm62torch2.5", "1.13.0a0", "6.2.41133", &[other]);
        let without = "the label names ROCm 6.2, but the build used a torch without HIP";
        check("rocm62torch2.5", "2.5.1", "None", &[without]);
        check(
            "rocm62torch2.5triton",
            "1.13.0a0",
            "None",
            &[other, without],
        );
        let of_other = "the label names ROCm 6.2, but the build used a torch for ROCm 6.4";
        check("rocm62torch2.5", "2.5.1+rocm6.4", "6.4.43482", &[of_other]);
        check(
            "rocm62torch2.5",
            "2.5.1",
            "6.4.43482-0f2d60242",
            &[of_other],
        );
        check("rocm10.0torch2.13", "2.13.0", "7.15.26333", &[]);
        check("rocm62", "1.13.0a0", "", &[]);
    }
}

//! Compares the torch and HIP that a build used with the label of its wheel.

use std::collections::BTreeMap;

use super::Compat;
use rock_names::{Accelerator, LabelParts, RocmVersion, TorchBuild, Version};

/// Returns the contradictions between a label and the torch and HIP of a build, one sentence each;
/// empty if the build recorded none of them. `used` are the entries `torch`, `torch-hip` and `hip`
/// of the build record. The ROCm version of that torch comes from its local version label, or else
/// from its HIP version.
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
    let of_torch = match torch.as_ref().and_then(TorchBuild::of) {
        Some(TorchBuild::Rocm(of_torch)) => Some(of_torch),
        _ => None,
    };
    let hip = recorded("torch-hip");
    let of_hip = || compat.rocm_of_hip(&RocmVersion::from_leading_numbers(hip?)?);
    match (of_torch.or_else(of_hip), hip) {
        (Some(other), _) if !other.has_same_minor(rocm) => {
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
        && !other.has_same_minor(rocm)
    {
        found.push(format!(
            "the label names ROCm {rocm}, but the build used the HIP of ROCm {other}"
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::torch_contradictions;
    use crate::Compat;
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

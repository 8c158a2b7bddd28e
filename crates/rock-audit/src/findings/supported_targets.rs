//! The gfx targets that all libraries of a wheel have code for.
//!
//! Input: the inspected files. Output: the targets on which the wheel can run. Files of one target
//! each, such as kernels of hipBLASLt, are not libraries and restrict nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::gfx::targets;
use super::rocm::{RocmLibraries, VARIANT, library_name, variant};
use crate::inspect::{InspectedFile, InspectedKind};
use rock_codeobj::CodeTarget;
use rock_compat::Compat;
use rock_names::{GfxTarget, WheelName};

/// The target of code that the runtime compiles for any GPU.
const SPIRV: &str = "amdgcnspirv";
/// The text that gfx targets begin with.
const GFX: &str = "gfx";
/// Maximum length of a target in a path; that of `gfx9-4-generic` is 14.
const MAX_TARGET_LENGTH: usize = 32;

/// Returns the targets for which every library of a wheel with code for a GPU has code; `None` if
/// no library has offload bundles.
///
/// Libraries of which one process loads one, for one ROCm or one target, count together. Libraries
/// of ROCm do not count: some of them support only a part of its targets.
pub fn supported_targets(
    name: &WheelName,
    files: &[InspectedFile],
    compat: &Compat,
) -> Option<BTreeSet<CodeTarget>> {
    let rocm = RocmLibraries::new(name, compat);
    let is_of_rocm = |path: &str, soname: Option<&str>| {
        rocm.as_ref()
            .is_some_and(|rocm| rocm.is_embedded(path) || rocm.has_name(library_name(path, soname)))
    };
    let mut libraries: BTreeMap<String, BTreeSet<CodeTarget>> = BTreeMap::new();
    for file in files {
        let soname = match &file.kind {
            InspectedKind::Library(library) => library.soname.as_deref(),
            InspectedKind::Windows => None,
            _ => continue,
        };
        if file.inventory.bundles().next().is_none() || is_of_rocm(&file.path, soname) {
            continue;
        }
        let held = targets(file);
        if !held.is_empty() {
            libraries
                .entry(without_variant(&file.path))
                .or_default()
                .extend(held);
        }
    }
    let is_supported = |target: &CodeTarget| {
        libraries
            .values()
            .all(|held| held.iter().any(|own| runs_on(own, target, compat)))
    };
    let mut targets: BTreeSet<CodeTarget> = libraries.values().flatten().cloned().collect();
    targets.retain(is_supported);
    (!libraries.is_empty()).then_some(targets)
}

/// Returns whether code for one target runs where code for another does, at least with some of the
/// features that the other leaves open.
fn runs_on(code: &CodeTarget, target: &CodeTarget, compat: &Compat) -> bool {
    if code == target || matches!(code, CodeTarget::Named(name) if name == SPIRV) {
        return true;
    }
    let (Some(code), Some(target)) = (code.gfx(), target.gfx()) else {
        return false;
    };
    if code.processor() == target.processor() {
        return has_features(code, target) || has_features(target, code);
    }
    compat.library_tables().device_bundles.iter().any(|row| {
        row.generic == code.processor()
            && row
                .members
                .iter()
                .any(|member| member == target.processor())
    })
}

/// Returns whether a target has all features of another one.
fn has_features(target: &GfxTarget, other: &GfxTarget) -> bool {
    let mut features = other.features().iter();
    features.all(|feature| target.features().contains(feature))
}

/// Returns a path without the numbers of ROCm versions and gfx targets. It is the same for all
/// libraries of which one process loads one.
fn without_variant(path: &str) -> String {
    let number = variant(path);
    let path = path.replacen(&format!("{VARIANT}{number}"), VARIANT, 1);
    let mut key = String::new();
    let mut rest = path.as_str();
    while let Some(start) = rest.find(GFX) {
        let (before, from) = rest.split_at(start);
        key.push_str(before);
        key.push_str(GFX);
        rest = &from[target_length(from).max(GFX.len())..];
    }
    key.push_str(rest);
    key
}

/// Returns the length of the longest gfx target that a text begins with; 0 if there is none.
fn target_length(text: &str) -> usize {
    let is_part =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let end = text
        .find(|letter: char| !is_part(letter))
        .unwrap_or(text.len());
    (1..=end.min(MAX_TARGET_LENGTH))
        .rev()
        .find(|&end| text[..end].parse::<GfxTarget>().is_ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{supported_targets, without_variant};
    use crate::testing::{gpu_library, wheel};
    use crate::{AuditOptions, Auditor, NoLibraries};
    use rock_compat::Compat;
    use rock_names::WheelName;

    const GFX90A: (&str, u32) = ("gfx90a", 0x3f);
    const GFX942: (&str, u32) = ("gfx942", 0x4c);
    const GFX1100: (&str, u32) = ("gfx1100", 0x41);
    const GFX11_GENERIC: (&str, u32) = ("gfx11-generic", 0x54);

    /// Returns the supported targets of a wheel with these libraries; `unrestricted` if none has
    /// offload bundles.
    fn supported(libraries: &[(&str, &[(&str, u32)])]) -> String {
        let contents: Vec<Vec<u8>> = libraries
            .iter()
            .map(|(_, targets)| gpu_library(targets))
            .collect();
        let members: Vec<(&str, &[u8])> = libraries
            .iter()
            .zip(&contents)
            .map(|((path, _), content)| (*path, content.as_slice()))
            .collect();
        let compat = Compat::embedded();
        let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
        let name: WheelName = "demo-1.0-cp312-cp312-linux_x86_64.whl".parse().unwrap();
        let file = wheel(&members);
        let audited = auditor.audit(&name, &file).unwrap();
        let Some(targets) = supported_targets(&name, audited.files(), &compat) else {
            return "unrestricted".to_owned();
        };
        let texts: Vec<String> = targets.iter().map(ToString::to_string).collect();
        texts.join(" ")
    }

    #[test]
    fn every_library_needs_code_for_a_target() {
        assert_eq!(
            supported(&[("demo/_a.so", &[GFX90A, GFX942])]),
            "gfx90a gfx942"
        );
        assert_eq!(
            supported(&[
                ("demo/_a.so", &[GFX90A, GFX942]),
                ("demo/_b.so", &[GFX942, GFX1100]),
            ]),
            "gfx942"
        );
        assert_eq!(
            supported(&[("demo/_a.so", &[GFX942]), ("demo/_b.so", &[GFX1100])]),
            ""
        );
        assert_eq!(supported(&[]), "unrestricted");
    }

    #[test]
    fn generic_targets_and_features_are_compatible() {
        assert_eq!(
            supported(&[("demo/_a.so", &[GFX1100]), ("demo/_b.so", &[GFX11_GENERIC])]),
            "gfx1100"
        );
        assert_eq!(
            supported(&[
                ("demo/_a.so", &[GFX90A]),
                ("demo/_b.so", &[("gfx90a:xnack+", 0x33f)]),
            ]),
            "gfx90a gfx90a:xnack+"
        );
    }

    /// bitsandbytes has a library for each ROCm, and newer ones support more targets.
    #[test]
    fn libraries_of_which_one_is_loaded_count_together() {
        assert_eq!(
            supported(&[
                ("demo/libdemo_rocm64.so", &[GFX942]),
                ("demo/libdemo_rocm72.so", &[GFX942, GFX1100]),
            ]),
            "gfx942 gfx1100"
        );
        assert_eq!(
            supported(&[
                ("demo/gfx942/libdemo.so", &[GFX942]),
                ("demo/gfx1100/libdemo.so", &[GFX1100]),
            ]),
            "gfx942 gfx1100"
        );
        let key = without_variant("demo/libdemo_gfx11-generic.so");
        assert_eq!(key, without_variant("demo/libdemo_gfx90a.so"));
        assert_eq!(key, without_variant("demo/libdemo_gfx9-4-generic.so"));
        assert_ne!(key, without_variant("demo/libdemo_gfx9-4.so"));
        assert_eq!(
            without_variant("gfx1100/gfxlib-gfx90a-release.so"),
            "gfx/gfxlib-gfx-release.so"
        );
    }

    #[test]
    fn libraries_of_rocm_restrict_nothing() {
        assert_eq!(
            supported(&[
                ("demo/_a.so", &[GFX942, GFX1100]),
                ("demo.libs/libhipsparselt-1a2b3c4d.so.0", &[GFX942]),
            ]),
            "gfx942 gfx1100"
        );
    }
}

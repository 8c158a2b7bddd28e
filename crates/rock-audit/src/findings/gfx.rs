//! Checks of GPU code: targets, formats and completeness.

use std::collections::{BTreeMap, BTreeSet};

use super::CheckContext;
use super::devices::elsewhere;
use super::split::{SplitCode, kpack_locations};
use crate::codes::rocm as codes;
use crate::inspect::InspectedFile;
use rock_codeobj::{CodeContainer, CodeContainerKind, CodeTarget, TargetDifference};
use rock_diagnostic::{Code, Diagnostic, Location, counted};
use rock_elf::LayoutError;
use rock_names::{Accelerator, GfxTarget, RocmVersion};

/// The version of code objects that generic targets came with (LLVM AMDGPU usage, "Code Object
/// V6").
const GENERIC_VERSION: u8 = 6;

pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for file in context.files {
        let fault = |fault: &LayoutError| {
            context.on_member(&codes::DAMAGED_LAYOUT, &file.path, fault.to_string())
        };
        found.extend(file.layout_errors.iter().map(fault));
        found.extend(gfx_findings(&context.name.to_string(), file));
    }
    found.extend(sets_differ(context));
    found.extend(too_new(context));
    found
}

/// Reports problems of the GPU code in one file, independently of other files.
pub fn gfx_findings(wheel: &str, file: &InspectedFile) -> Vec<Diagnostic> {
    let inventory = &file.inventory;
    let mut found = Vec::new();
    let mut push = |code, message: String| found.push(on_member(wheel, &file.path, code, message));
    for damage in &inventory.damages {
        push(
            &codes::DAMAGED_CODE_OBJECTS,
            format!("at {:#x}: {}", damage.offset, damage.reason),
        );
    }
    let empty = inventory.empty_bundles().count();
    let bundles = inventory.bundles().count();
    if bundles > 0 && empty == bundles {
        let message = format!(
            "{} and no code for a GPU in any",
            counted(bundles, "bundle")
        );
        push(&codes::NO_DEVICE_CODE, message);
    }
    let mismatches = inventory.mismatches();
    if let Some(first) = mismatches.first() {
        let more = if mismatches.len() > 1 {
            format!(", and {} more", mismatches.len() - 1)
        } else {
            String::new()
        };
        let at = first.bundle_offset;
        let message = format!(
            "the bundle at {at:#x} says {} of code for {}{more}",
            first.id_target, first.header_target
        );
        push(&codes::GFX_MISLABELLED, message);
    }
    if inventory.has_wrapper_mismatch() {
        let message = format!(
            "{} for {}",
            counted(inventory.wrappers, "wrapper"),
            counted(inventory.fatbin_bundles(), "bundle")
        );
        push(&codes::WRAPPERS_DIFFER, message);
    }
    let version = |container: &CodeContainer| match container.kind {
        CodeContainerKind::Compressed(version) => Some(version),
        _ => None,
    };
    if let Some(newest) = inventory.containers.iter().filter_map(version).max() {
        push(
            &codes::COMPRESSED_BUNDLE,
            format!("bundles are compressed in the form of version {newest}"),
        );
    }
    for limit in &inventory.limits {
        push(
            &codes::DAMAGED_CODE_OBJECTS,
            format!("not all of it was looked at: {limit}"),
        );
    }
    found
}

/// Returns the targets of one file, by processor and features.
fn targets(file: &InspectedFile) -> BTreeSet<CodeTarget> {
    file.inventory.targets().into_keys().collect()
}

fn list<'t>(targets: impl IntoIterator<Item = &'t CodeTarget>) -> String {
    targets
        .into_iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn sets_differ(context: CheckContext<'_>) -> Option<Diagnostic> {
    let mut sets: BTreeMap<Vec<CodeTarget>, &str> = BTreeMap::new();
    // Data files are for one target each on purpose.
    for file in context
        .files
        .iter()
        .filter(|file| file.inventory.bundles().next().is_some())
    {
        sets.entry(targets(file).into_iter().collect())
            .or_insert(&file.path);
    }
    if sets.len() < 2 {
        return None;
    }
    let finding = context.on_wheel(
        &codes::GFX_SETS_DIFFER,
        "libraries are for different sets of gfx targets",
    );
    Some(sets.iter().fold(finding, |finding, (set, path)| {
        finding.note(format!("`{path}`: {}", list(set)))
    }))
}

/// Reports code objects of a version that the ROCm release in the label cannot read.
fn too_new(context: CheckContext<'_>) -> Option<Diagnostic> {
    let Accelerator::Rocm(rocm) = context.label()?.accelerator else {
        return None;
    };
    let generic = context.compat.first_rocm_with_generic_targets()?;
    if !is_before(&rocm, &generic) {
        return None;
    }
    let is_new = |file: &&InspectedFile| {
        file.inventory
            .code_object_versions()
            .contains(&GENERIC_VERSION)
            || targets(file).iter().any(CodeTarget::is_generic)
    };
    let file = context.files.iter().find(is_new)?;
    let message = format!(
        "code objects of version {GENERIC_VERSION} need ROCm {generic}, and the label says {rocm}"
    );
    Some(context.on_member(&codes::NEW_CODE_OBJECT, &file.path, message))
}

fn is_before(one: &RocmVersion, other: &RocmVersion) -> bool {
    one.parts() < other.parts()
}

fn on_member(wheel: &str, member: &str, code: &'static Code, message: String) -> Diagnostic {
    Diagnostic::new(code, message).at(
        Location::Member {
            wheel: wheel.to_owned(),
            member: member.to_owned(),
        },
        "",
    )
}

/// Reports missing and unexpected targets: in each file with offload bundles, in each file whose
/// code was split off into archives of these wheels, and in all other code together, which comes in
/// files of one target. A host wheel without its device wheels has the targets that METADATA names.
pub fn unexpected_targets(
    wheel: &str,
    files: &[InspectedFile],
    wheels: &[SplitCode],
    expected: &[GfxTarget],
) -> Vec<Diagnostic> {
    let expected: BTreeSet<CodeTarget> = expected.iter().map(CodeTarget::from).collect();
    let is_split = |file: &&InspectedFile| !file.inventory.kpack_references.is_empty();
    let is_bundled =
        |file: &&InspectedFile| file.inventory.bundles().next().is_some() || is_split(file);
    let own = wheels.iter().find(|one| one.wheel == wheel);
    let promised = own
        .and_then(|own| elsewhere(own, wheels))
        .map(|devices| &devices.targets);
    let mut found = Vec::new();
    for file in files.iter().filter(is_bundled) {
        let mut own = targets(file);
        let archives = kpack_locations(&file.path, &file.inventory.kpack_references, wheels);
        own.extend(
            promised
                .filter(|_| is_split(&file) && archives.is_empty())
                .into_iter()
                .flatten()
                .cloned(),
        );
        own.extend(archives.into_keys());
        found.extend(
            difference(&expected, &own, &own)
                .map(|message| on_member(wheel, &file.path, &codes::GFX_NOT_AS_EXPECTED, message)),
        );
    }
    let has_bundled = files.iter().any(|file| is_bundled(&file));
    // Archives that a library of these wheels refers to were judged with it.
    let has_split = wheels.iter().any(|wheel| !wheel.libraries.is_empty());
    let mut has_archives = false;
    let (mut all, mut code) = (BTreeMap::new(), BTreeSet::new());
    for file in files.iter().filter(|file| !is_bundled(file)) {
        let kinds = file.inventory.kinds();
        if has_split && kinds.contains(&CodeContainerKind::Kpack) {
            has_archives = true;
            continue;
        }
        let own = targets(file);
        for target in &own {
            all.entry(target.clone()).or_insert(file.path.as_str());
        }
        // Libraries have data files for some targets alone; code that is not there cannot run.
        if !has_bundled || kinds.iter().any(|kind| *kind != CodeContainerKind::Data) {
            code.extend(own);
        }
    }
    let held: BTreeSet<CodeTarget> = all.keys().cloned().collect();
    let on_wheel = |message: String| {
        Diagnostic::new(&codes::GFX_NOT_AS_EXPECTED, message)
            .at(Location::File(wheel.to_owned().into()), "")
    };
    if held.is_empty() {
        if let Some(promised) = promised.filter(|_| !has_bundled && !has_archives) {
            found.extend(difference(&expected, promised, promised).map(on_wheel));
        } else if !has_bundled && !has_archives && !expected.is_empty() {
            found.push(on_wheel(format!(
                "there is no code for a GPU, and expected is {}",
                list(&expected)
            )));
        }
        return found;
    }
    let own = if code.is_empty() { &expected } else { &code };
    found.extend(difference(&expected, own, &held).map(|message| {
        let extra = all.iter().filter(|(target, _)| !expected.contains(target));
        extra.fold(on_wheel(message), |finding, (target, path)| {
            finding.note(format!("`{path}` is for {target}"))
        })
    }));
    found
}

/// Returns in words the targets that are expected and not in `own`, and those in `held` that are
/// not expected.
fn difference(
    expected: &BTreeSet<CodeTarget>,
    own: &BTreeSet<CodeTarget>,
    held: &BTreeSet<CodeTarget>,
) -> impl Iterator<Item = String> + use<> {
    let TargetDifference { missing, extra } = TargetDifference::between(expected, own, held);
    let told = |targets: Vec<CodeTarget>, one: &str, several: &str| {
        let words = if targets.len() == 1 { one } else { several };
        (!targets.is_empty()).then(|| format!("{} {words}", list(&targets)))
    };
    let parts: Vec<String> = [
        told(missing, "is missing", "are missing"),
        told(extra, "was not asked for", "were not asked for"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty())
        .then(|| parts.join(", and "))
        .into_iter()
}

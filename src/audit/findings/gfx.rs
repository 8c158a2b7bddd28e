//! Code for GPUs: for which targets, in which form, and whether it is all there.

use std::collections::{BTreeMap, BTreeSet};

use super::Subject;
use super::split::{SplitCode, archives_of};
use crate::audit::inspect::FileFacts;
use crate::codeobj::{Container, ContainerKind, Target};
use crate::diagnostic::registry::rocm as codes;
use crate::diagnostic::{Diagnostic, counted};
use crate::names::{Accelerator, GfxTarget, RocmVersion};

/// The version of code objects that generic targets came with (LLVM AMDGPU usage, "Code Object V6").
const GENERIC_VERSION: u8 = 6;

pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = subject.files.iter().flat_map(|file| of_file(subject, file)).collect();
    found.extend(sets_differ(subject));
    found.extend(too_new(subject));
    found
}

fn of_file(subject: Subject<'_>, file: &FileFacts) -> Vec<Diagnostic> {
    let (inventory, path) = (&file.inventory, file.path.as_str());
    let mut found = Vec::new();
    let mut push = |code, message: String| found.push(subject.on_member(code, path, message));
    for fault in &file.layout_faults {
        push(&codes::DAMAGED_LAYOUT, fault.to_string());
    }
    for damage in &inventory.damages {
        push(&codes::DAMAGED_CODE_OBJECTS, format!("at {:#x}: {}", damage.offset, damage.reason));
    }
    let empty = inventory.empty_bundles().count();
    let bundles = inventory.bundles().count();
    if bundles > 0 && empty == bundles {
        let message = format!("{} and no code for a GPU in any", counted(bundles, "bundle"));
        push(&codes::NO_DEVICE_CODE, message);
    }
    let mismatches = inventory.mismatches();
    if let Some(first) = mismatches.first() {
        let more = if mismatches.len() > 1 { format!(", and {} more", mismatches.len() - 1) } else { String::new() };
        let at = first.bundle_offset;
        let message = format!("the bundle at {at:#x} says {} of code for {}{more}", first.said, first.found);
        push(&codes::GFX_MISLABELLED, message);
    }
    if inventory.has_wrapper_mismatch() {
        let message =
            format!("{} for {}", counted(inventory.wrappers, "wrapper"), counted(inventory.fatbin_bundles(), "bundle"));
        push(&codes::WRAPPERS_DIFFER, message);
    }
    let version = |container: &Container| match container.kind {
        ContainerKind::Compressed(version) => Some(version),
        _ => None,
    };
    if let Some(newest) = inventory.containers.iter().filter_map(version).max() {
        push(&codes::COMPRESSED_BUNDLE, format!("bundles are compressed in the form of version {newest}"));
    }
    for limit in &inventory.limits {
        push(&codes::DAMAGED_CODE_OBJECTS, format!("not all of it was looked at: {limit}"));
    }
    found
}

/// The targets of one file, by their processors and features.
fn targets(file: &FileFacts) -> BTreeSet<Target> {
    file.inventory.targets().into_keys().collect()
}

fn list<'t>(targets: impl IntoIterator<Item = &'t Target>) -> String {
    targets.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn sets_differ(subject: Subject<'_>) -> Option<Diagnostic> {
    let mut sets: BTreeMap<Vec<Target>, &str> = BTreeMap::new();
    // Data files are for one target each on purpose.
    for file in subject.files.iter().filter(|file| file.inventory.bundles().next().is_some()) {
        sets.entry(targets(file).into_iter().collect()).or_insert(&file.path);
    }
    if sets.len() < 2 {
        return None;
    }
    let finding = subject.on_wheel(&codes::GFX_SETS_DIFFER, "libraries are for different sets of gfx targets");
    Some(sets.iter().fold(finding, |finding, (set, path)| finding.note(format!("`{path}`: {}", list(set)))))
}

/// Code that the ROCm of the label does not read yet, by the facts.
fn too_new(subject: Subject<'_>) -> Option<Diagnostic> {
    let Accelerator::Rocm(rocm) = subject.label()?.accelerator else { return None };
    let generic = subject.compat.first_rocm_with_generic_targets()?;
    if !is_before(&rocm, &generic) {
        return None;
    }
    let is_new = |file: &&FileFacts| {
        file.inventory.code_object_versions().contains(&GENERIC_VERSION) || targets(file).iter().any(Target::is_generic)
    };
    let file = subject.files.iter().find(is_new)?;
    let message = format!("code objects of version {GENERIC_VERSION} need ROCm {generic}, and the label says {rocm}");
    Some(subject.on_member(&codes::NEW_CODE_OBJECT, &file.path, message))
}

fn is_before(one: &RocmVersion, other: &RocmVersion) -> bool {
    one.parts() < other.parts()
}

/// What is missing or too much against what was asked for, in files with bundles and in those whose code lies in
/// archives of these wheels.
pub fn unexpected(
    subject_name: &str,
    files: &[FileFacts],
    wheels: &[SplitCode],
    expected: &[GfxTarget],
) -> Vec<Diagnostic> {
    let place =
        |path: &str| crate::diagnostic::Place::Member { wheel: subject_name.to_owned(), member: path.to_owned() };
    let expected: BTreeSet<Target> = expected.iter().cloned().map(Target::Gfx).collect();
    let has_code =
        |file: &&FileFacts| file.inventory.bundles().next().is_some() || !file.inventory.kpack_references.is_empty();
    let with_code: Vec<&FileFacts> = files.iter().filter(has_code).collect();
    if with_code.is_empty() && !expected.is_empty() && !files.iter().any(|file| !targets(file).is_empty()) {
        let message = format!("there is no code for a GPU, and expected is {}", list(&expected));
        let finding = Diagnostic::new(&codes::GFX_NOT_AS_EXPECTED, message);
        return vec![finding.at(crate::diagnostic::Place::File(subject_name.into()), "")];
    }
    let mut found = Vec::new();
    for file in with_code {
        let mut own = targets(file);
        own.extend(archives_of(&file.path, &file.inventory.kpack_references, wheels).into_keys());
        let missing: Vec<&Target> = expected.difference(&own).collect();
        let extra: Vec<&Target> = own.difference(&expected).collect();
        let mut parts = Vec::new();
        if !missing.is_empty() {
            parts.push(format!("{} is missing", list(missing)));
        }
        if !extra.is_empty() {
            parts.push(format!("{} was not asked for", list(extra)));
        }
        if !parts.is_empty() {
            let finding = Diagnostic::new(&codes::GFX_NOT_AS_EXPECTED, parts.join(", and "));
            found.push(finding.at(place(&file.path), ""));
        }
    }
    found
}

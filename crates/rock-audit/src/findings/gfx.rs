//! Checks of GPU code: targets, formats and completeness.

use std::collections::{BTreeMap, BTreeSet};

use super::CheckContext;
use super::devices::elsewhere;
use super::split::{SplitCode, kpack_locations};
use crate::codes::rocm as codes;
use crate::inspect::InspectedFile;
use crate::verify::layout_code;
use rock_codeobj::{CodeContainerKind, CodeTarget, TargetDifference};
use rock_diagnostic::{Code, Diagnostic, Location, count_more, counted};
use rock_names::{Accelerator, GfxTarget};

/// The version of code objects that generic targets came with (LLVM AMDGPU usage, "Code Object
/// V6").
const GENERIC_VERSION: u8 = 6;

/// The help for targets that are not as expected.
const CHECK_BUILD_TARGETS: &str =
    "check the variables that set the targets of the build, such as `PYTORCH_ROCM_ARCH`";

pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for file in context.files {
        findings.extend(
            file.layout_errors
                .iter()
                .map(|error| context.on_member(layout_code(error), &file.path, error.to_string())),
        );
        findings.extend(gfx_findings(context.file_name, file));
    }
    findings.extend(sets_differ(context));
    findings.extend(too_new(context));
    findings
}

/// Reports problems of the GPU code in one file, independently of other files.
pub fn gfx_findings(wheel: &str, file: &InspectedFile) -> Vec<Diagnostic> {
    let inventory = &file.inventory;
    let mut findings = Vec::new();
    let mut push =
        |code, message: String| findings.push(on_member(wheel, &file.path, code, message));
    for damage in &inventory.damages {
        push(
            &codes::DAMAGED_CODE_OBJECTS,
            format!("at {:#x}: {}", damage.offset, damage.reason),
        );
    }
    let empty = inventory.empty_bundles().count();
    let bundles = inventory.bundles().count();
    if bundles > 0 && empty == bundles {
        let message = format!("{} without code for a GPU", counted(bundles, "bundle"));
        push(&codes::NO_DEVICE_CODE, message);
    }
    let mismatches = inventory.mismatches();
    if let Some(first) = mismatches.first() {
        let more = count_more(mismatches.len() - 1, ", and ");
        let offset = first.bundle_offset;
        let message = format!(
            "the bundle at {offset:#x} names {}, but its code is for {}{more}",
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
    let compressed = inventory
        .containers
        .iter()
        .filter_map(|container| match container.kind {
            CodeContainerKind::Compressed(version) => Some(version),
            _ => None,
        });
    if let Some(newest) = compressed.max() {
        push(
            &codes::COMPRESSED_BUNDLE,
            format!("bundles are compressed in format version {newest}"),
        );
    }
    for limit in &inventory.limits {
        push(
            &codes::DAMAGED_CODE_OBJECTS,
            format!("not all of it was checked: {limit}"),
        );
    }
    findings
}

/// Returns the targets of one file, by processor and features.
pub(super) fn targets(file: &InspectedFile) -> BTreeSet<CodeTarget> {
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
        let targets = if set.is_empty() {
            "no code for a GPU".to_owned()
        } else {
            list(set)
        };
        finding.note(format!("`{path}`: {targets}"))
    }))
}

/// Reports code objects of a version that the ROCm release in the label cannot read.
fn too_new(context: CheckContext<'_>) -> Option<Diagnostic> {
    let Accelerator::Rocm(rocm) = context.label()?.accelerator else {
        return None;
    };
    let generic = context.compat.first_rocm_with_generic_targets()?;
    if rocm.parts() >= generic.parts() {
        return None;
    }
    let file = context.files.iter().find(|file| {
        let versions = file.inventory.code_object_versions();
        versions.contains(&GENERIC_VERSION) || targets(file).iter().any(CodeTarget::is_generic)
    })?;
    let message = format!(
        "code objects of version {GENERIC_VERSION} need ROCm {generic}, but the label says {rocm}"
    );
    Some(context.on_member(&codes::NEW_CODE_OBJECT, &file.path, message))
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

/// Whether a wheel may have code for targets that are not expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnexpectedTargets {
    /// Any other target is allowed.
    Allowed,
    /// Any other target is reported.
    Rejected,
}

/// Reports missing and unexpected targets: in each file with offload bundles, in each file whose
/// code was split off into archives of these wheels, and in all other code together, which comes in
/// files of one target. A host wheel without its device wheels has the targets that METADATA names.
pub fn unexpected_targets(
    wheel: &str,
    files: &[InspectedFile],
    wheels: &[SplitCode],
    expected: &[GfxTarget],
    unexpected: UnexpectedTargets,
) -> Vec<Diagnostic> {
    let difference = |expected: &BTreeSet<CodeTarget>,
                      required: &BTreeSet<CodeTarget>,
                      held: &BTreeSet<CodeTarget>| {
        let mut difference = TargetDifference::between(expected, required, held);
        if unexpected == UnexpectedTargets::Allowed {
            difference.extra.clear();
        }
        describe(&difference)
    };
    let expected: BTreeSet<CodeTarget> = expected.iter().map(CodeTarget::from).collect();
    let promised = wheels
        .iter()
        .find(|split| split.wheel == wheel)
        .and_then(|split| elsewhere(split, wheels))
        .map(|devices| &devices.targets);
    let (bundled, others): (Vec<&InspectedFile>, Vec<&InspectedFile>) = files
        .iter()
        .partition(|file| file.inventory.bundles().next().is_some() || is_split(file));
    let mut findings = Vec::new();
    for file in &bundled {
        let mut held = targets(file);
        let archives = kpack_locations(&file.path, &file.inventory.kpack_references, wheels);
        if is_split(file) && archives.is_empty() {
            held.extend(promised.into_iter().flatten().cloned());
        }
        held.extend(archives.into_keys());
        findings.extend(difference(&expected, &held, &held).map(|message| {
            on_member(wheel, &file.path, &codes::GFX_NOT_AS_EXPECTED, message)
                .help(CHECK_BUILD_TARGETS)
        }));
    }
    let on_wheel = |message: String| {
        Diagnostic::new(&codes::GFX_NOT_AS_EXPECTED, message)
            .at(Location::File(wheel.to_owned().into()), "")
            .help(CHECK_BUILD_TARGETS)
    };
    let code = OtherCode::new(&others, !bundled.is_empty(), wheels);
    if code.paths.is_empty() {
        let holds_none = bundled.is_empty() && !code.has_archives;
        match promised.filter(|_| holds_none) {
            Some(promised) => {
                findings.extend(difference(&expected, promised, promised).map(on_wheel));
            }
            None if holds_none && !expected.is_empty() => {
                let message = format!(
                    "there is no code for a GPU, but code for {} is expected",
                    list(&expected)
                );
                findings.push(on_wheel(message).help(
                    "if the project has none, set `device-code: false` for the backend of its recipe",
                ));
            }
            None => {}
        }
        return findings;
    }
    let held: BTreeSet<CodeTarget> = code.paths.keys().cloned().collect();
    let required = if code.required.is_empty() {
        &expected
    } else {
        &code.required
    };
    findings.extend(difference(&expected, required, &held).map(|message| {
        code.paths
            .iter()
            .filter(|(target, _)| !expected.contains(target))
            .fold(on_wheel(message), |finding, (target, path)| {
                finding.note(format!("`{path}` is for {target}"))
            })
    }));
    findings
}

/// Returns whether the code of a file was split off into archives.
fn is_split(file: &InspectedFile) -> bool {
    !file.inventory.kpack_references.is_empty()
}

/// The code in files of one target each.
struct OtherCode<'f> {
    /// The first file with code for each target.
    paths: BTreeMap<CodeTarget, &'f str>,
    /// The targets for which there must be code.
    required: BTreeSet<CodeTarget>,
    /// Whether there are archives that are checked with the libraries that refer to them.
    has_archives: bool,
}

impl<'f> OtherCode<'f> {
    fn new(files: &[&'f InspectedFile], has_bundled: bool, wheels: &[SplitCode]) -> Self {
        let mut code = Self {
            paths: BTreeMap::new(),
            required: BTreeSet::new(),
            has_archives: false,
        };
        let has_split = wheels.iter().any(|wheel| !wheel.libraries.is_empty());
        for file in files {
            let kinds = file.inventory.kinds();
            if has_split && kinds.contains(&CodeContainerKind::Kpack) {
                code.has_archives = true;
                continue;
            }
            let held = targets(file);
            for target in &held {
                code.paths.entry(target.clone()).or_insert(&file.path);
            }
            // Libraries have data files for some targets alone; code that is missing cannot run.
            if !has_bundled || kinds.iter().any(|kind| *kind != CodeContainerKind::Data) {
                code.required.extend(held);
            }
        }
        code
    }
}

/// Returns in words the missing and the unexpected targets; `None` if there are none.
fn describe(TargetDifference { missing, extra }: &TargetDifference) -> Option<String> {
    let missing_verb = if missing.len() == 1 { "is" } else { "are" };
    let extra_verb = if extra.len() == 1 { "was" } else { "were" };
    match (missing.is_empty(), extra.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("{} {missing_verb} missing", list(missing))),
        (true, false) => Some(format!("{} {extra_verb} not requested", list(extra))),
        (false, false) => Some(format!(
            "{} {missing_verb} missing, and {} {extra_verb} not requested",
            list(missing),
            list(extra)
        )),
    }
}

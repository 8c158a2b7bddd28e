//! Wheels of the SDK, opened for the checks.

use std::collections::BTreeMap;

use super::archives::{is_devel_archive, read_devel_tree};
use super::{DynamicInfo, LoaderView, OpenedFile, OpenedWheel, identify, is_read};
use crate::codes::sdk as codes;
use crate::limits::MAX_TEXT_BYTES;
use crate::{PackageKind, stub};
use rock_audit::{ElfLibrary, InspectedFile, InspectedKind};
use rock_compat::rows::SdkTables;
use rock_diagnostic::{Diagnostic, Location, Severity};
use rock_elf::{ElfClass, Endianness, machine};
use rock_names::WheelName;
use rock_wheel::{Wheel, WheelError, ZipMember};

/// Opens a wheel at this path relative to the output directory. Returns it with the problems of
/// libraries in the tree of a devel wheel, or `None` if it is not a package of the SDK.
///
/// # Errors
/// When a member cannot be read.
pub(super) fn open_wheel(
    wheel: &Wheel<'_>,
    files: &[InspectedFile],
    path: &str,
    name: &WheelName,
    facts: &SdkTables,
) -> Result<Option<(OpenedWheel, Vec<Diagnostic>)>, WheelError> {
    let project = wheel.metadata().get("Name").map_or_else(
        || name.distribution().as_str().replace('_', "-"),
        Into::into,
    );
    let Some((kind, made_for)) = identify(&project, facts) else {
        return Ok(None);
    };
    let known: BTreeMap<&str, &InspectedFile> = files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();
    let mut opened = OpenedWheel {
        path: path.to_owned(),
        name: name.clone(),
        project,
        kind,
        made_for,
        is_purelib: wheel
            .wheel_file()
            .get("Root-Is-Purelib")
            .is_some_and(|value| value.eq_ignore_ascii_case("true")),
        requires: wheel
            .metadata()
            .get_all("Requires-Dist")
            .map(Into::into)
            .collect(),
        files: BTreeMap::new(),
        texts: BTreeMap::new(),
        payloads: Vec::new(),
    };
    let mut found = Vec::new();
    for member in wheel
        .archive()
        .members()
        .iter()
        .filter(|member| !member.is_dir())
    {
        let member_name = member.name();
        let held = member_view(wheel, member, known.get(member_name).copied())?;
        let is_executable = member.unix_mode() & 0o111 != 0;
        let file = OpenedFile {
            size_bytes: member.size_bytes(),
            is_executable,
            held,
        };
        opened.files.insert(member_name.to_owned(), file);
        if is_read(member_name) {
            let text = wheel.archive().read(member, MAX_TEXT_BYTES)?;
            opened.texts.insert(
                member_name.to_owned(),
                String::from_utf8_lossy(&text).into_owned(),
            );
        }
        if kind == PackageKind::Devel && is_devel_archive(member_name) {
            opened
                .payloads
                .push(read_devel_tree(wheel, path, member, &mut found)?);
        }
    }
    Ok(Some((opened, found)))
}

/// Checks a wheel of the SDK without the other packages. `files` are its inspected files.
///
/// # Errors
/// When a member cannot be read.
pub fn verify_wheel(
    wheel: &Wheel<'_>,
    files: &[InspectedFile],
    shown: &str,
    name: &WheelName,
    facts: &SdkTables,
) -> Result<Vec<Diagnostic>, WheelError> {
    let Some((opened, mut found)) = open_wheel(wheel, files, shown, name, facts)? else {
        return Ok(vec![not_an_sdk_package(shown)]);
    };
    found.extend(super::check_wheel(&opened, facts));
    Ok(found)
}

/// Warns that a wheel is not a package of the SDK.
pub(super) fn not_an_sdk_package(shown: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::NO_SDK_PACKAGES,
        "it is not a package of the SDK, and was not checked as one",
    )
    .severity(Severity::Warning)
    .at(Location::File(shown.to_owned().into()), "")
    .help("it may keep to another profile: see `rock-matrix wheel check --help`")
}

fn member_view(
    wheel: &Wheel<'_>,
    member: &ZipMember,
    facts: Option<&InspectedFile>,
) -> Result<LoaderView, WheelError> {
    let Some(InspectedKind::Library(library)) = facts.map(|facts| &facts.kind) else {
        return Ok(LoaderView::Data);
    };
    if stub::is_as_large(member.size_bytes()) {
        let bytes = wheel.archive().read(member, member.size_bytes())?;
        if let Some(text) = stub::text_in(&bytes) {
            return Ok(LoaderView::Stub(text.to_owned()));
        }
    }
    Ok(loader_view(library))
}

/// Returns how a loader sees a library or a program.
pub(super) fn loader_view(library: &ElfLibrary) -> LoaderView {
    if is_searching(library) {
        LoaderView::Linked(Box::new(dynamic_info(library)))
    } else {
        LoaderView::Data
    }
}

/// Whether `sdk build` gives a file a search path: it is linked with others, for a processor of the
/// SDK.
fn is_searching(library: &ElfLibrary) -> bool {
    let header = &library.header;
    let is_ours = header.format.class == ElfClass::Elf64
        && header.format.endianness == Endianness::Little
        && matches!(header.machine, machine::X86_64 | machine::AARCH64);
    let is_linked = library.interpreter.is_some()
        || library.soname.is_some()
        || library.rpath.is_some()
        || library.runpath.is_some()
        || !library.needed.is_empty();
    is_ours && is_linked
}

fn dynamic_info(library: &ElfLibrary) -> DynamicInfo {
    DynamicInfo {
        soname: library.soname.clone(),
        needed: library.needed.clone(),
        rpath: library.rpath.clone(),
        runpath: library.runpath.clone(),
    }
}

//! One wheel, opened: what checks ask for.

use std::collections::BTreeMap;

use super::payload::{is_payload, payload};
use crate::audit::{ElfLibrary, InspectedFile, InspectedKind};
use crate::codes::sdk as codes;
use crate::compat::rows::SdkTables;
use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::elf::{ElfClass, Endianness, machine};
use crate::names::WheelName;
use crate::sdk::limits::MAX_TEXT_BYTES;
use crate::sdk::verify::{
    self, DynamicInfo, LoaderView, OpenedFile, OpenedWheel, identify, is_read,
};
use crate::sdk::{PackageKind, stub};
use crate::wheel::{Wheel, WheelError, ZipMember};

/// What stands in a wheel at this path of its folder, and what is wrong with libraries in the tree
/// that it has packed; `None` where it is none of the SDK's.
///
/// # Errors
/// A member that cannot be read.
pub(super) fn opened(
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
        let held = held(wheel, member, known.get(member_name).copied())?;
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
        if kind == PackageKind::Devel && is_payload(member_name) {
            opened
                .payloads
                .push(payload(wheel, path, member, &mut found)?);
        }
    }
    Ok(Some((opened, found)))
}

/// What one wheel of the SDK breaks by itself. `files` are the facts of its files, as they were
/// read before.
///
/// # Errors
/// A member that cannot be read.
pub(in crate::cli) fn alone(
    wheel: &Wheel<'_>,
    files: &[InspectedFile],
    shown: &str,
    name: &WheelName,
    facts: &SdkTables,
) -> Result<Vec<Diagnostic>, WheelError> {
    let Some((opened, mut found)) = opened(wheel, files, shown, name, facts)? else {
        return Ok(vec![none_of_the_sdk(shown)]);
    };
    found.extend(verify::alone(&opened, facts));
    Ok(found)
}

/// Says that a wheel is none of the SDK's.
pub(super) fn none_of_the_sdk(shown: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::NO_SDK_PACKAGES,
        "it is no package of the SDK, and not looked at as one",
    )
    .severity(Severity::Warning)
    .at(Location::File(shown.to_owned().into()), "")
    .help("it may keep to another profile: see `rock-matrix wheel check --help`")
}

fn held(
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
    Ok(held_by(library))
}

/// What a library or program is for the checks.
pub(super) fn held_by(library: &ElfLibrary) -> LoaderView {
    if is_searching(library) {
        LoaderView::Linked(Box::new(linked(library)))
    } else {
        LoaderView::Data
    }
}

/// Whether a file is one that `sdk build` gives a search path: for a processor of the SDK, and
/// linked with others.
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

fn linked(library: &ElfLibrary) -> DynamicInfo {
    DynamicInfo {
        soname: library.soname.clone(),
        needed: library.needed.clone(),
        rpath: library.rpath.clone(),
        runpath: library.runpath.clone(),
    }
}

//! Checks of package directories. Packages find each other by location, so their directories must
//! be next to each other.

use super::MAKE_AGAIN;
use super::names::normalized;
use super::packages::OpenedWheel;
use crate::PackageKind;
use crate::codes::sdk as codes;
use crate::layout::row;
use rock_compat::rows::SdkTables;
use rock_diagnostic::Diagnostic;

pub(super) fn findings(wheel: &OpenedWheel, facts: &SdkTables) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !wheel.is_purelib {
        let member = format!("{}/WHEEL", wheel.dist_info());
        let message = "WHEEL does not have `Root-Is-Purelib: true`, so some systems install it \
                       apart from `rocm_sdk`";
        found.push(
            wheel
                .fault_at(&codes::SDK_PACKAGE_LAYOUT, &member, message)
                .help(MAKE_AGAIN),
        );
    }
    let (directory, module) = (wheel.directory(facts), wheel.module());
    let is_device = wheel.kind == PackageKind::Device;
    let is_own =
        |top: &str| top == directory || (top == module && !is_device) || top == wheel.dist_info();
    for top in wheel.tops().filter(|top| !is_own(top)) {
        let at = wheel
            .files
            .keys()
            .find(|path| path.split('/').next() == Some(top))
            .map_or(top, String::as_str);
        let message = format!("it is outside `{directory}`, the directory of its package");
        found.push(
            wheel
                .fault_at(&codes::SDK_PACKAGE_LAYOUT, at, message)
                .help(MAKE_AGAIN),
        );
    }
    let init = format!("{directory}/__init__.py");
    let has_init = wheel.files.contains_key(&init);
    if is_device && has_init {
        let message = "it belongs to the libraries package, which would lose it if this package \
                       was uninstalled";
        found.push(
            wheel
                .fault_at(&codes::SDK_PACKAGE_LAYOUT, &init, message)
                .help(MAKE_AGAIN),
        );
    }
    // The directory of the devel package gets one when the tree is extracted.
    if !is_device && wheel.kind != PackageKind::Devel && !has_init {
        let message = format!("there is no `{init}`, so Python would not find the directory");
        found.push(
            wheel
                .fault(&codes::SDK_PACKAGE_LAYOUT, message)
                .help(MAKE_AGAIN),
        );
    }
    if is_device {
        found.extend(requirement(wheel, facts));
    } else {
        found.extend(about(wheel));
    }
    found
}

/// Checks the generated module, through which `rocm-sdk` finds package directories: it must exist
/// and have the version of the package.
fn about(wheel: &OpenedWheel) -> Option<Diagnostic> {
    let member = format!("{}/_dist_info.py", wheel.module());
    if !wheel.texts.contains_key(&member) {
        let message = format!("there is no `{member}`, by which `rocm_sdk` finds the directory");
        return Some(
            wheel
                .fault(&codes::SDK_PACKAGE_LAYOUT, message)
                .help(MAKE_AGAIN),
        );
    }
    let (says, version) = (
        wheel.assigned().text("__version__").unwrap_or_default(),
        wheel.name.version().normalized(),
    );
    let says = normalized(&says);
    let message = format!("it has version `{says}`, but the package has `{version}`");
    (says != version).then(|| {
        wheel
            .fault_at(&codes::SDK_PACKAGE_NAME, &member, message)
            .help(MAKE_AGAIN)
    })
}

/// Checks that a device package requires the libraries package of the same version.
fn requirement(wheel: &OpenedWheel, facts: &SdkTables) -> Option<Diagnostic> {
    let libraries = row(facts, PackageKind::Libraries).map_or("", |row| &row.distribution);
    let wanted = format!("{libraries}=={}", wheel.name.version().normalized());
    let is_wanted = |one: &str| {
        one.split_once("==").is_some_and(|(project, version)| {
            project.trim() == libraries
                && normalized(version.trim()) == wheel.name.version().normalized()
        })
    };
    let is_there = wheel.requires.iter().any(|one| is_wanted(one));
    let member = format!("{}/METADATA", wheel.dist_info());
    let message = format!("METADATA does not have `Requires-Dist: {wanted}`");
    (!is_there).then(|| wheel.fault_at(&codes::SDK_PACKAGE_LAYOUT, &member, message))
}

//! Checks of names, tags and versions, and for missing packages.

use std::collections::{BTreeMap, BTreeSet};

use super::packages::{OpenedPackages, OpenedWheel, family_directory};
use crate::PackageKind;
use crate::codes::sdk as codes;
use crate::layout::row;
use crate::select::is_for;
use rock_compat::rows::SdkTables;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::Version;

/// Checks that all packages have the same version and platform, and that none is missing.
pub(super) fn findings(opened: &OpenedPackages, facts: &SdkTables) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = versions(opened)
        .into_iter()
        .chain(platforms(opened))
        .collect();
    let families: BTreeSet<&str> = opened
        .wheels
        .iter()
        .map(|wheel| wheel.path.as_str())
        .chain(
            opened
                .selectors
                .iter()
                .map(|selector| selector.path.as_str()),
        )
        .map(family_directory)
        .collect();
    // Packages at the top level serve all families.
    let has_families = families.len() > 1;
    for family in families
        .into_iter()
        .filter(|family| !family.is_empty() || !has_families)
    {
        found.extend(missing(opened, family, facts));
    }
    found
}

/// Checks the tags and the version of one wheel.
pub(super) fn of_wheel(wheel: &OpenedWheel) -> Vec<Diagnostic> {
    let (name, tags) = (&wheel.name, wheel.name.platform_tags().as_slice());
    let mut found = Vec::new();
    let is_any = tags.iter().any(|tag| tag == "any");
    if name.python_tags().as_slice() != ["py3"]
        || name.abi_tags().as_slice() != ["none"]
        || tags.len() != 1
        || is_any
    {
        let message = "the tags of the SDK's wheels are `py3-none-PLATFORM`, with one platform";
        found.push(
            wheel
                .fault(&codes::SDK_PACKAGE_NAME, message)
                .help("build it with `rock-matrix sdk build`"),
        );
    }
    let text = name.version().to_string();
    if name.version().normalized() != text {
        let message = format!(
            "installers write the version `{text}` as `{}`",
            name.version().normalized()
        );
        found.push(wheel.fault(&codes::BAD_SDK_VERSION, message));
    }
    found
}

fn versions(opened: &OpenedPackages) -> Option<Diagnostic> {
    let of_wheels = opened
        .wheels
        .iter()
        .map(|wheel| (wheel.name.version().normalized(), wheel.path.as_str()));
    let of_selectors = opened.selectors.iter().map(|selector| {
        (
            selector_version(&selector.path).unwrap_or_default(),
            selector.path.as_str(),
        )
    });
    different(of_wheels.chain(of_selectors), "version")
}

fn platforms(opened: &OpenedPackages) -> Option<Diagnostic> {
    different(
        opened
            .wheels
            .iter()
            .map(|wheel| (wheel.name.platform_tags().to_string(), wheel.path.as_str())),
        "platform",
    )
}

/// Reports packages that differ in a value that must be the same for all, with the first package of
/// each value.
fn different<'o>(all: impl Iterator<Item = (String, &'o str)>, what: &str) -> Option<Diagnostic> {
    let mut by_text: BTreeMap<String, &str> = BTreeMap::new();
    for (text, path) in all {
        by_text.entry(text).or_insert(path);
    }
    if by_text.len() < 2 {
        return None;
    }
    let texts: Vec<&str> = by_text.keys().map(String::as_str).collect();
    let message = format!(
        "the packages do not have the same {what}: {}",
        texts.join(", ")
    );
    let found = Diagnostic::new(&codes::SDK_PACKAGE_NAME, message);
    let labelled = by_text.iter().fold(found, |found, (text, path)| {
        found.at(Location::File((*path).into()), format!("{what} {text}"))
    });
    Some(labelled.help("keep only the packages of one build in a directory"))
}

/// Returns a version in normal form, as in filenames, or the unchanged text if it is not a version.
/// Builds may write other forms into text files.
pub(super) fn normalized(version: &str) -> String {
    version
        .parse::<Version>()
        .map_or_else(|_| version.to_owned(), |version| version.normalized())
}

/// Returns the version in the filename of an sdist, in normal form.
pub(super) fn selector_version(path: &str) -> Option<String> {
    let file = path.rsplit('/').next()?;
    let text = file.strip_prefix("rocm-")?.strip_suffix(".tar.gz")?;
    text.parse::<Version>()
        .ok()
        .map(|version| version.normalized())
}

/// Reports missing packages that `rocm` or its extras require.
fn missing(opened: &OpenedPackages, family: &str, facts: &SdkTables) -> Vec<Diagnostic> {
    let here = if family.is_empty() {
        String::new()
    } else {
        format!("{family}/")
    };
    let place = format!("{here}*");
    let platform = opened.wheels.first().map(OpenedWheel::platform);
    let wheels = || opened.beside(&place);
    let kinds = [
        PackageKind::Core,
        PackageKind::Libraries,
        PackageKind::Devel,
        PackageKind::Profiler,
    ];
    let mut found = Vec::new();
    let mut tell = |project: &str| {
        let at = if family.is_empty() {
            String::new()
        } else {
            format!(" for {family}")
        };
        found.push(
            Diagnostic::new(
                &codes::SDK_PACKAGE_MISSING,
                format!("there is no package `{project}`{at}"),
            )
            .help("put all packages of one build into the directory, or build them again"),
        );
    };
    for row in kinds.into_iter().filter_map(|kind| row(facts, kind)) {
        let is_wanted = platform.is_none_or(|platform| is_for(row, platform));
        let is_of = |wheel: &OpenedWheel| {
            let is_other = !family.is_empty()
                && wheel
                    .made_for
                    .as_deref()
                    .is_some_and(|other| other != family);
            wheel.kind.word() == row.package && !is_other
        };
        if is_wanted && !wheels().any(is_of) {
            tell(&row.distribution);
        }
    }
    if !opened
        .selectors
        .iter()
        .any(|selector| OpenedPackages::are_together(&selector.path, &place))
    {
        tell("rocm");
    }
    found
}

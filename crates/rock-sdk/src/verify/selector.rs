//! Checks of the `rocm` sdist against the packages that it selects among.

use std::collections::BTreeSet;

use super::names::{normalized, selector_version};
use super::packages::{OpenedPackages, OpenedWheel, SelectorSdist, family_directory, identify};
use super::texts::AssignedValues;
use crate::codes::sdk as codes;
use crate::{PackageKind, base_target};
use rock_compat::rows::SdkTables;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::Platform;
use rock_wheel::HeaderDocument;

/// The files that installers need.
const NEEDED: [&str; 4] = ["PKG-INFO", "pyproject.toml", "setup.py", ABOUT];
/// The module with the values of the build.
const ABOUT: &str = "src/rocm_sdk/_dist_info.py";

/// The help of all findings.
const HELP: &str = "keep all packages of one run of `rock-matrix sdk build` in a directory";

pub(super) fn findings(
    selector: &SelectorSdist,
    opened: &OpenedPackages,
    facts: &SdkTables,
) -> Vec<Diagnostic> {
    let fault = |message: String| {
        Diagnostic::new(&codes::BAD_SELECTOR, message)
            .at(Location::File(selector.path.as_str().into()), "")
            .help(HELP)
    };
    if let Some(reason) = &selector.fault {
        return vec![fault(format!("it cannot be read: {reason}"))];
    }
    let stem = selector
        .path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".tar.gz");
    let text = |name: &str| {
        selector
            .files
            .get(&format!("{stem}/{name}"))
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let about = String::from_utf8_lossy(text(ABOUT));
    let is_own = about.lines().any(|line| line.starts_with("LIBRARIES = "));
    let about = AssignedValues::read(&about);
    let mut problems: Vec<String> = form(selector, stem, is_own);
    let info = HeaderDocument::parse(text("PKG-INFO").to_vec());
    let version = selector_version(&selector.path).unwrap_or_default();
    for (file, recorded) in [
        (
            "PKG-INFO",
            info.get("Version").unwrap_or_default().into_owned(),
        ),
        (ABOUT, about.text("__version__").unwrap_or_default()),
    ] {
        if normalized(&recorded) != version {
            problems.push(format!(
                "its filename has version `{version}`, but {file} has `{recorded}`"
            ));
        }
    }
    problems.extend(targets(selector, &about, opened));
    let problem_of =
        |requirement: &str| requirement_problem(requirement, &version, selector, opened, facts);
    problems.extend(
        info.get_all("Requires-Dist")
            .filter_map(|requirement| problem_of(&requirement)),
    );
    // METADATA may repeat a requirement for each extra and marker.
    let mut reported = BTreeSet::new();
    problems
        .into_iter()
        .filter(|problem| reported.insert(problem.clone()))
        .map(fault)
        .collect()
}

/// Checks that the files that installers need exist and that all files are in one directory. In an
/// sdist of this program, lines must end with LF; `TheRock`'s builder uses the line ending of its
/// host.
fn form(selector: &SelectorSdist, stem: &str, is_own: bool) -> Vec<String> {
    let missing = NEEDED
        .into_iter()
        .filter(|name| !selector.files.contains_key(&format!("{stem}/{name}")));
    let mut problems: Vec<String> = missing
        .map(|name| format!("there is no `{name}` in it"))
        .collect();
    for (path, content) in &selector.files {
        if !path
            .strip_prefix(stem)
            .is_some_and(|rest| rest.starts_with('/'))
        {
            problems.push(format!("`{path}` is not in its directory `{stem}`"));
        }
        if is_own && content.contains(&b'\r') {
            problems.push(format!(
                "`{path}` has lines that end with CR, so the same build on another system differs"
            ));
        }
    }
    problems
}

/// Compares the targets or families that the sdist lists with those that have packages.
fn targets(
    selector: &SelectorSdist,
    about: &AssignedValues<'_>,
    opened: &OpenedPackages,
) -> Vec<String> {
    let is_split = about
        .text("LIBRARIES_DIST_TEMPLATE")
        .is_some_and(|template| !template.contains('{'));
    let kind = if is_split {
        PackageKind::Device
    } else {
        PackageKind::Libraries
    };
    let family = family_directory(&selector.path);
    let is_own = |wheel: &&OpenedWheel| {
        wheel.kind == kind && (family.is_empty() || wheel.made_for.as_deref() == Some(family))
    };
    let have: BTreeSet<String> = opened
        .beside(&selector.path)
        .filter(is_own)
        .filter_map(|wheel| wheel.made_for.clone())
        .collect();
    let own = match opened.wheels.first().map(OpenedWheel::platform) {
        Some(Platform::Windows) => about.list("WINDOWS_TARGET_FAMILIES"),
        _ => about.list("LINUX_TARGET_FAMILIES"),
    };
    let available = about.list("AVAILABLE_TARGET_FAMILIES");
    let default = about.text("DEFAULT_TARGET_FAMILY").unwrap_or_default();
    let mut problems = Vec::new();
    if !available.is_empty() && !available.contains(&default) {
        problems.push(format!(
            "if no GPU is found, it selects `{default}`, which is not one of {}",
            available.join(", ")
        ));
    }
    // A package is for a target with any features.
    let knows = if own.is_empty() { available } else { own };
    let knows: BTreeSet<String> = knows
        .iter()
        .map(|target| base_target(target).to_owned())
        .collect();
    problems.extend(
        knows
            .difference(&have)
            .map(|target| format!("it offers `{target}`, for which there is no package")),
    );
    problems.extend(
        have.difference(&knows)
            .map(|target| format!("it does not know `{target}`, for which there is a package")),
    );
    problems
}

/// Reports a requirement on another version, or on a missing package for a target or family. Other
/// missing packages are reported once for the directory.
fn requirement_problem(
    requirement: &str,
    version: &str,
    selector: &SelectorSdist,
    opened: &OpenedPackages,
    facts: &SdkTables,
) -> Option<String> {
    let (needed, marker) = requirement.split_once(';').unwrap_or((requirement, ""));
    let (project, asked) = needed.trim().split_once("==")?;
    if normalized(asked.trim()) != version {
        return Some(format!(
            "it requires `{}`, but has version `{version}`",
            needed.trim()
        ));
    }
    let other = match opened.wheels.first()?.platform() {
        Platform::Linux => "\"win32\"",
        Platform::Windows => "\"linux\"",
    };
    let (_, made_for) = identify(project.trim(), facts)?;
    let is_there = opened
        .beside(&selector.path)
        .any(|wheel| wheel.project.eq_ignore_ascii_case(project.trim()));
    (made_for.is_some() && !marker.contains(other) && !is_there).then(|| {
        format!(
            "it requires `{}`, but there is no such package",
            needed.trim()
        )
    })
}

//! Checks of search paths, and of the libraries that must be found through them.

use std::collections::{BTreeMap, BTreeSet};

use super::packages::{DynamicInfo, OpenedPackages, OpenedWheel};
use crate::PackageKind;
use crate::codes::sdk as codes;
use crate::layout::{directory_of, row};
use rock_compat::policy::{PlatformPolicies, PolicyFamily};
use rock_compat::rows::SdkTables;
use rock_diagnostic::{Diagnostic, Severity};
use rock_names::{Arch, without_dots};

/// The location that an entry of a search path leads to.
enum SearchLocation {
    /// A directory below `site-packages`.
    Inside(String),
    /// Above `site-packages`.
    Above,
    /// A directory of the machine, or one relative to the working directory.
    Machine,
}

/// Returns the entries of the search path of a file with their locations.
fn entries<'l>(
    path: &'l str,
    linked: &'l DynamicInfo,
) -> impl Iterator<Item = (&'l str, SearchLocation)> {
    // The dynamic linker ignores RPATH if there is a RUNPATH (ld.so(8)).
    let text = linked
        .runpath
        .as_deref()
        .or(linked.rpath.as_deref())
        .unwrap_or_default();
    text.split(':')
        .filter(|entry| !entry.is_empty())
        .map(move |entry| {
            let rest = entry
                .strip_prefix("$ORIGIN")
                .or_else(|| entry.strip_prefix("${ORIGIN}"));
            let place = match rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                Some(rest) => without_dots(&format!("{}{rest}", directory(path)))
                    .map_or(SearchLocation::Above, SearchLocation::Inside),
                None => SearchLocation::Machine,
            };
            (entry, place)
        })
}

/// Returns the directories below `site-packages` that are searched.
fn searched(path: &str, linked: &DynamicInfo) -> BTreeSet<String> {
    let inside = entries(path, linked).filter_map(|(_, place)| match place {
        SearchLocation::Inside(directory) => Some(directory),
        SearchLocation::Above | SearchLocation::Machine => None,
    });
    inside.collect()
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Checks the search paths of one wheel, independent of other wheels.
pub(super) fn of_wheel(wheel: &OpenedWheel, facts: &SdkTables) -> Vec<Diagnostic> {
    let core = row(facts, PackageKind::Core).map_or("", |row| &row.distribution);
    let core = directory_of(core, &wheel.name_suffix(facts));
    let promised: Vec<String> = wheel
        .row(facts)
        .into_iter()
        .flat_map(|row| &row.search)
        .map(|directory| format!("{core}/{directory}"))
        .collect();
    wheel
        .linked()
        .flat_map(|(path, linked)| of_file(wheel, path, linked, &promised))
        .collect()
}

fn of_file(
    wheel: &OpenedWheel,
    path: &str,
    linked: &DynamicInfo,
    promised: &[String],
) -> Vec<Diagnostic> {
    let fault = |message: String| wheel.fault_at(&codes::SDK_SEARCH_PATH, path, message);
    let mut found = Vec::new();
    if let Some(runpath) = &linked.runpath {
        let message = format!(
            "it has the RUNPATH `{runpath}`, which LD_LIBRARY_PATH overrides, but must have an \
             RPATH"
        );
        found.push(
            fault(message)
                .help("build the packages with `rock-matrix sdk build`, which writes RPATH"),
        );
    }
    for (entry, place) in entries(path, linked) {
        match place {
            SearchLocation::Inside(_) => {}
            SearchLocation::Above => found.push(fault(format!(
                "it searches `{entry}`, above the directory of all packages"
            ))),
            SearchLocation::Machine => {
                let message = format!("it searches `{entry}`, where the ROCm of a machine may be");
                found.push(fault(message).severity(Severity::Warning));
            }
        }
    }
    let searched = searched(path, linked);
    let lacking: Vec<&str> = promised
        .iter()
        .filter(|directory| !searched.contains(*directory))
        .map(String::as_str)
        .collect();
    if !lacking.is_empty() && !needs_nothing(linked) {
        found.push(fault(format!(
            "it does not search `{}`",
            lacking.join("`, `")
        )));
    }
    found
}

/// Whether a program needs none of the packages. This is so for the small programs that `TheRock`'s
/// builder compiles in place of symlinks to programs: they need only the C library and have no
/// search path (ROCm/TheRock, `build_tools/_therock_utils/exe_stub_gen.py`).
fn needs_nothing(linked: &DynamicInfo) -> bool {
    let is_of_libc = |needed: &String| matches!(needed.as_str(), "libc.so.6" | "libdl.so.2");
    linked.soname.is_none()
        && linked.rpath.is_none()
        && linked.runpath.is_none()
        && !linked.needed.is_empty()
        && linked.needed.iter().all(is_of_libc)
}

/// The libraries that are installed together, with the files that load them.
struct LoadGraph<'o> {
    /// Directories that contain a library, by its filename.
    offered: BTreeMap<&'o str, BTreeSet<&'o str>>,
    /// Files that need a library, by its name.
    loaders: BTreeMap<&'o str, Vec<(&'o str, &'o DynamicInfo)>>,
    /// The top-level names in `site-packages`.
    tops: BTreeSet<&'o str>,
}

impl<'o> LoadGraph<'o> {
    fn new(wheels: impl Iterator<Item = &'o OpenedWheel>) -> Self {
        let mut together = Self {
            offered: BTreeMap::new(),
            loaders: BTreeMap::new(),
            tops: BTreeSet::new(),
        };
        for wheel in wheels {
            together.tops.extend(wheel.tops());
            for (path, linked) in wheel.linked() {
                let name = path.rsplit('/').next().unwrap_or(path);
                together
                    .offered
                    .entry(name)
                    .or_default()
                    .insert(directory(path));
                for needed in &linked.needed {
                    together
                        .loaders
                        .entry(needed.as_str())
                        .or_default()
                        .push((path, linked));
                }
            }
        }
        together
    }

    /// Whether a needed library is in one of the directories that a file searches.
    fn finds(&self, path: &str, linked: &DynamicInfo, needed: &str) -> bool {
        let Some(directories) = self.offered.get(needed) else {
            return false;
        };
        searched(path, linked)
            .iter()
            .any(|directory| directories.contains(directory.as_str()))
    }

    /// Whether a file that loads this one, directly or indirectly, searches the directory of a
    /// needed library: an RPATH also applies to indirect dependencies (ld.so(8)).
    fn is_found_by_loaders(&self, path: &'o str, needed: &str) -> bool {
        let mut seen = BTreeSet::from([path]);
        let mut open = vec![path];
        while let Some(path) = open.pop() {
            let name = path.rsplit('/').next().unwrap_or(path);
            for (loader, linked) in self.loaders.get(name).into_iter().flatten() {
                if self.finds(loader, linked, needed) {
                    return true;
                }
                if seen.insert(*loader) {
                    open.push(*loader);
                }
            }
        }
        false
    }
}

/// Checks that the wheels of a directory find the libraries that they need from each other.
pub(super) fn across(opened: &OpenedPackages) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for wheel in &opened.wheels {
        if wheel.linked().next().is_none() {
            continue;
        }
        let together = LoadGraph::new(opened.beside(&wheel.path));
        let arch = wheel
            .name
            .platform_tags()
            .iter()
            .find_map(|tag| Arch::of_platform_tag(tag));
        let policies =
            PlatformPolicies::embedded(PolicyFamily::Manylinux, arch.unwrap_or(Arch::X86_64));
        let is_of_system = |name: &str| {
            policies
                .iter()
                .any(|policy| !policy.is_linux() && policy.permits_library(name))
        };
        for (path, linked) in wheel.linked() {
            found.extend(leads_elsewhere(wheel, path, linked, &together));
            for needed in linked.needed.iter().filter(|needed| !needed.contains('/')) {
                found.extend(need(wheel, path, linked, needed, &together, &is_of_system));
            }
        }
    }
    found
}

/// Reports entries that lead to a top-level directory of `site-packages` that no package has.
fn leads_elsewhere(
    wheel: &OpenedWheel,
    path: &str,
    linked: &DynamicInfo,
    together: &LoadGraph<'_>,
) -> Vec<Diagnostic> {
    let tell = |(entry, place)| {
        let SearchLocation::Inside(directory) = place else {
            return None;
        };
        let top = directory.split('/').next().unwrap_or_default();
        let is_known = top.is_empty() || together.tops.contains(top);
        let message = format!("it searches `{entry}`, but no package has the directory `{top}`");
        (!is_known).then(|| wheel.fault_at(&codes::SDK_SEARCH_PATH, path, message))
    };
    entries(path, linked).filter_map(tell).collect()
}

fn need<'o>(
    wheel: &OpenedWheel,
    path: &'o str,
    linked: &DynamicInfo,
    needed: &str,
    together: &LoadGraph<'o>,
    is_of_system: &dyn Fn(&str) -> bool,
) -> Option<Diagnostic> {
    if together.finds(path, linked, needed) || together.is_found_by_loaders(path, needed) {
        return None;
    }
    let fault = |message: String| wheel.fault_at(&codes::UNREACHABLE_LIBRARY, path, message);
    let Some(directories) = together.offered.get(needed) else {
        let message =
            format!("it needs `{needed}`, which is in no package and not on every Linux system");
        return (!is_of_system(needed)).then(|| fault(message).severity(Severity::Warning));
    };
    if directories.contains(directory(path)) {
        let message = format!(
            "it needs `{needed}`, which is next to it, but does not search its own directory"
        );
        return Some(fault(message).severity(Severity::Warning));
    }
    let at: Vec<&str> = directories.iter().copied().collect();
    Some(fault(format!(
        "it needs `{needed}` of {}, which is not searched",
        at.join(" or ")
    )))
}

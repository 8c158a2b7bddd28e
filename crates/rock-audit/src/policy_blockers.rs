//! Reasons why a wheel does not comply with a better policy.

use std::collections::{BTreeMap, BTreeSet};

use super::compliance::Compliance;
use super::findings::offenders;
use super::inspect::{InspectedFile, InspectedKind, libraries};
use super::library::ElfLibrary;
use rock_compat::policy::PlatformPolicy;
use rock_diagnostic::counted;

/// A policy that a wheel does not comply with, and the reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyBlockers {
    /// The platform tag of the policy.
    pub tag: String,
    /// The violations in words, each with the file that causes it.
    pub reasons: Vec<String>,
}

/// The files of a wheel that need a library.
#[derive(Debug, Default)]
struct LibraryUsers<'f> {
    /// Files that list it among their needed libraries (`DT_NEEDED`).
    direct: BTreeSet<&'f str>,
    /// Files that need it through another library.
    indirect: BTreeSet<&'f str>,
}

/// Returns the reasons why a wheel does not comply with the policy that its contents permit, and, if
/// it does, with the next better one; `None` if no policy is better.
pub fn policy_blockers(files: &[InspectedFile], compliance: &Compliance) -> Option<PolicyBlockers> {
    let overall = compliance.overall_policy();
    let permitted = compliance.best_repairable_policy();
    let next = if permitted.priority() > overall.priority() {
        permitted
    } else {
        compliance
            .policies()
            .iter()
            .filter(|policy| policy.priority() > overall.priority())
            .min_by_key(PlatformPolicy::priority)?
    };
    let mut reasons = symbol_reasons(files, next);
    if reasons.is_empty() && compliance.symbol_policy().priority() < next.priority() {
        reasons
            .push("libraries of this machine that would be grafted need newer symbols".to_owned());
    }
    reasons.extend(library_reasons(files, compliance, next));
    reasons.extend(blacklist_reasons(files, compliance, next));
    if compliance.isa_policy().priority() < next.priority() {
        let users = library_paths(files, ElfLibrary::is_above_isa_baseline);
        reasons.push(format!(
            "an x86-64 level above the baseline, which {} needs",
            first_and_count(&users)
        ));
    }
    if let Some(need) = compliance.python_need() {
        let users = library_paths(files, |library| library.uses_pyfpe || library.uses_ucs2);
        reasons.push(format!("{need}, which {} needs", first_and_count(&users)));
    }
    if compliance.calls_unidentified_libc {
        reasons.push("a C library, but whether glibc or musl is unknown".to_owned());
    }
    Some(PolicyBlockers {
        tag: next.tag(),
        reasons,
    })
}

/// Returns the symbol versions that a policy does not permit, newest first, each with a file and a
/// symbol that needs it.
fn symbol_reasons(files: &[InspectedFile], policy: PlatformPolicy<'_>) -> Vec<String> {
    let mut users: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for (path, version) in offenders(files, policy) {
        if let Some((_, paths)) = users.iter_mut().find(|(listed, _)| *listed == version) {
            paths.insert(path);
        } else {
            users.push((version, BTreeSet::from([path])));
        }
    }
    users
        .into_iter()
        .map(|(version, paths)| {
            let symbol = paths
                .first()
                .and_then(|path| library_at(files, path)?.version_users.get(version));
            let users = first_and_count(&paths);
            match symbol {
                Some(symbol) => format!("{version}, which {users} needs for `{symbol}`"),
                None => format!("{version}, which {users} needs"),
            }
        })
        .collect()
}

/// Returns the libraries that a policy does not permit, each with the files that need it.
fn library_reasons(
    files: &[InspectedFile],
    compliance: &Compliance,
    policy: PlatformPolicy<'_>,
) -> Vec<String> {
    let mut users: BTreeMap<&str, LibraryUsers<'_>> = BTreeMap::new();
    for file_index in compliance.violations_by_file.keys().copied() {
        let file = &files[file_index];
        let violations = compliance.file_violations(file_index, policy);
        for name in violations
            .into_iter()
            .flat_map(|found| found.libraries.keys())
        {
            let users = users.entry(name).or_default();
            match &file.kind {
                InspectedKind::Library(library) if library.needed.contains(name) => {
                    users.direct.insert(&file.path);
                }
                _ => {
                    users.indirect.insert(&file.path);
                }
            }
        }
    }
    users
        .into_iter()
        .map(|(name, users)| {
            if users.direct.is_empty() {
                format!(
                    "{name}, which {} needs through other libraries",
                    first_and_count(&users.indirect)
                )
            } else {
                format!("{name}, which {} needs", first_and_count(&users.direct))
            }
        })
        .collect()
}

/// Returns the symbols on the blacklist of a policy, each with the files that call it.
fn blacklist_reasons(
    files: &[InspectedFile],
    compliance: &Compliance,
    policy: PlatformPolicy<'_>,
) -> Vec<String> {
    let mut callers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file_index in compliance.violations_by_file.keys().copied() {
        let violations = compliance.file_violations(file_index, policy);
        for symbol in violations
            .into_iter()
            .flat_map(|violations| violations.blacklisted.values().flatten())
        {
            callers
                .entry(symbol)
                .or_default()
                .insert(&files[file_index].path);
        }
    }
    callers
        .into_iter()
        .map(|(symbol, paths)| format!("`{symbol}`, which {} calls", first_and_count(&paths)))
        .collect()
}

/// Returns the paths of the libraries for which a predicate holds.
fn library_paths(
    files: &[InspectedFile],
    predicate: impl Fn(&ElfLibrary) -> bool,
) -> BTreeSet<&str> {
    libraries(files)
        .filter(|(_, library)| predicate(library))
        .map(|(path, _)| path)
        .collect()
}

fn library_at<'f>(files: &'f [InspectedFile], path: &str) -> Option<&'f ElfLibrary> {
    let index = files
        .binary_search_by(|file| file.path.as_str().cmp(path))
        .ok()?;
    match &files[index].kind {
        InspectedKind::Library(library) => Some(library),
        _ => None,
    }
}

/// Returns the first file and the number of others, in words.
fn first_and_count(files: &BTreeSet<&str>) -> String {
    match (files.first(), files.len()) {
        (None, _) => "a library of this machine".to_owned(),
        (Some(file), 1) => (*file).to_owned(),
        (Some(first), count) => format!("{first} (and {})", counted(count - 1, "other file")),
    }
}

//! Reasons why a wheel does not comply with the next better policy.

use std::collections::{BTreeMap, BTreeSet};

use super::compliance::Compliance;
use super::findings::offenders;
use super::inspect::{InspectedFile, InspectedKind};
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

/// Returns the reasons why a wheel does not comply with the policy next to the one it complies
/// with; `None` if no policy is better.
pub fn policy_blockers(files: &[InspectedFile], compliance: &Compliance) -> Option<PolicyBlockers> {
    let better = compliance
        .policies()
        .iter()
        .filter(|one| one.priority() > compliance.overall().priority());
    let next = better.min_by_key(PlatformPolicy::priority)?;
    let mut reasons = versions(files, next);
    if reasons.is_empty() && compliance.symbols().priority() < next.priority() {
        reasons
            .push("libraries of this machine that would come along need newer symbols".to_owned());
    }
    let mut users: BTreeMap<&str, LibraryUsers<'_>> = BTreeMap::new();
    let mut forbidden: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (number, references) in &compliance.gaps_by_file {
        let path = files[*number].path.as_str();
        for reference in references
            .iter()
            .filter(|one| compliance.policy(one.policy) == next)
        {
            for name in reference.libraries.keys() {
                let users = users.entry(name).or_default();
                let is_named = matches!(&files[*number].kind, InspectedKind::Library(library) if library.needed.contains(name));
                if is_named {
                    &mut users.direct
                } else {
                    &mut users.indirect
                }
                .insert(path);
            }
            for symbol in reference.forbidden.values().flatten() {
                forbidden.entry(symbol).or_default().insert(path);
            }
        }
    }
    reasons.extend(users.iter().map(|(name, users)| match users {
        LibraryUsers { direct, indirect } if direct.is_empty() => {
            format!(
                "{name}, which {} needs by way of other libraries",
                first_and_count(indirect)
            )
        }
        LibraryUsers { direct, .. } => format!("{name}, which {} needs", first_and_count(direct)),
    }));
    reasons.extend(
        forbidden
            .iter()
            .map(|(symbol, files)| format!("`{symbol}`, which {} calls", first_and_count(files))),
    );
    if compliance.isa().priority() < next.priority() {
        let above =
            |(_, library): &(&str, &ElfLibrary)| library.isa_level.is_some_and(|level| level > 0);
        let files: BTreeSet<&str> = super::inspect::libraries(files)
            .filter(above)
            .map(|(path, _)| path)
            .collect();
        reasons.push(format!(
            "a level of x86-64 above the first, which {} needs",
            first_and_count(&files)
        ));
    }
    if let Some(need) = compliance.python_need() {
        let is_user = |(_, library): &(&str, &ElfLibrary)| library.uses_pyfpe || library.uses_ucs2;
        let files = super::inspect::libraries(files)
            .filter(is_user)
            .map(|(path, _)| path)
            .collect();
        reasons.push(format!("{need}, which {} needs", first_and_count(&files)));
    }
    if compliance.is_libc_unknown {
        reasons.push("a C library, but whether glibc or musl is unknown".to_owned());
    }
    Some(PolicyBlockers {
        tag: next.tag(),
        reasons,
    })
}

/// Returns the symbol versions that a policy does not permit, newest first, each with a file and a
/// symbol that needs it.
fn versions(files: &[InspectedFile], policy: PlatformPolicy<'_>) -> Vec<String> {
    let library = |path: &str| {
        let at = files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()?;
        match &files[at].kind {
            InspectedKind::Library(library) => Some(library),
            _ => None,
        }
    };
    let mut users: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for (path, version) in offenders(files, policy) {
        if let Some((_, files)) = users.iter_mut().find(|(other, _)| *other == version) {
            files.insert(path);
        } else {
            users.push((version, BTreeSet::from([path])));
        }
    }
    let reason = |(version, files): (&str, BTreeSet<&str>)| {
        let symbol = files
            .first()
            .and_then(|path| library(path)?.version_users.get(version));
        let what = symbol.map_or_else(String::new, |symbol| format!(" for `{symbol}`"));
        format!("{version}, which {} needs{what}", first_and_count(&files))
    };
    users.into_iter().map(reason).collect()
}

/// Returns the first file and the number of others, in words.
fn first_and_count(files: &BTreeSet<&str>) -> String {
    match (files.first(), files.len()) {
        (None, _) => "a library of this machine".to_owned(),
        (Some(one), 1) => (*one).to_owned(),
        (Some(first), more) => format!("{first} (and {})", counted(more - 1, "other file")),
    }
}

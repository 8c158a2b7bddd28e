//! What keeps a wheel from the next better platform.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::offenders;
use super::inspect::{FileFacts, FileKind};
use super::library::Library;
use super::verdict::Verdict;
use rock_compat::policy::PlatformPolicy;
use rock_diagnostic::counted;

/// A platform that a wheel does not fit, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacles {
    /// The platform's tag.
    pub tag: String,
    /// What it lacks, each with the file that needs it; in words.
    pub reasons: Vec<String>,
}

/// The files of a wheel that need a library.
#[derive(Debug, Default)]
struct Users<'f> {
    /// Files that list it among their needed libraries (`DT_NEEDED`).
    direct: BTreeSet<&'f str>,
    /// Files that need it through another library.
    indirect: BTreeSet<&'f str>,
}

/// What keeps a wheel from the platform that is next to the one it fits; `None` where no platform
/// is better.
pub fn obstacles(files: &[FileFacts], verdict: &Verdict<'_>) -> Option<Obstacles> {
    let better = verdict
        .judging
        .policies
        .iter()
        .filter(|one| one.priority() > verdict.overall.priority());
    let next = better.min_by_key(PlatformPolicy::priority)?;
    let mut reasons = versions(files, next);
    if reasons.is_empty() && verdict.symbols.priority() < next.priority() {
        reasons
            .push("libraries of this machine that would come along need newer symbols".to_owned());
    }
    let mut users: BTreeMap<&str, Users<'_>> = BTreeMap::new();
    let mut forbidden: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (number, references) in &verdict.by_file {
        let path = files[*number].path.as_str();
        for reference in references.iter().filter(|one| one.policy == next) {
            for name in reference.libraries.keys() {
                let users = users.entry(name).or_default();
                let is_named = matches!(&files[*number].kind, FileKind::Library(library) if library.needed.contains(name));
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
        Users { direct, indirect } if direct.is_empty() => {
            format!(
                "{name}, which {} needs by way of other libraries",
                some(indirect)
            )
        }
        Users { direct, .. } => format!("{name}, which {} needs", some(direct)),
    }));
    reasons.extend(
        forbidden
            .iter()
            .map(|(symbol, files)| format!("`{symbol}`, which {} calls", some(files))),
    );
    if verdict.isa.priority() < next.priority() {
        let above =
            |(_, library): &(&str, &Library)| library.isa_level.is_some_and(|level| level > 0);
        let files: BTreeSet<&str> = super::inspect::libraries(files)
            .filter(above)
            .map(|(path, _)| path)
            .collect();
        reasons.push(format!(
            "a level of x86-64 above the first, which {} needs",
            some(&files)
        ));
    }
    if let Some(need) = verdict.python_need() {
        let is_user = |(_, library): &(&str, &Library)| library.uses_pyfpe || library.uses_ucs2;
        let files = super::inspect::libraries(files)
            .filter(is_user)
            .map(|(path, _)| path)
            .collect();
        reasons.push(format!("{need}, which {} needs", some(&files)));
    }
    if verdict.judging.is_libc_open {
        reasons.push("a C library, but whether glibc or musl is unknown".to_owned());
    }
    Some(Obstacles {
        tag: next.tag(),
        reasons,
    })
}

/// Versions of symbols that a policy lacks, the newest first, each with a file and a symbol that
/// needs it.
fn versions(files: &[FileFacts], policy: PlatformPolicy<'_>) -> Vec<String> {
    let library = |path: &str| {
        let at = files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()?;
        match &files[at].kind {
            FileKind::Library(library) => Some(library),
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
        format!("{version}, which {} needs{what}", some(&files))
    };
    users.into_iter().map(reason).collect()
}

/// The first of some files, and how many others there are.
fn some(files: &BTreeSet<&str>) -> String {
    match (files.first(), files.len()) {
        (None, _) => "a library of this machine".to_owned(),
        (Some(one), 1) => (*one).to_owned(),
        (Some(first), more) => format!("{first} (and {})", counted(more - 1, "other file")),
    }
}

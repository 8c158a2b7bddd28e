//! Checks for ROCm's libraries: grafted ones, and those of two releases.

use std::collections::{BTreeMap, BTreeSet};

use super::CheckContext;
use crate::codes::rocm as codes;
use crate::embed::{known_embedding_rule, says_embedded};
use crate::library::ElfLibrary;
use crate::pattern::LibraryPatterns;
use rock_diagnostic::Diagnostic;

/// The preset of ROCm's libraries.
const PRESET: &str = "rocm";

pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let Some(preset) = context.compat.preset(PRESET) else {
        return Vec::new();
    };
    let is_rocm =
        LibraryPatterns::new(preset.patterns.iter().map(String::as_str)).unwrap_or_default();
    let mut found = Vec::new();
    let embedding =
        known_embedding_rule(context.name, context.compat).filter(|_| says_embedded(context.name));
    let is_embedded = |path: &str| {
        let below = embedding.and_then(|row| path.strip_prefix(row.into.as_str()));
        below.is_some_and(|below| below.starts_with('/'))
    };
    for (path, library) in context.libraries().filter(|(path, _)| !is_embedded(path)) {
        let name = library
            .soname
            .as_deref()
            .or_else(|| path.rsplit('/').next())
            .unwrap_or_default();
        if is_rocm.has(name) || is_rocm.has(&without_hash(name)) {
            let message = format!("`{name}` is a library of ROCm, and lies in the wheel");
            found.push(
                context
                    .on_member(&codes::VENDORED_ROCM, path, message)
                    .help("repair the wheel as it was built, with the libraries of ROCm left outside: `rock-matrix wheel repair` does so"),
            );
        }
    }
    found.extend(two_majors(context, &is_rocm));
    found
}

/// Removes the hash of a grafted library: `libamdhip64-1a2b3c4d.so.6`.
fn without_hash(name: &str) -> String {
    let Some((stem, rest)) = name.split_once('.') else {
        return name.to_owned();
    };
    match stem.rsplit_once('-') {
        Some((base, hash))
            if hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            format!("{base}.{rest}")
        }
        _ => name.to_owned(),
    }
}

/// Splits `libamdhip64.so.6` into its base and major version.
fn split(soname: &str) -> Option<(&str, u32)> {
    let (base, version) = soname.split_once(".so.")?;
    Some((base, version.split('.').next()?.parse().ok()?))
}

/// Reports ROCm libraries of several major versions, needed or contained, among those that one
/// process loads.
fn two_majors(context: CheckContext<'_>, is_rocm: &LibraryPatterns) -> Vec<Diagnostic> {
    // What lies outside of all variants is told once.
    let mut messages = BTreeSet::new();
    for libraries in loaded_together(context) {
        let mut users: BTreeMap<String, BTreeMap<u32, &str>> = BTreeMap::new();
        for (path, library) in libraries {
            let own = library.soname.as_deref().map(without_hash);
            let names = library
                .needed
                .iter()
                .map(|needed| without_hash(needed))
                .chain(own);
            for (base, major) in names.filter(|name| is_rocm.has(name)).filter_map(|name| {
                let (base, major) = split(&name)?;
                Some((base.to_owned(), major))
            }) {
                users.entry(base).or_default().entry(major).or_insert(path);
            }
        }
        for (base, majors) in users.into_iter().filter(|(_, majors)| majors.len() > 1) {
            let list: Vec<String> = majors
                .iter()
                .map(|(major, path)| format!("`{base}.so.{major}` by {path}"))
                .collect();
            messages.insert(format!("needed are {}", list.join(" and ")));
        }
    }
    messages
        .into_iter()
        .map(|message| context.on_wheel(&codes::TWO_ROCM_MAJORS, message))
        .collect()
}

/// Returns the libraries that one process loads, with their paths: for each variant the libraries
/// outside of all variants and its own, in this order; all libraries if there are no variants.
fn loaded_together(context: CheckContext<'_>) -> Vec<Vec<(&str, &ElfLibrary)>> {
    let variants: BTreeSet<&str> = context
        .libraries()
        .map(|(path, _)| variant(path))
        .filter(|one| !one.is_empty())
        .collect();
    if variants.is_empty() {
        return vec![context.libraries().collect()];
    }
    variants
        .into_iter()
        .map(|number| {
            let outside = context
                .libraries()
                .filter(|(path, _)| variant(path).is_empty());
            outside
                .chain(
                    context
                        .libraries()
                        .filter(|(path, _)| variant(path) == number),
                )
                .collect()
        })
        .collect()
}

/// The text before the number of a variant.
const VARIANT: &str = "_rocm";

/// Returns the variant of a file, of several that are loaded one at a time: the number in `_rocmNN`
/// of its path. Empty for files that are loaded with all variants.
fn variant(path: &str) -> &str {
    let number = |at: usize| {
        let rest = &path[at + VARIANT.len()..];
        let end = rest
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(rest.len());
        (end > 0).then_some(&rest[..end])
    };
    path.match_indices(VARIANT)
        .find_map(|(at, _)| number(at))
        .unwrap_or_default()
}

/// Major versions of ROCm, each with the names of the libraries that imply it.
type RocmMajors = BTreeMap<String, BTreeSet<String>>;

/// Returns the major versions of ROCm that the libraries of a wheel were linked against.
pub(crate) fn rocm_majors(context: CheckContext<'_>) -> RocmMajors {
    majors(context, context.libraries())
}

/// Returns the major versions of ROCm that libraries of one process were linked against, if the one
/// in the label is not the only one; `None` if it is, among all libraries or among those of one
/// variant.
pub(super) fn other_majors(context: CheckContext<'_>, said: &str) -> Option<RocmMajors> {
    let all = loaded_together(context).into_iter().map(|libraries| {
        let mut found = majors(context, libraries.into_iter());
        // Some libraries keep their SONAME over a major version: it tells another one where that
        // has one of its own.
        if found.contains_key(said) {
            let own = |name: &String| {
                split(name).is_some_and(|(base, _)| has_soname(context, base, said))
            };
            for (_, names) in found.iter_mut().filter(|(major, _)| *major != said) {
                names.retain(own);
            }
            found.retain(|_, names| !names.is_empty());
        }
        found
    });
    let all: Vec<RocmMajors> = all.collect();
    let is_true = |majors: &RocmMajors| majors.keys().all(|major| major == said);
    if all.iter().any(is_true) {
        return None;
    }
    all.into_iter()
        .max_by_key(|majors| majors.contains_key(said))
}

/// Returns whether the SONAME of a library in a major version of ROCm is recorded.
fn has_soname(context: CheckContext<'_>, base: &str, major: &str) -> bool {
    let rows = &context.compat.tables().sonames;
    rows.iter()
        .any(|row| row.rocm == major && split(&row.soname).is_some_and(|(one, _)| one == base))
}

fn majors<'l>(
    context: CheckContext<'_>,
    libraries: impl Iterator<Item = (&'l str, &'l ElfLibrary)>,
) -> RocmMajors {
    let mut majors = RocmMajors::new();
    for needed in libraries.flat_map(|(_, library)| &library.needed) {
        if let Some(row) = context.compat.soname(needed) {
            majors
                .entry(row.rocm.clone())
                .or_default()
                .insert(needed.clone());
        }
    }
    majors
}

#[cfg(test)]
mod tests {
    use super::{split, variant, without_hash};

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(split("libamdhip64.so.6.2"), Some(("libamdhip64", 6)));
        assert_eq!(split("libc10.so"), None);
        assert_eq!(
            without_hash("libamdhip64-1a2b3c4d.so.6"),
            "libamdhip64.so.6"
        );
        assert_eq!(without_hash("libfoo-bar.so"), "libfoo-bar.so");
        assert_eq!(variant("x/_rocm_sdk_core/lib_rocm62/a.so"), "62");
        assert_eq!(variant("x/_rocm_sdk_core/a.so"), "");
    }
}

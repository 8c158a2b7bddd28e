//! ROCm's own libraries: carried along, or of two releases.

use std::collections::{BTreeMap, BTreeSet};

use super::Subject;
use crate::audit::tree::Excludes;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::registry::rocm as codes;

/// The preset that names ROCm's libraries.
const PRESET: &str = "rocm";

pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let Some(preset) = subject.compat.preset(PRESET) else { return Vec::new() };
    let is_rocm = Excludes::new(preset.patterns.iter().map(String::as_str)).unwrap_or_default();
    let mut found = Vec::new();
    for (path, library) in subject.libraries() {
        let name = library.soname.as_deref().or_else(|| path.rsplit('/').next()).unwrap_or_default();
        if is_rocm.has(name) || is_rocm.has(&without_hash(name)) {
            let message = format!("`{name}` is a library of ROCm, and lies in the wheel");
            found.push(
                subject
                    .on_member(&codes::VENDORED_ROCM, path, message)
                    .help("repair the wheel as it was built with `--exclude-preset rocm`"),
            );
        }
    }
    found.extend(two_majors(subject, &is_rocm));
    found
}

/// `libamdhip64-1a2b3c4d.so.6` without the hash that grafting adds.
fn without_hash(name: &str) -> String {
    let Some((stem, rest)) = name.split_once('.') else { return name.to_owned() };
    match stem.rsplit_once('-') {
        Some((base, hash)) if hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            format!("{base}.{rest}")
        }
        _ => name.to_owned(),
    }
}

/// `libamdhip64.so.6` as base and major version.
fn split(soname: &str) -> Option<(&str, u32)> {
    let (base, version) = soname.split_once(".so.")?;
    Some((base, version.split('.').next()?.parse().ok()?))
}

/// Libraries of ROCm in several major versions, needed or in the wheel, within one of its variants or outside of all.
fn two_majors(subject: Subject<'_>, is_rocm: &Excludes) -> Vec<Diagnostic> {
    let mut users: BTreeMap<(&str, String), BTreeMap<u32, &str>> = BTreeMap::new();
    for (path, library) in subject.libraries() {
        let own = library.soname.as_deref().map(without_hash);
        let names = library.needed.iter().map(|needed| without_hash(needed)).chain(own);
        for (base, major) in names.filter(|name| is_rocm.has(name)).filter_map(|name| {
            let (base, major) = split(&name)?;
            Some((base.to_owned(), major))
        }) {
            users.entry((variant(path), base)).or_default().entry(major).or_insert(path);
        }
    }
    let several = users.into_iter().filter(|(_, majors)| majors.len() > 1);
    several
        .map(|((_, base), majors)| {
            let list: Vec<String> =
                majors.iter().map(|(major, path)| format!("`{base}.so.{major}` by {path}")).collect();
            subject.on_wheel(&codes::TWO_ROCM_MAJORS, format!("needed are {}", list.join(" and ")))
        })
        .collect()
}

/// What stands before the number of a variant.
const VARIANT: &str = "_rocm";

/// Of which variant a file is, of several that are loaded one at a time: the number in `_rocmNN` of its path. Empty for
/// what is loaded with all of them.
fn variant(path: &str) -> &str {
    let number = |at: usize| {
        let rest = &path[at + VARIANT.len()..];
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        (end > 0).then_some(&rest[..end])
    };
    path.match_indices(VARIANT).find_map(|(at, _)| number(at)).unwrap_or_default()
}

/// The major versions of ROCm that the libraries of a wheel were linked against, each with a library's name that tells.
pub(in crate::audit) fn rocm_majors(subject: Subject<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut majors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for needed in subject.libraries().flat_map(|(_, library)| &library.needed) {
        if let Some(row) = subject.compat.soname(needed) {
            majors.entry(row.rocm.clone()).or_default().insert(needed.clone());
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
        assert_eq!(without_hash("libamdhip64-1a2b3c4d.so.6"), "libamdhip64.so.6");
        assert_eq!(without_hash("libfoo-bar.so"), "libfoo-bar.so");
        assert_eq!(variant("x/_rocm_sdk_core/lib_rocm62/a.so"), "62");
        assert_eq!(variant("x/_rocm_sdk_core/a.so"), "");
    }
}

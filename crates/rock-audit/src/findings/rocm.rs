//! Checks for ROCm's libraries: grafted ones, and those of two releases.

use std::collections::{BTreeMap, BTreeSet};

use super::CheckContext;
use crate::codes::rocm as codes;
use crate::embed::{known_embedding_rule, says_embedded};
use crate::inspect::{InspectedFile, libraries};
use crate::library::ElfLibrary;
use crate::pattern::LibraryPatterns;
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_names::WheelName;

/// The preset of ROCm's libraries.
const PRESET: &str = "rocm";

/// Reports libraries of ROCm in the wheel, and those of several major versions.
pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let Some(rocm) = RocmLibraries::new(context.name, context.compat) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (path, library) in context
        .libraries()
        .filter(|(path, _)| !rocm.is_embedded(path))
    {
        let name = library_name(path, library.soname.as_deref());
        if rocm.has_name(name) {
            let message = format!("the wheel contains `{name}`, a library of ROCm");
            findings.push(
                context
                    .on_member(&codes::VENDORED_ROCM, path, message)
                    .help(
                        "repair the original wheel without grafting libraries of ROCm: \
                         `rock-matrix wheel repair` excludes them",
                    ),
            );
        }
    }
    findings.extend(two_majors(context, &rocm.patterns));
    findings
}

/// Recognizes the libraries of ROCm in a wheel.
pub(super) struct RocmLibraries {
    patterns: LibraryPatterns,
    /// The directory of an embedded ROCm, with a slash at its end.
    embedding_dir: Option<String>,
}

impl RocmLibraries {
    /// Creates the patterns for a wheel with this name; `None` if the tables have none.
    pub(super) fn new(name: &WheelName, compat: &Compat) -> Option<Self> {
        let preset = compat.preset(PRESET)?;
        let patterns = LibraryPatterns::new(preset.patterns.iter().map(String::as_str));
        Some(Self {
            patterns: patterns.unwrap_or_default(),
            embedding_dir: known_embedding_rule(name, compat)
                .filter(|_| says_embedded(name))
                .map(|row| format!("{}/", row.into)),
        })
    }

    /// Returns whether a file belongs to an embedded ROCm.
    pub(super) fn is_embedded(&self, path: &str) -> bool {
        self.embedding_dir
            .as_ref()
            .is_some_and(|directory| path.starts_with(directory))
    }

    /// Returns whether a library with this name is one of ROCm, also if it was grafted.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.patterns.has(name) || self.patterns.has(&without_hash(name))
    }
}

/// Returns the SONAME of a library, or its filename if it has none.
pub(super) fn library_name<'l>(path: &'l str, soname: Option<&'l str>) -> &'l str {
    soname
        .or_else(|| path.rsplit('/').next())
        .unwrap_or_default()
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
fn base_and_major(soname: &str) -> Option<(&str, u32)> {
    let (base, version) = soname.split_once(".so.")?;
    Some((base, version.split('.').next()?.parse().ok()?))
}

/// Reports ROCm libraries of several major versions, needed or contained, among those that one
/// process loads.
fn two_majors(context: CheckContext<'_>, is_rocm: &LibraryPatterns) -> Vec<Diagnostic> {
    // A set, because libraries outside of all variants are checked with each of them.
    let mut messages = BTreeSet::new();
    let all: Vec<_> = context.libraries().collect();
    for libraries in loaded_together(&all) {
        let mut users: BTreeMap<String, BTreeMap<u32, &str>> = BTreeMap::new();
        for (path, library) in libraries {
            let own_name = library.soname.as_deref().map(without_hash);
            let names = library
                .needed
                .iter()
                .map(|needed| without_hash(needed))
                .chain(own_name);
            for (base, major) in names.filter(|name| is_rocm.has(name)).filter_map(|name| {
                let (base, major) = base_and_major(&name)?;
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
            messages.insert(format!(
                "different major versions are needed: {}",
                list.join(" and ")
            ));
        }
    }
    messages
        .into_iter()
        .map(|message| context.on_wheel(&codes::TWO_ROCM_MAJORS, message))
        .collect()
}

/// Returns the libraries that one process loads, with their paths: for each variant the libraries
/// outside of all variants and its own, in this order; all libraries if there are no variants.
fn loaded_together<'l>(
    libraries: &[(&'l str, &'l ElfLibrary)],
) -> Vec<Vec<(&'l str, &'l ElfLibrary)>> {
    let variants: BTreeSet<&str> = libraries
        .iter()
        .map(|(path, _)| variant(path))
        .filter(|variant| !variant.is_empty())
        .collect();
    if variants.is_empty() {
        return vec![libraries.to_vec()];
    }
    variants
        .into_iter()
        .map(|variant_number| {
            let of = |number: &str| {
                let own = libraries.iter().filter(|(path, _)| variant(path) == number);
                own.copied().collect::<Vec<_>>()
            };
            [of(""), of(variant_number)].concat()
        })
        .collect()
}

/// The text before the number of a variant.
pub(super) const VARIANT: &str = "_rocm";

/// Returns the variant of a file, of several that are loaded one at a time: the number in `_rocmNN`
/// of its path. Empty for files that are loaded with all variants.
pub(super) fn variant(path: &str) -> &str {
    path.match_indices(VARIANT)
        .map(|(index, _)| {
            let rest = &path[index + VARIANT.len()..];
            let end = rest
                .find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(rest.len());
            &rest[..end]
        })
        .find(|number| !number.is_empty())
        .unwrap_or_default()
}

/// Major versions of ROCm, each with the names of the libraries that imply it.
type RocmMajors = BTreeMap<String, BTreeSet<String>>;

/// Returns the major versions of ROCm that the libraries of a wheel were linked against.
pub(crate) fn rocm_majors(context: CheckContext<'_>) -> RocmMajors {
    majors(context.compat, context.libraries())
}

/// Returns the major versions of ROCm that libraries of one process were linked against, if the one
/// in the label is not the only one; `None` if it is, among all libraries or among those of one
/// variant.
pub(super) fn other_majors(context: CheckContext<'_>, label_major: &str) -> Option<RocmMajors> {
    let libraries: Vec<_> = context.libraries().collect();
    let all = loaded_together(&libraries).into_iter().map(|libraries| {
        let mut majors = majors(context.compat, libraries.into_iter());
        // Some libraries keep their SONAME in the next major version. A SONAME only implies another
        // version if the library has its own SONAME in that of the label.
        if majors.contains_key(label_major) {
            for (_, names) in majors.iter_mut().filter(|(major, _)| *major != label_major) {
                names.retain(|name| {
                    base_and_major(name)
                        .is_some_and(|(base, _)| has_soname(context.compat, base, label_major))
                });
            }
            majors.retain(|_, names| !names.is_empty());
        }
        majors
    });
    let all: Vec<RocmMajors> = all.collect();
    if all
        .iter()
        .any(|majors| majors.keys().all(|major| major == label_major))
    {
        return None;
    }
    all.into_iter()
        .max_by_key(|majors| majors.contains_key(label_major))
}

/// Returns the major versions of ROCm with which the libraries of a wheel load: those that have all
/// libraries of ROCm that it needs and does not contain. If no version has them all, returns every
/// version that has one; empty for a wheel that needs none.
pub fn needed_rocm_majors(files: &[InspectedFile], compat: &Compat) -> BTreeSet<u32> {
    let own: Vec<(&str, &ElfLibrary)> = libraries(files).collect();
    let contained: BTreeSet<&str> = own
        .iter()
        .flat_map(|(path, library)| [path.rsplit('/').next(), library.soname.as_deref()])
        .flatten()
        .collect();
    let mut found = BTreeSet::new();
    for libraries in loaded_together(&own) {
        let mut majors = majors(compat, libraries.into_iter());
        for names in majors.values_mut() {
            names.retain(|name| !contained.contains(name.as_str()));
        }
        majors.retain(|_, names| !names.is_empty());
        // Some libraries keep their SONAME in the next major version.
        let has_all = |major: &str| {
            let others = majors.iter().filter(|(other, _)| *other != major);
            others.flat_map(|(_, names)| names).all(|name| {
                base_and_major(name).is_none_or(|(base, _)| !has_soname(compat, base, major))
            })
        };
        let complete: Vec<&String> = majors.keys().filter(|major| has_all(major)).collect();
        let needed: Vec<&String> = if complete.is_empty() {
            majors.keys().collect()
        } else {
            complete
        };
        found.extend(
            needed
                .into_iter()
                .filter_map(|major| major.parse::<u32>().ok()),
        );
    }
    found
}

/// Returns whether the SONAME of a library in a major version of ROCm is recorded.
fn has_soname(compat: &Compat, base: &str, major: &str) -> bool {
    let rows = &compat.library_tables().sonames;
    rows.iter().any(|row| {
        row.rocm == major
            && base_and_major(&row.soname).is_some_and(|(row_base, _)| row_base == base)
    })
}

fn majors<'l>(
    compat: &Compat,
    libraries: impl Iterator<Item = (&'l str, &'l ElfLibrary)>,
) -> RocmMajors {
    let mut majors = RocmMajors::new();
    for needed in libraries.flat_map(|(_, library)| &library.needed) {
        if let Some(row) = compat.soname(needed) {
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
    use super::{base_and_major, variant, without_hash};

    #[test]
    fn library_names_are_parsed() {
        assert_eq!(
            base_and_major("libamdhip64.so.6.2"),
            Some(("libamdhip64", 6))
        );
        assert_eq!(base_and_major("libc10.so"), None);
        assert_eq!(
            without_hash("libamdhip64-1a2b3c4d.so.6"),
            "libamdhip64.so.6"
        );
        assert_eq!(without_hash("libfoo-bar.so"), "libfoo-bar.so");
        assert_eq!(variant("x/_rocm_sdk_core/lib_rocm62/a.so"), "62");
        assert_eq!(variant("x/_rocm_sdk_core/a.so"), "");
    }
}

//! Files that are already published.

use std::collections::{BTreeMap, BTreeSet};

use rock_names::{
    Combination, ExpectedWheel, RocmVersion, Version, WheelIdentity, WheelName, plain_linux_tag,
};

/// Published wheels and archives, whose jobs can be skipped.
///
/// Two wheels are equal if their combination, C++ ABI, Python tag, ABI tag and machine are equal.
/// The spelling of the label may differ, and so may the platform tag, because repair changes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishedSet {
    known_rocm: Vec<RocmVersion>,
    /// The published versions, by the other properties of a wheel.
    versions: BTreeMap<PublishedIdentity, BTreeSet<Version>>,
    names: BTreeSet<String>,
    archives: BTreeSet<String>,
}

/// The properties that identify a wheel in addition to its version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct PublishedIdentity {
    distribution: String,
    python: String,
    abi: String,
    machine: String,
    label: PublishedLabel,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PublishedLabel {
    /// A label that can be parsed, or none; the version of the combination is a placeholder.
    Parsed(Combination, Option<bool>),
    /// A label in another format.
    Text(String),
}

impl PublishedSet {
    /// Creates an empty set. `known_rocm` is used to parse labels with digits without dots.
    pub fn new(known_rocm: Vec<RocmVersion>) -> Self {
        Self {
            known_rocm,
            ..Self::default()
        }
    }

    /// Adds a wheel.
    pub fn insert(&mut self, name: &WheelName) {
        self.versions
            .entry(self.identity(name))
            .or_default()
            .insert(name.version().public());
        self.names.insert(name.to_string());
    }

    /// Adds an archive of an install tree, or a source distribution.
    pub fn insert_archive(&mut self, name: &str) {
        self.archives.insert(name.to_owned());
    }

    /// Whether this archive or source distribution is published.
    pub fn has_archive(&self, name: &str) -> bool {
        self.archives.contains(name)
    }

    /// Returns the number of published wheels that equal the expected one, or that differ only in
    /// the spelling of the label, the platform tag and the build tag; at most one if the version is
    /// known.
    pub fn count(&self, expected: &ExpectedWheel) -> usize {
        let identity = self.identity(expected.name_with_placeholder());
        let there = |identity| self.versions.get(identity);
        if let Some(version) = expected.version() {
            let version = version.public();
            return usize::from(
                there(&identity).is_some_and(|versions| versions.contains(&version)),
            );
        }
        if expected.label().is_some() {
            return there(&identity).map_or(0, BTreeSet::len);
        }
        let is_alike = |other: &PublishedIdentity| {
            let of = |one: &PublishedIdentity| {
                (
                    one.distribution.clone(),
                    one.python.clone(),
                    one.abi.clone(),
                    one.machine.clone(),
                )
            };
            of(other) == of(&identity)
        };
        self.versions
            .iter()
            .filter(|(other, _)| is_alike(other))
            .map(|(_, versions)| versions.len())
            .sum()
    }

    /// Whether nothing is published.
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty() && self.archives.is_empty()
    }

    /// Returns the filenames of the wheels, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    fn identity(&self, name: &WheelName) -> PublishedIdentity {
        let no_version: Version = "0".parse().expect("a number is a version");
        let label = match WheelIdentity::of(name, &self.known_rocm) {
            Ok(identity) => {
                let combination = Combination {
                    version: no_version,
                    ..Combination::of(&identity)
                };
                PublishedLabel::Parsed(combination, identity.cxx11abi())
            }
            Err(_) => match name.label().map(|label| (label.without_commit(), label)) {
                // A development build prepends its commit to the label of the plan.
                Some((planned, label)) if planned != label => {
                    let local = format!("{}+{planned}", name.version().public());
                    let local = local.parse().expect("a version with a label is one");
                    return self.identity(&name.clone().with_version(local));
                }
                label => PublishedLabel::Text(
                    label
                        .map(|(label, _)| label.to_string())
                        .unwrap_or_default(),
                ),
            },
        };
        PublishedIdentity {
            distribution: name.distribution().escaped(),
            python: name.python_tags().to_string(),
            abi: name.abi_tags().to_string(),
            machine: name
                .platform_tags()
                .as_slice()
                .first()
                .map_or_else(String::new, |tag| plain_linux_tag(tag)),
            label,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PublishedSet;

    /// Whether a published wheel with the first label and tags counts as the wanted one.
    fn is_there(published: &str, wanted: &str) -> bool {
        let name = |rest: &str| format!("Flash_Attn-2.8.3{rest}.whl");
        published_of(&[&name(published)]).count(&name(wanted).parse().unwrap()) == 1
    }

    fn published_of(names: &[&str]) -> PublishedSet {
        let mut all = PublishedSet::new(vec!["7.14".parse().unwrap(), "6.2".parse().unwrap()]);
        for name in names {
            all.insert(&name.parse().unwrap());
        }
        all
    }

    #[test]
    fn versions_that_only_builds_know_are_counted_by_label_python_and_machine() {
        let all = published_of(&[
            "torch-2.12.0+rocm7.14-cp312-cp312-manylinux_2_28_x86_64.whl",
            "torch-2.12.0+rocm714-1-cp312-cp312-linux_x86_64.whl",
            "torch-2.13.0a0+git1a2b3c4d.rocm7.14-cp312-cp312-linux_x86_64.whl",
            "torch-2.13.0+rocm6.2-cp312-cp312-linux_x86_64.whl",
            "torch-2.13.0+rocm714-cp312-cp312-win_amd64.whl",
            "torchaudio-2.11.0+rocm714-cp312-cp312-linux_x86_64.whl",
        ]);
        let count = |expected: &str| all.count(&expected.parse().unwrap());
        assert_eq!(
            count("torch-*+rocm714-cp312-cp312-linux_x86_64.whl"),
            2,
            "one of them in two spellings"
        );
        assert_eq!(count("torch-*-cp312-cp312-linux_x86_64.whl"), 3);
        assert_eq!(count("torch-*+rocm714-cp312-cp312-win_amd64.whl"), 1);
        assert_eq!(count("torch-*+rocm714-cp311-cp311-linux_x86_64.whl"), 0);
        assert_eq!(
            count("torch-2.12.0+rocm714-cp312-cp312-linux_x86_64.whl"),
            1
        );
        assert_eq!(
            count("torch-2.14.0+rocm714-cp312-cp312-linux_x86_64.whl"),
            0
        );
    }

    #[test]
    fn both_spellings_of_a_label_are_one_published_wheel() {
        let repaired = "+rocm62torch2.5-cp312-cp312-manylinux_2_28_x86_64";
        assert!(is_there(
            repaired,
            "+rocm6.2torch2.5-cp312-cp312-linux_x86_64"
        ));
        assert!(is_there(
            "+rocm7.14torch2.9-cp312-cp312-linux_x86_64",
            "+rocm714torch2.9-1-cp312-cp312-linux_x86_64"
        ));
        assert!(is_there("-py3-none-any", "-py3-none-any"));
        assert!(is_there(
            "+cu12.of.another.making-py3-none-any",
            "+cu12.of.another.making-py3-none-any"
        ));
        for other in [
            "+rocm6.3torch2.5-cp312-cp312-linux_x86_64",
            "+rocm6.2torch2.6-cp312-cp312-linux_x86_64",
            "+rocm6.2torch2.5triton-cp312-cp312-linux_x86_64",
            "+rocm6.2torch2.5cxx11abiFALSE-cp312-cp312-linux_x86_64",
            "+rocm6.2torch2.5-cp311-cp311-linux_x86_64",
            "+rocm6.2torch2.5-cp312-abi3-linux_x86_64",
        ] {
            assert!(!is_there(repaired, other), "{other}");
        }
    }
}

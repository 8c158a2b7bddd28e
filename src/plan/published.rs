//! Files that are published already.

use std::collections::BTreeSet;

use crate::names::{Combination, RocmVersion, WheelIdentity, WheelName};

/// Wheels that need no job. Two files are the same when combination, C++ ABI, Python and ABI are: the spelling of the
/// label may differ, and the platform tag, because repair changes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Published {
    known_rocm: Vec<RocmVersion>,
    identities: BTreeSet<Identity>,
    names: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    what: What,
    python: String,
    abi: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A label that can be taken apart, or none.
    Told(Combination, Option<bool>),
    /// Distribution and version with a label of another making.
    Text(String, String),
}

impl Published {
    /// Nothing yet. `known_rocm` decides how labels with digits without dots are read.
    pub fn new(known_rocm: Vec<RocmVersion>) -> Self {
        Self { known_rocm, ..Self::default() }
    }

    /// Adds a wheel.
    pub fn insert(&mut self, name: &WheelName) {
        self.identities.insert(self.identity(name));
        self.names.insert(name.to_string());
    }

    /// Whether this wheel, or one that differs only in the label's spelling, platform and build tag, is published.
    pub fn contains(&self, name: &WheelName) -> bool {
        self.identities.contains(&self.identity(name))
    }

    /// Whether nothing is published.
    pub fn is_empty(&self) -> bool {
        self.identities.is_empty()
    }

    /// File names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    fn identity(&self, name: &WheelName) -> Identity {
        let what = match WheelIdentity::of(name, &self.known_rocm) {
            Ok(identity) => What::Told(Combination::of(&identity), identity.cxx11abi),
            Err(_) => What::Text(name.normalized().distribution, name.version.normalized()),
        };
        Identity { what, python: name.python.to_string(), abi: name.abi.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::Published;

    /// Whether a wheel with this label and these tags is published where that of the first label is.
    fn is_there(published: &str, wanted: &str) -> bool {
        let name = |rest: &str| format!("Flash_Attn-2.8.3{rest}.whl").parse().unwrap();
        let mut all = Published::new(vec!["7.14".parse().unwrap(), "6.2".parse().unwrap()]);
        all.insert(&name(published));
        all.contains(&name(wanted))
    }

    #[test]
    fn both_spellings_of_a_label_are_one_published_wheel() {
        let repaired = "+rocm62torch2.5-cp312-cp312-manylinux_2_28_x86_64";
        assert!(is_there(repaired, "+rocm6.2torch2.5-cp312-cp312-linux_x86_64"));
        assert!(is_there("+rocm7.14torch2.9-cp312-cp312-linux_x86_64", "+rocm714torch2.9-1-cp312-cp312-linux_x86_64"));
        assert!(is_there("-py3-none-any", "-py3-none-any"));
        assert!(is_there("+cu12.of.another.making-py3-none-any", "+cu12.of.another.making-py3-none-any"));
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

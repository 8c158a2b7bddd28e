//! Files that are published already.

use std::collections::BTreeSet;

use crate::names::WheelName;

/// Wheels that need no job. Two files are the same when distribution, version with label, Python and ABI are: the
/// platform tag may differ, because repair changes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Published {
    identities: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Published {
    /// Adds a wheel.
    pub fn insert(&mut self, name: &WheelName) {
        self.identities.insert(identity(name));
        self.names.insert(name.to_string());
    }

    /// Whether this wheel, or one that differs only in platform and build tag, is published.
    pub fn contains(&self, name: &WheelName) -> bool {
        self.identities.contains(&identity(name))
    }

    /// Whether nothing is published.
    pub fn is_empty(&self) -> bool {
        self.identities.is_empty()
    }

    /// File names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

fn identity(name: &WheelName) -> String {
    let distribution = name.distribution.to_ascii_lowercase().replace(['-', '.'], "_");
    format!("{distribution} {} {} {}", name.version.normalized(), name.python, name.abi)
}

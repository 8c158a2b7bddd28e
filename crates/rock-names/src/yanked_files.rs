//! The yanked files of an index (PEP 592).

use std::collections::BTreeMap;

use super::Digest;

/// Yanked files by name and digest, with their reasons.
///
/// Names are compared without regard to case. If the digest of an entry or of the file in question is
/// unknown, the name alone decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct YankedFiles(BTreeMap<String, Vec<(Option<Digest>, String)>>);

impl YankedFiles {
    /// Adds a file with a reason, which may be empty; replaces an equal entry.
    pub fn insert(&mut self, name: &str, digest: Option<Digest>, reason: String) {
        let of_name = self.0.entry(name.to_lowercase()).or_default();
        of_name.retain(|(other, _)| *other != digest);
        of_name.push((digest, reason));
    }

    /// Returns the names with unknown digests.
    #[must_use]
    pub fn ignoring_digests(self) -> Self {
        self.into_iter()
            .map(|(name, _, reason)| (name, None, reason))
            .collect()
    }

    /// Returns the files without those that `other` yanks, too, with equal digests.
    #[must_use]
    pub fn without(mut self, other: &Self) -> Self {
        for (name, of_name) in &mut self.0 {
            let others = other.0.get(name).map(Vec::as_slice).unwrap_or_default();
            of_name.retain(|(digest, _)| {
                digest.is_none() || !others.iter().any(|(other, _)| other == digest)
            });
        }
        self.0.retain(|_, of_name| !of_name.is_empty());
        self
    }

    /// Returns the names in lower case.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns whether no file is yanked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the reason, which may be empty, if the file is yanked.
    pub fn reason(&self, name: &str, digest: Option<Digest>) -> Option<&str> {
        let of_name = self.0.get(&name.to_lowercase())?;
        let exact = of_name.iter().find(|(yanked, _)| *yanked == digest);
        let any = || {
            of_name
                .iter()
                .find(|(yanked, _)| yanked.is_none() || digest.is_none())
        };
        exact.or_else(any).map(|(_, reason)| reason.as_str())
    }
}

impl Extend<(String, Option<Digest>, String)> for YankedFiles {
    fn extend<T: IntoIterator<Item = (String, Option<Digest>, String)>>(&mut self, files: T) {
        files
            .into_iter()
            .for_each(|(name, digest, reason)| self.insert(&name, digest, reason));
    }
}

impl FromIterator<(String, Option<Digest>, String)> for YankedFiles {
    fn from_iter<T: IntoIterator<Item = (String, Option<Digest>, String)>>(files: T) -> Self {
        let mut yanked = Self::default();
        yanked.extend(files);
        yanked
    }
}

impl IntoIterator for YankedFiles {
    type Item = (String, Option<Digest>, String);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        let files = self.0.into_iter().flat_map(|(name, of_name)| {
            of_name
                .into_iter()
                .map(move |(digest, reason)| (name.clone(), digest, reason))
        });
        files.collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::YankedFiles;
    use crate::Digest;

    #[test]
    fn bytes_are_yanked_or_a_name_whatever_the_bytes() {
        let (old, new) = (Some(Digest::new([1; 32])), Some(Digest::new([2; 32])));
        let one = |digest| -> YankedFiles {
            [("a.whl".to_owned(), digest, "broken".to_owned())]
                .into_iter()
                .collect()
        };
        assert_eq!(one(old).reason("a.whl", old), Some("broken"));
        assert_eq!(one(old).reason("a.whl", new), None, "it was built again");
        assert_eq!(one(old).reason("b.whl", old), None);
        assert_eq!(
            one(old).reason("a.whl", None),
            Some("broken"),
            "nothing says that it is another"
        );
        assert_eq!(
            one(None).reason("a.whl", new),
            Some("broken"),
            "nothing says that it is another"
        );
        assert_eq!(one(old).ignoring_digests(), one(None));
        assert_eq!(
            one(old).reason("A.whl", old),
            Some("broken"),
            "an index lists one of both spellings"
        );
        assert!(one(old).without(&one(old)).is_empty());
        assert_eq!(
            (one(old).without(&one(new)), one(None).without(&one(None))),
            (one(old), one(None))
        );
    }

    #[test]
    fn several_files_of_one_name_keep_their_reasons() {
        let (old, new) = (Some(Digest::new([1; 32])), Some(Digest::new([2; 32])));
        let file = |digest, reason: &str| ("a.whl".to_owned(), digest, reason.to_owned());
        let mut yanked: YankedFiles = [file(old, "broken"), file(new, "broken too")]
            .into_iter()
            .collect();
        assert_eq!(
            (yanked.reason("a.whl", old), yanked.reason("a.whl", new)),
            (Some("broken"), Some("broken too"))
        );
        yanked.extend([file(old, "wrong torch")]);
        assert_eq!(
            yanked.reason("a.whl", old),
            Some("wrong torch"),
            "the last word counts"
        );
        assert_eq!(yanked.clone().into_iter().collect::<YankedFiles>(), yanked);
    }
}

//! Paths that are equal on case-insensitive file systems.

use std::collections::BTreeMap;

/// The help of a case clash.
pub(super) const HELP: &str =
    "on case-insensitive file systems, one replaces the other; rename one";

/// Returns pairs of paths that differ only in case, in input order, each path with its associated
/// value.
pub(super) fn clashes<'p, T: Copy>(
    paths: impl IntoIterator<Item = (&'p str, T)>,
) -> Vec<[(&'p str, T); 2]> {
    let mut seen: BTreeMap<String, (&'p str, T)> = BTreeMap::new();
    let pair = |(path, known): (&'p str, T)| {
        seen.insert(path.to_lowercase(), (path, known))
            .map(|other| [other, (path, known)])
    };
    paths.into_iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_that_differ_only_in_case_are_paired_with_the_one_before() {
        let paths = ["a/B", "a/b", "a/c", "A/b", "Ä", "ä"].map(|path| (path, ()));
        let pairs: Vec<[&str; 2]> = super::clashes(paths)
            .into_iter()
            .map(|pair| pair.map(|(path, ())| path))
            .collect();
        assert_eq!(pairs, [["a/B", "a/b"], ["a/b", "A/b"], ["Ä", "ä"]]);
    }
}

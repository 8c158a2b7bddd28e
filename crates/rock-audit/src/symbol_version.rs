//! Comparison of symbol versions, `GLIBC_2.28`: a prefix and numbers.

use std::collections::BTreeMap;

/// Returns the prefix of a symbol version: `GLIBC` of `GLIBC_2.28`.
pub(crate) fn version_prefix(version: &str) -> &str {
    version.split('_').next().unwrap_or_default()
}

/// Returns the numbers of a version, `GLIBC_2.28` or `2.28`, which compare as versions do.
pub(crate) fn version_numbers(version: &str) -> Vec<u32> {
    version
        .rsplit('_')
        .next()
        .unwrap_or(version)
        .split('.')
        .map(|part| part.parse().unwrap_or_default())
        .collect()
}

/// Returns the newest version of each prefix.
pub(crate) fn newest_versions<'v>(
    versions: impl Iterator<Item = &'v str>,
) -> BTreeMap<&'v str, &'v str> {
    let mut newest: BTreeMap<&str, &str> = BTreeMap::new();
    for version in versions {
        let entry = newest.entry(version_prefix(version)).or_insert(version);
        if version_numbers(entry) < version_numbers(version) {
            *entry = version;
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::newest_versions;

    #[test]
    fn versions_compare_by_number() {
        let versions = ["GLIBC_2.9", "CXXABI_1.3", "GLIBC_2.17", "GLIBC_2.2.5"];
        assert_eq!(
            newest_versions(versions.into_iter()),
            [("CXXABI", "CXXABI_1.3"), ("GLIBC", "GLIBC_2.17")].into()
        );
    }
}

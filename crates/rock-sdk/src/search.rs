//! Search paths through which libraries find those of the core package.

/// Returns the search path for a file at `path` of its package: the entries of `had`, then each of
/// `directories` in the package directory `core`, which is next to the file's own package directory.
/// Duplicate entries are removed.
pub fn search_path(path: &str, had: Option<&str>, core: &str, directories: &[String]) -> String {
    let up = up(path);
    let added = directories
        .iter()
        .map(|directory| format!("$ORIGIN/{up}{core}/{directory}"));
    let mut entries: Vec<String> = Vec::new();
    for entry in had
        .iter()
        .flat_map(|had| had.split(':'))
        .map(str::to_owned)
        .chain(added)
    {
        if !entry.is_empty() && !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries.join(":")
}

/// Returns the relative path from the directory of a file at `path` of a package to the directory
/// that contains the package directory.
pub(super) fn up(path: &str) -> String {
    "../".repeat(path.matches('/').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::search_path;

    #[test]
    fn what_a_file_had_stays_first_and_each_directory_is_reached_from_its_depth() {
        let directories = ["lib/llvm/lib".to_owned(), "lib/rocm_sysdeps/lib".to_owned()];
        let path = |path, had| search_path(path, had, "_rocm_sdk_core", &directories);
        assert_eq!(
            path("lib/libamdhip64.so.7", Some("$ORIGIN/llvm/lib")),
            "$ORIGIN/llvm/lib:$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib"
        );
        assert_eq!(
            path("lib/llvm/bin/clang-23", None),
            "$ORIGIN/../../../../_rocm_sdk_core/lib/llvm/lib:$ORIGIN/../../../../_rocm_sdk_core/lib/rocm_sysdeps/lib"
        );
    }

    #[test]
    fn a_second_pass_over_its_own_result_changes_nothing() {
        let directories = ["lib".to_owned()];
        let once = search_path(
            "lib/a.so",
            Some("/opt/rocm/lib:$ORIGIN"),
            "_rocm_sdk_core",
            &directories,
        );
        assert_eq!(
            search_path("lib/a.so", Some(&once), "_rocm_sdk_core", &directories),
            once
        );
    }
}

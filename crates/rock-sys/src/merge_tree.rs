//! Merges a directory tree into another one by renaming.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::Access;

use super::FileError;

/// Moves everything in `from` into `to`, on the same file system. Files and links replace those of
/// the same name; directories of the same name are merged.
///
/// All conflicts are detected before anything is moved, and moving only renames, which needs no
/// disk space.
///
/// # Errors
///
/// Returns an error, with nothing moved, if a file or link is where a directory is needed or vice
/// versa, or if a directory is not writable or is on another file system. Returns an error as well
/// if a rename fails; earlier renames remain then.
pub fn merge_tree(from: &Path, to: &Path) -> Result<(), FileError> {
    super::create_directory(to)?;
    let device = std::fs::symlink_metadata(from)
        .map_err(FileError::context("read", from))?
        .dev();
    check_movable(from, to, device)?;
    move_all(from, to)
}

/// Checks that everything in `from` can be moved into `to`.
fn check_movable(from: &Path, to: &Path, device: u64) -> Result<(), FileError> {
    if std::fs::metadata(to)
        .map_err(FileError::context("write", to))?
        .dev()
        != device
    {
        return Err(blocked(
            to,
            "it is on another disk than its parent directory".to_owned(),
        ));
    }
    rustix::fs::access(to, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(FileError::context("write", to))?;
    for (source, is_directory) in children(from)? {
        let target = to.join(source.file_name().unwrap_or_default());
        let existing = match std::fs::symlink_metadata(&target) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(FileError::new("read", &target, error)),
        };
        match (is_directory, existing.is_dir()) {
            (true, true) => check_movable(&source, &target, device)?,
            (true, false) if existing.is_symlink() => return Err(through_link(&target, &target)),
            (true, false) => {
                return Err(blocked(
                    &target,
                    "there is a file in place of a directory".to_owned(),
                ));
            }
            (false, true) => {
                return Err(blocked(
                    &target,
                    "there is a directory in place of a file or link".to_owned(),
                ));
            }
            (false, false) => {}
        }
    }
    Ok(())
}

fn move_all(from: &Path, to: &Path) -> Result<(), FileError> {
    for (source, is_directory) in children(from)? {
        let target = to.join(source.file_name().unwrap_or_default());
        if is_directory && super::is_real_directory(&target) {
            move_all(&source, &target)?;
        } else {
            std::fs::rename(&source, &target).map_err(FileError::context("write", &target))?;
        }
    }
    Ok(())
}

/// Returns the entries of a directory, sorted, and whether each is a directory.
fn children(directory: &Path) -> Result<Vec<(std::path::PathBuf, bool)>, FileError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(FileError::context("read", directory))? {
        let entry = entry.map_err(FileError::context("read", directory))?;
        found.push((
            entry.path(),
            entry
                .file_type()
                .map_err(FileError::context("read", directory))?
                .is_dir(),
        ));
    }
    found.sort();
    Ok(found)
}

/// Returns the error for a path with a symbolic link among its parents, which could lead anywhere.
pub(super) fn through_link(place: &Path, link: &Path) -> FileError {
    blocked(
        place,
        format!(
            "`{}` is a link, and nothing is written through links",
            link.display()
        ),
    )
}

fn blocked(place: &Path, reason: String) -> FileError {
    FileError {
        action: "write",
        path: place.to_owned(),
        reason,
        source: None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::merge_tree;

    fn fill(directory: &Path, files: &[&str]) {
        for file in files {
            let path = directory.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, directory.file_name().unwrap().as_encoded_bytes()).unwrap();
        }
    }

    #[test]
    fn trees_are_merged_unless_something_is_in_the_way() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("from"), home.path().join("to"));
        fill(&to, &["lib/kept", "lib/both", "bin/old", "file"]);
        symlink("lib", to.join("near")).unwrap();
        let text = |path: &str| std::fs::read_to_string(to.join(path)).unwrap();
        for (bad, why) in [
            ("near/x", "nothing is written through links"),
            ("file/x", "in place of a directory"),
            ("bin", "in place of a file or link"),
        ] {
            fill(&from, &["a/first", "lib/both", bad]);
            let error = merge_tree(&from, &to).unwrap_err();
            assert!(error.reason.contains(why), "{bad}: {error}");
            assert!(!to.join("a").exists() && text("lib/both") == "to", "{bad}");
            std::fs::remove_dir_all(&from).unwrap();
        }
        fill(&from, &["a/first", "lib/both", "lib/new/er"]);
        symlink("kept", from.join("lib/link")).unwrap();
        symlink("lib", from.join("near")).unwrap();
        merge_tree(&from, &to).unwrap();
        let [kept, both, newer, first, link] =
            ["lib/kept", "lib/both", "lib/new/er", "a/first", "lib/link"].map(text);
        assert_eq!(
            [kept, both, newer, first, link],
            ["to", "from", "from", "from", "to"]
        );
        merge_tree(&to, &home.path().join("deep/er")).unwrap();
        assert!(home.path().join("deep/er/lib/new/er").is_file());
    }
}

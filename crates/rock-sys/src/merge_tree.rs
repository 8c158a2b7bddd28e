//! A tree that is moved into another one.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::Access;

use super::FileError;

/// Moves all that is in a folder into another one of the same file system: over files and links of
/// the same name, and into folders of the same name. All is looked at before anything is moved, and
/// moving is renaming alone, which takes no room.
///
/// # Errors
/// When something is in the way, with nothing moved: a file or a link where there is to be a
/// folder, a folder where there is to be a file or a link, a folder that may not be written to or
/// lies on another disk. When the system refuses a renaming all the same; what was moved before it
/// is then in its place.
pub fn merge_tree(from: &Path, to: &Path) -> Result<(), FileError> {
    super::create_directory(to)?;
    let disk = std::fs::symlink_metadata(from)
        .map_err(|error| FileError::new("read", from, error))?
        .dev();
    look(from, to, disk)?;
    move_all(from, to)
}

/// Whether all of it can be moved.
fn look(from: &Path, to: &Path, disk: u64) -> Result<(), FileError> {
    let fault = |error| FileError::new("write", to, error);
    if std::fs::metadata(to).map_err(fault)?.dev() != disk {
        return Err(in_the_way(
            to,
            "it lies on another disk than the folder above it".to_owned(),
        ));
    }
    rustix::fs::access(to, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|error| fault(error.into()))?;
    for (source, is_folder) in inside(from)? {
        let target = to.join(source.file_name().unwrap_or_default());
        let there = match std::fs::symlink_metadata(&target) {
            Ok(there) => there,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(FileError::new("read", &target, error)),
        };
        match (is_folder, there.is_dir()) {
            (true, true) => look(&source, &target, disk)?,
            (true, false) if there.is_symlink() => return Err(through_link(&target, &target)),
            (true, false) => {
                return Err(in_the_way(
                    &target,
                    "a file is where a folder belongs".to_owned(),
                ));
            }
            (false, true) => {
                return Err(in_the_way(
                    &target,
                    "a folder is where a file or a link belongs".to_owned(),
                ));
            }
            (false, false) => {}
        }
    }
    Ok(())
}

fn move_all(from: &Path, to: &Path) -> Result<(), FileError> {
    for (source, is_folder) in inside(from)? {
        let target = to.join(source.file_name().unwrap_or_default());
        if is_folder && super::is_real_directory(&target) {
            move_all(&source, &target)?;
        } else {
            std::fs::rename(&source, &target)
                .map_err(|error| FileError::new("write", &target, error))?;
        }
    }
    Ok(())
}

/// What is right in a folder, sorted, and whether it is a folder itself.
fn inside(folder: &Path) -> Result<Vec<(std::path::PathBuf, bool)>, FileError> {
    let fault = |error| FileError::new("read", folder, error);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        found.push((entry.path(), entry.file_type().map_err(fault)?.is_dir()));
    }
    found.sort();
    Ok(found)
}

/// What is told where a link is among the folders above a place: what lies behind it may be
/// anywhere.
pub(super) fn through_link(place: &Path, link: &Path) -> FileError {
    in_the_way(
        place,
        format!(
            "`{}` is a link, and nothing is written through one",
            link.display()
        ),
    )
}

fn in_the_way(place: &Path, reason: String) -> FileError {
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

    fn fill(folder: &Path, files: &[&str]) {
        for file in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, folder.file_name().unwrap().as_encoded_bytes()).unwrap();
        }
    }

    #[test]
    fn files_give_way_folders_are_shared_and_nothing_moves_where_something_is_in_the_way() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("from"), home.path().join("to"));
        fill(&to, &["lib/kept", "lib/both", "bin/old", "file"]);
        symlink("lib", to.join("near")).unwrap();
        let text = |path: &str| std::fs::read_to_string(to.join(path)).unwrap();
        for (bad, why) in [
            ("near/x", "nothing is written through one"),
            ("file/x", "a folder belongs"),
            ("bin", "a file or a link"),
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

//! Finds symbolic links that lead out of a directory tree, directly or through other links.

use std::io;
use std::path::{Path, PathBuf};

use super::{FileError, WalkEntryKind, walk};

/// Maximum number of links that the kernel follows in one path (`path_resolution(7)`).
const MAX_LINKS: u32 = 40;

/// Returns the path and target text of the first link below a directory that leads out of it.
///
/// Links are resolved component by component like the kernel does: two links may each stay inside
/// by their text and still lead out together.
///
/// # Errors
///
/// Returns an error if a directory cannot be read.
pub fn find_escaping_link(directory: &Path) -> Result<Option<(String, String)>, FileError> {
    first_escaping(directory, |path| escapes(&[directory], path))
}

/// Returns the path and target text of the first link that leads out of `to` once `from` has been
/// merged into it with [`merge_tree`](super::merge_tree).
///
/// Links of `to` that lead out already are ignored, unless a link of `from` leads out through them.
///
/// # Errors
///
/// Returns an error if a directory cannot be read.
pub fn find_escaping_link_after_merge(
    from: &Path,
    to: &Path,
) -> Result<Option<(String, String)>, FileError> {
    let merged = [from, to];
    let from_link = first_escaping(from, |path| escapes(&merged, path))?;
    if from_link.is_some() {
        return Ok(from_link);
    }
    // `from` may be a staging directory inside `to`.
    let staged = from
        .strip_prefix(to)
        .ok()
        .and_then(|inner| inner.components().next());
    first_escaping(to, |path| {
        let is_staged = staged.is_some() && Path::new(path).components().next() == staged;
        let is_replaced = std::fs::symlink_metadata(from.join(path)).is_ok();
        Ok(!is_staged && !is_replaced && escapes(&merged, path)? && !escapes(&[to], path)?)
    })
}

fn first_escaping(
    directory: &Path,
    escapes: impl Fn(&str) -> io::Result<bool>,
) -> Result<Option<(String, String)>, FileError> {
    for found in walk(directory)? {
        if let WalkEntryKind::Symlink(text) = found.kind
            && escapes(&found.path)
                .map_err(FileError::context("read", &directory.join(&found.path)))?
        {
            return Ok(Some((found.path, text)));
        }
    }
    Ok(None)
}

/// Returns whether a path below the overlaid directories leads out of them. Earlier directories
/// hide later ones; a missing component counts as a directory, since it may become one.
fn escapes(directories: &[&Path], path: &str) -> io::Result<bool> {
    let mut real: Vec<String> = Vec::new();
    let mut waiting: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    let mut links = 0;
    while let Some(part) = waiting.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                if real.pop().is_none() {
                    return Ok(true);
                }
                continue;
            }
            _ => real.push(part),
        }
        let Some(text) = link_text(directories, &real.join("/"))? else {
            continue;
        };
        links += 1;
        let Some(text) = text.to_str().filter(|text| !text.starts_with('/')) else {
            return Ok(true);
        };
        if links > MAX_LINKS {
            return Ok(false);
        }
        real.pop();
        waiting.extend(text.split('/').rev().map(str::to_owned));
    }
    Ok(false)
}

/// Returns the text of the link at a path; `None` if the first directory that has the path has
/// something else there, or none has it.
fn link_text(directories: &[&Path], path: &str) -> io::Result<Option<PathBuf>> {
    for directory in directories {
        match std::fs::read_link(directory.join(path)) {
            Ok(text) => return Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(None),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::{find_escaping_link, find_escaping_link_after_merge};

    #[test]
    fn links_that_escape_together_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        for (path, text) in [
            ("a/b/up", "../.."),
            ("near", "a/b/up/a"),
            ("loop", "loop"),
            ("none", "not/there/.."),
            ("a/far", "b/up/near/b"),
        ] {
            symlink(text, root.join(path)).unwrap();
        }
        assert_eq!(find_escaping_link(root).unwrap(), None);
        // Each link alone stays inside.
        symlink("a/b/up/../outside", root.join("out")).unwrap();
        let found = find_escaping_link(root).unwrap();
        assert_eq!(
            found,
            Some(("out".to_owned(), "a/b/up/../outside".to_owned()))
        );
        std::fs::remove_file(root.join("out")).unwrap();
        symlink("/etc", root.join("z")).unwrap();
        assert_eq!(
            find_escaping_link(root).unwrap(),
            Some(("z".to_owned(), "/etc".to_owned()))
        );
    }

    /// In either merge order, and with `from` staged inside `to`.
    #[test]
    fn links_that_escape_after_a_merge_are_found() {
        let (up, out) = (("a/b", ".."), ("c", "a/b/../outside"));
        for (first, second) in [(up, out), (out, up)] {
            let home = tempfile::tempdir().unwrap();
            for staged in ["new", "old/.tree.rock-new/tree"] {
                let (old, new) = (home.path().join("old"), home.path().join(staged));
                for (root, (path, text)) in [(&old, first), (&new, second)] {
                    std::fs::create_dir_all(root.join("a")).unwrap();
                    let _ = std::fs::remove_file(root.join(path));
                    symlink(text, root.join(path)).unwrap();
                    assert_eq!(find_escaping_link(root).unwrap(), None);
                }
                let found = find_escaping_link_after_merge(&new, &old).unwrap();
                assert_eq!(found, Some(("c".to_owned(), "a/b/../outside".to_owned())));
            }
        }
    }

    #[test]
    fn old_escaping_links_are_ignored_but_not_new_ones_through_them() {
        let home = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| home.path().join(name));
        for directory in [&old, &new] {
            std::fs::create_dir_all(directory.join("lib")).unwrap();
        }
        symlink("/opt", old.join("mine")).unwrap();
        symlink("lib/up/../out", old.join("replaced")).unwrap();
        symlink("..", new.join("lib/up")).unwrap();
        std::fs::write(new.join("replaced"), "").unwrap();
        assert_eq!(find_escaping_link_after_merge(&new, &old).unwrap(), None);
        symlink("mine/x", new.join("through")).unwrap();
        let found = find_escaping_link_after_merge(&new, &old).unwrap();
        assert_eq!(found, Some(("through".to_owned(), "mine/x".to_owned())));
        assert_eq!(
            find_escaping_link_after_merge(&new, &home.path().join("none")).unwrap(),
            None
        );
    }
}

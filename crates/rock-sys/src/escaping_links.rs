//! Symbolic links of a tree that lead out of it, perhaps only by way of other links.

use std::io;
use std::path::{Path, PathBuf};

use super::{FileError, WalkEntryKind, walk};

/// Maximum links followed per path (`path_resolution(7)`); the kernel opens nothing behind more.
const MAX_LINKS: u32 = 40;

/// Returns the first link below a folder that leads out of it, with its text. Links are followed as
/// the system does, one component after the other: two may stay in the folder by their texts, and
/// lead out of it together.
///
/// # Errors
/// When a folder cannot be read.
pub fn find_escaping_link(folder: &Path) -> Result<Option<(String, String)>, FileError> {
    first_leading_out(folder, |path| leads_out(&[folder], path))
}

/// Returns the first link that leads out of the folder `to` once `from` is merged into it
/// ([`super::merge`]), with its text: a link of `from`, or one of `to` that leads out by way of
/// what is new. Links of `to` that lead out of it before are somebody's own.
///
/// # Errors
/// When a folder cannot be read.
pub fn find_escaping_link_after_merge(
    from: &Path,
    to: &Path,
) -> Result<Option<(String, String)>, FileError> {
    let merged = [from, to];
    let of_new = first_leading_out(from, |path| leads_out(&merged, path))?;
    if of_new.is_some() {
        return Ok(of_new);
    }
    // The tree to merge may be staged in the folder itself.
    let staged = from
        .strip_prefix(to)
        .ok()
        .and_then(|inner| inner.components().next());
    first_leading_out(to, |path| {
        let is_staged = staged.is_some() && Path::new(path).components().next() == staged;
        let is_replaced = std::fs::symlink_metadata(from.join(path)).is_ok();
        Ok(!is_staged && !is_replaced && leads_out(&merged, path)? && !leads_out(&[to], path)?)
    })
}

fn first_leading_out(
    folder: &Path,
    leads_out: impl Fn(&str) -> io::Result<bool>,
) -> Result<Option<(String, String)>, FileError> {
    for found in walk(folder)? {
        if let WalkEntryKind::Link(text) = found.kind
            && leads_out(&found.path)
                .map_err(|error| FileError::new("read", &folder.join(&found.path), error))?
        {
            return Ok(Some((found.path, text)));
        }
    }
    Ok(None)
}

/// Returns whether a path below a folder leads out of it. What is in the first of the folders hides
/// what is in the others, and a missing component counts as a folder, since it may become one.
fn leads_out(folders: &[&Path], path: &str) -> io::Result<bool> {
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
        let Some(text) = text_of(folders, &real.join("/"))? else {
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

/// Returns the text of the link at a path; `None` where none of the folders has it, or the first
/// that has it has something else there.
fn text_of(folders: &[&Path], path: &str) -> io::Result<Option<PathBuf>> {
    for folder in folders {
        match std::fs::read_link(folder.join(path)) {
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
    fn links_that_lead_out_together_are_found_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
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
        // Each stays in the folder by its text.
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
    /// Whichever comes second, and also where what is to be merged is staged in the folder.
    #[test]
    fn links_of_two_trees_that_lead_out_together_are_found() {
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
    fn links_that_led_out_before_do_not_count_and_a_new_one_through_them_does() {
        let home = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| home.path().join(name));
        for folder in [&old, &new] {
            std::fs::create_dir_all(folder.join("lib")).unwrap();
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

//! Links of a tree that lead out of it, by way of each other.

use std::io;
use std::path::Path;

use super::{FileError, WalkedKind, walked};

/// So many links are followed on the way to one file (`path_resolution(7)`); what is behind more is out of reach.
const MAX_LINKS: u32 = 40;

/// Returns the first link below a folder that leads out of it, with its text. Links are followed as the system does, one
/// component after the other: two may stay in the folder by their texts, and lead out of it together.
///
/// # Errors
/// When a folder cannot be read.
pub fn link_leading_out(folder: &Path) -> Result<Option<(String, String)>, FileError> {
    for found in walked(folder)? {
        if let WalkedKind::Link(text) = found.kind
            && leads_out(folder, &found.path)
                .map_err(|error| FileError::new("read", &folder.join(&found.path), error))?
        {
            return Ok(Some((found.path, text)));
        }
    }
    Ok(None)
}

/// Returns whether a path below a folder leads out of it. A missing component counts as a folder, since it may become
/// one.
fn leads_out(folder: &Path, path: &str) -> io::Result<bool> {
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
        let text = match std::fs::read_link(folder.join(real.join("/"))) {
            Ok(text) => text,
            // Neither is what is not there a link, nor what is something else.
            Err(error) if is_no_link(&error) => continue,
            Err(error) => return Err(error),
        };
        links += 1;
        let Some(text) = text.to_str().filter(|text| !text.starts_with('/')) else { return Ok(true) };
        if links > MAX_LINKS {
            return Ok(false);
        }
        real.pop();
        waiting.extend(text.split('/').rev().map(str::to_owned));
    }
    Ok(false)
}

fn is_no_link(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::link_leading_out;

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
        assert_eq!(link_leading_out(root).unwrap(), None);
        // Each stays in the folder by its text.
        symlink("a/b/up/../outside", root.join("out")).unwrap();
        let found = link_leading_out(root).unwrap();
        assert_eq!(found, Some(("out".to_owned(), "a/b/up/../outside".to_owned())));
        std::fs::remove_file(root.join("out")).unwrap();
        symlink("/etc", root.join("z")).unwrap();
        assert_eq!(link_leading_out(root).unwrap(), Some(("z".to_owned(), "/etc".to_owned())));
    }
}

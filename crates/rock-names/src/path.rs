//! Paths as text: relative ones with `/` as separator, and absolute ones of Unix and Windows.

/// Removes `.`, `..` and repeated slashes from a path. Returns `None` if it leads above its root.
pub fn without_dots(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Resolves the relative link target `text` of a symlink at `path`, without following other links.
/// Returns `None` if it is absolute or leads above the root.
pub fn resolve_link(path: &str, text: &str) -> Option<String> {
    if text.starts_with('/') {
        return None;
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    without_dots(&format!("{folder}/{text}"))
}

/// Returns whether a text can be the name of a file.
pub fn is_file_name(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(['/', '\0'])
}

/// Returns whether a text is a relative path without `.` and `..`, control characters and
/// backslashes that cannot be mistaken for an option.
pub fn is_path_below(text: &str) -> bool {
    !text.is_empty()
        && !is_absolute(text)
        && !text.starts_with('-')
        && !text.contains(|c: char| c.is_control() || c == '\\')
        && text.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Returns whether a path is absolute on Unix, `/srv`, or Windows, `C:/b`, `C:\b`, `\\server\b`.
pub fn is_absolute(path: &str) -> bool {
    let has_drive =
        matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    has_drive || path.starts_with('/') || path.starts_with("\\\\")
}

/// Returns the parent directories of a relative path, the innermost first.
pub fn parent_directories(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/'))
        .map(|(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::{is_path_below, parent_directories, without_dots};

    #[test]
    fn a_path_is_folded_below_its_root_and_above_it_there_is_nothing() {
        assert_eq!(without_dots("a//./b/../c").as_deref(), Some("a/c"));
        assert_eq!(without_dots("a/..").as_deref(), Some(""));
        assert_eq!(without_dots("a/../.."), None);
    }

    #[test]
    fn a_path_below_a_folder_neither_leaves_it_nor_is_an_option() {
        assert!(is_path_below("third_party/a b/é"));
        for text in [
            "", "/a", "..", "a/../b", "a//b", "./a", "-C", "a\\b", "C:/a", "a\nb",
        ] {
            assert!(!is_path_below(text), "{text}");
        }
    }

    #[test]
    fn a_path_is_in_each_folder_above_it() {
        assert_eq!(
            parent_directories("a/b/c").collect::<Vec<_>>(),
            ["a/b", "a"]
        );
        assert_eq!(parent_directories("a").next(), None);
    }
}

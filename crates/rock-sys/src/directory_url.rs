//! `file:` URLs of directories.

use std::path::{Component, Path};

use rock_names::percent_encode;

use super::real_path;

/// Returns the `file:` URL of a directory (RFC 8089), with a trailing slash. Symbolic links and
/// `..` are resolved, because URL parsers resolve `..` without following links.
pub fn directory_url(directory: &Path) -> String {
    let mut names = Vec::new();
    for part in real_path(directory).components() {
        match part {
            Component::Normal(name) => names.push(percent_encode(name.as_encoded_bytes())),
            Component::ParentDir => drop(names.pop()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    names
        .iter()
        .fold("file:///".to_owned(), |url, name| url + name + "/")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::directory_url;

    #[test]
    fn a_directory_url_is_absolute_encoded_and_has_no_dots() {
        let home = tempfile::tempdir().unwrap();
        let url = |path: &str| directory_url(&home.path().join(path));
        let root = url("");
        assert!(
            root.starts_with("file:///") && root.ends_with('/'),
            "{root}"
        );
        std::fs::create_dir_all(home.path().join("a b/deep")).unwrap();
        std::os::unix::fs::symlink("a b/deep", home.path().join("link")).unwrap();
        for (path, expected) in [
            ("a b", "a%20b/"),
            ("x+rocm6.2", "x%2Brocm6.2/"),
            ("é#?%", "%C3%A9%23%3F%25/"),
            ("a b/../new", "new/"),
            ("missing/../new/.", "new/"),
            ("link/../new", "a%20b/new/"),
            ("link", "a%20b/deep/"),
        ] {
            assert_eq!(url(path), format!("{root}{expected}"), "{path}");
        }
    }

    #[test]
    fn a_relative_directory_is_below_the_working_directory() {
        let here = directory_url(Path::new("."));
        assert_eq!(
            directory_url(Path::new("missing dir")),
            format!("{here}missing%20dir/")
        );
        let name = here.trim_end_matches('/').rsplit_once('/').unwrap().1;
        let above = directory_url(Path::new(".."));
        assert_eq!(format!("{above}{name}/"), here);
        assert_eq!(
            directory_url(Path::new("../missing")),
            format!("{above}missing/")
        );
        assert_eq!(directory_url(Path::new("/")), "file:///");
        assert_eq!(directory_url(Path::new("/..")), "file:///");
    }
}

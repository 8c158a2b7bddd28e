//! Checks of what installers derive from a wheel: scripts of entry points, and the directories of
//! `.data`.

use super::super::entry_points::{invalid_entry_points, reserved_script};
use super::super::zip::limits::MAX_ENTRY_POINTS_BYTES;
use super::super::{WheelHeaders, ZipMember};
use super::FindingCollector;
use crate::codes::wheel as codes;

/// The directories in `.data` (binary distribution format, "The .data directory"; pip:
/// `SCHEME_KEYS`).
const SCHEMES: [&str; 5] = ["data", "headers", "platlib", "purelib", "scripts"];
/// The directories of programs in an environment, on Unix and on Windows.
const SCRIPT_FOLDERS: [&str; 2] = ["bin", "Scripts"];

pub(super) fn check(wheel: &WheelHeaders<'_>, findings: &mut FindingCollector) {
    check_entry_points(wheel, findings);
    check_data(wheel, findings);
}

fn check_entry_points(wheel: &WheelHeaders<'_>, findings: &mut FindingCollector) {
    let name = wheel.dist_info_path("entry_points.txt");
    let Some(member) = wheel.archive().member(&name) else {
        return;
    };
    let text = match wheel.archive().read(member, MAX_ENTRY_POINTS_BYTES) {
        Ok(bytes) => String::from_utf8(bytes),
        Err(error) => return findings.push(error.diagnostic(&findings.wheel)),
    };
    let Ok(text) = text else {
        let finding = findings.member(
            &codes::BAD_ENTRY_POINT,
            &name,
            "the text is not UTF-8".to_owned(),
        );
        return findings.push(finding);
    };
    for fault in invalid_entry_points(&text) {
        let message = format!("line {}: {}", fault.line, fault.reason);
        findings.push(findings.member(&codes::BAD_ENTRY_POINT, &name, message));
    }
}

fn check_data(wheel: &WheelHeaders<'_>, findings: &mut FindingCollector) {
    let stem = wheel.dist_info_stem();
    for member in wheel.archive().members() {
        if let Some(message) = data_error(member, stem) {
            findings.push(findings.member(&codes::BAD_DATA_FOLDER, member.name(), message));
        }
    }
    for (member, message) in collisions(
        wheel.archive().members().iter().map(ZipMember::name),
        &format!("{stem}.data/"),
    ) {
        findings.push(findings.member(&codes::BAD_DATA_FOLDER, member, message));
    }
}

/// A directory of an environment to which several parts of a wheel are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum InstallRoot {
    SitePackages,
    Scripts,
}

/// Returns the path to which a member is installed; `data` is the `.data` directory with a slash.
/// Returns `None` for headers, and for data outside the directory of programs: no other part of a
/// wheel is installed there.
fn installed_path<'n>(name: &'n str, data: &str) -> Option<(InstallRoot, &'n str)> {
    let Some(rest) = name.strip_prefix(data) else {
        return Some((InstallRoot::SitePackages, name));
    };
    let (scheme, path) = rest.split_once('/')?;
    match (scheme, path.split_once('/')) {
        ("platlib" | "purelib", _) => Some((InstallRoot::SitePackages, path)),
        ("scripts", _) => Some((InstallRoot::Scripts, path)),
        ("data", Some((folder, name))) if SCRIPT_FOLDERS.contains(&folder) => {
            Some((InstallRoot::Scripts, name))
        }
        _ => None,
    }
}

/// Returns members of the `.data` directory that are installed to the path of another member, or
/// above or below it.
///
/// Of two files with one path, pip keeps the last in the archive, and uv the one of the scheme that
/// the file system lists last (`install_data`). Both fail if one is a directory.
fn collisions<'m>(
    names: impl Iterator<Item = &'m str> + Clone,
    data: &str,
) -> Vec<(&'m str, String)> {
    let is_data = |name: &str| name.starts_with(data);
    if !names.clone().any(is_data) {
        return Vec::new();
    }
    let files = names.filter(|name| !name.ends_with('/'));
    let mut installed: Vec<(InstallRoot, &str, &str)> = files
        .filter_map(|name| installed_path(name, data).map(|(root, path)| (root, path, name)))
        .collect();
    // Stable: of several members with one path, the first in the archive comes first.
    installed.sort_by_key(|(root, path, _)| (*root, *path));
    // Files whose paths are prefixes of the current one, the shortest first.
    let mut prefixes: Vec<(InstallRoot, &str, &str)> = Vec::new();
    let mut found = Vec::new();
    for (root, path, name) in installed {
        while prefixes
            .pop_if(|(other_root, other, _)| *other_root != root || !path.starts_with(*other))
            .is_some()
        {}
        if let Some((.., other)) = prefixes.last().filter(|(_, other, _)| *other == path) {
            let (of_data, another) = if is_data(name) {
                (name, *other)
            } else {
                (*other, name)
            };
            // Duplicate names are reported elsewhere.
            if *other != name {
                found.push((
                    of_data,
                    format!("`{another}` is installed at the same path"),
                ));
            }
            continue;
        }
        let above = prefixes
            .iter()
            .find(|(_, other, _)| path.as_bytes().get(other.len()) == Some(&b'/'));
        if let Some((.., above)) = above.filter(|(.., above)| is_data(above) || is_data(name)) {
            found.push((
                name,
                format!("`{above}` is installed as a file where this member needs a directory"),
            ));
        }
        prefixes.push((root, path, name));
    }
    found.sort();
    found
}

/// Returns an error of a member of a `.data` directory; `stem` is that of the dist-info directory.
///
/// pip accepts any top-level directory with this suffix (`is_data_scheme_path`), uv only the one of
/// this name (`ValidatedWheel`), and both refuse members in none of the five directories
/// (`make_data_scheme_file`, `install_data`).
fn data_error(member: &ZipMember, stem: &str) -> Option<String> {
    let (top, rest) = member.name().split_once('/').unwrap_or((member.name(), ""));
    let folder = top.strip_suffix(".data")?;
    if !member.name().contains('/') {
        return Some(format!(
            "`{top}` is a file where installers expect a directory"
        ));
    }
    if folder != stem {
        return Some(format!(
            "`{top}` is not the `.data` directory of this wheel, `{stem}.data`"
        ));
    }
    if rest.is_empty() {
        return None;
    }
    let Some((scheme, path)) = rest.split_once('/') else {
        return Some(format!(
            "it is in none of the directories {}",
            SCHEMES.join(", ")
        ));
    };
    if !SCHEMES.contains(&scheme) {
        return Some(format!(
            "`{scheme}` is not one of the directories {}",
            SCHEMES.join(", ")
        ));
    }
    let script = match (scheme, path.split_once('/')) {
        // uv: "invalid entry (directory)".
        ("scripts", Some(_)) => return Some("`scripts` must not contain directories".to_owned()),
        ("scripts", None) => path,
        ("data", Some((folder, name))) if SCRIPT_FOLDERS.contains(&folder) => name,
        _ => return None,
    };
    let reserved = reserved_script(script)?;
    Some(format!("it replaces `{reserved}` of the environment"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::collisions;

    #[test]
    fn members_are_compared_by_installed_path() {
        let names = [
            "demo/x.py",
            "demo-1.0.data/purelib/demo/x.py",
            "demo-1.0.data/platlib/demo/x.py",
            "demo-1.0.data/purelib/demo/x.py/y.py",
            "demo-1.0.data/scripts/run",
            "demo-1.0.data/data/bin/run",
            "demo-1.0.data/data/bin/run/deep",
            "demo-1.0.data/headers/demo/x.py",
            "demo/x.pyi",
            "run/x.py",
            "demo/x.py-not/y.py",
        ];
        let found = collisions(names.into_iter(), "demo-1.0.data/");
        let shown: Vec<String> = found
            .iter()
            .map(|(member, message)| format!("{member}: {message}"))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        demo-1.0.data/data/bin/run: `demo-1.0.data/scripts/run` is installed at the same path
        demo-1.0.data/data/bin/run/deep: `demo-1.0.data/scripts/run` is installed as a file where this member needs a directory
        demo-1.0.data/platlib/demo/x.py: `demo/x.py` is installed at the same path
        demo-1.0.data/purelib/demo/x.py: `demo/x.py` is installed at the same path
        demo-1.0.data/purelib/demo/x.py/y.py: `demo/x.py` is installed as a file where this member needs a directory
        ");
        assert_eq!(collisions(names[..1].iter().copied(), "demo-1.0.data/"), []);
    }

    /// An archive of the maximum size, whose names all have a thousand directories.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test bounds a time")]
    fn deep_paths_take_linear_time() {
        let deep = "a/".repeat(1000);
        let names: Vec<String> = (0..16_000)
            .map(|at| format!("demo-1.0.data/purelib/{deep}{at}"))
            .collect();
        let start = Instant::now();
        assert_eq!(
            collisions(names.iter().map(String::as_str), "demo-1.0.data/"),
            []
        );
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{:?}",
            start.elapsed()
        );
    }
}

//! Package ownership of system files, from the databases of dpkg, apk and rpm.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rock_names::percent_encode;
use rock_sys::read_system_text;

/// The installed packages below a root directory.
#[derive(Debug)]
pub(super) struct PackageOwners {
    root: PathBuf,
    distribution: String,
    versions: Option<BTreeMap<String, (String, String)>>,
    /// The dpkg packages by the paths of their shared libraries, once they have been read.
    listed: Option<BTreeMap<String, String>>,
}

impl PackageOwners {
    /// Reads the name of the distribution; databases are read when they are needed.
    pub(super) fn new(root: &Path) -> Self {
        let release = read_system_text(&root.join("etc/os-release")).unwrap_or_default();
        let id = release.lines().find_map(|line| line.strip_prefix("ID="));
        let distribution = id.map_or("", |id| id.trim_matches('"')).to_owned();
        Self {
            root: root.to_owned(),
            distribution,
            versions: None,
            listed: None,
        }
    }

    /// Returns the package URL of a file's package, `pkg:deb/debian/libelf1@0.188-2.1?arch=amd64`
    /// (purl specification, types `deb`, `apk` and `rpm`); `None` if no package lists it.
    pub(super) fn package_url(&mut self, path: &str) -> Option<String> {
        self.debian(path)
            .or_else(|| self.alpine(path))
            .or_else(|| self.rpm(path))
    }

    /// Looks a file up in the database of dpkg, which lists the files of each package in its own
    /// file (dpkg-query(1), `/var/lib/dpkg/info`). Both sides of the merged `/usr` are tried.
    fn debian(&mut self, path: &str) -> Option<String> {
        let other_side = path
            .strip_prefix("/usr")
            .map_or_else(|| format!("/usr{path}"), str::to_owned);
        let listed = self
            .listed
            .get_or_insert_with(|| listed(&self.root.join("var/lib/dpkg/info")));
        let package = listed
            .get(path)
            .or_else(|| listed.get(&other_side))?
            .clone();
        let status = self.root.join("var/lib/dpkg/status");
        let versions = self
            .versions
            .get_or_insert_with(|| stanzas(&status, ["Package", "Version", "Architecture"]));
        let (version, arch) = versions.get(&package)?;
        Some(format!(
            "pkg:deb/{}/{package}@{}?arch={arch}",
            self.distribution,
            percent_encode(version)
        ))
    }

    /// Looks a file up in the database of apk, a single file: `P:` and `V:` of a package, `F:` a
    /// directory and `R:` a file in it.
    fn alpine(&self, path: &str) -> Option<String> {
        let text = read_system_text(&self.root.join("lib/apk/db/installed"))?;
        let (directory, name) = path.trim_start_matches('/').rsplit_once('/')?;
        for stanza in text.split("\n\n") {
            let (mut is_in_directory, mut is_listed) = (false, false);
            for line in stanza.lines() {
                match line.split_once(':') {
                    Some(("F", other)) => is_in_directory = other == directory,
                    Some(("R", other)) => is_listed |= is_in_directory && other == name,
                    _ => {}
                }
            }
            if is_listed {
                let (package, version) = (apk_field(stanza, "P")?, apk_field(stanza, "V")?);
                return Some(format!(
                    "pkg:apk/{}/{package}@{}?arch={}",
                    self.distribution,
                    percent_encode(version),
                    apk_field(stanza, "A")?
                ));
            }
        }
        None
    }

    /// Asks rpm, the only reader of its database; returns `None` if rpm is not installed.
    fn rpm(&self, path: &str) -> Option<String> {
        if !self.root.join("var/lib/rpm").exists()
            && !self.root.join("usr/lib/sysimage/rpm").exists()
        {
            return None;
        }
        let mut command = std::process::Command::new("rpm");
        command
            .arg("--root")
            .arg(std::path::absolute(&self.root).ok()?);
        command.args([
            "-qf",
            "--queryformat",
            "%{NAME}@%{VERSION}-%{RELEASE}?arch=%{ARCH}\n",
            path,
        ]);
        let output = command
            .stdin(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout)
            .ok()
            .filter(|_| output.status.success())?;
        Some(format!(
            "pkg:rpm/{}/{}",
            self.distribution,
            text.lines().next()?
        ))
    }
}

/// Returns the packages with file lists in a directory, by the paths of files that may be
/// libraries.
fn listed(info: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(info)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let mut lists: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    lists.retain(|path| path.extension().is_some_and(|ending| ending == "list"));
    lists.sort();
    let mut packages = BTreeMap::new();
    for list in lists {
        let Some(package) = list
            .file_stem()
            .and_then(|stem| stem.to_str()?.split(':').next())
        else {
            continue;
        };
        let text = read_system_text(&list).unwrap_or_default();
        for line in text
            .lines()
            .filter(|line| line.contains(".so") || line.contains("/lib"))
        {
            packages
                .entry(line.to_owned())
                .or_insert_with(|| package.to_owned());
        }
    }
    packages
}

/// Returns the values of two keys of each stanza of a file, by that of the first key.
fn stanzas(path: &Path, keys: [&str; 3]) -> BTreeMap<String, (String, String)> {
    let text = read_system_text(path).unwrap_or_default();
    text.split("\n\n")
        .filter_map(|stanza| {
            let [first, second, third] = keys.map(|key| stanza_value(stanza, key));
            Some((first?, (second?, third?)))
        })
        .collect()
}

fn stanza_value(stanza: &str, key: &str) -> Option<String> {
    stanza.lines().find_map(|line| {
        line.strip_prefix(key)?
            .strip_prefix(": ")
            .map(str::to_owned)
    })
}

/// Returns the value of a field of a package in the database of apk.
fn apk_field<'s>(stanza: &'s str, key: &str) -> Option<&'s str> {
    stanza
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
}

#[cfg(test)]
mod tests {
    use super::PackageOwners;

    #[test]
    fn a_file_of_a_debian_package_is_known_by_either_side_of_usr() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file("etc/os-release", "NAME=x\nID=debian\n");
        file(
            "var/lib/dpkg/info/libelf1:amd64.list",
            "/.\n/usr/lib/libelf-0.188.so\n",
        );
        file(
            "var/lib/dpkg/status",
            "Package: a\nVersion: 1\n\nPackage: libelf1\nArchitecture: amd64\nVersion: 0.188+2\n",
        );
        let mut owners = PackageOwners::new(root.path());
        let url = Some("pkg:deb/debian/libelf1@0.188%2B2?arch=amd64".to_owned());
        assert_eq!(owners.package_url("/usr/lib/libelf-0.188.so"), url);
        assert_eq!(owners.package_url("/lib/libelf-0.188.so"), url);
        assert_eq!(owners.package_url("/opt/own.so"), None);
    }

    #[test]
    fn a_library_without_so_in_its_name_is_known_below_a_folder_of_libraries_and_other_files_are_not()
     {
        let root = tempfile::tempdir().unwrap();
        let info = root.path().join("var/lib/dpkg/info");
        std::fs::create_dir_all(&info).unwrap();
        let list = "/usr/lib/x86_64-linux-gnu/odd\n/lib/plain\n/opt/own/free.so.3\n/usr/share/odd/readme\n/etc/odd.conf\n";
        std::fs::write(info.join("odd:amd64.list"), list).unwrap();
        let status = "Package: odd\nVersion: 1.0\nArchitecture: amd64\n";
        std::fs::write(root.path().join("var/lib/dpkg/status"), status).unwrap();
        let mut owners = PackageOwners::new(root.path());
        for known in [
            "/usr/lib/x86_64-linux-gnu/odd",
            "/lib/x86_64-linux-gnu/odd",
            "/usr/lib/plain",
            "/opt/own/free.so.3",
        ] {
            let url = owners.package_url(known);
            assert_eq!(
                url.as_deref(),
                Some("pkg:deb//odd@1.0?arch=amd64"),
                "{known}"
            );
        }
        for unknown in ["/usr/share/odd/readme", "/etc/odd.conf", "/usr/lib/other"] {
            assert_eq!(owners.package_url(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_file_of_an_alpine_package_is_known() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("lib/apk/db")).unwrap();
        let text = "P:zlib\nV:1.3-r0\nA:x86_64\nF:lib\nR:libz.so.1.3\n\nP:musl\nV:1.2\nA:x86_64\nF:lib\nR:libc.so\n";
        std::fs::write(root.path().join("lib/apk/db/installed"), text).unwrap();
        let url = PackageOwners::new(root.path()).package_url("/lib/libz.so.1.3");
        assert_eq!(url.as_deref(), Some("pkg:apk//zlib@1.3-r0?arch=x86_64"));
    }
}

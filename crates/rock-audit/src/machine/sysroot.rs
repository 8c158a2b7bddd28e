//! Shared libraries of the machine, or of a folder that stands for its root.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::{Library, MachineLibraries, MachineLibrary, SearchPath};
use rock_elf::Elf;
use rock_names::without_dots;
use rock_sys::{PositionalFile, read_system_text};

/// Libraries below a root folder; all paths in them and to them are meant below it.
#[derive(Debug, Clone)]
pub struct Sysroot {
    root: PathBuf,
}

/// Links that are followed one after the other at most (Linux, `MAXSYMLINKS`).
const MOST_LINKS: u32 = 40;
/// Configuration files of the loader that are read at most.
const MOST_FILES: usize = 1000;

impl Sysroot {
    /// Libraries below this folder; `/` for those of the machine itself.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Whether there is such a root.
    pub fn is_there(&self) -> bool {
        self.root.is_dir()
    }

    /// The folders of these that are not there.
    pub fn missing<'f>(&self, folders: &'f [String]) -> Vec<&'f str> {
        let is_there = |folder: &&String| {
            self.resolve(Path::new(folder))
                .is_some_and(|path| self.below(&path).is_dir())
        };
        folders
            .iter()
            .filter(|folder| !is_there(folder))
            .map(String::as_str)
            .collect()
    }

    /// Where the loader searches: what the environment says, and its own configuration. With
    /// folders of one's own (`--ldpaths`) neither the configuration nor `LD_LIBRARY_PATH` counts.
    ///
    /// A folder that is not named from the root is one below the current folder, and an empty name
    /// is the current folder itself (ld.so(8), "`LD_LIBRARY_PATH`"); below another root, the
    /// current folder is that root.
    pub fn search_path(
        &self,
        own: Option<&str>,
        environment: &rock_sys::Environment,
    ) -> SearchPath {
        let current = if self.root == Path::new("/") {
            environment.current_dir.to_str()
        } else {
            Some("/")
        };
        let list = |text: &str, separators: &[char]| folders(text, separators, current);
        // The loader takes semicolons for colons in the environment.
        let variable = |name: &str| {
            environment
                .get(name)
                .map(|text| list(text, &[':', ';']))
                .unwrap_or_default()
        };
        let first = variable("AUDITWHEEL_LD_LIBRARY_PATH");
        match own {
            Some(own) => SearchPath {
                environment: first,
                system: list(own, &[':']),
            },
            None => SearchPath {
                environment: [first, variable("LD_LIBRARY_PATH")].concat(),
                system: self.system_folders(),
            },
        }
    }

    /// The folders that ld.so.conf names with the files that it includes, and those that the loader
    /// trusts (ld.so(8)); where musl's loader is the only one, those of its own file, or the ones
    /// it searches without (musl, `ldso/dynlink.c`).
    fn system_folders(&self) -> Vec<String> {
        if let Some(folders) = self.folders_of_musl() {
            return folders;
        }
        let mut folders = Vec::new();
        let mut seen = BTreeSet::new();
        self.read_configuration(Path::new("/etc/ld.so.conf"), &mut folders, &mut seen);
        folders.extend(["/lib", "/lib64", "/usr/lib", "/usr/lib64"].map(str::to_owned));
        folders
    }

    /// Whether musl's loader is the only one: then programs are for its C library.
    pub fn is_of_musl(&self) -> bool {
        self.resolve(Path::new("/etc/ld.so.conf")).is_none()
            && !self
                .matching(Path::new("/etc/x"), "/lib/ld-musl-*.so.1")
                .is_empty()
    }

    fn folders_of_musl(&self) -> Option<Vec<String>> {
        if !self.is_of_musl() {
            return None;
        }
        let own = self
            .matching(Path::new("/etc/x"), "ld-musl-*.path")
            .into_iter()
            .next();
        let text = own.and_then(|path| read_system_text(&self.below(&self.resolve(&path)?)));
        let text = text.unwrap_or_else(|| "/lib:/usr/local/lib:/usr/lib".to_owned());
        Some(folders(&text, &[':', '\n'], None))
    }

    fn read_configuration(
        &self,
        path: &Path,
        folders: &mut Vec<String>,
        seen: &mut BTreeSet<PathBuf>,
    ) {
        if seen.len() >= MOST_FILES || !seen.insert(path.to_owned()) {
            return;
        }
        let Some(text) = self
            .resolve(path)
            .and_then(|path| read_system_text(&self.below(&path)))
        else {
            return;
        };
        for line in text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim())
        {
            match line
                .strip_prefix("include")
                .filter(|rest| rest.starts_with([' ', '\t']))
            {
                None if line.starts_with('/') => folders.push(line.to_owned()),
                None => {}
                Some(patterns) => {
                    for pattern in patterns.split_whitespace() {
                        for path in self.matching(path, pattern) {
                            self.read_configuration(&path, folders, seen);
                        }
                    }
                }
            }
        }
    }

    /// The files that a pattern of an `include` matches, sorted; only its last part may have
    /// wildcards.
    fn matching(&self, from: &Path, pattern: &str) -> Vec<PathBuf> {
        let whole = from.parent().unwrap_or(Path::new("/")).join(pattern);
        let (Some(folder), Some(name)) = (
            whole.parent(),
            whole.file_name().and_then(|name| name.to_str()),
        ) else {
            return Vec::new();
        };
        let Ok(glob) = globset::Glob::new(name).map(|glob| glob.compile_matcher()) else {
            return Vec::new();
        };
        let Some(real) = self.resolve(folder) else {
            return Vec::new();
        };
        let entries = std::fs::read_dir(self.below(&real))
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        let mut found: Vec<PathBuf> = entries
            .filter(|entry| glob.is_match(entry.file_name()))
            .map(|entry| folder.join(entry.file_name()))
            .collect();
        found.sort();
        found
    }

    fn below(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The file that a path leads to, named through the folder it was found in: links that folders
    /// are stay.
    fn follow(&self, path: &Path) -> Option<PathBuf> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let folder = path.parent()?;
            let Ok(target) =
                std::fs::read_link(self.below(&self.resolve(folder)?.join(path.file_name()?)))
            else {
                return Some(path);
            };
            let joined = parts(&folder.join(target)).into_iter().rev();
            path = joined.fold(PathBuf::from("/"), |mut path, part| {
                if part == ".." {
                    path.pop();
                } else {
                    path.push(part);
                }
                path
            });
        }
        None
    }

    /// The path without links, each of them followed below the root.
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::from("/");
        let mut left: Vec<std::ffi::OsString> = parts(path);
        let mut links = 0;
        while let Some(part) = left.pop() {
            if part == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&part);
            match std::fs::read_link(self.below(&next)) {
                Ok(target) => {
                    links += 1;
                    if links > MOST_LINKS {
                        return None;
                    }
                    if target.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    left.extend(parts(&target));
                }
                Err(_) => real = next,
            }
        }
        self.below(&real).exists().then_some(real)
    }
}

/// The folders of a list, each from the root; without a current folder those that are not are left
/// out, as is what cannot be told here: `$ORIGIN`, which is where the program lies.
fn folders(text: &str, separators: &[char], current: Option<&str>) -> Vec<String> {
    let folder = |name: &str| match current {
        _ if name.contains('$') => None,
        _ if name.starts_with('/') => Some(name.to_owned()),
        current => without_dots(&format!("{}/{name}", current?)).map(|path| format!("/{path}")),
    };
    let names = text.split(|letter| separators.contains(&letter));
    // An empty text is no list of one empty name.
    names
        .filter(|_| !text.is_empty())
        .filter_map(folder)
        .collect()
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<std::ffi::OsString> {
    let named = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    let mut parts: Vec<std::ffi::OsString> =
        named.map(|part| part.as_os_str().to_owned()).collect();
    parts.reverse();
    parts
}

impl MachineLibraries for Sysroot {
    fn read(&self, path: &str) -> Option<MachineLibrary> {
        let file = PositionalFile::open(&self.below(&self.resolve(Path::new(path))?)).ok()?;
        let elf = Elf::read(&file).ok()?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let library = Library::read(&file, &elf, name, &|_| false).ok()?;
        let real_path = self.follow(Path::new(path))?;
        Some(MachineLibrary {
            path: path.to_owned(),
            real_path: real_path.to_str()?.to_owned(),
            library,
        })
    }

    fn open(&self, real_path: &str) -> std::io::Result<Box<dyn rock_bytes::ReadAt>> {
        let file = PositionalFile::open(
            &self.below(
                &self
                    .resolve(Path::new(real_path))
                    .ok_or(std::io::ErrorKind::NotFound)?,
            ),
        )
        .map_err(std::io::Error::other)?;
        Ok(Box::new(file))
    }
}

#[cfg(test)]
mod tests {
    use super::{Sysroot, folders};
    use crate::MachineLibraries;
    use rock_sys::LARGEST_SYSTEM_FILE_BYTES;
    use std::path::Path;

    #[test]
    fn a_loader_configuration_past_its_limit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("etc")).unwrap();
        let path = folder.path().join("etc/ld.so.conf");
        std::fs::write(&path, "/opt/lib\n").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let trusted = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
        for (size, first) in [
            (LARGEST_SYSTEM_FILE_BYTES, &["/opt/lib"][..]),
            (LARGEST_SYSTEM_FILE_BYTES + 1, &[]),
        ] {
            file.set_len(size).unwrap();
            assert_eq!(
                Sysroot::new(folder.path()).system_folders(),
                [first, &trusted].concat()
            );
        }
    }

    #[test]
    fn links_are_followed_below_the_root_and_never_out_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("usr/lib/deep")).unwrap();
        std::fs::create_dir_all(root.join("etc/ld.so.conf.d")).unwrap();
        std::fs::write(root.join("usr/lib/deep/real.so.1.2"), b"no library").unwrap();
        let link =
            |target: &str, at: &str| std::os::unix::fs::symlink(target, root.join(at)).unwrap();
        link("/usr/lib", "lib");
        link("deep/real.so.1.2", "usr/lib/one.so");
        link("../../../../etc/passwd", "usr/lib/out.so");
        link("round.so", "usr/lib/round.so");
        let sysroot = Sysroot::new(root);
        assert_eq!(
            sysroot.resolve(Path::new("/lib/one.so")).unwrap(),
            Path::new("/usr/lib/deep/real.so.1.2")
        );
        assert_eq!(
            sysroot.follow(Path::new("/lib/one.so")).unwrap(),
            Path::new("/lib/deep/real.so.1.2")
        );
        assert_eq!(sysroot.resolve(Path::new("/lib/out.so")), None);
        assert_eq!(sysroot.resolve(Path::new("/lib/round.so")), None);
        assert!(sysroot.read("/lib/one.so").is_none(), "it is no library");
    }

    #[test]
    fn the_configuration_of_the_loader_is_read_with_what_it_includes() {
        let folder = tempfile::tempdir().unwrap();
        let etc = folder.path().join("etc");
        std::fs::create_dir_all(etc.join("ld.so.conf.d")).unwrap();
        std::fs::write(
            etc.join("ld.so.conf"),
            "include ld.so.conf.d/*.conf\n/opt/last # why\n",
        )
        .unwrap();
        std::fs::write(etc.join("ld.so.conf.d/b.conf"), "/opt/b\n").unwrap();
        std::fs::write(
            etc.join("ld.so.conf.d/a.conf"),
            "# none\n/opt/a\ninclude /etc/ld.so.conf\n",
        )
        .unwrap();
        let folders = Sysroot::new(folder.path()).system_folders();
        assert_eq!(folders[..3], ["/opt/a", "/opt/b", "/opt/last"]);
    }

    #[test]
    fn folders_that_are_not_named_from_the_root_are_below_the_current_one() {
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(folders(text, &[':', ';'], Some("/here")), expect, "{text}");
        };
        check("", &[]);
        check("/opt/a:/opt/b", &["/opt/a", "/opt/b"]);
        check("libs:../more;./own", &["/here/libs", "/more", "/here/own"]);
        check("/opt/a:", &["/opt/a", "/here"]);
        check("$ORIGIN/lib:/x", &["/x"]);
        assert_eq!(folders("libs", &[':'], Some("/")), ["/libs"]);
        assert_eq!(folders("libs::/x", &[':'], None), ["/x"]);
    }

    #[test]
    fn a_root_with_musls_loader_alone_is_searched_as_that_loader_does() {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file("lib/ld-musl-x86_64.so.1", "the loader");
        let sysroot = Sysroot::new(folder.path());
        assert_eq!(
            sysroot.system_folders(),
            ["/lib", "/usr/local/lib", "/usr/lib"]
        );
        file("etc/ld-musl-x86_64.path", "/lib\n/opt/lib:/usr/lib\n");
        assert_eq!(sysroot.system_folders(), ["/lib", "/opt/lib", "/usr/lib"]);
        assert!(sysroot.is_of_musl());
        file("etc/ld.so.conf", "/opt/glibc\n");
        assert!(!sysroot.is_of_musl(), "another loader is there");
        assert_eq!(sysroot.system_folders()[0], "/opt/glibc");
    }

    #[test]
    fn the_c_library_of_this_machine_is_found_and_read() {
        let sysroot = Sysroot::new(Path::new("/"));
        let mut path = sysroot
            .system_folders()
            .into_iter()
            .map(|folder| format!("{folder}/libc.so.6"));
        let found = path.find_map(|path| sysroot.read(&path)).unwrap();
        assert_eq!(found.library.soname.as_deref(), Some("libc.so.6"));
        assert!(sysroot.open(&found.real_path).unwrap().size_bytes() > 1000);
    }
}

//! The shared libraries below a root directory, and the configuration of its dynamic linker.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::{ElfLibrary, LibrarySearchPath, SystemLibrary};
use rock_elf::Elf;
use rock_names::without_dots;
use rock_sys::{PositionalFile, read_system_text};

/// A root directory. All paths and symbolic links are resolved below it.
#[derive(Debug, Clone)]
pub struct Sysroot {
    root: PathBuf,
}

/// Maximum number of symbolic links in a path (Linux, `MAXSYMLINKS`).
const MOST_LINKS: u32 = 40;
/// Maximum number of configuration files of the dynamic linker.
const MOST_FILES: usize = 1000;

impl Sysroot {
    /// Creates the root; `/` for this machine.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Returns the root directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether the root directory exists.
    pub fn is_there(&self) -> bool {
        self.root.is_dir()
    }

    /// Returns the directories that do not exist.
    pub fn missing<'f>(&self, folders: &'f [String]) -> Vec<&'f str> {
        folders
            .iter()
            .filter(|directory| {
                self.resolve(Path::new(directory))
                    .is_none_or(|path| !self.below(&path).is_dir())
            })
            .map(String::as_str)
            .collect()
    }

    /// Returns the directories in which the dynamic linker searches, from the environment and its
    /// configuration. With `own` directories (`--ldpaths`), neither the configuration nor
    /// `LD_LIBRARY_PATH` is used.
    ///
    /// A relative directory is below the working directory, and an empty name is the working
    /// directory (ld.so(8), "`LD_LIBRARY_PATH`"); below another root, the working directory is that
    /// root.
    pub fn search_path(
        &self,
        library_dirs: Option<&str>,
        environment: &rock_sys::Environment,
    ) -> LibrarySearchPath {
        let current = if self.root == Path::new("/") {
            environment.current_dir.to_str()
        } else {
            Some("/")
        };
        // The dynamic linker accepts semicolons as separators in the environment.
        let variable = |name: &str| {
            environment
                .get(name)
                .map(|text| folders(text, &[':', ';'], current))
                .unwrap_or_default()
        };
        let first = variable("AUDITWHEEL_LD_LIBRARY_PATH");
        match library_dirs {
            Some(library_dirs) => LibrarySearchPath {
                environment: first,
                system: folders(library_dirs, &[':'], current),
            },
            None => LibrarySearchPath {
                environment: [first, variable("LD_LIBRARY_PATH")].concat(),
                system: self.system_folders(),
            },
        }
    }

    /// Returns the directories of ld.so.conf and of the files that it includes, and the trusted
    /// ones (ld.so(8)). If musl's dynamic linker is the only one, returns those of its own file or
    /// its defaults (musl, `ldso/dynlink.c`).
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

    /// Returns whether musl's dynamic linker is the only one, so that programs use its C library.
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
        let own_file = self
            .matching(Path::new("/etc/x"), "ld-musl-*.path")
            .into_iter()
            .next();
        let text = own_file.and_then(|path| read_system_text(&self.below(&self.resolve(&path)?)));
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

    /// Returns the files that the pattern of an `include` matches, sorted. Only its last component
    /// may contain wildcards.
    fn matching(&self, from: &Path, pattern: &str) -> Vec<PathBuf> {
        let whole = from.parent().unwrap_or(Path::new("/")).join(pattern);
        let (Some(directory), Some(name)) = (
            whole.parent(),
            whole.file_name().and_then(|name| name.to_str()),
        ) else {
            return Vec::new();
        };
        let Ok(glob) = globset::Glob::new(name).map(|glob| glob.compile_matcher()) else {
            return Vec::new();
        };
        let Some(real) = self.resolve(directory) else {
            return Vec::new();
        };
        let entries = std::fs::read_dir(self.below(&real))
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        let mut paths: Vec<PathBuf> = entries
            .filter(|entry| glob.is_match(entry.file_name()))
            .map(|entry| directory.join(entry.file_name()))
            .collect();
        paths.sort();
        paths
    }

    fn below(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Follows a symbolic link to its file, but does not resolve links among the directories.
    fn follow(&self, path: &Path) -> Option<PathBuf> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let directory = path.parent()?;
            let Ok(target) =
                std::fs::read_link(self.below(&self.resolve(directory)?.join(path.file_name()?)))
            else {
                return Some(path);
            };
            let joined = parts(&directory.join(target)).into_iter().rev();
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

    /// Resolves all symbolic links of a path below the root.
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

/// Splits a list into absolute directories. Relative ones are dropped without a working directory,
/// as are those with `$ORIGIN`, which depend on the program.
fn folders(text: &str, separators: &[char], current: Option<&str>) -> Vec<String> {
    let names = text.split(|letter| separators.contains(&letter));
    // An empty text is an empty list, not a list with an empty name.
    names
        .filter(|_| !text.is_empty())
        .filter_map(|name| absolute(name, current))
        .collect()
}

/// Returns the absolute path of a directory of such a list.
fn absolute(name: &str, current: Option<&str>) -> Option<String> {
    if name.contains('$') {
        None
    } else if name.starts_with('/') {
        Some(name.to_owned())
    } else {
        without_dots(&format!("{}/{name}", current?)).map(|path| format!("/{path}"))
    }
}

/// Returns the components of a path in reverse order.
fn parts(path: &Path) -> Vec<std::ffi::OsString> {
    let named = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    let mut parts: Vec<std::ffi::OsString> =
        named.map(|part| part.as_os_str().to_owned()).collect();
    parts.reverse();
    parts
}

impl Sysroot {
    /// Returns the library at a path; `None` if there is none or it is not an ELF file.
    pub fn read(&self, path: &str) -> Option<SystemLibrary> {
        let file = PositionalFile::open(&self.below(&self.resolve(Path::new(path))?)).ok()?;
        let elf = Elf::read(&file).ok()?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let elf = ElfLibrary::read(&file, &elf, name, &|_| false).ok()?;
        let real_path = self.follow(Path::new(path))?;
        Some(SystemLibrary {
            path: path.to_owned(),
            real_path: real_path.to_str()?.to_owned(),
            elf,
        })
    }

    /// Opens a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub fn open(&self, real_path: &str) -> std::io::Result<Box<dyn rock_bytes::ReadAt>> {
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
    use rock_sys::LARGEST_SYSTEM_FILE_BYTES;
    use std::path::Path;

    #[test]
    fn a_loader_configuration_past_its_limit_is_not_read() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("etc")).unwrap();
        let path = root.path().join("etc/ld.so.conf");
        std::fs::write(&path, "/opt/lib\n").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let trusted = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
        for (size, first) in [
            (LARGEST_SYSTEM_FILE_BYTES, &["/opt/lib"][..]),
            (LARGEST_SYSTEM_FILE_BYTES + 1, &[]),
        ] {
            file.set_len(size).unwrap();
            assert_eq!(
                Sysroot::new(root.path()).system_folders(),
                [first, &trusted].concat()
            );
        }
    }

    #[test]
    fn links_are_followed_below_the_root_and_never_out_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        std::fs::create_dir_all(root.join("usr/lib/deep")).unwrap();
        std::fs::create_dir_all(root.join("etc/ld.so.conf.d")).unwrap();
        std::fs::write(root.join("usr/lib/deep/real.so.1.2"), b"no library").unwrap();
        let link =
            |target: &str, path: &str| std::os::unix::fs::symlink(target, root.join(path)).unwrap();
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
        assert!(sysroot.read("/lib/one.so").is_none(), "it is not a library");
    }

    #[test]
    fn the_configuration_of_the_loader_is_read_with_what_it_includes() {
        let root = tempfile::tempdir().unwrap();
        let etc = root.path().join("etc");
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
        let folders = Sysroot::new(root.path()).system_folders();
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
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file("lib/ld-musl-x86_64.so.1", "the loader");
        let sysroot = Sysroot::new(root.path());
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
            .map(|directory| format!("{directory}/libc.so.6"));
        let libc = path.find_map(|path| sysroot.read(&path)).unwrap();
        assert_eq!(libc.elf.soname.as_deref(), Some("libc.so.6"));
        assert!(sysroot.open(&libc.real_path).unwrap().size_bytes() > 1000);
    }
}

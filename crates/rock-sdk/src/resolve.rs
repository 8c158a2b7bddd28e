//! Resolution of symlinks, in one artifact or in a tree that several artifacts form.

use rustc_hash::FxHashMap;

use super::limits::MAX_LINKS;
use super::{BuildArtifact, EntryKind};
use rock_names::parent_directories;

/// The entry at exactly this path of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathEntry<'t> {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symlink with this target text.
    Link(&'t str),
    /// A path in another tree, which is not inspected.
    Elsewhere,
}

/// The final target of a symlink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkTarget<F> {
    /// A regular file.
    File(F),
    /// A directory.
    Directory,
    /// A path in another tree.
    Elsewhere,
    /// Nothing exists there.
    Nothing,
    /// A path outside of the tree.
    Outside,
    /// A loop, or more symlinks than a system follows.
    Loop,
}

/// Resolves the symlink at `path` with this target text component by component, as the system does.
/// `met` returns the entry at a path of the tree.
pub(super) fn follow<'t>(
    path: &str,
    text: &'t str,
    met: impl Fn(&str) -> Option<PathEntry<'t>>,
) -> LinkTarget<String> {
    let mut at = path
        .rsplit_once('/')
        .map_or_else(String::new, |(directory, _)| directory.to_owned());
    // The remaining components, the next one last.
    let mut left: Vec<&str> = Vec::new();
    let (mut link, mut links) = (Some(text), 0);
    loop {
        if let Some(text) = link.take() {
            links += 1;
            if links > MAX_LINKS {
                return LinkTarget::Loop;
            }
            if text.starts_with('/') {
                return LinkTarget::Outside;
            }
            if text.is_empty() {
                return LinkTarget::Nothing;
            }
            left.extend(
                text.split('/')
                    .rev()
                    .filter(|word| !word.is_empty() && *word != "."),
            );
        }
        let Some(word) = left.pop() else {
            return LinkTarget::Directory;
        };
        if word == ".." {
            if at.is_empty() {
                return LinkTarget::Outside;
            }
            at.truncate(at.rfind('/').unwrap_or_default());
            continue;
        }
        let directory_bytes = at.len();
        if !at.is_empty() {
            at.push('/');
        }
        at.push_str(word);
        match met(&at) {
            None => return LinkTarget::Nothing,
            Some(PathEntry::Directory) => {}
            Some(PathEntry::File) if left.is_empty() => return LinkTarget::File(at),
            Some(PathEntry::File) => return LinkTarget::Nothing,
            Some(PathEntry::Elsewhere) => return LinkTarget::Elsewhere,
            Some(PathEntry::Link(text)) => {
                at.truncate(directory_bytes);
                link = Some(text);
            }
        }
    }
}

/// Returns the shortest relative target text for a symlink at `path` that leads to `target`. Both
/// paths are relative to the same root.
pub(super) fn way(path: &str, target: &str) -> String {
    let directories = path.split('/').count() - 1;
    let same = path
        .split('/')
        .zip(target.split('/'))
        .take(directories)
        .take_while(|(one, other)| one == other)
        .count();
    // The last component of the target is not a directory.
    let same = same.min(target.split('/').count() - 1);
    let down: Vec<&str> = target.split('/').skip(same).collect();
    format!("{}{}", "../".repeat(directories - same), down.join("/"))
}

/// The index of all paths of an artifact.
pub(super) struct ArtifactPaths<'a> {
    artifact: &'a BuildArtifact,
    known: FxHashMap<String, Option<usize>>,
}

impl<'a> ArtifactPaths<'a> {
    /// Indexes the entries of an artifact and their parent directories.
    pub(super) fn new(artifact: &'a BuildArtifact) -> Self {
        let mut known = FxHashMap::default();
        for (number, entry) in artifact.entries.iter().enumerate() {
            let path = format!("{}/{}", artifact.roots[entry.root], entry.path);
            for directory in parent_directories(&path) {
                if known.contains_key(directory) {
                    break;
                }
                known.insert(directory.to_owned(), None);
            }
            known.insert(path, Some(number));
        }
        Self { artifact, known }
    }

    /// Resolves entry `number`, a symlink with this target text, to the entry of a regular file.
    pub(super) fn follow(&self, number: usize, text: &str) -> LinkTarget<usize> {
        let entry = &self.artifact.entries[number];
        let path = format!("{}/{}", self.artifact.roots[entry.root], entry.path);
        match follow(&path, text, |at| self.met(at)) {
            LinkTarget::File(path) => match self.known.get(&path) {
                Some(Some(number)) => LinkTarget::File(*number),
                _ => LinkTarget::Nothing,
            },
            LinkTarget::Directory => LinkTarget::Directory,
            LinkTarget::Elsewhere => LinkTarget::Elsewhere,
            LinkTarget::Nothing => LinkTarget::Nothing,
            LinkTarget::Outside => LinkTarget::Outside,
            LinkTarget::Loop => LinkTarget::Loop,
        }
    }

    fn met(&self, path: &str) -> Option<PathEntry<'_>> {
        let number = self.known.get(path)?;
        Some(
            match number.map(|number| &self.artifact.entries[number].kind) {
                None | Some(EntryKind::Directory) => PathEntry::Directory,
                Some(EntryKind::File(_)) => PathEntry::File,
                Some(EntryKind::Link(text)) => PathEntry::Link(text),
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkTarget, MAX_LINKS, PathEntry, follow, way};

    fn check(path: &str, text: &str, expect: LinkTarget<&str>) {
        let met = |at: &str| match at {
            "lib" | "lib/llvm" | "lib/llvm/bin" | "bin" => Some(PathEntry::Directory),
            "lib/llvm/bin/clang-23" => Some(PathEntry::File),
            "llvm" => Some(PathEntry::Link("lib/llvm")),
            "lib/again" => Some(PathEntry::Link("../llvm/bin")),
            "a" => Some(PathEntry::Link("b")),
            "b" => Some(PathEntry::Link("a")),
            "out" => Some(PathEntry::Link("/usr")),
            "other" => Some(PathEntry::Elsewhere),
            _ => None,
        };
        let expect = match expect {
            LinkTarget::File(path) => LinkTarget::File(path.to_owned()),
            LinkTarget::Directory => LinkTarget::Directory,
            LinkTarget::Elsewhere => LinkTarget::Elsewhere,
            LinkTarget::Nothing => LinkTarget::Nothing,
            LinkTarget::Outside => LinkTarget::Outside,
            LinkTarget::Loop => LinkTarget::Loop,
        };
        assert_eq!(follow(path, text, met), expect, "{path} -> {text}");
    }

    #[test]
    fn loops_escapes_and_missing_paths_are_different_errors() {
        check(
            "bin/clang",
            "../llvm/bin/clang-23",
            LinkTarget::File("lib/llvm/bin/clang-23"),
        );
        check(
            "x",
            "lib/again/clang-23",
            LinkTarget::File("lib/llvm/bin/clang-23"),
        );
        check("x", "llvm/../llvm", LinkTarget::Directory);
        check("x", "other/what/ever", LinkTarget::Elsewhere);
        for text in ["", "gone", "lib/gone/..", "lib/llvm/bin/clang-23/x"] {
            check("x", text, LinkTarget::Nothing);
        }
        for text in ["/lib", "out/include", "../x", "lib/../../x"] {
            check("x", text, LinkTarget::Outside);
        }
        for text in ["a", "b", "b/x"] {
            check("x", text, LinkTarget::Loop);
        }
    }

    #[test]
    fn as_many_links_are_followed_as_a_system_follows() {
        let texts: Vec<String> = (0..=MAX_LINKS).map(|number| number.to_string()).collect();
        // Link `N` leads to `N-1`, and `0` is a file. The link at the path itself counts, too.
        let met = |at: &str| match at.parse::<usize>() {
            Ok(0) => Some(PathEntry::File),
            Ok(number) => Some(PathEntry::Link(&texts[number - 1])),
            Err(_) => None,
        };
        assert_eq!(
            follow("x", &texts[MAX_LINKS - 1], met),
            LinkTarget::File("0".to_owned())
        );
        assert_eq!(follow("x", &texts[MAX_LINKS], met), LinkTarget::Loop);
    }

    #[test]
    fn a_way_goes_up_no_further_than_it_must() {
        for (path, target, text) in [
            (
                "bin/clang",
                "lib/llvm/bin/clang-23",
                "../lib/llvm/bin/clang-23",
            ),
            ("lib/llvm/bin/clang", "lib/llvm/bin/clang-23", "clang-23"),
            ("lib/llvm/bin/clang", "lib/llvm/clang", "../clang"),
            ("lib/x/y", "lib/z", "../z"),
            ("clang", "bin/clang", "bin/clang"),
            ("bin/clang", "clang", "../clang"),
        ] {
            assert_eq!(way(path, target), text, "{path} to {target}");
        }
    }
}

//! Parsers for git's machine-readable output, and validation of refs.

use std::collections::BTreeSet;

/// The prefix of the reflog messages that a checkout writes.
pub const REFLOG_MARK: &str = "rock-matrix";

/// The output of `git status --porcelain=v2 --branch -z`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitStatus {
    /// The commit; `None` before the first commit.
    pub head: Option<String>,
    /// The branch; `None` if the head is detached.
    pub branch: Option<String>,
    /// Paths whose staged state differs from the commit.
    pub staged: Vec<String>,
    /// Paths that differ from their staged state, and untracked paths.
    pub changed: Vec<String>,
}

impl GitStatus {
    /// Parses the output of git.
    pub fn parse(text: &[u8]) -> Self {
        let mut status = Self::default();
        let text = String::from_utf8_lossy(text);
        let mut items = text.split('\0');
        while let Some(item) = items.next() {
            let (kind, rest) = item.split_once(' ').unwrap_or((item, ""));
            match kind {
                "#" => status.header(rest),
                // XY, sub, three modes, two hashes, path; for a rename, a score precedes the path.
                "1" => status.entry(rest, 7),
                "2" => {
                    status.entry(rest, 8);
                    items.next();
                }
                // XY, sub, four modes, three hashes, path.
                "u" => status.entry(rest, 9),
                "?" => status.changed.push(rest.to_owned()),
                _ => {}
            }
        }
        status
    }

    fn header(&mut self, text: &str) {
        match text.split_once(' ') {
            Some(("branch.oid", oid)) if oid != "(initial)" => self.head = Some(oid.to_owned()),
            Some(("branch.head", name)) if name != "(detached)" => {
                self.branch = Some(name.to_owned());
            }
            _ => {}
        }
    }

    fn entry(&mut self, text: &str, fields_before: usize) {
        let mut letters = text.chars();
        let (staged, changed) = (letters.next(), letters.next());
        let Some(path) = text.splitn(fields_before + 1, ' ').nth(fields_before) else {
            return;
        };
        if staged != Some('.') {
            self.staged.push(path.to_owned());
        }
        if changed != Some('.') {
            self.changed.push(path.to_owned());
        }
    }

    /// Returns all paths that differ from the commit, sorted.
    pub fn uncommitted(&self) -> Vec<String> {
        let paths: BTreeSet<&String> = self.staged.iter().chain(&self.changed).collect();
        paths.into_iter().cloned().collect()
    }
}

/// Returns the commits that a checkout created or moved to, according to the text of a reflog.
pub fn made_by_us(reflog: &str) -> BTreeSet<&str> {
    let mark = format!("{REFLOG_MARK}:");
    let made = |line: &'_ str| -> bool {
        line.split_once('\t').is_some_and(|(_, action)| {
            action.starts_with(&mark) || action.trim_end() == REFLOG_MARK
        })
    };
    reflog
        .lines()
        .filter(|line| made(line))
        .filter_map(|line| line.split(' ').nth(1))
        .collect()
}

/// Parses the output of `git config --null --get-regexp`: returns the middle of each key
/// `submodule.MIDDLE.LAST`, and the value.
pub fn submodule_settings(text: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(text);
    let pair = |item: &str| {
        let (key, value) = item.split_once('\n')?;
        let (middle, _) = key.strip_prefix("submodule.")?.rsplit_once('.')?;
        Some((middle.to_owned(), value.to_owned()))
    };
    text.split('\0').filter_map(pair).collect()
}

/// Returns the commit that a ref resolves to, from the output of `git ls-remote ORIGIN REF REF^{}`.
/// Ref namespaces are tried in git's order (gitrevisions(7)), and an annotated tag is peeled to its
/// commit.
pub fn commit_of(reference: &str, listed: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(listed);
    let oid_of = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_suffix(name)?.strip_suffix('\t'))
    };
    ["", "refs/", "refs/tags/", "refs/heads/"]
        .iter()
        .find_map(|prefix| {
            let name = format!("{prefix}{reference}");
            let oid = oid_of(&name)?;
            Some(oid_of(&format!("{name}^{{}}")).unwrap_or(oid).to_owned())
        })
}

/// Returns whether a text is a full commit hash.
pub fn is_commit_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the reason why a text cannot be fetched as a branch, tag or commit, if there is one.
/// Implements the rules of git (git-check-ref-format(1)) that prevent a text from being an option,
/// a pattern, or more than one ref.
pub fn bad_reference(text: &str) -> Option<&'static str> {
    let has_forbidden_text = || {
        text.contains(['*', '?', '[', '~', '^', '\\']) || text.contains("..") || text.contains("@{")
    };
    if text.is_empty() {
        Some("it is empty")
    } else if text.starts_with('-') {
        Some("git would interpret it as an option")
    } else if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        Some("it contains a space or a control character")
    } else if text.contains(':') || text.starts_with('+') {
        Some("it is a refspec")
    } else if has_forbidden_text() {
        Some("it contains characters that the name of a ref cannot have")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    #[test]
    fn a_status_is_read_with_any_name_of_a_file() {
        let text = format!(
            "# branch.oid {A}\0# branch.head (detached)\0\
             1 .M N... 100644 100644 100644 {A} {A} a b\nc.txt\0\
             1 A. N... 000000 100644 100644 {A} {A} new\0\
             2 R. N... 100644 100644 100644 {A} {A} R100 to\0from\0\
             u UU N... 100644 100644 100644 100644 {A} {A} {A} both\0\
             ? un known/\0! ignored\0"
        );
        let status = GitStatus::parse(text.as_bytes());
        assert_eq!((status.head.as_deref(), &status.branch), (Some(A), &None));
        assert_eq!(status.staged, ["new", "to", "both"]);
        assert_eq!(status.changed, ["a b\nc.txt", "both", "un known/"]);
        assert_eq!(
            status.uncommitted(),
            ["a b\nc.txt", "both", "new", "to", "un known/"]
        );
        let empty = GitStatus::parse(b"# branch.oid (initial)\0# branch.head main\0");
        assert_eq!((empty.head, empty.branch.as_deref()), (None, Some("main")));
    }

    #[test]
    fn only_marked_lines_of_a_reflog_are_ours() {
        let log = format!(
            "{A} {B} x <x@y> 1 +0000\tcommit: rock-matrix: no\n{B} {A} x <x@y> 1 +0000\trock-matrix: subject\n\
             {B} ccc x <x@y> 1 +0000\trock-matrix\n"
        );
        assert_eq!(made_by_us(&log).into_iter().collect::<Vec<_>>(), [A, "ccc"]);
    }

    #[test]
    fn settings_of_submodules_have_dots_in_their_names() {
        let text = b"submodule.third_party/a.b.path\nthird_party/a.b\0submodule.c.path\nd e\0";
        let expect = [("third_party/a.b", "third_party/a.b"), ("c", "d e")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(submodule_settings(text), expect);
    }

    #[test]
    fn a_tag_comes_before_a_branch_and_means_its_commit() {
        let text = format!("{A}\trefs/heads/v1\n{A}\trefs/tags/v1\n{B}\trefs/tags/v1^{{}}\n");
        assert_eq!(commit_of("v1", text.as_bytes()).as_deref(), Some(B));
        assert_eq!(commit_of("heads/v1", text.as_bytes()).as_deref(), Some(A));
        assert_eq!(
            commit_of("1", text.as_bytes()),
            None,
            "an end of a name is not the name"
        );
    }

    #[test]
    fn what_is_no_ref_is_not_given_to_git() {
        for good in ["main", "release/2.7", "v2.7.0-rc9", "c++-fixes", A] {
            assert_eq!(bad_reference(good), None, "{good}");
        }
        let forbidden = "it contains characters that the name of a ref cannot have";
        let space = "it contains a space or a control character";
        for (bad, reason) in [
            ("", "it is empty"),
            ("--upload-pack=x", "git would interpret it as an option"),
            ("a b", space),
            ("a\n", space),
            ("a:b", "it is a refspec"),
            ("+a", "it is a refspec"),
            ("a*", forbidden),
            ("a..b", forbidden),
            ("a^", forbidden),
            ("a@{1}", forbidden),
        ] {
            assert_eq!(bad_reference(bad), Some(reason), "{bad}");
        }
    }
}

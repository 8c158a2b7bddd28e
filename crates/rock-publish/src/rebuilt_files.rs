//! Files with the same name but different content in several releases.

use super::{ListedRelease, tag_pieces};
use crate::codes::release as codes;
use rock_diagnostic::{Diagnostic, Location, count_more};
use rock_names::Digest;

/// The number of files that a warning names.
const MOST_NAMED: usize = 5;

/// A file that an older release contains with different content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltFile {
    /// The filename.
    pub name: String,
    /// The file that is offered, from the newest release.
    pub offered: ReleasedBytes,
    /// The file that is skipped.
    pub older: ReleasedBytes,
}

/// The content that a release has under a filename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasedBytes {
    /// The tag of the release; empty for a directory without a tag.
    pub tag: String,
    /// Its SHA-256 digest, if known.
    pub digest: Option<Digest>,
    pub size_bytes: u64,
}

/// Sorts releases so that the one whose files are offered comes first: by time of publication,
/// releases without one last, then by tag, `v10` before `v9`. The sort is stable.
pub fn newest_first<T>(releases: &mut [T], release: impl Fn(&T) -> &ListedRelease) {
    releases.sort_by(|one, other| {
        let (one, other) = (release(one), release(other));
        let by_time = other.published_at.cmp(&one.published_at);
        by_time.then_with(|| tag_pieces(&other.tag_name).cmp(&tag_pieces(&one.tag_name)))
    });
}

/// Returns one warning for all files, or `None` if there are no files.
pub fn rebuilt_warning<'f>(
    rebuilt: impl IntoIterator<Item = &'f RebuiltFile>,
) -> Option<Diagnostic> {
    let rebuilt: Vec<&RebuiltFile> = rebuilt.into_iter().collect();
    let first = rebuilt.first()?;
    let message = match rebuilt.len() {
        1 => format!(
            "an older release has `{}` with different content",
            first.name
        ),
        count => format!(
            "older releases have {count} files with different content, such as `{}`",
            first.name
        ),
    };
    let warning = Diagnostic::new(&codes::OLDER_RELEASE_DIFFERS, message)
        .at(Location::Argument("--published".to_owned()), "")
        .help(
            "to end this warning, delete the older file from its release; give rebuilt wheels \
             their own build tag",
        );
    let named = rebuilt
        .iter()
        .take(MOST_NAMED)
        .fold(warning, |warning, one| {
            warning.note(format!(
                "offered: `{}` {}; skipped: the file {}",
                one.name, one.offered, one.older
            ))
        });
    Some(match rebuilt.len().saturating_sub(MOST_NAMED) {
        0 => named,
        count => named.note(count_more(count, "and ")),
    })
}

impl ReleasedBytes {
    /// Whether both have the same content, as far as known.
    pub fn is_same(&self, other: &Self) -> bool {
        self.size_bytes == other.size_bytes
            && (self.digest.is_none() || other.digest.is_none() || self.digest == other.digest)
    }
}

impl std::fmt::Display for ReleasedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.tag.as_str() {
            "" => f.write_str("of a directory without a tag, ")?,
            tag => write!(f, "of release `{tag}`, ")?,
        }
        match self.digest {
            Some(digest) => write!(f, "{digest}"),
            None => write!(f, "{} bytes", self.size_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RebuiltFile, ReleasedBytes, newest_first, rebuilt_warning};
    use crate::ListedRelease;

    #[test]
    fn the_newest_release_is_the_last_published_else_the_highest_tag() {
        let release = |tag: &str, time: &str| ListedRelease {
            tag_name: tag.to_owned(),
            published_at: Some(time.to_owned()).filter(|time| !time.is_empty()),
            ..ListedRelease::default()
        };
        let mut releases = [
            release("v9", ""),
            release("v10", ""),
            release("v3", "2026-01-01T00:00:00Z"),
            release("v2", "2026-02-01T00:00:00Z"),
        ];
        newest_first(&mut releases, |release| release);
        assert_eq!(
            releases.map(|release| release.tag_name),
            ["v2", "v3", "v10", "v9"]
        );
    }

    #[test]
    fn one_warning_covers_all_rebuilt_files() {
        let held = |tag: &str| ReleasedBytes {
            tag: tag.to_owned(),
            digest: None,
            size_bytes: 7,
        };
        let one = RebuiltFile {
            name: "a.whl".to_owned(),
            offered: held("v2"),
            older: held(""),
        };
        assert!(rebuilt_warning(&[]).is_none());
        let warning = rebuilt_warning([&one]).unwrap();
        let help = warning.help.as_deref().unwrap();
        assert!(
            help.contains("delete the older file") && !help.contains("yank"),
            "that yanks the good file: {help}"
        );
        assert_eq!(
            warning.message,
            "an older release has `a.whl` with different content"
        );
        assert_eq!(
            warning.notes,
            [
                "offered: `a.whl` of release `v2`, 7 bytes; skipped: the file of a directory \
                 without a tag, 7 bytes"
            ]
        );
        let warning = rebuilt_warning([&one; 7]).unwrap();
        assert!(
            warning.message.contains("7 files")
                && warning.notes.len() == 6
                && warning.notes[5] == "and 2 more"
        );
    }
}

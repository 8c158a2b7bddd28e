//! Names of GitHub repositories.

use std::fmt;
use std::str::FromStr;

/// The name of a GitHub repository, `OWNER/REPO`.
///
/// ```
/// use rock_names::RepoName;
/// let repo: RepoName = "org/rock-action".parse().unwrap();
/// assert_eq!(repo.to_string(), "org/rock-action");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepoName(String);

/// The error of parsing a [`RepoName`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a repository: write OWNER/REPO, with letters, digits, `.`, `_` and `-`")]
pub struct RepoNameError(pub String);

/// The maximum length of a repository's name on GitHub; owners have at most 39 characters.
const MAX_NAME_BYTES: usize = 100;

impl FromStr for RepoName {
    type Err = RepoNameError;

    fn from_str(text: &str) -> Result<Self, RepoNameError> {
        let is_word = |word: &str| {
            let inside = word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
            inside
                && (1..=MAX_NAME_BYTES).contains(&word.len())
                && !word.starts_with('-')
                && word != "."
                && word != ".."
        };
        match text.split_once('/') {
            Some((owner, repo)) if is_word(owner) && is_word(repo) => Ok(Self(text.to_owned())),
            _ => Err(RepoNameError(text.to_owned())),
        }
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::RepoName;

    #[test]
    fn a_repository_is_two_words() {
        for good in ["org/rock-action", "o/.github", "a_b/c.d"] {
            assert_eq!(good.parse::<RepoName>().unwrap().to_string(), good);
        }
        for bad in [
            "", "org", "org/", "/x", "a/b/c", "a/..", "../r", "a b/c", "a/b?c", "o/r;x", "o/-x",
        ] {
            assert!(bad.parse::<RepoName>().is_err(), "{bad}");
        }
    }
}

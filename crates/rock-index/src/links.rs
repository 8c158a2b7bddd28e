//! Links from the pages of the index to the files.

use std::fmt;
use std::str::FromStr;

use rock_names::{RepoName, percent_encode, push_percent_encoded};

/// The location of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileLinks {
    /// In a directory at this path relative to the root of the index; `[".."]` is its parent.
    Relative(Vec<String>),
    /// Below a base URL.
    Absolute(BaseUrl),
}

/// A URL that filenames are appended to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

/// The error for a text that filenames cannot be appended to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a URL that filenames can be appended to: {reason}")]
pub struct BaseUrlError {
    pub text: String,
    /// The reason.
    pub reason: &'static str,
}

impl FileLinks {
    /// Returns the link to a file from a page `depth` directories below the root of the index.
    pub(super) fn link(&self, depth: usize, name: &str) -> String {
        let mut link = String::with_capacity(128);
        match self {
            Self::Relative(steps) => {
                link.extend(std::iter::repeat_n("../", depth));
                for step in steps {
                    push_percent_encoded(&mut link, step.as_bytes());
                    link.push('/');
                }
            }
            Self::Absolute(base) => {
                link.push_str(&base.0);
                link.push('/');
            }
        }
        push_percent_encoded(&mut link, name.as_bytes());
        link
    }
}

impl BaseUrl {
    /// Returns the URL below which GitHub serves the assets of a release:
    /// `SERVER/OWNER/REPO/releases/download/TAG`, with the tag percent-encoded.
    ///
    /// # Errors
    /// If `server` is not a valid base URL.
    pub fn of_release(
        server: &str,
        repository: &RepoName,
        tag: &str,
    ) -> Result<Self, BaseUrlError> {
        let server: Self = server.parse()?;
        Ok(Self(format!(
            "{}/{repository}/releases/download/{}",
            server.0,
            percent_encode(tag)
        )))
    }

    /// Returns the URL of a directory below this one, or this URL if there is none.
    #[must_use]
    pub fn below(&self, folder: Option<&str>) -> Self {
        Self(folder.map_or_else(
            || self.0.clone(),
            |folder| format!("{}/{}", self.0, percent_encode(folder)),
        ))
    }
}

impl FromStr for BaseUrl {
    type Err = BaseUrlError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = |reason| {
            Err(BaseUrlError {
                text: text.to_owned(),
                reason,
            })
        };
        let Some((scheme, rest)) = text.split_once("://") else {
            return fault("it does not start with `https://`, `http://` or `file://`");
        };
        if !matches!(scheme, "https" | "http" | "file") {
            return fault("installers support only `https`, `http` and `file`");
        }
        if rest.contains(['?', '#']) {
            return fault("it has a query or a fragment");
        }
        if rest.split('/').next().unwrap_or_default().contains('@') {
            return fault("it contains a user name, which would be published");
        }
        let legal = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/[]@!$&()*,;=%".contains(&b);
        if !rest.bytes().all(legal) {
            return fault("it contains characters that must be percent-encoded");
        }
        let trimmed = rest.trim_end_matches('/');
        if scheme != "file" && (trimmed.is_empty() || trimmed.starts_with('/')) {
            return fault("it has no host");
        }
        Ok(Self(format!("{scheme}://{trimmed}")))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{BaseUrl, FileLinks};

    #[test]
    fn links_are_relative_to_the_files_or_absolute_below_the_base() {
        let name = "a-1+rocm62-py3-none-any.whl";
        assert_eq!(
            FileLinks::Relative(vec!["..".into()]).link(2, name),
            "../../../a-1%2Brocm62-py3-none-any.whl"
        );
        let base: BaseUrl = "https://example.org/r/v1%2B2//".parse().unwrap();
        assert_eq!(
            (base.below(None), base.below(Some("a+b")).to_string()),
            (base.clone(), format!("{base}/a%2Bb"))
        );
        assert_eq!(
            FileLinks::Absolute(base).link(2, name),
            "https://example.org/r/v1%2B2/a-1%2Brocm62-py3-none-any.whl"
        );
    }

    /// Every character that git allows in a tag (git-check-ref-format).
    #[test]
    fn the_address_of_a_release_is_built_for_every_legal_tag() {
        let repository = "me/wheels".parse().unwrap();
        let of = |tag: &str| {
            BaseUrl::of_release("https://github.com/", &repository, tag)
                .unwrap()
                .to_string()
        };
        assert_eq!(
            of("v2.8.3+rocm6.2"),
            "https://github.com/me/wheels/releases/download/v2.8.3%2Brocm6.2"
        );
        assert_eq!(
            of("nightly/1"),
            "https://github.com/me/wheels/releases/download/nightly%2F1"
        );
        let is_legal = |letter: &char| !letter.is_control() && !" ~^:?*[\\".contains(*letter);
        for letter in ('!'..='\u{ff}').filter(is_legal) {
            let tag = format!("v{letter}1");
            let address = of(&tag);
            assert!(address.parse::<BaseUrl>().is_ok(), "{tag}: {address}");
            let last = address.rsplit('/').next().unwrap();
            assert_eq!(
                rock_names::percent_decode(last).as_deref(),
                Some(tag.as_str())
            );
        }
        assert!(BaseUrl::of_release("github.com", &repository, "v1").is_err());
    }

    #[test]
    fn a_base_that_names_cannot_be_appended_to_is_refused() {
        for text in [
            "example.org",
            "ftp://example.org",
            "https://",
            "https:///x",
            "https://example.org/?a=b",
            "https://example.org/#x",
            "https://me:secret@example.org/",
            "https://example.org/\"><script>",
            "https://example.org/a b",
        ] {
            assert!(text.parse::<BaseUrl>().is_err(), "{text}");
        }
        assert!("file:///srv/wheels".parse::<BaseUrl>().is_ok());
        assert!("http://127.0.0.1:8000".parse::<BaseUrl>().is_ok());
    }
}

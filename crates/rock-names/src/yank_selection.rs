//! Rules for yanking published files (PEP 592): `flash-attn<2.6: superseded`.

use std::fmt;
use std::str::FromStr;

use super::{DistributionName, Version, VersionSpecifiers};

/// A selector of the files to yank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum YankSelector {
    /// The file of this name.
    File(String),
    /// The files of a project whose public version is allowed by PEP 440 specifiers; all versions for
    /// empty ones.
    Versions(DistributionName, String),
    /// The files of a project with a version that has a local version label.
    Labelled(DistributionName, Version),
}

/// A rule that yanks files, with an optional reason.
///
/// ```
/// use rock_names::YankSelection;
/// let rule: YankSelection = "flash_attn<2.6: superseded".parse()?;
/// assert_eq!(rule.to_string(), "flash-attn<2.6: superseded");
/// # Ok::<(), rock_names::YankSelectionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YankSelection {
    /// The files to yank.
    pub selector: YankSelector,
    /// The reason; may be empty.
    pub reason: String,
}

/// The error of parsing a [`YankSelection`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid yank rule: {reason}")]
pub struct YankSelectionError {
    /// The text.
    pub text: String,
    /// The reason.
    pub reason: String,
}

impl YankSelector {
    /// Returns whether the selector includes a file of this name, project and version.
    pub fn matches(&self, name: &str, project: &DistributionName, version: &Version) -> bool {
        match self {
            Self::File(selected) => selected == name,
            Self::Versions(selected, specifiers) => {
                selected.normalized() == project.normalized()
                    && (specifiers.is_empty() || version.satisfies(specifiers).unwrap_or(false))
            }
            Self::Labelled(selected, labelled) => {
                selected.normalized() == project.normalized()
                    && labelled.normalized() == version.normalized()
            }
        }
    }
}

impl FromStr for YankSelector {
    type Err = YankSelectionError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = |reason: String| YankSelectionError {
            text: text.to_owned(),
            reason,
        };
        let text = text.trim();
        if std::path::Path::new(text)
            .extension()
            .is_some_and(|ending| ending == "whl" || ending == "gz")
        {
            return Ok(Self::File(text.to_owned()));
        }
        let (project, specifiers) =
            text.split_at(text.find(['<', '>', '=', '!', '~']).unwrap_or(text.len()));
        let project: DistributionName = project
            .trim()
            .parse()
            .map_err(|error| fault(format!("{error}")))?;
        let specifiers = specifiers.trim();
        if let Some(version) = specifiers
            .strip_prefix("===")
            .or_else(|| specifiers.strip_prefix("=="))
            .filter(|version| version.contains('+'))
        {
            return version
                .parse()
                .map(|v| Self::Labelled(project, v))
                .map_err(|error| fault(format!("{error}")));
        }
        specifiers
            .parse::<VersionSpecifiers>()
            .map_err(|error| fault(error.reason))?;
        Ok(Self::Versions(project, specifiers.to_owned()))
    }
}

impl FromStr for YankSelection {
    type Err = YankSelectionError;
    /// Parses `SELECTOR` or `SELECTOR: REASON`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (selector, reason) = text.split_once(':').unwrap_or((text, ""));
        if reason.chars().any(char::is_control) {
            let reason = "the reason has more than one line".to_owned();
            return Err(YankSelectionError {
                text: text.to_owned(),
                reason,
            });
        }
        Ok(Self {
            selector: selector.parse()?,
            reason: reason.trim().to_owned(),
        })
    }
}

impl fmt::Display for YankSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(name) => f.write_str(name),
            Self::Versions(project, specifiers) => {
                write!(f, "{}{specifiers}", project.normalized())
            }
            Self::Labelled(project, version) => write!(f, "{}=={version}", project.normalized()),
        }
    }
}

impl fmt::Display for YankSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason.as_str() {
            "" => self.selector.fmt(f),
            reason => write!(f, "{}: {reason}", self.selector),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::YankSelection;

    #[test]
    fn a_rule_is_files_and_a_reason() {
        for (text, printed) in [
            ("Flash.Attn >=2.6,<3", "flash-attn>=2.6,<3"),
            (
                "flash_attn==2.6.3+rocm72:broken: twice",
                "flash-attn==2.6.3+rocm72: broken: twice",
            ),
            (
                "flash-attn===2.6.3+rocm7.2: bad",
                "flash-attn==2.6.3+rocm7.2: bad",
            ),
            ("flash-attn===2.6.3", "flash-attn===2.6.3"),
            ("a-1-py3-none-any.whl:  why ", "a-1-py3-none-any.whl: why"),
        ] {
            let rule: YankSelection = text.parse().unwrap();
            assert_eq!(rule.to_string(), printed);
            assert_eq!(
                printed.parse::<YankSelection>().unwrap().to_string(),
                printed
            );
        }
        for text in [
            "",
            "<2",
            "flash-attn<<2",
            "flash-attn==x+y",
            "a: two\nlines",
        ] {
            let error = text.parse::<YankSelection>().unwrap_err();
            assert!(
                !error.reason.contains(['\n', '^']) && !error.reason.ends_with(':'),
                "{text:?}: {}",
                error.reason
            );
        }
    }
}

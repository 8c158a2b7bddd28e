//! Which published files are withdrawn, and why: `flash-attn<2.6: superseded`.

use std::fmt;
use std::str::FromStr;

use super::{DistributionName, Version, VersionSpecifiers};

/// Which files are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The file of this name.
    File(String),
    /// Files of this project whose public version fits a PEP 440 specifier, any for the empty one.
    Versions(DistributionName, String),
    /// Files of this project and this version with its label.
    Labelled(DistributionName, Version),
}

/// Which files are withdrawn, and the reason, which may be empty.
///
/// ```
/// use rock_names::Withdrawal;
/// let rule: Withdrawal = "flash_attn<2.6: superseded".parse()?;
/// assert_eq!(rule.to_string(), "flash-attn<2.6: superseded");
/// # Ok::<(), rock_names::WithdrawalError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// The files.
    pub selector: Selector,
    /// Why.
    pub reason: String,
}

/// Not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no rule for yanking: {reason}")]
pub struct WithdrawalError {
    /// The text given.
    pub text: String,
    /// Why it is none.
    pub reason: String,
}

impl Selector {
    /// Whether the file of this name, project and version is meant.
    pub fn is_of(&self, name: &str, project: &DistributionName, version: &Version) -> bool {
        match self {
            Self::File(meant) => meant == name,
            Self::Versions(meant, specifiers) => {
                meant.normalized() == project.normalized()
                    && (specifiers.is_empty() || version.satisfies(specifiers).unwrap_or(false))
            }
            Self::Labelled(meant, labelled) => {
                meant.normalized() == project.normalized()
                    && labelled.normalized() == version.normalized()
            }
        }
    }
}

impl FromStr for Selector {
    type Err = WithdrawalError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = |reason: String| WithdrawalError {
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
            .strip_prefix("==")
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

impl FromStr for Withdrawal {
    type Err = WithdrawalError;
    /// `SELECTOR` or `SELECTOR: REASON`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (selector, reason) = text.split_once(':').unwrap_or((text, ""));
        if reason.chars().any(char::is_control) {
            let reason = "the reason is more than one line".to_owned();
            return Err(WithdrawalError {
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

impl fmt::Display for Selector {
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

impl fmt::Display for Withdrawal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason.as_str() {
            "" => self.selector.fmt(f),
            reason => write!(f, "{}: {reason}", self.selector),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Withdrawal;

    #[test]
    fn a_rule_is_files_and_a_reason() {
        for (text, printed) in [
            ("Flash.Attn >=2.6,<3", "flash-attn>=2.6,<3"),
            (
                "flash_attn==2.6.3+rocm72:broken: twice",
                "flash-attn==2.6.3+rocm72: broken: twice",
            ),
            ("a-1-py3-none-any.whl:  why ", "a-1-py3-none-any.whl: why"),
        ] {
            let rule: Withdrawal = text.parse().unwrap();
            assert_eq!(rule.to_string(), printed);
            assert_eq!(printed.parse::<Withdrawal>().unwrap().to_string(), printed);
        }
        for text in [
            "",
            "<2",
            "flash-attn<<2",
            "flash-attn==x+y",
            "a: two\nlines",
        ] {
            let error = text.parse::<Withdrawal>().unwrap_err();
            assert!(
                !error.reason.contains(['\n', '^']) && !error.reason.ends_with(':'),
                "{text:?}: {}",
                error.reason
            );
        }
    }
}

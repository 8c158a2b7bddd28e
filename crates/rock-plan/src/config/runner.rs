//! Selection of the runners that take a job.

use std::fmt;
use std::str::FromStr;

use super::syntax::is_label;

/// Labels that a runner must all have, and the group that it must be in: GitHub's `runs-on`. The
/// empty selector selects no runner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunnerSelector {
    /// The runner group.
    pub group: Option<String>,
    /// The labels; a single one may be the name of a runner or pool in the compatibility data.
    pub labels: Vec<String>,
}

/// Prefix of a group in the text form.
const GROUP: &str = "group=";

impl RunnerSelector {
    /// Creates a selector with one label.
    pub fn label(label: &str) -> Self {
        Self {
            group: None,
            labels: vec![label.to_owned()],
        }
    }

    /// Whether it selects nothing.
    pub fn is_empty(&self) -> bool {
        self.group.is_none() && self.labels.is_empty()
    }
}

/// Whether a text can be the name of a runner group. The group of an organization may follow the
/// organization's name and a slash.
pub fn is_runner_group(text: &str) -> bool {
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b' ');
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(inside)
        && text.len() <= 128
}

impl fmt::Display for RunnerSelector {
    /// Writes `self-hosted,linux`, or `group=GPU runners,linux`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = self.group.iter().map(|group| format!("{GROUP}{group}"));
        f.write_str(
            &group
                .chain(self.labels.iter().cloned())
                .collect::<Vec<_>>()
                .join(","),
        )
    }
}

/// A text that is not a runner selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a runner selection: labels joined with `,`, after `{GROUP}NAME,` if they belong \
     to a group"
)]
pub struct RunnerSelectorError(String);

impl FromStr for RunnerSelector {
    type Err = RunnerSelectorError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut selector = Self::default();
        for (number, part) in text
            .split(',')
            .enumerate()
            .filter(|(_, part)| !part.is_empty())
        {
            match part.strip_prefix(GROUP) {
                Some(group) if number == 0 && is_runner_group(group) => {
                    selector.group = Some(group.to_owned());
                }
                None if is_label(part) => selector.labels.push(part.to_owned()),
                _ => return Err(RunnerSelectorError(text.to_owned())),
            }
        }
        Ok(selector)
    }
}

#[cfg(test)]
mod tests {
    use super::RunnerSelector;

    #[test]
    fn a_selection_of_runners_round_trips() {
        for text in [
            "",
            "ubuntu-22.04",
            "self-hosted,linux,mi300",
            "group=GPU runners",
            "group=org/a-b,linux",
        ] {
            assert_eq!(text.parse::<RunnerSelector>().unwrap().to_string(), text);
        }
        for text in ["a b", "a,group=b", "group=", "group=a\"b", "a,$(x)"] {
            assert!(text.parse::<RunnerSelector>().is_err(), "{text}");
        }
    }
}

//! Requirements of an installed package at run time.
//!
//! Recipes, plans, manifests of releases and package indexes state them, so the type is in a crate
//! below all of theirs. The requirements themselves are data of the recipes, which this crate does
//! not read.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use rock_diagnostic::render::escape_line;
use rock_names::Requirement;

/// The environment variables and packages without which an installed package cannot be imported or
/// used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "needs at run time")]
pub struct RuntimeRequirements {
    /// Variables that must be set, with their values.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// Packages that must be installed, as requirements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
}

impl RuntimeRequirements {
    /// Whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        let Self { env, requires } = self;
        env.is_empty() && requires.is_empty()
    }

    /// Returns these needs merged with those of `other`, whose values take precedence.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.env.extend(other.env.clone());
        let further = other
            .requires
            .iter()
            .filter(|name| !self.requires.contains(name));
        all.requires.extend(further.cloned());
        all
    }

    /// Returns the first invalid text and the reason.
    pub fn invalid_text(&self) -> Option<(&str, String)> {
        let Self { env, requires } = self;
        let is_variable = |name: &str| {
            let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            !name.is_empty()
                && name.bytes().all(word)
                && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        for (name, value) in env {
            if !is_variable(name) {
                return Some((
                    name,
                    format!("`{}` is not a variable name", escape_line(name)),
                ));
            }
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/%+@=,".contains(&b);
            if value.is_empty() || !value.bytes().all(is_plain) {
                return Some((
                    value,
                    format!("`{}` is not a single plain word", escape_line(value)),
                ));
            }
        }
        requires.iter().find_map(|text| {
            let error = text.parse::<Requirement>().err()?;
            Some((text.as_str(), error.to_string()))
        })
    }

    /// Returns the variables as assignments, `NAME=VALUE`.
    pub fn assignments(&self) -> impl Iterator<Item = String> + '_ {
        self.env
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
    }

    /// Returns the needs as one sentence without a full stop; empty if there are none.
    pub fn sentence(&self) -> String {
        let packages = match self.requires.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            [most @ .., last] => format!("{} and {last}", most.join(", ")),
        };
        match (self.requires.is_empty(), self.env.len()) {
            (true, 0) => String::new(),
            (false, 0) => format!("At run time it needs {packages}"),
            (true, 1) => "At run time it needs this variable".to_owned(),
            (true, _) => "At run time it needs these variables".to_owned(),
            (false, 1) => format!("At run time it needs {packages}, and this variable"),
            (false, _) => format!("At run time it needs {packages}, and these variables"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RuntimeRequirements;

    #[test]
    fn needs_are_one_sentence_and_assignments() {
        let needs = |variables: &[&str], requires: &[&str]| RuntimeRequirements {
            env: variables
                .iter()
                .map(|name| ((*name).to_owned(), "TRUE".to_owned()))
                .collect(),
            requires: requires.iter().map(|&name| name.to_owned()).collect(),
        };
        let both = needs(&["A"], &[]).with(&needs(&["B"], &["einops"]));
        assert_eq!(both.assignments().collect::<Vec<_>>(), ["A=TRUE", "B=TRUE"]);
        assert_eq!(
            both.sentence(),
            "At run time it needs einops, and these variables"
        );
        assert_eq!(
            needs(&[], &["einops", "triton"]).sentence(),
            "At run time it needs einops and triton"
        );
        assert!(needs(&[], &[]).is_empty() && needs(&[], &[]).sentence().is_empty());
    }

    #[test]
    fn names_values_and_requirements_are_plain() {
        let with = |name: &str, value: &str, need: &str| {
            let run_time = RuntimeRequirements {
                env: [(name.to_owned(), value.to_owned())].into(),
                requires: vec![need.to_owned()],
            };
            run_time.invalid_text().map(|(_, reason)| reason)
        };
        assert_eq!(with("A_1", "TRUE", "einops>=0.7"), None);
        assert_eq!(
            with("1A", "TRUE", "einops").unwrap(),
            "`1A` is not a variable name"
        );
        assert_eq!(
            with("A", "$(id)", "einops").unwrap(),
            "`$(id)` is not a single plain word"
        );
        assert!(with("A", "b", "einops >").is_some());
    }
}

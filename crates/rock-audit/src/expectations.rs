//! Expectations of a check as words: GPU targets of every file, or distributions with a wheel.

use crate::codes::wheel as codes;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, Location};
use rock_names::{DistributionName, DistributionNameError};

/// Words by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectations {
    /// GPU targets, families and products.
    pub gfx_words: Vec<String>,
    /// Distributions with an expected wheel.
    pub distributions: Vec<DistributionName>,
}

impl Expectations {
    /// Sorts words into distributions, and GPU targets with their families and products.
    ///
    /// # Errors
    /// Returns an error for the first word that is neither.
    pub fn parse(words: &[String], compat: &Compat) -> Result<Self, Diagnostics> {
        let mut expectations = Self::default();
        for word in words {
            if word.starts_with("gfx") || compat.resolve_gfx(word).is_ok() {
                expectations.gfx_words.push(word.clone());
                continue;
            }
            let distribution = word.parse().map_err(|error: DistributionNameError| {
                let error = Diagnostic::new(&codes::WHEEL_NOT_THERE, error.to_string())
                    .at(Location::Argument(format!("--expect {word}")), "")
                    .help("use GPU targets, families, products or distributions");
                Diagnostics::from(error).exits_with(ExitClass::Usage)
            })?;
            expectations.distributions.push(distribution);
        }
        Ok(expectations)
    }
}

#[cfg(test)]
mod tests {
    use super::Expectations;
    use rock_compat::Compat;

    #[test]
    fn words_are_gpus_or_distributions() {
        let compat = Compat::embedded();
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Expectations::parse(&words, &compat)
        };
        let expectations = parse(&["torch", "gfx942", "mi300x", "gfx9x"]).unwrap();
        assert_eq!(expectations.gfx_words, ["gfx942", "mi300x", "gfx9x"]);
        assert_eq!(expectations.distributions.len(), 1);
        assert!(parse(&["a b"]).is_err());
    }
}

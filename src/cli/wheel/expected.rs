//! Expectations of `wheel check`: GPU targets of every file, and finished wheels of distributions.

use std::path::PathBuf;

use crate::audit::expected::{Expectations, ExpectedWheels};
use crate::cli::{Shell, gfx_targets};
use crate::compat::Compat;
use crate::diagnostic::{Diagnostics, ExitClass};
use crate::names::{DistributionName, GfxTarget};

/// The values of `--expect`, by kind.
#[derive(Debug, Clone, Default)]
pub(super) struct ExpectedWords {
    /// Expected GPU targets.
    pub(super) targets: Vec<GfxTarget>,
    /// Distributions with an expected wheel.
    distributions: Vec<DistributionName>,
}

/// Sorts the values of `--expect` into distributions and GPU targets, including those of families
/// and products.
///
/// # Errors
/// Returns an error for a value that is neither.
pub(super) fn words(
    given: &[String],
    compat: &Compat,
    shell: &Shell,
) -> Result<ExpectedWords, Diagnostics> {
    let Expectations {
        gfx_words,
        distributions,
    } = Expectations::parse(given, compat)?;
    let gfx_words = gfx_targets::GfxWords(gfx_words);
    Ok(ExpectedWords {
        targets: gfx_targets::targets(&gfx_words, "--expect", compat, shell)?,
        distributions,
    })
}

/// Returns the expectations for the wheels in these files.
///
/// # Errors
/// Returns an error for an unknown feature.
pub(super) fn expected(
    words: &ExpectedWords,
    features: &[String],
    files: &[PathBuf],
    compat: &Compat,
) -> Result<ExpectedWheels, Diagnostics> {
    ExpectedWheels::new(
        words.distributions.clone(),
        features.to_vec(),
        files,
        compat,
    )
    .map_err(|error| Diagnostics::from(error).exits_with(ExitClass::Usage))
}

/// Returns the version of each distribution's wheel, as outputs of a workflow step.
pub(super) fn outputs(expected: &ExpectedWheels) -> Vec<(String, String)> {
    expected
        .versions()
        .into_iter()
        .map(|(distribution, version)| (format!("{distribution}_version"), version))
        .collect()
}

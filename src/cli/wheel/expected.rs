//! Expectations of `wheel check`: GPU targets of every file, and finished wheels of distributions.

use std::path::PathBuf;

use crate::audit::expected::ExpectedWheels;
use crate::cli::{Shell, targets};
use crate::codes::wheel as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass, Location};
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
    let is_gfx = |word: &&String| word.starts_with("gfx") || compat.resolve_gfx(word).is_ok();
    let (gfx, names): (Vec<&String>, Vec<&String>) = given.iter().partition(is_gfx);
    let mut distributions = Vec::new();
    for name in names {
        match name.parse() {
            Ok(name) => distributions.push(name),
            Err(error) => {
                let error: crate::names::DistributionNameError = error;
                let fault = Diagnostic::new(&codes::WHEEL_NOT_THERE, error.to_string());
                let fault = fault
                    .at(Location::Argument(format!("--expect {name}")), "")
                    .help("use GPU targets, families, products or distributions");
                return Err(Diagnostics::from(fault).exits_with(ExitClass::Usage));
            }
        }
    }
    let gfx = targets::GfxWords(gfx.into_iter().cloned().collect());
    Ok(ExpectedWords {
        targets: targets::targets(&gfx, "--expect", compat, shell)?,
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

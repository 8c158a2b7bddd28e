//! What `wheel check` expects: gfx targets of every file, or finished wheels of distributions.

use std::path::PathBuf;

use crate::audit::expected::ExpectedWheels;
use crate::cli::{Shell, targets};
use crate::codes::wheel as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass, Location};
use crate::names::{DistributionName, GfxTarget};

/// The words of `--expect`, by kind.
#[derive(Debug, Clone, Default)]
pub(super) struct ExpectedWords {
    /// Code for these targets is expected.
    pub(super) targets: Vec<GfxTarget>,
    /// Wheels of these distributions are expected.
    distributions: Vec<DistributionName>,
}

/// Sorts the words of `--expect` into gfx targets, which families and products stand for, and
/// distributions.
///
/// # Errors
/// A word that is none of them.
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
                    .help("name gfx targets, families, products or distributions");
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

/// What is expected of wheels of these files, as the options say it.
///
/// # Errors
/// A feature that no row has.
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

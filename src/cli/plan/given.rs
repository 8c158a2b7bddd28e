//! `plan`: values of the command line that replace those of the matrix files.

use super::only;
use crate::config::AxisOverrides;

// Options that override values of the matrix files.
#[derive(Debug, clap::Args)]
pub(super) struct Instead {
    /// GPU targets and families to build for, such as `gfx942,gfx110X-all`
    ///
    /// Product names are accepted too. Values are separated by commas or semicolons.
    #[arg(
        long,
        alias = "gpu",
        value_name = "LIST",
        conflicts_with = "from_issue",
        help_heading = "Overrides"
    )]
    gfx: Option<String>,
    /// Values of an axis, such as `python=3.11,3.12`; can be repeated
    ///
    /// Values are separated by commas, semicolons or blanks.
    #[arg(
        long,
        value_name = "NAME=VALUES",
        value_parser = only::pair,
        conflicts_with = "from_issue",
        help_heading = "Overrides"
    )]
    axis: Vec<(String, String)>,
    /// Release type, which sets the values of axes that are not listed
    #[arg(
        long,
        value_name = "TYPE",
        conflicts_with = "from_issue",
        hide_short_help = true,
        help_heading = "Overrides"
    )]
    release_type: Option<String>,
    /// GPU families whose runners test the wheels
    ///
    /// Values are separated by commas or semicolons. `auto` or an empty value selects the families
    /// that are built, and `none` disables these tests.
    #[arg(
        long,
        value_name = "LIST",
        conflicts_with = "from_issue",
        hide_short_help = true,
        help_heading = "Overrides"
    )]
    test_families: Option<String>,
}

impl Instead {
    /// Returns the values that replace those of the matrix files.
    pub(super) fn given(&self) -> AxisOverrides {
        AxisOverrides {
            release_type: self.release_type.clone(),
            axes: self
                .axis
                .iter()
                .map(|(name, values)| (name.clone(), split(values, &[',', ';', ' ', '\t'])))
                .collect(),
            gfx: self.gfx.as_deref().map(|gfx| split(gfx, &[',', ';'])),
            test_families: self
                .test_families
                .as_deref()
                .map(|families| split(families, &[',', ';'])),
        }
    }
}

/// Returns the non-empty words between these separators.
fn split(text: &str, by: &[char]) -> Vec<String> {
    text.split(by)
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

//! `plan`: values of the command line in the place of those of the matrix files.

use super::only;
use crate::config::AxisOverrides;

// Options that override values of the matrix files.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Instead of the matrix file's values")]
pub(super) struct Instead {
    /// The kind of release, which gives the values of axes that are not listed
    #[arg(long, value_name = "TYPE", conflicts_with = "from_issue")]
    release_type: Option<String>,
    #[arg(
        long,
        value_name = "NAME=VALUES",
        value_parser = only::pair,
        conflicts_with = "from_issue",
        help = "The values of an axis, divided by commas, semicolons or blanks: python=3.11,3.12; can be repeated"
    )]
    axis: Vec<(String, String)>,
    /// Families and gfx targets, divided by semicolons
    #[arg(long, value_name = "FAMILIES", conflicts_with = "from_issue")]
    gfx: Option<String>,
    #[arg(
        long,
        value_name = "FAMILIES",
        conflicts_with = "from_issue",
        help = "Families on whose runners wheels are tested, divided by semicolons; auto or nothing for those that are built, or none"
    )]
    test_families: Option<String>,
}

impl Instead {
    pub(super) fn given(&self) -> AxisOverrides {
        AxisOverrides {
            release_type: self.release_type.clone(),
            axes: self
                .axis
                .iter()
                .map(|(name, values)| (name.clone(), split(values, &[',', ';', ' ', '\t'])))
                .collect(),
            gfx: self.gfx.as_deref().map(|families| split(families, &[';'])),
            test_families: self
                .test_families
                .as_deref()
                .map(|families| split(families, &[';'])),
        }
    }
}

/// The words between these signs; empty ones say nothing.
fn split(text: &str, by: &[char]) -> Vec<String> {
    text.split(by)
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

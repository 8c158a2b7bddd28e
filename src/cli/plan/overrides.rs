//! `plan`: values of the command line that replace those of the matrix files.

use crate::compat::Compat;
use crate::config::AxisOverrides;
use crate::diagnostic::nearest::did_you_mean;

// Options that override values of the matrix files.
#[derive(Debug, clap::Args)]
pub(super) struct OverrideArgs {
    /// GPU targets and families to build for, such as `gfx942,gfx110X-all`
    ///
    /// Product names are accepted too. Values are separated by commas or semicolons. Combinations
    /// that none of them can be built for are excluded.
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
        value_parser = axis_value,
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

impl OverrideArgs {
    /// Returns the values that replace those of the matrix files.
    pub(super) fn overrides(&self) -> AxisOverrides {
        let mut overrides = AxisOverrides::default();
        if let Some(name) = &self.release_type {
            overrides = overrides.with_release_type(name);
        }
        if let Some(targets) = &self.gfx {
            overrides = overrides.with_gfx(targets);
        }
        if let Some(families) = &self.test_families {
            overrides = overrides.with_test_families(families);
        }
        for (name, values) in &self.axis {
            overrides = overrides.with_axis(name, values);
        }
        overrides
    }
}

/// Parses `AXIS=VALUES`.
pub(super) fn axis_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((axis, value)) if !axis.is_empty() => Ok((axis.to_owned(), value.to_owned())),
        _ => Err("expected AXIS=VALUES, such as python=3.12".to_owned()),
    }
}

/// Parses `AXIS=VALUES` of `--only`. The error for a value without an axis suggests the axis.
pub(super) fn selected_value(text: &str) -> Result<(String, String), String> {
    axis_value(text).map_err(|error| {
        let pairs = Compat::embedded().pairs_of_value(text);
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        if text.contains('=') || pairs.is_empty() {
            error
        } else {
            format!("{error}; {}", did_you_mean(&pairs))
        }
    })
}

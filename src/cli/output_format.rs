//! The options that select the output format of a command.

use super::Format;

// Like all groups of options that are flattened into a command, it has no doc comment: clap would
// show that as the description of the command.
#[derive(Debug, Default, clap::Args)]
pub(super) struct OutputFormat {
    /// Output format
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl OutputFormat {
    /// Returns the selected format.
    pub(super) fn get(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

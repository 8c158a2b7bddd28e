//! `report coverage`: the published share of a plan, as a table, badges and a heatmap.

use std::path::PathBuf;

use super::input;
use super::output::{Output, worse};
use crate::cli::publish::Connection;
use crate::cli::{Exit, Format, OutputFormat, Shell, load};
use crate::diagnostic::Sink;
use crate::publish::ManifestSelection;
use crate::report::{self, ColorScheme};

/// Show how much of a plan is published, as badges, a table or a heatmap
///
/// Coverage is published / (published + missing), counted over the cells that the plan builds
/// wheels for and its archives of install trees. Excluded cells do not count. Badges are green from
/// 90 % and yellow from 70 %. The heatmap shows torch, ROCm and Python versions.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix report coverage --plan plan.json --published releases.json --update README.md
  rock-matrix report coverage --plan matrices/flash-attn.yaml --published OWNER/REPO --heatmap docs")]
pub(super) struct Args {
    #[command(flatten)]
    listed: input::PublishedArgs,
    #[command(flatten)]
    connection: Connection,
    /// Plan saved with `plan --format json`, or matrix files; can be repeated
    #[arg(long, required = true, value_name = "FILE", help_heading = "Input")]
    plan: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
    #[command(flatten)]
    output: Output,
    /// Update the badges and table in this document
    ///
    /// The badges go between the comments `<!-- COVERAGE_BADGE_START -->` and
    /// `<!-- COVERAGE_BADGE_END -->`, the table between those with `COVERAGE_TABLE`. One pair is
    /// enough.
    #[arg(long, value_name = "FILE", group = "files", help_heading = "Output")]
    update: Option<PathBuf>,
    /// Write coverage-DISTRIBUTION.svg to this directory, one for each distribution
    #[arg(long, value_name = "DIR", group = "files", help_heading = "Output")]
    heatmap: Option<PathBuf>,
    /// Color scheme of the heatmap
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        value_name = "SCHEME",
        help_heading = "Output"
    )]
    scheme: SchemeChoice,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SchemeChoice {
    /// Follow the reader's system
    Auto,
    /// Dark on light
    Light,
    /// Light on dark
    Dark,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let inputs = args
        .listed
        .paths()
        .chain(args.plan.iter().map(PathBuf::as_path));
    args.output
        .spare(inputs.chain(args.update.as_deref()), shell)?;
    let compat = load::compat(shell)?;
    let wheels = args
        .listed
        .read(&args.connection, ManifestSelection::None, shell, sink)?
        .wheels(compat, sink);
    let expected = input::expected(&args.plan, compat, shell, sink)?;
    let found = report::matched(&expected, &wheels);
    let coverage = report::coverage(
        &expected,
        &found,
        &report::matched_archives(&expected, &wheels),
    );
    let mut exit = Exit::Done;
    if let Some(path) = &args.update {
        exit = args
            .output
            .change(path, shell, sink, |text| report::updated(text, &coverage))?;
    }
    if let Some(folder) = &args.heatmap {
        let scheme = match args.scheme {
            SchemeChoice::Auto => ColorScheme::Auto,
            SchemeChoice::Light => ColorScheme::Light,
            SchemeChoice::Dark => ColorScheme::Dark,
        };
        for heatmap in report::heatmaps(&found) {
            let path = folder.join(format!("coverage-{}.svg", heatmap.distribution));
            exit = worse(
                exit,
                args.output
                    .file(&path, &report::svg(&heatmap, scheme), shell),
            );
        }
    }
    if args.output.out.is_some() || (args.update.is_none() && args.heatmap.is_none()) {
        let text = match args.format.get() {
            Format::Human => format!(
                "{}\n{}",
                report::badges(&coverage),
                report::coverage_table(&coverage)
            ),
            Format::Json => report::coverage_json(&coverage, &wheels),
        };
        exit = worse(exit, args.output.deliver(&text, shell));
    }
    Ok(exit)
}

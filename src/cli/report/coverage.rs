//! `report coverage`: how much of a plan is published, as a table, badges and a picture.

use std::path::PathBuf;

use serde::Serialize;

use super::input::{self, UnreadDocument, json};
use super::output::{Output, worse};
use crate::cli::publish::Connection;
use crate::cli::published::Manifests;
use crate::cli::{Exit, Format, Shell, load};
use crate::diagnostic::Sink;
use crate::report::{self, ColorScheme, Coverage, CoverageShare, WheelListing};

/// Write how much of a plan is published: a table, badges, and a heatmap of torch, ROCm and Python
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Coverage is published/(published+missing) of the cells that the plan makes wheels for, and of its
archives of install trees; what it excludes does not count. Green begins at 90 %, yellow at 70 %.

Examples:
  rock-matrix report coverage --plan plan.json --published releases.json
  rock-matrix report coverage --plan matrices/flash-attn.yaml --published releases.json \\
      --update README.md
  rock-matrix report coverage --plan plan.json --published releases.json --heatmap docs
                                        docs/coverage-flash-attn.svg, one a distribution
  rock-matrix report coverage --plan plan.json --published releases.json --update README.md --check")]
pub(super) struct Args {
    #[command(flatten)]
    listed: input::Listed,
    #[command(flatten)]
    connection: Connection,
    /// A plan saved with `plan --format json`, or matrix files; can be repeated
    #[arg(long, required = true, value_name = "FILE", help_heading = "Input")]
    plan: Vec<PathBuf>,
    /// What to write: badges and table in Markdown, or JSON
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    output: Output,
    #[arg(
        long,
        value_name = "FILE",
        group = "files",
        help = "Replace badges and table between the COVERAGE_BADGE and COVERAGE_TABLE comments of this document"
    )]
    update: Option<PathBuf>,
    /// Write coverage-DISTRIBUTION.svg into this folder, one a distribution
    #[arg(long, value_name = "DIR", group = "files")]
    heatmap: Option<PathBuf>,
    /// Colours of the heatmap; with auto the reader's system decides
    #[arg(long, value_enum, default_value = "auto", value_name = "SCHEME")]
    scheme: SchemeChoice,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SchemeChoice {
    /// As the reader's system prefers
    Auto,
    /// Dark on light
    Light,
    /// Light on dark
    Dark,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    total: ShareDocument,
    coverage: Vec<RowDocument<'a>>,
    unread: Vec<UnreadDocument<'a>>,
}

#[derive(Serialize)]
struct RowDocument<'a> {
    platform: &'a str,
    distribution: &'a str,
    #[serde(rename = "cells")]
    share: ShareDocument,
    excluded: u64,
}

#[derive(Serialize)]
struct ShareDocument {
    published: u64,
    missing: u64,
    percent: Option<u64>,
}

impl From<CoverageShare> for ShareDocument {
    fn from(share: CoverageShare) -> Self {
        Self {
            published: share.present,
            missing: share.missing,
            percent: share.percent(),
        }
    }
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
        .read(&args.connection, Manifests::None, shell, sink)?
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
        let text = match args.format {
            Format::Human => format!(
                "{}\n{}",
                report::badges(&coverage),
                report::coverage_table(&coverage)
            ),
            Format::Json => json(&document(&coverage, &wheels)),
        };
        exit = worse(exit, args.output.deliver(&text, shell));
    }
    Ok(exit)
}

fn document<'a>(coverage: &'a Coverage, wheels: &'a WheelListing) -> Document<'a> {
    let rows = coverage.rows.iter().map(|row| RowDocument {
        platform: row.machine.as_str(),
        distribution: &row.distribution,
        share: row.share.into(),
        excluded: row.excluded,
    });
    Document {
        version: 1,
        total: coverage.total.into(),
        coverage: rows.collect(),
        unread: input::unread(wheels),
    }
}

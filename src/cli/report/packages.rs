//! `report packages`: the table of all published wheels.

use serde::Serialize;

use super::input::{self, UnreadDocument, json};
use super::output::Output;
use crate::cli::published::{Manifests, Prereleases, Reading};
use crate::cli::withdrawals::Withdrawals;
use crate::cli::{Exit, Format, OutputFormat, Shell, load};
use crate::diagnostic::Sink;
use crate::publish::rebuilt_warning;
use crate::report::{self, WheelListing};

/// Write a table of all published wheels, with links
///
/// Wheels are sorted by platform, distribution and version.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix report packages --published OWNER/REPO --out docs/packages.md
  rock-matrix report packages --published releases --base-url https://example.org/wheels --json")]
pub(super) struct Args {
    #[command(flatten)]
    listed: input::Listed,
    #[command(flatten)]
    prereleases: Prereleases,
    #[command(flatten)]
    withdrawals: Withdrawals,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
    #[command(flatten)]
    output: Output,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    packages: Vec<RowDocument<'a>>,
    unread: Vec<UnreadDocument<'a>>,
}

#[derive(Serialize)]
struct RowDocument<'a> {
    platform: &'a str,
    distribution: &'a str,
    version: String,
    git: Option<&'a str>,
    python: String,
    torch: Option<String>,
    accelerator: Option<String>,
    backend: Option<&'a str>,
    gfx: &'a [String],
    files: Vec<FileDocument<'a>>,
}

#[derive(Serialize)]
struct FileDocument<'a> {
    release: &'a str,
    name: &'a str,
    url: Option<&'a str>,
    size_bytes: u64,
    digest: Option<String>,
    withdrawn: Option<&'a str>,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    args.output.spare(args.listed.paths(), shell)?;
    let compat = load::compat(shell)?;
    // Manifests have data that names lack, such as gfx targets.
    let manifests = Manifests::Newest(args.reading.most_manifests);
    let mut read = args.listed.read_offered(
        &args.withdrawals,
        &args.reading.connection,
        manifests,
        shell,
        sink,
    )?;
    args.prereleases
        .leave_out(std::iter::once(&mut read.listing), shell);
    let mut wheels = read.wheels(compat, sink);
    let mut rebuilt = wheels.pass_over_older();
    // Yanked wheels are not recommended.
    rebuilt.retain(|one| !read.is_withdrawn(one));
    sink.extend(rebuilt_warning(&rebuilt));
    let text = match args.format.get() {
        Format::Human => report::packages(&wheels),
        Format::Json => json(&document(&wheels)),
    };
    Ok(args.output.deliver(&text, shell))
}

fn document(wheels: &WheelListing) -> Document<'_> {
    let rows = report::package_rows(wheels).into_iter().map(|row| {
        let what = row.combination;
        let accelerator = what.accelerator_version();
        RowDocument {
            platform: row.machine.as_str(),
            distribution: &what.distribution,
            version: what.version.to_string(),
            git: what.git.as_deref(),
            python: row.pythons.to_string(),
            torch: what.torch_text(),
            accelerator: accelerator
                .map(|version| format!("{} {version}", what.accelerator_name())),
            backend: what.backend.as_deref(),
            gfx: row
                .wheels
                .iter()
                .map(|wheel| wheel.gfx.as_slice())
                .find(|gfx| !gfx.is_empty())
                .unwrap_or_default(),
            files: row
                .wheels
                .iter()
                .map(|wheel| FileDocument {
                    release: &wheel.tag,
                    name: &wheel.name,
                    url: wheel.address.as_deref(),
                    size_bytes: wheel.size_bytes,
                    digest: wheel.digest.map(|digest| digest.to_string()),
                    withdrawn: wheel.withdrawn.as_deref(),
                })
                .collect(),
        }
    });
    Document {
        version: 1,
        packages: rows.collect(),
        unread: input::unread(wheels),
    }
}

//! `source pins`: every pin of a torch checkout, and the downloads that are available for it.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::selection_args::strictness;
use super::{Exit, Format, OutputFormat, Shell, load};
use crate::names::RocmVersion;
use crate::source::{PinReport, PinReportOptions};

/// Show every pin of a torch checkout and the AOTriton downloads for it
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Only local files are read. The exit code is 1 if the commit of AOTriton cannot be determined, unless
AOTRITON_INSTALLED_PREFIX is set or --default is given.

Examples:
  rock-matrix source pins pytorch                           show all pins
  rock-matrix source pins pytorch --rocm 7.2 --gfx gfx1151  show the archives for a ROCm and a GPU
  rock-matrix source pins pytorch --aotriton aotriton       compare a checkout with the pin")]
pub(super) struct Args {
    /// Directory of the torch checkout
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Show the archive that torch uses for this ROCm version
    #[arg(long, value_name = "VERSION", help_heading = "AOTriton")]
    rocm: Option<RocmVersion>,
    /// Show only the images for these GPU targets, such as gfx942,gfx1151
    ///
    /// Targets are separated by `,`, `;` or blanks.
    #[arg(long, alias = "gpu", value_name = "LIST", help_heading = "AOTriton")]
    gfx: Option<String>,
    /// CPU architecture in the names of archives
    #[arg(
        long,
        value_name = "CPU",
        default_value = "x86_64",
        help_heading = "AOTriton"
    )]
    cpu: String,
    /// Use the default commit if the checkout pins none
    ///
    /// The default is in the table `pins`.
    #[arg(long, help_heading = "AOTriton")]
    default: bool,
    /// AOTriton checkout to compare with the pin and to search for a build
    #[arg(long, value_name = "DIR", help_heading = "AOTriton")]
    aotriton: Option<PathBuf>,
    /// Directory of Python packages to search for an installed AOTriton
    #[arg(long, value_name = "DIR", help_heading = "AOTriton")]
    site_packages: Option<PathBuf>,
    /// Skip invalid rows of `related_commits` with a warning
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let (report, problems) = match PinReport::read(&args.options(), compat, &shell.environment) {
        Ok(read) => read,
        Err(errors) => return shell.report(errors.as_slice()),
    };
    let printed = shell.print(&match args.format.get() {
        Format::Human => human(&report),
        Format::Json => report.to_json(),
    });
    match shell.report(&problems) {
        Exit::Done => printed,
        exit => exit,
    }
}

impl Args {
    fn options(&self) -> PinReportOptions {
        let targets = self
            .gfx
            .iter()
            .flat_map(|text| text.split([';', ',', ' ']))
            .map(str::to_owned);
        PinReportOptions {
            rocm: self.rocm.clone(),
            gfx_targets: targets.collect(),
            cpu: self.cpu.clone(),
            uses_default: self.default,
            aotriton_dir: self.aotriton.clone(),
            site_packages: self.site_packages.clone(),
            strictness: strictness(self.lenient),
            ..PinReportOptions::new(self.directory.clone())
        }
    }
}

fn human(report: &PinReport) -> String {
    let mut text = String::new();
    for value in report.torch.iter().chain(&report.pins) {
        let _ = writeln!(text, "{:14} {:40}  {}", value.name, value.value, value.from);
    }
    for row in &report.related {
        let _ = writeln!(
            text,
            "{:14} {:40}  {} for {}",
            row.project, row.commit, row.origin, row.os
        );
    }
    let Some(package) = &report.aotriton else {
        return text;
    };
    let version = package.version.as_deref().unwrap_or("unknown");
    let _ = writeln!(
        text,
        "{:14} {version:40}  {}",
        package.name,
        package.file.as_deref().unwrap_or("no file")
    );
    let commit = package.commit.as_deref().unwrap_or("unknown");
    let _ = writeln!(text, "  commit       {commit:40}  {}", package.commit_from);
    let mode = match &package.prefix {
        Some(prefix) => format!("installed at {prefix}"),
        None => package.mode.replace('-', " "),
    };
    let _ = writeln!(text, "  mode         {mode}");
    if let Some(copy) = &package.copy {
        let _ = writeln!(text, "  copy         {} {}", copy.name, copy.value);
    }
    if let Some(archive) = &package.selected_archive {
        let _ = writeln!(text, "  taken        {archive}");
    }
    for (name, archives) in [("archive", &package.archives), ("images", &package.images)] {
        for archive in archives {
            let sum = match (&archive.sha256, archive.available) {
                (Some(sum), _) => sum.as_str(),
                (None, true) => "no digest",
                (None, false) => "unavailable",
            };
            let _ = writeln!(text, "  {name:12} {}  {sum}", archive.name);
        }
    }
    text
}

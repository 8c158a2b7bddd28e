//! `sdk fetch`: downloads the artifacts of a CI run, as archives or extracted.

mod asked;

use std::path::PathBuf;

use serde_json::json;

use self::asked::AskedRun;
use super::layout_args::platform;
use super::{Exit, Format, OutputFormat, Shell};
use crate::cli::load;
use crate::cli::reporters::WheelReporter;
use crate::cli::wheel::fail;
use crate::codes::sdk as codes;
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fetch::ProxySettings;
use crate::names::ArtifactComponent;
use crate::sdk::bucket::ArtifactSelection;
use crate::sdk::fetch::{ArtifactFetcher, ArtifactForm, FetchedArtifact};

/// Download the artifacts of a CI run
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix sdk fetch --run-id 18456789012 --gfx gfx942,gfx1100    artifacts for two targets
  rock-matrix sdk fetch --run-id 18456789012 '_(lib|run)_' -n        list matching artifacts",
    after_long_help = "\
By default, archives are kept as they are, and `sdk plan` and `sdk build` read them. With --extract
each is extracted into its own directory, with --flatten all into one tree. The size of every
archive is checked, and its digest if one is published; a file gets its name once it is complete.
Existing files with the published digest are kept.

Examples:
  rock-matrix sdk fetch --run-id 18456789012 --gfx gfx942,gfx1100    artifacts for two targets
  rock-matrix sdk fetch --run-id 18456789012 '_(lib|run)_' -n        list matching artifacts
  rock-matrix sdk fetch --run-id 18456789012 --exclude '^rocprofiler' --exclude-components test,dbg
  rock-matrix sdk fetch --run-id 7 --local-staging staging --extract"
)]
pub(super) struct Args {
    /// Fetch artifacts whose name matches one of these regular expressions [default: all]
    #[arg(value_name = "REGEX")]
    include: Vec<String>,
    /// ID of the CI run [default: `THEROCK_RUN_ID`]
    #[arg(
        long,
        value_name = "ID",
        value_parser = asked::run_id,
        help_heading = "Source"
    )]
    run_id: Option<String>,
    /// Repository of the run [default: `GITHUB_REPOSITORY`]
    ///
    /// Without this variable, it is the repository in `rock-matrix compat list sdk-buckets`.
    #[arg(long, value_name = "OWNER/REPO", help_heading = "Source")]
    run_github_repo: Option<String>,
    /// Release type of the run [default: `RELEASE_TYPE`, or ci]
    #[arg(long, value_name = "TYPE", help_heading = "Source")]
    release_type: Option<String>,
    /// Artifact platform [default: `THEROCK_PLATFORM`, or linux]
    #[arg(
        long,
        value_parser = platform,
        value_name = "PLATFORM",
        help_heading = "Source"
    )]
    platform: Option<Platform>,
    /// Directory with the layout of a bucket, to use instead of the bucket
    ///
    /// Defaults to the variable `THEROCK_LOCAL_STAGING_DIR`, unless `--bucket` is given.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "bucket",
        hide_short_help = true,
        help_heading = "Source"
    )]
    local_staging: Option<PathBuf>,
    /// URL of the bucket
    ///
    /// By default, the release type and the repository select a bucket from
    /// `rock-matrix compat list sdk-buckets`.
    #[arg(
        long,
        value_name = "URL",
        hide_short_help = true,
        help_heading = "Source"
    )]
    bucket: Option<String>,
    /// Fetch artifacts for these GPU targets, families or products
    ///
    /// Separated by commas or semicolons. Artifacts for any GPU are always included. By default,
    /// artifacts for all GPUs are fetched.
    #[arg(
        long,
        aliases = ["gpu", "amdgpu-targets", "amdgpu-families", "artifact-group"],
        value_name = "LIST",
        help_heading = "Selection"
    )]
    gfx: Vec<String>,
    /// Also fetch the artifacts for each target of the families
    #[arg(long, hide_short_help = true, help_heading = "Selection")]
    expand_family_to_targets: bool,
    /// Skip artifacts whose name matches this regular expression
    #[arg(long, value_name = "REGEX", help_heading = "Selection")]
    exclude: Vec<String>,
    /// Skip these components, separated by commas
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = asked::component,
        help_heading = "Selection"
    )]
    exclude_components: Vec<ArtifactComponent>,
    /// Skip the artifacts of these projects, separated by commas
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_short_help = true,
        help_heading = "Selection"
    )]
    exclude_artifacts: Vec<String>,
    /// Directory for the artifacts
    #[arg(
        long,
        short,
        alias = "output-dir",
        value_name = "DIR",
        default_value = "artifacts",
        help_heading = "Output"
    )]
    out: PathBuf,
    /// Layout of the directory
    #[arg(
        long,
        value_enum,
        default_value = "flat",
        value_name = "LAYOUT",
        hide_short_help = true,
        help_heading = "Output"
    )]
    layout: Layout,
    /// Extract each archive into a directory with its name
    #[arg(
        long,
        overrides_with_all = ["no_extract", "flatten"],
        help_heading = "Output"
    )]
    extract: bool,
    /// Keep archives as they are (default)
    #[arg(long, overrides_with_all = ["extract", "flatten"], hide = true)]
    no_extract: bool,
    /// Extract all archives into one tree, like an installation
    #[arg(
        long,
        overrides_with_all = ["extract", "no_extract"],
        help_heading = "Output"
    )]
    flatten: bool,
    /// Delete archives after extracting them
    #[arg(
        long,
        overrides_with = "no_delete_after_extract",
        hide_short_help = true,
        help_heading = "Output"
    )]
    delete_after_extract: bool,
    /// Keep archives after extracting them (default)
    #[arg(long, overrides_with = "delete_after_extract", hide = true)]
    no_delete_after_extract: bool,
    /// List the artifacts without downloading them
    #[arg(long, short = 'n', help_heading = "Output")]
    dry_run: bool,
    /// Maximum number of parallel downloads
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        value_parser = clap::value_parser!(u16).range(1..=64),
        hide_short_help = true,
        help_heading = "Performance"
    )]
    download_concurrency: u16,
    /// Maximum number of archives to extract in parallel [default: number of processors]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..),
        hide_short_help = true,
        help_heading = "Performance"
    )]
    extract_concurrency: Option<u16>,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Layout {
    /// Everything in the directory itself
    Flat,
    /// Extracted artifacts in `artifacts`, archives in `.download_cache`
    Manager,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let run = match args.asked_run(shell) {
        Ok(run) => run,
        Err(errors) => {
            shell.report(&errors);
            return Exit::Usage;
        }
    };
    match fetched(args, &run, shell, compat) {
        Ok(fetched) => print_result(args, shell, &fetched),
        Err(errors) => fail(shell, &errors),
    }
}

fn fetched(
    args: &Args,
    run: &AskedRun,
    shell: &Shell,
    compat: &Compat,
) -> Result<Vec<FetchedArtifact>, Diagnostics> {
    let choice = args.choice(compat)?;
    let proxies = ProxySettings::from_variables(|name| shell.environment.get(name));
    let (store, files) = args.store(run, shell, compat, &proxies)?;
    let wanted = choice.of(&files);
    if wanted.is_empty() {
        let archives = ArtifactSelection::default().of(&files);
        let message = format!(
            "none of the {} artifacts of the run is selected",
            archives.len()
        );
        let names: Vec<String> = archives
            .iter()
            .take(8)
            .map(|one| one.name.to_string())
            .collect();
        let ellipsis = if archives.len() > 8 { ", …" } else { "" };
        return Err(Diagnostic::new(&codes::NO_ARTIFACT, message)
            .at(store.location(), "")
            .note(format!("the run has {}{ellipsis}", names.join(", ")))
            .help("select other GPUs or names")
            .into());
    }
    let form = args.form();
    let wanted: Vec<FetchedArtifact> = wanted
        .into_iter()
        .map(|published| {
            let archive = args.archives().join(published.file());
            FetchedArtifact {
                path: form.path(&published, &archive),
                archive,
                published,
            }
        })
        .collect();
    if !args.dry_run {
        let fetcher = ArtifactFetcher {
            directory: &args.out,
            form: &form,
            downloads: args.download_concurrency,
            unpacks: args.extract_concurrency,
            removes_archives: args.delete_after_extract,
            progress: &WheelReporter::new(shell),
            on_message: &|message| shell.detail(message),
        };
        fetcher.fetch(&store, &wanted, || {
            shell.say("waiting for another run to end");
        })?;
    }
    Ok(wanted)
}

fn print_result(args: &Args, shell: &Shell, fetched: &[FetchedArtifact]) -> Exit {
    match args.format.get() {
        Format::Human => {
            let mut paths: Vec<_> = fetched
                .iter()
                .map(|one| one.path.display().to_string())
                .collect();
            // All artifacts of one tree have the same path.
            paths.dedup();
            shell.print(
                &paths
                    .iter()
                    .map(|path| format!("{path}\n"))
                    .collect::<String>(),
            )
        }
        Format::Json => {
            let line = |one: &FetchedArtifact| {
                json!({
                    "artifact": one.published.name.to_string(),
                    "archive": one.published.file(),
                    "size_bytes": one.published.size_bytes,
                    "path": one.path.display().to_string(),
                })
            };
            let all: Vec<_> = fetched.iter().map(line).collect();
            shell.print(&format!("{:#}\n", json!({"version": 1, "artifacts": all})))
        }
    }
}

impl Args {
    /// Returns the directory of the archives.
    fn archives(&self) -> PathBuf {
        match self.layout {
            Layout::Manager => self.out.join(".download_cache"),
            Layout::Flat => self.out.clone(),
        }
    }

    /// Returns the form of the fetched artifacts.
    fn form(&self) -> ArtifactForm {
        match (self.extract, self.flatten, self.layout) {
            (_, true, _) => ArtifactForm::MergedTree(self.out.clone()),
            (true, false, Layout::Manager) => ArtifactForm::Directories(self.out.join("artifacts")),
            (true, false, Layout::Flat) => ArtifactForm::Directories(self.out.clone()),
            (false, false, _) => ArtifactForm::Archives,
        }
    }
}

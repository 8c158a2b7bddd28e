//! `sdk fetch`: downloads the artifacts of a CI run, as archives or extracted.

use std::path::PathBuf;

use serde_json::json;

use super::{Exit, Format, OutputFormat, Shell};
use crate::cli::load;
use crate::cli::output_path;
use crate::cli::reporters::WheelReporter;
use crate::cli::wheel::fail;
use crate::cli::whole_number::{Unit, whole_number};
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fetch::ProxySettings;
use crate::names::ArtifactComponent;
use crate::sdk::bucket::ArtifactSelection;
use crate::sdk::fetch::{
    ArtifactFetcher, ArtifactForm, CiRun, CiRunOptions, FetchedArtifact, parse_platform,
    parse_run_id,
};
use crate::sdk::{SelectionOptions, TargetList};

/// Download the artifacts of a CI run
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
By default, archives are kept as they are, and `sdk plan` and `sdk build` read them. With --extract
each is extracted into its own directory, with --flatten all into one tree. The size of every
archive is checked, and its digest if one is published; a file gets its name once it is complete.
Existing files with the published digest are kept.

Examples:
  rock-matrix sdk fetch --run-id 18456789012 --gfx gfx942,gfx1100    artifacts for two targets
  rock-matrix sdk fetch --run-id 18456789012 '_(lib|run)_' -n        list matching artifacts
  rock-matrix sdk fetch --run-id 18456789012 --exclude '^rocprofiler' --exclude-components test,dbg
  rock-matrix sdk fetch --run-id 7 --local-staging staging --extract")]
pub(super) struct Args {
    /// Fetch artifacts whose name matches one of these regular expressions [default: all]
    #[arg(value_name = "REGEX")]
    include: Vec<String>,
    /// ID of the CI run [default: `THEROCK_RUN_ID`]
    #[arg(
        long,
        value_name = "ID",
        value_parser = parse_run_id,
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
        value_parser = parse_platform,
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
        value_parser = parse_component,
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
        value_parser = output_path::several_files(),
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
        value_parser = whole_number::<u16>(Unit::One, 1..=64),
        hide_short_help = true,
        help_heading = "Performance"
    )]
    download_concurrency: u16,
    /// Maximum number of archives to extract in parallel [default: number of processors]
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<u16>(Unit::One, 1..=u64::from(u16::MAX)),
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
    let run = match args
        .run_options()
        .resolve(|name| shell.environment.get(name))
    {
        Ok(run) => run,
        Err(errors) => {
            let errors: Vec<Diagnostic> = errors.into_iter().map(Diagnostic::from).collect();
            shell.report(&errors);
            return Exit::Usage;
        }
    };
    match fetch(args, &run, shell, compat) {
        Ok(fetched) => print_result(args, shell, &fetched),
        Err(errors) => fail(shell, &errors),
    }
}

fn fetch(
    args: &Args,
    run: &CiRun,
    shell: &Shell,
    compat: &Compat,
) -> Result<Vec<FetchedArtifact>, Diagnostics> {
    let selection = ArtifactSelection::compile(args.selection_options(), compat)?;
    let proxies = ProxySettings::from_variables(|name| shell.environment.get(name));
    let rows = &compat.sdk_tables().sdk_buckets;
    let (store, files) = run
        .find_store(rows, &proxies, &|message| shell.detail(message))
        .map_err(Diagnostic::from)?;
    let form = args.form();
    let archive_dir = args.archive_dir();
    let artifacts: Vec<FetchedArtifact> = selection
        .select(&files, store.location())?
        .into_iter()
        .map(|published| FetchedArtifact::new(published, &archive_dir, &form))
        .collect();
    if !args.dry_run {
        let progress = WheelReporter::new(shell);
        let on_message = |message: &str| shell.detail(message);
        let fetcher = ArtifactFetcher::new(&args.out, &form)
            .with_download_limit(args.download_concurrency)
            .with_unpack_limit(args.extract_concurrency)
            .with_archive_removal(args.delete_after_extract)
            .with_progress(&progress)
            .with_message_listener(&on_message);
        fetcher.fetch(&store, &artifacts, || {
            shell.say("waiting for another run to end");
        })?;
    }
    Ok(artifacts)
}

/// Parses a component.
fn parse_component(word: &str) -> Result<ArtifactComponent, String> {
    word.parse().map_err(|()| {
        format!(
            "expected one of {}",
            ArtifactComponent::ALL
                .map(ArtifactComponent::word)
                .join(", ")
        )
    })
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
    fn run_options(&self) -> CiRunOptions {
        CiRunOptions {
            id: self.run_id.clone(),
            platform: self.platform,
            repository: self.run_github_repo.clone(),
            release_type: self.release_type.clone(),
            bucket: self.bucket.clone(),
            staging: self.local_staging.clone(),
        }
    }

    fn selection_options(&self) -> SelectionOptions {
        SelectionOptions {
            includes: self.include.clone(),
            excludes: self.exclude.clone(),
            gpus: TargetList::new(&self.gfx.join(",")),
            expands_families: self.expand_family_to_targets,
            without_components: self.exclude_components.iter().copied().collect(),
            without_names: self.exclude_artifacts.iter().cloned().collect(),
        }
    }

    /// Returns the directory of the archives.
    fn archive_dir(&self) -> PathBuf {
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

//! `sdk fetch`: the artifacts of a run, as archives or unpacked.

mod asked;

use std::path::PathBuf;

use serde_json::json;

use self::asked::AskedRun;
use super::layout_args::platform;
use super::{Exit, Format, Shell};
use crate::cli::load;
use crate::cli::wheel::{Watchers, fail};
use crate::codes::sdk as codes;
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fetch::ProxySettings;
use crate::names::ArtifactComponent;
use crate::sdk::bucket::ArtifactSelection;
use crate::sdk::fetch::{ArtifactFetcher, ArtifactForm, FetchedArtifact};

/// Fetch the artifacts of a run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Archives are kept as they are, which `sdk plan` and `sdk build` read; with --extract they are
unpacked into a folder each, with --flatten into one tree. Each is checked by its size and, where
one is published, its digest, and has its name only once it is whole. What is there already and has
the digest that is published stays.

Examples:
  rock-matrix sdk fetch --run-id 18456789012 --amdgpu-targets gfx942,gfx1100
  rock-matrix sdk fetch --run-id 18456789012 '_(lib|run|dev)_' --exclude '^rocprofiler' --dry-run
  rock-matrix sdk fetch --run-id 7 --local-staging staging --extract")]
pub(super) struct Args {
    /// Only artifacts whose name one of these regular expressions finds [default: all]
    #[arg(value_name = "REGEX")]
    include: Vec<String>,
    #[arg(help = "The run that made them [default: THEROCK_RUN_ID]", long, value_name = "ID", value_parser = asked::run_id)]
    run_id: Option<String>,
    #[arg(
        help = "The repository that it ran in [default: GITHUB_REPOSITORY, else as the facts say]",
        long,
        value_name = "OWNER/NAME"
    )]
    run_github_repo: Option<String>,
    #[arg(
        help = "What kind of release it made [default: RELEASE_TYPE, else ci]",
        long,
        value_name = "TYPE"
    )]
    release_type: Option<String>,
    #[arg(help = "What the artifacts are for [default: THEROCK_PLATFORM, else linux]", long, value_parser = platform, value_name = "PLATFORM")]
    platform: Option<Platform>,
    /// Artifacts for this family beside those for any GPU
    #[arg(long, value_name = "FAMILY")]
    artifact_group: Option<String>,
    /// Artifacts for these targets beside those for any GPU, with commas or semicolons
    #[arg(long, value_name = "TARGETS")]
    amdgpu_targets: Option<String>,
    /// Artifacts for these families beside those for any GPU, with commas or semicolons
    #[arg(long, value_name = "FAMILIES")]
    amdgpu_families: Option<String>,
    /// Take the targets of the families, too
    #[arg(long)]
    expand_family_to_targets: bool,
    /// Leave out artifacts whose name this regular expression finds
    #[arg(long, value_name = "REGEX")]
    exclude: Vec<String>,
    /// Leave out these components, with commas
    #[arg(long, value_name = "COMPONENTS", value_delimiter = ',', value_parser = asked::component)]
    exclude_components: Vec<ArtifactComponent>,
    /// Leave out the artifacts of these projects, with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    exclude_artifacts: Vec<String>,
    /// Where the artifacts go
    #[arg(long, value_name = "DIR", default_value = "artifacts")]
    output_dir: PathBuf,
    /// How the folder is laid out: `manager` puts artifacts below `artifacts` and archives below
    /// `.download_cache`
    #[arg(
        long,
        value_enum,
        default_value = "flat",
        value_name = "LAYOUT",
        hide_possible_values = true
    )]
    layout: Layout,
    /// Unpack each archive into a folder of its name
    #[arg(long, overrides_with_all = ["no_extract", "flatten"])]
    extract: bool,
    /// Keep archives as they are; this is so unless said otherwise
    #[arg(long, overrides_with_all = ["extract", "flatten"], hide = true)]
    no_extract: bool,
    /// Unpack all archives into one tree, as an installation has it
    #[arg(long, overrides_with_all = ["extract", "no_extract"])]
    flatten: bool,
    /// Remove archives that were unpacked
    #[arg(long, overrides_with = "no_delete_after_extract")]
    delete_after_extract: bool,
    /// Keep archives that were unpacked; this is so unless said otherwise
    #[arg(long, overrides_with = "delete_after_extract", hide = true)]
    no_delete_after_extract: bool,
    /// How many archives are fetched at once
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=64))]
    download_concurrency: u16,
    /// How many archives are unpacked at once [default: as many as there are processors]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    extract_concurrency: Option<u16>,
    #[arg(
        help = "A folder that has what a bucket has, in its place [default: THEROCK_LOCAL_STAGING_DIR]",
        long,
        value_name = "DIR",
        conflicts_with = "bucket"
    )]
    local_staging: Option<PathBuf>,
    #[arg(
        help = "The address of the bucket [default: as the facts say, `compat list sdk-buckets`]",
        long,
        value_name = "ADDRESS"
    )]
    bucket: Option<String>,
    /// Tell what would be fetched
    #[arg(long)]
    dry_run: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Layout {
    Flat,
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
        Err(faults) => {
            shell.report(&faults);
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
            "none of the {} artifacts of the run is wanted",
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
            .note(format!("it has {}{ellipsis}", names.join(", ")))
            .help("ask for other families, targets or names")
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
            directory: &args.output_dir,
            form: &form,
            downloads: args.download_concurrency,
            unpacks: args.extract_concurrency,
            removes_archives: args.delete_after_extract,
            progress: &Watchers::of(shell),
            on_message: &|message| shell.detail(message),
        };
        fetcher.fetch(&store, &wanted, || {
            shell.say("waiting for another run to end");
        })?;
    }
    Ok(wanted)
}

fn print_result(args: &Args, shell: &Shell, fetched: &[FetchedArtifact]) -> Exit {
    match args.format {
        Format::Human => {
            let mut paths: Vec<_> = fetched
                .iter()
                .map(|one| one.path.display().to_string())
                .collect();
            // Those of one tree are the same.
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
    /// Where archives go.
    fn archives(&self) -> PathBuf {
        match self.layout {
            Layout::Manager => self.output_dir.join(".download_cache"),
            Layout::Flat => self.output_dir.clone(),
        }
    }

    /// Returns the form of the fetched artifacts.
    fn form(&self) -> ArtifactForm {
        match (self.extract, self.flatten, self.layout) {
            (_, true, _) => ArtifactForm::MergedTree(self.output_dir.clone()),
            (true, false, Layout::Manager) => {
                ArtifactForm::Directories(self.output_dir.join("artifacts"))
            }
            (true, false, Layout::Flat) => ArtifactForm::Directories(self.output_dir.clone()),
            (false, false, _) => ArtifactForm::Archives,
        }
    }
}

//! `sdk fetch`: the artifacts of a run, as archives or unpacked.

mod download;
mod store;
mod tries;
mod unpack;
mod work;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::json;

use self::store::Store;
use self::unpack::Way;
use self::work::Work;
use super::targets::unknown_families;
use super::wanted::platform;
use super::{Exit, Format, Shell};
use crate::cli::load;
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::registry::{facts::CANNOT_FETCH, host::CANNOT_WRITE_FILE, sdk as codes, wheel::BAD_PATTERN};
use crate::diagnostic::{Diagnostic, Place};
use crate::fetch::Proxies;
use crate::names::Component;
use crate::sdk;
use crate::sdk::bucket::{Choice, File, Published};

/// The repository whose runs are looked for unless another one is named.
const UPSTREAM: &str = "ROCm/TheRock";

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
    #[arg(help = "The run that made them [default: THEROCK_RUN_ID]", long, value_name = "ID", env = "THEROCK_RUN_ID", hide_env = true, value_parser = run_id)]
    run_id: String,
    #[arg(
        help = "The repository that it ran in [default: GITHUB_REPOSITORY, else ROCm/TheRock]",
        long,
        value_name = "OWNER/NAME",
        env = "GITHUB_REPOSITORY",
        hide_env = true
    )]
    run_github_repo: Option<String>,
    /// What kind of release it made
    #[arg(long, value_name = "TYPE", env = "RELEASE_TYPE", hide_env = true, default_value = "ci")]
    release_type: String,
    #[arg(help = "What the artifacts are for", long, default_value = "linux", env = "THEROCK_PLATFORM", hide_env = true, value_parser = platform, value_name = "PLATFORM")]
    platform: Platform,
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
    #[arg(long, value_name = "COMPONENTS", value_delimiter = ',', value_parser = component)]
    exclude_components: Vec<Component>,
    /// Leave out the artifacts of these projects, with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    exclude_artifacts: Vec<String>,
    /// Where the artifacts go
    #[arg(long, value_name = "DIR", default_value = "artifacts")]
    output_dir: PathBuf,
    /// How the folder is laid out: `manager` puts artifacts below `artifacts` and archives below `.download_cache`
    #[arg(long, value_enum, default_value = "flat", value_name = "LAYOUT", hide_possible_values = true)]
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
    /// A folder that has what a bucket has, in its place
    #[arg(long, value_name = "DIR", env = "THEROCK_LOCAL_STAGING_DIR", hide_env = true, conflicts_with = "bucket")]
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

/// An artifact that is fetched.
#[derive(Debug)]
struct Fetched {
    published: Published,
    /// Where its archive goes.
    archive: PathBuf,
    /// Where it is in the end: the archive, or the folder that it is unpacked into.
    path: PathBuf,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    match fetched(args, shell, compat) {
        Ok(fetched) => told(args, shell, &fetched),
        Err(faults) => match shell.report(&faults) {
            Exit::Fault if faults.iter().any(|one| [&CANNOT_FETCH, &CANNOT_WRITE_FILE].contains(&one.code)) => {
                Exit::Machine
            }
            exit => exit,
        },
    }
}

fn fetched(args: &Args, shell: &Shell, compat: &Compat) -> Result<Vec<Fetched>, Vec<Diagnostic>> {
    let choice = args.choice(compat)?;
    let proxies = Proxies::from_variables(|name| shell.environment.get(name));
    let (store, files) = args.store(shell, compat, &proxies)?;
    let wanted = choice.of(&files);
    if wanted.is_empty() {
        let archives = Choice::default().of(&files);
        let message = format!("none of the {} artifacts of the run is wanted", archives.len());
        let names: Vec<String> = archives.iter().take(8).map(|one| one.name.to_string()).collect();
        return Err(vec![
            Diagnostic::new(&codes::NO_ARTIFACT, message)
                .at(store.place(), "")
                .note(format!("it has {}{}", names.join(", "), if archives.len() > 8 { ", …" } else { "" }))
                .help("ask for other families, targets or names"),
        ]);
    }
    let way = args.way();
    let wanted: Vec<Fetched> = wanted
        .into_iter()
        .map(|published| {
            let archive = args.archives().join(published.file());
            Fetched { path: way.path(&published, &archive), archive, published }
        })
        .collect();
    if !args.dry_run {
        let work = Work {
            folder: &args.output_dir,
            way: &way,
            fetched_at_once: args.download_concurrency,
            unpacked_at_once: args.extract_concurrency,
            removes_archives: args.delete_after_extract,
        };
        work.all(&store, &wanted, shell)?;
    }
    Ok(wanted)
}

fn told(args: &Args, shell: &Shell, fetched: &[Fetched]) -> Exit {
    match args.format {
        Format::Human => {
            let mut paths: Vec<_> = fetched.iter().map(|one| one.path.display().to_string()).collect();
            // Those of one tree are the same.
            paths.dedup();
            shell.print(&paths.iter().map(|path| format!("{path}\n")).collect::<String>())
        }
        Format::Json => {
            let line = |one: &Fetched| {
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

    /// What becomes of them.
    fn way(&self) -> Way {
        match (self.extract, self.flatten, self.layout) {
            (_, true, _) => Way::OneTree(self.output_dir.clone()),
            (true, false, Layout::Manager) => Way::Apart(self.output_dir.join("artifacts")),
            (true, false, Layout::Flat) => Way::Apart(self.output_dir.clone()),
            (false, false, _) => Way::Packed,
        }
    }

    /// Which artifacts are wanted.
    fn choice(&self, compat: &Compat) -> Result<Choice, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let mut compiled = |words: &[String], option: &str| -> Vec<Regex> {
            let each = words.iter().filter_map(|word| {
                Regex::new(word)
                    .map_err(|error| {
                        let reason = error.to_string().lines().last().unwrap_or_default().to_owned();
                        let place = Place::Argument(format!("{option}{word}"));
                        faults.push(
                            Diagnostic::new(&BAD_PATTERN, format!("`{word}` is no regular expression: {reason}"))
                                .at(place, ""),
                        );
                    })
                    .ok()
            });
            each.collect()
        };
        let includes = compiled(&self.include, "");
        let excludes = compiled(&self.exclude, "--exclude ");
        let mut made_for: BTreeSet<String> = BTreeSet::new();
        made_for.extend(self.artifact_group.clone());
        let words = |said: &Option<String>| -> Vec<String> {
            let said = said.as_deref().unwrap_or_default();
            said.split([',', ';']).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        made_for.extend(words(&self.amdgpu_targets));
        let families = words(&self.amdgpu_families);
        if self.expand_family_to_targets {
            let rows = &compat.tables().families;
            let said = families.iter().chain(&self.artifact_group).cloned().collect::<Vec<_>>().join(",");
            match sdk::expand(&said, rows) {
                Ok(targets) => made_for.extend(targets),
                Err(unknown) => faults.push(unknown_families(&unknown, &said, rows)),
            }
        }
        made_for.extend(families);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Choice {
            made_for: (!made_for.is_empty()).then_some(made_for),
            includes,
            excludes,
            without_components: self.exclude_components.iter().copied().collect(),
            without_names: self.exclude_artifacts.iter().cloned().collect(),
        })
    }

    /// Where the run's artifacts are, and all files of the run.
    fn store(&self, shell: &Shell, compat: &Compat, proxies: &Proxies) -> Result<(Store, Vec<File>), Vec<Diagnostic>> {
        let one = |fault: Diagnostic| vec![fault];
        let repository = self.run_github_repo.as_deref().unwrap_or(UPSTREAM);
        let is_upstream = repository == UPSTREAM;
        let rows = &compat.sdk_tables().sdk_buckets;
        let row = rows.iter().find(|row| row.release_types.contains(&self.release_type)).ok_or_else(|| {
            let known: Vec<&str> = rows.iter().flat_map(|row| &row.release_types).map(String::as_str).collect();
            one(Diagnostic::new(
                &codes::NO_ARTIFACT,
                format!("nothing is known of releases of the kind `{}`", self.release_type),
            )
            .at(Place::Argument(format!("--release-type {}", self.release_type)), "")
            .help(format!("kinds are {}", known.join(", "))))
        })?;
        let address = |is_shared: bool| match (&self.bucket, is_shared && !row.shared.is_empty()) {
            (Some(bucket), _) => bucket.trim_end_matches('/').to_owned(),
            (None, true) => row.shared.clone(),
            (None, false) => row.address.clone(),
        };
        // Changes that come from other repositories are built in runs of upstream's, and kept where those are.
        let ways: &[bool] = match (row.shared.is_empty() && self.bucket.is_none(), is_upstream) {
            (true, _) => &[false],
            (false, true) => &[false, true],
            (false, false) => &[true],
        };
        let mut asked = Vec::new();
        for &is_shared in ways {
            let folder = sdk::bucket::folder_of_run(is_shared.then_some(repository), &self.run_id, self.platform);
            let store = match &self.local_staging {
                Some(staging) => Store::Folder(staging.join(&folder)),
                None => Store::Bucket { address: address(is_shared), folder, proxies: proxies.clone() },
            };
            shell.detail(&format!("looking in {store}"));
            let files = store.list().map_err(one)?;
            if !files.is_empty() {
                return Ok((store, files));
            }
            asked.push(store);
        }
        let places: Vec<String> = asked.iter().map(|store| format!("`{store}`")).collect();
        Err(one(
            Diagnostic::new(&codes::NO_ARTIFACT, format!("there is nothing of run {} in {}", self.run_id, places.join(" or ")))
                .at(Place::Argument(format!("--run-id {}", self.run_id)), "")
                .help("look at the run's number, its repository (`--run-github-repo`) and the kind of release (`--release-type`); artifacts of runs are kept for some weeks only"),
        ))
    }
}

fn run_id(text: &str) -> Result<String, String> {
    let is_one = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_one { Ok(text.to_owned()) } else { Err("runs are numbered, such as 18456789012".to_owned()) }
}

fn component(word: &str) -> Result<Component, String> {
    word.parse().map_err(|()| format!("it is none of {}", Component::ALL.map(Component::word).join(", ")))
}

/// A path for people.
fn place(path: &Path) -> Place {
    Place::File(path.display().to_string().into())
}

//! `sdk build`: the packages, all of them or none.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::laid::{self, Laid};
use super::make::{Made, Maker};
use super::targets::unknown_families;
use super::wanted::Wanted;
use super::{Exit, Format, Shell};
use crate::cli::load;
use crate::cli::wheel::{Watchers, source_date};
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::registry::sdk as codes;
use crate::diagnostic::{Diagnostic, Place};
use crate::names::Version;
use crate::sdk::python::{Build, Gpus};
use crate::sdk::{self, Mode, PackageKind};
use crate::sys::{self, FileError, FolderSwap, Room};
use crate::wheel::{DosTime, MakeOptions};

/// The time of members where none is given, in seconds since 1970-01-01: the first that zip archives can say.
const FIRST_TIME_S: u64 = 315_532_800;

/// Make the packages: wheels, and the source distribution that chooses among them
#[derive(Debug, clap::Args)]
#[command(
    disable_version_flag = true,
    after_help = "\
The packages are written to DEST/dist, all of them or none. Nothing is unpacked or compiled: files
go from the artifacts into the packages, and what changes in libraries is made on the way. The same
artifacts give the same bytes. SOURCE_DATE_EPOCH sets the time of all members,
ROCM_SDK_WHEEL_PLATFORM_TAG the platform tag. `rock-matrix sdk verify DEST/dist` then proves them.

Examples:
  rock-matrix sdk build --artifact-dir artifacts --dest-dir out --version 7.10.0
  rock-matrix sdk build --artifact-dir artifacts --dest-dir out --linux-amdgpu-families gfx94X-dcgpu
                                     fails unless there are packages for all of gfx94X-dcgpu"
)]
pub(super) struct Args {
    #[command(flatten)]
    wanted: Wanted,
    /// Write to the folder dist in this one
    #[arg(long, value_name = "DIR")]
    dest_dir: PathBuf,
    /// The version of all packages [default: the one of the build, with .dev0]
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// End the names of folders with this, so that two versions can lie side by side
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, value_parser = suffix)]
    version_suffix: String,
    /// Store the members of wheels instead of compressing them
    #[arg(long, overrides_with = "wheel_compression")]
    no_wheel_compression: bool,
    /// Compress the members of wheels; this is so unless said otherwise
    #[arg(long, overrides_with = "no_wheel_compression", hide = true)]
    wheel_compression: bool,
    /// Compress the tree to build against by xz, inside its wheel
    #[arg(long, overrides_with = "no_devel_tarball_compression")]
    devel_tarball_compression: bool,
    /// Leave the tree to build against to the compression of its wheel; this is so unless said otherwise
    #[arg(long, overrides_with = "devel_tarball_compression", hide = true)]
    no_devel_tarball_compression: bool,
    /// How hard to compress, from 1 to 9
    #[arg(long, value_name = "LEVEL", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=9))]
    compression_level: u32,
    /// The families that Linux packages are asked for, with commas or semicolons
    #[arg(long, value_name = "FAMILIES")]
    linux_amdgpu_families: Option<String>,
    /// The families that Windows packages are asked for, with commas or semicolons
    #[arg(long, value_name = "FAMILIES")]
    windows_amdgpu_families: Option<String>,
    /// How many threads work [default: as many as there are processors]
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Replace packages that are there
    #[arg(long)]
    overwrite: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let Some(jobs) = args.jobs else { return build(args, shell) };
    match rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build() {
        Ok(pool) => pool.install(|| build(args, shell)),
        Err(_) => build(args, shell),
    }
}

fn build(args: &Args, shell: &Shell) -> Exit {
    let dist = args.dest_dir.join("dist");
    let is_there = !sys::entries(&dist).unwrap_or_default().is_empty();
    if is_there && !args.overwrite {
        let place = Place::File(dist.display().to_string().into());
        return shell.report(&[Diagnostic::new(&codes::SDK_OUTPUT_EXISTS, "the folder has packages already")
            .at(place, "")
            .help("give another folder, or replace it as a whole with `--overwrite`")]);
    }
    let room = match Room::beside(&args.dest_dir) {
        Ok(room) => room,
        Err(error) => return shell.report(&[error.into()]),
    };
    let laid = match laid::lay_out(&args.wanted, &args.version_suffix, &room, shell) {
        Ok(laid) => laid,
        Err(exit) => return exit,
    };
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    match built(args, shell, &laid, compat, &room, &dist) {
        Ok(made) => told(args, shell, &dist, &made),
        Err(faults) => shell.report(&faults),
    }
}

fn built(
    args: &Args,
    shell: &Shell,
    laid: &Laid,
    compat: &Compat,
    room: &Room,
    dist: &Path,
) -> Result<Vec<Made>, Vec<Diagnostic>> {
    let one = |fault: Diagnostic| vec![fault];
    let facts = compat.sdk_tables();
    let version = args.version(laid).map_err(one)?;
    let gpus = args.gpus(laid, compat)?;
    let epoch = shell.environment.get("SOURCE_DATE_EPOCH");
    let time = source_date(epoch).map_err(one)?.unwrap_or(DosTime::FIRST);
    let platform = args.wanted.platform;
    let maker = Maker {
        laid,
        facts,
        build: Build { version, mode: laid.made.mode, platform, nonce: args.version_suffix.clone(), gpus },
        tag: platform_tag(shell.environment.get(TAG), platform).map_err(one)?,
        options: MakeOptions { level: if args.no_wheel_compression { 0 } else { args.compression_level }, time },
        time_s: epoch.and_then(|text| text.parse().ok()).unwrap_or(FIRST_TIME_S),
        compresses_tree: args.devel_tarball_compression,
        room,
        watchers: Watchers::of(shell),
    };
    let file = |error: FileError| vec![Diagnostic::from(error)];
    let swap = FolderSwap::begin(dist, || shell.say("waiting for another run to end")).map_err(file)?;
    let staging = swap.stage().map_err(file)?;
    let mut made = Vec::new();
    for package in &laid.layout.packages {
        shell.detail(&format!("making {}", package.distribution));
        made.push(maker.package(package, &staging)?);
    }
    let trees = laid.devel.iter();
    let is_apart = laid.devel.len() > 1;
    for tree in trees {
        let below = tree.made_for.as_deref().filter(|_| is_apart);
        made.push(maker.devel(tree, below, &staging)?);
    }
    let families: Vec<Option<&str>> = match (laid.made.mode, maker.build.gpus.available.len()) {
        (Mode::Legacy, 2..) => maker.build.gpus.available.iter().map(|family| Some(family.as_str())).collect(),
        _ => vec![None],
    };
    for family in families {
        made.push(maker.project(family, &staging).map_err(file)?);
    }
    staging.commit().map_err(file)?;
    made.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(made)
}

fn told(args: &Args, shell: &Shell, dist: &Path, made: &[Made]) -> Exit {
    let path = |one: &Made| dist.join(&one.path).display().to_string();
    match args.format {
        Format::Human => shell.print(&made.iter().map(|one| format!("{}\n", path(one))).collect::<String>()),
        Format::Json => {
            let files: Vec<_> =
                made.iter().map(|one| json!({"path": path(one), "size_bytes": one.size_bytes})).collect();
            shell.print(&format!("{:#}\n", json!({"version": 1, "files": files})))
        }
    }
}

/// What the platform tag of wheels is set by.
const TAG: &str = "ROCM_SDK_WHEEL_PLATFORM_TAG";

/// The platform tag of wheels: what the environment says, in the form of file names.
fn platform_tag(said: Option<&str>, platform: Platform) -> Result<String, Diagnostic> {
    let tag = said.filter(|text| !text.is_empty()).unwrap_or(match platform {
        Platform::Linux => "linux_x86_64",
        Platform::Windows => "win_amd64",
    });
    let tag = tag.replace(['-', '.'], "_");
    if tag.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        return Ok(tag);
    }
    Err(Diagnostic::new(&codes::BAD_SDK_VERSION, format!("`{}` is no platform tag", tag.escape_debug()))
        .at(Place::Argument(TAG.to_owned()), "")
        .help("set it to one such as `manylinux_2_28_x86_64`, or take it out of the environment"))
}

/// The ending of names of folders that Python imports.
fn suffix(text: &str) -> Result<String, String> {
    let is_one = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_one { Ok(text.to_owned()) } else { Err("names of modules have letters, digits and `_`".to_owned()) }
}

impl Args {
    fn version(&self, laid: &Laid) -> Result<String, Diagnostic> {
        let of_build = || laid.made.version.as_ref().map(|version| format!("{version}.dev0"));
        let Some(text) = self.version.clone().or_else(of_build) else {
            return Err(Diagnostic::new(&codes::BAD_SDK_VERSION, "the manifest of the build does not say its version")
                .help("give it with `--version`"));
        };
        let fault = |message: String, help: String| {
            let place = Place::Argument(format!("--version {text}"));
            Diagnostic::new(&codes::BAD_SDK_VERSION, message).at(place, "").help(help)
        };
        match text.parse::<Version>() {
            Ok(version) if version.normalized() == text => Ok(text),
            Ok(version) => {
                let normal = version.normalized();
                Err(fault(format!("installers write `{text}` as `{normal}`"), format!("give `--version {normal}`")))
            }
            Err(error) => Err(fault(error.to_string(), "give one such as `7.10.0` or `7.10.0a20251120`".to_owned())),
        }
    }

    /// What packages are for. Where families were asked for, every target of this platform must have artifacts.
    fn gpus(&self, laid: &Laid, compat: &Compat) -> Result<Gpus, Vec<Diagnostic>> {
        let kind = match laid.made.mode {
            Mode::Kpack => PackageKind::Device,
            Mode::Legacy => PackageKind::Libraries,
        };
        let packages = laid.layout.packages.iter().filter(|package| package.kind == kind);
        let found: BTreeSet<String> = packages.filter_map(|package| package.made_for.clone()).collect();
        let linux =
            Self::targets("--linux-amdgpu-families", self.linux_amdgpu_families.as_deref(), laid.made.mode, compat)?;
        let windows = Self::targets(
            "--windows-amdgpu-families",
            self.windows_amdgpu_families.as_deref(),
            laid.made.mode,
            compat,
        )?;
        let own = match self.wanted.platform {
            Platform::Linux => &linux,
            Platform::Windows => &windows,
        };
        let missing: Vec<&str> = own.iter().filter(|target| !found.contains(*target)).map(String::as_str).collect();
        if !missing.is_empty() {
            let present: Vec<&str> = found.iter().map(String::as_str).collect();
            let message = format!("there are no artifacts for {}", missing.join(", "));
            return Err(vec![
                Diagnostic::new(&codes::MISSING_TARGETS, message)
                    .note(format!(
                        "there are some for {}",
                        if present.is_empty() { "none".to_owned() } else { present.join(", ") }
                    ))
                    .help("fetch theirs, or ask for other families"),
            ]);
        }
        Ok(if linux.is_empty() && windows.is_empty() { Gpus::found(found) } else { Gpus::asked(linux, windows) })
    }

    /// The targets of families, or the families themselves where libraries are made for those.
    fn targets(
        option: &str,
        said: Option<&str>,
        mode: Mode,
        compat: &Compat,
    ) -> Result<BTreeSet<String>, Vec<Diagnostic>> {
        let said = said.unwrap_or_default();
        if mode == Mode::Legacy {
            let words = said.split([',', ';']).map(str::trim).filter(|word| !word.is_empty());
            return Ok(words.map(str::to_owned).collect());
        }
        let families = &compat.tables().families;
        sdk::expand(said, families)
            .map(|targets| targets.into_iter().collect())
            .map_err(|unknown| vec![unknown_families(&unknown, &format!("{option} {said}"), families)])
    }
}

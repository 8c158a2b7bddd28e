//! `sdk build`: the packages, all of them or none.

mod asked;

use std::path::{Path, PathBuf};

use serde_json::json;

use self::asked::{TAG, platform_tag, suffix};
use super::layout_args::LayoutArgs;
use super::targets::FamiliesFrom;
use super::{Exit, Format, Shell};
use crate::bytes::on_threads;
use crate::cli::load;
use crate::cli::wheel::{Watchers, fail, source_date_s};
use crate::sdk::python::BuildInfo;
use crate::sdk::{self, ResolvedLayout, SdkBuildError, SdkBuilder, WrittenPackage};
use crate::sys::{DirectorySwap, ScratchSpace, Signals};
use crate::wheel::{DosTime, NewWheelOptions};

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
    layout: LayoutArgs,
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
    /// Leave the tree to build against to the compression of its wheel; this is so unless said
    /// otherwise
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
    #[command(flatten)]
    families: FamiliesFrom,
    #[arg(
        help = "The time of all members, in seconds since 1970-01-01 [default: SOURCE_DATE_EPOCH, or 1980]",
        long,
        value_name = "SECONDS"
    )]
    source_date_epoch: Option<String>,
    /// Give packages for one target the `__init__.py` of the libraries, too, as packages of earlier
    /// tools have it
    #[arg(long)]
    device_init_compat: bool,
    /// Look at the artifacts and at what is asked for, and write nothing
    #[arg(long, overrides_with = "build_packages")]
    no_build_packages: bool,
    /// Make the packages; this is so unless said otherwise
    #[arg(long, overrides_with = "no_build_packages", hide = true)]
    build_packages: bool,
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
    on_threads(args.jobs, || build(args, shell))
}

fn build(args: &Args, shell: &Shell) -> Exit {
    match try_build(args, shell) {
        Ok(exit) => exit,
        Err(SdkBuildError::Stopped(signal)) => signal.into(),
        Err(SdkBuildError::Diagnostics(errors)) => fail(shell, &errors),
    }
}

fn try_build(args: &Args, shell: &Shell) -> Result<Exit, SdkBuildError> {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return Ok(exit),
    };
    let dist = args.dest_dir.join("dist");
    if !args.no_build_packages {
        sdk::check_output(&dist, args.overwrite, compat.sdk_tables())?;
    }
    let scratch = ScratchSpace::near(&args.dest_dir)?;
    let options = args
        .layout
        .layout_options(&args.version_suffix, args.own_families());
    let (layout, warnings) = ResolvedLayout::resolve(&options, &scratch, compat)?;
    shell.report(&warnings);
    let version = args.version(&layout)?;
    let gpus = args.gpus(&layout, compat)?;
    let epoch = args
        .source_date_epoch
        .as_deref()
        .or(shell.environment.get("SOURCE_DATE_EPOCH"));
    // Source distributions and trees cannot have a time that wheels cannot have, so that
    // installers can build wheels of them.
    let time_s = source_date_s(epoch)?.unwrap_or_else(|| DosTime::clamp_epoch_s(0));
    let builder = SdkBuilder {
        layout: &layout,
        facts: compat.sdk_tables(),
        build: BuildInfo {
            version,
            mode: layout.mode,
            platform: args.layout.platform,
            nonce: args.version_suffix.clone(),
            gpus,
        },
        platform_tag: platform_tag(shell.environment.get(TAG), args.layout.platform)?,
        wheel_options: NewWheelOptions {
            level: if args.no_wheel_compression {
                0
            } else {
                args.compression_level
            },
            time: DosTime::from_epoch_s(time_s),
        },
        time_s: time_s.unsigned_abs(),
        compresses_tree: args.devel_tarball_compression,
        inits_devices: args.device_init_compat,
        scratch,
        progress: &Watchers::of(shell),
        on_package: &|distribution| shell.detail(&format!("making {distribution}")),
    };
    let written = if args.no_build_packages {
        Vec::new()
    } else {
        let on_wait = || shell.say("waiting for another run to end");
        let lock = DirectorySwap::begin(&dist, on_wait)?;
        let signals = Signals::listen().unwrap_or_default();
        builder.build(lock, args.overwrite, &signals)?
    };
    Ok(print_result(args, shell, &dist, &written))
}

fn print_result(args: &Args, shell: &Shell, dist: &Path, made: &[WrittenPackage]) -> Exit {
    let path = |one: &WrittenPackage| dist.join(&one.path).display().to_string();
    match args.format {
        Format::Human => shell.print(
            &made
                .iter()
                .map(|one| format!("{}\n", path(one)))
                .collect::<String>(),
        ),
        Format::Json => {
            let files: Vec<_> = made
                .iter()
                .map(|one| json!({"path": path(one), "size_bytes": one.size_bytes}))
                .collect();
            shell.print(&format!("{:#}\n", json!({"version": 1, "files": files})))
        }
    }
}

//! `sdk build`: builds all packages, or none if one fails.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::layout_args::LayoutArgs;
use super::targets::FamiliesFrom;
use super::{Exit, Format, OutputFormat, Shell};
use crate::bytes::on_threads;
use crate::cli::load;
use crate::cli::output_path;
use crate::cli::reporters::WheelReporter;
use crate::cli::wheel::fail;
use crate::cli::whole_number::{Unit, whole_number};
use crate::sdk::python::BuildInfo;
use crate::sdk::{
    self, PLATFORM_TAG_VARIABLE, RequestedTargets, ResolvedLayout, SdkBuildError, SdkBuilder,
    WrittenPackage,
};
use crate::sys::{DirectorySwap, ScratchSpace, Signals};
use crate::wheel::{DosTime, parse_source_date};

/// Build the wheels of the SDK and the `rocm` sdist that selects among them
#[derive(Debug, clap::Args)]
#[command(
    disable_version_flag = true,
    after_long_help = "\
The packages are written to OUT/dist, all of them or none. Nothing is unpacked or compiled: files
are copied from the artifacts into the packages, and libraries are edited on the way. The same
artifacts give the same bytes. SOURCE_DATE_EPOCH sets the time of all members,
ROCM_SDK_WHEEL_PLATFORM_TAG the platform tag. Check the packages with
`rock-matrix sdk verify OUT/dist`.

Examples:
  rock-matrix sdk build --artifact-dir artifacts --out out --version 7.10.0
  rock-matrix sdk build --artifact-dir artifacts --out out --gfx gfx94X-dcgpu"
)]
pub(super) struct Args {
    #[command(flatten, next_help_heading = "Artifacts")]
    layout: LayoutArgs,
    /// Version of all packages [default: the version of the build with .dev0]
    #[arg(long, value_name = "VERSION", help_heading = "Packages")]
    version: Option<String>,
    /// Suffix of the directories with package files
    ///
    /// With different suffixes, two versions can be installed next to each other.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        hide_short_help = true,
        value_parser = sdk::parse_name_suffix,
        help_heading = "Packages"
    )]
    version_suffix: String,
    /// Require packages for these GPU targets or families
    ///
    /// Separated by commas or semicolons. The build fails before it writes anything if one of them
    /// has no artifacts. In the mode `legacy`, artifacts of other families are ignored. The list
    /// applies to `--platform`; use `--linux-gfx` and `--windows-gfx` to list the GPUs of both
    /// platforms.
    #[arg(
        long,
        alias = "gpu",
        value_name = "LIST",
        conflicts_with_all = ["linux_gfx", "windows_gfx"],
        help_heading = "Packages"
    )]
    gfx: Option<String>,
    /// GPU targets or families with Linux packages
    ///
    /// Separated by commas or semicolons. With `--platform linux`, the same as `--gfx`; otherwise
    /// `rocm` offers them on Linux, so that its sdist is the same on both platforms.
    #[arg(
        long,
        alias = "linux-amdgpu-families",
        value_name = "LIST",
        hide_short_help = true,
        help_heading = "Packages"
    )]
    linux_gfx: Option<String>,
    /// GPU targets or families with Windows packages
    ///
    /// Separated by commas or semicolons. With `--platform windows`, the same as `--gfx`; otherwise
    /// `rocm` offers them on Windows, so that its sdist is the same on both platforms.
    #[arg(
        long,
        alias = "windows-amdgpu-families",
        value_name = "LIST",
        hide_short_help = true,
        help_heading = "Packages"
    )]
    windows_gfx: Option<String>,
    #[command(flatten, next_help_heading = "Packages")]
    families: FamiliesFrom,
    /// Add the `__init__.py` of the libraries to packages for one target
    ///
    /// Packages of earlier tools have it.
    #[arg(long, hide_short_help = true, help_heading = "Packages")]
    device_init_compat: bool,
    /// Time of all members in seconds since 1970-01-01
    ///
    /// Defaults to the variable `SOURCE_DATE_EPOCH`, or else to 1980-01-01.
    #[arg(
        long,
        value_name = "SECONDS",
        hide_short_help = true,
        help_heading = "Packages"
    )]
    source_date_epoch: Option<String>,
    /// Store the members of wheels uncompressed
    #[arg(
        long,
        overrides_with = "wheel_compression",
        hide_short_help = true,
        help_heading = "Compression"
    )]
    no_wheel_compression: bool,
    /// Compress the members of wheels (default)
    #[arg(long, overrides_with = "no_wheel_compression", hide = true)]
    wheel_compression: bool,
    /// Compress the devel tree with xz inside its wheel
    ///
    /// By default, only the compression of the wheel applies.
    #[arg(
        long,
        overrides_with = "no_devel_tarball_compression",
        hide_short_help = true,
        help_heading = "Compression"
    )]
    devel_tarball_compression: bool,
    /// Leave the devel tree to the compression of its wheel (default)
    #[arg(long, overrides_with = "devel_tarball_compression", hide = true)]
    no_devel_tarball_compression: bool,
    /// Compression level, from 1 to 9
    #[arg(
        long,
        value_name = "LEVEL",
        default_value_t = 6,
        value_parser = whole_number::<u32>(Unit::One, 1..=9),
        hide_short_help = true,
        help_heading = "Compression"
    )]
    compression_level: u32,
    /// Write the packages to the directory `dist` in this directory
    #[arg(
        long,
        short,
        alias = "dest-dir",
        value_name = "DIR",
        value_parser = output_path::several_files(),
        help_heading = "Output"
    )]
    out: PathBuf,
    /// Check the artifacts and options without writing anything
    #[arg(
        long,
        short = 'n',
        alias = "no-build-packages",
        overrides_with = "build_packages",
        help_heading = "Output"
    )]
    dry_run: bool,
    /// Build the packages (default)
    #[arg(long, overrides_with = "dry_run", hide = true)]
    build_packages: bool,
    /// Replace existing packages
    ///
    /// Replaces the whole directory `dist`. Without this option, existing packages are an error.
    #[arg(long, aliases = ["overwrite", "force"], help_heading = "Output")]
    replace: bool,
    /// Number of threads [default: number of processors]
    #[arg(
        long,
        short,
        value_name = "N",
        value_parser = whole_number::<u16>(Unit::One, 1..=u64::from(u16::MAX)),
        help_heading = "Output"
    )]
    jobs: Option<u16>,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    on_threads(args.jobs.or(shell.project_file.jobs), || build(args, shell))
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
    let dist = args.out.join("dist");
    if !args.dry_run {
        sdk::check_output(&dist, args.replace, compat.sdk_tables())?;
    }
    let scratch = ScratchSpace::near(&args.out)?;
    let platform = args.layout.platform;
    let requested = RequestedTargets::new(
        platform,
        args.gfx.as_deref(),
        args.linux_gfx.as_deref(),
        args.windows_gfx.as_deref(),
    );
    let options = args.layout.options(
        &args.version_suffix,
        requested.list(platform).base_targets(),
    );
    let (layout, warnings) = ResolvedLayout::resolve(&options, &scratch, compat)?;
    shell.report(&warnings);
    let version = sdk::package_version(args.version.as_deref(), &layout)?;
    let families = args.families.read(compat)?;
    let gpus = requested.resolve(&layout, platform, &families)?;
    let epoch = args
        .source_date_epoch
        .as_deref()
        .or(shell.environment.get("SOURCE_DATE_EPOCH"));
    let time_s = epoch
        .map(parse_source_date)
        .transpose()?
        .unwrap_or_else(|| DosTime::clamp_epoch_s(0));
    let build = BuildInfo {
        version,
        mode: layout.mode,
        platform,
        name_suffix: args.version_suffix.clone(),
        gpus,
    };
    let tag = sdk::platform_tag(shell.environment.get(PLATFORM_TAG_VARIABLE), platform)?;
    let level = if args.no_wheel_compression {
        0
    } else {
        args.compression_level
    };
    let progress = WheelReporter::new(shell);
    let on_package = |distribution: &str| shell.detail(&format!("building {distribution}"));
    let builder = SdkBuilder::new(&layout, compat.sdk_tables(), build, tag)
        .with_member_time_s(time_s)
        .with_compression_level(level)
        .with_compressed_tree(args.devel_tarball_compression)
        .with_device_init(args.device_init_compat)
        .with_scratch(scratch)
        .with_progress(&progress)
        .with_package_listener(&on_package);
    let written = if args.dry_run {
        Vec::new()
    } else {
        let on_wait = || shell.say("waiting for another run to end");
        let lock = DirectorySwap::begin(&dist, on_wait)?;
        let signals = Signals::listen().unwrap_or_default();
        builder.build(lock, args.replace, &signals)?
    };
    Ok(print_result(args, shell, &dist, &written))
}

fn print_result(args: &Args, shell: &Shell, dist: &Path, written: &[WrittenPackage]) -> Exit {
    let path = |package: &WrittenPackage| dist.join(&package.path).display().to_string();
    match args.format.get() {
        Format::Human => shell.print(
            &written
                .iter()
                .map(|package| format!("{}\n", path(package)))
                .collect::<String>(),
        ),
        Format::Json => {
            let files: Vec<_> = written
                .iter()
                .map(|package| json!({"path": path(package), "size_bytes": package.size_bytes}))
                .collect();
            shell.print(&format!("{:#}\n", json!({"version": 1, "files": files})))
        }
    }
}

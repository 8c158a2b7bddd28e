//! `sdk build`: the packages, all of them or none.

mod asked;

use std::path::{Path, PathBuf};

use serde_json::json;

use self::asked::{TAG, platform_tag, suffix};
use super::laid::{self, Laid};
use super::make::{Made, Maker};
use super::targets::FamiliesFrom;
use super::wanted::Wanted;
use super::{Exit, Format, Shell};
use crate::bytes::start_threads;
use crate::cli::load;
use crate::cli::threads::on_threads;
use crate::cli::wheel::{Watchers, report, source_date_s};
use crate::codes::sdk as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location};
use crate::sdk::python::BuildInfo;
use crate::sdk::{self, DevelTree, PackageKind, RuntimePackage};
use crate::sys::{
    self, DirectorySwap, FileError, ScratchSpace, Signals, StagingDirectory, StopSignal,
};
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
    let dist = args.dest_dir.join("dist");
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    if let Err(fault) = args.refuse_old(&dist, compat) {
        return shell.report(&[fault]);
    }
    let room = match ScratchSpace::near(&args.dest_dir) {
        Ok(room) => room,
        Err(error) => return report(shell, vec![error.into()]),
    };
    let only = args.own_families();
    let laid = match laid::lay_out(&args.wanted, (&args.version_suffix, &only), &room, shell) {
        Ok(laid) => laid,
        Err(exit) => return exit,
    };
    match built(args, shell, &laid, compat, room, &dist) {
        Ok(made) => told(args, shell, &dist, &made),
        Err(Failed::Stopped(signal)) => signal.into(),
        Err(Failed::Faults(faults)) => report(shell, faults),
    }
}

/// Why there are no packages.
enum Failed {
    Faults(Vec<Diagnostic>),
    Stopped(StopSignal),
}

impl From<Vec<Diagnostic>> for Failed {
    fn from(faults: Vec<Diagnostic>) -> Self {
        Self::Faults(faults)
    }
}

impl From<Diagnostic> for Failed {
    fn from(fault: Diagnostic) -> Self {
        Self::Faults(vec![fault])
    }
}

impl From<FileError> for Failed {
    fn from(error: FileError) -> Self {
        Diagnostic::from(error).into()
    }
}

fn built(
    args: &Args,
    shell: &Shell,
    laid: &Laid,
    compat: &Compat,
    room: ScratchSpace,
    dist: &Path,
) -> Result<Vec<Made>, Failed> {
    let version = args.version(laid)?;
    let gpus = args.gpus(laid, compat)?;
    let epoch = args
        .source_date_epoch
        .as_deref()
        .or(shell.environment.get("SOURCE_DATE_EPOCH"));
    // Of sources and trees, too: what wheels cannot say is nothing that installers could make
    // wheels of.
    let time_s = source_date_s(epoch)?.unwrap_or_else(|| DosTime::clamp_epoch_s(0));
    let time = DosTime::from_epoch_s(time_s);
    let platform = args.wanted.platform;
    let mut maker = Maker {
        laid,
        facts: compat.sdk_tables(),
        build: BuildInfo {
            version,
            mode: laid.made.mode,
            platform,
            nonce: args.version_suffix.clone(),
            gpus,
        },
        tag: platform_tag(shell.environment.get(TAG), platform)?,
        options: NewWheelOptions {
            level: if args.no_wheel_compression {
                0
            } else {
                args.compression_level
            },
            time,
        },
        time_s: time_s.unsigned_abs(),
        compresses_tree: args.devel_tarball_compression,
        inits_devices: args.device_init_compat,
        room,
        watchers: Watchers::of(shell),
        signals: Signals::default(),
    };
    if args.no_build_packages {
        return Ok(Vec::new());
    }
    let swap = DirectorySwap::begin(dist, || shell.say("waiting for another run to end"))?;
    // What is written from here on is taken away again, whatever ends the run.
    maker.signals = Signals::listen().unwrap_or_default();
    let staging = swap.stage()?;
    // The run that was waited for may have put some there.
    args.refuse_old(dist, compat)?;
    let made = all(&maker, &staging, shell);
    if let Some(signal) = maker.signals.pending() {
        return Err(Failed::Stopped(signal));
    }
    let mut made = made?;
    staging.commit()?;
    made.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(made)
}

/// Makes every package. Trees to build against are made beside the others: each is one file, whose
/// digest one thread makes alone.
fn all(maker: &Maker<'_>, staging: &StagingDirectory, shell: &Shell) -> Result<Vec<Made>, Failed> {
    let laid = maker.laid;
    let libraries = laid
        .layout
        .packages
        .iter()
        .filter(|package| package.kind == PackageKind::Libraries);
    let families: Vec<Option<&str>> = libraries
        .map(|package| package.made_for.as_deref())
        .collect();
    let is_apart = families.len() > 1;
    let tree = |tree: &DevelTree| {
        let below = tree.made_for.as_deref().filter(|_| is_apart);
        maker.devel(tree, below, staging)
    };
    let package = |package: &RuntimePackage| {
        shell.detail(&format!("making {}", package.distribution));
        maker.package(package, staging)
    };
    start_threads();
    let (trees, packages) = rayon::join(
        || {
            laid.devel
                .iter()
                .map(tree)
                .collect::<Result<Vec<Made>, _>>()
        },
        || {
            laid.layout
                .packages
                .iter()
                .map(package)
                .collect::<Result<Vec<Made>, _>>()
        },
    );
    let mut made = match (packages, trees) {
        (Ok(packages), Ok(trees)) => packages.into_iter().chain(trees).collect::<Vec<Made>>(),
        (packages, trees) => {
            let faults = packages.err().into_iter().chain(trees.err()).flatten();
            return Err(Failed::Faults(faults.collect()));
        }
    };
    let families = if is_apart { families } else { vec![None] };
    for family in families {
        made.push(maker.project(family, staging)?);
    }
    Ok(made)
}

impl Args {
    /// Refuses to put packages beside those of another run, and to remove anything but packages.
    fn refuse_old(&self, dist: &Path, compat: &Compat) -> Result<(), Diagnostic> {
        if self.no_build_packages || sys::read_entries(dist)?.is_empty() {
            return Ok(());
        }
        if self.overwrite {
            let is_link = !sys::is_real_directory(dist);
            let found = if is_link {
                Vec::new()
            } else {
                sys::walk(dist)?
            };
            let found = found
                .into_iter()
                .map(|one| (one.path, one.kind == sys::WalkEntryKind::Directory));
            return sdk::refuse_foreign(dist, is_link, found, compat.sdk_tables())
                .map_or(Ok(()), Err);
        }
        Err(
            Diagnostic::new(&codes::SDK_OUTPUT_EXISTS, "the folder has packages already")
                .at(Location::File(dist.display().to_string().into()), "")
                .help("give another folder, or replace it as a whole with `--overwrite`"),
        )
    }
}

fn told(args: &Args, shell: &Shell, dist: &Path, made: &[Made]) -> Exit {
    let path = |one: &Made| dist.join(&one.path).display().to_string();
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

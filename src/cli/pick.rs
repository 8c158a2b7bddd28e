//! `pick`: finds the published wheel for this machine or another one.

mod local;

use std::path::PathBuf;

use super::gfx_targets::{GfxWords, gfx_words, targets};
use super::published::{self, Prereleases, ReadOptions};
use super::yanked_in_options::YankedInOptions;
use super::{Exit, Format, OutputFormat, Shell, load};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Sink, shell_line};
use crate::names::{DistributionName, LocalLabel, PythonVersion, RocmVersion};
use crate::pick::{
    self, InstalledTorch, LibcKind, MachineLibc, MachineOverrides, RequestedWheel, TargetMachine,
    WheelOffers, WheelPick,
};
use crate::publish::{MANIFEST, ManifestSelection};
use crate::sys;

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix pick [OPTIONS] <--published <SOURCE>|--wheels <DIR>> \
        [DISTRIBUTION]",
    after_long_help = "\
The properties of this machine are detected; options replace them. If no wheel fits, the command
exits with 1 and shows the nearest wheel and how it differs. Nothing is installed, and no wheel is
downloaded.

A saved list of releases is a file that `report listing` wrote, or the output of
`gh api --paginate --slurp repos/OWNER/REPO/releases`.

Examples:
  rock-matrix pick flash-attn --published OWNER/REPO                 releases on GitHub
  rock-matrix pick flash-attn==2.8.3 --published OWNER/REPO          one version
  rock-matrix pick --wheels dist                                     wheels of a build
  rock-matrix pick --wheels dist --torch 2.9.1+rocm6.4 --gfx gfx942  those for another machine"
)]
pub(super) struct Args {
    /// Distribution, such as flash-attn or flash-attn==2.8.3; optional if only one is published
    #[arg(value_name = "DISTRIBUTION")]
    distribution: Option<RequestedWheel>,
    // The former spelling of the argument.
    #[arg(
        long = "distribution",
        value_name = "NAME",
        conflicts_with = "distribution",
        hide = true
    )]
    distribution_option: Option<DistributionName>,
    #[arg(
        long,
        value_name = "FILE|DIR|OWNER/REPO",
        required_unless_present = "wheels",
        help_heading = "Selection",
        help = published::HELP,
        long_help = published::LONG_HELP
    )]
    published: Vec<PathBuf>,
    /// Pick from the wheels of a local build in this directory
    ///
    /// Prints the command that installs the newest wheel of each distribution for the Python
    /// version and the system. It replaces an installed build of the same version, and does not
    /// install requirements. Wheels that the index in this directory yanks are left out. Torch,
    /// ROCm and GPUs do not decide, because the wheels were built for this machine, but a selected
    /// wheel for others is a warning. With `--torch`, `--rocm`, `--gfx` or `--backend`, all wheels are
    /// read and compared like published ones; then `--format json` prints the document for those.
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Selection",
        conflicts_with_all = [
            "published", "prereleases", "yanked_in", "most_manifests", "api_url", "token_file",
            "deadline",
        ]
    )]
    wheels: Option<PathBuf>,
    /// Local version label of the wheels in --wheels, or its end, such as rocmsdk20250528
    #[arg(
        long,
        value_name = "LABEL",
        conflicts_with = "published",
        help_heading = "Selection"
    )]
    label: Option<LocalLabel>,
    #[command(flatten)]
    prereleases: Prereleases,
    #[command(flatten)]
    yanked_in: YankedInOptions,
    #[command(flatten)]
    read_options: ReadOptions,
    /// Use the machine in this output of `rock-matrix doctor --format json`
    #[arg(long, value_name = "FILE", help_heading = "Machine")]
    environment: Option<PathBuf>,
    /// Detect nothing: compare only the properties given as options
    #[arg(long, conflicts_with = "environment", help_heading = "Machine")]
    only_given: bool,
    /// Python version, such as 3.12 or 3.13t
    #[arg(long, value_name = "VERSION", help_heading = "Machine")]
    python: Option<PythonVersion>,
    /// Installed torch, in the form of `torch.__version__`
    #[arg(long, value_name = "VERSION", help_heading = "Machine")]
    torch: Option<InstalledTorch>,
    /// ROCm version that torch was built with, else that of the system
    ///
    /// Not needed if the torch version contains it.
    #[arg(long, value_name = "VERSION", help_heading = "Machine")]
    rocm: Option<RocmVersion>,
    /// GPU targets, families or products, such as gfx942 or mi300x
    ///
    /// A wheel fits if it has code for one of them.
    #[arg(
        long,
        alias = "gpu",
        value_name = "LIST",
        value_parser = gfx_words,
        help_heading = "Machine"
    )]
    gfx: Option<GfxWords>,
    /// System, as in platform tags, such as `linux_x86_64`
    #[arg(
        long,
        value_name = "TAG",
        value_parser = system,
        help_heading = "Machine",
        hide_short_help = true
    )]
    platform: Option<String>,
    /// Version of glibc
    #[arg(
        long,
        value_name = "VERSION",
        value_parser = |text: &str| libc(LibcKind::Glibc, text),
        help_heading = "Machine",
        hide_short_help = true
    )]
    glibc: Option<MachineLibc>,
    /// Version of musl
    #[arg(
        long,
        value_name = "VERSION",
        conflicts_with = "glibc",
        value_parser = |text: &str| libc(LibcKind::Musl, text),
        help_heading = "Machine",
        hide_short_help = true
    )]
    musl: Option<MachineLibc>,
    /// Backend, such as ck or triton; `default` for wheels whose label has none
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    backend: Option<String>,
    #[command(flatten)]
    format: OutputFormat,
}

impl Args {
    /// Returns the requested distribution.
    fn distribution(&self) -> Option<&DistributionName> {
        let requested = self.distribution.as_ref();
        requested
            .map(|requested| &requested.distribution)
            .or(self.distribution_option.as_ref())
    }

    /// Returns the requested distribution if it has a version.
    fn requested_version(&self) -> Option<&RequestedWheel> {
        let requested = self.distribution.as_ref();
        requested.filter(|requested| requested.version.is_some())
    }

    /// Whether properties are given that the wheels of a local build are otherwise not compared by.
    fn compares_all(&self) -> bool {
        self.torch.is_some() || self.rocm.is_some() || self.gfx.is_some() || self.backend.is_some()
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let exit = pick(args, shell, &mut sink).unwrap_or_else(|exit| exit);
    match shell.report(&sink.finish()) {
        Exit::Fault if exit == Exit::Done => Exit::Fault,
        _ => exit,
    }
}

fn pick(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    if let Some(folder) = &args.wheels
        && !args.compares_all()
    {
        return local::pick(folder, args, shell, sink);
    }
    let compat = load::compat(shell)?;
    let mut published = match &args.wheels {
        Some(folder) => local::read(folder, args, compat, sink)?,
        None => published::read(
            &args.published,
            &args.read_options.connection,
            ManifestSelection::Newest(args.read_options.most_manifests),
            shell,
            sink,
        )?,
    };
    for directory in published.directories_without_manifest() {
        let directory = directory.display();
        shell.say(&format!(
            "only the names of the wheels in `{directory}` are compared, because it has no \
             {MANIFEST}; `{}` reads them",
            shell_line(["--wheels", &directory.to_string()])
        ));
    }
    args.prereleases.leave_out(published.listings_mut(), shell);
    sink.extend(published.remove_missing_files());
    let yanked = args.yanked_in.read(&published, sink)?;
    let offers = WheelOffers::of_published(&published, None, &yanked);
    sink.extend(published.name_warnings());
    if offers.is_empty() {
        sink.push(match &args.wheels {
            Some(folder) => local::no_wheels(folder),
            None => published.no_wheels(),
        });
        return Err(Exit::Fault);
    }
    let offers = offers.into_wheels();
    sink.extend(pick::label_warnings(&offers, compat));
    let wheels = pick::candidates(offers, compat, args.prereleases.mode());
    let mut machine = machine(args, compat, shell, sink)?;
    let distribution =
        pick::select_distribution(args.distribution(), &wheels).map_err(|error| {
            sink.push(error);
            Exit::Fault
        })?;
    let wheels = match args.requested_version() {
        Some(requested) => pick::select_version(requested, wheels).map_err(|error| {
            sink.push(error);
            Exit::Fault
        })?,
        None => wheels,
    };
    machine.distribution = Some(distribution.clone());
    shell.say(&format!("looking for {distribution} for {machine}"));
    let pick = WheelPick::new(wheels, machine, compat);
    sink.extend(pick.diagnostics());
    Ok(match args.format.get() {
        Format::Json => shell.print(&pick.json()),
        Format::Human => pick.text().map_or(Exit::Done, |text| shell.print(&text)),
    })
}

/// Returns this machine or that of `--environment`, with the properties given as options.
fn machine(
    args: &Args,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<TargetMachine, Exit> {
    let machine = match &args.environment {
        Some(path) => {
            let source = load::source(shell, path)?;
            TargetMachine::from_json(&source.text, compat).map_err(|error| {
                let message = format!("`{}`: {error}", source.path);
                sink.push(
                    Diagnostic::new(&codes::BAD_ENVIRONMENT, message)
                        .at(source.location(0..0), "")
                        .help("save it with `rock-matrix doctor --format json > doctor.json`"),
                );
                Exit::Fault
            })?
        }
        None if args.only_given => TargetMachine::default(),
        None => {
            let facts = sys::read_host_facts(&sys::HostRoots::default(), &shell.environment, &[]);
            let facts = if args.rocm.is_none() {
                sys::add_hip_version(facts, &shell.environment)
            } else {
                facts
            };
            TargetMachine::of(
                &crate::host::HostFacts {
                    python: sys::read_python_facts(&shell.environment),
                    ..facts
                },
                compat,
            )
        }
    };
    let targets = args
        .gfx
        .as_ref()
        .map(|words| targets(words, "--gfx", compat, shell))
        .transpose()
        .map_err(|errors| super::wheel::fail(shell, &errors))?;
    let processors = targets.map(|targets| {
        targets
            .iter()
            .map(|target| target.processor().to_owned())
            .collect()
    });
    Ok(machine.with_overrides(MachineOverrides {
        python: args.python,
        torch: args.torch.clone(),
        rocm: args.rocm.clone(),
        gfx: processors,
        backend: args.backend.clone(),
        platform: args.platform.clone(),
        libc: args.glibc.or(args.musl),
    }))
}

/// Parses the system of a machine, without the C library that platform tags of wheels include.
fn system(text: &str) -> Result<String, String> {
    if text.starts_with("manylinux") || text.starts_with("musllinux") {
        return Err(
            "this is a platform tag of wheels: give the system, such as `linux_x86_64`, and `--glibc` or `--musl`"
                .to_owned(),
        );
    }
    let is_system = ["linux_", "win_", "macosx_"]
        .iter()
        .any(|start| text.starts_with(start))
        || text == "win32";
    is_system
        .then(|| text.to_owned())
        .ok_or_else(|| "use the form of platform tags, such as `linux_x86_64`".to_owned())
}

fn libc(kind: LibcKind, text: &str) -> Result<MachineLibc, String> {
    format!("{kind} {text}")
        .parse()
        .map_err(|_| "write major and minor, such as `2.35`".to_owned())
}

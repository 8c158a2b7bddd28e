//! `pick`: finds the published wheel for this machine or another one.

mod local;

use std::path::PathBuf;

use super::published::{self, Manifests, Prereleases, Reading};
use super::targets::{GfxWords, gfx_words, targets};
use super::withdrawals::Withdrawals;
use super::{Exit, Format, OutputFormat, Shell, load};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::nearest::{nearest, with_nearest};
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::names::{DistributionName, LocalLabel, PythonVersion, RocmVersion};
use crate::pick::{
    self, FittingWheel, InstalledTorch, LibcKind, MachineLibc, MatchRules, PassedOver,
    PickDecision, TargetMachine, WheelCandidate,
};
use crate::sys;

/// The maximum number of yanked wheels that messages list.
const MAX_YANKED: usize = 3;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix pick flash-attn --published OWNER/REPO                 releases on GitHub
  rock-matrix pick --wheels dist                                     wheels of a build",
    after_long_help = "\
The properties of this machine are detected; options replace them. If no wheel fits, the command
exits with 1 and shows the nearest wheel and how it differs. Nothing is installed, and no wheel is
downloaded.

A saved list of releases is a file that `report listing` wrote, or the output of
`gh api --paginate --slurp repos/OWNER/REPO/releases`.

Examples:
  rock-matrix pick flash-attn --published OWNER/REPO                 releases on GitHub
  rock-matrix pick --wheels dist                                     wheels of a build"
)]
pub(super) struct Args {
    /// Distribution, such as flash-attn; optional if only one is published
    #[arg(value_name = "DISTRIBUTION")]
    distribution: Option<DistributionName>,
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
    /// version and the system. Torch, ROCm and GPUs are not compared, because the wheels were built
    /// for this machine.
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Selection",
        conflicts_with_all = [
            "published", "torch", "rocm", "gfx", "backend", "prereleases", "withdrawn_in",
            "most_manifests", "api_url", "token_file", "deadline",
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
    withdrawals: Withdrawals,
    #[command(flatten)]
    reading: Reading,
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
        self.distribution
            .as_ref()
            .or(self.distribution_option.as_ref())
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
    if let Some(folder) = &args.wheels {
        return local::pick(folder, args, shell, sink);
    }
    let compat = load::compat(shell)?;
    let manifests = Manifests::Newest(args.reading.most_manifests);
    let mut published = published::read(
        &args.published,
        &args.reading.connection,
        manifests,
        shell,
        sink,
    )?;
    args.prereleases.leave_out(published.listings_mut(), shell);
    let reasons = args.withdrawals.read(&published, sink)?;
    let offers = published.offers(None, sink)?;
    let offers = offers.into_wheels();
    published::tell_unread(&offers, compat, sink);
    let wheels = pick::candidates(offers, compat, args.prereleases.mode());
    let mut machine = machine(args, compat, shell, sink)?;
    machine.distribution = Some(project(args, &wheels, sink)?);
    shell.say(&format!(
        "looking for {} for {machine}",
        machine.distribution.as_deref().unwrap_or_default()
    ));
    if let Some(torch) = &machine.foreign_torch {
        let message = format!("the installed torch, {torch}, is not a ROCm build");
        sink.push(
            Diagnostic::new(&codes::TORCH_NOT_FOR_ROCM, message)
                .help("use a command that also installs torch for ROCm"),
        );
    }
    let rules = MatchRules::of(compat);
    let (wheels, withdrawn) = pick::split(wheels, &reasons);
    let decision = pick::decide(&wheels, &machine, &rules);
    let passed_over =
        pick::passed_over((&wheels, &decision), &withdrawn, &reasons, &machine, &rules);
    let fit = decision.fits.first().map(|fit| &wheels[fit.index]);
    if let Some(torch) = fit
        .and_then(|wheel| wheel.torch.as_ref())
        .filter(|_| machine.has_no_torch && machine.torch.is_none())
    {
        let is_installed = fit.is_some_and(|wheel| wheel.official_torch.is_some());
        let help = if is_installed {
            "the command also installs it"
        } else {
            "install torch for ROCm first, then this wheel"
        };
        let message = format!("the wheel needs torch {torch}, and torch is not installed");
        sink.push(Diagnostic::new(&codes::NO_TORCH, message).help(help));
    }
    let printed = match args.format.get() {
        Format::Json => shell.print(&pick::json(&wheels, &machine, &decision, &passed_over)),
        Format::Human => {
            let text = |fit: &FittingWheel| {
                human_text(&wheels[fit.index], &machine, &decision, &passed_over)
            };
            decision
                .fits
                .first()
                .map_or(Exit::Done, |fit| shell.print(&text(fit)))
        }
    };
    if decision.fits.is_empty() {
        sink.push(none_fits(&wheels, &machine, &decision, &passed_over));
    }
    Ok(printed)
}

/// Returns this machine or that of `--environment`, with the properties given as options.
fn machine(
    args: &Args,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<TargetMachine, Exit> {
    let mut machine = match &args.environment {
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
    machine.python = args.python.or(machine.python);
    if let Some(InstalledTorch {
        series,
        rocm,
        foreign,
    }) = args.torch.clone()
    {
        machine.torch = Some(series);
        machine.rocm = rocm.or(machine.rocm);
        machine.foreign_torch = foreign;
    }
    machine.rocm = args.rocm.clone().or(machine.rocm);
    machine.platform = args.platform.clone().or(machine.platform);
    machine.libc = args.glibc.or(args.musl).or(machine.libc);
    machine.backend.clone_from(&args.backend);
    if let Some(words) = &args.gfx {
        let named = targets(words, "--gfx", load::compat(shell)?, shell)
            .map_err(|errors| super::wheel::fail(shell, &errors))?;
        machine.gfx = named
            .iter()
            .map(|target| target.processor().to_owned())
            .collect();
    }
    Ok(machine)
}

/// Returns the requested distribution, or the only one that is published.
fn project(args: &Args, wheels: &[WheelCandidate], sink: &mut Sink) -> Result<String, Exit> {
    let mut projects: Vec<&str> = wheels
        .iter()
        .map(|wheel| wheel.distribution.as_str())
        .collect();
    projects.dedup();
    let list = || {
        projects
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let Some(asked) = args.distribution().map(DistributionName::normalized) else {
        if let [only] = projects.as_slice() {
            return Ok((*only).to_owned());
        }
        sink.push(
            Diagnostic::new(
                &codes::SEVERAL_PROJECTS,
                format!("wheels of {} projects are published", projects.len()),
            )
            .note(format!("they are {}", list()))
            .help(format!(
                "name one, such as `{}`",
                projects.first().copied().unwrap_or_default()
            )),
        );
        return Err(Exit::Fault);
    };
    if projects.contains(&asked.as_str()) {
        return Ok(asked);
    }
    let message = with_nearest(
        format!("no wheel of `{asked}` is published"),
        nearest(&asked, projects.iter().copied()),
    );
    sink.push(
        Diagnostic::new(&codes::NO_SUCH_PROJECT, message)
            .at(Location::Argument(asked.clone()), "")
            .help(format!("the published projects are {}", list())),
    );
    Err(Exit::Fault)
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

/// Returns the output for people: the wheel with its install commands and notes.
fn human_text(
    wheel: &WheelCandidate,
    machine: &TargetMachine,
    decision: &PickDecision,
    passed_over: &[PassedOver],
) -> String {
    let offer = &wheel.offer;
    let mut text = format!("{}\n", offer.file);
    if let Some(lines) = wheel.install_lines(&machine.gfx) {
        text.push_str(&format!(
            "{}\n\n{}",
            offer.url,
            pick::for_machine(lines, wheel, machine)
        ));
    } else {
        text.push_str("\n  its URL is unknown\n");
    }
    text.push_str(&pick::run_time_text(&wheel.run_time));
    for note in decision.fits.iter().take(1).flat_map(|fit| &fit.notes) {
        text.push_str(&format!("note: {}: {}\n", note.axis, note.text));
    }
    let missed: Vec<&PassedOver> = passed_over.iter().filter(|wheel| wheel.is_missed).collect();
    for wheel in missed.iter().take(MAX_YANKED) {
        text.push_str(&format!("note: {wheel}\n"));
    }
    if let Some(more) = missed
        .len()
        .checked_sub(MAX_YANKED)
        .filter(|more| *more > 0)
    {
        text.push_str(&format!("note: {more} more yanked\n"));
    }
    let others = match decision.fits.len() {
        0 | 1 => return text,
        2 => "1 other wheel fits".to_owned(),
        count => format!("{} other wheels fit", count - 1),
    };
    let unknown: Vec<&str> = [
        (machine.rocm.is_none(), "`--rocm`"),
        (machine.torch.is_none(), "`--torch`"),
        (machine.python.is_none(), "`--python`"),
        (machine.gfx.is_empty(), "`--gfx`"),
    ]
    .into_iter()
    .filter_map(|(is_unknown, flag)| is_unknown.then_some(flag))
    .collect();
    let fewer = if unknown.is_empty() {
        String::new()
    } else {
        format!("narrow the selection with {}, or ", unknown.join(", "))
    };
    text.push_str(&format!(
        "{others} too: {fewer}list all with `--format json`\n"
    ));
    text
}

fn none_fits(
    wheels: &[WheelCandidate],
    machine: &TargetMachine,
    decision: &PickDecision,
    passed_over: &[PassedOver],
) -> Diagnostic {
    let project = machine.distribution.as_deref().unwrap_or_default();
    let mut diagnostic = Diagnostic::new(
        &codes::NO_WHEEL_FITS,
        format!("no wheel of {project} fits {machine}"),
    );
    for wheel in passed_over.iter().take(MAX_YANKED) {
        diagnostic = diagnostic.note(wheel.to_string());
    }
    for (at, near) in decision.near.iter().enumerate() {
        let nearest = if at == 0 { "the nearest is" } else { "next is" };
        diagnostic = diagnostic.note(format!("{nearest} {}", wheels[near.index].offer.file));
        for difference in &near.differences {
            diagnostic = diagnostic.note(format!("  {difference}"));
        }
    }
    let mut backends: Vec<&str> = wheels
        .iter()
        .filter(|wheel| wheel.distribution == project)
        .map(|wheel| wheel.backend.as_deref().unwrap_or("default"))
        .collect();
    backends.sort_unstable();
    backends.dedup();
    if let Some(asked) = machine
        .backend
        .as_deref()
        .filter(|asked| !backends.contains(asked))
    {
        let list = backends
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ");
        return diagnostic.help(with_nearest(
            format!("no wheel has this backend; the published ones are {list}"),
            nearest(asked, backends.iter().copied()),
        ));
    }
    let missing = decision
        .near
        .first()
        .map_or(&[][..], |near| &near.differences);
    if missing.is_empty() {
        return diagnostic.help("build the wheel with `rock-matrix build`");
    }
    let changes: Vec<String> = missing
        .iter()
        .map(|d| format!("{} {}", d.axis, d.wheel))
        .collect();
    diagnostic.help(format!(
        "use {}, or build the wheel with `rock-matrix build`",
        changes.join(" and ")
    ))
}

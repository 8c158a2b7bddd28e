//! `pick`: which published wheel this machine, or another, needs.

mod local;

use std::path::PathBuf;

use super::published::{self, Manifests, Prereleases, Reading};
use super::targets::{GfxWords, gfx_words, targets};
use super::withdrawals::Withdrawals;
use super::{Exit, Format, Shell, load};
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

/// How many withdrawn wheels are named.
const MOST_WITHDRAWN: usize = 3;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Looks at this machine unless told of another; what is given takes the place of what was seen. Exits
with 1 when no wheel fits, and tells the nearest and what differs. Nothing is installed, and no
wheel is fetched.

Examples:
  rock-matrix pick --published OWNER/REPO  for this machine, from releases on GitHub
  rock-matrix pick --published release/    for this machine, from a release in a folder
  rock-matrix pick --published releases.json --distribution flash-attn
  rock-matrix pick --wheels dist           what a build left in a folder, for this Python and system
  rock-matrix pick --wheels dist --python 3.12 --label rocmsdk20250528
  rock-matrix pick --published releases.json --environment doctor.json
  rock-matrix pick --published releases.json --only-given --python 3.12 --torch 2.9 --rocm 6.4 \\
      --gfx gfx942 --format json

A saved list of releases is what `gh api --paginate --slurp repos/OWNER/REPO/releases` prints.")]
pub(super) struct Args {
    #[arg(long, value_name = "FILE|DIR|OWNER/REPO", required_unless_present = "wheels", help = published::HELP)]
    published: Vec<PathBuf>,
    /// Nothing is published: print the lines that install the newest wheel of each distribution in
    /// this folder for the Python and the system; what else the machine has is not asked of wheels
    /// that were built for it
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = [
            "published", "torch", "rocm", "gfx", "backend", "prereleases", "withdrawn_in", "most_manifests", "api_url",
            "token_file", "deadline",
        ]
    )]
    wheels: Option<PathBuf>,
    /// The label that the wheels of the folder must have, or its end, such as `rocmsdk20250528`
    #[arg(long, value_name = "LABEL", conflicts_with = "published")]
    label: Option<LocalLabel>,
    #[command(flatten)]
    prereleases: Prereleases,
    #[command(flatten)]
    withdrawals: Withdrawals,
    #[command(flatten)]
    reading: Reading,
    /// The machine is the one on which `rock-matrix doctor --format json` printed this
    #[arg(long, value_name = "FILE")]
    environment: Option<PathBuf>,
    /// Do not look at this machine: what is not given is not asked of a wheel
    #[arg(long, conflicts_with = "environment")]
    only_given: bool,
    /// The project, such as flash-attn; not needed where only one is published
    #[arg(long, value_name = "NAME")]
    distribution: Option<DistributionName>,
    /// The Python, such as 3.12 or 3.13t
    #[arg(long, value_name = "VERSION", help_heading = "Machine")]
    python: Option<PythonVersion>,
    /// The torch that is installed, as `torch.__version__` says it
    #[arg(long, value_name = "VERSION", help_heading = "Machine")]
    torch: Option<InstalledTorch>,
    /// The ROCm that torch was built with, else that of the system; not needed where torch's
    /// version names it
    #[arg(long, value_name = "VERSION", help_heading = "Machine")]
    rocm: Option<RocmVersion>,
    /// The GPUs, by targets, families or products such as mi300x; one that a wheel has code for is
    /// enough
    #[arg(long, value_name = "TARGETS", value_parser = gfx_words, help_heading = "Machine")]
    gfx: Option<GfxWords>,
    /// What wheels call the system, such as `linux_x86_64`
    #[arg(long, value_name = "TAG", value_parser = system, help_heading = "Machine")]
    platform: Option<String>,
    /// The version of glibc
    #[arg(long, value_name = "VERSION", value_parser = |text: &str| libc(LibcKind::Glibc, text), help_heading = "Machine")]
    glibc: Option<MachineLibc>,
    /// The version of musl
    #[arg(long, value_name = "VERSION", conflicts_with = "glibc", value_parser = |text: &str| libc(LibcKind::Musl, text), help_heading = "Machine")]
    musl: Option<MachineLibc>,
    /// The backend; `default` is the one that labels do not name
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
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
        let message = format!("the torch that is installed, {torch}, is no build for ROCm");
        sink.push(
            Diagnostic::new(&codes::TORCH_NOT_FOR_ROCM, message)
                .help("take a line that installs torch for ROCm, too"),
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
            "the line installs it, too"
        } else {
            "install torch for ROCm first, then this wheel"
        };
        let message = format!("the wheel is for torch {torch}, and there is none");
        sink.push(Diagnostic::new(&codes::NO_TORCH, message).help(help));
    }
    let printed = match args.format {
        Format::Json => shell.print(&pick::json(&wheels, &machine, &decision, &passed_over)),
        Format::Human => {
            let words =
                |fit: &FittingWheel| told(&wheels[fit.index], &machine, &decision, &passed_over);
            decision
                .fits
                .first()
                .map_or(Exit::Done, |fit| shell.print(&words(fit)))
        }
    };
    if decision.fits.is_empty() {
        sink.push(none_fits(&wheels, &machine, &decision, &passed_over));
    }
    Ok(printed)
}

/// This machine or the one told of, with what was given on the command line.
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

/// The project that was asked for, or the only one.
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
    let Some(asked) = args.distribution.as_ref().map(DistributionName::normalized) else {
        if let [only] = projects.as_slice() {
            return Ok((*only).to_owned());
        }
        sink.push(
            Diagnostic::new(
                &codes::SEVERAL_PROJECTS,
                format!("wheels of {} projects are published", projects.len()),
            )
            .note(format!("they are {}", list()))
            .help("name one with `--distribution`"),
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
            .at(Location::Argument("--distribution".to_owned()), "")
            .help(format!("published are {}", list())),
    );
    Err(Exit::Fault)
}

/// The system of a machine: what wheels ask of it besides is another question.
fn system(text: &str) -> Result<String, String> {
    if text.starts_with("manylinux") || text.starts_with("musllinux") {
        return Err(
            "that is what a wheel asks for: give the system, such as `linux_x86_64`, and `--glibc` or `--musl`"
                .to_owned(),
        );
    }
    let is_system = ["linux_", "win_", "macosx_"]
        .iter()
        .any(|start| text.starts_with(start))
        || text == "win32";
    is_system
        .then(|| text.to_owned())
        .ok_or_else(|| "write it as wheels do, such as `linux_x86_64`".to_owned())
}

fn libc(kind: LibcKind, text: &str) -> Result<MachineLibc, String> {
    format!("{kind} {text}")
        .parse()
        .map_err(|_| "write major and minor, such as `2.35`".to_owned())
}

fn told(
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
        text.push_str("\n  nothing says where it can be fetched from\n");
    }
    text.push_str(&pick::run_time_text(&wheel.run_time));
    for note in decision.fits.iter().take(1).flat_map(|fit| &fit.notes) {
        text.push_str(&format!("note: {}: {}\n", note.axis, note.text));
    }
    let missed: Vec<&PassedOver> = passed_over.iter().filter(|wheel| wheel.is_missed).collect();
    for wheel in missed.iter().take(MOST_WITHDRAWN) {
        text.push_str(&format!("note: {wheel}\n"));
    }
    if let Some(more) = missed
        .len()
        .checked_sub(MOST_WITHDRAWN)
        .filter(|more| *more > 0)
    {
        text.push_str(&format!("note: and so are {more} more\n"));
    }
    let others = match decision.fits.len() {
        0 | 1 => return text,
        2 => "1 other wheel fits".to_owned(),
        count => format!("{} other wheels fit", count - 1),
    };
    let not_told: Vec<&str> = [
        (machine.rocm.is_none(), "`--rocm`"),
        (machine.torch.is_none(), "`--torch`"),
        (machine.python.is_none(), "`--python`"),
        (machine.gfx.is_empty(), "`--gfx`"),
    ]
    .into_iter()
    .filter_map(|(is_unknown, flag)| is_unknown.then_some(flag))
    .collect();
    let fewer = if not_told.is_empty() {
        String::new()
    } else {
        format!("say more with {}, or ", not_told.join(", "))
    };
    text.push_str(&format!(
        "{others} too: {fewer}see all with `--format json`\n"
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
    for wheel in passed_over.iter().take(MOST_WITHDRAWN) {
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
            format!("no wheel has this backend; published are {list}"),
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

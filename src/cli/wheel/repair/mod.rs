//! `wheel repair`: make wheels fit a platform, with the libraries that it need not have.

mod document;
pub(in crate::cli::wheel) mod edited;
mod make;
mod planning;
mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::judging::Judge;
pub(in crate::cli) use super::options::BuildLibraries;
use super::options::Options;
use super::output::source_date;
use super::{Printing, WheelFile, report};
use crate::audit::{Excludes, Look, Plan, Report};
use crate::bytes::{ReadAt as _, Target};
use crate::cli::threads::on_threads;
use crate::cli::{Exit, Format, Shell};
use crate::codes::{elf as elf_codes, rocm as rocm_codes, wheel as codes};
use crate::config::REPAIR_PRESETS;
use crate::diagnostic::{Code, Diagnostic, Location, Severity};
use crate::names::{LocalLabel, WheelName};
use crate::sys::{self, OnExisting, PositionalFile, WriteOutcome};
use crate::wheel::{self, DosTime, LabelCheck};

/// Make wheels fit a platform: bring the libraries along that it need not have, and name it for
/// what it is
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The libraries of ROCm, torch and CUDA stay outside, as in a build: a process must hold one copy of
them. `--exclude-preset` names other sets, or none.

The wheel itself stays as it is; the repaired one is written under its new name, and its path
printed. Libraries that come along are told one by one. Members that do not change are copied as
they are. A wheel that needs nothing is copied, or left where it would be copied onto itself.
SOURCE_DATE_EPOCH sets the time of all members.

Examples:
  rock-matrix wheel repair dist/*.whl
  rock-matrix wheel repair built.whl --plat manylinux_2_28_x86_64 -w wheelhouse
  rock-matrix wheel repair built.whl --dry-run              what would be done
  rock-matrix wheel repair built.whl --exclude-preset none  libraries of ROCm and torch, too
  rock-matrix wheel repair built.whl --exclude 'libfoo.so*' --no-graft
  rock-matrix wheel repair built.whl --sysroot /mnt/image
                                                                     libraries of a container's root
  rock-matrix wheel repair built.whl --dedup-sonames --keep-copy 'libplugin*'  links packed as files")]
pub(super) struct Args {
    /// The wheels
    #[arg(required = true, value_name = "WHEEL")]
    wheels: Vec<PathBuf>,
    /// The platform to reach: a tag, or auto for the best
    #[arg(
        long,
        value_name = "TAG",
        env = "AUDITWHEEL_PLAT",
        default_value = "auto"
    )]
    plat: String,
    /// Write into this folder
    #[arg(short, long, value_name = "DIR", default_value = "wheelhouse")]
    wheel_dir: PathBuf,
    /// What the folder of libraries is called after the distribution
    #[arg(short = 'L', long, value_name = "ENDING", default_value = ".libs", value_parser = folder_ending)]
    lib_sdir: String,
    /// Leave the platform tags as they are
    #[arg(long)]
    no_update_tags: bool,
    /// Name the platform of --plat alone, even where the wheel fits a better one
    #[arg(long)]
    only_plat: bool,
    /// Keep claims of the name that the symbols contradict
    #[arg(long)]
    keep_claimed_tags: bool,
    /// Drop symbols and debug sections of the libraries
    #[arg(long)]
    strip: bool,
    /// Drop search paths from the root, relative and empty ones, of all libraries
    #[arg(long)]
    fix_rpath: bool,
    /// Leave out copies of a library whose file names stand in no file of the wheel, as links
    /// become when they are packed
    #[arg(long)]
    dedup_sonames: bool,
    /// Keep copies of this name or path: it is loaded by a name that is put together at run time; a
    /// shell pattern
    #[arg(long, value_name = "GLOB", requires = "dedup_sonames")]
    keep_copy: Vec<String>,
    /// Fail where a library would have to come along
    #[arg(long)]
    no_graft: bool,
    /// Set this local version label, too
    #[arg(long, value_name = "LABEL")]
    relabel: Option<LocalLabel>,
    /// How hard what changes is compressed, 0 to 9
    #[arg(
        short = 'z',
        long,
        value_name = "LEVEL",
        env = "AUDITWHEEL_ZIP_COMPRESSION_LEVEL",
        default_value_t = 6,
        value_parser = clap::value_parser!(u32).range(0..=9)
    )]
    zip_compression_level: u32,
    /// Compress all members anew
    #[arg(long)]
    recompress: bool,
    /// Take RECORD's word for members that do not change
    #[arg(long)]
    trust_record: bool,
    /// Tell what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace a file of the new name that has other content
    #[arg(long)]
    force: bool,
    /// How many threads work at once [default: one a processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    printing: Printing,
    /// Taken for auditwheel's sake: a wheel without libraries is no failure here
    #[arg(long, hide = true)]
    allow_pure_python_wheel: bool,
    /// The time of all members, instead of the one of the environment.
    #[arg(skip)]
    time: Option<DosTime>,
}

/// Options of the repair of a built wheel.
#[derive(Debug)]
pub(in crate::cli) struct BuildRepair<'b> {
    /// The platform; `None` for the oldest that the wheel's symbols allow.
    pub(in crate::cli) platform: Option<&'b str>,
    /// Names and shell patterns of excluded libraries.
    pub(in crate::cli) outside: &'b [String],
    /// Source of the libraries to graft.
    pub(in crate::cli) libraries: BuildLibraries,
    /// The folder of the repaired wheel.
    pub(in crate::cli) folder: &'b Path,
    /// The time of all members.
    pub(in crate::cli) time: DosTime,
}

/// A repaired wheel of a build.
#[derive(Debug)]
pub(in crate::cli) struct RepairedWheel {
    /// Where it is.
    pub(in crate::cli) path: PathBuf,
    /// Its name.
    pub(in crate::cli) name: WheelName,
    /// Grafted libraries, a line each.
    pub(in crate::cli) came_along: Vec<String>,
    /// Findings about it.
    pub(in crate::cli) findings: Vec<Diagnostic>,
}

/// Repairs a wheel of a build into another folder.
///
/// # Errors
/// The faults that keep the wheel from being repaired, or the machine's.
pub(in crate::cli) fn repair_built(
    path: &Path,
    how: &BuildRepair<'_>,
    shell: &Shell,
) -> Result<RepairedWheel, Vec<Diagnostic>> {
    let options = Options::of_build(&how.libraries, how.outside);
    let args = Args {
        wheels: vec![path.to_owned()],
        plat: how.platform.unwrap_or(AUTO).to_owned(),
        wheel_dir: how.folder.to_owned(),
        lib_sdir: ".libs".to_owned(),
        no_update_tags: false,
        only_plat: false,
        keep_claimed_tags: false,
        strip: false,
        // Folders of the machine that builds are no use on any other.
        fix_rpath: true,
        dedup_sonames: false,
        keep_copy: Vec::new(),
        no_graft: false,
        relabel: None,
        zip_compression_level: 6,
        recompress: false,
        trust_record: false,
        dry_run: false,
        force: true,
        jobs: None,
        options,
        printing: Printing::default(),
        allow_pure_python_wheel: true,
        time: Some(how.time),
    };
    let mut judge = args
        .options
        .judge(Look::HeldLayouts, shell)
        .map_err(|_| Vec::new())?;
    judge.vouches = true;
    judge.wanted = args.wanted().map(str::to_owned);
    let file = super::open(path).map_err(|fault| vec![fault])?;
    let kept = Excludes::default();
    let done = repair(&Job {
        file: &file,
        path,
        args: &args,
        judge: &judge,
        kept: &kept,
        shell,
    })?;
    let came_along = text::came_along(&done.plan);
    Ok(RepairedWheel {
        path: done.out,
        name: done.name,
        came_along,
        findings: done.findings,
    })
}

/// The word of `--plat` for the best platform.
const AUTO: &str = "auto";

/// What repairing cannot mend: what the files are is not known.
const UNREPAIRABLE: [&Code; 5] = [
    &elf_codes::DAMAGED_ELF,
    &elf_codes::ELF_IN_PURELIB,
    &elf_codes::OTHER_ARCHITECTURE,
    &elf_codes::OTHER_LIBC,
    &elf_codes::TOO_MANY_LIBRARIES,
];

/// One wheel, and what it is repaired with.
struct Job<'j> {
    file: &'j WheelFile,
    path: &'j Path,
    args: &'j Args,
    judge: &'j Judge,
    /// Copies of libraries that stay.
    kept: &'j Excludes,
    shell: &'j Shell,
}

/// What became of one wheel.
struct Done {
    name: WheelName,
    out: PathBuf,
    /// None for what was not to be written.
    saved: Option<WriteOutcome>,
    plan: Plan,
    /// Whether there are no libraries in it.
    is_pure: bool,
    /// Files of which something was dropped that no loader needs.
    stripped: BTreeSet<String>,
    excluded: BTreeSet<String>,
    findings: Vec<Diagnostic>,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let judge = match args
        .options
        .with_presets(&REPAIR_PRESETS)
        .judge(Look::HeldLayouts, shell)
    {
        Ok(mut judge) => {
            judge.vouches = !args.trust_record;
            judge.wanted = args.wanted().map(str::to_owned);
            judge
        }
        Err(exit) => return exit,
    };
    let kept = match Excludes::new(args.keep_copy.iter().map(String::as_str)) {
        Ok(kept) => kept,
        Err(reason) => {
            shell.report(&[Diagnostic::new(&codes::BAD_PATTERN, reason)]);
            return Exit::Usage;
        }
    };
    on_threads(args.jobs, || repair_all(args, &judge, &kept, shell))
}

fn repair_all(args: &Args, judge: &Judge, kept: &Excludes, shell: &Shell) -> Exit {
    let mut all = Vec::new();
    for path in &args.wheels {
        let opened = super::open(path).map_err(|fault| vec![fault]);
        let done = opened.and_then(|file| {
            repair(&Job {
                file: &file,
                path,
                args,
                judge,
                kept,
                shell,
            })
        });
        let text = match (args.printing.format(), &done) {
            (Format::Human, Ok(done)) => text::text(done, args.dry_run),
            (Format::Human, Err(_)) => String::new(),
            (Format::Json, Ok(done)) => format!("{}\n", document::document(done, path)),
            (Format::Json, Err(faults)) => format!("{}\n", document::of_faults(faults, path)),
        };
        if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
            return exit;
        }
        match done {
            Ok(done) => {
                if !args.dry_run {
                    for line in text::came_along(&done.plan) {
                        shell.say(&line);
                    }
                }
                all.extend(done.findings);
            }
            Err(faults) => all.extend(faults),
        }
    }
    all.extend(judge.unmatched(args.wheels.len()));
    report(shell, &all)
}

fn repair(job: &Job<'_>) -> Result<Done, Vec<Diagnostic>> {
    let Job {
        file, path, args, ..
    } = *job;
    job.judge.with_report(&file.file, &file.shown, &file.name, |wheel, report| {
        let refused =
            report.findings.iter().filter(|finding| finding.is_error() && UNREPAIRABLE.contains(&finding.code));
        let mut refused: Vec<Diagnostic> = refused.cloned().collect();
        let label = if args.relabel.is_some() { LabelCheck::Ignore } else { LabelCheck::MustMatch };
        refused.extend(wheel::filter_persistent_errors(&report.findings, label));
        if !refused.is_empty() {
            return Err(refused);
        }
        let mut plan = match &report.verdict {
            Some(verdict) => planning::planned(job, wheel, report, verdict)?,
            None => planning::without_libraries(job, report)?,
        };
        let time = match args.time {
            Some(time) => Some(time),
            None => source_date(job.shell.environment.get("SOURCE_DATE_EPOCH")).map_err(|fault| vec![fault])?,
        };
        let renamed = planning::renamed(job, wheel, report, &plan)?;
        let out = args.wheel_dir.join(renamed.name.to_string());
        let is_in_place = path == out || sys::is_same_file(path, &out);
        let trees = || report.verdict.iter().flat_map(|verdict| verdict.trees.values());
        // A build that changes nothing keeps its bytes: whoever made it was given the time.
        let is_asked = args.recompress || args.strip || (time.is_some() && args.time.is_none());
        // Packages of devices come with files listed twice; a new RECORD lists them once.
        let record = wheel.record();
        let is_record_sound = !record.has_repeated_rows() && (args.trust_record || !record.has_weak_hashes());
        let is_sound = is_record_sound && !wheel.archive().needs_rewriting();
        let needs_nothing = plan.keeps_files() && renamed.edits.is_empty() && !is_asked && is_sound;
        let make_scratch = |size_bytes| job.judge.room.allocate(size_bytes);
        let making = make::Making { job, wheel, report, is_in_place, make_scratch: &make_scratch, time };
        making.settle(&mut plan)?;
        let mut done = Done {
            name: renamed.name,
            out,
            saved: None,
            is_pure: report.verdict.is_none(),
            stripped: BTreeSet::new(),
            findings: [plan.findings.clone(), open_libc(report), damaged(report), renamed.findings].concat(),
            excluded: trees().flat_map(|tree| tree.excluded.clone()).collect(),
            plan: Plan::of_tags(plan.platform.tags.clone()),
        };
        if let Some(system) = report.foreign_system {
            let shown = path.display();
            job.shell
                .say(&format!("{shown} is for {system}, which is not judged: its tags and needs stay as they are"));
        } else if let Some(kept) = kept_tags(report, &plan) {
            job.shell.say(&format!("{} keeps tags that are not judged: {kept}", path.display()));
        } else if done.is_pure {
            job.shell.say(&format!("{} holds no libraries for Linux: nothing comes along", path.display()));
        }
        if needs_nothing && is_in_place {
            job.shell.say(&format!("{} needs nothing: it is left as it is", path.display()));
            done.saved = Some(WriteOutcome::Unchanged).filter(|_| !args.dry_run);
        } else if needs_nothing && done.is_pure {
            copy(job, &mut done)?;
        } else {
            making.write(&plan, renamed.edits, &mut done)?;
        }
        done.plan = plan;
        Ok(done)
    })?
}

/// Returns the platform tags that stay because their systems are not judged.
fn kept_tags(report: &Report<'_>, plan: &Plan) -> Option<String> {
    let tags = report.unjudged_tags().into_iter();
    let kept: Vec<&str> = tags
        .filter(|tag| plan.platform.tags.contains(tag))
        .collect();
    (!kept.is_empty()).then(|| kept.join(", "))
}

/// Returns the finding that says why the platform tag stays, where nothing tells the C library.
fn open_libc(report: &Report<'_>) -> Vec<Diagnostic> {
    let is_open = report
        .verdict
        .as_ref()
        .is_some_and(|verdict| verdict.judging.is_libc_open);
    let told = report
        .findings
        .iter()
        .filter(|finding| is_open && finding.code == &elf_codes::OPEN_LIBC);
    told.cloned().collect()
}

/// Layouts that loaders refuse: repairing leaves them as they are, and a wheel of them does not
/// load, whatever its name.
fn damaged(report: &Report<'_>) -> Vec<Diagnostic> {
    let damaged = report
        .findings
        .iter()
        .filter(|one| one.code == &rocm_codes::DAMAGED_LAYOUT);
    let told = |one: &Diagnostic| match one.severity {
        Severity::Error => one
            .clone()
            .severity(Severity::Warning)
            .note("it was so before, and it stays as it was"),
        _ => one.clone(),
    };
    damaged.map(told).collect()
}

/// Copies a wheel to its place, byte for byte.
fn copy(job: &Job<'_>, done: &mut Done) -> Result<(), Vec<Diagnostic>> {
    let Job { file, args, .. } = *job;
    let write = |target: &mut dyn Target| {
        let size = file.file.size_bytes();
        Ok(target
            .copy_from(&file.file, 0, size)
            .map_err(|error| sys::FileError::new("write", &done.out, error))?)
    };
    done.saved = save(args, &done.out, false, write, |_| Ok(()))?;
    Ok(())
}

/// Writes a wheel, which has no name before it was checked. A dry run does all but the writing, and
/// gives nothing.
fn save(
    args: &Args,
    out: &Path,
    is_in_place: bool,
    write: impl FnOnce(&mut dyn Target) -> Result<(), Faults>,
    check: impl FnOnce(&PositionalFile) -> Result<(), Faults>,
) -> Result<Option<WriteOutcome>, Vec<Diagnostic>> {
    let existing = if args.force && !is_in_place {
        OnExisting::Replace
    } else {
        OnExisting::Keep
    };
    let saved = if args.dry_run {
        sys::preview_save(out, existing, write)
    } else {
        sys::save_checked(out, existing, write, check)
    };
    match saved.map_err(|Faults(faults)| faults)? {
        WriteOutcome::Kept => Err(vec![refused(out, is_in_place)]),
        saved => Ok(Some(saved).filter(|_| !args.dry_run)),
    }
}

/// That another file has the name of the result.
fn refused(out: &Path, is_in_place: bool) -> Diagnostic {
    if is_in_place {
        let message = format!(
            "the result would replace the wheel it is made from, `{}`",
            out.display()
        );
        return Diagnostic::new(&codes::OUTPUT_IS_INPUT, message)
            .help("give another folder with `-w DIR`");
    }
    let message = format!("`{}` is there and has other content", out.display());
    let place = Location::File(out.display().to_string().into());
    let fault = Diagnostic::new(&codes::OUTPUT_EXISTS, message).at(place, "");
    fault.help("replace it with `--force`, or write elsewhere with `-w DIR`")
}

impl Args {
    /// The platform that is asked for.
    fn wanted(&self) -> Option<&str> {
        Some(self.plat.as_str()).filter(|plat| *plat != AUTO)
    }
}

/// What may be added to the name of a distribution for a folder: folders below it may be named, and
/// none above.
fn folder_ending(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix('/').unwrap_or(text);
    let is_odd = |part: &str| part.is_empty() || part == "." || part.starts_with("..");
    if rest.split('/').any(is_odd) || text.contains('\\') || text.chars().any(char::is_control) {
        return Err(
            "it is put behind the name of the wheel, so it is like `.libs` or `/lib`, without `..`"
                .to_owned(),
        );
    }
    Ok(text.to_owned())
}

/// Why a wheel was not written.
struct Faults(Vec<Diagnostic>);

impl From<sys::FileError> for Faults {
    fn from(error: sys::FileError) -> Self {
        Self(vec![error.into()])
    }
}

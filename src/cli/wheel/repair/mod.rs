//! `wheel repair`: make wheels fit a platform, with the libraries that it need not have.

mod document;
mod edited;
mod make;
mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::bar::{Bar, Watchers};
use super::judging::{Judge, Options};
use super::output::source_date;
use super::{Printing, WheelFile, report};
use crate::audit::{self, Excludes, Look, Needless, Plan, Repair, Report, Verdict, Wanted};
use crate::bytes::ReadAt;
use crate::cli::{Exit, Format, Shell};
use crate::diagnostic::registry::{elf as elf_codes, wheel as codes};
use crate::diagnostic::{Code, Diagnostic, Place, counted};
use crate::names::{LocalLabel, WheelName};
use crate::sys::{self, Existing, PositionalFile, Saved};
use crate::wheel::{self, Change, ExistingLabel, Retag, TagChange, Wheel, relabel, retag};

/// Make wheels fit a platform: bring the libraries along that it need not have, and name it for what it is
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The wheel itself stays as it is; the repaired one is written elsewhere, and its path printed. Members that do not
change are copied as they are. A wheel without libraries is copied. SOURCE_DATE_EPOCH sets the time of all members.

Examples:
  rock-matrix wheel repair dist/*.whl --exclude-preset rocm,torch
  rock-matrix wheel repair built.whl --plat manylinux_2_28_x86_64 -w wheelhouse
  rock-matrix wheel repair built.whl --exclude-preset rocm --dry-run      what would be done
  rock-matrix wheel repair built.whl --exclude 'libamdhip64.so*' --no-graft
  rock-matrix wheel repair built.whl --sysroot /mnt/image                 libraries of a container's root
  rock-matrix wheel repair built.whl --dedup-sonames --keep-copy 'libplugin*'    links packed as files")]
pub(super) struct Args {
    /// The wheels
    #[arg(required = true, value_name = "WHEEL")]
    wheels: Vec<PathBuf>,
    /// The platform to reach: a tag, or auto for the best
    #[arg(long, value_name = "TAG", env = "AUDITWHEEL_PLAT", default_value = "auto")]
    plat: String,
    /// Write into this folder
    #[arg(short, long, value_name = "DIR", default_value = "wheelhouse")]
    wheel_dir: PathBuf,
    /// What the folder of libraries is called after the distribution
    #[arg(short = 'L', long, value_name = "ENDING", default_value = ".libs")]
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
    /// Leave out copies of a library whose file names stand in no file of the wheel, as links become when they are packed
    #[arg(long)]
    dedup_sonames: bool,
    /// Keep copies of this name or path: it is loaded by a name that is put together at run time; a shell pattern
    #[arg(long, value_name = "GLOB", requires = "dedup_sonames")]
    keep_copy: Vec<String>,
    /// Fail where a library would have to come along
    #[arg(long)]
    no_graft: bool,
    /// Set this local version label, too
    #[arg(long, value_name = "LABEL")]
    relabel: Option<LocalLabel>,
    /// How hard changed members are compressed, 0 to 9
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
}

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
    shell: &'j Shell,
}

/// What became of one wheel.
struct Done {
    name: WheelName,
    out: PathBuf,
    saved: Option<Saved>,
    plan: Option<Plan>,
    excluded: BTreeSet<String>,
    /// The patterns that left something out, by their places.
    matched: BTreeSet<usize>,
    findings: Vec<Diagnostic>,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let judge = match args.options.judge(Look::Libraries, shell) {
        Ok(mut judge) => {
            judge.vouches = !args.trust_record && !args.dry_run;
            judge
        }
        Err(exit) => return exit,
    };
    let work = || repair_all(args, &judge, shell);
    match args.jobs.map(|jobs| rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build()) {
        Some(Ok(pool)) => pool.install(work),
        _ => work(),
    }
}

fn repair_all(args: &Args, judge: &Judge, shell: &Shell) -> Exit {
    let (mut all, mut matched) = (Vec::new(), BTreeSet::new());
    let mut printed = Exit::Done;
    for path in &args.wheels {
        let opened = super::open(path).map_err(|fault| vec![fault]);
        match opened.and_then(|file| repair(&Job { file: &file, path, args, judge, shell })) {
            Ok(done) => {
                matched.extend(done.matched.iter().copied());
                let text = match args.printing.format() {
                    Format::Human => text::text(&done, args.dry_run),
                    Format::Json => format!("{}\n", document::document(&done, path)),
                };
                printed = shell.print(&text);
                all.extend(done.findings);
            }
            Err(faults) => all.extend(faults),
        }
    }
    all.extend(judge.unmatched(&matched));
    match report(shell, &all) {
        Exit::Done => printed,
        exit => exit,
    }
}

fn repair(job: &Job<'_>) -> Result<Done, Vec<Diagnostic>> {
    let Job { file, path, args, .. } = *job;
    job.judge.with_report(&file.file, &file.shown, &file.name, |wheel, report| {
        let refused =
            report.findings.iter().filter(|finding| finding.is_error() && UNREPAIRABLE.contains(&finding.code));
        let refused: Vec<Diagnostic> = refused.cloned().collect();
        if !refused.is_empty() {
            return Err(refused);
        }
        let Some(verdict) = &report.verdict else { return copied(job) };
        let mut plan = planned(job, report, verdict)?;
        if args.dedup_sonames {
            plan.drop_copies(needless(job, wheel, report)?);
        }
        let time = source_date(job.shell.environment.get("SOURCE_DATE_EPOCH")).map_err(|fault| vec![fault])?;
        let renamed = renamed(job, wheel, &plan).map_err(|error| vec![error.diagnostic(&file.shown)])?;
        let mut done = Done {
            name: renamed.name,
            out: PathBuf::new(),
            saved: None,
            findings: plan.findings.clone(),
            excluded: verdict.trees.values().flat_map(|tree| tree.excluded.clone()).collect(),
            matched: verdict.trees.values().flat_map(|tree| tree.matched.iter().copied()).collect(),
            plan: None,
        };
        done.out = args.wheel_dir.join(done.name.to_string());
        if !args.dry_run {
            if sys::is_same_file(path, &done.out) || path == done.out {
                let message = format!("the result would replace the wheel it is made from, `{}`", path.display());
                let fault = Diagnostic::new(&codes::OUTPUT_IS_INPUT, message);
                return Err(vec![fault.help("give another folder with `-w DIR`")]);
            }
            let make_scratch = |size_bytes| job.judge.room.scratch(size_bytes);
            let making = make::Making { job, wheel, report, plan: &plan, make_scratch: &make_scratch, time };
            making.write(renamed.edits, &mut done)?;
        }
        done.plan = Some(plan);
        Ok(done)
    })?
}

/// What repairing the wheel takes.
fn planned(job: &Job<'_>, report: &Report<'_>, verdict: &Verdict<'_>) -> Result<Plan, Vec<Diagnostic>> {
    let Job { file, args, judge, .. } = *job;
    let how = Repair {
        wanted: if args.plat == "auto" { Wanted::Best } else { Wanted::Tag(args.plat.clone()) },
        only_wanted: args.only_plat,
        keeps_claims: args.keep_claimed_tags,
        keeps_tags: args.no_update_tags,
        folder_ending: args.lib_sdir.clone(),
        mends_paths: args.fix_rpath,
    };
    let mut digests = |library: &audit::MachineLibrary| digest(judge, library);
    let plan = audit::plan(&file.name, &report.files, verdict, &how, &mut digests)?;
    if !args.no_graft || plan.grafts.is_empty() {
        return Ok(plan);
    }
    let names: Vec<&str> = plan.grafts.iter().flat_map(|graft| &graft.needed_as).map(String::as_str).collect();
    let message = format!("{} would come along: {}", counted(plan.grafts.len(), "library"), names.join(", "));
    Err(vec![
        Diagnostic::new(&codes::GRAFTS_FORBIDDEN, message)
            .at(Place::File(file.shown.as_str().into()), "")
            .help("leave them out with `--exclude` or `--exclude-preset`"),
    ])
}

/// Copies of libraries that nothing names.
fn needless(job: &Job<'_>, wheel: &Wheel<'_>, report: &Report<'_>) -> Result<Vec<Needless>, Vec<Diagnostic>> {
    let kept = Excludes::new(job.args.keep_copy.iter().map(String::as_str));
    let kept = kept.map_err(|reason| vec![Diagnostic::new(&codes::BAD_PATTERN, reason)])?;
    let bar = Bar::new(Watchers::of(job.shell), &job.file.shown);
    let found = audit::needless_copies(wheel.archive(), &report.files, &kept, &|progress| bar.tell(progress));
    found.map_err(|error| vec![error.diagnostic(&job.file.shown)])
}

/// The SHA-256 of a library of the machine, in hexadecimal.
fn digest(judge: &Judge, library: &audit::MachineLibrary) -> Result<String, Diagnostic> {
    let fault = |error| Diagnostic::from(sys::FileError::new("read", Path::new(&library.real_path), error));
    let source = judge.open(&library.real_path).map_err(fault)?;
    let (mut hasher, mut piece, mut at) = (Sha256::new(), vec![0; 256 << 10], 0);
    loop {
        match source.read_at(&mut piece, at).map_err(fault)? {
            0 => break,
            read => {
                hasher.update(&piece[..read]);
                at += read as u64;
            }
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The new name, and what it changes in dist-info.
fn renamed(job: &Job<'_>, wheel: &Wheel<'_>, plan: &Plan) -> Result<Change, wheel::WheelError> {
    let tags = TagChange::Replace(plan.platform.tags.clone());
    let change = Retag { platform: (!job.args.no_update_tags).then_some(tags), ..Retag::default() };
    let mut retagged = retag(wheel, &job.file.name, &change)?;
    if let Some(label) = &job.args.relabel {
        let labelled = relabel(wheel, &retagged.name, label, ExistingLabel::Replace)?;
        retagged.name = labelled.name;
        retagged.edits.renamed_folders.extend(labelled.edits.renamed_folders);
        retagged.edits.replaced.extend(labelled.edits.replaced);
    }
    Ok(retagged)
}

/// A wheel without libraries: it fits every platform as it is.
fn copied(job: &Job<'_>) -> Result<Done, Vec<Diagnostic>> {
    let Job { file, path, args, shell, .. } = *job;
    let out = args.wheel_dir.join(file.name.to_string());
    let saved = if args.dry_run || sys::is_same_file(path, &out) {
        None
    } else {
        let write = |target: &mut dyn wheel::Target| {
            let size = file.file.size_bytes();
            Ok(target.copy_from(&file.file, 0, size).map_err(|error| sys::FileError::new("write", &out, error))?)
        };
        Some(save(&out, args, write, |_| Ok(()))?)
    };
    shell.say(&format!("{} holds no libraries: nothing to repair", path.display()));
    let (excluded, matched) = (BTreeSet::new(), BTreeSet::new());
    Ok(Done { name: file.name.clone(), out, saved, plan: None, excluded, matched, findings: Vec::new() })
}

/// Why a wheel was not written.
struct Faults(Vec<Diagnostic>);

impl From<sys::FileError> for Faults {
    fn from(error: sys::FileError) -> Self {
        Self(vec![error.into()])
    }
}

/// Writes a wheel, which has no name before it was checked.
fn save(
    out: &Path,
    args: &Args,
    write: impl FnOnce(&mut dyn wheel::Target) -> Result<(), Faults>,
    check: impl FnOnce(&PositionalFile) -> Result<(), Faults>,
) -> Result<Saved, Vec<Diagnostic>> {
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let saved = sys::save_checked::<Faults>(out, existing, write, check).map_err(|Faults(faults)| faults)?;
    if saved == Saved::Kept {
        let message = format!("`{}` is there and has other content", out.display());
        let place = Place::File(out.display().to_string().into());
        let fault = Diagnostic::new(&codes::OUTPUT_EXISTS, message).at(place, "");
        return Err(vec![fault.help("replace it with `--force`, or write elsewhere with `-w DIR`")]);
    }
    Ok(saved)
}

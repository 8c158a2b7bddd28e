//! `wheel repair`: make wheels fit a platform, with the libraries that it need not have.

mod document;
mod text;

use std::path::{Path, PathBuf};

pub(in crate::cli) use super::options::BuildLibraries;
use super::options::{AuditSettings, Options};
use super::output::source_date;
use super::{Printing, fail, report};
use crate::audit::{
    Auditor, InspectionDepth, LibraryDirSuffix, LibraryPatterns, RepairDestination, RepairNote,
    RepairOptions, RepairOutcome, RepairedWheel, WheelFile,
};
use crate::bytes::on_threads;
use crate::cli::{Exit, Format, Shell, load};
use crate::codes::wheel as codes;
use crate::compat::Compat;
use crate::config::REPAIR_PRESETS;
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass};
use crate::names::{LocalLabel, WheelName};
use crate::wheel::DosTime;

/// Graft external libraries into wheels and set the platform tag they comply with
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The libraries of ROCm, torch and CUDA stay outside, as in a build: a process must hold one copy of
them. `--exclude-preset` names other sets, or none.

The wheel itself stays as it is; the repaired one is written under its new name, and its path
printed. Each grafted library is reported. Members that do not change are copied as they are. A
wheel that needs no change is left as it is if it would replace itself, and written again otherwise.
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
    #[arg(short = 'L', long, value_name = "ENDING", default_value = ".libs")]
    lib_sdir: LibraryDirSuffix,
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
    /// Fail if a library would have to be grafted
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
}

/// Options of the repair of a built wheel.
#[derive(Debug)]
pub(in crate::cli) struct BuildRepair<'b> {
    /// The compatibility data.
    pub(in crate::cli) compat: &'b Compat,
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
pub(in crate::cli) struct RepairedBuild {
    /// Its path.
    pub(in crate::cli) path: PathBuf,
    /// Its name.
    pub(in crate::cli) name: WheelName,
    /// Grafted libraries, a line each.
    pub(in crate::cli) grafts: Vec<String>,
    /// Findings about it.
    pub(in crate::cli) findings: Vec<Diagnostic>,
}

/// Repairs a wheel of a build into another directory.
///
/// # Errors
/// Returns the errors that keep the wheel from being repaired or written.
pub(in crate::cli) fn repair_built(
    path: &Path,
    how: &BuildRepair<'_>,
    shell: &Shell,
) -> Result<RepairedBuild, Diagnostics> {
    let settings = AuditSettings {
        depth: InspectionDepth::HeldLayouts,
        platform: how.platform.filter(|tag| *tag != AUTO).map(str::to_owned),
        verify_record: true,
    };
    let auditor =
        Options::of_build(&how.libraries, how.outside).auditor(settings, how.compat, shell)?;
    let options = RepairOptions {
        // Directories of the machine that builds do not exist on others.
        fix_rpaths: true,
        time: Some(how.time),
        // A build that changes nothing keeps its bytes: it got the time as well.
        rewrite_for_time: false,
        ..RepairOptions::default()
    };
    let destination = RepairDestination {
        directory: how.folder,
        input: path,
        overwrite: true,
        dry_run: false,
    };
    let file = WheelFile::open(path)?;
    let audited = auditor.audit_as(&file.file_name, &file.name, &file.file)?;
    let plan = audited.plan_repair(options)?;
    say_note(plan.note(), path, shell);
    let repaired = plan.write(&destination)?;
    say_unchanged(&repaired, path, shell);
    Ok(RepairedBuild {
        grafts: text::grafts(&repaired.changes),
        path: repaired.path,
        name: repaired.name,
        findings: repaired.findings,
    })
}

/// The word of `--plat` for the best platform.
const AUTO: &str = "auto";

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let settings = AuditSettings {
        depth: InspectionDepth::HeldLayouts,
        platform: Some(args.plat.clone()).filter(|plat| plat != AUTO),
        verify_record: !args.trust_record,
    };
    let options = args.options.with_presets(&REPAIR_PRESETS);
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let auditor = match options.auditor(settings, compat, shell) {
        Ok(auditor) => auditor,
        Err(errors) => return fail(shell, &errors),
    };
    let kept = match LibraryPatterns::new(args.keep_copy.iter().map(String::as_str)) {
        Ok(kept) => kept,
        Err(error) => {
            let error = Diagnostic::new(&codes::BAD_PATTERN, error.to_string());
            return fail(
                shell,
                &Diagnostics::from(error).exits_with(ExitClass::Usage),
            );
        }
    };
    on_threads(args.jobs, || repair_all(args, &auditor, &kept, shell))
}

fn repair_all(args: &Args, auditor: &Auditor<'_>, kept: &LibraryPatterns, shell: &Shell) -> Exit {
    let mut all = Vec::new();
    for path in &args.wheels {
        let repaired = repair(path, args, auditor, kept, shell);
        let text = match (args.printing.format(), &repaired) {
            (Format::Human, Ok(repaired)) => text::text(repaired, args.dry_run),
            (Format::Human, Err(_)) => String::new(),
            (Format::Json, Ok(repaired)) => format!("{}\n", document::document(repaired, path)),
            (Format::Json, Err(errors)) => {
                format!("{}\n", document::of_errors(errors.as_slice(), path))
            }
        };
        if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
            return exit;
        }
        match repaired {
            Ok(repaired) => {
                if !args.dry_run {
                    for line in text::grafts(&repaired.changes) {
                        shell.say(&line);
                    }
                }
                all.extend(repaired.findings);
            }
            Err(errors) => all.extend(errors),
        }
    }
    all.extend(args.options.unmatched_excludes(auditor, args.wheels.len()));
    report(shell, all)
}

fn repair(
    path: &Path,
    args: &Args,
    auditor: &Auditor<'_>,
    kept: &LibraryPatterns,
    shell: &Shell,
) -> Result<RepairedWheel, Diagnostics> {
    let file = WheelFile::open(path)?;
    let audited = auditor.audit_as(&file.file_name, &file.name, &file.file)?;
    let time = source_date(shell.environment.get("SOURCE_DATE_EPOCH"));
    let options = args.repair_options(kept, time.as_ref().ok().copied().flatten());
    let plan = audited.plan_repair(options)?;
    // Reported only for wheels that can be repaired.
    time?;
    say_note(plan.note(), path, shell);
    let repaired = plan.write(&RepairDestination {
        directory: &args.wheel_dir,
        input: path,
        overwrite: args.force,
        dry_run: args.dry_run,
    })?;
    say_unchanged(&repaired, path, shell);
    Ok(repaired)
}

fn say_note(note: Option<RepairNote>, path: &Path, shell: &Shell) {
    let shown = path.display();
    match note {
        Some(RepairNote::ForeignSystem(system)) => shell.say(&format!(
            "{shown} is for {system}, which is not judged: its tags and needs stay as they are"
        )),
        Some(RepairNote::KeptTags(tags)) => shell.say(&format!(
            "{shown} keeps tags that are not judged: {}",
            tags.join(", ")
        )),
        Some(RepairNote::NoLibraries) => shell.say(&format!(
            "{shown} holds no libraries for Linux: nothing is grafted"
        )),
        None => {}
    }
}

fn say_unchanged(repaired: &RepairedWheel, path: &Path, shell: &Shell) {
    if repaired.outcome == RepairOutcome::LeftInPlace {
        shell.say(&format!(
            "{} needs nothing: it is left as it is",
            path.display()
        ));
    }
}

impl Args {
    fn repair_options(&self, kept: &LibraryPatterns, time: Option<DosTime>) -> RepairOptions {
        RepairOptions {
            only_platform: self.only_plat,
            keep_claimed_tags: self.keep_claimed_tags,
            update_tags: !self.no_update_tags,
            library_dir_suffix: self.lib_sdir.clone(),
            fix_rpaths: self.fix_rpath,
            allow_grafts: !self.no_graft,
            strip: self.strip,
            remove_copies_except: self.dedup_sonames.then(|| kept.clone()),
            local_label: self.relabel.clone(),
            compression_level: self.zip_compression_level,
            recompress: self.recompress,
            trust_record: self.trust_record,
            time,
            rewrite_for_time: true,
        }
    }
}

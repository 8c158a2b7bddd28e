//! `wheel repair`: graft external libraries into wheels and set their platform tags.

mod document;
mod text;

use std::path::{Path, PathBuf};

use super::options::{AuditSettings, Options};
use super::output::{distinct_wheels, shared_results, source_date};
use super::{OutputFormat, fail, report};
use crate::audit::{
    Auditor, Inspection, LibraryDirSuffix, LibraryPatterns, RepairDestination, RepairOptions,
    RepairedWheel, WheelFile,
};
use crate::bytes::on_threads;
use crate::cli::whole_number::{Unit, whole_number};
use crate::cli::{Exit, Format, Shell, load, output_path};
use crate::codes::wheel as codes;
use crate::config::REPAIR_PRESETS;
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass};
use crate::names::{LocalLabel, WheelName, parse_new_label};
use crate::wheel::DosTime;

pub(in crate::cli) use text::{graft_lines, repair_note_line, unchanged_line};

/// Graft external libraries into wheels and set the platform tag they comply with
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Libraries of ROCm, torch and CUDA are not grafted, as in a build: a process must load only one copy
of them. Use --exclude-preset to exclude other sets, or none.

The input is not modified: the repaired wheel is written under its new name, and its path is
printed. Each grafted library is reported. Members that do not change are copied without
recompressing them. A wheel that needs no change is left as it is if it would replace itself;
otherwise, a copy is written to --out. SOURCE_DATE_EPOCH sets the time of all members.

Examples:
  rock-matrix wheel repair dist/*.whl             write to wheelhouse/
  rock-matrix wheel repair built.whl --dry-run    show what would change
  rock-matrix wheel repair built.whl --plat manylinux_2_28_x86_64 --out fixed
  rock-matrix wheel repair built.whl --exclude-preset none    graft ROCm and torch, too
  rock-matrix wheel repair built.whl --exclude 'libfoo.so*' --no-graft
  rock-matrix wheel repair built.whl --sysroot /mnt/image     libraries of a container image
  rock-matrix wheel repair built.whl --dedup-sonames --keep-copy 'libplugin*'")]
pub(super) struct Args {
    /// Wheels to repair, or directories with wheels; the files are not modified
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    /// Platform tag to comply with, or auto
    ///
    /// `auto` selects the most compatible platform.
    #[arg(
        long,
        value_name = "TAG",
        env = "AUDITWHEEL_PLAT",
        default_value = "auto",
        help_heading = "Platform"
    )]
    plat: String,
    /// Use only the tag of --plat, even if the wheel complies with a better one
    #[arg(long, help_heading = "Platform", hide_short_help = true)]
    only_plat: bool,
    /// Keep the platform tags of the input
    #[arg(long, help_heading = "Platform", hide_short_help = true)]
    no_update_tags: bool,
    /// Keep platform tags of the input that the symbols contradict
    #[arg(long, help_heading = "Platform", hide_short_help = true)]
    keep_claimed_tags: bool,
    /// Directory for the repaired wheels
    #[arg(
        short = 'o',
        long,
        value_name = "DIR",
        short_alias = 'w',
        alias = "wheel-dir",
        value_parser = output_path::several_files(),
        default_value = "wheelhouse",
        help_heading = "Output"
    )]
    out: PathBuf,
    /// Replace existing files that have different content
    #[arg(long, aliases = ["force", "overwrite"], help_heading = "Output")]
    replace: bool,
    /// Show what would change without writing anything
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,
    /// Also set this local version label
    #[arg(
        long,
        value_name = "LABEL",
        alias = "label",
        value_parser = parse_new_label,
        help_heading = "Output"
    )]
    relabel: Option<LocalLabel>,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
    /// Compression level of changed data, from 0 (none) to 9 (smallest)
    ///
    /// Other data keeps its compression, also in members that change; see --recompress.
    #[arg(
        short = 'z',
        long,
        value_name = "LEVEL",
        env = "AUDITWHEEL_ZIP_COMPRESSION_LEVEL",
        default_value_t = 6,
        value_parser = whole_number::<u32>(Unit::One, 0..=9),
        help_heading = "Output",
        hide_short_help = true
    )]
    zip_compression_level: u32,
    /// Compress all members again
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    recompress: bool,
    #[command(flatten)]
    options: Options,
    /// Fail instead of grafting a library
    #[arg(long, help_heading = "Libraries")]
    no_graft: bool,
    /// Remove symbols and debug sections from all libraries
    #[arg(long, help_heading = "Libraries")]
    strip: bool,
    /// Suffix of the directory for grafted libraries, which begins with the distribution name
    #[arg(
        short = 'L',
        long,
        value_name = "SUFFIX",
        default_value = ".libs",
        help_heading = "Libraries",
        hide_short_help = true
    )]
    lib_sdir: LibraryDirSuffix,
    /// Drop absolute, relative and empty entries of RPATH and RUNPATH
    ///
    /// Applies to all libraries. Entries that begin with `$ORIGIN` or match --allow-rpath are kept.
    /// Without this option, libraries that need no graft keep their entries, with a warning:
    /// `wheel check` refuses them.
    #[arg(long, help_heading = "Libraries")]
    fix_rpath: bool,
    /// Remove copies of a library whose filenames occur in no file of the wheel
    ///
    /// Symbolic links become such copies when a wheel is packed.
    #[arg(long, help_heading = "Libraries", hide_short_help = true)]
    dedup_sonames: bool,
    /// Keep copies whose name or path matches this shell pattern
    ///
    /// Use it for libraries that are loaded by a name that is assembled at run time.
    #[arg(
        long,
        value_name = "GLOB",
        requires = "dedup_sonames",
        help_heading = "Libraries",
        hide_short_help = true
    )]
    keep_copy: Vec<String>,
    /// Number of threads [default: one per processor]
    #[arg(
        short = 'j',
        long,
        value_name = "N",
        value_parser = whole_number::<u16>(Unit::One, 1..=u64::from(u16::MAX)),
        help_heading = "Performance"
    )]
    jobs: Option<u16>,
    /// Trust the digests in RECORD for members that do not change
    #[arg(long, help_heading = "Performance", hide_short_help = true)]
    trust_record: bool,
    /// Accepted for compatibility with auditwheel: wheels without libraries never fail
    #[arg(long, hide = true)]
    allow_pure_python_wheel: bool,
}

/// The value of `--plat` for the most compatible platform.
const AUTO: &str = "auto";

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let settings = AuditSettings {
        inspection: Inspection::REPAIR,
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
    let time = match source_date(shell.environment.get("SOURCE_DATE_EPOCH")) {
        Ok(time) => time,
        Err(error) => return fail(shell, &error.into()),
    };
    let options = args.repair_options(&kept, time);
    on_threads(args.jobs.or(shell.project_file.jobs), || {
        repair_all(args, &auditor, &options, shell)
    })
}

fn repair_all(args: &Args, auditor: &Auditor<'_>, options: &RepairOptions, shell: &Shell) -> Exit {
    let (paths, mut all) = distinct_wheels(&args.wheels);
    let mut shared = shared_results(&paths, Some(&args.out), |path| {
        let mut others = paths.iter().filter(|other| *other != path);
        let name = unrepaired_name(path, options)?;
        others
            .any(|other| unrepaired_name(other, options).as_ref() == Some(&name))
            .then(|| repaired_name(path, auditor, options))?
    });
    let mut protected = paths.clone();
    for path in &paths {
        let repaired = match shared.remove(path) {
            Some(error) => Err(error.into()),
            None => repair(path, args, &protected, auditor, options, shell),
        };
        let text = match (args.format.get(), &repaired) {
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
                    for line in graft_lines(&repaired.changes) {
                        shell.say(&line);
                    }
                }
                all.extend(repaired.findings);
                protected.push(repaired.path);
            }
            Err(errors) => all.extend(errors),
        }
    }
    all.extend(args.options.unmatched_excludes(auditor, paths.len()));
    report(shell, all)
}

/// Returns the name of a wheel without what a repair changes in it, the platform tags and a label
/// that it sets.
fn unrepaired_name(path: &Path, options: &RepairOptions) -> Option<WheelName> {
    let name: WheelName = path.file_name()?.to_str()?.parse().ok()?;
    let name = name.with_platform_tags("any".parse().ok()?).normalized();
    if options.local_label.is_none() {
        return Some(name);
    }
    let version = name.version().public();
    Some(name.with_version(version))
}

/// Returns the name of a repaired wheel; `None` if it cannot be repaired.
fn repaired_name(path: &Path, auditor: &Auditor<'_>, options: &RepairOptions) -> Option<WheelName> {
    let file = WheelFile::open(path).ok()?;
    let audited = auditor
        .audit_as(&file.file_name, &file.name, &file.file)
        .ok()?;
    let plan = audited.plan_repair(options.clone()).ok()?;
    Some(plan.name().clone())
}

fn repair(
    path: &Path,
    args: &Args,
    protected: &[PathBuf],
    auditor: &Auditor<'_>,
    options: &RepairOptions,
    shell: &Shell,
) -> Result<RepairedWheel, Diagnostics> {
    let file = WheelFile::open(path)?;
    let audited = auditor.audit_as(&file.file_name, &file.name, &file.file)?;
    let plan = audited.plan_repair(options.clone())?;
    if let Some(note) = plan.note() {
        shell.say(&repair_note_line(&note, path));
    }
    let repaired = plan.write(&RepairDestination {
        directory: &args.out,
        input: path,
        overwrite: args.replace,
        protected,
        dry_run: args.dry_run,
    })?;
    if let Some(line) = unchanged_line(&repaired, path) {
        shell.say(&line);
    }
    Ok(repaired)
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
            force_rewrite_for_time: true,
        }
    }
}

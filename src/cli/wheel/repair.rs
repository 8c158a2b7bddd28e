//! `wheel repair`: make wheels fit a platform, with the libraries that it need not have.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::bar::{Bar, Watchers};
use super::edited::{Edited, Strip, patches};
use super::judging::{Judge, Options};
use super::output::source_date;
use super::{Printing, WheelFile, report};
use crate::audit::{self, Look, Plan, Repair, Report, SBOM, Wanted};
use crate::bytes::ReadAt;
use crate::cli::{Exit, Format, Shell};
use crate::diagnostic::registry::{elf as elf_codes, wheel as codes};
use crate::diagnostic::{Diagnostic, Place, counted};
use crate::names::{LocalLabel, WheelName};
use crate::sys::{self, Existing, Owners, Saved};
use crate::template;
use crate::wheel::{
    self, Added, Content, Edits, ExistingLabel, MemberView, Rehash, Retag, TagChange, Unchanged, Wheel, WriteOptions,
    relabel, retag,
};

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
  rock-matrix wheel repair built.whl --sysroot /mnt/image                 libraries of a container's root")]
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
        match super::open(path).map_err(|fault| vec![fault]).and_then(|file| repair(&file, path, args, judge, shell)) {
            Ok(done) => {
                matched.extend(done.matched.iter().copied());
                let text = match args.printing.format() {
                    Format::Human => human(&done, args),
                    Format::Json => json(&done, path),
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

fn repair(file: &WheelFile, path: &Path, args: &Args, judge: &Judge, shell: &Shell) -> Result<Done, Vec<Diagnostic>> {
    judge.with_report(&file.file, &file.shown, &file.name, |wheel, report| {
        let refused = report.findings.iter().filter(|finding| finding.code.id.starts_with('E') && finding.is_error());
        let refused: Vec<Diagnostic> = refused.cloned().collect();
        if !refused.is_empty() {
            return Err(refused);
        }
        let Some(verdict) = &report.verdict else { return copied(file, path, args, shell) };
        let wanted = if args.plat == "auto" { Wanted::Best } else { Wanted::Tag(args.plat.clone()) };
        let how = Repair {
            wanted,
            only_wanted: args.only_plat,
            keeps_claims: args.keep_claimed_tags,
            keeps_tags: args.no_update_tags,
            folder_ending: args.lib_sdir.clone(),
            mends_paths: args.fix_rpath,
        };
        let mut digests = |library: &audit::MachineLibrary| digest(judge, library);
        let plan = audit::plan(&file.name, &report.files, verdict, &how, &mut digests)?;
        if args.no_graft && !plan.grafts.is_empty() {
            return Err(vec![forbidden(file, &plan)]);
        }
        let excluded: BTreeSet<String> = verdict.trees.values().flat_map(|tree| tree.excluded.clone()).collect();
        let mut done = apply(file, wheel, report, plan, excluded, path, args, judge, shell)?;
        done.matched = verdict.trees.values().flat_map(|tree| tree.matched.iter().copied()).collect();
        Ok(done)
    })?
}

/// A wheel without libraries: it fits every platform as it is.
fn copied(file: &WheelFile, path: &Path, args: &Args, shell: &Shell) -> Result<Done, Vec<Diagnostic>> {
    let out = args.wheel_dir.join(file.name.to_string());
    let saved = if args.dry_run || sys::is_same_file(path, &out) {
        None
    } else {
        let write = |target: &mut dyn wheel::Target| {
            let size = file.file.size_bytes();
            let fault = |error| Diagnostic::from(sys::FileError::new("write", &out, error));
            target.copy_from(&file.file, 0, size).map_err(fault)
        };
        Some(save(&out, args, write)?)
    };
    shell.say(&format!("{} holds no libraries: nothing to repair", path.display()));
    let (excluded, matched) = (BTreeSet::new(), BTreeSet::new());
    Ok(Done { name: file.name.clone(), out, saved, plan: None, excluded, matched, findings: Vec::new() })
}

fn save(
    out: &Path,
    args: &Args,
    write: impl FnOnce(&mut dyn wheel::Target) -> Result<(), Diagnostic>,
) -> Result<Saved, Vec<Diagnostic>> {
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let saved = sys::save::<Diagnostic>(out, existing, write).map_err(|fault| vec![fault])?;
    if saved == Saved::Kept {
        let message = format!("`{}` is there and has other content", out.display());
        let place = Place::File(out.display().to_string().into());
        let fault = Diagnostic::new(&codes::OUTPUT_EXISTS, message).at(place, "");
        return Err(vec![fault.help("replace it with `--force`, or write elsewhere with `-w DIR`")]);
    }
    Ok(saved)
}

fn forbidden(file: &WheelFile, plan: &Plan) -> Diagnostic {
    let names: Vec<&str> = plan.grafts.iter().flat_map(|graft| &graft.needed_as).map(String::as_str).collect();
    let message = format!("{} would come along: {}", counted(plan.grafts.len(), "library"), names.join(", "));
    Diagnostic::new(&codes::GRAFTS_FORBIDDEN, message)
        .at(Place::File(file.shown.as_str().into()), "")
        .help("leave them out with `--exclude` or `--exclude-preset`")
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

/// Makes the wheel of the plan, and writes it unless only told about.
#[expect(clippy::too_many_arguments, reason = "what was gathered, each from its own place")]
fn apply(
    file: &WheelFile,
    wheel: &Wheel<'_>,
    report: &Report<'_>,
    plan: Plan,
    excluded: BTreeSet<String>,
    path: &Path,
    args: &Args,
    judge: &Judge,
    shell: &Shell,
) -> Result<Done, Vec<Diagnostic>> {
    let one = |fault: Diagnostic| vec![fault];
    let time = source_date(shell.environment.get("SOURCE_DATE_EPOCH")).map_err(one)?;
    let tags = TagChange::Replace(plan.platform.tags.clone());
    let change = Retag { platform: (!args.no_update_tags).then_some(tags), ..Retag::default() };
    let wheel_fault = |error: wheel::WheelError| one(error.diagnostic(&file.shown));
    let mut retagged = retag(wheel, &file.name, &change).map_err(wheel_fault)?;
    if let Some(label) = &args.relabel {
        let labelled = relabel(wheel, &retagged.name, label, ExistingLabel::Replace).map_err(wheel_fault)?;
        retagged.name = labelled.name;
        retagged.edits.renamed_folders.extend(labelled.edits.renamed_folders);
        retagged.edits.replaced.extend(labelled.edits.replaced);
    }
    let out = args.wheel_dir.join(retagged.name.to_string());
    let mut done = Done {
        name: retagged.name.clone(),
        out,
        saved: None,
        findings: plan.findings.clone(),
        excluded,
        matched: BTreeSet::new(),
        plan: Some(plan),
    };
    if args.dry_run {
        return Ok(done);
    }
    let plan = done.plan.as_ref().expect("it was put there");
    if sys::is_same_file(path, &done.out) || path == done.out {
        let message = format!("the result would replace the wheel it is made from, `{}`", path.display());
        let fault = Diagnostic::new(&codes::OUTPUT_IS_INPUT, message);
        return Err(one(fault.help("give another folder with `-w DIR`")));
    }
    let strip = if args.strip { Strip::Debug } else { Strip::Nothing };
    let archive = wheel.archive();
    let uneditable = |path: &str, error: &dyn std::fmt::Display| {
        let place = Place::Member { wheel: file.shown.clone(), member: path.to_owned() };
        Diagnostic::new(&elf_codes::UNEDITABLE_ELF, format!("it cannot be changed safely: {error}")).at(place, "")
    };

    let mut members: Vec<(String, Edited<'_>)> = Vec::new();
    let mut faults = Vec::new();
    let stripped = report.libraries().map(|(path, _)| path.to_owned()).filter(|_| args.strip);
    for path in plan.edits.keys().cloned().chain(stripped).collect::<BTreeSet<String>>() {
        let Some(member) = archive.member(&path) else { continue };
        let edits = plan.edits.get(&path).cloned().unwrap_or_default();
        let view = MemberView::new(archive, member, &sys::scratch, None);
        match patches(&view, &edits, strip) {
            Ok(patches) if patches.is_empty() => {}
            Ok(patches) => {
                let base = MemberView::forward(archive, member, &sys::scratch);
                members.push((path, Edited::new(Box::new(base), patches)));
            }
            Err(error) => faults.push(uneditable(&path, &error)),
        }
    }
    let mut grafts: Vec<(String, Edited<'_>)> = Vec::new();
    for graft in &plan.grafts {
        let path = &graft.library.real_path;
        let made = judge.open(path).map_err(|error| error.to_string()).and_then(|source| {
            let patches = patches(source.as_ref(), &graft.edits, strip).map_err(|error| error.to_string())?;
            Ok(Edited::new(source, patches))
        });
        match made {
            Ok(edited) => grafts.push((format!("{}/{}", plan.folder, graft.name), edited)),
            Err(error) => faults.push(uneditable(path, &error)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }

    let mut edits: Edits<'_> = retagged.edits;
    edits.replaced.extend(members.iter().map(|(path, edited)| (path.clone(), Content::Source(edited))));
    edits.added.extend(grafts.iter().map(|(path, edited)| (path.clone(), Added::executable(Content::Source(edited)))));
    for (old, new) in &plan.moved {
        edits.renamed.insert(old.clone(), new.clone());
        edits.added.insert(old.clone(), Added::executable(starter(new)));
    }
    if !plan.grafts.is_empty() {
        let mut owners = Owners::new(judge.root());
        let owners: Vec<Option<String>> =
            plan.grafts.iter().map(|graft| owners.package_url(&graft.library.real_path)).collect();
        let bill = audit::sbom(&done.name, plan, &owners, done.excluded.iter().map(String::as_str));
        edits.added.insert(wheel.dist_info_path(SBOM), Added::plain(bill));
    }
    edits.vouched = report.files.iter().filter(|file| file.is_vouched).map(|file| file.path.clone()).collect();
    let options = WriteOptions {
        level: args.zip_compression_level,
        time,
        unchanged: if args.recompress { Unchanged::Recompressed } else { Unchanged::Copied },
        rehash: if args.trust_record { Rehash::TrustRecord } else { Rehash::All },
    };
    let bar = Bar::new(Watchers::of(shell), &done.name.to_string());
    let mut mended = Vec::new();
    let write = |target: &mut dyn wheel::Target| {
        let written = wheel::rewrite_watched(wheel, &edits, &options, target, &|progress| bar.tell(progress));
        mended = written.map_err(|error| error.diagnostic(&file.shown))?.findings(&file.shown);
        Ok(())
    };
    done.saved = Some(save(&done.out, args, write)?);
    done.findings.extend(mended);
    Ok(done)
}

/// The script that starts a program which moved into the wheel.
fn starter(path: &str) -> Vec<u8> {
    #[derive(serde::Serialize)]
    struct View {
        folder: String,
        name: String,
    }
    let (folder, name) = path.split_once('/').unwrap_or(("", path));
    let quoted = |text: &str| serde_json::to_string(text).expect("a text serialises");
    let view = View { folder: quoted(folder), name: quoted(name) };
    let text = include_str!("../../../templates/wheel/program.py");
    template::render("program.py", text, &view).expect("the template is sound").into_bytes()
}

fn human(done: &Done, args: &Args) -> String {
    let mut text = String::new();
    if let Some(plan) = done.plan.as_ref().filter(|_| args.dry_run) {
        for graft in &plan.grafts {
            text.push_str(&format!("graft  {} as {}/{}\n", graft.library.real_path, plan.folder, graft.name));
        }
        for (path, edits) in &plan.edits {
            text.push_str(&format!("edit   {path}\n"));
            for (old, new) in &edits.rename_needed {
                text.push_str(&format!("         needs {new} in place of {old}\n"));
            }
            for old in &edits.remove_needed {
                text.push_str(&format!("         needs {old} no longer\n"));
            }
            if let Some(path) = edits.rpath.text() {
                text.push_str(&format!("         searches {path}\n"));
            }
        }
        for (old, new) in &plan.moved {
            text.push_str(&format!("move   {old} to {new}\n"));
        }
        for library in &done.excluded {
            text.push_str(&format!("leave  {library}\n"));
        }
    }
    text + &format!("{}\n", done.out.display())
}

fn json(done: &Done, path: &Path) -> String {
    let plan = done.plan.as_ref();
    let grafts: Vec<serde_json::Value> = plan
        .iter()
        .flat_map(|plan| plan.grafts.iter().map(move |graft| (plan, graft)))
        .map(|(plan, graft)| {
            serde_json::json!({
                "source": graft.library.real_path,
                "path": format!("{}/{}", plan.folder, graft.name),
                "needed_as": graft.needed_as,
                "sha256": graft.digest,
            })
        })
        .collect();
    let edits: Vec<serde_json::Value> = plan
        .iter()
        .flat_map(|plan| &plan.edits)
        .map(|(path, edits)| {
            serde_json::json!({
                "path": path,
                "rename_needed": edits.rename_needed,
                "remove_needed": edits.remove_needed,
                "rpath": edits.rpath.text(),
            })
        })
        .collect();
    let document = serde_json::json!({
        "version": 1,
        "input": path.display().to_string(),
        "wheel": done.out.display().to_string(),
        "platform_tags": done.name.platform.tags(),
        "pure": plan.is_none(),
        "grafts": grafts,
        "edits": edits,
        "moved": plan.map(|plan| &plan.moved),
        "excluded": done.excluded,
        "written": done.saved == Some(Saved::Written),
        "findings": done.findings.iter().map(audit::FindingView::new).collect::<Vec<_>>(),
    });
    format!("{document}\n")
}

//! What a wheel is judged with, as options say it, and the judging itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::WheelFile;
use super::bar::{Bar, Watchers};
use crate::audit::{
    self, Excludes, FileFacts, Judged, Judging, Known, Look, MachineLibraries, NoLibraries, Reading, Report,
    SearchPath, SplitCode, policies_for,
};
use crate::bytes::ReadAt;
use crate::cli::{Exit, Shell, load};
use crate::compat::Compat;
use crate::compat::policy::{Family, Policies, PolicyFile};
use crate::diagnostic::registry::{rocm as rocm_codes, wheel as codes};
use crate::diagnostic::{Diagnostic, Place, Severity, Sink, Source, nearest};
use crate::elf::LayoutFault;
use crate::names::{Arch, GfxTarget, WheelName};
use crate::sys::{self, PositionalFile, Room, Sysroot};
use crate::wheel::{self, Member, Vouching, Wheel, WheelError, check_metadata, verify_some};

/// What is read at most of a file of patterns or policies.
const LIMIT_BYTES: u64 = 16 << 20;

/// Options of every command that judges.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Search libraries in these folders, joined with colons, and in no configured ones
    #[arg(long, value_name = "DIRS")]
    ldpaths: Option<String>,
    /// Search libraries below this folder, as if it were the root
    #[arg(long, value_name = "DIR", default_value = "/")]
    sysroot: PathBuf,
    /// Search no libraries on this machine: the result is the same everywhere
    #[arg(long, conflicts_with_all = ["ldpaths", "sysroot"])]
    no_host_libs: bool,
    /// Leave libraries of this name or path where they are; a shell pattern
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Leave a known set of libraries where it is: rocm, torch, cuda or jax
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    exclude_preset: Vec<String>,
    /// Leave libraries where they are, one pattern a line
    #[arg(long, value_name = "FILE")]
    exclude_file: Option<PathBuf>,
    /// Judge by the policies of this file, in auditwheel's form
    #[arg(long, value_name = "FILE")]
    policy_file: Option<PathBuf>,
    /// Take libraries that need a level of x86-64 above the first
    #[arg(long)]
    disable_isa_ext_check: bool,
    /// Allow search paths from the root that match; a shell pattern
    #[arg(long, value_name = "GLOB")]
    allow_rpath: Vec<String>,
    #[command(flatten)]
    work: Work,
}

/// Where members go that must be read out of order.
#[derive(Debug, clap::Args)]
pub(super) struct Work {
    /// Put members of more than 512 MiB that must be read out of order into this folder [default: the one for temporary
    /// files]
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
}

impl Work {
    /// The folder, where files can be made in it.
    ///
    /// # Errors
    /// When none can.
    pub(super) fn room(&self) -> Result<Room, Diagnostic> {
        Ok(Room::new(self.work_dir.as_deref())?)
    }
}

/// What wheels are judged with, gathered once.
pub(super) struct Judge {
    pub(super) compat: Compat,
    libraries: Box<dyn MachineLibraries>,
    /// The C library of the machine.
    host: Family,
    root: PathBuf,
    given: Vec<String>,
    path: SearchPath,
    excludes: Excludes,
    allowed_paths: Excludes,
    policy_file: Option<PolicyFile>,
    checks_isa: bool,
    look: Look,
    watchers: Watchers,
    pub(super) room: Room,
    /// Whether large libraries are held against RECORD while they are read.
    pub(super) vouches: bool,
    /// The platform that wheels are judged for, where one is asked for.
    pub(super) wanted: Option<String>,
    tried: Mutex<Tried>,
}

/// What the patterns of libraries that are left out were tried on.
#[derive(Debug, Default)]
struct Tried {
    /// How many wheels.
    wheels: usize,
    /// The patterns that left something out, by their places.
    matched: BTreeSet<usize>,
}

impl Options {
    /// Gathers what the options name.
    ///
    /// # Errors
    /// The exit of the command, after telling which presets do not exist and what cannot be read.
    pub(super) fn judge(&self, look: Look, shell: &Shell) -> Result<Judge, Exit> {
        let compat = load::compat(shell)?;
        let mut sink = Sink::new();
        let mut patterns = self.exclude.clone();
        for name in &self.exclude_preset {
            match compat.preset(name) {
                Some(preset) => patterns.extend(preset.patterns.iter().cloned()),
                None => {
                    let known: Vec<&str> = compat.tables().presets.iter().map(|row| row.name.as_str()).collect();
                    let near = nearest::nearest(name, known.iter().copied());
                    let message = nearest::with_nearest(format!("there is no preset `{name}`"), near);
                    sink.push(
                        Diagnostic::new(&codes::UNKNOWN_PRESET, message)
                            .help(format!("known are {}", known.join(", "))),
                    );
                }
            }
        }
        if let Some(file) = &self.exclude_file {
            match sys::read_text(file, LIMIT_BYTES) {
                Ok(text) => patterns.extend(pattern_lines(&text)),
                Err(fault) => sink.push(fault.into()),
            }
        }
        let mut excludes = |patterns: &[String]| {
            Excludes::new(patterns.iter().map(String::as_str)).unwrap_or_else(|reason| {
                sink.push(Diagnostic::new(&codes::BAD_PATTERN, reason).help("shell patterns have `*`, `?` and `[…]`"));
                Excludes::default()
            })
        };
        let (excludes, allowed_paths) = (excludes(&patterns), excludes(&self.allow_rpath));
        let policy_file = self.policy_file.as_ref().and_then(|path| match sys::read_text(path, LIMIT_BYTES) {
            Ok(text) => PolicyFile::read(&Source::new(path.display().to_string(), text), &mut sink),
            Err(fault) => {
                sink.push(fault.into());
                None
            }
        });
        let room = self.work.room().unwrap_or_else(|fault| {
            sink.push(fault);
            Room::default()
        });
        let sysroot = Sysroot::new(&self.sysroot);
        if !self.no_host_libs && !sysroot.is_there() {
            sink.push(no_folder(&self.sysroot).help("no library would be found below it; correct `--sysroot`"));
        }
        let found = sink.finish();
        if found.iter().any(Diagnostic::is_error) {
            return Err(super::report(shell, &found));
        }
        let host = if !self.no_host_libs && sysroot.is_of_musl() { Family::Musllinux } else { Family::Manylinux };
        let (libraries, path): (Box<dyn MachineLibraries>, SearchPath) = if self.no_host_libs {
            (Box::new(NoLibraries), SearchPath::default())
        } else {
            let path = sysroot.search_path(self.ldpaths.as_deref(), &shell.environment);
            if self.ldpaths.is_some() {
                let told = |folder: &str| no_folder(Path::new(folder)).severity(Severity::Warning);
                let missing = sysroot.missing(&path.system).into_iter().map(told);
                shell.report(&missing.map(|one| one.help("correct `--ldpaths`")).collect::<Vec<_>>());
            }
            (Box::new(sysroot), path)
        };
        let checks_isa = !self.disable_isa_ext_check;
        let (root, given) = (self.sysroot.clone(), self.exclude.clone());
        Ok(Judge {
            compat,
            libraries,
            host,
            root,
            given,
            path,
            excludes,
            allowed_paths,
            policy_file,
            checks_isa,
            look,
            watchers: Watchers::of(shell),
            room,
            vouches: false,
            wanted: None,
            tried: Mutex::default(),
        })
    }
}

/// Judges a built wheel, the same way on every machine: what keeps it from being delivered, and what a person should
/// know. Code for GPUs must be there for these targets, and for no others, where the wheel is for one platform.
///
/// # Errors
/// Every fault that keeps the wheel from being read.
pub(in crate::cli) fn gate(
    file: &PositionalFile,
    name: &WheelName,
    compat: Compat,
    expected: &[GfxTarget],
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let judge = Judge::alone(compat, Look::Everything);
    judge.with_report(file, &name.to_string(), name, |_, report| {
        let shown = name.to_string();
        let splits = [SplitCode::new(&shown, &report.files)];
        let mut found = report.findings.clone();
        found.extend(audit::missing_archives(&splits).into_iter().flatten());
        if !expected.is_empty() && !name.is_any_platform() {
            found.extend(audit::unexpected(&shown, &report.files, &splits, expected));
        }
        found.extend(audit::too_large(&shown, file.size_bytes(), None, &judge.compat));
        found
    })
}

/// What is to be said of a wheel under another name than its own, the same way on every machine.
///
/// # Errors
/// Every fault that keeps the wheel from being read.
pub(super) fn under_name(
    file: &PositionalFile,
    name: &WheelName,
    compat: Compat,
    look: Look,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    Judge::alone(compat, look).with_report(file, &name.to_string(), name, |_, report| report.findings.clone())
}

/// Drops what another finding says with more detail: that libraries lie where pure Python code goes.
pub(super) fn told_once(found: &mut Vec<Diagnostic>) {
    if found.iter().any(|one| one.code == &rocm_codes::PURELIB_WITH_LIBRARIES) {
        found.retain(|one| one.code != &codes::PURELIB_MISMATCH);
    }
}

/// The first of some faults, for those who tell one.
pub(super) fn first(faults: Vec<Diagnostic>) -> Diagnostic {
    faults.into_iter().next().unwrap_or_else(|| Diagnostic::new(&codes::DAMAGED_ZIP, "the wheel cannot be read"))
}

/// What is wrong with a wheel: its container, members against RECORD, METADATA and WHEEL against the name, and libraries
/// that loaders refuse or crash on. Large libraries are read once for all of it.
pub(super) fn verified(file: &WheelFile, watchers: Watchers) -> Vec<Diagnostic> {
    let bar = Bar::new(watchers, &file.shown);
    let watch = |progress| bar.tell(progress);
    let whole = || wheel::verify_watched(&file.file, &file.name, &watch);
    let Ok(wheel) = Wheel::open(&file.file) else { return whole() };
    let reading = Reading {
        look: Look::Layouts,
        asked: &|_| false,
        make_scratch: &sys::scratch,
        vouching: Some(&Vouching::new(wheel.record())),
        watch: &watch,
    };
    let Ok(files) = audit::inspect(wheel.archive(), reading) else { return whole() };
    let vouched = vouched(&files);
    let mut found = verify_some(&wheel, &file.name, &|member| vouched.contains(member.name()));
    for file_facts in &files {
        let place = Place::Member { wheel: file.shown.clone(), member: file_facts.path.clone() };
        let finding =
            |fault: &LayoutFault| Diagnostic::new(&rocm_codes::DAMAGED_LAYOUT, fault.to_string()).at(place.clone(), "");
        found.extend(file_facts.layout_faults.iter().map(finding));
    }
    found
}

/// The members that were read as a whole and are what RECORD says.
pub(super) fn vouched(files: &[FileFacts]) -> BTreeSet<&str> {
    files.iter().filter(|file| file.is_vouched).map(|file| file.path.as_str()).collect()
}

/// That a folder to search libraries in is not there.
fn no_folder(path: &Path) -> Diagnostic {
    let reason = "there is no such folder".to_owned();
    sys::FileError { action: "read", path: path.to_owned(), reason, source: None }.into()
}

/// Patterns of a file: one a line, without empty lines and those that begin with `#`.
fn pattern_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned)
}

impl Judge {
    /// What judges without options, and without the libraries of the machine.
    fn alone(compat: Compat, look: Look) -> Self {
        Self {
            compat,
            libraries: Box::new(NoLibraries),
            host: Family::Manylinux,
            root: PathBuf::new(),
            given: Vec::new(),
            path: SearchPath::default(),
            excludes: Excludes::default(),
            allowed_paths: Excludes::default(),
            policy_file: None,
            checks_isa: true,
            look,
            watchers: Watchers::Nobody,
            room: Room::default(),
            vouches: false,
            wanted: None,
            tried: Mutex::default(),
        }
    }

    /// The libraries of ROCm, of which a process must hold one copy.
    pub(super) fn of_rocm(&self) -> Excludes {
        let preset = self.compat.preset("rocm").map(|preset| preset.patterns.iter().map(String::as_str));
        Excludes::new(preset.into_iter().flatten()).unwrap_or_default()
    }

    /// Search paths from the root that are allowed.
    pub(super) fn allowed_paths(&self) -> &Excludes {
        &self.allowed_paths
    }

    /// The bytes of a library of the machine.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn open(&self, real_path: &str) -> std::io::Result<Box<dyn ReadAt>> {
        self.libraries.open(real_path)
    }

    /// The folder that stands for the machine's root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Patterns of `--exclude` that left nothing out of so many wheels. None where they were not tried on all of these.
    pub(super) fn unmatched(&self, wheels: usize) -> Vec<Diagnostic> {
        let tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = self.given.iter().enumerate();
        let idle = idle.filter(|(at, _)| tried.wheels >= wheels && !tried.matched.contains(at));
        idle.map(|(_, pattern)| {
            Diagnostic::new(&codes::UNMATCHED_EXCLUDE, format!("`--exclude {pattern}` left nothing out"))
                .help("patterns match whole names: end them with `.so*`")
        })
        .collect()
    }

    /// Judges a wheel and hands the report on.
    ///
    /// # Errors
    /// Every fault that keeps the wheel from being read.
    pub(super) fn with_report<R>(
        &self,
        file: &PositionalFile,
        shown: &str,
        name: &WheelName,
        take: impl FnOnce(&Wheel<'_>, &Report<'_>) -> R,
    ) -> Result<R, Vec<Diagnostic>> {
        let fault = |error: WheelError| error.diagnostic(shown);
        let wheel = Wheel::open(file).map_err(|error| vec![fault(error)])?;
        let asked = self.asked_symbols(name);
        let bar = Bar::new(self.watchers, shown);
        let vouching = self.vouches.then(|| Vouching::new(wheel.record()));
        let reading = Reading {
            look: self.look,
            asked: &asked,
            make_scratch: &|size_bytes| self.room.scratch(size_bytes),
            vouching: vouching.as_ref(),
            watch: &|progress| bar.tell(progress),
        };
        let files = audit::inspect(wheel.archive(), reading)
            .map_err(|faults| faults.into_iter().map(fault).collect::<Vec<_>>())?;
        let selected = audit::select(name, &files);
        let policies = policies_for(&selected, name, self.host, self.policy_file.as_ref(), self.wanted.as_deref());
        let known = Known::new(self.libraries.as_ref());
        let judging = policies.as_ref().map(|policies| Judging {
            policies,
            known: &known,
            path: &self.path,
            excludes: &self.excludes,
            checks_isa: self.checks_isa,
        });
        let purelib = wheel.wheel().get("Root-Is-Purelib");
        let judged = Judged {
            compat: &self.compat,
            allowed_paths: &self.allowed_paths,
            is_purelib: purelib.is_some_and(|value| value.eq_ignore_ascii_case("true")),
        };
        let mut report = audit::report(name, files, selected, judging, judged);
        report.findings.extend(check_metadata(&wheel, name));
        told_once(&mut report.findings);
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        tried.wheels += 1;
        let trees = report.verdict.iter().flat_map(|verdict| verdict.trees.values());
        tried.matched.extend(trees.flat_map(|tree| &tree.matched));
        drop(tried);
        Ok(take(&wheel, &report))
    }

    /// The facts of some members of a wheel, which are held against its RECORD on the way. `name` is that of the wheel
    /// it was made of.
    ///
    /// # Errors
    /// Every member that cannot be read.
    pub(super) fn facts(
        &self,
        wheel: &Wheel<'_>,
        name: &WheelName,
        is_asked: &dyn Fn(&Member) -> bool,
    ) -> Result<Vec<FileFacts>, Vec<WheelError>> {
        let reading = Reading {
            look: Look::Libraries,
            asked: &self.asked_symbols(name),
            make_scratch: &|size_bytes| self.room.scratch(size_bytes),
            vouching: Some(&Vouching::new(wheel.record())),
            watch: &|_| {},
        };
        audit::inspect_some(wheel.archive(), reading, is_asked)
    }

    /// Whether policies and facts ask about an undefined symbol.
    fn asked_symbols(&self, name: &WheelName) -> impl Fn(&str) -> bool + Sync + use<> {
        let tags = name.platform.tags();
        let family = tags.iter().find_map(|tag| Family::of_platform_tag(tag)).unwrap_or(Family::Manylinux);
        let arch = tags.iter().find_map(|tag| Arch::of_platform_tag(tag)).unwrap_or(Arch::X86_64);
        let policies = match &self.policy_file {
            Some(file) => Policies::from_file(file, family, arch),
            None => Policies::builtin(family, arch),
        };
        let blacklisted: BTreeSet<String> = policies.blacklisted_symbols().map(str::to_owned).collect();
        move |symbol: &str| blacklisted.contains(symbol) || audit::is_of_torch(symbol)
    }
}

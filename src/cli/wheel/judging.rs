//! What a wheel is judged with, and the judging itself.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::bar::{Bar, Watchers};
use crate::audit::{
    self, DeviceWheels, Excludes, FileFacts, Judged, Judging, Known, Look, MachineLibraries,
    NoLibraries, Reading, Report, SearchPath, SplitCode, policies_for,
};
use crate::bytes::ReadAt;
use crate::codes::{rocm as rocm_codes, wheel as codes};
use crate::compat::Compat;
use crate::compat::policy::{PlatformPolicies, PolicyFamily, PolicyFile};
use crate::diagnostic::Diagnostic;
use crate::names::{Arch, GfxTarget, WheelName};
use crate::sys::{PositionalFile, ScratchSpace};
use crate::wheel::{RecordVerifier, Wheel, WheelError, ZipMember, check_dist_info};

/// What wheels are judged with, gathered once.
pub(super) struct Judge {
    pub(super) compat: &'static Compat,
    pub(super) libraries: Box<dyn MachineLibraries>,
    /// The C library of the machine.
    pub(super) host: PolicyFamily,
    /// The folder that stands for the machine's root.
    pub(super) root: PathBuf,
    /// The patterns of `--exclude`, which are told where they leave nothing out.
    pub(super) given: Vec<String>,
    pub(super) path: SearchPath,
    pub(super) excludes: Excludes,
    /// Search paths from the root that are allowed.
    pub(super) allowed_paths: Excludes,
    pub(super) policy_file: Option<PolicyFile>,
    pub(super) checks_isa: bool,
    pub(super) look: Look,
    pub(super) watchers: Watchers,
    pub(super) room: ScratchSpace,
    /// Whether large libraries are held against RECORD while they are read.
    pub(super) vouches: bool,
    /// The platform that wheels are judged for, where one is asked for.
    pub(super) wanted: Option<String>,
    pub(super) tried: Mutex<Tried>,
}

/// What the patterns of libraries that are left out were tried on.
#[derive(Debug, Default)]
pub(super) struct Tried {
    /// How many wheels.
    wheels: usize,
    /// The patterns that left something out, by their places.
    matched: BTreeSet<usize>,
}

/// Judges a built wheel, the same way on every machine: what keeps it from being delivered, and
/// what a person should know. Code for GPUs must be there for these targets, and for no others,
/// where the wheel is for one platform.
///
/// # Errors
/// Every fault that keeps the wheel from being read.
pub(in crate::cli) fn gate(
    file: &PositionalFile,
    name: &WheelName,
    compat: &'static Compat,
    expected: &[GfxTarget],
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let judge = Judge::alone(compat, Look::Everything);
    judge.with_report(file, &name.to_string(), name, |wheel, report| {
        let shown = name.to_string();
        let devices = DeviceWheels::new(wheel.metadata(), judge.compat);
        let splits = [SplitCode::new(&shown, &report.files).with_device_wheels(devices)];
        let mut found = report.findings.clone();
        found.extend(audit::missing_archives(&splits).into_iter().flatten());
        let package = compat.device_package(&name.distribution);
        let is_own = |target: &&GfxTarget| package.as_ref().is_none_or(|one| one.must_hold(target));
        let expected: Vec<GfxTarget> = expected.iter().filter(is_own).cloned().collect();
        if !expected.is_empty() && !name.is_any_platform() {
            found.extend(audit::unexpected(&shown, &report.files, &splits, &expected));
        }
        found.extend(audit::too_large(
            &shown,
            file.size_bytes(),
            None,
            judge.compat,
        ));
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
    compat: &'static Compat,
    look: Look,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    Judge::alone(compat, look).with_report(file, &name.to_string(), name, |_, report| {
        report.findings.clone()
    })
}

/// Drops what another finding says with more detail: that libraries lie where pure Python code
/// goes.
pub(super) fn told_once(found: &mut Vec<Diagnostic>) {
    if found
        .iter()
        .any(|one| one.code == &rocm_codes::PURELIB_WITH_LIBRARIES)
    {
        found.retain(|one| one.code != &codes::PURELIB_MISMATCH);
    }
}

/// The first of some faults, for those who tell one.
pub(super) fn first(faults: Vec<Diagnostic>) -> Diagnostic {
    faults
        .into_iter()
        .next()
        .unwrap_or_else(|| Diagnostic::new(&codes::DAMAGED_ZIP, "the wheel cannot be read"))
}

/// The members that were read as a whole and are what RECORD says.
pub(super) fn vouched(files: &[FileFacts]) -> BTreeSet<&str> {
    files
        .iter()
        .filter(|file| file.is_vouched)
        .map(|file| file.path.as_str())
        .collect()
}

impl Judge {
    /// What judges without options, and without the libraries of the machine.
    pub(super) fn alone(compat: &'static Compat, look: Look) -> Self {
        Self {
            compat,
            libraries: Box::new(NoLibraries),
            host: PolicyFamily::Manylinux,
            root: PathBuf::new(),
            given: Vec::new(),
            path: SearchPath::default(),
            excludes: Excludes::default(),
            allowed_paths: Excludes::default(),
            policy_file: None,
            checks_isa: true,
            look,
            watchers: Watchers::Nobody,
            room: ScratchSpace::default(),
            vouches: false,
            wanted: None,
            tried: Mutex::default(),
        }
    }

    /// The libraries of ROCm, of which a process must hold one copy.
    pub(super) fn of_rocm(&self) -> Excludes {
        let preset = self
            .compat
            .preset("rocm")
            .map(|preset| preset.patterns.iter().map(String::as_str));
        Excludes::new(preset.into_iter().flatten()).unwrap_or_default()
    }

    /// The bytes of a library of the machine.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn open(&self, real_path: &str) -> std::io::Result<Box<dyn ReadAt>> {
        self.libraries.open(real_path)
    }

    /// The policies of an architecture and C library, by the file of policies where there is one.
    pub(super) fn policies(&self, family: PolicyFamily, arch: Arch) -> PlatformPolicies {
        match &self.policy_file {
            Some(file) => PlatformPolicies::from_file(file, family, arch),
            None => PlatformPolicies::embedded(family, arch),
        }
    }

    /// Patterns of `--exclude` that left nothing out of so many wheels. None where they were not
    /// tried on all of these.
    pub(super) fn unmatched(&self, wheels: usize) -> Vec<Diagnostic> {
        let tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = self.given.iter().enumerate();
        let idle = idle.filter(|(at, _)| tried.wheels >= wheels && !tried.matched.contains(at));
        idle.map(|(_, pattern)| {
            Diagnostic::new(
                &codes::UNMATCHED_EXCLUDE,
                format!("`--exclude {pattern}` left nothing out"),
            )
            .help(unmatched_help(pattern))
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
        let vouching = self.vouches.then(|| RecordVerifier::new(wheel.record()));
        let reading = Reading {
            look: self.look,
            asked: &asked,
            make_scratch: &|size_bytes| self.room.allocate(size_bytes),
            vouching: vouching.as_ref(),
            watch: &|progress| bar.tell(progress),
        };
        let files = audit::inspect(wheel.archive(), reading)
            .map_err(|faults| faults.into_iter().map(fault).collect::<Vec<_>>())?;
        let selected = audit::select(name, &files);
        let policies = policies_for(
            &selected,
            name,
            self.host,
            self.policy_file.as_ref(),
            self.wanted.as_deref(),
        );
        let known = Known::new(self.libraries.as_ref());
        let judging = policies.as_ref().map(|policies| Judging {
            policies,
            known: &known,
            path: &self.path,
            excludes: &self.excludes,
            checks_isa: self.checks_isa,
            // Who asks for a platform names its C library.
            is_libc_open: selected.is_libc_open && self.wanted.is_none(),
        });
        let purelib = wheel.wheel_file().get("Root-Is-Purelib");
        let judged = Judged {
            compat: self.compat,
            allowed_paths: &self.allowed_paths,
            is_purelib: purelib.is_some_and(|value| value.eq_ignore_ascii_case("true")),
        };
        let mut report = audit::report(name, files, selected, judging, judged);
        report.findings.extend(check_dist_info(&wheel, name));
        report
            .findings
            .extend(audit::not_as_labelled(&wheel, name, self.compat));
        told_once(&mut report.findings);
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        tried.wheels += 1;
        let trees = report
            .verdict
            .iter()
            .flat_map(|verdict| verdict.trees.values());
        tried.matched.extend(trees.flat_map(|tree| &tree.matched));
        drop(tried);
        Ok(take(&wheel, &report))
    }

    /// The facts of some members of a wheel, which are held against its RECORD on the way. `name`
    /// is that of the wheel it was made of.
    ///
    /// # Errors
    /// Every member that cannot be read.
    pub(super) fn facts(
        &self,
        wheel: &Wheel<'_>,
        name: &WheelName,
        is_asked: &dyn Fn(&ZipMember) -> bool,
    ) -> Result<Vec<FileFacts>, Vec<WheelError>> {
        let reading = Reading {
            look: Look::Libraries,
            asked: &self.asked_symbols(name),
            make_scratch: &|size_bytes| self.room.allocate(size_bytes),
            vouching: Some(&RecordVerifier::new(wheel.record())),
            watch: &|_| {},
        };
        audit::inspect_some(wheel.archive(), reading, is_asked)
    }

    /// Whether policies and facts ask about an undefined symbol.
    fn asked_symbols(&self, name: &WheelName) -> impl Fn(&str) -> bool + Sync + use<> {
        let tags = name.platform.tags();
        let family = tags
            .iter()
            .find_map(|tag| PolicyFamily::of_platform_tag(tag))
            .unwrap_or(PolicyFamily::Manylinux);
        let arch = tags
            .iter()
            .find_map(|tag| Arch::of_platform_tag(tag))
            .unwrap_or(Arch::X86_64);
        let policies = self.policies(family, arch);
        let blacklisted: BTreeSet<String> =
            policies.blacklisted_symbols().map(str::to_owned).collect();
        move |symbol: &str| blacklisted.contains(symbol) || audit::is_of_torch(symbol)
    }
}

/// What to do about a pattern that left nothing out.
fn unmatched_help(pattern: &str) -> &'static str {
    if pattern.is_empty() {
        "an empty pattern matches nothing: leave it out"
    } else if pattern.contains(['*', '?', '[']) {
        "no library that is needed has such a name or path: `rock-matrix wheel show` lists them"
    } else {
        "patterns match whole names: end them with `.so*`"
    }
}

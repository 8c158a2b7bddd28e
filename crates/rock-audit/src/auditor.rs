//! The audit of a wheel: inspects its members, evaluates the policies, and collects findings.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::audited::AuditedWheel;
use super::audited_libraries::{AuditedLibraries, claimed_platform};
use super::compliance::{Compliance, PolicyContext, evaluate_policies};
use super::embed::check_embedding_label;
use super::findings::{
    CheckContext, findings, is_torch_symbol, remove_superseded, rocm_majors, torch_need,
};
use super::inspect::{
    InspectOptions, InspectedFile, Inspection, inspect_members, inspect_selected_members,
};
use super::pattern::LibraryPatterns;
use super::progress::{NoProgress, ProgressReporter};
use super::provider::{LibraryCache, LibraryProvider};
use super::search_path::LibrarySearchPath;
use rock_bytes::{ReadAt, ScratchFactory, ScratchStorage};
use rock_compat::Compat;
use rock_compat::policy::{PlatformPolicies, PolicyFamily, PolicyFile};
use rock_diagnostic::{Diagnostic, Diagnostics};
use rock_names::{Arch, WheelName};
use rock_sys::ScratchSpace;
use rock_wheel::{RecordVerifier, Wheel, WheelError, ZipMember, check_dist_info};

/// Options that apply to every wheel of a run.
#[derive(Debug, Clone, Default)]
pub struct AuditOptions {
    /// The subjects of the inspection of each member.
    pub inspection: Inspection,
    /// Libraries that are never grafted and never reported as missing; none by default. The command
    /// line excludes the [presets](Compat::preset) `rocm`, `torch` and `cuda` in a repair.
    pub exclude: LibraryPatterns,
    /// Absolute RPATH entries that are not reported.
    pub allowed_rpaths: LibraryPatterns,
    /// Policies to use instead of the built-in PEP 600 and PEP 656 tables.
    pub policies: Option<PolicyFile>,
    /// Whether code for x86-64-v2 and later complies with policies, like auditwheel's
    /// `--disable-isa-ext-check`.
    pub ignore_isa_extensions: bool,
    /// The platform tag that wheels should comply with; `None` for the most compatible one of each.
    ///
    /// Names the C library of a wheel that does not identify its own, and selects the musllinux
    /// policy, since musl has no symbol versions. A repair sets this tag.
    pub requested_platform: Option<String>,
    /// Whether the digests of large libraries are verified while they are read; see
    /// [`InspectedFile::record_verified`].
    pub verify_record: bool,
    /// The storage for members of more than 512 MiB that must be read out of order.
    pub scratch: ScratchSpace,
}

/// The error returned by [`Auditor::audit`].
#[derive(Debug, thiserror::Error)]
#[error("`{file_name}` cannot be read: {}", .errors.first().map(ToString::to_string).unwrap_or_default())]
#[non_exhaustive]
pub struct AuditError {
    /// The file name of the wheel.
    pub file_name: String,
    /// The error that keeps the archive from being read, or one error for each unreadable member.
    pub errors: Vec<WheelError>,
}

impl AuditError {
    /// Returns a diagnostic for each error.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.errors
            .iter()
            .map(|error| error.diagnostic(&self.file_name))
            .collect()
    }
}

impl From<AuditError> for Diagnostics {
    fn from(error: AuditError) -> Self {
        error.diagnostics().into()
    }
}

/// Audits wheels against platform policies and ROCm compatibility data.
///
/// An auditor holds what all wheels of a run share: compatibility data, options, and a cache of the
/// libraries found on this machine. It can audit wheels on several threads.
///
/// ```
/// use rock_audit::{AuditOptions, Auditor, NoLibraries};
/// use rock_compat::Compat;
///
/// let compat = Compat::embedded();
/// let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
/// ```
pub struct Auditor<'a> {
    compat: &'a Compat,
    libraries: LibraryCache<'a>,
    search_path: LibrarySearchPath,
    options: AuditOptions,
    progress: Box<dyn ProgressReporter + 'a>,
    scratch: Box<SharedScratchFactory>,
    exclude_usage: Mutex<PatternUsage>,
}

/// A [`ScratchFactory`] that can be sent to another thread with its auditor.
type SharedScratchFactory = dyn Fn(u64) -> io::Result<Box<dyn ScratchStorage>> + Send + Sync;

/// The exclude patterns that matched a library in one of the audited wheels.
#[derive(Debug, Default)]
struct PatternUsage {
    audited_count: usize,
    /// Indexes of the patterns that matched.
    matching_excludes: BTreeSet<usize>,
}

impl std::fmt::Debug for Auditor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auditor")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<'a> Auditor<'a> {
    /// Creates an auditor that takes external libraries from `libraries`.
    ///
    /// Pass [`NoLibraries`](crate::NoLibraries) to get the same result on every machine.
    pub fn new(
        compat: &'a Compat,
        libraries: impl LibraryProvider + 'a,
        options: AuditOptions,
    ) -> Self {
        let scratch = options.scratch.clone();
        Self {
            compat,
            search_path: libraries.search_path(),
            libraries: LibraryCache::new(libraries),
            options,
            progress: Box::new(NoProgress),
            scratch: Box::new(move |size_bytes| scratch.allocate(size_bytes)),
            exclude_usage: Mutex::default(),
        }
    }

    /// Reports progress to `progress`.
    #[must_use]
    pub fn with_progress(mut self, progress: impl ProgressReporter + 'a) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// Audits a wheel.
    ///
    /// `name` may differ from the name of the file, for example to check a new label before the
    /// wheel is renamed. Problems of the wheel, even severe ones such as a damaged ELF file, are
    /// [findings](AuditedWheel::findings) and not errors.
    ///
    /// # Errors
    ///
    /// Returns an error if the archive or any of its members cannot be read. All unreadable members
    /// are reported, not only the first.
    pub fn audit<'w>(
        &'w self,
        name: &WheelName,
        file: &'w dyn ReadAt,
    ) -> Result<AuditedWheel<'w>, AuditError> {
        self.audit_as(&name.to_string(), name, file)
    }

    /// Audits a wheel as [`audit`](Self::audit) does. Errors and progress are about `file_name`,
    /// which may be spelled otherwise than `name`, for example percent-encoded.
    ///
    /// # Errors
    ///
    /// Returns an error if the archive or any of its members cannot be read.
    pub fn audit_as<'w>(
        &'w self,
        file_name: &str,
        name: &WheelName,
        file: &'w dyn ReadAt,
    ) -> Result<AuditedWheel<'w>, AuditError> {
        let audit_error = |errors| AuditError {
            file_name: file_name.to_owned(),
            errors,
        };
        let wheel = Wheel::open(file).map_err(|error| audit_error(vec![error]))?;
        let files = self.inspect(&wheel, file_name, name).map_err(audit_error)?;
        let libraries = AuditedLibraries::select(file_name, name, &files);
        let compliance = self.select_policies(&libraries, name).map(|policies| {
            // A requested platform names its C library.
            let calls_unidentified_libc =
                libraries.calls_unidentified_libc() && self.options.requested_platform.is_none();
            evaluate_policies(
                &files,
                &libraries.file_indexes,
                &Arc::new(policies),
                self.policy_context(calls_unidentified_libc),
            )
        });
        let context = CheckContext {
            file_name,
            name,
            files: &files,
            compliance: compliance.as_ref(),
            foreign_system: libraries.foreign_system,
            is_purelib: is_purelib(&wheel),
            scanned_code: self.options.inspection.scans(),
            compat: self.compat,
            allowed_rpaths: &self.options.allowed_rpaths,
        };
        let rocm_majors = rocm_majors(context);
        let torch = torch_need(context);
        let mut all = libraries.findings;
        all.extend(findings(context));
        all.extend(check_dist_info(&wheel, file_name, name));
        all.extend(check_embedding_label(&wheel, file_name, name, self.compat));
        remove_superseded(&mut all);
        self.record_exclude_usage(compliance.as_ref());
        Ok(AuditedWheel {
            auditor: self,
            file_name: file_name.to_owned(),
            name: name.clone(),
            file,
            wheel,
            files,
            arch: libraries.arch,
            compliance,
            foreign_system: libraries.foreign_system,
            rocm_majors,
            torch,
            findings: all,
        })
    }

    /// Returns the number of wheels audited so far, without those that could not be read.
    pub fn audited_count(&self) -> usize {
        self.exclude_usage().audited_count
    }

    /// Returns the exclude patterns that matched no library in any wheel audited so far.
    pub fn unmatched_excludes(&self) -> Vec<&str> {
        let usage = self.exclude_usage();
        self.options
            .exclude
            .texts()
            .enumerate()
            .filter(|(index, _)| !usage.matching_excludes.contains(index))
            .map(|(_, pattern)| pattern)
            .collect()
    }

    /// Returns the compatibility data.
    pub fn compat(&self) -> &'a Compat {
        self.compat
    }

    /// Returns the options.
    pub fn options(&self) -> &AuditOptions {
        &self.options
    }

    pub(super) fn libraries(&self) -> &dyn LibraryProvider {
        self.libraries.provider()
    }

    pub(super) fn progress(&self) -> &dyn ProgressReporter {
        self.progress.as_ref()
    }

    pub(super) fn scratch(&self) -> &ScratchFactory<'static> {
        &*self.scratch
    }

    /// Returns the policies of a C library and an architecture.
    pub(super) fn policies(&self, family: PolicyFamily, arch: Arch) -> PlatformPolicies {
        match &self.options.policies {
            Some(file) => PlatformPolicies::from_file(file, family, arch),
            None => PlatformPolicies::embedded(family, arch),
        }
    }

    /// Returns the settings for evaluating policies; see [`Compliance::calls_unidentified_libc`].
    pub(super) fn policy_context(&self, calls_unidentified_libc: bool) -> PolicyContext<'_> {
        PolicyContext {
            libraries: &self.libraries,
            search_path: &self.search_path,
            exclude: &self.options.exclude,
            checks_isa: !self.options.ignore_isa_extensions,
            calls_unidentified_libc,
        }
    }

    /// Counts an audited wheel, and the exclude patterns that matched one of its libraries.
    fn record_exclude_usage(&self, compliance: Option<&Compliance>) {
        let trees = compliance
            .into_iter()
            .flat_map(|compliance| compliance.trees.values());
        let mut usage = self.exclude_usage();
        usage.audited_count += 1;
        usage
            .matching_excludes
            .extend(trees.flat_map(|tree| &tree.matching_excludes));
    }

    fn exclude_usage(&self) -> MutexGuard<'_, PatternUsage> {
        self.exclude_usage
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn inspect(
        &self,
        wheel: &Wheel<'_>,
        file_name: &str,
        name: &WheelName,
    ) -> Result<Vec<InspectedFile>, Vec<WheelError>> {
        let record = self
            .options
            .verify_record
            .then(|| RecordVerifier::new(wheel.record()));
        let progress = self.progress.start(file_name);
        let options = InspectOptions {
            inspection: self.options.inspection,
            keeps_symbol: &self.kept_symbols(name),
            make_scratch: self.scratch(),
            record: record.as_ref(),
            progress: progress.as_ref(),
        };
        inspect_members(wheel.archive(), options)
    }

    /// Inspects the members of a repaired wheel that `is_selected` selects, and verifies them
    /// against its RECORD. `name` is that of the original wheel.
    pub(super) fn inspect_repaired(
        &self,
        wheel: &Wheel<'_>,
        name: &WheelName,
        is_selected: &dyn Fn(&ZipMember) -> bool,
    ) -> Result<Vec<InspectedFile>, Vec<WheelError>> {
        let options = InspectOptions {
            inspection: Inspection::LIBRARIES,
            keeps_symbol: &self.kept_symbols(name),
            make_scratch: self.scratch(),
            record: Some(&RecordVerifier::new(wheel.record())),
            progress: &|_| {},
        };
        inspect_selected_members(wheel.archive(), options, is_selected)
    }

    /// Returns a function that selects the undefined symbols that policies and compatibility data
    /// are about.
    fn kept_symbols(&self, name: &WheelName) -> impl Fn(&str) -> bool + Sync + use<> {
        let (libc, arch) = claimed_platform(name);
        let policies = self.policies(
            libc.unwrap_or(PolicyFamily::Manylinux),
            arch.unwrap_or(Arch::X86_64),
        );
        let blacklisted: BTreeSet<String> =
            policies.blacklisted_symbols().map(str::to_owned).collect();
        move |symbol: &str| blacklisted.contains(symbol) || is_torch_symbol(symbol)
    }

    /// Selects the policies that a wheel is audited against; those of the system's C library if
    /// nothing identifies the wheel's, and none for a wheel without libraries.
    ///
    /// musl has no symbol versions, so nothing inside a wheel distinguishes its policies. The
    /// requested one is selected, or the one that the name claims, or else the newest.
    fn select_policies(
        &self,
        libraries: &AuditedLibraries,
        name: &WheelName,
    ) -> Option<PlatformPolicies> {
        if libraries.file_indexes.is_empty() {
            return None;
        }
        let family = libraries.libc.unwrap_or(self.libraries().libc());
        let policies = self.policies(family, libraries.arch?);
        if family != PolicyFamily::Musllinux {
            return Some(policies);
        }
        let mut claims = name
            .platform_tags()
            .iter()
            .filter_map(|tag| policies.for_tag(tag));
        let requested = self
            .options
            .requested_platform
            .as_deref()
            .and_then(|tag| policies.get(tag))
            .filter(|policy| !policy.is_linux());
        let claimed = requested.or_else(|| claims.find(|policy| !policy.is_linux()));
        Some(policies.only(claimed.unwrap_or(policies.lowest())))
    }
}

/// Returns whether WHEEL has `Root-Is-Purelib: true`.
pub(super) fn is_purelib(wheel: &Wheel<'_>) -> bool {
    wheel
        .wheel_file()
        .get("Root-Is-Purelib")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests {
    use super::Auditor;

    #[test]
    fn auditors_can_be_sent_to_threads() {
        fn assert_send_and_sync<T: Send + Sync>() {}
        assert_send_and_sync::<Auditor<'_>>();
    }
}

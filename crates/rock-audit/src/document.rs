//! JSON documents of audits, with the keys of auditwheel's `show --json` and our own.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::audited::AuditedWheel;
use super::compliance::{Compliance, PolicyViolations};
use super::findings::{KpackLocation, SplitCode, kpack_locations};
use super::inspect::{InspectedFile, InspectedKind};
use super::library::ElfLibrary;
use super::resolve::ResolvedLibrary;
use rock_codeobj::{CodeInventory, InventoryTotals};
use rock_diagnostic::{Diagnostic, Location};

/// The version of the document, of auditwheel and of ours.
const VERSION: u32 = 1;

/// The document that `wheel show --json` prints for one wheel. Unknown values have no key.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AuditDocument {
    version: u32,
    wheel: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pure: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overall_tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sym_tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pyfpe: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ucs2: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unsupported_isa: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    versioned_symbols: Option<BTreeMap<String, Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_libs: Option<BTreeMap<String, Option<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_upgrades: Option<BTreeMap<String, PolicyUpgrade>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rock: Option<RockKeys>,
}

/// The needs that a policy does not permit.
#[derive(Debug, Clone, Serialize)]
struct PolicyUpgrade {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    libs_to_eliminate: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    blacklisted_symbols: BTreeMap<String, Vec<String>>,
}

/// The keys below `rock`, which auditwheel does not have.
#[derive(Debug, Clone, Serialize)]
struct RockKeys {
    claimed_tags: Vec<String>,
    claimed_ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    own_sym_tag: Option<String>,
    findings: Vec<FindingView>,
    elf: BTreeMap<String, FileView>,
    gfx: GfxDocument,
    rocm_sonames: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    torch: Option<TorchView>,
    excluded: Vec<String>,
}

/// The platform, ROCm and torch of a wheel: the keys of an [`AuditDocument`] that are also printed
/// for a checked wheel.
#[derive(Debug, Clone, Serialize)]
pub struct AuditFacts {
    claimed_tags: Vec<String>,
    claimed_ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    own_sym_tag: Option<String>,
    rocm_sonames: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    torch: Option<TorchView>,
}

impl AuditFacts {
    /// Returns the facts of an audited wheel.
    pub fn new(audited: &AuditedWheel<'_>) -> Self {
        Self {
            claimed_tags: audited.name.platform_tags().as_slice().to_vec(),
            claimed_ok: audited.is_claim_accurate(),
            own_sym_tag: audited
                .compliance
                .as_ref()
                .map(|compliance| compliance.own_symbol_policy().tag()),
            rocm_sonames: lists(&audited.rocm_majors),
            torch: audited.torch.as_ref().map(|torch| TorchView {
                minors: torch.minors.clone(),
                because: torch.because.clone(),
            }),
        }
    }
}

/// The torch versions that libraries were built against.
#[derive(Debug, Clone, Serialize)]
struct TorchView {
    minors: Vec<String>,
    because: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct FileView {
    needed: Vec<String>,
    soname: Option<String>,
    rpath: Option<String>,
    runpath: Option<String>,
    max_versions: BTreeMap<String, String>,
}

impl FileView {
    fn new(library: &ElfLibrary) -> Self {
        Self {
            needed: library.needed.clone(),
            soname: library.soname.clone(),
            rpath: library.rpath.clone(),
            runpath: library.runpath.clone(),
            max_versions: library
                .newest_versions()
                .into_values()
                .filter_map(|version| version.split_once('_'))
                .map(|(prefix, number)| (prefix.to_owned(), number.to_owned()))
                .collect(),
        }
    }
}

/// A finding as JSON.
#[derive(Debug, Clone, Serialize)]
pub struct FindingView {
    code: &'static str,
    name: &'static str,
    severity: String,
    /// The first of `paths`.
    path: Option<String>,
    /// The members that the finding is about.
    paths: Vec<String>,
    message: String,
    help: Option<String>,
}

impl FindingView {
    /// Creates the view of a finding, with the members that it is about.
    pub fn new(finding: &Diagnostic) -> Self {
        let paths = finding_paths(finding);
        Self {
            code: finding.code.id,
            name: finding.code.name,
            severity: finding.severity.to_string(),
            path: paths.first().map(|path| (*path).to_owned()),
            paths: paths.into_iter().map(str::to_owned).collect(),
            message: finding.message.clone(),
            help: finding.help.clone(),
        }
    }
}

/// Returns the members that a finding is about: the first one that it points at, and others of which
/// it is true. Empty for a finding about the whole wheel.
pub fn finding_paths(finding: &Diagnostic) -> Vec<&str> {
    let mut labels = finding.labels.iter();
    let Some(first) = labels.find_map(|label| member_of(&label.location)) else {
        return Vec::new();
    };
    let others = finding.other_files().filter_map(member_of);
    std::iter::once(first).chain(others).collect()
}

fn member_of(location: &Location) -> Option<&str> {
    match location {
        Location::Member { member, .. } => Some(member),
        _ => None,
    }
}

/// The keys of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonDialect {
    /// auditwheel's keys and the key `rock`.
    Rock,
    /// auditwheel's keys alone.
    Auditwheel,
}

impl AuditDocument {
    /// Creates the document of an audited wheel. `pure` is that of [`AuditedWheel::is_pure`].
    pub fn new(audited: &AuditedWheel<'_>, dialect: JsonDialect) -> Self {
        let has_libraries = audited.files.iter().any(InspectedFile::is_loadable);
        let error = match audited.foreign_system.filter(|_| has_libraries) {
            Some(system) => Some(format!("libraries for {system} are not audited")),
            None => audited
                .has_unaudited_libraries()
                .then(|| "no library of the wheel can be audited".to_owned()),
        };
        // auditwheel's schema of an error has no `pure` (`show-schema.json`).
        let has_pure = error.is_none() || dialect == JsonDialect::Rock;
        let document = Self {
            version: VERSION,
            wheel: audited.name.to_string(),
            pure: has_pure.then(|| audited.is_pure()),
            error,
            rock: (dialect == JsonDialect::Rock).then(|| RockKeys::new(audited)),
            ..Self::default()
        };
        match &audited.compliance {
            Some(compliance) => document.with_compliance(compliance),
            None => document,
        }
    }

    /// Adds findings and archive locations that need the other wheels of the run, of which `wheels`
    /// is the split-off code.
    #[must_use]
    pub fn with_other_wheels(
        mut self,
        files: &[InspectedFile],
        wheels: &[SplitCode],
        findings: &[Diagnostic],
    ) -> Self {
        if let Some(keys) = &mut self.rock {
            keys.findings.extend(findings.iter().map(FindingView::new));
            keys.gfx = GfxDocument::with_other_wheels(&self.wheel, files, wheels);
        }
        self
    }

    /// Creates the document of a wheel that cannot be read, with the reason.
    pub fn of_error(wheel: &str, error: String) -> Self {
        Self {
            version: VERSION,
            wheel: wheel.to_owned(),
            error: Some(error),
            ..Self::default()
        }
    }

    /// Adds the keys of an evaluation.
    fn with_compliance(self, compliance: &Compliance) -> Self {
        let overall = compliance.overall_policy();
        let external = compliance.violations.first().map(|found| &found.libraries);
        Self {
            overall_tag: Some(overall.tag()),
            sym_tag: Some(compliance.symbol_policy().tag()),
            pyfpe: Some(compliance.uses_pyfpe),
            ucs2: Some(compliance.uses_ucs2),
            unsupported_isa: Some(compliance.isa_policy().is_linux()),
            versioned_symbols: Some(lists(&compliance.versions)),
            external_libs: Some(
                external
                    .into_iter()
                    .flatten()
                    .map(|(name, library)| (name.clone(), system_path(library)))
                    .collect(),
            ),
            policy_upgrades: Some(
                compliance
                    .violations
                    .iter()
                    .filter(|found| !found.libraries.is_empty() || !found.blacklisted.is_empty())
                    .map(|found| (compliance.policy(found.policy), PolicyUpgrade::new(found)))
                    .filter(|(policy, _)| policy.priority() > overall.priority())
                    .map(|(policy, upgrade)| (policy.tag(), upgrade))
                    .collect(),
            ),
            ..self
        }
    }
}

impl PolicyUpgrade {
    fn new(violations: &PolicyViolations) -> Self {
        Self {
            libs_to_eliminate: violations.libraries.keys().cloned().collect(),
            blacklisted_symbols: lists(&violations.blacklisted),
        }
    }
}

fn lists(sets: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, Vec<String>> {
    sets.iter()
        .map(|(key, values)| (key.clone(), values.iter().cloned().collect()))
        .collect()
}

/// Returns the path of a library of the system.
fn system_path(library: &ResolvedLibrary) -> Option<String> {
    match library {
        ResolvedLibrary::System(system) => Some(system.real_path.clone()),
        _ => None,
    }
}

impl RockKeys {
    fn new(audited: &AuditedWheel<'_>) -> Self {
        let mut elf = BTreeMap::new();
        for file in &audited.files {
            let InspectedKind::Library(library) = &file.kind else {
                continue;
            };
            elf.insert(file.path.clone(), FileView::new(library));
        }
        let excluded = audited
            .compliance
            .iter()
            .flat_map(|compliance| compliance.trees.values())
            .flat_map(|tree| &tree.excluded);
        let AuditFacts {
            claimed_tags,
            claimed_ok,
            own_sym_tag,
            rocm_sonames,
            torch,
        } = AuditFacts::new(audited);
        Self {
            claimed_tags,
            claimed_ok,
            own_sym_tag,
            findings: audited.findings.iter().map(FindingView::new).collect(),
            elf,
            gfx: GfxDocument::new(&audited.files),
            rocm_sonames,
            torch,
            excluded: excluded
                .cloned()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
        }
    }
}

/// The GPU code of a wheel as JSON.
#[derive(Debug, Clone, Serialize)]
pub struct GfxDocument {
    targets: Vec<String>,
    bundles: u64,
    code_object_versions: Vec<u8>,
    packed_bytes: u64,
    raw_bytes: u64,
    sources: u64,
    /// Targets whose code is in other wheels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elsewhere: Vec<String>,
    files: BTreeMap<String, GfxFile>,
}

#[derive(Debug, Clone, Serialize)]
struct GfxFile {
    containers: Vec<String>,
    places: Vec<String>,
    bundles: u64,
    wrappers: u64,
    targets: BTreeMap<String, GfxTotals>,
    code_object_versions: Vec<u8>,
    packed_bytes: u64,
    raw_bytes: u64,
    /// Locations of split-off code by target.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    archives: BTreeMap<String, Vec<ArchiveView>>,
}

#[derive(Debug, Clone, Serialize)]
struct ArchiveView {
    wheel: String,
    path: String,
}

impl From<KpackLocation> for ArchiveView {
    fn from(location: KpackLocation) -> Self {
        Self {
            wheel: location.wheel,
            path: location.path,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct GfxTotals {
    objects: u64,
    bytes: u64,
}

impl GfxDocument {
    /// Creates the document of the files of a wheel.
    pub fn new(files: &[InspectedFile]) -> Self {
        let mut union = InventoryTotals::default();
        let mut by_path = BTreeMap::new();
        for file in files {
            match &file.kind {
                InspectedKind::Source(kind) => union.count_source(*kind),
                _ => union.add(&file.inventory),
            }
            if !file.inventory.is_empty() {
                by_path.insert(file.path.clone(), GfxFile::new(&file.inventory));
            }
        }
        Self {
            targets: union.targets.keys().map(ToString::to_string).collect(),
            bundles: union.bundles,
            code_object_versions: union.code_object_versions.iter().copied().collect(),
            packed_bytes: union.packed_bytes,
            raw_bytes: union.raw_bytes,
            sources: union.sources.values().sum(),
            elsewhere: Vec::new(),
            files: by_path,
        }
    }

    /// Creates the document of the files of a wheel, with the archives of `wheels` that its
    /// libraries refer to.
    pub fn with_other_wheels(wheel: &str, files: &[InspectedFile], wheels: &[SplitCode]) -> Self {
        let mut document = Self::new(files);
        let mut elsewhere = BTreeSet::new();
        for file in files {
            let locations = kpack_locations(&file.path, &file.inventory.kpack_references, wheels);
            elsewhere.extend(
                locations
                    .iter()
                    .filter(|(_, archives)| archives.iter().all(|archive| archive.wheel != wheel))
                    .map(|(target, _)| target.clone()),
            );
            if let Some(view) = document.files.get_mut(&file.path) {
                view.archives = locations
                    .into_iter()
                    .map(|(target, archives)| {
                        let archives = archives.into_iter().map(ArchiveView::from).collect();
                        (target.to_string(), archives)
                    })
                    .collect();
            }
        }
        document.elsewhere = elsewhere.iter().map(ToString::to_string).collect();
        document
    }

    /// Returns the targets of all files, sorted.
    pub fn targets(&self) -> &[String] {
        &self.targets
    }

    /// Returns the targets for which libraries of the wheel have code in other wheels, sorted.
    pub fn elsewhere(&self) -> &[String] {
        &self.elsewhere
    }
}

impl GfxFile {
    fn new(inventory: &CodeInventory) -> Self {
        let places: BTreeSet<String> = inventory
            .containers
            .iter()
            .map(|container| container.location.to_string())
            .collect();
        Self {
            containers: inventory.kinds().iter().map(ToString::to_string).collect(),
            places: places.into_iter().collect(),
            bundles: inventory.bundles().count() as u64,
            wrappers: inventory.wrappers,
            targets: inventory
                .targets()
                .into_iter()
                .map(|(target, totals)| {
                    (
                        target.to_string(),
                        GfxTotals {
                            objects: totals.objects,
                            bytes: totals.bytes,
                        },
                    )
                })
                .collect(),
            code_object_versions: inventory.code_object_versions().into_iter().collect(),
            packed_bytes: inventory.packed_bytes(),
            raw_bytes: inventory.raw_bytes(),
            archives: BTreeMap::new(),
        }
    }
}

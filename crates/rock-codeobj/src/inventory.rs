//! The code inventory of a file, and the totals of many files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::data_file::{DataFile, SourceKind};
use super::entry::ContainerEntry;
use super::kpack::{KpackArchive, KpackReference};
use super::layout::FileRange;
use super::scan::ScanLimit;
use super::target::CodeTarget;

/// The kind of a code container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeContainerKind {
    /// An offload bundle.
    Bundle,
    /// A compressed bundle (CCOB), with the version of its header.
    Compressed(u8),
    /// A code object without a bundle.
    Elf,
    /// A kpack archive; only its table of contents is read.
    Kpack,
    /// A data file of a library; only its path is read.
    Data,
}

impl fmt::Display for CodeContainerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundle => f.write_str("bundle"),
            Self::Compressed(version) => write!(f, "ccob{version}"),
            Self::Elf => f.write_str("elf"),
            Self::Kpack => f.write_str("kpack"),
            Self::Data => f.write_str("data"),
        }
    }
}

/// The place of a code container in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeLocation {
    /// The container is the file.
    File,
    /// In the section for bundles, with its name.
    Section(&'static str),
    /// Elsewhere in the loaded part: the name of the section; empty in a file without sections.
    Embedded(String),
}

impl fmt::Display for CodeLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("file"),
            Self::Section(name) => f.write_str(name),
            Self::Embedded(_) => f.write_str("embedded"),
        }
    }
}

/// A code container: an offload bundle, code object, kpack archive or data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeContainer {
    /// Its kind.
    pub kind: CodeContainerKind,
    /// Its place in the file.
    pub location: CodeLocation,
    /// File offset.
    pub offset: u64,
    /// Size in the file, in bytes.
    pub packed_bytes: u64,
    /// Decompressed size, in bytes.
    pub raw_bytes: u64,
    /// The entries; a code object without a bundle is one entry.
    pub entries: Vec<ContainerEntry>,
    /// The targets by table of contents or file name, for containers without entries.
    pub declared_targets: Vec<CodeTarget>,
}

impl CodeContainer {
    /// Returns `true` for an offload bundle, compressed or not.
    pub fn is_bundle(&self) -> bool {
        matches!(
            self.kind,
            CodeContainerKind::Bundle | CodeContainerKind::Compressed(_)
        )
    }

    /// Returns the entries with code for a GPU.
    pub fn device_entries(&self) -> impl Iterator<Item = &ContainerEntry> {
        self.entries.iter().filter(|entry| entry.is_device())
    }
}

/// A malformed bundle or code object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeDamage {
    /// Its file offset.
    pub offset: u64,
    /// The problem, as the predicate of a sentence about the bundle or code object.
    pub reason: String,
}

/// An entry whose ID contradicts the ELF header of its code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetMismatch {
    /// File offset of the bundle.
    pub bundle_offset: u64,
    /// Offset of the entry in the decompressed bundle.
    pub entry_offset: u64,
    /// The target by ID.
    pub id_target: CodeTarget,
    /// The target by ELF header.
    pub header_target: CodeTarget,
}

/// The amount of code for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TargetTotals {
    /// Number of code objects; 0 if the target is only known by file name or table of contents.
    pub objects: u64,
    /// Their decompressed size, in bytes.
    pub bytes: u64,
}

/// The code inventory of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeInventory {
    /// The code containers, sorted by offset.
    pub containers: Vec<CodeContainer>,
    /// The section for bundles, if it occupies bytes of the file.
    pub fatbin: Option<FileRange>,
    /// Number of fatbin wrappers that register bundles.
    pub wrappers: u64,
    /// Number of fatbin wrappers that refer to kpack archives.
    pub kpack_wrappers: u64,
    /// The references to kpack archives.
    pub kpack_references: Vec<KpackReference>,
    /// For a kpack archive, the names in its table of contents; see
    /// [`KpackReference::is_contained_in`].
    pub kpack_names: Vec<String>,
    /// Malformed bundles and code objects, sorted by offset.
    pub damages: Vec<CodeDamage>,
    /// Exceeded limits. If there are any, the inventory is incomplete.
    pub limits: BTreeSet<ScanLimit>,
}

impl CodeInventory {
    /// Creates the inventory of a kpack archive.
    pub fn from_kpack(kpack: &KpackArchive, size_bytes: u64) -> Self {
        let kpack_names = kpack.kernel_names.clone();
        Self {
            kpack_names,
            ..Self::with_declared_targets(
                CodeContainerKind::Kpack,
                size_bytes,
                kpack.targets.clone(),
            )
        }
    }

    /// Creates the inventory of a data file.
    pub fn from_data_file(data: &DataFile, size_bytes: u64) -> Self {
        Self::with_declared_targets(
            CodeContainerKind::Data,
            size_bytes,
            data.target.iter().cloned().collect(),
        )
    }

    fn with_declared_targets(
        kind: CodeContainerKind,
        size_bytes: u64,
        declared_targets: Vec<CodeTarget>,
    ) -> Self {
        let container = CodeContainer {
            kind,
            location: CodeLocation::File,
            offset: 0,
            packed_bytes: size_bytes,
            raw_bytes: size_bytes,
            entries: Vec::new(),
            declared_targets,
        };
        Self {
            containers: vec![container],
            ..Self::default()
        }
    }

    /// Returns `true` if the file contains nothing related to GPUs.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the targets, each with the amount of code for it.
    pub fn targets(&self) -> BTreeMap<CodeTarget, TargetTotals> {
        let mut targets: BTreeMap<CodeTarget, TargetTotals> = BTreeMap::new();
        for container in &self.containers {
            for entry in container.device_entries() {
                let Some(target) = entry.target() else {
                    continue;
                };
                let totals = targets.entry(target.clone()).or_default();
                totals.objects += 1;
                totals.bytes = totals.bytes.saturating_add(entry.size_bytes);
            }
            for target in &container.declared_targets {
                targets.entry(target.clone()).or_default();
            }
        }
        targets
    }

    /// Returns the kinds of the code containers.
    pub fn kinds(&self) -> BTreeSet<CodeContainerKind> {
        self.containers
            .iter()
            .map(|container| container.kind)
            .collect()
    }

    /// Returns the offload bundles, compressed or not.
    pub fn bundles(&self) -> impl Iterator<Item = &CodeContainer> {
        self.containers
            .iter()
            .filter(|container| container.is_bundle())
    }

    /// Returns the number of bundles in the section for bundles.
    pub fn fatbin_bundles(&self) -> u64 {
        self.bundles()
            .filter(|bundle| matches!(bundle.location, CodeLocation::Section(_)))
            .count() as u64
    }

    /// Returns `true` if the file has a section for bundles, and the number of bundles in it
    /// differs from the number of fatbin wrappers.
    pub fn has_wrapper_mismatch(&self) -> bool {
        self.fatbin.is_some() && self.wrappers != self.fatbin_bundles()
    }

    /// Returns the bundles without code for a GPU: with no entry except for the host's, or only
    /// empty ones.
    pub fn empty_bundles(&self) -> impl Iterator<Item = &CodeContainer> {
        self.bundles()
            .filter(|bundle| bundle.device_entries().next().is_none())
    }

    /// Returns the entries whose ID contradicts the ELF header of their code object.
    pub fn mismatches(&self) -> Vec<TargetMismatch> {
        let entries = self
            .containers
            .iter()
            .flat_map(|container| container.entries.iter().map(move |e| (container, e)));
        let mismatch = |(container, entry): (&CodeContainer, &ContainerEntry)| {
            Some(TargetMismatch {
                bundle_offset: container.offset,
                entry_offset: entry.offset,
                id_target: entry.target()?.clone(),
                header_target: entry.object.as_ref()?.target.clone(),
            })
        };
        entries
            .filter(|(_, entry)| entry.is_mismatch())
            .filter_map(mismatch)
            .collect()
    }

    /// Returns the code object versions, from 2.
    pub fn code_object_versions(&self) -> BTreeSet<u8> {
        let entries = self
            .containers
            .iter()
            .flat_map(|container| &container.entries);
        entries
            .filter_map(|entry| entry.object.as_ref()?.version)
            .collect()
    }

    /// Returns the size of all code containers in the file, in bytes.
    pub fn packed_bytes(&self) -> u64 {
        self.containers.iter().fold(0, |sum, container| {
            sum.saturating_add(container.packed_bytes)
        })
    }

    /// Returns the decompressed size of all code containers, in bytes.
    pub fn raw_bytes(&self) -> u64 {
        self.containers
            .iter()
            .fold(0, |sum, container| sum.saturating_add(container.raw_bytes))
    }
}

/// The totals of the code inventories of many files, such as a wheel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InventoryTotals {
    /// Number of files with a nonempty inventory.
    pub files: u64,
    /// Returns the targets, each with the amount of code for it.
    pub targets: BTreeMap<CodeTarget, TargetTotals>,
    /// Returns the kinds of the code containers.
    pub kinds: BTreeSet<CodeContainerKind>,
    /// Number of offload bundles, compressed or not.
    pub bundles: u64,
    /// Returns the code object versions, from 2.
    pub code_object_versions: BTreeSet<u8>,
    /// Size of all code containers in the files, in bytes.
    pub packed_bytes: u64,
    /// Decompressed size of all code containers, in bytes.
    pub raw_bytes: u64,
    /// Number of fatbin wrappers that register bundles.
    pub wrappers: u64,
    /// Number of fatbin wrappers that refer to kpack archives.
    pub kpack_wrappers: u64,
    /// Number of files that are compiled on a user's machine, by kind.
    pub sources: BTreeMap<SourceKind, u64>,
    /// Exceeded limits.
    pub limits: BTreeSet<ScanLimit>,
}

impl InventoryTotals {
    /// Adds the inventory of one file.
    pub fn add(&mut self, inventory: &CodeInventory) {
        self.files += u64::from(!inventory.is_empty());
        for (target, totals) in inventory.targets() {
            let sum = self.targets.entry(target).or_default();
            sum.objects += totals.objects;
            sum.bytes = sum.bytes.saturating_add(totals.bytes);
        }
        self.kinds.extend(inventory.kinds());
        self.bundles += inventory.bundles().count() as u64;
        self.code_object_versions
            .extend(inventory.code_object_versions());
        self.packed_bytes = self.packed_bytes.saturating_add(inventory.packed_bytes());
        self.raw_bytes = self.raw_bytes.saturating_add(inventory.raw_bytes());
        self.wrappers += inventory.wrappers;
        self.kpack_wrappers += inventory.kpack_wrappers;
        self.limits.extend(&inventory.limits);
    }

    /// Counts a file that is compiled on a user's machine.
    pub fn count_source(&mut self, kind: SourceKind) {
        *self.sources.entry(kind).or_default() += 1;
    }
}

//! What a file holds, and what a wheel holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::data::{DataFile, SourceKind};
use super::entry::Entry;
use super::kpack::{Kpack, KpackReference};
use super::layout::Stretch;
use super::scan::Limit;
use super::target::Target;

/// What holds code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerKind {
    /// A bundle.
    Bundle,
    /// A compressed bundle, with the version of its header.
    Compressed(u8),
    /// A code object without a bundle.
    Elf,
    /// An archive of code objects, by its table of contents.
    Kpack,
    /// A data file of a library, by its name.
    Data,
}

impl fmt::Display for ContainerKind {
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

/// Where in a file code lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// It is the file.
    File,
    /// In the section for bundles: its name.
    Section(&'static str),
    /// Elsewhere in what is loaded: the name of the section; empty in a file without any.
    Embedded(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("file"),
            Self::Section(name) => f.write_str(name),
            Self::Embedded(_) => f.write_str("embedded"),
        }
    }
}

/// A bundle, a code object, an archive or a data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// What it is.
    pub kind: ContainerKind,
    /// Where it lies.
    pub place: Place,
    /// Where it begins in the file.
    pub offset: u64,
    /// How many bytes of the file it has.
    pub packed_bytes: u64,
    /// How many bytes it has when unpacked.
    pub raw_bytes: u64,
    /// Its entries; a code object without a bundle is one entry.
    pub entries: Vec<Entry>,
    /// The targets that its table of contents or its name tell, where there are no entries.
    pub told: Vec<Target>,
}

impl Container {
    /// Whether it is a bundle, compressed or not.
    pub fn is_bundle(&self) -> bool {
        matches!(
            self.kind,
            ContainerKind::Bundle | ContainerKind::Compressed(_)
        )
    }

    /// The entries with code for a GPU.
    pub fn device_entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.is_device())
    }
}

/// Something in a file that cannot be as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// Where in the file.
    pub offset: u64,
    /// What is wrong, as the end of a sentence about a bundle or code object.
    pub reason: String,
}

/// An entry whose id contradicts the header of its code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where the bundle begins in the file.
    pub bundle_offset: u64,
    /// Where the entry begins in the unpacked bundle.
    pub entry_offset: u64,
    /// The target by the id.
    pub said: Target,
    /// The target by the header.
    pub found: Target,
}

/// How much there is for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TargetTotals {
    /// Code objects; none where only a name or a table of contents tells the target.
    pub objects: u64,
    /// Their bytes, unpacked.
    pub bytes: u64,
}

/// The code for GPUs in one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inventory {
    /// What holds code, by offset.
    pub containers: Vec<Container>,
    /// The section for bundles, where the file has one that takes bytes of it.
    pub fatbin: Option<Stretch>,
    /// The wrappers by which the file registers bundles.
    pub wrappers: u64,
    /// The wrappers that lead to archives instead.
    pub kpack_wrappers: u64,
    /// The archives that the file names.
    pub kpack_references: Vec<KpackReference>,
    /// Whose code the file holds where it is an archive, as [`KpackReference::is_in`] takes it.
    pub kpack_names: Vec<String>,
    /// What cannot be as it is, by offset.
    pub damages: Vec<Damage>,
    /// Our bounds that were met: the inventory is not whole.
    pub limits: BTreeSet<Limit>,
}

impl Inventory {
    /// The inventory of an archive of code objects.
    pub fn of_kpack(kpack: &Kpack, size_bytes: u64) -> Self {
        let kpack_names = kpack.kernel_names.clone();
        Self {
            kpack_names,
            ..Self::told(ContainerKind::Kpack, size_bytes, kpack.targets.clone())
        }
    }

    /// The inventory of a data file, by its name.
    pub fn of_data(data: &DataFile, size_bytes: u64) -> Self {
        Self::told(
            ContainerKind::Data,
            size_bytes,
            data.target.iter().cloned().collect(),
        )
    }

    fn told(kind: ContainerKind, size_bytes: u64, told: Vec<Target>) -> Self {
        let container = Container {
            kind,
            place: Place::File,
            offset: 0,
            packed_bytes: size_bytes,
            raw_bytes: size_bytes,
            entries: Vec::new(),
            told,
        };
        Self {
            containers: vec![container],
            ..Self::default()
        }
    }

    /// Whether the file has nothing to do with GPUs.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The targets with how much there is for each.
    pub fn targets(&self) -> BTreeMap<Target, TargetTotals> {
        let mut targets: BTreeMap<Target, TargetTotals> = BTreeMap::new();
        for container in &self.containers {
            for entry in container.device_entries() {
                let Some(target) = entry.target() else {
                    continue;
                };
                let totals = targets.entry(target.clone()).or_default();
                totals.objects += 1;
                totals.bytes = totals.bytes.saturating_add(entry.size_bytes);
            }
            for target in &container.told {
                targets.entry(target.clone()).or_default();
            }
        }
        targets
    }

    /// The kinds of what holds code.
    pub fn kinds(&self) -> BTreeSet<ContainerKind> {
        self.containers
            .iter()
            .map(|container| container.kind)
            .collect()
    }

    /// The bundles, wherever they lie.
    pub fn bundles(&self) -> impl Iterator<Item = &Container> {
        self.containers
            .iter()
            .filter(|container| container.is_bundle())
    }

    /// How many bundles lie in the section for them.
    pub fn fatbin_bundles(&self) -> u64 {
        self.bundles()
            .filter(|bundle| matches!(bundle.place, Place::Section(_)))
            .count() as u64
    }

    /// Whether wrappers and bundles are not as many. True of no file without a section for bundles.
    pub fn has_wrapper_mismatch(&self) -> bool {
        self.fatbin.is_some() && self.wrappers != self.fatbin_bundles()
    }

    /// The bundles without code for a GPU: no entry but the host's, or only entries of size 0.
    pub fn empty_bundles(&self) -> impl Iterator<Item = &Container> {
        self.bundles()
            .filter(|bundle| bundle.device_entries().next().is_none())
    }

    /// The entries whose id contradicts the header of their code object.
    pub fn mismatches(&self) -> Vec<Mismatch> {
        let entries = self
            .containers
            .iter()
            .flat_map(|container| container.entries.iter().map(move |e| (container, e)));
        let mismatch = |(container, entry): (&Container, &Entry)| {
            Some(Mismatch {
                bundle_offset: container.offset,
                entry_offset: entry.offset,
                said: entry.target()?.clone(),
                found: entry.object.as_ref()?.target.clone(),
            })
        };
        entries
            .filter(|(_, entry)| entry.is_mismatch())
            .filter_map(mismatch)
            .collect()
    }

    /// The versions of the code object format, from 2.
    pub fn code_object_versions(&self) -> BTreeSet<u8> {
        let entries = self
            .containers
            .iter()
            .flat_map(|container| &container.entries);
        entries
            .filter_map(|entry| entry.object.as_ref()?.version)
            .collect()
    }

    /// How many bytes of the file hold code.
    pub fn packed_bytes(&self) -> u64 {
        self.containers.iter().fold(0, |sum, container| {
            sum.saturating_add(container.packed_bytes)
        })
    }

    /// How many bytes that code has when unpacked.
    pub fn raw_bytes(&self) -> u64 {
        self.containers
            .iter()
            .fold(0, |sum, container| sum.saturating_add(container.raw_bytes))
    }
}

/// The code for GPUs in many files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Union {
    /// Files with code, archives, data or wrappers.
    pub files: u64,
    /// The targets with how much there is for each.
    pub targets: BTreeMap<Target, TargetTotals>,
    /// The kinds of what holds code.
    pub kinds: BTreeSet<ContainerKind>,
    /// Bundles, compressed or not.
    pub bundles: u64,
    /// The versions of the code object format, from 2.
    pub code_object_versions: BTreeSet<u8>,
    /// Bytes of the files that hold code.
    pub packed_bytes: u64,
    /// Bytes of that code when unpacked.
    pub raw_bytes: u64,
    /// Wrappers of bundles.
    pub wrappers: u64,
    /// Wrappers that lead to archives.
    pub kpack_wrappers: u64,
    /// Files that are compiled on a user's machine, which are no code for any target.
    pub sources: BTreeMap<SourceKind, u64>,
    /// Bounds that were met.
    pub limits: BTreeSet<Limit>,
}

impl Union {
    /// Adds what one file holds.
    pub fn merge(&mut self, inventory: &Inventory) {
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

//! Where in a file code for a GPU can lie.

use super::bytes::{array_at, u16_at, u32_at};
use rock_bytes::ReadAt;
use rock_elf::{Elf, Section, machine};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileKind {
    /// A library, program or object file for a processor.
    HostElf,
    /// A code object.
    DeviceElf,
    /// A library or program for Windows.
    Pe,
    /// Anything else, such as a bundle on its own.
    #[default]
    Other,
}

/// A stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stretch {
    /// Where it begins.
    pub offset: u64,
    /// Its size.
    pub size_bytes: u64,
}

impl Stretch {
    /// Where it ends.
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.size_bytes)
    }

    /// Whether a position lies in it.
    pub fn contains(self, position: u64) -> bool {
        (self.offset..self.end()).contains(&position)
    }
}

/// A named part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutSection {
    /// Its name.
    pub name: String,
    /// Where it lies in the file.
    pub stretch: Stretch,
    /// Whether it is in memory when the program runs.
    pub is_alloc: bool,
    /// Whether it takes no bytes of the file.
    pub is_nobits: bool,
}

/// What a file is and where its parts lie.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileLayout {
    /// What it is.
    pub kind: FileKind,
    /// Its sections.
    pub sections: Vec<LayoutSection>,
    /// What is mapped into memory, for files without sections.
    pub loads: Vec<Stretch>,
}

/// Names of the section of bundles, of the one of wrappers, and of the reference to an archive, in
/// ELF files and in PE files, where names have 8 letters (clang, HIP code generation; rocm-kpack,
/// "`.rocm_kpack_ref`").
const FATBIN: [&str; 2] = [".hip_fatbin", ".hip_fat"];
const WRAPPERS: [&str; 2] = [".hipFatBinSegment", ".hipFatB"];
const KPACK_REFERENCE: [&str; 2] = [".rocm_kpack_ref", ".kpackrf"];

impl FileLayout {
    /// The layout of a file that is neither ELF nor PE.
    pub fn other() -> Self {
        Self::default()
    }

    /// The layout of a code object: all of it counts.
    pub fn of_device() -> Self {
        Self {
            kind: FileKind::DeviceElf,
            ..Self::default()
        }
    }

    /// The layout of an ELF file.
    pub fn of_elf(elf: &Elf, sections: &[Section]) -> Self {
        if elf.header().machine == machine::AMDGPU {
            return Self::of_device();
        }
        let section = |section: &Section| LayoutSection {
            name: section.name.clone(),
            stretch: Stretch {
                offset: section.offset,
                size_bytes: section.size,
            },
            is_alloc: section.is_alloc(),
            is_nobits: section.is_nobits(),
        };
        let loads = elf.loads().map(|load| Stretch {
            offset: load.offset,
            size_bytes: load.file_size,
        });
        Self {
            kind: FileKind::HostElf,
            sections: sections.iter().map(section).collect(),
            loads: loads.collect(),
        }
    }

    /// The layout of a PE file, read from its headers (Microsoft, "PE Format"). `None` where it is
    /// none.
    pub fn of_pe(source: &dyn ReadAt) -> Option<Self> {
        let mut dos = [0; 64];
        source
            .read_exact_at(&mut dos, 0)
            .ok()
            .filter(|()| dos.starts_with(b"MZ"))?;
        let at = u64::from(u32_at(&dos, 0x3c)?);
        let mut header = [0; 24];
        source
            .read_exact_at(&mut header, at)
            .ok()
            .filter(|()| header.starts_with(b"PE\0\0"))?;
        let (count, optional) = (u16_at(&header, 6)?, u16_at(&header, 20)?);
        let mut table = vec![0; usize::from(count) * PE_SECTION_BYTES];
        source
            .read_exact_at(&mut table, at + 24 + u64::from(optional))
            .ok()?;
        let sections = table
            .chunks_exact(PE_SECTION_BYTES)
            .filter_map(pe_section)
            .collect();
        Some(Self {
            kind: FileKind::Pe,
            sections,
            loads: Vec::new(),
        })
    }

    /// Whether the first bytes of a file are those of a PE file, or of a DOS program.
    pub fn is_pe(head: &[u8]) -> bool {
        head.starts_with(b"MZ")
    }

    /// The stretches of the file that a section with one of two names fills.
    fn named(&self, names: [&'static str; 2]) -> impl Iterator<Item = Stretch> {
        let name = if self.kind == FileKind::Pe {
            names[1]
        } else {
            names[0]
        };
        let filled = self
            .sections
            .iter()
            .filter(|section| !section.is_nobits && section.stretch.size_bytes > 0);
        filled
            .filter(move |section| section.name == name)
            .map(|section| section.stretch)
    }

    /// The section of bundles, where it takes bytes of the file.
    pub(super) fn fatbin(&self) -> Option<Stretch> {
        self.named(FATBIN).next()
    }

    /// The name of the section of bundles in such a file.
    pub(super) fn fatbin_name(&self) -> &'static str {
        if self.kind == FileKind::Pe {
            FATBIN[1]
        } else {
            FATBIN[0]
        }
    }

    /// The section of wrappers.
    pub(super) fn wrappers(&self) -> Option<Stretch> {
        self.named(WRAPPERS).next()
    }

    /// The section that names archives, where the file has one: the bytes for
    /// [`KpackReference::parse`](super::KpackReference::parse).
    pub fn kpack_reference(&self) -> Option<Stretch> {
        self.named(KPACK_REFERENCE).next()
    }

    /// The section that a position lies in, or an empty text where it is only mapped. `None` where
    /// it is not in memory when the program runs.
    pub(super) fn loaded_at(&self, position: u64) -> Option<&str> {
        if self.sections.is_empty() {
            return self
                .loads
                .iter()
                .any(|load| load.contains(position))
                .then_some("");
        }
        let filled = self
            .sections
            .iter()
            .filter(|section| section.is_alloc && !section.is_nobits);
        let mut found = filled.filter(|section| section.stretch.contains(position));
        found.next().map(|section| section.name.as_str())
    }
}

/// Bytes of a section header (PE Format, "Section Table").
const PE_SECTION_BYTES: usize = 40;

fn pe_section(header: &[u8]) -> Option<LayoutSection> {
    let name: [u8; 8] = array_at(header, 0)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let (size, offset) = (u32_at(header, 16)?, u32_at(header, 20)?);
    Some(LayoutSection {
        name: String::from_utf8_lossy(name).into_owned(),
        stretch: Stretch {
            offset: offset.into(),
            size_bytes: size.into(),
        },
        is_alloc: true,
        is_nobits: offset == 0,
    })
}

//! The layout of a file: the ranges in which GPU code can be.

use super::little_endian::{array_at, u16_at, u32_at};
use rock_bytes::ReadAt;
use rock_elf::{Elf, SectionHeader, machine};

/// The kind of a file that may contain GPU code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CodeFileKind {
    /// An ELF file for a CPU.
    HostElf,
    /// A code object.
    DeviceElf,
    /// A PE file: a library or program for Windows.
    Pe,
    /// Any other file, such as an offload bundle.
    #[default]
    Other,
}

/// A range of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileRange {
    /// File offset.
    pub offset: u64,
    /// Size, in bytes.
    pub size_bytes: u64,
}

impl FileRange {
    /// Returns the end offset.
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.size_bytes)
    }

    /// Returns `true` if the range contains a file offset.
    pub fn contains(self, position: u64) -> bool {
        (self.offset..self.end()).contains(&position)
    }
}

/// A section of an ELF or PE file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSection {
    /// The name.
    pub name: String,
    /// Its range in the file.
    pub range: FileRange,
    /// Whether it occupies memory at run time.
    pub is_alloc: bool,
    /// Whether it occupies no bytes of the file.
    pub is_nobits: bool,
}

/// The kind of a file and the ranges of its sections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileLayout {
    /// The kind.
    pub kind: CodeFileKind,
    /// The sections.
    pub sections: Vec<FileSection>,
    /// The ranges of loaded segments, for files without sections.
    pub load_ranges: Vec<FileRange>,
}

/// Names of the sections for bundles, wrappers and the reference to kpack archives, in ELF files
/// and in PE files, where names have up to 8 characters (clang, HIP code generation; rocm-kpack,
/// "`.rocm_kpack_ref`").
const FATBIN: [&str; 2] = [".hip_fatbin", ".hip_fat"];
const WRAPPERS: [&str; 2] = [".hipFatBinSegment", ".hipFatB"];
const KPACK_REFERENCE: [&str; 2] = [".rocm_kpack_ref", ".kpackrf"];

impl FileLayout {
    /// Creates the layout of a file without sections, which is neither ELF nor PE.
    pub fn without_sections() -> Self {
        Self::default()
    }

    /// Creates the layout of a code object.
    pub fn code_object() -> Self {
        Self {
            kind: CodeFileKind::DeviceElf,
            ..Self::default()
        }
    }

    /// Creates the layout of an ELF file from its section headers.
    pub fn from_elf(elf: &Elf, sections: &[SectionHeader]) -> Self {
        if elf.header().machine == machine::AMDGPU {
            return Self::code_object();
        }
        let section = |section: &SectionHeader| FileSection {
            name: section.name.clone(),
            range: FileRange {
                offset: section.offset,
                size_bytes: section.size,
            },
            is_alloc: section.is_alloc(),
            is_nobits: section.is_nobits(),
        };
        let loads = elf.load_segments().map(|load| FileRange {
            offset: load.offset,
            size_bytes: load.file_size,
        });
        Self {
            kind: CodeFileKind::HostElf,
            sections: sections.iter().map(section).collect(),
            load_ranges: loads.collect(),
        }
    }

    /// Reads the layout of a PE file from its headers (Microsoft, "PE Format"); `None` if it is not
    /// one.
    pub fn from_pe(source: &dyn ReadAt) -> Option<Self> {
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
            kind: CodeFileKind::Pe,
            sections,
            load_ranges: Vec::new(),
        })
    }

    /// Returns `true` if the first bytes of a file are the magic of a PE file or DOS program.
    pub fn is_pe(head: &[u8]) -> bool {
        head.starts_with(b"MZ")
    }

    /// Returns the ranges of the nonempty sections with a name: the first for ELF, the second for
    /// PE.
    fn section_ranges(&self, names: [&'static str; 2]) -> impl Iterator<Item = FileRange> {
        let name = if self.kind == CodeFileKind::Pe {
            names[1]
        } else {
            names[0]
        };
        let filled = self
            .sections
            .iter()
            .filter(|section| !section.is_nobits && section.range.size_bytes > 0);
        filled
            .filter(move |section| section.name == name)
            .map(|section| section.range)
    }

    /// Returns the range of the section for bundles, if it is not empty.
    pub(super) fn fatbin_section(&self) -> Option<FileRange> {
        self.section_ranges(FATBIN).next()
    }

    /// Returns the name of the section for bundles.
    pub(super) fn fatbin_name(&self) -> &'static str {
        if self.kind == CodeFileKind::Pe {
            FATBIN[1]
        } else {
            FATBIN[0]
        }
    }

    /// Returns the range of the section for wrappers, if it is not empty.
    pub(super) fn wrapper_section(&self) -> Option<FileRange> {
        self.section_ranges(WRAPPERS).next()
    }

    /// Returns the range of the section with the reference to kpack archives, if there is one; see
    /// [`KpackReference::read`](super::KpackReference::read).
    pub fn kpack_reference(&self) -> Option<FileRange> {
        self.section_ranges(KPACK_REFERENCE).next()
    }

    /// Returns the name of the loaded section at a file offset, or an empty string in a file
    /// without sections; `None` if the offset is not loaded.
    pub(super) fn loaded_section_name(&self, position: u64) -> Option<&str> {
        if self.sections.is_empty() {
            return self
                .load_ranges
                .iter()
                .any(|load| load.contains(position))
                .then_some("");
        }
        let filled = self
            .sections
            .iter()
            .filter(|section| section.is_alloc && !section.is_nobits);
        let mut found = filled.filter(|section| section.range.contains(position));
        found.next().map(|section| section.name.as_str())
    }
}

/// Size of a section header in bytes (PE Format, "Section Table").
const PE_SECTION_BYTES: usize = 40;

fn pe_section(header: &[u8]) -> Option<FileSection> {
    let name: [u8; 8] = array_at(header, 0)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let (size, offset) = (u32_at(header, 16)?, u32_at(header, 20)?);
    Some(FileSection {
        name: String::from_utf8_lossy(name).into_owned(),
        range: FileRange {
            offset: offset.into(),
            size_bytes: size.into(),
        },
        is_alloc: true,
        is_nobits: offset == 0,
    })
}

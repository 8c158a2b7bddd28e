//! Identification of the contents of a member by its first bytes, tables and name.
//!
//! Input: the contents of a member, which are read in order where possible. Output: the kind of the
//! file, with the properties of a library, and the layout of a file that may contain GPU code.

use super::inspect::{InspectOptions, InspectedFile, InspectedKind, LayoutChecks, MemberScan};
use super::library::ElfLibrary;
use rock_codeobj::{CodeDamage, CodeInventory, DataFile, FileLayout, KpackArchive, SourceKind};
use rock_elf::{Elf, ElfError, is_elf, machine};
use rock_wheel::{MemberView, WheelError};

/// The contents of a member.
pub(super) enum MemberContents {
    /// No machine code.
    Unrelated,
    /// Contents that the name or the tables of the file describe completely.
    Identified,
    /// Contents that must be searched for GPU code.
    Searched {
        layout: FileLayout,
        /// The reason why a code object cannot be parsed.
        parse_error: Option<String>,
    },
}

impl MemberContents {
    /// Contents without errors that must be searched for GPU code.
    fn searched(layout: FileLayout) -> Self {
        Self::Searched {
            layout,
            parse_error: None,
        }
    }
}

/// Determines the contents of a member, of which `head` are the first bytes, and sets the kind of
/// `file`. Searches for GPU code only if the options ask for it.
pub(super) fn identify_member(
    view: &MemberView<'_, '_>,
    head: &[u8],
    scan: &MemberScan<'_, '_, '_>,
    options: InspectOptions<'_>,
    file: &mut InspectedFile,
) -> Result<MemberContents, WheelError> {
    if is_elf(head) {
        return identify_elf(view, head, scan, options, file);
    }
    let scans = options.inspection.scans();
    match foreign_kind(head) {
        // Windows files are searched for code.
        Some(kind) if kind == InspectedKind::AppleOrWasm || !scans => {
            file.kind = kind;
            Ok(MemberContents::Identified)
        }
        _ if scans => Ok(identify_non_elf(view, head, file)),
        _ => Ok(MemberContents::Unrelated),
    }
}

/// Determines the contents of a file with an ELF header. One that cannot be parsed may be a code
/// object nevertheless.
fn identify_elf(
    view: &MemberView<'_, '_>,
    head: &[u8],
    scan: &MemberScan<'_, '_, '_>,
    options: InspectOptions<'_>,
    file: &mut InspectedFile,
) -> Result<MemberContents, WheelError> {
    let error = match read_elf(view, scan, file, options) {
        Ok(None) => return Ok(MemberContents::Identified),
        Ok(Some(layout)) => return Ok(MemberContents::searched(layout)),
        Err(ElfReadError::ZipMember(error)) => return Err(error),
        Err(ElfReadError::Elf(ElfError::Io(error))) => return Err(view.wheel_error(error)),
        Err(ElfReadError::Elf(error)) => error.to_string(),
    };
    if !rock_codeobj::is_code_object(head) {
        file.kind = InspectedKind::Damaged(error);
        return Ok(MemberContents::Identified);
    }
    file.kind = InspectedKind::Device;
    if !options.inspection.scans() {
        return Ok(MemberContents::Identified);
    }
    Ok(MemberContents::Searched {
        layout: FileLayout::code_object(),
        parse_error: Some(error),
    })
}

/// Determines the contents of a file that is not an ELF file.
fn identify_non_elf(
    view: &MemberView<'_, '_>,
    head: &[u8],
    file: &mut InspectedFile,
) -> MemberContents {
    if FileLayout::is_pe(head) {
        let Some(layout) = FileLayout::from_pe(view) else {
            return MemberContents::Unrelated;
        };
        file.kind = InspectedKind::Windows;
        return MemberContents::searched(layout);
    }
    if KpackArchive::is_kpack(head) {
        match KpackArchive::read(view) {
            Ok(kpack) => file.inventory = CodeInventory::from_kpack(&kpack, file.size_bytes),
            Err(error) => file.inventory.damages.push(CodeDamage {
                offset: 0,
                reason: error.to_string(),
            }),
        }
        return MemberContents::Identified;
    }
    if rock_codeobj::is_bundle(head) {
        return MemberContents::searched(FileLayout::without_sections());
    }
    if let Some(data) = DataFile::from_path(&file.path) {
        file.inventory = CodeInventory::from_data_file(&data, file.size_bytes);
        return MemberContents::Identified;
    }
    match SourceKind::from_path(&file.path) {
        Some(kind) => {
            file.kind = InspectedKind::Source(kind);
            MemberContents::Identified
        }
        None => MemberContents::Unrelated,
    }
}

/// The reason why an ELF file could not be read.
enum ElfReadError {
    ZipMember(WheelError),
    Elf(ElfError),
}

impl From<WheelError> for ElfReadError {
    fn from(error: WheelError) -> Self {
        Self::ZipMember(error)
    }
}

impl From<ElfError> for ElfReadError {
    fn from(error: ElfError) -> Self {
        Self::Elf(error)
    }
}

/// Reads an ELF file into `file`. Returns its layout if it may contain GPU code; the whole file
/// must be read then.
fn read_elf(
    view: &MemberView<'_, '_>,
    scan: &MemberScan<'_, '_, '_>,
    file: &mut InspectedFile,
    options: InspectOptions<'_>,
) -> Result<Option<FileLayout>, ElfReadError> {
    let elf = Elf::read(view)?;
    file.kind = if elf.header().machine == machine::AMDGPU {
        InspectedKind::Device
    } else if elf.is_debug_only(view) {
        file.kind = InspectedKind::Debug;
        return Ok(None);
    } else {
        let file_name = file.path.rsplit('/').next().unwrap_or(&file.path);
        InspectedKind::Library(Box::new(ElfLibrary::read(
            view,
            &elf,
            file_name,
            options.keeps_symbol,
        )?))
    };
    let layout = if options.inspection.scans() {
        device_layout(view, &elf, scan)?
    } else {
        None
    };
    // Last, because section headers are at the end of the file, after all other contents.
    let checks_layout = match options.inspection.layouts {
        LayoutChecks::All => true,
        LayoutChecks::Buffered => view.is_fully_buffered(),
        LayoutChecks::None => false,
    };
    if checks_layout && file.kind != InspectedKind::Device {
        file.layout_errors = rock_elf::verify(view);
    }
    Ok(layout)
}

/// Returns the layout of a file that may contain GPU code.
fn device_layout(
    view: &MemberView<'_, '_>,
    elf: &Elf,
    scan: &MemberScan<'_, '_, '_>,
) -> Result<Option<FileLayout>, ElfReadError> {
    // Only loaded segments contain GPU code: symbols and debug sections need not be unpacked.
    view.stream_to(elf.loaded_end())?;
    view.keep_section_names();
    if !scan.scanner().has_candidates() {
        return Ok(None);
    }
    if elf.header().machine != machine::AMDGPU {
        return Ok(Some(FileLayout::from_elf(elf, &elf.sections(view)?)));
    }
    match elf
        .load_segments()
        .find(|load| load.file_end() > elf.size_bytes())
    {
        Some(load) => Err(ElfError::OutOfBounds {
            what: "a loaded segment",
            offset: load.offset,
            container: "the file",
        }
        .into()),
        None => Ok(Some(FileLayout::code_object())),
    }
}

/// Recognizes a library or program for a system other than Linux by its first bytes.
///
/// Mach-O has one of four magic numbers. A file of several architectures has another one and their
/// number, which is small; class files of Java have the same magic number and a version from 45 on
/// there (`mach-o/loader.h`, `mach-o/fat.h`; file, `magic/Magdir/cafebabe`). WebAssembly begins
/// with `\0asm` (core specification, 5.5.16).
fn foreign_kind(head: &[u8]) -> Option<InspectedKind> {
    const MAX_ARCHITECTURES: u32 = 43;
    let (magic, rest) = head.split_first_chunk::<4>()?;
    let architecture_count = rest
        .first_chunk::<4>()
        .map(|architecture_count| u32::from_be_bytes(*architecture_count));
    match magic {
        b"\0asm" | [0xfe, 0xed, 0xfa, 0xce | 0xcf] | [0xce | 0xcf, 0xfa, 0xed, 0xfe] => {
            Some(InspectedKind::AppleOrWasm)
        }
        [0xca, 0xfe, 0xba, 0xbe | 0xbf] => architecture_count
            .filter(|architecture_count| *architecture_count < MAX_ARCHITECTURES)
            .map(|_| InspectedKind::AppleOrWasm),
        _ => FileLayout::is_pe(head).then_some(InspectedKind::Windows),
    }
}

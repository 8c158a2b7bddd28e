//! The ELF header of a code object.

use super::little_endian::{u16_at, u32_at};
use super::target::CodeTarget;
use rock_elf::{MAGIC, machine};

/// The ELF header of a code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeObject {
    /// The processor with its target features.
    pub target: CodeTarget,
    /// The code object version, from 2; `None` if `EI_OSABI` is not `ELFOSABI_AMDGPU_HSA`.
    pub version: Option<u8>,
    /// The version of a generic processor (LLVM AMDGPU usage, "Generic Processor Versioning"); from
    /// code object version 6.
    pub generic_version: Option<u8>,
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `e_flags`.
    pub flags: u32,
}

/// Size of the ELF header of 64-bit files in bytes (gABI, chapter 4); only this much of a code
/// object is read.
pub(super) const CODE_OBJECT_HEADER_BYTES: usize = 64;

/// `ELFOSABI_AMDGPU_HSA` (LLVM AMDGPU usage, "AMDGPU ELF Header").
const OS_ABI_HSA: u8 = 64;

/// Processors by their number in the low 8 bits of `e_flags` (LLVM AMDGPU usage, "AMDGPU
/// `EF_AMDGPU_MACH` Values"; LLVM `BinaryFormat/ELF.h`). Numbers below 0x20 are of families before
/// GCN.
pub(super) const MACHINES: &[(u8, &str)] = &[
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x32, "gfx90c"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x3f, "gfx90a"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x49, "gfx1250"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x50, "gfx1310"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5a, "gfx1251"),
    (0x5b, "gfx12-5-generic"),
    (0x5c, "gfx1172"),
    (0x5d, "gfx1170"),
    (0x5e, "gfx1171"),
    (0x5f, "gfx9-4-generic"),
];

/// Returns the processor of a machine number.
pub(super) fn processor(number: u8) -> Option<&'static str> {
    MACHINES
        .iter()
        .find(|(known, _)| *known == number)
        .map(|(_, name)| *name)
}

/// Returns `true` if the first bytes of a file are those of a code object, which may be truncated.
pub fn is_code_object(head: &[u8]) -> bool {
    // Class 2 is 64 bits, byte order 1 little-endian, version 1 the only one (gABI, "ELF
    // Identification").
    head.starts_with(&MAGIC)
        && head.get(4..7) == Some(&[2, 1, 1])
        && u16_at(head, 18) == Some(machine::AMDGPU)
}

/// Returns `true` if the machine number of a processor is known.
pub(super) fn is_known_processor(processor: &str) -> bool {
    MACHINES.iter().any(|(_, name)| *name == processor)
}

/// Parses the first 64 bytes of a code object; `None` if they are not the header of a 64-bit
/// little-endian ELF file for an AMD GPU.
///
/// An unknown processor is a [`CodeTarget::Unknown`].
pub fn parse_code_object(head: &[u8]) -> Option<CodeObject> {
    if head.len() < CODE_OBJECT_HEADER_BYTES || !is_code_object(head) {
        return None;
    }
    let (os_abi, abi_version) = (head[7], head[8]);
    let flags = u32_at(head, 48)?;
    let [number, .., generic] = flags.to_le_bytes();
    // Version 2 is `EI_ABIVERSION` 0 (LLVM AMDGPU usage, `ELFABIVERSION_AMDGPU_HSA_V2`).
    let version = (os_abi == OS_ABI_HSA).then(|| abi_version.saturating_add(2));
    // Version 2 has no machine number: the processor is in an ELF note.
    let known = if version == Some(2) {
        None
    } else {
        processor(number)
    };
    let target = known.map_or(CodeTarget::Unknown(number), |name| {
        let suffix = if version == Some(3) {
            features_v3(flags)
        } else {
            features_v4(flags)
        };
        CodeTarget::from_text(&format!("{name}{suffix}"))
    });
    let generic_version = version
        .filter(|version| *version >= 6)
        .map(|_| generic)
        .filter(|generic| *generic > 0);
    Some(CodeObject {
        target,
        version,
        generic_version,
        os_abi,
        flags,
    })
}

/// Returns the features of version 3: one bit for each enabled feature (LLVM AMDGPU usage,
/// "`EF_AMDGPU_FEATURE_*_V3`").
fn features_v3(flags: u32) -> String {
    let on = |bit: u32, text: &'static str| if flags & bit == 0 { "" } else { text };
    format!("{}{}", on(0x200, ":sramecc+"), on(0x100, ":xnack+"))
}

/// Returns the features from version 4 on: two bits for each feature, with the values unsupported,
/// any, off and on (LLVM AMDGPU usage, "`EF_AMDGPU_FEATURE_*_V4`"). Unsupported and any are
/// omitted.
fn features_v4(flags: u32) -> String {
    let setting = |shift: u32, off: &'static str, on: &'static str| match flags >> shift & 3 {
        2 => off,
        3 => on,
        _ => "",
    };
    format!(
        "{}{}",
        setting(10, ":sramecc-", ":sramecc+"),
        setting(8, ":xnack-", ":xnack+")
    )
}

#[cfg(test)]
mod tests {
    use super::{MACHINES, parse_code_object};
    use crate::CodeTarget;
    use rock_testkit::bundle::code_object;

    fn check(abi_version: u8, flags: u32, expect: &str) {
        let object = parse_code_object(&code_object(flags, abi_version, 64)).unwrap();
        let generic = object
            .generic_version
            .map(|version| format!(" generic {version}"))
            .unwrap_or_default();
        assert_eq!(
            format!("V{} {}{generic}", object.version.unwrap(), object.target),
            expect,
            "{flags:#x}"
        );
    }

    #[test]
    fn features_follow_the_version_of_the_code_object() {
        check(0, 0x01, "V2 unknown(0x01)");
        check(1, 0x02f, "V3 gfx906");
        check(1, 0x12f, "V3 gfx906:xnack+");
        check(1, 0x33f, "V3 gfx90a:sramecc+:xnack+");
        check(2, 0x03f, "V4 gfx90a");
        check(2, 0x13f, "V4 gfx90a");
        check(2, 0x23f, "V4 gfx90a:xnack-");
        check(2, 0x33f, "V4 gfx90a:xnack+");
        check(3, 0x53f, "V5 gfx90a");
        check(3, 0x93f, "V5 gfx90a:sramecc-");
        check(3, 0xe3f, "V5 gfx90a:sramecc+:xnack-");
        check(3, 0xf3f, "V5 gfx90a:sramecc+:xnack+");
        check(4, 0x0100_0054, "V6 gfx11-generic generic 1");
        check(4, 0x0200_0151, "V6 gfx9-generic generic 2");
        check(3, 0x0100_0054, "V5 gfx11-generic");
        check(4, 0x7e, "V6 unknown(0x7e)");
    }

    #[test]
    fn machine_numbers_are_gfx_targets_or_reported_as_unknown() {
        for number in 0..=u8::MAX {
            let object = parse_code_object(&code_object(number.into(), 3, 64)).unwrap();
            match MACHINES.iter().find(|(known, _)| *known == number) {
                Some((_, name)) => {
                    assert_eq!(
                        (
                            object.target.to_string().as_str(),
                            object.target.gfx().is_some()
                        ),
                        (*name, true)
                    );
                }
                None => assert_eq!(object.target, CodeTarget::Unknown(number)),
            }
        }
    }

    #[test]
    fn only_64_bit_little_endian_elf_for_amd_gpus_is_a_code_object() {
        let head = code_object(0x4c, 3, 64);
        for (at, value) in [(0, 0), (4, 1), (5, 2), (6, 0), (18, 62), (19, 1)] {
            let mut other = head.clone();
            other[at] = value;
            assert_eq!(parse_code_object(&other), None, "byte {at}");
        }
        assert!((0..64).all(|length| parse_code_object(&head[..length]).is_none()));
    }

    #[test]
    fn another_operating_system_has_no_version() {
        let mut head = code_object(0x2c, 0, 64);
        head[7] = 65;
        let object = parse_code_object(&head).unwrap();
        assert_eq!(
            (object.version, object.target.to_string().as_str()),
            (None, "gfx900")
        );
    }
}

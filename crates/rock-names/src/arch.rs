//! Processor architectures of Linux wheels.

use std::fmt;
use std::str::FromStr;

/// A processor architecture, spelled as in platform tags (PEP 513, 599 and 600): the output of
/// `uname -m`, except that 32-bit x86 is always `i686`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// 32-bit x86.
    I686,
    /// 64-bit x86 with 64-bit pointers.
    X86_64,
    /// 64-bit Arm, little-endian.
    Aarch64,
    /// 32-bit Arm with the hard-float EABI.
    Armv7l,
    /// 64-bit POWER, little-endian.
    Ppc64le,
    /// 64-bit POWER, big-endian.
    Ppc64,
    /// 64-bit IBM Z.
    S390x,
    /// 64-bit RISC-V.
    Riscv64,
    /// 64-bit `LoongArch`.
    Loongarch64,
}

/// The error of parsing an [`Arch`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an architecture of Linux wheels, such as `x86_64` or `aarch64`")]
pub struct ArchError(pub String);

/// The fields of the ELF header that identify an architecture (gABI, "ELF Header", and its registry
/// of machines).
struct ElfIdentity {
    machine: u16,
    class: u8,
    data: u8,
    arch: Arch,
}

const CLASS32: u8 = 1;
const CLASS64: u8 = 2;
const LITTLE: u8 = 1;
const BIG: u8 = 2;

const ELF_IDENTITIES: [ElfIdentity; 9] = [
    ElfIdentity {
        machine: 3,
        class: CLASS32,
        data: LITTLE,
        arch: Arch::I686,
    },
    ElfIdentity {
        machine: 62,
        class: CLASS64,
        data: LITTLE,
        arch: Arch::X86_64,
    },
    ElfIdentity {
        machine: 183,
        class: CLASS64,
        data: LITTLE,
        arch: Arch::Aarch64,
    },
    ElfIdentity {
        machine: 40,
        class: CLASS32,
        data: LITTLE,
        arch: Arch::Armv7l,
    },
    ElfIdentity {
        machine: 21,
        class: CLASS64,
        data: LITTLE,
        arch: Arch::Ppc64le,
    },
    ElfIdentity {
        machine: 21,
        class: CLASS64,
        data: BIG,
        arch: Arch::Ppc64,
    },
    ElfIdentity {
        machine: 22,
        class: CLASS64,
        data: BIG,
        arch: Arch::S390x,
    },
    ElfIdentity {
        machine: 243,
        class: CLASS64,
        data: LITTLE,
        arch: Arch::Riscv64,
    },
    ElfIdentity {
        machine: 258,
        class: CLASS64,
        data: LITTLE,
        arch: Arch::Loongarch64,
    },
];

/// `EF_ARM_EABIMASK` and `EF_ARM_EABI_VER5` ("ELF for the Arm Architecture", table "ELF header
/// `e_flags`").
const ARM_EABI_MASK: u32 = 0xff00_0000;
const ARM_EABI_5: u32 = 0x0500_0000;
/// `EF_ARM_ABI_FLOAT_HARD` (same table).
const ARM_FLOAT_HARD: u32 = 0x0000_0400;

impl Arch {
    /// All architectures.
    pub const ALL: [Self; 9] = [
        Self::I686,
        Self::X86_64,
        Self::Aarch64,
        Self::Armv7l,
        Self::Ppc64le,
        Self::Ppc64,
        Self::S390x,
        Self::Riscv64,
        Self::Loongarch64,
    ];

    /// Returns the spelling in platform tags, `x86_64`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::I686 => "i686",
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
            Self::Armv7l => "armv7l",
            Self::Ppc64le => "ppc64le",
            Self::Ppc64 => "ppc64",
            Self::S390x => "s390x",
            Self::Riscv64 => "riscv64",
            Self::Loongarch64 => "loongarch64",
        }
    }

    /// Returns the architecture of an ELF file from its `e_machine`, `EI_CLASS` (1: 32 bits, 2: 64),
    /// `EI_DATA` (1: little-endian, 2: big-endian) and `e_flags`. Returns `None` for files that no
    /// platform tag covers: x32, soft-float Arm, GPUs.
    pub fn from_elf(machine: u16, class: u8, data: u8, flags: u32) -> Option<Self> {
        let fits = |h: &&ElfIdentity| (h.machine, h.class, h.data) == (machine, class, data);
        let arch = ELF_IDENTITIES.iter().find(fits)?.arch;
        let is_hard_float = flags & ARM_EABI_MASK == ARM_EABI_5 && flags & ARM_FLOAT_HARD != 0;
        (arch != Self::Armv7l || is_hard_float).then_some(arch)
    }

    /// Returns the architecture at the end of a platform tag: `x86_64` for `manylinux_2_28_x86_64`.
    pub fn of_platform_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|arch| {
            tag.strip_suffix(arch.as_str())
                .is_some_and(|rest| rest.ends_with('_'))
        })
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Arch {
    type Err = ArchError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|arch| arch.as_str() == text)
            .ok_or_else(|| ArchError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Arch;

    #[test]
    fn every_architecture_prints_the_word_it_is_read_from() {
        for arch in Arch::ALL {
            assert_eq!(arch.to_string().parse(), Ok(arch));
        }
        for text in ["", "x86", "X86_64", "amd64", "armv6l"] {
            assert!(text.parse::<Arch>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_elf_header_has_the_architecture() {
        for (header, expect) in [
            ((3, 1, 1, 0), Some(Arch::I686)),
            ((62, 2, 1, 0), Some(Arch::X86_64)),
            ((183, 2, 1, 0), Some(Arch::Aarch64)),
            ((40, 1, 1, 0x0500_0400), Some(Arch::Armv7l)),
            ((21, 2, 1, 2), Some(Arch::Ppc64le)),
            ((21, 2, 2, 1), Some(Arch::Ppc64)),
            ((22, 2, 2, 0), Some(Arch::S390x)),
            ((243, 2, 1, 5), Some(Arch::Riscv64)),
            ((258, 2, 1, 0x43), Some(Arch::Loongarch64)),
        ] {
            let (machine, class, data, flags) = header;
            assert_eq!(
                Arch::from_elf(machine, class, data, flags),
                expect,
                "{header:?}"
            );
        }
    }

    #[test]
    fn x32_soft_float_arm_and_gpus_are_none() {
        for (machine, class, data, flags) in [
            (62, 1, 1, 0),
            (40, 1, 1, 0x0500_0200),
            (40, 1, 1, 0x0400_0400),
            (224, 2, 1, 0x4c),
            (183, 2, 2, 0),
            (0, 0, 0, 0),
        ] {
            assert_eq!(
                Arch::from_elf(machine, class, data, flags),
                None,
                "machine {machine} class {class}"
            );
        }
    }

    #[test]
    fn a_platform_tag_ends_with_its_architecture() {
        for (tag, expect) in [
            ("manylinux_2_28_x86_64", Some(Arch::X86_64)),
            ("manylinux2014_ppc64le", Some(Arch::Ppc64le)),
            ("manylinux2014_ppc64", Some(Arch::Ppc64)),
            ("linux_armv7l", Some(Arch::Armv7l)),
            ("x86_64", None),
            ("any", None),
            ("win_amd64", None),
        ] {
            assert_eq!(Arch::of_platform_tag(tag), expect, "{tag}");
        }
    }
}

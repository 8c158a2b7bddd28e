//! Dynamic entries.

/// Tags of dynamic entries (gABI, chapter 5, `d_tag`; GNU extensions above `0x6ffffef5`).
pub mod tag {
    /// Ends the table.
    pub const NULL: u64 = 0;
    /// A library that is needed, as an offset of its name.
    pub const NEEDED: u64 = 1;
    /// The size of the relocations of the procedure linkage table in bytes.
    pub const PLTRELSZ: u64 = 2;
    /// The address of the hash table of symbols.
    pub const HASH: u64 = 4;
    /// The address of the names.
    pub const STRTAB: u64 = 5;
    /// The address of the symbols.
    pub const SYMTAB: u64 = 6;
    /// The address of the relocations with addends.
    pub const RELA: u64 = 7;
    /// The size of the relocations with addends in bytes.
    pub const RELASZ: u64 = 8;
    /// The size of the names in bytes.
    pub const STRSZ: u64 = 10;
    /// The name of the library itself, as an offset.
    pub const SONAME: u64 = 14;
    /// Where to search, before the environment, as an offset.
    pub const RPATH: u64 = 15;
    /// The address of the relocations without addends.
    pub const REL: u64 = 17;
    /// The size of the relocations without addends in bytes.
    pub const RELSZ: u64 = 18;
    /// For debuggers of programs.
    pub const DEBUG: u64 = 21;
    /// The address of the relocations of the procedure linkage table.
    pub const JMPREL: u64 = 23;
    /// Where to search, after the environment, as an offset.
    pub const RUNPATH: u64 = 29;
    /// The size of the packed relative relocations in bytes.
    pub const RELRSZ: u64 = 35;
    /// The address of the packed relative relocations.
    pub const RELR: u64 = 36;
    /// The address of GNU's hash table of symbols.
    pub const GNU_HASH: u64 = 0x6fff_fef5;
    /// The address of the versions of symbols.
    pub const VERSYM: u64 = 0x6fff_fff0;
    /// How many relative relocations with addends come first; a hint.
    pub const RELACOUNT: u64 = 0x6fff_fff9;
    /// How many relative relocations come first; a hint.
    pub const RELCOUNT: u64 = 0x6fff_fffa;
    /// More flags (glibc, `DF_1_…`).
    pub const FLAGS_1: u64 = 0x6fff_fffb;
    /// The address of the versions that are defined.
    pub const VERDEF: u64 = 0x6fff_fffc;
    /// How many there are.
    pub const VERDEFNUM: u64 = 0x6fff_fffd;
    /// The address of the versions that are needed.
    pub const VERNEED: u64 = 0x6fff_fffe;
    /// How many libraries they are needed of.
    pub const VERNEEDNUM: u64 = 0x6fff_ffff;
}

/// An entry of the dynamic table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DynamicEntry {
    /// What it says: one of [`tag`].
    pub tag: u64,
    /// An address, an offset of a text, or a number.
    pub value: u64,
}

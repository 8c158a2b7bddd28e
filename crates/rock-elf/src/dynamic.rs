//! Entries of the dynamic section.

/// Tags of dynamic entries (gABI, chapter 5, `d_tag`; GNU extensions from `0x6ffffef5`).
pub mod tag {
    /// End of the dynamic section (`DT_NULL`).
    pub const NULL: u64 = 0;
    /// Name of a needed library, as an offset into the string table.
    pub const NEEDED: u64 = 1;
    /// Size of the relocations of the procedure linkage table, in bytes.
    pub const PLTRELSZ: u64 = 2;
    /// Address of the symbol hash table.
    pub const HASH: u64 = 4;
    /// Address of the string table.
    pub const STRTAB: u64 = 5;
    /// Address of the symbol table.
    pub const SYMTAB: u64 = 6;
    /// Address of the relocations with addends.
    pub const RELA: u64 = 7;
    /// Size of the relocations with addends, in bytes.
    pub const RELASZ: u64 = 8;
    /// Size of the string table, in bytes.
    pub const STRSZ: u64 = 10;
    /// Name of the library itself, as an offset into the string table.
    pub const SONAME: u64 = 14;
    /// Search path that precedes `LD_LIBRARY_PATH`, as an offset into the string table.
    pub const RPATH: u64 = 15;
    /// Address of the relocations without addends.
    pub const REL: u64 = 17;
    /// Size of the relocations without addends, in bytes.
    pub const RELSZ: u64 = 18;
    /// Word that the dynamic linker fills in for debuggers of programs.
    pub const DEBUG: u64 = 21;
    /// Address of the relocations of the procedure linkage table.
    pub const JMPREL: u64 = 23;
    /// Search path that follows `LD_LIBRARY_PATH`, as an offset into the string table.
    pub const RUNPATH: u64 = 29;
    /// Size of the packed relative relocations, in bytes.
    pub const RELRSZ: u64 = 35;
    /// Address of the packed relative relocations.
    pub const RELR: u64 = 36;
    /// Address of the GNU symbol hash table.
    pub const GNU_HASH: u64 = 0x6fff_fef5;
    /// Address of the version indexes of the dynamic symbols.
    pub const VERSYM: u64 = 0x6fff_fff0;
    /// Number of leading relative relocations with addends; a hint.
    pub const RELACOUNT: u64 = 0x6fff_fff9;
    /// Number of leading relative relocations without addends; a hint.
    pub const RELCOUNT: u64 = 0x6fff_fffa;
    /// Additional flags (glibc, `DF_1_…`).
    pub const FLAGS_1: u64 = 0x6fff_fffb;
    /// Address of the version definitions.
    pub const VERDEF: u64 = 0x6fff_fffc;
    /// Number of version definitions.
    pub const VERDEFNUM: u64 = 0x6fff_fffd;
    /// Address of the version needs.
    pub const VERNEED: u64 = 0x6fff_fffe;
    /// Number of libraries with version needs.
    pub const VERNEEDNUM: u64 = 0x6fff_ffff;
}

/// An entry of the dynamic section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DynamicEntry {
    /// `d_tag`; see [`tag`].
    pub tag: u64,
    /// `d_un`: an address, an offset into the string table, or a number.
    pub value: u64,
}

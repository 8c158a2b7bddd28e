//! Stub libraries: libraries of a few hundred bytes that make a library available under another
//! name.
//!
//! A program that opens `libx.so` at run time does not find it in a package, because the library is
//! packed under its SONAME, `libx.so.7`. A copy under the other name would be loaded as a second
//! library in addition to the first. A stub library has no code. It has the library as NEEDED, so
//! opening the stub opens the library, and its symbols are found through the stub (dlsym(3) also
//! searches the dependencies of a library).

use rock_elf::{machine, segment_flag, segment_type, tag};

const ELF_HEADER_BYTES: u64 = 64;
const PROGRAM_HEADER_BYTES: u64 = 56;
const SYMBOL_BYTES: u64 = 24;
const DYNAMIC_ENTRY_BYTES: u64 = 16;
/// The layout of the file: headers, one empty symbol, its hash table, the dynamic section, the
/// string table.
const SYMBOLS: u64 = ELF_HEADER_BYTES + 3 * PROGRAM_HEADER_BYTES;
const HASH: u64 = SYMBOLS + SYMBOL_BYTES;
/// `DT_SYMENT`.
const SYMENT: u64 = 11;
const HASH_WORDS: [u32; 4] = [1, 1, 0, 0];
const DYNAMIC: u64 = HASH + 16;
const ENTRIES: u64 = 9;
const TEXTS: u64 = DYNAMIC + ENTRIES * DYNAMIC_ENTRY_BYTES;
/// The largest page size of the two processors: `ELF_MAXPAGESIZE` of binutils for `AArch64`.
const PAGE_BYTES: u64 = 0x1_0000;

/// A stub library that makes a library available under another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryAlias {
    /// The processor, as in `e_machine`.
    pub machine: u16,
    /// The filename of the stub library, which is also its SONAME.
    pub name: String,
    /// The SONAME of the library that it opens.
    pub soname: String,
    /// The search path for that library, written as RPATH.
    pub search: String,
}

impl LibraryAlias {
    /// Whether a stub library can be made for a processor.
    pub fn is_for(processor: u16) -> bool {
        matches!(processor, machine::X86_64 | machine::AARCH64)
    }

    /// Returns the bytes of the file (gABI, chapters 4 and 5).
    pub fn bytes(&self) -> Vec<u8> {
        let mut texts = vec![0];
        let mut text = |text: &str| {
            let at = texts.len() as u64;
            texts.extend_from_slice(text.as_bytes());
            texts.push(0);
            at
        };
        let (needed, own, search) = (text(&self.soname), text(&self.name), text(&self.search));
        let size = TEXTS + texts.len() as u64;
        let mut made = Vec::new();
        // 64-bit, little-endian, version 1.
        made.extend_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
        let mut put = |bytes: &[u8]| made.extend_from_slice(bytes);
        // `ET_DYN`.
        put(&3_u16.to_le_bytes());
        put(&self.machine.to_le_bytes());
        put(&1_u32.to_le_bytes());
        for word in [0, ELF_HEADER_BYTES, 0] {
            put(&word.to_le_bytes());
        }
        put(&0_u32.to_le_bytes());
        // Header sizes and counts: ELF header, three program headers, no sections.
        for half in [64_u16, 56, 3, 64, 0, 0] {
            put(&half.to_le_bytes());
        }
        // The dynamic linker writes addresses into the dynamic section.
        let flags = segment_flag::READ | segment_flag::WRITE;
        let dynamic_size = ENTRIES * DYNAMIC_ENTRY_BYTES;
        for (kind, offset, size, align) in [
            (segment_type::LOAD, 0, size, PAGE_BYTES),
            (segment_type::DYNAMIC, DYNAMIC, dynamic_size, 8),
            // Without it the stack would become executable.
            (segment_type::GNU_STACK, 0, 0, 16),
        ] {
            put(&kind.to_le_bytes());
            put(&flags.to_le_bytes());
            for word in [offset, offset, offset, size, size, align] {
                put(&word.to_le_bytes());
            }
        }
        put(&[0; 24]);
        for word in HASH_WORDS {
            put(&word.to_le_bytes());
        }
        for (tag, value) in [
            (tag::NEEDED, needed),
            (tag::SONAME, own),
            (tag::RPATH, search),
            (tag::HASH, HASH),
            (tag::STRTAB, TEXTS),
            (tag::SYMTAB, SYMBOLS),
            (tag::STRSZ, texts.len() as u64),
            (SYMENT, SYMBOL_BYTES),
            (tag::NULL, 0),
        ] {
            put(&tag.to_le_bytes());
            put(&value.to_le_bytes());
        }
        put(&texts);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::{LibraryAlias, machine, tag};
    use crate::FileShape;
    use rock_elf::{Elf, verify};

    #[test]
    fn an_alias_is_a_library_that_needs_the_other_one() {
        for processor in [machine::X86_64, machine::AARCH64] {
            assert!(LibraryAlias::is_for(processor));
            let [name, soname, search] = ["libx.so", "libx.so.7", "$ORIGIN"].map(str::to_owned);
            let bytes = LibraryAlias {
                machine: processor,
                name,
                soname,
                search,
            }
            .bytes();
            assert_eq!(verify(&bytes), []);
            let elf = Elf::read(&bytes).unwrap();
            let strings = elf.string_table(&bytes).unwrap();
            assert_eq!(
                elf.dynamic_strings(&strings, tag::NEEDED).unwrap(),
                ["libx.so.7"]
            );
            let (soname, search) = (Some("libx.so".to_owned()), Some("$ORIGIN".to_owned()));
            assert_eq!(
                FileShape::read(&bytes).unwrap(),
                FileShape::Library {
                    machine: processor,
                    soname,
                    search
                }
            );
        }
        assert!(!LibraryAlias::is_for(224));
    }
}

//! Libraries of a few hundred bytes that stand for another name of a library.
//!
//! A program that opens `libx.so` at run time asks for a name that is no library of a package:
//! there is `libx.so.7`, as loaders ask for it. A copy under the other name would be a second
//! library, loaded beside the first. This one has no code; it needs the library, so opening it
//! opens that, and its symbols are found through it (dlsym(3): those of the libraries that it
//! needs, too).

use rock_elf::{machine, segment_flag, segment_type, tag};

const ELF_HEADER_BYTES: u64 = 64;
const PROGRAM_HEADER_BYTES: u64 = 56;
const SYMBOL_BYTES: u64 = 24;
const DYNAMIC_ENTRY_BYTES: u64 = 16;
/// Where the parts lie, one behind the other: headers, one empty symbol, a hash table of it, the
/// dynamic table, texts.
const SYMBOLS: u64 = ELF_HEADER_BYTES + 3 * PROGRAM_HEADER_BYTES;
const HASH: u64 = SYMBOLS + SYMBOL_BYTES;
/// `DT_SYMENT`.
const SYMENT: u64 = 11;
const HASH_WORDS: [u32; 4] = [1, 1, 0, 0];
const DYNAMIC: u64 = HASH + 16;
const ENTRIES: u64 = 9;
const TEXTS: u64 = DYNAMIC + ENTRIES * DYNAMIC_ENTRY_BYTES;
/// The largest page of the two processors: `ELF_MAXPAGESIZE` of binutils for `AArch64`.
const PAGE_BYTES: u64 = 0x1_0000;

/// A library that stands for another name of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryAlias {
    /// The processor, as in `e_machine`.
    pub machine: u16,
    /// The other name, under which it lies.
    pub name: String,
    /// The library that it opens, as loaders ask for it.
    pub soname: String,
    /// Where it is searched for: an RPATH.
    pub search: String,
}

impl LibraryAlias {
    /// Whether there is one for a processor.
    pub fn is_for(processor: u16) -> bool {
        matches!(processor, machine::X86_64 | machine::AARCH64)
    }

    /// The bytes of the file (gABI, chapters 4 and 5).
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
        // Of 64 bits, little-endian, version 1.
        made.extend_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
        let mut put = |bytes: &[u8]| made.extend_from_slice(bytes);
        // A shared object.
        put(&3_u16.to_le_bytes());
        put(&self.machine.to_le_bytes());
        put(&1_u32.to_le_bytes());
        for word in [0, ELF_HEADER_BYTES, 0] {
            put(&word.to_le_bytes());
        }
        put(&0_u32.to_le_bytes());
        // Sizes and numbers of headers: of this one, of segments, of sections, which there are none
        // of.
        for half in [64_u16, 56, 3, 64, 0, 0] {
            put(&half.to_le_bytes());
        }
        // Loaders write addresses into the dynamic table.
        let flags = segment_flag::READ | segment_flag::WRITE;
        let dynamic_size = ENTRIES * DYNAMIC_ENTRY_BYTES;
        for (kind, offset, size, align) in [
            (segment_type::LOAD, 0, size, PAGE_BYTES),
            (segment_type::DYNAMIC, DYNAMIC, dynamic_size, 8),
            // Without it the stack would be made executable.
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

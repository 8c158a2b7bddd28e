//! Symbols that a file offers and needs.

use super::limits::{MAX_HASH_LINKS, MAX_SYMBOLS};
use super::{Class, Elf, ElfError, Format, Strings, section_type, tag};
use rock_bytes::ReadAt;

/// How a symbol binds (gABI, chapter 4, `ELF32_ST_BIND`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Seen in one file only.
    Local,
    /// Must be found.
    Global,
    /// May be missing.
    Weak,
    /// Of an operating system or processor.
    Other,
}

/// A dynamic symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// Where its name begins among the strings.
    pub name: u32,
    /// How it binds.
    pub binding: Binding,
    /// `STT_FUNC` and the like, the low half of `st_info`.
    pub kind: u8,
    /// `st_shndx`; 0 where another file must define it.
    pub section: u16,
    /// `st_value`.
    pub value: u64,
}

/// A function (gABI, `STT_FUNC`).
const FUNCTION: u8 = 2;
/// GNU's function that picks an implementation when it is loaded (`STT_GNU_IFUNC`).
const IFUNC: u8 = 10;

/// The number of symbols by GNU's hash table.
struct GnuSymbolCount {
    total: u64,
    /// Whether the table lists a symbol, so that the last of the chains ends the symbols.
    has_chains: bool,
}

impl Symbol {
    /// Bytes of a symbol of this class.
    pub fn bytes(class: Class) -> usize {
        match class {
            Class::Elf32 => 16,
            Class::Elf64 => 24,
        }
    }

    /// Reads one from the start of these bytes.
    pub fn parse(format: Format, bytes: &[u8]) -> Self {
        let (info, section, value) = match format.class {
            Class::Elf32 => (12, 14, 4),
            Class::Elf64 => (4, 6, 8),
        };
        let info = bytes.get(info).copied().unwrap_or_default();
        Self {
            name: format.u32(bytes, 0),
            binding: match info >> 4 {
                0 => Binding::Local,
                1 => Binding::Global,
                2 => Binding::Weak,
                _ => Binding::Other,
            },
            kind: info & 0xf,
            section: format.u16(bytes, section),
            value: format.word(bytes, value),
        }
    }

    /// Writes the value into the bytes of a symbol.
    pub(super) fn put_value(format: Format, bytes: &mut [u8], value: u64) {
        format.put_word(bytes, if format.is_64() { 8 } else { 4 }, value);
    }

    /// Whether another file must define it.
    pub fn is_undefined(&self) -> bool {
        self.section == 0
    }

    /// Whether it is a function.
    pub fn is_function(&self) -> bool {
        matches!(self.kind, FUNCTION | IFUNC)
    }
}

impl Elf {
    /// Returns how many dynamic symbols there are, by the hash tables; the format says it nowhere
    /// else.
    ///
    /// The words of `.hash` have 4 bytes (gABI, "Hash Table"). For 64-bit s390 GNU ld writes 8
    /// (bfd, `elf64-s390.c`, `elf_s390_backend_size_info`), and lld 4, as everywhere: there GNU's
    /// table, of which there is one form, is asked first.
    ///
    /// # Errors
    /// When a hash table lies outside what is loaded or does not fit together.
    pub fn symbol_count(&self, source: &dyn ReadAt) -> Result<u64, ElfError> {
        let gnu_hash = self.value(tag::GNU_HASH);
        let Some(hash) = self.value(tag::HASH) else {
            let listed = gnu_hash
                .map(|gnu_hash| self.gnu_symbol_count(source, gnu_hash))
                .transpose()?;
            return Ok(match listed {
                Some(count) if count.has_chains => count.total,
                Some(count) => count.total.max(self.unlisted_symbol_count(source)),
                None => self.unlisted_symbol_count(source),
            });
        };
        let format = self.header().format;
        if !(format.is_64() && self.header().machine == super::machine::S390) {
            let mut head = [0; 8];
            self.read_address(source, "the hash table", hash, &mut head)?;
            return Ok(u64::from(format.u32(&head, 4)).min(MAX_SYMBOLS));
        }
        if let Some(gnu_hash) = gnu_hash {
            let count = self.gnu_symbol_count(source, gnu_hash)?;
            // A table without a symbol does not say where those end that are undefined.
            if count.has_chains {
                return Ok(count.total);
            }
        }
        let mut head = [0; 16];
        let words = if self.has_wide_hash(source, hash)? {
            16
        } else {
            8
        };
        self.read_address(source, "the hash table", hash, &mut head[..words])?;
        let count = if words == 16 {
            format.u64(&head, 8)
        } else {
            format.u32(&head, 4).into()
        };
        Ok(count.min(MAX_SYMBOLS))
    }

    /// Returns how many dynamic symbols there are where no hash table says it: by the section, or,
    /// in a file without sections, by the room up to the next table.
    ///
    /// A library or program may define nothing for others, and needs no hash table then. GNU ld
    /// writes 1 for the first symbol that its table lists, however many are undefined (bfd,
    /// `elflink.c`, `bfd_elf_size_dynsym_hash_dynstr`); lld writes the right number.
    fn unlisted_symbol_count(&self, source: &dyn ReadAt) -> u64 {
        let Some(start) = self.value(tag::SYMTAB) else {
            return 0;
        };
        let sections = self.sections(source).unwrap_or_default();
        let section = sections
            .iter()
            .find(|section| section.kind == section_type::DYNSYM && section.address == start);
        let behind = [
            tag::STRTAB,
            tag::GNU_HASH,
            tag::VERSYM,
            tag::VERNEED,
            tag::VERDEF,
            tag::RELA,
            tag::REL,
            tag::JMPREL,
        ];
        let next = || {
            behind
                .into_iter()
                .filter_map(|tag| self.value(tag))
                .filter(|address| *address > start)
                .min()
        };
        let bytes = section.map_or_else(
            || next().map_or(0, |next| next - start),
            |section| section.size,
        );
        (bytes.min(self.readable(start)) / Symbol::bytes(self.header().format.class) as u64)
            .min(MAX_SYMBOLS)
    }

    /// Returns whether the words of `.hash` have 8 bytes: by the section's `sh_entsize`, or, in a
    /// file without sections, by the first 4 bytes, which are the high half of a small number then,
    /// and a number of buckets otherwise.
    fn has_wide_hash(&self, source: &dyn ReadAt, hash: u64) -> Result<bool, ElfError> {
        let sections = self.sections(source).unwrap_or_default();
        let section = sections
            .iter()
            .find(|section| section.kind == section_type::HASH && section.address == hash);
        if let Some(section) = section.filter(|section| matches!(section.entry_size, 4 | 8)) {
            return Ok(section.entry_size == 8);
        }
        let mut first = [0; 4];
        self.read_address(source, "the hash table", hash, &mut first)?;
        Ok(self.header().format.u32(&first, 0) == 0)
    }

    /// GNU's table lists only what is defined; the highest chain leads to the last symbol.
    fn gnu_symbol_count(
        &self,
        source: &dyn ReadAt,
        address: u64,
    ) -> Result<GnuSymbolCount, ElfError> {
        let (format, what) = (self.header().format, "the GNU hash table");
        let mut head = [0; 16];
        self.read_address(source, what, address, &mut head)?;
        let (buckets, first) = (
            u64::from(format.u32(&head, 0)),
            u64::from(format.u32(&head, 4)),
        );
        let blooms = u64::from(format.u32(&head, 8));
        let at = address
            .wrapping_add(16)
            .wrapping_add(blooms.saturating_mul(format.word_bytes() as u64));
        let table = self.read_table(source, what, at, buckets.saturating_mul(4))?;
        let highest = table
            .chunks_exact(4)
            .map(|one| u64::from(format.u32(one, 0)))
            .max()
            .unwrap_or_default();
        if highest < first {
            return Ok(GnuSymbolCount {
                total: first,
                has_chains: false,
            });
        }
        let chains = at.wrapping_add(buckets.saturating_mul(4));
        let (mut index, mut block) = (highest, [0; 256]);
        while index < MAX_SYMBOLS {
            let from = chains.wrapping_add((index - first).saturating_mul(4));
            let there = self
                .readable(from)
                .min(block.len() as u64)
                .min((MAX_SYMBOLS - index) * 4)
                / 4
                * 4;
            if there == 0 {
                return Err(ElfError::Outside {
                    what,
                    offset: from,
                    of: "what is loaded",
                });
            }
            let block = &mut block[..usize::try_from(there).unwrap_or(0)];
            self.read_address(source, what, from, block)?;
            for one in block.chunks_exact(4) {
                index += 1;
                if format.u32(one, 0) & 1 == 1 {
                    return Ok(GnuSymbolCount {
                        total: index,
                        has_chains: true,
                    });
                }
            }
        }
        Err(ElfError::Damaged {
            what: "the GNU hash table has no end".to_owned(),
        })
    }

    /// The dynamic symbols, the first (empty) one left out.
    ///
    /// # Errors
    /// When the table lies outside what is loaded.
    pub fn symbols(&self, source: &dyn ReadAt) -> Result<Vec<Symbol>, ElfError> {
        let Some(start) = self.value(tag::SYMTAB) else {
            return Ok(Vec::new());
        };
        let size = Symbol::bytes(self.header().format.class);
        let count = self.symbol_count(source)?;
        let table = self.read_table(
            source,
            "the dynamic symbols",
            start,
            count.saturating_mul(size as u64),
        )?;
        Ok(table
            .chunks_exact(size)
            .skip(1)
            .map(|one| Symbol::parse(self.header().format, one))
            .collect())
    }

    /// The first of these names that the file defines a function of. Only the chains of these names
    /// are walked.
    ///
    /// # Errors
    /// When a table lies outside what is loaded.
    pub fn defined_function<'n>(
        &self,
        source: &dyn ReadAt,
        strings: &Strings,
        names: &'n [String],
    ) -> Result<Option<&'n str>, ElfError> {
        let Some(hash) = self.value(tag::GNU_HASH) else {
            for symbol in self
                .symbols(source)?
                .iter()
                .filter(|symbol| !symbol.is_undefined() && symbol.is_function())
            {
                let found = strings
                    .text(symbol.name.into())
                    .ok()
                    .and_then(|text| names.iter().find(|name| *name == text));
                if let Some(name) = found {
                    return Ok(Some(name));
                }
            }
            return Ok(None);
        };
        for name in names {
            if self
                .gnu_lookup(source, hash, name, strings)?
                .is_some_and(|symbol| symbol.is_function())
            {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    fn gnu_lookup(
        &self,
        source: &dyn ReadAt,
        address: u64,
        name: &str,
        strings: &Strings,
    ) -> Result<Option<Symbol>, ElfError> {
        let (format, what) = (self.header().format, "the GNU hash table");
        let mut head = [0; 16];
        self.read_address(source, what, address, &mut head)?;
        let (buckets, first, blooms) = (
            format.u32(&head, 0),
            format.u32(&head, 4),
            format.u32(&head, 8),
        );
        if buckets == 0 {
            return Ok(None);
        }
        let hash = gnu_hash(name);
        let table = address
            .wrapping_add(16)
            .wrapping_add(u64::from(blooms) * format.word_bytes() as u64);
        let mut word = [0; 4];
        self.read_address(
            source,
            what,
            table.wrapping_add(u64::from(hash % buckets) * 4),
            &mut word,
        )?;
        let mut index = format.u32(&word, 0);
        if index < first || index == 0 {
            return Ok(None);
        }
        let chains = table.wrapping_add(u64::from(buckets) * 4);
        let size = Symbol::bytes(format.class);
        let symbols = self.value(tag::SYMTAB).unwrap_or_default();
        for _ in 0..MAX_HASH_LINKS {
            self.read_address(
                source,
                what,
                chains.wrapping_add(u64::from(index - first) * 4),
                &mut word,
            )?;
            let chain = format.u32(&word, 0);
            if chain | 1 == hash | 1 {
                let mut entry = [0; 24];
                let at = symbols.wrapping_add(u64::from(index) * size as u64);
                self.read_address(source, "the dynamic symbols", at, &mut entry[..size])?;
                let symbol = Symbol::parse(format, &entry);
                if !symbol.is_undefined()
                    && strings
                        .text(symbol.name.into())
                        .is_ok_and(|text| text == name)
                {
                    return Ok(Some(symbol));
                }
            }
            if chain & 1 == 1 {
                return Ok(None);
            }
            index = index.checked_add(1).ok_or(ElfError::Outside {
                what,
                offset: chains,
                of: "what is loaded",
            })?;
        }
        Err(ElfError::Damaged {
            what: format!("a chain of the GNU hash table has more than {MAX_HASH_LINKS} links"),
        })
    }
}

/// GNU's hash of a symbol name (binutils, `bfd_elf_gnu_hash`): Bernstein's with 33 and 5381.
fn gnu_hash(name: &str) -> u32 {
    name.bytes().fold(5381, |hash: u32, byte| {
        hash.wrapping_mul(33).wrapping_add(byte.into())
    })
}

//! Dynamic symbols.

use super::limits::{MAX_HASH_LINKS, MAX_SYMBOLS};
use super::{Elf, ElfClass, ElfError, ElfFormat, StringTable, section_type, tag};
use rock_bytes::ReadAt;

/// The binding of a symbol (gABI, chapter 4, `ELF32_ST_BIND`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolBinding {
    /// Not visible outside the object.
    Local,
    /// Visible to all objects; a reference must be resolved.
    Global,
    /// Like global, but a reference may stay unresolved.
    Weak,
    /// A value of an operating system or processor.
    Other,
}

/// An entry of a symbol table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElfSymbol {
    /// `st_name`: offset of the name in the string table.
    pub name: u32,
    /// The binding, the high half of `st_info`.
    pub binding: SymbolBinding,
    /// The type, the low half of `st_info`; 2 is `STT_FUNC`.
    pub kind: u8,
    /// `st_shndx`; 0 for an undefined symbol.
    pub section_index: u16,
    /// `st_value`.
    pub value: u64,
}

/// `STT_FUNC` (gABI, chapter 4).
const FUNCTION: u8 = 2;
/// `STT_GNU_IFUNC`: a function that selects an implementation at load time.
const IFUNC: u8 = 10;

/// The number of symbols according to the GNU hash table.
struct GnuSymbolCount {
    total: u64,
    /// Whether the table lists any symbol, so that its last chain ends with the last symbol.
    has_chains: bool,
}

impl ElfSymbol {
    /// Returns the size of a symbol of this class, in bytes.
    pub fn entry_size(class: ElfClass) -> usize {
        match class {
            ElfClass::Elf32 => 16,
            ElfClass::Elf64 => 24,
        }
    }

    /// Parses a symbol from the start of `bytes`.
    pub fn parse(format: ElfFormat, bytes: &[u8]) -> Self {
        let (info, section, value) = match format.class {
            ElfClass::Elf32 => (12, 14, 4),
            ElfClass::Elf64 => (4, 6, 8),
        };
        let info = bytes.get(info).copied().unwrap_or_default();
        Self {
            name: format.u32(bytes, 0),
            binding: match info >> 4 {
                0 => SymbolBinding::Local,
                1 => SymbolBinding::Global,
                2 => SymbolBinding::Weak,
                _ => SymbolBinding::Other,
            },
            kind: info & 0xf,
            section_index: format.u16(bytes, section),
            value: format.word(bytes, value),
        }
    }

    /// Writes `st_value` into the bytes of a symbol.
    pub(super) fn write_value(format: ElfFormat, bytes: &mut [u8], value: u64) {
        format.put_word(bytes, if format.is_64() { 8 } else { 4 }, value);
    }

    /// Returns `true` if another object must define the symbol.
    pub fn is_undefined(&self) -> bool {
        self.section_index == 0
    }

    /// Returns `true` if the symbol is a function.
    pub fn is_function(&self) -> bool {
        matches!(self.kind, FUNCTION | IFUNC)
    }
}

impl Elf {
    /// Returns the number of dynamic symbols, including the empty first one, according to the hash
    /// tables; no other field has it.
    ///
    /// The words of `.hash` have 4 bytes (gABI, "Hash Table"). For 64-bit s390, GNU ld writes 8
    /// bytes (bfd, `elf64-s390.c`, `elf_s390_backend_size_info`) and lld 4: there, the GNU hash
    /// table is read first, because it has only one form.
    ///
    /// # Errors
    /// Fails if a hash table lies outside the loaded segments or is inconsistent.
    pub fn symbol_count(&self, source: &dyn ReadAt) -> Result<u64, ElfError> {
        let gnu_hash = self.dynamic_value(tag::GNU_HASH);
        let Some(hash) = self.dynamic_value(tag::HASH) else {
            let listed = gnu_hash
                .map(|gnu_hash| self.gnu_symbol_count(source, gnu_hash))
                .transpose()?;
            return Ok(match listed {
                Some(count) if count.has_chains => count.total,
                Some(count) => count.total.max(self.symbol_count_by_section(source)),
                None => self.symbol_count_by_section(source),
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
            // A table without symbols does not reveal the number of undefined ones.
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

    /// Returns the number of dynamic symbols without a hash table: by the size of their section or,
    /// without section headers, by the distance to the next table.
    ///
    /// An object that exports nothing needs no hash table. For such objects GNU ld writes 1 as the
    /// first symbol of the table, whatever the number of undefined symbols (bfd, `elflink.c`,
    /// `bfd_elf_size_dynsym_hash_dynstr`); lld writes the right number.
    fn symbol_count_by_section(&self, source: &dyn ReadAt) -> u64 {
        let Some(start) = self.dynamic_value(tag::SYMTAB) else {
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
                .filter_map(|tag| self.dynamic_value(tag))
                .filter(|address| *address > start)
                .min()
        };
        let bytes = section.map_or_else(
            || next().map_or(0, |next| next - start),
            |section| section.size,
        );
        (bytes.min(self.readable_bytes(start))
            / ElfSymbol::entry_size(self.header().format.class) as u64)
            .min(MAX_SYMBOLS)
    }

    /// Returns `true` if the words of `.hash` have 8 bytes: by `sh_entsize` or, without section
    /// headers, by the first 4 bytes. These are the high half of a small number if words have 8
    /// bytes, and the number of buckets otherwise.
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

    /// Follows the chain of the highest bucket to the last symbol. The table lists only defined
    /// symbols, which come last.
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
                .readable_bytes(from)
                .min(block.len() as u64)
                .min((MAX_SYMBOLS - index) * 4)
                / 4
                * 4;
            if there == 0 {
                return Err(ElfError::OutOfBounds {
                    what,
                    offset: from,
                    container: "the loaded segments",
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
        Err(ElfError::Malformed {
            reason: "the GNU hash table has no end".to_owned(),
        })
    }

    /// Reads the dynamic symbols without the empty first one.
    ///
    /// # Errors
    /// Fails if a table lies outside the loaded segments.
    pub fn symbols(&self, source: &dyn ReadAt) -> Result<Vec<ElfSymbol>, ElfError> {
        let Some(start) = self.dynamic_value(tag::SYMTAB) else {
            return Ok(Vec::new());
        };
        let size = ElfSymbol::entry_size(self.header().format.class);
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
            .map(|one| ElfSymbol::parse(self.header().format, one))
            .collect())
    }

    /// Returns the first of `names` that is a function defined in this file.
    ///
    /// With a GNU hash table, only the chains of these names are read.
    ///
    /// # Errors
    /// Fails if a table lies outside the loaded segments.
    pub fn find_defined_function<'n>(
        &self,
        source: &dyn ReadAt,
        strings: &StringTable,
        names: &'n [String],
    ) -> Result<Option<&'n str>, ElfError> {
        let Some(hash) = self.dynamic_value(tag::GNU_HASH) else {
            for symbol in self
                .symbols(source)?
                .iter()
                .filter(|symbol| !symbol.is_undefined() && symbol.is_function())
            {
                let found = strings
                    .get(symbol.name.into())
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
                .find_by_gnu_hash(source, hash, name, strings)?
                .is_some_and(|symbol| symbol.is_function())
            {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    fn find_by_gnu_hash(
        &self,
        source: &dyn ReadAt,
        address: u64,
        name: &str,
        strings: &StringTable,
    ) -> Result<Option<ElfSymbol>, ElfError> {
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
        let size = ElfSymbol::entry_size(format.class);
        let symbols = self.dynamic_value(tag::SYMTAB).unwrap_or_default();
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
                let symbol = ElfSymbol::parse(format, &entry);
                if !symbol.is_undefined()
                    && strings
                        .get(symbol.name.into())
                        .is_ok_and(|text| text == name)
                {
                    return Ok(Some(symbol));
                }
            }
            if chain & 1 == 1 {
                return Ok(None);
            }
            index = index.checked_add(1).ok_or(ElfError::OutOfBounds {
                what,
                offset: chains,
                container: "the loaded segments",
            })?;
        }
        Err(ElfError::Malformed {
            reason: format!("a chain of the GNU hash table has more than {MAX_HASH_LINKS} links"),
        })
    }
}

/// Returns the GNU hash of a symbol name (binutils, `bfd_elf_gnu_hash`): Bernstein's hash with 33
/// and 5381.
fn gnu_hash(name: &str) -> u32 {
    name.bytes().fold(5381, |hash: u32, byte| {
        hash.wrapping_mul(33).wrapping_add(byte.into())
    })
}

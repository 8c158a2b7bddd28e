//! Symbol versions (LSB Core 10.7, "Symbol Versioning").

use super::limits::{MAX_NEEDED_VERSIONS, MAX_VERSION_LIBRARIES};
use super::{Elf, ElfError, StringTable, tag};
use rock_bytes::ReadAt;

/// The symbol versions that a file needs from one library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionNeed {
    /// The library, as in its NEEDED entry.
    pub library: String,
    /// The versions, such as `GLIBC_2.28`, in file order.
    pub versions: Vec<String>,
    /// The version index of each of [`versions`](Self::versions), to which symbols refer.
    pub indexes: Vec<u16>,
}

/// Size of `Elf32_Verneed`, `Elf64_Verneed` and `Vernaux`, in bytes.
pub(super) const ENTRY_BYTES: usize = 16;

impl Elf {
    /// Reads the version needs, from the address at which the dynamic linker reads them.
    ///
    /// # Errors
    /// Fails if the table or a name lies outside the loaded segments, if a list ends too early, or
    /// if there are more versions than in any real file.
    pub fn version_needs(
        &self,
        source: &dyn ReadAt,
        strings: &StringTable,
    ) -> Result<Vec<VersionNeed>, ElfError> {
        let Some(start) = self.dynamic_value(tag::VERNEED) else {
            return Ok(Vec::new());
        };
        let count = self
            .dynamic_value(tag::VERNEEDNUM)
            .unwrap_or(u64::MAX)
            .min(MAX_VERSION_LIBRARIES);
        let mut needs = Vec::new();
        let (mut at, mut left) = (start, MAX_NEEDED_VERSIONS);
        for _ in 0..count {
            let entry = self.version_entry(source, at)?;
            let format = self.header().format;
            let (versions, file) = (format.u16(&entry, 2), format.u32(&entry, 4));
            let (first, next) = (format.u32(&entry, 8), format.u32(&entry, 12));
            let mut need = VersionNeed {
                library: strings.get(file.into())?.to_owned(),
                versions: Vec::with_capacity(versions.min(64).into()),
                indexes: Vec::new(),
            };
            let mut inner = at.wrapping_add(first.into());
            for index in 0..versions {
                left = left.checked_sub(1).ok_or_else(|| ElfError::Malformed {
                    reason: format!("more than {MAX_NEEDED_VERSIONS} symbol versions are needed"),
                })?;
                let one = self.version_entry(source, inner)?;
                need.versions
                    .push(strings.get(format.u32(&one, 8).into())?.to_owned());
                need.indexes.push(format.u16(&one, 6));
                let step = format.u32(&one, 12);
                if step == 0 && index + 1 < versions {
                    return Err(ElfError::Malformed {
                        reason: "the list of symbol versions ends too early".to_owned(),
                    });
                }
                inner = inner.wrapping_add(step.into());
            }
            needs.push(need);
            if next == 0 {
                break;
            }
            at = at.wrapping_add(next.into());
        }
        Ok(needs)
    }

    /// Reads the version indexes of the first `symbols` dynamic symbols, without the empty first
    /// one; empty if the file has no versions.
    ///
    /// 0 and 1 mean no version, others refer to [`VersionNeed::indexes`].
    ///
    /// # Errors
    /// Fails if the table lies outside the loaded segments.
    pub fn symbol_versions(
        &self,
        source: &dyn ReadAt,
        symbols: usize,
    ) -> Result<Vec<u16>, ElfError> {
        let Some(start) = self.dynamic_value(tag::VERSYM) else {
            return Ok(Vec::new());
        };
        let size = (symbols as u64).saturating_add(1).saturating_mul(2);
        let table = self.read_table(source, "the versions of symbols", start, size)?;
        let numbers = table
            .chunks_exact(2)
            .skip(1)
            .map(|one| self.header().format.u16(one, 0) & !HIDDEN);
        Ok(numbers.collect())
    }

    /// Reads a `Verneed` or `Vernaux` at an address.
    pub(super) fn version_entry(
        &self,
        source: &dyn ReadAt,
        address: u64,
    ) -> Result<[u8; ENTRY_BYTES], ElfError> {
        let mut entry = [0; ENTRY_BYTES];
        self.read_address(
            source,
            "the table of needed symbol versions",
            address,
            &mut entry,
        )?;
        Ok(entry)
    }
}

/// Marks a version that is not the default one (LSB Core 10.7.2).
const HIDDEN: u16 = 0x8000;

//! Kpack archives: code objects that were split from libraries, and references to them (rocm-kpack;
//! `TheRock` RFC 0008, "Multi-Architecture Packaging with Kpack").

use super::layout::FileRange;
use super::limits::{MAX_KPACK_REFERENCE_BYTES, MAX_KPACK_TABLE_BYTES};
use super::little_endian::{u32_at, u64_at};
use super::msgpack::MsgpackReader;
use super::target::CodeTarget;
use rock_bytes::ReadAt;
use rock_names::without_dots;

/// The magic of kpack archives.
const MAGIC: &[u8; 4] = b"KPAK";
/// Size of magic, version and offset of the table of contents, in bytes.
const HEADER_BYTES: usize = 16;
/// The placeholder for the processor in a search path.
const PROCESSOR_WORD: &str = "@GFXARCH@";

/// An error from reading a kpack archive, reference or manifest.
#[derive(Debug, thiserror::Error)]
pub enum KpackError {
    /// The magic is missing.
    #[error("it is not a kpack archive")]
    BadMagic,
    /// The table of contents lies outside the file.
    #[error("its table of contents at {offset:#x} does not fit into its {size_bytes} bytes")]
    TableOutOfBounds {
        /// Its file offset.
        offset: u64,
        /// The size of the file, in bytes.
        size_bytes: u64,
    },
    /// The table of contents is too large.
    #[error("its table of contents has {0} bytes; at most {MAX_KPACK_TABLE_BYTES} are read")]
    TableTooLarge(u64),
    /// The table of contents, reference or manifest is not `MessagePack` of the expected structure.
    #[error("its {0} is damaged")]
    Malformed(&'static str),
    /// The source returned an error.
    #[error("it cannot be read: {0}")]
    Io(#[source] std::io::Error),
}

/// The table of contents of a kpack archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KpackArchive {
    /// The version of the format.
    pub version: u32,
    /// The targets, sorted.
    pub targets: Vec<CodeTarget>,
    /// The libraries and programs that the code belongs to, as in [`KpackReference::kernel_name`],
    /// sorted. If one has several bundles, their index follows: `lib/librocrand.so#3`.
    pub kernel_names: Vec<String>,
}

impl KpackArchive {
    /// Returns `true` if the first bytes of a file are the magic of kpack archives.
    pub fn is_kpack(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    /// Reads the table of contents.
    ///
    /// # Errors
    /// Fails if the file is not a kpack archive, is malformed, or cannot be read.
    pub fn read(source: &dyn ReadAt) -> Result<Self, KpackError> {
        let size_bytes = source.size_bytes();
        if size_bytes < HEADER_BYTES as u64 {
            return Err(KpackError::BadMagic);
        }
        let mut header = [0; HEADER_BYTES];
        source
            .read_exact_at(&mut header, 0)
            .map_err(KpackError::Io)?;
        let version = u32_at(&header, 4)
            .filter(|_| Self::is_kpack(&header))
            .ok_or(KpackError::BadMagic)?;
        let offset = u64_at(&header, 8).unwrap_or_default();
        let length = size_bytes
            .checked_sub(offset)
            .filter(|length| *length > 0 && offset >= HEADER_BYTES as u64);
        let length = length.ok_or(KpackError::TableOutOfBounds { offset, size_bytes })?;
        let fits = usize::try_from(length)
            .ok()
            .filter(|_| length <= MAX_KPACK_TABLE_BYTES);
        let mut table = vec![0; fits.ok_or(KpackError::TableTooLarge(length))?];
        source
            .read_exact_at(&mut table, offset)
            .map_err(KpackError::Io)?;
        Self::parse_table(version, &table).ok_or(KpackError::Malformed("table of contents"))
    }

    fn parse_table(version: u32, table: &[u8]) -> Option<Self> {
        let (mut targets, mut kernel_names) = (None, Vec::new());
        MsgpackReader::new(table).for_each_entry(|key, mut value| {
            match key {
                b"gfx_arches" => targets = Some(value.read_strings()?),
                b"toc" => value.for_each_entry(|name, _| {
                    kernel_names.push(String::from_utf8_lossy(name).into_owned());
                    Some(())
                })?,
                _ => {}
            }
            Some(())
        })?;
        let mut targets: Vec<CodeTarget> = targets?
            .iter()
            .map(|text| CodeTarget::from_text(text))
            .collect();
        targets.sort();
        targets.dedup();
        kernel_names.sort();
        Some(Self {
            version,
            targets,
            kernel_names,
        })
    }
}

/// A reference from a library to kpack archives: the contents of the section `.rocm_kpack_ref`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KpackReference {
    /// The name of its code in the archives.
    pub kernel_name: String,
    /// Paths of the archives, relative to the directory of the library; `@GFXARCH@` is replaced by
    /// a target.
    pub search_paths: Vec<String>,
}

impl KpackReference {
    /// Reads the section at a range of a file.
    ///
    /// # Errors
    /// Fails if the range extends beyond the end of the file, or if the section is malformed or
    /// cannot be read.
    pub fn read(source: &dyn ReadAt, range: FileRange) -> Result<Self, KpackError> {
        if range.end() > source.size_bytes() {
            return Err(KpackError::Malformed("reference to archives"));
        }
        let mut bytes =
            vec![0; usize::try_from(range.size_bytes.min(MAX_KPACK_REFERENCE_BYTES)).unwrap_or(0)];
        source
            .read_exact_at(&mut bytes, range.offset)
            .map_err(KpackError::Io)?;
        Self::parse(&bytes)
    }

    /// Parses the contents of the section; bytes after the map are padding.
    ///
    /// # Errors
    /// Fails if it is not a `MessagePack` map with both fields.
    pub fn parse(bytes: &[u8]) -> Result<Self, KpackError> {
        let (mut kernel_name, mut search_paths) = (None, None);
        let read = MsgpackReader::new(bytes).for_each_entry(|key, mut value| {
            match key {
                b"kernel_name" => kernel_name = Some(value.read_string()?),
                b"kpack_search_paths" => search_paths = Some(value.read_strings()?),
                _ => {}
            }
            Some(())
        });
        let damaged = KpackError::Malformed("reference to archives");
        match (read, kernel_name, search_paths) {
            (Some(()), Some(kernel_name), Some(search_paths)) => Ok(Self {
                kernel_name,
                search_paths,
            }),
            _ => Err(damaged),
        }
    }

    /// Returns `true` if an archive with these names contains code of the library.
    ///
    /// The runtime looks up the name itself and, for a library with several bundles, `NAME#0`,
    /// `NAME#1` and so on (rocm-kpack, `kpack_load_code_object`).
    pub fn is_contained_in(&self, kernel_names: &[String]) -> bool {
        let is_of = |name: &String| {
            let rest = name.strip_prefix(&self.kernel_name)?;
            let number = rest.strip_prefix('#');
            Some(
                rest.is_empty()
                    || number
                        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())),
            )
        };
        kernel_names.iter().any(|name| is_of(name) == Some(true))
    }

    /// Returns the target of an archive if its path matches a search path: the text in place of
    /// `@GFXARCH@`, or an empty string if the search path has no placeholder.
    ///
    /// Both paths are relative to the same root, with `/` as separator.
    pub fn matching_target<'p>(&self, library: &str, archive: &'p str) -> Option<&'p str> {
        let folder = library.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.search_paths.iter().find_map(|path| {
            let path = without_dots(&format!("{folder}/{path}"))?;
            let Some((before, after)) = path.split_once(PROCESSOR_WORD) else {
                return (path == archive).then_some("");
            };
            let target = archive.strip_prefix(before)?.strip_suffix(after)?;
            (!target.is_empty() && !target.contains('/')).then_some(target)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        FileRange, KpackArchive, KpackReference, MAX_KPACK_REFERENCE_BYTES, MAX_KPACK_TABLE_BYTES,
    };
    use crate::{CodeContainerKind, CodeInventory};
    use rock_bytes::ReadAt;
    use rock_testkit::bundle::{kpack, kpack_reference};

    #[test]
    fn an_archive_lists_its_targets_and_libraries() {
        let bytes = kpack(
            &["gfx1100", "gfx942", "gfx90a:xnack+"],
            &["lib/librocblas.so.5", "lib/libhipblas.so.3"],
        );
        let read = KpackArchive::read(&bytes).unwrap();
        let targets: Vec<String> = read.targets.iter().map(ToString::to_string).collect();
        assert_eq!(
            (read.version, targets),
            (
                1,
                ["gfx90a:xnack+", "gfx942", "gfx1100"]
                    .map(str::to_owned)
                    .to_vec()
            )
        );
        assert_eq!(
            read.kernel_names,
            ["lib/libhipblas.so.3", "lib/librocblas.so.5"]
        );
        let inventory = CodeInventory::from_kpack(&read, bytes.len() as u64);
        assert!(
            inventory.kinds().contains(&CodeContainerKind::Kpack) && inventory.targets().len() == 3
        );
        for length in 0..bytes.len() {
            assert!(
                KpackArchive::read(&bytes[..length].to_vec()).is_err(),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn a_hostile_table_is_an_error() {
        let check = |offset: u64, table: &[u8], expect: &str| {
            let bytes = [&b"KPAK\x01\0\0\0"[..], &offset.to_le_bytes(), table].concat();
            assert_eq!(KpackArchive::read(&bytes).unwrap_err().to_string(), expect);
        };
        check(16, b"\x80", "its table of contents is damaged");
        check(
            16,
            b"\xdf\xff\xff\xff\xff",
            "its table of contents is damaged",
        );
        check(
            16,
            b"\x81\xaagfx_arches\xdd\xff\xff\xff\xff",
            "its table of contents is damaged",
        );
        check(
            0,
            b"\x80",
            "its table of contents at 0x0 does not fit into its 17 bytes",
        );
        check(
            17,
            b"\x80",
            "its table of contents at 0x11 does not fit into its 17 bytes",
        );
        check(
            u64::MAX,
            b"\x80",
            "its table of contents at 0xffffffffffffffff does not fit into its 17 bytes",
        );
    }

    /// An archive of the given size, of which only the header can be read.
    struct Hollow(u64);

    impl ReadAt for Hollow {
        fn size_bytes(&self) -> u64 {
            self.0
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
            let header = b"KPAK\x01\0\0\0\x10\0\0\0\0\0\0\0";
            if offset == 0 {
                header[..].read_at(buffer, 0)
            } else {
                Err(std::io::Error::other("it is not there"))
            }
        }
    }

    /// A table of the maximum size is read; one byte more is an error before the read.
    #[test]
    fn a_table_up_to_the_limit_is_read() {
        let message = |size: u64| {
            KpackArchive::read(&Hollow(16 + size))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            message(MAX_KPACK_TABLE_BYTES),
            "it cannot be read: it is not there"
        );
        let expected = "its table of contents has 67108865 bytes; at most 67108864 are read";
        assert_eq!(message(MAX_KPACK_TABLE_BYTES + 1), expected);
    }

    /// A longer reference is truncated at the limit.
    #[test]
    fn a_reference_up_to_the_limit_is_read() {
        let read = |size_bytes: u64| {
            let mut bytes = kpack_reference("blas", &["own.kpack"]);
            // A third entry of the map, whose string fills the rest (MessagePack, `str 32`).
            bytes[0] = 0x83;
            bytes.extend(b"\xa3pad\xdb");
            let rest = u32::try_from(size_bytes).unwrap() - u32::try_from(bytes.len()).unwrap() - 4;
            bytes.extend(rest.to_be_bytes());
            bytes.resize(usize::try_from(size_bytes).unwrap(), b'x');
            KpackReference::read(
                &bytes,
                FileRange {
                    offset: 0,
                    size_bytes,
                },
            )
        };
        assert_eq!(
            read(MAX_KPACK_REFERENCE_BYTES).unwrap().search_paths,
            ["own.kpack"]
        );
        let message = read(MAX_KPACK_REFERENCE_BYTES + 1).unwrap_err().to_string();
        assert_eq!(message, "its reference to archives is damaged");
    }

    #[test]
    fn a_reference_leads_from_the_folder_of_the_library() {
        let bytes = kpack_reference(
            "lib/librocblas.so.5",
            &["../.kpack/blas_lib_@GFXARCH@.kpack", "own.kpack"],
        );
        let padded = [bytes.clone(), vec![0; 7]].concat();
        let reference = KpackReference::parse(&padded).unwrap();
        assert_eq!(reference.kernel_name, "lib/librocblas.so.5");
        let matched = |archive| reference.matching_target("_rocm_sdk/lib/librocblas.so.5", archive);
        assert_eq!(
            matched("_rocm_sdk/.kpack/blas_lib_gfx942.kpack"),
            Some("gfx942")
        );
        assert_eq!(matched("_rocm_sdk/.kpack/blas_lib_.kpack"), None);
        assert_eq!(matched("_rocm_sdk/.kpack/other_gfx942.kpack"), None);
        assert_eq!(matched("_rocm_sdk/lib/own.kpack"), Some(""));
        assert!((0..bytes.len()).all(|length| KpackReference::parse(&bytes[..length]).is_err()));
    }

    #[test]
    fn a_library_is_in_an_archive_by_its_name_or_by_that_with_the_number_of_a_bundle() {
        let reference = KpackReference {
            kernel_name: "lib/librand.so".to_owned(),
            search_paths: Vec::new(),
        };
        let is_in =
            |name: &str| reference.is_contained_in(&["lib/a.so".to_owned(), name.to_owned()]);
        assert!(
            ["lib/librand.so", "lib/librand.so#0", "lib/librand.so#14"]
                .into_iter()
                .all(is_in)
        );
        let others = [
            "lib/librand.so.1",
            "lib/librand.so#",
            "lib/librand.so#x",
            "librand.so",
            "",
        ];
        assert!(!others.into_iter().any(is_in) && !reference.is_contained_in(&[]));
    }

    #[test]
    fn a_reference_that_reaches_beyond_its_file_is_damage_and_no_fault_of_the_machine() {
        let bytes = [vec![0; 9], kpack_reference("blas", &["own.kpack"])].concat();
        let size_bytes = bytes.len() as u64 - 9;
        let read =
            |offset, size_bytes| KpackReference::read(&bytes, FileRange { offset, size_bytes });
        assert_eq!(read(9, size_bytes).unwrap().search_paths, ["own.kpack"]);
        for (offset, size_bytes) in [
            (9, size_bytes + 1),
            (10, size_bytes),
            (u64::MAX, 1),
            (1, u64::MAX),
        ] {
            let error = read(offset, size_bytes).unwrap_err();
            assert_eq!(
                error.to_string(),
                "its reference to archives is damaged",
                "{size_bytes} from {offset} on"
            );
        }
    }
}

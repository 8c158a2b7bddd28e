//! Archives of code objects outside of libraries, and what names them (rocm-kpack; `TheRock` RFC
//! 0008, "Multi-Architecture Packaging with Kpack").

use super::bytes::{u32_at, u64_at};
use super::layout::Stretch;
use super::limits::{MAX_KPACK_REFERENCE_BYTES, MAX_KPACK_TABLE_BYTES};
use super::msgpack::Reader;
use super::target::Target;
use rock_bytes::ReadAt;
use rock_names::without_dots;

/// What an archive begins with.
const MAGIC: &[u8; 4] = b"KPAK";
/// Magic, version, offset of the table of contents.
const HEADER_BYTES: usize = 16;
/// In a search path, stands for the processor of the machine.
const PROCESSOR_WORD: &str = "@GFXARCH@";

/// Why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KpackError {
    /// It does not begin as one.
    #[error("it is no kpack archive")]
    Magic,
    /// The table of contents lies outside of the file.
    #[error("its table of contents at {offset:#x} cannot lie in its {size_bytes} bytes")]
    Table {
        /// Where it is said to begin.
        offset: u64,
        /// The size of the file.
        size_bytes: u64,
    },
    /// The table of contents is too large.
    #[error("its table of contents has {0} bytes; at most {MAX_KPACK_TABLE_BYTES} are read")]
    TooLarge(u64),
    /// The table of contents, or a reference, is no `MessagePack` of the right form.
    #[error("its {0} is damaged")]
    Damaged(&'static str),
    /// The bytes cannot be read.
    #[error("it cannot be read: {0}")]
    Read(#[source] std::io::Error),
}

/// What the table of contents of an archive says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kpack {
    /// The version of the format.
    pub version: u32,
    /// The targets that it holds code for, sorted.
    pub targets: Vec<Target>,
    /// The libraries and programs that its code belongs to, as [`KpackReference::kernel_name`]
    /// names them, sorted. One of several bundles has their number behind it:
    /// `lib/librocrand.so#3`.
    pub kernel_names: Vec<String>,
}

impl Kpack {
    /// Whether the first bytes of a file are those of an archive.
    pub fn is_kpack(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    /// Reads the table of contents.
    ///
    /// # Errors
    /// When it is no archive, is damaged, or cannot be read.
    pub fn read(source: &dyn ReadAt) -> Result<Self, KpackError> {
        let size_bytes = source.size_bytes();
        if size_bytes < HEADER_BYTES as u64 {
            return Err(KpackError::Magic);
        }
        let mut header = [0; HEADER_BYTES];
        source
            .read_exact_at(&mut header, 0)
            .map_err(KpackError::Read)?;
        let version = u32_at(&header, 4)
            .filter(|_| Self::is_kpack(&header))
            .ok_or(KpackError::Magic)?;
        let offset = u64_at(&header, 8).unwrap_or_default();
        let length = size_bytes
            .checked_sub(offset)
            .filter(|length| *length > 0 && offset >= HEADER_BYTES as u64);
        let length = length.ok_or(KpackError::Table { offset, size_bytes })?;
        let fits = usize::try_from(length)
            .ok()
            .filter(|_| length <= MAX_KPACK_TABLE_BYTES);
        let mut table = vec![0; fits.ok_or(KpackError::TooLarge(length))?];
        source
            .read_exact_at(&mut table, offset)
            .map_err(KpackError::Read)?;
        Self::parse_table(version, &table).ok_or(KpackError::Damaged("table of contents"))
    }

    fn parse_table(version: u32, table: &[u8]) -> Option<Self> {
        let (mut targets, mut kernel_names) = (None, Vec::new());
        Reader::new(table).map(|key, mut value| {
            match key {
                b"gfx_arches" => targets = Some(value.strings()?),
                b"toc" => value.map(|name, _| {
                    kernel_names.push(String::from_utf8_lossy(name).into_owned());
                    Some(())
                })?,
                _ => {}
            }
            Some(())
        })?;
        let mut targets: Vec<Target> = targets?
            .iter()
            .map(|text| Target::from_text(text))
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

/// What a library says of the archives that hold its code: the content of the section
/// `.rocm_kpack_ref`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KpackReference {
    /// Under which name its code is in the archives.
    pub kernel_name: String,
    /// Where the archives are, from the folder of the library on; `@GFXARCH@` stands for a target.
    pub search_paths: Vec<String>,
}

impl KpackReference {
    /// Reads the section that lies here in a file.
    ///
    /// # Errors
    /// When it reaches beyond the end of the file, is damaged, or cannot be read.
    pub fn read(source: &dyn ReadAt, stretch: Stretch) -> Result<Self, KpackError> {
        if stretch.end() > source.size_bytes() {
            return Err(KpackError::Damaged("reference to archives"));
        }
        let mut bytes = vec![
            0;
            usize::try_from(stretch.size_bytes.min(MAX_KPACK_REFERENCE_BYTES))
                .unwrap_or(0)
        ];
        source
            .read_exact_at(&mut bytes, stretch.offset)
            .map_err(KpackError::Read)?;
        Self::parse(&bytes)
    }

    /// Reads the content of the section; bytes after it are padding.
    ///
    /// # Errors
    /// When it is no `MessagePack` map with both fields.
    pub fn parse(bytes: &[u8]) -> Result<Self, KpackError> {
        let (mut kernel_name, mut search_paths) = (None, None);
        let read = Reader::new(bytes).map(|key, mut value| {
            match key {
                b"kernel_name" => kernel_name = Some(value.string()?),
                b"kpack_search_paths" => search_paths = Some(value.strings()?),
                _ => {}
            }
            Some(())
        });
        let damaged = KpackError::Damaged("reference to archives");
        match (read, kernel_name, search_paths) {
            (Some(()), Some(kernel_name), Some(search_paths)) => Ok(Self {
                kernel_name,
                search_paths,
            }),
            _ => Err(damaged),
        }
    }

    /// Whether an archive whose table has these names holds code of the library: its loader looks
    /// for the name as it is, and where a library had several bundles, for `NAME#0`, `NAME#1` and
    /// so on (rocm-kpack, `kpack_load_code_object`).
    pub fn is_in(&self, kernel_names: &[String]) -> bool {
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

    /// The target that a file would hold code for if it is one of the archives: the text in place
    /// of `@GFXARCH@`, empty where a path has none. `None` where it is no such file. Both paths are
    /// from one root on, with `/`.
    pub fn matched<'p>(&self, library: &str, archive: &'p str) -> Option<&'p str> {
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
    use super::{Kpack, KpackReference, MAX_KPACK_REFERENCE_BYTES, MAX_KPACK_TABLE_BYTES, Stretch};
    use crate::{ContainerKind, Inventory};
    use rock_bytes::ReadAt;
    use rock_testkit::bundle::{kpack, kpack_reference};

    #[test]
    fn an_archive_tells_its_targets_and_whose_code_it_holds() {
        let bytes = kpack(
            &["gfx1100", "gfx942", "gfx90a:xnack+"],
            &["lib/librocblas.so.5", "lib/libhipblas.so.3"],
        );
        let read = Kpack::read(&bytes).unwrap();
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
        let inventory = Inventory::of_kpack(&read, bytes.len() as u64);
        assert!(
            inventory.kinds().contains(&ContainerKind::Kpack) && inventory.targets().len() == 3
        );
        for length in 0..bytes.len() {
            assert!(
                Kpack::read(&bytes[..length].to_vec()).is_err(),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn a_hostile_table_is_an_error() {
        let check = |offset: u64, table: &[u8], expect: &str| {
            let bytes = [&b"KPAK\x01\0\0\0"[..], &offset.to_le_bytes(), table].concat();
            assert_eq!(Kpack::read(&bytes).unwrap_err().to_string(), expect);
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
            "its table of contents at 0x0 cannot lie in its 17 bytes",
        );
        check(
            17,
            b"\x80",
            "its table of contents at 0x11 cannot lie in its 17 bytes",
        );
        check(
            u64::MAX,
            b"\x80",
            "its table of contents at 0xffffffffffffffff cannot lie in its 17 bytes",
        );
    }

    /// An archive of so many bytes, of which only the header can be read.
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

    /// Reading a table as large as the limit is begun, and one that is a byte larger is refused
    /// before.
    #[test]
    fn a_table_up_to_the_limit_is_read() {
        let message = |size: u64| Kpack::read(&Hollow(16 + size)).unwrap_err().to_string();
        assert_eq!(
            message(MAX_KPACK_TABLE_BYTES),
            "it cannot be read: it is not there"
        );
        let expected = "its table of contents has 67108865 bytes; at most 67108864 are read";
        assert_eq!(message(MAX_KPACK_TABLE_BYTES + 1), expected);
    }

    /// A reference is read that ends at the limit, and one that ends behind it is cut off.
    #[test]
    fn a_reference_up_to_the_limit_is_read() {
        let read = |size_bytes: u64| {
            let mut bytes = kpack_reference("blas", &["own.kpack"]);
            // A third entry of the map, whose text fills the rest (MessagePack, `str 32`).
            bytes[0] = 0x83;
            bytes.extend(b"\xa3pad\xdb");
            let rest = u32::try_from(size_bytes).unwrap() - u32::try_from(bytes.len()).unwrap() - 4;
            bytes.extend(rest.to_be_bytes());
            bytes.resize(usize::try_from(size_bytes).unwrap(), b'x');
            KpackReference::read(
                &bytes,
                Stretch {
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
        let matched = |archive| reference.matched("_rocm_sdk/lib/librocblas.so.5", archive);
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
        let is_in = |name: &str| reference.is_in(&["lib/a.so".to_owned(), name.to_owned()]);
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
        assert!(!others.into_iter().any(is_in) && !reference.is_in(&[]));
    }

    #[test]
    fn a_reference_that_reaches_beyond_its_file_is_damage_and_no_fault_of_the_machine() {
        let bytes = [vec![0; 9], kpack_reference("blas", &["own.kpack"])].concat();
        let size_bytes = bytes.len() as u64 - 9;
        let read =
            |offset, size_bytes| KpackReference::read(&bytes, Stretch { offset, size_bytes });
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

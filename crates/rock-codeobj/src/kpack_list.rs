//! Lists of the archives that the code of a build was split into.

use std::collections::BTreeMap;

use super::KpackError;
use super::msgpack::Reader;

/// What lies beside libraries whose code was split off, `.kpack/NAME_COMPONENT.kpm`: a
/// `MessagePack` map whose `kpack_files` has for each target the file name of an archive and its
/// size (rocm-systems, `shared/kpack`, `artifact_splitter.py` and `manifest.py`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KpackList {
    /// The size of each archive by its file name.
    pub sizes_bytes: BTreeMap<String, u64>,
}

impl KpackList {
    /// Reads a list.
    ///
    /// # Errors
    /// When it is none, or is cut off.
    pub fn parse(bytes: &[u8]) -> Result<Self, KpackError> {
        let mut files = None;
        let read = Reader::new(bytes).map(|key, mut value| {
            if key == b"kpack_files" {
                let mut sizes_bytes = BTreeMap::new();
                value.map(|_, mut archive| {
                    let (mut file, mut size) = (None, None);
                    archive.map(|key, mut value| {
                        match key {
                            b"file" => file = Some(value.string()?),
                            b"size" => size = Some(value.unsigned()?),
                            _ => {}
                        }
                        Some(())
                    })?;
                    sizes_bytes.insert(file?, size?);
                    Some(())
                })?;
                files = Some(sizes_bytes);
            }
            Some(())
        });
        match (read, files) {
            (Some(()), Some(sizes_bytes)) => Ok(Self { sizes_bytes }),
            _ => Err(KpackError::Damaged("list of archives")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KpackList;

    #[test]
    fn a_list_tells_archives_and_their_sizes() {
        let bytes = b"\x83\xaeformat_version\x01\xa6prefix\xa3lib\xabkpack_files\x82\
                      \xa6gfx942\x83\xa4file\xa7a.kpack\xa4size\xce\x00\x01\x00\x02\xackernel_count\x02\
                      \xa7gfx1100\x82\xa4file\xa7b.kpack\xa4size\x07";
        let list = KpackList::parse(bytes).unwrap();
        let sizes: Vec<(&str, u64)> = list
            .sizes_bytes
            .iter()
            .map(|(name, size)| (name.as_str(), *size))
            .collect();
        assert_eq!(sizes, [("a.kpack", 0x1_0002), ("b.kpack", 7)]);
        for length in 0..bytes.len() {
            assert!(KpackList::parse(&bytes[..length]).is_err(), "{length}");
        }
        assert!(KpackList::parse(b"\x81\xabkpack_files\x81\xa1x\x81\xa4size\xff").is_err());
    }
}

//! Manifests of kpack archives.

use std::collections::BTreeMap;

use super::KpackError;
use super::msgpack::MsgpackReader;

/// A manifest next to libraries whose device code was split off, `.kpack/NAME_COMPONENT.kpm`: a
/// `MessagePack` map whose `kpack_files` has the file name and size of an archive for each target
/// (rocm-systems, `shared/kpack`, `artifact_splitter.py` and `manifest.py`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KpackManifest {
    /// Sizes of the archives in bytes, by file name.
    pub archive_sizes: BTreeMap<String, u64>,
}

impl KpackManifest {
    /// Parses a manifest.
    ///
    /// # Errors
    /// Fails with [`KpackError::Malformed`].
    pub fn parse(bytes: &[u8]) -> Result<Self, KpackError> {
        let mut files = None;
        let read = MsgpackReader::new(bytes).for_each_entry(|key, mut value| {
            if key == b"kpack_files" {
                let mut archive_sizes = BTreeMap::new();
                value.for_each_entry(|_, mut archive| {
                    let (mut file, mut size) = (None, None);
                    archive.for_each_entry(|key, mut value| {
                        match key {
                            b"file" => file = Some(value.read_string()?),
                            b"size" => size = Some(value.read_unsigned()?),
                            _ => {}
                        }
                        Some(())
                    })?;
                    archive_sizes.insert(file?, size?);
                    Some(())
                })?;
                files = Some(archive_sizes);
            }
            Some(())
        });
        match (read, files) {
            (Some(()), Some(archive_sizes)) => Ok(Self { archive_sizes }),
            _ => Err(KpackError::Malformed("list of archives")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KpackManifest;

    #[test]
    fn a_list_has_archives_and_their_sizes() {
        let bytes = b"\x83\xaeformat_version\x01\xa6prefix\xa3lib\xabkpack_files\x82\
                      \xa6gfx942\x83\xa4file\xa7a.kpack\xa4size\xce\x00\x01\x00\x02\xackernel_count\x02\
                      \xa7gfx1100\x82\xa4file\xa7b.kpack\xa4size\x07";
        let list = KpackManifest::parse(bytes).unwrap();
        let sizes: Vec<(&str, u64)> = list
            .archive_sizes
            .iter()
            .map(|(name, size)| (name.as_str(), *size))
            .collect();
        assert_eq!(sizes, [("a.kpack", 0x1_0002), ("b.kpack", 7)]);
        for length in 0..bytes.len() {
            assert!(KpackManifest::parse(&bytes[..length]).is_err(), "{length}");
        }
        assert!(KpackManifest::parse(b"\x81\xabkpack_files\x81\xa1x\x81\xa4size\xff").is_err());
    }
}

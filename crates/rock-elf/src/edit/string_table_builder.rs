//! A string table to which strings are added.

use super::super::{Elf, ElfError};
use rock_bytes::ReadAt;

/// The existing string table, followed by added strings. Existing offsets stay valid.
pub(super) struct StringTableBuilder {
    bytes: Vec<u8>,
    old_length: usize,
}

impl StringTableBuilder {
    pub(super) fn read(elf: &Elf, source: &dyn ReadAt) -> Result<Self, ElfError> {
        let bytes = elf.string_table(source)?.bytes().to_vec();
        Ok(Self {
            old_length: bytes.len(),
            bytes,
        })
    }

    /// Returns the string at an offset.
    pub(super) fn get(&self, offset: u64) -> Result<&[u8], ElfError> {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|at| self.bytes.get(at..))
            .unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == 0);
        let outside = ElfError::OutOfBounds {
            what: "a name",
            offset,
            container: "the dynamic strings",
        };
        end.map(|end| &rest[..end]).ok_or(outside)
    }

    /// Returns the offset of a string, which is added unless the table contains it, alone or as the
    /// end of a longer one. Existing bytes are never overwritten, because symbols may share them.
    pub(super) fn insert(&mut self, text: &str) -> u64 {
        let ends = self
            .bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == 0)
            .map(|(at, _)| at);
        if let Some(end) = ends
            .into_iter()
            .find(|end| self.bytes[..*end].ends_with(text.as_bytes()))
        {
            return (end - text.len()) as u64;
        }
        if self.bytes.last().is_some_and(|last| *last != 0) {
            self.bytes.push(0);
        }
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        offset
    }

    /// Returns `true` if strings were added.
    pub(super) fn has_grown(&self) -> bool {
        self.bytes.len() > self.old_length
    }

    /// Returns the whole table.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the added bytes.
    pub(super) fn added(&self) -> &[u8] {
        &self.bytes[self.old_length..]
    }
}

#[cfg(test)]
mod tests {
    use super::StringTableBuilder;

    #[test]
    fn a_name_is_found_as_the_end_of_another_before_one_is_added() {
        let bytes = b"\0libfoo.so\0_init\0".to_vec();
        let mut names = StringTableBuilder {
            old_length: bytes.len(),
            bytes,
        };
        assert_eq!(
            [
                names.insert("libfoo.so"),
                names.insert("foo.so"),
                names.insert("init")
            ],
            [1, 4, 12]
        );
        assert!(!names.has_grown());
        assert_eq!(
            [
                names.insert("bar/libfoo.so"),
                names.insert("bar/libfoo.so"),
                names.insert("r/libfoo.so")
            ],
            [17, 17, 19]
        );
        assert_eq!(names.added(), b"bar/libfoo.so\0");
        assert_eq!(names.get(12).unwrap(), b"init");
        assert!(names.get(1000).is_err());
    }

    #[test]
    fn a_table_without_an_end_gets_one_before_names_are_added() {
        let mut names = StringTableBuilder {
            old_length: 3,
            bytes: b"abc".to_vec(),
        };
        assert!(names.get(0).is_err());
        assert_eq!(names.insert("d"), 4);
        assert_eq!(names.bytes(), b"abc\0d\0");
    }
}

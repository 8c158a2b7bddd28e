//! The table of dynamic strings, to which names are added.

use super::super::{Elf, ElfError};
use rock_bytes::ReadAt;

/// All bytes of the table as it is, followed by the names that were added. Offsets into the old
/// table stay valid.
pub(super) struct Names {
    bytes: Vec<u8>,
    old: usize,
}

impl Names {
    pub(super) fn read(elf: &Elf, source: &dyn ReadAt) -> Result<Self, ElfError> {
        let bytes = elf.strings(source)?.bytes().to_vec();
        Ok(Self {
            old: bytes.len(),
            bytes,
        })
    }

    /// The text at an offset.
    pub(super) fn text(&self, offset: u64) -> Result<&[u8], ElfError> {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|at| self.bytes.get(at..))
            .unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == 0);
        let outside = ElfError::Outside {
            what: "a name",
            offset,
            of: "the dynamic strings",
        };
        end.map(|end| &rest[..end]).ok_or(outside)
    }

    /// The offset of a text: where the table has it already, alone or as the end of a longer one,
    /// or at its end. What is there is never overwritten, as symbols may share its last bytes.
    pub(super) fn place(&mut self, text: &str) -> u64 {
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

    /// Whether names were added.
    pub(super) fn has_grown(&self) -> bool {
        self.bytes.len() > self.old
    }

    /// The whole table.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was added at its end.
    pub(super) fn added(&self) -> &[u8] {
        &self.bytes[self.old..]
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn a_name_is_found_as_the_end_of_another_before_one_is_added() {
        let bytes = b"\0libfoo.so\0_init\0".to_vec();
        let mut names = Names {
            old: bytes.len(),
            bytes,
        };
        assert_eq!(
            [
                names.place("libfoo.so"),
                names.place("foo.so"),
                names.place("init")
            ],
            [1, 4, 12]
        );
        assert!(!names.has_grown());
        assert_eq!(
            [
                names.place("bar/libfoo.so"),
                names.place("bar/libfoo.so"),
                names.place("r/libfoo.so")
            ],
            [17, 17, 19]
        );
        assert_eq!(names.added(), b"bar/libfoo.so\0");
        assert_eq!(names.text(12).unwrap(), b"init");
        assert!(names.text(1000).is_err());
    }

    #[test]
    fn a_table_without_an_end_gets_one_before_names_are_added() {
        let mut names = Names {
            old: 3,
            bytes: b"abc".to_vec(),
        };
        assert!(names.text(0).is_err());
        assert_eq!(names.place("d"), 4);
        assert_eq!(names.bytes(), b"abc\0d\0");
    }
}

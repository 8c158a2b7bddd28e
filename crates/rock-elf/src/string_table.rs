//! String tables.

use std::cell::Cell;

use super::ElfError;
use super::limits::{MAX_MORE_NAME_BYTES, MAX_NAME_READS};

/// A string table: strings that each end with a zero byte.
///
/// Strings may share their ends, so a small table can hold many long ones. The total length of the
/// strings that can be read is limited to a few times the size of the table: linkers share only the
/// ends of whole names, so in real files the total is hardly longer than the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StringTable {
    bytes: Vec<u8>,
    /// The position of the last zero byte.
    last_end: Option<usize>,
    /// The remaining total length of strings that may be read.
    remaining_bytes: Cell<usize>,
}

impl StringTable {
    /// Creates a table from its bytes.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let remaining_bytes = Cell::new(
            bytes
                .len()
                .saturating_mul(MAX_NAME_READS)
                .saturating_add(MAX_MORE_NAME_BYTES),
        );
        Self {
            last_end: bytes.iter().rposition(|byte| *byte == 0),
            remaining_bytes,
            bytes,
        }
    }

    /// Returns the string at an offset.
    ///
    /// # Errors
    /// Fails if the string does not end within the table or is not UTF-8, and if the strings that
    /// were read overlap more than any linker lets them.
    pub fn get(&self, offset: u64) -> Result<&str, ElfError> {
        let outside = ElfError::OutOfBounds {
            what: "a name",
            offset,
            container: "the dynamic strings",
        };
        let start = usize::try_from(offset)
            .ok()
            .filter(|_| self.is_terminated(offset));
        let Some(rest) = start.and_then(|start| self.bytes.get(start..)) else {
            return Err(outside);
        };
        if self.remaining_bytes.get() == 0 {
            return Err(ElfError::Malformed {
                reason: "its names overlap more than names can".to_owned(),
            });
        }
        let Some(end) = rest.iter().position(|byte| *byte == 0) else {
            return Err(outside);
        };
        self.remaining_bytes
            .set(self.remaining_bytes.get().saturating_sub(end + 1));
        let no_text = |_| ElfError::Malformed {
            reason: format!("the name at {offset:#x} is not valid text"),
        };
        std::str::from_utf8(&rest[..end]).map_err(no_text)
    }

    /// Returns `true` if the string at an offset ends within the table.
    pub(super) fn is_terminated(&self, offset: u64) -> bool {
        self.last_end.is_some_and(|last| offset <= last as u64)
    }

    /// Returns the bytes of the table.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::StringTable;

    #[test]
    fn texts_that_share_their_ends_are_read_and_those_without_end_are_not() {
        let strings = StringTable::new(b"libfoo.so\0\0abc".to_vec());
        assert_eq!(
            [0, 3, 9, 10].map(|at| strings.get(at).unwrap()),
            ["libfoo.so", "foo.so", "", ""]
        );
        assert!(
            [11, 13, 14, u64::MAX]
                .iter()
                .all(|at| strings.get(*at).is_err() && !strings.is_terminated(*at))
        );
        assert!(StringTable::new(Vec::new()).get(0).is_err());
    }

    #[test]
    fn a_table_is_read_a_few_times_and_not_once_for_each_of_many_names() {
        let length = 1 << 20;
        let strings = StringTable::new([vec![b'a'; length], vec![0]].concat());
        let read = (0..1_000_u64)
            .take_while(|at| strings.get(*at).is_ok())
            .count();
        assert!((9..=10).contains(&read), "{read}");
        assert_eq!(
            strings.get(5).unwrap_err().to_string(),
            "its names overlap more than names can"
        );
    }
}

//! Tables of texts.

use std::cell::Cell;

use super::ElfError;
use super::limits::{MAX_MORE_NAME_BYTES, MAX_NAME_READS};

/// Texts that end with a zero byte.
///
/// Texts may share their ends, so that a small table can hold many long ones. No more is read of a
/// table than a few times its size: linkers let only whole names share their ends, and then all of
/// them together are as long as the table or little longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strings {
    bytes: Vec<u8>,
    /// Where the last text ends.
    last_end: Option<usize>,
    /// How many bytes of texts may still be read.
    left: Cell<usize>,
}

impl Strings {
    /// The texts of a table.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let left = Cell::new(
            bytes
                .len()
                .saturating_mul(MAX_NAME_READS)
                .saturating_add(MAX_MORE_NAME_BYTES),
        );
        Self {
            last_end: bytes.iter().rposition(|byte| *byte == 0),
            left,
            bytes,
        }
    }

    /// The text from an offset on.
    ///
    /// # Errors
    /// When it does not end inside the table or is no UTF-8, and when the texts that were read
    /// before overlap so much that no linker can have made them.
    pub fn text(&self, offset: u64) -> Result<&str, ElfError> {
        let outside = ElfError::Outside {
            what: "a name",
            offset,
            of: "the dynamic strings",
        };
        let start = usize::try_from(offset).ok().filter(|_| self.ends(offset));
        let Some(rest) = start.and_then(|start| self.bytes.get(start..)) else {
            return Err(outside);
        };
        if self.left.get() == 0 {
            return Err(ElfError::Damaged {
                what: "its names overlap more than names can".to_owned(),
            });
        }
        let Some(end) = rest.iter().position(|byte| *byte == 0) else {
            return Err(outside);
        };
        self.left.set(self.left.get().saturating_sub(end + 1));
        let no_text = |_| ElfError::Damaged {
            what: format!("the name at {offset:#x} is no text"),
        };
        std::str::from_utf8(&rest[..end]).map_err(no_text)
    }

    /// Whether the text from an offset on ends inside the table.
    pub(super) fn ends(&self, offset: u64) -> bool {
        self.last_end.is_some_and(|last| offset <= last as u64)
    }

    /// All of the table.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Strings;

    #[test]
    fn texts_that_share_their_ends_are_read_and_those_without_end_are_not() {
        let strings = Strings::new(b"libfoo.so\0\0abc".to_vec());
        assert_eq!(
            [0, 3, 9, 10].map(|at| strings.text(at).unwrap()),
            ["libfoo.so", "foo.so", "", ""]
        );
        assert!(
            [11, 13, 14, u64::MAX]
                .iter()
                .all(|at| strings.text(*at).is_err() && !strings.ends(*at))
        );
        assert!(Strings::new(Vec::new()).text(0).is_err());
    }

    #[test]
    fn a_table_is_read_a_few_times_and_not_once_for_each_of_many_names() {
        let length = 1 << 20;
        let strings = Strings::new([vec![b'a'; length], vec![0]].concat());
        let read = (0..1_000_u64)
            .take_while(|at| strings.text(*at).is_ok())
            .count();
        assert!((9..=10).contains(&read), "{read}");
        assert_eq!(
            strings.text(5).unwrap_err().to_string(),
            "its names overlap more than names can"
        );
    }
}

//! As much of `MessagePack` as tables of contents take (its specification, "Formats").

/// A position in such bytes. Whatever is cut off or is of another format reads as `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

/// The beginning of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head<'a> {
    /// So many pairs of key and value follow.
    Map(u32),
    /// So many values follow.
    Array(u32),
    /// A text.
    Text(&'a [u8]),
    /// Any other value, as a whole.
    Other,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    /// A number of so many bytes, the highest first.
    fn number(&mut self, length: usize) -> Option<u32> {
        Some(
            self.take(length)?
                .iter()
                .fold(0, |number, byte| number << 8 | u32::from(*byte)),
        )
    }

    fn skipped(&mut self, length: usize) -> Option<Head<'a>> {
        self.take(length).map(|_| Head::Other)
    }

    fn text(&mut self, length: u32) -> Option<Head<'a>> {
        self.take(usize::try_from(length).ok()?).map(Head::Text)
    }

    /// Reads on to the next value; of maps and arrays only how many values follow.
    pub(super) fn next(&mut self) -> Option<Head<'a>> {
        let [first] = *self.take(1)? else { return None };
        match first {
            0x80..=0x8f => Some(Head::Map(u32::from(first & 0x0f))),
            0x90..=0x9f => Some(Head::Array(u32::from(first & 0x0f))),
            0xa0..=0xbf => self.text(u32::from(first & 0x1f)),
            // Integers of one byte, nil, false and true.
            0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => Some(Head::Other),
            0xc1 => None,
            // Binary data, then extensions, which have one byte more.
            0xc4..=0xc6 => {
                let length = self.number(1 << (first - 0xc4))?;
                self.skipped(usize::try_from(length).ok()?)
            }
            0xc7..=0xc9 => {
                let length = self.number(1 << (first - 0xc7))?;
                self.skipped(usize::try_from(length).ok()?.checked_add(1)?)
            }
            0xca => self.skipped(4),
            0xcb => self.skipped(8),
            0xcc..=0xcf => self.skipped(1 << (first - 0xcc)),
            0xd0..=0xd3 => self.skipped(1 << (first - 0xd0)),
            0xd4..=0xd8 => self.skipped((1 << (first - 0xd4)) + 1),
            0xd9..=0xdb => {
                let length = self.number(1 << (first - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => self
                .number(if first == 0xdc { 2 } else { 4 })
                .map(Head::Array),
            0xde | 0xdf => self
                .number(if first == 0xde { 2 } else { 4 })
                .map(Head::Map),
        }
    }

    /// Passes over one value with all that is in it.
    pub(super) fn skip(&mut self) -> Option<()> {
        // Each value takes at least one byte, so that this ends with the bytes.
        let mut left: u64 = 1;
        while left > 0 {
            left -= 1;
            left = left.saturating_add(match self.next()? {
                Head::Map(pairs) => 2 * u64::from(pairs),
                Head::Array(values) => values.into(),
                Head::Text(_) | Head::Other => 0,
            });
        }
        Some(())
    }

    /// Reads a text.
    pub(super) fn string(&mut self) -> Option<String> {
        match self.next()? {
            Head::Text(text) => std::str::from_utf8(text).ok().map(str::to_owned),
            Head::Map(_) | Head::Array(_) | Head::Other => None,
        }
    }

    /// Reads a whole number that is not negative.
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        let [first] = *self.take(1)? else { return None };
        match first {
            0x00..=0x7f => Some(first.into()),
            0xcc..=0xcf => {
                let bytes = self.take(1 << (first - 0xcc))?;
                Some(
                    bytes
                        .iter()
                        .fold(0, |number, byte| number << 8 | u64::from(*byte)),
                )
            }
            _ => None,
        }
    }

    /// Reads an array of texts.
    pub(super) fn strings(&mut self) -> Option<Vec<String>> {
        let Head::Array(count) = self.next()? else {
            return None;
        };
        (0..count).map(|_| self.string()).collect()
    }

    /// Goes through a map, and gives each key with a reader at its value; the value is passed over
    /// whatever is done with the reader.
    pub(super) fn map(&mut self, mut each: impl FnMut(&[u8], Self) -> Option<()>) -> Option<()> {
        let Head::Map(pairs) = self.next()? else {
            return None;
        };
        for _ in 0..pairs {
            match self.next()? {
                Head::Text(key) => each(key, *self)?,
                Head::Other => {}
                Head::Map(_) | Head::Array(_) => return None,
            }
            self.skip()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::Reader;

    #[test]
    fn every_form_of_a_value_is_passed_over() {
        let values: [&[u8]; 30] = [
            b"\x05",
            b"\xff",
            b"\xc0",
            b"\xc2",
            b"\xc3",
            b"\xc4\x01x",
            b"\xc5\x00\x01x",
            b"\xc6\x00\x00\x00\x01x",
            b"\xc7\x01tx",
            b"\xc8\x00\x01tx",
            b"\xc9\x00\x00\x00\x01tx",
            b"\xca1234",
            b"\xcb12345678",
            b"\xcc1",
            b"\xcd12",
            b"\xce1234",
            b"\xcf12345678",
            b"\xd01",
            b"\xd112",
            b"\xd21234",
            b"\xd312345678",
            b"\xd4t1",
            b"\xd5t12",
            b"\xd6t1234",
            b"\xd7t12345678",
            b"\xd8t1234567890123456",
            b"\xd9\x01a",
            b"\x92\x01\x91\x02",
            b"\xdc\x00\x01\x05",
            b"\xde\x00\x01\xa1k\x81\xa1k\x05",
        ];
        for value in values {
            let with_more = [value, b"\xa3end"].concat();
            let mut reader = Reader::new(&with_more);
            reader.skip().unwrap();
            assert_eq!(reader.string().as_deref(), Some("end"), "{value:x?}");
            for length in 0..value.len() {
                assert_eq!(
                    Reader::new(&value[..length]).skip(),
                    None,
                    "{length} bytes of {value:x?}"
                );
            }
        }
        assert_eq!(Reader::new(b"\xc1").skip(), None);
    }

    #[test]
    fn counts_beyond_the_bytes_end_at_once() {
        assert_eq!(Reader::new(b"\xdd\xff\xff\xff\xff").strings(), None);
        assert_eq!(
            Reader::new(b"\xdf\xff\xff\xff\xff\xdf\xff\xff\xff\xff").skip(),
            None
        );
        assert_eq!(Reader::new(&vec![0x91; 100_000]).skip(), None);
    }
}

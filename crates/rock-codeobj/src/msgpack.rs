//! A reader of the subset of `MessagePack` that kpack uses (its specification, "Formats").

/// A reader of `MessagePack` values. Truncated data and unexpected formats read as `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct MsgpackReader<'a> {
    bytes: &'a [u8],
}

/// A value; of a map or an array only the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MsgpackValue<'a> {
    /// A map, with the number of pairs that follow.
    Map(u32),
    /// An array, with the number of values that follow.
    Array(u32),
    /// A string.
    String(&'a [u8]),
    /// Any other value.
    Other,
}

impl<'a> MsgpackReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Reads a big-endian integer of `length` bytes.
    fn number(&mut self, length: usize) -> Option<u32> {
        Some(
            self.take(length)?
                .iter()
                .fold(0, |number, byte| number << 8 | u32::from(*byte)),
        )
    }

    fn skip_bytes(&mut self, length: usize) -> Option<MsgpackValue<'a>> {
        self.take(length).map(|_| MsgpackValue::Other)
    }

    fn string_bytes(&mut self, length: u32) -> Option<MsgpackValue<'a>> {
        self.take(usize::try_from(length).ok()?)
            .map(MsgpackValue::String)
    }

    /// Reads the next value; of maps and arrays only the header.
    pub(super) fn read_value(&mut self) -> Option<MsgpackValue<'a>> {
        let [first] = *self.take(1)? else { return None };
        match first {
            0x80..=0x8f => Some(MsgpackValue::Map(u32::from(first & 0x0f))),
            0x90..=0x9f => Some(MsgpackValue::Array(u32::from(first & 0x0f))),
            0xa0..=0xbf => self.string_bytes(u32::from(first & 0x1f)),
            // Integers of one byte, nil, false and true.
            0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => Some(MsgpackValue::Other),
            0xc1 => None,
            // Binary data, then extensions, which have a type byte.
            0xc4..=0xc6 => {
                let length = self.number(1 << (first - 0xc4))?;
                self.skip_bytes(usize::try_from(length).ok()?)
            }
            0xc7..=0xc9 => {
                let length = self.number(1 << (first - 0xc7))?;
                self.skip_bytes(usize::try_from(length).ok()?.checked_add(1)?)
            }
            0xca => self.skip_bytes(4),
            0xcb => self.skip_bytes(8),
            0xcc..=0xcf => self.skip_bytes(1 << (first - 0xcc)),
            0xd0..=0xd3 => self.skip_bytes(1 << (first - 0xd0)),
            0xd4..=0xd8 => self.skip_bytes((1 << (first - 0xd4)) + 1),
            0xd9..=0xdb => {
                let length = self.number(1 << (first - 0xd9))?;
                self.string_bytes(length)
            }
            0xdc | 0xdd => self
                .number(if first == 0xdc { 2 } else { 4 })
                .map(MsgpackValue::Array),
            0xde | 0xdf => self
                .number(if first == 0xde { 2 } else { 4 })
                .map(MsgpackValue::Map),
        }
    }

    /// Skips one value with everything in it.
    pub(super) fn skip_value(&mut self) -> Option<()> {
        // Each value has at least one byte, so this ends with the bytes.
        let mut left: u64 = 1;
        while left > 0 {
            left -= 1;
            left = left.saturating_add(match self.read_value()? {
                MsgpackValue::Map(pairs) => 2 * u64::from(pairs),
                MsgpackValue::Array(values) => values.into(),
                MsgpackValue::String(_) | MsgpackValue::Other => 0,
            });
        }
        Some(())
    }

    /// Reads a string.
    pub(super) fn read_string(&mut self) -> Option<String> {
        match self.read_value()? {
            MsgpackValue::String(text) => std::str::from_utf8(text).ok().map(str::to_owned),
            MsgpackValue::Map(_) | MsgpackValue::Array(_) | MsgpackValue::Other => None,
        }
    }

    /// Reads an unsigned integer.
    pub(super) fn read_unsigned(&mut self) -> Option<u64> {
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

    /// Reads an array of strings.
    pub(super) fn read_strings(&mut self) -> Option<Vec<String>> {
        let MsgpackValue::Array(count) = self.read_value()? else {
            return None;
        };
        (0..count).map(|_| self.read_string()).collect()
    }

    /// Reads a map: calls `each` with each string key and a reader of its value, then skips the
    /// value.
    pub(super) fn for_each_entry(
        &mut self,
        mut each: impl FnMut(&[u8], Self) -> Option<()>,
    ) -> Option<()> {
        let MsgpackValue::Map(pairs) = self.read_value()? else {
            return None;
        };
        for _ in 0..pairs {
            match self.read_value()? {
                MsgpackValue::String(key) => each(key, *self)?,
                MsgpackValue::Other => {}
                MsgpackValue::Map(_) | MsgpackValue::Array(_) => return None,
            }
            self.skip_value()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::MsgpackReader;

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
            let mut reader = MsgpackReader::new(&with_more);
            reader.skip_value().unwrap();
            assert_eq!(reader.read_string().as_deref(), Some("end"), "{value:x?}");
            for length in 0..value.len() {
                assert_eq!(
                    MsgpackReader::new(&value[..length]).skip_value(),
                    None,
                    "{length} bytes of {value:x?}"
                );
            }
        }
        assert_eq!(MsgpackReader::new(b"\xc1").skip_value(), None);
    }

    #[test]
    fn counts_beyond_the_bytes_end_at_once() {
        assert_eq!(
            MsgpackReader::new(b"\xdd\xff\xff\xff\xff").read_strings(),
            None
        );
        assert_eq!(
            MsgpackReader::new(b"\xdf\xff\xff\xff\xff\xdf\xff\xff\xff\xff").skip_value(),
            None
        );
        assert_eq!(MsgpackReader::new(&vec![0x91; 100_000]).skip_value(), None);
    }
}

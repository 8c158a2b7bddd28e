//! Extended headers of tar: pax headers for one member or for all (POSIX.1-2017, pax, "pax Extended
//! Header"), and GNU long names (GNU tar manual, "Basic Tar Format").

use super::error::TarFormatError;

/// The fields of extended headers that identify a member. Others, such as times and owners, are
/// ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExtendedHeader {
    /// The path in bytes, which replaces that of the member's header.
    pub(super) path: Option<Vec<u8>>,
    /// The link target, which replaces that of the member's header.
    pub(super) link: Option<Vec<u8>>,
    /// The size, which replaces that of the member's header.
    pub(super) size_bytes: Option<u64>,
    /// Whether the member is a sparse file, which its type does not show (GNU tar manual, "Storing
    /// Sparse Files").
    pub(super) is_sparse: bool,
}

impl ExtendedHeader {
    /// Parses the records of a pax header.
    ///
    /// # Errors
    /// If a record is malformed, repeats a keyword, or has an empty value. Readers interpret the
    /// latter two differently.
    pub(super) fn parse_pax(mut bytes: &[u8]) -> Result<Self, TarFormatError> {
        let mut header = Self::default();
        let mut sparse_path = None;
        while !bytes.is_empty() {
            let (key, value, rest) = record(bytes).ok_or(TarFormatError::PaxRecord)?;
            let is_repeated = match key {
                b"path" => header.path.replace(value.to_vec()).is_some(),
                b"linkpath" => header.link.replace(value.to_vec()).is_some(),
                b"size" => header
                    .size_bytes
                    .replace(decimal(value).ok_or(TarFormatError::PaxSize)?)
                    .is_some(),
                b"GNU.sparse.name" => sparse_path.replace(value.to_vec()).is_some(),
                _ => false,
            };
            if is_repeated {
                return Err(TarFormatError::RepeatedPaxKeyword);
            }
            if value.is_empty() && [&b"path"[..], b"linkpath", b"GNU.sparse.name"].contains(&key) {
                return Err(TarFormatError::EmptyPaxValue);
            }
            header.is_sparse |= key.starts_with(b"GNU.sparse.");
            bytes = rest;
        }
        header.path = sparse_path.or(header.path);
        Ok(header)
    }

    /// Returns whether the header contains none of the fields.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Splits off a record, `LENGTH KEYWORD=VALUE` and a line break, and returns keyword, value and
/// rest. Only the length determines its end: values may contain line breaks.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    // The length is at most `MAX_HEADER_BYTES`.
    let digits = bytes.iter().take(8).position(|byte| *byte == b' ')?;
    let length: usize = decimal(&bytes[..digits])?.try_into().ok()?;
    let (record, rest) = bytes.split_at_checked(length)?;
    let content = record.strip_suffix(b"\n")?.get(digits + 1..)?;
    let equals = content.iter().position(|byte| *byte == b'=')?;
    let (key, value) = content.split_at(equals);
    (!key.is_empty()).then_some((key, &value[1..], rest))
}

/// Parses a number that consists of digits only. [`str::parse`] accepts a `+`.
fn decimal(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text)
        .ok()
        .filter(|_| is_number)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::ExtendedHeader;

    /// Returns a pax record. Its length includes its own digits.
    fn record(key: &str, value: &str) -> Vec<u8> {
        let rest = format!(" {key}={value}\n");
        let length = (1..=99_999_999)
            .find(|length: &usize| length.to_string().len() + rest.len() == *length);
        format!("{}{rest}", length.unwrap()).into_bytes()
    }

    #[test]
    fn length_determines_the_end_of_a_pax_record() {
        let all = [
            record("path", "a\nb=\u{e4}"),
            record("size", "12345678901"),
            record("x", ""),
            record("x", "y"),
        ];
        let header = ExtendedHeader::parse_pax(&all.concat()).unwrap();
        assert_eq!(header.path.as_deref(), Some("a\nb=\u{e4}".as_bytes()));
        assert_eq!(
            (header.size_bytes, header.link, header.is_sparse),
            (Some(12_345_678_901), None, false)
        );
        for bad in [
            "x",
            "3 a\n",
            "8 path=a\n",
            "11 path=a\n",
            "+9 path=a\n",
            "0 path=a\n",
            "10path=a\n\n",
            "5 =a\n",
            "10 path=a\n10 path=b\n",
            "9 size=1\n9 size=2\n",
            "8 path=\n",
            "12 linkpath=\n",
            "8 size=\n",
            "11 size=1x\n",
            "11 size=+1\n",
            "31 size=99999999999999999999999\n",
            "99999999999999999999 a=b\n",
        ] {
            assert!(
                ExtendedHeader::parse_pax(bad.as_bytes()).is_err(),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn sparse_files_have_pax_keywords_and_a_real_name() {
        for (key, value) in [
            ("major", "1"),
            ("size", "1048576"),
            ("map", "0,1,1048575"),
            ("offset", "0"),
        ] {
            let header =
                ExtendedHeader::parse_pax(&record(&format!("GNU.sparse.{key}"), value)).unwrap();
            assert!(header.is_sparse && !header.is_empty(), "{key}");
        }
        let both = [
            record("GNU.sparse.name", "a/real"),
            record("path", "GNUSparseFile/x"),
        ]
        .concat();
        assert_eq!(
            ExtendedHeader::parse_pax(&both).unwrap().path.as_deref(),
            Some(b"a/real".as_slice())
        );
    }
}

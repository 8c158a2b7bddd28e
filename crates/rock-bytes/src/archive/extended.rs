//! Extended headers of tar: those of pax for one member or for all (POSIX.1-2017, pax, "pax
//! Extended Header"), and GNU's long names (GNU tar manual, "Basic Tar Format").

/// The facts of extended headers that say what a member is. The others, such as times and owners,
/// are not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExtendedHeader {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size_bytes: Option<u64>,
    /// Whether the content has holes, which no other field of the member says (GNU tar manual,
    /// "Storing Sparse Files").
    pub(super) is_sparse: bool,
}

impl ExtendedHeader {
    /// Parses the records of a pax header. Readers take the first or the last of two records of one
    /// keyword, and an empty value for nothing or for the value of the member's header, so both are
    /// refused.
    ///
    /// # Errors
    /// The reason why the records are malformed.
    pub(super) fn pax(mut bytes: &[u8]) -> Result<Self, String> {
        let mut header = Self::default();
        let mut sparse_path = None;
        while !bytes.is_empty() {
            let (key, value, rest) = record(bytes).ok_or("malformed pax record")?;
            let is_second = match key {
                b"path" => header.path.replace(value.to_vec()).is_some(),
                b"linkpath" => header.link.replace(value.to_vec()).is_some(),
                b"size" => header.size_bytes.replace(size(value)?).is_some(),
                b"GNU.sparse.name" => sparse_path.replace(value.to_vec()).is_some(),
                _ => false,
            };
            if is_second {
                return Err("an extended header has two paths, links or sizes".to_owned());
            }
            if value.is_empty() && [&b"path"[..], b"linkpath", b"GNU.sparse.name"].contains(&key) {
                return Err("an extended header has an empty path or link".to_owned());
            }
            header.is_sparse |= key.starts_with(b"GNU.sparse.");
            bytes = rest;
        }
        header.path = sparse_path.or(header.path);
        Ok(header)
    }

    /// Returns whether it says anything about members.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Splits off one record, `LENGTH KEYWORD=VALUE` and a line break. Its length is all that ends it:
/// values may have line breaks.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    // No header has more digits than its own size.
    let digits = bytes.iter().take(8).position(|byte| *byte == b' ')?;
    let length: usize = decimal(&bytes[..digits])?.try_into().ok()?;
    let (record, rest) = bytes.split_at_checked(length)?;
    let inside = record.strip_suffix(b"\n")?.get(digits + 1..)?;
    let equals = inside.iter().position(|byte| *byte == b'=')?;
    let (key, value) = inside.split_at(equals);
    (!key.is_empty()).then_some((key, &value[1..], rest))
}

fn size(value: &[u8]) -> Result<u64, String> {
    decimal(value).ok_or_else(|| "a size in an extended header is not a number".to_owned())
}

/// A number of digits alone; [`str::parse`] would take a `+`.
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

    /// A record of pax, whose length counts its own digits.
    fn record(key: &str, value: &str) -> Vec<u8> {
        let rest = format!(" {key}={value}\n");
        let length = (1..=99_999_999)
            .find(|length: &usize| length.to_string().len() + rest.len() == *length);
        format!("{}{rest}", length.unwrap()).into_bytes()
    }

    #[test]
    fn records_of_pax_end_where_their_length_says() {
        let all = [
            record("path", "a\nb=\u{e4}"),
            record("size", "12345678901"),
            record("x", ""),
            record("x", "y"),
        ];
        let header = ExtendedHeader::pax(&all.concat()).unwrap();
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
            assert!(ExtendedHeader::pax(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn sparse_files_are_known_by_their_keywords_and_have_their_real_name() {
        for (key, value) in [
            ("major", "1"),
            ("size", "1048576"),
            ("map", "0,1,1048575"),
            ("offset", "0"),
        ] {
            let header = ExtendedHeader::pax(&record(&format!("GNU.sparse.{key}"), value)).unwrap();
            assert!(header.is_sparse && !header.is_empty(), "{key}");
        }
        let both = [
            record("GNU.sparse.name", "a/real"),
            record("path", "GNUSparseFile/x"),
        ]
        .concat();
        assert_eq!(
            ExtendedHeader::pax(&both).unwrap().path.as_deref(),
            Some(b"a/real".as_slice())
        );
    }
}

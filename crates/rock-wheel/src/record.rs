//! RECORD: the table of a wheel's files with hashes and sizes.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256, Sha384, Sha512};

use super::WheelError;
use super::zip::limits::MAX_RECORD_ROWS;
use rock_names::Digest;

/// The contents of RECORD (binary distribution format, "Signed wheel files"; recording installed
/// projects, "The RECORD file").
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The rows, in the order of the file.
    pub rows: Vec<RecordRow>,
}

/// A row of RECORD. Hash and size are empty for RECORD itself and its signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordRow {
    /// Path in the archive.
    pub path: String,
    /// Algorithm and hash, such as `sha256=` and URL-safe base64 without padding.
    pub hash: String,
    /// Size in bytes, as text.
    pub size: String,
}

impl RecordRow {
    /// Creates the row of a file.
    pub fn new(path: &str, digest: Digest, size_bytes: u64) -> Self {
        Self {
            path: path.to_owned(),
            hash: format!("sha256={}", digest.to_base64()),
            size: size_bytes.to_string(),
        }
    }

    /// Creates the row of a file in memory.
    pub fn for_content(path: &str, content: &[u8]) -> Self {
        Self::new(
            path,
            Digest::new(Sha256::digest(content).into()),
            content.len() as u64,
        )
    }

    /// Creates a row without hash and size, for RECORD itself.
    pub fn without_hash(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            hash: String::new(),
            size: String::new(),
        }
    }
}

impl Record {
    /// Parses RECORD. `member` is its name, for errors.
    ///
    /// # Errors
    /// Fails if a line is not UTF-8 or does not have three columns, or there are more than 262,145
    /// rows.
    pub fn parse(bytes: &[u8], member: &str) -> Result<Self, WheelError> {
        let invalid = |line: u64, reason: String| WheelError::InvalidRecord {
            member: member.to_owned(),
            line,
            reason,
        };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes);
        let mut rows = Vec::new();
        for line in reader.records() {
            let line = line.map_err(|error| {
                invalid(
                    error.position().map_or(0, csv::Position::line),
                    "it is not UTF-8".to_owned(),
                )
            })?;
            let number = line.position().map_or(0, csv::Position::line);
            if rows.len() == MAX_RECORD_ROWS {
                return Err(invalid(
                    number,
                    format!("there are more than {MAX_RECORD_ROWS} rows"),
                ));
            }
            if line.len() != 3 {
                return Err(invalid(
                    number,
                    format!("it has {} columns, not 3", line.len()),
                ));
            }
            rows.push(RecordRow {
                path: line[0].to_owned(),
                hash: line[1].to_owned(),
                size: line[2].to_owned(),
            });
        }
        Ok(Self { rows })
    }

    /// Returns whether a path has more than one row.
    pub fn has_repeated_rows(&self) -> bool {
        let mut paths = BTreeSet::new();
        !self.rows.iter().all(|row| paths.insert(row.path.as_str()))
    }

    /// Returns whether a file has no hash of SHA-256 or stronger. RECORD itself and its signatures
    /// have none.
    pub fn has_weak_hashes(&self) -> bool {
        let is_unsigned = |row: &RecordRow| {
            [
                ".dist-info/RECORD",
                ".dist-info/RECORD.jws",
                ".dist-info/RECORD.p7s",
            ]
            .iter()
            .any(|file| row.path.ends_with(file))
        };
        self.rows
            .iter()
            .any(|row| !is_unsigned(row) && RecordHasher::for_hash(&row.hash).is_none())
    }

    /// Serializes the table as CSV with LF line endings. Paths with a comma or a quote are quoted.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = csv::WriterBuilder::new()
            .terminator(csv::Terminator::Any(b'\n'))
            .from_writer(Vec::new());
        for row in &self.rows {
            let written = writer.write_record([&row.path, &row.hash, &row.size]);
            written.expect("writes to memory succeed, and all rows have three columns");
        }
        writer.into_inner().expect("writes to memory succeed")
    }
}

/// A hash function that RECORD may use: SHA-256 or stronger (PEP 427).
#[derive(Debug, Clone)]
pub enum RecordHasher {
    /// SHA-256.
    Sha256(Sha256),
    /// SHA-384.
    Sha384(Sha384),
    /// SHA-512.
    Sha512(Sha512),
}

impl RecordHasher {
    /// Returns the function of a hash such as `sha256=…`, or `None` for weak or unknown ones.
    pub fn for_hash(hash: &str) -> Option<Self> {
        match hash.split_once('=')?.0 {
            "sha256" => Some(Self::Sha256(Sha256::new())),
            "sha384" => Some(Self::Sha384(Sha384::new())),
            "sha512" => Some(Self::Sha512(Sha512::new())),
            _ => None,
        }
    }

    /// Returns the function for new rows.
    pub fn sha256() -> Self {
        Self::Sha256(Sha256::new())
    }

    /// Adds content.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Sha384(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
        }
    }

    /// Returns the hash in the format of RECORD.
    pub fn finish(self) -> String {
        match self {
            Self::Sha256(hasher) => format!("sha256={}", base64(&hasher.finalize())),
            Self::Sha384(hasher) => format!("sha384={}", base64(&hasher.finalize())),
            Self::Sha512(hasher) => format!("sha512={}", base64(&hasher.finalize())),
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    rock_names::to_base64(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Record, RecordHasher, RecordRow};

    #[test]
    fn paths_are_quoted_and_lines_end_with_lf() {
        let record = Record {
            rows: vec![
                RecordRow::for_content("a,\"b\".py", b""),
                RecordRow::without_hash("x.dist-info/RECORD"),
            ],
        };
        let text = String::from_utf8(record.to_bytes()).unwrap();
        assert_eq!(
            text,
            "\"a,\"\"b\"\".py\",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\nx.dist-info/RECORD,,\n"
        );
        assert_eq!(Record::parse(text.as_bytes(), "R").unwrap(), record);
        assert_eq!(
            Record::parse(text.replace('\n', "\r\n").as_bytes(), "R").unwrap(),
            record
        );
    }

    #[test]
    fn a_line_without_three_columns_is_named() {
        let message = |bytes: &[u8]| Record::parse(bytes, "R").unwrap_err().to_string();
        assert_eq!(
            message(b"a,b,1\nc,d\n"),
            "line 2 of RECORD cannot be read: it has 2 columns, not 3"
        );
        assert_eq!(
            message(b"a,b,1\n\xff,d,2\n"),
            "line 2 of RECORD cannot be read: it is not UTF-8"
        );
    }

    #[test]
    fn a_record_has_at_most_262145_rows() {
        let read = |rows| {
            Record::parse("a,,\n".repeat(rows).as_bytes(), "R").map(|record| record.rows.len())
        };
        assert_eq!(read((1 << 18) + 1).unwrap(), (1 << 18) + 1);
        assert_eq!(
            read((1 << 18) + 2).unwrap_err().to_string(),
            "line 262146 of RECORD cannot be read: there are more than 262145 rows"
        );
    }

    #[test]
    fn only_strong_hashes_are_supported() {
        let hash = |name: &str| RecordHasher::for_hash(name).map(|hasher| hasher.finish().len());
        assert_eq!(
            (hash("sha256=x"), hash("sha384=x"), hash("sha512=x")),
            (Some(50), Some(71), Some(93))
        );
        assert_eq!(
            (hash("md5=x"), hash("sha1=x"), hash("x")),
            (None, None, None)
        );
    }

    proptest! {
        #[test]
        fn a_record_reads_back(rows in proptest::collection::vec(("[a-z,\"é ]{1,9}", "[a-z=]{0,5}", "[0-9]{0,3}"), 0..9)) {
            let rows = rows.into_iter().map(|(path, hash, size)| RecordRow { path, hash, size }).collect();
            let record = Record { rows };
            prop_assert_eq!(Record::parse(&record.to_bytes(), "R").unwrap(), record);
        }

        #[test]
        fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..99)) {
            let _ = Record::parse(&bytes, "R");
        }
    }
}

//! Rules of pip, uv and PyPI for the records of an archive, beyond what is needed to read one.
//!
//! The strictest of the three counts: a wheel that one of them refuses, or that two of them read as different files,
//! is refused here, too.

use super::super::WheelError;
use super::UNICODE_PATH_FIELD;
use super::bytes::{extra_fields, u32_at};
use crate::diagnostic::Code;
use crate::diagnostic::registry::wheel as codes;

/// The version of the Unicode Path field that is defined (APPNOTE 4.6.9).
const UNICODE_PATH_VERSION: u8 = 1;
/// The bytes of a Unicode Path field before the name: version and CRC-32.
const UNICODE_PATH_HEAD_BYTES: usize = 5;

/// A broken rule, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The member, where it is about one.
    pub member: Option<String>,
    /// The header or bytes that break it, from the start of the file.
    pub offset: u64,
    /// What is wrong, as a sentence.
    pub reason: String,
}

/// A rule for the records of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A Unicode Path field gives the name of its header.
    UnicodePath,
}

impl Rule {
    /// Returns the code of diagnostics about the rule.
    pub(in super::super) fn code(self) -> &'static Code {
        match self {
            Self::UnicodePath => &codes::UNICODE_PATH,
        }
    }
}

/// One of the two headers of a member, as parsed.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeaderRecord<'h> {
    /// Which of the two it is, in words.
    pub(super) kind: &'static str,
    /// Where it begins.
    pub(super) offset: u64,
    /// The name as read.
    pub(super) name: &'h str,
    /// The name as written.
    pub(super) raw_name: &'h [u8],
    /// The extra fields.
    pub(super) extra: &'h [u8],
}

impl HeaderRecord<'_> {
    /// Checks the header against every rule that needs only it.
    pub(super) fn check(&self) -> Result<(), WheelError> {
        for (id, content) in extra_fields(self.extra) {
            if id == UNICODE_PATH_FIELD {
                self.check_unicode_path(content)?;
            }
        }
        Ok(())
    }

    /// Checks a Unicode Path field: version 1, the CRC-32 of the name beside it, and the same name again.
    ///
    /// Installers take the name of the field where its CRC-32 fits: pip since Python 3.12 (CPython's `zipfile.py`,
    /// `ZipInfo._decodeExtra`) for the central header, uv (`async_zip`, `base/read/mod.rs`, `detect_filename`) for both.
    /// Where it does not fit they ignore the field, others do not compare it, and no packing tool writes it so.
    fn check_unicode_path(&self, content: &[u8]) -> Result<(), WheelError> {
        let violation = |what: String| {
            self.violation(Rule::UnicodePath, format!("has an Info-ZIP Unicode Path field (0x7075) {what}"))
        };
        let Some((head, path)) = content.split_at_checked(UNICODE_PATH_HEAD_BYTES) else {
            return Err(violation(format!("of {} bytes, too few for one", content.len())));
        };
        if path != self.name.as_bytes() {
            let path = String::from_utf8_lossy(path);
            return Err(violation(format!("that names `{}`", path.escape_debug())));
        }
        if head[0] != UNICODE_PATH_VERSION {
            return Err(violation(format!("of version {}, and only version 1 is defined", head[0])));
        }
        if u32_at(head, 1) != crc32fast::hash(self.raw_name) {
            return Err(violation("whose CRC-32 is not that of the name".to_owned()));
        }
        Ok(())
    }

    fn violation(&self, rule: Rule, what: String) -> WheelError {
        let reason = format!("the {} header of `{}`, at byte {}, {what}", self.kind, self.name, self.offset);
        Violation { rule, member: Some(self.name.to_owned()), offset: self.offset, reason }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unicode_path(version: u8, crc32: u32, path: &[u8]) -> Vec<u8> {
        let length = u16::try_from(UNICODE_PATH_HEAD_BYTES + path.len()).unwrap();
        [&UNICODE_PATH_FIELD.to_le_bytes(), &length.to_le_bytes(), &[version][..], &crc32.to_le_bytes(), path].concat()
    }

    fn check(name: &str, extra: &[u8]) -> Result<(), String> {
        let record = HeaderRecord { kind: "central", offset: 7, name, raw_name: name.as_bytes(), extra };
        record.check().map_err(|error| error.to_string())
    }

    /// The version, the CRC-32 and the name of a Unicode Path field must all be those of its header.
    #[test]
    fn a_unicode_path_field_repeats_the_name_of_its_header() {
        let name = "demo/ü.bin";
        let crc32 = crc32fast::hash(name.as_bytes());
        assert_eq!(check(name, &unicode_path(1, crc32, name.as_bytes())), Ok(()));
        let short = [&UNICODE_PATH_FIELD.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0]].concat();
        let refused: String = [
            unicode_path(1, crc32, b"demo/__init__.py"),
            unicode_path(1, 0, b"demo/__init__.py"),
            unicode_path(1, crc32, b"a\x1b[m\xff"),
            unicode_path(1, crc32, b""),
            unicode_path(2, crc32, name.as_bytes()),
            unicode_path(1, crc32 ^ 1, name.as_bytes()),
            short,
        ]
        .iter()
        .map(|extra| check(name, extra).unwrap_err() + "\n")
        .collect();
        insta::assert_snapshot!(refused, @r"
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) that names `demo/__init__.py`
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) that names `demo/__init__.py`
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) that names `a\u{1b}[m�`
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) that names ``
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) of version 2, and only version 1 is defined
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) whose CRC-32 is not that of the name
        the central header of `demo/ü.bin`, at byte 7, has an Info-ZIP Unicode Path field (0x7075) of 4 bytes, too few for one
        ");
    }
}

//! The format of METADATA, WHEEL and PKG-INFO: email headers, of which single lines are changed and
//! all other bytes are kept.

use std::borrow::Cow;
use std::ops::Range;

use super::WheelError;
use super::zip::limits::MAX_HEADER_LINES;

/// A document of email headers, with a body after the first empty line (core metadata
/// specification; RFC 822 as Python's `email` reads it).
///
/// Two spaces after a colon, CRLF, a missing last newline and repeated names are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderDocument {
    bytes: Vec<u8>,
    fields: Vec<HeaderField>,
    /// Offset of the first empty line, or of the end.
    end: usize,
    /// The first line before `end` that is not a header.
    malformed: Option<MalformedLine>,
}

/// A line among the headers that Python's `email` does not read as a header.
///
/// `headerRE` of feedparser.py requires printable ASCII up to the colon. At any other line the
/// headers end for pip, while uv accepts a name that ends with a space. A line of spaces continues
/// a header there, and CR ends a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedLine {
    /// Line number, from 1.
    pub line: usize,
    /// The first 80 bytes of the line.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct HeaderField {
    name: String,
    /// Range of the value with its continuation lines, without the last line ending.
    value: Range<usize>,
    /// Range of all lines with their endings.
    lines: Range<usize>,
}

impl HeaderDocument {
    /// Parses a document. Lines that are not headers are kept, but have no meaning.
    pub fn parse(bytes: Vec<u8>) -> Self {
        Self::scan(bytes, usize::MAX).expect("there is no limit")
    }

    /// Parses a document with a bounded number of headers. `member` is its name, for errors.
    ///
    /// # Errors
    /// Fails if it has more than [`MAX_HEADER_LINES`] header lines.
    pub(super) fn read(bytes: Vec<u8>, member: &str) -> Result<Self, WheelError> {
        Self::scan(bytes, MAX_HEADER_LINES).ok_or_else(|| WheelError::InvalidHeader {
            member: member.to_owned(),
            reason: format!("there are more than {MAX_HEADER_LINES} lines of headers"),
        })
    }

    fn scan(bytes: Vec<u8>, max_lines: usize) -> Option<Self> {
        let mut fields: Vec<HeaderField> = Vec::new();
        let mut malformed = None;
        let (mut at, mut number) = (0, 0);
        while at < bytes.len() {
            number += 1;
            let next = bytes[at..]
                .iter()
                .position(|b| *b == b'\n')
                .map_or(bytes.len(), |newline| at + newline + 1);
            let line = bytes[at..next].trim_ascii_end();
            if malformed.is_none() && !is_header_line(&bytes[at..next], fields.is_empty()) {
                let text = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                malformed = Some(MalformedLine { line: number, text });
            }
            // A line of spaces continues a header (RFC 5322, section 2.2.3; setuptools folds
            // licences this way); an empty one ends the headers.
            if line.is_empty() && !matches!(bytes[at], b' ' | b'\t') {
                break;
            }
            if number > max_lines {
                return None;
            }
            let end = at + line.len();
            if matches!(bytes[at], b' ' | b'\t') {
                if let Some(field) = fields.last_mut().filter(|field| field.lines.end == at) {
                    field.value.end = end;
                    field.lines.end = next;
                }
            } else if let Some(colon) = line.iter().position(|b| *b == b':') {
                let name = String::from_utf8_lossy(line[..colon].trim_ascii()).to_ascii_lowercase();
                fields.push(HeaderField {
                    name,
                    value: at + colon + 1..end,
                    lines: at..next,
                });
            }
            at = next;
        }
        Some(Self {
            bytes,
            fields,
            end: at,
            malformed,
        })
    }

    /// Returns the first line among the headers that is not a header.
    pub fn malformed_line(&self) -> Option<&MalformedLine> {
        self.malformed.as_ref()
    }

    /// Returns the first value of a header, trimmed. Names are case-insensitive.
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get_all(name).next()
    }

    /// Returns all values of a header, trimmed.
    pub fn get_all<'h>(&'h self, name: &str) -> impl Iterator<Item = Cow<'h, str>> {
        let name = name.to_ascii_lowercase();
        self.fields
            .iter()
            .filter(move |field| field.name == name)
            .map(|field| String::from_utf8_lossy(self.bytes[field.value.clone()].trim_ascii()))
    }

    /// Replaces the values of a header: at its first line, or after the last header if it is new.
    /// Nothing changes if it has these values already.
    pub fn set(&mut self, name: &str, values: &[String]) {
        if self.get_all(name).eq(values.iter().map(String::as_str)) {
            return;
        }
        let ending = if self.bytes[..self.end]
            .windows(2)
            .any(|pair| pair == b"\r\n")
        {
            "\r\n"
        } else {
            "\n"
        };
        let lines: String = values
            .iter()
            .map(|value| format!("{name}: {value}{ending}"))
            .collect();
        let lower = name.to_ascii_lowercase();
        let replaced: Vec<Range<usize>> = self
            .fields
            .iter()
            .filter(|field| field.name == lower)
            .map(|field| field.lines.clone())
            .collect();
        let start = replaced.first().map_or(self.end, |lines| lines.start);
        let mut bytes = self.bytes[..start].to_vec();
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            bytes.extend(ending.as_bytes());
        }
        bytes.extend(lines.as_bytes());
        let mut kept = start;
        for lines in replaced {
            bytes.extend(&self.bytes[kept..lines.start]);
            kept = lines.end;
        }
        bytes.extend(&self.bytes[kept..]);
        *self = Self::parse(bytes);
    }

    /// Returns the document.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the bytes of the document.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns whether all readers agree that a line, with its ending, is a header, continues one, or
/// ends the headers.
fn is_header_line(line: &[u8], is_first: bool) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return true;
    }
    if line.contains(&b'\r') {
        return false;
    }
    match line.iter().position(|byte| *byte == b':') {
        _ if matches!(line[0], b' ' | b'\t') => !is_first,
        Some(colon) => colon > 0 && line[..colon].iter().all(u8::is_ascii_graphic),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::HeaderDocument;

    #[track_caller]
    fn set(text: &str, name: &str, values: &[&str], expect: &str) {
        let mut headers = HeaderDocument::parse(text.as_bytes().to_vec());
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        headers.set(name, &values);
        assert_eq!(std::str::from_utf8(headers.bytes()).unwrap(), expect);
        assert!(headers.get_all(name).eq(values.iter().map(String::as_str)));
    }

    #[test]
    fn only_the_lines_of_the_name_change() {
        set(
            "A: 1\nVersion:  2\nB :3\n\nVersion: body\n",
            "Version",
            &["4"],
            "A: 1\nVersion: 4\nB :3\n\nVersion: body\n",
        );
        set(
            "Tag:  x\r\nA: 1\r\nTag: y\r\n",
            "Tag",
            &["p", "q"],
            "Tag: p\r\nTag: q\r\nA: 1\r\n",
        );
        set("A: 1", "Build", &["2"], "A: 1\nBuild: 2\n");
        set("A: 1\n\nbody", "Build", &["2"], "A: 1\nBuild: 2\n\nbody");
        set("A: 1\nBuild: 2\nC: 3\n", "Build", &[], "A: 1\nC: 3\n");
        set("A: 1\n\tmore\nB: 2\n", "A", &["3"], "A: 3\nB: 2\n");
        set("", "A", &["3"], "A: 3\n");
    }

    #[test]
    fn equal_values_change_no_byte() {
        set(
            "Tag:  cp312-cp312-any\r\nA: 1",
            "tag",
            &["cp312-cp312-any"],
            "Tag:  cp312-cp312-any\r\nA: 1",
        );
    }

    #[test]
    fn names_ignore_case_and_the_body_has_no_headers() {
        let headers = HeaderDocument::parse(
            b"name: x\nNot a header\nREQUIRES-DIST: a\nRequires-Dist: b\n\nName: y\n".to_vec(),
        );
        assert_eq!(headers.get("Name").as_deref(), Some("x"));
        assert!(headers.get_all("Requires-Dist").eq(["a", "b"]));
        assert_eq!(headers.get_all("Name").count(), 1);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_kept() {
        let bytes = b"Author: \xff\xfe\nVersion: 1\n\n\xff".to_vec();
        let mut headers = HeaderDocument::parse(bytes.clone());
        headers.set("Version", &["2".to_owned()]);
        assert_eq!(headers.bytes(), b"Author: \xff\xfe\nVersion: 2\n\n\xff");
        assert!(headers.get("Author").is_some());
    }

    /// Spaces before the colon, no colon, only spaces, a bare CR, a continuation of nothing,
    /// letters beyond ASCII.
    #[test]
    fn malformed_lines_are_reported() {
        let malformed = |text: &str| {
            let headers = HeaderDocument::parse(text.as_bytes().to_vec());
            headers
                .malformed_line()
                .map(|line| (line.line, line.text.clone()))
        };
        for text in [
            "A: 1\n  more\n\tand more\n\nName : body\n",
            "A: 1\n  \nB: 2\n",
            "A: 1\r\nB-c_d:\r\n\r\nbody",
            "",
        ] {
            assert_eq!(malformed(text), None, "{text:?}");
        }
        for (text, line) in [
            ("A: 1\nName : demo\n", 2),
            ("A: 1\nno header\nB: 2\n", 2),
            ("A: 1\rB: 2\n", 1),
            (" A: 1\n", 1),
            (": 1\n", 1),
            ("A: 1\nNäme: x\n", 2),
        ] {
            assert_eq!(
                malformed(text).map(|(line, _)| line),
                Some(line),
                "{text:?}"
            );
        }
    }

    #[test]
    fn headers_have_at_most_65536_lines() {
        let read =
            |lines| HeaderDocument::read("A: 1\n".repeat(lines).into_bytes(), "METADATA").is_ok();
        assert!(read(1 << 16) && !read((1 << 16) + 1));
        let body = format!("A: 1\n\n{}", "\n".repeat(1 << 17));
        assert!(HeaderDocument::read(body.into_bytes(), "METADATA").is_ok());
    }

    proptest::proptest! {
        #[test]
        fn setting_a_header_keeps_all_others(text in "([A-C]:[ a-z]{0,4}\r?\n|[ x]y\n|\n){0,8}[A-C]?:?") {
            let before = HeaderDocument::parse(text.into_bytes());
            let mut after = before.clone();
            after.set("Version", &["1".to_owned()]);
            proptest::prop_assert!(after.get_all("Version").eq(["1"]));
            for name in ["A", "B", "C"] {
                proptest::prop_assert!(after.get_all(name).eq(before.get_all(name)));
            }
        }
    }
}

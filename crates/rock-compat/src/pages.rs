//! Links of package index pages (PEP 503).
//!
//! Input: HTML, possibly malformed. Output: decoded names of files and ROCm indexes.
//!
//! **Invariant:** a page is read once, in linear time.

use std::collections::BTreeSet;

/// The project page of torch in one ROCm index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexPage {
    /// The literal suffix of the index path, `6.2.4`.
    pub rocm_index: String,
    /// The HTML of the page (PEP 503), with a link for each file.
    pub html: String,
}

/// Returns the decoded file names of the links of a project page; links to directories are left out.
pub fn linked_files(html: &str) -> Vec<String> {
    let name = |link: &str| {
        let path = link.split(['#', '?']).next().unwrap_or_default();
        percent_decode(path.rsplit('/').next().unwrap_or_default())
    };
    links(html)
        .map(name)
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns the names of the ROCm indexes that a root page links to: `6.2` for `rocm6.2/`.
pub fn linked_rocm_indexes(html: &str) -> Vec<String> {
    let index = |link: &str| {
        let name = link.strip_suffix('/').unwrap_or(link).rsplit('/').next()?;
        let version = name.strip_prefix("rocm")?;
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        (version.contains('.') && version.split('.').all(is_number)).then(|| version.to_owned())
    };
    let found: BTreeSet<String> = links(html).filter_map(index).collect();
    found.into_iter().collect()
}

/// Returns the values of `href` of all `a` elements.
fn links(html: &str) -> impl Iterator<Item = &str> {
    let mut reader = TagReader { html, at: 0 };
    std::iter::from_fn(move || reader.next_link())
}

/// A reader of the tags of a page (WHATWG HTML, sections 13.2.5.32 to 13.2.5.40).
struct TagReader<'h> {
    html: &'h str,
    at: usize,
}

impl<'h> TagReader<'h> {
    fn next_link(&mut self) -> Option<&'h str> {
        loop {
            self.at += self.html.get(self.at..)?.find('<')? + 1;
            let rest = self.html.as_bytes().get(self.at..)?;
            let is_link = matches!(rest, [b'a' | b'A', blank, ..] if blank.is_ascii_whitespace());
            if !is_link {
                continue;
            }
            self.at += 1;
            let link = self.href()?;
            if !link.is_empty() {
                return Some(link);
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.html.as_bytes().get(self.at).copied()
    }

    /// Skips to the next byte that fits; `None` at the end of the page.
    fn until(&mut self, fits: impl Fn(u8) -> bool) -> Option<()> {
        let length = self
            .html
            .as_bytes()
            .get(self.at..)?
            .iter()
            .position(|b| fits(*b));
        self.at = length.map_or(self.html.len(), |length| self.at + length);
        length.map(drop)
    }

    fn since(&self, begin: usize) -> &'h str {
        self.html.get(begin..self.at).unwrap_or_default()
    }

    /// Reads the attributes of a tag, and returns its first `href`, empty if there is none; `None` at
    /// the end of the page.
    fn href(&mut self) -> Option<&'h str> {
        let mut found = None;
        loop {
            self.until(|b| !b.is_ascii_whitespace() && b != b'/')?;
            if self.peek() == Some(b'>') {
                return Some(found.unwrap_or_default());
            }
            // The first byte is always skipped, so that every iteration makes progress.
            let begin = self.at;
            self.at += 1;
            self.until(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>' | b'='))?;
            let name = self.since(begin);
            self.until(|b| !b.is_ascii_whitespace())?;
            if self.peek() != Some(b'=') {
                continue;
            }
            self.at += 1;
            self.until(|b| !b.is_ascii_whitespace())?;
            let value = match self.peek()? {
                quote @ (b'"' | b'\'') => {
                    let begin = self.at + 1;
                    self.at = begin;
                    self.until(|b| b == quote)?;
                    let value = self.since(begin);
                    self.at += 1;
                    value
                }
                _ => {
                    let begin = self.at;
                    self.until(|b| b.is_ascii_whitespace() || b == b'>')?;
                    self.since(begin)
                }
            };
            if name.eq_ignore_ascii_case("href") && found.is_none() {
                found = Some(value);
            }
        }
    }
}

/// Decodes percent-encoding (RFC 3986, section 2.1); a text that is not UTF-8 afterwards is returned
/// unchanged.
fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{linked_files, linked_rocm_indexes, percent_decode};

    #[test]
    fn links_are_read_in_any_quoting_and_decoded_once() {
        let html = "<A HREF=a/b%2Bc.whl#x><a class=k href = '/d%252B.whl?y#z'>t</a><a\nhref=\"https://h/e.whl\">";
        assert_eq!(linked_files(html), ["b+c.whl", "d%2B.whl", "e.whl"]);
    }

    #[test]
    fn other_links_are_ignored() {
        assert_eq!(
            linked_files("<a name=q>q</a><a href=\"%zz%é"),
            Vec::<String>::new()
        );
        assert_eq!(
            linked_files("<a href=\"folder/\">x</a><a href=\"\">y</a>"),
            Vec::<String>::new()
        );
        assert_eq!(percent_decode("%2"), "%2");
        assert_eq!(
            percent_decode("%ff.whl"),
            "%ff.whl",
            "bytes that are no text stay as they were"
        );
    }

    /// Unclosed tags must not be scanned to the end of the page each, which takes quadratic time.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test bounds a time")]
    fn a_page_of_unclosed_links_is_read_in_one_pass() {
        for piece in [
            "<a ",
            "<a href=\"",
            "<a href='",
            "<a href",
            "<a x='\" ",
            "<a href=\"x' <a href='y\" ",
        ] {
            let page = piece.repeat((8 << 20) / piece.len());
            let began = std::time::Instant::now();
            let files = linked_files(&page).len() + linked_rocm_indexes(&page).len();
            assert!(
                began.elapsed().as_secs() < 60,
                "{piece}: {files} in {:?}",
                began.elapsed()
            );
        }
        assert_eq!(
            linked_files("<a =href=x><a/href=y><a b href=z c='>' d>").len(),
            1
        );
        assert_eq!(
            linked_files("<a title='>' href='b.whl'><a\u{e9} href=x><a \u{e9}=1 href=c.whl>"),
            ["b.whl", "c.whl"]
        );
    }

    #[test]
    fn a_root_page_names_its_rocm_indexes() {
        let html = r#"<a href="rocm6.2/">rocm6.2</a> <a href="/whl/rocm6.2.4/">x</a> <a href='cu118/'>cu118</a> <a href="torch/">torch</a>"#;
        assert_eq!(linked_rocm_indexes(html), ["6.2", "6.2.4"]);
    }
}

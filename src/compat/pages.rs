//! Pages of a package index (PEP 503): which files and which ROCm indexes they link to.
//!
//! Input: HTML as it came, however broken. Output: names, decoded.

use std::collections::BTreeSet;

use regex::Regex;

/// The project page of torch in one ROCm index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexPage {
    /// Literal suffix of the index path, `6.2.4`.
    pub rocm_index: String,
    /// The page (PEP 503): HTML with one link a file.
    pub html: String,
}

/// File names of the links of a project page, decoded; links to other things are left out.
pub fn linked_files(html: &str) -> Vec<String> {
    let anchor = Regex::new(r#"<(?i-u:a)\s[^>]*?(?i-u:href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*))"#)
        .expect("a fixed pattern");
    let links =
        anchor.captures_iter(html).filter_map(|found| found.iter().skip(1).flatten().next().map(|m| m.as_str()));
    let name = |link: &str| {
        let path = link.split(['#', '?']).next().unwrap_or_default();
        decoded(path.rsplit('/').next().unwrap_or_default())
    };
    links.map(name).filter(|name| !name.is_empty()).collect()
}

/// Names of the ROCm indexes that a root page links to: `6.2` for `rocm6.2/`.
pub fn linked_rocm_indexes(html: &str) -> Vec<String> {
    let anchor = Regex::new(r#"<(?i-u:a)\s[^>]*?(?i-u:href)\s*=\s*["']?[^"'>]*?\brocm([0-9]+(?:\.[0-9]+)+)/?["'\s>]"#)
        .expect("a fixed pattern");
    let found: BTreeSet<String> = anchor.captures_iter(html).map(|found| found[1].to_owned()).collect();
    found.into_iter().collect()
}

/// Percent-decoding; what is not UTF-8 after it is left as it was.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
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
    use super::{decoded, linked_files, linked_rocm_indexes};

    #[test]
    fn links_are_read_in_any_quoting_and_decoded_once() {
        let html = "<A HREF=a/b%2Bc.whl#x><a class=k href = '/d%252B.whl?y#z'>t</a><a\nhref=\"https://h/e.whl\">";
        assert_eq!(linked_files(html), ["b+c.whl", "d%2B.whl", "e.whl"]);
    }

    #[test]
    fn what_is_no_link_counts_for_nothing() {
        assert_eq!(linked_files("<a name=q>q</a><a href=\"%zz%é"), Vec::<String>::new());
        assert_eq!(linked_files("<a href=\"folder/\">x</a><a href=\"\">y</a>"), Vec::<String>::new());
        assert_eq!(decoded("%2"), "%2");
        assert_eq!(decoded("%ff.whl"), "%ff.whl", "bytes that are no text stay as they were");
    }

    #[test]
    fn a_root_page_names_its_rocm_indexes() {
        let html = r#"<a href="rocm6.2/">rocm6.2</a> <a href="/whl/rocm6.2.4/">x</a> <a href='cu118/'>cu118</a> <a href="torch/">torch</a>"#;
        assert_eq!(linked_rocm_indexes(html), ["6.2", "6.2.4"]);
    }
}

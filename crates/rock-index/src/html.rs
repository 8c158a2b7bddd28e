//! Writes PEP 503 HTML pages. They are for installers and have no layout.

use super::escape::push;
use super::{GENERATOR, IndexFile, YankStatus};

/// Returns the page with the list of projects.
pub(super) fn root<'a>(title: &str, projects: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut page = head(title, 0);
    for name in projects {
        page.push_str("<a href=\"");
        push(&mut page, name);
        page.push_str("/\">");
        push(&mut page, name);
        page.push_str("</a><br>\n");
    }
    end(page)
}

/// Returns the page of one project, with its files and their links in the given order.
pub(super) fn project(title: &str, files: &[(&IndexFile, String)]) -> Vec<u8> {
    let mut page = head(title, files.len());
    for (file, link) in files {
        add(&mut page, file, link);
    }
    end(page)
}

fn add(page: &mut String, file: &IndexFile, link: &str) {
    page.push_str("<a href=\"");
    push(page, link);
    if let Some(digest) = file.digest {
        page.push_str("#sha256=");
        page.push_str(&digest.to_hex());
    }
    page.push('"');
    let mut attribute = |name: &str, value: &str| {
        page.push(' ');
        page.push_str(name);
        page.push_str("=\"");
        push(page, value);
        page.push('"');
    };
    if let Some(python) = &file.requires_python {
        attribute("data-requires-python", python);
    }
    if let Some(metadata) = &file.metadata {
        let digest = format!("sha256={}", metadata.digest.to_hex());
        // PEP 714 renamed the attribute of PEP 658, which older installers still read.
        attribute("data-core-metadata", &digest);
        attribute("data-dist-info-metadata", &digest);
    }
    if let YankStatus::Because(reason) = &file.yanked {
        attribute("data-yanked", reason);
    }
    page.push('>');
    push(page, &file.name);
    page.push_str("</a><br>\n");
}

fn head(title: &str, lines: usize) -> String {
    /// Approximate length of a line.
    const LINE_BYTES: usize = 640;
    let mut page = String::with_capacity(512 + lines * LINE_BYTES);
    page.push_str(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"pypi:repository-version\" content=\"1.0\">\n<meta name=\"generator\" content=\"",
    );
    push(&mut page, GENERATOR);
    // Wheel names are long and contain no spaces at which a line could break.
    page.push_str(
        "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<style>a { overflow-wrap: anywhere; }</style>\n<title>",
    );
    push(&mut page, title);
    page.push_str("</title>\n</head>\n<body>\n");
    page
}

fn end(mut page: String) -> Vec<u8> {
    page.push_str("</body>\n</html>\n");
    page.into_bytes()
}

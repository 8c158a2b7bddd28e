//! Combines data, style and script into one HTML file.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use rock_names::to_base64;
use rock_template::{TemplateError, render};

const STYLE: &str = include_str!("../../templates/pages/finder/style.css");
const DECIDE: &str = include_str!("../../templates/pages/finder/decide.js");
const SHOW: &str = include_str!("../../templates/pages/finder/page.js");

/// The decision part of the script, for tests that run it outside of a page.
pub const SCRIPT: &str = DECIDE;

/// The content of a page.
#[derive(Debug, Clone)]
pub struct FinderPage<'p> {
    /// The title and heading.
    pub title: &'p str,
    /// The data that the page searches, from [`super::data()`].
    pub data: &'p serde_json::Value,
}

#[derive(Serialize)]
struct FinderView<'p> {
    title: String,
    policy: String,
    generator: &'static str,
    style: &'static str,
    script: String,
    data: &'p str,
}

/// Renders the page.
///
/// # Errors
/// When rendering the template fails, which is a bug.
pub fn page(page: &FinderPage<'_>) -> Result<String, TemplateError> {
    let script = format!("\"use strict\";\n{DECIDE}\n{SHOW}");
    // In a script element, only `</script` and `<!--` are special to HTML, and both start with `<`.
    let data = page.data.to_string().replace('<', "\\u003c");
    let view = FinderView {
        title: escaped(page.title),
        policy: policy(&script),
        generator: "rock-matrix report page",
        style: STYLE,
        script,
        data: &data,
    };
    render(
        "page.html",
        include_str!("../../templates/pages/finder/page.html"),
        &view,
    )
}

/// Returns a content security policy that forbids all requests and allows only the script and the
/// style of the page (CSP Level 3, section 2.3.1: hash sources).
fn policy(script: &str) -> String {
    let standard = |text: &str| {
        to_base64(&Sha256::digest(text))
            .replace('-', "+")
            .replace('_', "/")
    };
    // 32 bytes are 43 base64 characters and one padding character.
    let hash = |text: &str| format!("'sha256-{}='", standard(text));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(STYLE)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

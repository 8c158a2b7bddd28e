//! Web addresses that are safe in documents and command lines.

use super::percent_encode;

/// Returns an `http` or `https` address with all characters percent-encoded that are special to
/// Markdown, HTML, a shell or a terminal, and with `%2B` for each `+`.
///
/// Returns `None` for other schemes, and for addresses without a host or with user information:
/// listings are not trusted.
pub fn web_address(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let scheme = ["https", "http"]
        .into_iter()
        .find(|known| scheme.eq_ignore_ascii_case(known))?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains(['@', '\\']) || host.is_empty() {
        return None;
    }
    let mut encoded = format!("{scheme}://");
    for byte in rest.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/?#%=&,;".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&percent_encode([byte]));
        }
    }
    Some(encoded)
}

#[cfg(test)]
mod tests {
    use super::web_address;

    /// Only addresses of the web are taken, and no character of one ends a link or a word.
    #[test]
    fn addresses_are_of_the_web_and_encoded() {
        let check = |address: &str, expect: Option<&str>| {
            assert_eq!(web_address(address).as_deref(), expect, "{address}");
        };
        check(
            "https://x.org/a+b%2Bc.whl",
            Some("https://x.org/a%2Bb%2Bc.whl"),
        );
        check(
            "HTTP://x.org:8000/a) \"<b>|`$(c)\n",
            Some("http://x.org:8000/a%29%20%22%3Cb%3E%7C%60%24%28c%29%0A"),
        );
        for other in [
            "javascript:alert(1)",
            "javascript://x/%0aalert(1)",
            "file:///etc/passwd",
            "--index-url=https://x.org/a.whl",
            "https://me:secret@x.org/a",
            "https://x.org\\@y.org/a",
            "https:///a",
            "/relative",
            "",
        ] {
            check(other, None);
        }
    }
}

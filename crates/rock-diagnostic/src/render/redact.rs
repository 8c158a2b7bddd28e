//! Replaces passwords in URLs.

use std::borrow::Cow;

/// The replacement for a password.
const STARS: &str = "***";

/// Replaces the passwords in all URLs of a text with `***`: `https://user:***@host` (RFC 3986,
/// section 3.2.1). User information of an `http` or `https` URL that has no `:` is usually a token
/// and is replaced, too.
///
/// ```
/// use rock_diagnostic::render::redact_urls;
///
/// assert_eq!(redact_urls("from https://me:secret@host/x"), "from https://me:***@host/x");
/// ```
pub fn redact_urls(text: &str) -> Cow<'_, str> {
    replace_passwords(text, |_| STARS.to_owned())
}

/// Replaces each byte of the passwords that [`redact_urls`] replaces with `*`, so that all byte
/// offsets, and the columns of ASCII text, are unchanged.
pub(super) fn mask_urls(text: &str) -> Cow<'_, str> {
    replace_passwords(text, |password| "*".repeat(password.len()))
}

/// Replaces the passwords in all URLs of a text.
fn replace_passwords(text: &str, replacement: impl Fn(&str) -> String) -> Cow<'_, str> {
    let mut redacted = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        if start < done {
            continue;
        }
        let is_end = |letter: char| letter.is_whitespace() || "/?#\"'`<>\\".contains(letter);
        let authority =
            &text[start..start + text[start..].find(is_end).unwrap_or(text.len() - start)];
        let Some((user_info, _)) = authority.rsplit_once('@') else {
            continue;
        };
        let has_scheme = |scheme: &[u8]| {
            let start = at.checked_sub(scheme.len());
            start.is_some_and(|start| text.as_bytes()[start..at].eq_ignore_ascii_case(scheme))
        };
        let is_http = has_scheme(b"http") || has_scheme(b"https");
        let kept = match user_info.split_once(':') {
            Some((_, "")) => continue,
            Some((user, _)) => user.len() + 1,
            None if is_http && !user_info.is_empty() => 0,
            None => continue,
        };
        redacted.push_str(&text[done..start + kept]);
        redacted.push_str(&replacement(&user_info[kept..]));
        done = start + user_info.len();
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    redacted.push_str(&text[done..]);
    Cow::Owned(redacted)
}

#[cfg(test)]
mod tests {
    use super::{mask_urls, redact_urls};

    #[test]
    fn passwords_in_urls_are_replaced() {
        for (text, shown) in [
            (
                "cannot fetch https://me:secret@example.org/x",
                "cannot fetch https://me:***@example.org/x",
            ),
            (
                "'https://me:se:cr@et@example.org'",
                "'https://me:***@example.org'",
            ),
            (
                "`HTTP://:secret@h`, git+https://a:b@c",
                "`HTTP://:***@h`, git+https://a:***@c",
            ),
            (
                "https://ghp_token@github.com/o/r",
                "https://***@github.com/o/r",
            ),
            (
                "socks5h://u:p@127.0.0.1:1 é",
                "socks5h://u:***@127.0.0.1:1 é",
            ),
            ("https://u:***@h", "https://u:***@h"),
        ] {
            assert_eq!(redact_urls(text), shown, "{text}");
        }
    }

    #[test]
    fn a_mask_is_as_long_as_the_password() {
        assert_eq!(
            mask_urls("git+https://me:secret@h/x https://tökn@h"),
            "git+https://me:******@h/x https://*****@h"
        );
        assert_eq!(mask_urls("https://h/x"), "https://h/x");
    }

    /// The run time is linear in the length of the text.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test bounds a time")]
    fn many_urls_in_one_text_are_redacted_in_time() {
        let began = std::time::Instant::now();
        let redacted = redact_urls(&"HTTPS://token@h ".repeat(200_000)).into_owned();
        assert_eq!(redacted, "HTTPS://***@h ".repeat(200_000));
        assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    }

    #[test]
    fn urls_without_passwords_stay() {
        for text in [
            "",
            "://",
            "https://example.org/@scope/pkg@1.0",
            "https://example.org:8080/a@b",
            "ssh://git@github.com/o/r.git",
            "git@github.com:o/r.git",
            "https://example.org/?mail=a:b@c",
            "https://me:@example.org",
        ] {
            assert_eq!(redact_urls(text), text);
        }
    }
}

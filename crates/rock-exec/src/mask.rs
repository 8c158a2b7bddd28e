//! Keeps the values of secrets out of logs.

use aho_corasick::{AhoCorasick, MatchKind};

use rock_names::{percent_encode, to_base64};

/// The replacement for a secret.
const STARS: &str = "***";
/// Bytes of the shortest secret whose encoded forms are masked. Those of a shorter one would match
/// everywhere.
const SHORTEST_ENCODED: usize = 3;
/// Characters of the shortest base64 fragment that is masked anywhere in a text.
const SHORTEST_PART: usize = 8;
/// Line lengths of `base64` of coreutils and of PEM (RFC 7468).
const BASE64_COLUMNS: [usize; 2] = [76, 64];
/// User names that git and GitHub's actions put before a token in a `Basic` header.
const BASIC_USERS: [&str; 2] = ["x-access-token:", "x-oauth-basic:"];

/// Secrets that must not be shown.
#[derive(Clone, Default)]
pub struct SecretMasks {
    /// The secrets and their encoded forms, longest first.
    values: Vec<String>,
    matcher: Option<AhoCorasick>,
}

impl PartialEq for SecretMasks {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for SecretMasks {}

impl std::fmt::Debug for SecretMasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Masks({} × {STARS})", self.values.len())
    }
}

impl SecretMasks {
    /// Returns masks for these values and the encoded forms that tools produce: base64, alone and
    /// after a user name, percent-encoded, hexadecimal and as a JSON string. Each line of a
    /// multi-line value is masked separately, because logs are written by line.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut values: Vec<String> = values.into_iter().flat_map(forms).collect();
        values.retain(|value| !value.is_empty());
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        // A secret that contains another is masked as a whole.
        let builder = |values: &Vec<String>| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(values)
        };
        let matcher = if values.is_empty() {
            None
        } else {
            builder(&values).ok()
        };
        Self { values, matcher }
    }

    /// Returns the length of the longest value: the part of an unfinished line that may still
    /// become a secret.
    pub fn longest(&self) -> usize {
        self.values.first().map_or(0, String::len)
    }

    /// Returns the text with all secrets masked.
    pub fn hide(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.hide_bytes(text.as_bytes())).into_owned()
    }

    /// Returns the bytes with all secrets masked.
    pub fn hide_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        match &self.matcher {
            Some(matcher) => matcher.replace_all_bytes(bytes, &vec![STARS; self.values.len()]),
            None if self.values.is_empty() => bytes.to_vec(),
            // Text that cannot be searched is not shown.
            None => STARS.as_bytes().to_vec(),
        }
    }
}

/// Returns the lines of a secret and its encoded forms.
fn forms(secret: &str) -> Vec<String> {
    let lines: Vec<&str> = secret.lines().map(str::trim).collect();
    let mut forms: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    for line in lines
        .into_iter()
        .filter(|line| line.len() >= SHORTEST_ENCODED)
    {
        forms.extend(percent_encoded(line));
        forms.extend(hexadecimal(line));
        forms.extend(json_escaped(line));
        forms.extend(base64_parts(line.as_bytes()));
    }
    if secret.trim().len() >= SHORTEST_ENCODED {
        // As given, without surrounding whitespace, and with the newline that `echo` adds.
        for text in [
            secret.to_owned(),
            secret.trim().to_owned(),
            format!("{}\n", secret.trim()),
        ] {
            forms.extend(base64_texts(text.as_bytes()));
        }
        for user in BASIC_USERS {
            forms.extend(base64_texts(format!("{user}{}", secret.trim()).as_bytes()));
        }
    }
    forms
}

/// Returns percent-encoded forms: with every character escaped except the unreserved ones (RFC
/// 3986), as `encodeURIComponent` does (ECMA-262), and with a space as `+` (the form encoding of
/// the URL standard); each with digits of both cases.
fn percent_encoded(text: &str) -> Vec<String> {
    let strict = percent_encode(text);
    let component = ["%21", "%27", "%28", "%29", "%2A"]
        .iter()
        .zip(["!", "'", "(", ")", "*"]);
    let component = component.fold(strict.clone(), |text, (code, letter)| {
        text.replace(code, letter)
    });
    let form = strict.replace("%20", "+");
    let small = [&strict, &component, &form].map(|text| small_escapes(text));
    [strict, component, form].into_iter().chain(small).collect()
}

/// Converts the digits of percent escapes to lower case.
fn small_escapes(text: &str) -> String {
    let mut parts = text.split('%');
    let mut small = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at(part.len().min(2));
        small.push('%');
        small.push_str(&digits.to_ascii_lowercase());
        small.push_str(rest);
    }
    small
}

fn hexadecimal(text: &str) -> [String; 2] {
    let small: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let large = small.to_ascii_uppercase();
    [small, large]
}

/// Returns the inside of JSON strings as encoders write them: with as few escapes as possible, in
/// ASCII with hexadecimal digits of either case (RFC 8259, section 7), with `/` escaped, and with
/// `&`, `<` and `>` escaped as Go's `encoding/json` does.
fn json_escaped(text: &str) -> Vec<String> {
    let quoted = serde_json::Value::from(text).to_string();
    let plain = quoted.trim_start_matches('"');
    let plain = plain.strip_suffix('"').unwrap_or(plain).to_owned();
    let for_html = plain
        .replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e");
    let (lower, upper) = (
        unicode_escaped(&plain, false),
        unicode_escaped(&plain, true),
    );
    [plain, for_html, lower, upper]
        .into_iter()
        .flat_map(|text| [text.replace('/', "\\/"), text])
        .collect()
}

/// Replaces each character outside ASCII by its `\u` escapes.
fn unicode_escaped(text: &str, is_upper_case: bool) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if letter.is_ascii() {
            escaped.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            escaped += &if is_upper_case {
                format!("\\u{unit:04X}")
            } else {
                format!("\\u{unit:04x}")
            };
        }
    }
    escaped
}

/// Returns complete base64 encodings of these bytes, in both alphabets (RFC 4648), with and without
/// padding, and split into lines.
fn base64_texts(bytes: &[u8]) -> Vec<String> {
    let text = base64(bytes);
    let mut texts = vec![text.trim_end_matches('=').to_owned()];
    for columns in BASE64_COLUMNS {
        let mut rest = text.as_str();
        while rest.len() > columns {
            let (line, after) = rest.split_at(columns);
            texts.push(line.to_owned());
            rest = after;
        }
        if rest.len() >= SHORTEST_PART {
            texts.push(rest.to_owned());
        }
    }
    texts.push(text);
    both_alphabets(texts)
}

/// Returns the base64 characters that these bytes alone determine, for each alignment within longer
/// data.
fn base64_parts(bytes: &[u8]) -> Vec<String> {
    let part = |before: usize| {
        let text = base64(&[&vec![0; before], bytes].concat());
        // A character encodes six bits, so those at the ends may include bits of adjacent bytes.
        let from = [0, 2, 3][before];
        let whole = text.trim_end_matches('=').len();
        let to = whole - usize::from(!(before + bytes.len()).is_multiple_of(3));
        text.get(from..to).unwrap_or_default().to_owned()
    };
    both_alphabets(
        (0..3)
            .map(part)
            .filter(|part| part.len() >= SHORTEST_PART)
            .collect(),
    )
}

/// Encodes in base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    let text = to_base64(bytes).replace('-', "+").replace('_', "/");
    let padding = "=".repeat(text.len().next_multiple_of(4) - text.len());
    text + &padding
}

/// Returns the texts in the standard and the URL-safe alphabet.
fn both_alphabets(texts: Vec<String>) -> Vec<String> {
    let for_addresses: Vec<String> = texts
        .iter()
        .map(|text| text.replace('+', "-").replace('/', "_"))
        .collect();
    texts.into_iter().chain(for_addresses).collect()
}

#[cfg(test)]
mod tests {
    use super::{SecretMasks, base64};

    #[test]
    fn secrets_are_hidden_longest_first_and_line_by_line() {
        let masks = SecretMasks::new(["abc", "abcdef", "", "first\nsecond"]);
        assert_eq!(masks.hide("abc abcdef first second"), "*** *** *** ***");
        assert_eq!(masks.hide_bytes(b"\xffabcdef\xfe"), b"\xff***\xfe");
        assert!(masks.longest() >= 6);
        assert!(!format!("{masks:?}").contains("abc"));
    }

    #[test]
    fn without_secrets_nothing_changes() {
        assert_eq!(SecretMasks::default().hide_bytes(b"abc"), b"abc");
        assert_eq!(SecretMasks::default().longest(), 0);
    }

    /// Go's `encoding/json` escapes three characters for HTML.
    #[test]
    fn secrets_in_json_of_go_are_hidden() {
        let masks = SecretMasks::new(["s3cret<&>value"]);
        assert_eq!(
            masks.hide(r#"{"x":"s3cret\u003c\u0026\u003evalue"}"#),
            r#"{"x":"***"}"#
        );
    }

    /// Forms that `base64`, `od`, `jq`, Python's `urllib` and `json`, and git's `Basic` header
    /// produce.
    #[test]
    fn encoded_forms_of_a_secret_are_hidden() {
        let masks = SecretMasks::new(["s3cr€t/+ \"value\"~1"]);
        for (form, left) in [
            ("czNjcuKCrHQvKyAidmFsdWUifjE=", "***"),
            ("czNjcuKCrHQvKyAidmFsdWUifjEK", "***"),
            (
                "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46czNjcuKCrHQvKyAidmFsdWUifjE=",
                "AUTHORIZATION: basic ***",
            ),
            (
                "https://u:s3cr%E2%82%ACt%2F%2B%20%22value%22~1@host",
                "https://u:***@host",
            ),
            ("s3cr%e2%82%act%2f%2b%20%22value%22~1", "***"),
            ("q=s3cr%E2%82%ACt%2F%2B+%22value%22~1&x", "q=***&x"),
            ("73336372e282ac742f2b202276616c7565227e31", "***"),
            ("73336372E282AC742F2B202276616C7565227E31", "***"),
            (r#"{"x": "s3cr€t/+ \"value\"~1"}"#, r#"{"x": "***"}"#),
            (r#"{"x": "s3cr\u20act/+ \"value\"~1"}"#, r#"{"x": "***"}"#),
            (r#"{"x": "s3cr\u20ACt/+ \"value\"~1"}"#, r#"{"x": "***"}"#),
            (r#"{"x": "s3cr€t\/+ \"value\"~1"}"#, r#"{"x": "***"}"#),
        ] {
            assert_eq!(masks.hide(form), left, "{form}");
        }
    }

    /// Within other bytes, all of a base64 text is masked except the characters that include bits
    /// of adjacent bytes.
    #[test]
    fn a_secret_inside_of_a_base64_text_is_hidden_at_every_alignment() {
        let masks = SecretMasks::new(["hunter2-hunter2"]);
        for before in ["", "a", "ab", "abc", "abcd"] {
            for after in ["", "x", "xy"] {
                let text = base64(format!("{before}hunter2-hunter2{after}").as_bytes());
                let hidden = masks.hide(&text);
                assert!(
                    hidden.contains("***") && hidden.len() <= 16,
                    "{before} {after}: {text} became {hidden}"
                );
            }
        }
    }

    /// A multi-line key, wrapped as `base64` and PEM do.
    #[test]
    fn a_long_secret_is_hidden_in_wrapped_base64() {
        let secret = (0..40)
            .map(|at| format!("line {at} of a key\n"))
            .collect::<String>();
        let masks = SecretMasks::new([secret.as_str()]);
        let text = base64(secret.as_bytes());
        for columns in [76, 64, usize::MAX] {
            let mut lines = Vec::new();
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let (line, after) = rest.split_at(columns.min(rest.len()));
                lines.push(line);
                rest = after;
            }
            let wrapped = lines.join("\n");
            assert!(
                masks
                    .hide(&wrapped)
                    .chars()
                    .all(|letter| "*\n".contains(letter)),
                "{columns}: {}",
                masks.hide(&wrapped)
            );
        }
    }
}

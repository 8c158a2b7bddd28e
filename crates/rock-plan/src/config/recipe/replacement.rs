//! Replacement texts of edits, which can refer to groups of the match.

/// The help for an invalid escape.
pub const ESCAPES: &str =
    "write `\\\\` for a backslash; the supported escapes are `\\1`, `\\g<N>`, `\\n` and `\\t`";

/// A part of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplacementPart {
    /// Literal text.
    Text(String),
    /// A group of the match, by number or name.
    Group(String),
    /// A line break.
    Newline,
    /// A tab.
    Tab,
}

impl ReplacementPart {
    /// Parses a text without expressions: `\1` to `\99`, `\g<N>`, `\g<NAME>`, `\n`, `\t`, and `\\`
    /// for a backslash. Python's `re.sub` has more escapes, some of which denote characters by
    /// number (re, "re.sub").
    ///
    /// # Errors
    /// If the text contains any other escape.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            push_text(&mut parts, &rest[..at]);
            let after = &rest[at + 1..];
            let (part, length) = escape(after).ok_or_else(|| {
                format!(
                    "`\\{}` is not a supported escape in a replacement",
                    after.chars().take(1).collect::<String>()
                )
            })?;
            match part {
                Self::Text(text) => push_text(&mut parts, &text),
                part => parts.push(part),
            }
            rest = &after[length..];
        }
        push_text(&mut parts, rest);
        Ok(parts)
    }

    /// Checks a text of a recipe except for its expressions, whose results are inserted unchanged.
    ///
    /// # Errors
    /// If the text contains an escape that [`Self::parse`] rejects.
    pub fn check(text: &str) -> Result<(), String> {
        written(text)
            .into_iter()
            .try_for_each(|text| Self::parse(text).map(drop))
    }

    /// Returns the word that passes this part to the program that makes the edit.
    pub fn word(&self) -> String {
        match self {
            Self::Text(text) => format!("={text}"),
            Self::Group(group) => format!(":{group}"),
            Self::Newline => "\\n".to_owned(),
            Self::Tab => "\\t".to_owned(),
        }
    }
}

/// Appends text, merging it with a preceding text part.
fn push_text(parts: &mut Vec<ReplacementPart>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(ReplacementPart::Text(before)) => before.push_str(text),
        _ => parts.push(ReplacementPart::Text(text.to_owned())),
    }
}

/// Parses the escape after a backslash; returns it with its length.
fn escape(after: &str) -> Option<(ReplacementPart, usize)> {
    let bytes = after.as_bytes();
    Some(match bytes.first()? {
        b'n' => (ReplacementPart::Newline, 1),
        b't' => (ReplacementPart::Tab, 1),
        b'\\' => (ReplacementPart::Text("\\".to_owned()), 1),
        b'g' => {
            let (name, _) = after.strip_prefix("g<")?.split_once('>')?;
            let is_number = !name.is_empty()
                && name.len() < 3
                && name.bytes().all(|byte| byte.is_ascii_digit());
            (is_number || is_identifier(name))
                .then(|| (ReplacementPart::Group(name.to_owned()), name.len() + 3))?
        }
        b'1'..=b'9' => {
            let length = bytes
                .iter()
                .take(3)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            // Python reads three digits as a character by its octal number, and otherwise two of
            // them as the group.
            (length < 3).then(|| (ReplacementPart::Group(after[..length].to_owned()), length))?
        }
        _ => return None,
    })
}

/// Whether Python accepts a name for a group.
fn is_identifier(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the text outside of `{{ }}`, `{% %}` and `{# #}`.
fn written(mut text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    loop {
        let starts = ["{{", "{%", "{#"].into_iter().zip(["}}", "%}", "#}"]);
        let first = starts
            .filter_map(|(start, end)| Some((text.find(start)?, end)))
            .min();
        let Some((at, end)) = first else {
            found.push(text);
            return found;
        };
        found.push(&text[..at]);
        text = past(&text[at + 2..], end);
    }
}

/// Returns the text after the end of an expression; quoted strings may contain the end marker.
fn past<'t>(text: &'t str, end: &str) -> &'t str {
    let mut quote = None;
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if character == '\\' => is_escaped = true,
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if text[at..].starts_with(end) => return &text[at + end.len()..],
            None if matches!(character, '\'' | '"') && end != "#}" => quote = Some(character),
            None => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::ReplacementPart as Part;

    #[test]
    fn escapes_of_replacements_are_groups_line_breaks_and_backslashes() {
        let parts = Part::parse(r"a\1b\12\g<0>\g<name>\n\t\\1").unwrap();
        let words: Vec<String> = parts.iter().map(Part::word).collect();
        assert_eq!(
            words,
            ["=a", ":1", "=b", ":12", ":0", ":name", r"\n", r"\t", r"=\1"]
        );
        assert_eq!(Part::parse("").unwrap(), []);
    }

    #[test]
    fn any_other_escape_is_an_error_outside_of_expressions() {
        for bad in [
            r"\0",
            r"\x41",
            r"\123",
            r"\g",
            r"\g<>",
            r"\g<a b>",
            r"\g<100>",
            r"\a",
            r"\ ",
            r"\",
            r"\é",
            "\\\n",
            r"\{{ x }}",
        ] {
            assert!(Part::check(bad).is_err(), "{bad}");
        }
        for good in [
            r"{{ '\x41}}' }}\1",
            r"{% if x == '\d' %}\n{% endif %}",
            r"{# \q ' #}",
            r#"{{ "\"}}\q" }}"#,
            r"\1{{ x }}",
        ] {
            assert_eq!(Part::check(good), Ok(()), "{good}");
        }
    }
}

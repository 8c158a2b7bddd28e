//! Locates a field in a JSON text and describes the problem with it.

use std::fmt::{self, Display};

use rock_diagnostic::render::escape_line;

/// The path of a value in a JSON document.
#[derive(Debug, Clone, Copy)]
pub(super) enum JsonPath<'a> {
    /// The whole document.
    Root,
    /// The value of a key.
    Key(&'a Self, &'a str),
    /// An item of a list.
    Item(&'a Self, usize),
}

/// A step of such a path, from the root inwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JsonPathStep {
    /// The value of a key.
    Key(String),
    /// An item of a list.
    Item(usize),
}

/// A field with a value that no plan has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonFieldError {
    /// The path to the field.
    pub(super) steps: Vec<JsonPathStep>,
    /// The reason why it is rejected.
    pub(super) reason: String,
}

impl<'a> JsonPath<'a> {
    pub(super) fn key(&'a self, key: &'a str) -> Self {
        Self::Key(self, key)
    }

    pub(super) fn item(&'a self, number: usize) -> Self {
        Self::Item(self, number)
    }

    pub(super) fn steps(&self) -> Vec<JsonPathStep> {
        let (outer, step) = match self {
            Self::Root => return Vec::new(),
            Self::Key(outer, key) => (outer, JsonPathStep::Key((*key).to_owned())),
            Self::Item(outer, number) => (outer, JsonPathStep::Item(*number)),
        };
        let mut steps = outer.steps();
        steps.push(step);
        steps
    }
}

impl Display for JsonFieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`")?;
        for (number, step) in self.steps.iter().enumerate() {
            match step {
                JsonPathStep::Key(key) if number == 0 => f.write_str(&escape_line(key))?,
                JsonPathStep::Key(key) => write!(f, ".{}", escape_line(key))?,
                JsonPathStep::Item(number) => write!(f, "[{number}]")?,
            }
        }
        write!(f, "` {}", self.reason)
    }
}

/// Returns the byte offset at which the value at this path begins in a JSON text. If a step matches
/// nothing, returns the offset of the value before that step.
pub(super) fn offset(text: &str, steps: &[JsonPathStep]) -> usize {
    let mut scanner = JsonScanner {
        text: text.as_bytes(),
        at: 0,
    };
    scanner.blanks();
    for step in steps {
        let before = scanner.at;
        if !scanner.enter(step) {
            return before;
        }
    }
    scanner.at
}

/// Scans a JSON text that has already been parsed.
struct JsonScanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl JsonScanner<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or_default()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// Moves to the value that the step selects in the current value.
    fn enter(&mut self, step: &JsonPathStep) -> bool {
        let open = match step {
            JsonPathStep::Key(_) => b'{',
            JsonPathStep::Item(_) => b'[',
        };
        if self.peek() != open {
            return false;
        }
        self.at += 1;
        let mut number = 0;
        loop {
            self.blanks();
            if matches!(self.peek(), b'}' | b']' | 0) {
                return false;
            }
            let is_it = match step {
                JsonPathStep::Item(wanted) => *wanted == number,
                JsonPathStep::Key(wanted) => {
                    let begin = self.at;
                    self.string();
                    let key = self.text.get(begin..self.at).unwrap_or_default();
                    self.blanks();
                    self.at += 1;
                    self.blanks();
                    serde_json::from_slice::<String>(key).is_ok_and(|key| key == *wanted)
                }
            };
            if is_it {
                return true;
            }
            self.skip();
            self.blanks();
            if self.peek() == b',' {
                self.at += 1;
            }
            number += 1;
        }
    }

    fn string(&mut self) {
        self.at += 1;
        while !matches!(self.peek(), b'"' | 0) {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
    }

    /// Skips the current value.
    fn skip(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                0 => return,
                b'"' => self.string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => return,
                _ => self.at += 1,
            }
            if depth == 0 && matches!(self.peek(), b',' | b'}' | b']') {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonPathStep, offset};

    #[test]
    fn a_step_leads_to_the_byte_where_its_value_begins() {
        let text = r#"{"a": [1, {"b\"]": [2, "x,}"], "c" : "d"}], "e": -3}"#;
        let at = |steps: &[JsonPathStep]| &text[offset(text, steps)..];
        let key = |key: &str| JsonPathStep::Key(key.to_owned());
        assert_eq!(at(&[key("e")]), "-3}");
        assert!(at(&[key("a"), JsonPathStep::Item(1), key("c")]).starts_with("\"d\""));
        assert!(
            at(&[
                key("a"),
                JsonPathStep::Item(1),
                key("b\"]"),
                JsonPathStep::Item(1)
            ])
            .starts_with("\"x,}\"")
        );
        assert!(at(&[key("a"), JsonPathStep::Item(9)]).starts_with("[1"));
        assert_eq!(at(&[]), text);
    }
}

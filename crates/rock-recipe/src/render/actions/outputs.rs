//! Outputs of a step, in the format of the file that `GITHUB_OUTPUT` names.

use sha2::{Digest as _, Sha256};

use crate::codes::plan as codes;
use rock_diagnostic::Diagnostic;
use rock_names::Digest;

/// An output: its name and its value.
pub type ActionOutput = (String, String);

/// An output that the runner would misread.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// The name is not a word: the runner splits a line at its first `=` or `<<`.
    #[error(
        "`{0}` is not a valid output name: letters, digits, `_` and `-`, starting with a letter or \
         `_`"
    )]
    Name(String),
    /// The value contains NUL, but the file is text.
    #[error("the output `{0}` contains a NUL character")]
    Nul(String),
    /// The value contains its own delimiter line, so it would end too early.
    #[error("the output `{0}` contains its own delimiter line")]
    Delimiter(String),
}

impl From<OutputError> for Diagnostic {
    fn from(error: OutputError) -> Self {
        Self::new(&codes::BAD_OUTPUT, error.to_string())
            .help("check where the value comes from: it should be text")
    }
}

/// Renders these outputs: `name=value` if the value is one line, else the value between two
/// delimiter lines.
///
/// # Errors
/// If an output cannot be written.
pub fn outputs(outputs: &[ActionOutput]) -> Result<String, OutputError> {
    let mut text = String::new();
    for (name, value) in outputs {
        let is_one_line = !value.contains(['\r', '\n']);
        text.push_str(&if is_one_line {
            one_line(name, value)?
        } else {
            block(name, value, &delimiter(value))?
        });
    }
    Ok(text)
}

fn one_line(name: &str, value: &str) -> Result<String, OutputError> {
    checked(name, value)?;
    Ok(format!("{name}={value}\n"))
}

/// Returns `rock_` and 32 hex digits of the value's hash: equal values give equal bytes, and no
/// value contains its own hash.
fn delimiter(value: &str) -> String {
    let hex = Digest::new(Sha256::digest(value.as_bytes()).into()).to_hex();
    format!("rock_{}", &hex[..32])
}

fn block(name: &str, value: &str, delimiter: &str) -> Result<String, OutputError> {
    checked(name, value)?;
    // The runner ends lines at CR, LF and CRLF.
    if value.split(['\r', '\n']).any(|line| line == delimiter) {
        return Err(OutputError::Delimiter(name.to_owned()));
    }
    Ok(format!("{name}<<{delimiter}\n{value}\n{delimiter}\n"))
}

fn checked(name: &str, value: &str) -> Result<(), OutputError> {
    let is_word = name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !is_word || !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        return Err(OutputError::Name(name.to_owned()));
    }
    if value.contains('\0') {
        return Err(OutputError::Nul(name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{OutputError, block, delimiter, outputs};

    fn written(name: &str, value: &str) -> Result<String, OutputError> {
        outputs(&[(name.to_owned(), value.to_owned())])
    }

    /// Parses the file as the runner does.
    fn read(text: &str) -> Vec<(String, String)> {
        let (mut found, mut lines) = (Vec::new(), text.split('\n'));
        while let Some(line) = lines.next().filter(|line| !line.is_empty()) {
            match (line.find('='), line.find("<<")) {
                (Some(at), block) if block.is_none_or(|block| at < block) => {
                    found.push((line[..at].to_owned(), line[at + 1..].to_owned()));
                }
                (_, at) => {
                    let (name, end) = (&line[..at.unwrap()], &line[at.unwrap() + 2..]);
                    let value: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
                    found.push((name.to_owned(), value.join("\n")));
                }
            }
        }
        found
    }

    #[test]
    fn a_value_of_one_line_is_a_line_and_of_several_a_block_and_both_read_back() {
        assert_eq!(written("count", "3").unwrap(), "count=3\n");
        let text = written("matrix", "a\nb").unwrap();
        let word = delimiter("a\nb");
        assert_eq!(text, format!("matrix<<{word}\na\nb\n{word}\n"));
        assert!(word.starts_with("rock_") && word.len() == 37, "{word}");
        for value in [
            "",
            "x",
            "a=b<<c",
            "100%\r\nnext=1\r\n",
            "\n",
            "é 🙂\n🙂",
            "x<<EOF\nEOF\ny=1",
            "::add-mask::x\n",
        ] {
            assert_eq!(
                read(&written("v-1_x", value).unwrap()),
                [("v-1_x".to_owned(), value.to_owned())],
                "{value:?}"
            );
        }
    }

    #[test]
    fn a_line_that_equals_the_delimiter_is_refused() {
        for value in ["end", "a\nend\nb", "a\r\nend\r\nb", "a\rend"] {
            assert_eq!(
                block("v", value, "end"),
                Err(OutputError::Delimiter("v".to_owned())),
                "{value:?}"
            );
        }
        assert_eq!(
            block("v", "an end\nends", "end").unwrap(),
            "v<<end\nan end\nends\nend\n"
        );
    }

    #[test]
    fn nul_and_names_that_the_runner_would_split_are_refused() {
        assert_eq!(written("v", "a\0b"), Err(OutputError::Nul("v".to_owned())));
        assert_eq!(written("v", "a\n\0"), Err(OutputError::Nul("v".to_owned())));
        for name in ["", "a=b", "a<<b", "a b", "1a", "-a", "a\nb", "é"] {
            assert_eq!(
                written(name, "x"),
                Err(OutputError::Name(name.to_owned())),
                "{name:?}"
            );
        }
    }

    #[test]
    fn a_refused_output_is_reported_and_another_is_not() {
        let error = rock_diagnostic::Diagnostic::from(written("v", "a\0b").unwrap_err());
        assert_eq!(error.code.to_string(), "P049 bad-output");
        assert!(written("v", "a").is_ok());
    }

    #[test]
    fn the_same_value_gives_the_same_bytes() {
        assert_eq!(written("v", "a\nb"), written("v", "a\nb"));
        assert_ne!(delimiter("a\nb"), delimiter("a\nc"));
    }
}

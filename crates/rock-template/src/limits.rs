//! Limits of a recipe's expressions.
//!
//! minijinja limits the nesting of brackets and blocks (150 levels), but not chains: `- - - x`,
//! `not not x`, `a.b.c`, `a + b + c` and `elif` build trees that are as deep as the chain is long,
//! and parsing, compiling and dropping them is recursive.

use super::TemplateError;

/// The maximum number of operators, filters and attributes in one `{{ }}` or `{% %}`. The longest
/// expression of the shipped recipes has 20.
pub const MOST_OPERATORS: usize = 150;
/// The maximum number of `{% %}` in one text.
pub const MOST_BLOCKS: usize = 150;

/// Words that are operators.
const OPERATORS: [&str; 7] = ["not", "and", "or", "in", "is", "if", "else"];

/// Checks that a text has no more blocks, and its expressions no more operators, than any build
/// needs.
///
/// # Errors
/// If an expression has too many operators, or the text too many blocks.
pub(super) fn check(text: &str) -> Result<(), TemplateError> {
    // Operators and blocks have at least one byte each.
    if text.len() <= MOST_OPERATORS.min(MOST_BLOCKS) {
        return Ok(());
    }
    let fault = |reason: String| {
        let name = text.chars().take(60).collect();
        Err(TemplateError {
            name,
            reason,
            line: None,
        })
    };
    let (mut blocks, mut rest) = (0, text);
    while let Some(at) = rest.find('{') {
        let is_block = rest[at + 1..].starts_with('%');
        let is_expression = rest[at + 1..].starts_with('{');
        rest = &rest[at + 1..];
        if !is_block && !is_expression {
            continue;
        }
        blocks += usize::from(is_block);
        if blocks > MOST_BLOCKS {
            return fault(format!("the text has more than {MOST_BLOCKS} blocks"));
        }
        let (operators, length) = operators(&rest[1..], if is_block { "%}" } else { "}}" });
        if operators > MOST_OPERATORS {
            return fault(format!(
                "an expression has more than {MOST_OPERATORS} operators"
            ));
        }
        rest = &rest[1 + length..];
    }
    Ok(())
}

/// Counts the operators up to the end of a tag, and returns the count and the length up to there.
/// Counting stops once there are too many.
fn operators(text: &str, end: &str) -> (usize, usize) {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (0, 0);
    while at < bytes.len() && found <= MOST_OPERATORS {
        match bytes[at] {
            _ if text.as_bytes()[at..].starts_with(end.as_bytes()) => break,
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b if b.is_ascii_alphabetic() || b == b'_' => {
                let length = bytes[at..]
                    .iter()
                    .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
                    .count();
                found += usize::from(
                    OPERATORS
                        .iter()
                        .any(|word| word.as_bytes() == &bytes[at..at + length]),
                );
                at += length;
            }
            b if b.is_ascii_whitespace() || b.is_ascii_digit() || b",:".contains(&b) => at += 1,
            _ => {
                found += 1;
                at += 1;
            }
        }
    }
    (found, text.floor_char_boundary(at.min(text.len())))
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::{MOST_BLOCKS, MOST_OPERATORS, check};
    use crate::ExpressionEnv;

    /// Evaluates a text on a stack as small as that of a worker thread.
    fn evaluated(text: &str) -> Result<String, String> {
        let text = text.to_owned();
        let run = move || {
            let found = ExpressionEnv::default().evaluate(&text, &context! { x => 1 });
            found
                .map(|value| value.to_string())
                .map_err(|error| error.reason)
        };
        std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(run)
            .unwrap()
            .join()
            .unwrap()
    }

    #[test]
    fn a_long_chain_of_operators_is_refused_before_it_is_parsed() {
        let most = MOST_OPERATORS;
        for (operator, value) in [("- ", "1"), ("-", "1"), ("not ", "True")] {
            let chain = |length: usize| format!("{{{{ {}x }}}}", operator.repeat(length));
            assert_eq!(evaluated(&chain(most)), Ok(value.to_owned()), "{operator}");
            for length in [most + 1, 20_000, 50_000, 1_000_000] {
                let error = evaluated(&chain(length)).unwrap_err();
                assert_eq!(
                    error,
                    format!("an expression has more than {most} operators"),
                    "{operator} {length}"
                );
            }
        }
        for link in [
            ".a",
            "|abs",
            " + x",
            " ~ x",
            " if x else x",
            "[0]",
            " and x",
            "**x",
            " == x",
        ] {
            let error = evaluated(&format!("{{{{ x{} }}}}", link.repeat(50_000))).unwrap_err();
            assert_eq!(
                error,
                format!("an expression has more than {most} operators"),
                "{link}"
            );
            let _ = evaluated(&format!("{{{{ x{} }}}}", link.repeat(most / 3)));
        }
    }

    #[test]
    fn a_long_chain_of_blocks_is_refused_before_it_is_parsed() {
        let chain = |blocks: usize| {
            format!(
                "{{% if x %}}a{}{{% endif %}}",
                "{% elif x %}b".repeat(blocks - 2)
            )
        };
        assert_eq!(evaluated(&chain(MOST_BLOCKS)), Ok("a".to_owned()));
        for blocks in [MOST_BLOCKS + 1, 50_000] {
            assert_eq!(
                evaluated(&chain(blocks)).unwrap_err(),
                format!("the text has more than {MOST_BLOCKS} blocks")
            );
        }
        let nested = |blocks: usize| {
            format!(
                "{}{}",
                "{% if x %}".repeat(blocks),
                "{% endif %}".repeat(blocks)
            )
        };
        assert!(evaluated(&nested(50_000)).is_err());
    }

    #[test]
    fn texts_lists_and_long_plain_texts_are_no_operators() {
        let signs = "-".repeat(10_000);
        assert!(check(&signs).is_ok());
        assert!(check(&format!("{{{{ '{signs}' }}}}")).is_ok());
        assert!(check(&format!("{{{{ [{}] }}}}", "1, ".repeat(10_000))).is_ok());
        assert!(check(&"{{ x }}".repeat(10_000)).is_ok());
        assert!(check("{{ 'é\\").is_ok() && check("{{é").is_ok() && check("{").is_ok());
    }
}

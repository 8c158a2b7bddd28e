//! Commands of a CMake file and their arguments (cmake-language(7), "Source Files").

use std::ops::Range;

/// An argument of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmakeArgument {
    /// The text without quotes or brackets, with escaped quotes and backslashes unescaped; variable
    /// references stay as written.
    pub text: String,
    /// Whether the argument is quoted or in brackets, so that it is one value even when empty.
    pub is_quoted: bool,
}

/// A command with its arguments; parentheses among them are separate arguments.
#[derive(Debug, Clone)]
pub(super) struct CmakeCommand {
    /// The name in lower case: CMake commands are case-insensitive.
    pub(super) name: String,
    pub(super) arguments: Vec<CmakeArgument>,
    pub(super) span: Range<usize>,
}

/// An unterminated element of a file.
#[derive(Debug)]
pub(super) struct UnclosedCommand {
    pub(super) what: &'static str,
    pub(super) at: usize,
}

/// Returns the commands of a text, up to the first unterminated element.
pub(super) fn commands(text: &str) -> (Vec<CmakeCommand>, Option<UnclosedCommand>) {
    let mut lexer = CmakeLexer { text, at: 0 };
    let mut found = Vec::new();
    loop {
        match lexer.command() {
            Ok(Some(command)) => found.push(command),
            Ok(None) => return (found, None),
            Err(unclosed) => return (found, Some(unclosed)),
        }
    }
}

struct CmakeLexer<'a> {
    text: &'a str,
    at: usize,
}

impl CmakeLexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the next command; skips anything else between commands.
    fn command(&mut self) -> Result<Option<CmakeCommand>, UnclosedCommand> {
        loop {
            self.skip_comments()?;
            let Some(c) = self.peek() else {
                return Ok(None);
            };
            let start = self.at;
            let length = self
                .rest()
                .find(|c: char| !is_name(c))
                .unwrap_or(self.rest().len());
            if length == 0 {
                self.at += c.len_utf8();
                continue;
            }
            self.at += length;
            let name = self.text[start..self.at].to_ascii_lowercase();
            let after = self.rest().trim_start_matches([' ', '\t']);
            if !after.starts_with('(') {
                continue;
            }
            self.at = self.text.len() - after.len() + 1;
            let arguments = self.arguments(start)?;
            return Ok(Some(CmakeCommand {
                name,
                arguments,
                span: start..self.at,
            }));
        }
    }

    /// Returns the arguments up to the closing parenthesis, and consumes it.
    fn arguments(&mut self, start: usize) -> Result<Vec<CmakeArgument>, UnclosedCommand> {
        let mut found = Vec::new();
        let mut depth = 1_usize;
        let plain = |text: &str| CmakeArgument {
            text: text.to_owned(),
            is_quoted: false,
        };
        loop {
            self.skip_comments()?;
            match self.peek() {
                None => {
                    return Err(UnclosedCommand {
                        what: "a parenthesis",
                        at: start,
                    });
                }
                Some('(') => {
                    depth += 1;
                    self.at += 1;
                    found.push(plain("("));
                }
                Some(')') => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return Ok(found);
                    }
                    found.push(plain(")"));
                }
                Some('"') => found.push(self.quoted()?),
                Some('[') if bracket(self.rest()).is_some() => {
                    let text = self.bracketed()?;
                    found.push(CmakeArgument {
                        text,
                        is_quoted: true,
                    });
                }
                Some(_) => found.push(plain(&self.bare())),
            }
        }
    }

    fn quoted(&mut self) -> Result<CmakeArgument, UnclosedCommand> {
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.text[start + 1..].char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + 1 + offset + 1;
                    return Ok(CmakeArgument {
                        text,
                        is_quoted: true,
                    });
                }
                '\\' => match chars.next() {
                    // A backslash at the end of a line continues it.
                    Some((_, '\n')) => {}
                    Some((_, c @ ('"' | '\\'))) => text.push(c),
                    Some((_, c)) => text.extend(['\\', c]),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(UnclosedCommand {
            what: "a quote",
            at: start,
        })
    }

    /// Reads a bracket argument, `[==[ … ]==]`, without its first line break.
    fn bracketed(&mut self) -> Result<String, UnclosedCommand> {
        let start = self.at;
        let unclosed = UnclosedCommand {
            what: "a bracket",
            at: start,
        };
        let Some(equals) = bracket(self.rest()) else {
            return Err(unclosed);
        };
        let begin = start + equals + 2;
        let close = format!("]{}]", "=".repeat(equals));
        let Some(length) = self.text[begin..].find(&close) else {
            return Err(unclosed);
        };
        self.at = begin + length + close.len();
        let inside = &self.text[begin..begin + length];
        let inside = inside
            .strip_prefix('\r')
            .filter(|rest| rest.starts_with('\n'))
            .unwrap_or(inside);
        Ok(inside.strip_prefix('\n').unwrap_or(inside).to_owned())
    }

    /// Reads an unquoted argument; quotes inside are part of it.
    fn bare(&mut self) -> String {
        let start = self.at;
        let (mut is_escaped, mut is_quoted) = (false, false);
        let mut end = self.text.len();
        for (offset, c) in self.rest().char_indices() {
            let ends = c.is_whitespace() || matches!(c, '(' | ')' | '#');
            if ends && !is_escaped && !is_quoted {
                end = start + offset;
                break;
            }
            is_quoted ^= c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            // A quote that is not closed on its line does not quote.
            is_quoted &= c != '\n';
        }
        self.at = end;
        self.text[start..end].to_owned()
    }

    /// Skips whitespace and comments, both line comments and bracket comments.
    fn skip_comments(&mut self) -> Result<(), UnclosedCommand> {
        loop {
            let rest = self.rest();
            self.at += rest.len()
                - rest
                    .trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
                    .len();
            if self.peek() != Some('#') {
                return Ok(());
            }
            self.at += 1;
            if bracket(self.rest()).is_some() {
                self.bracketed()?;
            } else {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            }
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the number of `=` in the opening bracket at the start of a text, if there is one.
fn bracket(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let equals = inside.bytes().take_while(|byte| *byte == b'=').count();
    inside[equals..].starts_with('[').then_some(equals)
}

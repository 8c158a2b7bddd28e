//! Commands of a CMake file and their arguments (cmake-language(7), "Source Files").

use std::ops::Range;

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmakeArgument {
    /// Its text without quotes or brackets, escapes of quotes and backslashes undone; references
    /// stay as written.
    pub text: String,
    /// Whether it stands in quotes or brackets, so that it is one value even when empty.
    pub is_quoted: bool,
}

/// A command with its arguments; parentheses among them are arguments of their own.
#[derive(Debug, Clone)]
pub(super) struct CmakeCommand {
    /// Lower case: CMake takes commands in any case.
    pub(super) name: String,
    pub(super) arguments: Vec<CmakeArgument>,
    pub(super) span: Range<usize>,
}

/// A command that has no end.
#[derive(Debug)]
pub(super) struct UnclosedCommand {
    pub(super) what: &'static str,
    pub(super) at: usize,
}

/// The commands of a text, up to one that has no end.
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

    /// The next command; what stands between commands and is none is passed over.
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

    /// The arguments up to the closing parenthesis, which is taken too.
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
                    // A backslash before the end of a line joins it with the next one.
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

    /// A bracket argument, `[==[ … ]==]`, whose first line break is no part of it.
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

    /// An argument without quotes around it; quotes inside belong to it.
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
            // A quote that is not closed on its line is none.
            is_quoted &= c != '\n';
        }
        self.at = end;
        self.text[start..end].to_owned()
    }

    /// Skips white space and comments: to the end of a line, or in brackets.
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

/// How many `=` the opening bracket at the start of a text has, if it is one.
fn bracket(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let equals = inside.bytes().take_while(|byte| *byte == b'=').count();
    inside[equals..].starts_with('[').then_some(equals)
}

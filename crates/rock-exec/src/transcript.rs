//! The output of a build: written to a log file, masked, with the last lines kept in memory.

use std::collections::VecDeque;
use std::io::Write;

use super::compiler_errors::CompilerErrors;
use super::limits::{MAX_TAIL_LINE_CHARS, MAX_TAIL_LINES, MAX_UNFINISHED_LINE_BYTES};
use super::mask::SecretMasks;

/// An excerpt of a failed stage's output for messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputExcerpt {
    /// The first errors of compilers, linkers and CMake, each possibly of several lines.
    pub errors: Vec<String>,
    /// The last lines.
    pub tail: Vec<String>,
}

/// Receives output, writes it to the log with secrets masked, and keeps the last lines.
pub(super) struct BuildTranscript<'a> {
    log: Box<dyn Write + 'a>,
    masks: &'a SecretMasks,
    unfinished: Vec<u8>,
    tail: VecDeque<String>,
    errors: CompilerErrors,
}

impl std::fmt::Debug for BuildTranscript<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transcript")
            .field("tail", &self.tail)
            .finish_non_exhaustive()
    }
}

impl<'a> BuildTranscript<'a> {
    /// Returns a transcript that is written to `log`.
    pub(super) fn new(log: impl Write + 'a, masks: &'a SecretMasks) -> Self {
        Self {
            log: Box::new(log),
            masks,
            unfinished: Vec::new(),
            tail: VecDeque::new(),
            errors: CompilerErrors::default(),
        }
    }

    /// Writes output, and calls `heard` with each completed line, masked and without control
    /// characters.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut heard: impl FnMut(&mut Self, String),
    ) -> std::io::Result<()> {
        // A carriage return also ends a line, because progress bars redraw themselves with it.
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            self.unfinished.extend_from_slice(piece);
            if matches!(piece.last(), Some(b'\n' | b'\r')) {
                let line = std::mem::take(&mut self.unfinished);
                if let Some(line) = self.take(&line)? {
                    heard(self, line);
                }
            }
        }
        if self.unfinished.len() > MAX_UNFINISHED_LINE_BYTES {
            let kept = self.masks.longest();
            let masked = self.masks.hide_bytes(&self.unfinished);
            let cut = masked.len().saturating_sub(kept);
            let piece: Vec<u8> = masked[..cut].to_vec();
            self.unfinished = masked[cut..].to_vec();
            if let Some(line) = self.take(&piece)? {
                heard(self, line);
            }
        }
        Ok(())
    }

    /// Writes the unfinished line, if any, and returns it.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub(super) fn finish(&mut self) -> std::io::Result<Vec<String>> {
        let line = std::mem::take(&mut self.unfinished);
        let mut lines = Vec::new();
        if !line.is_empty() {
            lines.extend(self.take(&line)?);
            self.log.write_all(b"\n")?;
        }
        self.log.flush()?;
        Ok(lines)
    }

    /// Writes a line of this program to the log, without adding it to the last lines.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub(super) fn note(&mut self, line: &str) -> std::io::Result<()> {
        writeln!(self.log, "{}", self.masks.hide(line))
    }

    /// Returns the compiler errors and the last lines.
    pub(super) fn excerpt(&self) -> OutputExcerpt {
        OutputExcerpt {
            errors: self.errors.found().to_vec(),
            tail: self.tail.iter().cloned().collect(),
        }
    }

    /// Clears the compiler errors and the last lines, before another step.
    pub(super) fn forget(&mut self) {
        self.errors = CompilerErrors::default();
        self.tail.clear();
    }

    /// Returns the excerpt up to the last line, which announces the next stage, and clears it.
    pub(super) fn end_stage(&mut self) -> OutputExcerpt {
        self.tail.pop_back();
        let excerpt = self.excerpt();
        self.forget();
        excerpt
    }

    fn take(&mut self, line: &[u8]) -> std::io::Result<Option<String>> {
        let masked = self.masks.hide_bytes(line);
        self.log.write_all(&masked)?;
        let text = plain(&String::from_utf8_lossy(&masked));
        if text.is_empty() {
            return Ok(None);
        }
        if self.tail.len() == MAX_TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(text.clone());
        self.errors.read(&text);
        Ok(Some(text))
    }
}

/// Formats a line for any terminal: without escape sequences and control characters, truncated to
/// the maximum length.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            // ECMA-48 control sequence: ESC [ parameters, ended by a byte from @ to ~.
            '\u{1b}' => {
                if chars.next() == Some('[') {
                    let _ = chars.find(|c| ('@'..='~').contains(c));
                }
            }
            '\t' => text.push(' '),
            c if c.is_control() => {}
            c => text.push(c),
        }
    }
    let text = text.trim_end();
    match text.char_indices().nth(MAX_TAIL_LINE_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines that these bytes complete.
    fn fed(transcript: &mut BuildTranscript<'_>, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        transcript.feed(bytes, |_, line| lines.push(line)).unwrap();
        lines
    }

    #[test]
    fn a_secret_split_over_two_pieces_is_masked() {
        let masks = SecretMasks::new(["sesame"]);
        let mut log = Vec::new();
        let mut transcript = BuildTranscript::new(&mut log, &masks);
        assert!(fed(&mut transcript, b"open ses").is_empty());
        assert_eq!(fed(&mut transcript, b"ame\nrest"), ["open ***"]);
        assert_eq!(transcript.finish().unwrap(), ["rest"]);
        drop(transcript);
        assert_eq!(log, b"open ***\nrest\n");
    }

    #[test]
    fn a_secret_in_an_endless_line_is_masked_at_every_cut() {
        let masks = SecretMasks::new(["sesame"]);
        let mut log = Vec::new();
        let mut transcript = BuildTranscript::new(&mut log, &masks);
        for _ in 0..100 {
            fed(&mut transcript, &b"xsesame".repeat(1000));
            fed(&mut transcript, b"xsesa");
            fed(&mut transcript, b"mex");
        }
        transcript.finish().unwrap();
        drop(transcript);
        assert!(!String::from_utf8(log).unwrap().contains("sesame"));
    }

    #[test]
    fn the_tail_holds_the_last_lines_without_colours() {
        let masks = SecretMasks::default();
        let mut transcript = BuildTranscript::new(std::io::sink(), &masks);
        for number in 0..50 {
            fed(
                &mut transcript,
                format!("\u{1b}[31mline {number}\u{1b}[0m\r\n").as_bytes(),
            );
        }
        let tail = transcript.excerpt().tail;
        assert_eq!(
            (tail.len(), tail[0].as_str(), tail[19].as_str()),
            (20, "line 30", "line 49")
        );
    }

    #[test]
    fn a_line_is_cut_and_one_without_an_end_comes_in_pieces() {
        let masks = SecretMasks::default();
        let long = |bytes: usize| {
            fed(
                &mut BuildTranscript::new(std::io::sink(), &masks),
                &vec![b'x'; bytes],
            )
        };
        assert!(long(MAX_UNFINISHED_LINE_BYTES).is_empty());
        assert_eq!(
            long(MAX_UNFINISHED_LINE_BYTES + 1),
            [format!("{}…", "x".repeat(MAX_TAIL_LINE_CHARS))]
        );
        assert_eq!(
            plain(&"é".repeat(MAX_TAIL_LINE_CHARS)),
            "é".repeat(MAX_TAIL_LINE_CHARS)
        );
        assert_eq!(
            plain(&"é".repeat(MAX_TAIL_LINE_CHARS + 1)),
            "é".repeat(MAX_TAIL_LINE_CHARS) + "…"
        );
    }

    #[test]
    fn bytes_that_are_no_text_stay_in_the_log_as_they_are() {
        let masks = SecretMasks::default();
        let mut log = Vec::new();
        let mut transcript = BuildTranscript::new(&mut log, &masks);
        assert_eq!(fed(&mut transcript, b"\xff\x01x\n"), ["\u{fffd}x"]);
        drop(transcript);
        assert_eq!(log, b"\xff\x01x\n");
    }
}

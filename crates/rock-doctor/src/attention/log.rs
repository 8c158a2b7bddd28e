//! Parses the output of the validation script line by line.

use std::collections::BTreeMap;

use rock_diagnostic::{SourceText, Span};
use rock_names::GfxTarget;

/// The first line that the script prints.
const HEADER: &str = "=== SDPA Backend Check ===";
/// The script's last line on a machine with a GPU, and the start of its last line on one without.
const DONE: &str = "Done.";
const NO_DEVICE: &str = "CUDA/HIP device not available";

/// The completeness of the script's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogCompleteness {
    /// Complete.
    Whole,
    /// Complete, from a machine without a GPU.
    NoDevice,
    /// torch cannot be imported.
    NoTorch,
    /// Truncated: the last line of the script is missing.
    Truncated,
    /// Not the output of the script.
    Foreign,
}

/// An answer and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionAnswer {
    /// The text after the colon.
    pub text: String,
    /// The byte range of the whole line.
    pub span: Span,
}

/// The parsed output of the validation script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionLog {
    /// The completeness of the output.
    pub reading: LogCompleteness,
    /// The answers by question; the last one if a question occurs several times.
    pub answers: BTreeMap<String, AttentionAnswer>,
    /// The byte range of the last non-empty line.
    pub last: Span,
}

impl AttentionLog {
    /// Parses a log. If the file contains several runs, the last one counts; everything else in the
    /// file is ignored.
    pub fn read(source: &SourceText) -> Self {
        let lines: Vec<(Span, &str)> = lines(&source.text).collect();
        let begin = lines.iter().rposition(|(_, line)| *line == HEADER);
        let own = begin.map_or(&lines[..0], |begin| &lines[begin..]);
        let answers: BTreeMap<String, AttentionAnswer> = own.iter().filter_map(answer).collect();
        let has = |words: &str| own.iter().any(|(_, line)| line.starts_with(words));
        let reading = match begin {
            None => LogCompleteness::Foreign,
            Some(_) if answers.contains_key("Failed to import torch") => LogCompleteness::NoTorch,
            Some(_) if has(NO_DEVICE) => LogCompleteness::NoDevice,
            Some(_) if own.iter().any(|(_, line)| *line == DONE) => LogCompleteness::Whole,
            Some(_) => LogCompleteness::Truncated,
        };
        let last = lines
            .iter()
            .rev()
            .find(|(_, line)| !line.is_empty())
            .map_or(0..0, |(span, _)| span.clone());
        Self {
            reading,
            answers,
            last,
        }
    }

    /// Returns the answer to a question.
    pub fn answer(&self, what: &str) -> Option<&AttentionAnswer> {
        self.answers.get(what)
    }

    /// Returns the GPU: the one that torch names, else the only one that torch was built for.
    pub fn gfx(&self) -> Option<GfxTarget> {
        let named = |what: &str| {
            self.answer(what)
                .and_then(|answer| answer.text.parse().ok())
        };
        named("gfx").or_else(|| named("PYTORCH_ROCM_ARCH"))
    }
}

/// Returns the trimmed lines without the timestamp that a GitHub runner puts before each, and their
/// byte ranges, which include the timestamp.
fn lines(text: &str) -> impl Iterator<Item = (Span, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let begin = at;
        at += line.len();
        let bare = line.trim_end();
        let words = without_time(bare).trim();
        (begin..begin + bare.len(), words)
    })
}

/// Removes the timestamp: `2026-11-22T14:00:00.1234567Z Done.` becomes `Done.`.
fn without_time(line: &str) -> &str {
    let is_time = |word: &str| {
        word.len() >= 20
            && word.ends_with('Z')
            && word.as_bytes()[10] == b'T'
            && word
                .bytes()
                .all(|b| b.is_ascii_digit() || b"-:.TZ".contains(&b))
    };
    match line.split_once(' ') {
        Some((time, rest)) if is_time(time) => rest,
        None if is_time(line) => "",
        _ => line,
    }
}

fn answer((span, line): &(Span, &str)) -> Option<(String, AttentionAnswer)> {
    let (what, text) = line
        .split_once(": ")
        .or_else(|| Some((line.strip_suffix(':')?, "")))?;
    Some((
        what.trim().to_owned(),
        AttentionAnswer {
            text: text.trim().to_owned(),
            span: span.clone(),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::{AttentionLog, LogCompleteness};
    use rock_diagnostic::SourceText;

    fn read(text: &str) -> AttentionLog {
        AttentionLog::read(&SourceText::new("log", text))
    }

    #[test]
    fn the_last_words_of_a_log_show_how_far_it_got() {
        let reading =
            |rest: &str| read(&format!("noise\n=== SDPA Backend Check ===\n{rest}")).reading;
        assert_eq!(reading("Torch: 2.9\n\nDone.\n"), LogCompleteness::Whole);
        assert_eq!(
            reading("CUDA/HIP device not available; skipping.\n"),
            LogCompleteness::NoDevice
        );
        assert_eq!(
            reading("Failed to import torch: No module named 'torch'\n"),
            LogCompleteness::NoTorch
        );
        assert_eq!(reading("Torch: 2.9\nFLASH_ATT"), LogCompleteness::Truncated);
        assert_eq!(read("").reading, LogCompleteness::Foreign);
        assert_eq!(read("Done.\n").reading, LogCompleteness::Foreign);
    }

    #[test]
    fn times_of_a_runner_carriage_returns_and_earlier_runs_do_not_count() {
        let text = "=== SDPA Backend Check ===\nTorch: 2.8\nDone.\n\
                    2026-11-22T14:00:00.1234567Z === SDPA Backend Check ===\r\n\
                    2026-11-22T14:00:01.1234567Z gfx: gfx90a:sramecc+:xnack-\r\n\
                    2026-11-22T14:00:01.1234567Z \r\n\
                    2026-11-22T14:00:02.1234567Z Done.\r\n";
        let log = read(text);
        assert_eq!(
            (log.reading, log.answer("Torch")),
            (LogCompleteness::Whole, None)
        );
        assert_eq!(log.gfx().unwrap().to_string(), "gfx90a:sramecc+:xnack-");
        let span = log.answer("gfx").unwrap().span.clone();
        assert!(text[span].ends_with("gfx: gfx90a:sramecc+:xnack-"));
    }

    #[test]
    fn the_target_of_the_build_stands_in_where_torch_names_no_gpu() {
        let gfx = |rest: &str| {
            read(&format!("=== SDPA Backend Check ===\n{rest}Done.\n"))
                .gfx()
                .map(|g| g.to_string())
        };
        assert_eq!(
            gfx("PYTORCH_ROCM_ARCH: gfx1151\n").as_deref(),
            Some("gfx1151")
        );
        assert_eq!(gfx("PYTORCH_ROCM_ARCH: gfx1151;gfx942\n"), None);
        assert_eq!(gfx("gfx: n/a\nPYTORCH_ROCM_ARCH: Not set\n"), None);
    }
}

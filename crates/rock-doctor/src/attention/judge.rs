//! Compares the output of the validation script with the results that are expected on its GPU.

use super::choice::{AttentionPreference, AttentionQuery, choose};
use super::log::{AttentionAnswer, AttentionLog, LogCompleteness};
use crate::codes::host as codes;
use rock_compat::rows::AttentionExpectRow;
use rock_compat::{Compat, matches_gfx_prefix};
use rock_diagnostic::{Diagnostic, Location, SourceText};
use rock_names::{GfxTarget, Version};

/// The result of comparing a line with its expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectationState {
    /// As expected.
    Right,
    /// Not as expected, but normal.
    Normal,
    /// Not as expected.
    Miss,
}

impl ExpectationState {
    /// Returns the word for text and JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Right => "ok",
            Self::Normal => "normal",
            Self::Miss => "miss",
        }
    }
}

/// An expected line and its state in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedLine<'a> {
    /// The expectation.
    pub row: &'a AttentionExpectRow,
    /// The answer in the log; `None` if the log has no such line.
    pub found: Option<String>,
    /// The result of the comparison.
    pub state: ExpectationState,
}

/// The evaluation of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogJudgement<'a> {
    /// The GPU, given or named in the log; `None` if neither is known.
    pub gfx: Option<GfxTarget>,
    /// The torch version that the log reports.
    pub torch: Option<String>,
    /// The expected lines, in the order of the compatibility data.
    pub lines: Vec<JudgedLine<'a>>,
    /// The problems, and other noteworthy properties, of the log.
    pub findings: Vec<Diagnostic>,
}

/// Compares a log with the results that are expected on its GPU, or on `gfx` if given.
pub fn judge<'a>(
    compat: &'a Compat,
    source: &SourceText,
    gfx: Option<&GfxTarget>,
) -> LogJudgement<'a> {
    let log = AttentionLog::read(source);
    let gfx = gfx.cloned().or_else(|| log.gfx());
    let torch = log.answer("Torch").map(|answer| answer.text.clone());
    let release = torch
        .as_deref()
        .and_then(|torch| torch.parse::<Version>().ok());
    let mut judgement = LogJudgement {
        gfx: gfx.clone(),
        torch,
        lines: Vec::new(),
        findings: Vec::new(),
    };
    if let Some(found) = incomplete(&log, source) {
        judgement.findings.push(found);
        return judgement;
    }
    let Some(gfx) = gfx else {
        let fault = Diagnostic::new(&codes::UNJUDGED_LOG, "the log does not name its GPU");
        judgement.findings.push(
            fault
                .at(whole(source), "")
                .help("set it with `--gfx`, such as `--gfx gfx1151`"),
        );
        return judgement;
    };
    let chosen = |torch| {
        choose(
            compat,
            &AttentionQuery {
                gfx: &gfx,
                torch,
                preference: AttentionPreference::None,
            },
        )
    };
    let of_release = chosen(release.as_ref());
    let choice = if of_release.row.is_some() {
        of_release
    } else {
        chosen(None)
    };
    let Some(library) = choice.row else {
        let fault = Diagnostic::new(
            &codes::UNJUDGED_LOG,
            format!("no expected attention backend is recorded for {gfx}"),
        );
        let fault = choice.because.into_iter().fold(fault, Diagnostic::note);
        judgement.findings.push(
            fault
                .at(whole(source), "")
                .help("set the GPU with `--gfx` if the log is from another one"),
        );
        return judgement;
    };
    for row in compat
        .machine_tables()
        .attention_expects
        .iter()
        .filter(|row| row.gfx.is_empty() || matches_gfx_prefix(&row.gfx, &gfx))
    {
        let answer = log.answer(&row.line);
        let state = state(row, answer);
        if state == ExpectationState::Miss {
            let found = miss(row, answer, source);
            let unset = log
                .answer(name_of(&library.needs))
                .filter(|answer| answer.text != value_of(&library.needs));
            judgement.findings.push(match unset {
                Some(unset) => {
                    let place = source.location(unset.span.clone());
                    found.also(place, format!("{gfx} needs {}", library.needs))
                }
                None => found,
            });
        }
        judgement.lines.push(JudgedLine {
            row,
            found: answer.map(|answer| answer.text.clone()),
            state,
        });
    }
    judgement
}

/// Returns the diagnostic for a log that cannot be compared or does not need to be.
fn incomplete(log: &AttentionLog, source: &SourceText) -> Option<Diagnostic> {
    let last = || source.location(log.last.clone());
    Some(match log.reading {
        LogCompleteness::Whole => return None,
        LogCompleteness::NoDevice => {
            let found = Diagnostic::new(
                &codes::NO_DEVICE_IN_LOG,
                "the log is from a machine without a GPU",
            );
            found
                .note("the checks that need a GPU were skipped")
                .help("run the script on a machine with a GPU")
        }
        LogCompleteness::NoTorch => {
            let found = Diagnostic::new(&codes::ATTENTION_MISS, "torch cannot be imported");
            let answer = log.answer("Failed to import torch")?;
            found
                .at(source.location(answer.span.clone()), "")
                .help("install torch for ROCm into this Python")
        }
        LogCompleteness::Truncated => {
            let found = Diagnostic::new(&codes::UNJUDGED_LOG, "the end of the log is missing");
            let found = found.at(last(), "the last line");
            found.help(
                "check why the script stopped there, or save its full output: `python \
                check.py > check.log 2>&1`",
            )
        }
        LogCompleteness::Foreign => {
            let found = Diagnostic::new(
                &codes::UNJUDGED_LOG,
                "this is not the output of the validation script",
            );
            found.at(whole(source), "").help(
                "run the script that `rock-matrix attention script` prints, and save its output",
            )
        }
    })
}

fn whole(source: &SourceText) -> Location {
    Location::File(source.path.clone())
}

fn state(row: &AttentionExpectRow, answer: Option<&AttentionAnswer>) -> ExpectationState {
    let Some(answer) = answer else {
        return ExpectationState::Miss;
    };
    let has = |words: &String| answer.text.to_lowercase().contains(&words.to_lowercase());
    if row.expect.contains(&answer.text) {
        ExpectationState::Right
    } else if row.normal.iter().any(has) {
        ExpectationState::Normal
    } else {
        ExpectationState::Miss
    }
}

fn miss(
    row: &AttentionExpectRow,
    answer: Option<&AttentionAnswer>,
    source: &SourceText,
) -> Diagnostic {
    let expected = format!("`{}`", row.expect.join("` or `"));
    let (message, place) = match answer {
        Some(answer) => {
            let message = format!("`{}` is `{}`, not {expected}", row.line, answer.text);
            (message, source.location(answer.span.clone()))
        }
        None => (
            format!(
                "the log does not contain the line `{}`, which should be {expected}",
                row.line
            ),
            whole(source),
        ),
    };
    let found =
        Diagnostic::new(&codes::ATTENTION_MISS, message).at(place, format!("expected {expected}"));
    let found = found.note(format!("the expected value means that {}", row.reason));
    if row.help.is_empty() {
        found
    } else {
        found.help(row.help.clone())
    }
}

fn name_of(setting: &str) -> &str {
    setting.split_once('=').map_or(setting, |(name, _)| name)
}

fn value_of(setting: &str) -> &str {
    setting.split_once('=').map_or("", |(_, value)| value)
}

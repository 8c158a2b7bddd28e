//! The end of a build, and its diagnostics.

use crate::codes::build as codes;
use rock_diagnostic::{Diagnostic, nearest::nearest};
use rock_names::{ExpectedWheel, WheelName};
use rock_sys::StopSignal;

use super::build_start::UnknownStage;
use super::collect::CollectError;
use super::engine_failure::EngineFailure;
use super::job_directory::OpenDirectoryError;
use super::limits::{MAX_REASON_CHARS, MAX_TAIL_LINES_AFTER_ERRORS};
use super::transcript::OutputExcerpt;

/// The message of the C library for a full disk (`ENOSPC`).
const DISK_FULL: &str = "No space left on device";

/// Texts from the caller for messages about a build.
#[derive(Debug, Clone, Copy, Default)]
pub struct MessageContext<'a> {
    /// The path of the log file to show.
    pub log: &'a str,
    /// The command that resumes the build.
    pub resume: &'a str,
    /// The command that prints the build without running it.
    pub dry_run: &'a str,
}

/// The outcome of the stages of a build, with its cause. A [`BuildOutcome`](crate::BuildOutcome)
/// is that of a build with its delivery.
#[derive(Debug)]
pub enum StagesOutcome {
    /// All stages are done.
    Done,
    /// A stage failed.
    Failed(StepError),
    /// The cap stopped it in this stage.
    Capped(String),
    /// A signal stopped it in this stage.
    Stopped(StopSignal, String),
    /// The container engine failed.
    Engine(EngineFailure),
    /// A file of this program could not be written.
    File(rock_sys::FileError),
}

/// A stage that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepError {
    pub stage: String,
    /// Its command, quoted and masked.
    pub command: String,
    /// The kind of failure.
    pub kind: StepErrorKind,
    /// An excerpt of its output.
    pub output: OutputExcerpt,
}

/// The kind of failure of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepErrorKind {
    /// The process exited with this status: `exit status 2`.
    Ended(String),
    /// It exceeded its time limit of this many seconds.
    TimedOut(u64),
    /// It could not be started, for this reason.
    NotStarted(String),
    /// It produced another number of files than expected.
    Outputs {
        glob: String,
        /// The expected number of files.
        expected: usize,
        /// The paths of the files it produced.
        found: Vec<String>,
    },
    /// It would remove this path outside the job directory.
    CleansOutside(String),
}

impl StepError {
    pub fn diagnostic(&self, context: &MessageContext<'_>) -> Diagnostic {
        let (stage, MessageContext { log, resume, .. }) = (&self.stage, context);
        let again = format!("fix the cause, then run `{resume}`");
        let mut lines = self.output.errors.iter().chain(&self.output.tail);
        let full = lines.any(|line| line.contains(DISK_FULL));
        let (code, message, help) = match &self.kind {
            StepErrorKind::Ended(_) if full => (
                &codes::DISK_FULL,
                format!("stage `{stage}` failed because the disk is full"),
                format!(
                    "free some space (`rock-matrix clean --all --whole` removes the files of \
                     builds), then run `{resume}`"
                ),
            ),
            StepErrorKind::Ended(_) => (&codes::STEP_FAILED, self.message(), again),
            StepErrorKind::TimedOut(_) => (
                &codes::STEP_TIMED_OUT,
                self.message(),
                format!(
                    "raise `timeout-min` of the stage in the recipe, or `--timeout` if it has \
                     none, then run `{resume}`"
                ),
            ),
            StepErrorKind::NotStarted(_) => (
                &codes::STEP_NOT_STARTED,
                self.message(),
                format!("install what is missing, then run `{resume}`"),
            ),
            StepErrorKind::Outputs { .. } => (
                &codes::OUTPUT_MISSING,
                self.message(),
                format!("check in the log what it built instead, then run `{resume}`"),
            ),
            StepErrorKind::CleansOutside(_) => (
                &codes::CLEANS_OUTSIDE,
                self.message(),
                "use a path below the job's directory in `clean` of the recipe".to_owned(),
            ),
        };
        let OutputExcerpt { errors, tail } = &self.output;
        let mut diagnostic = Diagnostic::new(code, message);
        if !errors.is_empty() {
            let noun = if errors.len() == 1 {
                "error in its output is"
            } else {
                "errors in its output are"
            };
            diagnostic = diagnostic.note(format!("the first {noun}\n{}", errors.join("\n")));
        }
        diagnostic = diagnostic.note(format!("the command was {}", self.command));
        if let StepErrorKind::Outputs { found, .. } = &self.kind
            && !found.is_empty()
        {
            diagnostic = diagnostic.note(format!("it produced {}", found.join(", ")));
        }
        let most = if errors.is_empty() {
            tail.len()
        } else {
            MAX_TAIL_LINES_AFTER_ERRORS
        };
        let tail = &tail[tail.len().saturating_sub(most)..];
        if !tail.is_empty() {
            diagnostic = diagnostic.note(format!("its last lines were\n{}", tail.join("\n")));
        }
        diagnostic
            .note(format!("the complete log is in {log}"))
            .help(help)
    }

    fn message(&self) -> String {
        let stage = &self.stage;
        match &self.kind {
            StepErrorKind::Ended(how) => format!("stage `{stage}` failed: {how}"),
            StepErrorKind::TimedOut(seconds) => {
                format!("stage `{stage}` took longer than {}", span(*seconds))
            }
            StepErrorKind::NotStarted(reason) => {
                format!("stage `{stage}` cannot be started: {reason}")
            }
            StepErrorKind::Outputs { glob, found, .. } if found.is_empty() => {
                format!("stage `{stage}` produced no file for `{glob}`")
            }
            StepErrorKind::Outputs {
                glob,
                expected,
                found,
            } => {
                format!(
                    "stage `{stage}` produced {} files for `{glob}`, not {expected}",
                    found.len()
                )
            }
            StepErrorKind::CleansOutside(path) => {
                format!(
                    "stage `{stage}` would remove `{path}`, which is not below the job's directory"
                )
            }
        }
    }

    /// Returns the stage, the kind of failure, and the first compiler error or else the last line
    /// of output, which for a test contains the failure.
    fn reason(&self) -> String {
        let summary = match &self.kind {
            StepErrorKind::Ended(how) => format!("stage `{}`, {how}", self.stage),
            _ => self.message(),
        };
        let OutputExcerpt { errors, tail } = &self.output;
        let ended = matches!(self.kind, StepErrorKind::Ended(_));
        let error = errors
            .first()
            .filter(|_| ended)
            .and_then(|error| error.lines().next());
        let detail = error.or_else(|| {
            tail.iter()
                .rev()
                .map(|line| line.trim())
                .find(|line| !line.is_empty())
        });
        detail.map_or_else(
            || summary.clone(),
            |line| {
                format!(
                    "{summary}: {}",
                    line.chars().take(MAX_REASON_CHARS).collect::<String>()
                )
            },
        )
    }
}

impl StagesOutcome {
    /// Returns why the build did not succeed, in one line; `None` if it did.
    pub(super) fn reason(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Failed(fault) => Some(fault.reason()),
            Self::Capped(stage) | Self::Stopped(_, stage) => Some(format!("stage `{stage}`")),
            Self::Engine(_) | Self::File(_) => self
                .diagnostic(&MessageContext::default())
                .map(|diagnostic| diagnostic.message),
        }
    }

    /// Returns the diagnostic, unless all stages are done.
    pub fn diagnostic(&self, context: &MessageContext<'_>) -> Option<Diagnostic> {
        let MessageContext { log, resume, .. } = context;
        let resume_hint = format!("resume it with `{resume}`");
        Some(match self {
            Self::Done => return None,
            Self::Failed(fault) => fault.diagnostic(context),
            Self::Capped(stage) => Diagnostic::new(
                &codes::BUILD_CAPPED,
                format!("`--cap` stopped the build in stage `{stage}`"),
            )
            .note(format!("the complete log is in {log}"))
            .help(resume_hint),
            Self::Stopped(signal, stage) => {
                let word = if *signal == StopSignal::Interrupt {
                    "SIGINT"
                } else {
                    "SIGTERM"
                };
                Diagnostic::new(
                    &codes::BUILD_STOPPED,
                    format!("{word} stopped the build in stage `{stage}`"),
                )
                .note(format!("the complete log is in {log}"))
                .help(resume_hint)
            }
            Self::Engine(fault) => fault.diagnostic(context),
            Self::File(error) => error.link_diagnostic().unwrap_or_else(|| {
                Diagnostic::new(&codes::BUILD_FOLDER, error.to_string()).help(format!(
                    "check that the directory is writable and the disk has room, then run \
                     `{resume}`"
                ))
            }),
        })
    }
}

/// Returns the diagnostic for signal handlers that cannot be installed.
pub fn no_signals(error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(
        &codes::NO_SIGNALS,
        format!("cannot handle signals: {error}"),
    )
    .help("raise the limits of this process")
}

/// Formats a duration for messages.
fn span(seconds: u64) -> String {
    if seconds.is_multiple_of(60) {
        format!("{} min", seconds / 60)
    } else {
        format!("{seconds} s")
    }
}

impl From<&OpenDirectoryError> for Diagnostic {
    fn from(fault: &OpenDirectoryError) -> Self {
        match fault {
            OpenDirectoryError::BadId(_) => Self::new(&codes::BAD_JOB_ID, fault.to_string())
                .help("use the plan as `rock-matrix plan` writes it"),
            OpenDirectoryError::Busy(directory) => Self::new(
                &codes::JOB_BUSY,
                "another build of this job is running",
            )
            .note(format!("it holds the lock in {}", directory.display()))
            .help(
                "wait for it or stop it; to run another build at the same time, start it in \
                 another directory",
            ),
            OpenDirectoryError::File(error) => error.link_diagnostic().unwrap_or_else(|| {
                Self::new(&codes::BUILD_FOLDER, error.to_string())
                    .help("check that the directory is writable and the disk has room")
            }),
        }
    }
}

impl From<&UnknownStage> for Diagnostic {
    fn from(fault: &UnknownStage) -> Self {
        let diagnostic = Self::new(&codes::UNKNOWN_STAGE, fault.to_string())
            .note(format!("its stages are {}", fault.known.join(", ")));
        match nearest(&fault.stage, fault.known.iter().map(String::as_str)) {
            Some(near) => diagnostic.help(format!("did you mean `--resume={near}`?")),
            None => diagnostic.help("name one of them, or pass `--resume` without a stage"),
        }
    }
}

impl From<&CollectError> for Diagnostic {
    fn from(fault: &CollectError) -> Self {
        match fault {
            CollectError::Count {
                glob,
                wanted,
                found,
            } => {
                let message = format!(
                    "the build produced {} wheels for `{glob}`, not {wanted}",
                    found.len()
                );
                Self::new(&codes::OUTPUT_MISSING, message)
                    .note(if found.is_empty() {
                        "there is none".into()
                    } else {
                        format!("it produced {}", found.join(", "))
                    })
                    .help("see `collect: wheels` of the recipe and the log of the build")
            }
            CollectError::Name {
                expected,
                found,
                reason,
            } => Self::new(
                &codes::WRONG_WHEEL,
                format!("the build produced `{found}`, which is not the job's wheel"),
            )
            .note(format!("the plan expects `{expected}`: {reason}"))
            .help(help_about_name(expected, found)),
            CollectError::File(error) => error.link_diagnostic().unwrap_or_else(|| {
                Self::new(&codes::OUT_FOLDER, error.to_string()).help(
                    "choose a writable directory with `--out`; `--resume` copies the wheel without \
                     rebuilding it",
                )
            }),
        }
    }
}

/// Returns the help for a wheel with another name than planned.
fn help_about_name(expected: &str, found: &str) -> String {
    let names = expected
        .parse::<ExpectedWheel>()
        .ok()
        .zip(found.parse::<WheelName>().ok());
    match names.filter(|(expected, found)| expected.is_unexpectedly_pure(found)) {
        Some((_, found)) => format!(
            "if it contains no compiled code, declare that in the recipe: `backends: {{any: {{tag: \
             {}, collapse: [python]}}}}`, and plan again",
            found.compressed_tag()
        ),
        None => "see build.json for what the build used, and correct the matrix or the recipe"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: MessageContext<'_> = MessageContext {
        log: "x/build.log",
        resume: "rock-matrix build j --resume",
        dry_run: "rock-matrix build j --dry-run",
    };

    #[test]
    fn an_unexpected_pure_wheel_has_help_on_the_tag_in_the_recipe() {
        let help = |found: &str| {
            let expected = "own-1.0+rocm62-cp312-cp312-linux_x86_64.whl".to_owned();
            let fault = CollectError::Name {
                expected,
                found: found.to_owned(),
                reason: "it differs".to_owned(),
            };
            Diagnostic::from(&fault).help.unwrap()
        };
        let tag = "`backends: {any: {tag: py3-none-any, collapse: [python]}}`";
        assert!(
            help("own-1.0+rocm62-py3-none-any.whl").contains(tag),
            "{}",
            help("own-1.0+rocm62-py3-none-any.whl")
        );
        for other in [
            "own-1.1+rocm62-py3-none-any.whl",
            "own-1.0+rocm62-cp311-cp311-linux_x86_64.whl",
        ] {
            assert!(help(other).starts_with("see build.json"), "{}", help(other));
        }
    }

    fn fault(kind: StepErrorKind, tail: &[&str]) -> StepError {
        StepError {
            stage: "build".into(),
            command: "make 'all of it'".into(),
            kind,
            output: OutputExcerpt {
                errors: Vec::new(),
                tail: tail.iter().map(|line| (*line).to_owned()).collect(),
            },
        }
    }

    #[test]
    fn a_failed_stage_names_command_status_last_lines_log_and_what_to_do() {
        let diagnostic = fault(
            StepErrorKind::Ended("exit status 2".into()),
            &["cc: error", "stop"],
        )
        .diagnostic(&CONTEXT);
        assert_eq!(diagnostic.code.id, "B050");
        assert_eq!(diagnostic.message, "stage `build` failed: exit status 2");
        assert_eq!(
            diagnostic.notes,
            [
                "the command was make 'all of it'",
                "its last lines were\ncc: error\nstop",
                "the complete log is in x/build.log"
            ]
        );
        assert_eq!(
            diagnostic.help.as_deref(),
            Some("fix the cause, then run `rock-matrix build j --resume`")
        );
    }

    #[test]
    fn errors_of_the_compiler_come_first_and_shorten_the_last_lines() {
        let lines: Vec<String> = (1..=20).map(|number| format!("line {number}")).collect();
        let mut fault = fault(
            StepErrorKind::Ended("exit status 1".into()),
            &lines.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        fault.output.errors = vec!["a.hip:3:5: error: no `x`".into()];
        let diagnostic = fault.diagnostic(&CONTEXT);
        assert_eq!(
            diagnostic.notes[0],
            "the first error in its output is\na.hip:3:5: error: no `x`"
        );
        assert_eq!(
            diagnostic.notes[2],
            "its last lines were\nline 16\nline 17\nline 18\nline 19\nline 20"
        );
        assert_eq!(
            StagesOutcome::Failed(fault).reason().unwrap(),
            "stage `build`, exit status 1: a.hip:3:5: error: no `x`"
        );
    }

    #[test]
    fn the_reason_of_a_record_is_one_line_with_the_last_words() {
        let reason =
            |kind, tail: &[&str]| StagesOutcome::Failed(fault(kind, tail)).reason().unwrap();
        let ended = || StepErrorKind::Ended("exit status 2".into());
        assert_eq!(
            reason(ended(), &["cc: error", " stop ", ""]),
            "stage `build`, exit status 2: stop"
        );
        assert_eq!(
            reason(ended(), &[&"é".repeat(300)]).chars().count(),
            "stage `build`, exit status 2: ".len() + 200
        );
        assert_eq!(
            reason(StepErrorKind::TimedOut(120), &[]),
            "stage `build` took longer than 2 min"
        );
        assert_eq!(
            StagesOutcome::Capped("build".into()).reason().unwrap(),
            "stage `build`"
        );
        assert_eq!(StagesOutcome::Done.reason(), None);
    }

    #[test]
    fn every_trouble_has_its_code() {
        let code = |kind| fault(kind, &[]).diagnostic(&CONTEXT).code.id;
        assert_eq!(code(StepErrorKind::TimedOut(120)), "B051");
        assert_eq!(
            code(StepErrorKind::NotStarted(
                "the program `x` was not found".into()
            )),
            "B052"
        );
        assert_eq!(
            code(StepErrorKind::Outputs {
                glob: "*.whl".into(),
                expected: 1,
                found: vec![]
            }),
            "B053"
        );
        assert_eq!(code(StepErrorKind::CleansOutside("../x".into())), "B068");
        let full = fault(
            StepErrorKind::Ended("exit status 1".into()),
            &["cp: x: No space left on device"],
        );
        assert_eq!(full.diagnostic(&CONTEXT).code.id, "B067");
        assert_eq!(
            StagesOutcome::Capped("build".into())
                .diagnostic(&CONTEXT)
                .unwrap()
                .code
                .id,
            "B055"
        );
        let stopped = StagesOutcome::Stopped(StopSignal::Interrupt, "build".into())
            .diagnostic(&CONTEXT)
            .unwrap();
        assert_eq!(
            (stopped.code.id, stopped.message.as_str()),
            ("B056", "SIGINT stopped the build in stage `build`")
        );
        let file = rock_sys::FileError::new(
            "write",
            std::path::Path::new("x"),
            std::io::Error::other("no"),
        );
        assert_eq!(
            StagesOutcome::File(file)
                .diagnostic(&CONTEXT)
                .unwrap()
                .code
                .id,
            "B060"
        );
        assert_eq!(no_signals(&std::io::Error::other("no")).code.id, "B074");
        assert!(StagesOutcome::Done.diagnostic(&CONTEXT).is_none());
    }

    #[test]
    fn faults_before_the_first_stage_have_codes_and_help() {
        let busy = Diagnostic::from(&OpenDirectoryError::Busy("/x/.rock/a".into()));
        assert_eq!((busy.code.id, busy.help.is_some()), ("B057", true));
        assert_eq!(
            Diagnostic::from(&OpenDirectoryError::BadId("..".into()))
                .code
                .id,
            "B069"
        );
        let unknown = UnknownStage {
            stage: "biuld".into(),
            known: vec!["fetch".into(), "build".into()],
        };
        let diagnostic = Diagnostic::from(&unknown);
        assert_eq!(
            (diagnostic.code.id, diagnostic.help.as_deref()),
            ("B058", Some("did you mean `--resume=build`?"))
        );
    }
}

//! How steps are run: really, or from a list for tests.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rock_sys::process::{self, Control, Invocation, ProcessError, ProcessEvent, ProcessStatus};

/// Runs processes and knows how late it is. One of the two traits for effects.
pub trait StepExecutor {
    /// Runs a process to its end; see [`process::run`].
    ///
    /// # Errors
    /// When it cannot be started.
    fn run(
        &mut self,
        invocation: &Invocation,
        heed: &mut dyn FnMut(&dyn Fn() -> Duration, ProcessEvent<'_>) -> Control,
    ) -> Result<ProcessStatus, ProcessError>;

    /// Runs a short command, such as one that removes a container; gives the last line it wrote if
    /// it succeeded.
    fn ask(&mut self, argv: &[String]) -> Option<String>;

    /// Time since the runner was made.
    fn clock(&self) -> Duration;

    /// Lets a moment pass.
    fn pause(&mut self, moment: Duration);
}

/// Runs processes of this machine.
#[derive(Debug)]
pub struct ProcessRunner {
    begun: Instant,
    grace: Duration,
}

impl ProcessRunner {
    /// A runner whose clock begins here. `grace` is the time between SIGTERM and SIGKILL.
    pub fn new(grace: Duration) -> Self {
        Self {
            begun: rock_sys::monotonic_now(),
            grace,
        }
    }
}

impl StepExecutor for ProcessRunner {
    fn run(
        &mut self,
        invocation: &Invocation,
        heed: &mut dyn FnMut(&dyn Fn() -> Duration, ProcessEvent<'_>) -> Control,
    ) -> Result<ProcessStatus, ProcessError> {
        let begun = self.begun;
        process::run(invocation, self.grace, &mut |heard| {
            heed(&|| begun.elapsed(), heard)
        })
    }

    fn ask(&mut self, argv: &[String]) -> Option<String> {
        process::run_short(argv)
    }

    fn clock(&self) -> Duration {
        self.begun.elapsed()
    }

    fn pause(&mut self, moment: Duration) {
        std::thread::sleep(moment);
    }
}

/// What a recorded process does.
#[derive(Debug, Clone)]
pub struct RecordedProcess {
    /// What it writes.
    pub output: String,
    /// How it ends when it may.
    pub status: ProcessStatus,
    /// How long it takes.
    pub takes: Duration,
}

/// Runs nothing: notes what it was asked for and answers from a list. Its clock moves by what
/// processes take.
#[derive(Debug, Default)]
pub struct RecordingRunner {
    /// What the next processes do; after the last, they succeed at once.
    pub answers: VecDeque<RecordedProcess>,
    /// What was run.
    pub invocations: Vec<Invocation>,
    /// What was asked.
    pub asked: Vec<Vec<String>>,
    /// The time.
    pub now: Duration,
}

impl StepExecutor for RecordingRunner {
    fn run(
        &mut self,
        invocation: &Invocation,
        heed: &mut dyn FnMut(&dyn Fn() -> Duration, ProcessEvent<'_>) -> Control,
    ) -> Result<ProcessStatus, ProcessError> {
        self.invocations.push(invocation.clone());
        let Some(answer) = self.answers.pop_front() else {
            return Ok(ProcessStatus::Code(0));
        };
        heed(&|| self.now, ProcessEvent::Output(answer.output.as_bytes()));
        let end = self.now + answer.takes;
        while self.now < end {
            self.now += Duration::from_secs(1);
            if heed(&|| self.now, ProcessEvent::Tick) != Control::Continue {
                return Ok(ProcessStatus::Signal(15));
            }
        }
        Ok(answer.status)
    }

    fn ask(&mut self, argv: &[String]) -> Option<String> {
        self.asked.push(argv.to_owned());
        None
    }

    fn clock(&self) -> Duration {
        self.now
    }

    fn pause(&mut self, moment: Duration) {
        self.now += moment;
    }
}

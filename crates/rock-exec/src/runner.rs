//! Executors of steps: one that runs processes, and one that replays a list for tests.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rock_sys::process::{self, Control, Invocation, ProcessError, ProcessEvent, ProcessStatus};

/// Runs processes and measures elapsed time. One of the two traits for effects.
pub trait StepExecutor {
    /// Runs a process until it exits; see [`process::run`].
    ///
    /// # Errors
    /// If it cannot be started.
    fn run(
        &mut self,
        invocation: &Invocation,
        heed: &mut dyn FnMut(&dyn Fn() -> Duration, ProcessEvent<'_>) -> Control,
    ) -> Result<ProcessStatus, ProcessError>;

    /// Runs a short command, such as one that removes a container. Returns the last line of its
    /// output if it succeeded.
    fn ask(&mut self, argv: &[String]) -> Option<String>;

    /// Returns the time since the executor was created.
    fn clock(&self) -> Duration;

    /// Waits for a short time.
    fn pause(&mut self, moment: Duration);
}

/// Runs processes on this machine.
#[derive(Debug)]
pub struct ProcessRunner {
    begun: Instant,
    grace: Duration,
}

impl ProcessRunner {
    /// Returns an executor whose clock starts now. `grace` is the time between SIGTERM and SIGKILL.
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

/// The behavior of a recorded process.
#[derive(Debug, Clone)]
pub struct RecordedProcess {
    /// Its output.
    pub output: String,
    /// Its exit status, if it is not stopped.
    pub status: ProcessStatus,
    /// Its duration.
    pub takes: Duration,
}

/// Runs nothing: records each invocation and replays results from a list. Its clock advances by the
/// duration of the processes.
#[derive(Debug, Default)]
pub struct RecordingRunner {
    /// The results of the next processes; after the last one, processes succeed immediately.
    pub answers: VecDeque<RecordedProcess>,
    /// The invocations so far.
    pub invocations: Vec<Invocation>,
    /// The short commands so far.
    pub short_commands: Vec<Vec<String>>,
    /// The current time.
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
        self.short_commands.push(argv.to_owned());
        None
    }

    fn clock(&self) -> Duration {
        self.now
    }

    fn pause(&mut self, moment: Duration) {
        self.now += moment;
    }
}

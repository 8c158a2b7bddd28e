//! Child processes: no shell, standard input closed, each in its own session and process group,
//! nothing left behind.
//!
//! A new session has no controlling terminal, so a program that prompts for a password fails
//! instead of waiting forever.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// Interval at which signals, timeouts and the exit of the child are checked.
const TICK: Duration = Duration::from_millis(20);
/// Time to wait for more output after the process exited, for example from a pipeline that it
/// started.
const DRAIN: Duration = Duration::from_secs(2);
/// Time that the kernel may take to end a killed process, for example in an uninterruptible read.
const KILL_WAIT: Duration = Duration::from_secs(5);
/// Time that execve(2) may take until the environment of the program is readable.
const LOAD_WAIT: Duration = Duration::from_secs(1);
/// First wait for a process that closed its output and is about to exit.
const FIRST_SLEEP: Duration = Duration::from_micros(100);
/// Maximum size of an output chunk.
const CHUNK_BYTES: usize = 64 << 10;

/// A process to start. It inherits the environment of this program with changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Environment variables to set.
    pub set_env: BTreeMap<String, String>,
    /// Environment variables to remove.
    pub remove_env: Vec<String>,
    /// The working directory.
    pub current_dir: PathBuf,
    /// An additional environment variable that identifies descendants which left the process group.
    /// When the process is stopped, all processes with this variable are ended.
    pub mark: Option<(String, String)>,
    /// A command that stops whatever the process controls elsewhere, such as a container; run when
    /// the process is stopped. May be empty.
    pub stop_command: Vec<String>,
    /// The destination of standard error.
    pub stderr: StderrTarget,
}

/// The destination of the standard error of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StderrTarget {
    /// The same stream as standard output, in the order written.
    #[default]
    Merged,
    /// A separate stream: [`ProcessEvent::Stderr`].
    Separate,
}

/// An event of a running process.
#[derive(Debug, Clone, Copy)]
pub enum ProcessEvent<'a> {
    /// The process wrote to standard output, or to standard error if they are merged.
    Output(&'a [u8]),
    /// The process wrote to standard error, which is separate.
    Stderr(&'a [u8]),
    /// Time has passed.
    Tick,
}

/// The request of the callback to the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Let the process run.
    Continue,
    /// Send SIGTERM to the process and its descendants, and SIGKILL after the grace period.
    Terminate,
    /// Send SIGKILL to the process and its descendants.
    Kill,
}

/// The exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessStatus {
    /// It exited with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
}

impl std::fmt::Display for ProcessStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(9) => f.write_str("signal 9 (SIGKILL)"),
            Self::Signal(11) => f.write_str("signal 11 (SIGSEGV)"),
            Self::Signal(15) => f.write_str("signal 15 (SIGTERM)"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// The error for a process that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The argument vector is empty.
    #[error("there is no program to start")]
    EmptyArgv,
    /// The working directory does not exist.
    #[error("the directory `{}` does not exist", .0.display())]
    DirectoryNotFound(PathBuf),
    /// The program is not on the `PATH`, or not at its path.
    #[error("the program `{0}` was not found")]
    ProgramNotFound(String),
    /// The operating system could not start the program.
    #[error("cannot start `{program}`: {source}")]
    SpawnFailed {
        /// The program.
        program: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// Runs a process until it exits, then ends the processes left in its group.
///
/// `on_event` is called for each chunk of output, and about every 20 ms without output. Later calls
/// can raise the requested [`Control`] but not lower it. `grace` is the time between SIGTERM and
/// SIGKILL. If the process is stopped, all processes with its mark are ended as well.
///
/// # Errors
///
/// Returns an error if the process cannot be started.
pub fn run(
    invocation: &Invocation,
    grace: Duration,
    on_event: &mut dyn FnMut(ProcessEvent<'_>) -> Control,
) -> Result<ProcessStatus, ProcessError> {
    let (mut group, output) = start(invocation)?;
    let (mut output, mut control, mut terminating_since) = (Some(output), Control::Continue, None);
    let (mut exited_since, mut sleep): (Option<Instant>, _) = (None, FIRST_SLEEP);
    loop {
        let requested = poll_output(&mut output, &mut sleep, on_event);
        match (control, requested) {
            (Control::Continue, Control::Terminate) => {
                control = Control::Terminate;
                terminating_since = Some(Instant::now());
                if !invocation.stop_command.is_empty() {
                    run_short(&invocation.stop_command);
                }
                group.signal_all(Signal::TERM);
            }
            (Control::Continue | Control::Terminate, Control::Kill) => {
                control = Control::Kill;
                group.signal_all(Signal::KILL);
            }
            _ => {}
        }
        if control == Control::Terminate
            && terminating_since.is_some_and(|since| since.elapsed() >= grace)
        {
            control = Control::Kill;
            group.signal_all(Signal::KILL);
        }
        if exited_since.is_none() && group.has_exited() {
            exited_since = Some(Instant::now());
        }
        let Some(since) = exited_since else { continue };
        // The process exited. The rest of its group had time to finish its output and is ended now.
        match control {
            Control::Continue if output.is_some() && since.elapsed() < DRAIN => {}
            Control::Continue if group.members().is_empty() => break,
            Control::Continue => {
                control = Control::Terminate;
                terminating_since = Some(Instant::now());
                group.forget_mark();
                group.signal_all(Signal::TERM);
            }
            Control::Terminate if group.members().is_empty() => break,
            Control::Terminate => {}
            Control::Kill if group.members().is_empty() || since.elapsed() > grace + KILL_WAIT => {
                break;
            }
            Control::Kill => group.signal_all(Signal::KILL),
        }
    }
    let drained = Instant::now() + DRAIN;
    while let Some(Ok(chunk)) = output.as_ref().map(|output| output.recv_timeout(TICK)) {
        on_event(chunk.as_event());
        if Instant::now() >= drained {
            // A process that left the group keeps writing.
            break;
        }
    }
    Ok(group.finish())
}

/// Runs a short command in `/` and terminates it after 30 seconds. Returns the last non-empty line
/// of its output if it succeeded.
pub fn run_short(argv: &[String]) -> Option<String> {
    const TIMEOUT: Duration = Duration::from_secs(30);
    const MAX_BYTES: usize = 64 << 10;
    let begun = Instant::now();
    let invocation = Invocation {
        argv: argv.to_owned(),
        current_dir: PathBuf::from("/"),
        ..Invocation::default()
    };
    let mut output = Vec::new();
    let status = run(&invocation, Duration::from_secs(1), &mut |event| {
        if let ProcessEvent::Output(bytes) = event {
            output.extend_from_slice(
                &bytes[..bytes.len().min(MAX_BYTES - output.len().min(MAX_BYTES))],
            );
        }
        if begun.elapsed() < TIMEOUT {
            Control::Continue
        } else {
            Control::Terminate
        }
    });
    let text = String::from_utf8_lossy(&output);
    let line = text
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .map(str::to_owned);
    line.filter(|_| status.is_ok_and(|status| status == ProcessStatus::Code(0)))
}

/// Bytes that a process wrote.
enum OutputChunk {
    Output(Vec<u8>),
    Stderr(Vec<u8>),
}

impl OutputChunk {
    fn as_event(&self) -> ProcessEvent<'_> {
        match self {
            Self::Output(bytes) => ProcessEvent::Output(bytes),
            Self::Stderr(bytes) => ProcessEvent::Stderr(bytes),
        }
    }
}

/// Waits up to a tick for output and passes it on. Once the output is closed, waits for the process
/// in growing intervals, up to a tick.
fn poll_output(
    output: &mut Option<Receiver<OutputChunk>>,
    sleep: &mut Duration,
    on_event: &mut dyn FnMut(ProcessEvent<'_>) -> Control,
) -> Control {
    match output.as_ref().map(|output| output.recv_timeout(TICK)) {
        Some(Ok(chunk)) => on_event(chunk.as_event()),
        Some(Err(RecvTimeoutError::Timeout)) => on_event(ProcessEvent::Tick),
        Some(Err(RecvTimeoutError::Disconnected)) => {
            *output = None;
            on_event(ProcessEvent::Tick)
        }
        None => {
            std::thread::sleep(*sleep);
            *sleep = (*sleep * 2).min(TICK);
            on_event(ProcessEvent::Tick)
        }
    }
}

/// Starts the process and the threads that read its output.
fn start(invocation: &Invocation) -> Result<(ProcessGroup, Receiver<OutputChunk>), ProcessError> {
    let (program, arguments) = invocation
        .argv
        .split_first()
        .ok_or(ProcessError::EmptyArgv)?;
    if !invocation.current_dir.is_dir() {
        return Err(ProcessError::DirectoryNotFound(
            invocation.current_dir.clone(),
        ));
    }
    let spawn_failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => ProcessError::ProgramNotFound(program.clone()),
        _ => ProcessError::SpawnFailed {
            program: program.clone(),
            source,
        },
    };
    let (reader, writer) = std::io::pipe().map_err(spawn_failed)?;
    let (stderr_reader, stderr) = match invocation.stderr {
        StderrTarget::Merged => (None, writer.try_clone().map_err(spawn_failed)?),
        StderrTarget::Separate => {
            let (stderr_reader, stderr) = std::io::pipe().map_err(spawn_failed)?;
            (Some(stderr_reader), stderr)
        }
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&invocation.current_dir);
    for name in &invocation.remove_env {
        command.env_remove(name);
    }
    command.envs(&invocation.set_env);
    if let Some((name, value)) = &invocation.mark {
        command.env(name, value);
    }
    command.stdin(Stdio::null()).stdout(writer).stderr(stderr);
    let mut command = CommandWrap::from(command);
    // Start the readers before the program. A reader ends when its pipe is closed, that is once
    // both the command and the program are gone.
    let (sender, receiver) = sync_channel(16);
    if let Some(stderr_reader) = stderr_reader {
        let sender = sender.clone();
        std::thread::Builder::new()
            .spawn(move || copy(stderr_reader, &sender, OutputChunk::Stderr))
            .map_err(spawn_failed)?;
    }
    std::thread::Builder::new()
        .spawn(move || copy(reader, &sender, OutputChunk::Output))
        .map_err(spawn_failed)?;
    let child = command.wrap(ProcessSession).spawn().map_err(spawn_failed)?;
    // The command holds the write ends of the pipes.
    drop(command);
    let leader = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or(ProcessError::EmptyArgv)?;
    Ok((
        ProcessGroup {
            leader,
            child,
            mark: invocation.mark.clone(),
            reaped: None,
        },
        receiver,
    ))
}

/// Sends the output from a pipe in chunks until it is closed.
fn copy(
    mut reader: std::io::PipeReader,
    sender: &SyncSender<OutputChunk>,
    to_chunk: fn(Vec<u8>) -> OutputChunk,
) {
    let mut buffer = vec![0; CHUNK_BYTES];
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        if sender.send(to_chunk(buffer[..read].to_vec())).is_err() {
            break;
        }
    }
}

/// A child that leads a process group. It is reaped last, so that its process group ID is not
/// reused.
struct ProcessGroup {
    child: Box<dyn ChildWrapper>,
    leader: Pid,
    mark: Option<(String, String)>,
    reaped: Option<ExitStatus>,
}

impl ProcessGroup {
    /// Returns whether the leader exited, without reaping it.
    fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(
            rustix::process::waitid(WaitId::Pid(self.leader), options),
            Ok(None)
        )
    }

    /// Stops treating marked processes outside of the group as members.
    fn forget_mark(&mut self) {
        self.mark = None;
    }

    /// Returns the running processes that are in the group or have the mark.
    fn members(&self) -> Vec<Pid> {
        let mark = self
            .mark
            .as_ref()
            .map(|(name, value)| format!("{name}={value}"));
        find_processes(|process| {
            process.group == self.leader.as_raw_pid()
                || mark
                    .as_ref()
                    .is_some_and(|mark| has_variable(process.id, mark))
        })
    }

    fn signal_all(&self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.leader, signal);
        if self.mark.is_some() {
            send_signal(&self.members(), signal);
        }
    }

    /// Reaps the leader.
    fn finish(&mut self) -> ProcessStatus {
        let status = self.child.wait();
        self.reaped = status.as_ref().ok().copied();
        match status.map(|status| (status.code(), status.signal())) {
            Ok((Some(code), _)) => ProcessStatus::Code(code),
            Ok((None, Some(signal))) => ProcessStatus::Signal(signal),
            _ => ProcessStatus::Code(-1),
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if self.reaped.is_none() {
            self.signal_all(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Ends every process, except this one, with the environment variable `name=value`: sends SIGTERM,
/// and SIGKILL after `grace`. Returns their number.
pub fn terminate_marked(name: &str, value: &str, grace: Duration) -> usize {
    let mark = format!("{name}={value}");
    let mut left = find_processes(|process| has_variable(process.id, &mark));
    let count = left.len();
    send_signal(&left, Signal::TERM);
    let begun = Instant::now();
    while !left.is_empty() && begun.elapsed() < grace + KILL_WAIT {
        std::thread::sleep(TICK);
        left = find_processes(|process| has_variable(process.id, &mark));
        if begun.elapsed() >= grace {
            send_signal(&left, Signal::KILL);
        }
    }
    count
}

/// Sends a signal to each process. Processes that ended meanwhile are ignored.
fn send_signal(processes: &[Pid], signal: Signal) {
    for process in processes {
        let _ = rustix::process::kill_process(*process, signal);
    }
}

/// Returns whether a process exists and is not a zombie.
pub fn is_running(id: i32) -> bool {
    !find_processes(|process| process.id == id).is_empty()
}

/// A running process.
struct ProcessEntry {
    id: i32,
    group: i32,
}

/// Returns the running processes, except this one and zombies, for which `wanted` returns true.
fn find_processes(wanted: impl Fn(&ProcessEntry) -> bool) -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_pid();
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|&id| id != own)
        .filter_map(|id| {
            let fields = read_stat(id)?;
            let mut fields = fields.split_ascii_whitespace();
            let is_dead = is_dead(fields.next()?);
            let group = fields.nth(1)?.parse().ok()?;
            (!is_dead).then_some(ProcessEntry { id, group })
        })
        .filter(wanted)
        .filter_map(|process| Pid::from_raw(process.id))
        .collect()
}

/// Returns the part of `/proc/PID/stat` after the name, `state ppid pgrp …` (`proc_pid_stat(5)`). The
/// name may contain anything, even parentheses.
fn read_stat(process: i32) -> Option<String> {
    let text = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    Some(
        String::from_utf8_lossy(&text)
            .rsplit_once(')')?
            .1
            .to_owned(),
    )
}

/// Returns whether the environment of a process contains `variable` (`NAME=value`). While a program
/// is being loaded, even after execve(2) returned to its parent, the environment reads as empty; it
/// is read again then.
fn has_variable(process: i32, variable: &str) -> bool {
    let (begun, mut was_loaded) = (Instant::now(), false);
    loop {
        let Ok(environment) = std::fs::read(format!("/proc/{process}/environ")) else {
            return false;
        };
        if !environment.is_empty() {
            return environment
                .split(|&byte| byte == 0)
                .any(|item| item == variable.as_bytes());
        }
        let Some(is_loaded) = is_loaded(process) else {
            return false;
        };
        // The program may have been loaded after its environment was read.
        if (was_loaded && is_loaded) || begun.elapsed() >= LOAD_WAIT {
            return false;
        }
        was_loaded = is_loaded;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns whether the program of a process is loaded, that is, the end of its environment is
/// known. Returns `None` for processes without a program: zombies and kernel threads (`PF_KTHREAD`
/// in `linux/sched.h`).
fn is_loaded(process: i32) -> Option<bool> {
    const PF_KTHREAD: u64 = 0x0020_0000;
    // Fields 9 and 51 of `proc_pid_stat(5)`; the first one after the name is field 3.
    const FLAGS: usize = 6;
    const ENVIRONMENT_END: usize = 48;
    let text = read_stat(process)?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let has_program = !is_dead(fields.first()?) && number(FLAGS)? & PF_KTHREAD == 0;
    let environment_end = number(ENVIRONMENT_END)?;
    has_program.then_some(environment_end != 0)
}

/// Returns whether a process state is that of a process that ended (`proc_pid_stat(5)`).
fn is_dead(state: &str) -> bool {
    matches!(state, "Z" | "X" | "x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(script: &str) -> Invocation {
        Invocation {
            argv: ["bash", "-c", script].map(str::to_owned).into(),
            current_dir: std::env::temp_dir(),
            ..Invocation::default()
        }
    }

    fn output(invocation: &Invocation) -> (ProcessStatus, String) {
        let mut text = Vec::new();
        let status = run(invocation, Duration::from_secs(5), &mut |event| {
            if let ProcessEvent::Output(bytes) = event {
                text.extend_from_slice(bytes);
            }
            Control::Continue
        });
        (status.unwrap(), String::from_utf8(text).unwrap())
    }

    /// Runs until the output contains `ready`, then requests `control`.
    fn run_until_ready(
        invocation: &Invocation,
        grace: Duration,
        control: Control,
    ) -> (ProcessStatus, String) {
        let mut text = Vec::new();
        let status = run(invocation, grace, &mut |event| {
            if let ProcessEvent::Output(bytes) = event {
                text.extend_from_slice(bytes);
            }
            if text.windows(5).any(|window| window == b"ready") {
                control
            } else {
                Control::Continue
            }
        });
        (status.unwrap(), String::from_utf8(text).unwrap())
    }

    fn is_alive(id: &str) -> bool {
        is_running(id.parse().unwrap())
    }

    #[test]
    fn merged_streams_keep_their_order_and_stdin_is_closed() {
        let (status, text) = output(&bash("echo one; echo two >&2; cat; echo three; exit 7"));
        assert_eq!(
            (status, text.as_str()),
            (ProcessStatus::Code(7), "one\ntwo\nthree\n")
        );
        assert_eq!(output(&bash("kill -SEGV $$")).0, ProcessStatus::Signal(11));
    }

    #[test]
    fn stderr_can_be_separate() {
        let invocation = Invocation {
            stderr: StderrTarget::Separate,
            ..bash("echo one; echo two >&2; echo three")
        };
        let (mut output, mut stderr) = (Vec::new(), Vec::new());
        let status = run(&invocation, Duration::from_secs(5), &mut |event| {
            match event {
                ProcessEvent::Output(bytes) => output.extend_from_slice(bytes),
                ProcessEvent::Stderr(bytes) => stderr.extend_from_slice(bytes),
                ProcessEvent::Tick => {}
            }
            Control::Continue
        });
        assert_eq!(
            (status.unwrap(), output, stderr),
            (
                ProcessStatus::Code(0),
                b"one\nthree\n".into(),
                b"two\n".into()
            )
        );
    }

    #[test]
    fn a_program_has_no_controlling_terminal() {
        let (_, text) = output(&bash(
            "cut -d' ' -f6 /proc/$$/stat; echo $$; (: </dev/tty) 2>/dev/null || echo none",
        ));
        let words: Vec<&str> = text.lines().collect();
        assert_eq!(
            (words[0], words[2]),
            (words[1], "none"),
            "it leads a session of its own"
        );
    }

    #[test]
    fn variables_are_set_and_removed() {
        let mut invocation = bash("echo \"$A ${HOME-none}\"");
        invocation.set_env.insert("A".into(), "x  y".into());
        invocation.remove_env.push("HOME".into());
        assert_eq!(output(&invocation).1, "x  y none\n");
    }

    #[test]
    fn a_missing_program_is_not_a_missing_directory() {
        let missing = Invocation {
            argv: vec!["no-such-program".into()],
            ..bash("")
        };
        assert!(
            matches!(run(&missing, DRAIN, &mut |_| Control::Continue), Err(ProcessError::ProgramNotFound(name)) if name == "no-such-program")
        );
        let nowhere = Invocation {
            current_dir: "/no/such/folder".into(),
            ..bash("true")
        };
        assert!(matches!(
            run(&nowhere, DRAIN, &mut |_| Control::Continue),
            Err(ProcessError::DirectoryNotFound(_))
        ));
    }

    #[test]
    fn grandchildren_ignoring_sigterm_are_killed() {
        let script = "trap '' TERM; (trap '' TERM; echo $BASHPID; while :; do sleep 1; done) & sleep 0.1; echo ready; wait";
        let (status, text) = run_until_ready(
            &bash(script),
            Duration::from_millis(100),
            Control::Terminate,
        );
        assert_eq!(status, ProcessStatus::Signal(9));
        assert!(!is_alive(text.lines().next().unwrap()), "{text}");
    }

    #[test]
    fn grandchildren_are_killed_after_the_leader_exited() {
        let script = "(trap '' TERM; echo $BASHPID; while :; do sleep 1; done) & sleep 0.1; echo ready; wait";
        let (status, text) = run_until_ready(
            &bash(script),
            Duration::from_millis(100),
            Control::Terminate,
        );
        assert_eq!(status, ProcessStatus::Signal(15));
        assert!(!is_alive(text.lines().next().unwrap()), "{text}");
    }

    #[test]
    fn a_process_that_left_the_group_is_found_by_its_mark() {
        let mut invocation = bash(
            "setsid bash -c 'trap \"\" TERM; echo $$; echo ready; while :; do sleep 1; done' & wait",
        );
        invocation.mark = Some((
            "ROCK_TEST_MARK".into(),
            format!("left-{}", std::process::id()),
        ));
        let (_, text) =
            run_until_ready(&invocation, Duration::from_millis(100), Control::Terminate);
        assert!(!is_alive(text.lines().next().unwrap()), "{text}");
    }

    #[test]
    fn the_group_ends_with_its_leader() {
        let begun = Instant::now();
        let (status, text) = output(&bash("sleep 60 >/dev/null 2>&1 & echo $!"));
        assert_eq!(status, ProcessStatus::Code(0));
        assert!(!is_alive(text.trim()));
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn late_output_of_a_pipeline_is_read() {
        assert_eq!(output(&bash("echo late > >(sleep 0.2; cat)")).1, "late\n");
    }

    #[test]
    fn kill_does_not_wait_for_the_grace_period() {
        let begun = Instant::now();
        let script = "trap '' TERM; echo ready; while :; do sleep 1; done";
        let (status, _) = run_until_ready(&bash(script), Duration::from_mins(1), Control::Kill);
        assert_eq!(status, ProcessStatus::Signal(9));
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn marked_processes_of_an_earlier_run_are_ended() {
        let value = format!("earlier-{}", std::process::id());
        let mut child = Command::new("sleep")
            .arg("60")
            .env("ROCK_TEST_MARK", &value)
            .spawn()
            .unwrap();
        assert_eq!(
            terminate_marked("ROCK_TEST_MARK", &value, Duration::from_secs(5)),
            1
        );
        assert_eq!(child.wait().unwrap().signal(), Some(15));
        assert_eq!(
            terminate_marked("ROCK_TEST_MARK", &value, Duration::from_secs(5)),
            0
        );
    }

    #[test]
    fn a_program_being_loaded_is_found_by_its_mark() {
        let mark = format!("ROCK_TEST_MARK=loaded-{}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        for _ in 0..100 {
            let mut child = Command::new("sleep")
                .arg("60")
                .env(name, value)
                .spawn()
                .unwrap();
            let is_found = has_variable(i32::try_from(child.id()).unwrap(), &mark);
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(is_found);
        }
    }
}

//! Child processes: an argv list, no shell, stdin closed, a session and process group of their own,
//! nothing left behind.
//!
//! A session has no terminal, so a program that would ask for a password fails at once instead of
//! waiting for ever.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// How often signals, time and the child's end are looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long output is awaited after the process itself ended, for the last words of what it piped
/// into.
const DRAIN: Duration = Duration::from_secs(2);
/// How long the kernel may take to end what was killed (a process in an uninterruptible read).
const KILL_WAIT: Duration = Duration::from_secs(5);
/// How long a program may take to be loaded until its environment is there.
const LOAD_WAIT: Duration = Duration::from_secs(1);
/// How long is slept first where the output ended and the process did not yet: it is about to.
const FIRST_SLEEP: Duration = Duration::from_micros(100);
const CHUNK_BYTES: usize = 64 << 10;

/// A process to start. What it inherits is the environment of this program with these changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables set.
    pub set: BTreeMap<String, String>,
    /// Variables taken away.
    pub remove: Vec<String>,
    /// Working folder.
    pub folder: PathBuf,
    /// A variable, set beside the others, by which processes are found that left the group. Whoever
    /// carries it is ended together with the process when that is stopped.
    pub mark: Option<(String, String)>,
    /// A command that ends what the process stands for elsewhere (a container); it is run when the
    /// process is stopped.
    pub stop: Vec<String>,
    /// Where what it says on stderr is heard.
    pub stderr: StderrTarget,
}

/// Where what a process says on stderr is heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StderrTarget {
    /// Among its output, in the order written.
    #[default]
    InOutput,
    /// Apart from its output, as talk.
    Apart,
}

/// What is told while a process runs.
#[derive(Debug, Clone, Copy)]
pub enum ProcessEvent<'a> {
    /// It wrote this to stdout, or to stderr where both are one stream.
    Output(&'a [u8]),
    /// It wrote this to stderr, which is a stream of its own.
    Talk(&'a [u8]),
    /// Time went by.
    Nothing,
}

/// What is wished for in return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// It may run on.
    GoOn,
    /// It should end: SIGTERM to all of it, SIGKILL after the grace.
    End,
    /// It must end: SIGKILL to all of it.
    Kill,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessStatus {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
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

/// A process that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// No argv.
    #[error("there is no program to start")]
    Empty,
    /// The working folder is not there.
    #[error("the folder `{}` is not there", .0.display())]
    NoFolder(PathBuf),
    /// No program of that name on the `PATH`, or at that path.
    #[error("the program `{0}` is not there")]
    NoProgram(String),
    /// The system refused.
    #[error("cannot start `{program}`: {source}")]
    Refused {
        /// The program.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Runs a process to its end and ends all that it leaves in its group.
///
/// `heed` is called with every piece of output and at least fifty times a second; a later call may
/// raise the wish, never lower it. A process that was wished to end is followed by whoever carries
/// its mark.
///
/// # Errors
/// When it cannot be started.
pub fn run(
    invocation: &Invocation,
    grace: Duration,
    heed: &mut dyn FnMut(ProcessEvent<'_>) -> Control,
) -> Result<ProcessStatus, ProcessError> {
    let (mut group, output) = start(invocation)?;
    let (mut output, mut wish, mut ending_since) = (Some(output), Control::GoOn, None);
    let (mut over_since, mut sleep): (Option<Instant>, _) = (None, FIRST_SLEEP);
    loop {
        let asked = hear(&mut output, &mut sleep, heed);
        match (wish, asked) {
            (Control::GoOn, Control::End) => {
                wish = Control::End;
                ending_since = Some(Instant::now());
                if !invocation.stop.is_empty() {
                    ask(&invocation.stop);
                }
                group.signal_all(Signal::TERM);
            }
            (Control::GoOn | Control::End, Control::Kill) => {
                wish = Control::Kill;
                group.signal_all(Signal::KILL);
            }
            _ => {}
        }
        if wish == Control::End && ending_since.is_some_and(|since| since.elapsed() >= grace) {
            wish = Control::Kill;
            group.signal_all(Signal::KILL);
        }
        if over_since.is_none() && group.is_over() {
            over_since = Some(Instant::now());
        }
        let Some(since) = over_since else { continue };
        // The process ended. What it leaves in its group had time to write its last words; now it
        // goes as well.
        match wish {
            Control::GoOn if output.is_some() && since.elapsed() < DRAIN => {}
            Control::GoOn if group.members().is_empty() => break,
            Control::GoOn => {
                wish = Control::End;
                ending_since = Some(Instant::now());
                group.end_mark();
                group.signal_all(Signal::TERM);
            }
            Control::End if group.members().is_empty() => break,
            Control::End => {}
            Control::Kill if group.members().is_empty() || since.elapsed() > grace + KILL_WAIT => {
                break;
            }
            Control::Kill => group.signal_all(Signal::KILL),
        }
    }
    let drained = Instant::now() + DRAIN;
    while let Some(Ok(piece)) = output.as_ref().map(|output| output.recv_timeout(TICK)) {
        heed(piece.heard());
        if Instant::now() >= drained {
            // Something that left the group writes on and on.
            break;
        }
    }
    Ok(group.finish())
}

/// Runs a short command in the root folder, ends it after half a minute; gives the last line that
/// it wrote where it succeeded.
pub fn ask(argv: &[String]) -> Option<String> {
    const LONGEST: Duration = Duration::from_secs(30);
    const LONGEST_BYTES: usize = 64 << 10;
    let begun = Instant::now();
    let invocation = Invocation {
        argv: argv.to_owned(),
        folder: PathBuf::from("/"),
        ..Invocation::default()
    };
    let mut said = Vec::new();
    let status = run(&invocation, Duration::from_secs(1), &mut |heard| {
        if let ProcessEvent::Output(bytes) = heard {
            said.extend_from_slice(
                &bytes[..bytes
                    .len()
                    .min(LONGEST_BYTES - said.len().min(LONGEST_BYTES))],
            );
        }
        if begun.elapsed() < LONGEST {
            Control::GoOn
        } else {
            Control::End
        }
    });
    let text = String::from_utf8_lossy(&said);
    let line = text
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .map(str::to_owned);
    line.filter(|_| status.is_ok_and(|status| status == ProcessStatus::Code(0)))
}

/// A piece of what a process wrote.
enum OutputChunk {
    Output(Vec<u8>),
    Talk(Vec<u8>),
}

impl OutputChunk {
    fn heard(&self) -> ProcessEvent<'_> {
        match self {
            Self::Output(bytes) => ProcessEvent::Output(bytes),
            Self::Talk(bytes) => ProcessEvent::Talk(bytes),
        }
    }
}

/// Waits a tick for output and passes it on. Once there is no more, waits for the process ever
/// longer, up to a tick.
fn hear(
    output: &mut Option<Receiver<OutputChunk>>,
    sleep: &mut Duration,
    heed: &mut dyn FnMut(ProcessEvent<'_>) -> Control,
) -> Control {
    match output.as_ref().map(|output| output.recv_timeout(TICK)) {
        Some(Ok(piece)) => heed(piece.heard()),
        Some(Err(RecvTimeoutError::Timeout)) => heed(ProcessEvent::Nothing),
        Some(Err(RecvTimeoutError::Disconnected)) => {
            *output = None;
            heed(ProcessEvent::Nothing)
        }
        None => {
            std::thread::sleep(*sleep);
            *sleep = (*sleep * 2).min(TICK);
            heed(ProcessEvent::Nothing)
        }
    }
}

fn start(invocation: &Invocation) -> Result<(ProcessGroup, Receiver<OutputChunk>), ProcessError> {
    let (program, arguments) = invocation.argv.split_first().ok_or(ProcessError::Empty)?;
    if !invocation.folder.is_dir() {
        return Err(ProcessError::NoFolder(invocation.folder.clone()));
    }
    let refused = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => ProcessError::NoProgram(program.clone()),
        _ => ProcessError::Refused {
            program: program.clone(),
            source,
        },
    };
    let (reader, writer) = std::io::pipe().map_err(refused)?;
    let (talk, stderr) = match invocation.stderr {
        StderrTarget::InOutput => (None, writer.try_clone().map_err(refused)?),
        StderrTarget::Apart => {
            let (talk, stderr) = std::io::pipe().map_err(refused)?;
            (Some(talk), stderr)
        }
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&invocation.folder);
    for name in &invocation.remove {
        command.env_remove(name);
    }
    command.envs(&invocation.set);
    if let Some((name, value)) = &invocation.mark {
        command.env(name, value);
    }
    command.stdin(Stdio::null()).stdout(writer).stderr(stderr);
    let mut command = CommandWrap::from(command);
    // Started before the program: without them nothing reads its output. A thread ends with its
    // pipe, which closes when the command and the program are gone.
    let (sender, receiver) = sync_channel(16);
    if let Some(talk) = talk {
        let sender = sender.clone();
        std::thread::Builder::new()
            .spawn(move || copy(talk, &sender, OutputChunk::Talk))
            .map_err(refused)?;
    }
    std::thread::Builder::new()
        .spawn(move || copy(reader, &sender, OutputChunk::Output))
        .map_err(refused)?;
    let child = command.wrap(ProcessSession).spawn().map_err(refused)?;
    // The command holds the writing ends; the pipe closes only when they are gone as well.
    drop(command);
    let leader = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or(ProcessError::Empty)?;
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

fn copy(
    mut reader: std::io::PipeReader,
    sender: &SyncSender<OutputChunk>,
    piece: fn(Vec<u8>) -> OutputChunk,
) {
    let mut buffer = vec![0; CHUNK_BYTES];
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        if sender.send(piece(buffer[..read].to_vec())).is_err() {
            break;
        }
    }
}

/// A child that leads a process group. It is not waited for before the end, so that the group's
/// number stays its own.
struct ProcessGroup {
    child: Box<dyn ChildWrapper>,
    leader: Pid,
    mark: Option<(String, String)>,
    reaped: Option<ExitStatus>,
}

impl ProcessGroup {
    fn is_over(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(
            rustix::process::waitid(WaitId::Pid(self.leader), options),
            Ok(None)
        )
    }

    fn end_mark(&mut self) {
        self.mark = None;
    }

    fn members(&self) -> Vec<Pid> {
        let mark = self
            .mark
            .as_ref()
            .map(|(name, value)| format!("{name}={value}"));
        processes(|process| {
            process.group == self.leader.as_raw_pid()
                || mark
                    .as_ref()
                    .is_some_and(|mark| has_variable(process.id, mark))
        })
    }

    fn signal_all(&self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.leader, signal);
        if self.mark.is_some() {
            for process in self.members() {
                let _ = rustix::process::kill_process(process, signal);
            }
        }
    }

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

/// Ends every process, other than this one, whose environment says `name=value`; tells how many
/// there were.
pub fn end_marked(name: &str, value: &str, grace: Duration) -> usize {
    let mark = format!("{name}={value}");
    let marked = || processes(|process| has_variable(process.id, &mark));
    let signal = |processes: &[Pid], signal| {
        for process in processes {
            let _ = rustix::process::kill_process(*process, signal);
        }
    };
    let mut left = marked();
    let count = left.len();
    signal(&left, Signal::TERM);
    let begun = Instant::now();
    while !left.is_empty() && begun.elapsed() < grace + KILL_WAIT {
        std::thread::sleep(TICK);
        left = marked();
        if begun.elapsed() >= grace {
            signal(&left, Signal::KILL);
        }
    }
    count
}

/// Whether a process lives: it is there and is no zombie.
pub fn is_running(id: i32) -> bool {
    !processes(|process| process.id == id).is_empty()
}

struct ProcessEntry {
    id: i32,
    group: i32,
}

/// Living processes, other than this one, for which `wanted` holds. Zombies are dead already.
fn processes(wanted: impl Fn(&ProcessEntry) -> bool) -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_pid();
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|&id| id != own)
        .filter_map(|id| {
            let fields = stat(id)?;
            let mut fields = fields.split_ascii_whitespace();
            let is_dead = is_dead(fields.next()?);
            let group = fields.nth(1)?.parse().ok()?;
            (!is_dead).then_some(ProcessEntry { id, group })
        })
        .filter(wanted)
        .filter_map(|process| Pid::from_raw(process.id))
        .collect()
}

/// What is told of a process behind its name, `state ppid pgrp …` (`proc_pid_stat(5)`); the name
/// may hold anything, brackets too.
fn stat(process: i32) -> Option<String> {
    let text = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    Some(
        String::from_utf8_lossy(&text)
            .rsplit_once(')')?
            .1
            .to_owned(),
    )
}

/// Whether the environment of a process has this item. While a program is loaded it reads as empty,
/// also after the call that started it came back; then it is read again.
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
        // It may have been loaded after its environment was read.
        if (was_loaded && is_loaded) || begun.elapsed() >= LOAD_WAIT {
            return false;
        }
        was_loaded = is_loaded;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether the program of a process is there, so that something says where its environment ends.
/// `None` for what has no program: dead processes, and threads of the kernel (`PF_KTHREAD`,
/// `linux/sched.h`).
fn is_loaded(process: i32) -> Option<bool> {
    const OF_KERNEL: u64 = 0x0020_0000;
    // Fields 9 and 51 of proc_pid_stat(5); the first behind the name is 3.
    const FLAGS: usize = 6;
    const ENVIRONMENT_END: usize = 48;
    let text = stat(process)?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let has_program = !is_dead(fields.first()?) && number(FLAGS)? & OF_KERNEL == 0;
    let environment_end = number(ENVIRONMENT_END)?;
    has_program.then_some(environment_end != 0)
}

/// Whether a state is that of a process that ended (`proc_pid_stat(5)`).
fn is_dead(state: &str) -> bool {
    matches!(state, "Z" | "X" | "x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(script: &str) -> Invocation {
        Invocation {
            argv: ["bash", "-c", script].map(str::to_owned).into(),
            folder: std::env::temp_dir(),
            ..Invocation::default()
        }
    }

    fn output(invocation: &Invocation) -> (ProcessStatus, String) {
        let mut text = Vec::new();
        let status = run(invocation, Duration::from_secs(5), &mut |heard| {
            if let ProcessEvent::Output(bytes) = heard {
                text.extend_from_slice(bytes);
            }
            Control::GoOn
        });
        (status.unwrap(), String::from_utf8(text).unwrap())
    }

    /// Runs until the output holds `ready`, then wishes for an end.
    fn ended_when_ready(
        invocation: &Invocation,
        grace: Duration,
        wish: Control,
    ) -> (ProcessStatus, String) {
        let mut text = Vec::new();
        let status = run(invocation, grace, &mut |heard| {
            if let ProcessEvent::Output(bytes) = heard {
                text.extend_from_slice(bytes);
            }
            if text.windows(5).any(|window| window == b"ready") {
                wish
            } else {
                Control::GoOn
            }
        });
        (status.unwrap(), String::from_utf8(text).unwrap())
    }

    fn lives(id: &str) -> bool {
        is_running(id.parse().unwrap())
    }

    #[test]
    fn both_streams_come_in_the_order_written_and_stdin_is_closed() {
        let (status, text) = output(&bash("echo one; echo two >&2; cat; echo three; exit 7"));
        assert_eq!(
            (status, text.as_str()),
            (ProcessStatus::Code(7), "one\ntwo\nthree\n")
        );
        assert_eq!(output(&bash("kill -SEGV $$")).0, ProcessStatus::Signal(11));
    }

    #[test]
    fn stderr_can_be_heard_apart() {
        let invocation = Invocation {
            stderr: StderrTarget::Apart,
            ..bash("echo one; echo two >&2; echo three")
        };
        let (mut output, mut talk) = (Vec::new(), Vec::new());
        let status = run(&invocation, Duration::from_secs(5), &mut |heard| {
            match heard {
                ProcessEvent::Output(bytes) => output.extend_from_slice(bytes),
                ProcessEvent::Talk(bytes) => talk.extend_from_slice(bytes),
                ProcessEvent::Nothing => {}
            }
            Control::GoOn
        });
        assert_eq!(
            (status.unwrap(), output, talk),
            (
                ProcessStatus::Code(0),
                b"one\nthree\n".into(),
                b"two\n".into()
            )
        );
    }

    #[test]
    fn a_program_has_no_terminal_to_ask_at() {
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
    fn variables_are_set_and_taken_away() {
        let mut invocation = bash("echo \"$A ${HOME-none}\"");
        invocation.set.insert("A".into(), "x  y".into());
        invocation.remove.push("HOME".into());
        assert_eq!(output(&invocation).1, "x  y none\n");
    }

    #[test]
    fn a_missing_program_and_a_missing_folder_are_told_apart() {
        let missing = Invocation {
            argv: vec!["no-such-program".into()],
            ..bash("")
        };
        assert!(
            matches!(run(&missing, DRAIN, &mut |_| Control::GoOn), Err(ProcessError::NoProgram(name)) if name == "no-such-program")
        );
        let nowhere = Invocation {
            folder: "/no/such/folder".into(),
            ..bash("true")
        };
        assert!(matches!(
            run(&nowhere, DRAIN, &mut |_| Control::GoOn),
            Err(ProcessError::NoFolder(_))
        ));
    }

    #[test]
    fn grandchildren_that_ignore_sigterm_are_killed_after_the_grace() {
        let script = "trap '' TERM; (trap '' TERM; echo $BASHPID; while :; do sleep 1; done) & sleep 0.1; echo ready; wait";
        let (status, text) =
            ended_when_ready(&bash(script), Duration::from_millis(100), Control::End);
        assert_eq!(status, ProcessStatus::Signal(9));
        assert!(!lives(text.lines().next().unwrap()), "{text}");
    }

    #[test]
    fn a_leader_that_obeys_does_not_save_a_grandchild_that_does_not() {
        let script = "(trap '' TERM; echo $BASHPID; while :; do sleep 1; done) & sleep 0.1; echo ready; wait";
        let (status, text) =
            ended_when_ready(&bash(script), Duration::from_millis(100), Control::End);
        assert_eq!(status, ProcessStatus::Signal(15));
        assert!(!lives(text.lines().next().unwrap()), "{text}");
    }

    #[test]
    fn a_grandchild_that_left_the_group_is_found_by_its_mark() {
        let mut invocation = bash(
            "setsid bash -c 'trap \"\" TERM; echo $$; echo ready; while :; do sleep 1; done' & wait",
        );
        invocation.mark = Some((
            "ROCK_TEST_MARK".into(),
            format!("left-{}", std::process::id()),
        ));
        let (_, text) = ended_when_ready(&invocation, Duration::from_millis(100), Control::End);
        assert!(!lives(text.lines().next().unwrap()), "{text}");
    }

    #[test]
    fn what_is_left_in_the_group_ends_with_its_leader() {
        let begun = Instant::now();
        let (status, text) = output(&bash("sleep 60 >/dev/null 2>&1 & echo $!"));
        assert_eq!(status, ProcessStatus::Code(0));
        assert!(!lives(text.trim()));
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn the_last_words_of_a_pipe_are_heard_after_the_leader_ended() {
        assert_eq!(output(&bash("echo late > >(sleep 0.2; cat)")).1, "late\n");
    }

    #[test]
    fn a_wish_to_kill_waits_for_no_grace() {
        let begun = Instant::now();
        let script = "trap '' TERM; echo ready; while :; do sleep 1; done";
        let (status, _) = ended_when_ready(&bash(script), Duration::from_mins(1), Control::Kill);
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
            end_marked("ROCK_TEST_MARK", &value, Duration::from_secs(5)),
            1
        );
        assert_eq!(child.wait().unwrap().signal(), Some(15));
        assert_eq!(
            end_marked("ROCK_TEST_MARK", &value, Duration::from_secs(5)),
            0
        );
    }

    #[test]
    fn a_program_that_is_being_loaded_is_found_by_its_mark() {
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

//! Where a command reads its surroundings and talks: data to stdout, talk to stderr.

use std::io::Write;
use std::sync::Mutex;

use super::exit::Exit;
use crate::codes::host::CANNOT_WRITE_FILE;
use crate::diagnostic::render::GithubAnnotations;
use crate::diagnostic::{Diagnostic, render};
use crate::sys::Environment;

/// How much is said on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Diagnostics only.
    Quiet,
    /// What was done.
    Normal,
    /// Why, and each command that is run.
    Verbose,
}

/// How data and diagnostics are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// For programs.
    Json,
}

/// Folders that replace or precede what is shipped.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// Facts instead of the shipped ones.
    pub compat: Option<std::path::PathBuf>,
    /// Recipes before the shipped ones.
    pub recipes: Option<std::path::PathBuf>,
}

/// The streams and options that every command has.
#[derive(Debug)]
pub struct Shell {
    /// The command line of this run; the first word is the program.
    pub arguments: Vec<std::ffi::OsString>,
    /// The environment at start.
    pub environment: Environment,
    /// How much is said.
    pub verbosity: Verbosity,
    /// How diagnostics, and all else that is said, are written on stderr.
    pub diagnostics: Format,
    /// Whether stderr gets colours.
    pub color: bool,
    /// Whether diagnostics become annotations as well.
    pub annotations: bool,
    /// The annotations so far.
    pub annotated: Mutex<GithubAnnotations>,
    /// Where facts and recipes are looked for.
    pub folders: Folders,
}

/// Says lines on stderr, as text or as JSON.
#[derive(Debug, Clone, Copy)]
pub struct Voice(Format);

impl Voice {
    /// Says a line, or several that belong together, without passwords and without what would steer
    /// a terminal.
    pub fn tell(self, line: &str) {
        let line = render::redact_urls(line);
        let text = match self.0 {
            Format::Human => format!("{}\n", render::printable(&line)),
            Format::Json => render::printable(&render::json_info(&line)).into_owned(),
        };
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

impl Shell {
    /// Writes data to stdout, without what would steer a terminal or the runner of a workflow. A
    /// closed pipe is the end of the wish for data, not a fault.
    pub fn print(&self, text: &str) -> Exit {
        self.print_data(&render::printable(text))
    }

    /// Writes a script or a document to stdout as it is: it escapes what it quotes by the rules of
    /// its own language.
    pub fn print_data(&self, text: &str) -> Exit {
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Exit::Done,
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done,
            Err(error) => self.no_stdout(&error),
        }
    }

    /// Says that stdout takes nothing, such as a full disk behind it.
    pub fn no_stdout(&self, error: &std::io::Error) -> Exit {
        self.report(&[stdout_fault(error)]);
        Exit::Machine
    }

    /// Says a line on stderr unless quiet.
    pub fn say(&self, line: &str) {
        if self.verbosity >= Verbosity::Normal {
            self.tell(line);
        }
    }

    /// Says a line on stderr when verbose.
    pub fn detail(&self, line: &str) {
        if self.verbosity >= Verbosity::Verbose {
            self.tell(line);
        }
    }

    /// Says a line on stderr in any case.
    pub fn tell(&self, line: &str) {
        self.voice().tell(line);
    }

    /// Says a line that a program wrote, where no line is a command for the runner of a workflow.
    pub fn tell_output(&self, line: &str) {
        match self.diagnostics {
            Format::Json => self.tell(line),
            Format::Human => {
                let text = render::without_controls(&render::redact_urls(line)) + "\n";
                let _ = std::io::stderr().lock().write_all(text.as_bytes());
            }
        }
    }

    /// Writes commands for the runner of a workflow to stderr, which makes them of no other text.
    pub(super) fn command(text: &str) {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    /// What says lines where the shell itself cannot be lent.
    pub fn voice(&self) -> Voice {
        Voice(self.diagnostics)
    }

    /// Whether a person watches stderr, so that a line may move there.
    pub fn is_watched(&self) -> bool {
        self.environment.stderr_is_terminal
            && self.verbosity == Verbosity::Normal
            && self.diagnostics == Format::Human
    }

    /// Shows diagnostics; the exit is [`Exit::Fault`] when one of them is an error.
    pub fn report(&self, diagnostics: &[Diagnostic]) -> Exit {
        let text = match self.diagnostics {
            Format::Human => render::human(diagnostics, self.color),
            Format::Json => render::json(diagnostics),
        };
        let _ = std::io::stderr()
            .lock()
            .write_all(self.inert(text).as_bytes());
        self.annotate(diagnostics);
        if diagnostics.iter().any(Diagnostic::is_error) {
            Exit::Fault
        } else {
            Exit::Done
        }
    }
}

/// Stdout that takes nothing.
pub(super) fn stdout_fault(error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(
        &CANNOT_WRITE_FILE,
        format!("cannot write to stdout: {error}"),
    )
    .help("see where the output goes")
}

//! The streams and settings of a command: data goes to stdout, messages go to stderr.

use std::borrow::Cow;
use std::io::Write;
use std::sync::{Mutex, OnceLock};

use super::exit::Exit;
use super::project_file::ProjectFile;
use crate::codes::host::CANNOT_WRITE_FILE;
use crate::compat::Compat;
use crate::diagnostic::render::GithubAnnotations;
use crate::diagnostic::{Diagnostic, Severity, render};
use crate::plan::workspace::DataDirectories;
use crate::sys::Environment;

/// The verbosity of messages on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Only errors and warnings.
    Quiet,
    /// Also results.
    Normal,
    /// Also reasons, and each command that is run.
    Verbose,
}

/// Format of data and diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// For programs.
    Json,
}

/// When stderr is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal and in GitHub Actions, unless `NO_COLOR` is set; or if `CLICOLOR_FORCE` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Streams, environment and global options of a command.
#[derive(Debug)]
pub struct Shell {
    /// The command line of this run; the first word is the program.
    pub arguments: Vec<std::ffi::OsString>,
    /// The environment at start.
    pub environment: Environment,
    /// The verbosity of messages.
    pub verbosity: Verbosity,
    /// Format of diagnostics and other messages on stderr.
    pub message_format: Format,
    /// Whether stderr gets colours.
    pub color: bool,
    /// Whether diagnostics are also written as annotations.
    pub annotations: bool,
    /// The annotations so far.
    pub annotated: Mutex<GithubAnnotations>,
    /// Directories of compatibility tables and recipes.
    pub directories: DataDirectories,
    /// The compatibility data, once a command has loaded it.
    pub compat: OnceLock<&'static Compat>,
    /// Defaults of the project file.
    pub project_file: ProjectFile,
}

/// Writes messages to stderr, as text or as JSON.
#[derive(Debug, Clone, Copy)]
pub struct Voice(Format);

impl Voice {
    /// Writes one message of one or more lines, without passwords and control characters.
    pub fn tell(self, line: &str) {
        let line = render::redact_urls(line);
        let text = match self.0 {
            Format::Human => format!("{}\n", render::sanitize_output(&line)),
            Format::Json => render::sanitize_output(&render::json_info(&line)).into_owned(),
        };
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

impl Shell {
    /// Writes data to stdout, without control characters and workflow commands. A closed pipe is not
    /// an error.
    pub fn print(&self, text: &str) -> Exit {
        self.print_data(&render::sanitize_output(text))
    }

    /// Writes a script or document to stdout unchanged: it escapes quoted text by the rules of its own
    /// language.
    pub fn print_data(&self, text: &str) -> Exit {
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Exit::Done,
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done,
            Err(error) => self.no_stdout(&error),
        }
    }

    /// Reports that stdout cannot be written, for example because a disk is full.
    pub fn no_stdout(&self, error: &std::io::Error) -> Exit {
        self.report(&[stdout_fault(error)]);
        Exit::Machine
    }

    /// Writes a message to stderr unless quiet.
    pub fn say(&self, line: &str) {
        if self.verbosity >= Verbosity::Normal {
            self.tell(line);
        }
    }

    /// Writes a message to stderr when verbose.
    pub fn detail(&self, line: &str) {
        if self.verbosity >= Verbosity::Verbose {
            self.tell(line);
        }
    }

    /// Writes a message to stderr at every verbosity.
    pub fn tell(&self, line: &str) {
        self.voice().tell(line);
    }

    /// Writes a line of a program's output to stderr, with workflow commands disabled.
    pub fn tell_output(&self, line: &str) {
        match self.message_format {
            Format::Json => self.tell(line),
            Format::Human => {
                let line = render::redact_urls(line);
                let text = render::escape_controls_keep_whitespace(&line) + "\n";
                let _ = std::io::stderr().lock().write_all(text.as_bytes());
            }
        }
    }

    /// Writes workflow commands to stderr; all other text is written with these disabled.
    pub(super) fn command(text: &str) {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    /// Returns a writer of messages for code that cannot borrow the shell.
    pub fn voice(&self) -> Voice {
        Voice(self.message_format)
    }

    /// Whether stderr is a terminal that can show progress.
    pub fn is_watched(&self) -> bool {
        self.environment.stderr_is_terminal
            && self.verbosity == Verbosity::Normal
            && self.message_format == Format::Human
    }

    /// Reports diagnostics, without notes if quiet; returns [`Exit::Fault`] if one of them is an
    /// error.
    pub fn report(&self, diagnostics: &[Diagnostic]) -> Exit {
        let is_shown = |diagnostic: &&Diagnostic| {
            self.verbosity > Verbosity::Quiet || diagnostic.severity != Severity::Note
        };
        let shown: Cow<'_, [Diagnostic]> = if diagnostics.iter().all(|one| is_shown(&one)) {
            Cow::Borrowed(diagnostics)
        } else {
            diagnostics.iter().filter(is_shown).cloned().collect()
        };
        let diagnostics = &*shown;
        let text = match self.message_format {
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

/// Returns the diagnostic for an error while writing to stdout.
pub(super) fn stdout_fault(error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(
        &CANNOT_WRITE_FILE,
        format!("cannot write to stdout: {error}"),
    )
    .help("see where the output goes")
}

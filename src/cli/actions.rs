//! Output for a step of GitHub Actions: outputs and summaries in files, commands in the log.
//!
//! Commands go to stderr, because stdout is data that may be redirected to a file; the runner reads
//! both streams alike (actions/runner, `StepHost.cs` and `OutputManager.cs`).

use std::io::Write as _;
use std::path::Path;
use std::sync::PoisonError;

use super::{Exit, Shell};
use crate::diagnostic::{Diagnostic, Severity};
use crate::render::actions::{self, ActionOutput};
use crate::sys::{self, FileError};

/// The environment variables for the token.
pub(super) const TOKENS: [&str; 2] = ["GITHUB_TOKEN", "GH_TOKEN"];

impl Shell {
    /// Whether this runs in a step of GitHub Actions.
    pub fn is_in_actions(&self) -> bool {
        self.environment.get("GITHUB_ACTIONS") == Some("true")
    }

    /// Writes outputs for later steps; to stdout outside a step.
    ///
    /// # Errors
    /// The exit of the command; the reason was reported.
    pub fn write_outputs(&self, outputs: &[ActionOutput]) -> Result<(), Exit> {
        if outputs.is_empty() {
            return Ok(());
        }
        let text = actions::outputs(outputs).map_err(|error| self.report(&[error.into()]))?;
        if text.is_empty() {
            return Ok(());
        }
        let Some(path) = self.environment.get("GITHUB_OUTPUT") else {
            self.say("GITHUB_OUTPUT is not set; the outputs follow on stdout");
            return match self.print(&text) {
                Exit::Done => Ok(()),
                exit => Err(exit),
            };
        };
        sys::append(Path::new(path), text.as_bytes()).map_err(|error| {
            self.report(&[error.into()]);
            Exit::Machine
        })
    }

    /// Appends to the summary of the step, if there is one; `text` gets the remaining bytes.
    ///
    /// # Errors
    /// The summary cannot be written.
    pub fn summarise(&self, text: impl FnOnce(usize) -> String) -> Result<(), FileError> {
        let Some(path) = self.environment.get("GITHUB_STEP_SUMMARY").map(Path::new) else {
            return Ok(());
        };
        let room = actions::SUMMARY_BYTES.saturating_sub(sys::size_bytes(path));
        let text = text(usize::try_from(room).unwrap_or(0));
        if text.is_empty() {
            Ok(())
        } else {
            sys::append(path, text.as_bytes())
        }
    }

    /// Appends to the summary; warns if it cannot be written.
    pub fn summarise_if_it_can_be(&self, text: impl FnOnce(usize) -> String) {
        if let Err(error) = self.summarise(text) {
            self.report(&[Diagnostic::from(error).severity(Severity::Warning)]);
        }
    }

    /// Makes the runner mask a secret, unless stderr is redirected to a file.
    pub fn mask(&self, secret: &str) {
        if self.is_in_actions() && !self.environment.stderr_is_file {
            let _ = std::io::stderr()
                .lock()
                .write_all(actions::mask(secret).as_bytes());
        }
    }

    /// Writes diagnostics as annotations, and as a list in the summary if there are too many for
    /// annotations.
    pub(super) fn annotate(&self, diagnostics: &[Diagnostic]) {
        if !self.annotations {
            return;
        }
        let mut step = self
            .annotated
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let commands = step.commands(diagnostics, |path| self.known_path(path));
        let list = step.take_unlisted();
        drop(step);
        let _ = std::io::stderr().lock().write_all(commands.as_bytes());
        if !list.is_empty() {
            // The diagnostics were reported on stderr in any case.
            let _ = self.summarise(|room| actions::faults(&list, room));
        }
    }

    /// Returns the path of a file relative to the root of the repository, whatever the working
    /// directory of the step; `None` if it is not a readable file.
    fn known_path(&self, path: &str) -> Option<String> {
        let file = Path::new(path);
        if !sys::is_file(file) || sys::open_file(file).is_err() {
            return None;
        }
        let below = |root: &str| {
            let absolute = std::path::absolute(file).ok()?;
            // A symbolic link itself is in the repository, wherever it points.
            let real = sys::real_path(absolute.parent()?).join(absolute.file_name()?);
            Some(
                real.strip_prefix(sys::real_path(Path::new(root)))
                    .ok()?
                    .to_str()?
                    .to_owned(),
            )
        };
        let inside = self.environment.get("GITHUB_WORKSPACE").and_then(below);
        Some(inside.unwrap_or_else(|| path.trim_start_matches("./").to_owned()))
    }

    /// Disables workflow commands in text that may quote other sources.
    pub(super) fn inert(&self, text: String) -> String {
        if !self.is_in_actions() || !actions::begins_command(&text) {
            return text;
        }
        let (begin, end) = actions::stopped(&sys::random_name());
        let gap = if text.ends_with('\n') { "" } else { "\n" };
        format!("{begin}{text}{gap}{end}")
    }
}

//! Progress of a checkout.

use std::time::Instant;

use super::{Heartbeat, StatusLine, shorten};
use crate::checkout::CheckoutEvent;
use crate::cli::shell::{Shell, Verbosity};

/// Shows a status line at a terminal; elsewhere a line for each step, and heartbeats during long
/// ones.
pub(in crate::cli) struct CheckoutReporter<'a> {
    shell: &'a Shell,
    status: StatusLine,
    title: String,
    last_line: String,
    begun: Instant,
    heartbeat: Heartbeat,
}

impl<'a> CheckoutReporter<'a> {
    /// Returns a reporter for the stderr of a shell.
    pub(in crate::cli) fn new(shell: &'a Shell) -> Self {
        let begun = Instant::now();
        Self {
            shell,
            status: StatusLine::new(shell),
            title: String::new(),
            last_line: String::new(),
            begun,
            heartbeat: Heartbeat::new(begun.elapsed()),
        }
    }

    /// Shows an event.
    pub(in crate::cli) fn report(&mut self, event: CheckoutEvent<'_>) {
        match event {
            CheckoutEvent::Step { number, of, title } => {
                self.title = format!("[{number}/{of}] {title}");
                self.last_line.clear();
                self.heartbeat = Heartbeat::new(self.begun.elapsed());
                self.draw();
                if !self.status.is_shown() {
                    self.shell.say(&self.title);
                }
            }
            CheckoutEvent::Command(repository, argv) => {
                let place = if repository.is_empty() {
                    String::new()
                } else {
                    format!("{repository}: ")
                };
                self.shell
                    .detail(&format!("    {place}{}", crate::render::command(argv)));
            }
            CheckoutEvent::Line(line) => {
                if self.shell.verbosity == Verbosity::Verbose {
                    self.shell.tell(&format!("    {line}"));
                }
                line.clone_into(&mut self.last_line);
                self.draw();
            }
            CheckoutEvent::Diagnostic(diagnostic) => {
                // A warning does not change the exit code.
                let _ = self
                    .status
                    .write_above(|| self.shell.report(std::slice::from_ref(diagnostic)));
            }
            CheckoutEvent::Tick => self.tick(),
        }
    }

    fn draw(&self) {
        self.status
            .draw(|| format!("{}  {}", self.title, shorten(&self.last_line)));
    }

    fn tick(&mut self) {
        self.draw();
        if !self.status.is_shown()
            && self.heartbeat.is_due(self.begun.elapsed())
            && self.shell.verbosity == Verbosity::Normal
        {
            self.shell
                .say(format!("{} {}", self.title, shorten(&self.last_line)).trim_end());
        }
    }

    /// Removes the status line.
    pub(in crate::cli) fn finish(&mut self) {
        self.status.finish();
    }
}

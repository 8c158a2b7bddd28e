//! Progress of a checkout: a line that is updated on a terminal; elsewhere a line for each step,
//! and heartbeats during long ones.

use std::time::Instant;

use crate::checkout::CheckoutEvent;
use crate::cli::moving_line::{HEARTBEAT, MovingLine, cut};
use crate::cli::shell::{Shell, Verbosity};

/// Reports the progress of a checkout.
pub(super) struct Progress<'a> {
    shell: &'a Shell,
    moving: MovingLine,
    title: String,
    last_line: String,
    last_beat: Instant,
}

impl<'a> Progress<'a> {
    /// Returns a reporter for the stderr of `shell`.
    pub(super) fn new(shell: &'a Shell) -> Self {
        let moving = MovingLine::new(shell);
        Self {
            shell,
            moving,
            title: String::new(),
            last_line: String::new(),
            last_beat: Instant::now(),
        }
    }

    /// Reports an event.
    pub(super) fn tell(&mut self, event: CheckoutEvent<'_>) {
        match event {
            CheckoutEvent::Step { number, of, title } => {
                self.title = format!("[{number}/{of}] {title}");
                self.last_line.clear();
                self.last_beat = Instant::now();
                self.draw();
                if !self.moving.is_shown() {
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
            CheckoutEvent::Told(diagnostic) => {
                // A warning does not change the exit code.
                let _ = self
                    .moving
                    .above(|| self.shell.report(std::slice::from_ref(diagnostic)));
            }
            CheckoutEvent::Tick => self.tick(),
        }
    }

    fn draw(&self) {
        self.moving
            .draw(|| format!("{}  {}", self.title, cut(&self.last_line)));
    }

    fn tick(&mut self) {
        self.draw();
        if !self.moving.is_shown() && self.last_beat.elapsed() >= HEARTBEAT {
            self.last_beat = Instant::now();
            if self.shell.verbosity == Verbosity::Normal {
                self.shell
                    .say(format!("{} {}", self.title, cut(&self.last_line)).trim_end());
            }
        }
    }

    /// Clears the updated line.
    pub(super) fn finish(&mut self) {
        self.moving.finish();
    }
}

//! How far a checkout is: one moving line on a terminal, else a line a step and a sign of life between.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::checkout::Event;
use crate::cli::shell::{Shell, Verbosity};

/// How often a long step is said to live where there is no terminal.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How much of what git says stands on the moving line.
const LINE_CHARS: usize = 60;

/// Tells a person how far a checkout is.
pub(super) struct Progress<'a> {
    shell: &'a Shell,
    bar: Option<ProgressBar>,
    title: String,
    last_line: String,
    last_beat: Instant,
}

impl<'a> Progress<'a> {
    /// Progress for the terminal or the log that `shell` talks to.
    pub(super) fn new(shell: &'a Shell) -> Self {
        let bar = shell.is_watched().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
            bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is sound"));
            bar
        });
        Self { shell, bar, title: String::new(), last_line: String::new(), last_beat: Instant::now() }
    }

    /// Takes one event.
    pub(super) fn tell(&mut self, event: Event<'_>) {
        match event {
            Event::Step { number, of, title } => {
                self.title = format!("[{number}/{of}] {title}");
                self.last_line.clear();
                self.last_beat = Instant::now();
                match &self.bar {
                    Some(_) => self.draw(),
                    None => self.shell.say(&self.title),
                }
            }
            Event::Command(repository, argv) => {
                let place = if repository.is_empty() { String::new() } else { format!("{repository}: ") };
                self.shell.detail(&format!("    {place}{}", crate::render::command(argv)));
            }
            Event::Line(line) => {
                if self.shell.verbosity == Verbosity::Verbose {
                    self.shell.tell(&format!("    {line}"));
                }
                line.clone_into(&mut self.last_line);
                self.draw();
            }
            Event::Told(diagnostic) => {
                let report = || self.shell.report(std::slice::from_ref(diagnostic));
                // A warning does not decide how the command ends.
                let _ = self.bar.as_ref().map_or_else(report, |bar| bar.suspend(report));
            }
            Event::Tick => self.tick(),
        }
    }

    fn draw(&self) {
        if let Some(bar) = &self.bar {
            let line: String = self.last_line.chars().take(LINE_CHARS).collect();
            bar.set_message(format!("{}  {line}", self.title));
            bar.tick();
        }
    }

    fn tick(&mut self) {
        self.draw();
        if self.bar.is_none() && self.last_beat.elapsed() >= HEARTBEAT {
            self.last_beat = Instant::now();
            if self.shell.verbosity == Verbosity::Normal {
                let line: String = self.last_line.chars().take(LINE_CHARS).collect();
                self.shell.say(format!("{} {line}", self.title).trim_end());
            }
        }
    }

    /// Takes the moving line away.
    pub(super) fn finish(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

//! Progress of uploads: a bar on a terminal, a line from time to time in a log.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::{Shell, Verbosity};
use crate::github::{Clock, SystemClock};
use crate::publish::remote::{DesiredRelease, PublishStep};
use crate::publish::{AssetState, ListedRelease};

/// Smaller uploads show no progress bar, because they take only seconds.
const SHOWN_FROM_BYTES: u64 = 64 << 20;
/// Time between two lines in a log.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// Progress of the uploads of a run.
pub(super) struct Sending {
    total_bytes: u64,
    view: View,
    state: Mutex<State>,
    clock: Box<dyn Clock>,
    begun: Duration,
}

enum View {
    /// A progress bar on a terminal.
    Bar(ProgressBar),
    /// Lines in a log.
    Lines(Box<dyn Fn(&str) + Send + Sync>),
    /// No progress is shown.
    Nothing,
}

#[derive(Default)]
struct State {
    by_file: BTreeMap<String, u64>,
    sent_bytes: u64,
    told: Duration,
}

impl Sending {
    /// Creates the progress of the goal's files that are not uploaded yet.
    pub(super) fn of(goal: &DesiredRelease, listed: &[ListedRelease], shell: &Shell) -> Self {
        let there: BTreeMap<&str, u64> = listed
            .iter()
            .flat_map(|release| &release.assets)
            .filter(|asset| asset.state == AssetState::Uploaded)
            .map(|asset| (asset.name.as_str(), asset.size))
            .collect();
        let lacking = goal
            .assets
            .iter()
            .filter(|file| there.get(file.name.as_str()) != Some(&file.size_bytes));
        let total_bytes = lacking.map(|file| file.size_bytes).sum();
        let view = match shell.verbosity {
            Verbosity::Quiet => View::Nothing,
            _ if shell.is_watched() => View::Bar(bar(total_bytes)),
            _ => {
                let voice = shell.voice();
                View::Lines(Box::new(move |line| voice.tell(line)))
            }
        };
        Self::with(total_bytes, view, Box::new(SystemClock::default()))
    }

    fn with(total_bytes: u64, view: View, clock: Box<dyn Clock>) -> Self {
        let begun = clock.now();
        let state = Mutex::new(State {
            told: begun,
            ..State::default()
        });
        Self {
            total_bytes,
            view,
            state,
            clock,
            begun,
        }
    }

    /// Reports the start of a step: a file that is uploaded again starts from zero.
    pub(super) fn step(&self, step: &PublishStep) {
        if let PublishStep::Upload { name, .. } = step {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let before = state.by_file.remove(name).unwrap_or_default();
            state.sent_bytes -= before;
        }
    }

    /// Reports that a part of a file was sent.
    pub(super) fn sent(&self, name: &str, bytes: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.by_file.get_mut(name) {
            Some(sent) => *sent += bytes,
            None => drop(state.by_file.insert(name.to_owned(), bytes)),
        }
        state.sent_bytes += bytes;
        match &self.view {
            View::Bar(bar) if self.total_bytes >= SHOWN_FROM_BYTES => {
                if bar.is_hidden() {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
                }
                bar.set_position(state.sent_bytes);
            }
            View::Lines(tell) => {
                let now = self.clock.now();
                if now >= state.told + BETWEEN_LINES {
                    state.told = now;
                    tell(&self.line(state.sent_bytes, now));
                }
            }
            View::Bar(_) | View::Nothing => {}
        }
    }

    /// Ends the progress.
    pub(super) fn end(&self) {
        if let View::Bar(bar) = &self.view {
            bar.finish_and_clear();
        }
    }

    fn line(&self, sent_bytes: u64, now: Duration) -> String {
        let total = self.total_bytes.max(sent_bytes).max(1);
        let spent = now.saturating_sub(self.begun);
        let left = spent.as_secs() * (total - sent_bytes) / sent_bytes.max(1);
        format!(
            "sent {} of {} ({} %), about {} left",
            HumanBytes(sent_bytes),
            HumanBytes(total),
            sent_bytes * 100 / total,
            HumanDuration(Duration::from_secs(left))
        )
    }
}

fn bar(total_bytes: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total_bytes), ProgressDrawTarget::hidden());
    let template = "{bar:24} {bytes}/{total_bytes}  {bytes_per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(template).expect("the template is sound"));
    bar
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::{Sending, View};
    use crate::github::Clock;
    use crate::publish::remote::PublishStep;

    #[derive(Clone, Default)]
    struct Hand(Arc<AtomicU64>);

    impl Clock for Hand {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::Relaxed))
        }

        fn epoch_seconds(&self) -> u64 {
            0
        }

        fn sleep(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(std::future::ready(()))
        }

        fn chance(&self) -> f64 {
            0.0
        }
    }

    #[test]
    fn a_log_gets_a_line_each_half_minute_and_a_file_sent_again_starts_from_zero() {
        let (hand, lines) = (Hand::default(), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&lines);
        let view = View::Lines(Box::new(move |line| {
            kept.lock().unwrap().push(line.to_owned());
        }));
        let sending = Sending::with(4 << 30, view, Box::new(hand.clone()));
        let step = PublishStep::Upload {
            release: 1,
            name: "a".into(),
            as_name: "a".into(),
        };
        sending.step(&step);
        sending.sent("a", 1 << 30);
        hand.0.store(29, Ordering::Relaxed);
        sending.sent("a", 1 << 29);
        hand.0.store(30, Ordering::Relaxed);
        sending.step(&step);
        sending.sent("a", 1 << 30);
        sending.sent("a", 1 << 30);
        hand.0.store(60, Ordering::Relaxed);
        sending.sent("b", 1 << 30);
        let expect = [
            "sent 1.00 GiB of 4.00 GiB (25 %), about 2 minutes left",
            "sent 3.00 GiB of 4.00 GiB (75 %), about 20 seconds left",
        ];
        assert_eq!(*lines.lock().unwrap(), expect);
    }
}

//! Progress of uploads.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanBytes, HumanDuration};

use super::{ByteBar, Heartbeat, MIN_BAR_BYTES, MovingLine, ProgressTarget};
use crate::cli::Shell;
use crate::github::{Clock, SystemClock};
use crate::publish::remote::{DesiredRelease, PublishStep};
use crate::publish::{AssetState, ListedRelease};

/// Shows a bar for all uploads of a run at a terminal, and a line from time to time in a log.
pub(in crate::cli) struct UploadReporter {
    total_bytes: u64,
    display: UploadDisplay,
    state: Mutex<UploadState>,
    clock: Box<dyn Clock>,
    begun: Duration,
}

enum UploadDisplay {
    Bar(ByteBar),
    /// Writes lines to a log.
    Lines(Box<dyn Fn(&str) + Send + Sync>),
    Hidden,
}

struct UploadState {
    sent_by_file: BTreeMap<String, u64>,
    sent_bytes: u64,
    heartbeat: Heartbeat,
}

impl UploadReporter {
    /// Returns a reporter for the files of a release that are not uploaded yet. Its bar becomes the
    /// one of `line`.
    pub(in crate::cli) fn new(
        desired: &DesiredRelease,
        listed: &[ListedRelease],
        shell: &Shell,
        line: &MovingLine,
    ) -> Self {
        let uploaded: BTreeMap<&str, u64> = listed
            .iter()
            .flat_map(|release| &release.assets)
            .filter(|asset| asset.state == AssetState::Uploaded)
            .map(|asset| (asset.name.as_str(), asset.size))
            .collect();
        let missing = desired
            .assets
            .iter()
            .filter(|file| uploaded.get(file.name.as_str()) != Some(&file.size_bytes));
        let total_bytes = missing.map(|file| file.size_bytes).sum();
        let display = match ProgressTarget::of(shell) {
            ProgressTarget::Terminal => {
                let bar = ByteBar::new(total_bytes, "{bytes_per_sec}, {eta} left");
                line.set(&bar);
                UploadDisplay::Bar(bar)
            }
            ProgressTarget::Log => {
                let voice = shell.voice();
                UploadDisplay::Lines(Box::new(move |line| voice.tell(line)))
            }
            ProgressTarget::Hidden => UploadDisplay::Hidden,
        };
        Self::with(total_bytes, display, Box::new(SystemClock::default()))
    }

    fn with(total_bytes: u64, display: UploadDisplay, clock: Box<dyn Clock>) -> Self {
        let begun = clock.now();
        Self {
            total_bytes,
            display,
            state: Mutex::new(UploadState {
                sent_by_file: BTreeMap::new(),
                sent_bytes: 0,
                heartbeat: Heartbeat::new(begun),
            }),
            clock,
            begun,
        }
    }

    /// Reports the start of a step: a file that is uploaded again starts from zero.
    pub(in crate::cli) fn step(&self, step: &PublishStep) {
        if let PublishStep::Upload { name, .. } = step {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let before = state.sent_by_file.remove(name).unwrap_or_default();
            state.sent_bytes -= before;
        }
    }

    /// Reports that a part of a file was sent.
    pub(in crate::cli) fn sent(&self, name: &str, bytes: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.sent_by_file.get_mut(name) {
            Some(sent) => *sent += bytes,
            None => drop(state.sent_by_file.insert(name.to_owned(), bytes)),
        }
        state.sent_bytes += bytes;
        match &self.display {
            UploadDisplay::Bar(bar) if self.total_bytes >= MIN_BAR_BYTES => {
                bar.show();
                bar.0.set_position(state.sent_bytes);
            }
            UploadDisplay::Lines(write) => {
                let now = self.clock.now();
                if state.heartbeat.is_due(now) {
                    write(&self.line(state.sent_bytes, now));
                }
            }
            UploadDisplay::Bar(_) | UploadDisplay::Hidden => {}
        }
    }

    /// Removes the bar.
    pub(in crate::cli) fn finish(&self) {
        if let UploadDisplay::Bar(bar) = &self.display {
            bar.finish();
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

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::{UploadDisplay, UploadReporter};
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
        let display = UploadDisplay::Lines(Box::new(move |line| {
            kept.lock().unwrap().push(line.to_owned());
        }));
        let reporter = UploadReporter::with(4 << 30, display, Box::new(hand.clone()));
        let step = PublishStep::Upload {
            release: 1,
            name: "a".into(),
            as_name: "a".into(),
        };
        reporter.step(&step);
        reporter.sent("a", 1 << 30);
        hand.0.store(29, Ordering::Relaxed);
        reporter.sent("a", 1 << 29);
        hand.0.store(30, Ordering::Relaxed);
        reporter.step(&step);
        reporter.sent("a", 1 << 30);
        reporter.sent("a", 1 << 30);
        hand.0.store(60, Ordering::Relaxed);
        reporter.sent("b", 1 << 30);
        let expect = [
            "sent 1.00 GiB of 4.00 GiB (25 %), about 2 minutes left",
            "sent 3.00 GiB of 4.00 GiB (75 %), about 20 seconds left",
        ];
        assert_eq!(*lines.lock().unwrap(), expect);
    }
}

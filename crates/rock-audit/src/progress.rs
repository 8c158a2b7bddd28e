//! Progress of long steps, for a caller that shows it.

use rock_wheel::ProgressCallback;

/// Receives the progress of audits and repairs.
///
/// ```
/// use rock_audit::ProgressReporter;
/// use rock_wheel::ProgressCallback;
///
/// struct Percent;
///
/// impl ProgressReporter for Percent {
///     fn start<'p>(&'p self, wheel: &str) -> Box<ProgressCallback<'p>> {
///         let wheel = wheel.to_owned();
///         Box::new(move |progress| {
///             let percent = progress.done_bytes * 100 / progress.total_bytes.max(1);
///             eprintln!("{wheel}: {percent} %");
///         })
///     }
/// }
/// ```
pub trait ProgressReporter: Send + Sync {
    /// Starts a step, such as reading or writing a wheel.
    ///
    /// The returned function is called with the progress, from several threads and in no particular
    /// order, and dropped at the end of the step.
    fn start<'p>(&'p self, wheel: &str) -> Box<ProgressCallback<'p>>;
}

/// A [`ProgressReporter`] that shows nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoProgress;

impl ProgressReporter for NoProgress {
    fn start<'p>(&'p self, _: &str) -> Box<ProgressCallback<'p>> {
        Box::new(|_| {})
    }
}

impl<T: ProgressReporter + ?Sized> ProgressReporter for &T {
    fn start<'p>(&'p self, wheel: &str) -> Box<ProgressCallback<'p>> {
        (**self).start(wheel)
    }
}

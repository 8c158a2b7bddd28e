//! Writers that fail once a signal was received, so that unfinished output is removed.

use std::io::{self, Write};
use std::sync::Arc;

use rock_bytes::ReadAt;
use rock_bytes::{ByteSink, WriteAt};
use rock_sys::Signals;

/// The bytes that are copied between two checks for a signal: less than a second of work.
const STEP_BYTES: u64 = 64 << 20;

/// A writer that fails once a signal was received.
pub(crate) struct StoppableWriter<'s, T> {
    pub(crate) target: T,
    pub(crate) signals: &'s Signals,
}

fn check(signals: &Signals) -> io::Result<()> {
    match signals.pending() {
        None => Ok(()),
        Some(_) => Err(io::Error::other("stopped by a signal")),
    }
}

impl<T: Write> Write for StoppableWriter<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check(self.signals)?;
        self.target.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

impl ByteSink for StoppableWriter<'_, &mut dyn ByteSink> {
    fn copy_from(&mut self, source: &dyn ReadAt, offset: u64, length: u64) -> io::Result<()> {
        let mut done = 0;
        while done < length {
            check(self.signals)?;
            let step = STEP_BYTES.min(length - done);
            self.target.copy_from(source, offset + done, step)?;
            done += step;
        }
        Ok(())
    }

    fn overwrite(&mut self, back_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        self.target.overwrite(back_bytes, bytes)
    }

    fn parallel_writer(&mut self) -> io::Result<Option<Arc<dyn WriteAt>>> {
        let stoppable = |target| -> Arc<dyn WriteAt> {
            Arc::new(StoppableParallelWriter {
                target,
                signals: self.signals.clone(),
            })
        };
        Ok(self.target.parallel_writer()?.map(stoppable))
    }

    fn advance(&mut self, length: u64) -> io::Result<()> {
        self.target.advance(length)
    }
}

/// A writer for several threads that fails once a signal was received.
struct StoppableParallelWriter {
    target: Arc<dyn WriteAt>,
    signals: Signals,
}

impl WriteAt for StoppableParallelWriter {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        check(&self.signals)?;
        self.target.write_at(bytes, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteSink, STEP_BYTES, Signals, StoppableWriter, Write as _};
    use rock_sys::{FileError, OnExisting, StopSignal, save};

    #[test]
    fn a_target_takes_all_until_a_signal_comes() {
        let signals = Signals::default();
        let mut made = Vec::new();
        let mut target = StoppableWriter {
            target: &mut made as &mut dyn ByteSink,
            signals: &signals,
        };
        target.write_all(b"ab").unwrap();
        target.copy_from(&b"0cd".to_vec(), 1, 2).unwrap();
        target.overwrite(4, b"A").unwrap();
        signals.raise(StopSignal::Terminate);
        assert!(target.write_all(b"x").is_err() && target.copy_from(&b"x".to_vec(), 0, 1).is_err());
        assert_eq!(
            (made.as_slice(), STEP_BYTES % 4096),
            (b"Abcd".as_slice(), 0)
        );
    }

    #[test]
    fn what_is_written_ahead_ends_with_a_signal_too() {
        let signals = Signals::default();
        let directory = tempfile::tempdir().unwrap();
        let saved = save::<FileError>(&directory.path().join("x"), OnExisting::Replace, |target| {
            let mut target = StoppableWriter {
                target,
                signals: &signals,
            };
            let ahead = target.parallel_writer().unwrap().unwrap();
            ahead.write_at(b"ab", 0).unwrap();
            target.advance(2).unwrap();
            signals.raise(StopSignal::Interrupt);
            assert!(ahead.write_at(b"c", 2).is_err());
            Ok(())
        });
        assert!(saved.is_ok());
        assert_eq!(
            rock_sys::read_text(&directory.path().join("x"), 9).unwrap(),
            "ab"
        );
    }
}

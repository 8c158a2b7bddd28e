//! A TCP stream that can be reset from elsewhere.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::recorder::ConnectionRecording;

/// Resets one connection from elsewhere.
#[derive(Debug, Clone, Default)]
pub(super) struct ResetSwitch(Arc<AtomicBool>);

impl ResetSwitch {
    /// Resets the connection: nothing more is read or written.
    pub(super) fn cut(&self) -> io::Error {
        self.0.store(true, Ordering::SeqCst);
        io::ErrorKind::ConnectionReset.into()
    }

    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::SeqCst) {
            Err(io::ErrorKind::ConnectionReset.into())
        } else {
            Ok(())
        }
    }
}

/// A TCP stream that can be reset.
pub(super) struct ResettableStream {
    stream: TcpStream,
    reset: ResetSwitch,
    recording: Option<ConnectionRecording>,
}

impl ResettableStream {
    pub(super) fn new(
        stream: TcpStream,
        reset: ResetSwitch,
        recording: Option<ConnectionRecording>,
    ) -> Self {
        Self {
            stream,
            reset,
            recording,
        }
    }
}

impl Drop for ResettableStream {
    fn drop(&mut self) {
        if self.reset.check().is_err() {
            // Without lingering, closing sends a reset. A connection that is already closed cannot
            // be reset.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for ResettableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.reset.check()?;
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        if let Some(recording) = &self.recording {
            recording.add(&into.filled()[before..]);
        }
        read
    }
}

impl AsyncWrite for ResettableStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.reset.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.reset.check()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.reset.check()?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

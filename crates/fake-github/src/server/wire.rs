//! A connection that can be cut from inside, with a reset.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::record::Recording;

/// The end of one connection, told to it from elsewhere.
#[derive(Debug, Clone, Default)]
pub(super) struct Doom(Arc<AtomicBool>);

impl Doom {
    /// Ends the connection: nothing more is read or written.
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

/// A connection.
pub(super) struct Wire {
    stream: TcpStream,
    doom: Doom,
    recording: Option<Recording>,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, doom: Doom, recording: Option<Recording>) -> Self {
        Self {
            stream,
            doom,
            recording,
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.doom.check().is_err() {
            // Without lingering, closing resets. A connection that is closed already cannot be
            // reset.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.doom.check()?;
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        if let Some(recording) = &self.recording {
            recording.add(&into.filled()[before..]);
        }
        read
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.doom.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.doom.check()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.doom.check()?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

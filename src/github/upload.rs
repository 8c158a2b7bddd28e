//! A file as the body of a request.

use std::io::{self, Read};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use super::wire::{Body, whole};
use crate::names::Digest;

/// Bytes of one piece.
const PIECE_BYTES: usize = 256 << 10;
/// Pieces that wait to be sent at most, so that memory stays bounded where the network is slower than the disk.
const WAITING: usize = 4;

/// Where the bytes of a file come from.
pub enum Source {
    /// A file, read while it is sent.
    File(Box<dyn Read + Send>),
    /// A document that the program made.
    Text(Bytes),
}

/// A body of these bytes, which must have this size and digest: the last piece is only sent when they do, so that
/// nothing else can arrive as a whole. `on_sent` is told of each piece, and `fault` why it could not be read to its end.
pub(super) fn body(
    source: Source,
    size_bytes: u64,
    digest: Digest,
    fault: Arc<OnceLock<String>>,
    on_sent: impl Fn(u64) + Send + 'static,
) -> io::Result<Body> {
    let mut file = match source {
        Source::Text(bytes) => {
            on_sent(bytes.len() as u64);
            return Ok(whole(bytes));
        }
        Source::File(file) => file,
    };
    let (give, pieces) = mpsc::channel(WAITING);
    // Read and hashed beside the sending.
    std::thread::Builder::new().name("upload".to_owned()).spawn(move || {
        let read = pieces_of(&mut file, size_bytes, digest, |piece| {
            on_sent(piece.len() as u64);
            give.blocking_send(Ok(piece)).is_ok()
        });
        if let Err(error) = read {
            let _ = fault.set(error.to_string());
            let _ = give.blocking_send(Err(error));
        }
    })?;
    Ok(Pieces { pieces, left: size_bytes }.boxed_unsync())
}

/// Reads a file in pieces; `give` says whether to go on.
fn pieces_of(
    file: &mut impl Read,
    size_bytes: u64,
    digest: Digest,
    mut give: impl FnMut(Bytes) -> bool,
) -> io::Result<()> {
    let changed = || io::Error::new(io::ErrorKind::InvalidData, "it was changed while it was sent");
    let (mut hash, mut left) = (Sha256::new(), size_bytes);
    let mut held: Option<Bytes> = None;
    while left > 0 {
        let mut piece = BytesMut::zeroed(PIECE_BYTES.min(usize::try_from(left).unwrap_or(PIECE_BYTES)));
        file.read_exact(&mut piece).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => changed(),
            _ => error,
        })?;
        hash.update(&piece);
        left -= piece.len() as u64;
        if let Some(before) = held.replace(piece.freeze())
            && !give(before)
        {
            return Ok(());
        }
    }
    if file.read(&mut [0])? != 0 || Digest::new(hash.finalize().into()) != digest {
        return Err(changed());
    }
    if let Some(last) = held {
        give(last);
    }
    Ok(())
}

struct Pieces {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = std::task::ready!(self.pieces.poll_recv(cx));
        if let Some(Ok(piece)) = &piece {
            self.left = self.left.saturating_sub(piece.len() as u64);
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::{PIECE_BYTES, Source, WAITING, body, pieces_of};
    use crate::names::Digest;
    use http_body_util::BodyExt;
    use sha2::{Digest as _, Sha256};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn sent(bytes: &[u8], size_bytes: u64, digest_of: &[u8]) -> (usize, bool) {
        let digest = Digest::new(Sha256::digest(digest_of).into());
        let mut sent = 0;
        let done = pieces_of(&mut &bytes[..], size_bytes, digest, |piece| {
            sent += piece.len();
            true
        });
        (sent, done.is_ok())
    }

    /// 4.5: bounded memory, however slow the server and however large the file.
    #[test]
    fn a_file_is_read_a_few_pieces_ahead_of_what_is_sent() {
        let bytes = vec![7; 64 * PIECE_BYTES];
        let digest = Digest::new(Sha256::digest(&bytes).into());
        let (read, size) = (Arc::new(AtomicU64::new(0)), bytes.len() as u64);
        let counted = Arc::clone(&read);
        let source = Source::File(Box::new(std::io::Cursor::new(bytes)));
        let mut body = body(source, size, digest, Arc::default(), move |piece| {
            counted.fetch_add(piece, Ordering::SeqCst);
        })
        .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut taken = 0;
        while let Some(frame) = runtime.block_on(body.frame()) {
            taken += frame.unwrap().data_ref().unwrap().len() as u64;
            // One is about to wait, and one is on its way to it.
            let ahead = read.load(Ordering::SeqCst) - taken;
            assert!(ahead <= (WAITING as u64 + 2) * PIECE_BYTES as u64, "{ahead} bytes ahead");
        }
        assert_eq!(taken, size);
    }

    /// 4.5
    #[test]
    fn a_file_that_changes_never_arrives_as_a_whole() {
        let bytes = vec![7; 2 * PIECE_BYTES + 9];
        let size = bytes.len() as u64;
        assert_eq!(sent(&bytes, size, &bytes), (bytes.len(), true));
        assert_eq!(sent(&bytes, size, b"other"), (2 * PIECE_BYTES, false), "the last piece stays");
        assert!(!sent(&bytes, size - 1, &bytes).1, "it grew");
        assert!(!sent(&bytes, size + 1, &bytes).1, "it shrank");
        assert_eq!(sent(b"", 0, b""), (0, true));
    }
}

//! A file as the body of a request.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use super::wire::{Body, whole};
use crate::names::Digest;

/// Bytes of one piece. Four of them wait at most.
const PIECE_BYTES: usize = 256 << 10;
const WAITING: usize = 4;

/// Where the bytes of a file come from.
pub enum Source {
    /// A file, read while it is sent.
    File(Box<dyn Read + Send>),
    /// A document that the program made.
    Text(Bytes),
}

/// A body of these bytes, which must have this size and digest: the last piece is only sent when they do, so that
/// nothing else can arrive as a whole. `on_sent` is told of each piece.
pub(super) fn body(
    source: Source,
    size_bytes: u64,
    digest: Digest,
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
    use super::{PIECE_BYTES, pieces_of};
    use crate::names::Digest;
    use sha2::{Digest as _, Sha256};

    fn sent(bytes: &[u8], size_bytes: u64, digest_of: &[u8]) -> (usize, bool) {
        let digest = Digest::new(Sha256::digest(digest_of).into());
        let mut sent = 0;
        let done = pieces_of(&mut &bytes[..], size_bytes, digest, |piece| {
            sent += piece.len();
            true
        });
        (sent, done.is_ok())
    }

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

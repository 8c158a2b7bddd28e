//! Streams a file as the body of a request.

use std::io::{self, Read};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use rock_names::Digest;
use rock_sys::http::{HttpBody, full_body};

/// Size of a chunk in bytes.
const PIECE_BYTES: usize = 256 << 10;
/// Maximum number of chunks that wait to be sent, which bounds the memory if the network is slower
/// than the disk.
const WAITING: usize = 4;

/// The source of an upload's bytes.
pub enum UploadSource {
    /// A file, which is read during the upload.
    File(Box<dyn Read + Send>),
    /// A document that the program generated.
    Text(Bytes),
}

/// The reason why a file cannot be read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadFault {
    /// Its size or digest is not as planned.
    Changed,
    /// It cannot be read, for this reason.
    Unreadable(String),
}

/// The size or the digest of a file is not as planned.
#[derive(Debug, thiserror::Error)]
#[error("it changed during the upload")]
struct ContentChanged;

fn content_changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, ContentChanged)
}

/// Returns a body of these bytes, which must have this size and digest. The last chunk is sent only
/// if they match, so that no other content is ever uploaded completely. `on_sent` is called with
/// the size of each chunk, and `fault` is set if the file cannot be read to its end.
///
/// A thread reads and hashes the file during the upload. If none can be started, chunks are read
/// when they are needed.
pub(super) fn body(
    source: UploadSource,
    size_bytes: u64,
    digest: Digest,
    fault: Arc<OnceLock<ReadFault>>,
    on_sent: impl Fn(u64) + Send + 'static,
) -> HttpBody {
    let file = match source {
        UploadSource::Text(bytes) => {
            on_sent(bytes.len() as u64);
            return full_body(bytes);
        }
        UploadSource::File(file) => file,
    };
    let file = CheckedFile::new(file, size_bytes, digest, fault, on_sent);
    let (hand_over, handed_over) = std::sync::mpsc::channel::<CheckedFile>();
    let (give, pieces) = mpsc::channel(WAITING);
    let read_ahead = move || {
        let Ok(file) = handed_over.recv() else { return };
        for piece in file {
            if give.blocking_send(piece).is_err() {
                return;
            }
        }
    };
    let unsent = match std::thread::Builder::new()
        .name("upload".to_owned())
        .spawn(read_ahead)
    {
        Ok(_) => hand_over.send(file).err().map(|unsent| unsent.0),
        Err(_) => Some(file),
    };
    let pieces = unsent.map_or(UploadChunks::ReadAhead(pieces), |file| {
        UploadChunks::ReadHere(Box::new(file))
    });
    FileBody {
        pieces,
        left: size_bytes,
    }
    .boxed_unsync()
}

/// The chunks of a file. The last one is returned only if size and digest match.
struct CheckedFile {
    file: Box<dyn Read + Send>,
    digest: Digest,
    hash: Sha256,
    left: u64,
    held: Option<Bytes>,
    is_over: bool,
    fault: Arc<OnceLock<ReadFault>>,
    on_sent: Box<dyn Fn(u64) + Send>,
}

impl CheckedFile {
    fn new(
        file: Box<dyn Read + Send>,
        size_bytes: u64,
        digest: Digest,
        fault: Arc<OnceLock<ReadFault>>,
        on_sent: impl Fn(u64) + Send + 'static,
    ) -> Self {
        let on_sent = Box::new(on_sent);
        Self {
            file,
            digest,
            hash: Sha256::new(),
            left: size_bytes,
            held: None,
            is_over: false,
            fault,
            on_sent,
        }
    }

    fn read(&mut self) -> io::Result<Option<Bytes>> {
        while self.left > 0 {
            let mut piece = BytesMut::zeroed(
                PIECE_BYTES.min(usize::try_from(self.left).unwrap_or(PIECE_BYTES)),
            );
            self.file
                .read_exact(&mut piece)
                .map_err(|error| match error.kind() {
                    io::ErrorKind::UnexpectedEof => content_changed(),
                    _ => error,
                })?;
            self.hash.update(&piece);
            self.left -= piece.len() as u64;
            if let Some(before) = self.held.replace(piece.freeze()) {
                return Ok(Some(before));
            }
        }
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(None);
        }
        if self.file.read(&mut [0])? != 0
            || Digest::new(self.hash.finalize_reset().into()) != self.digest
        {
            return Err(content_changed());
        }
        Ok(self.held.take())
    }
}

impl Iterator for CheckedFile {
    type Item = io::Result<Bytes>;

    /// Returns the next chunk; an error is the last item.
    fn next(&mut self) -> Option<io::Result<Bytes>> {
        let read = self.read().transpose()?;
        match &read {
            Ok(piece) => (self.on_sent)(piece.len() as u64),
            Err(error) => {
                (self.left, self.is_over) = (0, true);
                let is_change = error
                    .get_ref()
                    .and_then(|inner| inner.downcast_ref::<ContentChanged>())
                    .is_some();
                let _ = self.fault.set(if is_change {
                    ReadFault::Changed
                } else {
                    ReadFault::Unreadable(error.to_string())
                });
            }
        }
        Some(read)
    }
}

/// The source of a file's chunks.
enum UploadChunks {
    /// A thread that reads ahead.
    ReadAhead(mpsc::Receiver<io::Result<Bytes>>),
    /// The file itself, which is read when a chunk is needed.
    ReadHere(Box<CheckedFile>),
}

struct FileBody {
    pieces: UploadChunks,
    left: u64,
}

impl http_body::Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = match &mut self.pieces {
            UploadChunks::ReadAhead(pieces) => std::task::ready!(pieces.poll_recv(cx)),
            UploadChunks::ReadHere(file) => file.next(),
        };
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
    use super::{
        CheckedFile, FileBody, PIECE_BYTES, ReadFault, UploadChunks, UploadSource, WAITING, body,
    };
    use http_body_util::BodyExt;
    use rock_names::Digest;
    use sha2::{Digest as _, Sha256};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn sent(bytes: &[u8], size_bytes: u64, hash_file: &[u8]) -> (usize, bool) {
        let digest = Digest::new(Sha256::digest(hash_file).into());
        let file = Box::new(std::io::Cursor::new(bytes.to_vec()));
        let file = CheckedFile::new(file, size_bytes, digest, Arc::default(), |_| ());
        let (mut sent, mut is_whole) = (0, true);
        for piece in file {
            match piece {
                Ok(piece) => sent += piece.len(),
                Err(_) => is_whole = false,
            }
        }
        (sent, is_whole)
    }

    /// Memory is bounded, for any file size and however slow the server is.
    #[test]
    fn a_file_is_read_a_few_pieces_ahead_of_what_is_sent() {
        let bytes = vec![7; 64 * PIECE_BYTES];
        let digest = Digest::new(Sha256::digest(&bytes).into());
        let (read, size) = (Arc::new(AtomicU64::new(0)), bytes.len() as u64);
        let counted = Arc::clone(&read);
        let source = UploadSource::File(Box::new(std::io::Cursor::new(bytes)));
        let mut body = body(source, size, digest, Arc::default(), move |piece| {
            counted.fetch_add(piece, Ordering::SeqCst);
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let mut taken = 0;
        while let Some(frame) = runtime.block_on(body.frame()) {
            taken += frame.unwrap().data_ref().unwrap().len() as u64;
            // One is about to be queued, and one is being read.
            let ahead = read.load(Ordering::SeqCst) - taken;
            assert!(
                ahead <= (WAITING as u64 + 2) * PIECE_BYTES as u64,
                "{ahead} bytes ahead"
            );
        }
        assert_eq!(taken, size);
    }

    /// Without a thread, the body reads the file itself and reports the same errors.
    #[tokio::test]
    async fn a_file_without_a_thread_is_read_between_sending() {
        let bytes = vec![7; 2 * PIECE_BYTES + 9];
        for (content, is_whole) in [(&bytes[..], true), (b"other", false)] {
            let digest = Digest::new(Sha256::digest(content).into());
            let (read, fault) = (Arc::new(AtomicU64::new(0)), Arc::default());
            let counted = Arc::clone(&read);
            let on_sent = move |piece| {
                counted.fetch_add(piece, Ordering::SeqCst);
            };
            let file = Box::new(std::io::Cursor::new(bytes.clone()));
            let file = CheckedFile::new(
                file,
                bytes.len() as u64,
                digest,
                Arc::clone(&fault),
                on_sent,
            );
            let body = FileBody {
                pieces: UploadChunks::ReadHere(Box::new(file)),
                left: bytes.len() as u64,
            };
            let collected = body.collect().await;
            assert_eq!(
                collected.is_ok_and(|collected| collected.to_bytes() == bytes),
                is_whole
            );
            let expected = (!is_whole).then_some(ReadFault::Changed);
            assert_eq!(fault.get(), expected.as_ref());
            assert_eq!(read.load(Ordering::SeqCst) == bytes.len() as u64, is_whole);
        }
    }

    #[test]
    fn a_file_that_changes_never_arrives_as_a_whole() {
        let bytes = vec![7; 2 * PIECE_BYTES + 9];
        let size = bytes.len() as u64;
        assert_eq!(sent(&bytes, size, &bytes), (bytes.len(), true));
        assert_eq!(
            sent(&bytes, size, b"other"),
            (2 * PIECE_BYTES, false),
            "the last piece stays"
        );
        assert!(!sent(&bytes, size - 1, &bytes).1, "it grew");
        assert!(!sent(&bytes, size + 1, &bytes).1, "it shrank");
        assert_eq!(sent(b"", 0, b""), (0, true));
    }
}

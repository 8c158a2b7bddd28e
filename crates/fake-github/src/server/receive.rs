//! Request bodies.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body as _, Bytes, Incoming};
use sha2::{Digest as _, Sha256};

use super::super::model::request::hex;
use super::super::model::{ApiReply, PendingUpload, ReceivedBody};
use super::ServerContext;

/// Bytes of a refused upload that are read before the reply, so that a small client receives it.
const DRAINED_BYTES: usize = 1 << 20;

/// Returns the next bytes of a body.
async fn next(body: &mut Incoming) -> Option<io::Result<Bytes>> {
    loop {
        let frame =
            std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
        match frame
            .map_err(io::Error::other)
            .map(|frame| frame.into_data().ok())
        {
            Ok(Some(bytes)) => return Some(Ok(bytes)),
            Ok(None) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}

/// Returns a complete body.
pub(super) async fn collect(body: &mut Incoming, at_most: usize) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(bytes) = next(body).await {
        whole.extend_from_slice(&bytes?);
        if whole.len() > at_most {
            return Err(io::Error::other("the body is too large"));
        }
    }
    Ok(whole)
}

/// Reads and discards the start of a body.
pub(super) async fn drain(body: &mut Incoming) {
    let mut left = DRAINED_BYTES;
    while let Some(Ok(bytes)) = next(body).await {
        left = left.saturating_sub(bytes.len());
        if left == 0 {
            return;
        }
    }
}

/// An upload in progress. If its client disconnects, it is completed with the bytes received.
struct IncomingUpload<'a> {
    shared: &'a ServerContext,
    upload: Option<PendingUpload>,
    size_bytes: u64,
    hash: Sha256,
    kept: Option<Vec<u8>>,
}

impl IncomingUpload<'_> {
    fn take(&mut self, bytes: &[u8]) {
        self.size_bytes += bytes.len() as u64;
        self.hash.update(bytes);
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
    }

    fn end(&mut self) -> ApiReply {
        let Some(upload) = self.upload.take() else {
            return ApiReply::cut();
        };
        let received = ReceivedBody {
            size_bytes: self.size_bytes,
            sha256: hex(&self.hash.finalize_reset()),
            content: self.kept.take().map(Arc::from),
        };
        let now_ms = (self.shared.clock)();
        self.shared.model().finish(&upload, &received, now_ms)
    }
}

impl Drop for IncomingUpload<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads an upload, and returns the reply.
pub(super) async fn upload(
    shared: &ServerContext,
    upload: PendingUpload,
    body: &mut Incoming,
) -> ApiReply {
    let (stop_at, mut hold_at, rate, number) = (
        upload.stop_at,
        upload.hold_at,
        upload.bytes_per_s,
        upload.number,
    );
    let is_kept = upload.announced_bytes <= shared.model().settings.keep_bytes;
    let kept = is_kept.then(Vec::new);
    let mut receiving = IncomingUpload {
        shared,
        upload: Some(upload),
        size_bytes: 0,
        hash: Sha256::new(),
        kept,
    };
    loop {
        let left = stop_at.map(|stop| stop - receiving.size_bytes);
        if left == Some(0) {
            break;
        }
        if hold_at.is_some_and(|at| at <= receiving.size_bytes) {
            hold_at = None;
            shared.hold.wait(number).await;
        }
        let Some(Ok(mut bytes)) = next(body).await else {
            break;
        };
        if let Some(left) = left.and_then(|left| usize::try_from(left).ok()) {
            bytes.truncate(left);
        }
        receiving.take(&bytes);
        if let Some(rate) = rate {
            tokio::time::sleep(Duration::from_micros(bytes.len() as u64 * 1_000_000 / rate)).await;
        }
    }
    receiving.end()
}

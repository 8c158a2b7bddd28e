//! Replies: complete, slow, partial, or none.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

use super::super::model::{ApiReply, ReplyDelivery};
use super::hold_queue::HoldQueue;
use super::resettable_stream::ResetSwitch;

/// Time for bytes to be sent before their connection is cut.
const LEAVING: Duration = Duration::from_millis(20);

/// A body in chunks with a known length.
pub(super) struct ChunkedBody {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl Body for ChunkedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = self.pieces.poll_recv(context);
        if let Poll::Ready(Some(Ok(bytes))) = &piece {
            self.left = self.left.saturating_sub(bytes.len() as u64);
        }
        piece.map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Delivers a reply.
pub(super) async fn deliver(
    reply: ApiReply,
    hold: &HoldQueue,
    reset: ResetSwitch,
) -> io::Result<hyper::Response<ChunkedBody>> {
    match reply.delivery {
        ReplyDelivery::Cut => return Err(reset.cut()),
        ReplyDelivery::Held => hold.wait(0).await,
        ReplyDelivery::Whole
        | ReplyDelivery::CutAfter(_)
        | ReplyDelivery::Stalled(_)
        | ReplyDelivery::Slow(_) => {}
    }
    let (sender, pieces) = mpsc::channel(1);
    let body = Bytes::from(reply.body.to_vec());
    let mut response = hyper::Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let sending = ChunkedBody {
        pieces,
        left: body.len() as u64,
    };
    tokio::spawn(send(body, reply.delivery, sender, reset));
    response.body(sending).map_err(io::Error::other)
}

async fn send(
    body: Bytes,
    delivery: ReplyDelivery,
    to: mpsc::Sender<io::Result<Bytes>>,
    reset: ResetSwitch,
) {
    match delivery {
        ReplyDelivery::CutAfter(bytes) => {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(body.len());
            // The client may have disconnected.
            let _ = to.send(Ok(body.slice(..bytes))).await;
            tokio::time::sleep(LEAVING).await;
            let _ = to.send(Err(reset.cut())).await;
        }
        ReplyDelivery::Stalled(bytes) => {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(body.len());
            // The client may have disconnected.
            let _ = to.send(Ok(body.slice(..bytes))).await;
            to.closed().await;
        }
        ReplyDelivery::Slow(rate) => {
            let step = usize::try_from(rate.div_ceil(10))
                .unwrap_or(usize::MAX)
                .max(1);
            for piece in body.chunks(step) {
                tokio::time::sleep(Duration::from_millis(100)).await;
                if to.send(Ok(body.slice_ref(piece))).await.is_err() {
                    return;
                }
            }
        }
        ReplyDelivery::Whole | ReplyDelivery::Held | ReplyDelivery::Cut => {
            let _ = to.send(Ok(body)).await;
        }
    }
}

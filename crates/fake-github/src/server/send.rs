//! Answers that go out: whole, slow, in part, or not at all.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

use super::super::model::{Delivery, Reply};
use super::hold::Hold;
use super::wire::Doom;

/// How long bytes get to leave before their connection is cut.
const LEAVING: Duration = Duration::from_millis(20);

/// A body in pieces, whose length is told before.
pub(super) struct Sending {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl Body for Sending {
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

/// Sends a reply as it is to travel.
pub(super) async fn deliver(
    reply: Reply,
    hold: &Hold,
    doom: Doom,
) -> io::Result<hyper::Response<Sending>> {
    match reply.delivery {
        Delivery::Cut => return Err(doom.cut()),
        Delivery::Held => hold.wait(0).await,
        Delivery::Whole | Delivery::CutAfter(_) | Delivery::Stalled(_) | Delivery::Slow(_) => {}
    }
    let (sender, pieces) = mpsc::channel(1);
    let body = Bytes::from(reply.body.to_vec());
    let mut response = hyper::Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let sending = Sending {
        pieces,
        left: body.len() as u64,
    };
    tokio::spawn(send(body, reply.delivery, sender, doom));
    response.body(sending).map_err(io::Error::other)
}

async fn send(body: Bytes, delivery: Delivery, to: mpsc::Sender<io::Result<Bytes>>, doom: Doom) {
    match delivery {
        Delivery::CutAfter(bytes) => {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(body.len());
            // The client may be gone, and then nobody minds.
            let _ = to.send(Ok(body.slice(..bytes))).await;
            tokio::time::sleep(LEAVING).await;
            let _ = to.send(Err(doom.cut())).await;
        }
        Delivery::Stalled(bytes) => {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(body.len());
            // The client may be gone, and then nobody minds.
            let _ = to.send(Ok(body.slice(..bytes))).await;
            to.closed().await;
        }
        Delivery::Slow(rate) => {
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
        Delivery::Whole | Delivery::Held | Delivery::Cut => {
            let _ = to.send(Ok(body)).await;
        }
    }
}

//! Connections to a proxy that forwards `http:` requests.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::client::connector;
use super::resolver::ThreadResolver;

/// Connects to a proxy instead of the server. hyper sends requests to it in absolute form (RFC 9112,
/// section 3.2.2).
#[derive(Debug, Clone)]
pub(super) struct ForwardingConnector {
    proxy: Uri,
    connector: HttpConnector<ThreadResolver>,
}

impl ForwardingConnector {
    pub(super) fn new(proxy: &Intercept) -> Self {
        Self {
            proxy: proxy.uri().clone(),
            connector: connector(),
        }
    }
}

type ConnectError = <HttpConnector<ThreadResolver> as Service<Uri>>::Error;

impl Service<Uri> for ForwardingConnector {
    type Response = ForwardedConnection;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<ForwardedConnection, ConnectError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, _server: Uri) -> Self::Future {
        let connecting = self.connector.call(self.proxy.clone());
        Box::pin(async move { Ok(ForwardedConnection(connecting.await?)) })
    }
}

/// A connection to a proxy.
#[derive(Debug)]
pub(super) struct ForwardedConnection(TokioIo<TcpStream>);

impl Connection for ForwardedConnection {
    fn connected(&self) -> Connected {
        self.0.connected().proxy(true)
    }
}

impl Read for ForwardedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl Write for ForwardedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

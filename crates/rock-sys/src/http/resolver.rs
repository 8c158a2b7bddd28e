//! Resolves host names to addresses.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::Builder;
use std::vec::IntoIter;

use hyper_util::client::legacy::connect::dns::Name;
use tokio::sync::oneshot;
use tower_service::Service;

/// Resolves each host name in its own thread, or in the calling thread if none can be started.
///
/// Tokio's own threads, which hyper's resolver uses, panic in that case (tokio,
/// `runtime/blocking/pool.rs`, `SpawnError::NoThreads`).
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadResolver;

impl Service<Name> for ThreadResolver {
    type Response = IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<IntoIter<SocketAddr>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        Box::pin(resolve(name.as_str().to_owned()))
    }
}

async fn resolve(host: String) -> io::Result<IntoIter<SocketAddr>> {
    let (give, addresses) = oneshot::channel();
    let in_thread = host.clone();
    let look_up_there = move || {
        // The request may have timed out.
        let _ = give.send(look_up(&in_thread));
    };
    match Builder::new()
        .name("resolver".to_owned())
        .spawn(look_up_there)
    {
        Ok(_) => addresses.await.map_err(io::Error::other)?,
        Err(_) => look_up(&host),
    }
}

/// Returns the addresses of a host. The connector replaces the port.
fn look_up(host: &str) -> io::Result<IntoIter<SocketAddr>> {
    (host, 0).to_socket_addrs()
}

#[cfg(test)]
mod tests {
    use super::{look_up, resolve};

    #[tokio::test]
    async fn a_thread_finds_what_the_calling_thread_finds() {
        let there: Vec<_> = resolve("localhost".to_owned()).await.unwrap().collect();
        let here: Vec<_> = look_up("localhost").unwrap().collect();
        assert!(
            !here.is_empty()
                && here == there
                && here.iter().all(|address| address.ip().is_loopback())
        );
        assert!(resolve(String::new()).await.is_err());
    }
}

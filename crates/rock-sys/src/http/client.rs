//! The client: connections, time limits and content lengths.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, PROXY_AUTHORIZATION, TRANSFER_ENCODING};
use http::{HeaderValue, Method, Request, Response};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::forwarding::ForwardingConnector;
use super::resolver::ThreadResolver;
use super::{HttpBody, HttpError, ProxySettings, tls};

/// Time limit for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Time after which an idle connection is closed.
const IDLE_TIMEOUT: Duration = Duration::from_mins(2);

type PlainClient = Client<HttpConnector<ThreadResolver>, HttpBody>;
type SecureClient = Client<HttpsConnector<HttpConnector<ThreadResolver>>, HttpBody>;

/// Sends requests over TLS, or without it for `http:` URLs; through a proxy if one is configured.
pub struct HttpClient {
    proxies: ProxySettings,
    plain: PlainClient,
    /// Created for the first URL that needs it, because loading the machine's certificates is slow.
    secure: OnceLock<Result<SecureClient, HttpError>>,
}

impl HttpClient {
    /// Returns a client that uses these proxies.
    pub fn new(proxies: ProxySettings) -> Self {
        Self {
            proxies,
            plain: client(connector()),
            secure: OnceLock::new(),
        }
    }

    /// Sends one request to one server. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// If there is no response, or no data is sent or received for the time `silence`.
    pub async fn send_with_timeout(
        &self,
        mut request: Request<HttpBody>,
        silence: Duration,
    ) -> Result<Response<HttpBody>, HttpError> {
        set_content_length(&mut request)?;
        let moved = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&moved);
        let mut request = request.map(|inner| {
            CountedBody {
                inner,
                frames: counter,
            }
            .boxed_unsync()
        });
        let proxy = self
            .proxies
            .proxy_for(request.uri())
            .map_err(|error| HttpError::permanent(error.to_string()))?;
        let proxy_name = proxy.as_ref().map(proxy_name);
        let is_secure = request.uri().scheme_str() != Some("http");
        let response = match (is_secure, proxy) {
            (false, None) => self.plain.request(request),
            (true, None) => self
                .secure
                .get_or_init(|| Ok(client(secured(connector())?)))
                .clone()?
                .request(request),
            // One connection per request: few requests go through a proxy.
            (false, Some(proxy)) => {
                if let Some(credentials) = proxy.basic_auth() {
                    let headers = request.headers_mut();
                    headers.insert(PROXY_AUTHORIZATION, credentials.clone());
                }
                client(ForwardingConnector::new(&proxy)).request(request)
            }
            (true, Some(proxy)) => client(secured(tunnel(&proxy))?).request(request),
        };
        tokio::pin!(response);
        let mut before = 0;
        loop {
            match tokio::time::timeout(silence, &mut response).await {
                Ok(response) => {
                    let lost = |error: hyper::Error| io::Error::other(with_causes(&error));
                    return response
                        .map(|response| response.map(|body| body.map_err(lost).boxed_unsync()))
                        .map_err(|error| http_error(&error, proxy_name.as_deref()));
                }
                Err(_) if moved.load(Ordering::Relaxed) == before => {
                    return Err(HttpError::transient(format!(
                        "no data for {} seconds",
                        silence.as_secs()
                    )));
                }
                Err(_) => before = moved.load(Ordering::Relaxed),
            }
        }
    }
}

/// Sets `Content-Length` of every request that has a body or whose method expects one (RFC 9110,
/// section 8.6). Without it hyper sends the body in chunks, which GitHub answers with 411 (octocrab
/// issue 463).
fn set_content_length(request: &mut Request<HttpBody>) -> Result<(), HttpError> {
    request.headers_mut().remove(TRANSFER_ENCODING);
    let Some(length) = request.body().size_hint().exact() else {
        return Err(HttpError::permanent(
            "the length of the body of a request is unknown",
        ));
    };
    let expects_body = matches!(
        *request.method(),
        Method::POST | Method::PUT | Method::PATCH
    );
    if length == 0 && !expects_body {
        request.headers_mut().remove(CONTENT_LENGTH);
        return Ok(());
    }
    match request.headers_mut().insert(CONTENT_LENGTH, length.into()) {
        Some(announced) if announced != HeaderValue::from(length) => Err(HttpError::permanent(
            format!("a body of {length} bytes was announced with the length {announced:?}"),
        )),
        _ => Ok(()),
    }
}

/// A body that counts its frames and keeps its length: `http_body_util::combinators::MapFrame`
/// forgets the length.
struct CountedBody {
    inner: HttpBody,
    frames: Arc<AtomicU64>,
}

impl http_body::Body for CountedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = std::task::ready!(Pin::new(&mut self.inner).poll_frame(cx));
        self.frames.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

pub(super) fn connector() -> HttpConnector<ThreadResolver> {
    let mut connector = HttpConnector::new_with_resolver(ThreadResolver);
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    connector.set_nodelay(true);
    connector
}

/// Returns a connector through a proxy that is itself connected to without TLS, as almost all are.
fn tunnel(proxy: &Intercept) -> Tunnel<HttpConnector<ThreadResolver>> {
    let tunnel = Tunnel::new(proxy.uri().clone(), connector());
    match proxy.basic_auth() {
        Some(value) => tunnel.with_auth(value.clone()),
        None => tunnel,
    }
}

/// Returns host and port of a proxy, without its credentials.
fn proxy_name(proxy: &Intercept) -> String {
    let uri = proxy.uri();
    let port = uri
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    format!("{}{port}", uri.host().unwrap_or_default())
}

fn secured<C>(connector: C) -> Result<HttpsConnector<C>, HttpError> {
    let config = tls::client_config().map_err(HttpError::permanent)?;
    Ok(HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_only()
        .enable_http1()
        .wrap_connector(connector))
}

fn client<C>(connector: C) -> Client<C, HttpBody>
where
    C: Connect + Clone,
{
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .retry_canceled_requests(false)
        .build(connector)
}

/// Converts an error of hyper, with all causes: its own message is only "client error".
fn http_error(error: &Error, proxy: Option<&str>) -> HttpError {
    let reason = with_causes(error);
    // A refused connection to a proxy means a wrong address; a server may still be starting.
    let is_permanent = (proxy.is_some() && reason.contains("Connection refused"))
        || [
            "invalid peer certificate",
            "received corrupt message",
            "proxy authorization required",
            "tunnel error: unsuccessful",
        ]
        .iter()
        .any(|sign| reason.contains(sign));
    let reason = match proxy {
        Some(proxy) => format!("through the proxy {proxy}: {reason}"),
        None => reason,
    };
    HttpError {
        reason,
        is_transient: !is_permanent,
    }
}

/// Returns the message of an error with those of its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let text = next.to_string();
        if !words.ends_with(&text) {
            words.push_str(": ");
            words.push_str(&text);
        }
        cause = next.source();
    }
    words
}

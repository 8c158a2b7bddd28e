//! Sends requests over the network.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::uri::Authority;
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::api::is_loopback;
use super::resolver::ThreadResolver;
use super::transport::{HttpBody, ResponseFuture, SILENCE, Transport, WireError};
use rock_sys::{ProxyVariable, variable_value};

/// Time limit for establishing a connection.
const CONNECT: Duration = Duration::from_secs(15);

type PlainClient = Client<HttpConnector<ThreadResolver>, HttpBody>;
type SecureClient = Client<HttpsConnector<HttpConnector<ThreadResolver>>, HttpBody>;

/// Sends requests over TLS, or without it for `http:` URLs on this machine; through a proxy if one
/// is configured.
pub struct HttpTransport {
    proxies: Matcher,
    /// The reason why the proxy cannot be used.
    fault: Option<String>,
    plain: PlainClient,
    /// Created for the first URL that needs it, because loading the machine's certificates is slow.
    secure: OnceLock<Result<SecureClient, WireError>>,
}

/// Proxies from the usual environment variables.
#[derive(Debug, Clone, Default)]
pub struct ProxyConfig {
    /// The proxy for `https:` URLs. Others are on this machine.
    https: Option<ProxyVariable>,
    /// Hosts that are connected to directly, separated by commas.
    direct: String,
}

impl HttpTransport {
    /// Returns a transport that uses these proxies.
    pub fn new(through: &ProxyConfig) -> Self {
        let fault = through.fault();
        // The matcher ignores an invalid address, and would connect directly.
        let address = if fault.is_some() {
            Some("http://unusable.invalid")
        } else {
            through.https.as_ref().map(ProxyVariable::address)
        };
        Self {
            proxies: Matcher::builder()
                .https(address.unwrap_or_default().to_owned())
                .no(through.direct.clone())
                .build(),
            fault,
            plain: client(connector()),
            secure: OnceLock::new(),
        }
    }

    /// Returns the proxy for a URL, if any. This machine is connected to directly.
    fn proxy_of(&self, uri: &Uri) -> Option<Intercept> {
        let is_here = uri.scheme_str() == Some("http") || uri.host().is_some_and(is_loopback);
        self.proxies.intercept(uri).filter(|_| !is_here)
    }

    async fn carry(&self, mut request: Request<HttpBody>) -> Result<Response<HttpBody>, WireError> {
        set_content_length(&mut request)?;
        let moved = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&moved);
        let request = request.map(|inner| {
            CountedBody {
                inner,
                frames: counter,
            }
            .boxed_unsync()
        });
        let proxy = self.proxy_of(request.uri());
        if let (Some(_), Some(reason)) = (&proxy, &self.fault) {
            return Err(WireError {
                reason: reason.clone(),
                is_lasting: true,
            });
        }
        let through = proxy.as_ref().map(name_of);
        let answer = match (request.uri().scheme_str(), proxy) {
            (Some("http"), _) => self.plain.request(request),
            (_, None) => self
                .secure
                .get_or_init(|| Ok(client(secured(connector())?)))
                .clone()?
                .request(request),
            // One connection per request: few requests go through a proxy.
            (_, Some(proxy)) => client(secured(tunnel(&proxy))?).request(request),
        };
        tokio::pin!(answer);
        let mut before = 0;
        loop {
            match tokio::time::timeout(SILENCE, &mut answer).await {
                Ok(answer) => {
                    let lost = |error: hyper::Error| std::io::Error::other(chain(&error));
                    return answer
                        .map(|got| got.map(|body| body.map_err(lost).boxed_unsync()))
                        .map_err(|error| fault(&error, through.as_deref()));
                }
                Err(_) if moved.load(Ordering::Relaxed) == before => {
                    let reason = format!("nothing moved for {} seconds", SILENCE.as_secs());
                    return Err(WireError {
                        reason,
                        is_lasting: false,
                    });
                }
                Err(_) => before = moved.load(Ordering::Relaxed),
            }
        }
    }
}

/// Sets `Content-Length` of every request that has a body or whose method expects one (RFC 9110,
/// section 8.6). Without it hyper sends the body in chunks, which GitHub answers with 411 (octocrab
/// issue 463).
fn set_content_length(request: &mut Request<HttpBody>) -> Result<(), WireError> {
    let refuse = |reason: String| WireError {
        reason,
        is_lasting: true,
    };
    request.headers_mut().remove(TRANSFER_ENCODING);
    let Some(length) = request.body().size_hint().exact() else {
        return Err(refuse(
            "the length of the body of a request is not known".to_owned(),
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
        Some(announced) if announced != HeaderValue::from(length) => Err(refuse(format!(
            "a body of {length} bytes was announced with the length {announced:?}"
        ))),
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

impl Transport for HttpTransport {
    fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_> {
        Box::pin(self.carry(request))
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Net").finish_non_exhaustive()
    }
}

fn connector() -> HttpConnector<ThreadResolver> {
    let mut connector = HttpConnector::new_with_resolver(ThreadResolver);
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT));
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
fn name_of(proxy: &Intercept) -> String {
    let uri = proxy.uri();
    let port = uri
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    format!("{}{port}", uri.host().unwrap_or_default())
}

fn secured<C>(connector: C) -> Result<HttpsConnector<C>, WireError> {
    let lasting = |reason: String| WireError {
        reason,
        is_lasting: true,
    };
    let builder = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
        .map_err(|error| {
            lasting(format!(
                "this machine has no certificates to trust: {error}"
            ))
        })?;
    Ok(builder
        .https_only()
        .enable_http1()
        .wrap_connector(connector))
}

fn client<C>(connector: C) -> Client<C, HttpBody>
where
    C: hyper_util::client::legacy::connect::Connect + Clone,
{
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(SILENCE)
        .build(connector)
}

/// Converts an error of hyper, with all causes: its own message is only "client error".
fn fault(error: &Error, proxy: Option<&str>) -> WireError {
    let reason = chain(error);
    // A refused connection to a proxy means a wrong address; a server may still be starting.
    let is_lasting = (proxy.is_some() && reason.contains("Connection refused"))
        || [
            "invalid peer certificate",
            "received corrupt message",
            "proxy authorization required",
            "tunnel error: unsuccessful",
        ]
        .iter()
        .any(|sign| reason.contains(sign));
    match proxy {
        Some(proxy) => WireError {
            reason: format!("through the proxy {proxy}: {reason}"),
            is_lasting,
        },
        None => WireError { reason, is_lasting },
    }
}

fn chain(error: &dyn std::error::Error) -> String {
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

/// Proxies from environment variables; `get` returns the value of a variable.
impl ProxyConfig {
    /// Reads `https_proxy`, `all_proxy` and `no_proxy`. Lower case takes precedence over upper
    /// case.
    pub fn from_variables<'a>(get: impl Fn(&str) -> Option<&'a str> + Copy) -> Self {
        let https = ProxyVariable::from_variables(["https_proxy", "all_proxy"], get);
        Self {
            https,
            direct: variable_value("no_proxy", get).unwrap_or_default(),
        }
    }

    /// Returns why the proxy cannot be used, if so.
    fn fault(&self) -> Option<String> {
        let named = self.https.as_ref()?;
        if let Some(scheme) = named
            .scheme()
            .filter(|scheme| !scheme.eq_ignore_ascii_case("http"))
        {
            return Some(named.unsupported(scheme).to_string());
        }
        let rest = named
            .address()
            .split_once("://")
            .map_or(named.address(), |(_, rest)| rest);
        let is_address = format!("http://{rest}").parse::<Uri>().is_ok_and(|uri| {
            let authority = uri.authority().map_or("", Authority::as_str);
            let address = authority
                .rsplit_once('@')
                .map_or(authority, |(_, address)| address);
            let host = uri.host().unwrap_or_default();
            // `Uri` accepts a port above 65535, and then returns none.
            let is_port = |port: &str| {
                port.strip_prefix(':')
                    .is_some_and(|port| port.parse::<u16>().is_ok())
            };
            !host.is_empty()
                && address
                    .strip_prefix(host)
                    .is_some_and(|port| port.is_empty() || is_port(port))
        });
        (!is_address).then(|| named.malformed().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{HttpTransport, ProxyConfig, name_of};

    fn proxy_of(uri: &str, variables: &[(&str, &str)]) -> Option<String> {
        let get = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        };
        HttpTransport::new(&ProxyConfig::from_variables(get))
            .proxy_of(&uri.parse().unwrap())
            .as_ref()
            .map(name_of)
    }

    #[test]
    fn a_proxy_is_asked_unless_the_host_is_excepted_or_this_machine() {
        let proxy = ("HTTPS_PROXY", "http://me:secret@proxy.example.com:3128");
        let except = ("NO_PROXY", "internal.example.com,.corp.example.com");
        let of = |uri| proxy_of(uri, &[proxy, except]);
        assert_eq!(
            of("https://api.github.com/x").as_deref(),
            Some("proxy.example.com:3128")
        );
        for direct in [
            "https://internal.example.com/x",
            "https://a.corp.example.com/x",
            "https://localhost/x",
            "https://127.0.0.1:8/x",
            "https://[::1]:8/x",
            "http://127.0.0.1:8/x",
        ] {
            assert_eq!(of(direct), None, "{direct}");
        }
        assert_eq!(
            proxy_of("https://api.github.com", &[("NO_PROXY", "*"), proxy]),
            None
        );
        assert_eq!(proxy_of("https://api.github.com", &[]), None);
        let all = proxy_of(
            "https://api.github.com",
            &[("all_proxy", "http://p:1"), ("http_proxy", "http://q:2")],
        );
        assert_eq!(all.as_deref(), Some("p:1"));
    }
}

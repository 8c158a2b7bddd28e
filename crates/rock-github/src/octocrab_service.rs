//! The service that octocrab sends its requests through, on top of [`Executor`].

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use octocrab::{AuthState, OctoBody, Octocrab, OctocrabBuilder};

use super::error::GithubError;
use super::executor::{Executor, Idempotency};

/// Method and path of the current request, for octocrab's own errors, which do not have them.
pub(super) type RequestLine = Arc<Mutex<String>>;

/// Returns an octocrab client whose requests are sent by the executor. It has no token, retries or
/// redirects itself. Must be called within a runtime.
pub(super) fn octocrab(executor: &Arc<Executor>) -> (Octocrab, RequestLine) {
    let request_line = RequestLine::default();
    let service = OctocrabService {
        executor: Arc::clone(executor),
        request_line: Arc::clone(&request_line),
    };
    let built = OctocrabBuilder::new_empty()
        .with_service(service)
        .with_auth(AuthState::None)
        .build();
    match built {
        Ok(octocrab) => (octocrab, request_line),
        Err(never) => match never {},
    }
}

#[derive(Clone)]
struct OctocrabService {
    executor: Arc<Executor>,
    request_line: RequestLine,
}

impl tower_service::Service<Request<OctoBody>> for OctocrabService {
    type Response = Response<Full<Bytes>>;
    type Error = GithubError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, GithubError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), GithubError>> {
        Poll::Ready(Ok(()))
    }

    /// Sends a request. A response with an error status is an error here, because octocrab ignores
    /// the status of some requests, such as the deletion of a release.
    fn call(&mut self, request: Request<OctoBody>) -> Self::Future {
        let executor = Arc::clone(&self.executor);
        let (parts, body) = request.into_parts();
        let target = parts.uri.to_string();
        let path = target.split('?').next().unwrap_or(&target);
        let call = format!("{} {path}", parts.method);
        self.request_line
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&call);
        Box::pin(async move {
            let lost = |error: octocrab::Error| GithubError::Malformed {
                call: parts.method.to_string(),
                reason: error.to_string(),
            };
            let body = body.collect().await.map_err(lost)?.to_bytes();
            let kind = match parts.method {
                Method::GET => Idempotency::Safe,
                Method::PATCH | Method::DELETE => Idempotency::Idempotent,
                _ => Idempotency::NotIdempotent,
            };
            let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
            let uri = if parts.uri.authority().is_some() {
                parts.uri.clone()
            } else {
                executor.api.at(path)?
            };
            let reply = executor.call(&parts.method, &uri, &body, kind).await?;
            if (200..300).contains(&reply.status) {
                Ok(reply.into_response())
            } else {
                Err(reply.refusal(call))
            }
        })
    }
}

/// Converts an error of octocrab. One of the executor is its source; any other means that the
/// response to the last request is invalid.
pub(super) fn github_error(error: &octocrab::Error, request_line: &RequestLine) -> GithubError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(found) = inner.downcast_ref::<GithubError>() {
            return found.clone();
        }
        cause = inner.source();
    }
    let reason = match error {
        octocrab::Error::Json { source, .. } => source.inner().to_string(),
        other => other.to_string(),
    };
    let call = request_line.lock().unwrap_or_else(PoisonError::into_inner);
    GithubError::Malformed {
        call: call.clone(),
        reason,
    }
}

//! The service that octocrab sends its requests through, on top of [`Executor`].

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use octocrab::{AuthState, OctoBody, Octocrab, OctocrabBuilder};
use serde::de::DeserializeOwned;

use super::error::GithubError;
use super::executor::{Executor, Idempotency};
use super::reply::ApiReply;

/// Returns an octocrab client whose requests are sent by the executor. It has no token, retries or
/// redirects itself. Must be called within a runtime.
pub(super) fn octocrab(caller: &Arc<Executor>) -> Octocrab {
    let built = OctocrabBuilder::new_empty()
        .with_service(OctocrabService(Arc::clone(caller)))
        .with_auth(AuthState::None)
        .build();
    match built {
        Ok(octocrab) => octocrab,
        Err(never) => match never {},
    }
}

#[derive(Clone)]
struct OctocrabService(Arc<Executor>);

impl tower_service::Service<Request<OctoBody>> for OctocrabService {
    type Response = Response<Full<Bytes>>;
    type Error = GithubError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, GithubError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), GithubError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<OctoBody>) -> Self::Future {
        let caller = Arc::clone(&self.0);
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let lost = |error: octocrab::Error| GithubError::Malformed {
                call: parts.method.to_string(),
                reason: error.to_string(),
            };
            let body = body.collect().await.map_err(lost)?.to_bytes();
            let kind = match parts.method {
                Method::GET => Idempotency::Reads,
                Method::PATCH | Method::DELETE => Idempotency::Repeats,
                _ => Idempotency::Once,
            };
            let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
            let uri = if parts.uri.authority().is_some() {
                parts.uri.clone()
            } else {
                caller.api.at(path)?
            };
            caller
                .call(&parts.method, &uri, &body, kind)
                .await
                .map(ApiReply::into_response)
        })
    }
}

/// Parses the response to an octocrab request. Unwraps a [`GithubError`] from octocrab's error.
pub(super) async fn read<T: DeserializeOwned>(
    call: &str,
    answer: Result<
        Response<http_body_util::combinators::BoxBody<Bytes, octocrab::Error>>,
        octocrab::Error,
    >,
) -> Result<(T, http::HeaderMap), GithubError> {
    let (reply, headers) = reply(call, answer).await?;
    let fault = |e: serde_json::Error| GithubError::Malformed {
        call: call.to_owned(),
        reason: e.to_string(),
    };
    Ok((serde_json::from_slice(&reply.body).map_err(fault)?, headers))
}

/// Reads the response to an octocrab request without parsing its body.
pub(super) async fn reply(
    call: &str,
    answer: Result<
        Response<http_body_util::combinators::BoxBody<Bytes, octocrab::Error>>,
        octocrab::Error,
    >,
) -> Result<(ApiReply, http::HeaderMap), GithubError> {
    let (parts, body) = answer.map_err(|error| ours(call, &error))?.into_parts();
    let body = body
        .collect()
        .await
        .map_err(|error| ours(call, &error))?
        .to_bytes();
    let reply = ApiReply {
        status: parts.status.as_u16(),
        headers: parts.headers.clone(),
        body,
    };
    if parts.status.is_success() {
        Ok((reply, parts.headers))
    } else {
        Err(reply.refusal(call.to_owned()))
    }
}

/// Returns the [`GithubError`] that an octocrab error wraps, or one with its message.
fn ours(call: &str, error: &octocrab::Error) -> GithubError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(found) = inner.downcast_ref::<GithubError>() {
            return found.clone();
        }
        cause = inner.source();
    }
    GithubError::Malformed {
        call: call.to_owned(),
        reason: error.to_string(),
    }
}

//! Diagnostics for errors of API requests: the code and the help.

use std::borrow::Cow;

use super::super::api::ApiError;
use super::GithubError;
use crate::codes::release as codes;
use rock_diagnostic::{Code, Diagnostic, Location};
use rock_publish::remote::ListingContradiction;

/// A diagnostic code and its help.
type CodeAndHelp = (&'static Code, Cow<'static, str>);

const AGAIN: &str = "run the same command again to resume";

impl From<GithubError> for Diagnostic {
    fn from(error: GithubError) -> Self {
        let error = error.cause();
        let (code, help) = advice(&error);
        let mut diagnostic = Self::new(code, error.to_string());
        if let GithubError::Contradicted(ListingContradiction {
            answered, listed, ..
        }) = &error
        {
            diagnostic = diagnostic
                .note(format!("response: {answered}"))
                .note(format!("listing: {listed}"));
        }
        if let GithubError::Status {
            request_id: Some(id),
            ..
        } = &error
        {
            diagnostic = diagnostic.note(format!("request ID: {id}"));
        }
        let location = match &error {
            GithubError::File { path, .. } | GithubError::FileChanged { path } => {
                Some(Location::File(path.as_str().into()))
            }
            error => place(error).map(|place| Location::Url(place.to_owned())),
        };
        let diagnostic = match location {
            Some(location) => diagnostic.at(location, ""),
            None => diagnostic,
        };
        diagnostic.help(help)
    }
}

/// Returns the request, asset or tag that the error is about.
fn place(error: &GithubError) -> Option<&str> {
    match error {
        GithubError::NoResponse { call, .. }
        | GithubError::ServerError { call, .. }
        | GithubError::Status { call, .. }
        | GithubError::UnknownOutcome { call, .. }
        | GithubError::Malformed { call, .. }
        | GithubError::Limited { call, .. }
        | GithubError::Deadline { call, .. }
        | GithubError::StoppedDuringWait { call, .. } => Some(call),
        GithubError::StoredUnderOtherName { name: at, .. }
        | GithubError::RenamedToOtherName { name: at, .. }
        | GithubError::StoredWithOtherContent { name: at, .. }
        | GithubError::Contested { tag: at }
        | GithubError::ReplacedAgain { name: at } => Some(at),
        GithubError::Contradicted(contradiction) => Some(&contradiction.name),
        GithubError::File { .. }
        | GithubError::FileChanged { .. }
        | GithubError::Api(_)
        | GithubError::Stopped
        | GithubError::EndedDuringWrite(_) => None,
    }
}

fn advice(error: &GithubError) -> CodeAndHelp {
    let (code, help) = match error {
        GithubError::Status {
            call,
            status,
            message,
            ..
        } => return refused(error, call, *status, message),
        GithubError::Malformed { .. } => (
            &codes::CALL_REFUSED,
            "check `--api-url`, and whether a proxy or a login page responds instead of the API",
        ),
        GithubError::NoResponse { reason, .. } if reason.contains("certificate") => (
            &codes::NO_ANSWER,
            "if you use your own certificate authority, set `SSL_CERT_FILE` to its certificates",
        ),
        GithubError::NoResponse {
            is_transient: false,
            ..
        } => (
            &codes::NO_ANSWER,
            "check the network, and the proxy in `https_proxy` or `all_proxy` if one is set",
        ),
        GithubError::NoResponse { .. } => (
            &codes::NO_ANSWER,
            "check the network and the proxy; run the same command again to resume",
        ),
        GithubError::ServerError { .. }
        | GithubError::UnknownOutcome {
            status: Some(500..=599),
            ..
        } => (
            &codes::NO_ANSWER,
            "GitHub has a problem, see https://www.githubstatus.com; run the same command again \
             to resume",
        ),
        GithubError::Limited { .. } => (
            &codes::NO_ANSWER,
            "run the same command again in an hour to resume",
        ),
        GithubError::Deadline { .. } => (
            &codes::NO_ANSWER,
            "run the same command again to resume, with a longer `--deadline` if you set one",
        ),
        GithubError::Api(ApiError::UploadsElsewhere { found, .. }) => {
            let help = format!(
                "if your server accepts uploads at that host, pass `--uploads-host {found}`"
            );
            return (&codes::API_LEADS_ELSEWHERE, help.into());
        }
        GithubError::Api(ApiError::TooManyRedirects { .. }) => (
            &codes::NO_ANSWER,
            "check the URL in `--api-url`, and the proxy if one is set",
        ),
        GithubError::Api(_) => (
            &codes::API_LEADS_ELSEWHERE,
            "if this is your server, pass its URL with `--api-url`",
        ),
        GithubError::File { .. } => (
            &codes::FILE_CANNOT_BE_SENT,
            "check that the file exists and can be read, then run the same command again",
        ),
        GithubError::FileChanged { .. } => (
            &codes::FILE_CANNOT_BE_SENT,
            "run the same command again once nothing writes to the file",
        ),
        GithubError::StoredUnderOtherName { .. } => {
            let help =
                "run the same command again; if it happens again, give the file a simpler name";
            (&codes::ASSET_RENAMED, help)
        }
        GithubError::RenamedToOtherName { found, .. } => {
            let help = format!(
                "delete `{found}` from the release and run the same command again; if it happens \
                 again, give the file a simpler name"
            );
            return (&codes::ASSET_RENAMED, help.into());
        }
        GithubError::StoredWithOtherContent { .. } => (
            &codes::ASSET_DAMAGED,
            "run the same command again to upload it again",
        ),
        GithubError::Contested { .. } => (
            &codes::NOT_ON_GITHUB,
            "let one run publish at a time: run the same command again when no other one publishes",
        ),
        GithubError::Contradicted(_) => (
            &codes::LISTING_CONTRADICTS,
            "run the same command again: it deletes the file from the draft and uploads it again",
        ),
        GithubError::ReplacedAgain { .. } => (
            &codes::REPLACED_AGAIN,
            "let one run publish at a time: run the same command again when no other one publishes",
        ),
        GithubError::UnknownOutcome { .. }
        | GithubError::Stopped
        | GithubError::StoppedDuringWait { .. }
        | GithubError::EndedDuringWrite(_) => (&codes::NO_ANSWER, AGAIN),
    };
    (code, help.into())
}

/// Returns code and help for a request that GitHub refused.
fn refused(error: &GithubError, call: &str, status: u16, message: &str) -> CodeAndHelp {
    let (code, help) = match status {
        401 => (&codes::BAD_TOKEN, "set `GITHUB_TOKEN` to a valid token"),
        403 if call.starts_with("GET ") => (
            &codes::TOKEN_WITHOUT_RIGHT,
            "the token needs permission to read contents: `permissions: contents: read` in a \
             workflow",
        ),
        403 => (
            &codes::TOKEN_WITHOUT_RIGHT,
            "the token needs permission to write contents: `permissions: contents: write` in a \
             workflow",
        ),
        404 if call.ends_with("/releases") => (
            &codes::NOT_ON_GITHUB,
            "check `--repo`; GitHub responds in the same way if the token may not see the \
             repository",
        ),
        404 => (
            &codes::NOT_ON_GITHUB,
            "it may have been deleted in the meantime: run the same command again to resume",
        ),
        _ if message.contains("was used by an immutable release") => (
            &codes::TAG_IS_SPENT,
            "delete the draft, and publish under a new tag: the tag of an immutable release can \
             never be used again",
        ),
        _ if message.contains("immutable release") => (
            &codes::IMMUTABLE_RELEASE,
            "publish under a new tag: the assets and the tag of an immutable release cannot change",
        ),
        _ if error.is_of_full_release() => (
            &codes::RELEASE_IS_FULL,
            "publish fewer files, or delete unneeded files from the release and run the same \
             command again",
        ),
        _ if message.contains("rule violations") => (
            &codes::CALL_REFUSED,
            "a ruleset of the repository forbids it: push the tag as a user who may create it, or \
             change the ruleset",
        ),
        _ => (
            &codes::CALL_REFUSED,
            "fix what GitHub reports, then run the same command again to resume",
        ),
    };
    (code, help.into())
}

//! Diagnostics for errors of API requests: the code and the help.

use std::borrow::Cow;

use super::super::api::ApiError;
use super::GithubError;
use crate::codes::release as codes;
use rock_diagnostic::{Code, Diagnostic, Location};
use rock_publish::remote::ListingContradiction;

/// A diagnostic code and its help.
type CodeAndHelp = (&'static Code, Cow<'static, str>);

const AGAIN: &str = "run the same command again to go on";

impl From<GithubError> for Diagnostic {
    fn from(error: GithubError) -> Self {
        let error = error.cause();
        let (code, help) = advice(&error);
        let mut told = Self::new(code, error.to_string());
        if let GithubError::Contradicted(ListingContradiction {
            answered, listed, ..
        }) = &error
        {
            told = told
                .note(format!("it answered: {answered}"))
                .note(format!("it lists: {listed}"));
        }
        let told = match place(&error) {
            Some(place) => told.at(Location::Url(place.to_owned()), ""),
            None => told,
        };
        told.help(help)
    }
}

/// Returns the request, file or tag that the error is about.
fn place(error: &GithubError) -> Option<&str> {
    match error {
        GithubError::NoAnswer { call, .. }
        | GithubError::Status { call, .. }
        | GithubError::Unsure { call, .. }
        | GithubError::Malformed { call, .. }
        | GithubError::Limited { call, .. }
        | GithubError::Deadline { call, .. } => Some(call),
        GithubError::File { path: at, .. }
        | GithubError::Stored { wanted: at, .. }
        | GithubError::Damaged { name: at, .. }
        | GithubError::Contested { tag: at }
        | GithubError::ReplacedAgain { name: at } => Some(at),
        GithubError::Contradicted(contradiction) => Some(&contradiction.name),
        GithubError::Api(_) | GithubError::Stopped | GithubError::LeftOpen(_) => None,
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
            "check `--api-url`, and whether a proxy or a login page answers in its place",
        ),
        GithubError::NoAnswer { reason, .. } if reason.contains("certificate") => (
            &codes::NO_ANSWER,
            "where an authority of your own signs, name its certificates in `SSL_CERT_FILE`",
        ),
        GithubError::NoAnswer {
            is_permanent: true, ..
        } => (
            &codes::NO_ANSWER,
            "check the network, and the proxy that `https_proxy` or `all_proxy` names, if any",
        ),
        GithubError::NoAnswer { .. } => (
            &codes::NO_ANSWER,
            "check the network and the proxy; run the same command again to go on",
        ),
        GithubError::Limited { .. } => (
            &codes::NO_ANSWER,
            "run the same command again in an hour to go on",
        ),
        GithubError::Deadline { .. } => (
            &codes::NO_ANSWER,
            "run the same command again to go on, with a longer `--deadline` where one was given",
        ),
        GithubError::Api(ApiError::UploadsElsewhere { found, .. }) => {
            let help = format!(
                "where your server takes files at that host, say so with `--uploads-host {found}`"
            );
            return (&codes::API_LEADS_ELSEWHERE, help.into());
        }
        GithubError::Api(ApiError::TooManyRedirects { .. }) => (
            &codes::NO_ANSWER,
            "check the address that `--api-url` gives, and the proxy, if any",
        ),
        GithubError::Api(_) => (
            &codes::API_LEADS_ELSEWHERE,
            "where this is your server, give its address with `--api-url`",
        ),
        GithubError::File { .. } => (
            &codes::FILE_CANNOT_BE_SENT,
            "run the same command again when nothing writes to the file any more",
        ),
        GithubError::Stored { .. } => {
            let help =
                "run the same command again; where it happens again, give the file a plainer name";
            (&codes::ASSET_RENAMED, help)
        }
        GithubError::Damaged { .. } => (
            &codes::ASSET_DAMAGED,
            "run the same command again to send it again",
        ),
        GithubError::Contested { .. } => (
            &codes::NOT_ON_GITHUB,
            "let one run publish at a time: run the same command again when no other does",
        ),
        GithubError::Contradicted(_) => (
            &codes::LISTING_CONTRADICTS,
            "run the same command again: it deletes the file from the draft and sends it again",
        ),
        GithubError::ReplacedAgain { .. } => (
            &codes::REPLACED_AGAIN,
            "let one run publish at a time: run the same command again when no other does",
        ),
        GithubError::Unsure { .. } | GithubError::Stopped | GithubError::LeftOpen(_) => {
            (&codes::NO_ANSWER, AGAIN)
        }
    };
    (code, help.into())
}

/// Returns code and help for a request that GitHub refused.
fn refused(error: &GithubError, call: &str, status: u16, said: &str) -> CodeAndHelp {
    let (code, help) = match status {
        401 => (
            &codes::BAD_TOKEN,
            "give a token that is valid in `GITHUB_TOKEN`",
        ),
        403 if call.starts_with("GET ") => (
            &codes::TOKEN_WITHOUT_RIGHT,
            "the token needs the right to read contents: `permissions: contents: read` in a workflow",
        ),
        403 => (
            &codes::TOKEN_WITHOUT_RIGHT,
            "the token needs the right to write contents: `permissions: contents: write` in a workflow",
        ),
        404 if call.ends_with("/releases") => (
            &codes::NOT_ON_GITHUB,
            "check `--repo`; a token that may not see a repository gets this answer as well",
        ),
        404 => (
            &codes::NOT_ON_GITHUB,
            "it may have been deleted meanwhile: run the same command again to go on",
        ),
        _ if said.contains("was used by an immutable release") => (
            &codes::TAG_IS_SPENT,
            "delete the draft, and publish under a new tag: one that an immutable release had is never free again",
        ),
        _ if said.contains("immutable release") => (
            &codes::IMMUTABLE_RELEASE,
            "publish under a new tag: assets and tag of an immutable release stay as they are",
        ),
        _ if error.is_of_full_release() => (
            &codes::RELEASE_IS_FULL,
            "publish fewer files, or delete what is not needed of the release, then go on",
        ),
        _ if said.contains("rule violations") => (
            &codes::CALL_REFUSED,
            "a ruleset of the repository forbids it: push the tag as someone who may, or change the ruleset",
        ),
        _ => (
            &codes::CALL_REFUSED,
            "mend what GitHub names, then run the same command again to go on",
        ),
    };
    (code, help.into())
}

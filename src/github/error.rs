//! What goes wrong with calls.

use super::api::ApiError;
use super::token::Token;
use crate::diagnostic::{Diagnostic, Place, registry::release as codes};

/// A call that did not do what it was to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GithubError {
    /// Nobody answered, at the last try.
    #[error("{call}: no answer: {reason}")]
    NoAnswer {
        /// Method and path.
        call: String,
        /// What happened.
        reason: String,
        /// Whether trying again would be in vain.
        is_lasting: bool,
    },
    /// The answer is no.
    #[error("{call}: GitHub answers {status}: {message}")]
    Status {
        /// Method and path.
        call: String,
        /// The HTTP status.
        status: u16,
        /// GitHub's words.
        message: String,
        /// GitHub's words for the fields at fault: `already_exists`, `custom`, ….
        codes: Vec<String>,
    },
    /// It is not known whether the call came through.
    #[error("{call}: it is not known whether it came through: {reason}")]
    Unsure {
        /// Method and path.
        call: String,
        /// What happened.
        reason: String,
    },
    /// The answer is not what the API gives.
    #[error("{call}: the answer makes no sense: {reason}")]
    Malformed {
        /// Method and path.
        call: String,
        /// Why.
        reason: String,
    },
    /// A limit turned the call away, again and again; it did nothing.
    #[error("{call}: GitHub takes no more calls for now: {reason}")]
    Limited {
        /// Method and path.
        call: String,
        /// GitHub's words.
        reason: String,
    },
    /// The time that publishing may take is over, or a wait would go beyond it.
    #[error("{call}: out of time: {reason}")]
    Deadline {
        /// Method and path.
        call: String,
        /// What takes too long.
        reason: String,
    },
    /// The API leads elsewhere.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// A file cannot be sent.
    #[error("`{path}` cannot be sent: {reason}")]
    File {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A file got another name than it was sent with; what arrived was deleted.
    #[error("GitHub stored `{wanted}` as `{found}`")]
    Stored {
        /// What was sent.
        wanted: String,
        /// What arrived.
        found: String,
    },
    /// Other bytes arrived than were sent; they were deleted.
    #[error("GitHub stored `{name}` as {found}, and it was sent as {wanted}")]
    Damaged {
        /// The name of the file.
        name: String,
        /// Size and digest of what was sent.
        wanted: String,
        /// Size and digest of what arrived.
        found: String,
    },
    /// Each draft that was made is deleted.
    #[error("someone deletes the drafts of `{tag}` while it is published")]
    Contested {
        /// The tag.
        tag: String,
    },
    /// The user or the system asked to stop.
    #[error("it was stopped")]
    Stopped,
    /// This ended it while a call that changes something was under way: it is not known whether that came through.
    #[error("{0}")]
    LeftOpen(Box<Self>),
}

impl GithubError {
    /// Whether GitHub turns a file away for the release's sake, so that it takes no other either. `file_count` names the
    /// limit of assets in the fault of a release that is full.
    fn is_of_release(&self) -> bool {
        matches!(self, Self::Status { status: 422, message, .. } if message.contains("file_count"))
    }

    /// Whether it is not known what a call that changes something did.
    pub fn leaves_open(&self) -> bool {
        // An answer that makes no sense may come from something that stands between.
        matches!(self, Self::LeftOpen(_) | Self::Unsure { .. } | Self::Malformed { .. })
    }

    /// What ended it, whatever was under way.
    #[must_use]
    pub fn cause(self) -> Self {
        if let Self::LeftOpen(cause) = self { cause.cause() } else { self }
    }

    /// The same of a call of which a try may have come through.
    pub(super) fn left_open(self) -> Self {
        match self {
            Self::NoAnswer { .. } | Self::Limited { .. } | Self::Deadline { .. } | Self::Stopped => {
                Self::LeftOpen(Box::new(self))
            }
            other => other,
        }
    }

    /// Whether the next call would fare no better.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 401 | 403 | 404 | 410 | 451) || self.is_of_release(),
            Self::NoAnswer { .. } | Self::Limited { .. } | Self::Deadline { .. } | Self::Api(_) | Self::Stopped => true,
            Self::Contested { .. } => true,
            Self::LeftOpen(cause) => cause.is_final(),
            Self::Unsure { .. } | Self::Malformed { .. } | Self::File { .. } => false,
            Self::Stored { .. } | Self::Damaged { .. } => false,
        }
    }

    /// The same without the token, wherever a server wrote it.
    pub(super) fn without(self, token: Option<&Token>) -> Self {
        let Some(token) = token else { return self };
        let clean = |text: String| token.without(&text);
        match self {
            Self::NoAnswer { call, reason, is_lasting } => Self::NoAnswer { call, reason: clean(reason), is_lasting },
            Self::Status { call, status, message, codes } => {
                let codes = codes.into_iter().map(clean).collect();
                Self::Status { call, status, message: clean(message), codes }
            }
            Self::Unsure { call, reason } => Self::Unsure { call, reason: clean(reason) },
            Self::Malformed { call, reason } => Self::Malformed { call, reason: clean(reason) },
            Self::Limited { call, reason } => Self::Limited { call, reason: clean(reason) },
            Self::Deadline { call, reason } => Self::Deadline { call, reason: clean(reason) },
            Self::Stored { wanted, found } => Self::Stored { wanted, found: clean(found) },
            Self::Api(ApiError::Elsewhere { api, found }) => ApiError::Elsewhere { api, found: clean(found) }.into(),
            Self::Api(ApiError::UploadsElsewhere { api, found }) => {
                ApiError::UploadsElsewhere { api, found: clean(found) }.into()
            }
            Self::LeftOpen(cause) => Self::LeftOpen(Box::new(cause.without(Some(token)))),
            other => other,
        }
    }
}

impl From<GithubError> for Diagnostic {
    fn from(error: GithubError) -> Self {
        let message = error.to_string();
        let place = |call: &str| Place::Remote(call.to_owned());
        match &error {
            GithubError::Status { call, status: 401, .. } => Self::new(&codes::BAD_TOKEN, message)
                .at(place(call), "")
                .help("give a token that is valid in `GITHUB_TOKEN`"),
            GithubError::Status { call, status: 403, .. } => Self::new(&codes::TOKEN_WITHOUT_RIGHT, message)
                .at(place(call), "")
                .help("the token needs the right to write contents: `permissions: contents: write` in a workflow"),
            GithubError::Status { call, status: 404, .. } => {
                Self::new(&codes::NOT_ON_GITHUB, message).at(place(call), "").help(if call.ends_with("/releases") {
                    "check `--repo`; a token that may not see a repository gets this answer as well"
                } else {
                    "it may have been deleted meanwhile: run the same command again to go on"
                })
            }
            GithubError::Status { call, message: said, .. } if said.contains("was used by an immutable release") => {
                Self::new(&codes::TAG_IS_SPENT, message)
                    .at(place(call), "")
                    .help("delete the draft, and publish under a new tag: one that an immutable release had is never free again")
            }
            GithubError::Status { call, message: said, .. } if said.contains("immutable release") => {
                Self::new(&codes::IMMUTABLE_RELEASE, message)
                    .at(place(call), "")
                    .help("publish under a new tag: assets and tag of an immutable release stay as they are")
            }
            GithubError::Status { call, .. } if error.is_of_release() => Self::new(&codes::CALL_REFUSED, message)
                .at(place(call), "")
                .help("the release is full: publish fewer files, or delete what is not needed of it, then go on"),
            GithubError::Status { call, .. } => Self::new(&codes::CALL_REFUSED, message)
                .at(place(call), "")
                .help("mend what GitHub names, then run the same command again to go on"),
            GithubError::Malformed { call, .. } => Self::new(&codes::CALL_REFUSED, message)
                .at(place(call), "")
                .help("check `--api-url`, and whether a proxy or a login page answers in its place"),
            GithubError::NoAnswer { call, reason, .. } if reason.contains("certificate") => {
                Self::new(&codes::NO_ANSWER, message)
                    .at(place(call), "")
                    .help("where an authority of your own signs, name its certificates in `SSL_CERT_FILE`")
            }
            GithubError::NoAnswer { call, .. } => Self::new(&codes::NO_ANSWER, message)
                .at(place(call), "")
                .help("check the network and the proxy; run the same command again to go on"),
            GithubError::Unsure { call, .. } => {
                Self::new(&codes::NO_ANSWER, message).at(place(call), "").help("run the same command again to go on")
            }
            GithubError::Limited { call, .. } => Self::new(&codes::NO_ANSWER, message)
                .at(place(call), "")
                .help("run the same command again in an hour to go on"),
            GithubError::Deadline { call, .. } => Self::new(&codes::NO_ANSWER, message)
                .at(place(call), "")
                .help("run the same command again to go on, with a longer `--deadline` where one was given"),
            GithubError::Api(ApiError::UploadsElsewhere { found, .. }) => Self::new(&codes::API_LEADS_ELSEWHERE, &*message)
                .help(format!("where your server takes files at that host, say so with `--uploads-host {found}`")),
            GithubError::Api(_) => Self::new(&codes::API_LEADS_ELSEWHERE, message)
                .help("where this is your server, give its address with `--api-url`"),
            GithubError::File { path, .. } => Self::new(&codes::FILE_CANNOT_BE_SENT, message)
                .at(place(path), "")
                .help("run the same command again when nothing writes to the file any more"),
            GithubError::Stored { wanted, .. } => Self::new(&codes::ASSET_RENAMED, message)
                .at(place(wanted), "")
                .help("run the same command again; where it happens again, give the file a plainer name"),
            GithubError::Damaged { name, .. } => Self::new(&codes::ASSET_DAMAGED, message)
                .at(place(name), "")
                .help("run the same command again to send it again"),
            GithubError::Contested { tag } => Self::new(&codes::NOT_ON_GITHUB, message)
                .at(place(tag), "")
                .help("let one run publish at a time: run the same command again when no other does"),
            GithubError::Stopped => Self::new(&codes::NO_ANSWER, message).help("run the same command again to go on"),
            GithubError::LeftOpen(_) => error.cause().into(),
        }
    }
}

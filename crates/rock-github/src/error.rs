//! Errors of API requests.

mod advice;

use super::api::ApiError;
use super::token::Token;
use rock_publish::remote::ListingContradiction;

/// The fields of an asset (REST API version 2022-11-28, "Upload a release asset": its parameters
/// and its response).
const OF_ASSET: [&str; 5] = ["name", "label", "content_type", "size", "state"];

/// An error of an API request or of an upload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GithubError {
    /// There was no response to the last attempt.
    #[error("{call}: no response: {reason}")]
    NoResponse {
        /// Method and path.
        call: String,
        /// The cause.
        reason: String,
        /// Whether a retry may succeed.
        is_transient: bool,
    },
    /// GitHub responded to the last attempt with a temporary error.
    #[error("{call}: GitHub could not process the request: {reason}")]
    ServerError {
        /// Method and path.
        call: String,
        /// The status and GitHub's message.
        reason: String,
    },
    /// GitHub refused the request.
    #[error("{call}: GitHub responded with {status}: {message}")]
    Status {
        /// Method and path.
        call: String,
        /// The HTTP status.
        status: u16,
        /// GitHub's message.
        message: String,
        /// GitHub's error codes for fields: `already_exists`, `custom`, ….
        codes: Vec<String>,
        /// The invalid fields, as GitHub names them.
        fields: Vec<String>,
        /// GitHub's ID of the request.
        request_id: Option<Box<str>>,
    },
    /// The outcome of the request is unknown.
    #[error("{call}: the outcome of the request is unknown: {reason}")]
    UnknownOutcome {
        /// Method and path.
        call: String,
        /// The cause.
        reason: String,
        /// The HTTP status, if there was a response.
        status: Option<u16>,
    },
    /// The response is not valid for the API.
    #[error("{call}: the response is not valid: {reason}")]
    Malformed {
        /// Method and path.
        call: String,
        /// The cause.
        reason: String,
    },
    /// A rate limit rejected every attempt; nothing was changed.
    #[error("{call}: GitHub accepts no more requests for now: {reason}")]
    Limited {
        /// Method and path.
        call: String,
        /// GitHub's message.
        reason: String,
    },
    /// The time limit for publishing is exceeded, or would be by a wait.
    #[error("{call}: time limit exceeded: {reason}")]
    Deadline {
        /// Method and path.
        call: String,
        /// The cause of the delay.
        reason: String,
    },
    /// A URL of the API is invalid or on another host, or it redirects too often.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// A file cannot be read.
    #[error("cannot upload `{path}`: {reason}")]
    File {
        /// The path of the file.
        path: String,
        /// The cause.
        reason: String,
    },
    /// A file does not have the planned size and digest.
    #[error("cannot upload `{path}`: it changed during the upload")]
    FileChanged {
        /// The path of the file.
        path: String,
    },
    /// A file was stored under another name than it was uploaded with. The asset was deleted.
    #[error("GitHub stored `{name}` as `{found}`")]
    StoredUnderOtherName {
        /// The name in the upload.
        name: String,
        /// The name of the asset.
        found: String,
    },
    /// An asset was renamed, but to another name than requested. It was not deleted.
    #[error("GitHub renamed `{from}` to `{found}` instead of `{name}`")]
    RenamedToOtherName {
        /// The name before.
        from: String,
        /// The requested name.
        name: String,
        /// The name of the asset.
        found: String,
    },
    /// A file was stored with other content than was uploaded. The asset was deleted.
    #[error("GitHub stored `{name}` as {found}, but it was uploaded as {uploaded}")]
    StoredWithOtherContent {
        /// The name of the file.
        name: String,
        /// Size and digest of the upload.
        uploaded: String,
        /// Size and digest of the asset.
        found: String,
    },
    /// Another run or user deleted each draft that this run created.
    #[error("another run or user deleted each draft of `{tag}`")]
    Contested {
        /// The tag.
        tag: String,
    },
    /// The listing of a file contradicts the response to its upload.
    #[error("GitHub's listing of `{}` contradicts its response to the upload", .0.name)]
    Contradicted(ListingContradiction),
    /// A file that this run replaced has changed again.
    #[error("`{name}` was replaced, but its content has changed again")]
    ReplacedAgain {
        /// The name of the file.
        name: String,
    },
    /// The user or the system asked to stop.
    #[error("the run was stopped")]
    Stopped,
    /// The user or the system asked to stop while the run waited before a request.
    #[error("{call}: the run was stopped during a wait: {reason}")]
    StoppedDuringWait {
        /// Method and path.
        call: String,
        /// The reason for the wait.
        reason: String,
    },
    /// This error ended the run during a request that changes something, and the outcome of that
    /// request is unknown.
    #[error("{0}")]
    EndedDuringWrite(Box<Self>),
}

impl GithubError {
    /// Whether GitHub rejected a file for a reason that applies to all files, such as a full
    /// release, a rule or a quota. An error that is specific to the file names a field of the
    /// asset.
    fn is_of_all(&self) -> bool {
        let is_of_asset = |field: &String| OF_ASSET.contains(&field.as_str());
        matches!(self, Self::Status { status: 422, fields, .. } if !fields.iter().any(is_of_asset))
    }

    /// Whether the release is full: `file_count` is the field for its limit of assets.
    fn is_of_full_release(&self) -> bool {
        matches!(self, Self::Status { status: 422, fields, .. } if fields.iter().any(|field| field == "file_count"))
    }

    /// Whether the outcome of a request that changes something is unknown.
    pub fn has_unknown_outcome(&self) -> bool {
        // A response that cannot be parsed may come from a proxy.
        matches!(
            self,
            Self::EndedDuringWrite(_) | Self::UnknownOutcome { .. } | Self::Malformed { .. }
        )
    }

    /// Returns the error without [`Self::EndedDuringWrite`].
    #[must_use]
    pub fn cause(self) -> Self {
        if let Self::EndedDuringWrite(cause) = self {
            cause.cause()
        } else {
            self
        }
    }

    /// Marks an error that ended the run during a request, an attempt of which may have succeeded.
    pub(super) fn ended_during_write(self) -> Self {
        match self {
            Self::NoResponse { .. }
            | Self::ServerError { .. }
            | Self::Limited { .. }
            | Self::Deadline { .. }
            | Self::Stopped
            | Self::StoppedDuringWait { .. } => Self::EndedDuringWrite(Box::new(self)),
            other => other,
        }
    }

    /// Whether the user or the system asked to stop.
    pub fn is_stop(&self) -> bool {
        match self {
            Self::Stopped | Self::StoppedDuringWait { .. } => true,
            Self::EndedDuringWrite(cause) => cause.is_stop(),
            _ => false,
        }
    }

    /// Whether any other request would fail as well.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Status { status, .. } => {
                matches!(status, 401 | 403 | 404 | 410 | 451) || self.is_of_all()
            }
            Self::NoResponse { .. }
            | Self::ServerError { .. }
            | Self::Limited { .. }
            | Self::Deadline { .. }
            | Self::Api(_)
            | Self::Stopped
            | Self::StoppedDuringWait { .. } => true,
            Self::Contested { .. } | Self::Contradicted(_) | Self::ReplacedAgain { .. } => true,
            Self::EndedDuringWrite(cause) => cause.is_final(),
            Self::UnknownOutcome { .. } | Self::Malformed { .. } => false,
            Self::File { .. } | Self::FileChanged { .. } => false,
            Self::StoredUnderOtherName { .. }
            | Self::RenamedToOtherName { .. }
            | Self::StoredWithOtherContent { .. } => false,
        }
    }

    /// Returns the error with the token removed from all texts of the server.
    pub(super) fn without(self, token: Option<&Token>) -> Self {
        let Some(token) = token else { return self };
        let clean = |text: String| token.without(&text);
        match self {
            Self::NoResponse {
                call,
                reason,
                is_transient,
            } => Self::NoResponse {
                call,
                reason: clean(reason),
                is_transient,
            },
            Self::Status {
                call,
                status,
                message,
                codes,
                fields,
                request_id,
            } => {
                let all = |texts: Vec<String>| texts.into_iter().map(clean).collect();
                Self::Status {
                    call,
                    status,
                    message: clean(message),
                    codes: all(codes),
                    fields: all(fields),
                    request_id: request_id.map(|id| clean(id.into()).into_boxed_str()),
                }
            }
            Self::ServerError { call, reason } => Self::ServerError {
                call,
                reason: clean(reason),
            },
            Self::UnknownOutcome {
                call,
                reason,
                status,
            } => Self::UnknownOutcome {
                call,
                reason: clean(reason),
                status,
            },
            Self::Malformed { call, reason } => Self::Malformed {
                call,
                reason: clean(reason),
            },
            Self::Limited { call, reason } => Self::Limited {
                call,
                reason: clean(reason),
            },
            Self::Deadline { call, reason } => Self::Deadline {
                call,
                reason: clean(reason),
            },
            Self::StoredUnderOtherName { name, found } => Self::StoredUnderOtherName {
                name,
                found: clean(found),
            },
            Self::RenamedToOtherName { from, name, found } => Self::RenamedToOtherName {
                from,
                name,
                found: clean(found),
            },
            Self::Api(ApiError::Elsewhere { api, found }) => ApiError::Elsewhere {
                api,
                found: clean(found),
            }
            .into(),
            Self::Api(ApiError::UploadsElsewhere { api, found }) => ApiError::UploadsElsewhere {
                api,
                found: clean(found),
            }
            .into(),
            Self::Contradicted(ListingContradiction {
                name,
                answered,
                listed,
            }) => Self::Contradicted(ListingContradiction {
                name,
                answered: clean(answered),
                listed: clean(listed),
            }),
            Self::EndedDuringWrite(cause) => {
                Self::EndedDuringWrite(Box::new(cause.without(Some(token))))
            }
            other => other,
        }
    }
}

//! What goes wrong with calls.

mod advice;

use super::api::ApiError;
use super::token::Token;
use rock_publish::remote::ListingContradiction;

/// The fields of an asset (REST API version 2022-11-28, "Upload a release asset": its parameters
/// and its answer).
const OF_ASSET: [&str; 5] = ["name", "label", "content_type", "size", "state"];

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
        /// GitHub's words for what is wrong with fields: `already_exists`, `custom`, ….
        codes: Vec<String>,
        /// The fields that are at fault, as GitHub calls them.
        fields: Vec<String>,
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
    /// The listing shows a file otherwise than the answer to its upload did.
    #[error("GitHub lists `{}` otherwise than it answered", .0.name)]
    Contradicted(ListingContradiction),
    /// A file that this run replaced has other bytes again.
    #[error("`{name}` was replaced, and has other bytes again")]
    ReplacedAgain {
        /// The name of the file.
        name: String,
    },
    /// The user or the system asked to stop.
    #[error("it was stopped")]
    Stopped,
    /// This ended it while a call that changes something was under way: it is not known whether
    /// that came through.
    #[error("{0}")]
    LeftOpen(Box<Self>),
}

impl GithubError {
    /// Whether GitHub turns a file away for the sake of something else, a release that is full, a
    /// rule, a quota, so that it takes no other either. A refusal for the file's sake names a field
    /// of the asset.
    fn is_of_all(&self) -> bool {
        let is_of_asset = |field: &String| OF_ASSET.contains(&field.as_str());
        matches!(self, Self::Status { status: 422, fields, .. } if !fields.iter().any(is_of_asset))
    }

    /// Whether the release is full: `file_count` names its limit of assets.
    fn is_of_full_release(&self) -> bool {
        matches!(self, Self::Status { status: 422, fields, .. } if fields.iter().any(|field| field == "file_count"))
    }

    /// Whether it is not known what a call that changes something did.
    pub fn leaves_open(&self) -> bool {
        // An answer that makes no sense may come from something that stands between.
        matches!(
            self,
            Self::LeftOpen(_) | Self::Unsure { .. } | Self::Malformed { .. }
        )
    }

    /// What ended it, whatever was under way.
    #[must_use]
    pub fn cause(self) -> Self {
        if let Self::LeftOpen(cause) = self {
            cause.cause()
        } else {
            self
        }
    }

    /// The same of a call of which a try may have come through.
    pub(super) fn left_open(self) -> Self {
        match self {
            Self::NoAnswer { .. }
            | Self::Limited { .. }
            | Self::Deadline { .. }
            | Self::Stopped => Self::LeftOpen(Box::new(self)),
            other => other,
        }
    }

    /// Whether the next call would fare no better.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Status { status, .. } => {
                matches!(status, 401 | 403 | 404 | 410 | 451) || self.is_of_all()
            }
            Self::NoAnswer { .. }
            | Self::Limited { .. }
            | Self::Deadline { .. }
            | Self::Api(_)
            | Self::Stopped => true,
            Self::Contested { .. } | Self::Contradicted(_) | Self::ReplacedAgain { .. } => true,
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
            Self::NoAnswer {
                call,
                reason,
                is_lasting,
            } => Self::NoAnswer {
                call,
                reason: clean(reason),
                is_lasting,
            },
            Self::Status {
                call,
                status,
                message,
                codes,
                fields,
            } => {
                let all = |texts: Vec<String>| texts.into_iter().map(clean).collect();
                Self::Status {
                    call,
                    status,
                    message: clean(message),
                    codes: all(codes),
                    fields: all(fields),
                }
            }
            Self::Unsure { call, reason } => Self::Unsure {
                call,
                reason: clean(reason),
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
            Self::Stored { wanted, found } => Self::Stored {
                wanted,
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
            Self::LeftOpen(cause) => Self::LeftOpen(Box::new(cause.without(Some(token)))),
            other => other,
        }
    }
}

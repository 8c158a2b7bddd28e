//! Faults of requests, and their text form.

use std::fmt;
use std::str::FromStr;

/// A fault that is injected into one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// Nothing is done, and the status is a server error or `408`; an upload is read first and
    /// leaves a `starter` (REST API, "Upload a release asset": after a `502 Bad Gateway`;
    /// damianvtran/local-operator-ui pull request 322: after a `500`).
    Status(u16),
    /// The operation succeeds, but the status is an error.
    Done(u16),
    /// The connection is cut after this many bytes of the request body; an upload leaves a
    /// `starter`, nothing else is done.
    Cut(u64),
    /// Like `Cut`, but an upload leaves nothing.
    Lost(u64),
    /// The operation succeeds, and the connection is cut after this many bytes of the reply body; 0
    /// means that there is no reply.
    Mute(u64),
    /// Nothing is done: `403` or `429` with `retry-after` in seconds.
    RetryAfter(u16, u64),
    /// Nothing is done: `403` or `429` with `x-ratelimit-remaining: 0` and a reset after this many
    /// seconds.
    Limit(u16, u64),
    /// Nothing is done: `403` or `429` that mentions a secondary limit only in its message.
    Secondary(u16),
    /// The reply is sent at this many bytes per second.
    Slow(u64),
    /// An upload is read at this many bytes per second.
    SlowRead(u64),
    /// `401 Bad credentials`: the token was revoked.
    BadCredentials,
    /// `403` for missing permissions, without a hint to wait.
    NoRight,
    /// `404`, as for a token that may not see the resource.
    Hidden,
    /// The error of a tag ruleset, with 403 or 422.
    TagRuleset(u16),
    /// A redirect to the storage host, with 301, 302, 307 or 308.
    Elsewhere(u16),
    /// The link to the next page is on the storage host.
    NextElsewhere,
    /// An uploaded asset has no digest: in the schema `release-asset` of the `OpenAPI` description
    /// it may be `null`.
    NoDigest,
    /// An uploaded asset has a wrong digest.
    WrongDigest,
    /// An uploaded asset has another name than requested.
    WrongName,
    /// An uploaded asset lacks its last byte.
    Short,
    /// The reply to an upload is correct, but the asset is listed with another digest.
    LaterDigest,
    /// The reply to an upload is correct, but the asset is listed with a size of 1.
    LaterSize,
    /// The reply to an upload is correct, but the asset is listed as `starter`.
    LaterStarter,
    /// The reply to an upload is correct, but the asset is listed under another name.
    LaterName,
    /// An error that contains the token, as from some proxies: the complete `Authorization` header
    /// is in its message.
    EchoToken(u16),
    /// The reply stops after this many bytes of its body, and the connection stays open.
    Stall(u64),
    /// `200` with an HTML page instead of a reply, as from a proxy that requires a login.
    Garbled,
    /// Waits before anything is done, until the server releases it.
    HoldBefore,
    /// Waits after everything is done, until the server releases it.
    HoldAfter,
    /// Waits after this many bytes of an upload, until the server releases it. A client that is
    /// killed meanwhile leaves a `starter` if it has not sent all bytes, otherwise a complete asset
    /// whose reply was lost.
    HoldUpload(u64),
}

impl InjectedFault {
    /// Returns whether a retry could succeed without any action by a person.
    pub fn is_transient(self) -> bool {
        !matches!(
            self,
            Self::BadCredentials
                | Self::NoRight
                | Self::Hidden
                | Self::TagRuleset(_)
                | Self::Elsewhere(_)
                | Self::Garbled
                | Self::Stall(_)
        ) && !matches!(self, Self::EchoToken(status) if !(500..600).contains(&status))
            && !matches!(
                self,
                Self::NextElsewhere | Self::WrongName | Self::WrongDigest | Self::Short
            )
            && !matches!(
                self,
                Self::LaterDigest | Self::LaterSize | Self::LaterStarter | Self::LaterName
            )
    }

    /// Returns whether the request waits until the server releases it.
    pub fn holds(self) -> bool {
        matches!(
            self,
            Self::HoldBefore | Self::HoldAfter | Self::HoldUpload(_)
        )
    }
}

impl fmt::Display for InjectedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "{status}"),
            Self::Done(status) => write!(f, "done:{status}"),
            Self::Cut(at) => write!(f, "cut:{at}"),
            Self::Lost(at) => write!(f, "lost:{at}"),
            Self::Mute(after) => write!(f, "mute:{after}"),
            Self::RetryAfter(status, seconds) => write!(f, "retry-after:{status}:{seconds}"),
            Self::Limit(status, seconds) => write!(f, "limit:{status}:{seconds}"),
            Self::Secondary(status) => write!(f, "secondary:{status}"),
            Self::Slow(rate) => write!(f, "slow:{rate}"),
            Self::SlowRead(rate) => write!(f, "slow-read:{rate}"),
            Self::BadCredentials => f.write_str("bad-credentials"),
            Self::NoRight => f.write_str("no-right"),
            Self::Hidden => f.write_str("hidden"),
            Self::TagRuleset(status) => write!(f, "tag-ruleset:{status}"),
            Self::Elsewhere(status) => write!(f, "elsewhere:{status}"),
            Self::NextElsewhere => f.write_str("next-elsewhere"),
            Self::NoDigest => f.write_str("no-digest"),
            Self::WrongDigest => f.write_str("wrong-digest"),
            Self::WrongName => f.write_str("wrong-name"),
            Self::Short => f.write_str("short"),
            Self::LaterDigest => f.write_str("later-digest"),
            Self::LaterSize => f.write_str("later-size"),
            Self::LaterStarter => f.write_str("later-starter"),
            Self::LaterName => f.write_str("later-name"),
            Self::EchoToken(status) => write!(f, "echo-token:{status}"),
            Self::Stall(after) => write!(f, "stall:{after}"),
            Self::Garbled => f.write_str("garbled"),
            Self::HoldBefore => f.write_str("hold-before"),
            Self::HoldAfter => f.write_str("hold-after"),
            Self::HoldUpload(at) => write!(f, "hold-upload:{at}"),
        }
    }
}

impl FromStr for InjectedFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        // Numbers are limited so that times of replies can be represented.
        let number = |at: usize, or: u64| {
            parts
                .get(at)
                .map_or(Ok(or), |part| part.parse::<u32>().map(u64::from))
        };
        let fault = (|| -> Result<Self, std::num::ParseIntError> {
            let status = |or: u16| parts.get(1).map_or(Ok(or), |part| part.parse());
            Ok(match parts[0] {
                "done" => Self::Done(status(502)?),
                "cut" => Self::Cut(number(1, 0)?),
                "lost" => Self::Lost(number(1, 0)?),
                "mute" => Self::Mute(number(1, 0)?),
                "retry-after" => Self::RetryAfter(status(429)?, number(2, 2)?),
                "limit" => Self::Limit(status(403)?, number(2, 60)?),
                "secondary" => Self::Secondary(status(403)?),
                "slow" => Self::Slow(number(1, 100)?),
                "slow-read" => Self::SlowRead(number(1, 100_000)?),
                "bad-credentials" => Self::BadCredentials,
                "no-right" => Self::NoRight,
                "hidden" => Self::Hidden,
                "tag-ruleset" => Self::TagRuleset(status(422)?),
                "elsewhere" => Self::Elsewhere(status(307)?),
                "next-elsewhere" => Self::NextElsewhere,
                "no-digest" => Self::NoDigest,
                "wrong-digest" => Self::WrongDigest,
                "wrong-name" => Self::WrongName,
                "short" => Self::Short,
                "later-digest" => Self::LaterDigest,
                "later-size" => Self::LaterSize,
                "later-starter" => Self::LaterStarter,
                "later-name" => Self::LaterName,
                "echo-token" => Self::EchoToken(status(422)?),
                "stall" => Self::Stall(number(1, 0)?),
                "garbled" => Self::Garbled,
                "hold-before" => Self::HoldBefore,
                "hold-after" => Self::HoldAfter,
                "hold-upload" => Self::HoldUpload(number(1, 0)?),
                status => Self::Status(status.parse()?),
            })
        })();
        let fault = fault.map_err(|_| format!("`{text}` is no fault"))?;
        let is_status = !matches!(fault, Self::Status(status) if !(400..600).contains(&status));
        if is_status {
            Ok(fault)
        } else {
            Err(format!("`{text}` is no status of a fault"))
        }
    }
}

/// All faults with default numbers and a description, as shown in the help.
pub const FAULTS: &[(&str, &str)] = &[
    (
        "502",
        "a server's fault (500, 502, 503, 504, 408); an upload leaves `starter`",
    ),
    ("done:502", "it is done, and the answer says that it is not"),
    (
        "cut:1000",
        "the connection is cut after 1000 bytes of the body; an upload leaves `starter`",
    ),
    ("lost:1000", "the same, and an upload leaves nothing"),
    (
        "mute:0",
        "it is done, and the connection is cut after so many bytes of the answer",
    ),
    ("retry-after:429:2", "too many requests, `retry-after: 2`"),
    (
        "limit:403:60",
        "the hourly limit is used up and resets in 60 s",
    ),
    (
        "secondary:403",
        "a secondary limit that is told in the text alone",
    ),
    ("slow:100", "the answer comes with 100 bytes a second"),
    (
        "slow-read:100000",
        "an upload is read with 100000 bytes a second",
    ),
    ("bad-credentials", "the token was taken back"),
    ("no-right", "the token may not write"),
    ("hidden", "the token may not see it: 404"),
    ("tag-ruleset:422", "a ruleset forbids the tag (422 or 403)"),
    (
        "elsewhere:307",
        "a redirect to another host, which must not see the token",
    ),
    (
        "next-elsewhere",
        "the next page is said to be on another host",
    ),
    ("no-digest", "an uploaded asset tells no digest"),
    ("wrong-digest", "an uploaded asset has another digest"),
    ("wrong-name", "an uploaded asset has another name"),
    ("short", "an uploaded asset lacks its last byte"),
    (
        "later-digest",
        "an upload is answered as sent, and listed with another digest",
    ),
    (
        "later-size",
        "an upload is answered as sent, and listed with a size of 1",
    ),
    (
        "later-starter",
        "an upload is answered as sent, and listed as `starter`",
    ),
    (
        "later-name",
        "an upload is answered as sent, and listed under another name",
    ),
    (
        "echo-token:422",
        "a refusal that tells the `Authorization` header",
    ),
    (
        "stall:100",
        "the answer stops after 100 bytes, and the connection stays",
    ),
    ("garbled", "200 with a page for people in place of JSON"),
];

#[cfg(test)]
mod tests {
    use super::{FAULTS, InjectedFault};

    #[test]
    fn every_fault_of_the_help_is_written_as_it_is_read() {
        for (text, _) in FAULTS {
            assert_eq!(text.parse::<InjectedFault>().unwrap().to_string(), *text);
        }
        for text in ["hold-before", "hold-after", "hold-upload:7"] {
            assert_eq!(text.parse::<InjectedFault>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_fault_is_refused() {
        for text in [
            "",
            "cut:x",
            "200",
            "nonsense",
            "done:9999999",
            "retry-after:429:18446744073709551615",
        ] {
            assert!(text.parse::<InjectedFault>().is_err(), "{text}");
        }
    }
}

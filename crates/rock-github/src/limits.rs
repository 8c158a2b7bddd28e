//! Limits on what is read from GitHub, and for how long. Each is far above what GitHub sends, and
//! bounds the memory for one response, whatever the server.

/// Maximum bytes of a JSON response. A hundred releases with a thousand assets each are below it.
pub(super) const LARGEST_ANSWER_BYTES: usize = 256 << 20;
/// Maximum bytes of an error response to a download. Those of the API have a few hundred.
pub(super) const LARGEST_REFUSAL_BYTES: usize = 64 << 10;
/// Maximum characters of a server's message that are shown. GitHub's have one or two sentences.
pub(super) const MOST_TOLD: usize = 300;
/// Maximum pages of one listing, with a hundred items each: 5,000 releases, tags or assets.
pub(super) const MOST_PAGES: usize = 50;
/// Maximum bytes of a repository file that is read as text. An `action.yml` has a few thousand.
pub(super) const LARGEST_FILE_BYTES: usize = 1 << 20;
/// Maximum bytes of a file with a token. A token has at most a few hundred.
pub const LARGEST_TOKEN_BYTES: u64 = 16 << 10;
/// Maximum minutes that all requests of a run may take: a day, which is the lifetime of a job's
/// token (GitHub Docs, "`GITHUB_TOKEN`").
pub const LONGEST_DEADLINE_MIN: u64 = 24 * 60;

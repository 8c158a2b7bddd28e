//! Limits on what is read from GitHub and on how long it is asked. Each is far above what GitHub
//! answers, and keeps the memory that one answer takes bounded, whatever answers.

/// The most bytes of an answer in JSON. A hundred releases with a thousand assets each are below
/// it.
pub(super) const LARGEST_ANSWER_BYTES: usize = 256 << 20;
/// The most bytes of an answer that says why a file cannot be had. Those of the API have some
/// hundreds.
pub(super) const LARGEST_REFUSAL_BYTES: usize = 64 << 10;
/// The most characters of a server's words that are told: GitHub's are one or two sentences.
pub(super) const MOST_TOLD: usize = 300;
/// The most redirects of one call: GitHub answers one, and what stands between may answer another.
pub(super) const MOST_REDIRECTS: usize = 5;
/// The most pages of one listing, a hundred items each: 5,000 releases, tags or assets.
pub(super) const MOST_PAGES: usize = 50;
/// The most bytes of a file of a repository that is read as text. An `action.yml` has some
/// thousands.
pub(super) const LARGEST_FILE_BYTES: usize = 1 << 20;
/// The most bytes of a file with a token. A token has at most some hundreds.
pub const LARGEST_TOKEN_BYTES: u64 = 16 << 10;
/// The most minutes that all calls of a run may take: a day, which is as long as the token of a job
/// lasts (GitHub Docs, "`GITHUB_TOKEN`").
pub const LONGEST_DEADLINE_MIN: u64 = 24 * 60;

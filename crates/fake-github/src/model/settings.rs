//! Settings of a model: hosts, limits, delays.

/// The settings of a model.
#[derive(Debug, Clone)]
pub struct GithubSettings {
    /// Scheme and authority of the REST API.
    pub api_base: String,
    /// The upload host, which differs from the API's on GitHub.
    pub uploads_base: String,
    /// The host of web pages.
    pub web_base: String,
    /// The storage host, which has the bytes of assets and must not receive tokens.
    pub storage_base: String,
    /// The delay after which lists show changes.
    pub listing: ListingMode,
    /// The assets that have a digest.
    pub digests: DigestMode,
    /// Milliseconds by which the server's clock is ahead; negative if it is behind.
    pub clock_skew_ms: i64,
    /// Requests per hour and token; 1,000 for the token of a workflow (REST API, "Rate limits",
    /// "Primary rate limit for `GITHUB_TOKEN` in GitHub Actions").
    pub requests_per_hour: u64,
    /// The secondary rate limits, if any.
    pub secondary: Option<SecondaryLimits>,
    /// Maximum number of assets of a release in a list of releases; GitHub's is not documented.
    pub listed_assets: usize,
    /// Requests within this many milliseconds of a reply that asked to wait may already have been
    /// sent.
    pub under_way_ms: u64,
    /// Maximum number of assets of a release: 1,000 ("About releases", "Storage and bandwidth
    /// quotas").
    pub assets_per_release: usize,
    /// The size in bytes that assets must stay below: 2 GiB ("About releases", "each file … must be
    /// under 2 GiB").
    pub asset_bytes: u64,
    /// Assets up to this size in bytes are kept for downloads.
    pub keep_bytes: u64,
}

/// The delay after which lists show changes. Replies about a single release or asset are always current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingMode {
    /// Immediately.
    Fresh,
    /// Lists are this many milliseconds old.
    Late(u64),
    /// Every other list is this many milliseconds old, as with two replicas of which one lags.
    Flapping(u64),
}

/// The assets that have a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestMode {
    /// All.
    Told,
    /// None, as for assets from before June 2025 (GitHub Changelog, 2025-06-03, "Releases now
    /// expose digests for release assets"): `digest` is `null`.
    Null,
    /// Assets of at least this age in milliseconds.
    Late(u64),
}

/// Secondary rate limits (REST API, "Rate limits", "About secondary rate limits").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondaryLimits {
    /// Content-creating requests per minute.
    pub content_per_minute: usize,
    /// Content-creating requests per hour.
    pub content_per_hour: usize,
    /// Points per minute: a read costs 1, a write 5.
    pub points_per_minute: u64,
}

impl Default for GithubSettings {
    /// Returns GitHub's permissions, names, sizes and counts, current lists, and no rate limits
    /// that a test would reach.
    fn default() -> Self {
        Self {
            api_base: "http://api.test".to_owned(),
            uploads_base: "http://api.test".to_owned(),
            web_base: "http://api.test".to_owned(),
            storage_base: "http://storage.test".to_owned(),
            listing: ListingMode::Fresh,
            digests: DigestMode::Told,
            clock_skew_ms: 0,
            requests_per_hour: 1_000_000,
            secondary: None,
            listed_assets: usize::MAX,
            under_way_ms: 1000,
            assets_per_release: 1000,
            asset_bytes: 2 << 30,
            keep_bytes: 1 << 20,
        }
    }
}

impl GithubSettings {
    /// Sets the rate limits of a workflow token.
    #[must_use]
    pub fn with_real_limits(mut self) -> Self {
        self.requests_per_hour = 1000;
        self.secondary = Some(SecondaryLimits {
            content_per_minute: 80,
            content_per_hour: 500,
            points_per_minute: 900,
        });
        self
    }

    /// Returns the time on the server's clock.
    pub fn clock(&self, now_ms: u64) -> u64 {
        now_ms.saturating_add_signed(self.clock_skew_ms)
    }
}

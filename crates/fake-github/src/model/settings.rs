//! What kind of GitHub it is: hosts, limits, lags.

/// The knobs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Scheme and authority of the REST API.
    pub api_base: String,
    /// Where uploads go; GitHub's own is another host than the API's.
    pub uploads_base: String,
    /// Where people click.
    pub web_base: String,
    /// Another host, which holds the bytes of assets and must see no token.
    pub storage_base: String,
    /// When lists show what changed.
    pub listing: Listing,
    /// Which assets tell a digest.
    pub digests: Digests,
    /// What the clock of the server is ahead of the real one; negative is behind.
    pub clock_skew_ms: i64,
    /// Requests that a token has in an hour; 1,000 for the token of a workflow
    /// (REST API, "Rate limits", "Primary rate limit for `GITHUB_TOKEN` in GitHub Actions").
    pub requests_per_hour: u64,
    /// The limits on writing much in a short time, or none.
    pub secondary: Option<Secondary>,
    /// Assets of a release that a list of releases shows; nothing says how many GitHub's does.
    pub listed_assets: usize,
    /// Requests that come so soon after an answer that asked to wait were under way when it went.
    pub under_way_ms: u64,
    /// Assets that a release may have; 1,000 ("About releases", "Storage and bandwidth quotas").
    pub assets_per_release: usize,
    /// The size that no asset may reach: 2 GiB ("About releases", "each file … must be under 2
    /// GiB").
    pub asset_bytes: u64,
    /// Assets up to this size keep their bytes, so that they can be fetched.
    pub keep_bytes: u64,
}

/// When lists show what changed. Answers about one release or asset are right at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// At once.
    Fresh,
    /// Lists are that many milliseconds old.
    Late(u64),
    /// Every other list is that many milliseconds old: two replicas, of which one lags.
    Flapping(u64),
}

/// Which assets tell a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digests {
    /// All.
    Told,
    /// None: they are from before June 2025 (GitHub Changelog, 2025-06-03, "Releases now expose
    /// digests for release assets"), and `digest` is `null`.
    Null,
    /// Those that are that many milliseconds old.
    Late(u64),
}

/// Limits on writing (REST API, "Rate limits", "About secondary rate limits").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Secondary {
    /// Things made in a minute.
    pub content_per_minute: usize,
    /// Things made in an hour.
    pub content_per_hour: usize,
    /// Points in a minute: a read costs 1, a write 5.
    pub points_per_minute: u64,
}

impl Default for Settings {
    /// Rights, names, sizes and counts as on GitHub, lists at once, and no limit that a test would
    /// run into.
    fn default() -> Self {
        Self {
            api_base: "http://api.test".to_owned(),
            uploads_base: "http://api.test".to_owned(),
            web_base: "http://api.test".to_owned(),
            storage_base: "http://storage.test".to_owned(),
            listing: Listing::Fresh,
            digests: Digests::Told,
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

impl Settings {
    /// With the limits of the token of a workflow, as GitHub has them.
    #[must_use]
    pub fn with_real_limits(mut self) -> Self {
        self.requests_per_hour = 1000;
        self.secondary = Some(Secondary {
            content_per_minute: 80,
            content_per_hour: 500,
            points_per_minute: 900,
        });
        self
    }

    /// What the clock of the server shows.
    pub fn clock(&self, now_ms: u64) -> u64 {
        now_ms.saturating_add_signed(self.clock_skew_ms)
    }
}

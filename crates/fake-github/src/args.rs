//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use fake_github::model::{
    DigestMode, FAULTS, FakeGithub, FaultRule, FaultSchedule, GithubSettings, ListingMode,
    OPERATIONS, TagRuleset,
};

/// A local stand-in for GitHub's releases and assets, with its limits and failures
#[derive(Debug, Parser)]
#[command(name = "fake-github", after_help = after_help())]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub struct Args {
    /// Port of 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Keep releases and small assets in this directory, and continue with them the next time
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Name of the repository
    #[arg(long, value_name = "OWNER/REPO", default_value = "me/wheels")]
    pub repo: String,
    /// Tag of the repository; can be given more than once
    #[arg(long, value_name = "TAG", default_value = "v1")]
    pub tag: Vec<String>,
    /// Commit of the branch `main` and of new tags
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    /// Former name of the repository: requests for it are redirected
    #[arg(long, value_name = "OWNER/REPO")]
    pub renamed_from: Option<String>,
    /// Lock releases when they are published
    #[arg(long)]
    pub immutable: bool,
    /// Hide the repository from requests without a token
    #[arg(long)]
    pub private: bool,
    /// Forbid new tags with a ruleset
    #[arg(long)]
    pub tag_ruleset: bool,
    /// Use a separate port for uploads, like GitHub's upload host
    #[arg(long)]
    pub uploads_elsewhere: bool,
    /// Fault to inject; can be given more than once, and the first that matches a request applies
    #[arg(long, value_name = "[OPERATION][#N]=FAULT")]
    pub fault: Vec<FaultRule>,
    /// Inject random faults from this seed
    #[arg(long, value_name = "SEED")]
    pub random: Option<u64>,
    /// Random faults per thousand requests
    #[arg(long, value_name = "N", default_value_t = 200, requires = "random")]
    pub per_mille: u64,
    /// Rate limits for requests and for creating content
    #[arg(long, value_enum, default_value_t = LimitMode::Off)]
    pub limits: LimitMode,
    /// Age of lists in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub list_lag: u64,
    /// Return no digests of assets, as for those from before June 2025
    #[arg(long)]
    pub no_digests: bool,
    /// Seconds by which the clock is ahead; negative if it is behind
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0,
        allow_hyphen_values = true
    )]
    pub skew: i64,
    /// Maximum number of assets of a release
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub max_assets: usize,
    /// Size in bytes that an asset must stay below
    #[arg(long, value_name = "BYTES", default_value_t = 2 << 30)]
    pub max_bytes: u64,
    /// Keep the bytes of assets up to this size for downloads
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub keep: u64,
    /// Write all requests and replies to this file at the end, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Do not print a line for each request
    #[arg(long)]
    pub quiet: bool,
}

/// Whether GitHub's rate limits apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LimitMode {
    /// The limits of a workflow token: 1,000 requests an hour, 80 uploads a minute, 500 an hour
    Real,
    /// No limits
    Off,
}

impl Args {
    /// Creates the model with an unmodified repository.
    ///
    /// # Errors
    /// If a name is not `OWNER/REPO`.
    pub fn github(&self) -> Result<FakeGithub, String> {
        let mut settings = GithubSettings {
            listing: if self.list_lag == 0 {
                ListingMode::Fresh
            } else {
                ListingMode::Late(self.list_lag)
            },
            digests: if self.no_digests {
                DigestMode::Null
            } else {
                DigestMode::Told
            },
            clock_skew_ms: self.skew.saturating_mul(1000),
            assets_per_release: self.max_assets,
            asset_bytes: self.max_bytes,
            keep_bytes: self.keep,
            ..GithubSettings::default()
        };
        if self.limits == LimitMode::Real {
            settings = settings.with_real_limits();
        }
        if self.uploads_elsewhere {
            "http://uploads.test".clone_into(&mut settings.uploads_base);
        }
        for name in [Some(&self.repo), self.renamed_from.as_ref()]
            .into_iter()
            .flatten()
        {
            if name.split('/').filter(|part| !part.is_empty()).count() != 2 {
                return Err(format!("`{name}` is no `OWNER/REPO`"));
            }
        }
        let mut github = FakeGithub::new(settings);
        github.faults = self.random.map_or_else(FaultSchedule::none, |seed| {
            FaultSchedule::random(seed, self.per_mille)
        });
        for rule in &self.fault {
            github.faults.add(*rule);
        }
        Ok(github)
    }

    /// Applies the options to the repository, which may come from an earlier run.
    pub fn set_up(&self, github: &mut FakeGithub) {
        let Some(repository) = github.repositories.values_mut().next() else {
            return;
        };
        repository.full_name.clone_from(&self.repo);
        repository.old_names.extend(self.renamed_from.clone());
        repository.has_immutable_releases = self.immutable;
        repository.is_private = self.private;
        repository.tag_ruleset = self.tag_ruleset.then(TagRuleset::default);
        if let Some(commit) = &self.commit {
            repository
                .branches
                .insert("main".to_owned(), commit.clone());
        }
        for tag in &self.tag {
            let main = repository.branches["main"].clone();
            repository.tags.entry(tag.clone()).or_insert(main);
        }
    }

    /// Returns the address and example commands.
    pub fn greeting(&self, url: &str) -> String {
        let (repo, tag) = (&self.repo, self.tag.first().map_or("v1", String::as_str));
        format!(
            "{url}\n\n\
             Publish the wheels of a folder `dist`:\n\n  \
             GITHUB_TOKEN=writer rock-matrix publish dist --repo {repo} --tag {tag} --api-url {url}\n\n\
             Look at what came of it:\n\n  \
             curl -sH 'Authorization: Bearer writer' {url}/repos/{repo}/releases\n\n\
             Other tokens: `reader` may not write, `stranger` sees public repositories alone. Ctrl-C ends it.\n\n"
        )
    }
}

fn after_help() -> String {
    let mut text = "Tokens: `writer` may do everything; `reader` and `reader-pat` may read; `stranger` sees public \
                    repositories alone.\n\nOperations: "
        .to_owned();
    text.push_str(
        &OPERATIONS
            .iter()
            .map(|(_, word)| *word)
            .collect::<Vec<_>>()
            .join(", "),
    );
    text.push_str("\n\nFaults:\n");
    for (fault, what) in FAULTS {
        text.push_str(&format!("  {fault:<20} {what}\n"));
    }
    text.push_str(
        "\nExamples:\n  --fault 'upload#2=cut:100000'   the second upload is cut after 100000 bytes\n  \
         --fault '#7=done:502'           the seventh request is done, and its answer is a 502\n  \
         --fault 'edit-release=no-right' no release can be changed\n  \
         --random 7 --per-mille 300      three requests in ten go wrong, always the same ones",
    );
    text
}

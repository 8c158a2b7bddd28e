//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use fake_github::model::{
    Digests, FAULTS, Faults, Github, Listing, OPERATIONS, Rule, Settings, TagRuleset,
};

/// A GitHub on loopback that has releases and assets, all of GitHub's rules on them, and its bad
/// days.
#[derive(Debug, Parser)]
#[command(name = "fake-github", after_help = after_help())]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub struct Arguments {
    /// Port of 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Keep releases and small assets in this folder, and go on with them the next time
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Repository that there is
    #[arg(long, value_name = "OWNER/REPO", default_value = "me/wheels")]
    pub repo: String,
    /// Tag that the repository has; may be given more than once
    #[arg(long, value_name = "TAG", default_value = "v1")]
    pub tag: Vec<String>,
    /// Commit that the branch `main`, and each tag that is new, is at
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    /// Name that the repository had before: requests for it are redirected
    #[arg(long, value_name = "OWNER/REPO")]
    pub renamed_from: Option<String>,
    /// Publishing locks a release
    #[arg(long)]
    pub immutable: bool,
    /// Only those with a token see the repository
    #[arg(long)]
    pub private: bool,
    /// A ruleset keeps new tags from being made
    #[arg(long)]
    pub tag_ruleset: bool,
    /// Uploads have a port of their own, as GitHub's have a host of their own
    #[arg(long)]
    pub uploads_elsewhere: bool,
    /// What goes wrong, and when; may be given more than once, and the first that fits a request
    /// happens
    #[arg(long, value_name = "[OPERATION][#N]=FAULT")]
    pub fault: Vec<Rule>,
    /// Draw faults from this seed
    #[arg(long, value_name = "SEED")]
    pub random: Option<u64>,
    /// How many of a thousand requests get a drawn fault
    #[arg(long, value_name = "N", default_value_t = 200, requires = "random")]
    pub per_mille: u64,
    /// Limits on requests, and on making much in a short time
    #[arg(long, value_enum, default_value_t = Limits::Off)]
    pub limits: Limits,
    /// Lists are that many milliseconds old
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub list_lag: u64,
    /// Assets tell no digest, as those from before June 2025
    #[arg(long)]
    pub no_digests: bool,
    /// The clock is that many seconds ahead; negative is behind
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0,
        allow_hyphen_values = true
    )]
    pub skew: i64,
    /// Assets that a release may have
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub max_assets: usize,
    /// Size in bytes that no asset may reach
    #[arg(long, value_name = "BYTES", default_value_t = 2 << 30)]
    pub max_bytes: u64,
    /// Keep the bytes of assets up to this size, so that they can be downloaded
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub keep: u64,
    /// Write every request with its answer to this file at the end, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Show no line for each request
    #[arg(long)]
    pub quiet: bool,
}

/// Whether GitHub's limits hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Limits {
    /// As for the token of a workflow: 1,000 requests an hour, 80 uploads a minute, 500 an hour
    Real,
    /// None
    Off,
}

impl Arguments {
    /// The GitHub that is asked for, with a repository as it comes.
    ///
    /// # Errors
    /// When a name is no `OWNER/REPO`.
    pub fn github(&self) -> Result<Github, String> {
        let mut settings = Settings {
            listing: if self.list_lag == 0 {
                Listing::Fresh
            } else {
                Listing::Late(self.list_lag)
            },
            digests: if self.no_digests {
                Digests::Null
            } else {
                Digests::Told
            },
            clock_skew_ms: self.skew.saturating_mul(1000),
            assets_per_release: self.max_assets,
            asset_bytes: self.max_bytes,
            keep_bytes: self.keep,
            ..Settings::default()
        };
        if self.limits == Limits::Real {
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
        let mut github = Github::new(settings);
        github.faults = self
            .random
            .map_or_else(Faults::none, |seed| Faults::random(seed, self.per_mille));
        for rule in &self.fault {
            github.faults.add(*rule);
        }
        Ok(github)
    }

    /// Makes the repository, which may be one of another day, what is asked for.
    pub fn set_up(&self, github: &mut Github) {
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

    /// The address, and what to type.
    pub fn greeting(&self, url: &str) -> String {
        let (repo, tag) = (&self.repo, self.tag.first().map_or("v1", String::as_str));
        format!(
            "{url}\n\n\
             Publish the wheels of a folder `dist`:\n\n  \
             GITHUB_TOKEN=writer rock-matrix publish --dist dist --repo {repo} --tag {tag} --api-url {url}\n\n\
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

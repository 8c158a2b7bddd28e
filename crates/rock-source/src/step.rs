//! The ordered steps of a checkout, each with the commands that it runs.

use super::series::{PatchSet, PatchStage};

/// The tag of the upstream commit in every repository.
pub const UPSTREAM_TAG: &str = "THEROCK_UPSTREAM_DIFFBASE";
/// The tag of the commit with the changes of hipify.
pub const HIPIFY_TAG: &str = "THEROCK_HIPIFY_DIFFBASE";
/// The hipify script of a repository.
pub const HIPIFY_SCRIPT: &str = "tools/amd_build/build_amd.py";
/// The message of the commit with the changes of hipify.
pub const HIPIFY_MESSAGE: &str = "DO NOT SUBMIT: HIPIFY";

/// A step of a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutStep {
    /// Create a repository.
    Initialise {
        /// The URL to fetch from.
        origin: String,
    },
    /// Change the URL of the remote.
    Repoint {
        /// The URL to fetch from.
        origin: String,
    },
    /// Quit an unfinished `git am` or rebase, keeping the head where it is.
    EndSession {
        /// The repositories, and the operation in progress in each.
        repositories: Vec<(String, GitOperation)>,
        /// Git options that set a committer, if none is configured.
        identity: Vec<String>,
    },
    /// Save uncommitted changes under a separate ref.
    Save {
        /// The paths of the repositories.
        repositories: Vec<String>,
    },
    /// Discard uncommitted changes.
    Discard {
        /// The paths of the repositories.
        repositories: Vec<String>,
    },
    /// Delete the tags of the previous checkout.
    DropTags,
    /// Fetch the ref.
    Fetch {
        /// The branch, tag or commit.
        reference: String,
        /// The number of commits of history.
        depth: Option<u32>,
        /// The number of parallel fetches.
        jobs: Option<u32>,
        /// Whether submodules are fetched too.
        submodules: bool,
    },
    /// Check out the commit with a detached head.
    CheckOut {
        /// The commit, or `FETCH_HEAD`.
        commit: String,
        /// Whether files that are in the way are overwritten.
        force: bool,
    },
    /// Tag the upstream commit of the outer repository.
    Tag,
    /// Check out the submodules, recursively.
    Submodules {
        /// The number of commits of history.
        depth: Option<u32>,
        /// The number of parallel fetches.
        jobs: Option<u32>,
    },
    /// Tag the upstream commits of the submodules.
    TagSubmodules,
    /// Configure git to ignore changes of submodules.
    Quiet,
    /// Apply patches, in the outer repository and in each submodule.
    Series {
        /// The stage of the patches.
        stage: PatchStage,
        /// The patch set.
        set: PatchSet,
        /// The name of the outer repository's directory in the set.
        name: String,
        /// Git options that set a committer, if none is configured.
        identity: Vec<String>,
    },
    /// Hipify the sources.
    Hipify {
        /// The Python interpreter that runs the script.
        python: String,
    },
    /// Commit the changes of hipify.
    CommitHipify {
        /// Git options that set a committer, if none is configured.
        identity: Vec<String>,
    },
}

/// An operation of git in progress in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitOperation {
    /// `git am` is applying patches.
    Apply,
    /// A rebase is moving commits.
    Rebase,
}

/// The repositories that a command runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandPlace {
    /// The outer repository.
    Outer,
    /// Each submodule, recursively.
    Submodules,
    /// The outer repository and each submodule.
    Every,
    /// The repository at this path.
    In(String),
}

/// A command and the repositories that it runs in. Words in angle brackets are placeholders for
/// values that are known when the command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutCommand {
    /// The repositories that the command runs in.
    pub place: CommandPlace,
    /// The program and its arguments.
    pub argv: Vec<String>,
}

impl std::fmt::Display for CommandPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Outer => f.write_str("."),
            Self::Submodules => f.write_str("each submodule"),
            Self::Every => f.write_str("each repository"),
            Self::In(path) if path.is_empty() => f.write_str("."),
            Self::In(path) => f.write_str(path),
        }
    }
}

impl GitOperation {
    /// Returns a description for messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Apply => "a series of patches",
            Self::Rebase => "a rebase",
        }
    }
}

fn git(place: CommandPlace, words: &[&str]) -> CheckoutCommand {
    CheckoutCommand {
        place,
        argv: std::iter::once(&"git")
            .chain(words)
            .map(|&word| word.to_owned())
            .collect(),
    }
}

/// Returns `--depth` and `--jobs` options for `git fetch` and `git submodule update`.
fn amounts(depth: Option<u32>, jobs: Option<u32>) -> Vec<String> {
    let depth = depth.map(|depth| format!("--depth={depth}"));
    depth
        .into_iter()
        .chain(jobs.map(|jobs| format!("--jobs={jobs}")))
        .collect()
}

impl CheckoutStep {
    /// Returns a short description for progress messages.
    pub fn title(&self) -> String {
        match self {
            Self::Initialise { .. } => "create a repository".to_owned(),
            Self::Repoint { origin } => format!("fetch from {origin} from now on"),
            Self::EndSession { .. } => "abort what is in progress".to_owned(),
            Self::Save { .. } => "save uncommitted files".to_owned(),
            Self::Discard { .. } => "discard uncommitted files".to_owned(),
            Self::DropTags => "remove the tags of the last run".to_owned(),
            Self::Fetch { reference, .. } => format!("fetch {reference}"),
            Self::CheckOut { .. } => "check out".to_owned(),
            Self::Tag => "tag the upstream commit".to_owned(),
            Self::Submodules { .. } => "check out submodules".to_owned(),
            Self::TagSubmodules => "tag the upstream commits of submodules".to_owned(),
            Self::Quiet => "make git ignore changes of submodules".to_owned(),
            Self::Series {
                stage: PatchStage::Base,
                ..
            } => "apply patches".to_owned(),
            Self::Series {
                stage: PatchStage::Hipified,
                ..
            } => "apply patches of hipified sources".to_owned(),
            Self::Hipify { .. } => "hipify".to_owned(),
            Self::CommitHipify { .. } => "commit the changes of hipify".to_owned(),
        }
    }

    /// Returns the commands of the step, in order.
    pub fn orders(&self) -> Vec<CheckoutCommand> {
        let tag = |place| git(place, &["tag", "--force", "--no-sign", UPSTREAM_TAG]);
        match self {
            Self::Initialise { origin } => vec![
                git(
                    CommandPlace::Outer,
                    &["init", "--quiet", "--initial-branch=main"],
                ),
                git(
                    CommandPlace::Outer,
                    &["config", "advice.detachedHead", "false"],
                ),
                git(CommandPlace::Outer, &["remote", "add", "origin", origin]),
            ],
            Self::Repoint { origin } => {
                vec![git(
                    CommandPlace::Outer,
                    &["remote", "set-url", "origin", origin],
                )]
            }
            Self::EndSession {
                repositories,
                identity,
            } => {
                let end = |(path, session): &(String, GitOperation)| {
                    let word = if *session == GitOperation::Apply {
                        "am"
                    } else {
                        "rebase"
                    };
                    let mut order = git(CommandPlace::In(path.clone()), &[]);
                    order.argv.extend(
                        identity
                            .iter()
                            .cloned()
                            .chain([word.to_owned(), "--quit".to_owned()]),
                    );
                    order
                };
                repositories.iter().map(end).collect()
            }
            Self::Save { repositories } => {
                let save = |path: &String| git(CommandPlace::In(path.clone()), &["add", "--all"]);
                repositories.iter().map(save).collect()
            }
            Self::Discard { repositories } => {
                let discard = |path: &String| {
                    let place = CommandPlace::In(path.clone());
                    [
                        git(place.clone(), &["reset", "--hard", "--quiet"]),
                        git(
                            place,
                            &["clean", "-d", "--force", "--quiet", "--exclude=/.rock"],
                        ),
                    ]
                };
                repositories.iter().flat_map(discard).collect()
            }
            Self::DropTags => [HIPIFY_TAG, UPSTREAM_TAG]
                .map(|tag| {
                    git(
                        CommandPlace::Every,
                        &["update-ref", "-d", &format!("refs/tags/{tag}")],
                    )
                })
                .into(),
            Self::Fetch {
                reference,
                depth,
                jobs,
                submodules,
            } => {
                let mut order = git(CommandPlace::Outer, &["fetch"]);
                order.argv.extend(amounts(*depth, *jobs));
                if !submodules {
                    order.argv.push("--no-recurse-submodules".to_owned());
                }
                order.argv.extend(["origin".to_owned(), reference.clone()]);
                vec![order]
            }
            Self::CheckOut { commit, force } => {
                let force: &[&str] = if *force { &["--force"] } else { &[] };
                let words = [&["checkout", "--quiet", "--detach"][..], force, &[commit]].concat();
                vec![git(CommandPlace::Outer, &words)]
            }
            Self::Tag => vec![tag(CommandPlace::Outer)],
            Self::Submodules { depth, jobs } => {
                let mut order = git(
                    CommandPlace::Outer,
                    &["submodule", "update", "--init", "--recursive"],
                );
                order.argv.extend(amounts(*depth, *jobs));
                vec![order]
            }
            Self::TagSubmodules => vec![tag(CommandPlace::Submodules)],
            Self::Quiet => vec![
                git(
                    CommandPlace::Every,
                    &["config", "submodule.<name>.ignore", "all"],
                ),
                git(
                    CommandPlace::Every,
                    &["update-index", "--skip-worktree", "--", "<path>"],
                ),
            ],
            Self::Series {
                stage,
                set,
                name,
                identity,
            } => series_orders(*stage, set, name, identity),
            Self::Hipify { python } => {
                vec![CheckoutCommand {
                    place: CommandPlace::Outer,
                    argv: vec![python.clone(), HIPIFY_SCRIPT.to_owned()],
                }]
            }
            Self::CommitHipify { identity } => {
                let identity: Vec<&str> = identity.iter().map(String::as_str).collect();
                let commit = [
                    "commit",
                    "--quiet",
                    "--no-verify",
                    "--no-gpg-sign",
                    "--message",
                    HIPIFY_MESSAGE,
                ];
                vec![
                    git(CommandPlace::Every, &["add", "--all"]),
                    git(CommandPlace::Every, &[&identity[..], &commit].concat()),
                    git(
                        CommandPlace::Every,
                        &["tag", "--force", "--no-sign", HIPIFY_TAG],
                    ),
                ]
            }
        }
    }
}

/// Returns one `git am` command per repository: the outer one first, then the others by path.
fn series_orders(
    stage: PatchStage,
    set: &PatchSet,
    name: &str,
    identity: &[String],
) -> Vec<CheckoutCommand> {
    let of_stage = || {
        set.series
            .iter()
            .filter(move |series| series.stage == stage)
    };
    let outer = of_stage().filter(|series| series.repository == name);
    let others = of_stage().filter(|series| series.repository != name);
    let order = |series: &super::series::PatchSeries| {
        let place = if series.repository == name {
            CommandPlace::Outer
        } else {
            CommandPlace::In(series.repository.clone())
        };
        apply(place, set, &series.patches, identity)
    };
    outer.chain(others).map(order).collect()
}

/// Returns the command that applies all patches to a repository. Brackets at the start of a subject
/// are kept.
fn apply(
    place: CommandPlace,
    set: &PatchSet,
    patches: &[super::series::PatchFile],
    identity: &[String],
) -> CheckoutCommand {
    let options = [
        "am",
        "--whitespace=nowarn",
        "--committer-date-is-author-date",
        "--no-gpg-sign",
        "--keep-non-patch",
        "--",
    ];
    let mut order = git(place, &[]);
    order
        .argv
        .extend(identity.iter().cloned().chain(options.map(str::to_owned)));
    order.argv.extend(
        patches
            .iter()
            .map(|patch| format!("{}/{}", set.directory, patch.path)),
    );
    order
}

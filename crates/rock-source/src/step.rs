//! The steps of a checkout, in order, each with the commands that it runs.

use super::series::{PatchSet, PatchStage};

/// The tag on the commit that upstream has, in every repository.
pub const UPSTREAM_TAG: &str = "THEROCK_UPSTREAM_DIFFBASE";
/// The tag on the commit that hipify made.
pub const HIPIFY_TAG: &str = "THEROCK_HIPIFY_DIFFBASE";
/// The script of a repository that hipifies it.
pub const HIPIFY_SCRIPT: &str = "tools/amd_build/build_amd.py";
/// The message of the commit that hipify makes.
pub const HIPIFY_MESSAGE: &str = "DO NOT SUBMIT: HIPIFY";

/// What is done, and by what it is told apart from the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutStep {
    /// A repository is made.
    Initialise {
        /// Where it is fetched from.
        origin: String,
    },
    /// The repository is fetched from here from now on.
    Repoint {
        /// Where it is fetched from.
        origin: String,
    },
    /// A series of patches, or a rebase, that was not ended is ended where it is.
    EndSession {
        /// Repositories, and what is under way there.
        repositories: Vec<(String, GitOperation)>,
        /// Options that name a committer, where none is configured.
        identity: Vec<String>,
    },
    /// What is not committed is kept under a ref of its own.
    Save {
        /// Repositories.
        repositories: Vec<String>,
    },
    /// What is not committed is put back to what the commit has.
    Discard {
        /// Repositories.
        repositories: Vec<String>,
    },
    /// The tags of the run before go.
    DropTags,
    /// The ref is fetched.
    Fetch {
        /// Branch, tag or commit.
        reference: String,
        /// Commits of history.
        depth: Option<u32>,
        /// Fetches at once.
        jobs: Option<u32>,
        /// Whether submodules are fetched as well.
        submodules: bool,
    },
    /// The commit is checked out, on no branch.
    CheckOut {
        /// The commit, or `FETCH_HEAD`.
        commit: String,
        /// Whether files that are in the way go.
        force: bool,
    },
    /// The commit of upstream is tagged.
    Tag,
    /// Submodules are checked out, with theirs.
    Submodules {
        /// Commits of history.
        depth: Option<u32>,
        /// Fetches at once.
        jobs: Option<u32>,
    },
    /// The commits of submodules are tagged.
    TagSubmodules,
    /// Git is told that submodules differ on purpose.
    Quiet,
    /// Patches are applied, in the outer repository and then in each submodule.
    Series {
        /// When.
        stage: PatchStage,
        /// The set.
        set: PatchSet,
        /// The outer repository's folder in the set.
        name: String,
        /// Options that name a committer, where none is configured.
        identity: Vec<String>,
    },
    /// The sources are hipified.
    Hipify {
        /// The Python that runs the script.
        python: String,
    },
    /// What that changed becomes a commit.
    CommitHipify {
        /// Options that name a committer, where none is configured.
        identity: Vec<String>,
    },
}

/// Something of git that is under way in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitOperation {
    /// Patches are being applied.
    Apply,
    /// Commits are being moved.
    Rebase,
}

/// Where a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandPlace {
    /// In the outer repository.
    Outer,
    /// In each submodule, and theirs.
    Submodules,
    /// In both.
    Every,
    /// In the repository at this path.
    In(String),
}

/// A command and where it runs. A word in angle brackets stands for what is known by then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutCommand {
    /// Where.
    pub place: CommandPlace,
    /// Program and arguments.
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
    /// What a person calls it.
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

/// `--depth` and `--jobs`, as fetch and submodule update take them.
fn amounts(depth: Option<u32>, jobs: Option<u32>) -> Vec<String> {
    let depth = depth.map(|depth| format!("--depth={depth}"));
    depth
        .into_iter()
        .chain(jobs.map(|jobs| format!("--jobs={jobs}")))
        .collect()
}

impl CheckoutStep {
    /// The step in a few words, for people.
    pub fn title(&self) -> String {
        match self {
            Self::Initialise { .. } => "make a repository".to_owned(),
            Self::Repoint { origin } => format!("fetch from {origin} from now on"),
            Self::EndSession { .. } => "end what is under way".to_owned(),
            Self::Save { .. } => "keep what is not committed".to_owned(),
            Self::Discard { .. } => "discard what is not committed".to_owned(),
            Self::DropTags => "remove the tags of the last run".to_owned(),
            Self::Fetch { reference, .. } => format!("fetch {reference}"),
            Self::CheckOut { .. } => "check out".to_owned(),
            Self::Tag => "tag what upstream has".to_owned(),
            Self::Submodules { .. } => "check out submodules".to_owned(),
            Self::TagSubmodules => "tag what upstream has in submodules".to_owned(),
            Self::Quiet => "let git ignore changes of submodules".to_owned(),
            Self::Series {
                stage: PatchStage::Base,
                ..
            } => "apply patches".to_owned(),
            Self::Series {
                stage: PatchStage::Hipified,
                ..
            } => "apply patches of hipified sources".to_owned(),
            Self::Hipify { .. } => "hipify".to_owned(),
            Self::CommitHipify { .. } => "commit what hipify changed".to_owned(),
        }
    }

    /// The commands of the step, in order.
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

/// One `git am` a repository: the outer one first, then the others by path.
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

/// The one call that applies patches to a repository. What stands in brackets before a subject is
/// part of it.
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
            .map(|patch| format!("{}/{}", set.folder, patch.path)),
    );
    order
}

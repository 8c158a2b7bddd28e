//! The desired state of a checkout, after options, pins and defaults are resolved.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::series::PatchSet;

/// The desired state of one repository and its submodules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutSpec {
    /// The absolute path of the worktree.
    pub directory: PathBuf,
    /// The project that is checked out, `torch`; `None` for any other repository.
    pub project: Option<String>,
    /// The URL to fetch from; any form that git accepts.
    pub origin: String,
    /// The ref to fetch: a branch, a tag, or a full commit hash.
    pub reference: String,
    /// The name of the outer repository's directory in a patch set.
    pub name: String,
    /// The patches to apply; `None` to apply no patches.
    pub patches: Option<PatchSet>,
    /// The treatment of CUDA sources.
    pub hipify: HipifyMode,
    /// Whether submodules are checked out, recursively.
    pub submodules: bool,
    /// The number of commits of history to fetch; `None` for the full history.
    pub depth: Option<u32>,
    /// The number of parallel fetches.
    pub jobs: Option<u32>,
    /// The Python interpreter that runs hipify.
    pub python: String,
    /// Environment variables for a build of the tree in addition to its own environment, stored in
    /// `.rock/build_env.json`.
    pub build_environment: BTreeMap<String, String>,
    /// The user changes that may be discarded.
    pub discard: DiscardPolicy,
}

/// The treatment of CUDA sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HipifyMode {
    /// Leave the sources unchanged, and do not apply patches of hipified sources.
    Skip,
    /// Hipify the sources, and leave the changes uncommitted.
    Leave,
    /// Hipify the sources, and commit the changes in each repository.
    #[default]
    Commit,
}

/// The kinds of user changes that a checkout may discard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiscardPolicy {
    /// Whether uncommitted changes may be discarded.
    pub changes: bool,
    /// Whether commits on top of those of the last checkout may be discarded.
    pub commits: bool,
}

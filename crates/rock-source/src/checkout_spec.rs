//! What a checkout is asked for, once every option, pin and default was looked up.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::series::PatchSet;

/// One repository with its submodules, as it shall lie in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutSpec {
    /// The folder of the work tree, absolute.
    pub folder: PathBuf,
    /// The project that it is for, `torch`; none for any other repository.
    pub project: Option<String>,
    /// Where it is fetched from: anything that git takes.
    pub origin: String,
    /// What is fetched: a branch, a tag, or a whole commit hash.
    pub reference: String,
    /// The folder of the outer repository inside a patch set.
    pub name: String,
    /// The patches to apply; `None` for none at all.
    pub patches: Option<PatchSet>,
    /// What becomes of the sources for CUDA.
    pub hipify: HipifyMode,
    /// Whether submodules are checked out too, the submodules of these as well.
    pub submodules: bool,
    /// How many commits of history are fetched; all of it where nothing is said.
    pub depth: Option<u32>,
    /// How many things git fetches at once.
    pub jobs: Option<u32>,
    /// The Python that hipify is run with.
    pub python: String,
    /// What a build of the tree is given beside its own environment, kept in
    /// `.rock/build_env.json`.
    pub build_environment: BTreeMap<String, String>,
    /// What may be lost.
    pub discard: DiscardPolicy,
}

/// What becomes of the sources for CUDA.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HipifyMode {
    /// They stay, and no patch that needs them hipified is applied.
    Skip,
    /// They are hipified, and what that changes is left uncommitted.
    Leave,
    /// They are hipified, and that is a commit of its own in each repository.
    #[default]
    Commit,
}

/// What of the user's work may be lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiscardPolicy {
    /// Changes that are not committed.
    pub changes: bool,
    /// Commits above what the last checkout made.
    pub commits: bool,
}

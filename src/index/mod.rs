//! Projects and files to a static simple repository.
//!
//! Input: [`IndexFile`]s, and [`Links`] that say where the files lie as seen from the index. Output: a [`Repository`],
//! the pages by relative path and the `.metadata` files that belong beside the wheels.
//!
//! One folder a pair of ROCm and torch, each a whole simple repository (PEP 503, 691, 658), because a local version
//! label decides for an installer which file is the latest: on one flat page `rocm72torch2.9` beats
//! `rocm72torch2.10`, whatever torch is installed.
//!
//! **Invariant:** equal files give equal bytes, in whatever order they come; a text reaches a page only escaped; no page
//! ever lists wheels of two ROCm or two torch versions.

mod escape;
mod file;
mod folder;
mod json;
mod landing;
mod links;
mod order;
mod pages;

pub use escape::Html;
pub use file::{CoreMetadata, FileKind, IndexFile, Yanked};
pub use folder::Folder;
pub use landing::GENERATOR;
pub use links::{BaseUrl, BaseUrlError, Links};
pub use order::{sort, sort_by_file};
pub use pages::{IndexError, Repository, repository};

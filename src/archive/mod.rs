//! Archives: tar, of members that lie elsewhere and are not copied, and xz.
//!
//! In: what the members are, and their bytes behind [`ReadAt`](crate::bytes::ReadAt). Out: the archive behind the same.
//!
//! **Invariant:** the same members give the same bytes, whoever makes them and whenever.

mod tar;
mod xz;

pub use tar::{Member, MemberKind, Tar};
pub use xz::xz;

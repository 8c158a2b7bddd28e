//! Code for AMD GPUs inside of files: which targets a library, a bundle, an archive or a data file
//! holds code for.
//!
//! In: the bytes of a file, once and in order, and the layout of the file when all have passed; or
//! the name of a data file. Out: an [`Inventory`] of values with the offsets they were found at.
//! Findings are made elsewhere.
//!
//! **Invariant:** no payload is kept: of each code object at most its first 64 bytes, of each
//! bundle its table. What a file says about its own size never decides how much memory or time is
//! spent; where a bound of ours was met, the inventory says so.

mod bundle;
mod bytes;
mod compressed;
mod data;
mod entry;
mod flags;
mod inventory;
mod judge;
mod kpack;
mod kpack_list;
mod layout;
mod limits;
mod msgpack;
mod scan;
mod target;

pub use bundle::{BundleFault, is_bundle};
pub use compressed::{CompressedFault, CompressedHeader, Method};
pub use data::{DataFile, DataKind, SourceKind};
pub use entry::{Entry, EntryId, OffloadKind};
pub use flags::{CodeObject, is_code_object, parse_code_object};
pub use inventory::{
    Container, ContainerKind, Damage, Inventory, Mismatch, Place, TargetTotals, Union,
};
pub use kpack::{Kpack, KpackError, KpackReference};
pub use kpack_list::KpackList;
pub use layout::{FileKind, FileLayout, LayoutSection, Stretch};
pub use scan::{Depth, Limit, Scanner};
pub use target::{Target, TargetDifference};

#[cfg(test)]
mod tests;

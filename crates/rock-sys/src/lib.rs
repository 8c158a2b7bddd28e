//! The machine: files, environment, clock.
//!
//! **Invariant:** `std::fs`, `Command`, `env::var` and `SystemTime::now` are called here and in no
//! other module.
#![allow(
    clippy::disallowed_methods,
    reason = "this module is where they are allowed"
)]

mod below;
pub mod codes;
mod environment;
mod escaping_links;
pub mod fetch;
mod files;
mod folders;
mod host;
mod merged;
mod positional;
mod probe;
pub mod process;
mod proxy;
mod random;
mod scratch;
mod signals;
mod swap;
mod umask;
mod unfinished;
mod unpacking;
mod walked;

pub use below::Below;
pub use environment::{Environment, own_program};
pub use escaping_links::{find_escaping_link, find_escaping_link_after_merge};
pub use files::{
    FileError, LARGEST_SYSTEM_FILE_BYTES, append, copy_all, has_file, is_file, is_regular_file,
    kind_beside_file, kind_of, read_bytes, read_text, replace_file, replace_if_changed, size_bytes,
    system_text, write_atomic, write_if_changed, write_streamed, write_unsynced,
};
pub use folders::{
    Entry, EntryKind, Lock, can_write_into, copy_atomic, digest_of, disk_usage, entries, exists,
    files_with_extension, folders, free_bytes, glob, has_foreign_files, is_own_folder,
    link_or_copy, listing, lock, lock_below, make_folder, names_in, now_s, open_to_read, own_ids,
    remove, stamp,
};
pub use host::{HostRoots, host_facts, python, topology, with_hip, with_programs};
pub use merged::merge;
pub use positional::{
    ClosedFile, Existing, PositionalFile, Saved, is_same_file, save, save_checked, try_save,
};
pub use probe::{Probe, find_program, probe};
pub use proxy::{NamedProxy, variable_text};
pub use random::{drawn, unguessable};
pub use scratch::{Room, scratch};
pub use signals::{Signals, StopSignal, outlive_long_files};
pub use swap::{FolderLock, FolderSwap, Listed, Staging, real_path, tree};
pub use unpacking::Unpacking;
pub use walked::{Walked, WalkedKind, link_among, walked};

//! The machine: files, environment, clock.
//!
//! **Invariant:** `std::fs`, `Command`, `env::var` and `SystemTime::now` are called here and in no
//! other module.
#![allow(
    clippy::disallowed_methods,
    reason = "this module is where they are allowed"
)]

mod archive_unpacker;
mod atomic_dir;
pub mod codes;
mod directories;
mod environment;
mod escaping_links;
pub mod fetch;
mod files;
mod host;
mod merge_tree;
mod path_below;
mod pending_file;
mod positional_file;
mod probe;
pub mod process;
mod proxy;
mod random;
mod scratch;
mod signals;
mod umask;
mod walk;

pub use archive_unpacker::ArchiveUnpacker;
pub use atomic_dir::{DirectoryLock, DirectorySwap, ListedFile, StagingDirectory, real_path, tree};
pub use directories::{
    DirectoryEntry, DirectoryEntryKind, FileLock, can_write_into, copy_atomic, create_directory,
    digest_of, disk_usage, entries, exists, files_with_extension, free_bytes, glob,
    has_foreign_files, is_real_directory, link_or_copy, listing, lock, lock_below, names_in, now_s,
    open_to_read, own_ids, remove, stamp, subdirectories,
};
pub use environment::{Environment, own_program};
pub use escaping_links::{find_escaping_link, find_escaping_link_after_merge};
pub use files::{
    FileError, LARGEST_SYSTEM_FILE_BYTES, append, copy_all, has_file, is_file, is_regular_file,
    read_bytes, read_text, replace_file, replace_if_changed, size_bytes, special_file_kind,
    special_kind, system_text, write_atomic, write_if_changed, write_streamed, write_unsynced,
};
pub use host::{HostRoots, host_facts, python, topology, with_hip, with_programs};
pub use merge_tree::merge_tree;
pub use path_below::PathBelow;
pub use positional_file::{
    OnExisting, PositionalFile, ReopenedFile, WriteOutcome, is_same_file, save, save_checked,
    try_save,
};
pub use probe::{ProgramOutput, find_program, probe};
pub use proxy::{ProxyVariable, variable_text};
pub use random::{random_name, random_u64};
pub use scratch::{ScratchSpace, scratch};
pub use signals::{Signals, StopSignal, ignore_sigxfsz};
pub use walk::{WalkEntry, WalkEntryKind, link_among, walk};

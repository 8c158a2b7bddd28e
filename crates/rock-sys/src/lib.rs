//! Access to the operating system: files, directories, processes, signals, environment, clock and
//! downloads.
//!
//! Input: paths, argument vectors, addresses and limits as values. Output: bytes, listings, exit
//! statuses and [host facts](read_host_facts), or an error that names the path, program or
//! address.
//!
//! [`write_atomic`] leaves a file with either its old or its new content, also after a crash.
//! [`DirectorySwap`] does the same for a directory as a whole:
//!
//! ```
//! use rock_sys::{DirectorySwap, read_text, write_atomic};
//!
//! let temporary = tempfile::tempdir()?;
//! let release = temporary.path().join("release");
//! write_atomic(&release.join("version.txt"), b"1.0")?;
//!
//! let staging = DirectorySwap::begin(&release, || eprintln!("waiting"))?.stage()?;
//! staging.write("version.txt", b"2.0")?;
//! assert_eq!(read_text(&release.join("version.txt"), 100)?, "1.0");
//!
//! staging.commit()?;
//! assert_eq!(read_text(&release.join("version.txt"), 100)?, "2.0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** `std::fs`, `Command`, `env::var` and `SystemTime::now` are called here and, in the
//! other libraries, only by `rock_audit::system`.
#![allow(
    clippy::disallowed_methods,
    reason = "this crate is where they are allowed"
)]

mod archive_unpacker;
mod atomic_dir;
pub mod codes;
mod directories;
mod directory_url;
mod environment;
mod escaping_links;
pub mod fetch;
mod files;
mod host;
pub mod http;
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
pub use atomic_dir::{
    DirectoryLock, DirectorySwap, ListedFile, StagingDirectory, list_files, real_path,
};
pub use directories::{
    DirectoryEntry, DirectoryEntryKind, FileLock, copy_atomic, create_directory, disk_usage,
    effective_ids, ensure_writable, entry_names, exists, file_listing, files_with_extension,
    free_bytes, glob, has_foreign_files, hash_file, is_directory, is_real_directory, link_or_copy,
    monotonic_now, now_s, open_file, read_entries, remove, size_and_mtime, subdirectories,
    try_lock, try_lock_below,
};
pub use directory_url::directory_url;
pub use environment::{Environment, current_program};
pub use escaping_links::{find_escaping_link, find_escaping_link_after_merge};
pub use files::{
    FileError, LARGEST_SYSTEM_FILE_BYTES, STDIN, append, copy_all, is_file, is_regular_file,
    make_executable, read_bytes, read_stdin, read_system_text, read_text, replace_file,
    replace_if_changed, size_bytes, special_file_kind, special_kind, try_is_file, write_atomic,
    write_if_changed, write_streamed, write_to_stdout, write_unsynced,
};
pub use host::{
    HostRoots, add_hip_version, add_program_versions, read_host_facts, read_python_facts,
    read_topology,
};
pub use merge_tree::merge_tree;
pub use path_below::PathBelow;
pub use positional_file::{
    OnExisting, PositionalFile, ReopenedFile, WriteOutcome, is_same_file, preview_save, save,
    save_checked,
};
pub use probe::{ProgramOutput, find_program, probe};
pub use proxy::{ProxyError, ProxyVariable, variable_value};
pub use random::{random_name, random_u64};
pub use scratch::{ScratchSpace, allocate_scratch};
pub use signals::{Signals, StopSignal, ignore_sigxfsz};
pub use walk::{WalkEntry, WalkEntryKind, find_link_on_path, walk};

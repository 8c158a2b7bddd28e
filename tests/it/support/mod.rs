//! What the stories share: a temporary project folder, the binary run in it with a clean
//! environment, and expected outputs kept in files.

pub mod artifacts;
mod bless;
mod described;
pub mod elf;
mod family;
mod finding;
pub mod git;
pub mod hostile;
pub mod http;
pub mod linked;
pub mod pages;
mod pip;
pub mod play;
mod printed_commands;
mod project;
pub mod rewritten;
pub mod sdk;
mod session;
pub mod source_archive;
pub mod toy;
mod wheel;
pub mod zip_records;

pub use bless::assert_file;
pub use family::{Family, PYPROJECT};
pub use finding::appears;
pub use git::Sources;
pub use http::Served;
pub use pip::{need_pip, pip, pips};
pub use project::{Outcome, Project, path_with_program};
pub use rock_testkit::{bundle, raw_zip};
pub use session::Session;
pub use source_archive::SourceArchive;
pub use wheel::Wheel;

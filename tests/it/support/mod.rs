//! What the stories share: a temporary project folder, the binary run in it with a clean environment, and expected
//! outputs kept in files.

mod bless;
pub mod bundle;
pub mod elf;
mod finding;
pub mod hostile;
pub mod linked;
pub mod pages;
mod pip;
mod project;
pub mod toy;
mod wheel;

pub use bless::assert_file;
pub use finding::appears;
pub use pip::need_pip;
pub use project::{Outcome, Project};
pub use wheel::Wheel;

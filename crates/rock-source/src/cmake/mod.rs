//! `set(…)` statements of CMake files.
//!
//! Input: the text of a file. Output: the `set` commands with the blocks around them, and the
//! errors that prevent reading the file.
//!
//! **Invariant:** Nothing is evaluated: values and conditions stay as written.

mod lex;
mod script;

pub use lex::CmakeArgument;
pub use script::{CmakeError, CmakeScript, SetCommand};

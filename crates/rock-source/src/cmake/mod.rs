//! `set(…)` statements of CMake files.
//!
//! Input: the text of a file. Output: what is set, in which blocks, and what stands in the way of
//! reading it.
//!
//! **Invariant:** nothing is evaluated: values and conditions stay as they are written.

mod lex;
mod script;

pub use lex::CmakeArgument;
pub use script::{CmakeError, CmakeScript, SetCommand};

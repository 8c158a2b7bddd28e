//! Compatibility tables as written in YAML: their rows, what makes a row invalid, and platform
//! policies with their inherited sets expanded.
//!
//! The build script of `rock-compat` compiles this crate too, so it has few dependencies.
//!
//! **Invariant:** texts stay texts; versions are parsed by whoever asks a question.

pub mod faults;
pub mod rows;

/// Platform policies, as written and expanded.
pub mod policy {
    pub mod expand;
    pub mod table;
}

#[cfg(test)]
mod shipped;

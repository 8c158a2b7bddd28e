//! Diagnostics with codes, labelled source spans and help, and renderers for people, for programs
//! and for GitHub.
//!
//! A checker collects [`Diagnostic`]s in a [`Sink`], so that one run reports every error. A
//! function of [`render`] turns the collected diagnostics into text:
//!
//! ```
//! use rock_diagnostic::{Code, Diagnostic, Sink, SourceText, render};
//!
//! static ZERO_JOBS: Code = Code::error(
//!     "X001",
//!     "zero-jobs",
//!     "A build needs at least one job.",
//! );
//!
//! let source = SourceText::new("build.yaml", "jobs: 0\n");
//! let mut sink = Sink::new();
//! sink.push(
//!     Diagnostic::new(&ZERO_JOBS, "the build has no jobs")
//!         .at(source.location(6..7), "must be 1 or more")
//!         .help("remove the key to use all processors"),
//! );
//!
//! assert!(sink.has_errors());
//! assert_eq!(
//!     render::human(&sink.finish(), false),
//!     "\
//! error[X001 zero-jobs]: the build has no jobs
//!  --> build.yaml:1:7
//!   |
//! 1 | jobs: 0
//!   |       ^ must be 1 or more
//!   |
//! help: remove the key to use all processors
//!
//! "
//! );
//! ```
//!
//! The crate also has the helpers that messages are written with: [`counted`], [`is_or_are`] and
//! [`count_more`] for numbers, [`list_first`] for long lists, [`nearest`] for suggestions,
//! [`shell_line`] for commands and [`markdown`] for text in Markdown pages.
//!
//! **Invariant:** nothing here reads a file or prints; renderers return text.

mod code;
pub mod codes;
mod count;
mod diagnostic;
mod diagnostics;
mod location;
pub mod markdown;
pub mod nearest;
pub mod render;
mod shell_word;
mod sink;
#[cfg(test)]
mod test_codes;

pub use code::{Code, ExitClass, Severity};
pub use count::{Count, count_more, counted, is_or_are, list_first};
pub use diagnostic::{Diagnostic, DiagnosticLabel};
pub use diagnostics::Diagnostics;
pub use location::{Location, SourceText, Span};
pub use shell_word::{shell_line, shell_quoted};
pub use sink::Sink;

//! The `K` codes.

use super::super::Code;

/// Every `K` code, in order.
pub const ALL: &[&Code] = &[];

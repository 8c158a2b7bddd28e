//! The `P` codes.

use super::super::Code;

/// Every `P` code, in order.
pub const ALL: &[&Code] = &[];

//! The `H` codes.

use super::super::Code;

/// Every `H` code, in order.
pub const ALL: &[&Code] = &[];

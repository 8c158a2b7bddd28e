//! The `B` codes.

use super::super::Code;

/// Every `B` code, in order.
pub const ALL: &[&Code] = &[];

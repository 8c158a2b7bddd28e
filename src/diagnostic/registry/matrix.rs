//! The `M` codes.

use super::super::Code;

/// Every `M` code, in order.
pub const ALL: &[&Code] = &[];

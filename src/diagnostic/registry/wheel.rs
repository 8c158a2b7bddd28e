//! The `W` codes.

use super::super::Code;

/// Every `W` code, in order.
pub const ALL: &[&Code] = &[];

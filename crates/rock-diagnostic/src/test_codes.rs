//! Diagnostic codes for the tests of this crate.

use crate::Code;

pub(crate) const BAD_SYNTAX: Code = Code::error("M002", "bad-syntax", "The file is not YAML.");
pub(crate) const DUPLICATE_KEY: Code =
    Code::error("M001", "duplicate-key", "A key is there twice.");
pub(crate) const BYTE_ORDER_MARK: Code = Code::warning(
    "M005",
    "byte-order-mark",
    "The file begins with a byte order mark.",
);
pub(crate) const IDLE_ENTRY: Code = Code::warning("M034", "idle-entry", "An entry has no effect.");

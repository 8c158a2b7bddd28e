//! Host facts to findings.

//! Blocking GET of index pages.

//! User stories, one module each.

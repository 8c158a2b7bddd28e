//! Config and facts to legs and reasons.

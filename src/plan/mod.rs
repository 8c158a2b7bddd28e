//! Legs to jobs, shards and the hand-off JSON.

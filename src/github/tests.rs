//! Publishing against a server that is played.

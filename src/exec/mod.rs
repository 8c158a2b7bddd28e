//! Runs steps: local, container, dry run.

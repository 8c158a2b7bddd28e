//! Plan and steps to text: docker commands, scripts, the dry run.

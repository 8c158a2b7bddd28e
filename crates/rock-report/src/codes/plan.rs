//! The `P` codes, for excluded cells and for plans and workflows that fail.

pub(crate) use rock_plan::codes::plan::BAD_PLAN_FILE;

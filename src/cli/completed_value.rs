//! Values that shells complete, although the command accepts others: a command reports an unknown
//! name with suggestions, and its own data may have further names.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};

/// A parser of strings with names for shells to complete. The names are computed only for
/// completion scripts.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompletedValue(pub(super) fn() -> Vec<String>);

impl TypedValueParser for CompletedValue {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// The word in completion scripts that [`completions`](super::completions) replaces with a command
/// that lists the IDs of the jobs in `matrices/`.
pub(super) const JOB_IDS: &str = "__ROCK_MATRIX_JOB_IDS__";

/// Returns the word that stands for the IDs of jobs, which depend on the directory in which a shell
/// completes.
pub(super) fn job_ids() -> Vec<String> {
    vec![JOB_IDS.to_owned()]
}

/// Returns the IDs and names of all diagnostic codes.
pub(super) fn diagnostic_codes() -> Vec<String> {
    crate::codes::all()
        .flat_map(|code| [code.id, code.name])
        .map(str::to_owned)
        .collect()
}

/// Returns the names of all compatibility tables.
pub(super) fn tables() -> Vec<String> {
    crate::compat::rows::CompatTables::names()
}

/// Returns the names of the built-in recipes.
pub(super) fn recipes() -> Vec<String> {
    crate::config::recipe::embedded_names()
        .map(str::to_owned)
        .collect()
}

/// Returns the names of the sets of libraries to exclude.
pub(super) fn exclude_presets() -> Vec<String> {
    let compat = crate::compat::Compat::embedded();
    let presets = compat.library_tables().presets.iter();
    presets
        .map(|row| row.name.clone())
        .chain(["none".to_owned()])
        .collect()
}

/// Returns the names of the environment profiles.
pub(super) fn profiles() -> Vec<String> {
    let compat = crate::compat::Compat::embedded();
    compat
        .profile_names()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

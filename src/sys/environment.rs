//! The environment as one value, taken once at start.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Variables, working folder and whether the streams are terminals, as they were when the program began.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Variables whose name and value are UTF-8.
    pub variables: BTreeMap<String, String>,
    /// The working folder.
    pub current_dir: PathBuf,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
}

impl Environment {
    /// Takes the snapshot.
    pub fn snapshot() -> Self {
        Self {
            variables: std::env::vars_os()
                .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
                .collect(),
            current_dir: std::env::current_dir().unwrap_or_default(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// A variable's value; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|v| !v.is_empty())
    }
}

//! A snapshot of the process environment.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Environment variables, working directory and kinds of the standard streams, taken once at start.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Variables whose name and value are valid UTF-8.
    pub variables: BTreeMap<String, String>,
    /// The working directory.
    pub current_dir: PathBuf,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// Whether standard error is redirected to a regular file.
    pub stderr_is_file: bool,
}

/// Returns the path of the running program, if it is valid UTF-8.
pub fn current_program() -> Option<String> {
    std::env::current_exe()
        .ok()?
        .into_os_string()
        .into_string()
        .ok()
}

impl Environment {
    /// Takes a snapshot of the current process.
    pub fn snapshot() -> Self {
        Self {
            variables: std::env::vars_os()
                .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
                .collect(),
            current_dir: std::env::current_dir().unwrap_or_default(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            stderr_is_file: std::io::stderr()
                .as_fd()
                .try_clone_to_owned()
                .and_then(|stream| std::fs::File::from(stream).metadata())
                .is_ok_and(|found| found.is_file()),
        }
    }

    /// Returns the current date in UTC as `YYYY-MM-DD`, or the date of `SOURCE_DATE_EPOCH` if that
    /// is set.
    pub fn today(&self) -> String {
        let seconds = self
            .get("SOURCE_DATE_EPOCH")
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(super::now_s);
        // Converts days to a civil date; the 400-year era begins on March 1.
        let days = i64::try_from(seconds / 86_400).unwrap_or(0) + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let (day, month) = (
            of_year - (153 * shifted + 2) / 5 + 1,
            if shifted < 10 {
                shifted + 3
            } else {
                shifted - 9
            },
        );
        format!(
            "{:04}-{month:02}-{day:02}",
            year_of_era + era * 400 + i64::from(month <= 2)
        )
    }

    /// Returns the value of a variable; `None` if it is unset or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|v| !v.is_empty())
    }
}

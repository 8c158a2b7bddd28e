//! The environment as one value, taken once at start.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Variables, working folder and whether the streams are terminals, as they were when the program
/// began.
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
    /// Whether standard error goes to a file.
    pub stderr_is_file: bool,
}

/// Where this program lies, where that is UTF-8.
pub fn own_program() -> Option<String> {
    std::env::current_exe()
        .ok()?
        .into_os_string()
        .into_string()
        .ok()
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
            stderr_is_file: std::io::stderr()
                .as_fd()
                .try_clone_to_owned()
                .and_then(|stream| std::fs::File::from(stream).metadata())
                .is_ok_and(|found| found.is_file()),
        }
    }

    /// Today in UTC, `2026-11-21`; the day of `SOURCE_DATE_EPOCH` where that is set.
    pub fn today(&self) -> String {
        let now = || {
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |since| since.as_secs())
        };
        let seconds = self
            .get("SOURCE_DATE_EPOCH")
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(now);
        // Days to a civil date, after the calendar's 400-year cycle that begins in March.
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

    /// A variable's value; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|v| !v.is_empty())
    }
}

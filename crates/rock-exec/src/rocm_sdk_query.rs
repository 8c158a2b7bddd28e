//! The ROCm of a Python with the packages of the ROCm SDK.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use rock_sys::{self as sys, Environment};

/// Time limit of the query: the first one may unpack gigabytes.
const TIMEOUT: Duration = Duration::from_mins(10);
/// The arguments of the query (`rocm_sdk` of ROCm/TheRock).
const ARGUMENTS: [&str; 4] = ["-m", "rocm_sdk", "path", "--root"];

/// A query for the ROCm directory of a Python. It is displayed as its command.
#[derive(Debug, Clone, Copy)]
pub struct RocmSdkQuery<'p> {
    python: &'p Path,
}

impl<'p> RocmSdkQuery<'p> {
    /// Creates a query of an interpreter: a name that is looked up on `PATH`, or a path.
    pub fn new(python: &'p Path) -> Self {
        Self { python }
    }

    /// Runs the query, and returns the absolute path of the ROCm directory; `None` if the
    /// interpreter cannot be started or prints no absolute path.
    pub fn run(&self, environment: &Environment) -> Option<String> {
        let is_path = self.python.components().count() > 1;
        let program = if is_path {
            environment.current_dir.join(self.python)
        } else {
            sys::find_program(self.python.to_str()?, environment)?
        };
        sys::probe(&program, &ARGUMENTS, environment, TIMEOUT)
            .first_line_of_success()
            .filter(|line| line.starts_with('/'))
    }
}

impl fmt::Display for RocmSdkQuery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.python.display(), ARGUMENTS.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::RocmSdkQuery;
    use rock_sys::Environment;

    #[test]
    fn an_interpreter_that_prints_no_directory_has_no_rocm() {
        let query = RocmSdkQuery::new(Path::new("/bin/echo"));
        assert_eq!(query.to_string(), "/bin/echo -m rocm_sdk path --root");
        assert_eq!(query.run(&Environment::default()), None);
        let missing = RocmSdkQuery::new(Path::new("python3"));
        assert_eq!(missing.run(&Environment::default()), None);
    }
}

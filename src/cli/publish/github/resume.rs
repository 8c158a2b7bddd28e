//! The command that resumes a publish run.

use std::ffi::OsString;

use crate::cli::command_line::repeated;

/// Source of the files' digests in the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// The source of this run.
    Same,
    /// The files themselves, because a digest that this run was given is wrong.
    All,
}

/// Returns the command line of this run, as a shell reads it, without `--dry-run`. `arguments`
/// begins with the program.
///
/// The environment is not repeated; tokens are only there.
pub(super) fn resume(arguments: &[OsString], reading: Reading) -> String {
    repeated(
        arguments,
        &["--dry-run", "-n"],
        if reading == Reading::All {
            &[READ_ALL]
        } else {
            &[]
        },
    )
}

const READ_ALL: &str = "--read-all";

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Reading, resume};

    fn resumed(line: &str, reading: Reading) -> String {
        let arguments: Vec<OsString> = shlex::split(line)
            .unwrap()
            .into_iter()
            .map(OsString::from)
            .collect();
        resume(&arguments, reading)
    }

    #[test]
    fn the_command_line_is_repeated_without_its_dry_run() {
        let line =
            "./target/rock-matrix -v publish --dry-run --repo me/wheels --title=\"It's 1\" dist";
        let expected = r"rock-matrix -v publish --repo me/wheels '--title=It'\''s 1' dist";
        assert_eq!(resumed(line, Reading::Same), expected);
        assert_eq!(
            resumed(&line.replace("--dry-run", "-n"), Reading::Same),
            expected
        );
    }

    #[test]
    fn a_wrong_digest_makes_the_next_run_read_every_file() {
        let all = |line| resumed(line, Reading::All);
        assert_eq!(
            all("r publish --known a dist"),
            "rock-matrix publish --known a dist --read-all"
        );
        assert_eq!(
            all("r publish --repo a/b -- -dist"),
            "rock-matrix publish --repo a/b --read-all -- -dist"
        );
        assert_eq!(
            all("r publish --read-all dist"),
            "rock-matrix publish --read-all dist"
        );
    }
}

//! The command that resumes a publish run.

use std::ffi::OsString;

use crate::cli::command_line::repeated;

/// The source of the files' digests in the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DigestSource {
    /// The source of this run.
    AsGiven,
    /// The files themselves, because a recorded digest is wrong.
    Files,
}

/// Returns the command line of this run, as a shell reads it, without `--dry-run`. `arguments`
/// begins with the program.
///
/// The environment is not repeated; tokens are only there.
pub(super) fn resume(arguments: &[OsString], digests: DigestSource) -> String {
    repeated(
        arguments,
        &["--dry-run", "-n"],
        if digests == DigestSource::Files {
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

    use super::{DigestSource, resume};

    fn resumed(line: &str, digests: DigestSource) -> String {
        let arguments: Vec<OsString> = shlex::split(line)
            .unwrap()
            .into_iter()
            .map(OsString::from)
            .collect();
        resume(&arguments, digests)
    }

    #[test]
    fn the_command_line_is_repeated_without_its_dry_run() {
        let line =
            "./target/rock-matrix -v publish --dry-run --repo me/wheels --title=\"It's 1\" dist";
        let expected = r"rock-matrix -v publish --repo me/wheels '--title=It'\''s 1' dist";
        assert_eq!(resumed(line, DigestSource::AsGiven), expected);
        assert_eq!(
            resumed(&line.replace("--dry-run", "-n"), DigestSource::AsGiven),
            expected
        );
    }

    #[test]
    fn a_wrong_digest_makes_the_next_run_read_every_file() {
        let all = |line| resumed(line, DigestSource::Files);
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

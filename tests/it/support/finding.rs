//! Searches the messages of runs for a code.

use super::Project;

/// Asserts that a code is reported in the one text and not in the other, which is about the same
/// thing without the error.
///
/// `tests/tidy` counts these calls: each code of wheels needs one.
#[track_caller]
pub fn appears(code: &str, with: &str, without: &str) {
    let prefix = format!("[{code} ");
    assert!(with.contains(&prefix), "{code} is not reported:\n{with}");
    assert!(
        !without.contains(&prefix),
        "{code} is reported without an error:\n{without}"
    );
}

impl Project {
    /// Returns the messages of a run that ends with 0 or 1.
    #[track_caller]
    pub fn stderr_of(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments:?}: {:?}\n{text}",
            output.status
        );
        text
    }
}

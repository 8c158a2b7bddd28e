//! What runs say, looked through for one code.

use super::Project;

/// Asserts that a code is told in the one text and not in the other, which is about the same thing
/// without the fault.
///
/// `tests/tidy` counts these calls: each code of wheels needs one.
#[track_caller]
pub fn appears(code: &str, with: &str, without: &str) {
    let text = format!("[{code} ");
    assert!(with.contains(&text), "{code} is not told:\n{with}");
    assert!(
        !without.contains(&text),
        "{code} is told without a fault:\n{without}"
    );
}

impl Project {
    /// What a run says, be there a fault or none.
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

//! Errors of a rewritten wheel that the original wheel did not have.

use std::collections::{BTreeMap, BTreeSet};

use rock_diagnostic::{Diagnostic, Location};
use rock_wheel::MAX_FINDINGS;

/// Selects the errors of a rewritten wheel that the original wheel did not have. `new_name` returns
/// the path of a member of the original wheel in the rewritten one.
///
/// An error is known if the audit of the original wheel has a finding with its code, of any
/// severity, about the same member, or about the whole wheel with the same message.
///
/// The findings of the original wheel are incomplete in two ways. Of a code with more than
/// [`MAX_FINDINGS`] findings, some are left out and cannot be distinguished from new errors: all
/// errors of such a code are known. And an audit compares RECORD with the names of members, not
/// with their contents; members that were copied are not read in the rewritten wheel either, so
/// their errors are not in `rewritten`, and the content of any other member must match RECORD.
pub(super) fn new_errors(
    original: &[Diagnostic],
    rewritten: Vec<Diagnostic>,
    new_name: &dyn Fn(&str) -> String,
) -> Vec<Diagnostic> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in original {
        *counts.entry(finding.code.id).or_default() += 1;
    }
    let known: BTreeSet<(&str, Subject)> = original
        .iter()
        .map(|finding| (finding.code.id, Subject::of(finding).renamed(new_name)))
        .collect();
    rewritten
        .into_iter()
        .filter(|error| {
            let id = error.code.id;
            let is_truncated = counts.get(id).is_some_and(|count| *count > MAX_FINDINGS);
            error.is_error() && !is_truncated && !known.contains(&(id, Subject::of(error)))
        })
        .collect()
}

/// The part of a wheel that a finding is about.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    /// The member with this path.
    Member(String),
    /// The whole wheel; findings about it are distinguished by their messages.
    Wheel { message: String },
}

impl Subject {
    fn of(finding: &Diagnostic) -> Self {
        match finding.labels.first().map(|label| &label.location) {
            Some(Location::Member { member, .. }) => Self::Member(member.clone()),
            _ => Self::Wheel {
                message: finding.message.clone(),
            },
        }
    }

    /// Returns the subject of the same finding about the rewritten wheel.
    fn renamed(self, new_name: &dyn Fn(&str) -> String) -> Self {
        match self {
            Self::Member(path) => Self::Member(new_name(&path)),
            Self::Wheel { message } => Self::Wheel { message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rock_diagnostic::Severity;
    use rock_wheel::codes::wheel::{CORRUPT_MEMBER, RECORD_MISMATCH};

    fn in_member(wheel: &str, member: &str) -> Diagnostic {
        let location = Location::Member {
            wheel: wheel.to_owned(),
            member: member.to_owned(),
        };
        Diagnostic::new(&RECORD_MISMATCH, "RECORD says otherwise").at(location, "")
    }

    fn in_wheel(wheel: &str, message: &str) -> Diagnostic {
        Diagnostic::new(&RECORD_MISMATCH, message).at(Location::File(wheel.into()), "")
    }

    /// Returns the locations and messages of the new errors, after a repair that moves `demo/a.py`
    /// to `demo/moved.py`.
    fn check(original: &[Diagnostic], rewritten: Vec<Diagnostic>) -> Vec<String> {
        let new_name = |path: &str| path.replace("demo/a.py", "demo/moved.py");
        new_errors(original, rewritten, &new_name)
            .iter()
            .map(|error| format!("{}: {}", error.labels[0].location, error.message))
            .collect()
    }

    #[test]
    fn an_error_of_another_member_is_new() {
        let original = [in_member("old.whl", "demo/a.py")];
        let rewritten = vec![
            in_member("new.whl", "demo/moved.py"),
            in_member("new.whl", "demo/b.py"),
            in_member("new.whl", "demo/a.py"),
        ];
        assert_eq!(
            check(&original, rewritten),
            [
                "new.whl: demo/b.py: RECORD says otherwise",
                "new.whl: demo/a.py: RECORD says otherwise"
            ]
        );
    }

    #[test]
    fn an_error_with_another_code_is_new() {
        let mut corrupt = in_member("new.whl", "demo/moved.py");
        corrupt.code = &CORRUPT_MEMBER;
        let original = [in_member("old.whl", "demo/a.py")];
        assert_eq!(check(&original, vec![corrupt]).len(), 1);
    }

    #[test]
    fn errors_of_the_whole_wheel_are_known_by_their_message() {
        let original = [in_wheel("old.whl", "both")];
        let rewritten = vec![in_wheel("new.whl", "both"), in_wheel("new.whl", "another")];
        assert_eq!(check(&original, rewritten), ["new.whl: another"]);
    }

    #[test]
    fn warnings_are_not_errors_and_make_errors_known() {
        let warning = in_member("old.whl", "demo/b.py").severity(Severity::Warning);
        let none: [&str; 0] = [];
        assert_eq!(check(&[], vec![warning.clone()]), none);
        assert_eq!(
            check(&[warning], vec![in_member("new.whl", "demo/b.py")]),
            none
        );
    }

    /// The findings that were left out may be those of the rewritten wheel.
    #[test]
    fn errors_of_a_code_with_too_many_findings_are_known() {
        let original = |count: usize| -> Vec<Diagnostic> {
            (0..count)
                .map(|index| in_member("old.whl", &format!("demo/{index}.so")))
                .collect()
        };
        let error = in_member("new.whl", "demo/other.so");
        assert_eq!(check(&original(MAX_FINDINGS), vec![error.clone()]).len(), 1);
        assert_eq!(check(&original(MAX_FINDINGS + 1), vec![error]).len(), 0);
    }
}

//! Reports wheels that an audit found errors in: their contents contradict their names, or cannot
//! be loaded.

use rock_audit::codes::{elf, rocm};
use rock_diagnostic::{Code, Diagnostic, Severity};

use crate::{Asset, ReleaseDetails};

/// The codes of errors with which a wheel fails wherever its name says that it works. Search paths
/// and needs of other packages are not among them, because they depend on the machine; search paths
/// are warnings.
pub const REFUSED_CODES: [&Code; 13] = [
    &elf::DAMAGED_ELF,
    &elf::OTHER_ARCHITECTURE,
    &elf::OTHER_LIBC,
    &rocm::FALSE_PLATFORM_TAG,
    &rocm::CODE_IN_ANY_WHEEL,
    &rocm::TWO_ROCM_MAJORS,
    &rocm::NO_DEVICE_CODE,
    &rocm::GFX_MISLABELLED,
    &rocm::NAME_NOT_IN_CONTENTS,
    &rocm::DAMAGED_LAYOUT,
    &rocm::DAMAGED_CODE_OBJECTS,
    &rocm::OTHER_DEVICE_CODE,
    &rocm::UNKNOWN_PLATFORM_TAG,
];

/// The codes of errors that are warnings when a wheel is published.
const WARNED_CODES: [&Code; 3] = [
    &rocm::ABSOLUTE_RPATH,
    &rocm::EMPTY_RPATH_ENTRY,
    &rocm::NEEDED_BY_PATH,
];

/// Returns whether a finding is reported when a wheel is published.
pub(crate) fn is_reported(finding: &Diagnostic) -> bool {
    finding.is_error()
        && (REFUSED_CODES.contains(&finding.code) || WARNED_CODES.contains(&finding.code))
}

/// Returns the errors that an audit found in offered wheels. Those with the codes `allowed` are
/// notes, and those that do not keep a wheel from being published are warnings.
pub fn audit_errors(
    offered: &[Asset],
    details: &ReleaseDetails,
    allowed: &[&Code],
) -> Vec<Diagnostic> {
    offered
        .iter()
        .filter_map(|asset| details.audit_errors.get(asset.name()))
        .flatten()
        .map(|finding| {
            let finding = finding.clone();
            if WARNED_CODES.contains(&finding.code) {
                return finding.severity(Severity::Warning);
            }
            if allowed.contains(&finding.code) {
                return finding.severity(Severity::Note);
            }
            let id = finding.code.id;
            finding.note(format!("use `--allow {id}` if this is intended"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rock_audit::codes::rocm;
    use rock_diagnostic::{Code, Diagnostic, Severity};

    use super::{audit_errors, is_reported};
    use crate::ReleaseDetails;
    use crate::testing::asset;

    const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";

    fn finding() -> Diagnostic {
        Diagnostic::new(&rocm::NAME_NOT_IN_CONTENTS, "the label is wrong")
    }

    /// Returns the severity and the notes of what is reported about a wheel with a finding.
    fn reported(offered: &str, allowed: &[&Code]) -> Vec<(Severity, Vec<String>)> {
        let details = ReleaseDetails {
            audit_errors: [(NAME.to_owned(), vec![finding()])].into(),
            ..ReleaseDetails::default()
        };
        audit_errors(&[asset(offered, 1)], &details, allowed)
            .into_iter()
            .map(|one| (one.severity, one.notes))
            .collect()
    }

    #[test]
    fn errors_of_offered_wheels_are_reported_unless_they_are_allowed() {
        let hint = "use `--allow R125` if this is intended".to_owned();
        assert_eq!(reported(NAME, &[]), [(Severity::Error, vec![hint.clone()])]);
        assert_eq!(
            reported(NAME, &[&rocm::FALSE_PLATFORM_TAG]),
            [(Severity::Error, vec![hint])]
        );
        assert_eq!(
            reported(NAME, &[&rocm::NAME_NOT_IN_CONTENTS]),
            [(Severity::Note, Vec::new())]
        );
        assert!(reported("other-1.0-py3-none-any.whl", &[]).is_empty());
    }

    #[test]
    fn errors_of_search_paths_are_warnings() {
        assert!(is_reported(&finding()));
        assert!(!is_reported(&finding().severity(Severity::Warning)));
        assert!(!is_reported(&Diagnostic::new(
            &rocm::LIBRARY_FROM_ELSEWHERE,
            ""
        )));
        let path = Diagnostic::new(&rocm::ABSOLUTE_RPATH, "");
        assert!(is_reported(&path));
        let details = ReleaseDetails {
            audit_errors: [(NAME.to_owned(), vec![path])].into(),
            ..ReleaseDetails::default()
        };
        let found = audit_errors(&[asset(NAME, 1)], &details, &[]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].severity, Severity::Warning);
        assert!(found[0].notes.is_empty());
    }
}

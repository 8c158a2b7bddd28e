//! Checks of the size of wheels.

use crate::codes::rocm as codes;
use rock_compat::Compat;
use rock_compat::rows::LimitRow;
use rock_diagnostic::{Diagnostic, Location, Severity};

/// Names of limits in the compatibility data: of a release asset, and of a file on PyPI.
const ASSET: &str = "asset";
const INDEX_FILE: &str = "index-file";

/// Reports a wheel that is larger than `max_size_bytes`. Without that, reports one that is larger
/// than GitHub permits for a release asset, or than PyPI permits by default.
pub fn check_size(
    wheel: &str,
    size_bytes: u64,
    max_size_bytes: Option<u64>,
    compat: &Compat,
) -> Option<Diagnostic> {
    if let Some(limit) = max_size_bytes {
        return (size_bytes > limit).then(|| over_limit(wheel, size_bytes, limit));
    }
    if let Some(row) = exceeded_limit(compat, ASSET, size_bytes) {
        return Some(
            over_limit(wheel, size_bytes, row.value)
                .note("this is the limit for files of GitHub releases")
                .help("if it is published elsewhere, set the limit there with `--max-size`"),
        );
    }
    let row = exceeded_limit(compat, INDEX_FILE, size_bytes)?;
    let reason = format!(
        "PyPI accepts at most {} unless the project has a higher limit",
        row.value
    );
    Some(too_large(wheel, size_bytes, &reason).severity(Severity::Note))
}

fn over_limit(wheel: &str, size_bytes: u64, limit: u64) -> Diagnostic {
    too_large(wheel, size_bytes, &format!("at most {limit} are accepted"))
}

fn too_large(wheel: &str, size_bytes: u64, reason: &str) -> Diagnostic {
    let message = format!("it has {size_bytes} bytes, but {reason}");
    Diagnostic::new(&codes::WHEEL_TOO_LARGE, message)
        .at(Location::File(wheel.to_owned().into()), "")
}

fn exceeded_limit<'c>(compat: &'c Compat, name: &str, size_bytes: u64) -> Option<&'c LimitRow> {
    compat.limit(name).filter(|row| row.value < size_bytes)
}

#[cfg(test)]
mod tests {
    use super::check_size;
    use rock_compat::Compat;
    use rock_diagnostic::Severity;

    #[test]
    fn limits_of_releases_are_errors_and_of_the_index_notes() {
        let compat = Compat::embedded();
        let check = |size, most, expect: Option<Severity>| {
            let found = check_size("x.whl", size, most, &compat);
            assert_eq!(
                found.map(|finding| finding.severity),
                expect,
                "{size} of {most:?}"
            );
        };
        check(100 << 20, None, None);
        check((100 << 20) + 1, None, Some(Severity::Note));
        check((2 << 30) - 1, None, Some(Severity::Note));
        check(2 << 30, None, Some(Severity::Error));
        check(2 << 30, Some(5 << 30), None);
        check(11, Some(10), Some(Severity::Error));
        check(10, Some(10), None);
    }
}

//! Checks of the size of wheels.

use crate::codes::rocm as codes;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Location, Severity};

/// Names of limits in the compatibility data: of a release asset, and of a file on PyPI.
const ASSET: &str = "asset";
const INDEX_FILE: &str = "index-file";

/// Reports a wheel that is larger than `most` bytes. Without `most`, reports one that is larger
/// than GitHub permits for a release asset, or than PyPI permits by default.
pub fn check_size(
    wheel: &str,
    size_bytes: u64,
    most: Option<u64>,
    compat: &Compat,
) -> Option<Diagnostic> {
    let told = |message: String| {
        Diagnostic::new(&codes::WHEEL_TOO_LARGE, message)
            .at(Location::File(wheel.to_owned().into()), "")
    };
    let over = |most: u64| format!("it has {size_bytes} bytes, and at most {most} are taken");
    let fact = |name: &str| compat.limit(name).filter(|row| row.value < size_bytes);
    match most {
        Some(most) => (size_bytes > most).then(|| told(over(most))),
        None => match (fact(ASSET), fact(INDEX_FILE)) {
            (Some(row), _) => {
                let finding =
                    told(over(row.value)).note("that is the limit of a release on GitHub");
                Some(
                    finding
                        .help("where it goes elsewhere, say what is taken there with `--max-size`"),
                )
            }
            (None, Some(row)) => {
                let message = format!(
                    "it has {size_bytes} bytes, and PyPI takes {} unless a project asks for more",
                    row.value
                );
                Some(told(message).severity(Severity::Note))
            }
            (None, None) => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::check_size;
    use rock_compat::Compat;
    use rock_diagnostic::Severity;

    #[test]
    fn releases_are_the_limit_where_none_is_given_and_the_index_is_a_remark() {
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

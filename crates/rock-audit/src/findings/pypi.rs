//! Checks of wheels that are to be uploaded to PyPI.

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::WheelName;

use crate::codes::rocm as codes;

/// The platform tags that start with `linux_` and that PyPI accepts (warehouse,
/// `warehouse/utils/wheel.py`, `_allowed_platforms`).
const ALLOWED_LINUX_TAGS: [&str; 2] = ["linux_armv6l", "linux_armv7l"];

/// Reports why PyPI rejects a wheel: a local version label (PEP 440), a `linux_*` platform tag (PEP
/// 513), or its size.
pub fn pypi_findings(name: &WheelName, size_bytes: u64, compat: &Compat) -> Vec<Diagnostic> {
    let finding = |message: String, help: &str| {
        Diagnostic::new(&codes::REJECTED_BY_PYPI, message)
            .at(Location::File(name.to_string().into()), "")
            .help(help)
    };
    let mut findings = Vec::new();
    if let Some(label) = name.label() {
        findings.push(finding(
            format!("PyPI rejects local version labels, such as `+{label}`"),
            "publish it in your own index: `rock-matrix publish` or `index build`",
        ));
    }
    let platforms = name.platform_tags().to_string();
    let rejected: Vec<&str> = platforms
        .split('.')
        .filter(|tag| tag.starts_with("linux_") && !ALLOWED_LINUX_TAGS.contains(tag))
        .collect();
    if !rejected.is_empty() {
        findings.push(finding(
            format!("PyPI rejects the platform tag `{}`", rejected.join("`, `")),
            "set the tag that the wheel complies with: `rock-matrix wheel repair`",
        ));
    }
    let limit = compat.limit("index-file");
    if let Some(row) = limit.filter(|row| row.value < size_bytes) {
        findings.push(finding(
            format!(
                "the wheel has {size_bytes} bytes, but PyPI accepts at most {} unless the project \
                 has a higher limit",
                row.value
            ),
            "request a higher limit, or build for fewer gfx targets",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::pypi_findings;
    use rock_compat::Compat;

    fn messages(name: &str, size_bytes: u64) -> Vec<String> {
        pypi_findings(&name.parse().unwrap(), size_bytes, &Compat::embedded())
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn labels_linux_tags_and_large_files_are_rejected() {
        let all = messages(
            "flash_attn-2.8.3+rocm62-cp311-cp311-linux_x86_64.whl",
            200 << 20,
        );
        assert_eq!(
            all,
            [
                "PyPI rejects local version labels, such as `+rocm62`",
                "PyPI rejects the platform tag `linux_x86_64`",
                "the wheel has 209715200 bytes, but PyPI accepts at most 104857600 unless the \
                 project has a higher limit",
            ]
        );
        for accepted in [
            "flash_attn-2.8.3-cp311-cp311-manylinux_2_28_x86_64.whl",
            "flash_attn-2.8.3-cp311-cp311-linux_armv7l.whl",
            "flash_attn-2.8.3-py3-none-any.whl",
        ] {
            assert!(messages(accepted, 1).is_empty(), "{accepted}");
        }
    }
}

//! The output of `sdk verify`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::audit::{FindingView, format_size};
use crate::diagnostic::{Diagnostic, Location, Severity, counted};
use crate::sdk::verify::{VerifiedPackage, VerifiedPackages};

/// Whether a finding is about a package.
fn is_about(finding: &Diagnostic, path: &str) -> bool {
    finding.labels.iter().any(|label| match &label.location {
        Location::Member { wheel, .. } => wheel == path,
        Location::File(file) => file.as_ref() == path,
        _ => false,
    })
}

/// Returns one line per package and a summary.
pub(super) fn human(verified: &VerifiedPackages) -> String {
    let VerifiedPackages { packages, findings } = verified;
    let mut text = String::new();
    for package in packages {
        let of = |severity| {
            findings
                .iter()
                .filter(|one| one.severity == severity && is_about(one, &package.path))
                .count()
        };
        let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
        let word = if errors == 0 { "ok" } else { "failed" };
        let _ = write!(
            text,
            "{word:6} {}: {}",
            package.path,
            format_size(package.size_bytes)
        );
        if let Some((members, bytes)) = package.unpacked {
            let _ = write!(
                text,
                ", {} in {}",
                format_size(bytes),
                counted(members, "file")
            );
        }
        for (count, word) in [(errors, "error"), (warnings, "warning")] {
            if count > 0 {
                let _ = write!(text, ", {}", counted(count, word));
            }
        }
        text.push('\n');
    }
    let sum = |of: fn(&VerifiedPackage) -> u64| packages.iter().map(of).sum();
    let _ = writeln!(
        text,
        "{}: {}, {} unpacked",
        counted(packages.len(), "package"),
        format_size(sum(|package| package.size_bytes)),
        format_size(sum(|package| package
            .unpacked
            .map_or(0, |(_, bytes)| bytes)))
    );
    text
}

/// Returns the packages and findings as a JSON document.
pub(super) fn json(verified: &VerifiedPackages) -> String {
    let VerifiedPackages { packages, findings } = verified;
    let listed: Vec<Value> = packages
        .iter()
        .map(|package| {
            let is_ok = !findings
                .iter()
                .any(|one| one.is_error() && is_about(one, &package.path));
            json!({
                "path": package.path,
                "ok": is_ok,
                "size_bytes": package.size_bytes,
                "unpacked_bytes": package.unpacked.map(|(_, bytes)| bytes),
                "files": package.unpacked.map(|(files, _)| files),
            })
        })
        .collect();
    let views: Vec<Value> = findings
        .iter()
        .map(|one| {
            let package = packages.iter().find(|package| is_about(one, &package.path));
            let mut view = json!(FindingView::new(one));
            view["package"] = json!(package.map(|package| &package.path));
            view
        })
        .collect();
    let document = json!({
        "version": 1,
        "ok": !findings.iter().any(Diagnostic::is_error),
        "packages": listed,
        "findings": views,
    });
    format!("{document:#}\n")
}

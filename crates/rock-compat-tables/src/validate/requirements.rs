//! Validation of the tables of requirements between distributions.

use std::collections::BTreeSet;

use super::{RowError, TableValidator, is_version};
use crate::rows::CompatTables;

/// Returns the errors of the tables of requirements between distributions.
pub(super) fn validate_requirements(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let mut rows = TableValidator::new("torch-requirements", tables, &mut errors);
    let mut taken = BTreeSet::new();
    for (number, of) in tables.torch_requirements.iter().enumerate() {
        let mut row = rows.check_row(
            number,
            format!("{} {}", of.package, of.torch.join(" ")),
            &of.origin,
        );
        row.require_each("torch", &of.torch, "a version", is_version);
        row.require(!of.torch.is_empty(), || {
            "torch: a row has at least one version".to_owned()
        });
        for torch in &of.torch {
            row.require(taken.insert((&of.package, torch)), || {
                format!("another row covers torch {torch}")
            });
        }
        let version = of
            .versions
            .strip_prefix("==")
            .or_else(|| of.versions.strip_prefix("~="));
        row.require(version.is_some_and(is_version), || {
            format!(
                "versions: `{}` is not `==` or `~=` with a version",
                of.versions
            )
        });
    }
    let mut rows = TableValidator::new("import-requirements", tables, &mut errors);
    let mut taken = BTreeSet::new();
    for (number, of) in tables.import_requirements.iter().enumerate() {
        let first = of.of.first().map_or("", String::as_str);
        let name = format!("{} {first} {} {}", of.package, of.backend, of.needs).replace("  ", " ");
        let mut row = rows.check_row(number, name, &of.origin);
        row.require_each("of", &of.of, "a version", is_version);
        row.require_each("tried", &of.tried, "a version", is_version);
        row.require(!of.of.is_empty(), || {
            "of: a row has at least one version".to_owned()
        });
        for version in &of.of {
            row.require(
                taken.insert((&of.package, version, &of.backend, &of.needs)),
                || format!("another row covers {version}"),
            );
        }
        row.require(
            of.versions.is_empty() || of.versions.split(',').all(is_clause),
            || {
                format!(
                    "versions: `{}` is not a specifier such as >=3.2",
                    of.versions
                )
            },
        );
        row.require(of.versions.is_empty() == of.otherwise.is_empty(), || {
            "`versions` and `otherwise` must be set together".to_owned()
        });
    }
    errors
}

/// Returns whether a text has the form of a clause of a version specifier, `>=3.2`.
fn is_clause(text: &str) -> bool {
    is_version(text.trim().trim_start_matches(['=', '~', '<', '>', '!']))
}

//! Faults of the tables about versions that packages require of each other.
//!
//! This file is also compiled into the build script, so it uses nothing of the crate but the rows.

use std::collections::BTreeSet;

use super::{Fault, is_version, table};
use crate::rows::Tables;

/// Returns everything that cannot be right in these tables.
pub(super) fn find(tables: &Tables, faults: &mut Vec<Fault>) {
    let mut rows = table("torch-requirements", tables, faults);
    let mut taken = BTreeSet::new();
    for (number, of) in tables.torch_requirements.iter().enumerate() {
        let mut row = rows.row(
            number,
            format!("{} {}", of.package, of.torch.join(" ")),
            &of.origin,
        );
        row.each("torch", &of.torch, "a version", is_version);
        row.expect(!of.torch.is_empty(), || {
            "torch: a row has at least one".to_owned()
        });
        for torch in &of.torch {
            row.expect(taken.insert((&of.package, torch)), || {
                format!("another row answers for torch {torch}")
            });
        }
        let version = of
            .versions
            .strip_prefix("==")
            .or_else(|| of.versions.strip_prefix("~="));
        row.expect(version.is_some_and(is_version), || {
            format!(
                "versions: `{}` is not `==` or `~=` with a version",
                of.versions
            )
        });
    }
    let mut rows = table("import-requirements", tables, faults);
    let mut taken = BTreeSet::new();
    for (number, of) in tables.import_requirements.iter().enumerate() {
        let first = of.of.first().map_or("", String::as_str);
        let name = format!("{} {first} {} {}", of.package, of.backend, of.needs).replace("  ", " ");
        let mut row = rows.row(number, name, &of.origin);
        row.each("of", &of.of, "a version", is_version);
        row.each("tried", &of.tried, "a version", is_version);
        row.expect(!of.of.is_empty(), || {
            "of: a row has at least one version".to_owned()
        });
        for version in &of.of {
            row.expect(
                taken.insert((&of.package, version, &of.backend, &of.needs)),
                || format!("another row answers for {version}"),
            );
        }
        let clause =
            |clause: &str| is_version(clause.trim().trim_start_matches(['=', '~', '<', '>', '!']));
        row.expect(
            of.versions.is_empty() || of.versions.split(',').all(clause),
            || {
                format!(
                    "versions: `{}` is not a specifier such as >=3.2",
                    of.versions
                )
            },
        );
        row.expect(of.versions.is_empty() == of.otherwise.is_empty(), || {
            "`versions` and `otherwise` go together".to_owned()
        });
    }
}

//! Expansion of policy tables: from ceilings and lists of versions to the set of symbol versions
//! that each policy permits on each architecture.
//!
//! Input: a [`PolicyTable`] as written. Output: policy masks, or every error of the table.
//!
//! **Invariant:** a policy permits everything that a policy of higher priority permits (PEP 600).

use std::collections::{BTreeMap, BTreeSet};

use super::tables::{ArchPolicies, ArchRow, ExpandedPolicies, PolicyRow, PolicyTable};
use crate::rows::Provenance;

/// A ceiling that permits no version.
const NONE: &str = "none";
/// Maximum number of policies in a mask; the last bit is reserved for `linux`.
const MAX_POLICIES: usize = 63;

/// The error returned by [`expand_policies`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid policies:\n{}", .reasons.join("\n"))]
pub struct PolicyTableError {
    /// The reasons, one line each.
    pub reasons: Vec<String>,
}

/// Checks a table and returns its policies with all permitted libraries and symbol versions.
///
/// # Errors
/// Reports unknown policies, architectures and sources, priorities that do not decrease, malformed
/// versions, and policies that permit less than a policy of higher priority (PEP 600: a wheel that
/// complies with a policy complies with every later one). Reports all errors, not only the first.
pub fn expand_policies(
    table: &PolicyTable,
    sources: &BTreeMap<String, String>,
) -> Result<ExpandedPolicies<String>, PolicyTableError> {
    let mut checker = PolicyTableChecker {
        reasons: Vec::new(),
    };
    checker.check_provenance(table, sources);
    checker.check_policies(table);
    let mut libraries = BTreeMap::new();
    for row in &table.libraries {
        let mask = checker.range_mask(table, "libraries", &row.since, "");
        libraries.extend(row.names.iter().map(|name| (name.clone(), mask)));
    }
    let mut blacklist: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for row in &table.blacklist {
        let mask = checker.range_mask(table, &row.library, "", &row.until);
        blacklist
            .entry(row.library.clone())
            .or_default()
            .extend(row.symbols.iter().map(|name| (name.clone(), mask)));
    }
    // All ranges are checked before any versions are: errors are reported in this order.
    let masks: Vec<u64> = table
        .arches
        .iter()
        .map(|row| checker.range_mask(table, &row.arch, &row.since, &row.until))
        .collect();
    let arches = table
        .arches
        .iter()
        .zip(masks)
        .map(|(row, mask)| expand_arch(table, row, mask, &mut checker))
        .collect();
    if !checker.reasons.is_empty() {
        return Err(PolicyTableError {
            reasons: checker.reasons,
        });
    }
    Ok(ExpandedPolicies {
        policies: table
            .policies
            .iter()
            .map(|row| (row.policy.clone(), row.aliases.clone(), row.priority))
            .collect(),
        libraries: libraries.into_iter().collect(),
        blacklist: blacklist
            .into_iter()
            .map(|(library, symbols)| (library, symbols.into_iter().collect()))
            .collect(),
        arches,
    })
}

/// Collects the errors of a table.
struct PolicyTableChecker {
    reasons: Vec<String>,
}

impl PolicyTableChecker {
    /// Adds an error unless the condition holds.
    fn require(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.reasons.push(message());
        }
    }

    /// Returns the mask of a range of policies; an empty end is the first or last policy of the
    /// table. Adds an error for a range that does not exist.
    fn range_mask(&mut self, table: &PolicyTable, name: &str, since: &str, until: &str) -> u64 {
        let index = |policy: &str| table.policies.iter().position(|row| row.policy == policy);
        let first = if since.is_empty() {
            Some(0)
        } else {
            index(since)
        };
        let last = if until.is_empty() {
            table.policies.len().checked_sub(1)
        } else {
            index(until)
        };
        match (first, last) {
            (Some(first), Some(last)) if first <= last && last < MAX_POLICIES => {
                (first..=last).fold(0, |mask, index| mask | 1 << index)
            }
            _ => {
                self.reasons.push(format!(
                    "{name}: `{since}` to `{until}` is not a range of policies"
                ));
                0
            }
        }
    }

    fn check_provenance(&mut self, table: &PolicyTable, sources: &BTreeMap<String, String>) {
        let policies = table.policies.iter().map(|row| (&row.policy, &row.origin));
        let arches = table.arches.iter().map(|row| (&row.arch, &row.origin));
        let ladders = table.ladders.iter().map(|row| (&row.versions, &row.origin));
        let libraries = table
            .libraries
            .iter()
            .filter_map(|row| Some((row.names.first()?, &row.origin)));
        let blacklist = table
            .blacklist
            .iter()
            .map(|row| (&row.library, &row.origin));
        let all: Vec<(&String, &Provenance)> = policies
            .chain(arches)
            .chain(ladders)
            .chain(libraries)
            .chain(blacklist)
            .collect();
        for (name, origin) in all {
            self.require(sources.contains_key(&origin.source), || {
                format!(
                    "{name}: source `{}` is not in the table of sources",
                    origin.source
                )
            });
            let day: Vec<Option<u32>> = origin
                .checked
                .split('-')
                .map(|part| part.parse().ok())
                .collect();
            let is_day = matches!(day[..], [Some(2000..), Some(1..=12), Some(1..=31)]);
            self.require(is_day, || {
                format!(
                    "{name}: checked `{}` is not a date such as 2026-11-21",
                    origin.checked
                )
            });
        }
    }

    fn check_policies(&mut self, table: &PolicyTable) {
        let arches: BTreeSet<&String> = table.arches.iter().map(|row| &row.arch).collect();
        let mut names = BTreeSet::new();
        for row in &table.policies {
            for name in std::iter::once(&row.policy).chain(&row.aliases) {
                self.require(names.insert(name), || {
                    format!("{name}: the name is used twice")
                });
            }
            for arch in row.except.keys().filter(|arch| !arches.contains(arch)) {
                self.reasons.push(format!(
                    "{}: `{arch}` is not in the table of architectures",
                    row.policy
                ));
            }
            let ceilings = row
                .ceilings
                .values()
                .chain(row.except.values().flat_map(BTreeMap::values));
            for ceiling in
                ceilings.filter(|ceiling| *ceiling != NONE && parse_numbers(ceiling).is_none())
            {
                self.reasons.push(format!(
                    "{}: `{ceiling}` is neither a number nor `none`",
                    row.policy
                ));
            }
        }
        for pair in table.policies.windows(2) {
            let falls = pair[0].priority > pair[1].priority;
            self.require(falls, || {
                format!(
                    "{}: its priority is not below the previous one",
                    pair[1].policy
                )
            });
        }
        let lowest = table.policies.last().is_none_or(|row| row.priority > 0);
        self.require(lowest, || "priority 0 is reserved for `linux`".to_owned());
        for row in &table.ladders {
            for arch in row.arch.iter().filter(|arch| !arches.contains(arch)) {
                self.reasons.push(format!(
                    "{} {}: `{arch}` is not in the table of architectures",
                    row.prefix, row.versions
                ));
            }
        }
    }
}

/// Expands the symbol versions of one architecture with the policies in `mask`.
fn expand_arch(
    table: &PolicyTable,
    row: &ArchRow,
    mask: u64,
    checker: &mut PolicyTableChecker,
) -> ArchPolicies<String> {
    let mut versions: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    let arch_ladders = table
        .ladders
        .iter()
        .filter(|ladder| ladder.arch.is_empty() || ladder.arch.contains(&row.arch));
    for (ladder, version) in arch_ladders.flat_map(|ladder| {
        ladder
            .versions
            .split_whitespace()
            .map(move |version| (ladder, version))
    }) {
        let (name, number) = version
            .split_once('@')
            .unwrap_or((version, version.rsplit('_').next().unwrap_or(version)));
        let Some(number) = parse_numbers(number) else {
            checker
                .reasons
                .push(format!("{}: `{version}` has no number", ladder.prefix));
            continue;
        };
        let permitted = permitted(&table.policies, &row.arch, &ladder.prefix, &number) & mask;
        let shrinks =
            permitted != 0 && permitted != mask & (u64::MAX << permitted.trailing_zeros());
        checker.require(!shrinks, || {
            format!(
                "{}: {}_{name} is permitted by a policy, but not by every later one",
                row.arch, ladder.prefix
            )
        });
        let known = versions
            .entry(&ladder.prefix)
            .or_default()
            .insert(name, permitted);
        checker.require(known.is_none(), || {
            format!("{}: {}_{name} is listed twice", row.arch, ladder.prefix)
        });
    }
    // Versions that no policy permits are dropped. Their prefix stays, because a policy permits all
    // versions of a prefix that it does not name.
    let kept = |set: BTreeMap<&str, u64>| {
        set.into_iter()
            .filter(|(_, mask)| *mask != 0)
            .map(|(name, mask)| (name.to_owned(), mask))
            .collect()
    };
    ArchPolicies {
        arch: row.arch.clone(),
        policies: mask,
        libc: row.libc.clone(),
        versions: versions
            .into_iter()
            .map(|(prefix, set)| (prefix.to_owned(), kept(set)))
            .collect(),
    }
}

/// Returns the mask of the policies that permit a version: those whose ceiling for its prefix and
/// architecture is at least `number`.
fn permitted(policies: &[PolicyRow], arch: &str, prefix: &str, number: &[u32]) -> u64 {
    let (mut inherited, mut mask) = (NONE, 0);
    for (index, row) in policies.iter().enumerate().take(MAX_POLICIES) {
        inherited = row.ceilings.get(prefix).map_or(inherited, String::as_str);
        let own = row
            .except
            .get(arch)
            .and_then(|ceilings| ceilings.get(prefix));
        if parse_numbers(own.map_or(inherited, String::as_str))
            .is_some_and(|ceiling| number <= ceiling.as_slice())
        {
            mask |= 1 << index;
        }
    }
    mask
}

/// Parses a dotted version, `1.3.7`, into numbers that compare in version order.
fn parse_numbers(text: &str) -> Option<Vec<u32>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::expand_policies;
    use crate::policy::PolicyTable;

    fn shipped() -> PolicyTable {
        serde_yaml::from_str(include_str!(
            "../../../../matrices/compat/policies/manylinux.yaml"
        ))
        .unwrap()
    }

    /// Asserts that a change of the shipped table gives these errors.
    #[track_caller]
    fn check(change: impl FnOnce(&mut PolicyTable), expect: &[&str]) {
        let mut table = shipped();
        change(&mut table);
        let reasons = expand_policies(&table, &crate::shipped::tables().sources)
            .err()
            .map_or_else(Vec::new, |error| error.reasons);
        assert_eq!(reasons, expect);
    }

    #[test]
    fn shipped_table_is_valid() {
        check(|_| (), &[]);
    }

    #[test]
    fn decreasing_ceiling_is_an_error_for_each_version() {
        let lower = |table: &mut PolicyTable| {
            table.arches.retain(|row| row.arch == "x86_64");
            table.ladders.retain(|row| row.arch.is_empty());
            table.policies.iter_mut().for_each(|row| row.except.clear());
            table.policies[14]
                .ceilings
                .insert("GLIBC".into(), "2.37".into());
        };
        check(
            lower,
            &[
                "x86_64: GLIBC_2.38 is permitted by a policy, but not by every later one",
                "x86_64: GLIBC_2.39 is permitted by a policy, but not by every later one",
            ],
        );
    }

    #[test]
    fn malformed_names_numbers_and_provenance_are_errors() {
        check(
            |table| table.arches[0].since = "manylinux_2_6".into(),
            &["i686: `manylinux_2_6` to `` is not a range of policies"],
        );
        check(
            |table| table.policies[1].priority = 100,
            &["manylinux_2_12: its priority is not below the previous one"],
        );
        check(
            |table| table.policies[1].aliases.push("manylinux1".into()),
            &["manylinux1: the name is used twice"],
        );
        check(
            |table| table.ladders[0].arch.push("sparc".into()),
            &["GLIBC 2.0 2.1 2.1.1 2.1.2 2.1.3: `sparc` is not in the table of architectures"],
        );
        check(
            |table| table.libraries[0].origin.source = "rumour".into(),
            &["libgcc_s.so.1: source `rumour` is not in the table of sources"],
        );
        check(
            |table| table.blacklist[0].origin.checked = "today".into(),
            &["libc.so.6: checked `today` is not a date such as 2026-11-21"],
        );
        check(
            |table| {
                drop(
                    table.policies[0]
                        .ceilings
                        .insert("GCC".into(), "4.x".into()),
                );
            },
            &["manylinux_2_5: `4.x` is neither a number nor `none`"],
        );
    }
}

//! Ladders and ceilings to sets: which policy permits which symbol version on which architecture.
//!
//! Input: a [`Table`] as written. Output: masks of policies, or every fault of the table.

use std::collections::{BTreeMap, BTreeSet};

use super::table::{ArchRow, Expanded, ExpandedArch, PolicyRow, Table};
use crate::rows::Origin;

/// A ceiling that permits no version.
const NONE: &str = "none";
/// Bits of a mask; the last one is for `linux`.
const MOST_POLICIES: usize = 63;

/// A table's sets, checked.
///
/// # Errors
/// One line for each fault: unknown policies, architectures and sources, priorities that do not
/// fall, versions that are none, and sets that shrink towards newer systems (PEP 600: what meets a
/// policy meets every later one).
pub fn expand(
    table: &Table,
    sources: &BTreeMap<String, String>,
) -> Result<Expanded<String>, Vec<String>> {
    let mut faults = Faults(Vec::new());
    faults.origins(table, sources);
    faults.policies(table);
    let index = |policy: &str| table.policies.iter().position(|row| row.policy == policy);
    let mut between = |since: &str, until: &str, what: &str| {
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
            (Some(first), Some(last)) if first <= last && last < MOST_POLICIES => {
                (first..=last).fold(0, |m, i| m | 1 << i)
            }
            _ => {
                faults.0.push(format!(
                    "{what}: `{since}` to `{until}` is no range of policies"
                ));
                0
            }
        }
    };
    let mut libraries = BTreeMap::new();
    for row in &table.libraries {
        let mask = between(&row.since, "", "libraries");
        libraries.extend(row.names.iter().map(|name| (name.clone(), mask)));
    }
    let mut blacklist: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for row in &table.blacklist {
        let mask = between("", &row.until, &row.library);
        blacklist
            .entry(row.library.clone())
            .or_default()
            .extend(row.symbols.iter().map(|name| (name.clone(), mask)));
    }
    let masks: Vec<u64> = table
        .arches
        .iter()
        .map(|row| between(&row.since, &row.until, &row.arch))
        .collect();
    let arches = table
        .arches
        .iter()
        .zip(masks)
        .map(|(row, mask)| arch(table, row, mask, &mut faults))
        .collect();
    if !faults.0.is_empty() {
        return Err(faults.0);
    }
    Ok(Expanded {
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

struct Faults(Vec<String>);

impl Faults {
    fn expect(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.0.push(message());
        }
    }

    fn origins(&mut self, table: &Table, sources: &BTreeMap<String, String>) {
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
        let all: Vec<(&String, &Origin)> = policies
            .chain(arches)
            .chain(ladders)
            .chain(libraries)
            .chain(blacklist)
            .collect();
        for (name, origin) in all {
            self.expect(sources.contains_key(&origin.source), || {
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
            self.expect(is_day, || {
                format!(
                    "{name}: checked `{}` is not a date such as 2026-11-21",
                    origin.checked
                )
            });
        }
    }

    fn policies(&mut self, table: &Table) {
        let arches: BTreeSet<&String> = table.arches.iter().map(|row| &row.arch).collect();
        let mut names = BTreeSet::new();
        for row in &table.policies {
            for name in std::iter::once(&row.policy).chain(&row.aliases) {
                self.expect(names.insert(name), || {
                    format!("{name}: the name stands twice")
                });
            }
            for arch in row.except.keys().filter(|arch| !arches.contains(arch)) {
                self.0.push(format!(
                    "{}: `{arch}` is not in the table of architectures",
                    row.policy
                ));
            }
            let ceilings = row
                .ceilings
                .values()
                .chain(row.except.values().flat_map(BTreeMap::values));
            for ceiling in ceilings.filter(|ceiling| *ceiling != NONE && number(ceiling).is_none())
            {
                self.0.push(format!(
                    "{}: `{ceiling}` is neither a number nor `none`",
                    row.policy
                ));
            }
        }
        for pair in table.policies.windows(2) {
            let falls = pair[0].priority > pair[1].priority;
            self.expect(falls, || {
                format!(
                    "{}: its priority is not below the one before",
                    pair[1].policy
                )
            });
        }
        let lowest = table.policies.last().is_none_or(|row| row.priority > 0);
        self.expect(lowest, || "priority 0 belongs to `linux`".to_owned());
        for row in &table.ladders {
            for arch in row.arch.iter().filter(|arch| !arches.contains(arch)) {
                self.0.push(format!(
                    "{} {}: `{arch}` is not in the table of architectures",
                    row.prefix, row.versions
                ));
            }
        }
    }
}

fn arch(table: &Table, row: &ArchRow, mask: u64, faults: &mut Faults) -> ExpandedArch<String> {
    let mut versions: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    let of_arch = table
        .ladders
        .iter()
        .filter(|ladder| ladder.arch.is_empty() || ladder.arch.contains(&row.arch));
    for (ladder, word) in of_arch.flat_map(|ladder| {
        ladder
            .versions
            .split_whitespace()
            .map(move |word| (ladder, word))
    }) {
        let (name, place) = word
            .split_once('@')
            .unwrap_or((word, word.rsplit('_').next().unwrap_or(word)));
        let Some(place) = number(place) else {
            faults
                .0
                .push(format!("{}: `{word}` has no number", ladder.prefix));
            continue;
        };
        let permitted = permitted(&table.policies, &row.arch, &ladder.prefix, &place) & mask;
        let shrinks =
            permitted != 0 && permitted != mask & (u64::MAX << permitted.trailing_zeros());
        faults.expect(!shrinks, || {
            format!(
                "{}: {}_{name} is permitted by a policy and not by every later one",
                row.arch, ladder.prefix
            )
        });
        let known = versions
            .entry(&ladder.prefix)
            .or_default()
            .insert(name, permitted);
        faults.expect(known.is_none(), || {
            format!("{}: {}_{name} stands twice", row.arch, ladder.prefix)
        });
    }
    // A version that no policy permits is not worth carrying; its prefix is, because it says that
    // the rest is refused.
    let kept = |set: BTreeMap<&str, u64>| {
        set.into_iter()
            .filter(|(_, mask)| *mask != 0)
            .map(|(name, mask)| (name.to_owned(), mask))
            .collect()
    };
    ExpandedArch {
        arch: row.arch.clone(),
        policies: mask,
        libc: row.libc.clone(),
        versions: versions
            .into_iter()
            .map(|(prefix, set)| (prefix.to_owned(), kept(set)))
            .collect(),
    }
}

/// The policies whose ceiling for this prefix and architecture is not below a number.
fn permitted(policies: &[PolicyRow], arch: &str, prefix: &str, place: &[u32]) -> u64 {
    let (mut held, mut mask) = (NONE, 0);
    for (index, row) in policies.iter().enumerate().take(MOST_POLICIES) {
        held = row.ceilings.get(prefix).map_or(held, String::as_str);
        let own = row
            .except
            .get(arch)
            .and_then(|ceilings| ceilings.get(prefix));
        if number(own.map_or(held, String::as_str))
            .is_some_and(|ceiling| place <= ceiling.as_slice())
        {
            mask |= 1 << index;
        }
    }
    mask
}

/// `1.3.7` as numbers, which compare as versions do.
fn number(text: &str) -> Option<Vec<u32>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::expand;
    use crate::policy::table::Table;

    fn shipped() -> Table {
        serde_yaml::from_str(include_str!(
            "../../../../matrices/compat/policies/manylinux.yaml"
        ))
        .unwrap()
    }

    /// One change of the shipped table gives these faults.
    #[track_caller]
    fn check(change: impl FnOnce(&mut Table), expect: &[&str]) {
        let mut table = shipped();
        change(&mut table);
        let faults = expand(&table, &crate::shipped::tables().sources).map(|_| ());
        assert_eq!(faults.err().unwrap_or_default(), expect);
    }

    #[test]
    fn the_shipped_table_has_no_fault() {
        check(|_| (), &[]);
    }

    #[test]
    fn a_ceiling_that_falls_is_a_fault_for_each_version_lost() {
        let lower = |table: &mut Table| {
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
                "x86_64: GLIBC_2.38 is permitted by a policy and not by every later one",
                "x86_64: GLIBC_2.39 is permitted by a policy and not by every later one",
            ],
        );
    }

    #[test]
    fn names_numbers_and_origins_must_be_right() {
        check(
            |table| table.arches[0].since = "manylinux_2_6".into(),
            &["i686: `manylinux_2_6` to `` is no range of policies"],
        );
        check(
            |table| table.policies[1].priority = 100,
            &["manylinux_2_12: its priority is not below the one before"],
        );
        check(
            |table| table.policies[1].aliases.push("manylinux1".into()),
            &["manylinux1: the name stands twice"],
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

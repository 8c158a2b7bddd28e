//! Tables of a user on top of other tables.

use std::collections::BTreeMap;

use crate::rows::CompatTables;
use crate::validate_tables;

/// The tables of a user on top of those of a base, such as the built-in ones.
///
/// The user's data takes precedence:
///
/// - A row replaces the row of the base with the same key, at the same position. The key is the
///   name of the row in errors of [`validate_tables`], such as `torch 2.6`.
/// - A row with another key is appended.
/// - Rows of the tables that only recipes use have no keys, so they are always appended.
/// - Rows of the tables of SDK packages have no keys either. Such a table replaces the whole table
///   of the base, unless it is empty.
/// - A source replaces the source with the same name.
#[derive(Debug, Clone)]
pub struct TableOverlay {
    /// The combined tables, which are not validated yet.
    pub tables: CompatTables,
    /// For each table, the index of every row of the user.
    own_rows: BTreeMap<String, Vec<usize>>,
}

impl TableOverlay {
    /// Puts the tables of a user (`own`) on top of `base`. If two rows of the user have the same
    /// key, the second one remains as a duplicate, which [`validate_tables`] reports.
    ///
    /// ```
    /// use rock_compat_tables::{TableOverlay, rows::CompatTables};
    ///
    /// let base: CompatTables = serde_yaml::from_str(
    ///     "
    ///     rocm:
    ///       - {rocm: '6.4', origin: {status: verified, source: docs, checked: 2026-11-21}}
    ///       - {rocm: '7.0', origin: {status: verified, source: docs, checked: 2026-11-21}}
    ///     ",
    /// )?;
    /// let own: CompatTables = serde_yaml::from_str(
    ///     "
    ///     rocm:
    ///       - {rocm: '7.1', origin: {status: reported, source: own, checked: 2026-11-21}}
    ///       - {rocm: '6.4', hip: '6.4.1', origin: {status: reported, source: own, checked: 2026-11-21}}
    ///     ",
    /// )?;
    /// let overlay = TableOverlay::new(base, own);
    /// let rows: Vec<_> = overlay.tables.rocm.iter().map(|row| (&*row.rocm, &*row.hip)).collect();
    /// assert_eq!(rows, [("6.4", "6.4.1"), ("7.0", ""), ("7.1", "")]);
    /// assert_eq!(overlay.own_row("rocm", 0), Some(1));
    /// # Ok::<(), serde_yaml::Error>(())
    /// ```
    pub fn new(base: CompatTables, own: CompatTables) -> Self {
        let mut tables = base;
        clear_replaced(&mut tables.sdk_packages, &own.sdk_packages);
        clear_replaced(&mut tables.sdk_libraries, &own.sdk_libraries);
        clear_replaced(&mut tables.sdk_scripts, &own.sdk_scripts);
        clear_replaced(&mut tables.sdk_versions, &own.sdk_versions);
        clear_replaced(&mut tables.sdk_buckets, &own.sdk_buckets);
        let base_counts: BTreeMap<String, usize> = tables.row_counts().into_iter().collect();
        let own_counts = own.row_counts();
        tables.merge(own);
        let replacements = replacements(&tables, &base_counts);
        let own_rows = own_counts.into_iter().map(|(table, count)| {
            let first = base_counts.get(&table).copied().unwrap_or_default();
            let replaced = replacements.get(table.as_str());
            let mut next = first;
            let indices = (first..first + count).map(|row| {
                replaced
                    .and_then(|replaced| replaced.get(&row).copied())
                    .unwrap_or_else(|| {
                        next += 1;
                        next - 1
                    })
            });
            let indices = indices.collect();
            (table, indices)
        });
        let own_rows = own_rows.collect();
        for (table, replaced) in &replacements {
            tables.replace_rows(table, replaced);
        }
        Self { tables, own_rows }
    }

    /// Returns the index of a row among the rows of the user's table; `None` if the row is not the
    /// user's.
    pub fn own_row(&self, table: &str, row: usize) -> Option<usize> {
        self.own_rows.get(table)?.iter().position(|own| *own == row)
    }
}

/// Empties a table without keys if the user has the same table.
fn clear_replaced<T>(base: &mut Vec<T>, own: &[T]) {
    if !own.is_empty() {
        base.clear();
    }
}

/// Returns, by table, the index of each row of the user that replaces a row of the base, with the
/// index of that row. Both are in `tables`, where the user's rows come last, so that
/// [`validate_tables`] reports the former as a duplicate.
fn replacements(
    tables: &CompatTables,
    base_counts: &BTreeMap<String, usize>,
) -> BTreeMap<&'static str, BTreeMap<usize, usize>> {
    let mut replacements: BTreeMap<&'static str, BTreeMap<usize, usize>> = BTreeMap::new();
    for error in validate_tables(tables) {
        let Some(base_row) = error.duplicate_of else {
            continue;
        };
        let first_own = base_counts.get(error.table).copied().unwrap_or_default();
        let replaced = replacements.entry(error.table).or_default();
        let is_replaced = replaced.values().any(|row| *row == base_row);
        if base_row < first_own && error.row >= first_own && !is_replaced {
            replaced.insert(error.row, base_row);
        }
    }
    replacements
}

#[cfg(test)]
mod tests {
    use super::TableOverlay;
    use crate::rows::CompatTables;
    use crate::{shipped, validate_tables};

    #[test]
    fn tables_over_themselves_are_unchanged() {
        let tables = shipped::tables();
        let mut own = tables.clone();
        own.sdk_packages.clear();
        let overlay = TableOverlay::new(tables.clone(), own);
        assert_eq!(overlay.tables, tables);
        assert_eq!(overlay.own_row("rocm", 3), Some(3));
        assert_eq!(overlay.own_row("sdk-packages", 0), None);
    }

    #[test]
    fn a_duplicate_of_the_user_is_an_error() {
        let mut own = CompatTables::default();
        let row = shipped::tables().rocm.remove(0);
        own.rocm = vec![row.clone(), row];
        let overlay = TableOverlay::new(shipped::tables(), own);
        let errors = validate_tables(&overlay.tables);
        let [error] = errors.as_slice() else {
            panic!("{errors:?}");
        };
        assert_eq!(overlay.own_row(error.table, error.row), Some(1));
    }
}

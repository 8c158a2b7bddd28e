//! Groups of embedded tables that are decoded on first use.

use std::sync::OnceLock;

use serde::de::DeserializeOwned;

use super::rows::TableGroup;

/// A group of tables that is decoded on first use.
#[derive(Debug, Clone)]
pub(super) struct LazyTables<T> {
    encoded: &'static [u8],
    decoded: OnceLock<T>,
}

impl<T: TableGroup + DeserializeOwned> LazyTables<T> {
    pub(super) fn embedded(encoded: &'static [u8]) -> Self {
        Self {
            encoded,
            decoded: OnceLock::new(),
        }
    }

    pub(super) fn loaded(tables: T) -> Self {
        Self {
            encoded: &[],
            decoded: OnceLock::from(tables),
        }
    }

    pub(super) fn get(&self) -> &T {
        self.decoded.get_or_init(|| decode(self.encoded))
    }

    /// Returns a table of this group as JSON; decodes nothing for a table of another group.
    pub(super) fn rows_of(&self, table: &str) -> Option<serde_json::Value> {
        T::has_table(table)
            .then(|| self.get().rows_of(table))
            .flatten()
    }
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("the build script wrote these tables with the same types")
}

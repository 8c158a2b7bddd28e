//! Interns values that many jobs have in common.

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxBuildHasher;

/// Numbered values; equal keys get the same number.
#[derive(Debug, Clone)]
pub(super) struct Interner<K, V> {
    numbers: HashMap<K, u32, FxBuildHasher>,
    values: Vec<V>,
}

impl<K, V> Default for Interner<K, V> {
    fn default() -> Self {
        Self {
            numbers: HashMap::default(),
            values: Vec::new(),
        }
    }
}

impl<K: Hash + Eq, V> Interner<K, V> {
    /// Returns the number of the value under this key, and creates the value on first use.
    pub(super) fn intern(&mut self, key: K, make: impl FnOnce() -> V) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.values.push(make());
            u32::try_from(self.values.len() - 1)
                .expect("fewer than 2^32 interned values fit in memory")
        })
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the value with this number.
    pub(super) fn get(&self, number: u32) -> &V {
        &self.values[number as usize]
    }
}

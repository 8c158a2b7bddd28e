//! Values that many jobs share, each stored once.

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxBuildHasher;

/// Values by number; equal keys get one number.
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
    /// The number of the value under this key, made when it is asked for the first time.
    pub(super) fn number(&mut self, key: K, make: impl FnOnce() -> V) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.values.push(make());
            u32::try_from(self.values.len() - 1)
                .expect("fewer than 2^32 shared values fit in memory")
        })
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The value with this number.
    pub(super) fn get(&self, number: u32) -> &V {
        &self.values[number as usize]
    }
}

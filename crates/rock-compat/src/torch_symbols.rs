//! Detection of the torch version that an extension was built with, from its undefined symbols.
//!
//! Input: names of undefined symbols. Output: the torch minor versions that export all of them, and
//! the symbols that restrict the range.

use std::fmt;

use rustc_hash::FxHashMap;

use super::Compat;
use super::rows::TorchAbiRow;
use rock_names::Version;

/// An index of the table `torch-abi` by symbol name.
#[derive(Debug, Clone)]
pub(super) struct TorchSymbols {
    /// The minor versions whose symbols are known, oldest first.
    minors: Vec<Version>,
    /// Symbol name → index of its row, and first and last index of `minors` that exports it.
    rows: FxHashMap<String, (usize, usize, usize)>,
}

/// The torch minor versions that export a set of symbols.
#[derive(Debug, Clone, PartialEq)]
pub struct TorchFit<'c> {
    /// The minor versions that export all symbols in the table, oldest first: every known version
    /// if the table has none of the symbols, and none if they contradict each other.
    pub fits: Vec<Version>,
    /// The symbols in the table, narrowest range first.
    pub because: Vec<TorchEvidence<'c>>,
    /// Whether no version exports all of them: parts of the wheel were built with different torch
    /// versions, or the table is wrong.
    pub contradictory: bool,
}

/// A symbol that only some minor versions export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TorchEvidence<'c> {
    /// The mangled name.
    pub symbol: &'c str,
    /// The library that exports it, `libc10.so`.
    pub library: &'c str,
    /// The first minor version that exports it; `None` if the oldest known version does.
    pub since: Option<&'c str>,
    /// The last minor version that exports it; `None` if the newest known version does.
    pub until: Option<&'c str>,
}

impl Compat {
    /// Returns the torch minor versions that export all of these symbols. Symbols that are not in
    /// the table, such as those of Python, HIP or the C library, are ignored.
    pub fn torch_minors_for<'u>(
        &self,
        undefined: impl IntoIterator<Item = &'u str>,
    ) -> TorchFit<'_> {
        let known = self.torch_symbols();
        let rows = &self.torch_abi_tables().torch_abi;
        let newest = known.minors.len().saturating_sub(1);
        let (mut first, mut last) = (0, newest);
        let mut found = Vec::new();
        for (symbol, (row, since, until)) in undefined
            .into_iter()
            .filter_map(|name| known.rows.get_key_value(name))
        {
            (first, last) = (first.max(*since), last.min(*until));
            found.push((until.saturating_sub(*since), symbol, &rows[*row]));
        }
        found.sort_unstable_by_key(|(width, symbol, _)| (*width, *symbol));
        found.dedup_by_key(|(_, symbol, _)| *symbol);
        let oldest = known.minors.first().map_or("", Version::as_str);
        let evidence = |symbol, row| evidence(symbol, row, oldest);
        TorchFit {
            fits: known
                .minors
                .iter()
                .take(last + 1)
                .skip(first)
                .cloned()
                .collect(),
            because: found
                .into_iter()
                .map(|(_, symbol, row)| evidence(symbol, row))
                .collect(),
            contradictory: first > last,
        }
    }

    /// Returns the torch minor versions whose symbols are known, oldest first.
    pub fn torch_minors_read(&self) -> &[Version] {
        &self.torch_symbols().minors
    }

    fn torch_symbols(&self) -> &TorchSymbols {
        self.torch_symbols.get_or_init(|| {
            let tables = self.torch_abi_tables();
            let read: Vec<&str> = tables
                .torch_abi_read
                .iter()
                .map(|row| row.torch.as_str())
                .collect();
            let at = |minor: &str| read.iter().position(|known| *known == minor);
            let mut rows = FxHashMap::default();
            for (number, row) in tables.torch_abi.iter().enumerate() {
                let last = if row.until.is_empty() {
                    read.len().checked_sub(1)
                } else {
                    at(&row.until)
                };
                let Some((first, last)) = at(&row.since).zip(last) else {
                    continue;
                };
                rows.extend(
                    row.symbols
                        .iter()
                        .map(|symbol| (symbol.clone(), (number, first, last))),
                );
            }
            TorchSymbols {
                minors: read
                    .into_iter()
                    .filter_map(|minor| minor.parse().ok())
                    .collect(),
                rows,
            }
        })
    }
}

fn evidence<'c>(symbol: &'c str, row: &'c TorchAbiRow, oldest: &str) -> TorchEvidence<'c> {
    TorchEvidence {
        symbol,
        library: &row.library,
        since: Some(row.since.as_str()).filter(|since| *since != oldest),
        until: Some(row.until.as_str()).filter(|until| !until.is_empty()),
    }
}

/// Writes the range of versions: `torch 2.3 to 2.7`, `torch 2.10 or later`, `torch 2.6 or earlier`.
impl fmt::Display for TorchEvidence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.since, self.until) {
            (Some(since), Some(until)) if since == until => write!(f, "torch {since}"),
            (Some(since), Some(until)) => write!(f, "torch {since} to {until}"),
            (Some(since), None) => write!(f, "torch {since} or later"),
            (None, Some(until)) => write!(f, "torch {until} or earlier"),
            (None, None) => f.write_str("any torch"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Compat;
    use crate::rows::CompatTables;

    /// The first and the last minor that fit.
    #[track_caller]
    fn check(undefined: &[&str], expect: Option<(&str, &str)>) {
        let compat = Compat::embedded();
        let fit = compat.torch_minors_for(undefined.iter().copied());
        let ends = fit
            .fits
            .first()
            .zip(fit.fits.last())
            .map(|(first, last)| (first.as_str(), last.as_str()));
        assert_eq!(ends, expect, "{:?}", fit.because);
        assert_eq!(fit.contradictory, expect.is_none());
    }

    /// `c10::Error::Error(c10::SourceLocation, std::string)`, with the string of before the cxx11
    /// ABI.
    const ERROR_OF_OLD: &str = "_ZN3c105ErrorC2ENS_14SourceLocationESs";
    /// The same with the string of today, which builds of every minor can have.
    const ERROR: &str =
        "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
    /// `c10::ValueError::ValueError(c10::SourceLocation, std::string)`.
    const VALUE_ERROR: &str = "_ZN3c1010ValueErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
    /// `c10::MessageLogger::MessageLogger(c10::SourceLocation, int, bool)`.
    const LOGGER: &str = "_ZN3c1013MessageLoggerC1ENS_14SourceLocationEib";

    #[test]
    fn error_constructors_restrict_the_torch_version() {
        check(&[ERROR_OF_OLD], Some(("2.1", "2.6")));
        check(&[ERROR], Some(("2.1", "2.15")));
        check(&[VALUE_ERROR], Some(("2.13", "2.15")));
        check(&[LOGGER], Some(("2.11", "2.15")));
    }

    #[test]
    fn hip_error_checks_restrict_the_torch_version() {
        check(
            &["_ZN3c103hip28c10_hip_check_implementationEiPKcS2_ib"],
            Some(("2.1", "2.9")),
        );
        check(
            &["_ZN3c103hip28c10_hip_check_implementationEiPKcS2_jb"],
            Some(("2.10", "2.13")),
        );
        check(
            &["_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jb"],
            Some(("2.10", "2.13")),
        );
        check(&["_ZN3c103hip9SetDeviceEa"], Some(("2.3", "2.7")));
        check(&["_ZN3c103hip9SetDeviceEab"], Some(("2.8", "2.15")));
    }

    #[test]
    fn several_symbols_narrow_the_range() {
        let compat = Compat::embedded();
        let wrapped = "_Z16THPVariable_WrapN2at10TensorBaseE";
        let thrown = "_ZN3c1021throwNullDataPtrErrorEv";
        let fit =
            compat.torch_minors_for([wrapped, thrown, thrown, "PyInit__C", "hipLaunchKernel"]);
        assert_eq!(
            fit.fits.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["2.4", "2.5"]
        );
        let because: Vec<_> = fit
            .because
            .iter()
            .map(|row| (row.symbol, row.library, row.to_string()))
            .collect();
        assert_eq!(
            because,
            [
                (
                    wrapped,
                    "libtorch_python.so",
                    "torch 2.5 or earlier".to_owned()
                ),
                (thrown, "libc10.so", "torch 2.4 or later".to_owned()),
            ]
        );
    }

    #[test]
    fn symbols_of_different_versions_contradict_each_other() {
        check(&[ERROR_OF_OLD, LOGGER], None);
    }

    #[test]
    fn unknown_symbols_are_ignored() {
        let compat = Compat::embedded();
        let fit = compat.torch_minors_for(["PyInit__C", "memcpy", ""]);
        assert_eq!(fit.fits, compat.torch_minors_read());
        assert!(fit.because.is_empty() && !fit.contradictory);
        let empty = Compat::new(CompatTables::default());
        let fit = empty.torch_minors_for([ERROR]);
        assert!(fit.fits.is_empty() && fit.because.is_empty() && !fit.contradictory);
    }

    #[test]
    fn every_released_torch_has_symbols() {
        let compat = Compat::embedded();
        let read = compat.torch_minors_read();
        assert!(read.is_sorted());
        let released = compat
            .tables()
            .torch
            .iter()
            .filter(|row| !row.patches.is_empty());
        for row in released {
            assert!(
                read.iter().any(|minor| minor.as_str() == row.torch),
                "{}",
                row.torch
            );
        }
    }
}

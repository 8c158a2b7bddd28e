//! Splits wide tables into column ranges that fit the available width.
//!
//! **Invariant:** every column is in exactly one range, in order.

use std::ops::Range;

/// Splits columns into ranges whose widths add up to at most `most`. A single wider column forms
/// its own range. Adjacent columns that are the `same` are split only if they are too wide
/// together.
pub(super) fn bands<T>(
    columns: &[T],
    same: impl Fn(&T, &T) -> bool,
    width: impl Fn(&T) -> usize,
    most: usize,
) -> Vec<Range<usize>> {
    let fits = |part: &[T]| part.iter().map(&width).sum::<usize>() <= most;
    let mut bands: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for alike in columns.chunk_by(same) {
        // Keep equal columns together if they fit, otherwise place them one by one.
        let step = if fits(alike) { alike.len() } else { 1 };
        for part in alike.chunks(step) {
            let end = at + part.len();
            match bands.last_mut() {
                Some(band) if fits(&columns[band.start..end]) => band.end = end,
                _ => bands.push(at..end),
            }
            at = end;
        }
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::bands;

    fn parts(of_key: &[usize]) -> Vec<std::ops::Range<usize>> {
        let columns: Vec<usize> = of_key
            .iter()
            .enumerate()
            .flat_map(|(key, count)| vec![key; *count])
            .collect();
        bands(&columns, |one, other| one == other, |_| 10, 80)
    }

    #[test]
    fn no_part_is_too_wide_and_columns_of_one_key_stay_together() {
        assert_eq!(parts(&[2, 2, 2, 3]), [0..6, 6..9]);
        assert_eq!(parts(&[2; 10]), [0..8, 8..16, 16..20]);
        assert_eq!(parts(&[3, 3, 3]), [0..6, 6..9]);
        assert_eq!(
            parts(&[1, 20, 1]),
            [0..8, 8..16, 16..22],
            "20 of one key are too wide alone"
        );
        assert!(parts(&[]).is_empty());
        assert_eq!(
            bands(&[1, 2], |one, other| one == other, |_| 100, 80),
            [0..1, 1..2],
            "a column is never cut"
        );
        for counts in [vec![3; 12], vec![1; 40], vec![7, 9, 30, 1]] {
            let parts = parts(&counts);
            assert!(parts.iter().all(|part| part.len() <= 8), "{parts:?}");
            let all: usize = counts.iter().sum();
            assert_eq!(
                parts.into_iter().flatten().collect::<Vec<_>>(),
                (0..all).collect::<Vec<_>>()
            );
        }
    }
}

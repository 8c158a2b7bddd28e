//! Sizes as a person reads them.

/// The first unit that leaves a number below a thousand, in powers of ten as the index and GitHub
/// count: `4.5 MB`.
pub(in crate::cli) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)];
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((word, unit)) => format!("{}.{} {word}", bytes / unit, bytes % unit / (unit / 10)),
        None if bytes == 1 => "1 byte".to_owned(),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn a_size_has_the_unit_that_fits_it() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (4_560_000, "4.5 MB"),
            (2 << 30, "2.1 GB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}

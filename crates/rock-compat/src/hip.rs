//! The HIP of a ROCm and the ROCm of a HIP: the same minor, but where a row says another.

use super::Compat;
use super::rows::HipRow;
use rock_names::RocmVersion;

impl Compat {
    /// Returns the HIP minor of a ROCm, `7.15` for 10.0.1; `None` for a ROCm later than the first
    /// row that has none.
    pub fn hip_of(&self, rocm: &RocmVersion) -> Option<RocmVersion> {
        let minor = rocm.minor();
        let rows = || self.tables().hip.iter();
        if let Some(row) = rows().find(|row| version(&row.rocm).is_some_and(|known| known == minor))
        {
            return version(&row.hip);
        }
        rows()
            .filter_map(|row| version(&row.rocm))
            .all(|first| minor < first)
            .then_some(minor)
    }

    /// Returns the ROCm minor of a HIP, `10.0` for 7.15.26333; `None` for a HIP later than the
    /// first row that has none.
    pub fn rocm_of_hip(&self, hip: &RocmVersion) -> Option<RocmVersion> {
        let minor = hip.minor();
        let rows = || self.tables().hip.iter();
        if let Some(row) = rows().find(|row| version(&row.hip).is_some_and(|known| known == minor))
        {
            return version(&row.rocm);
        }
        rows()
            .filter_map(|row| version(&row.hip))
            .all(|first| minor < first)
            .then_some(minor)
    }

    /// Pairs of HIP and ROCm minors that differ, as the table has them.
    pub fn hip_pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tables().hip.iter().map(
            |HipRow {
                 rocm,
                 hip,
                 origin: _,
             }| (hip.as_str(), rocm.as_str()),
        )
    }
}

fn version(text: &str) -> Option<RocmVersion> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::Compat;

    #[test]
    fn hip_of_rocm_10_counts_on_from_7() {
        let compat = Compat::embedded();
        let hip = |rocm: &str| {
            compat
                .hip_of(&rocm.parse().unwrap())
                .map(|hip| hip.to_string())
        };
        let rocm = |hip: &str| {
            compat
                .rocm_of_hip(&hip.parse().unwrap())
                .map(|rocm| rocm.to_string())
        };
        let pairs = [
            ("6.4.1", "6.4"),
            ("7.14", "7.14"),
            ("10.0.0", "7.15"),
            ("10.1", "7.16"),
            ("10.2.0", "7.17"),
        ];
        assert_eq!(
            pairs.map(|(version, _)| hip(version)),
            pairs.map(|(_, hip)| Some(hip.to_owned()))
        );
        let back = [
            ("6.4.43482", "6.4"),
            ("7.14.60850", "7.14"),
            ("7.15.26333", "10.0"),
            ("7.16.26385", "10.1"),
        ];
        assert_eq!(
            back.map(|(version, _)| rocm(version)),
            back.map(|(_, rocm)| Some(rocm.to_owned()))
        );
        assert_eq!(
            (hip("11.0"), rocm("7.99"), rocm("8.0")),
            (None, None, None),
            "nobody knows yet"
        );
    }
}

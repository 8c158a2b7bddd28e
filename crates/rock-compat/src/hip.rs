//! Conversion between ROCm and HIP versions, which have the same minor version unless a row says
//! otherwise.

use super::Compat;
use super::rows::HipRow;
use rock_names::RocmVersion;

impl Compat {
    /// Returns the HIP minor version of a ROCm version, `7.15` for 10.0.1; `None` for a version
    /// without a row that is later than a row.
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

    /// Returns the ROCm minor version of a HIP version, `10.0` for 7.15.26333; `None` for a version
    /// without a row that is later than a row.
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

    /// Returns the pairs of HIP and ROCm minor versions that differ.
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
    fn hip_versions_of_rocm_10_continue_from_7() {
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

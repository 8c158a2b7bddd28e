//! Versions of the SDK packages, as wheels, Debian packages and RPM packages.

use std::collections::BTreeMap;

use rock_compat::rows::SdkVersionRow;

/// The versions of the packages of one build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageVersions {
    /// The version of wheels.
    pub wheel: String,
    /// The version of Debian packages.
    pub deb: String,
    /// The version of RPM packages.
    pub rpm: String,
}

/// Fills the version patterns of a row with the known values, by placeholder name.
///
/// # Errors
/// Returns the placeholders without a value: first those in `asks` of the row, then the others in
/// the order of the patterns.
pub fn versions(
    row: &SdkVersionRow,
    known: &BTreeMap<&str, String>,
) -> Result<PackageVersions, Vec<String>> {
    let mut missing: Vec<String> = row
        .asks
        .iter()
        .filter(|word| !known.contains_key(word.as_str()))
        .cloned()
        .collect();
    let mut made = |pattern: &str| {
        let mut text = String::new();
        let mut rest = pattern;
        while let Some((before, (word, after))) = rest
            .split_once('{')
            .and_then(|(b, r)| Some((b, r.split_once('}')?)))
        {
            text.push_str(before);
            match known.get(word) {
                Some(value) => text.push_str(value),
                None if missing.iter().any(|one| one == word) => {}
                None => missing.push(word.to_owned()),
            }
            rest = after;
        }
        text + rest
    };
    let versions = PackageVersions {
        wheel: made(&row.wheel),
        deb: made(&row.deb),
        rpm: made(&row.rpm),
    };
    if missing.is_empty() {
        Ok(versions)
    } else {
        Err(missing)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::str::FromStr as _;

    use super::versions;
    use rock_compat::Compat;

    const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

    fn of(release_type: &str) -> [String; 3] {
        let compat = Compat::embedded();
        let row = compat
            .sdk_tables()
            .sdk_versions
            .iter()
            .find(|row| row.release_type == release_type)
            .unwrap();
        let known = [
            ("base", "7.10.0"),
            ("date", "20251120"),
            ("base-date", "20251101"),
            ("number", "2"),
            ("sha", SHA),
            ("sha8", &SHA[..8]),
        ];
        let known: BTreeMap<&str, String> = known
            .into_iter()
            .map(|(word, value)| (word, value.to_owned()))
            .collect();
        let made = versions(row, &known).unwrap();
        [made.wheel, made.deb, made.rpm]
    }

    /// Uses a fixed date and commit.
    #[test]
    fn each_kind_of_release_has_its_versions() {
        let dev = [
            format!("7.10.0.dev0+{SHA}"),
            "7.10.0~dev20251120".into(),
            "7.10.0~20251120g01234567".into(),
        ];
        assert_eq!(of("release"), ["7.10.0", "7.10.0", "7.10.0"]);
        assert_eq!(of("prerelease"), ["7.10.0rc2", "7.10.0~pre2", "7.10.0~rc2"]);
        assert_eq!(
            of("nightly"),
            ["7.10.0a20251120", "7.10.0~20251120", "7.10.0~20251120"]
        );
        let bkc = "7.10.0~20251101.bkc.20251120";
        assert_eq!(
            of("nightly-bkc"),
            ["7.10.0a20251101+bkc.20251120", bkc, bkc]
        );
        for release_type in ["ci", "dev", "dev-bkc"] {
            assert_eq!(of(release_type), dev);
        }
    }

    #[test]
    fn installers_take_releases_before_nightly_builds_and_those_before_others() {
        let wheel = |release_type| pep440_rs::Version::from_str(&of(release_type)[0]).unwrap();
        let ordered = ["release", "prerelease", "nightly", "nightly-bkc", "dev"].map(wheel);
        assert!(
            ordered.windows(2).all(|pair| pair[0] > pair[1]),
            "{ordered:?}"
        );
    }

    #[test]
    fn what_is_not_known_is_told_once() {
        let compat = Compat::embedded();
        let row = compat
            .sdk_tables()
            .sdk_versions
            .iter()
            .find(|row| row.release_type == "dev-bkc")
            .unwrap();
        let known = BTreeMap::from([("base", "7.10.0".to_owned())]);
        assert_eq!(
            versions(row, &known).unwrap_err(),
            ["base-date", "sha", "date", "sha8"]
        );
    }
}

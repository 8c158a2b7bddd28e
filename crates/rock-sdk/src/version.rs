//! Versions of the SDK packages, as wheels, Debian packages and RPM packages.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rock_compat::rows::SdkVersionRow;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::{Version, day_digits};
use rock_sys::{Environment, FileError};
use serde::Deserialize;

use crate::codes::sdk as codes;
use crate::limits::MAX_VERSION_FILE_BYTES;
use crate::parse_json_object;

/// The environment variable with the commit of a workflow (GitHub Docs, "Variables reference").
const COMMIT_VARIABLE: &str = "GITHUB_SHA";
/// The time limit for reading a commit with git.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);

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

/// The inputs of the versions of a build.
#[derive(Debug, Clone)]
pub struct VersionRequest {
    /// The type of the release, the name of a row of the table `sdk-versions`. It is not used with
    /// a custom suffix.
    pub release_type: Option<String>,
    /// The number of the release candidate.
    pub prerelease_number: Option<u32>,
    /// The build date, `20251120`; `None` for today in UTC.
    pub date: Option<String>,
    /// The text that is appended to the base version in all three formats.
    pub custom_suffix: Option<String>,
    /// The base version, `7.10.0`; `None` for the one in the version file.
    pub base: Option<String>,
    /// The `version.json` of the ROCm sources. It may be missing if there is a base version.
    pub version_file: PathBuf,
    /// The commit of the sources; `None` for `GITHUB_SHA`, or else the head of the working
    /// directory.
    pub commit: Option<String>,
}

/// The reason for which versions cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// The version file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The version file is not an object of the expected form.
    #[error("this is not a version file: {0}")]
    InvalidFile(String),
    /// The version file has no `rocm-version`.
    #[error("`rocm-version` is missing")]
    NoBase,
    /// The `rocm-version` of the version file is invalid.
    #[error("{0}")]
    InvalidBase(String),
    /// The `release-metadata.base-date` of the version file is invalid.
    #[error("{0}")]
    InvalidBaseDate(String),
    /// The base version with the custom suffix is not a version.
    #[error("{0}")]
    InvalidSuffix(String),
    /// No row of the table `sdk-versions` has this release type.
    #[error("unknown release type `{release_type}`")]
    UnknownReleaseType {
        /// The requested type.
        release_type: String,
        /// The types of the table.
        known: Vec<String>,
    },
    /// Versions of this release type have no number.
    #[error("a {0} version has no number")]
    UnexpectedNumber(String),
    /// The commit in the environment variable `GITHUB_SHA` is invalid.
    #[error("{0}")]
    InvalidCommit(String),
    /// Values of the version pattern are unknown.
    #[error("a {release_type} version requires {}", missing.join(", "))]
    MissingValues {
        /// The requested type.
        release_type: String,
        /// The placeholders of the values: `base`, `date`, `base-date`, `number`, `sha`, `sha8`.
        missing: Vec<String>,
    },
    /// The version pattern of the table `sdk-versions` gives no version.
    #[error("{0}")]
    InvalidPattern(String),
}

impl VersionError {
    /// Returns the diagnostic of an error of this request.
    pub fn diagnostic(self, request: &VersionRequest) -> Diagnostic {
        let of_file = Location::File(request.version_file.display().to_string().into());
        let of_option = |option: &str, value: &Option<String>| {
            let value = value.as_deref().unwrap_or_default();
            Location::Argument(format!("{option} {value}"))
        };
        let invalid = Diagnostic::new(&codes::BAD_SDK_VERSION, self.to_string());
        match self {
            Self::File(error) => Diagnostic::from(error)
                .help("pass the version with `--base`, or the file with `--version-file`"),
            Self::InvalidFile(_) => invalid
                .help("see `version.json` of the ROCm sources")
                .at(of_file, ""),
            Self::NoBase => invalid.help("add it, or pass `--base`").at(of_file, ""),
            Self::InvalidBase(_) => invalid
                .help("fix `rocm-version`, or pass `--base`")
                .at(of_file, ""),
            Self::InvalidBaseDate(_) => invalid
                .help("fix `release-metadata.base-date`")
                .at(of_file, ""),
            Self::InvalidSuffix(_) => invalid
                .help("append one such as `.dev0`, `rc1` or `+mine`")
                .at(of_option("--custom-suffix", &request.custom_suffix), ""),
            Self::UnknownReleaseType { known, .. } => invalid
                .help(format!("known types are {}", known.join(", ")))
                .at(of_option("--release-type", &request.release_type), ""),
            Self::UnexpectedNumber(_) => invalid.help("remove `--prerelease-version`"),
            Self::InvalidCommit(_) => invalid
                .help("pass `--sha`")
                .at(Location::Argument(COMMIT_VARIABLE.to_owned()), ""),
            Self::MissingValues { missing, .. } => {
                let mut help: Vec<&str> = missing.iter().map(|word| how_to_provide(word)).collect();
                help.dedup();
                invalid.help(help.join("; "))
            }
            Self::InvalidPattern(_) => invalid.help("fix the table `sdk-versions`"),
        }
    }
}

fn how_to_provide(word: &str) -> &'static str {
    match word {
        "number" => "pass `--prerelease-version`",
        "base-date" => "set `release-metadata.base-date` in the version file to YYYYMMDD",
        "sha" | "sha8" => "pass `--sha`, or run the command in a checkout",
        _ => "pass `--base` and `--date`",
    }
}

/// The contents of `version.json` that are used (ROCm/TheRock).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct VersionFile {
    rocm_version: Option<String>,
    #[serde(default)]
    release_metadata: ReleaseMetadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ReleaseMetadata {
    #[serde(default)]
    base_date: String,
}

impl VersionRequest {
    /// Computes the versions of a build by the rows of the table `sdk-versions`.
    ///
    /// # Errors
    /// When the version file cannot be read or is invalid, the release type is unknown, a value of
    /// its versions is unknown, or the result is not a version.
    pub fn compute(
        &self,
        rows: &[SdkVersionRow],
        environment: &Environment,
    ) -> Result<PackageVersions, VersionError> {
        let file = self.read_file()?;
        let base = match (&self.base, file.rocm_version) {
            (Some(base), _) => base.clone(),
            (None, Some(text)) => parse_base_version(&text).map_err(VersionError::InvalidBase)?,
            (None, None) => return Err(VersionError::NoBase),
        };
        if let Some(suffix) = &self.custom_suffix {
            return with_suffix(&base, suffix);
        }
        let release_type = self.release_type.as_deref().unwrap_or_default();
        let row = rows
            .iter()
            .find(|row| row.release_type == release_type)
            .ok_or_else(|| VersionError::UnknownReleaseType {
                release_type: release_type.to_owned(),
                known: rows.iter().map(|row| row.release_type.clone()).collect(),
            })?;
        if self.prerelease_number.is_some() && !row.wheel.contains("{number}") {
            return Err(VersionError::UnexpectedNumber(release_type.to_owned()));
        }
        let mut known = BTreeMap::from([("base", base)]);
        let date = self.date.clone();
        known.insert(
            "date",
            date.unwrap_or_else(|| environment.today().replace('-', "")),
        );
        known.extend(
            self.prerelease_number
                .map(|number| ("number", number.to_string())),
        );
        let base_date = file.release_metadata.base_date;
        if !base_date.is_empty() {
            let base_date = parse_day(&base_date).map_err(VersionError::InvalidBaseDate)?;
            known.insert("base-date", base_date);
        }
        if let Some(commit) = self.commit(row, environment)? {
            known.insert("sha8", commit.chars().take(8).collect());
            known.insert("sha", commit);
        }
        let made = versions(row, &known).map_err(|missing| VersionError::MissingValues {
            release_type: release_type.to_owned(),
            missing,
        })?;
        // Normalizing removes the leading zeros of a commit that has only digits.
        let wheel = made
            .wheel
            .parse::<Version>()
            .map_err(|error| VersionError::InvalidPattern(error.to_string()))?;
        Ok(PackageVersions {
            wheel: wheel.normalized(),
            ..made
        })
    }

    fn read_file(&self) -> Result<VersionFile, VersionError> {
        if self.base.is_some() && !rock_sys::exists(&self.version_file) {
            return Ok(VersionFile::default());
        }
        let text = rock_sys::read_text(&self.version_file, MAX_VERSION_FILE_BYTES)?;
        parse_json_object(text.as_bytes()).map_err(VersionError::InvalidFile)
    }

    /// Returns the commit of the sources, if it is known; only a requested one if the versions of
    /// the row do not contain it.
    fn commit(
        &self,
        row: &SdkVersionRow,
        environment: &Environment,
    ) -> Result<Option<String>, VersionError> {
        if self.commit.is_some() || !row.wheel.contains("{sha}") {
            return Ok(self.commit.clone());
        }
        match environment.get(COMMIT_VARIABLE) {
            Some(text) => parse_commit(text)
                .map(Some)
                .map_err(VersionError::InvalidCommit),
            None => Ok(find_head(environment)),
        }
    }
}

/// Returns the versions of a base version with a suffix.
fn with_suffix(base: &str, suffix: &str) -> Result<PackageVersions, VersionError> {
    let text = format!("{base}{suffix}");
    let wheel = text
        .parse::<Version>()
        .map_err(|error| VersionError::InvalidSuffix(error.to_string()))?;
    Ok(PackageVersions {
        wheel: wheel.normalized(),
        deb: text.clone(),
        rpm: text,
    })
}

/// Returns the commit of the repository in the working directory.
fn find_head(environment: &Environment) -> Option<String> {
    let git = rock_sys::find_program("git", environment)?;
    let output = rock_sys::probe(&git, &["rev-parse", "HEAD"], environment, GIT_TIMEOUT);
    let is_full = |text: &String| matches!(text.len(), 40 | 64) && is_hex(text);
    output.first_line_of_success().filter(is_full)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Parses a day in the form that versions have, `20251120`.
///
/// # Errors
/// Returns the reason for which the text is not a day.
pub fn parse_day(text: &str) -> Result<String, String> {
    day_digits(text)
        .filter(|digits| digits == text)
        .ok_or_else(|| format!("`{text}` is not a date such as 20251120"))
}

/// Parses the version of the ROCm sources: numbers only, in normal form.
///
/// # Errors
/// Returns the reason for which the text is not such a version.
pub fn parse_base_version(text: &str) -> Result<String, String> {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let normal = text.parse::<Version>().map(|version| version.normalized());
    let is_release =
        text.contains('.') && text.split('.').all(is_number) && normal.as_deref() == Ok(text);
    if is_release {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is not a version such as 7.10.0"))
    }
}

/// Parses a commit hash of at least eight digits, and returns it in lower case.
///
/// # Errors
/// Returns the reason for which the text is not a commit hash.
pub fn parse_commit(text: &str) -> Result<String, String> {
    if (8..=64).contains(&text.len()) && is_hex(text) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(format!("`{text}` is not a commit hash"))
    }
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

    use super::{VersionError, VersionRequest, versions};
    use rock_compat::Compat;
    use rock_sys::Environment;

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
    fn unknown_values_are_reported_once() {
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

    /// The base version comes from the version file, and the commit from the workflow.
    #[test]
    fn versions_are_computed_from_the_version_file_and_the_environment() {
        let compat = Compat::embedded();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("version.json");
        let request = VersionRequest {
            release_type: Some("dev".to_owned()),
            prerelease_number: None,
            date: Some("20251120".to_owned()),
            custom_suffix: None,
            base: None,
            version_file: file.clone(),
            commit: None,
        };
        let mut environment = Environment::default();
        let compute = |request: &VersionRequest, environment: &Environment| {
            request
                .compute(&compat.sdk_tables().sdk_versions, environment)
                .map(|versions| versions.wheel)
        };
        assert!(matches!(
            compute(&request, &environment),
            Err(VersionError::File(_))
        ));
        rock_sys::write_atomic(&file, b"{\"rocm-version\": \"7.10.0\"}").unwrap();
        let error = compute(&request, &environment).unwrap_err();
        assert_eq!(error.to_string(), "a dev version requires sha, sha8");
        let variables = &mut environment.variables;
        variables.insert("GITHUB_SHA".to_owned(), SHA.to_uppercase());
        let wheel = compute(&request, &environment).unwrap();
        assert_eq!(wheel, format!("7.10.0.dev0+{SHA}"));
        let numbered = VersionRequest {
            prerelease_number: Some(2),
            ..request
        };
        let error = compute(&numbered, &environment).unwrap_err();
        assert_eq!(error.to_string(), "a dev version has no number");
    }
}

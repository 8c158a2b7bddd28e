//! What a wheel's name says, field by field: one record for every spelling of it.

use super::{
    Accelerator, DistributionName, LabelParts, LabelPartsError, RocmVersion, TagSet, Version,
    WheelName, WheelNameError,
};

/// The fields of a wheel's name.
///
/// `rocm62torch2.5` and `rocm6.2torch2.5` are one record; so are a name and its percent-encoded
/// form. Records sort by field, so torch 2.10 follows 2.9 and ROCm 7.14 follows 7.2, which labels
/// as text do not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WheelIdentity {
    /// The distribution in file form, `flash_attn`.
    pub distribution: String,
    /// The version without its label.
    pub version: Version,
    /// The accelerator and its version; `None` without a label.
    pub accelerator: Option<Accelerator>,
    /// Major and minor of torch, `2.10`.
    pub torch: Option<Version>,
    /// The tail of a torch that is no release: `dev20261101`, `rc1`, `a0`.
    pub dev: Option<String>,
    /// The commit built.
    pub git: Option<String>,
    /// The backend's tail.
    pub backend: Option<String>,
    /// The C++ ABI tail.
    pub cxx11abi: Option<bool>,
    /// Python tags.
    pub python: TagSet,
    /// ABI tags.
    pub abi: TagSet,
    /// Whether it is for free-threaded Python.
    pub is_free_threaded: bool,
    /// Whether it is for the stable ABI.
    pub is_abi3: bool,
    /// Platform tags, sorted.
    pub platforms: TagSet,
    /// Whether the accelerator's digits have another reading.
    pub is_ambiguous: bool,
}

/// A name that says nothing for certain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WheelIdentityError {
    /// Not a wheel name.
    #[error(transparent)]
    Name(#[from] WheelNameError),
    /// A wheel name with a label of another making.
    #[error("`{name}` is a wheel name, but {error}")]
    Label {
        /// The name.
        name: String,
        /// Why its label cannot be read.
        #[source]
        error: LabelPartsError,
    },
}

impl WheelIdentity {
    /// The fields of a name. `known_rocm` decides how digits without dots are read.
    ///
    /// # Errors
    /// When the name has a label that cannot be taken apart.
    pub fn of(name: &WheelName, known_rocm: &[RocmVersion]) -> Result<Self, WheelIdentityError> {
        let parsed = name
            .label()
            .map(|label| LabelParts::parse(&label, known_rocm))
            .transpose();
        let parsed = parsed.map_err(|error| WheelIdentityError::Label {
            name: name.to_string(),
            error,
        })?;
        let is_ambiguous = parsed.as_ref().is_some_and(|parsed| parsed.ambiguous);
        let parts = parsed.map(|parsed| parsed.parts);
        let torch = parts.as_ref().and_then(|parts| parts.torch.as_ref());
        let free_threaded = |tag: &String| {
            tag.strip_prefix("cp")
                .and_then(|t| t.strip_suffix('t'))
                .is_some_and(|t| t.parse::<u32>().is_ok())
        };
        let distribution = name.distribution.parse::<DistributionName>();
        Ok(Self {
            distribution: distribution
                .map_or_else(|_| name.distribution.clone(), |name| name.file_form()),
            version: name.version.public(),
            torch: torch.and_then(|torch| torch.minor().parse().ok()),
            dev: torch.map(Version::pre_tail).filter(|tail| !tail.is_empty()),
            git: parts.as_ref().and_then(|parts| parts.git.clone()),
            backend: parts.as_ref().and_then(|parts| parts.backend.clone()),
            cxx11abi: parts.as_ref().and_then(|parts| parts.cxx11abi),
            accelerator: parts.map(|parts| parts.accelerator),
            is_free_threaded: name.abi.tags().iter().any(free_threaded),
            is_abi3: name.abi.contains("abi3"),
            python: name.python.clone(),
            abi: name.abi.clone(),
            platforms: name.platform.sorted(),
            is_ambiguous,
        })
    }

    /// Reads a file name.
    ///
    /// # Errors
    /// When it is no wheel name, or has a label that cannot be taken apart.
    pub fn parse(text: &str, known_rocm: &[RocmVersion]) -> Result<Self, WheelIdentityError> {
        Self::of(&text.parse()?, known_rocm)
    }
}

/// Names sorted into those that can be read and those that cannot; none is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdentifiedNames {
    /// Names with their fields, in the order of the fields.
    pub read: Vec<(WheelIdentity, String)>,
    /// Names with the reason why they cannot be read, in the order given.
    pub unread: Vec<(String, WheelIdentityError)>,
}

/// Reads the names of a release's files.
pub fn identify<'a>(
    names: impl IntoIterator<Item = &'a str>,
    known_rocm: &[RocmVersion],
) -> IdentifiedNames {
    let mut sorted = IdentifiedNames::default();
    for name in names {
        match WheelIdentity::parse(name, known_rocm) {
            Ok(identity) => sorted.read.push((identity, name.to_owned())),
            Err(error) => sorted.unread.push((name.to_owned(), error)),
        }
    }
    sorted.read.sort();
    sorted
}

#[cfg(test)]
mod tests {
    use super::{WheelIdentity, identify};
    use crate::RocmVersion;

    fn known() -> Vec<RocmVersion> {
        ["6.2", "6.2.4", "7.1", "7.1.4", "7.2", "7.14"]
            .iter()
            .map(|v| v.parse().unwrap())
            .collect()
    }

    fn assets() -> Vec<String> {
        let text = include_str!("../../../tests/fixtures/assets.json");
        let release: serde_json::Value = serde_json::from_str(text).unwrap();
        release["assets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a["name"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn both_label_styles_and_the_encoded_name_are_one_record() {
        let read = |text: &str| WheelIdentity::parse(text, &known()).unwrap();
        let compact = read("flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl");
        assert_eq!(
            compact,
            read("flash_attn-2.8.3+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl")
        );
        assert_eq!(
            compact,
            read("Flash_Attn-2.8.3%2Brocm6.2torch2.5.1-1-cp311-cp311-linux_x86_64.whl")
        );
    }

    #[test]
    fn of_forty_assets_the_three_unreadable_ones_are_listed_with_reasons() {
        let assets = assets();
        assert_eq!(assets.len(), 40);
        let identified = identify(assets.iter().map(String::as_str), &known());
        assert_eq!((identified.read.len(), identified.unread.len()), (37, 3));
        let reasons: Vec<String> = identified
            .unread
            .iter()
            .map(|(_, error)| error.to_string())
            .collect();
        insta::assert_snapshot!(reasons.join("\n"), @r"
        `flash-attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl` is not a wheel name: in a wheel name the distribution `flash-attn` is written `flash_attn`
        `flash_attn-2.8.3.rocm62torch2.5-cp311-cp311-linux_x86_64.whl` is not a wheel name: `2.8.3.rocm62torch2.5` is no version; a `+` became a dot, and the version was `2.8.3+rocm62torch2.5`
        `flash_attn-2.8.3+cputorch2.5-cp311-cp311-linux_x86_64.whl` is a wheel name, but the label `cputorch2.5` cannot be taken apart: it does not begin with `rocm` or `cu`
        ");
    }

    #[test]
    fn the_assets_hold_every_kind_of_name() {
        let identified = identify(assets().iter().map(String::as_str), &known());
        let count = |fits: fn(&WheelIdentity) -> bool| {
            identified.read.iter().filter(|(id, _)| fits(id)).count()
        };
        assert!(count(|id| id.backend.is_some()) >= 3);
        assert!(count(|id| id.git.is_some()) >= 2);
        assert!(count(|id| id.dev.is_some()) >= 2);
        assert!(count(|id| id.version.as_str().contains("post")) >= 2);
        assert!(count(|id| id.is_free_threaded) >= 2);
        assert!(count(|id| id.is_abi3) >= 2);
        assert!(count(|id| id.platforms.tags().len() == 2) >= 2);
        assert!(count(|id| id.cxx11abi.is_some()) >= 1);
        assert!(count(|id| id.accelerator.is_none()) >= 1);
        assert_eq!(count(|id| id.is_ambiguous), 1);
    }

    #[test]
    fn records_sort_by_number_where_labels_as_text_do_not() {
        let names = [
            "flash_attn-2.8.3+rocm7.14torch2.14-cp312-cp312-linux_x86_64.whl",
            "flash_attn-2.8.3+rocm72torch2.10triton-py3-none-any.whl",
            "flash_attn-2.8.3+rocm72torch2.9-cp312-cp312-linux_x86_64.whl",
        ];
        let identified = identify(names, &known());
        let order: Vec<&str> = identified
            .read
            .iter()
            .map(|(_, name)| name.as_str())
            .collect();
        assert_eq!(order, [names[2], names[1], names[0]]);
    }
}

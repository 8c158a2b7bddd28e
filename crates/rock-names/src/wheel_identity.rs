//! The identity of a wheel: the fields of its name that distinguish builds, independent of their
//! spelling.

use super::{
    AbiTags, Accelerator, DistributionName, LabelParts, LabelPartsError, PlatformTags, PythonTags,
    RocmVersion, Version, WheelName, WheelNameError,
};

/// The fields of a wheel name and its label, without the build tag and the patch number of torch.
///
/// Wheels for torch 2.5.0 and 2.5.1 have equal identities, because most labels name only the minor
/// version of torch; wheels for different prereleases have different ones.
///
/// Labels of both styles, `rocm62torch2.5` and `rocm6.2torch2.5`, give equal identities unless the
/// compact one is [ambiguous](Self::is_ambiguous), and so do tag sets in any order. Identities are
/// ordered by field, so torch 2.10 follows 2.9 and ROCm 7.14 follows 7.2.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WheelIdentity {
    distribution: DistributionName,
    version: Version,
    accelerator: Option<Accelerator>,
    torch_minor: Option<Version>,
    torch_prerelease: Option<String>,
    git: Option<String>,
    backend: Option<String>,
    cxx11abi: Option<bool>,
    python_tags: PythonTags,
    abi_tags: AbiTags,
    platform_tags: PlatformTags,
    is_ambiguous: bool,
}

/// The error of identifying a wheel by its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WheelIdentityError {
    /// The text is not a wheel name.
    #[error(transparent)]
    Name(#[from] WheelNameError),
    /// The label of the wheel name is invalid.
    #[error("`{name}` is a wheel name, but {error}")]
    Label {
        /// The wheel name.
        name: String,
        /// The error of parsing the label.
        #[source]
        error: LabelPartsError,
    },
}

impl WheelIdentity {
    /// Returns the identity of a wheel name; `known_rocm` resolves ROCm versions without dots.
    ///
    /// # Errors
    /// If the label is invalid.
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
        Ok(Self {
            distribution: name.distribution().to_escaped(),
            version: name.version().public(),
            torch_minor: torch.map(Version::to_minor),
            torch_prerelease: torch
                .map(Version::prerelease_suffix)
                .filter(|suffix| !suffix.is_empty()),
            git: parts.as_ref().and_then(|parts| parts.git.clone()),
            backend: parts.as_ref().and_then(|parts| parts.backend.clone()),
            cxx11abi: parts.as_ref().and_then(|parts| parts.cxx11abi),
            accelerator: parts.map(|parts| parts.accelerator),
            python_tags: name.python_tags().sorted(),
            abi_tags: name.abi_tags().sorted(),
            platform_tags: name.platform_tags().sorted(),
            is_ambiguous,
        })
    }

    /// Parses a filename, without decoding any percent-encoding.
    ///
    /// # Errors
    /// If it is not a wheel name, or its label is invalid.
    pub fn parse(text: &str, known_rocm: &[RocmVersion]) -> Result<Self, WheelIdentityError> {
        Self::of(&text.parse()?, known_rocm)
    }

    /// Returns the escaped name of the distribution, `flash_attn`.
    pub fn distribution(&self) -> &DistributionName {
        &self.distribution
    }

    /// Returns the public version.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Returns the accelerator and its version; `None` without a label.
    pub fn accelerator(&self) -> Option<&Accelerator> {
        self.accelerator.as_ref()
    }

    /// Returns the major and minor version of torch, `2.10`.
    pub fn torch_minor(&self) -> Option<&Version> {
        self.torch_minor.as_ref()
    }

    /// Returns the suffix of a torch prerelease: `dev20261101`, `rc1`, `a0`.
    pub fn torch_prerelease(&self) -> Option<&str> {
        self.torch_prerelease.as_deref()
    }

    /// Returns the commit built.
    pub fn git(&self) -> Option<&str> {
        self.git.as_deref()
    }

    /// Returns the backend; `None` for the default one.
    pub fn backend(&self) -> Option<&str> {
        self.backend.as_deref()
    }

    /// Returns whether torch's new C++ ABI is used, if the label says it.
    pub fn cxx11abi(&self) -> Option<bool> {
        self.cxx11abi
    }

    /// Returns the Python tags, sorted.
    pub fn python_tags(&self) -> &PythonTags {
        &self.python_tags
    }

    /// Returns the ABI tags, sorted.
    pub fn abi_tags(&self) -> &AbiTags {
        &self.abi_tags
    }

    /// Returns the platform tags, sorted.
    pub fn platform_tags(&self) -> &PlatformTags {
        &self.platform_tags
    }

    /// Returns whether an ABI tag is that of free-threaded Python: `cp313t` or `cp313td` (PEP 703),
    /// or `abi3t` (PEP 803).
    pub fn is_free_threaded(&self) -> bool {
        self.abi_tags.is_free_threaded()
    }

    /// Returns whether an ABI tag is that of a stable ABI: `abi3` (PEP 384) or `abi3t` (PEP 803).
    pub fn is_stable_abi(&self) -> bool {
        self.abi_tags.is_stable_abi()
    }

    /// Returns whether the digits of the accelerator or of torch may also be another version.
    pub fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }
}

#[cfg(test)]
mod tests {
    use super::{WheelIdentity, WheelIdentityError, WheelName};
    use crate::RocmVersion;

    fn known() -> Vec<RocmVersion> {
        ["6.2", "6.2.4", "7.1", "7.1.4", "7.2", "7.14"]
            .iter()
            .map(|v| v.parse().unwrap())
            .collect()
    }

    /// Filenames with their identities, and those that have none.
    #[derive(Default)]
    struct IdentifiedNames {
        /// Identities with their filenames, in order.
        identities: Vec<(WheelIdentity, String)>,
        /// Filenames that could not be identified, in the order given.
        unidentified: Vec<(String, WheelIdentityError)>,
    }

    fn identify<'a>(names: impl IntoIterator<Item = &'a str>) -> IdentifiedNames {
        let mut identified = IdentifiedNames::default();
        for name in names {
            let identity = WheelName::from_percent_encoded(name)
                .map_err(WheelIdentityError::Name)
                .and_then(|name| WheelIdentity::of(&name, &known()));
            match identity {
                Ok(identity) => identified.identities.push((identity, name.to_owned())),
                Err(error) => identified.unidentified.push((name.to_owned(), error)),
            }
        }
        identified.identities.sort();
        identified
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
    fn both_label_styles_give_one_identity() {
        let read = |text: &str| WheelIdentity::parse(text, &known()).unwrap();
        let compact = read("flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl");
        assert_eq!(
            compact,
            read("flash_attn-2.8.3+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl")
        );
        assert_eq!(
            compact,
            read("Flash_Attn-2.8.3+rocm6.2torch2.5.1-1-cp311-cp311-linux_x86_64.whl")
        );
    }

    #[test]
    fn the_identity_has_the_minor_version_of_torch() {
        let read = |torch: &str| {
            let name = format!("a-1+rocm6.2torch{torch}-cp311-cp311-linux_x86_64.whl");
            WheelIdentity::parse(&name, &known()).unwrap()
        };
        let patch = read("2.5.1");
        assert_eq!(patch, read("2.5.0"));
        assert_eq!(patch.torch_minor().unwrap().as_str(), "2.5");
        assert_ne!(patch, read("2.6.1"));
    }

    #[test]
    fn the_order_of_tags_does_not_change_the_identity() {
        let read = |tags: &str| WheelIdentity::parse(&format!("a-1-{tags}.whl"), &known()).unwrap();
        let sorted = read("cp311.py3-abi3.none-any.linux_x86_64");
        assert_eq!(sorted, read("py3.CP311.py3-none.abi3-linux_x86_64.any"));
        assert_eq!(sorted.python_tags().to_string(), "cp311.py3");
        assert_ne!(sorted, read("py3-abi3.none-any.linux_x86_64"));
    }

    #[test]
    fn the_debug_build_of_free_threaded_python_is_free_threaded() {
        let read = |tags: &str| {
            let name = format!("a-1-{tags}-linux_x86_64.whl");
            WheelIdentity::parse(&name, &known()).unwrap()
        };
        assert!(read("cp314-cp314td").is_free_threaded());
        assert!(read("cp314-cp314t").is_free_threaded());
        assert!(!read("cp314-cp314").is_free_threaded());
    }

    #[test]
    fn of_forty_assets_three_have_no_identity_and_a_reason() {
        let assets = assets();
        assert_eq!(assets.len(), 40);
        let identified = identify(assets.iter().map(String::as_str));
        assert_eq!(
            (identified.identities.len(), identified.unidentified.len()),
            (37, 3)
        );
        let reasons: Vec<String> = identified
            .unidentified
            .iter()
            .map(|(_, error)| error.to_string())
            .collect();
        insta::assert_snapshot!(reasons.join("\n"), @r"
        `flash-attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl` is not a wheel name: in a wheel name the distribution `flash-attn` is written `flash_attn`
        `flash_attn-2.8.3.rocm62torch2.5-cp311-cp311-linux_x86_64.whl` is not a wheel name: `2.8.3.rocm62torch2.5` is not a version: the `+` of `2.8.3+rocm62torch2.5` became a dot
        `flash_attn-2.8.3+cputorch2.5-cp311-cp311-linux_x86_64.whl` is a wheel name, but the label `cputorch2.5` cannot be parsed: it does not begin with `rocm` or `cu`
        ");
    }

    #[test]
    fn the_assets_hold_every_kind_of_name() {
        let identified = identify(assets().iter().map(String::as_str));
        let count = |fits: fn(&WheelIdentity) -> bool| {
            identified
                .identities
                .iter()
                .filter(|(id, _)| fits(id))
                .count()
        };
        assert!(count(|id| id.backend().is_some()) >= 3);
        assert!(count(|id| id.git().is_some()) >= 2);
        assert!(count(|id| id.torch_prerelease().is_some()) >= 2);
        assert!(count(|id| id.version().as_str().contains("post")) >= 2);
        assert!(count(WheelIdentity::is_free_threaded) >= 2);
        assert!(count(WheelIdentity::is_stable_abi) >= 2);
        assert!(count(|id| id.platform_tags().as_slice().len() == 2) >= 2);
        assert!(count(|id| id.cxx11abi().is_some()) >= 1);
        assert!(count(|id| id.accelerator().is_none()) >= 1);
        assert_eq!(count(WheelIdentity::is_ambiguous), 1);
    }

    #[test]
    fn identities_sort_by_number_where_labels_as_text_do_not() {
        let names = [
            "flash_attn-2.8.3+rocm7.14torch2.14-cp312-cp312-linux_x86_64.whl",
            "flash_attn-2.8.3+rocm72torch2.10triton-py3-none-any.whl",
            "flash_attn-2.8.3+rocm72torch2.9-cp312-cp312-linux_x86_64.whl",
        ];
        let identified = identify(names);
        let order: Vec<&str> = identified
            .identities
            .iter()
            .map(|(_, name)| name.as_str())
            .collect();
        assert_eq!(order, [names[2], names[1], names[0]]);
    }
}

//! Names of wheels that jobs are expected to build.

use std::fmt;
use std::str::FromStr;

use super::{
    AbiTags, DistributionName, LocalLabel, PlatformTags, PythonTags, Version, WheelName,
    WheelNameError,
};

/// A wheel name as planned before the build, in which `*` may replace an unknown public version.
///
/// `torch-*+rocm714-…` matches any version with this label, also with the commit that a development
/// build puts before it; `torch-*-…` matches any version with any label.
///
/// ```
/// use rock_names::ExpectedWheel;
/// let expected: ExpectedWheel = "torch-*+rocm7.14.0-cp312-cp312-linux_x86_64.whl".parse()?;
/// let built = "torch-2.12.0+rocm7.14.0-cp312-cp312-manylinux_2_28_x86_64.whl".parse()?;
/// assert_eq!(expected.difference(&built), None);
/// # Ok::<(), rock_names::WheelNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedWheel {
    /// The name, with [`PLACEHOLDER`] as an unknown public version.
    name: WheelName,
    is_version_known: bool,
}

/// The text of an unknown version.
const STAR: &str = "*";
/// The version that replaces [`STAR`] in a [`WheelName`].
const PLACEHOLDER: &str = "0";

impl ExpectedWheel {
    /// Returns the name of a wheel without a build tag. The version is normalized, and its label
    /// replaced by `label`; `None` is a version that is not known before the build.
    ///
    /// ```
    /// use rock_names::ExpectedWheel;
    /// let (python, abi, platform) = ("py3".parse()?, "none".parse()?, "any".parse()?);
    /// let label = "rocm7.14".parse()?;
    /// let name =
    ///     ExpectedWheel::new(&"Torch-X".parse()?, None, Some(&label), python, abi, platform);
    /// assert_eq!(name.to_string(), "torch_x-*+rocm7.14-py3-none-any.whl");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        distribution: &DistributionName,
        version: Option<&Version>,
        label: Option<&LocalLabel>,
        python_tags: PythonTags,
        abi_tags: AbiTags,
        platform_tags: PlatformTags,
    ) -> Self {
        let public = version.map_or_else(
            || PLACEHOLDER.parse().expect("the placeholder is a version"),
            |version| version.public().to_normalized(),
        );
        let labelled = match label {
            Some(label) => public.with_label(label),
            None => public,
        };
        Self {
            name: WheelName::new(distribution, labelled, python_tags, abi_tags, platform_tags),
            is_version_known: version.is_some(),
        }
    }

    /// Returns the text of a version in an expected name, `*` for `None`.
    pub fn version_text(version: Option<&Version>) -> String {
        version.map_or_else(|| STAR.to_owned(), Version::normalized)
    }

    /// Returns the name; its public version is a placeholder unless [`Self::is_version_known`].
    pub fn name_with_placeholder(&self) -> &WheelName {
        &self.name
    }

    /// Returns the version with its local version label; `None` if it is not known before the
    /// build.
    pub fn version(&self) -> Option<&Version> {
        self.is_version_known.then(|| self.name.version())
    }

    /// Returns whether the version is known before the build.
    pub fn is_version_known(&self) -> bool {
        self.is_version_known
    }

    /// Returns the label. If the version is unknown, `None` permits any label.
    pub fn label(&self) -> Option<LocalLabel> {
        self.name.label()
    }

    /// Returns whether a built wheel differs from this one only in its tags, and has the platform
    /// tag `any` where this one has another.
    pub fn is_unexpectedly_pure(&self, built: &WheelName) -> bool {
        built.is_platform_independent()
            && !self.name.is_platform_independent()
            && self.distribution_difference(built).is_none()
            && self.version_difference(built).is_none()
    }

    /// Returns the first difference of a built wheel, as a sentence. Build and platform tags are not
    /// compared; a repair changes the latter.
    pub fn difference(&self, built: &WheelName) -> Option<String> {
        let expected = &self.name;
        self.distribution_difference(built)
            .or_else(|| self.version_difference(built))
            .or_else(|| difference("Python tag", expected.python_tags(), built.python_tags()))
            .or_else(|| difference("ABI tag", expected.abi_tags(), built.abi_tags()))
    }

    fn distribution_difference(&self, built: &WheelName) -> Option<String> {
        let (expected, built) = (self.name.distribution(), built.distribution());
        difference("distribution", &expected.escaped(), &built.escaped())
    }

    fn version_difference(&self, built: &WheelName) -> Option<String> {
        if self.is_version_known {
            return difference("version", self.name.version(), built.version());
        }
        let (expected, built) = (self.label()?, built.label());
        if built
            .as_ref()
            .is_some_and(|built| built.without_commit() == expected)
        {
            return None;
        }
        let built = built.as_ref().map_or("", LocalLabel::as_str);
        difference("label", expected.as_str(), built)
    }
}

/// Returns a sentence about two values of a part of a name, if they differ.
fn difference<T>(part: &str, expected: &T, built: &T) -> Option<String>
where
    T: PartialEq + fmt::Display + ?Sized,
{
    (expected != built).then(|| format!("the {part} is `{built}`, not `{expected}`"))
}

impl FromStr for ExpectedWheel {
    type Err = WheelNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts: Vec<String> = text.split('-').map(str::to_owned).collect();
        let version = parts
            .get_mut(1)
            .filter(|part| **part == STAR || part.starts_with("*+"));
        let is_version_known = version.is_none();
        if let Some(version) = version {
            version.replace_range(..STAR.len(), PLACEHOLDER);
        }
        let name = parts.join("-").parse::<WheelName>();
        let name = name.map_err(|error| WheelNameError {
            text: text.to_owned(),
            ..error
        })?;
        Ok(Self {
            name,
            is_version_known,
        })
    }
}

impl fmt::Display for ExpectedWheel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.name.version().as_str();
        if self.is_version_known {
            return self.name.write_with_version(f, version);
        }
        let label = &version[PLACEHOLDER.len()..];
        self.name.write_with_version(f, &format!("{STAR}{label}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{ExpectedWheel, Version};

    fn check(expected: &str, built: &str) -> String {
        let expected: ExpectedWheel = expected.parse().unwrap();
        expected
            .difference(&built.parse().unwrap())
            .unwrap_or_else(|| "fits".to_owned())
    }

    #[test]
    fn a_name_reads_back_as_it_was_printed_with_and_without_a_version() {
        for text in [
            "torch-*-cp312-cp312-linux_x86_64.whl",
            "torch-*+rocm7.14.0-cp312-cp312-linux_x86_64.whl",
            "torch-2.12.0+rocm7.14.0-cp312-cp312-linux_x86_64.whl",
            "torch-0-1-cp312-cp312-linux_x86_64.whl",
        ] {
            let wheel: ExpectedWheel = text.parse().unwrap();
            assert_eq!(
                (wheel.to_string(), wheel.is_version_known()),
                (text.to_owned(), !text.contains('*'))
            );
            let version = wheel.version().map(Version::as_str);
            assert_eq!(version, text.split('-').nth(1).filter(|v| !v.contains('*')));
        }
        for text in [
            "torch-*.whl",
            "torch-**-py3-none-any.whl",
            "torch-2.*-py3-none-any.whl",
            "*-1-py3-none-any.whl",
        ] {
            let error = text.parse::<ExpectedWheel>().unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("`{text}` is not a wheel name")),
                "{error}"
            );
        }
    }

    #[test]
    fn names_are_made_of_their_parts() {
        let made = |version: Option<&str>, label: Option<&str>| {
            ExpectedWheel::new(
                &"amd-torch".parse().unwrap(),
                version.map(|text| text.parse().unwrap()).as_ref(),
                label.map(|text| text.parse().unwrap()).as_ref(),
                "cp312".parse().unwrap(),
                "cp312".parse().unwrap(),
                "linux_x86_64".parse().unwrap(),
            )
        };
        for (version, label, expect) in [
            (None, None, "*"),
            (None, Some("ROCm7.14-triton"), "*+rocm7.14.triton"),
            (Some("2.9.0-RC1"), None, "2.9.0rc1"),
            (Some("2.9"), Some("git1a.007"), "2.9+git1a.7"),
            (Some("2.9+cpu"), Some("rocm6.4"), "2.9+rocm6.4"),
        ] {
            let name = made(version, label);
            let text = format!("amd_torch-{expect}-cp312-cp312-linux_x86_64.whl");
            assert_eq!(name.to_string(), text);
            assert_eq!(text.parse(), Ok(name));
        }
    }

    #[test]
    fn a_star_is_any_version_with_this_label_and_without_a_label_any_at_all() {
        let plain = "torch-*-cp312-cp312-linux_x86_64.whl";
        let labelled = "torch-*+rocm7.14.0-cp312-cp312-linux_x86_64.whl";
        let built =
            |version: &str| format!("Torch-{version}-cp312-cp312-manylinux_2_28_x86_64.whl");
        assert_eq!(check(plain, &built("2.12.0+rocm7.14.0")), "fits");
        assert_eq!(check(plain, &built("2.12.0")), "fits");
        assert_eq!(check(labelled, &built("2.12.0+rocm7.14.0")), "fits");
        assert_eq!(
            check(labelled, &built("2.12.0+rocm7.13")),
            "the label is `rocm7.13`, not `rocm7.14.0`"
        );
        assert_eq!(
            check(labelled, &built("2.12.0a0+git1a2b3c4d.rocm7.14.0")),
            "fits",
            "a development build"
        );
        assert!(
            check(labelled, &built("2.12.0+gitlab.rocm7.14.0"))
                .starts_with("the label is `gitlab.rocm7.14.0`")
        );
        assert_eq!(
            check(labelled, &built("2.12.0")),
            "the label is ``, not `rocm7.14.0`"
        );
        assert_eq!(
            check(plain, "torch-2.12.0-cp311-cp311-linux_x86_64.whl"),
            "the Python tag is `cp311`, not `cp312`"
        );
        assert_eq!(
            check(plain, "torchaudio-2.11-cp312-cp312-any.whl"),
            "the distribution is `torchaudio`, not `torch`"
        );
    }
}

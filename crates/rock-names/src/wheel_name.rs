//! Wheel names.

use std::fmt;
use std::str::FromStr;

use super::{DistributionName, LocalLabel, PlatformSystem, TagSet, Version};

/// A wheel's file name: `{name}-{version}(-{build})?-{python}-{abi}-{platform}.whl`
/// (binary distribution format, "File name convention").
///
/// ```
/// use rock_names::WheelName;
/// let name: WheelName = "flash_attn-2.7.4.post1%2Brocm62torch2.5triton-py3-none-any.whl".parse()?;
/// assert_eq!(name.label().unwrap().as_str(), "rocm62torch2.5triton");
/// assert_eq!(name.to_string(), "flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl");
/// # Ok::<(), rock_names::WheelNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelName {
    /// The distribution as spelled in the name, `flash_attn`.
    pub distribution: String,
    /// The version with its local label.
    pub version: Version,
    /// The build tag, if any; begins with a digit.
    pub build: Option<String>,
    /// Python tags.
    pub python: TagSet,
    /// ABI tags.
    pub abi: TagSet,
    /// Platform tags.
    pub platform: TagSet,
}

/// The error of parsing a [`WheelName`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a wheel name: {reason}")]
pub struct WheelNameError {
    /// The text.
    pub text: String,
    /// The reason.
    pub reason: String,
}

impl WheelName {
    /// How long a name may be in bytes: file systems take no longer ones (Linux, `limits.h`,
    /// `NAME_MAX`), and the tags that a name stands for are a product.
    pub const MAX_BYTES: usize = 255;

    /// Returns the local version label in normal form.
    pub fn label(&self) -> Option<LocalLabel> {
        self.version.local().and_then(|local| local.parse().ok())
    }

    /// Returns this name with another version.
    #[must_use]
    pub fn with_version(&self, version: Version) -> Self {
        Self {
            version,
            ..self.clone()
        }
    }

    /// Returns the name in normal form: escaped distribution, normalized version, sorted platform
    /// tags. Two names identify the same wheel if their normal forms are equal.
    #[must_use]
    pub fn normalized(&self) -> Self {
        let distribution = self.distribution.parse::<DistributionName>();
        Self {
            distribution: distribution
                .map_or_else(|_| self.distribution.clone(), |name| name.escaped()),
            version: self.version.to_normalized(),
            platform: self.platform.sorted(),
            ..self.clone()
        }
    }

    /// Returns all tags of the compressed tag sets, `cp311-cp311-linux_x86_64`.
    pub fn expanded_tags(&self) -> Vec<String> {
        let mut tags = Vec::new();
        for python in self.python.tags() {
            for abi in self.abi.tags() {
                tags.extend(
                    self.platform
                        .tags()
                        .iter()
                        .map(|platform| format!("{python}-{abi}-{platform}")),
                );
            }
        }
        tags
    }

    /// Returns the requirement for exactly this version, `triton==3.4.0+rocm7.10.0` (PEP 440, "Version
    /// matching").
    pub fn requirement(&self) -> String {
        let distribution = self.distribution.parse::<DistributionName>();
        let project =
            distribution.map_or_else(|_| self.distribution.clone(), |name| name.normalized());
        format!("{project}=={}", self.version.normalized())
    }

    /// Returns whether all platform tags are `any`.
    pub fn is_any_platform(&self) -> bool {
        self.platform.tags().iter().all(|tag| tag == "any")
    }

    /// Returns whether all platform tags are for Windows.
    pub fn is_for_windows(&self) -> bool {
        self.platform
            .tags()
            .iter()
            .all(|tag| PlatformSystem::of_tag(tag) == PlatformSystem::Foreign("Windows"))
    }
}

impl FromStr for WheelName {
    type Err = WheelNameError;

    /// Parses a filename, which may be percent-encoded (`%2B`).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = |reason: String| WheelNameError {
            text: text.to_owned(),
            reason,
        };
        let decoded = super::percent_decode(text)
            .ok_or_else(|| fault("its percent encoding is broken".into()))?;
        if decoded.len() > Self::MAX_BYTES {
            return Err(fault(format!(
                "it has {} bytes, and a file name at most {}",
                decoded.len(),
                Self::MAX_BYTES
            )));
        }
        let stem = decoded
            .strip_suffix(".whl")
            .ok_or_else(|| fault("it does not end in `.whl`".into()))?;
        let parts: Vec<&str> = stem.split('-').collect();
        let (name, version, build, tags) = match parts.as_slice() {
            [name, version, python, abi, platform] => {
                (*name, *version, None, [*python, *abi, *platform])
            }
            [name, version, build, python, abi, platform] => {
                (*name, *version, Some(*build), [*python, *abi, *platform])
            }
            _ => return Err(fault(wrong_count(&parts))),
        };
        if !DistributionName::is_valid(name) {
            return Err(fault(format!("`{name}` is no distribution name")));
        }
        // A version may have white space around it, and the name of a file with a version may not.
        let is_close = |text: &&str| !text.contains(char::is_whitespace);
        let version = Some(version)
            .filter(is_close)
            .and_then(|text| text.parse::<Version>().ok());
        let Some(version) = version else {
            return Err(fault(wrong_version(&parts)));
        };
        if let Some(build) = build
            && !(build.starts_with(|c: char| c.is_ascii_digit())
                && build
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')))
        {
            return Err(fault(format!(
                "the build tag `{build}` does not begin with a digit"
            )));
        }
        let [python, abi, platform] =
            tags.map(|tag| tag.parse::<TagSet>().map_err(|e| fault(e.to_string())));
        Ok(Self {
            distribution: name.to_owned(),
            version,
            build: build.map(str::to_owned),
            python: python?,
            abi: abi?,
            platform: platform?,
        })
    }
}

impl fmt::Display for WheelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-", self.distribution, self.version)?;
        if let Some(build) = &self.build {
            write!(f, "{build}-")?;
        }
        write!(f, "{}-{}-{}.whl", self.python, self.abi, self.platform)
    }
}

fn wrong_count(parts: &[&str]) -> String {
    let count = format!("it has {} parts between hyphens, not 5 or 6", parts.len());
    split_name(parts).map_or(count.clone(), |hint| format!("{count}; {hint}"))
}

fn wrong_version(parts: &[&str]) -> String {
    let version = parts[1];
    if let Some(hint) = split_name(parts) {
        return hint;
    }
    for (at, _) in version.match_indices('.') {
        let fixed = format!("{}+{}", &version[..at], &version[at + 1..]);
        if version[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic())
            && fixed.parse::<Version>().is_ok()
        {
            return format!(
                "`{version}` is no version; a `+` became a dot, and the version was `{fixed}`"
            );
        }
    }
    format!("`{version}` is no PEP 440 version")
}

/// Returns a hint for a distribution that is written with hyphens.
fn split_name(parts: &[&str]) -> Option<String> {
    let at = parts
        .iter()
        .position(|part| part.parse::<Version>().is_ok())
        .filter(|at| *at > 1)?;
    Some(format!(
        "in a wheel name the distribution `{}` is written `{}`",
        parts[..at].join("-"),
        parts[..at].join("_")
    ))
}

/// Returns whether a filename has the extension `.whl` in any case; it may not be a [`WheelName`].
pub fn is_wheel_file(name: &str) -> bool {
    std::path::Path::new(name)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("whl"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::WheelName;

    #[track_caller]
    fn name(text: &str) -> WheelName {
        text.parse().unwrap()
    }

    #[track_caller]
    fn reason(text: &str) -> String {
        text.parse::<WheelName>().unwrap_err().reason
    }

    #[test]
    fn a_build_tag_and_two_platform_tags_are_read_and_printed() {
        let text = "flash_attn-2.8.3+rocm62torch2.5-1-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl";
        let name = name(text);
        assert_eq!(
            (name.build.as_deref(), name.platform.tags().len()),
            (Some("1"), 2)
        );
        assert_eq!(name.to_string(), text);
        assert_eq!(name.expanded_tags()[1], "cp311-cp311-manylinux_2_28_x86_64");
    }

    #[test]
    fn a_name_asks_for_its_own_version() {
        let asked =
            name("pytorch_triton_rocm-3.4.0%2Bgit1234.ROCM7.10.0-cp312-cp312-linux_x86_64.whl")
                .requirement();
        assert_eq!(asked, "pytorch-triton-rocm==3.4.0+git1234.rocm7.10.0");
    }

    #[test]
    fn a_percent_encoded_name_is_the_name() {
        let encoded = name("flash_attn-2.8.3%2brocm62torch2.5-cp311-cp311-linux_x86_64.whl");
        assert_eq!(
            encoded,
            name("flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl")
        );
        assert_eq!(
            reason("a-1%2-py3-none-any.whl"),
            "its percent encoding is broken"
        );
    }

    #[test]
    fn a_distribution_with_a_hyphen_says_how_to_write_it() {
        let expect = "in a wheel name the distribution `flash-attn` is written `flash_attn`";
        assert_eq!(
            reason("flash-attn-2.8.3-cp311-cp311-linux_x86_64.whl"),
            expect
        );
        assert!(reason("flash-attn-2.8.3-1-cp311-cp311-linux_x86_64.whl").ends_with(expect));
    }

    #[test]
    fn a_plus_that_became_a_dot_is_told() {
        assert_eq!(
            reason("flash_attn-2.8.3.rocm62torch2.5-cp311-cp311-linux_x86_64.whl"),
            "`2.8.3.rocm62torch2.5` is no version; a `+` became a dot, and the version was `2.8.3+rocm62torch2.5`"
        );
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        assert_eq!(
            reason("flash_attn-2.8.3.tar.gz"),
            "it does not end in `.whl`"
        );
        assert_eq!(
            reason("flash_attn-2.8.3.whl"),
            "it has 2 parts between hyphens, not 5 or 6"
        );
        assert_eq!(
            reason("a-1-x1-py3-none-any.whl"),
            "the build tag `x1` does not begin with a digit"
        );
        assert_eq!(
            reason("a-one-py3-none-any.whl"),
            "`one` is no PEP 440 version"
        );
        assert_eq!(
            reason("../a-1-py3-none-any.whl"),
            "`../a` is no distribution name"
        );
        assert!(reason("a-1-py3--any.whl").starts_with("`` is not a set of wheel tags"));
    }

    #[test]
    fn a_name_that_no_file_can_have_is_refused() {
        let long = |bytes: usize| format!("a-1-py3-none-{}.whl", "a".repeat(bytes - 17));
        assert_eq!(name(&long(255)).to_string(), long(255));
        assert_eq!(
            reason(&long(256)),
            "it has 256 bytes, and a file name at most 255"
        );
        let sets = ["a."; 3].map(|tag| tag.repeat(1 << 20) + "a").join("-");
        assert!(reason(&format!("a-1-{sets}.whl")).starts_with("it has 629"));
    }

    #[test]
    fn white_space_beside_the_version_is_refused() {
        assert_eq!(
            reason("a-1+b\r-py3-none-any.whl"),
            "`1+b\r` is no PEP 440 version"
        );
        assert_eq!(
            reason("a- 1-py3-none-any.whl"),
            "` 1` is no PEP 440 version"
        );
    }

    #[test]
    fn an_upper_case_abi_tail_is_accepted_and_its_normal_form_is_lower_case() {
        let text = "flash_attn-2.8.3+cu12torch2.6cxx11abiTRUE-cp312-cp312-linux_x86_64.whl";
        assert_eq!(name(text).to_string(), text);
        assert_eq!(
            name(text).label().unwrap().as_str(),
            "cu12torch2.6cxx11abitrue"
        );
        assert_eq!(
            name(text).normalized().to_string(),
            text.replace("TRUE", "true")
        );
    }

    #[test]
    fn the_normal_form_folds_names_versions_and_platforms() {
        let odd = name("Flash.Attn-2.8.3.POST1+ROCm6.2_x-py3-none-linux_x86_64.any.whl");
        assert_eq!(
            odd.normalized().to_string(),
            "flash_attn-2.8.3.post1+rocm6.2.x-py3-none-any.linux_x86_64.whl"
        );
    }

    proptest! {
        #[test]
        fn a_name_reads_back_as_it_was_printed(
            text in "[A-Za-z][A-Za-z0-9_]{0,8}[A-Za-z0-9]-[0-9]\\.[0-9]{1,2}(\\.post1)?(\\+[a-z0-9]{1,9}(\\.[a-z0-9]{1,3})?)?(-[0-9][a-z]?)?-(cp3[0-9]|py3)-(abi3|none|cp313t)-(any|linux_x86_64(\\.manylinux_2_28_x86_64)?)\\.whl"
        ) {
            let name: WheelName = text.parse().unwrap();
            prop_assert_eq!(name.to_string(), text.clone());
            prop_assert_eq!(text.replace('+', "%2B").parse::<WheelName>().unwrap(), name.clone());
            prop_assert_eq!(name.normalized().normalized(), name.normalized());
        }

        #[test]
        fn reading_a_name_never_panics(text in "[a-z0-9%.+_-]{0,40}(\\.whl)?") {
            let _ = text.parse::<WheelName>();
        }
    }
}

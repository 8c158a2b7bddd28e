//! Wheel names.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::replaced_plus::with_plus;
use super::{
    AbiTags, BuildTag, BuildTagError, DistributionName, DistributionNameError, LocalLabel,
    PlatformSystem, PlatformTags, PythonTags, TagSetError, Version, VersionError,
};

/// The filename of a wheel: `{distribution}-{version}(-{build tag})?-{python tag}-{abi
/// tag}-{platform tag}.whl` (binary distribution format, "File name convention"; PEP 427).
///
/// Every part is valid and keeps its spelling, so a name prints as it was written. Parsing takes a
/// filename literally; [`Self::from_percent_encoded`] parses the last segment of a URL, in which `+`
/// may be `%2B`.
///
/// `==` and hashes compare the distribution and the build tag as text, the version by PEP 440, and
/// tags without regard to case. Compare the [normal forms](Self::normalized) to find names of the
/// same wheel in other spellings.
///
/// ```
/// use rock_names::WheelName;
/// let name: WheelName = "flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl".parse()?;
/// assert_eq!(name.distribution().normalized(), "flash-attn");
/// assert_eq!(name.label().unwrap().as_str(), "rocm62torch2.5triton");
/// assert_eq!(name.to_string(), "flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl");
///
/// let built = name
///     .with_build_tag("1".parse()?)
///     .with_python_tags("cp312".parse()?)
///     .with_abi_tags("cp312".parse()?)
///     .with_platform_tags("linux_x86_64".parse()?);
/// assert_eq!(
///     built.to_string(),
///     "flash_attn-2.7.4.post1+rocm62torch2.5triton-1-cp312-cp312-linux_x86_64.whl"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WheelName {
    distribution: DistributionName,
    version: Version,
    build_tag: Option<BuildTag>,
    python_tags: PythonTags,
    abi_tags: AbiTags,
    platform_tags: PlatformTags,
}

/// The error of parsing a [`WheelName`]. Its text includes that of the reason. Its source is the
/// error of an invalid version, whose reason the text leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelNameError {
    /// The text that is not a wheel name.
    pub text: String,
    /// The reason.
    pub kind: WheelNameErrorKind,
}

impl WheelNameError {
    fn new(text: &str, kind: WheelNameErrorKind) -> Self {
        Self {
            text: text.to_owned(),
            kind,
        }
    }
}

impl fmt::Display for WheelNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, kind } = self;
        write!(f, "`{text}` is not a wheel name: {kind}")
    }
}

impl Error for WheelNameError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.kind.source()
    }
}

/// The reason of a [`WheelNameError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WheelNameErrorKind {
    /// A `%` is not followed by two hex digits, or the decoded text is not UTF-8.
    #[error("its percent-encoding is invalid")]
    PercentEncoding,
    /// The name has this many bytes, more than [`WheelName::MAX_BYTES`].
    #[error("it has {0} bytes, but a filename has at most {max}", max = WheelName::MAX_BYTES)]
    TooLong(usize),
    /// The extension is not `.whl`.
    #[error("it does not end in `.whl`")]
    Extension,
    /// The name has this number of parts, not 5, or 6 with a build tag.
    #[error("it has {0} parts between hyphens, not 5 or 6")]
    PartCount(usize),
    /// The distribution is written with hyphens, which separate the parts of a name.
    #[error(
        "in a wheel name the distribution `{0}` is written `{escaped}`",
        escaped = .0.escaped()
    )]
    HyphenatedDistribution(DistributionName),
    /// The distribution is invalid.
    #[error(transparent)]
    Distribution(#[from] DistributionNameError),
    /// The version has a dot in place of the `+` of a label that names a ROCm or CUDA version, torch,
    /// a commit or a gfx target, or `cpu`: file hosts rename uploads in this way.
    #[error("`{version}` is not a version: the `+` of `{original}` became a dot")]
    ReplacedPlus {
        /// The version as written.
        version: String,
        /// The version with the `+`.
        original: String,
    },
    /// The version is invalid.
    #[error("`{text}` is not a PEP 440 version", text = .0.text)]
    Version(#[source] VersionError),
    /// The build tag is invalid.
    #[error(transparent)]
    BuildTag(#[from] BuildTagError),
    /// A tag set is invalid.
    #[error(transparent)]
    Tags(#[from] TagSetError),
}

impl WheelName {
    /// The maximum length of a parsed name in bytes (Linux, `limits.h`, `NAME_MAX`), which also
    /// bounds the number of its [expanded tags](Self::expanded_tags).
    ///
    /// Only parsing checks it: [`Self::new`], [`Self::normalized`] and the methods that replace a
    /// part may return longer names.
    pub const MAX_BYTES: usize = 255;

    /// Returns the name of a wheel without a build tag. The distribution is
    /// [escaped](DistributionName::escaped), and a version written with hyphens is normalized, as
    /// in [`Self::with_version`].
    ///
    /// ```
    /// use rock_names::WheelName;
    /// let (python, abi, platform) = ("py3".parse()?, "none".parse()?, "any".parse()?);
    /// let name = WheelName::new(&"Flash-Attn".parse()?, "2.8.3".parse()?, python, abi, platform);
    /// assert_eq!(name.to_string(), "flash_attn-2.8.3-py3-none-any.whl");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        distribution: &DistributionName,
        version: Version,
        python_tags: PythonTags,
        abi_tags: AbiTags,
        platform_tags: PlatformTags,
    ) -> Self {
        Self {
            distribution: distribution.to_escaped(),
            version: without_hyphens(version),
            build_tag: None,
            python_tags,
            abi_tags,
            platform_tags,
        }
    }

    /// Parses the last segment of a URL path, in which some characters are percent-encoded.
    ///
    /// ```
    /// use rock_names::WheelName;
    /// let name = WheelName::from_percent_encoded("torch-2.5.1%2Brocm6.2-cp312-cp312-win_amd64.whl")?;
    /// assert_eq!(name.to_string(), "torch-2.5.1+rocm6.2-cp312-cp312-win_amd64.whl");
    /// # Ok::<(), rock_names::WheelNameError>(())
    /// ```
    ///
    /// # Errors
    /// If the percent-encoding is invalid, or the decoded text is not a wheel name. The error has
    /// the text before decoding.
    pub fn from_percent_encoded(segment: &str) -> Result<Self, WheelNameError> {
        super::percent_decode(segment)
            .ok_or(WheelNameErrorKind::PercentEncoding)
            .and_then(|text| parse(&text, None))
            .map_err(|kind| WheelNameError::new(segment, kind))
    }

    /// Returns the distribution as written, `flash_attn`.
    pub fn distribution(&self) -> &DistributionName {
        &self.distribution
    }

    /// Returns the version with its local version label.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Returns the local version label in normal form.
    pub fn label(&self) -> Option<LocalLabel> {
        LocalLabel::of(&self.version)
    }

    /// Returns the build tag, if there is one.
    pub fn build_tag(&self) -> Option<&BuildTag> {
        self.build_tag.as_ref()
    }

    /// Returns the Python tags.
    pub fn python_tags(&self) -> &PythonTags {
        &self.python_tags
    }

    /// Returns the ABI tags.
    pub fn abi_tags(&self) -> &AbiTags {
        &self.abi_tags
    }

    /// Returns the platform tags.
    pub fn platform_tags(&self) -> &PlatformTags {
        &self.platform_tags
    }

    /// Returns this name with another version. A version written with hyphens is normalized,
    /// because hyphens separate the parts of a name.
    #[must_use]
    pub fn with_version(self, version: Version) -> Self {
        Self {
            version: without_hyphens(version),
            ..self
        }
    }

    /// Returns this name with a build tag, in place of the present one.
    #[must_use]
    pub fn with_build_tag(self, build_tag: BuildTag) -> Self {
        Self {
            build_tag: Some(build_tag),
            ..self
        }
    }

    /// Returns this name without a build tag.
    #[must_use]
    pub fn without_build_tag(self) -> Self {
        Self {
            build_tag: None,
            ..self
        }
    }

    /// Returns this name with other Python tags.
    #[must_use]
    pub fn with_python_tags(self, python_tags: PythonTags) -> Self {
        Self {
            python_tags,
            ..self
        }
    }

    /// Returns this name with other ABI tags.
    #[must_use]
    pub fn with_abi_tags(self, abi_tags: AbiTags) -> Self {
        Self { abi_tags, ..self }
    }

    /// Returns this name with other platform tags.
    #[must_use]
    pub fn with_platform_tags(self, platform_tags: PlatformTags) -> Self {
        Self {
            platform_tags,
            ..self
        }
    }

    /// Parses a name as [`FromStr`] does, but takes a clone of `version` if the name contains the
    /// same text. Names that are read together usually have one version, which takes a third of
    /// the time to parse and half of the memory.
    ///
    /// # Errors
    /// If the text is not the name of a wheel.
    pub fn parse_sharing(text: &str, version: &Version) -> Result<Self, WheelNameError> {
        parse(text, Some(version)).map_err(|kind| WheelNameError::new(text, kind))
    }

    /// Returns the name with escaped distribution, normalized version, and sorted lower-case tags.
    /// Names with equal normal forms name the same wheel; trailing zeros of the version are kept in
    /// print.
    #[must_use]
    pub fn normalized(&self) -> Self {
        Self {
            distribution: self.distribution.to_escaped(),
            version: self.version.to_normalized(),
            build_tag: self.build_tag.clone(),
            python_tags: self.python_tags.sorted(),
            abi_tags: self.abi_tags.sorted(),
            platform_tags: self.platform_tags.sorted(),
        }
    }

    /// Returns the wheel tag with its compressed tag sets, `cp311-cp311-linux_x86_64` (PEP 425).
    pub fn compressed_tag(&self) -> String {
        format!(
            "{}-{}-{}",
            self.python_tags, self.abi_tags, self.platform_tags
        )
    }

    /// Returns every wheel tag of the compressed tag sets, as in the `Tag` headers of WHEEL.
    pub fn expanded_tags(&self) -> Vec<String> {
        let mut tags = Vec::new();
        for python in &self.python_tags {
            for abi in &self.abi_tags {
                let expand = |platform| format!("{python}-{abi}-{platform}");
                tags.extend(self.platform_tags.iter().map(expand));
            }
        }
        tags
    }

    /// Returns the name of the wheel's metadata directory, `flash_attn-2.8.3.dist-info` (binary
    /// distribution format, "The .dist-info directory").
    pub fn dist_info(&self) -> String {
        format!("{}-{}.dist-info", self.distribution, self.version)
    }

    /// Returns the requirement for this version, `triton==3.4.0+rocm7.10.0`. Without a local version
    /// label it also matches the labelled builds of the version (PEP 440, "Version matching").
    pub fn requirement(&self) -> String {
        format!(
            "{}=={}",
            self.distribution.normalized(),
            self.version.normalized()
        )
    }

    /// Returns whether all platform tags are `any`.
    pub fn is_platform_independent(&self) -> bool {
        self.platform_tags.iter().all(|tag| tag == "any")
    }

    /// Returns whether all platform tags are for Windows.
    pub fn is_windows_only(&self) -> bool {
        self.platform_tags
            .iter()
            .all(|tag| PlatformSystem::of_tag(tag).is_windows())
    }

    /// Writes the name with another text as its version.
    pub(super) fn write_with_version(
        &self,
        f: &mut fmt::Formatter<'_>,
        version: &str,
    ) -> fmt::Result {
        write!(f, "{}-{version}-", self.distribution)?;
        if let Some(build_tag) = &self.build_tag {
            write!(f, "{build_tag}-")?;
        }
        write!(
            f,
            "{}-{}-{}.whl",
            self.python_tags, self.abi_tags, self.platform_tags
        )
    }
}

impl FromStr for WheelName {
    type Err = WheelNameError;

    /// Parses a filename literally: `%2B` is not decoded.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text, None).map_err(|kind| WheelNameError::new(text, kind))
    }
}

impl fmt::Display for WheelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_with_version(f, self.version.as_str())
    }
}

/// Parses a name; `shared` is the version of it if their texts are equal.
fn parse(text: &str, shared: Option<&Version>) -> Result<WheelName, WheelNameErrorKind> {
    if text.len() > WheelName::MAX_BYTES {
        return Err(WheelNameErrorKind::TooLong(text.len()));
    }
    let stem = text
        .strip_suffix(".whl")
        .ok_or(WheelNameErrorKind::Extension)?;
    let parts: Vec<&str> = stem.split('-').collect();
    let (distribution, version, build_tag, python_tags, abi_tags, platform_tags) = match *parts {
        [name, version, python, abi, platform] => (name, version, None, python, abi, platform),
        [name, version, build, python, abi, platform] => {
            (name, version, Some(build), python, abi, platform)
        }
        _ => {
            return Err(hyphenated_distribution(&parts).map_or(
                WheelNameErrorKind::PartCount(parts.len()),
                WheelNameErrorKind::HyphenatedDistribution,
            ));
        }
    };
    Ok(WheelName {
        distribution: distribution.parse()?,
        version: parse_version(version, shared).map_err(|error| version_error(&parts, error))?,
        build_tag: build_tag.map(str::parse).transpose()?,
        python_tags: python_tags.parse()?,
        abi_tags: abi_tags.parse()?,
        platform_tags: platform_tags.parse()?,
    })
}

/// Returns a version that can be a part of a name: PEP 440 permits hyphens (`1.0-1`, `1+ubuntu-1`),
/// and its normal form has none.
fn without_hyphens(version: Version) -> Version {
    if version.as_str().contains('-') {
        version.to_normalized()
    } else {
        version
    }
}

/// Parses a version without the whitespace around it that [`Version`] permits. Returns a clone of
/// `shared` if that has the same text.
fn parse_version(text: &str, shared: Option<&Version>) -> Result<Version, VersionError> {
    if text.contains(char::is_whitespace) {
        return Err(VersionError {
            text: text.to_owned(),
            reason: "it contains whitespace".to_owned(),
        });
    }
    match shared.filter(|shared| shared.as_str() == text) {
        Some(shared) => Ok(shared.clone()),
        None => text.parse(),
    }
}

/// Returns the error of a name whose second part is invalid.
fn version_error(parts: &[&str], error: VersionError) -> WheelNameErrorKind {
    if let Some(original) = with_plus(&error.text) {
        return WheelNameErrorKind::ReplacedPlus {
            version: error.text,
            original,
        };
    }
    hyphenated_distribution(parts).map_or(
        WheelNameErrorKind::Version(error),
        WheelNameErrorKind::HyphenatedDistribution,
    )
}

/// Returns the parts before the first version, if these are a distribution written with hyphens. A
/// second part that begins with a digit is an invalid version, not a part of a distribution.
fn hyphenated_distribution(parts: &[&str]) -> Option<DistributionName> {
    let version = parts
        .iter()
        .position(|part| part.parse::<Version>().is_ok())?;
    let is_hyphenated = version > 1 && !parts[1].starts_with(|c: char| c.is_ascii_digit());
    parts[..version]
        .join("-")
        .parse()
        .ok()
        .filter(|_| is_hyphenated)
}

/// Returns whether a filename has the extension `.whl` in any case; it may not be a [`WheelName`].
pub fn has_wheel_extension(name: &str) -> bool {
    std::path::Path::new(name)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("whl"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::error::Error as _;

    use proptest::prelude::*;

    use super::{BuildTag, Version, WheelName, WheelNameErrorKind};

    #[track_caller]
    fn name(text: &str) -> WheelName {
        text.parse().unwrap()
    }

    #[track_caller]
    fn reason(text: &str) -> String {
        text.parse::<WheelName>().unwrap_err().kind.to_string()
    }

    #[test]
    fn sharing_a_version_does_not_change_a_name() {
        let texts = [
            "a-1.0+rocm62torch2.5-py3-none-any.whl",
            "a-1.0-py3-none-any.whl",
            "a-1.0.0-py3-none-any.whl",
            "a- 1.0-py3-none-any.whl",
            "a-x-py3-none-any.whl",
        ];
        for version in ["1.0+rocm62torch2.5", "1.0", " 1.0"] {
            let version: Version = version.parse().unwrap();
            for text in texts {
                let shared = WheelName::parse_sharing(text, &version);
                assert_eq!(shared, text.parse(), "{text}");
                assert_eq!(
                    shared.map(|name| name.version().as_str().to_owned()),
                    text.parse()
                        .map(|name: WheelName| name.version().as_str().to_owned()),
                );
            }
        }
    }

    #[test]
    fn a_build_tag_and_two_platform_tags_round_trip() {
        let text = "flash_attn-2.8.3+rocm62torch2.5-1-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl";
        let name = name(text);
        assert_eq!(
            (
                name.build_tag().map(BuildTag::as_str),
                name.platform_tags().as_slice().len()
            ),
            (Some("1"), 2)
        );
        assert_eq!(name.to_string(), text);
        assert_eq!(name.expanded_tags()[1], "cp311-cp311-manylinux_2_28_x86_64");
    }

    #[test]
    fn the_requirement_is_for_the_exact_version() {
        let requirement =
            name("pytorch_triton_rocm-3.4.0+git1234.ROCM7.10.0-cp312-cp312-linux_x86_64.whl")
                .requirement();
        assert_eq!(requirement, "pytorch-triton-rocm==3.4.0+git1234.rocm7.10.0");
    }

    #[test]
    fn percent_encoding_is_decoded_in_urls_only() {
        let encoded = "flash_attn-2.8.3%2brocm62torch2.5-cp311-cp311-linux_x86_64.whl";
        assert_eq!(
            WheelName::from_percent_encoded(encoded),
            Ok(name(
                "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl"
            ))
        );
        assert_eq!(
            reason(encoded),
            "`2.8.3%2brocm62torch2.5` is not a PEP 440 version"
        );
        let decode = |text| WheelName::from_percent_encoded(text).unwrap_err();
        let error = decode("a-1%2-py3-none-any.whl");
        assert_eq!(error.kind.to_string(), "its percent-encoding is invalid");
        let error = decode("a-1%2Bb%20c-py3-none-any.whl");
        assert_eq!(
            error.to_string(),
            "`a-1%2Bb%20c-py3-none-any.whl` is not a wheel name: `1+b c` is not a PEP 440 version"
        );
    }

    #[test]
    fn a_distribution_with_a_hyphen_has_a_suggestion() {
        let expect = "in a wheel name the distribution `flash-attn` is written `flash_attn`";
        assert_eq!(
            reason("flash-attn-2.8.3-cp311-cp311-linux_x86_64.whl"),
            expect
        );
        assert_eq!(
            reason("flash-attn-2.8.3-1-cp311-cp311-linux_x86_64.whl"),
            expect
        );
        assert_eq!(reason("flash-attn-2.8.3.whl"), expect);
        assert_eq!(
            reason("Flash.Attn-rocm-2.8.3-py3-none-any.whl"),
            "in a wheel name the distribution `Flash.Attn-rocm` is written `flash_attn_rocm`"
        );
        assert!(
            reason("../flash-attn-2.8.3-py3-none-any.whl")
                .starts_with("`../flash` is not a valid distribution name: letters, digits")
        );
    }

    #[test]
    fn a_plus_that_became_a_dot_is_reported() {
        for build_tag in ["", "-1"] {
            let version = format!("2.8.3.rocm62torch2.5{build_tag}");
            assert_eq!(
                reason(&format!(
                    "flash_attn-{version}-cp311-cp311-linux_x86_64.whl"
                )),
                "`2.8.3.rocm62torch2.5` is not a version: the `+` of `2.8.3+rocm62torch2.5` became \
                 a dot"
            );
        }
    }

    #[test]
    fn a_plus_is_missed_only_before_labels_of_builds() {
        let original = |version: &str| {
            let text = format!("a-{version}-py3-none-any.whl");
            match text.parse::<WheelName>().unwrap_err().kind {
                WheelNameErrorKind::ReplacedPlus { original, .. } => original,
                WheelNameErrorKind::Version(_) => "invalid".to_owned(),
                other => panic!("{other}"),
            }
        };
        for (version, expect) in [
            ("2.5.1.ROCm6.2", "2.5.1+ROCm6.2"),
            ("2.7.4.post1.rocm6.2", "2.7.4.post1+rocm6.2"),
            ("2.10.0a0.devrocm7.10.0", "2.10.0a0+devrocm7.10.0"),
            ("2.5.1.cu124", "2.5.1+cu124"),
            ("2.5.1.cpu", "2.5.1+cpu"),
            ("2.5.1.cpu.cxx11.abi", "2.5.1+cpu.cxx11.abi"),
            ("0.1.git1a2b3c4", "0.1+git1a2b3c4"),
            ("0.1.torch2.9", "0.1+torch2.9"),
            ("0.1.gfx942", "0.1+gfx942"),
            ("2.x", "invalid"),
            ("2.5.1.final", "invalid"),
            ("2.5.1.custom", "invalid"),
            ("2.5.1.github", "invalid"),
            ("2.5.1.rocm", "invalid"),
            ("2..rocm6.2", "invalid"),
        ] {
            assert_eq!(original(version), expect, "{version}");
        }
    }

    /// A numeric build tag is not taken for the version of a distribution with hyphens.
    #[test]
    fn an_invalid_version_before_a_build_tag_is_reported() {
        for version in ["2..8", "2x", "2.8.3+", "2.x"] {
            assert_eq!(
                reason(&format!("foo-{version}-1-py3-none-any.whl")),
                format!("`{version}` is not a PEP 440 version")
            );
        }
        assert_eq!(
            reason("foo-2x-1-1-py3-none-any.whl"),
            "it has 7 parts between hyphens, not 5 or 6"
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
            "`x1` is not a build tag: a digit, followed by letters, digits, `_` and `.`"
        );
        assert_eq!(
            reason("foo-1.2.3-1/../../target-py3-none-any.whl"),
            "`1/../../target` is not a build tag: a digit, followed by letters, digits, `_` and `.`"
        );
        assert_eq!(
            reason("a-one-py3-none-any.whl"),
            "`one` is not a PEP 440 version"
        );
        assert_eq!(
            reason("../a-1-py3-none-any.whl"),
            "`../a` is not a valid distribution name: letters, digits, `-`, `_`, `.`, starting and \
             ending with a letter or digit"
        );
        assert!(reason("a-1-py3--any.whl").starts_with("`` is not a set of wheel tags"));
    }

    #[test]
    fn errors_have_the_text_and_a_typed_reason() {
        let error = "torch-2.5.rocm62-py3-none-any.whl".parse::<WheelName>();
        let error = error.unwrap_err();
        assert_eq!(error.text, "torch-2.5.rocm62-py3-none-any.whl");
        assert_eq!(
            error.kind,
            WheelNameErrorKind::ReplacedPlus {
                version: "2.5.rocm62".to_owned(),
                original: "2.5+rocm62".to_owned(),
            }
        );
    }

    #[test]
    fn the_source_of_an_error_is_its_cause() {
        let source = |text: &str| {
            let error = text.parse::<WheelName>().unwrap_err();
            error.source().map(ToString::to_string)
        };
        let version = "1.x".parse::<Version>().unwrap_err();
        assert_eq!(source("a-1.x-py3-none-any.whl"), Some(version.to_string()));
        for text in [
            "../a-1-py3-none-any.whl",
            "a.whl",
            "a-1-x1-py3-none-any.whl",
            "a-1-py3--any.whl",
            "a-1.rocm6.2-py3-none-any.whl",
        ] {
            assert_eq!(source(text), None, "{text}");
        }
    }

    #[test]
    fn each_part_can_be_replaced() {
        let built = name("a-1-1-cp312-cp312-linux_x86_64.whl");
        let changed = built
            .clone()
            .with_version("2+b".parse().unwrap())
            .with_build_tag("3".parse().unwrap())
            .with_python_tags("cp311.cp312".parse().unwrap())
            .with_abi_tags("abi3".parse().unwrap())
            .with_platform_tags("any".parse().unwrap());
        assert_eq!(changed.to_string(), "a-2+b-3-cp311.cp312-abi3-any.whl");
        assert_eq!(changed.compressed_tag(), "cp311.cp312-abi3-any");
        assert_eq!(changed.dist_info(), "a-2+b.dist-info");
        assert_eq!(
            built.without_build_tag().to_string(),
            "a-1-cp312-cp312-linux_x86_64.whl"
        );
    }

    #[test]
    fn a_version_with_hyphens_is_normalized() {
        let built = name("a-1-py3-none-any.whl");
        for (version, printed) in [
            ("1.0-1", "a-1.0.post1-py3-none-any.whl"),
            ("1+ubuntu-1", "a-1+ubuntu.1-py3-none-any.whl"),
            ("1.0-RC-1", "a-1.0rc1-py3-none-any.whl"),
            ("1.0.RC1", "a-1.0.RC1-py3-none-any.whl"),
        ] {
            let version: Version = version.parse().unwrap();
            let renamed = built.clone().with_version(version.clone());
            assert_eq!(renamed.to_string(), printed);
            assert_eq!(name(printed), renamed);
            assert_eq!((renamed.version(), renamed.build_tag()), (&version, None));
            let made = WheelName::new(
                &"A.b".parse().unwrap(),
                version,
                "cp312".parse().unwrap(),
                "abi3".parse().unwrap(),
                "linux_x86_64".parse().unwrap(),
            );
            assert_eq!(
                made.to_string(),
                printed
                    .replace("a-", "a_b-")
                    .replace("py3-none-any", "cp312-abi3-linux_x86_64")
            );
        }
    }

    #[test]
    fn equal_names_have_equal_hashes() {
        let names = |texts: &[&str]| texts.iter().map(|text| name(text)).collect::<HashSet<_>>();
        assert_eq!(
            names(&[
                "a-2.5-1-cp312-cp312-linux_x86_64.whl",
                "a-2.5.0-1-CP312-cp312-linux_x86_64.whl",
            ])
            .len(),
            1
        );
        assert_eq!(
            names(&[
                "a-2.5-1-cp312-cp312-linux_x86_64.whl",
                "a-2.5-01-cp312-cp312-linux_x86_64.whl",
                "A-2.5-1-cp312-cp312-linux_x86_64.whl",
            ])
            .len(),
            3
        );
    }

    #[test]
    fn a_wheel_is_for_any_platform_or_for_windows_if_all_tags_are() {
        for (platforms, is_independent, is_windows) in [
            ("any", true, false),
            ("ANY", true, false),
            ("any.linux_x86_64", false, false),
            ("linux_x86_64", false, false),
            ("win_amd64", false, true),
            ("win32.WIN_ARM64", false, true),
            ("linux_x86_64.win_amd64", false, false),
            ("any.win_amd64", false, false),
            ("cygwin_x86_64", false, false),
        ] {
            let name = name(&format!("a-1-py3-none-{platforms}.whl"));
            assert_eq!(
                (name.is_platform_independent(), name.is_windows_only()),
                (is_independent, is_windows),
                "{platforms}"
            );
        }
    }

    #[test]
    fn a_name_that_no_file_can_have_is_refused() {
        let long = |bytes: usize| format!("a-1-py3-none-{}.whl", "a".repeat(bytes - 17));
        assert_eq!(name(&long(255)).to_string(), long(255));
        assert_eq!(
            reason(&long(256)),
            "it has 256 bytes, but a filename has at most 255"
        );
        let sets = ["a."; 3].map(|tag| tag.repeat(1 << 20) + "a").join("-");
        assert!(reason(&format!("a-1-{sets}.whl")).starts_with("it has 629"));
    }

    #[test]
    fn whitespace_around_the_version_is_refused() {
        assert_eq!(
            reason("a-1+b\r-py3-none-any.whl"),
            "`1+b\r` is not a PEP 440 version"
        );
        assert_eq!(
            reason("a- 1-py3-none-any.whl"),
            "` 1` is not a PEP 440 version"
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
    fn the_normal_form_folds_names_versions_and_tags() {
        let odd = name("Flash.Attn-2.8.3.POST1+ROCm6.2_x-1A-PY3.py2-None-linux_x86_64.any.whl");
        assert_eq!(
            odd.normalized().to_string(),
            "flash_attn-2.8.3.post1+rocm6.2.x-1A-py2.py3-none-any.linux_x86_64.whl"
        );
        let zeros = name("a-1.0-py3-none-any.whl").normalized();
        assert_eq!(zeros, name("a-1-py3-none-any.whl").normalized());
        assert_eq!(zeros.to_string(), "a-1.0-py3-none-any.whl");
    }

    proptest! {
        #[test]
        fn a_name_round_trips(
            text in "[A-Za-z][A-Za-z0-9_]{0,8}[A-Za-z0-9]-[0-9]\\.[0-9]{1,2}(\\.(post|POST)1)?(\\+[A-Za-z0-9]{1,9}([._][a-z0-9]{1,3})?)?(-[0-9][A-Za-z]?)?-(cp3[0-9]|CP312|py3|py3\\.PY2)-(abi3|none|None|cp313t)-(any|ANY|linux_x86_64(\\.manylinux_2_28_x86_64)?)\\.whl"
        ) {
            let name: WheelName = text.parse().unwrap();
            prop_assert_eq!(name.to_string(), text.clone());
            prop_assert_eq!(WheelName::from_percent_encoded(&text.replace('+', "%2B")).unwrap(), name.clone());
            let normal = name.normalized();
            prop_assert_eq!(&normal.normalized(), &normal);
            prop_assert_eq!(&normal.to_string().parse::<WheelName>().unwrap(), &normal);
            let is_folded = |text: String| text == text.to_lowercase();
            prop_assert!(is_folded(normal.without_build_tag().to_string()));
        }

        #[test]
        fn a_name_with_another_version_round_trips(
            version in "[vV]?[0-9](\\.[0-9]{1,2})?([-_.]?(a|RC|alpha|preview)[-_.]?[0-9])?(-[0-9]|[-_.]?(post|REV)[-_.]?[0-9])?([-_.]?dev[-_.]?[0-9])?(\\+[A-Za-z0-9]{1,3}([-_.][a-z0-9]{1,3}){0,2})?"
        ) {
            let version: Version = version.parse().unwrap();
            let built = name("a-1-py3-none-any.whl").with_version(version.clone());
            let read = name(&built.to_string());
            prop_assert_eq!(&read, &built);
            prop_assert_eq!((read.version(), read.build_tag()), (&version, None));
        }

        #[test]
        fn parsing_a_name_never_panics(text in "[A-Za-z0-9%.+_/ -]{0,40}(\\.whl)?") {
            let _ = text.parse::<WheelName>();
            let _ = WheelName::from_percent_encoded(&text);
        }
    }
}

//! `rock-manifest.json`: the content of a release, for programs.

use serde::{Deserialize, Serialize};

use rock_compat::RuntimeRequirements;
use rock_diagnostic::render::escape_line;
use rock_names::{
    Digest, DistributionName, GfxTarget, LocalLabel, Version, WheelName, is_file_name,
};
use rock_plan::config::syntax::{is_label, unprintable};

/// The name of the manifest file.
pub const MANIFEST: &str = "rock-manifest.json";

/// The largest manifest that is read. A row has about 600 bytes, so this is a manifest of 100,000
/// files.
pub const LARGEST_MANIFEST_BYTES: u64 = 64 << 20;

/// The version of the format. Readers reject all others.
pub(super) const VERSION: u32 = 1;

/// The content of a release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseManifest {
    /// The version of the format.
    version: u32,
    /// The tag of the release, if it has one.
    pub tag: Option<String>,
    /// The digest of the last plan that was published against, `sha256:…`.
    pub plan: Option<String>,
    /// The files, in the order of the index.
    pub files: Vec<ManifestFile>,
}

/// A file of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    pub name: String,
    /// The SHA-256 digest, in hexadecimal.
    #[serde(with = "hex")]
    pub sha256: Digest,
    pub size_bytes: u64,
    /// The normalized name of the project.
    pub distribution: String,
    /// The public version.
    pub version: String,
    /// The local version label, after `+`.
    pub label: Option<String>,
    /// The accelerator in the label.
    pub accelerator: Option<AcceleratorVersion>,
    /// The torch version in the label.
    pub torch: Option<String>,
    /// The commit in the label.
    pub git: Option<String>,
    /// The backend in the label.
    pub backend: Option<String>,
    /// The build tag.
    pub build: Option<String>,
    /// Python tags; empty for a source distribution.
    pub python: Vec<String>,
    /// ABI tags.
    pub abi: Vec<String>,
    /// Platform tags.
    pub platform: Vec<String>,
    /// Python versions the file is for: those of the plan's job, else those in its tags.
    pub covers: Vec<String>,
    /// The gfx targets that it was compiled for, if known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gfx: Vec<String>,
    /// The source of `gfx`; absent if unknown, and in releases from before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gfx_from: Option<GfxOrigin>,
    /// The major versions of ROCm of which its libraries need one; absent if they need none, if
    /// they were not read, and in releases from before this field.
    ///
    /// Only ELF libraries are read, so wheels without them, such as those for Windows, have none.
    /// `Requires-Dist` is not a source: an installer installs the packages of ROCm that it names,
    /// whatever the ROCm of the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs_rocm: Vec<u32>,
    /// The torch whose symbols its libraries need, if they were read. It is not in manifest files.
    #[serde(skip)]
    pub needs_torch: Option<NeededTorch>,
    /// Its needs at run time.
    #[serde(default, skip_serializing_if = "RuntimeRequirements::is_empty")]
    pub run_time: RuntimeRequirements,
    /// `Requires-Python`.
    pub requires_python: Option<String>,
    /// The SHA-256 digest of its METADATA, in hexadecimal.
    #[serde(with = "hex::optional")]
    pub metadata_sha256: Option<Digest>,
    /// The directory of the index that lists it; empty if none does.
    pub index: String,
}

/// The torch versions whose symbols the libraries of a wheel need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededTorch {
    /// The minor versions that have all of the symbols, in words: `2.8 to 2.15`.
    pub versions: String,
    /// The known minor versions that lack some of the symbols.
    pub lacking: Vec<String>,
}

/// The source of the gfx targets of a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GfxOrigin {
    /// The code in the wheel.
    Wheel,
    /// The plan that it was built from.
    Plan,
}

/// An accelerator and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceleratorVersion {
    /// `rocm` or `cuda`.
    pub name: String,
    /// The version as the label has it.
    pub version: String,
}

/// The error for a text that is not a valid manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The text is not the JSON of a manifest.
    #[error("it is not a manifest: {0}")]
    Malformed(String),
    /// A manifest of another version.
    #[error("it has version {0}, but this program reads version {VERSION}")]
    OtherVersion(u32),
    /// A field with an invalid value.
    #[error("`{field}` of `{file}` is `{text}`, which is not {what}")]
    BadField {
        /// The file; empty for the manifest itself.
        file: String,
        /// The name of the field.
        field: &'static str,
        /// The value.
        text: String,
        /// The expected kind of value.
        what: &'static str,
    },
    /// A filename that is not in the directory of the release.
    #[error("it names the file `{0}`, which is not in the directory of the release")]
    BadName(String),
}

impl ReleaseManifest {
    /// Creates a manifest of these files.
    pub fn new(tag: Option<String>, plan: Option<String>, files: Vec<ManifestFile>) -> Self {
        Self {
            version: VERSION,
            tag,
            plan,
            files,
        }
    }

    /// Returns the text of the manifest file.
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("a struct of text and numbers serialises");
        text.push('\n');
        text
    }

    /// Parses the text of a manifest file.
    ///
    /// # Errors
    /// If it is not a manifest of this version, or if a field is invalid.
    pub fn from_json(text: &str) -> Result<Self, ManifestError> {
        let manifest: Self =
            serde_json::from_str(text).map_err(|e| ManifestError::Malformed(e.to_string()))?;
        if manifest.version != VERSION {
            return Err(ManifestError::OtherVersion(manifest.version));
        }
        manifest.check().map(|()| manifest)
    }

    /// Checks every field: each can become a file, a link, or text on a page.
    fn check(&self) -> Result<(), ManifestError> {
        let Self {
            version: _,
            tag,
            plan,
            files,
        } = self;
        check_release(tag.as_deref(), plan.as_deref())?;
        let before = std::iter::once(None).chain(files.iter().map(Some));
        files
            .iter()
            .zip(before)
            .try_for_each(|(file, before)| file.check(before))
    }

    /// Returns the file with this name.
    pub fn file(&self, name: &str) -> Option<&ManifestFile> {
        self.files.iter().find(|file| file.name == name)
    }
}

/// Checks the fields of a release.
pub(super) fn check_release(tag: Option<&str>, plan: Option<&str>) -> Result<(), ManifestError> {
    let fields = FieldChecker { file: "" };
    fields.optional("tag", tag, is_word, "a tag")?;
    let is_digest = |text: &str| text.parse::<Digest>().is_ok();
    fields.optional("plan", plan, is_digest, "a digest")
}

impl ManifestFile {
    /// Checks every field. Fields that are equal in the row before, which was checked, need no
    /// second check if that takes long.
    pub(super) fn check(&self, before: Option<&Self>) -> Result<(), ManifestError> {
        let Self {
            name,
            sha256: _,
            size_bytes: _,
            distribution,
            version,
            label,
            accelerator,
            torch,
            git,
            backend,
            build,
            python,
            abi,
            platform,
            covers,
            gfx,
            gfx_from: _,
            needs_rocm: _,
            needs_torch: _,
            run_time,
            requires_python,
            metadata_sha256: _,
            index,
        } = self;
        let is_name =
            is_file_name(name) && is_word(name) && !name.contains('\\') && !name.starts_with('.');
        if !is_name || name.len() > WheelName::MAX_BYTES {
            return Err(ManifestError::BadName(escape_line(name)));
        }
        let fields = FieldChecker { file: name };
        let is_checked = |text: &str, field: fn(&Self) -> Option<&str>| {
            before
                .and_then(field)
                .is_some_and(|checked| checked == text)
        };
        let is_version = |text: &str| text.parse::<Version>().is_ok();
        let is_tag = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        // A family such as `gfx120X-all` represents the targets that it had when the wheel was
        // built.
        let is_target = |text: &str| text.parse::<GfxTarget>().is_ok() || is_label(text);
        fields.needed(
            "distribution",
            distribution,
            |text| {
                is_checked(text, |file| Some(&file.distribution))
                    || DistributionName::is_valid(text)
            },
            "a project name",
        )?;
        fields.needed(
            "version",
            version,
            |text| is_checked(text, |file| Some(&file.version)) || is_version(text),
            "a version",
        )?;
        fields.optional(
            "label",
            label.as_deref(),
            |text| {
                is_checked(text, |file| file.label.as_deref()) || text.parse::<LocalLabel>().is_ok()
            },
            "a label",
        )?;
        if let Some(AcceleratorVersion { name, version }) = accelerator {
            fields.needed("accelerator", name, is_tag, "an accelerator")?;
            fields.needed(
                "accelerator",
                version,
                is_label,
                "the version of an accelerator",
            )?;
        }
        fields.optional(
            "torch",
            torch.as_deref(),
            |text| is_checked(text, |file| file.torch.as_deref()) || is_version(text),
            "a version",
        )?;
        fields.optional("git", git.as_deref(), is_label, "a commit")?;
        fields.optional(
            "backend",
            backend.as_deref(),
            is_label,
            "the name of a backend",
        )?;
        fields.optional("build", build.as_deref(), is_label, "a build tag")?;
        for (field, tags) in [("python", python), ("abi", abi), ("platform", platform)] {
            tags.iter()
                .try_for_each(|tag| fields.needed(field, tag, is_tag, "a wheel tag"))?;
        }
        covers.iter().try_for_each(|version| {
            fields.needed("covers", version, is_label, "a Python version")
        })?;
        gfx.iter().try_for_each(|target| {
            fields.needed(
                "gfx",
                target,
                is_target,
                "a gfx target or a family of targets",
            )
        })?;
        if let Some((text, _)) = run_time.invalid_text() {
            fields.needed("run_time", text, |_| false, "a run-time requirement")?;
        }
        fields.optional(
            "requires_python",
            requires_python.as_deref(),
            is_line,
            "a single line of text",
        )?;
        fields.needed(
            "index",
            index,
            |text| text.is_empty() || is_label(text),
            "a directory of the index",
        )
    }
}

/// Checks the fields of one file.
#[derive(Clone, Copy)]
struct FieldChecker<'a> {
    file: &'a str,
}

impl FieldChecker<'_> {
    fn needed(
        self,
        field: &'static str,
        text: &str,
        fits: impl Fn(&str) -> bool,
        what: &'static str,
    ) -> Result<(), ManifestError> {
        if fits(text) {
            return Ok(());
        }
        let file = if self.file.is_empty() {
            MANIFEST
        } else {
            self.file
        };
        Err(ManifestError::BadField {
            file: file.to_owned(),
            field,
            text: escape_line(text),
            what,
        })
    }

    fn optional(
        self,
        field: &'static str,
        text: Option<&str>,
        fits: impl Fn(&str) -> bool,
        what: &'static str,
    ) -> Result<(), ManifestError> {
        text.map_or(Ok(()), |text| self.needed(field, text, fits, what))
    }
}

fn is_line(text: &str) -> bool {
    unprintable(text).is_none()
}

fn is_word(text: &str) -> bool {
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return !text.starts_with('-');
    }
    !text.starts_with('-') && is_line(text) && !text.contains(char::is_whitespace)
}

/// Digests as 64 hexadecimal digits.
mod hex {
    use std::fmt;

    use serde::{Deserializer, Serializer};

    use rock_names::Digest;

    pub(super) fn serialize<S: Serializer>(digest: &Digest, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&digest.to_hex())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Digest, D::Error> {
        from.deserialize_str(HexDigest)
    }

    struct HexDigest;

    impl serde::de::Visitor<'_> for HexDigest {
        type Value = Digest;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("64 hex digits")
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Digest, E> {
            text.parse().map_err(E::custom)
        }
    }

    /// Digests that may be unknown.
    pub(super) mod optional {
        use serde::{Deserialize, Deserializer, Serializer};

        use rock_names::Digest;

        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Text(#[serde(deserialize_with = "super::deserialize")] Digest);

        #[expect(clippy::ref_option, reason = "serde hands the field over so")]
        pub(in super::super) fn serialize<S: Serializer>(
            digest: &Option<Digest>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            match digest {
                Some(digest) => super::serialize(digest, to),
                None => to.serialize_none(),
            }
        }

        pub(in super::super) fn deserialize<'d, D: Deserializer<'d>>(
            from: D,
        ) -> Result<Option<Digest>, D::Error> {
            Ok(Option::<Text>::deserialize(from)?.map(|text| text.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ManifestError, ManifestFile, ReleaseManifest, RuntimeRequirements};

    fn file(name: &str) -> ManifestFile {
        ManifestFile {
            name: name.into(),
            sha256: rock_names::Digest::new([0xab; 32]),
            size_bytes: 7,
            distribution: "flash-attn".into(),
            version: "2.8.3".into(),
            label: Some("rocm62torch2.5".into()),
            accelerator: Some(super::AcceleratorVersion {
                name: "rocm".into(),
                version: "6.2".into(),
            }),
            torch: Some("2.5".into()),
            git: None,
            backend: None,
            build: None,
            python: vec!["cp311".into()],
            abi: vec!["cp311".into()],
            platform: vec!["linux_x86_64".into()],
            covers: vec!["3.11".into()],
            gfx: Vec::new(),
            gfx_from: None,
            needs_rocm: Vec::new(),
            needs_torch: None,
            run_time: RuntimeRequirements::default(),
            requires_python: Some(">=3.9".into()),
            metadata_sha256: None,
            index: "rocm6.2-torch2.5".into(),
        }
    }

    #[test]
    fn a_manifest_written_and_read_is_equal() {
        let manifest = ReleaseManifest::new(Some("v1".into()), None, vec![file("a.whl")]);
        assert_eq!(
            ReleaseManifest::from_json(&manifest.to_json()).unwrap(),
            manifest
        );
    }

    #[test]
    fn gfx_targets_are_in_the_manifest_if_they_are_known() {
        let known = ManifestFile {
            gfx: vec!["gfx942".into()],
            ..file("a.whl")
        };
        let manifest = ReleaseManifest::new(None, None, vec![known]);
        assert_eq!(
            ReleaseManifest::from_json(&manifest.to_json()).unwrap(),
            manifest
        );
        assert!(
            !ReleaseManifest::new(None, None, vec![file("a.whl")])
                .to_json()
                .contains("gfx")
        );
    }

    #[test]
    fn a_manifest_cannot_point_out_of_its_directory() {
        for name in ["../x.whl", "/etc/passwd", ".hidden", "a\\b"] {
            let text = ReleaseManifest::new(None, None, vec![file(name)]).to_json();
            assert!(
                matches!(
                    ReleaseManifest::from_json(&text),
                    Err(ManifestError::BadName(_))
                ),
                "{name}"
            );
        }
    }

    #[test]
    fn every_field_of_a_manifest_is_checked() {
        let whole = serde_json::to_value(ReleaseManifest::new(
            Some("v1".into()),
            None,
            vec![file("a.whl")],
        ))
        .unwrap();
        for (field, value) in [
            ("/tag", "v1 --force"),
            ("/plan", "sha256:00"),
            ("/files/0/name", "a\nb.whl"),
            ("/files/0/name", "-x.whl"),
            ("/files/0/distribution", "a/b"),
            ("/files/0/version", "1;id"),
            ("/files/0/label", "$(id)"),
            ("/files/0/accelerator/name", "rocm](javascript:x"),
            ("/files/0/accelerator/version", "<b>"),
            ("/files/0/torch", "x"),
            ("/files/0/python/0", "cp311\u{1b}[2J"),
            ("/files/0/abi/0", ""),
            ("/files/0/platform/0", "a b"),
            ("/files/0/covers/0", "`id`"),
            ("/files/0/requires_python", ">=3\n.9"),
            ("/files/0/index", "../x"),
        ] {
            let mut hostile = whole.clone();
            *hostile.pointer_mut(field).unwrap() = value.into();
            let result = ReleaseManifest::from_json(&hostile.to_string());
            let is_refused = matches!(
                result,
                Err(ManifestError::BadField { .. } | ManifestError::BadName(_))
            );
            assert!(is_refused, "{field} {value:?}: {result:?}");
        }
        let error = ReleaseManifest::from_json(&whole.to_string().replace("flash-attn", "a b"))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "`distribution` of `a.whl` is `a b`, which is not a project name"
        );
    }

    #[test]
    fn an_invalid_digest_is_reported_with_its_line() {
        let known = ManifestFile {
            metadata_sha256: Some(rock_names::Digest::new([0xcd; 32])),
            ..file("a.whl")
        };
        let text = ReleaseManifest::new(None, None, vec![known.clone()]).to_json();
        assert_eq!(ReleaseManifest::from_json(&text).unwrap().files, [known]);
        for whole in ["ab".repeat(32), "cd".repeat(32)] {
            let message = ReleaseManifest::from_json(&text.replace(&whole, &whole[2..]))
                .unwrap_err()
                .to_string();
            assert!(
                message.contains("is not a digest") && message.contains(" line "),
                "{message}"
            );
        }
    }

    #[test]
    fn another_version_is_refused_and_named() {
        let text = ReleaseManifest::new(None, None, vec![])
            .to_json()
            .replace("\"version\": 1", "\"version\": 2");
        assert_eq!(
            ReleaseManifest::from_json(&text),
            Err(ManifestError::OtherVersion(2))
        );
        assert!(matches!(
            ReleaseManifest::from_json("[]"),
            Err(ManifestError::Malformed(_))
        ));
    }
}

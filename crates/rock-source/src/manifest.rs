//! Manifests: the commits of all projects of a build in one JSON file.
//!
//! Input: a JSON text, or the commits of source trees. Output: entries in build order, or the JSON
//! text.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::related::is_commit;
use crate::codes::sources as codes;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::Version;

/// The version of the schema (`schema_version` in `generate_pytorch_manifest.py` of
/// `ROCm/TheRock`).
const SCHEMA: u64 = 1;

/// The source commits of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceManifest {
    /// The entries, in build order.
    pub entries: Vec<ManifestEntry>,
}

/// The entry of one project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ManifestEntry {
    /// The key of the project: its directory, `pytorch_audio`.
    pub key: String,
    /// The URL of the repository.
    pub repo: String,
    /// The commit, 7 to 40 hex digits.
    pub commit: String,
    /// The branch or tag that the commit was taken from.
    pub branch: Option<String>,
    /// The version of the project's wheel.
    pub version: Option<String>,
    /// The patch set that is applied to the project.
    pub patchset: Option<String>,
    /// The patches of that set: path below its directory → SHA-256.
    pub patches: BTreeMap<String, String>,
}

impl SourceManifest {
    /// Parses a manifest. Keys that are not known projects are ignored.
    ///
    /// # Errors
    /// Every problem of the manifest.
    pub fn parse(text: &str, name: &str, compat: &Compat) -> Result<Self, Vec<Diagnostic>> {
        let fault = |message: String| {
            Diagnostic::new(&codes::BAD_SOURCE_MANIFEST, message)
                .at(Location::File(name.into()), "")
                .help("`rock-matrix source lock` writes one")
        };
        let object = match serde_json::from_str(text) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Err(vec![fault(format!("`{name}` is not a JSON object"))]),
            Err(error) => return Err(vec![fault(format!("`{name}` is not JSON: {error}"))]),
        };
        if let Some(schema) = object
            .get("schema_version")
            .filter(|schema| schema.as_u64() != Some(SCHEMA))
        {
            return Err(vec![fault(format!(
                "`schema_version` is {schema}, and {SCHEMA} is known"
            ))]);
        }
        let mut faults = Vec::new();
        let mut entries = Vec::new();
        for key in keys(compat) {
            let Some(value) = object.get(key) else {
                continue;
            };
            match entry(key, value) {
                Ok(entry) => entries.push(entry),
                Err(message) => faults.push(fault(message)),
            }
        }
        if entries.is_empty() && faults.is_empty() {
            faults.push(fault(format!(
                "`{name}` has none of {}",
                keys(compat).join(", ")
            )));
        }
        if faults.is_empty() {
            Ok(Self { entries })
        } else {
            Err(faults)
        }
    }

    /// Returns the JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a map of strings can be serialized") + "\n"
    }

    /// Returns the entry of a project.
    pub fn entry(&self, key: &str) -> Option<&ManifestEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Checks that torch was taken from this ref.
    ///
    /// # Errors
    /// When torch was taken from another ref, or the manifest does not name one.
    pub fn expect_torch(
        &self,
        reference: &str,
        name: &str,
        compat: &Compat,
    ) -> Result<(), Diagnostic> {
        let torch = keys(compat).first().and_then(|key| self.entry(key));
        let branch = torch.and_then(|entry| entry.branch.as_deref());
        if branch == Some(reference) {
            return Ok(());
        }
        let has = branch.map_or_else(
            || "does not name a ref of torch".to_owned(),
            |branch| format!("has torch of `{branch}`"),
        );
        Err(Diagnostic::new(
            &codes::OTHER_TORCH,
            format!("`{name}` {has}, but `{reference}` was expected"),
        )
        .at(Location::File(name.into()), "")
        .help("use the manifest of that ref, or create one with `rock-matrix source lock`"))
    }

    /// Returns a warning for each project whose version belongs to another torch minor.
    pub fn check_companions(&self, compat: &Compat) -> Vec<Diagnostic> {
        let mismatches = self.mismatched_companions(compat).into_iter();
        mismatches
            .map(|(project, version, minor)| {
                let message = format!("{project} is {version}, but this torch needs {minor}");
                Diagnostic::new(&codes::STRANGE_COMPANION, message).help(
                    "check out the ref that fits this torch, or ignore this if it is on purpose",
                )
            })
            .collect()
    }

    /// Returns the projects whose version belongs to another torch minor: the project, its version,
    /// and the expected minor.
    fn mismatched_companions<'a>(&'a self, compat: &'a Compat) -> Vec<(&'a str, &'a str, &'a str)> {
        let minor_of = |key: &str| -> Option<String> {
            Some(
                self.entry(key)?
                    .version
                    .as_deref()?
                    .parse::<Version>()
                    .ok()?
                    .minor(),
            )
        };
        let torch = keys(compat).first().and_then(|key| minor_of(key));
        let row = compat
            .source_tables()
            .torch_companions
            .iter()
            .find(|row| Some(&row.torch) == torch.as_ref());
        let companions = row.into_iter().flat_map(|row| &row.companions);
        companions
            .filter_map(|(project, minor)| {
                let of = compat
                    .source_tables()
                    .projects
                    .iter()
                    .find(|row| row.project == *project)?;
                let entry = self.entry(&of.folder)?;
                (minor_of(&of.folder)? != *minor).then_some((
                    project.as_str(),
                    entry.version.as_deref()?,
                    minor.as_str(),
                ))
            })
            .collect()
    }
}

/// Returns the filename of the manifest for a platform and a ref of torch
/// (`generate_pytorch_manifest.py` of `ROCm/TheRock`).
pub fn file_name(platform: &str, reference: &str) -> String {
    format!(
        "therock-manifest_torch_{platform}_{}.json",
        reference.replace('/', "-")
    )
}

/// Returns the keys of all projects, in build order.
fn keys(compat: &Compat) -> Vec<&str> {
    let mut keys: Vec<&str> = compat
        .source_tables()
        .projects
        .iter()
        .map(|row| row.folder.as_str())
        .collect();
    keys.dedup();
    keys
}

fn entry(key: &str, value: &Value) -> Result<ManifestEntry, String> {
    let Value::Object(object) = value else {
        return Err(format!("`{key}` is not an object"));
    };
    let text = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}.{name}` is not a string")),
    };
    let needed = |name: &str| text(name)?.ok_or_else(|| format!("`{key}.{name}` is missing"));
    let (repo, commit) = (needed("repo")?, needed("commit")?);
    if !is_commit(&commit) {
        return Err(format!(
            "`{key}.commit` is `{commit}`, which is not a commit of 7 to 40 hex digits"
        ));
    }
    // Passed to git as an argument.
    if repo.is_empty() || repo.starts_with('-') || repo.contains(char::is_control) {
        return Err(format!(
            "`{key}.repo` is `{repo}`, which is not the address of a repository"
        ));
    }
    let mut patches = BTreeMap::new();
    for patch in object
        .get("patches")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let part = |name: &str| patch.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(path), Some(sum)) = (part("path"), part("sha256")) else {
            return Err(format!(
                "`{key}.patches` has an item without `path` or `sha256`"
            ));
        };
        patches.insert(path, sum);
    }
    let (branch, version, patchset) = (text("branch")?, text("version")?, text("patchset")?);
    Ok(ManifestEntry {
        key: key.to_owned(),
        repo,
        commit,
        branch,
        version,
        patchset,
        patches,
    })
}

impl Serialize for SourceManifest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &SCHEMA)?;
        for entry in &self.entries {
            map.serialize_entry(&entry.key, &ManifestDocument::of(entry))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct ManifestDocument<'a> {
    repo: &'a str,
    commit: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patchset: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    patches: Vec<WrittenPatch<'a>>,
}

#[derive(Serialize)]
struct WrittenPatch<'a> {
    path: &'a str,
    sha256: &'a str,
}

impl<'a> ManifestDocument<'a> {
    fn of(entry: &'a ManifestEntry) -> Self {
        Self {
            repo: &entry.repo,
            commit: &entry.commit,
            branch: entry.branch.as_deref(),
            version: entry.version.as_deref(),
            patchset: entry.patchset.as_deref(),
            patches: entry
                .patches
                .iter()
                .map(|(path, sha256)| WrittenPatch { path, sha256 })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ManifestEntry, SourceManifest, file_name};
    use crate::codes::sources as codes;
    use rock_compat::Compat;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn parse(text: &str) -> Result<SourceManifest, Vec<String>> {
        let faults = |faults: Vec<rock_diagnostic::Diagnostic>| {
            assert!(
                faults
                    .iter()
                    .all(|fault| fault.code == &codes::BAD_SOURCE_MANIFEST)
            );
            faults.into_iter().map(|one| one.message).collect()
        };
        SourceManifest::parse(text, "m.json", &Compat::embedded()).map_err(faults)
    }

    fn torch(branch: Option<&str>, version: Option<&str>) -> ManifestEntry {
        ManifestEntry {
            key: "pytorch".into(),
            repo: "https://example.org/pytorch".into(),
            commit: COMMIT.into(),
            branch: branch.map(str::to_owned),
            version: version.map(str::to_owned),
            ..ManifestEntry::default()
        }
    }

    /// A written manifest parses to the same value.
    #[test]
    fn a_manifest_reads_back_and_its_keys_stand_in_the_order_of_a_build() {
        let audio = ManifestEntry {
            key: "pytorch_audio".into(),
            patchset: Some("main".into()),
            patches: [("audio/base/0001-x.patch".to_owned(), "ab".repeat(32))].into(),
            ..torch(None, None)
        };
        let manifest = SourceManifest {
            entries: vec![torch(Some("release/2.9"), Some("2.9.0+rocm7.2")), audio],
        };
        let text = manifest.to_json();
        assert_eq!(parse(&text).unwrap(), manifest);
        assert!(
            text.starts_with("{\n  \"schema_version\": 1,\n  \"pytorch\": {\n    \"repo\": "),
            "{text}"
        );
        assert_eq!(
            file_name("linux", "release/2.9"),
            "therock-manifest_torch_linux_release-2.9.json"
        );
    }

    /// Another schema version is refused, a missing one is read as the known one, and other keys
    /// are ignored.
    #[test]
    fn a_manifest_of_another_schema_is_refused() {
        let one = format!("{{\"repo\": \"r\", \"commit\": \"{COMMIT}\", \"later\": 1}}");
        assert!(
            parse(&format!(
                "{{\"pytorch\": {one}, \"therock\": {one}, \"note\": 3}}"
            ))
            .is_ok()
        );
        let other = parse(&format!("{{\"schema_version\": 2, \"pytorch\": {one}}}")).unwrap_err();
        assert_eq!(other, ["`schema_version` is 2, and 1 is known"]);
        let text = parse(&format!(
            "{{\"schema_version\": \"1\", \"pytorch\": {one}}}"
        ))
        .unwrap_err();
        assert_eq!(text, ["`schema_version` is \"1\", and 1 is known"]);
    }

    /// The ref of torch is compared with the expected one.
    #[test]
    fn a_manifest_of_another_torch_is_reported() {
        let compat = Compat::embedded();
        let expect = |branch: Option<&str>| {
            let manifest = SourceManifest {
                entries: vec![torch(branch, None)],
            };
            manifest
                .expect_torch("release/2.9", "m.json", &compat)
                .map_err(|fault| {
                    assert_eq!(fault.code, &codes::OTHER_TORCH);
                    fault.message
                })
        };
        assert_eq!(expect(Some("release/2.9")), Ok(()));
        assert_eq!(
            expect(Some("main")).unwrap_err(),
            "`m.json` has torch of `main`, but `release/2.9` was expected"
        );
        assert_eq!(
            expect(None).unwrap_err(),
            "`m.json` does not name a ref of torch, but `release/2.9` was expected"
        );
    }

    #[test]
    fn every_fault_of_a_manifest_is_reported() {
        let text = format!(
            "{{\"pytorch\": {{\"commit\": \"{COMMIT}\"}}, \"triton\": 3, \
             \"apex\": {{\"repo\": \"-x\", \"commit\": \"{COMMIT}\"}}, \"pytorch_audio\": {{\"repo\": \"r\", \"commit\": \"main\"}}}}"
        );
        assert_eq!(
            parse(&text).unwrap_err(),
            [
                "`pytorch.repo` is missing",
                "`triton` is not an object",
                "`pytorch_audio.commit` is `main`, which is not a commit of 7 to 40 hex digits",
                "`apex.repo` is `-x`, which is not the address of a repository",
            ]
        );
        assert_eq!(parse("[]").unwrap_err(), ["`m.json` is not a JSON object"]);
        assert!(parse("{").unwrap_err()[0].starts_with("`m.json` is not JSON: "));
        assert!(
            parse("{\"schema_version\": 1}").unwrap_err()[0]
                .starts_with("`m.json` has none of pytorch, triton")
        );
    }

    #[test]
    fn versions_that_belong_to_another_torch_are_reported() {
        let compat = Compat::embedded();
        let vision = ManifestEntry {
            key: "pytorch_vision".into(),
            ..torch(None, Some("0.27.0a0"))
        };
        let manifest = SourceManifest {
            entries: vec![torch(None, Some("2.13.0+rocm7.2")), vision.clone()],
        };
        assert_eq!(
            manifest.mismatched_companions(&compat),
            [("vision", "0.27.0a0", "0.28")]
        );
        let fitting = SourceManifest {
            entries: vec![torch(None, Some("2.12.1")), vision],
        };
        assert_eq!(fitting.mismatched_companions(&compat), []);
    }
}

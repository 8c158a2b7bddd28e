//! Every pin of a torch checkout, and the AOTriton downloads that are available for it, as the
//! document of `source pins`.

use std::path::{Path, PathBuf};

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, Location, Sink, SourceText};
use rock_names::{RocmVersion, Version};
use rock_sys::Environment;
use serde::Serialize;

use crate::codes::sources as codes;
use crate::git_query::git_line;
use crate::pins::{
    self, AotritonBuild, AotritonCopy, AotritonImages, AotritonMode, ArchiveDigest, LocalCopies,
    PinnedAotriton, PinnedCommit, TorchAotriton,
};
use crate::related::{RelatedCommits, RelatedRow, RowStrictness};
use crate::selection::{no_torch, read_pin_files};

/// The file with the version of torch.
const VERSION_FILE: &str = "version.txt";

/// Options of [`PinReport::read`].
#[derive(Debug, Clone)]
pub struct PinReportOptions {
    /// The torch checkout.
    pub torch_dir: PathBuf,
    /// The ROCm version to select the archive for.
    pub rocm: Option<RocmVersion>,
    /// The gfx targets to list images for; empty for all images.
    pub gfx_targets: Vec<String>,
    /// The CPU architecture in the names of archives, `x86_64`.
    pub cpu: String,
    /// Whether the default commit in the table `pins` is used if the checkout pins none.
    pub uses_default: bool,
    /// An AOTriton checkout to compare with the pin and to search for a build.
    pub aotriton_dir: Option<PathBuf>,
    /// A directory of Python packages to search for an installed AOTriton.
    pub site_packages: Option<PathBuf>,
    /// The treatment of invalid rows of `related_commits`.
    pub strictness: RowStrictness,
}

/// The pins of a torch checkout. Serialized, it is the document of `source pins --json`.
#[derive(Debug, Clone, Serialize)]
pub struct PinReport {
    version: u32,
    /// The version of torch.
    pub torch: Option<PinValue>,
    /// The pins that consist of one value.
    pub pins: Vec<PinValue>,
    /// The rows of `related_commits`.
    pub related: Vec<RelatedPin>,
    /// The pin of AOTriton.
    pub aotriton: Option<AotritonPin>,
}

/// A value, and the file and line or the rule that it comes from.
#[derive(Debug, Clone, Serialize)]
pub struct PinValue {
    /// The name of the pin, or the kind of the value.
    pub name: String,
    /// The value.
    pub value: String,
    /// The origin of the value.
    pub from: String,
}

/// A row of `related_commits`.
#[derive(Debug, Clone, Serialize)]
pub struct RelatedPin {
    /// The name of the project in the file.
    pub project: String,
    /// The operating system.
    pub os: String,
    /// The commit.
    pub commit: String,
    /// The URL of the repository.
    pub origin: String,
    /// The line number, from 1.
    pub line: usize,
}

/// The pinned AOTriton and its downloads.
#[derive(Debug, Clone, Serialize)]
pub struct AotritonPin {
    /// The name of the pin.
    #[serde(skip)]
    pub name: String,
    /// The version as written in the file.
    pub version: Option<String>,
    /// The generation of the format of the file, `A` for the oldest.
    pub generation: String,
    /// The path of the file with the pin.
    pub file: Option<String>,
    /// The pinned commit.
    pub commit: Option<String>,
    /// The origin of the commit, or the reason why it is unknown.
    pub commit_from: String,
    /// The way in which a build of torch gets AOTriton: `installed`, `from-source` or `download`.
    pub mode: &'static str,
    /// The prefix of an installed AOTriton.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The library archives.
    pub archives: Vec<AotritonArchive>,
    /// A description of the archive that torch uses for the selected ROCm.
    #[serde(rename = "taken", skip_serializing_if = "Option::is_none")]
    pub selected_archive: Option<String>,
    /// The image archives.
    pub images: Vec<AotritonArchive>,
    /// The existing copy that a build uses, if one was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<PinValue>,
    /// The versions that this torch was released with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub released_with: Vec<String>,
}

/// A downloadable archive.
#[derive(Debug, Clone, Serialize)]
pub struct AotritonArchive {
    /// The ROCm or the group of gfx targets of the archive, as written in the file.
    pub r#for: String,
    /// The filename.
    pub name: String,
    /// The SHA-256 of the archive in hex digits.
    pub sha256: Option<String>,
    /// Whether the archive exists.
    pub available: bool,
}

impl PinReportOptions {
    /// Creates the options for a torch checkout: every archive for x86-64 and every image.
    pub fn new(torch_dir: PathBuf) -> Self {
        Self {
            torch_dir,
            rocm: None,
            gfx_targets: Vec::new(),
            cpu: "x86_64".to_owned(),
            uses_default: false,
            aotriton_dir: None,
            site_packages: None,
            strictness: RowStrictness::Strict,
        }
    }
}

impl PinReport {
    /// Reads the pins of a torch checkout. Returns the report with the problems of the pins, which
    /// may contain errors: the rest of the report is valid then, too.
    ///
    /// # Errors
    /// When there is no torch checkout.
    pub fn read(
        options: &PinReportOptions,
        compat: &Compat,
        environment: &Environment,
    ) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let torch_dir = &options.torch_dir;
        if !rock_sys::is_directory(&environment.current_dir.join(torch_dir)) {
            let shown = torch_dir.display().to_string();
            return Err(no_torch(&shown)
                .help("pass the directory of a torch checkout")
                .into());
        }
        let mut sink = Sink::new();
        let rows = compat.source_tables().pins.iter();
        let rows: Vec<_> = rows.filter(|row| row.beside == "torch").collect();
        let paths = rows.iter().map(|row| row.file.as_str());
        let files = read_pin_files(
            &environment.current_dir,
            torch_dir,
            paths.chain([VERSION_FILE]),
            &mut sink,
        );
        let torch = files
            .get(VERSION_FILE)
            .map(|source| PinValue::first_line("torch", source));
        let pins = rows
            .iter()
            .filter(|row| row.format == "text")
            .filter_map(|row| Some(PinValue::first_line(&row.pin, files.get(&row.file)?)))
            .collect();
        let related = rows
            .iter()
            .find(|row| row.format == "related-commits")
            .and_then(|row| files.get(&row.file))
            .map(|source| RelatedCommits::parse(source, options.strictness, &mut sink));
        let related = related
            .iter()
            .flat_map(RelatedCommits::rows)
            .map(RelatedPin::from)
            .collect();
        let variable = |name: &str| environment.get(name).map(str::to_owned);
        let pinned = pins::read_pin(compat, pins::archive_pin_name(compat), &files, variable);
        let aotriton = pinned.map(|pinned| {
            let reader = AotritonReader {
                options,
                pinned: &if options.uses_default {
                    pinned.or_default()
                } else {
                    pinned
                },
                compat,
                environment,
            };
            reader.read(torch.as_ref(), &mut sink)
        });
        let report = Self {
            version: 1,
            torch,
            pins,
            related,
            aotriton,
        };
        Ok((report, sink.finish()))
    }

    /// Returns the report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a struct of texts and numbers serialises") + "\n"
    }
}

impl PinValue {
    /// Returns the first line of a file.
    fn first_line(name: &str, source: &SourceText) -> Self {
        let line = source.text.trim().lines().next();
        Self {
            name: name.to_owned(),
            value: line.unwrap_or_default().to_owned(),
            from: format!("{}:1", source.path),
        }
    }

    /// Returns the kind, the path and the reason of a copy of AOTriton.
    fn of_copy(copy: &AotritonCopy, pinned: &PinnedAotriton<'_>) -> Self {
        let row = pinned.row;
        let (name, value, from) = match copy {
            AotritonCopy::Installed(prefix) => {
                ("installed", prefix.as_str(), row.installed_env.clone())
            }
            AotritonCopy::Built(directory) => (
                "built",
                directory.as_str(),
                format!("{} exists", row.library),
            ),
            AotritonCopy::Module(directory) => (
                "module",
                directory.as_str(),
                format!("{} exists", row.module),
            ),
            AotritonCopy::Source => ("source", "", "there is no copy".to_owned()),
        };
        Self {
            name: name.to_owned(),
            value: value.to_owned(),
            from,
        }
    }
}

impl From<&RelatedRow> for RelatedPin {
    fn from(row: &RelatedRow) -> Self {
        Self {
            project: row.project.clone(),
            os: row.os.clone(),
            commit: row.commit.clone(),
            origin: row.origin.clone(),
            line: row.line,
        }
    }
}

impl AotritonArchive {
    fn new(made_for: &str, name: String, digest: &ArchiveDigest) -> Self {
        Self {
            r#for: made_for.to_owned(),
            name,
            sha256: if let ArchiveDigest::Digest(digest) = digest {
                Some(digest.to_hex())
            } else {
                None
            },
            available: *digest != ArchiveDigest::Absent,
        }
    }
}

/// The inputs for the description of the pinned AOTriton.
struct AotritonReader<'r> {
    options: &'r PinReportOptions,
    pinned: &'r PinnedAotriton<'r>,
    compat: &'r Compat,
    environment: &'r Environment,
}

impl AotritonReader<'_> {
    fn read(&self, torch: Option<&PinValue>, sink: &mut Sink) -> AotritonPin {
        let Self {
            options, pinned, ..
        } = self;
        let mode = pinned.mode(|name| self.environment.variables.get(name).cloned());
        let (commit, commit_from) = self.commit(&mode, sink);
        let copy = self
            .copies(&mode)
            .map(|copies| PinValue::of_copy(&pins::select_copy(&copies), pinned));
        if let (Some(directory), Some(commit)) = (&options.aotriton_dir, &commit) {
            sink.extend(self.check_commit(directory, commit));
        }
        let is_selected = |images: &&AotritonImages| {
            let targets = &options.gfx_targets;
            targets.is_empty() || targets.iter().any(|target| images.is_for(target))
        };
        let word = match mode {
            AotritonMode::Installed(_) => "installed",
            AotritonMode::FromSource => "from-source",
            AotritonMode::Download => "download",
        };
        AotritonPin {
            name: pinned.row.pin.clone(),
            version: pinned.version.clone(),
            generation: pinned.row.generation.clone(),
            file: pinned.file.clone(),
            commit,
            commit_from,
            mode: word,
            prefix: if let AotritonMode::Installed(prefix) = mode {
                Some(prefix)
            } else {
                None
            },
            archives: pinned
                .builds
                .iter()
                .map(|build| {
                    AotritonArchive::new(&build.rocm, self.archive_name(build), &build.sum)
                })
                .collect(),
            selected_archive: options
                .rocm
                .as_ref()
                .map(|rocm| self.describe_archive(rocm, sink)),
            images: pinned
                .images
                .iter()
                .filter(is_selected)
                .map(|images| AotritonArchive::new(&images.name, pinned.image(images), &images.sum))
                .collect(),
            copy,
            released_with: self.released_with(torch, sink),
        }
    }

    /// Returns the commit and its origin; reports an error if it is unknown but required.
    fn commit(&self, mode: &AotritonMode, sink: &mut Sink) -> (Option<String>, String) {
        let pinned = self.pinned;
        let (reason, line) = match &pinned.commit {
            PinnedCommit::Known { commit, from } => {
                return (Some(commit.clone()), from.to_string());
            }
            PinnedCommit::Unknown { reason, line } => (reason, line),
        };
        let is_needed = !matches!(mode, AotritonMode::Installed(_));
        if is_needed {
            let name = pinned
                .file
                .clone()
                .unwrap_or_else(|| self.options.torch_dir.display().to_string());
            let place = line.map_or_else(|| name.clone(), |line| format!("{name}:{line}"));
            let message = format!(
                "cannot determine the commit of {}: {reason}",
                pinned.row.pin
            );
            sink.push(
                Diagnostic::new(&codes::UNKNOWN_PIN, message)
                    .at(Location::File(place.into()), "")
                    .help(format!(
                        "set {}, or use the default commit with `--default`",
                        pinned.row.env
                    )),
            );
        }
        (None, reason.clone())
    }

    fn archive_name(&self, build: &AotritonBuild) -> String {
        self.pinned.archive(build, &self.options.cpu)
    }

    /// Describes the archive that torch uses for a ROCm; reports a warning if there is none.
    fn describe_archive(&self, rocm: &RocmVersion, sink: &mut Sink) -> String {
        let pinned = self.pinned;
        let reason = match pinned.select_build(rocm, self.compat) {
            TorchAotriton::Archive(build) | TorchAotriton::Clamped(build)
                if build.sum == ArchiveDigest::Absent =>
            {
                format!("the digest of {} is all zeros", self.archive_name(build))
            }
            TorchAotriton::Archive(build) => return self.archive_name(build),
            TorchAotriton::Clamped(build) => {
                return format!("{}, the nearest listed one", self.archive_name(build));
            }
            TorchAotriton::BuiltRuntime => {
                return "none: the library is built from source, images are downloaded".to_owned();
            }
            TorchAotriton::Refused => "it is not listed".to_owned(),
        };
        let version = pinned.version.as_deref().unwrap_or("of this pin");
        let message = format!(
            "{} {version} has no archive for ROCm {rocm}: {reason}",
            pinned.row.pin
        );
        let available: Vec<&str> = pinned
            .builds
            .iter()
            .filter(|build| build.sum != ArchiveDigest::Absent)
            .map(|build| build.rocm.as_str())
            .collect();
        let available = if available.is_empty() {
            "none".to_owned()
        } else {
            available.join(", ")
        };
        sink.push(Diagnostic::new(&codes::NO_ARCHIVE, message).help(format!(
            "build it from source, or use a ROCm version with an archive: {available}"
        )));
        "unavailable".to_owned()
    }

    /// Returns the existing copies; `None` if there is no place to look for them.
    fn copies(&self, mode: &AotritonMode) -> Option<LocalCopies> {
        let options = self.options;
        let row = self.pinned.row;
        let current_dir = &self.environment.current_dir;
        let installed = if let AotritonMode::Installed(prefix) = mode {
            Some(prefix.clone())
        } else {
            None
        };
        if options.aotriton_dir.is_none() && options.site_packages.is_none() && installed.is_none()
        {
            return None;
        }
        let built = options
            .aotriton_dir
            .as_ref()
            .map(|directory| directory.join(&row.installed))
            .filter(|directory| rock_sys::is_file(&current_dir.join(directory).join(&row.library)));
        let has_module = |directory: &&PathBuf| {
            let names = rock_sys::entry_names(&current_dir.join(directory)).unwrap_or_default();
            !row.module.is_empty() && names.iter().any(|name| name.starts_with(&row.module))
        };
        Some(LocalCopies {
            installed,
            built: built.map(|directory| directory.display().to_string()),
            module: options
                .site_packages
                .as_ref()
                .filter(has_module)
                .map(|directory| directory.display().to_string()),
        })
    }

    /// Returns a warning if a checkout is at another commit than the pinned one.
    fn check_commit(&self, directory: &Path, commit: &str) -> Option<Diagnostic> {
        let head = git_line(directory, &["rev-parse", "HEAD"], self.environment)?;
        if head.starts_with(&commit.to_ascii_lowercase()) {
            return None;
        }
        let shown = directory.display().to_string();
        let message = format!("`{shown}` is at {head}, but torch pins {commit}");
        Some(
            Diagnostic::new(&codes::OTHER_COMMIT, message)
                .at(Location::File(shown.into()), "")
                .help(format!(
                    "check out {commit} there, or ignore this if another commit is used on purpose"
                )),
        )
    }

    /// Returns the versions that this torch was released with; reports a warning if the pinned one
    /// does not fit.
    fn released_with(&self, torch: Option<&PinValue>, sink: &mut Sink) -> Vec<String> {
        let pinned = self.pinned;
        let version = torch.and_then(|torch| torch.value.parse::<Version>().ok());
        let Some(minor) = version.map(|version| version.minor()) else {
            return Vec::new();
        };
        let Some((fits, row)) = pinned.fits(self.compat, &minor) else {
            return Vec::new();
        };
        let released: Vec<String> = row.upstream.iter().chain(&row.fork).cloned().collect();
        if !fits {
            let version = pinned.version.as_deref().unwrap_or_default();
            let message = format!(
                "torch {minor} pins {} {version}, but was released with {}",
                pinned.row.pin,
                released.join(", ")
            );
            let entry = format!("torch-aotriton {minor}");
            sink.push(
                Diagnostic::new(&codes::UNUSUAL_VERSION, message)
                    .note(self.compat.cite("pins.yaml", &entry, &row.origin))
                    .help(
                        "check that the pin was changed on purpose: point releases are compatible, \
                         others may not be",
                    ),
            );
        }
        released
    }
}

#[cfg(test)]
mod tests {
    use super::{PinReport, PinReportOptions};
    use rock_compat::Compat;
    use rock_sys::Environment;

    /// A checkout without a pin of AOTriton has a report and an error, unless AOTriton is installed.
    #[test]
    fn an_unknown_commit_is_an_error_and_the_report_is_complete() {
        let compat = Compat::embedded();
        let directory = tempfile::tempdir().unwrap();
        let torch = directory.path().join("torch");
        rock_sys::write_atomic(&torch.join("version.txt"), b"2.9.0a0\n").unwrap();
        let mut environment = Environment {
            current_dir: directory.path().to_owned(),
            ..Environment::default()
        };
        let read = |environment: &Environment| {
            let options = PinReportOptions::new("torch".into());
            let (report, problems) = PinReport::read(&options, &compat, environment).unwrap();
            let codes: Vec<&str> = problems.iter().map(|problem| problem.code.name).collect();
            (report, codes)
        };
        let (report, codes) = read(&environment);
        let version = report.torch.unwrap();
        assert_eq!(
            (version.value.as_str(), version.from.as_str()),
            ("2.9.0a0", "torch/version.txt:1")
        );
        assert_eq!(codes, ["unknown-pin"]);
        environment
            .variables
            .insert("AOTRITON_INSTALLED_PREFIX".into(), "/opt/aotriton".into());
        let (report, codes) = read(&environment);
        assert_eq!(report.aotriton.unwrap().mode, "installed");
        assert_eq!(codes, Vec::<&str>::new());
    }

    #[test]
    fn a_report_needs_a_torch_checkout() {
        let options = PinReportOptions::new("missing".into());
        let environment = Environment::default();
        let errors = PinReport::read(&options, &Compat::embedded(), &environment).unwrap_err();
        assert_eq!(
            errors.to_string(),
            "there is no checkout of torch at `missing`"
        );
    }
}

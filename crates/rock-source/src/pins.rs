//! Pins of a torch checkout that consist of more than a commit: AOTriton, its archives and its
//! images.
//!
//! Input: rows of the table `pins`, contents of files, and the environment variables that torch's
//! build reads. Output: version, commit and available downloads, each with its origin.

use std::collections::BTreeMap;

use super::related::is_commit;
use super::resolve::ValueOrigin;
use crate::cmake::{CmakeError, CmakeScript};
use rock_compat::Compat;
use rock_compat::rows::{PinRow, TorchAotritonRow};
use rock_diagnostic::SourceText;
use rock_names::{Digest, RocmVersion};

/// The AOTriton that a torch checkout pins, with its released archives.
#[derive(Debug, Clone)]
pub struct PinnedAotriton<'a> {
    /// The row that describes how the pin was parsed; the first (newest) one if the checkout has
    /// none of the files.
    pub row: &'a PinRow,
    /// The path of the file with the pin.
    pub file: Option<String>,
    /// The version as written in the file, `0.11.1b`.
    pub version: Option<String>,
    /// The suffix of the version in archive names, `+asan`.
    pub variant: String,
    /// The pinned commit.
    pub commit: PinnedCommit,
    /// The released builds for each ROCm, in the order of the file.
    pub builds: Vec<AotritonBuild>,
    /// The released images for each group of gfx targets.
    pub images: Vec<AotritonImages>,
    /// The extension of archives, `gz`.
    compression: String,
}

/// The commit of a pinned project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinnedCommit {
    /// The commit is known.
    Known {
        /// 40 hex digits, or the value of a variable.
        commit: String,
        /// The origin of the commit.
        from: ValueOrigin,
    },
    /// The commit cannot be determined.
    Unknown {
        /// The reason.
        reason: String,
        /// The line that shows the reason, from 1, if there is one.
        line: Option<usize>,
    },
}

/// A library build for one ROCm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AotritonBuild {
    /// The ROCm as written in the file, `rocm7.2`.
    pub rocm: String,
    /// The platform, `manylinux_2_28`.
    pub manylinux: String,
    /// The digest of the archive.
    pub sum: ArchiveDigest,
}

/// The images for one group of gfx targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AotritonImages {
    /// The name as written in the file, `amd-gfx11xx`.
    pub name: String,
    /// The digest of the archive.
    pub sum: ArchiveDigest,
}

/// The digest of an archive according to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveDigest {
    /// The digest is known.
    Digest(Digest),
    /// The digest consists of zeros: there is no such archive.
    Absent,
    /// The digest is missing or invalid, so the archive cannot be verified.
    Unknown,
}

/// The AOTriton that torch's build uses for a ROCm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TorchAotriton<'a> {
    /// The archive for this ROCm.
    Archive(&'a AotritonBuild),
    /// The archive for the nearest listed ROCm.
    Clamped(&'a AotritonBuild),
    /// No archive: the library is built from source, and images are downloaded.
    BuiltRuntime,
    /// No archive: the build fails.
    Refused,
}

/// The way in which torch's build gets AOTriton, according to environment variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AotritonMode {
    /// AOTriton is installed at this prefix.
    Installed(String),
    /// AOTriton is built from source: the variable is set, to any value.
    FromSource,
    /// AOTriton is downloaded.
    Download,
}

/// A value from a file, with its line.
struct LocatedValue {
    text: String,
    line: usize,
}

/// The contents of one file, by field.
struct PinFile {
    fields: BTreeMap<String, Vec<LocatedValue>>,
    /// The reason why the file does not determine the commit, and the line.
    ambiguity: Option<(String, usize)>,
}

/// Returns the name of the pin whose versions have released archives; empty if the compatibility
/// data has none.
pub fn archive_pin_name(compat: &Compat) -> &str {
    let row = compat
        .source_tables()
        .pins
        .iter()
        .find(|row| !row.archive.is_empty());
    row.map_or("", |row| row.pin.as_str())
}

/// Reads a pin by name; `None` if the compatibility data does not have it. `variable` looks up an
/// environment variable.
pub fn read_pin<'a>(
    compat: &'a Compat,
    name: &str,
    files: &BTreeMap<String, SourceText>,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<PinnedAotriton<'a>> {
    let rows = || {
        compat
            .source_tables()
            .pins
            .iter()
            .filter(|row| row.pin == name)
    };
    let found = rows().find_map(|row| {
        let source = files.get(&row.file)?;
        let has_form = source.text.contains(&row.contains);
        has_form.then(|| (row, source, read_file(row, source)))
    });
    let Some((row, source, read)) = found else {
        let row = rows().next()?;
        let known: Vec<&str> = rows().map(|row| row.file.as_str()).collect();
        let mut known = known;
        known.dedup();
        let reason = format!("the checkout has no pin in {}", known.join(" or "));
        let commit =
            overridden(row, &variable).unwrap_or(PinnedCommit::Unknown { reason, line: None });
        let (version, variant, compression) = (None, String::new(), String::new());
        let (builds, images) = (Vec::new(), Vec::new());
        return Some(PinnedAotriton {
            row,
            file: None,
            version,
            variant,
            commit,
            builds,
            images,
            compression,
        });
    };
    let first = |field: &str| {
        read.fields
            .get(field)
            .and_then(|values| values.first())
            .map(|value| value.text.clone())
    };
    let list = |field: &str| -> Vec<String> {
        read.fields
            .get(field)
            .into_iter()
            .flatten()
            .map(|value| value.text.clone())
            .collect()
    };
    let (manylinux, sums, image_sums) = (list("manylinux"), list("sha256"), list("image-sha256"));
    let at = |values: &[String], number: usize| values.get(number).cloned().unwrap_or_default();
    let builds = list("rocm")
        .into_iter()
        .enumerate()
        .map(|(number, rocm)| AotritonBuild {
            rocm,
            manylinux: at(&manylinux, number),
            sum: ArchiveDigest::of(&at(&sums, number)),
        });
    let images = list("image").into_iter().enumerate();
    let images = images.map(|(number, name)| AotritonImages {
        name,
        sum: ArchiveDigest::of(&at(&image_sums, number)),
    });
    Some(PinnedAotriton {
        row,
        file: Some(source.path.to_string()),
        version: first("version"),
        variant: first("variant").unwrap_or_default(),
        commit: overridden(row, &variable).unwrap_or_else(|| commit(&read, source)),
        builds: builds.collect(),
        images: images.collect(),
        compression: first("compression").unwrap_or_default(),
    })
}

impl ArchiveDigest {
    fn of(text: &str) -> Self {
        if !text.is_empty() && text.bytes().all(|byte| byte == b'0') {
            return Self::Absent;
        }
        text.parse().map_or(Self::Unknown, Self::Digest)
    }
}

impl PinnedAotriton<'_> {
    /// Falls back to the default commit of the row if no commit is known.
    #[must_use]
    pub fn or_default(mut self) -> Self {
        if matches!(self.commit, PinnedCommit::Unknown { .. }) && !self.row.default.is_empty() {
            let from = ValueOrigin::Row(format!("the default of pin {}", self.row.pin));
            self.commit = PinnedCommit::Known {
                commit: self.row.default.clone(),
                from,
            };
        }
        self
    }

    /// Returns the way in which torch's build gets AOTriton. `variable` looks up an environment
    /// variable, including empty ones.
    pub fn mode(&self, variable: impl Fn(&str) -> Option<String>) -> AotritonMode {
        let of = |name: &str| {
            if name.is_empty() {
                None
            } else {
                variable(name)
            }
        };
        match (of(&self.row.installed_env), of(&self.row.from_source_env)) {
            (Some(prefix), _) => AotritonMode::Installed(prefix),
            (None, Some(_)) => AotritonMode::FromSource,
            (None, None) => AotritonMode::Download,
        }
    }

    /// Returns the build that torch uses for a ROCm. Archives are named after the minor version of
    /// its HIP.
    pub fn select_build(&self, rocm: &RocmVersion, compat: &Compat) -> TorchAotriton<'_> {
        let versions: Vec<(RocmVersion, &AotritonBuild)> = self
            .builds
            .iter()
            .filter_map(|build| {
                Some((
                    build
                        .rocm
                        .strip_prefix("rocm")
                        .unwrap_or(&build.rocm)
                        .parse()
                        .ok()?,
                    build,
                ))
            })
            .collect();
        let wanted = compat.hip_of(rocm).unwrap_or_else(|| rocm.minor());
        if let Some((_, build)) = versions.iter().find(|(version, _)| *version == wanted) {
            return TorchAotriton::Archive(build);
        }
        match self.row.unlisted_rocm.as_str() {
            "clamp" => match (versions.first(), versions.last()) {
                (Some((first, build)), _) if wanted < *first => TorchAotriton::Clamped(build),
                (_, Some((last, build))) if wanted > *last => TorchAotriton::Clamped(build),
                _ => TorchAotriton::Refused,
            },
            "build-runtime" => TorchAotriton::BuiltRuntime,
            _ => TorchAotriton::Refused,
        }
    }

    /// Returns the filename of a library archive for a CPU architecture, `x86_64`.
    pub fn archive(&self, build: &AotritonBuild, cpu: &str) -> String {
        let name = self
            .row
            .archive
            .replace("{rocm}", &build.rocm)
            .replace("{manylinux}", &build.manylinux);
        self.named(&name.replace("{cpu}", cpu))
    }

    /// Returns the filename of an image archive.
    pub fn image(&self, image: &AotritonImages) -> String {
        self.named(&self.row.image.replace("{image}", &image.name))
    }

    fn named(&self, name: &str) -> String {
        let version = self.version.as_deref().unwrap_or_default();
        name.replace("{version}", version)
            .replace("{variant}", &self.variant)
            .replace("{compression}", &self.compression)
    }

    /// Returns whether the version, or another one with the same minor, is listed for this torch
    /// minor, and the row that lists it; `None` if either is unknown.
    pub fn fits<'c>(
        &self,
        compat: &'c Compat,
        torch_minor: &str,
    ) -> Option<(bool, &'c TorchAotritonRow)> {
        let row = compat
            .source_tables()
            .torch_aotriton
            .iter()
            .find(|row| row.torch == torch_minor)?;
        let version = self.version.as_deref()?;
        let fits = row
            .upstream
            .iter()
            .chain(&row.fork)
            .any(|known| line_of(known) == line_of(version));
        Some((fits, row))
    }
}

impl AotritonImages {
    /// Returns whether the images have code for a gfx target: `x` in the name matches any
    /// character.
    pub fn is_for(&self, target: &str) -> bool {
        let pattern = self.name.strip_prefix("amd-").unwrap_or(&self.name);
        let is = |(wanted, has): (char, char)| wanted == 'x' || wanted == has;
        pattern.chars().count() <= target.chars().count()
            && pattern.chars().zip(target.chars()).all(is)
    }
}

/// Returns the major and minor of a version, `0.11` for `0.11.1b`.
fn line_of(version: &str) -> String {
    let number = |part: &str| {
        part.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
    };
    version
        .split('.')
        .take(2)
        .map(number)
        .collect::<Vec<_>>()
        .join(".")
}

/// Returns the commit in the environment variable that overrides the file, if it is set.
fn overridden(row: &PinRow, variable: &impl Fn(&str) -> Option<String>) -> Option<PinnedCommit> {
    let value = Some(&row.env)
        .filter(|name| !name.is_empty())
        .and_then(|name| variable(name))?;
    let value = value.trim();
    if value.is_empty() {
        return None;
    }
    Some(if is_commit(value) {
        PinnedCommit::Known {
            commit: value.to_owned(),
            from: ValueOrigin::Variable(row.env.clone()),
        }
    } else {
        let reason = format!(
            "{} is `{value}`, which is not a commit of 7 to 40 hex digits",
            row.env
        );
        PinnedCommit::Unknown { reason, line: None }
    })
}

/// Returns the commit, if the file names exactly one.
fn commit(read: &PinFile, source: &SourceText) -> PinnedCommit {
    if let Some((reason, line)) = &read.ambiguity {
        return PinnedCommit::Unknown {
            reason: reason.clone(),
            line: Some(*line),
        };
    }
    let values = read.fields.get("commit").map_or(&[][..], Vec::as_slice);
    // References to environment variables are not commits.
    let is_whole = |value: &&LocatedValue| value.text.len() == 40 && is_commit(&value.text);
    let mut commits: Vec<&LocatedValue> = values.iter().filter(is_whole).collect();
    commits.dedup_by(|a, b| a.text.eq_ignore_ascii_case(&b.text));
    match commits[..] {
        [one] => {
            let from = ValueOrigin::Pin {
                file: source.path.to_string(),
                line: one.line,
            };
            PinnedCommit::Known {
                commit: one.text.clone(),
                from,
            }
        }
        [] => PinnedCommit::Unknown {
            reason: "the file names no commit of 40 hex digits".to_owned(),
            line: None,
        },
        [first, second, ..] => {
            let reason = format!(
                "the file names several commits, {} and {}",
                first.text, second.text
            );
            PinnedCommit::Unknown {
                reason,
                line: Some(second.line),
            }
        }
    }
}

fn read_file(row: &PinRow, source: &SourceText) -> PinFile {
    match row.format.as_str() {
        "cmake" => read_cmake(row, source),
        _ => read_lines(row, source),
    }
}

/// Reads fields that are lists on one line each, separated by `;`.
fn read_lines(row: &PinRow, source: &SourceText) -> PinFile {
    let lines: Vec<&str> = source.text.lines().collect();
    let of = |places: &Vec<String>| -> Vec<LocatedValue> {
        let number = places.first().and_then(|place| place.parse::<usize>().ok());
        let line = number.and_then(|number| Some((number, lines.get(number)?)));
        let values = |(number, line): (usize, &&str)| -> Vec<LocatedValue> {
            let texts = line
                .split(';')
                .map(str::trim)
                .filter(|text| !text.is_empty());
            texts
                .map(|text| LocatedValue {
                    text: text.to_owned(),
                    line: number + 1,
                })
                .collect()
        };
        line.map(values).unwrap_or_default()
    };
    let fields = row
        .fields
        .iter()
        .map(|(field, places)| (field.clone(), of(places)))
        .collect();
    PinFile {
        fields,
        ambiguity: merge_marks(source),
    }
}

/// Returns the first conflict marker, as recognized by the CMake parser.
fn merge_marks(source: &SourceText) -> Option<(String, usize)> {
    CmakeScript::parse(&source.text)
        .faults
        .iter()
        .find_map(|fault| match fault {
            CmakeError::ConflictMarker { .. } => Some(ambiguity(fault, source)),
            _ => None,
        })
}

fn ambiguity(fault: &CmakeError, source: &SourceText) -> (String, usize) {
    let (reason, span) = match fault {
        CmakeError::ConflictMarker { span } => ("the file has conflict markers".to_owned(), span),
        CmakeError::Unclosed { what, span } => (
            format!("the file cannot be parsed: {what} is not closed"),
            span,
        ),
        CmakeError::Unbalanced { span } => (
            "the file cannot be parsed: an `if` or `endif` has no counterpart".to_owned(),
            span,
        ),
    };
    let line = source
        .location(span.clone())
        .line_column()
        .map_or(1, |(line, _)| line);
    (reason, line)
}

fn read_cmake(row: &PinRow, source: &SourceText) -> PinFile {
    let script = CmakeScript::parse(&source.text);
    let mut fields: BTreeMap<String, Vec<LocatedValue>> = BTreeMap::new();
    for (field, names) in &row.fields {
        // All commits count, since two different ones are ambiguous; of a list, only the first set
        // counts.
        let values: Vec<LocatedValue> = if field == "commit" {
            let all = names
                .iter()
                .flat_map(|name| script.sets.iter().filter(move |set| set.name == *name));
            all.map(|set| LocatedValue {
                text: set.value(),
                line: set.line,
            })
            .collect()
        } else {
            let first = names.iter().find_map(|name| {
                script
                    .sets_outside(&row.not_inside)
                    .find(|set| set.name == *name)
            });
            first
                .into_iter()
                .flat_map(|set| {
                    set.values
                        .iter()
                        .flat_map(|value| value.text.split(';'))
                        .map(|text| LocatedValue {
                            text: text.to_owned(),
                            line: set.line,
                        })
                })
                .collect()
        };
        fields.insert(field.clone(), values);
    }
    PinFile {
        fields,
        ambiguity: script.faults.first().map(|fault| ambiguity(fault, source)),
    }
}

/// Local copies of AOTriton that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalCopies {
    /// The prefix in the environment variable.
    pub installed: Option<String>,
    /// The installation directory of AOTriton's own checkout, if it contains the library.
    pub built: Option<String>,
    /// The directory that contains AOTriton's Python module.
    pub module: Option<String>,
}

/// The copy of AOTriton that a build of torch uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AotritonCopy {
    /// The prefix in the environment variable.
    Installed(String),
    /// The installation directory of AOTriton's own checkout.
    Built(String),
    /// The directory of its Python module.
    Module(String),
    /// No copy: AOTriton is built from source.
    Source,
}

/// Returns the copy to use: the one in the environment variable, else the one built in its
/// checkout, else the one of the Python module, else a build from source.
pub fn select_copy(copies: &LocalCopies) -> AotritonCopy {
    let LocalCopies {
        installed,
        built,
        module,
    } = copies.clone();
    installed
        .map(AotritonCopy::Installed)
        .or(built.map(AotritonCopy::Built))
        .or(module.map(AotritonCopy::Module))
        .unwrap_or(AotritonCopy::Source)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{
        AotritonCopy, AotritonMode, ArchiveDigest, LocalCopies, PinnedAotriton, PinnedCommit,
        TorchAotriton, read_pin, select_copy,
    };
    use rock_compat::Compat;
    use rock_diagnostic::SourceText;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
    const OTHER: &str = "76543210fedcba9876543210fedcba9876543210";
    const CMAKE: &str = "cmake/External/aotriton.cmake";
    const LINES: &str = ".ci/docker/aotriton_version.txt";

    /// Returns a file of generation B.
    fn file_b() -> String {
        let (one, two) = ("1".repeat(64), "2".repeat(64));
        format!(
            "if(NOT __AOTRITON_INCLUDED)\n  # set(__AOTRITON_CI_COMMIT \"{OTHER}\")\n  set(__AOTRITON_VER \"0.11b\")\n  \
             set(__AOTRITON_MANYLINUX_LIST\n      \"manylinux_2_28\"  # rocm6.4\n      \"manylinux_2_34\"\n      )\n  \
             set(__AOTRITON_ROCM_LIST \"rocm6.4\" \"rocm7.0\")\n  set(__AOTRITON_CI_COMMIT \"{COMMIT}\")\n  \
             set(__AOTRITON_SHA256_LIST \"{one}\" \"{two}\")\n  set(__AOTRITON_IMAGE_LIST \"amd-gfx90a\" \"amd-gfx11xx\")\n  \
             set(__AOTRITON_IMAGE_SHA256_LIST \"{one}\" \"\")\n  set(__AOTRITON_Z \"gz\")\nendif()\n"
        )
    }

    /// Returns a file of generation C: the environment variable takes precedence, and a block for
    /// the address sanitizer sets the lists again.
    fn file_c() -> String {
        let (zeros, one) = ("0".repeat(64), "1".repeat(64));
        format!(
            "set(__AOTRITON_VER \"0.14b\")\nset(__AOTRITON_BUILD_VARIANTS \"\")\nif(USE_ASAN)\n  \
             set(__AOTRITON_ROCM_LIST \"rocm7.14\")\n  set(__AOTRITON_SHA256_LIST \"{OTHER}\")\nendif()\n\
             set(__AOTRITON_MANYLINUX_LIST \"manylinux_2_28\" \"manylinux_2_28\")\n\
             set(__AOTRITON_ROCM_LIST\n  \"rocm7.2\"\n  \"rocm7.14\")\nif(DEFINED ENV{{PYTORCH_AOTRITON_COMMIT}})\n  \
             set(__AOTRITON_CI_COMMIT \"$ENV{{PYTORCH_AOTRITON_COMMIT}}\")\nelse()\n  \
             set(__AOTRITON_CI_COMMIT \"{COMMIT}\")\nendif()\n\
             set(__AOTRITON_SHA256_LIST \"{zeros}\" \"{one}\")\nset(__AOTRITON_Z \"gz\")\n"
        )
    }

    fn file_a() -> String {
        format!(
            "0.7b\nmanylinux_2_17;manylinux_2_17;manylinux_2_28\nrocm6.1;rocm6.2;rocm6.4\n{COMMIT}\n{};{};{}\ngz\n",
            "1".repeat(64),
            "2".repeat(64),
            "3".repeat(64)
        )
    }

    #[track_caller]
    fn with<T>(
        files: &[(&str, &str)],
        variables: &[(&str, &str)],
        inspect: impl FnOnce(&PinnedAotriton<'_>) -> T,
    ) -> T {
        let compat = Compat::embedded();
        let source =
            |(path, text): &(&str, &str)| ((*path).to_owned(), SourceText::new(*path, *text));
        let files: BTreeMap<String, SourceText> = files.iter().map(source).collect();
        let variable = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        inspect(&read_pin(&compat, "aotriton", &files, variable).unwrap())
    }

    /// Returns the generation, the commit or the reason why there is none, and its origin.
    #[track_caller]
    fn pin_of(path: &str, text: &str, variables: &[(&str, &str)]) -> String {
        with(&[(path, text)], variables, |pinned| {
            let commit = match &pinned.commit {
                PinnedCommit::Known { commit, from } => format!("{commit} by {from}"),
                PinnedCommit::Unknown { reason, line } => format!("{reason} {line:?}"),
            };
            format!("{} {commit}", pinned.row.generation)
        })
    }

    /// The commit of each generation, from the file or from the environment variable.
    #[test]
    fn the_pin_of_each_generation_is_read_and_a_variable_comes_first() {
        assert_eq!(
            pin_of(LINES, &file_a(), &[]),
            format!("A {COMMIT} by {LINES}:4")
        );
        assert_eq!(
            pin_of(CMAKE, &file_b(), &[]),
            format!("B {COMMIT} by {CMAKE}:9")
        );
        assert_eq!(
            pin_of(CMAKE, &file_c(), &[]),
            format!("C {COMMIT} by {CMAKE}:14")
        );
        let variable = [("PYTORCH_AOTRITON_COMMIT", OTHER)];
        for (path, text) in [(LINES, file_a()), (CMAKE, file_b()), (CMAKE, file_c())] {
            assert!(
                pin_of(path, &text, &variable)
                    .ends_with(&format!("{OTHER} by PYTORCH_AOTRITON_COMMIT")),
                "{text}"
            );
        }
        let pin = pin_of(CMAKE, &file_c(), &[("PYTORCH_AOTRITON_COMMIT", "main")]);
        assert!(
            pin.contains("PYTORCH_AOTRITON_COMMIT is `main`, which is not a commit"),
            "{pin}"
        );
    }

    /// An ambiguous file has no pin.
    #[test]
    fn a_file_without_one_certain_commit_names_none() {
        let only = |value: &str| file_c().replace(COMMIT, value);
        assert_eq!(
            pin_of(CMAKE, &only("main"), &[]),
            "C the file names no commit of 40 hex digits None"
        );
        assert_eq!(
            pin_of(CMAKE, &only("0123abc"), &[]),
            "C the file names no commit of 40 hex digits None"
        );
        let several = format!("{}set(__AOTRITON_CI_COMMIT \"{OTHER}\")\n", file_b());
        assert_eq!(
            pin_of(CMAKE, &several, &[]),
            format!("B the file names several commits, {COMMIT} and {OTHER} Some(15)")
        );
        let twice = format!(
            "{}set(__AOTRITON_CI_COMMIT {})\n",
            file_b(),
            COMMIT.to_uppercase()
        );
        assert_eq!(
            pin_of(CMAKE, &twice, &[]),
            format!("B {COMMIT} by {CMAKE}:9")
        );
        let merged = file_b().replace("  set(__AOTRITON_Z", "<<<<<<< HEAD\n  set(__AOTRITON_Z");
        let marks = "the file has conflict markers";
        assert_eq!(pin_of(CMAKE, &merged, &[]), format!("B {marks} Some(13)"));
        assert_eq!(
            pin_of(LINES, &format!("<<<<<<< HEAD\n{}", file_a()), &[]),
            format!("A {marks} Some(1)")
        );
        assert_eq!(
            pin_of(CMAKE, &(file_b() + "set(X \"y"), &[]),
            "B the file cannot be parsed: a quote is not closed Some(15)"
        );
        let nothing = pin_of("version.txt", "2.2.0", &[]);
        assert_eq!(
            nothing,
            format!("C the checkout has no pin in {CMAKE} or {LINES} None")
        );
    }

    /// Without a certain commit, the default is used only on request.
    #[test]
    fn the_default_is_used_if_no_commit_is_known() {
        let text = file_b().replace(COMMIT, "main");
        let compat = Compat::embedded();
        let files = BTreeMap::from([(CMAKE.to_owned(), SourceText::new(CMAKE, text))]);
        let pinned = read_pin(&compat, "aotriton", &files, |_| None)
            .unwrap()
            .or_default();
        assert!(
            matches!(pinned.commit, PinnedCommit::Known { ref commit, .. } if *commit == pinned.row.default)
        );
        let known = BTreeMap::from([(CMAKE.to_owned(), SourceText::new(CMAKE, file_b()))]);
        let pinned = read_pin(&compat, "aotriton", &known, |_| None)
            .unwrap()
            .or_default();
        assert!(
            matches!(pinned.commit, PinnedCommit::Known { ref commit, .. } if commit == COMMIT)
        );
    }

    fn build_of(path: &str, text: &str, rocm: &str) -> String {
        with(&[(path, text)], &[], |pinned| {
            match pinned.select_build(&rocm.parse().unwrap(), &Compat::embedded()) {
                TorchAotriton::Archive(build) if build.sum == ArchiveDigest::Absent => {
                    "absent".to_owned()
                }
                TorchAotriton::Archive(build) => pinned.archive(build, "x86_64"),
                TorchAotriton::Clamped(build) => {
                    format!("clamped {}", pinned.archive(build, "x86_64"))
                }
                TorchAotriton::BuiltRuntime => "built".to_owned(),
                TorchAotriton::Refused => "refused".to_owned(),
            }
        })
    }

    /// The archive of a ROCm; a digest of zeros means that there is none.
    #[test]
    fn an_archive_is_named_for_a_rocm_and_zeros_mean_that_there_is_none() {
        assert_eq!(
            build_of(CMAKE, &file_c(), "7.14"),
            "aotriton-0.14b-manylinux_2_28_x86_64-rocm7.14-shared.tar.gz"
        );
        assert_eq!(build_of(CMAKE, &file_c(), "7.2.1"), "absent");
        assert_eq!(build_of(CMAKE, &file_c(), "7.1"), "built");
        assert_eq!(
            build_of(CMAKE, &file_b(), "7.0.2"),
            "aotriton-0.11b-manylinux_2_34_x86_64-rocm7.0-shared.tar.gz"
        );
        assert_eq!(build_of(CMAKE, &file_b(), "7.2"), "refused");
    }

    /// The oldest format uses the lowest or highest listed ROCm for one outside the list.
    #[test]
    fn a_rocm_outside_of_the_oldest_list_is_clamped() {
        let name = |manylinux: &str, rocm: &str| {
            format!("aotriton-0.7b-{manylinux}_x86_64-rocm{rocm}-shared.tar.gz")
        };
        assert_eq!(
            build_of(LINES, &file_a(), "6.2"),
            name("manylinux_2_17", "6.2")
        );
        assert_eq!(
            build_of(LINES, &file_a(), "6.0"),
            format!("clamped {}", name("manylinux_2_17", "6.1"))
        );
        assert_eq!(
            build_of(LINES, &file_a(), "7.0"),
            format!("clamped {}", name("manylinux_2_28", "6.4"))
        );
        assert_eq!(build_of(LINES, &file_a(), "6.3"), "refused");
    }

    /// Image names are patterns of gfx targets.
    #[test]
    fn images_are_for_the_targets_that_their_pattern_fits() {
        with(&[(CMAKE, &file_b())], &[], |pinned| {
            let names = |target: &str| -> Vec<String> {
                pinned
                    .images
                    .iter()
                    .filter(|image| image.is_for(target))
                    .map(|image| pinned.image(image))
                    .collect()
            };
            assert_eq!(
                names("gfx1151"),
                ["aotriton-0.11b-images-amd-gfx11xx.tar.gz"]
            );
            assert_eq!(
                names("gfx90a:xnack-"),
                ["aotriton-0.11b-images-amd-gfx90a.tar.gz"]
            );
            assert_eq!(names("gfx942"), Vec::<String>::new());
            assert_eq!(names("gfx11"), Vec::<String>::new());
            assert!(
                matches!(pinned.images[0].sum, ArchiveDigest::Digest(_))
                    && pinned.images[1].sum == ArchiveDigest::Unknown
            );
        });
    }

    /// Environment variables select how torch's build gets AOTriton.
    #[test]
    fn a_variable_selects_installed_or_source_with_any_value() {
        with(&[(CMAKE, &file_b())], &[], |pinned| {
            let mode = |variables: &[(&str, &str)]| {
                pinned.mode(|name| {
                    variables
                        .iter()
                        .find(|(known, _)| *known == name)
                        .map(|(_, value)| (*value).to_owned())
                })
            };
            assert_eq!(mode(&[]), AotritonMode::Download);
            assert_eq!(
                mode(&[("AOTRITON_INSTALL_FROM_SOURCE", "0")]),
                AotritonMode::FromSource
            );
            let both = [
                ("AOTRITON_INSTALL_FROM_SOURCE", "1"),
                ("AOTRITON_INSTALLED_PREFIX", "/opt/aotriton"),
            ];
            assert_eq!(mode(&both), AotritonMode::Installed("/opt/aotriton".into()));
        });
    }

    /// The order is: environment variable, checkout, Python module, build from source.
    #[test]
    fn copies_have_one_order() {
        let copies = |installed: &str, built: &str, module: &str| {
            let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            select_copy(&LocalCopies {
                installed: some(installed),
                built: some(built),
                module: some(module),
            })
        };
        assert_eq!(copies("a", "b", "c"), AotritonCopy::Installed("a".into()));
        assert_eq!(copies("", "b", "c"), AotritonCopy::Built("b".into()));
        assert_eq!(copies("", "", "c"), AotritonCopy::Module("c".into()));
        assert_eq!(copies("", "", ""), AotritonCopy::Source);
    }

    #[test]
    fn a_point_release_fits_the_torch_of_its_line() {
        let fits = |version: &str, torch: &str| {
            with(
                &[(CMAKE, &file_b().replace("0.11b", version))],
                &[],
                |pinned| {
                    pinned
                        .fits(&Compat::embedded(), torch)
                        .map(|(fits, _)| fits)
                },
            )
        };
        assert_eq!(fits("0.11.2b", "2.9"), Some(true));
        assert_eq!(fits("0.10b", "2.9"), Some(false));
        assert_eq!(fits("0.10b", "2.99"), None);
    }
}

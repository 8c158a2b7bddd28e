//! The build record `build.json`: inputs, outputs and stages of a build, from which it can resume.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::limits::{MAX_LINE_BYTES, MAX_RECORD_BYTES, MAX_SHOWN_BYTES};
use rock_names::{Digest, is_file_name};
use rock_plan::config::syntax;
use rock_recipe::container::EngineProgram;
use rock_sys::{self as sys, FileError, PathBelow};

/// The version of the file format.
const VERSION: u32 = 1;

/// The record of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildRecord {
    /// Version of the file format, 1.
    pub version: u32,
    /// The program that wrote the record.
    pub generator: String,
    /// The job ID.
    pub job: String,
    /// The wheel name that the plan expects, before repair.
    pub expected_wheel: String,
    /// The requested axis values, by axis name.
    pub axes: BTreeMap<String, String>,
    /// The requested gfx targets.
    pub gfx: Vec<String>,
    /// `local`, `docker` or `podman`.
    pub engine: String,
    /// The container image, as it was requested.
    pub image: Option<String>,
    /// The digest of that image.
    pub image_digest: Option<String>,
    /// Versions that the build reports as used: torch, ROCm, compiler, Python; `null` if it could
    /// not determine one.
    pub used: BTreeMap<String, Option<String>>,
    /// Counters that steps reported: `ccache` → `hits` → 12.
    #[serde(default)]
    pub figures: BTreeMap<String, BTreeMap<String, u64>>,
    /// The outcome of the build.
    pub outcome: BuildOutcome,
    /// The reason why the build did not succeed, in one line.
    #[serde(default)]
    pub reason: Option<String>,
    /// The stages in order.
    pub stages: Vec<StageRecord>,
    /// The wheels that were copied to the output directory.
    pub wheels: Vec<BuiltWheel>,
    /// Start time, in seconds since 1970-01-01 UTC.
    pub started_s: u64,
    /// Wall-clock seconds of the last run.
    pub seconds: u64,
    /// Free bytes on the disk before the build.
    pub disk_before_bytes: Option<u64>,
    /// Free bytes on the disk after the build.
    pub disk_after_bytes: Option<u64>,
    /// The path of the log file.
    pub log: String,
}

/// The outcome of a build, including the checks and the delivery of its wheels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildOutcome {
    /// It is running, or was killed before it could record its end.
    #[default]
    Running,
    /// All stages are done and the wheel was accepted.
    Done,
    /// A stage failed.
    Failed,
    /// All stages are done and the wheel was rejected.
    Refused,
    /// The cap ended it; it can be resumed.
    Capped,
    /// SIGINT or SIGTERM ended it; it can be resumed.
    Stopped,
    /// The machine or the container engine failed.
    Machine,
}

/// The record of one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Its name.
    pub stage: String,
    /// Digest of everything that determines its result. A stage whose digest changed runs again.
    pub hash: String,
    /// Digest of the deferred facts that it uses; empty if it uses none. A stage whose digest
    /// changed runs again.
    #[serde(default)]
    pub answers: String,
    pub state: StageState,
    /// Wall-clock seconds.
    pub seconds: u64,
    /// The number of attempts.
    pub tries: u32,
    /// The exit status of its process, if it failed.
    pub ended: Option<String>,
}

/// The state of a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageState {
    /// It has not been started.
    #[default]
    Waiting,
    /// It has been started.
    Running,
    /// It succeeded.
    Done,
    /// It failed.
    Failed,
    /// The cap or a signal stopped it.
    Stopped,
}

/// A wheel in the output directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltWheel {
    /// Its filename.
    pub name: String,
    pub path: String,
    /// `sha256:…`
    pub digest: String,
    /// Its size in bytes.
    pub size_bytes: u64,
}

impl StageRecord {
    /// Returns the record of a stage that has not been started.
    pub fn new(stage: &str, hash: &str) -> Self {
        let (stage, hash) = (stage.to_owned(), hash.to_owned());
        Self {
            stage,
            hash,
            answers: String::new(),
            state: StageState::Waiting,
            seconds: 0,
            tries: 0,
            ended: None,
        }
    }
}

impl BuildRecord {
    /// Returns the record of a build that has not been started.
    pub fn new(generator: &str, job: &str, expected_wheel: &str) -> Self {
        Self {
            version: VERSION,
            generator: generator.to_owned(),
            job: job.to_owned(),
            expected_wheel: expected_wheel.to_owned(),
            axes: BTreeMap::new(),
            gfx: Vec::new(),
            engine: String::new(),
            image: None,
            image_digest: None,
            used: BTreeMap::new(),
            figures: BTreeMap::new(),
            outcome: BuildOutcome::Running,
            reason: None,
            stages: Vec::new(),
            wheels: Vec::new(),
            started_s: 0,
            seconds: 0,
            disk_before_bytes: None,
            disk_after_bytes: None,
            log: String::new(),
        }
    }

    /// Returns the content of the file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .unwrap_or_default()
    }

    /// Parses the output of [`Self::to_json`].
    ///
    /// # Errors
    /// If the text has another structure or version, or contains a value that no build writes.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let record: Self = serde_json::from_str(text)?;
        if record.version != VERSION {
            return Err(serde::de::Error::custom(format!(
                "format version {} is unknown",
                record.version
            )));
        }
        record.check().map_err(serde::de::Error::custom)?;
        Ok(record)
    }

    /// Rejects values that would become a path, an option or a line of a script and are not what a
    /// build writes there. Texts that are only shown, such as `reason` and `used`, must be lines of
    /// limited length.
    fn check(&self) -> Result<(), String> {
        let is_word = |text: &str| {
            !text.starts_with('-')
                && syntax::unprintable(text).is_none()
                && !text.contains(char::is_whitespace)
        };
        let is_engine = self.engine.is_empty()
            || self.engine == "local"
            || EngineProgram::from_word(&self.engine).is_some();
        let is_image = |image: &Option<String>| {
            image
                .as_deref()
                .is_none_or(|image| !image.is_empty() && is_word(image))
        };
        let is_stage = |stage: &StageRecord| {
            let is_shown = stage.ended.as_deref().is_none_or(is_shown);
            syntax::is_label(stage.stage.trim_start_matches('_'))
                && is_word(&stage.hash)
                && is_word(&stage.answers)
                && is_shown
        };
        let is_wheel = |wheel: &BuiltWheel| {
            // `actions/upload-artifact` skips files whose name starts with a dot.
            let is_name =
                is_file_name(&wheel.name) && is_word(&wheel.name) && !wheel.name.starts_with('.');
            is_name && is_line(&wheel.path) && wheel.digest.parse::<Digest>().is_ok()
        };
        let is_file = is_file_name(&self.expected_wheel) && is_word(&self.expected_wheel);
        let fields = [
            ("job", syntax::is_label(&self.job)),
            ("expected_wheel", is_file),
            (
                "axes",
                self.axes
                    .iter()
                    .flat_map(|(name, value)| [name, value])
                    .all(|text| is_line(text)),
            ),
            ("gfx", self.gfx.iter().all(|target| is_word(target))),
            ("engine", is_engine),
            ("image", is_image(&self.image)),
            ("image_digest", is_image(&self.image_digest)),
            ("stages", self.stages.iter().all(is_stage)),
            ("wheels", self.wheels.iter().all(is_wheel)),
            ("used", self.used.iter().all(is_used)),
            ("figures", self.figures.iter().all(is_counted)),
            ("reason", self.reason.as_deref().is_none_or(is_shown)),
            ("log", is_line(&self.log)),
            ("generator", is_line(&self.generator)),
        ];
        match fields.iter().find(|(_, fits)| !fits) {
            Some((name, _)) => Err(format!("`{name}` has a value that no build writes")),
            None => Ok(()),
        }
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        sys::replace_file(path, self.to_json().as_bytes())
    }

    /// Reads the file; `None` if it does not exist.
    ///
    /// # Errors
    /// The reason why an existing file cannot be read.
    pub fn load(path: &Path) -> Result<Option<Self>, String> {
        if !sys::exists(path) {
            return Ok(None);
        }
        let text = sys::read_text(path, MAX_RECORD_BYTES).map_err(|e| e.to_string())?;
        Self::from_json(&text).map(Some).map_err(|e| e.to_string())
    }

    /// Reads a file that a build may have replaced by a symlink, which is not followed; `None` if
    /// it does not exist.
    ///
    /// # Errors
    /// The reason why an existing file cannot be read.
    pub(super) fn load_below(file: &PathBelow) -> Result<Option<Self>, String> {
        if matches!(file.exists(), Ok(false)) {
            return Ok(None);
        }
        let text = file
            .read_text(MAX_RECORD_BYTES)
            .map_err(|e| e.to_string())?;
        Self::from_json(&text).map(Some).map_err(|e| e.to_string())
    }
}

fn is_line(text: &str) -> bool {
    syntax::unprintable(text).is_none() && text.len() <= MAX_LINE_BYTES
}

/// Whether a record may contain this text.
fn is_shown(text: &str) -> bool {
    syntax::unprintable(text).is_none() && text.len() <= MAX_SHOWN_BYTES
}

/// Whether a record may contain this entry of `used`.
pub(super) fn is_used((name, value): (&String, &Option<String>)) -> bool {
    is_shown(name) && value.as_deref().is_none_or(is_shown)
}

/// Whether a record may contain this entry of `figures`.
pub(super) fn is_counted((name, counts): (&String, &BTreeMap<String, u64>)) -> bool {
    is_shown(name) && counts.keys().all(|word| is_shown(word))
}

/// Makes a text fit for a record: replaces unprintable characters by spaces and truncates it to the
/// maximum length.
pub fn shown_text(text: &str) -> String {
    let mut text: String = text
        .chars()
        .map(|c| {
            if syntax::unprintable(c.encode_utf8(&mut [0; 4])).is_some() {
                ' '
            } else {
                c
            }
        })
        .collect();
    text.truncate(text.floor_char_boundary(MAX_SHOWN_BYTES));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_round_trips_and_another_version_is_refused() {
        let mut record = BuildRecord::new("rock-matrix 0", "job", "a-1-py3-none-any.whl");
        record.stages.push(StageRecord {
            stage: "build".into(),
            hash: "sha256:0".into(),
            answers: String::new(),
            state: StageState::Done,
            seconds: 7,
            tries: 1,
            ended: None,
        });
        let text = record.to_json();
        assert_eq!(BuildRecord::from_json(&text).unwrap(), record);
        assert!(text.contains("\"state\": \"done\"") && text.contains("\"outcome\": \"running\""));
        let other = BuildRecord::from_json(&text.replace("\"version\": 1", "\"version\": 9"));
        assert!(other.unwrap_err().to_string().contains("version 9"));
    }

    /// The job directory is writable by the steps of the build, and so is the record in it.
    #[test]
    fn a_record_that_could_become_a_path_or_an_option_is_refused() {
        let mut record = BuildRecord::new("rock-matrix 0", "job", "a-1-py3-none-any.whl");
        record.stages.push(StageRecord::new("build", "sha256:0"));
        record.image = Some("rocm/pytorch:1".into());
        let digest = format!("sha256:{}", "07".repeat(32));
        let (name, path) = (
            "a-1-py3-none-any.whl".to_owned(),
            "dist/a-1-py3-none-any.whl".to_owned(),
        );
        record.wheels.push(BuiltWheel {
            name,
            path,
            digest,
            size_bytes: 1,
        });
        let most = "x".repeat(MAX_SHOWN_BYTES);
        let long = format!("{most}x");
        record.reason = Some(most.clone());
        record.stages[0].ended = Some("exit status 2".to_owned());
        record.used.insert("torch".to_owned(), Some(most));
        let whole = serde_json::to_value(&record).unwrap();
        assert_eq!(BuildRecord::from_json(&whole.to_string()).unwrap(), record);
        for (field, value) in [
            ("/job", "../other"),
            ("/job", "a\nb"),
            ("/expected_wheel", "../a.whl"),
            ("/expected_wheel", "-a"),
            ("/engine", "rm"),
            ("/image", "--privileged"),
            ("/image", "a --privileged"),
            ("/stages/0/stage", "../../x"),
            ("/stages/0/stage", "a b"),
            ("/stages/0/hash", "a\nb"),
            ("/wheels/0/name", ".a-1-py3-none-any.whl"),
            ("/log", "a\u{1b}[2J"),
            ("/reason", "a\nb"),
            ("/reason", long.as_str()),
            ("/used/torch", "a\u{1b}[2J"),
            ("/used/torch", long.as_str()),
            ("/stages/0/ended", "a\u{202e}b"),
            ("/wheels/0/path", "dist/a\nb"),
        ] {
            let mut hostile = whole.clone();
            *hostile.pointer_mut(field).unwrap() = value.into();
            let message = BuildRecord::from_json(&hostile.to_string())
                .unwrap_err()
                .to_string();
            let name = field.split('/').nth(1).unwrap();
            assert_eq!(
                message,
                format!("`{name}` has a value that no build writes"),
                "{value:?}"
            );
        }
        for name in ["a\nb", long.as_str()] {
            let mut hostile = record.clone();
            hostile.used.insert(name.to_owned(), None);
            assert!(
                BuildRecord::from_json(&hostile.to_json())
                    .unwrap_err()
                    .to_string()
                    .starts_with("`used` has")
            );
            let mut hostile = record.clone();
            hostile
                .figures
                .insert("ccache".to_owned(), [(name.to_owned(), 1)].into());
            assert!(
                BuildRecord::from_json(&hostile.to_json())
                    .unwrap_err()
                    .to_string()
                    .starts_with("`figures` has")
            );
        }
    }

    #[test]
    fn a_text_of_any_kind_is_shown_as_a_record_may_have_it() {
        let text = shown_text(&format!(
            "a\nb\u{1b}[2J\u{202e}{}",
            "é".repeat(MAX_SHOWN_BYTES)
        ));
        assert!(
            text.starts_with("a b [2J é") && is_shown(&text) && text.len() > MAX_SHOWN_BYTES - 2,
            "{text:.20}"
        );
    }

    #[test]
    fn a_record_past_its_limit_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("build.json");
        let text = BuildRecord::new("rock-matrix 0", "job", "a-1-py3-none-any.whl").to_json();
        let most = usize::try_from(MAX_RECORD_BYTES).unwrap();
        let padded = |bytes: usize| format!("{}{text}", " ".repeat(bytes - text.len()));
        sys::write_atomic(&path, padded(most).as_bytes()).unwrap();
        assert!(BuildRecord::load(&path).unwrap().is_some());
        sys::write_atomic(&path, padded(most + 1).as_bytes()).unwrap();
        assert!(
            BuildRecord::load(&path)
                .unwrap_err()
                .contains("larger than")
        );
    }

    #[test]
    fn a_truncated_record_is_an_error_and_a_missing_one_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("build.json");
        assert_eq!(BuildRecord::load(&path), Ok(None));
        sys::write_atomic(&path, b"{\"version\": 1,").unwrap();
        assert!(BuildRecord::load(&path).is_err());
    }
}

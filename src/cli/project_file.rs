//! Defaults of options: the project file, `rock-matrix.toml` or the table `[tool.rock-matrix]` in
//! `pyproject.toml`, and the environment variables `ROCK_MATRIX_…`.
//!
//! The nearest file, from the working directory upwards, sets defaults of options that a site sets
//! once. Command-line options and environment variables override it.
//!
//! The file cannot set `--api-url`, because a token would be sent to a server that a cloned
//! repository chooses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::jobs::EngineChoice;
use super::shell::{ColorChoice, Format};
use crate::codes::host::BAD_PROJECT_FILE;
use crate::diagnostic::nearest::{nearest, with_nearest};
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass, Location, SourceText, Span};
use crate::sys::{self, Environment};

/// Size limit of a project file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The settings of a project file; all of them are optional.
#[derive(Debug, Default, Clone)]
pub struct ProjectFile {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// Default of `--compat`.
    pub compat: Option<PathBuf>,
    /// Default of `--recipes`.
    pub recipes: Option<PathBuf>,
    /// Default of `--color`.
    pub color: Option<ColorChoice>,
    /// Default of `--message-format`.
    pub message_format: Option<Format>,
    /// Default of `--jobs`.
    pub jobs: Option<u16>,
    /// Default of `--engine`.
    pub engine: Option<EngineChoice>,
}

/// The keys of a project file.
const KEYS: [&str; 6] = [
    "compat",
    "recipes",
    "color",
    "message-format",
    "jobs",
    "engine",
];

type Table = BTreeMap<Spanned<String>, Spanned<Value>>;

/// The part of `pyproject.toml` that is read.
#[derive(Debug, Default, Deserialize)]
struct PyProject {
    #[serde(default)]
    tool: Tools,
}

#[derive(Debug, Default, Deserialize)]
struct Tools {
    #[serde(rename = "rock-matrix")]
    rock_matrix: Option<Table>,
}

impl ProjectFile {
    /// Reads the nearest project file of a directory and its ancestors.
    ///
    /// # Errors
    /// The file cannot be read or is not TOML, a key is unknown, or a value has the wrong type. All
    /// errors in keys and values are reported.
    pub fn find(directory: &Path) -> Result<Self, Diagnostics> {
        for directory in directory.ancestors() {
            let path = directory.join("rock-matrix.toml");
            if sys::is_file(&path) {
                let source = read(&path)?;
                let table =
                    toml::from_str(&source.text).map_err(|error| invalid(&error, &source))?;
                return Self::from_table(table, &path, &source);
            }
            let path = directory.join("pyproject.toml");
            if sys::is_file(&path) {
                // Errors in a file that does not configure this program are reported by other tools.
                let source = match read(&path) {
                    Ok(source) if source.text.contains("rock-matrix") => source,
                    _ => continue,
                };
                let project: PyProject =
                    toml::from_str(&source.text).map_err(|error| invalid(&error, &source))?;
                if let Some(table) = project.tool.rock_matrix {
                    return Self::from_table(table, &path, &source);
                }
            }
        }
        Ok(Self::default())
    }

    /// Overrides settings with those of the variables `ROCK_MATRIX_…`. An empty variable counts as
    /// unset.
    ///
    /// # Errors
    /// A variable has an invalid value.
    pub fn override_with(&mut self, environment: &Environment) -> Result<(), Diagnostics> {
        let mut errors = Vec::new();
        for key in KEYS {
            let variable = format!("ROCK_MATRIX_{}", key.to_uppercase().replace('-', "_"));
            let Some(text) = environment.get(&variable).filter(|text| !text.is_empty()) else {
                continue;
            };
            let value = match text.parse() {
                Ok(count) if key == "jobs" => Value::Integer(count),
                _ => Value::String(text.to_owned()),
            };
            if let Err(expected) = self.set(key, value, Path::new("")) {
                let place = Location::Argument(format!("{variable}={text}"));
                errors.push(
                    Diagnostic::new(
                        &BAD_PROJECT_FILE,
                        format!("`{variable}` must be {expected}"),
                    )
                    .at(place, ""),
                );
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Diagnostics::from(errors).exits_with(ExitClass::Usage))
        }
    }

    fn from_table(table: Table, path: &Path, source: &SourceText) -> Result<Self, Diagnostics> {
        let mut file = Self {
            path: Some(path.to_owned()),
            ..Self::default()
        };
        let mut errors = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().as_str();
            if !KEYS.contains(&name) {
                let message = format!("there is no setting `{name}`");
                errors.push(
                    diagnostic(
                        with_nearest(message, nearest(name, KEYS)),
                        key.span(),
                        source,
                    )
                    .help(format!("the settings are: {}", KEYS.join(", "))),
                );
                continue;
            }
            let span = value.span();
            if let Err(expected) = file.set(name, value.into_inner(), path) {
                let message = format!("`{name}` must be {expected}");
                errors.push(diagnostic(message, span, source));
            }
        }
        if errors.is_empty() {
            Ok(file)
        } else {
            Err(Diagnostics::from(errors))
        }
    }

    /// Sets one of [`KEYS`].
    ///
    /// # Errors
    /// Returns a description of the valid values if the value is not one of them.
    fn set(&mut self, name: &str, value: Value, file: &Path) -> Result<(), String> {
        let directory = file.parent().unwrap_or(Path::new(""));
        match name {
            "compat" => self.compat = Some(directory.join(string(value)?)),
            "recipes" => self.recipes = Some(directory.join(string(value)?)),
            "color" => self.color = Some(choice(&value)?),
            "message-format" => self.message_format = Some(choice(&value)?),
            "engine" => self.engine = Some(choice(&value)?),
            _ => {
                let count = value
                    .as_integer()
                    .and_then(|count| u16::try_from(count).ok());
                let is_valid = |count: &u16| (1..=999).contains(count);
                self.jobs = Some(count.filter(is_valid).ok_or("a number from 1 to 999")?);
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<SourceText, Diagnostics> {
    let text = sys::read_text(path, MAX_FILE_BYTES).map_err(Diagnostic::from)?;
    Ok(SourceText::new(path.display().to_string(), text))
}

fn string(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) if !text.is_empty() => Ok(text),
        _ => Err("a string that is not empty".to_owned()),
    }
}

fn choice<T: ValueEnum>(value: &Value) -> Result<T, String> {
    let names = || -> Vec<String> {
        T::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value)
            .map(|value: PossibleValue| format!("`\"{}\"`", value.get_name()))
            .collect()
    };
    value
        .as_str()
        .and_then(|text| T::from_str(text, false).ok())
        .ok_or_else(|| format!("one of {}", names().join(", ")))
}

fn invalid(error: &toml::de::Error, source: &SourceText) -> Diagnostics {
    let span = error.span().unwrap_or(0..0);
    diagnostic(error.message().to_owned(), span, source).into()
}

fn diagnostic(message: String, span: Span, source: &SourceText) -> Diagnostic {
    Diagnostic::new(&BAD_PROJECT_FILE, message).at(source.location(span), "")
}

#[expect(clippy::disallowed_methods, reason = "tests write files")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::render::human;

    fn find(files: &[(&str, &str)], directory: &str) -> Result<ProjectFile, String> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let directory = root.path().join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        ProjectFile::find(&directory).map_err(|errors| {
            human(errors.as_slice(), false).replace(root.path().to_str().unwrap(), "ROOT")
        })
    }

    #[test]
    fn the_nearest_file_counts_and_paths_are_relative_to_it() {
        let files = [
            ("rock-matrix.toml", "jobs = 2\n"),
            (
                "a/rock-matrix.toml",
                "jobs = 3\ncompat = \"facts\"\nengine = \"docker\"\n",
            ),
            ("a/b/pyproject.toml", "[project]\nname = \"x\"\n"),
            (
                "a/c/pyproject.toml",
                "[tool.rock-matrix]\ncolor = \"never\"\n",
            ),
        ];
        let found = find(&files, "a/b").unwrap();
        assert_eq!(found.jobs, Some(3));
        assert!(found.compat.unwrap().ends_with("a/facts"));
        assert!(found.engine.is_some());
        let found = find(&files, "a/c").unwrap();
        assert_eq!((found.jobs, found.color), (None, Some(ColorChoice::Never)));
        assert!(find(&[], "a").unwrap().jobs.is_none());
    }

    #[test]
    fn all_errors_are_reported_with_their_lines() {
        let text = "jobs = 0\ncolour = \"never\"\nengine = \"dokcer\"\n";
        let errors = find(&[("rock-matrix.toml", text)], "").unwrap_err();
        insta::assert_snapshot!(errors);
        let errors = find(&[("rock-matrix.toml", "jobs = \n")], "").unwrap_err();
        insta::assert_snapshot!(errors);
    }
}

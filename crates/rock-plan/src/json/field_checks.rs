//! Checks of single fields: texts, keywords, file names, axes and variables.

use std::fmt::Display;
use std::str::FromStr;

use indexmap::IndexMap;

use super::MatrixDocument;
use super::check::JsonChecker;
use super::field::JsonPath;
use crate::config::{GpuPolicy, PythonFrom, syntax};
use rock_diagnostic::render::escape_line;
use rock_names::{
    ExpectedWheel, GfxTarget, PackageVersion, PythonVersion, RocmVersion, Version, WheelName,
    has_wheel_extension,
};

impl JsonChecker {
    pub(super) fn axis_name(&mut self, at: JsonPath<'_>, name: &str) {
        self.fits(at, syntax::is_label(name), name, "an axis name");
    }

    pub(super) fn axis(
        &mut self,
        at: JsonPath<'_>,
        name: &str,
        value: &str,
        of: Option<&MatrixDocument>,
    ) {
        self.axis_name(at, name);
        let at = at.key(name);
        match name {
            "python" => self.parses::<PythonVersion>(at, value),
            "torch" => self.parses::<Version>(at, value),
            "rocm" => self.parses::<RocmVersion>(at, value),
            "python-from" => self.word(at, value, PythonFrom::WORDS),
            "gpu" => self.word(at, value, GpuPolicy::WORDS),
            "runner" => self.fits(at, syntax::is_label(value), value, "a runner label"),
            "version" => self.parses::<PackageVersion>(at, value),
            _ if of.is_some_and(|of| of.distribution == name) => {
                self.parses::<PackageVersion>(at, value);
            }
            _ => self.path_or_word(at, value),
        }
    }

    pub(super) fn covers(
        &mut self,
        at: JsonPath<'_>,
        axes: &IndexMap<String, Vec<String>>,
        of: Option<&MatrixDocument>,
    ) {
        for (name, values) in axes {
            if values.is_empty() {
                self.axis_name(at, name);
            }
            for value in values {
                self.axis(at, name, value, of);
            }
        }
    }

    pub(super) fn vars(&mut self, at: JsonPath<'_>, vars: &IndexMap<String, String>) {
        for (name, value) in vars {
            self.fits(at, syntax::is_label(name), name, "a recipe variable");
            self.path_or_word(at.key(name), value);
        }
    }

    fn path_or_word(&mut self, at: JsonPath<'_>, value: &str) {
        self.text(at, value);
        if syntax::leaves_the_repository(value) {
            self.fault(
                at,
                format!("is `{}`, a path outside the repository", escape_line(value)),
            );
        }
    }

    /// Checks the name of a job's output: a wheel, a source distribution, an install tree or an
    /// archive of one.
    pub(super) fn file_name(&mut self, at: JsonPath<'_>, name: &str) {
        if has_wheel_extension(name) {
            return self.parses::<ExpectedWheel>(at, name);
        }
        let inside = |b: u8| b.is_ascii_alphanumeric() || b"-_.+*".contains(&b);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.len() <= WheelName::MAX_BYTES
            && name.bytes().all(inside);
        self.fits(
            at,
            is_name,
            name,
            "the filename of a wheel or source distribution, or the name of a tree",
        );
    }

    pub(super) fn file_names(&mut self, at: JsonPath<'_>, names: &[String]) {
        for (number, name) in names.iter().enumerate() {
            self.file_name(at.item(number), name);
        }
    }

    pub(super) fn labels(&mut self, at: JsonPath<'_>, texts: &[String], what: &str) {
        for (number, text) in texts.iter().enumerate() {
            self.fits(at.item(number), syntax::is_label(text), text, what);
        }
    }

    /// Checks that a text has printable characters only.
    pub(super) fn text(&mut self, at: JsonPath<'_>, text: &str) {
        if let Some(c) = syntax::unprintable(text) {
            self.fault(
                at,
                format!("contains the unprintable character U+{:04X}", u32::from(c)),
            );
        }
    }

    pub(super) fn texts(&mut self, at: JsonPath<'_>, texts: &[String]) {
        for (number, text) in texts.iter().enumerate() {
            self.text(at.item(number), text);
        }
    }

    pub(super) fn fits(&mut self, at: JsonPath<'_>, fits: bool, text: &str, what: &str) {
        if !fits {
            self.fault(at, format!("is `{}`, not {what}", escape_line(text)));
        }
    }

    pub(super) fn word(&mut self, at: JsonPath<'_>, text: &str, words: &[&str]) {
        if !words.contains(&text) {
            self.fault(
                at,
                format!(
                    "is `{}`, not one of {}",
                    escape_line(text),
                    words.join(", ")
                ),
            );
        }
    }

    pub(super) fn words(&mut self, at: JsonPath<'_>, texts: &[String], words: &[&str]) {
        for (number, text) in texts.iter().enumerate() {
            self.word(at.item(number), text, words);
        }
    }

    pub(super) fn parses<T: FromStr<Err: Display>>(&mut self, at: JsonPath<'_>, text: &str) {
        match text.parse::<T>() {
            Err(error) => {
                self.fault(
                    at,
                    format!("is invalid: {}", escape_line(&error.to_string())),
                );
            }
            Ok(_) => self.text(at, text),
        }
    }

    pub(super) fn optional<T: FromStr<Err: Display>>(
        &mut self,
        at: JsonPath<'_>,
        text: Option<&str>,
    ) {
        if let Some(text) = text {
            self.parses::<T>(at, text);
        }
    }
}

/// Whether a text is a valid name of a GPU family or target.
pub(super) fn is_family(text: &str) -> bool {
    syntax::is_label(text) || text.parse::<GfxTarget>().is_ok()
}

//! Filters and functions for the versions, lists and words of builds.

use minijinja::{Environment, Error, ErrorKind, Value};

use rock_names::{
    LocalLabel, PythonVersion, Version, WheelName, git_label, is_absolute, join_labels, rocm_label,
    rocmsdk_label,
};

/// Adds every filter and function.
pub(super) fn add_to(environment: &mut Environment<'static>) {
    environment.add_filter("semis", |items: Vec<String>| joined(&items, ";"));
    environment.add_filter("commas", |items: Vec<String>| joined(&items, ","));
    environment.add_filter("dotless", |text: String| text.replace('.', ""));
    environment.add_filter("minor", |text: String| {
        text.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
    });
    environment.add_filter("cp_tag", |text: String| {
        text.parse::<PythonVersion>()
            .map(PythonVersion::cp_tag)
            .map_err(wrong)
    });
    environment.add_filter("in_range", |version: String, range: String| {
        version
            .parse::<Version>()
            .and_then(|version| version.satisfies(&range))
            .map_err(wrong)
    });
    environment.add_filter("quote", |text: String| quote(&text));
    environment.add_filter("below", |path: String, directory: String| {
        if is_absolute(&path) || path.is_empty() {
            path
        } else {
            format!("{directory}/{path}")
        }
    });
    environment.add_filter("basename", |text: String| basename(&text).to_owned());
    environment.add_filter("requirement", |path: String| {
        basename(&path)
            .parse::<WheelName>()
            .map(|name| name.requirement())
            .map_err(wrong)
    });
    environment.add_filter("pep440", |text: String| {
        text.parse::<Version>()
            .map(|v| v.normalized())
            .map_err(wrong)
    });
    environment.add_filter("starts_any", |items: Vec<String>, prefixes: Vec<String>| {
        items.iter().any(|item| {
            prefixes
                .iter()
                .any(|prefix| item.starts_with(prefix.as_str()))
        })
    });
    // Tools separate targets with spaces, commas or semicolons.
    environment.add_filter("words", |text: String| {
        let mut words: Vec<String> = Vec::new();
        for word in text
            .split([' ', ',', ';', '\t', '\n', '\r'])
            .filter(|word| !word.is_empty())
        {
            if !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
        words
    });
    // Another tool's names for targets: `gfx942=MI300X`, or `gfx942` if the name is the same.
    environment.add_filter("translate", |items: Vec<String>, pairs: Vec<String>| {
        let pairs: Vec<(&str, &str)> = pairs
            .iter()
            .map(|pair| {
                pair.split_once('=')
                    .unwrap_or((pair.as_str(), pair.as_str()))
            })
            .collect();
        let known = |item: &String| {
            pairs
                .iter()
                .find(|(name, _)| name == item)
                .map(|(_, word)| (*word).to_owned())
        };
        items.iter().filter_map(known).collect::<Vec<_>>()
    });
    environment.add_filter("yaml", |value: Value| {
        rock_yaml::to_yaml(&value)
            .map(|text| text.trim_end().to_owned())
            .map_err(wrong)
    });
    environment.add_filter("json", |value: Value| {
        serde_json::to_string(&value).map_err(wrong)
    });
    environment.add_function("rocm_suffix", |rocm: String| {
        rocm.parse::<Version>()
            .map_err(wrong)
            .and_then(|rocm| rocm_label(&rocm).map(|label| suffix(&label)).map_err(wrong))
    });
    environment.add_function("rocmsdk_suffix", |day: String| {
        rocmsdk_label(&day).map(|l| suffix(&l)).map_err(wrong)
    });
    environment.add_function("git_segment", |commit: String| {
        git_label(&commit).map(|l| l.to_string()).map_err(wrong)
    });
    environment.add_function("local_version", |parts: Vec<Option<String>>| {
        let label = join_labels(parts.iter().flatten().map(String::as_str)).map_err(wrong)?;
        Ok::<_, Error>(label.map(|label| label.to_string()).unwrap_or_default())
    });
    environment.add_function("requirements", |items: Vec<Option<String>>| {
        joined(&items.into_iter().flatten().collect::<Vec<_>>(), "|")
    });
}

/// Formats a label as the suffix of a version.
fn suffix(label: &LocalLabel) -> String {
    format!("+{label}")
}

fn basename(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Joins the items that are not empty.
fn joined(items: &[String], by: &str) -> String {
    items
        .iter()
        .filter(|item| !item.is_empty())
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(by)
}

/// Quotes a text as one word for a POSIX shell.
fn quote(text: &str) -> Result<String, Error> {
    shlex::try_quote(text)
        .map(std::borrow::Cow::into_owned)
        .map_err(wrong)
}

fn wrong(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidOperation, error.to_string())
}

//! Files that are published already, as a saved list names them.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Sink, Source, registry::plan as codes};
use crate::names::WheelName;

/// Wheels that need no job. Two files are the same when distribution, version with label, Python and ABI are: the
/// platform tag may differ, because repair changes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Published {
    identities: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Published {
    /// Adds a wheel.
    pub fn insert(&mut self, name: &WheelName) {
        self.identities.insert(identity(name));
        self.names.insert(name.to_string());
    }

    /// Whether this wheel, or one that differs only in platform and build tag, is published.
    pub fn contains(&self, name: &WheelName) -> bool {
        self.identities.contains(&identity(name))
    }

    /// Whether nothing is published.
    pub fn is_empty(&self) -> bool {
        self.identities.is_empty()
    }

    /// File names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

fn identity(name: &WheelName) -> String {
    let distribution = name.distribution.to_ascii_lowercase().replace(['-', '.'], "_");
    format!("{distribution} {} {} {}", name.version.normalized(), name.python, name.abi)
}

/// Reads a saved list: names, objects with `name`, one release with `assets`, or a manifest with `files`. Names that
/// are no wheels are passed over; wheels whose name cannot be read are told of.
pub fn read_published(source: &Source, sink: &mut Sink) -> Published {
    let mut published = Published::default();
    let document: serde_json::Value = match serde_json::from_str(&source.text) {
        Ok(document) => document,
        Err(error) => {
            sink.push(
                Diagnostic::new(&codes::BAD_PUBLISHED_FILE, format!("`{}` is not JSON: {error}", source.path))
                    .at(source.place(0..0), "")
                    .help("save the release as JSON, for example with `gh api repos/OWNER/REPO/releases/tags/TAG`"),
            );
            return published;
        }
    };
    let mut names = Vec::new();
    if !collect(&document, &mut names) {
        sink.push(
            Diagnostic::new(&codes::BAD_PUBLISHED_FILE, format!("`{}` holds no list of file names", source.path))
                .at(source.place(0..0), "")
                .help("give a list of names, a release with `assets`, or a `rock-manifest.json`"),
        );
    }
    for text in names.iter().filter(|name| std::path::Path::new(name).extension().is_some_and(|e| e == "whl")) {
        match text.parse::<WheelName>() {
            Ok(name) => published.insert(&name),
            Err(error) => sink.push(
                Diagnostic::new(&codes::UNREADABLE_ASSET, format!("published file {error}"))
                    .at(source.place(source.text.find(text.as_str()).map_or(0..0, |at| at..at + text.len())), ""),
            ),
        }
    }
    published
}

fn collect(value: &serde_json::Value, names: &mut Vec<String>) -> bool {
    use serde_json::Value;
    match value {
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(name) => names.push(name.clone()),
                    Value::Object(object) if object.contains_key("assets") => {
                        collect(item, names);
                    }
                    Value::Object(object) => {
                        names.extend(object.get("name").and_then(Value::as_str).map(str::to_owned));
                    }
                    _ => return false,
                }
            }
            true
        }
        Value::Object(object) => {
            ["assets", "files"].iter().filter_map(|key| object.get(*key)).any(|v| collect(v, names))
        }
        _ => false,
    }
}

//! Checks of the file list through which the files of a device package are added to the devel tree.

use std::collections::BTreeSet;

use serde_json::Value;

use super::MAKE_AGAIN;
use super::packages::OpenedWheel;
use crate::PackageKind;
use crate::codes::sdk as codes;
use crate::search::up;
use rock_compat::rows::SdkTables;
use rock_diagnostic::Diagnostic;

/// The directory of the lists, in that of the libraries package.
const LISTS: &str = ".devel_links/";
/// The prefix of an empty file in device packages, which makes installers remove the directory.
const MARKER: &str = ".device-";

pub(super) fn findings(wheel: &OpenedWheel, facts: &SdkTables) -> Vec<Diagnostic> {
    if wheel.kind != PackageKind::Device {
        return Vec::new();
    }
    let directory = wheel.directory(facts);
    let target = wheel.made_for.as_deref().unwrap_or_default();
    let member = format!("{directory}/{LISTS}{target}.json");
    let Some(text) = wheel.texts.get(&member) else {
        let message = format!("there is no `{member}`, the list of its files");
        return vec![wheel.fault(&codes::DEVICE_LINKS, message).help(MAKE_AGAIN)];
    };
    let fault = |message: String| {
        wheel
            .fault_at(&codes::DEVICE_LINKS, &member, message)
            .help(MAKE_AGAIN)
    };
    let list: Value = match serde_json::from_str(text) {
        Ok(list) => list,
        Err(error) => return vec![fault(format!("it is not a list of files: {error}"))],
    };
    let mut found = Vec::new();
    let version = wheel.name.version().normalized();
    if list["version"].as_str() != Some(&version) {
        found.push(fault(format!(
            "it has version {}, but the package has `{version}`",
            list["version"]
        )));
    }
    let files = wheel
        .files
        .keys()
        .filter_map(|path| path.strip_prefix(&directory)?.strip_prefix('/'));
    let own = files.filter(|path| {
        !path.starts_with(LISTS) && !path.starts_with(MARKER) && *path != "__init__.py"
    });
    let mut unlisted: BTreeSet<&str> = own.collect();
    for link in list["links"].as_array().into_iter().flatten() {
        let (path, target) = (
            link["relpath"].as_str().unwrap_or_default(),
            link["target"].as_str().unwrap_or_default(),
        );
        let expected = format!("{}{directory}/{path}", up(path));
        if !unlisted.remove(path) {
            found.push(fault(format!(
                "it lists `{path}`, which is not in the package or is listed twice"
            )));
        } else if target != expected {
            found.push(fault(format!(
                "it says that `{path}` is at `{target}`, but it is at `{expected}`"
            )));
        }
    }
    found.extend(
        unlisted
            .into_iter()
            .map(|path| fault(format!("it does not list `{path}`"))),
    );
    found
}

//! Axes: their roles and their values.

use std::collections::BTreeMap;

use super::ConfigReader;
use super::texts::{is_label, is_name, leaves_the_repository};
use crate::codes::matrix as codes;
use crate::config::fields::FIELD_AXES;
use crate::config::{Axis, AxisRole, AxisValue, GpuPolicy, ParsedValue, PythonFrom};
use rock_diagnostic::{
    Diagnostic, Span,
    nearest::{nearest, with_nearest},
};
use rock_names::{DistributionName, PackageVersion, PythonVersion, RocmVersion, Version};
use rock_yaml::{MapKey, Node};

/// The names of a file that determine the roles of its axes.
pub(super) struct AxisNames<'a> {
    pub(super) distribution: &'a str,
    pub(super) recipe: &'a str,
}

/// Roles with a fixed axis name.
const ROLES: [(&str, AxisRole); 6] = [
    ("version", AxisRole::Package),
    ("python", AxisRole::Python),
    ("torch", AxisRole::Torch),
    ("rocm", AxisRole::Rocm),
    ("backend", AxisRole::Backend),
    ("gfx", AxisRole::Gfx),
];

impl ConfigReader<'_> {
    /// Returns the role of an axis name. An unknown name is an error, unless the recipe is unknown
    /// too.
    pub(super) fn role(&mut self, key: &MapKey, naming: &AxisNames<'_>) -> Option<AxisRole> {
        let name = key.text.as_str();
        let normalized = |text: &str| {
            text.parse()
                .map_or(text.to_owned(), |n: DistributionName| n.normalized())
        };
        if let Some((_, role)) = ROLES.iter().find(|(word, _)| *word == name) {
            return Some(*role);
        }
        if normalized(name) == normalized(naming.distribution) {
            return Some(AxisRole::Package);
        }
        let recipe = self.lookups.recipes.known(naming.recipe);
        let declared = recipe
            .iter()
            .flat_map(|words| words.axes.iter().map(String::as_str));
        let variables = || {
            recipe
                .iter()
                .flat_map(|words| words.vars.keys().map(String::as_str))
        };
        let mut known: Vec<&str> = FIELD_AXES.into_iter().chain(declared).collect();
        if known.contains(&name) || variables().any(|variable| variable == name) {
            return Some(AxisRole::Field);
        }
        recipe.as_ref()?;
        known.extend(ROLES.iter().map(|(word, _)| *word));
        known.push(naming.distribution);
        let near = nearest(name, known.iter().copied().chain(variables()));
        let message = with_nearest(format!("unknown axis `{name}`"), near);
        let mut diagnostic = Diagnostic::new(&codes::UNKNOWN_AXIS, message)
            .at(self.source.location(key.span.clone()), "");
        diagnostic = match near {
            Some(near) => diagnostic.help(format!("write `{near}`")),
            None => {
                known.sort_unstable();
                known.dedup();
                let also = if variables().next().is_some() {
                    ", and every variable of the recipe"
                } else {
                    ""
                };
                diagnostic
                    .note(format!("valid axes: {}{also}", known.join(", ")))
                    .help("remove it")
            }
        };
        self.push(diagnostic);
        None
    }

    /// Reads the axes of the file.
    pub(super) fn axes(&mut self, entries: &[(MapKey, Node)], naming: &AxisNames<'_>) -> Vec<Axis> {
        let mut axes: Vec<(Axis, Span)> = Vec::new();
        for (key, node) in entries {
            let role = self.role(key, naming);
            let Some(items) = node.items() else {
                self.complete.axes = false;
                continue;
            };
            if items.is_empty() {
                let message = format!(
                    "the axis `{}` has no values, so there are no cells",
                    key.text
                );
                self.push(
                    Diagnostic::new(&codes::EMPTY_AXIS, message)
                        .at(self.source.location(key.span.clone()), "")
                        .help("list its values, or remove the axis"),
                );
            }
            let Some(role) = role else {
                self.complete.axes = false;
                continue;
            };
            let values = self.values(role, &key.text, items);
            let twin = axes
                .iter()
                .find(|(other, _)| other.role == role && role != AxisRole::Field);
            if let Some((other, span)) = twin {
                self.complete.axes = false;
                let message = format!(
                    "the axes `{}` and `{}` have the same meaning",
                    other.name, key.text
                );
                self.push(
                    Diagnostic::new(&codes::UNKNOWN_AXIS, message)
                        .at(self.source.location(key.span.clone()), "again here")
                        .also(self.source.location(span.clone()), "first here")
                        .help(format!("put all values under `{}`", other.name)),
                );
                continue;
            }
            axes.push((
                Axis {
                    name: key.text.clone(),
                    role,
                    values,
                },
                key.span.clone(),
            ));
        }
        axes.into_iter().map(|(axis, _)| axis).collect()
    }

    fn values(&mut self, role: AxisRole, name: &str, items: &[Node]) -> Vec<AxisValue> {
        let mut found: Vec<AxisValue> = Vec::new();
        let mut first: BTreeMap<ParsedValue, (&str, &Node)> = BTreeMap::new();
        for node in items {
            let Some(value) = self.value(role, name, node) else {
                self.complete.backends &= role != AxisRole::Backend;
                continue;
            };
            let Some((text, place)) = first.get(&value.value) else {
                first.insert(value.value.clone(), (node.text().unwrap_or_default(), node));
                found.push(value);
                continue;
            };
            self.complete.backends &= role != AxisRole::Backend;
            let message = if *text == value.text {
                format!("`{text}` is listed twice in the axis `{name}`")
            } else {
                format!(
                    "`{text}` and `{}` in the axis `{name}` are the same version",
                    value.text
                )
            };
            let twice = Diagnostic::new(&codes::DUPLICATE_VALUE, message)
                .at(self.source.location(node.span.clone()), "again here")
                .also(self.source.location(place.span.clone()), "first here")
                .help("remove one");
            self.push(twice);
        }
        found
    }

    /// Reads one value according to the role of its axis.
    pub(super) fn value(&mut self, role: AxisRole, name: &str, node: &Node) -> Option<AxisValue> {
        let text = node.text()?;
        if text.is_empty() {
            self.fault(
                &codes::BAD_VALUE,
                node,
                format!("`{name}` has an empty value"),
                "write a value, or remove it",
            );
            return None;
        }
        let word = match role {
            AxisRole::Gfx => self.gfx_value(text, node).map(ParsedValue::Gfx),
            AxisRole::Field => self.field_value(name, text, node),
            _ => match version(role, text) {
                Ok(word) => Some(word),
                Err((message, help)) => {
                    self.fault(&codes::BAD_VALUE, node, message, help);
                    None
                }
            },
        }?;
        Some(AxisValue {
            text: text.to_owned(),
            value: word,
        })
    }

    fn field_value(&mut self, name: &str, text: &str, node: &Node) -> Option<ParsedValue> {
        let words = match name {
            "runner" => {
                let label = self.runner_label(node, "ignore this");
                return label.map(ParsedValue::Text);
            }
            "gpu" => GpuPolicy::WORDS,
            "python-from" => PythonFrom::WORDS,
            _ if leaves_the_repository(text) => {
                let message = format!("`{text}` is a path that leaves the repository");
                self.fault(
                    &codes::PATH_LEAVES,
                    node,
                    message,
                    "use a path below the repository's root",
                );
                return None;
            }
            _ => return Some(ParsedValue::Text(text.to_owned())),
        };
        if words.contains(&text) {
            return Some(ParsedValue::Text(text.to_owned()));
        }
        let message = format!(
            "`{name}` must be one of `{}`, not `{text}`",
            words.join("`, `")
        );
        let help = nearest(text, words.iter().copied())
            .map_or("choose one of these".into(), |near| {
                format!("write `{near}`")
            });
        self.fault(&codes::UNKNOWN_WORD, node, message, help);
        None
    }
}

/// A message and a help.
type MessageAndHelp = (String, String);

fn version(role: AxisRole, text: &str) -> Result<ParsedValue, MessageAndHelp> {
    match role {
        AxisRole::Python => text
            .parse()
            .map(ParsedValue::Python)
            .map_err(|e: rock_names::PythonVersionError| (e.to_string(), python_help(text))),
        AxisRole::Rocm => text
            .parse::<RocmVersion>()
            .map(ParsedValue::Rocm)
            .map_err(|e| (e.to_string(), rocm_help(text))),
        AxisRole::Torch => torch(text).map(ParsedValue::Torch),
        AxisRole::Package => package_version(text).map(ParsedValue::Package),
        _ if is_name(text) => Ok(ParsedValue::Text(text.to_owned())),
        _ => Err((
            format!(
                "`{text}` is not a valid backend name: only lower-case letters, digits and `-` are \
                 allowed"
            ),
            "write one of the recipe's backends".into(),
        )),
    }
}

fn python_help(text: &str) -> String {
    let digits = text
        .trim_start_matches("python")
        .trim_start_matches("cp")
        .trim_start_matches("py")
        .trim_start_matches('v');
    let mut parts = digits.split('.');
    let short = match (parts.next(), parts.next(), parts.next()) {
        (Some(major), Some(minor), Some(_)) => Some(format!("{major}.{minor}")),
        (Some(both), None, _) if both.len() >= 2 && both.is_ascii() => {
            Some(format!("{}.{}", &both[..1], &both[1..]))
        }
        (Some(major), Some(minor), None) => Some(format!("{major}.{minor}")),
        _ => None,
    };
    match short.filter(|short| short != text && short.parse::<PythonVersion>().is_ok()) {
        Some(short) => format!("write `\"{short}\"`"),
        None => "write major and minor, such as `\"3.12\"`".into(),
    }
}

fn rocm_help(text: &str) -> String {
    let bare = text.trim().trim_start_matches(['v', 'V']);
    let bare = bare
        .strip_prefix("rocm")
        .or_else(|| bare.strip_prefix("ROCm"))
        .unwrap_or(bare)
        .trim();
    let digits = bare.len() >= 2 && bare.bytes().all(|b| b.is_ascii_digit());
    match (bare.parse::<RocmVersion>(), digits) {
        (Ok(_), _) if bare != text => format!("write `\"{bare}\"`"),
        (_, true) => format!(
            "write it with dots, such as `\"{}.{}\"`",
            &bare[..1],
            &bare[1..]
        ),
        _ => "write the ROCm release, such as `\"6.2\"`".into(),
    }
}

/// Parses a version as pip prints it: no leading `v`, no spaces, no epoch.
fn plain_version(text: &str, example: &str) -> Result<Version, MessageAndHelp> {
    let trimmed = text.trim().trim_start_matches(['v', 'V', '=']).trim();
    if trimmed != text && trimmed.parse::<Version>().is_ok() {
        return Err((
            format!("`{text}` is not a plain version; did you mean `{trimmed}`?"),
            format!("write `\"{trimmed}\"`"),
        ));
    }
    let version: Version = text.parse().map_err(|e: rock_names::VersionError| {
        (
            e.to_string(),
            format!("write a release, such as `\"{example}\"`"),
        )
    })?;
    if text.contains('!') {
        return Err((
            format!("`{text}` has an epoch, which names of release files cannot contain"),
            "remove everything up to `!`".into(),
        ));
    }
    Ok(version)
}

fn torch(text: &str) -> Result<Version, MessageAndHelp> {
    let version = plain_version(text, "2.6.0")?;
    if version.release().len() < 2 {
        return Err((
            format!("`{text}` does not include the minor version of torch"),
            "write a release such as `\"2.6.0\"`".into(),
        ));
    }
    Ok(version)
}

/// Parses a version of the package to build: a release, or a commit with its family.
pub(crate) fn package_version(text: &str) -> Result<PackageVersion, MessageAndHelp> {
    if text.contains(':') {
        return text.parse().map_err(|e: rock_names::VersionError| {
            (
                e.to_string(),
                "write the commit's hash, at least its first seven hex digits".into(),
            )
        });
    }
    let hex = text.len() >= 7 && text.len() <= 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
    if hex && text.bytes().any(|b| b.is_ascii_alphabetic()) {
        let commit = format!("fa2:{}", text.to_lowercase());
        let message =
            format!("`{text}` looks like a commit without its family; did you mean `{commit}`?");
        return Err((
            message,
            "prefix it with the short name of its family".into(),
        ));
    }
    if is_label(text)
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.starts_with(['v', 'V'])
    {
        let help = "pin a release, such as `\"2.8.3\"`, or a commit, such as `\"fa2:4a948e9\"`";
        return Err((
            format!(
                "`{text}` is not a version: branches and tags move, so a wheel's version would not \
                 identify its sources"
            ),
            help.into(),
        ));
    }
    released_version(text).map(PackageVersion::Released)
}

/// Parses a release without a label.
pub(crate) fn released_version(text: &str) -> Result<Version, MessageAndHelp> {
    let version = plain_version(text, "2.8.3")?;
    if version.local().is_some() {
        let help = format!("write `\"{}\"`", version.public());
        return Err((
            format!("`{text}` already has a label; the plan adds the label"),
            help,
        ));
    }
    Ok(version)
}

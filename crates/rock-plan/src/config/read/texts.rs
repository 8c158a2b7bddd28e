//! Checks of single texts: names, labels, addresses, command-line arguments.

use indexmap::IndexSet;

use super::{ConfigReader, entries};
use crate::codes::build;
use crate::codes::matrix as codes;
use crate::config::limits::{LONGEST_TEXT_BYTES, MOST_RUNNER_LABELS, MOST_SECRETS};
use crate::config::syntax::{
    has_address_breaker, index_host, is_secret_word, is_taken, unprintable,
};
pub(super) use crate::config::syntax::{is_label, is_name, leaves_the_repository};
use crate::config::{RunnerSelector, is_runner_group};
use rock_compat::rows::ReleaseTypeRow;
use rock_diagnostic::{
    Diagnostic, Location, Sink, SourceText,
    nearest::{nearest, with_nearest},
};
use rock_yaml::{Node, NodeValue};

/// Checks that every text and key of the file is printable and short: each may become a
/// command-line argument, a line of output or a filename.
pub(super) fn check_texts(node: &Node, source: &SourceText, sink: &mut Sink) {
    let mut fault = |text: &str, span: &std::ops::Range<usize>| {
        if text.len() > LONGEST_TEXT_BYTES {
            let message = format!(
                "the text has {} bytes, but a matrix file allows at most {LONGEST_TEXT_BYTES}",
                text.len()
            );
            sink.push(
                Diagnostic::new(&codes::TOO_LONG, message)
                    .at(source.location(span.clone()), "")
                    .help("shorten it"),
            );
        }
        let Some(c) = unprintable(text) else { return };
        let (name, help) = match c {
            '\n' | '\r' => ("a line break".to_owned(), "write the text on one line"),
            '\t' => ("a tab".to_owned(), "write spaces instead"),
            '\0' => ("a NUL character".to_owned(), "remove it"),
            c => (
                format!("the invisible character U+{:04X}", u32::from(c)),
                "remove it",
            ),
        };
        sink.push(
            Diagnostic::new(
                &codes::CONTROL_CHARACTER,
                format!("the text contains {name}"),
            )
            .at(source.location(span.clone()), "")
            .help(help),
        );
    };
    match &node.value {
        NodeValue::Scalar(scalar) => fault(&scalar.text, &node.span),
        NodeValue::Map(entries) => entries
            .iter()
            .for_each(|(key, _)| fault(&key.text, &key.span)),
        NodeValue::List(_) | NodeValue::Null => {}
    }
    match &node.value {
        NodeValue::List(items) => items
            .iter()
            .for_each(|item| check_texts(item, source, sink)),
        NodeValue::Map(entries) => entries
            .iter()
            .for_each(|(_, value)| check_texts(value, source, sink)),
        NodeValue::Scalar(_) | NodeValue::Null => {}
    }
}

/// Values of a recipe variable that is a switch.
const SWITCH: [&str; 2] = ["on", "off"];
const TAKEN_BY: &str = "the runner, the workflow or the system has a variable with this name";

impl ConfigReader<'_> {
    /// Reads the runners that take jobs: a label, a list of labels, or a group with labels.
    pub(super) fn runner(&mut self, node: &Node) -> Option<RunnerSelector> {
        if node.text().is_some() {
            return self
                .runner_label(node, "write `[self-hosted, LABEL]`")
                .map(|label| RunnerSelector::label(&label));
        }
        let group = node
            .get("group")
            .and_then(Node::text)
            .filter(|group| !group.is_empty());
        if let (Some(name), Some(place)) = (group, node.get("group"))
            && !is_runner_group(name)
        {
            let message = format!("`{name}` is not a valid runner group name");
            let help = "use only letters, digits, spaces, `-`, `_`, `.` and `/`";
            self.fault(&codes::BAD_NAME, place, message, help);
            return None;
        }
        let nodes = node
            .items()
            .or_else(|| node.get("labels").and_then(Node::items))
            .unwrap_or_default();
        let nodes = self.bounded(nodes, "runner", MOST_RUNNER_LABELS);
        let mut labels: Vec<String> = Vec::new();
        for label in nodes {
            let text = label.text()?;
            if !is_label(text) {
                let message = format!("`{text}` is not a valid runner label");
                self.fault(
                    &codes::BAD_NAME,
                    label,
                    message,
                    "use only letters, digits, `-`, `_` and `.`",
                );
                return None;
            }
            if let Some(os) = self.lookups.runners.get(text) {
                self.system(text, os, label);
            }
            if labels.iter().any(|known| known.eq_ignore_ascii_case(text)) {
                self.fault(
                    &codes::DUPLICATE_VALUE,
                    label,
                    format!("the label `{text}` is listed twice"),
                    "remove one",
                );
            }
            labels.push(text.to_owned());
        }
        if labels.is_empty() && group.is_none() {
            let message = "`runner` names no runners";
            self.fault(
                &codes::BAD_NAME,
                node,
                message,
                "write a label, a list of labels, or `{group: NAME, labels: […]}`",
            );
            return None;
        }
        Some(RunnerSelector {
            group: group.map(str::to_owned),
            labels,
        })
    }

    /// Reads a runner label. An unknown one is a warning, because self-hosted runners have their
    /// own labels; `if_self_hosted` is the advice for these.
    pub(super) fn runner_label(&mut self, node: &Node, if_self_hosted: &str) -> Option<String> {
        let text = node.text()?;
        if !is_label(text) {
            let message = format!(
                "`{text}` is not a valid runner label: only letters, digits, `-`, `_` and `.` are \
                 allowed"
            );
            self.fault(
                &codes::BAD_NAME,
                node,
                message,
                "write the label of one runner",
            );
            return None;
        }
        let known = &self.lookups.runners;
        if let Some(os) = known.get(text) {
            self.system(text, os, node);
        } else if !known.is_empty() {
            let near = nearest(text, known.keys().map(String::as_str));
            let help = match near {
                Some(near) => format!(
                    "did you mean `{near}`? If it is the label of a self-hosted runner, \
                     {if_self_hosted}"
                ),
                None => format!(
                    "check its spelling; if it is the label of a self-hosted runner, \
                     {if_self_hosted}"
                ),
            };
            self.fault(
                &codes::UNKNOWN_RUNNER,
                node,
                format!("unknown runner `{text}`"),
                help,
            );
        }
        Some(text.to_owned())
    }

    /// Checks that a runner has the operating system that the wheels are for.
    fn system(&mut self, label: &str, os: &str, node: &Node) {
        let Some((platform, at)) = self.platform.and_then(|node| Some((node.text()?, node))) else {
            return;
        };
        if platform == os {
            return;
        }
        // A default has no location.
        let at = if node.span.is_empty() { at } else { node };
        let message = format!("`{label}` runs {os}, but the jobs are for {platform}");
        let help = format!(
            "set `runner` to one with {platform}; `rock-matrix compat list runners` shows the \
             known ones"
        );
        self.fault(&codes::OTHER_SYSTEM, at, message, help);
    }

    /// Returns the location of a value without the text around it, for values that must not be
    /// repeated in logs.
    fn hidden(&self, node: &Node) -> Location {
        Location::SecretText {
            source: self.source.clone(),
            span: node.span.clone(),
        }
    }

    /// Reads the names of secrets, without duplicates.
    pub(super) fn secrets(&mut self, nodes: &[Node]) -> Vec<String> {
        let mut found = IndexSet::new();
        for node in self.bounded(nodes, "secrets", MOST_SECRETS) {
            let Some(text) = node.text() else { continue };
            if !is_secret_word(text) {
                // The text itself is not repeated: it may be the secret.
                let help = "list names such as `HF_TOKEN`; GitHub stores the values";
                self.push(
                    Diagnostic::new(
                        &codes::BAD_SECRET_NAME,
                        "names of secrets have only capitals, digits and `_`",
                    )
                    .at(self.hidden(node), "")
                    .help(help),
                );
            } else if is_taken(text) {
                let message = format!("`{text}` is not a valid secret name: {TAKEN_BY}");
                self.fault(
                    &codes::BAD_SECRET_NAME,
                    node,
                    message,
                    "rename the secret, also on GitHub",
                );
            } else if !found.insert(text.to_owned()) {
                self.fault(
                    &codes::DUPLICATE_VALUE,
                    node,
                    format!("the secret `{text}` is listed twice"),
                    "remove one",
                );
            }
        }
        found.into_iter().collect()
    }

    /// Returns a list's entries up to the limit; a longer list is an error.
    pub(super) fn bounded<'n>(
        &mut self,
        entries: &'n [Node],
        name: &str,
        most: usize,
    ) -> &'n [Node] {
        let Some(beyond) = entries.get(most) else {
            return entries;
        };
        let message = format!(
            "`{name}` has {} entries, but at most {most} are allowed",
            entries.len()
        );
        self.fault(
            &codes::TOO_MANY_ENTRIES,
            beyond,
            message,
            "remove entries that no build needs",
        );
        &entries[..most]
    }

    /// Reads the index addresses by name, with layouts expanded by their base. Also returns whether
    /// the ROCm index has extras for device code.
    pub(super) fn indexes(
        &mut self,
        entries: &[(rock_yaml::MapKey, Node)],
        release_type: Option<&ReleaseTypeRow>,
    ) -> (indexmap::IndexMap<String, String>, bool) {
        let node = |name: &str| {
            entries
                .iter()
                .find(|(key, _)| key.text == name)
                .map(|(_, node)| node)
        };
        if let (Some(_), Some(links)) = (node("rocm"), node("find-links")) {
            let message = "`rocm` and `find-links` both set where ROCm packages come from";
            self.fault(&codes::BAD_INDEX, links, message, "remove one of them");
        }
        let base = node("base").and_then(|base| self.index_address(base));
        let (mut found, mut device_extras) = (indexmap::IndexMap::new(), false);
        for (key, node) in entries.iter().filter(|(key, _)| key.text != "base") {
            let text = node.text().unwrap_or_default();
            let lookups = self.lookups;
            let layout = lookups.index_templates.iter().find(|row| row.name == text);
            let Some(layout) = layout else {
                found.extend(
                    self.index_address(node)
                        .map(|address| (key.text.clone(), address)),
                );
                continue;
            };
            let Some(base) = base.as_deref().or(Some(&layout.base)
                .filter(|base| !base.is_empty())
                .map(String::as_str))
            else {
                let message = format!("`{text}` is an index layout without a known server");
                self.fault(
                    &codes::BAD_INDEX,
                    node,
                    message,
                    "add `base:` with the server's URL",
                );
                continue;
            };
            device_extras |= layout.device_extras;
            let stream = release_type
                .map(|row| row.stream.as_str())
                .filter(|stream| !stream.is_empty());
            let stream = stream.unwrap_or(&layout.stream);
            let address = layout
                .template
                .replace("{base}", base.trim_end_matches('/'))
                .replace("{stream}", stream);
            found.insert(key.text.clone(), address);
        }
        (found, device_extras)
    }

    /// Reads the address of an index.
    pub(super) fn index_address(&mut self, node: &Node) -> Option<String> {
        let text = node.text()?;
        let found = index_host(text);
        let host = found.unwrap_or_default();
        let (message, help) = if found.is_none() {
            (
                format!("an index URL must begin with `https://`, not `{text}`"),
                "write the full URL",
            )
        } else if host.contains('@') {
            let message = "an index URL must not contain a user name or a password";
            self.push(
                Diagnostic::new(&codes::BAD_INDEX, message)
                    .at(self.hidden(node), "")
                    .help("remove it, and list the secret's name under `secrets`"),
            );
            return None;
        } else if host.is_empty() || has_address_breaker(text) {
            (
                format!(
                    "`{text}` is not a valid index URL: it must not contain spaces, quotes or \
                     brackets"
                ),
                "write the full URL, percent-encoded if needed",
            )
        } else {
            return Some(text.to_owned());
        };
        self.fault(&codes::BAD_INDEX, node, message, help);
        None
    }

    /// Reads the arguments of the container, each a single word.
    pub(super) fn docker_args(&mut self, nodes: &[Node]) -> Vec<String> {
        let mut found = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let Some(text) = node.text() else { continue };
            match docker_argument_fault(number, text) {
                Some((message, help)) => {
                    self.fault(&codes::BAD_DOCKER_ARGUMENT, node, message, help);
                }
                None => found.push(text.to_owned()),
            }
        }
        found
    }

    /// Reads the recipe variables of the file.
    pub(super) fn file_vars(
        &mut self,
        file: &Node,
        recipe: &str,
    ) -> indexmap::IndexMap<String, String> {
        let is_map = file.get("vars").is_none_or(|node| node.entries().is_some());
        let vars = self.vars(entries(file, "vars"), recipe);
        // An unknown key may be a misspelled `vars`.
        self.complete.vars &= is_map && !(vars.is_empty() && self.has_unknown_keys);
        vars
    }

    /// Reads the recipe variables. Each must exist in the recipe and have a value inside the
    /// repository; the value is on or off if the recipe's own value is one of them.
    pub(super) fn vars(
        &mut self,
        entries: &[(rock_yaml::MapKey, Node)],
        recipe: &str,
    ) -> indexmap::IndexMap<String, String> {
        let known = self.lookups.recipes.known(recipe);
        let mut found = indexmap::IndexMap::new();
        for (key, node) in entries {
            let Some(text) = node.text() else {
                self.complete.vars = false;
                continue;
            };
            if let Some(words) = &known
                && !words.vars.contains_key(&key.text)
            {
                let near = nearest(&key.text, words.vars.keys().map(String::as_str));
                let help = match near {
                    Some(near) => format!("write `{near}`"),
                    None if words.vars.is_empty() => {
                        "remove it: the recipe has no variables".into()
                    }
                    None => format!(
                        "the recipe's variables are {}",
                        words
                            .vars
                            .keys()
                            .map(String::as_str)
                            .collect::<Vec<_>>()
                            .join(", ")
                    ),
                };
                let message = with_nearest(
                    format!("recipe `{recipe}` has no variable `{}`", key.text),
                    near,
                );
                self.push(
                    Diagnostic::new(&build::UNKNOWN_VARIABLE, message)
                        .at(self.source.location(key.span.clone()), "")
                        .help(help),
                );
                self.complete.vars = false;
                continue;
            }
            let default = known
                .as_ref()
                .and_then(|words| words.vars.get(&key.text))
                .map(String::as_str);
            if default.is_some_and(|default| SWITCH.contains(&default)) && !SWITCH.contains(&text) {
                let message = format!("`{}: {text}` is neither on nor off", key.text);
                self.fault(
                    &codes::UNKNOWN_WORD,
                    node,
                    message,
                    "write `\"on\"` or `\"off\"`",
                );
                self.complete.vars = false;
                continue;
            }
            if leaves_the_repository(text) {
                let message = format!("`{text}` is a path that leaves the repository");
                self.fault(
                    &codes::PATH_LEAVES,
                    node,
                    message,
                    "use a path below the repository's root",
                );
                self.complete.vars = false;
                continue;
            }
            found.insert(key.text.clone(), text.to_owned());
        }
        found
    }
}

/// Returns the error of a container argument with the zero-based index `number`, as a message and a
/// help.
pub fn docker_argument_fault(number: usize, text: &str) -> Option<(String, String)> {
    if text.is_empty() {
        return Some((
            "an argument of the container is empty".to_owned(),
            "remove it".to_owned(),
        ));
    }
    if number == 0 && !text.starts_with('-') {
        let message = format!(
            "the first argument of the container is `{text}`, which docker would interpret as the \
             image"
        );
        return Some((
            message,
            "start with an option such as `--env=NAME=value`".to_owned(),
        ));
    }
    let (option, value) = two_words(text)?;
    let help = format!("write `[\"{option}\", \"{value}\"]`, or `{option}={value}`");
    Some((
        format!("`{text}` is an option and its value in one argument"),
        help,
    ))
}

/// Splits a text such as `--env NAME` or `-v /a:/b` into option and value.
fn two_words(text: &str) -> Option<(&str, &str)> {
    let (option, value) = text.split_once(char::is_whitespace)?;
    (option.starts_with('-') && !option.contains('=')).then(|| (option, value.trim()))
}

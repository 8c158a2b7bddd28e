//! The gfx targets and target families.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::ConfigReader;
use crate::codes::matrix as codes;
use crate::config::GfxSelection;
use crate::config::fields::DEFAULT_GFX;
use crate::config::limits::MOST_TARGETS;
use rock_compat::{Compat, related_targets, similar_gfx_names};
use rock_diagnostic::{Diagnostic, nearest::did_you_mean};
use rock_names::{GfxTarget, ProductName};
use rock_yaml::Node;

impl ConfigReader<'_> {
    /// Reads the selected targets, with families expanded. `host` must be the only entry.
    pub(super) fn gfx(&mut self, nodes: &[Node]) -> GfxSelection {
        if let Some(host) = nodes.iter().find(|node| node.text() == Some("host")) {
            if nodes.len() > 1 {
                let message = "`host` cannot be combined with other gfx targets";
                self.fault(
                    &codes::BAD_GFX,
                    host,
                    message,
                    "write only `[host]`, or list the targets",
                );
            }
            return GfxSelection::Host;
        }
        GfxSelection::Targets(self.targets(nodes))
    }

    /// Reads the targets of `gfx-fallback`, which only `gfx: [host]` uses.
    pub(super) fn gfx_fallback(&mut self, nodes: &[Node], gfx: &GfxSelection) -> Vec<GfxTarget> {
        if let Some(first) = nodes.first()
            && *gfx != GfxSelection::Host
        {
            let message = "`gfx-fallback` has no effect without `gfx: [host]`";
            self.fault(
                &codes::BAD_GFX,
                first,
                message,
                "write `gfx: [host]`, or remove `gfx-fallback`",
            );
        }
        self.targets(nodes)
    }

    /// Reads a list of targets without `host`.
    pub(super) fn targets(&mut self, nodes: &[Node]) -> Vec<GfxTarget> {
        let mut found = IndexSet::new();
        let mut written: BTreeMap<&str, &Node> = BTreeMap::new();
        for node in self.bounded(nodes, "gfx", MOST_TARGETS) {
            let Some(text) = node.text() else { continue };
            if let Some(first) = written.get(text) {
                self.push(
                    Diagnostic::new(
                        &codes::DUPLICATE_VALUE,
                        format!("the gfx target `{text}` is listed twice"),
                    )
                    .at(self.source.location(node.span.clone()), "again here")
                    .also(self.source.location(first.span.clone()), "first here")
                    .help("remove one"),
                );
                continue;
            }
            written.insert(text, node);
            // A target may be in two families.
            found.extend(self.target_or_family(text, node));
        }
        found.into_iter().collect()
    }

    /// Reads one value of a gfx axis: targets and families joined with `;`.
    pub(super) fn gfx_value(&mut self, text: &str, node: &Node) -> Option<Vec<GfxTarget>> {
        let mut found: Vec<GfxTarget> = Vec::new();
        if text.split(';').nth(MOST_TARGETS).is_some() {
            let message = format!("the value has more than {MOST_TARGETS} gfx targets");
            self.fault(
                &codes::TOO_MANY_ENTRIES,
                node,
                message,
                "remove targets that no build needs",
            );
            return None;
        }
        for part in text.split(';') {
            let targets = self.target_or_family(part, node);
            if targets.is_empty() {
                return None;
            }
            found.extend(targets);
        }
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|target| seen.insert(target.clone()));
        Some(found)
    }

    /// Warns about an unknown target. New targets appear before the compatibility data has them, so
    /// this is not an error.
    fn warn_of_unknown(&mut self, target: &GfxTarget, node: &Node) {
        let processor = target.processor();
        if self.lookups.is_known_gfx(processor) {
            return;
        }
        let help = match related_targets(processor, self.lookups.known_gfx()) {
            Some((prefix, related)) => format!(
                "known targets that begin with `{prefix}`: {}; if the target is newer than the \
                 compatibility data, ignore this",
                related.join(", ")
            ),
            None => "check its spelling; if the target is newer than the compatibility data, \
                     ignore this"
                .to_owned(),
        };
        let message = format!("unknown gfx target `{processor}`");
        self.fault(&codes::UNKNOWN_GFX, node, message, help);
    }

    fn target_or_family(&mut self, text: &str, node: &Node) -> Vec<GfxTarget> {
        if let Some(members) = self.lookups.families.get(text) {
            return members.clone();
        }
        match text.parse() {
            Ok(target) => {
                self.warn_of_unknown(&target, node);
                vec![target]
            }
            Err(_) => {
                if let Some(target) = self.lookups.products().get(&ProductName::new(text)) {
                    return vec![target.clone()];
                }
                let families = self.lookups.families.keys().map(String::as_str);
                let members = self
                    .lookups
                    .families
                    .values()
                    .flatten()
                    .map(ToString::to_string);
                let targets = self.lookups.known_gfx().iter().cloned();
                let products = self.lookups.compat.map(Compat::gfx_names);
                let products = products.unwrap_or_default().into_iter();
                let known: Vec<String> = families
                    .map(str::to_owned)
                    .chain(members)
                    .chain(targets)
                    .chain(products.map(str::to_owned))
                    .collect();
                let near = similar_gfx_names(text, known.iter().map(String::as_str));
                let help = match near.as_slice() {
                    _ if text == "none" => format!(
                        "remove the line to build for {DEFAULT_GFX}; for a wheel without code for \
                         a GPU, set `device-code: false` for the backend of your own recipe"
                    ),
                    [near] => format!("write `{near}`"),
                    [] if text == "host" => "`host` is only allowed in the `gfx` field, as the \
                        only entry".into(),
                    [] => {
                        "write a target such as `gfx942`, a family such as `gfx110X-all`, or a product such as `mi300x`"
                            .into()
                    }
                    _ => "write one of these names".into(),
                };
                let mut message = format!("`{text}` is not a gfx target, a family or a product");
                if !near.is_empty() {
                    message = format!("{message}; {}", did_you_mean(&near));
                }
                self.fault(&codes::BAD_GFX, node, message, help);
                Vec::new()
            }
        }
    }
}

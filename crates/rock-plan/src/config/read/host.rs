//! Resolves `rocm: [host]` to the ROCm of this machine.

use super::ConfigReader;
use crate::codes::plan as codes;
use crate::config::HostValue;
use rock_yaml::{Node, NodeValue};

/// The keyword for this machine.
const HOST: &str = "host";

impl ConfigReader<'_> {
    /// Replaces each `host` in the axis `rocm` with the ROCm of this machine, and returns these
    /// values.
    pub(super) fn resolve_host(&mut self, whole: &mut Node) -> Vec<HostValue> {
        let Some(values) = entry(whole, "axes").and_then(|axes| entry(axes, "rocm")) else {
            return Vec::new();
        };
        let NodeValue::List(items) = &mut values.value else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (index, node) in items
            .iter_mut()
            .enumerate()
            .filter(|(_, node)| node.text() == Some(HOST))
        {
            found.push(HostValue::Rocm { index });
            let Some(version) = self.lookups.host_rocm.find() else {
                let message = "`rocm: [host]` needs one ROCm installation on this machine, but \
                    there is none, or several";
                let help = "write the version, or select an installation with ROCM_PATH; \
                    `rock-matrix doctor` shows those it finds";
                self.fault(&codes::HOST_WITHOUT_ROCM, node, message, help);
                // An empty value yields no second error.
                node.value = NodeValue::Null;
                continue;
            };
            if let NodeValue::Scalar(scalar) = &mut node.value {
                version.as_str().clone_into(&mut scalar.text);
            }
        }
        found
    }
}

fn entry<'n>(node: &'n mut Node, name: &str) -> Option<&'n mut Node> {
    match &mut node.value {
        NodeValue::Map(entries) => entries
            .iter_mut()
            .find(|(key, _)| key.text == name)
            .map(|(_, node)| node),
        _ => None,
    }
}

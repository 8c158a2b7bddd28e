//! Selection and parsing of the text files in packages.

use std::collections::BTreeMap;

use serde_json::Value;

use rock_wheel::entry_point_lines;

/// Whether a member of a wheel is a text file that checks read: modules next to the directory of
/// files, console scripts, and the file list of a device package.
pub fn is_read(member: &str) -> bool {
    let parts: Vec<&str> = member.split('/').collect();
    match parts.as_slice() {
        [top, file] if top.ends_with(".dist-info") => *file == "entry_points.txt",
        [top, file] => {
            !top.starts_with('_')
                && file
                    .rsplit_once('.')
                    .is_some_and(|(_, ending)| ending == "py")
        }
        [_, directory, _] => *directory == ".devel_links",
        _ => false,
    }
}

/// The values that a build appended to `_dist_info.py`: the last literal assigned to each name, and
/// the items appended to lists.
///
/// This program writes JSON literals. `TheRock`'s builder writes those of Python's `repr` and
/// appends targets one by one. In its entry of `ALL_PACKAGES`, the libraries package is marked as
/// one for all targets (ROCm/TheRock, `build_tools/_therock_utils/py_packaging.py`, `Parameters`).
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct AssignedValues<'t>(BTreeMap<&'t str, Value>);

/// The variable to which `TheRock`'s builder assigns the name of the libraries package.
const TEMPLATE_OF_LIBRARIES: &str = "ALL_PACKAGES[\"libraries\"].dist_package_template";

impl<'t> AssignedValues<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let mut values: BTreeMap<&'t str, Value> = BTreeMap::new();
        let is_name = |name: &str| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        for line in text.lines() {
            if let Some((name, value)) = line.split_once(" = ")
                && let Some(value) = literal(value)
            {
                if name == TEMPLATE_OF_LIBRARIES {
                    values.insert("LIBRARIES_DIST_TEMPLATE", value);
                } else if is_name(name) {
                    values.insert(name, value);
                }
            } else if let Some((name, rest)) = line.split_once(".append(")
                && is_name(name)
                && let Some(value) = rest.strip_suffix(')').and_then(literal)
            {
                let list = values
                    .entry(name)
                    .or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = list {
                    list.push(value);
                }
            }
        }
        Self(values)
    }

    /// Returns the string assigned to a name.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(str::to_owned)
    }

    /// Returns the strings of a list; empty if there is no such list.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let texts = self
            .0
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        texts.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns the string under a key of a map.
    pub(super) fn entry(&self, name: &str, key: &str) -> Option<&str> {
        self.0.get(name)?.get(key)?.as_str()
    }
}

/// Parses a JSON literal, or a single-quoted Python string without backslashes.
fn literal(text: &str) -> Option<Value> {
    let quoted = text
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''));
    match quoted.filter(|inner| !inner.contains(['\'', '\\'])) {
        Some(inner) => Some(Value::String(inner.to_owned())),
        None => serde_json::from_str(text).ok(),
    }
}

/// A console script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConsoleScript<'t> {
    /// The name of the command.
    pub(super) name: &'t str,
    /// The dotted module name, `rocm_sdk_core._cli`.
    pub(super) module: &'t str,
    /// The function in the module.
    pub(super) function: &'t str,
}

/// Returns the console scripts of `entry_points.txt` (entry points specification, "File format").
pub(super) fn scripts(text: &str) -> Vec<ConsoleScript<'_>> {
    let mut is_of_console = false;
    let mut scripts = Vec::new();
    for line in entry_point_lines(text) {
        if line.starts_with('[') {
            is_of_console = line == "[console_scripts]";
        } else if let Some((name, (module, function))) = line
            .split_once('=')
            .and_then(|(name, value)| Some((name, value.split_once(':')?)))
            && is_of_console
        {
            scripts.push(ConsoleScript {
                name: name.trim(),
                module: module.trim(),
                function: function.trim(),
            });
        }
    }
    scripts
}

#[cfg(test)]
mod tests {
    use super::{AssignedValues, ConsoleScript, is_read, scripts};

    #[test]
    fn the_last_assignment_of_a_name_counts_and_what_is_no_literal_is_passed_over() {
        let assigned = AssignedValues::read(
            "__version__ = \"0\"\nA: List[str] = []\n  B = 1\nC = f(x)\n__version__ = \"7.1\"\nL = [\"a\"]\n",
        );
        assert_eq!(assigned.text("__version__").as_deref(), Some("7.1"));
        assert_eq!(
            (assigned.text("C"), assigned.list("L")),
            (None, vec!["a".to_owned()])
        );
    }

    #[test]
    fn what_the_builder_of_therock_writes_is_read_too() {
        let assigned = AssignedValues::read(
            "__version__ = \"DEFAULT\"\nAVAILABLE_TARGET_FAMILIES: list[str] = []\n__version__ = '7.10.0a20251120'\n\
             PY_PACKAGE_SUFFIX_NONCE = ''\nALL_PACKAGES[\"libraries\"].dist_package_template = \"rocm-sdk-libraries\"\n\
             AVAILABLE_TARGET_FAMILIES.append('gfx1100')\nAVAILABLE_TARGET_FAMILIES.append('gfx942:xnack+')\n\
             result.append(name)\n",
        );
        assert_eq!(
            assigned.text("__version__").as_deref(),
            Some("7.10.0a20251120")
        );
        assert_eq!(
            assigned.text("PY_PACKAGE_SUFFIX_NONCE").as_deref(),
            Some("")
        );
        assert_eq!(
            assigned.text("LIBRARIES_DIST_TEMPLATE").as_deref(),
            Some("rocm-sdk-libraries")
        );
        assert_eq!(
            assigned.list("AVAILABLE_TARGET_FAMILIES"),
            ["gfx1100", "gfx942:xnack+"]
        );
    }

    #[test]
    fn scripts_of_other_groups_are_none_of_the_console() {
        let found = scripts("[console_scripts]\na++ = m._cli:app\n\n[other]\nb = m:b\n");
        assert_eq!(
            found,
            [ConsoleScript {
                name: "a++",
                module: "m._cli",
                function: "app"
            }]
        );
        let found = scripts("[other]\nb = m:b\r[console_scripts]\u{2028}# c = m:c\u{b}d = m:d\n");
        assert_eq!(
            found,
            [ConsoleScript {
                name: "d",
                module: "m",
                function: "d"
            }]
        );
    }

    #[test]
    fn modules_are_read_and_files_of_the_sdk_are_not() {
        for member in [
            "rocm_sdk_core/_cli.py",
            "x-1.dist-info/entry_points.txt",
            "_l/.devel_links/gfx942.json",
        ] {
            assert!(is_read(member), "{member}");
        }
        for member in [
            "_rocm_sdk_core/__init__.py",
            "_rocm_sdk_core/lib/x.py",
            "x-1.dist-info/RECORD",
            "a/b/c/d",
        ] {
            assert!(!is_read(member), "{member}");
        }
    }
}

//! The file `entry_points.txt`: groups of names for objects in modules.
//!
//! An entry point is invalid if one of these refuses it, or two of them read it differently: pip
//! (importlib.metadata's `Sectioned`, distlib's `get_export_entry` and pip's
//! `_raise_for_invalid_entrypoint`), uv (`uv-install-wheel/src/script.rs`, `wheel.rs`) and the
//! specification (packaging.python.org, "Entry points specification").

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

/// Maximum number of invalid entry points returned.
const MAX_ERRORS: usize = 50;
/// Groups whose entries are installed as programs.
const SCRIPT_GROUPS: [&str; 2] = ["console_scripts", "gui_scripts"];

/// Characters other than line feeds at which Python's `str.splitlines` ends a line (Python library
/// reference, "Built-in Types"). importlib.metadata, and so pip, reads another entry or group after
/// each of them; uv only after a carriage return.
const OTHER_LINE_ENDS: [char; 9] = [
    '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}',
];

/// The value of a script, `MODULE:FUNCTION` with optional extras. `\w` is Unicode-aware, as in
/// Python and uv.
static SCRIPT_VALUE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\w+(\.\w+)*:\w+(\.\w+)*(\s*\[\s*[\w-]+(,\s*\w+)*\s*\])?$")
        .expect("it is tried in a test")
});

/// An error in a line of `entry_points.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidEntryPoint {
    /// Line number, from 1.
    pub line: usize,
    /// A sentence that describes the error.
    pub reason: String,
}

/// Returns the groups and entries of the text, trimmed, as importlib.metadata reads them: without
/// comments and empty lines.
pub fn entry_point_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(parts)
}

/// Returns the groups and entries of a line that ends with a line feed.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    line.split(OTHER_LINE_ENDS)
        .map(str::trim)
        .filter(|part| !part.is_empty() && !part.starts_with('#'))
}

/// Returns the entry points and groups that installers refuse, in the order of the lines; at most
/// 50.
pub fn invalid_entry_points(text: &str) -> Vec<InvalidEntryPoint> {
    let mut groups = HashSet::new();
    let mut names = HashSet::new();
    let mut group = None;
    let mut errors = Vec::new();
    for (number, line) in text.lines().enumerate() {
        errors.extend(line_end_error(line).map(|reason| InvalidEntryPoint {
            line: number + 1,
            reason,
        }));
        for line in parts(line).take(MAX_ERRORS) {
            let reason = if let Some(header) = line.strip_prefix('[') {
                let name = header.strip_suffix(']').unwrap_or_default();
                group = Some(name);
                group_error(name, line).or_else(|| {
                    (!groups.insert(name)).then(|| format!("the group `{name}` is defined twice"))
                })
            } else if let Some(group) = group {
                let entry = line
                    .split_once('=')
                    .map(|(name, value)| (name.trim(), value.trim()));
                entry_error(group, line, entry).or_else(|| {
                    let (name, _) = entry?;
                    (!names.insert((group, name)))
                        .then(|| format!("`{name}` is defined twice in the group `{group}`"))
                })
            } else {
                Some(format!("`{}` is not in a group", excerpt(line)))
            };
            errors.extend(reason.map(|reason| InvalidEntryPoint {
                line: number + 1,
                reason,
            }));
        }
        if errors.len() >= MAX_ERRORS {
            break;
        }
    }
    errors.truncate(MAX_ERRORS);
    errors
}

/// Returns an error for a line that some readers split into several.
fn line_end_error(line: &str) -> Option<String> {
    let end = line.chars().find(|c| OTHER_LINE_ENDS.contains(c))?;
    Some(format!(
        "it contains the character U+{:04X}, which only some installers treat as a line end",
        u32::from(end)
    ))
}

/// Returns an error for a group that is not words separated by dots ("Entry points specification",
/// "Data model").
fn group_error(name: &str, line: &str) -> Option<String> {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || "_-".contains(c))
    };
    (!name.split('.').all(is_word))
        .then(|| format!("`{}` is not a valid group header", excerpt(line)))
}

fn entry_error(group: &str, line: &str, entry: Option<(&str, &str)>) -> Option<String> {
    // importlib.metadata fails on a line without `=`; in configparser, and so in uv, `;` starts a
    // comment.
    let Some((name, value)) = entry.filter(|(name, _)| !name.is_empty() && !name.starts_with(';'))
    else {
        return Some(format!("`{}` is not `NAME = MODULE:OBJECT`", excerpt(line)));
    };
    if value.is_empty() {
        return Some(format!("`{}` has no value", excerpt(name)));
    }
    if !SCRIPT_GROUPS.contains(&group) {
        return None;
    }
    // pip and uv join the name to the directory of scripts. distlib reads only the last word of a
    // name with spaces.
    if name.contains(['/', '\\']) || [".", ".."].contains(&name) {
        return Some(format!(
            "the script `{}` would be outside the directory for scripts",
            excerpt(name)
        ));
    }
    if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some(format!(
            "the script `{}` has a space or control character in its name",
            excerpt(name)
        ));
    }
    if let Some(reserved) = reserved_script(name) {
        return Some(format!(
            "the script `{}` replaces `{reserved}` of the environment",
            excerpt(name)
        ));
    }
    (!SCRIPT_VALUE.is_match(value)).then(|| {
        format!(
            "the script `{}` has the value `{}`, which is not `MODULE:FUNCTION`",
            excerpt(name),
            excerpt(value)
        )
    })
}

/// Returns the program of an environment that a script with this name replaces, ignoring case,
/// `.exe` and `.py` (uv: `reserved_script_name`).
pub(super) fn reserved_script(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let stem = lower.strip_suffix(".exe").unwrap_or(&lower);
    let stem = stem.strip_suffix(".py").unwrap_or(stem);
    let is_number = |text: &str| text.parse::<u8>().is_ok();
    let is_python =
        |minor: &str| is_number(minor) || minor.strip_suffix('t').is_some_and(is_number);
    let versioned = ["python3.", "pythonw3."]
        .iter()
        .find_map(|prefix| stem.strip_prefix(prefix));
    let is_reserved = [
        "python", "pythonw", "python3", "graalpy", "pypy", "pypy2", "pypy3",
    ]
    .contains(&stem)
        || versioned.is_some_and(is_python);
    is_reserved.then(|| stem.to_owned())
}

fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{entry_point_lines, invalid_entry_points};

    /// Line endings, comments, indentation, extras, other groups.
    #[test]
    fn valid_entry_points_have_no_errors() {
        let text = "# made\n\n[console_scripts]\r\ndemo = demo.cli:main\r\n  demo-gpu=demo.cli:App.run [gpu, all]\n\
                    x86_64-linux-gnu-g++ = demo:main\n[gui_scripts]\ndemo = demo:gui\n\
                    [demo.plugins_v-1]\nany name = demo\nother = demo.plug:Plugin.x\n";
        assert_eq!(invalid_entry_points(text), []);
        assert_eq!(invalid_entry_points(""), []);
    }

    #[test]
    fn refused_entry_points_are_reported_by_line() {
        let text = "stray = a:b\n[console_scripts]\n../foo = case:main\nsub/foo = case:main\n.. = case:main\n\
                    foo\nfoo =\n= case:main\n;foo = case:main\nmy tool = case:main\nPython3.12 = case:main\n\
                    python.exe = case:main\na = case\nb = case:\nc = :main\nd = case:main:x\ne = case main\n\
                    f = case : main\ng = my-case:main\nh = case:main [\ni = case:main # note\nj = case:main [a.b]\n\
                    twice = case:main\ntwice = case:other\n[gui_scripts]\n[console_scripts]\n[bad group]\n[open\n[]\n";
        let lines: String = invalid_entry_points(text)
            .iter()
            .map(|error| format!("{}: {}\n", error.line, error.reason))
            .collect();
        insta::assert_snapshot!(lines, @r"
        1: `stray = a:b` is not in a group
        3: the script `../foo` would be outside the directory for scripts
        4: the script `sub/foo` would be outside the directory for scripts
        5: the script `..` would be outside the directory for scripts
        6: `foo` is not `NAME = MODULE:OBJECT`
        7: `foo` has no value
        8: `= case:main` is not `NAME = MODULE:OBJECT`
        9: `;foo = case:main` is not `NAME = MODULE:OBJECT`
        10: the script `my tool` has a space or control character in its name
        11: the script `Python3.12` replaces `python3.12` of the environment
        12: the script `python.exe` replaces `python` of the environment
        13: the script `a` has the value `case`, which is not `MODULE:FUNCTION`
        14: the script `b` has the value `case:`, which is not `MODULE:FUNCTION`
        15: the script `c` has the value `:main`, which is not `MODULE:FUNCTION`
        16: the script `d` has the value `case:main:x`, which is not `MODULE:FUNCTION`
        17: the script `e` has the value `case main`, which is not `MODULE:FUNCTION`
        18: the script `f` has the value `case : main`, which is not `MODULE:FUNCTION`
        19: the script `g` has the value `my-case:main`, which is not `MODULE:FUNCTION`
        20: the script `h` has the value `case:main [`, which is not `MODULE:FUNCTION`
        21: the script `i` has the value `case:main # note`, which is not `MODULE:FUNCTION`
        22: the script `j` has the value `case:main [a.b]`, which is not `MODULE:FUNCTION`
        24: `twice` is defined twice in the group `console_scripts`
        26: the group `console_scripts` is defined twice
        27: `[bad group]` is not a valid group header
        28: `[open` is not a valid group header
        29: `[]` is not a valid group header
        ");
    }

    /// The characters at which `str.splitlines` of Python 3 ends a line, found by trying all. Other
    /// spaces do not end one.
    #[test]
    fn ambiguous_line_ends_are_refused() {
        let ends = "\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}";
        for end in ends.chars() {
            let text = format!("[x]\na = b{end}[console_scripts]{end}../evil = m:f\n");
            let errors = invalid_entry_points(&text);
            let character = format!("U+{:04X}", u32::from(end));
            assert!(
                errors[0].line == 2 && errors[0].reason.contains(&character),
                "{character}: {errors:?}"
            );
            assert!(
                errors[1].reason.contains("`../evil` would be outside"),
                "{character}: {errors:?}"
            );
            let lines: Vec<&str> = entry_point_lines(&text).collect();
            assert_eq!(
                lines,
                ["[x]", "a = b", "[console_scripts]", "../evil = m:f"],
                "{character}"
            );
        }
        assert_eq!(
            invalid_entry_points("[x]\r\na\u{1f}\u{a0}\u{2003}= b\r\n"),
            []
        );
        assert_eq!(invalid_entry_points("[x]\na = b\r").len(), 1);
    }

    #[test]
    fn at_most_50_errors_are_returned() {
        let one_line = format!("[x]{}", "\rstray".repeat(100_000));
        assert_eq!(invalid_entry_points(&one_line).len(), 50);
        assert_eq!(invalid_entry_points(&"[x]\n".repeat(100_000)).len(), 50);
    }
}

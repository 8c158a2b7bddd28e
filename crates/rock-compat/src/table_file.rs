//! YAML files of tables in `matrices/compat`, and patches of them.
//!
//! Input: rows. Output: the text of the file, or a unified diff for `git apply` and `patch -p1`.
//!
//! **Invariant:** the text of the embedded rows equals the file in the repository.

use std::collections::HashSet;
use std::fmt::Write;

use super::rows::{ActionRow, Provenance, TorchRequirementRow, TorchRow};

/// Number of context lines around a change, as in `diff -u`.
const CONTEXT: usize = 3;

/// The file of a table.
#[derive(Debug)]
pub struct TableFile<R> {
    /// The path in the repository.
    path: &'static str,
    /// The text before the rows.
    head: &'static str,
    /// The column that identifies a row.
    key: fn(&R) -> &str,
    /// The lines of a row; rows with the same key have the same number of lines.
    lines: fn(&R) -> Vec<String>,
}

/// `torch.yaml`, with six lines for each torch minor version.
pub const TORCH: TableFile<TorchRow> = TableFile {
    path: "matrices/compat/torch.yaml",
    head: "\
# torch minors with the ROCm versions and Pythons that the official index has wheels for.
# `rocm-index` holds the literal suffix of the index path: rocm6.2.4 keeps its patch, rocm7.2 has none.
torch:
",
    key: |row| &row.torch,
    lines: torch_lines,
};

/// `actions.yaml`, with a line for each action.
pub const ACTIONS: TableFile<ActionRow> = TableFile {
    path: "matrices/compat/actions.yaml",
    head: "\
# Commits of the actions that rendered workflows may use. verified: the commit lies in that repository under that tag;
# cited: pinned with that tag by the named projects.
actions:
",
    key: |row| &row.name,
    lines: action_lines,
};

/// `torch-requirements.yaml`, with a line for all releases with the same requirement.
pub const TORCH_REQUIREMENTS: TableFile<TorchRequirementRow> = TableFile {
    path: "matrices/compat/torch-requirements.yaml",
    head: "\
# What the wheels of a torch version require of other packages. The wheels for ROCm require pytorch-triton-rocm (later
# triton-rocm) in the version that those of PyPI require of triton: both are made from .ci/docker/triton_version.txt.
torch-requirements:
",
    key: |row| &row.torch[0],
    lines: requirement_lines,
};

impl<R> TableFile<R> {
    /// Returns the text of the file with these rows.
    pub fn text(&self, rows: &[R]) -> String {
        rows.iter()
            .flat_map(self.lines)
            .fold(self.head.to_owned(), |text, line| text + &line + "\n")
    }

    /// Returns the patch that changes the old rows into the new rows; empty if they are equal. Rows
    /// are matched by key, and must be in the same order.
    pub fn patch(&self, old: &[R], new: &[R]) -> String {
        let (key, row_lines) = (self.key, self.lines);
        let mut lines: Vec<PatchLine> = self
            .head
            .lines()
            .map(|line| PatchLine::Context(line.to_owned()))
            .collect();
        let of_new: HashSet<&str> = new.iter().map(key).collect();
        let mut rest = old.iter().peekable();
        for row in new {
            while let Some(gone) = rest.next_if(|known| !of_new.contains(key(known))) {
                lines.extend(row_lines(gone).into_iter().map(PatchLine::Removed));
            }
            match rest.next_if(|known| key(known) == key(row)) {
                Some(known) => lines.extend(changed(row_lines(known), row_lines(row))),
                None => lines.extend(row_lines(row).into_iter().map(PatchLine::Added)),
            }
        }
        lines.extend(rest.flat_map(row_lines).map(PatchLine::Removed));
        unified(self.path, &lines)
    }
}

enum PatchLine {
    Context(String),
    Removed(String),
    Added(String),
}

fn torch_lines(row: &TorchRow) -> Vec<String> {
    let list = |name: &str, values: &[String]| {
        let quoted: Vec<String> = values.iter().map(|value| quoted(value)).collect();
        format!("    {name}: [{}]", quoted.join(", "))
    };
    vec![
        format!("  - torch: {}", quoted(&row.torch)),
        list("patches", &row.patches),
        list("rocm-index", &row.rocm_index),
        list("python", &row.python),
        list("free-threaded", &row.free_threaded),
        format!("    origin: {}", origin(&row.origin)),
    ]
}

fn action_lines(row: &ActionRow) -> Vec<String> {
    let ActionRow {
        name,
        version,
        sha,
        runtime,
        origin: read,
    } = row;
    let read = origin(read);
    vec![format!(
        "  - {{name: {name}, version: {version}, sha: {sha}, runtime: {runtime}, origin: {read}}}"
    )]
}

fn requirement_lines(row: &TorchRequirementRow) -> Vec<String> {
    let torch: Vec<String> = row.torch.iter().map(|version| quoted(version)).collect();
    let (torch, package, versions) = (torch.join(", "), &row.package, quoted(&row.versions));
    vec![format!(
        "  - {{torch: [{torch}], package: {package}, versions: {versions}, origin: {}}}",
        origin(&row.origin)
    )]
}

fn origin(origin: &Provenance) -> String {
    let mut text = format!(
        "{{status: {}, source: {}",
        origin.status.as_str(),
        origin.source
    );
    for (name, value) in [
        ("ref", quoted(&origin.r#ref)),
        ("checked", origin.checked.clone()),
        ("note", quoted(&origin.note)),
    ] {
        if value != "\"\"" {
            let _ = write!(text, ", {name}: {value}");
        }
    }
    text + "}"
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Compares lines one by one; in a run of changed lines, the removed lines come first.
fn changed(old: Vec<String>, new: Vec<String>) -> Vec<PatchLine> {
    let (mut lines, mut added) = (Vec::new(), Vec::new());
    for (old, new) in old.into_iter().zip(new) {
        if old == new {
            lines.append(&mut added);
            lines.push(PatchLine::Context(old));
        } else {
            lines.push(PatchLine::Removed(old));
            added.push(PatchLine::Added(new));
        }
    }
    lines.append(&mut added);
    lines
}

fn unified(path: &str, lines: &[PatchLine]) -> String {
    let is_change = |line: &PatchLine| !matches!(line, PatchLine::Context(_));
    let changes: Vec<usize> = (0..lines.len())
        .filter(|&at| is_change(&lines[at]))
        .collect();
    let Some(&first) = changes.first() else {
        return String::new();
    };
    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
    let mut hunk = first..first + 1;
    for &at in &changes[1..] {
        if at - hunk.end > 2 * CONTEXT {
            write_hunk(&mut text, lines, &hunk);
            hunk = at..at + 1;
        } else {
            hunk.end = at + 1;
        }
    }
    write_hunk(&mut text, lines, &hunk);
    text
}

fn write_hunk(text: &mut String, lines: &[PatchLine], changes: &std::ops::Range<usize>) {
    let (start, end) = (
        changes.start.saturating_sub(CONTEXT),
        (changes.end + CONTEXT).min(lines.len()),
    );
    let in_old = |lines: &[PatchLine]| {
        lines
            .iter()
            .filter(|line| !matches!(line, PatchLine::Added(_)))
            .count()
    };
    let in_new = |lines: &[PatchLine]| {
        lines
            .iter()
            .filter(|line| !matches!(line, PatchLine::Removed(_)))
            .count()
    };
    let (before, inside) = (&lines[..start], &lines[start..end]);
    let _ = writeln!(
        text,
        "@@ -{},{} +{},{} @@",
        in_old(before) + 1,
        in_old(inside),
        in_new(before) + 1,
        in_new(inside)
    );
    for line in inside {
        let (sign, line) = match line {
            PatchLine::Context(line) => (' ', line),
            PatchLine::Removed(line) => ('-', line),
            PatchLine::Added(line) => ('+', line),
        };
        let _ = writeln!(text, "{sign}{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTIONS, TORCH, quoted};
    use crate::Compat;

    #[test]
    fn texts_equal_the_shipped_files() {
        let compat = Compat::embedded();
        assert_eq!(
            TORCH.text(&compat.tables().torch),
            include_str!("../tables/torch.yaml")
        );
        assert_eq!(
            ACTIONS.text(&compat.tables().actions),
            include_str!("../tables/actions.yaml")
        );
    }

    #[test]
    fn equal_tables_need_no_patch() {
        let rows = Compat::embedded().tables().torch.clone();
        assert_eq!(TORCH.patch(&rows, &rows), "");
    }

    #[test]
    fn patches_have_three_lines_of_context() {
        let rows = Compat::embedded().tables().torch.clone();
        let mut new = rows.clone();
        new[1].patches.push("2.4.2".into());
        let mut added = rows[12].clone();
        added.torch = "2.16".into();
        new.push(added);
        insta::assert_snapshot!(TORCH.patch(&rows, &new), @r#"
        --- a/matrices/compat/torch.yaml
        +++ b/matrices/compat/torch.yaml
        @@ -8,7 +8,7 @@
             free-threaded: []
             origin: {status: verified, source: ti, ref: "585bbc377 2024-04-23", checked: 2026-11-21}
           - torch: "2.4"
        -    patches: ["2.4.0", "2.4.1"]
        +    patches: ["2.4.0", "2.4.1", "2.4.2"]
             rocm-index: ["6.0", "6.1"]
             python: ["3.8", "3.9", "3.10", "3.11", "3.12"]
             free-threaded: []
        @@ -79,3 +79,9 @@
             python: ["3.11", "3.12", "3.13", "3.14", "3.15"]
             free-threaded: ["3.14t", "3.15t"]
             origin: {status: inferred, source: gh, ref: "pytorch/test-infra pull request 8670 and pytorch/pytorch 194919: ROCm of its nightlies; PyPI: 2.15.0 of 2026-10-28 and its Pythons", checked: 2026-11-26, note: "the ROCm indexes are those of the nightlies before the release"}
        +  - torch: "2.16"
        +    patches: ["2.15.0"]
        +    rocm-index: ["7.14", "10.0"]
        +    python: ["3.11", "3.12", "3.13", "3.14", "3.15"]
        +    free-threaded: ["3.14t", "3.15t"]
        +    origin: {status: inferred, source: gh, ref: "pytorch/test-infra pull request 8670 and pytorch/pytorch 194919: ROCm of its nightlies; PyPI: 2.15.0 of 2026-10-28 and its Pythons", checked: 2026-11-26, note: "the ROCm indexes are those of the nightlies before the release"}
        "#);
        let without: Vec<_> = rows
            .iter()
            .filter(|row| row.torch != "2.3")
            .cloned()
            .collect();
        let patch = TORCH.patch(&rows, &without);
        assert!(
            patch.contains("\n@@ -1,12 +1,6 @@\n") && patch.contains("\n-  - torch: \"2.3\"\n"),
            "{patch}"
        );
    }

    #[test]
    fn quotes_are_escaped() {
        assert_eq!(quoted("a \"b\" \\ c\n"), r#""a \"b\" \\ c\u000a""#);
    }
}

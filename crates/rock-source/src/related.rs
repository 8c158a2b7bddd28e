//! `related_commits`: the file in a torch checkout that lists commits of other projects.
//!
//! Input: the contents of the file, one row per line: `os|source|project|branch|commit|origin`.
//! Output: the rows, and a diagnostic with its line for every invalid row.

use std::collections::BTreeMap;

use crate::codes::sources as codes;
use rock_diagnostic::{Diagnostic, Severity, Sink, SourceText, Span, counted};

/// The names of the fields, in order.
const FIELDS: [&str; 6] = ["os", "source", "project", "branch", "commit", "origin"];

/// The treatment of invalid rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStrictness {
    /// Report invalid rows as errors.
    Strict,
    /// Skip invalid rows with a warning.
    Lenient,
}

/// The valid rows of the file.
#[derive(Debug, Clone)]
pub struct RelatedCommits {
    source: SourceText,
    rows: Vec<RelatedRow>,
}

/// A row of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedRow {
    /// The operating system of the row, `ubuntu`.
    pub os: String,
    /// The name of the project in the file, `torchaudio`.
    pub project: String,
    /// The branch that contains the commit.
    pub branch: String,
    /// The commit, 7 to 40 hex digits.
    pub commit: String,
    /// The URL of the repository.
    pub origin: String,
    /// The line number, from 1.
    pub line: usize,
    span: Span,
}

impl RelatedCommits {
    /// Parses the file. Problems are pushed to the sink; two rows of one project with different
    /// commits or repositories are an error with either strictness.
    pub fn parse(source: &SourceText, strictness: RowStrictness, sink: &mut Sink) -> Self {
        let severity = match strictness {
            RowStrictness::Strict => Severity::Error,
            RowStrictness::Lenient => Severity::Warning,
        };
        let mut rows = Vec::new();
        let mut start = 0;
        for (number, line) in source.text.split_inclusive('\n').enumerate() {
            let text = line.trim();
            let begin = start + (line.len() - line.trim_start().len());
            start += line.len();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let span = begin..begin + text.len();
            match row(text, number + 1, span.clone()) {
                Ok(row) => rows.push(row),
                Err(message) => sink.push(
                    Diagnostic::new(&codes::BAD_RELATED_ROW, message)
                        .severity(severity)
                        .at(source.location(span), "")
                        .help(format!(
                            "a row is `{}`; `--lenient` skips lines that are not rows",
                            FIELDS.join("|")
                        )),
                ),
            }
        }
        let related = Self {
            source: source.clone(),
            rows,
        };
        related.conflicts(sink);
        related
    }

    /// Returns the row of a project for an operating system, or else its first row for any other.
    pub fn of(&self, project: &str, os: &str) -> Option<&RelatedRow> {
        let mut rows = self.rows.iter().filter(|row| row.project == project);
        rows.clone()
            .find(|row| row.os == os)
            .or_else(|| rows.next())
    }

    /// Returns all rows, in the order of the file.
    pub fn rows(&self) -> &[RelatedRow] {
        &self.rows
    }

    /// Reports projects whose rows name different commits or repositories.
    fn conflicts(&self, sink: &mut Sink) {
        let mut first: BTreeMap<&str, &RelatedRow> = BTreeMap::new();
        for row in &self.rows {
            let before = *first.entry(&row.project).or_insert(row);
            if before.same_source(row) {
                continue;
            }
            let describe =
                |row: &RelatedRow| format!("{} of {} for {}", row.commit, row.origin, row.os);
            let message = format!(
                "the rows of `{}` disagree: {} and {}",
                row.project,
                describe(before),
                describe(row)
            );
            sink.push(
                Diagnostic::new(&codes::RELATED_ROWS_DISAGREE, message)
                    .at(self.source.location(row.span.clone()), "another commit")
                    .also(
                        self.source.location(before.span.clone()),
                        "than this row names",
                    )
                    .help("fix the file, or pass the commit with `--ref`"),
            );
        }
    }
}

impl RelatedRow {
    fn same_source(&self, other: &Self) -> bool {
        fn bare(origin: &str) -> &str {
            origin.strip_suffix(".git").unwrap_or(origin)
        }
        self.commit.eq_ignore_ascii_case(&other.commit) && bare(&self.origin) == bare(&other.origin)
    }
}

fn row(text: &str, line: usize, span: Span) -> Result<RelatedRow, String> {
    let fields: Vec<&str> = text.split('|').map(str::trim).collect();
    let Ok([os, _, project, branch, commit, origin]) = <[&str; 6]>::try_from(fields.as_slice())
    else {
        let has = counted(fields.len(), "field");
        return Err(format!(
            "a row has {} fields, but this line has {has}",
            FIELDS.len()
        ));
    };
    if let Some(empty) = fields.iter().position(|field| field.is_empty()) {
        return Err(format!("the field `{}` is empty", FIELDS[empty]));
    }
    if !is_commit(commit) {
        return Err(format!("`{commit}` is not a commit of 7 to 40 hex digits"));
    }
    // Passed to git as an argument.
    if origin.starts_with('-') || origin.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!("`{origin}` is not the address of a repository"));
    }
    let [os, project, branch, commit, origin] =
        [os, project, branch, commit, origin].map(str::to_owned);
    Ok(RelatedRow {
        os,
        project,
        branch,
        commit,
        origin,
        line,
        span,
    })
}

/// Returns whether a text can be a commit: 7 to 40 hex digits.
pub fn is_commit(text: &str) -> bool {
    (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::{RelatedCommits, RowStrictness};
    use rock_diagnostic::{Sink, SourceText};

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
    const OTHER: &str = "76543210fedcba9876543210fedcba9876543210";

    fn row(os: &str, project: &str, commit: &str) -> String {
        format!("{os}|pytorch|{project}|main|{commit}|https://example.org/{project}\n")
    }

    /// Returns the diagnostics for a text, one per line, with locations.
    fn diagnostics(text: &str, strictness: RowStrictness) -> Vec<String> {
        let mut sink = Sink::new();
        RelatedCommits::parse(
            &SourceText::new("related_commits", text),
            strictness,
            &mut sink,
        );
        let line = |d: &rock_diagnostic::Diagnostic| {
            format!(
                "{}: {}[{}]: {}",
                d.labels[0].location, d.severity, d.code, d.message
            )
        };
        sink.finish().iter().map(line).collect()
    }

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(diagnostics(text, RowStrictness::Strict), expect, "{text}");
    }

    /// Each kind of row, with the exact diagnostic.
    #[test]
    fn a_strict_reading_reports_each_bad_row_with_its_line() {
        let good = row("ubuntu", "torchaudio", COMMIT);
        check(&good, &[]);
        check(&format!("# comment\n\n  \t\n  {}  \r\n", good.trim()), &[]);
        check(&(row("ubuntu", "unheard-of", "0123abc") + &good), &[]);
        check(&(good.clone() + &row("centos", "torchaudio", COMMIT)), &[]);
        check(
            &format!("what is this\n{good}"),
            &[
                "related_commits:1:1: error[C101 bad-related-row]: a row has 6 fields, but this \
                 line has 1 field",
            ],
        );
        check(
            &format!("{good}{}", good.replace("|main", "")),
            &[
                "related_commits:2:1: error[C101 bad-related-row]: a row has 6 fields, but this \
                 line has 5 fields",
            ],
        );
        check(
            &format!("{good}  {}", good.trim().to_owned() + "|more\n"),
            &[
                "related_commits:2:3: error[C101 bad-related-row]: a row has 6 fields, but this \
                 line has 7 fields",
            ],
        );
        check(
            &row("ubuntu", "torchaudio", "012345"),
            &[
                "related_commits:1:1: error[C101 bad-related-row]: `012345` is not a commit of 7 to 40 hex digits",
            ],
        );
        check(
            &row("ubuntu", "torchaudio", "release/2.7"),
            &[
                "related_commits:1:1: error[C101 bad-related-row]: `release/2.7` is not a commit of 7 to 40 hex digits",
            ],
        );
        check(
            &row("ubuntu", "", COMMIT),
            &["related_commits:1:1: error[C101 bad-related-row]: the field `project` is empty"],
        );
        check(
            &good.replace("https://example.org/torchaudio", "--upload-pack=x"),
            &[
                "related_commits:1:1: error[C101 bad-related-row]: `--upload-pack=x` is not the address of a repository",
            ],
        );
        check(
            &(good + &row("centos", "torchaudio", OTHER)),
            &[concat!(
                "related_commits:2:1: error[C102 related-rows-disagree]: the rows of `torchaudio` disagree: ",
                "0123456789abcdef0123456789abcdef01234567 of https://example.org/torchaudio for ubuntu and ",
                "76543210fedcba9876543210fedcba9876543210 of https://example.org/torchaudio for centos"
            )],
        );
    }

    /// Leniency applies to rows that cannot be parsed, not to rows that disagree.
    #[test]
    fn a_lenient_reading_leaves_out_bad_rows_with_a_warning() {
        let text = format!("garbage\n{}", row("ubuntu", "torchaudio", COMMIT));
        let warnings = diagnostics(&text, RowStrictness::Lenient);
        assert_eq!(
            warnings,
            [
                "related_commits:1:1: warning[C101 bad-related-row]: a row has 6 fields, but this \
                 line has 1 field"
            ]
        );
        let conflict = row("ubuntu", "apex", COMMIT) + &row("centos", "apex", OTHER);
        assert!(
            diagnostics(&conflict, RowStrictness::Lenient)[0].contains("error[C102"),
            "{conflict}"
        );
    }

    #[test]
    fn a_suffix_of_the_address_makes_no_other_repository() {
        let plain = row("ubuntu", "apex", COMMIT);
        check(
            &(plain.clone() + &plain.replace("org/apex", "org/apex.git")),
            &[],
        );
        let upper = plain.replace(COMMIT, &COMMIT.to_uppercase());
        check(&(plain + &upper), &[]);
    }

    /// The operating system is a preference.
    #[test]
    fn a_system_without_a_row_takes_that_of_another() {
        let text = row("centos", "apex", COMMIT)
            + &row("ubuntu", "apex", COMMIT)
            + &row("centos", "ao", OTHER);
        let mut sink = Sink::new();
        let related = RelatedCommits::parse(
            &SourceText::new("r", text),
            RowStrictness::Strict,
            &mut sink,
        );
        let line = |project: &str, os: &str| related.of(project, os).map(|row| row.line);
        assert_eq!(line("apex", "ubuntu"), Some(2));
        assert_eq!(line("apex", "centos"), Some(1));
        assert_eq!(line("ao", "ubuntu"), Some(3));
        assert_eq!(line("torchvision", "ubuntu"), None);
        assert_eq!(related.rows().len(), 3);
    }
}

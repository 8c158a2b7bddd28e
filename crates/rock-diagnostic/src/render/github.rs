//! Workflow commands that create annotations on GitHub.
//!
//! The format is that of the GitHub documentation, "Workflow commands for GitHub Actions". The
//! runner truncates a message at 4,096 characters. GitHub shows at most ten annotations of a kind
//! per step, so no more are written.

use std::fmt::Write;

use super::redact::redact_urls;
use super::text::{escape_block, escape_line};
use crate::{Diagnostic, Location, Severity, SourceText};

/// The severities in the order of output, each with its workflow command.
const KINDS: [(Severity, &str); 3] = [
    (Severity::Error, "error"),
    (Severity::Warning, "warning"),
    (Severity::Note, "notice"),
];
/// The maximum number of annotations of one kind per step.
const MAX_PER_KIND: usize = 10;
/// The maximum length of a message in characters, below the runner's limit so that a truncated
/// message says so.
const MAX_MESSAGE_CHARS: usize = 4000;
/// The end of a truncated message.
const CUT: &str = "\n… (truncated; the log has the full message)";

/// The annotations that one workflow step has written.
#[derive(Debug, Default)]
pub struct GithubAnnotations {
    counts: [usize; KINDS.len()],
    unlisted: Vec<Diagnostic>,
}

impl GithubAnnotations {
    /// Renders diagnostics as workflow commands, as many as the step can still show: errors first,
    /// each kind sorted by location.
    ///
    /// `repository_path` returns the path of a file in the repository, or `None` if it has no such
    /// path; the location is then part of the message.
    pub fn commands(
        &mut self,
        diagnostics: &[Diagnostic],
        repository_path: impl Fn(&str) -> Option<String>,
    ) -> String {
        let mut out = String::new();
        for ((severity, command), count) in KINDS.into_iter().zip(&mut self.counts) {
            let mut all: Vec<&Diagnostic> = diagnostics
                .iter()
                .filter(|d| d.severity == severity)
                .collect();
            all.sort_by_cached_key(|d| sort_key(d));
            for diagnostic in all.iter().take(MAX_PER_KIND.saturating_sub(*count)) {
                let mut properties = location_properties(diagnostic, &repository_path);
                let message = message(diagnostic, properties.is_empty());
                properties.push(("title", diagnostic.code.to_string()));
                let properties: Vec<_> = properties
                    .iter()
                    .map(|(name, value)| format!("{name}={}", escape_property(&escape_line(value))))
                    .collect();
                let _ = writeln!(
                    out,
                    "::{command} {}::{}",
                    properties.join(","),
                    escape(&message)
                );
            }
            *count += all.len();
        }
        self.unlisted.extend(diagnostics.iter().cloned());
        out
    }

    /// Takes the list for the step summary: the diagnostics of all calls of [`Self::commands`],
    /// with and without an annotation, that no earlier list contains. The list is empty as long as
    /// annotations can show every diagnostic of the step.
    pub fn take_unlisted(&mut self) -> Vec<Diagnostic> {
        let is_over = self.counts.iter().any(|count| *count > MAX_PER_KIND);
        if is_over {
            std::mem::take(&mut self.unlisted)
        } else {
            Vec::new()
        }
    }
}

/// Returns the key that annotations of a kind are sorted by. Diagnostics without a location are
/// last, as in [`Sink::finish`](crate::Sink::finish).
fn sort_key(diagnostic: &Diagnostic) -> (bool, Option<(String, usize)>) {
    let key = diagnostic
        .labels
        .first()
        .map(|label| label.location.sort_key());
    (key.is_none(), key)
}

/// Returns the properties of a workflow command for the location of the first label, if it is in a
/// file of the repository.
fn location_properties(
    diagnostic: &Diagnostic,
    repository_path: impl Fn(&str) -> Option<String>,
) -> Vec<(&'static str, String)> {
    let Some(label) = diagnostic.labels.first() else {
        return Vec::new();
    };
    let (Location::Text {
        source: SourceText { path, .. },
        ..
    }
    | Location::SecretText {
        source: SourceText { path, .. },
        ..
    }
    | Location::File(path)) = &label.location
    else {
        return Vec::new();
    };
    let Some(file) = repository_path(path) else {
        return Vec::new();
    };
    let mut properties = vec![("file", file)];
    if let Location::Text { source, span } | Location::SecretText { source, span } = &label.location
    {
        let end = source.location(span.end..span.end).line_column();
        if let (Some((line, column)), Some((end_line, end_column))) =
            (label.location.line_column(), end)
        {
            properties.push(("line", line.to_string()));
            properties.push(("endLine", end_line.to_string()));
            // GitHub accepts columns only for a range within one line.
            if line == end_line {
                properties.push(("col", column.to_string()));
                properties.push(("endColumn", end_column.to_string()));
            }
        }
    }
    properties
}

/// Returns the text of a diagnostic in several lines, optionally with the first location, without
/// passwords and control characters, and then truncated to [`MAX_MESSAGE_CHARS`].
fn message(diagnostic: &Diagnostic, with_location: bool) -> String {
    let mut text = diagnostic.message.clone();
    if let Some(label) = diagnostic.labels.first() {
        if with_location {
            let _ = write!(text, "\n{}", label.location);
        }
        if !label.text.is_empty() {
            let _ = write!(text, "\n{}", label.text);
        }
    }
    for note in &diagnostic.notes {
        let _ = write!(text, "\nnote: {note}");
    }
    if let Some(help) = &diagnostic.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    let text = escape_block(&redact_urls(&text));
    if text.chars().count() <= MAX_MESSAGE_CHARS {
        return text;
    }
    text.chars()
        .take(MAX_MESSAGE_CHARS - CUT.chars().count())
        .chain(CUT.chars())
        .collect()
}

/// Escapes the message of a workflow command: line breaks, and `%`, which starts an escape.
pub fn escape(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::GithubAnnotations;
    use crate::test_codes as codes;
    use crate::{Diagnostic, Location, SourceText};

    /// Returns each path unchanged, but none for one file.
    fn repository_path(path: &str) -> Option<String> {
        (path != "gone.yaml").then(|| path.to_owned())
    }

    fn github(diagnostics: &[Diagnostic]) -> String {
        GithubAnnotations::default().commands(diagnostics, repository_path)
    }

    #[test]
    fn an_annotation_has_location_title_and_escaped_text() {
        let source = SourceText::new("a,b:c.yaml", "x: 1\ny: 100%\n");
        let d = Diagnostic::new(&codes::DUPLICATE_KEY, "100% twice")
            .at(source.location(5..6), "here")
            .help("mend\nit");
        assert_eq!(
            github(&[d]),
            "::error file=a%2Cb%3Ac.yaml,line=2,endLine=2,col=1,endColumn=2,title=M001 duplicate-key::100%25 twice%0Ahere%0Ahelp: mend%0Ait\n"
        );
    }

    /// Control characters are escaped and passwords replaced.
    #[test]
    fn an_annotation_has_no_control_characters_and_no_passwords() {
        let d = Diagnostic::new(&codes::BAD_SYNTAX, "a\u{1b}[31mb\r\nc https://u:secret@h");
        let commands = github(&[d.at(Location::File("a\u{9b}b.yaml".into()), "\u{202e}x")]);
        assert_eq!(
            commands,
            "::error file=a\\u{9b}b.yaml,title=M002 bad-syntax::a\\u{1b}[31mb\\r%0Ac https://u:***@h%0A\\u{202e}x\n"
        );
    }

    #[test]
    fn a_location_outside_the_repository_is_part_of_the_message() {
        let source = SourceText::new("gone.yaml", "x: 1\n");
        let at = |location: Location| {
            github(&[Diagnostic::new(&codes::BAD_SYNTAX, "bad").at(location, "here")])
        };
        let commands =
            |location: &str| format!("::error title=M002 bad-syntax::bad%0A{location}%0Ahere\n");
        assert_eq!(at(source.location(3..4)), commands("gone.yaml:1:4"));
        assert_eq!(
            at(Location::File("gone.yaml".into())),
            commands("gone.yaml")
        );
        assert_eq!(
            at(Location::Argument("--x".into())),
            commands("argument `--x`")
        );
        assert_eq!(
            at(Location::File("m.yaml".into())),
            "::error file=m.yaml,title=M002 bad-syntax::bad%0Ahere\n"
        );
    }

    #[test]
    fn at_most_ten_of_a_kind_are_written_errors_first() {
        let warning =
            Diagnostic::new(&codes::BYTE_ORDER_MARK, "w").at(Location::File("a".into()), "");
        let error = Diagnostic::new(&codes::BAD_SYNTAX, "e");
        let all: Vec<_> = std::iter::repeat_n(warning, 12)
            .chain(std::iter::repeat_n(error, 12))
            .collect();
        let text = github(&all);
        assert_eq!(
            text.lines().filter(|l| l.starts_with("::error ")).count(),
            10
        );
        assert_eq!(
            text.lines().filter(|l| l.starts_with("::warning ")).count(),
            10
        );
        assert!(text.starts_with("::error"));
    }

    #[test]
    fn each_kind_is_sorted_by_location() {
        let source = SourceText::new("m.yaml", "a\nb\nc\n");
        let at =
            |code, byte: usize| Diagnostic::new(code, "x").at(source.location(byte..byte + 1), "");
        let (error, warning) = (&codes::BAD_SYNTAX, &codes::BYTE_ORDER_MARK);
        let text = github(&[
            at(warning, 2),
            Diagnostic::new(error, "nowhere"),
            at(error, 4),
            at(warning, 0),
            at(error, 0),
        ]);
        let heads: Vec<&str> = text
            .lines()
            .map(|line| line.split(",endLine").next().unwrap())
            .collect();
        let (last, located) = (heads[2], [heads[0], heads[1], heads[3], heads[4]]);
        assert!(
            last.starts_with("::error title=") && last.ends_with("::nowhere"),
            "{text}"
        );
        let file = |word: &str, line: usize| format!("::{word} file=m.yaml,line={line}");
        assert_eq!(
            located,
            [
                file("error", 1),
                file("error", 3),
                file("warning", 1),
                file("warning", 2)
            ]
        );
    }

    /// Several calls share the ten annotations. Once there are more diagnostics, all of them are
    /// listed, also those with an annotation.
    #[test]
    fn diagnostics_beyond_ten_are_listed() {
        let some = |count: usize| vec![Diagnostic::new(&codes::BAD_SYNTAX, "e"); count];
        let mut step = GithubAnnotations::default();
        assert_eq!(step.commands(&some(8), repository_path).lines().count(), 8);
        assert!(
            step.take_unlisted().is_empty(),
            "ten are shown, so there is no list"
        );
        assert_eq!(step.commands(&some(5), repository_path).lines().count(), 2);
        assert_eq!(step.take_unlisted().len(), 13);
        assert_eq!(step.commands(&some(1), repository_path), "");
        assert_eq!(
            (step.take_unlisted().len(), step.take_unlisted().len()),
            (1, 0)
        );
    }

    #[test]
    fn a_truncated_message_is_marked_as_truncated() {
        let text = github(&[Diagnostic::new(&codes::BAD_SYNTAX, "long").note("é".repeat(5000))]);
        let message = text
            .trim_end()
            .rsplit("::")
            .next()
            .unwrap()
            .replace("%0A", "\n");
        assert_eq!(message.chars().count(), 4000);
        assert!(message.ends_with("(truncated; the log has the full message)"));
    }

    /// A message is redacted and escaped before it is truncated.
    #[test]
    fn a_truncated_message_has_no_part_of_a_password_and_its_escapes_count() {
        let message = |note: String| {
            let text = github(&[Diagnostic::new(&codes::BAD_SYNTAX, "long").note(note)]);
            text.trim_end().replace("%0A", "\n").replacen("::", "", 1)
        };
        let url = format!("https://user:{}@host/", "secret".repeat(100));
        for filler in [3300, 3900, 3930, 3945, 5000] {
            let text = message(format!("{} {url}", "é".repeat(filler)));
            assert!(!text.contains("secret"), "{text}");
        }
        let text = message("\u{1b}".repeat(1000));
        let (_, text) = text.split_once("::").unwrap();
        assert_eq!(text.chars().count(), 4000);
        assert!(text.ends_with("(truncated; the log has the full message)"));
    }

    #[test]
    fn a_message_cannot_start_another_command() {
        let text = github(&[Diagnostic::new(
            &codes::BAD_SYNTAX,
            "x\n::set-env name=A::b\r\n::stop-commands::t",
        )]);
        assert_eq!(text.lines().count(), 1);
    }
}

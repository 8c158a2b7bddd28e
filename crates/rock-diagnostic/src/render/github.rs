//! GitHub workflow commands that become annotations.
//!
//! Forms and limits: GitHub documentation, "Workflow commands", and the runner's own cut of a
//! message at 4,096 characters. More than ten annotations of a kind per step are not shown, so no
//! more are written.

use std::fmt::Write;

use super::redact::redact_urls;
use super::text::{visible, visible_lines};
use crate::{Diagnostic, Location, Severity, SourceText};

/// Severities in order, and the command of each.
const KINDS: [(Severity, &str); 3] = [
    (Severity::Error, "error"),
    (Severity::Warning, "warning"),
    (Severity::Note, "notice"),
];
/// Annotations of one kind that a step may have.
const PER_KIND: usize = 10;
/// Characters of a message, so that the runner's own cut does not take the end unsaid.
const LONGEST: usize = 4000;

/// What a step has of annotations so far.
#[derive(Debug, Default)]
pub struct GithubAnnotations {
    counts: [usize; KINDS.len()],
    unlisted: Vec<Diagnostic>,
}

impl GithubAnnotations {
    /// More diagnostics as workflow commands: errors first, each kind by place, as many as the step
    /// may still have. `known` gives the path that GitHub knows a file by, and nothing for what is
    /// no file.
    pub fn commands(
        &mut self,
        diagnostics: &[Diagnostic],
        known: impl Fn(&str) -> Option<String>,
    ) -> String {
        let mut out = String::new();
        for ((severity, command), count) in KINDS.into_iter().zip(&mut self.counts) {
            let mut all: Vec<&Diagnostic> = diagnostics
                .iter()
                .filter(|d| d.severity == severity)
                .collect();
            all.sort_by_cached_key(|d| position(d));
            for diagnostic in all.iter().take(PER_KIND.saturating_sub(*count)) {
                let mut properties = place_of(diagnostic, &known);
                let message =
                    visible_lines(&redact_urls(&message(diagnostic, properties.is_empty())));
                properties.push(("title", diagnostic.code.to_string()));
                let properties: Vec<_> = properties
                    .iter()
                    .map(|(name, value)| format!("{name}={}", escape_property(&visible(value))))
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

    /// Everything that was told and is in no list yet, once there is more of it than annotations.
    pub fn take_unlisted(&mut self) -> Vec<Diagnostic> {
        let is_over = self.counts.iter().any(|count| *count > PER_KIND);
        if is_over {
            std::mem::take(&mut self.unlisted)
        } else {
            Vec::new()
        }
    }
}

/// Where a diagnostic points; those without a place come last, as in what people read.
fn position(diagnostic: &Diagnostic) -> (bool, Option<(String, usize)>) {
    let place = diagnostic
        .labels
        .first()
        .map(|label| label.location.sort_key());
    (place.is_none(), place)
}

fn place_of(
    diagnostic: &Diagnostic,
    known: impl Fn(&str) -> Option<String>,
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
    let Some(file) = known(path) else {
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
            // Columns are taken only where a range stays on one line.
            if line == end_line {
                properties.push(("col", column.to_string()));
                properties.push(("endColumn", end_column.to_string()));
            }
        }
    }
    properties
}

/// All that is said; with the place in words where no property tells it.
fn message(diagnostic: &Diagnostic, with_place: bool) -> String {
    let mut text = diagnostic.message.clone();
    if let Some(label) = diagnostic.labels.first() {
        if with_place {
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
    if text.chars().count() > LONGEST {
        const CUT: &str = "\n… (cut; the log has the whole message)";
        text = text
            .chars()
            .take(LONGEST - CUT.chars().count())
            .chain(CUT.chars())
            .collect();
    }
    text
}

/// The text of a command: what would end its line, and the sign that escapes begin with.
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

    /// Every file is known by the path that it was given by, but for one.
    fn known(path: &str) -> Option<String> {
        (path != "gone.yaml").then(|| path.to_owned())
    }

    fn github(diagnostics: &[Diagnostic]) -> String {
        GithubAnnotations::default().commands(diagnostics, known)
    }

    #[test]
    fn an_annotation_has_place_title_and_escaped_text() {
        let source = SourceText::new("a,b:c.yaml", "x: 1\ny: 100%\n");
        let d = Diagnostic::new(&codes::DUPLICATE_KEY, "100% twice")
            .at(source.location(5..6), "here")
            .help("mend\nit");
        assert_eq!(
            github(&[d]),
            "::error file=a%2Cb%3Ac.yaml,line=2,endLine=2,col=1,endColumn=2,title=M001 duplicate-key::100%25 twice%0Ahere%0Ahelp: mend%0Ait\n"
        );
    }

    /// A terminal obeys nothing of an annotation, and no password is in it.
    #[test]
    fn an_annotation_has_no_control_characters_and_no_passwords() {
        let d = Diagnostic::new(&codes::BAD_SYNTAX, "a\u{1b}[31mb\r\nc https://u:secret@h");
        let told = github(&[d.at(Location::File("a\u{9b}b.yaml".into()), "\u{202e}x")]);
        assert_eq!(
            told,
            "::error file=a\\u{9b}b.yaml,title=M002 bad-syntax::a\\u{1b}[31mb\\r%0Ac https://u:***@h%0A\\u{202e}x\n"
        );
    }

    /// 1.7
    #[test]
    fn what_is_no_file_is_told_in_the_message_alone() {
        let source = SourceText::new("gone.yaml", "x: 1\n");
        let at = |place: Location| {
            github(&[Diagnostic::new(&codes::BAD_SYNTAX, "bad").at(place, "here")])
        };
        let told = |place: &str| format!("::error title=M002 bad-syntax::bad%0A{place}%0Ahere\n");
        assert_eq!(at(source.location(3..4)), told("gone.yaml:1:4"));
        assert_eq!(at(Location::File("gone.yaml".into())), told("gone.yaml"));
        assert_eq!(at(Location::Argument("--x".into())), told("argument `--x`"));
        assert_eq!(
            at(Location::File("m.yaml".into())),
            "::error file=m.yaml,title=M002 bad-syntax::bad%0Ahere\n"
        );
    }

    #[test]
    fn no_more_than_ten_of_a_kind_are_written_and_errors_come_first() {
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

    /// 1.7
    #[test]
    fn errors_come_first_and_each_kind_by_its_place_in_the_file() {
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
        let (last, placed) = (heads[2], [heads[0], heads[1], heads[3], heads[4]]);
        assert!(
            last.starts_with("::error title=") && last.ends_with("::nowhere"),
            "{text}"
        );
        let file = |word: &str, line: usize| format!("::{word} file=m.yaml,line={line}");
        assert_eq!(
            placed,
            [
                file("error", 1),
                file("error", 3),
                file("warning", 1),
                file("warning", 2)
            ]
        );
    }

    /// 1.7
    #[test]
    fn several_reports_share_the_ten_and_what_is_over_is_listed_with_all_before_it() {
        let some = |count: usize| vec![Diagnostic::new(&codes::BAD_SYNTAX, "e"); count];
        let mut step = GithubAnnotations::default();
        assert_eq!(step.commands(&some(8), known).lines().count(), 8);
        assert!(
            step.take_unlisted().is_empty(),
            "ten are shown, so there is no list"
        );
        assert_eq!(step.commands(&some(5), known).lines().count(), 2);
        assert_eq!(step.take_unlisted().len(), 13);
        assert_eq!(step.commands(&some(1), known), "");
        assert_eq!(
            (step.take_unlisted().len(), step.take_unlisted().len()),
            (1, 0)
        );
    }

    #[test]
    fn a_long_message_is_cut_with_a_word_about_it() {
        let text = github(&[Diagnostic::new(&codes::BAD_SYNTAX, "long").note("é".repeat(5000))]);
        let message = text
            .trim_end()
            .rsplit("::")
            .next()
            .unwrap()
            .replace("%0A", "\n");
        assert_eq!(message.chars().count(), 4000);
        assert!(message.ends_with("(cut; the log has the whole message)"));
    }

    #[test]
    fn a_message_cannot_begin_another_command() {
        let text = github(&[Diagnostic::new(
            &codes::BAD_SYNTAX,
            "x\n::set-env name=A::b\r\n::stop-commands::t",
        )]);
        assert_eq!(text.lines().count(), 1);
    }
}

//! Text for people: the message, the source lines with carets, notes and help.
//!
//! [`annotate_snippets`] lays out the text; this module groups labels by file, cuts long lines and
//! escapes control characters.

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet,
};

use super::redact::redact_urls;
use super::text::{visible, visible_lines, without_c1_controls};
use crate::{Diagnostic, DiagnosticLabel, Location, Severity, SourceText, Span};

/// The maximum length in bytes of a source line that is passed to the layout in full. Of a longer
/// line only the part around the carets is.
const MAX_LINE_BYTES: usize = 4000;
/// The maximum width of the output in columns. Longer source lines are cut around the carets.
const MAX_COLUMNS: usize = 120;

/// Renders diagnostics for people, with a blank line after each, optionally with terminal colours.
///
/// Control characters of messages, names and source lines are escaped or replaced, and passwords in
/// URLs are replaced.
pub fn human(diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    }
    .term_width(MAX_COLUMNS);
    let mut out = String::new();
    for diagnostic in diagnostics {
        let cut = cut_long_line(diagnostic);
        let (diagnostic, positions) = match &cut {
            Some((cut, positions)) => (cut, Some(positions)),
            None => (diagnostic, None),
        };
        let has_snippet = diagnostic
            .labels
            .iter()
            .any(|label| matches!(label.location, Location::Text { .. }));
        let groups = groups(diagnostic);
        // Without a snippet, the help is rendered on its own, because there is no margin to align
        // it with.
        let chunk_size = if has_snippet { groups.len() } else { 1 };
        let parts: Vec<String> = groups
            .chunks(chunk_size)
            .map(|groups| renderer.render(groups))
            .collect();
        // Snippets contain source lines unescaped, and annotate-snippets replaces only some of
        // their control characters.
        let text = without_c1_controls(parts.join("\n"));
        out.push_str(&redact_urls(&match positions {
            Some(positions) => text.replacen(positions.shown.as_str(), &positions.actual, 1),
            None => text,
        }));
        out.push_str("\n\n");
    }
    out
}

/// The position that is rendered for a cut line, and the one to replace it with.
struct Positions {
    shown: String,
    actual: String,
}

/// If the first label is in a very long line, returns the diagnostic with this line cut. The other
/// labels become notes.
fn cut_long_line(diagnostic: &Diagnostic) -> Option<(Diagnostic, Positions)> {
    let first = diagnostic.labels.first()?;
    let Location::Text { source, span } = &first.location else {
        return None;
    };
    let (cut, span) = cut_line(source, span)?;
    let mut short = diagnostic.clone();
    let location = cut.location(span);
    let positions = Positions {
        shown: visible(&location.to_string()),
        actual: visible(&first.location.to_string()),
    };
    short.labels = vec![DiagnosticLabel {
        location,
        ..first.clone()
    }];
    short.notes.extend(
        diagnostic.labels[1..]
            .iter()
            .map(|label| format!("{}: {}", label.location, label.text)),
    );
    Some((short, positions))
}

/// Converts a diagnostic to the groups of annotate-snippets: one for the message, labels and notes,
/// and one for the help.
fn groups(diagnostic: &Diagnostic) -> Vec<Group<'static>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level
        .primary_title(visible(&diagnostic.message))
        .id(diagnostic.code.to_string());
    let mut elements: Vec<Element<'static>> = Vec::new();
    let mut notes = Vec::new();
    for (source, labels) in by_source(&diagnostic.labels) {
        elements.push(snippet(source, &labels).into());
    }
    for label in &diagnostic.labels {
        if !matches!(label.location, Location::Text { .. }) {
            if label.primary {
                elements.push(Origin::path(visible(&label.location.to_string())).into());
                notes.extend((!label.text.is_empty()).then(|| label.text.clone()));
            } else {
                notes.push(format!("{}: {}", label.location, label.text));
            }
        }
    }
    let notes: Vec<Element<'static>> = notes
        .iter()
        .chain(&diagnostic.notes)
        .map(|note| Level::NOTE.message(visible_lines(note)).into())
        .collect();
    let mut groups = if elements.is_empty() && !notes.is_empty() {
        // Directly after the title, the notes would start the margin of a snippet.
        vec![
            Group::with_title(title),
            Group::with_level(Level::NOTE).elements(notes),
        ]
    } else {
        elements.extend(notes);
        vec![title.elements(elements)]
    };
    if let Some(help) = &diagnostic.help {
        groups.push(Group::with_title(
            Level::HELP.secondary_title(visible_lines(help)),
        ));
    }
    groups
}

/// Groups the labels that point into texts by text, in the order of the first label of each.
fn by_source(labels: &[DiagnosticLabel]) -> Vec<(&SourceText, Vec<(&DiagnosticLabel, Span)>)> {
    let mut groups: Vec<(&SourceText, Vec<(&DiagnosticLabel, Span)>)> = Vec::new();
    for label in labels {
        let Location::Text { source, span } = &label.location else {
            continue;
        };
        match groups.iter_mut().find(|(other, _)| *other == source) {
            Some((_, list)) => list.push((label, span.clone())),
            None => groups.push((source, vec![(label, span.clone())])),
        }
    }
    groups
}

/// Returns the lines from the first to the last label, annotated. A span of several lines is cut to
/// its first line.
fn snippet(
    source: &SourceText,
    labels: &[(&DiagnosticLabel, Span)],
) -> Snippet<'static, Annotation<'static>> {
    let text = &*source.text;
    let spans: Vec<Span> = labels
        .iter()
        .map(|(_, span)| first_line(text, span))
        .collect();
    let from = spans.iter().map(|s| s.start).min().unwrap_or(0);
    let to = spans.iter().map(|s| s.end).max().unwrap_or(0);
    let from = line_start(text, from);
    let to = text[to..].find('\n').map_or(text.len(), |i| to + i);
    let line = text[..from].matches('\n').count() + 1;
    let annotations: Vec<Annotation<'static>> = labels
        .iter()
        .zip(spans)
        .map(|((label, _), span)| {
            let kind = if label.primary {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            let annotation = kind.span(span.start - from..span.end - from);
            if label.text.is_empty() {
                annotation
            } else {
                annotation.label(visible(&label.text))
            }
        })
        .collect();
    Snippet::source(text[from..to].to_owned())
        .path(visible(&source.path))
        .line_start(line)
        .annotations(annotations)
}

/// Returns the offset of the start of the line that contains an offset.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |i| i + 1)
}

/// Returns the source with the line of a span cut to the part around the span, and the span in it.
/// `None` if the line is not longer than [`MAX_LINE_BYTES`].
fn cut_line(source: &SourceText, span: &Span) -> Option<(SourceText, Span)> {
    let text = &*source.text;
    let span = first_line(text, span);
    let line_from = line_start(text, span.start);
    let line_to = text[span.end..]
        .find('\n')
        .map_or(text.len(), |i| span.end + i);
    if line_to - line_from <= MAX_LINE_BYTES {
        return None;
    }
    let from = text.ceil_char_boundary(span.start.saturating_sub(MAX_COLUMNS).max(line_from));
    let to = text
        .floor_char_boundary((span.end.min(span.start + MAX_COLUMNS) + MAX_COLUMNS).min(line_to));
    let lines_before = "\n".repeat(text[..line_from].matches('\n').count());
    let cut = SourceText::new(
        source.path.clone(),
        format!("{lines_before}{}", &text[from..to]),
    );
    let start = lines_before.len() + span.start - from;
    let end = (start + span.end - span.start).min(cut.text.len());
    Some((cut, start..end))
}

/// Cuts a span to the text, to character boundaries and to its first line.
fn first_line(text: &str, span: &Span) -> Span {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.ceil_char_boundary(span.end.min(text.len())).max(start);
    let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
    let line_end = start + text[start..line_end].trim_end_matches('\r').len();
    start..end.min(line_end)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::human;
    use crate::test_codes as codes;
    use crate::{Diagnostic, Location, SourceText};

    fn source() -> SourceText {
        SourceText::new(
            "matrices/flash-attn.yaml",
            "version: 1\naxes:\n  rocm: [\"6.2\"]\n  torch: [2.5, 2.10]\n",
        )
    }

    #[test]
    fn a_diagnostic_shows_its_line_notes_and_help() {
        let d = Diagnostic::new(
            &codes::DUPLICATE_KEY,
            "torch 2.10 has no build for ROCm 6.2",
        )
        .at(source().location(48..52), "first supported on ROCm 7.0")
        .also(source().location(26..31), "wanted here")
        .note("from `compat/torch.yaml`, checked 2026-11-01")
        .help("remove `2.10`, or list it under rocm `7.0`");
        assert_snapshot!(human(&[d.clone(), d], false), @r#"
        error[M001 duplicate-key]: torch 2.10 has no build for ROCm 6.2
         --> matrices/flash-attn.yaml:4:16
          |
        3 |   rocm: ["6.2"]
          |          ----- wanted here
        4 |   torch: [2.5, 2.10]
          |                ^^^^ first supported on ROCm 7.0
          |
          = note: from `compat/torch.yaml`, checked 2026-11-01
        help: remove `2.10`, or list it under rocm `7.0`

        error[M001 duplicate-key]: torch 2.10 has no build for ROCm 6.2
         --> matrices/flash-attn.yaml:4:16
          |
        3 |   rocm: ["6.2"]
          |          ----- wanted here
        4 |   torch: [2.5, 2.10]
          |                ^^^^ first supported on ROCm 7.0
          |
          = note: from `compat/torch.yaml`, checked 2026-11-01
        help: remove `2.10`, or list it under rocm `7.0`
        "#);
    }

    #[test]
    fn locations_without_text_and_other_files_are_shown() {
        let d = Diagnostic::new(&codes::DUPLICATE_KEY, "two files")
            .at(source().location(0..7), "")
            .also(
                SourceText::new("b.yaml", "x: 1\n").location(0..1),
                "and here",
            )
            .also(Location::Argument("--gpu".into()), "set here");
        assert_snapshot!(human(&[d], false), @r#"
        error[M001 duplicate-key]: two files
         --> matrices/flash-attn.yaml:1:1
          |
        1 | version: 1
          | ^^^^^^^
          |
         ::: b.yaml:1:1
          |
        1 | x: 1
          | - and here
          |
          = note: argument `--gpu`: set here
        "#);
        let d = Diagnostic::new(&crate::codes::matrix::NOT_UTF8, "not text")
            .at(Location::File("a.yaml".into()), "byte 3 cannot be read");
        assert_snapshot!(human(&[d], false), @r#"
        error[M004 not-utf8]: not text
        --> a.yaml
         = note: byte 3 cannot be read
        "#);
    }

    #[test]
    fn a_diagnostic_without_an_excerpt_has_no_margin() {
        let render =
            |d: Diagnostic| human(&[d.note("one\ntwo").note("three").help("mend it")], false);
        let nowhere = || Diagnostic::new(&codes::BAD_SYNTAX, "x");
        assert_snapshot!(render(nowhere()), @r"
        error[M002 bad-syntax]: x
         = note: one
                 two
         = note: three
        help: mend it
        ");
        assert_snapshot!(render(nowhere().also(Location::Argument("--gpu".into()), "set here")), @r"
        error[M002 bad-syntax]: x
         = note: argument `--gpu`: set here
         = note: one
                 two
         = note: three
        help: mend it
        ");
        let source = source();
        assert_snapshot!(render(nowhere().at(Location::SecretText { source, span: 11..15 }, "")), @r"
        error[M002 bad-syntax]: x
        --> matrices/flash-attn.yaml:2:1
         = note: one
                 two
         = note: three
        help: mend it
        ");
    }

    #[test]
    fn control_characters_cannot_reach_the_terminal() {
        let evil = SourceText::new("a\u{1b}[31m.yaml", "k: \"\u{1b}]0;x\u{7}\u{202e}y\"\n");
        let d = Diagnostic::new(&codes::BAD_SYNTAX, "bad\u{1b}[2J text\nsecond")
            .at(evil.location(3..10), "here\u{7f}")
            .help("a\u{8}");
        let shown = human(&[d], false);
        assert!(
            !shown.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{shown:?}"
        );
        assert_snapshot!(shown, @r#"
        error[M002 bad-syntax]: bad\u{1b}[2J text\nsecond
         --> a\u{1b}[31m.yaml:1:4
          |
        1 | k: "␛]0;x␇�y"
          |    ^^^^^^^ here\u{7f}
          |
        help: a\u{8}
        "#);
    }

    #[test]
    fn a_long_line_is_cut_around_the_carets() {
        let text = format!(
            "k: [{}NEEDLE{}]\n",
            "aaaa, ".repeat(5000),
            ", bbbb".repeat(5000)
        );
        let at = text.find("NEEDLE").unwrap();
        let shown = human(
            &[Diagnostic::new(&codes::BAD_SYNTAX, "long").at(
                SourceText::new("m.yaml", text.as_str()).location(at..at + 6),
                "this",
            )],
            false,
        );
        let column = text.find("NEEDLE").unwrap() + 1;
        assert!(
            shown.contains(&format!("--> m.yaml:1:{column}\n")),
            "{shown}"
        );
        assert!(
            shown.contains("NEEDLE") && shown.lines().all(|l| l.chars().count() < 160),
            "{shown}"
        );
    }

    #[test]
    fn spans_outside_the_text_or_over_lines_are_cut() {
        for span in [0..1000, 900..1000, 10..12, 5..40, 63..63] {
            let shown = human(
                &[Diagnostic::new(&codes::BAD_SYNTAX, "x").at(source().location(span), "")],
                false,
            );
            assert!(shown.contains("matrices/flash-attn.yaml"), "{shown}");
        }
        let empty = human(
            &[Diagnostic::new(&codes::BAD_SYNTAX, "x")
                .at(SourceText::new("e", "").location(0..0), "")],
            false,
        );
        assert!(empty.contains("--> e"), "{empty}");
    }

    #[test]
    fn colours_are_optional() {
        let d = [Diagnostic::new(&codes::BAD_SYNTAX, "x").at(source().location(0..7), "y")];
        assert!(human(&d, true).contains('\u{1b}'));
        assert!(!human(&d, false).contains('\u{1b}'));
    }
}

//! Text for people: the message, the source lines with carets, notes and help.
//!
//! [`annotate_snippets`] lays out the text; this module groups labels by file, cuts long lines,
//! escapes control characters and replaces passwords.
//!
//! **Invariant:** passwords are replaced before a line is cut or laid out, because a URL without
//! its start is not recognized.

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet,
};

use super::redact::{mask_urls, redact_urls};
use super::text::{escape_block, escape_c1_controls, escape_line};
use crate::{Diagnostic, DiagnosticLabel, Location, Severity, SourceText, Span};

/// The maximum length in bytes of a source line that is passed to the layout in full. Of a longer
/// line only the part around the carets is.
const MAX_LINE_BYTES: usize = 4000;
/// The maximum width of the output in columns. Longer source lines are cut around the carets.
const MAX_COLUMNS: usize = 120;
/// The path that is laid out for a changed excerpt, for which annotate-snippets would compute
/// another position. No other text contains it: control characters are escaped, and in source
/// lines annotate-snippets replaces this one.
const POSITION_MARK: char = '\u{1}';

/// Renders diagnostics for people, with a blank line after each, optionally with terminal colours.
///
/// Control characters of messages, names and source lines are escaped or replaced, and passwords in
/// URLs are replaced, in source lines by as many `*`.
pub fn human(diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    }
    .term_width(MAX_COLUMNS);
    let mut out = String::new();
    for diagnostic in diagnostics {
        let has_snippet = diagnostic
            .labels
            .iter()
            .any(|label| matches!(label.location, Location::Text { .. }));
        let mut positions = Vec::new();
        let groups = groups(diagnostic, &mut positions);
        // Without a snippet, the help is rendered on its own, because there is no margin to align
        // it with.
        let chunk_size = if has_snippet { groups.len() } else { 1 };
        let parts: Vec<String> = groups
            .chunks(chunk_size)
            .map(|groups| renderer.render(groups))
            .collect();
        // Snippets contain source lines unescaped, and annotate-snippets replaces only some of
        // their control characters.
        let text = with_positions(&parts.join("\n"), &positions);
        out.push_str(&escape_c1_controls(text));
        out.push_str("\n\n");
    }
    out
}

/// Replaces each [`POSITION_MARK`], with the line and column after it, by one of the positions.
fn with_positions(rendered: &str, positions: &[String]) -> String {
    let mut parts = rendered.split(POSITION_MARK);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        text.push_str(positions.get(index).map_or("", String::as_str));
        text.push_str(part.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()));
    }
    text
}

/// Returns a text without passwords and control characters, in one line.
fn safe_line(text: &str) -> String {
    escape_line(&redact_urls(text))
}

/// Converts a diagnostic to the groups of annotate-snippets: one for the message, labels and notes,
/// and one for the help. Adds the position of each snippet with a [`POSITION_MARK`], in order.
fn groups(diagnostic: &Diagnostic, positions: &mut Vec<String>) -> Vec<Group<'static>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level
        .primary_title(safe_line(&diagnostic.message))
        .id(diagnostic.code.to_string());
    let mut elements: Vec<Element<'static>> = Vec::new();
    let mut notes = Vec::new();
    for (source, labels) in by_source(&diagnostic.labels) {
        elements.push(snippet(source, &labels, positions, &mut notes).into());
    }
    for label in &diagnostic.labels {
        if !matches!(label.location, Location::Text { .. }) {
            if label.primary {
                elements.push(Origin::path(safe_line(&label.location.to_string())).into());
                notes.extend((!label.text.is_empty()).then(|| label.text.clone()));
            } else {
                notes.push(label_note(label));
            }
        }
    }
    let notes: Vec<Element<'static>> = notes
        .iter()
        .chain(&diagnostic.notes)
        .map(|note| Level::NOTE.message(escape_block(&redact_urls(note))).into())
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
            Level::HELP.secondary_title(escape_block(&redact_urls(help))),
        ));
    }
    groups
}

/// Returns the note for a label that is not shown in a source line.
fn label_note(label: &DiagnosticLabel) -> String {
    format!("{}: {}", label.location, label.text)
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
/// its first line. Labels in a part of a line that is cut away become notes.
fn snippet(
    source: &SourceText,
    labels: &[(&DiagnosticLabel, Span)],
    positions: &mut Vec<String>,
    notes: &mut Vec<String>,
) -> Snippet<'static, Annotation<'static>> {
    let spans: Vec<Span> = labels
        .iter()
        .map(|(_, span)| first_line(&source.text, span))
        .collect();
    let excerpt = Excerpt::new(&source.text, &spans);
    let mut annotations: Vec<Annotation<'static>> = Vec::new();
    for ((label, _), span) in labels.iter().zip(excerpt.spans) {
        let Some(span) = span else {
            notes.push(label_note(label));
            continue;
        };
        let kind = if label.primary {
            AnnotationKind::Primary
        } else {
            AnnotationKind::Context
        };
        let annotation = kind.span(span);
        annotations.push(if label.text.is_empty() {
            annotation
        } else {
            annotation.label(safe_line(&label.text))
        });
    }
    let path = match spans.first().filter(|_| excerpt.is_changed) {
        Some(span) => {
            positions.push(safe_line(&source.location(span.clone()).to_string()));
            POSITION_MARK.to_string()
        }
        None => safe_line(&source.path),
    };
    Snippet::source(excerpt.text)
        .path(path)
        .line_start(excerpt.first_line)
        .annotations(annotations)
}

/// The lines of a source from its first to its last label as they are laid out: without passwords,
/// and of a long line only the part around its first label.
struct Excerpt {
    text: String,
    /// The number of the first line, from 1.
    first_line: usize,
    /// The range of each label in `text`; `None` if it is in a part that is cut away.
    spans: Vec<Option<Span>>,
    /// Whether `text` differs from the source.
    is_changed: bool,
}

impl Excerpt {
    /// Creates the excerpt for spans of a text, each within one line.
    fn new(text: &str, spans: &[Span]) -> Self {
        let from = spans.iter().map(|span| span.start).min().unwrap_or(0);
        let to = spans.iter().map(|span| span.end).max().unwrap_or(0);
        let from = line_start(text, from);
        let to = text[to..].find('\n').map_or(text.len(), |i| to + i);
        // A mask has the length of the password, so the spans are valid in the masked lines.
        let lines = mask_urls(&text[from..to]);
        let mut excerpt = Self {
            text: String::with_capacity(lines.len().min(MAX_LINE_BYTES)),
            first_line: text[..from].matches('\n').count() + 1,
            spans: vec![None; spans.len()],
            is_changed: *lines != text[from..to],
        };
        let mut start = from;
        for (index, line) in lines.split('\n').enumerate() {
            if index > 0 {
                excerpt.text.push('\n');
            }
            let end = start + line.len();
            let on_line = |span: &Span| {
                (start..=end)
                    .contains(&span.start)
                    .then(|| span.start - start..span.end - start)
            };
            let part = laid_out_part(line, spans.iter().find_map(on_line));
            let offset = excerpt.text.len();
            for (span, shown) in spans.iter().zip(&mut excerpt.spans) {
                let Some(span) = on_line(span) else {
                    continue;
                };
                let is_shown =
                    part.start <= span.start && (span.start < part.end || part.end == line.len());
                if is_shown {
                    let span_end = span.end.min(part.end);
                    let shifted = |at: usize| at - part.start + offset;
                    *shown = Some(shifted(span.start)..shifted(span_end));
                }
            }
            excerpt.is_changed |= part != (0..line.len());
            excerpt.text.push_str(&line[part]);
            start = end + 1;
        }
        excerpt
    }
}

/// Returns the range of a line that is laid out: all of it, or of a line longer than
/// [`MAX_LINE_BYTES`] the part around a span, without one its start.
fn laid_out_part(line: &str, span: Option<Span>) -> Span {
    if line.len() <= MAX_LINE_BYTES {
        return 0..line.len();
    }
    let span = span.unwrap_or(0..0);
    let from = line.ceil_char_boundary(span.start.saturating_sub(MAX_COLUMNS));
    let to = span.end.min(span.start + MAX_COLUMNS) + MAX_COLUMNS;
    from..line.floor_char_boundary(to.min(line.len()))
}

/// Returns the offset of the start of the line that contains an offset.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |i| i + 1)
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

    /// The message and the notes contain the position that the layout computes for the cut line.
    #[test]
    fn the_position_in_a_cut_line_replaces_no_other_text() {
        let text = format!("k: [{}NEEDLE]\n", "a, ".repeat(3000));
        let at = text.find("NEEDLE").unwrap();
        let shown = human(
            &[
                Diagnostic::new(&codes::BAD_SYNTAX, "m.yaml:1:121 and \u{1}:1:1")
                    .at(SourceText::new("m.yaml", text).location(at..at + 6), "this")
                    .note("m.yaml:1:121"),
            ],
            false,
        );
        assert!(
            shown.starts_with("error[M002 bad-syntax]: m.yaml:1:121 and \\u{1}:1:1\n"),
            "{shown}"
        );
        assert!(shown.contains("--> m.yaml:1:9005\n"), "{shown}");
        assert!(shown.contains("note: m.yaml:1:121\n"), "{shown}");
    }

    /// A long line is cut wherever a label is in it, and labels far away become notes.
    #[test]
    fn the_lines_of_all_labels_are_cut() {
        let text = format!("first: 1\nlong: [{}NEEDLE]\n", "a, ".repeat(400_000));
        let at = text.find("NEEDLE").unwrap();
        let source = SourceText::new("m.yaml", text);
        let shown = human(
            &[Diagnostic::new(&codes::BAD_SYNTAX, "long")
                .at(source.location(0..5), "here")
                .also(source.location(at..at + 6), "and here")
                .also(source.location(9..13), "the key")],
            false,
        );
        assert!(
            shown.contains("1 | first: 1\n") && shown.contains("- and here\n"),
            "{shown}"
        );
        assert!(shown.contains("--> m.yaml:1:1\n"), "{shown}");
        assert!(shown.contains("= note: m.yaml:2:1: the key\n"), "{shown}");
        assert!(shown.lines().all(|l| l.chars().count() < 160), "{shown}");
    }

    #[test]
    fn a_password_in_a_source_line_keeps_the_carets_in_place() {
        let source = SourceText::new("m.yaml", "index: https://me:secret@host/simple # x\n");
        let diagnostic = Diagnostic::new(&codes::BAD_SYNTAX, "from https://me:secret@host/simple")
            .at(source.location(37..40), "https://me:secret@host");
        assert_snapshot!(human(&[diagnostic], false), @r"
        error[M002 bad-syntax]: from https://me:***@host/simple
         --> m.yaml:1:38
          |
        1 | index: https://me:******@host/simple # x
          |                                      ^^^ https://me:***@host
        ");
    }

    /// The layout cuts the start of a URL away, in a line of any length.
    #[test]
    fn a_url_that_begins_left_of_the_cut_shows_no_password() {
        for (password, line_end) in [("secret", 10), ("é-secret", 10), ("secret", 2000)] {
            for repeat in [10, 14, 20, 30, 40] {
                let text = format!(
                    "{}https://user:{}@host/ NEEDLE {}\n",
                    "a: ".repeat(1000),
                    password.repeat(repeat),
                    "b ".repeat(line_end)
                );
                let at = text.find("NEEDLE").unwrap();
                let column = text[..at].chars().count() + 1;
                let location = SourceText::new("m.yaml", text).location(at..at + 6);
                let diagnostic = Diagnostic::new(&codes::BAD_SYNTAX, "x").at(location, "this");
                let shown = human(&[diagnostic], false);
                assert!(!shown.contains("secret"), "{shown}");
                assert!(shown.contains("NEEDLE"), "{shown}");
                assert!(
                    shown.contains(&format!("--> m.yaml:1:{column}\n")),
                    "{shown}"
                );
            }
        }
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

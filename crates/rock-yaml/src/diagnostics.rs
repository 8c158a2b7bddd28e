//! The diagnostics that the parser and the tree builder share.

use super::MapKey;
use super::limits::{MAX_ALIAS_BYTES, MAX_ALIAS_VALUES, MAX_DEPTH, MAX_KEY_BYTES, MAX_VALUES};
use crate::codes::matrix as codes;
use rock_diagnostic::{Diagnostic, SourceText, Span};

pub(super) fn duplicate_key(source: &SourceText, key: &MapKey, first: Span) -> Diagnostic {
    Diagnostic::new(
        &codes::DUPLICATE_KEY,
        format!("duplicate key `{}`", key.text),
    )
    .at(source.location(key.span.clone()), "again here")
    .also(source.location(first), "first here")
    .help("remove one of the two, or merge their values")
}

pub(super) fn merge_key(source: &SourceText, span: Span) -> Diagnostic {
    Diagnostic::new(&codes::MERGE_KEY, "merge keys `<<` are not supported")
        .at(source.location(span), "")
        .help("write the keys out, or mark one value with `&name` and repeat it with `*name`")
}

pub(super) fn tag(source: &SourceText, span: Span, tag: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::TAG,
        format!("the YAML tag `{tag}` is not supported"),
    )
    .at(source.location(span), "")
    .help("remove the tag; quote a value that must stay a string")
}

pub(super) fn unknown_anchor(source: &SourceText, span: Span) -> Diagnostic {
    let name = source.text[span.clone()].trim_start_matches('*');
    let message = format!("the alias `*{name}` has no anchor `&{name}` before it");
    Diagnostic::new(&codes::UNKNOWN_ANCHOR, message)
        .at(source.location(span), "")
        .help("define the anchor above, or quote a string that begins with `*`")
}

pub(super) fn self_alias(source: &SourceText, span: Span) -> Diagnostic {
    Diagnostic::new(
        &codes::UNKNOWN_ANCHOR,
        "an alias is inside the value that it repeats",
    )
    .at(source.location(span), "")
    .help("write the value out")
}

pub(super) fn alias_budget(source: &SourceText, span: Span) -> Diagnostic {
    Diagnostic::new(
        &codes::ALIAS_BUDGET,
        format!("aliases add more than {MAX_ALIAS_VALUES} values to this file"),
    )
    .at(source.location(span), "too many with this one")
    .help("write the values out, or use fewer aliases of aliases")
}

pub(super) fn alias_bytes(source: &SourceText, span: Span) -> Diagnostic {
    let mebibytes = MAX_ALIAS_BYTES >> 20;
    Diagnostic::new(
        &codes::ALIAS_BUDGET,
        format!("anchors and aliases add more than {mebibytes} MiB to this file"),
    )
    .at(source.location(span), "too much with this one")
    .help("write the values out, or use fewer aliases of long values")
}

pub(super) fn too_many_values(source: &SourceText, span: Span) -> Diagnostic {
    Diagnostic::new(
        &codes::TOO_MANY_VALUES,
        format!("the file has more than {MAX_VALUES} values"),
    )
    .at(source.location(span), "one too many")
    .help("split it into several files")
}

pub(super) fn too_long(source: &SourceText, span: Span, bytes: usize, limit: usize) -> Diagnostic {
    let (noun, help) = match limit {
        MAX_KEY_BYTES => ("key", "shorten it"),
        _ => ("string", "shorten it, or put it into its own file"),
    };
    Diagnostic::new(
        &codes::TOO_LONG,
        format!("the {noun} has {bytes} bytes, but at most {limit} are allowed"),
    )
    .at(source.location(span), "")
    .help(help)
}

pub(super) fn too_deep(source: &SourceText, span: Span) -> Diagnostic {
    Diagnostic::new(
        &codes::TOO_DEEP,
        format!("values are nested more than {MAX_DEPTH} levels deep"),
    )
    .at(source.location(span), "")
    .help("remove levels; a matrix file needs no more than six")
}

pub(super) fn second_document(source: &SourceText, span: Span) -> Diagnostic {
    Diagnostic::new(
        &codes::SECOND_DOCUMENT,
        "a second YAML document begins here",
    )
    .at(source.location(span), "")
    .help("put it into its own file; one plan can combine several matrix files")
}

pub(super) fn key_not_text(source: &SourceText, span: Span) -> Diagnostic {
    let before = &source.text[..span.start];
    if before.ends_with('{') && source.text[span.start..].starts_with('{') {
        let end = span.end + usize::from(source.text[span.end..].starts_with('}'));
        return Diagnostic::new(
            &codes::KEY_NOT_TEXT,
            "a string that begins with `{{` must be quoted",
        )
        .at(source.location(span.start - 1..end), "")
        .help("put the whole string in quotes");
    }
    Diagnostic::new(
        &codes::KEY_NOT_TEXT,
        "a key must be a string, not a list or a mapping",
    )
    .at(source.location(span), "")
    .help("quote a key that begins with `[` or `{`")
}

pub(super) fn tab(source: &SourceText, span: Span) -> Diagnostic {
    // The parser points at the token before the tab.
    let span = match source.text.get(span.clone()) {
        Some(text) if text.contains('\t') => span,
        _ => source.text[span.start..]
            .find('\t')
            .map_or(span.clone(), |after| {
                let at = span.start + after;
                at..at + 1
            }),
    };
    Diagnostic::new(&codes::TAB, "a tab where YAML only allows spaces")
        .at(source.location(span), "")
        .help("indent with spaces")
}

pub(super) fn control_character(source: &SourceText, span: Span, character: char) -> Diagnostic {
    let at = source.text[span.start..]
        .find(character)
        .map_or(span.start, |after| span.start + after);
    let span = at..at + character.len_utf8();
    Diagnostic::new(
        &codes::CONTROL_CHARACTER,
        format!(
            "the control character U+{:04X} is not allowed in a YAML file",
            u32::from(character)
        ),
    )
    .at(source.location(span), "")
    .help("remove it")
}

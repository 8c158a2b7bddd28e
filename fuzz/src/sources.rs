//! Files of a checkout of torch that pins are read from.

use rock_matrix::cmake::CmakeScript;
use rock_matrix::diagnostic::{Sink, SourceText};
use rock_matrix::source::related::{RelatedCommits, RowStrictness};

/// CMake files: every statement lies in the text, in order, and blocks never count twice.
pub fn cmake(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let script = CmakeScript::parse(text);
    let mut end = 0;
    for set in &script.sets {
        assert!(
            end <= set.span.start && set.span.start < set.span.end,
            "{set:?}"
        );
        end = set.span.end;
        assert!(text[set.span.clone()].ends_with(')'), "{set:?}");
        assert!(set.line >= 1 && set.line <= text.matches('\n').count() + 1);
        assert_eq!(set.list().join(";"), set.value());
    }
}

/// `related_commits`: what is not a row is told, and a row has a commit.
pub fn related_commits(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let source = SourceText::new("related_commits", text);
    let mut sink = Sink::new();
    let strict = RelatedCommits::parse(&source, RowStrictness::Strict, &mut sink);
    let lenient = RelatedCommits::parse(&source, RowStrictness::Lenient, &mut Sink::new());
    assert_eq!(strict.rows(), lenient.rows());
    let counts = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    let lines = text.split('\n').filter(counts).count();
    assert!(strict.rows().len() <= lines && (strict.rows().len() == lines || sink.has_errors()));
    for row in strict.rows() {
        assert!((7..=40).contains(&row.commit.len()) && !row.origin.starts_with('-'));
        assert!(strict.of(&row.project, &row.os).is_some());
    }
}

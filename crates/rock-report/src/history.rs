//! The release history: one section per tag, below a heading of a hand-written document.

use super::markers::{MarkerError, with_line_ends_of};

/// The heading that the sections follow.
const HEADING: &str = "## History";

/// Inserts a section into the history of a document. It replaces the section with the same heading;
/// if there is none, it goes before the first section, so that the newest release comes first.
/// `section` starts with its `### …` line.
///
/// # Errors
/// When the document does not have exactly one line `## History`.
pub fn with_section(document: &str, section: &str) -> Result<String, MarkerError> {
    let text = document.replace("\r\n", "\n");
    let lines = headings(&text);
    let mut marks = lines.iter().filter(|line| line.text == HEADING);
    let (Some(mark), None) = (marks.next(), marks.next()) else {
        return Err(MarkerError::Heading(HEADING.to_owned()));
    };
    let below: Vec<&ReleaseHeading<'_>> = lines
        .iter()
        .filter(|line| line.start > mark.start)
        .collect();
    let region_end = below
        .iter()
        .find(|line| line.level < 3)
        .map_or(text.len(), |line| line.start);
    let sections: Vec<&&ReleaseHeading<'_>> = below
        .iter()
        .filter(|line| line.level == 3 && line.start < region_end)
        .collect();
    let wanted = section.lines().next().unwrap_or_default();
    let (from, to) = match sections.iter().position(|line| line.text == wanted) {
        Some(at) => (
            sections[at].start,
            sections.get(at + 1).map_or(region_end, |next| next.start),
        ),
        None => {
            let before = sections.first().map_or(region_end, |first| first.start);
            (before, before)
        }
    };
    let (before, after) = (text[..from].trim_end_matches('\n'), &text[to..]);
    let end = if after.is_empty() { "" } else { "\n" };
    let made = format!(
        "{before}\n\n{}\n{end}{after}",
        section.trim_end_matches('\n')
    );
    Ok(with_line_ends_of(document, &made))
}

struct ReleaseHeading<'a> {
    start: usize,
    level: usize,
    text: &'a str,
}

/// Returns the headings of a document, except those in fenced code blocks.
fn headings(text: &str) -> Vec<ReleaseHeading<'_>> {
    let mut found = Vec::new();
    let (mut start, mut fence) = (0, None);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        let level = line.bytes().take_while(|b| *b == b'#').count();
        if fence.is_none() && (1..=6).contains(&level) && line[level..].starts_with([' ', '\n']) {
            found.push(ReleaseHeading {
                start,
                level,
                text: line.trim_end(),
            });
        }
        start += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::with_section;

    const DOCUMENT: &str =
        "# Wheels\n\n## History\n\nAll releases.\n\n### v1\n\nold\n\n#### Linux\n\nx\n\n## Else\n";

    #[test]
    fn the_newest_section_comes_first_and_what_a_person_wrote_stays() {
        let made = with_section(DOCUMENT, "### v2\n\nnew\n").unwrap();
        assert_eq!(
            made,
            "# Wheels\n\n## History\n\nAll releases.\n\n### v2\n\nnew\n\n### v1\n\nold\n\n#### Linux\n\nx\n\n## Else\n"
        );
        assert_eq!(with_section(&made, "### v2\n\nnew\n").unwrap(), made);
    }

    #[test]
    fn a_section_of_the_same_tag_is_replaced_with_all_of_its_parts() {
        let made = with_section(DOCUMENT, "### v1\n\nnew\n").unwrap();
        assert_eq!(
            made,
            "# Wheels\n\n## History\n\nAll releases.\n\n### v1\n\nnew\n\n## Else\n"
        );
        assert_eq!(with_section(&made, "### v1\n\nnew\n").unwrap(), made);
    }

    #[test]
    fn an_empty_history_at_the_end_takes_its_first_section() {
        let made = with_section("## History", "### v1\n\nx\n").unwrap();
        assert_eq!(made, "## History\n\n### v1\n\nx\n");
        assert_eq!(with_section(&made, "### v1\n\nx\n").unwrap(), made);
        assert_eq!(
            with_section("## History\r\n", "### v1\n\nx\n").unwrap(),
            "## History\r\n\r\n### v1\r\n\r\nx\r\n"
        );
    }

    #[test]
    fn a_document_without_the_heading_is_refused_and_code_is_no_heading() {
        for text in [
            "",
            "# History\n",
            "```\n## History\n```\n",
            "## History\n## History\n",
        ] {
            assert!(with_section(text, "### v1\n").is_err(), "{text}");
        }
    }
}

//! Compares two texts as a unified diff.

use std::fmt::Write as _;
use std::ops::Range;

/// The number of context lines around a change.
const AROUND: usize = 3;
/// The maximum size of the comparison table, in cells. For larger texts, everything between the
/// equal lines at both ends counts as one change.
const LARGEST_TABLE: usize = 4_000_000;

/// A change: the lines of the old text that became these lines of the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LineChange {
    old: Range<usize>,
    new: Range<usize>,
}

/// Returns the unified diff, empty for equal texts. It has at most `most` lines; if it is cut, the
/// last one gives the number of further lines.
pub fn unified(path: &str, old: &str, new: &str, most: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let changes = changes(&old, &new);
    if changes.is_empty() {
        return String::new();
    }
    let mut lines = vec![
        format!("--- {path}"),
        format!("+++ {path} as it would be rendered"),
    ];
    let mut rest = changes.as_slice();
    while let Some(first) = rest.first() {
        // Changes whose context lines meet form one hunk.
        let gap = |pair: &[LineChange]| pair[1].old.start - pair[0].old.end > 2 * AROUND;
        let count = rest
            .windows(2)
            .position(gap)
            .map_or(rest.len(), |at| at + 1);
        hunk(&old, &new, first, &rest[..count], &mut lines);
        rest = &rest[count..];
    }
    let more = lines.len().saturating_sub(most);
    if more > 0 {
        lines.truncate(most - 1);
        lines.push(format!("… and {} more lines", more + 1));
    }
    lines.join("\n") + "\n"
}

fn hunk(
    old: &[&str],
    new: &[&str],
    first: &LineChange,
    changes: &[LineChange],
    lines: &mut Vec<String>,
) {
    let last = changes.last().unwrap_or(first);
    let from = first.old.start.min(AROUND);
    let to = (old.len() - last.old.end).min(AROUND);
    let (old_lines, new_lines) = (
        first.old.start - from..last.old.end + to,
        first.new.start - from..last.new.end + to,
    );
    lines.push(format!("@@ -{} +{} @@", span(&old_lines), span(&new_lines)));
    let mut at = old_lines.start;
    for change in changes {
        lines.extend(
            old[at..change.old.start]
                .iter()
                .map(|line| format!(" {line}")),
        );
        lines.extend(
            old[change.old.clone()]
                .iter()
                .map(|line| format!("-{line}")),
        );
        lines.extend(
            new[change.new.clone()]
                .iter()
                .map(|line| format!("+{line}")),
        );
        at = change.old.end;
    }
    lines.extend(old[at..old_lines.end].iter().map(|line| format!(" {line}")));
}

/// Formats a range, `7,3`: its first line, counted from 1, and its number of lines unless that is
/// 1. An empty range is named by the line before it.
fn span(lines: &Range<usize>) -> String {
    let mut text = (lines.start + usize::from(!lines.is_empty())).to_string();
    if lines.len() != 1 {
        let _ = write!(text, ",{}", lines.len());
    }
    text
}

/// Returns the changes in order, from a longest common subsequence of lines.
fn changes(old: &[&str], new: &[&str]) -> Vec<LineChange> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..]
        .iter()
        .rev()
        .zip(new[head..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (inner_old, inner_new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let whole = LineChange {
        old: head..old.len() - tail,
        new: head..new.len() - tail,
    };
    if inner_old.is_empty() && inner_new.is_empty() {
        return Vec::new();
    }
    let width = inner_new.len() + 1;
    if inner_old.is_empty()
        || inner_new.is_empty()
        || (inner_old.len() + 1).saturating_mul(width) > LARGEST_TABLE
    {
        return vec![whole];
    }
    // The number of common lines in the rest of both texts.
    let mut common = vec![0_u32; (inner_old.len() + 1) * width];
    for a in (0..inner_old.len()).rev() {
        for b in (0..inner_new.len()).rev() {
            common[a * width + b] = if inner_old[a] == inner_new[b] {
                common[(a + 1) * width + b + 1] + 1
            } else {
                common[(a + 1) * width + b].max(common[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b, mut found) = (0, 0, Vec::<LineChange>::new());
    while a < inner_old.len() || b < inner_new.len() {
        if a < inner_old.len() && b < inner_new.len() && inner_old[a] == inner_new[b] {
            (a, b) = (a + 1, b + 1);
            continue;
        }
        let (from_a, from_b) = (a, b);
        while (a < inner_old.len() || b < inner_new.len())
            && !(a < inner_old.len() && b < inner_new.len() && inner_old[a] == inner_new[b])
        {
            let drop_old = b == inner_new.len()
                || (a < inner_old.len()
                    && common[(a + 1) * width + b] >= common[a * width + b + 1]);
            if drop_old { a += 1 } else { b += 1 }
        }
        found.push(LineChange {
            old: head + from_a..head + a,
            new: head + from_b..head + b,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(unified("a", "x\ny\n", "x\ny\n", 200), "");
        assert_eq!(unified("a", "", "", 200), "");
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own_and_near_ones_are_one() {
        let old: Vec<String> = (1..=30).map(|number| format!("line {number}")).collect();
        let mut new = old.clone();
        new[4] = "changed".to_owned();
        new.insert(7, "added".to_owned());
        new.remove(26);
        let found = unified(
            "w.yml",
            &(old.join("\n") + "\n"),
            &(new.join("\n") + "\n"),
            200,
        );
        assert_eq!(
            found,
            "--- w.yml\n+++ w.yml as it would be rendered\n@@ -2,9 +2,10 @@\n line 2\n line 3\n line 4\n-line 5\n\
             +changed\n line 6\n line 7\n+added\n line 8\n line 9\n line 10\n@@ -23,7 +24,6 @@\n line 23\n line 24\n \
             line 25\n-line 26\n line 27\n line 28\n line 29\n"
        );
    }

    #[test]
    fn a_text_that_was_not_there_is_added_whole() {
        assert_eq!(
            unified("a", "", "x\ny\n", 200),
            "--- a\n+++ a as it would be rendered\n@@ -0,0 +1,2 @@\n+x\n+y\n"
        );
    }

    #[test]
    fn a_long_difference_is_cut_and_marked() {
        let text = |word: &str| {
            (0..500)
                .map(|number| format!("{word} {number}\n"))
                .collect::<String>()
        };
        let found = unified("a", &text("old"), &text("new"), 200);
        assert_eq!(found.lines().count(), 200);
        assert_eq!(found.lines().last().unwrap(), "… and 804 more lines");
    }

    /// Applying the diff as `patch` does gives the new text.
    #[test]
    fn applying_the_difference_gives_the_new_text() {
        let texts = [
            "",
            "a\n",
            "a\nb\nc\n",
            "b\nc\nd\n",
            "c\na\nb\nd\ne\nf\ng\nh\ni\n",
            "a\nx\nc\ny\ne\nf\ng\nh\nz\n",
        ];
        for old in texts {
            for new in texts {
                let (mut at, mut made) = (0, Vec::new());
                let lines: Vec<&str> = old.lines().collect();
                let difference = unified("t", old, new, 1000);
                for line in difference.lines().skip(2) {
                    match line.split_at(1) {
                        ("@", rest) => {
                            let old_span = rest.split(['-', ' ']).nth(2).unwrap();
                            let start: usize = old_span.split(',').next().unwrap().parse().unwrap();
                            let empty = old_span.ends_with(",0");
                            let start = if empty { start } else { start - 1 };
                            made.extend(&lines[at..start]);
                            at = start;
                        }
                        (" ", text) => {
                            assert_eq!(lines[at], text);
                            made.push(text);
                            at += 1;
                        }
                        ("-", text) => {
                            assert_eq!(lines[at], text);
                            at += 1;
                        }
                        (_, text) => made.push(text),
                    }
                }
                made.extend(&lines[at..]);
                assert_eq!(made, new.lines().collect::<Vec<_>>(), "{old:?} to {new:?}");
            }
        }
    }
}

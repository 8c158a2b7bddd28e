//! A Markdown table that fits a size limit.

use rock_diagnostic::counted;

/// The maximum size of a step's summary in bytes, by the row `step-summary` of the compatibility
/// data. Diagnostics are listed there before that data is loaded.
pub const SUMMARY_BYTES: u64 = 1 << 20;

/// The space reserved for the line with the number of omitted rows: 20 digits and a noun of up to
/// 30 letters.
const LAST_LINE: usize = 120;

/// Renders a title, the head of a table and its rows, cut at a row with a line that counts the
/// omitted rows as `noun`. The result never exceeds `room` bytes, and is empty if not even that
/// line fits. Rows end with a line feed.
pub fn table(
    head: &str,
    rows: impl IntoIterator<Item = String>,
    noun: &str,
    room: usize,
) -> String {
    if head.len() + LAST_LINE > room {
        let line = format!(
            "\n{} omitted from this summary, which is full.\n",
            counted(rows.into_iter().count(), noun)
        );
        return if line.len() <= room {
            line
        } else {
            String::new()
        };
    }
    let mut text = head.to_owned();
    let mut rows = rows.into_iter();
    while let Some(row) = rows.next() {
        if text.len() + row.len() + LAST_LINE > room {
            let left = 1 + rows.count();
            text.push_str(&format!(
                "\n{} omitted from this summary, which is full.\n",
                counted(left, noun)
            ));
            break;
        }
        text.push_str(&row);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    const HEAD: &str = "### x\n\n| a |\n| --- |\n";

    fn rows(count: usize) -> impl Iterator<Item = String> {
        (0..count).map(|number| format!("| {number:06} |\n"))
    }

    #[test]
    fn a_table_stays_below_its_room_and_says_how_many_rows_it_left_out() {
        for room in [200, 1000, 1 << 20] {
            let text = table(HEAD, rows(150_000), "row", room);
            assert!(
                text.len() <= room && text.len() + 140 > room,
                "{room}: {}",
                text.len()
            );
            let kept = text
                .lines()
                .filter(|line| line.starts_with("| 0") || line.starts_with("| 1"))
                .count();
            let last = format!(
                "\n\n{} rows omitted from this summary, which is full.\n",
                150_000 - kept
            );
            assert!(text.ends_with(&last), "{}", &text[text.len() - 100..]);
        }
    }

    #[test]
    fn a_table_that_fits_is_whole() {
        let text = table(HEAD, rows(3), "row", 1 << 20);
        assert_eq!(text, format!("{HEAD}| 000000 |\n| 000001 |\n| 000002 |\n"));
    }

    #[test]
    fn a_full_summary_gets_the_count_alone_or_nothing() {
        assert_eq!(
            table(HEAD, rows(3), "row", 100),
            "\n3 rows omitted from this summary, which is full.\n"
        );
        assert_eq!(table(HEAD, rows(3), "row", 10), "");
    }
}

//! Diagnostics as a Markdown table: all of them, while a step shows only some as annotations.

use super::table;
use rock_diagnostic::{
    Diagnostic,
    markdown::{code, message},
};

/// Renders one row per diagnostic, errors first, within `room` bytes.
pub fn faults(diagnostics: &[Diagnostic], room: usize) -> String {
    let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
    sorted.sort_by_key(|one| one.severity);
    let row = |one: &Diagnostic| {
        let place = one
            .labels
            .first()
            .map(|label| code(&label.location.to_string()))
            .unwrap_or_default();
        let help = one.help.as_deref().map(message).unwrap_or_default();
        format!(
            "| {} | {} | {place} | {} | {help} |\n",
            one.severity,
            one.code,
            message(&one.message)
        )
    };
    let head = "### Diagnostics\n\n| | code | location | message | help |\n| --- | --- | --- | --- \
        | --- |\n";
    table(head, sorted.into_iter().map(row), "diagnostic", room)
}

#[cfg(test)]
mod tests {
    use super::faults;
    use rock_diagnostic::{Diagnostic, SourceText};
    use rock_yaml::codes::matrix as codes;

    #[test]
    fn faults_are_listed_errors_first_and_no_text_leaves_its_cell() {
        let source = SourceText::new("a|b.yaml", "x: 1\ny: 2\n");
        let warning = Diagnostic::new(&codes::BYTE_ORDER_MARK, "w");
        let error = Diagnostic::new(&codes::DUPLICATE_KEY, "a | b\n| <img> @me")
            .at(source.location(5..6), "")
            .help("x|y");
        assert_eq!(
            faults(&[warning, error], 1 << 20),
            "### Diagnostics\n\n| | code | location | message | help |\n| --- | --- | --- | --- | \
             --- |\n\
             | error | M001 duplicate-key | `a\\|b.yaml:2:1` | a \\| b \\| \\<img\\> \\@\u{2060}me | x\\|y |\n\
             | warning | M005 byte-order-mark |  | w |  |\n"
        );
    }

    #[test]
    fn a_list_of_faults_is_cut_at_a_row_below_1_mib() {
        let all: Vec<_> = (0..10_000)
            .map(|number| {
                Diagnostic::new(&codes::BAD_SYNTAX, format!("{number} {}", "é".repeat(100)))
            })
            .collect();
        let text = faults(&all, 1 << 20);
        assert!(text.len() <= 1 << 20);
        let kept = text
            .lines()
            .filter(|line| line.starts_with("| error "))
            .count();
        assert!(text.ends_with(&format!(
            "\n{} diagnostics omitted from this summary, which is full.\n",
            10_000 - kept
        )));
        assert!(
            text.lines()
                .all(|line| !line.starts_with('|') || line.ends_with('|'))
        );
    }
}

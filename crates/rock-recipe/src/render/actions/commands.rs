//! Workflow commands in the log of a step.

use rock_diagnostic::render::escape_command;

/// Returns the command that makes the runner mask this text in everything that it shows.
pub fn mask(secret: &str) -> String {
    format!("::add-mask::{}\n", escape_command(secret))
}

/// Converts clap's message about a command line to an annotation: the error without the usage after
/// it. If clap shows the help instead, the error is that a subcommand is missing.
pub fn usage_error(text: &str) -> String {
    let usage = || {
        text.lines()
            .find(|line| line.starts_with("Usage: "))
            .unwrap_or_default()
    };
    let fault = match text.split_once(": ") {
        Some(("error", rest)) => rest
            .split("\n\n")
            .next()
            .unwrap_or_default()
            .trim_end()
            .to_owned(),
        _ => format!("a subcommand is required\n{}", usage()),
    };
    format!("::error title=rock-matrix::{}\n", escape_command(&fault))
}

/// Whether a runner would interpret a line of this text as a command: one that begins with `::`
/// after whitespace, or one that contains the older `##[` anywhere (actions/runner,
/// `ActionCommand.cs`, `TryParseV2` and `TryParse`).
pub fn begins_command(text: &str) -> bool {
    text.split(['\n', '\r'])
        .any(|line| line.trim_start().starts_with("::") || line.contains("##["))
}

/// Returns the line that begins a collapsed group in the log, and the line that ends it.
pub fn group(title: &str) -> (String, &'static str) {
    (
        format!("::group::{}\n", escape_command(title)),
        "::endgroup::\n",
    )
}

/// Returns the line that stops the processing of commands, and the line that resumes it. Whoever
/// writes the lines in between must not know the word.
pub fn stopped(word: &str) -> (String, String) {
    (
        format!("::stop-commands::{word}\n"),
        format!("::{word}::\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::{begins_command, group, mask, stopped, usage_error};

    #[test]
    fn a_secret_of_several_lines_is_masked_on_one_line() {
        assert_eq!(mask("a%b\nc"), "::add-mask::a%25b%0Ac\n");
    }

    #[test]
    fn a_command_line_at_fault_is_annotated_with_its_fault_alone() {
        let check = |text: &str, content: &str| {
            assert_eq!(
                usage_error(text),
                format!("::error title=rock-matrix::{content}\n")
            );
        };
        check("error: no `50%`: x\n\nUsage: x\n", "no `50%25`: x");
        check(
            "error: these are missing:\n  --out\n\nUsage: x\n",
            "these are missing:%0A  --out",
        );
        check(
            "Documents: notes\n\nUsage: x y <C>\n\nCommands:\n",
            "a subcommand is required%0AUsage: x y <C>",
        );
    }

    #[test]
    fn a_title_begins_no_second_command() {
        assert_eq!(
            group("x\n::error::y"),
            ("::group::x%0A::error::y\n".to_owned(), "::endgroup::\n")
        );
    }

    #[test]
    fn commands_are_seen_after_white_space_and_in_both_forms() {
        for text in [
            "::error::x",
            "  \t::stop-commands::x",
            "one\n::x::",
            "one\r::x::",
            "see ##[error]x",
        ] {
            assert!(begins_command(text), "{text:?}");
        }
        for text in ["", "std::string", "a ::b", "# [x]"] {
            assert!(!begins_command(text), "{text:?}");
        }
        assert_eq!(
            stopped("w"),
            ("::stop-commands::w\n".to_owned(), "::w::\n".to_owned())
        );
    }
}

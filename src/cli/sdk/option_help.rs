//! Names the options of a command in diagnostics of the library, which does not know them.

use crate::codes::{sdk as codes, wheel::BAD_PATTERN};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Location};

/// Options of `sdk build` and `sdk plan`.
struct OptionNames {
    code: &'static Code,
    /// The option whose value is the argument that the diagnostic points at.
    argument: Option<&'static str>,
    /// The addition to the help.
    help: &'static str,
}

const LAYOUT_OPTIONS: &[OptionNames] = &[
    OptionNames {
        code: &codes::NO_SDK_MANIFEST,
        argument: None,
        help: " (`--mode`)",
    },
    OptionNames {
        code: &codes::OTHER_SDK_MODE,
        argument: Some("--mode"),
        help: "",
    },
    OptionNames {
        code: &codes::OVERLAPPING_FILES,
        argument: None,
        help: "; `--strict` makes this an error",
    },
    OptionNames {
        code: &BAD_PATTERN,
        argument: Some("--runtime-alias"),
        help: "",
    },
    OptionNames {
        code: &codes::NO_SUCH_ALIAS,
        argument: Some("--runtime-alias"),
        help: "",
    },
    OptionNames {
        code: &codes::SDK_OUTPUT_EXISTS,
        argument: None,
        help: " (`--replace`)",
    },
    OptionNames {
        code: &codes::FOREIGN_OUTPUT,
        argument: None,
        help: " (`--out`)",
    },
];

/// Names the options of `sdk build` and `sdk plan` in diagnostics.
pub(super) fn name_layout_options(
    diagnostics: impl IntoIterator<Item = Diagnostic>,
) -> Vec<Diagnostic> {
    diagnostics.into_iter().map(name_layout_option).collect()
}

/// Names the options of `sdk build` and `sdk plan` in errors, with the same exit class.
pub(super) fn name_layout_options_of_errors(errors: Diagnostics) -> Diagnostics {
    let exit_class = errors.exit_class();
    Diagnostics::from(name_layout_options(errors)).exits_with(exit_class)
}

fn name_layout_option(diagnostic: Diagnostic) -> Diagnostic {
    let known = LAYOUT_OPTIONS
        .iter()
        .find(|options| options.code == diagnostic.code);
    let Some(options) = known else {
        return diagnostic;
    };
    let diagnostic = match options.argument {
        Some(option) => name_argument(diagnostic, option),
        None => diagnostic,
    };
    add_help(diagnostic, options.help)
}

/// Names the option whose value is an argument that the diagnostic points at.
pub(super) fn name_argument(mut diagnostic: Diagnostic, option: &str) -> Diagnostic {
    for label in &mut diagnostic.labels {
        if let Location::Argument(value) = &mut label.location {
            *value = format!("{option} {value}");
        }
    }
    diagnostic
}

/// Appends a text to the help, if there is one.
pub(super) fn add_help(diagnostic: Diagnostic, text: &str) -> Diagnostic {
    match diagnostic.help.clone() {
        Some(help) => diagnostic.help(help + text),
        None => diagnostic,
    }
}

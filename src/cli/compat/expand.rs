//! `compat expand`: the gfx targets of target families.

use super::json;
use crate::cli::wheel::fail;
use crate::cli::{Exit, Format, Shell};
use crate::codes::matrix as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass, Location};

/// The form in which targets are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TargetForm {
    /// `gfx942,gfx1200`
    Targets,
    /// `device-gfx942,device-gfx1200`, extras of the ROCm packages
    DeviceExtras,
}

/// The output as JSON.
#[derive(serde::Serialize)]
struct Document<'a> {
    version: u32,
    /// The targets, in the requested form.
    targets: &'a [String],
}

/// Prints the targets of families that are separated by commas or semicolons, each once, in the
/// given order.
pub(super) fn run(
    compat: &Compat,
    families: &str,
    form: TargetForm,
    format: Format,
    shell: &Shell,
) -> Exit {
    let targets = match compat.expand_families(families) {
        Ok(targets) => targets,
        Err(errors) => {
            let rows = compat.tables().families.iter();
            let known: Vec<&str> = rows.map(|row| row.family.as_str()).collect();
            let errors: Vec<Diagnostic> = errors
                .iter()
                .map(|error| {
                    Diagnostic::new(&codes::BAD_GFX, error.to_string())
                        .at(Location::Argument(families.to_owned()), "")
                        .help(format!("the families are {}", known.join(", ")))
                })
                .collect();
            let errors = Diagnostics::from(errors).exits_with(ExitClass::Usage);
            return fail(shell, &errors);
        }
    };
    let prefix = match form {
        TargetForm::Targets => "",
        TargetForm::DeviceExtras => "device-",
    };
    let words: Vec<String> = targets
        .iter()
        .map(|target| format!("{prefix}{target}"))
        .collect();
    shell.print(&match format {
        Format::Human => format!("{}\n", words.join(",")),
        Format::Json => json(&Document {
            version: 1,
            targets: &words,
        }),
    })
}

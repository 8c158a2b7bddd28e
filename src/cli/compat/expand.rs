//! `compat expand`: the gfx targets of target families.

use crate::cli::{Exit, Shell};
use crate::codes::matrix as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location};

/// The form in which targets are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum As {
    /// `gfx942,gfx1200`
    Targets,
    /// `device-gfx942,device-gfx1200`, extras of the ROCm packages
    DeviceExtras,
}

/// Prints the targets of families that are separated by semicolons, each once, in the given order.
pub(super) fn run(compat: &Compat, families: &str, form: As, shell: &Shell) -> Exit {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for family in families
        .split(';')
        .map(str::trim)
        .filter(|family| !family.is_empty())
    {
        match compat.resolve_gfx(family) {
            Ok(targets) => found.extend(targets.iter().map(ToString::to_string)),
            Err(unknown) => {
                let known: Vec<&str> = compat
                    .tables()
                    .families
                    .iter()
                    .map(|row| row.family.as_str())
                    .collect();
                let fault = Diagnostic::new(&codes::BAD_GFX, unknown.to_string());
                let fault = fault.at(Location::Argument(families.to_owned()), "");
                faults.push(fault.help(format!("the families are {}", known.join(", "))));
            }
        }
    }
    if !faults.is_empty() {
        return shell.report(&faults);
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|target| seen.insert(target.clone()));
    let prefix = match form {
        As::Targets => "",
        As::DeviceExtras => "device-",
    };
    let words: Vec<String> = found
        .iter()
        .map(|target| format!("{prefix}{target}"))
        .collect();
    shell.print(&format!("{}\n", words.join(",")))
}

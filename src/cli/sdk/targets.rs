//! `sdk targets`: families and their GPU targets.

use std::path::Path;

use serde_json::json;

use super::{Exit, Format, Shell};
use crate::cli::load;
use crate::compat::rows::FamilyRow;
use crate::diagnostic::registry::sdk as codes;
use crate::diagnostic::{Diagnostic, Place};
use crate::sdk;
use crate::sys;

/// Tell which GPU targets a family has, or which GPUs are here
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix sdk targets                            all families
  rock-matrix sdk targets --family gfx94X-dcgpu,gfx110X-dgpu
  rock-matrix sdk targets --detect                   what the kernel says of this machine")]
pub(super) struct Args {
    /// Families or targets, with commas or semicolons
    #[arg(long, value_name = "FAMILIES")]
    family: Option<String>,
    /// Ask the kernel which GPUs are here
    #[arg(long, conflicts_with = "family")]
    detect: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let rows = &compat.tables().families;
    let families: Vec<(String, Vec<String>)> = match &args.family {
        _ if args.detect => {
            let found = sys::topology(Path::new("/")).gpus;
            vec![("here".to_owned(), found.iter().map(|gpu| gpu.target.to_string()).collect())]
        }
        None => rows.iter().map(|row| (row.family.clone(), row.members.clone())).collect(),
        Some(words) => match sdk::expand(words, rows) {
            Ok(targets) => vec![(words.clone(), targets)],
            Err(unknown) => return shell.report(&[unknown_families(&unknown, &format!("--family {words}"), rows)]),
        },
    };
    match args.format {
        Format::Human => {
            let line = |(family, targets): &(String, Vec<String>)| format!("{family}: {}\n", targets.join(" "));
            shell.print(&families.iter().map(line).collect::<String>())
        }
        Format::Json => {
            let listed: serde_json::Map<_, _> =
                families.into_iter().map(|(family, targets)| (family, json!(targets))).collect();
            shell.print(&format!("{:#}\n", json!({"version": 1, "families": listed})))
        }
    }
}

/// Says that words of an argument are no families.
pub(super) fn unknown_families(unknown: &[String], argument: &str, rows: &[FamilyRow]) -> Diagnostic {
    let known: Vec<&str> = rows.iter().map(|row| row.family.as_str()).collect();
    Diagnostic::new(&codes::MISSING_TARGETS, format!("there is no family `{}`", unknown.join("`, `")))
        .at(Place::Argument(argument.to_owned()), "")
        .help(format!("families are {}; every target is one of its own", known.join(", ")))
}

//! `sdk targets`: families and their GPU targets.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Exit, Format, Shell};
use crate::cli::load;
use crate::codes::sdk as codes;
use crate::compat::Compat;
use crate::compat::rows::FamilyRow;
use crate::diagnostic::{Diagnostic, Location};
use crate::sdk;
use crate::sys;

/// Tell which GPU targets a family has, or which GPUs are here
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix sdk targets                            all families
  rock-matrix sdk targets --family gfx94X-dcgpu,gfx110X-dgpu
  rock-matrix sdk targets --targets-file TheRock/cmake/therock_amdgpu_targets.cmake
                                                     those of a checkout of TheRock
  rock-matrix sdk targets --detect                   what the kernel says of this machine")]
pub(super) struct Args {
    /// Families or targets, with commas or semicolons
    #[arg(long, value_name = "FAMILIES")]
    family: Option<String>,
    /// Ask the kernel which GPUs are here
    #[arg(long, conflicts_with_all = ["family", "targets_file"])]
    detect: bool,
    #[command(flatten)]
    families: FamiliesFrom,
    /// How to print the result
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Where families and their targets are read.
#[derive(Debug, clap::Args)]
pub(super) struct FamiliesFrom {
    #[arg(
        help = "Read families of TheRock's therock_amdgpu_targets.cmake in place of the facts",
        long,
        value_name = "FILE"
    )]
    targets_file: Option<PathBuf>,
}

impl FamiliesFrom {
    /// The families.
    ///
    /// # Errors
    /// When the file cannot be read, or declares nothing.
    pub(super) fn read<'c>(
        &self,
        compat: &'c Compat,
    ) -> Result<Cow<'c, [FamilyRow]>, Vec<Diagnostic>> {
        let Some(path) = &self.targets_file else {
            return Ok(Cow::Borrowed(&compat.tables().families));
        };
        let text = sys::read_text(path, sdk::limits::MAX_TARGETS_BYTES)
            .map_err(|error| vec![error.into()])?;
        sdk::declared_families(&text).map(Cow::Owned).map_err(|error| {
            vec![
                Diagnostic::new(&codes::MISSING_TARGETS, error.to_string())
                    .at(Location::File(path.display().to_string().into()), "")
                    .help("give the file `cmake/therock_amdgpu_targets.cmake` of a checkout of TheRock"),
            ]
        })
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let rows = match args.families.read(compat) {
        Ok(rows) => rows,
        Err(faults) => return shell.report(&faults),
    };
    let families: Vec<(String, Vec<String>)> = match &args.family {
        _ if args.detect => {
            let found = sys::read_topology(Path::new("/")).gpus;
            vec![(
                "here".to_owned(),
                found.iter().map(|gpu| gpu.target.to_string()).collect(),
            )]
        }
        None => rows
            .iter()
            .map(|row| (row.family.clone(), row.members.clone()))
            .collect(),
        Some(words) if sdk::words(words).next().is_none() => {
            return shell.report(&[unknown_families(
                std::slice::from_ref(words),
                &format!("--family {words}"),
                &rows,
            )]);
        }
        Some(words) => match sdk::expand(words, &rows) {
            Ok(targets) => vec![(words.clone(), targets)],
            Err(unknown) => {
                return shell.report(&[unknown_families(
                    &unknown,
                    &format!("--family {words}"),
                    &rows,
                )]);
            }
        },
    };
    match args.format {
        Format::Human => {
            let line = |(family, targets): &(String, Vec<String>)| {
                format!("{family}: {}\n", targets.join(" "))
            };
            shell.print(&families.iter().map(line).collect::<String>())
        }
        Format::Json => {
            let listed: serde_json::Map<_, _> = families
                .into_iter()
                .map(|(family, targets)| (family, json!(targets)))
                .collect();
            shell.print(&format!(
                "{:#}\n",
                json!({"version": 1, "families": listed})
            ))
        }
    }
}

/// Says that words of an argument are no families.
pub(super) fn unknown_families(
    unknown: &[String],
    argument: &str,
    rows: &[FamilyRow],
) -> Diagnostic {
    let known: Vec<&str> = rows.iter().map(|row| row.family.as_str()).collect();
    Diagnostic::new(
        &codes::MISSING_TARGETS,
        format!("there is no family `{}`", unknown.join("`, `")),
    )
    .at(Location::Argument(argument.to_owned()), "")
    .help(format!(
        "families are {}; every target is one of its own",
        known.join(", ")
    ))
}

//! `clean`: removes build folders of jobs, nothing else.

use serde::Serialize;

use super::{Exit, Format, Shell};
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Diagnostic, Place, registry::plan as codes};
use crate::exec::{self, JobFolder, ROOT};
use crate::sys;

/// Remove the build folders of jobs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only folders below .rock are removed: sources, logs and build.json of a job. Wheels in dist stay. A
folder whose build is running is left alone.

Examples:
  rock-matrix clean JOB              one job's folder
  rock-matrix clean --all --dry-run  what there is, and how large it is
  rock-matrix clean --all            all of them")]
pub(super) struct Args {
    /// Jobs by id
    #[arg(value_name = "JOB", required_unless_present = "all", conflicts_with = "all")]
    jobs: Vec<String>,
    /// Every job that has a folder
    #[arg(long)]
    all: bool,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// What to print: a line a folder, or one JSON object
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// A folder that was removed, or would be.
#[derive(Serialize)]
struct Freed {
    job: String,
    bytes: u64,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let base = &shell.environment.current_dir;
    let present: Vec<String> = match sys::names_in(&base.join(ROOT)) {
        Ok(names) => names.into_iter().filter(|name| JobFolder::new(base, name).is_ok()).collect(),
        Err(error) => {
            shell.report(&[error.into()]);
            return Exit::Machine;
        }
    };
    let ids = if args.all { &present } else { &args.jobs };
    let (mut exit, mut freed) = (Exit::Done, Vec::new());
    for id in ids {
        let folder = match JobFolder::new(base, id) {
            Ok(folder) => folder,
            Err(fault) => {
                exit = shell.report(&[Diagnostic::from(&fault)]);
                continue;
            }
        };
        match exec::freed_by_cleaning(&folder, args.dry_run) {
            Ok(Some(bytes)) => {
                freed.push(Freed { job: id.clone(), bytes });
                if args.format == Format::Human {
                    let verb = if args.dry_run { "would remove" } else { "removed" };
                    shell.print(&format!("{verb} {ROOT}/{id}  {}\n", size(bytes)));
                }
            }
            Ok(None) => {
                let told = Diagnostic::new(&codes::UNKNOWN_JOB, format!("job `{id}` has no build folder"))
                    .at(Place::Argument(id.clone()), "");
                let told = match nearest(id, present.iter().map(String::as_str)) {
                    Some(near) => told.help(format!("did you mean `{near}`?")),
                    None if present.is_empty() => told.help("there is none at all: nothing is to be done"),
                    None => told.help(format!("there are {}", present.join(", "))),
                };
                exit = shell.report(&[told]);
            }
            Err(fault) => {
                shell.report(&[Diagnostic::from(&fault)]);
                exit = Exit::Machine;
            }
        }
    }
    let sum = freed.iter().map(|one| one.bytes).sum();
    if args.format == Format::Json {
        let document = serde_json::json!({"version": 1, "dry_run": args.dry_run, "folders": freed, "bytes": sum});
        shell.print(&format!("{document}\n"));
    }
    if ids.is_empty() {
        shell.say("there are no build folders");
    } else if ids.len() > 1 {
        shell.say(&format!("{} {}", if args.dry_run { "that would free" } else { "freed" }, size(sum)));
    }
    exit
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((word, unit)) => format!("{}.{} {word}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_written_for_people() {
        assert_eq!(
            [512, 1536, 5 << 20, (3 << 30) + (1 << 29)].map(size),
            ["512 bytes", "1.5 KiB", "5.0 MiB", "3.5 GiB"]
        );
    }
}

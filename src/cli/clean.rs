//! `clean`: removes what builds left in the sources of jobs, or all that is left of jobs.

use std::path::Path;

use serde::Serialize;

use super::{Exit, Format, Shell};
use crate::codes::plan as codes;
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Diagnostic, Location};
use crate::exec::{self, JobFolder, OpenFolderError, ROOT};
use crate::sys;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only folders called `build` go, below .rock/JOB/src, that a build tool has left its mark in and git
tracks nothing of: what CMake remembers, and what was compiled. Sources, checkouts, logs and what a
person put there stay, and so do wheels in dist. A folder whose build is running is left alone.

With --whole the job's whole folder goes, its sources with it.

Examples:
  rock-matrix clean torch                    build folders of the only job whose id begins so
  rock-matrix clean --all --dry-run          what would be removed, and how large it is
  rock-matrix clean --all --whole            all that is left of all jobs")]
pub(super) struct Args {
    /// Jobs by id, or by how the id of only one begins
    #[arg(
        value_name = "JOB",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    jobs: Vec<String>,
    /// Every job that has a folder
    #[arg(long)]
    all: bool,
    /// Remove the whole folder of a job: sources, logs and build.json too
    #[arg(long)]
    whole: bool,
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
    path: String,
    bytes: u64,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let base = &shell.environment.current_dir;
    // Beside folders of jobs there may be the state of a checkout.
    let is_folder = |name: &String| !sys::is_file(&base.join(ROOT).join(name));
    let present: Vec<String> = match sys::entry_names(&base.join(ROOT)) {
        Ok(names) => names
            .into_iter()
            .filter(is_folder)
            .filter(|name| JobFolder::new(base, name).is_ok())
            .collect(),
        Err(error) => {
            shell.report(&[error.into()]);
            return Exit::Machine;
        }
    };
    let ids = if args.all { &present } else { &args.jobs };
    let (mut exit, mut freed) = (Exit::Done, Vec::new());
    for name in ids {
        let id = only_one(name, &present).unwrap_or(name);
        let folder = match JobFolder::new(base, id) {
            Ok(folder) => folder,
            Err(fault) => {
                exit = shell.report(&[Diagnostic::from(&fault)]);
                continue;
            }
        };
        match clean(&folder, id, args, shell) {
            Ok(Some(removed)) => freed.extend(removed),
            Ok(None) => exit = shell.report(&[unknown(name, &present)]),
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
    } else {
        let verb = if args.dry_run {
            "would remove"
        } else {
            "removed"
        };
        let line = |one: &Freed| format!("{verb} {}  {}\n", one.path, size(one.bytes));
        shell.print(&freed.iter().map(line).collect::<String>());
    }
    if exit == Exit::Done && freed.is_empty() {
        shell.say("there are no build folders");
    } else if freed.len() > 1 {
        shell.say(&format!(
            "{} {}",
            if args.dry_run {
                "that would free"
            } else {
                "freed"
            },
            size(sum)
        ));
    }
    exit
}

/// Removes what is asked for, and says what is left alone and why; `None` when there is no folder.
fn clean(
    folder: &JobFolder,
    id: &str,
    args: &Args,
    shell: &Shell,
) -> Result<Option<Vec<Freed>>, OpenFolderError> {
    let base = &shell.environment.current_dir;
    let freed = |path: &Path, bytes: u64| {
        let path = path
            .strip_prefix(base)
            .unwrap_or(path)
            .display()
            .to_string();
        Freed {
            job: id.to_owned(),
            path,
            bytes,
        }
    };
    if args.whole {
        let bytes = exec::freed_by_cleaning(folder, args.dry_run)?;
        return Ok(bytes.map(|bytes| vec![freed(folder.path(), bytes)]));
    }
    let Some(found) = exec::build_folders(folder, &shell.environment)? else {
        return Ok(None);
    };
    if !args.dry_run {
        exec::remove_build_folders(folder, &found)?;
    }
    for (one, why) in found.iter().filter_map(|one| Some((one, one.kept?))) {
        shell.say(&format!(
            "{} stays: {why}",
            one.path.strip_prefix(base).unwrap_or(&one.path).display()
        ));
    }
    Ok(Some(
        found
            .iter()
            .filter(|one| one.kept.is_none())
            .map(|one| freed(&one.path, one.bytes))
            .collect(),
    ))
}

/// The id of the only job that is called so or whose id begins so.
fn only_one<'a>(name: &str, present: &'a [String]) -> Option<&'a String> {
    let begun: Vec<&String> = present
        .iter()
        .filter(|id| id.starts_with(name) && !name.is_empty())
        .collect();
    present
        .iter()
        .find(|id| *id == name)
        .or(if let [id] = begun[..] { Some(id) } else { None })
}

fn unknown(name: &str, present: &[String]) -> Diagnostic {
    let begun: Vec<&str> = present
        .iter()
        .filter(|id| id.starts_with(name))
        .map(String::as_str)
        .collect();
    let message = match begun.len() {
        0 | 1 => format!("job `{name}` has no build folder"),
        count => format!("{count} jobs begin with `{name}`"),
    };
    let told =
        Diagnostic::new(&codes::UNKNOWN_JOB, message).at(Location::Argument(name.to_owned()), "");
    match nearest(name, present.iter().map(String::as_str)) {
        _ if begun.len() > 1 => told.help(format!("name one of {}", begun.join(", "))),
        Some(near) => told.help(format!("did you mean `{near}`?")),
        None if present.is_empty() => told.help("there is none at all: nothing is to be done"),
        None => told.help(format!("there are {}", present.join(", "))),
    }
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

//! `clean`: removes the build folders in the sources of jobs, or the whole folders of jobs.

use std::path::Path;

use clap::error::ErrorKind;
use serde::Serialize;

use super::{Exit, Format, OutputFormat, Shell, misused};
use crate::codes::plan as codes;
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Diagnostic, Location};
use crate::exec::{self, JobFolder, OpenFolderError, ROOT};
use crate::sys;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix clean torch            remove build folders of the job whose ID starts with `torch`
  rock-matrix clean --all --dry-run  show what would be removed, and its size",
    after_long_help = "\
Removes folders named `build` below .rock/JOB/src, which contain the state of CMake and compiled
files, if they have traces of a build tool and no files tracked by git. Keeps sources, checkouts,
logs, your own files, and the wheels in dist. Skips jobs with a running build.

With --whole, removes the whole folder of the job, including its sources.

Examples:
  rock-matrix clean torch            remove build folders of the job whose ID starts with `torch`
  rock-matrix clean --all --dry-run  show what would be removed, and its size
  rock-matrix clean --all --whole    remove everything of all jobs"
)]
pub(super) struct Args {
    /// Jobs by ID or unique prefix of an ID
    #[arg(value_name = "JOB", conflicts_with = "all")]
    jobs: Vec<String>,
    /// Clean all jobs
    #[arg(long)]
    all: bool,
    /// Remove the whole folder of a job, with sources, logs and build.json
    #[arg(long)]
    whole: bool,
    /// Show what would be removed without removing anything
    #[arg(short = 'n', long)]
    dry_run: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// A folder that was removed, or would be removed.
#[derive(Serialize)]
struct Freed {
    job: String,
    path: String,
    bytes: u64,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if args.jobs.is_empty() && !args.all {
        let text = "name a job, or clean all jobs with `--all`";
        return misused(&["clean"], ErrorKind::MissingRequiredArgument, text);
    }
    let base = &shell.environment.current_dir;
    // Files in `.rock` may hold the state of a checkout.
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
    if args.format.get() == Format::Json {
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
        shell.say(if args.whole {
            "there are no job folders"
        } else {
            "there are no build folders; `--whole` removes whole job folders"
        });
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

/// Removes the folders of a job, and reports which are kept and why; `None` if the job has no
/// folder.
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
            "kept {}: {why}",
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

/// Returns the ID of the job with this name, or of the only job whose ID starts with it.
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

/// Returns the error for a name that does not select one job.
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
        None if present.is_empty() => {
            told.help("no job has a build folder, so there is nothing to clean")
        }
        None => told.help(format!("the jobs are {}", present.join(", "))),
    }
}

/// Formats a number of bytes.
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

//! `clean`: removes build directories in the sources of jobs, or whole job directories.

use clap::error::ErrorKind;
use serde::Serialize;

use super::wheel::fail;
use super::{Exit, Format, OutputFormat, Shell, misused};
use crate::codes::plan as codes;
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Diagnostic, Location};
use crate::exec::{CleanError, JobCleaner, OpenDirectoryError, RemovedDirectory};

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix clean [OPTIONS] <JOB...|--all>",
    after_long_help = "\
Removes directories named `build` below .rock/JOB/src, which contain the state of CMake and
compiled files, if they have traces of a build tool and no files tracked by git. Keeps sources,
checkouts, logs, your own files, and the wheels in dist. Skips jobs with a running build.

With --whole, removes the whole job directory, including its sources.

Examples:
  rock-matrix clean torch            remove build directories of the job that starts with `torch`
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
    /// Remove the whole job directory, with sources, logs and build.json
    #[arg(long)]
    whole: bool,
    /// Show what would be removed without removing anything
    #[arg(short = 'n', long)]
    dry_run: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// A directory that was removed, or would be removed.
#[derive(Serialize)]
struct DirectoryDocument {
    job: String,
    path: String,
    bytes: u64,
}

impl From<RemovedDirectory> for DirectoryDocument {
    fn from(removed: RemovedDirectory) -> Self {
        Self {
            job: removed.job,
            path: removed.path.display().to_string(),
            bytes: removed.bytes,
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if args.jobs.is_empty() && !args.all {
        let text = "name a job, or clean all jobs with `--all`";
        return misused(&["clean"], ErrorKind::MissingRequiredArgument, text);
    }
    let cleaner = match JobCleaner::new(&shell.environment) {
        Ok(cleaner) => cleaner.whole(args.whole).dry_run(args.dry_run),
        Err(error) => {
            shell.report(&[error.into()]);
            return Exit::Machine;
        }
    };
    let names = if args.all { cleaner.jobs() } else { &args.jobs };
    let (mut exit, mut freed) = (Exit::Done, Vec::<DirectoryDocument>::new());
    for name in names {
        match cleaner.clean(name) {
            Ok(cleaned) => {
                for (path, reason) in &cleaned.kept {
                    shell.say(&format!("kept {}: {reason}", path.display()));
                }
                freed.extend(cleaned.removed.into_iter().map(DirectoryDocument::from));
            }
            Err(error) => exit = report(&error, name, cleaner.jobs(), shell),
        }
    }
    let sum = freed.iter().map(|directory| directory.bytes).sum();
    if args.format.get() == Format::Json {
        let document = serde_json::json!({"version": 1, "dry_run": args.dry_run, "folders": freed, "bytes": sum});
        shell.print(&format!("{document}\n"));
    } else {
        let verb = if args.dry_run {
            "would remove"
        } else {
            "removed"
        };
        let line = |directory: &DirectoryDocument| {
            format!("{verb} {}  {}\n", directory.path, size(directory.bytes))
        };
        shell.print(&freed.iter().map(line).collect::<String>());
    }
    if exit == Exit::Done && freed.is_empty() {
        shell.say(if args.whole {
            "there are no job directories"
        } else {
            "there are no build directories; `--whole` removes whole job directories"
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

/// Reports why a job was not cleaned, and returns the exit code.
fn report(error: &CleanError, name: &str, jobs: &[String], shell: &Shell) -> Exit {
    let help = match error {
        CleanError::Directory(error) => {
            let exit = shell.report(&[Diagnostic::from(error)]);
            return if matches!(error, OpenDirectoryError::BadId(_)) {
                exit
            } else {
                Exit::Machine
            };
        }
        CleanError::AmbiguousJob { jobs, .. } => format!("name one of {}", jobs.join(", ")),
        CleanError::UnknownJob(_) => match nearest(name, jobs.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if jobs.is_empty() => {
                "no job has a build directory, so there is nothing to clean".to_owned()
            }
            None => format!("the jobs are {}", jobs.join(", ")),
        },
    };
    let error = Diagnostic::new(&codes::UNKNOWN_SELECTION, error.to_string())
        .at(Location::Argument(name.to_owned()), "")
        .help(help);
    fail(shell, &error.into())
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

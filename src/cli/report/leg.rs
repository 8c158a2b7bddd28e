//! `report leg`: collects the files that a build job of a workflow reported, with their digest.

use std::path::{Path, PathBuf};

use crate::cli::{Exit, Shell, jobs, output_path};
use crate::codes::handover as codes;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::exec::{BuildRecord, HandoverError, JobDirectory, hand_over};
use crate::publish::{SUMS, sha256, sums};
use crate::sys;

/// Collect the files that a build reported into an artifact directory with a SHA256SUMS
///
/// Hard-links exactly the files that the job's build.json lists, or copies them if the filesystem
/// has no hard links. Any other wheel in the directory is an error, and so is a changed file. Run
/// `rock-matrix build` for the job first, in the same working directory. The output `digest` is the
/// SHA-256 of SHA256SUMS. The publishing job verifies the artifact with it and rejects files that
/// were changed after this command.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix report leg --job-env ROCK_JOB --out kept
  rock-matrix report leg --job-env ROCK_JOB --dist dist --out kept --github-output")]
pub(super) struct Args {
    /// Read the job (the workflow's matrix entry as JSON) from this environment variable
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    job_env: String,
    /// Directory that the build copied its files to
    #[arg(
        long,
        value_name = "DIR",
        default_value = "dist",
        help_heading = "Input"
    )]
    dist: PathBuf,
    /// Directory to create; it must be empty or missing
    #[arg(
        short,
        long,
        value_name = "DIR",
        value_parser = output_path::several_files(),
        help_heading = "Output"
    )]
    out: PathBuf,
    /// Write the digest to the file that `GITHUB_OUTPUT` names
    #[arg(long, help_heading = "Output")]
    github_output: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let fault = |fault: Diagnostic, exit: Exit, sink: &mut Sink| {
        sink.push(fault);
        exit
    };
    let job = jobs::leg_id(&args.job_env, shell).map_err(|told| fault(told, Exit::Fault, sink))?;
    let record = record(&job, shell).map_err(|told| fault(told, Exit::Fault, sink))?;
    let handed = hand_over(&record, &job, &args.dist, &args.out)
        .map_err(|error| (is_of_machine(&error), diagnostic(error, &job, &args.dist)))
        .map_err(|(is_of_machine, told)| {
            fault(
                told,
                if is_of_machine {
                    Exit::Machine
                } else {
                    Exit::Fault
                },
                sink,
            )
        })?;
    let text = sums(handed.iter().map(|(name, digest)| (name.as_str(), *digest)));
    let written = sys::write_atomic(&args.out.join(SUMS), text.as_bytes());
    written.map_err(|error| fault(error.into(), Exit::Machine, sink))?;
    if args.github_output {
        shell.write_outputs(&[("digest".to_owned(), sha256(text.as_bytes()).to_hex())])?;
    }
    Ok(shell.print(&text))
}

/// Returns the build record of the job.
fn record(job: &str, shell: &Shell) -> Result<BuildRecord, Diagnostic> {
    let nothing = |reason: String| nothing(&reason, job);
    let folder = JobDirectory::new(&shell.environment.current_dir, job)
        .map_err(|error| nothing(error.to_string()))?;
    let record = folder.last_record().map_err(nothing)?;
    record.ok_or_else(|| {
        let path = folder.record();
        let shown = path
            .strip_prefix(&shell.environment.current_dir)
            .unwrap_or(&path);
        nothing(format!("there is no `{}`", shown.display()))
    })
}

fn nothing(reason: &str, job: &str) -> Diagnostic {
    let message = format!("the job `{job}` has nothing to hand over: {reason}");
    Diagnostic::new(&codes::NOTHING_TO_HAND_OVER, message)
        .help("run `rock-matrix build` for this job first, in the same working directory")
}

fn is_of_machine(error: &HandoverError) -> bool {
    matches!(error, HandoverError::File(_))
}

fn diagnostic(error: HandoverError, job: &str, dist: &Path) -> Diagnostic {
    match error {
        HandoverError::File(error) => error.into(),
        HandoverError::Unreported(path) => {
            let shown = path.display().to_string();
            Diagnostic::new(
                &codes::UNREPORTED_FILE,
                format!("the build of `{job}` did not report `{shown}`"),
            )
            .at(Location::File(shown.into()), "")
            .help("find out what wrote it: only the build may write wheels to this directory")
        }
        HandoverError::Changed {
            ref name,
            found,
            ref reported,
        } => {
            let message = format!("`{name}` is not the file that the build of `{job}` reported");
            Diagnostic::new(&codes::BUILT_FILE_CHANGED, message)
                .at(
                    Location::File(dist.join(name).display().to_string().into()),
                    "",
                )
                .note(format!("its digest is {found}"))
                .note(format!("the build reported {reported}"))
                .help("find out what changed it, and do not publish files of this job until then")
        }
        HandoverError::NotEmpty(ref out) => {
            Diagnostic::new(&codes::OUTPUT_NOT_EMPTY, error.to_string())
                .at(Location::File(out.display().to_string().into()), "")
                .help("name another directory with `--out`, or remove this one")
        }
        HandoverError::OtherJob(_) | HandoverError::NotDone | HandoverError::Missing(_) => {
            nothing(&error.to_string(), job)
        }
    }
}

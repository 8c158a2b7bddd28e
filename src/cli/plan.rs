//! `plan`: which jobs a matrix gives, and why others are missing.

mod failed;
mod given;
mod only;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::command_line::repeated;
use super::publish::Connection;
use super::published::{self, Manifests, Published};
use super::{Exit, Shell, load};
use crate::codes::plan as codes;
use crate::compat::Compat;
use crate::config::{self, RequestedCell};
use crate::diagnostic::{Diagnostic, Severity, Sink, counted};
use crate::plan::{self, Plan, PlanInputs, RunnerShape, SavedPlan};
use crate::report::ExpectedCells;
use crate::{exec, recipe, render, report};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix plan                            the jobs of every matrix file of matrices/
  rock-matrix plan matrices/flash-attn.yaml --explain
                                              with the reason for every missing cell
  rock-matrix plan --format json > plan.json  the hand-off to build and publish
  rock-matrix plan --published OWNER/REPO     without what is released already, as GitHub says it
  rock-matrix plan --published releases.json  the same, as it was saved
  rock-matrix plan --diff plan.json           what an edit changes
  rock-matrix plan matrices/flash-attn.yaml --from-issue issue.md
                                              the combination that an issue asks for
  rock-matrix plan --only torch=2.9.1 --only gfx=gfx942
                                              the jobs with these values
  rock-matrix plan --only-failed run.json     what a second attempt has to build")]
pub(super) struct Args {
    /// Matrix files; several make one plan [default: those of matrices/ that end in .yaml or .yml]
    files: Vec<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value = "human")]
    format: PlanFormat,
    /// Show the reason for every missing cell and every dropped gfx target
    #[arg(long)]
    explain: bool,
    #[arg(
        long,
        value_name = "FILE|DIR|OWNER/REPO",
        help = "Leave out what is published: on GitHub, in a saved list of releases, a rock-manifest.json, or a folder of releases; can be repeated"
    )]
    published: Vec<PathBuf>,
    #[command(flatten)]
    connection: Connection,
    /// Show what changed since a plan saved with --format json
    #[arg(long, value_name = "OLD.json", conflicts_with_all = ["explain", "github_output"])]
    diff: Option<PathBuf>,
    #[arg(
        long,
        value_name = "FILE",
        help = "Plan the one combination that an issue asks for: its body, with `### AXIS` above each value"
    )]
    from_issue: Option<PathBuf>,
    #[arg(
        long,
        value_name = "AXIS=VALUE",
        value_parser = only::pair,
        help = "Keep only the jobs with this value; of gfx those that build for the target; several values of one axis are either, an empty one is any"
    )]
    only: Vec<(String, String)>,
    #[arg(
        long,
        value_name = "RUN.json",
        help = "Keep only the jobs that failed in a run of the workflow, as `gh api repos/OWNER/REPO/actions/runs/ID/jobs --paginate` lists it"
    )]
    only_failed: Option<PathBuf>,
    #[command(flatten)]
    given: given::Instead,
    /// Estimate for a machine with these threads and GiB of memory, such as 16x64
    #[arg(long, value_name = "THREADSxGIB")]
    runner: Option<RunnerShape>,
    /// Put at most this many jobs into one matrix
    #[arg(long, value_name = "N", default_value = "256", value_parser = clap::value_parser!(u16).range(1..=256))]
    max_jobs: u16,
    /// Fail when the plan needs more matrices than this, as many as the workflow has jobs for
    #[arg(long, value_name = "N", requires = "github_output", value_parser = clap::value_parser!(u16).range(1..))]
    most_matrices: Option<u16>,
    /// Fail if the plan has more jobs than this, the number of leg outputs of the rendered workflow
    #[arg(long, value_name = "N", requires = "github_output", value_parser = clap::value_parser!(u16).range(1..))]
    max_legs: Option<u16>,
    /// Fail when there are no jobs
    #[arg(long)]
    fail_empty: bool,
    #[arg(
        long,
        help = "Write count, has_jobs, shards, slim, matrix_0, matrix_1, … and test_0, … to the file that GITHUB_OUTPUT names"
    )]
    github_output: bool,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What `plan` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PlanFormat {
    /// For people
    Human,
    /// The whole plan, the hand-off to other commands
    Json,
    /// `{"include":[…]}` matrices of at most 256 jobs, or of `--max-jobs`, one a line
    Github,
}

/// Options without which the reasons for missing cells are printed.
const NOT_EXPLAINED: &[&str] = &["--github-output", "--fail-empty"];

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let mut requested = None;
    let exit = make(args, shell, &mut requested, &mut sink);
    let told = std::mem::take(&mut sink).finish();
    let reported = shell.report(&match &requested {
        Some(requested) => requested.told(told),
        None => told,
    });
    match exit {
        Err(exit) | Ok(exit) if exit != Exit::Done => exit,
        _ => reported,
    }
}

/// Makes the plan and prints it; `requested` becomes what an issue asks for.
fn make(
    args: &Args,
    shell: &Shell,
    requested: &mut Option<RequestedCell>,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    let mut published = published::read(
        &args.published,
        &args.connection,
        Manifests::None,
        shell,
        sink,
    )?;
    let jobs_per_matrix = usize::from(args.max_jobs);
    let mut options = PlanInputs {
        published: published.to_skip(compat, sink),
        runner: args.runner,
        jobs_per_matrix,
    };
    let matrices = match &args.from_issue {
        None => load::given(shell, compat, &args.files, &args.given.given(), sink)?,
        Some(issue) => {
            *requested = asked_for(issue, args, shell, sink)?;
            let source = requested
                .as_ref()
                .map(|requested| &requested.source)
                .ok_or(Exit::Fault)?;
            super::documents::matrix(shell, compat, source, sink)?
                .into_iter()
                .collect()
        }
    };
    let read = matrices
        .iter()
        .map(|matrix| Path::new(&*matrix.config.places.source().path));
    let read = read
        .chain(args.published.iter().map(PathBuf::as_path))
        .chain(args.diff.as_deref());
    let read = read
        .chain(args.from_issue.as_deref())
        .chain(args.only_failed.as_deref());
    load::spare(shell, args.out.as_deref(), read)?;
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    let mut side_by_side = None;
    if let Some(shape) = args.runner
        && let Some(plan) = load::plan(shell, &matrices, compat, &options, &mut Sink::new())
    {
        let found = parallel_jobs(&plan, &matrices, compat, shape);
        // Where memory holds fewer compilers than there are threads, the time is that of so many
        // threads.
        let threads = found
            .values()
            .copied()
            .min()
            .unwrap_or(shape.threads)
            .min(shape.threads);
        options.runner = Some(RunnerShape { threads, ..shape });
        side_by_side = Some((shape, found));
    }
    let Some(mut plan) = load::plan(shell, &matrices, compat, &options, sink) else {
        return Err(Exit::Fault);
    };
    only::keep(&mut plan, &only::with_targets(&args.only, compat), sink);
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    if let Some(path) = &args.only_failed {
        failed::keep(&mut plan, path, shell, sink)?;
    }
    warn_of_targets(&plan, &mut published, args, shell, sink)?;
    plan::check_images(&plan, sink);
    // The jobs of a workflow go to their runners; others may be built on any machine, such as one
    // of the shape `--runner`.
    if args.runner.is_none() {
        let severity = if args.github_output {
            Severity::Error
        } else {
            Severity::Warning
        };
        plan::check_fit(&plan, compat, severity, sink);
        plan::warn_of_caches(&plan, sink);
    }
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    if plan.job_count() == 0 {
        let run = args
            .only_failed
            .as_deref()
            .filter(|_| !plan.not_failed().is_empty());
        let empty = match run {
            Some(run) => failed::none(run),
            None => no_jobs(&plan, args, shell),
        };
        sink.push(if args.fail_empty {
            empty.severity(Severity::Error)
        } else {
            empty
        });
    }
    let mut notes = notes(&plan, compat);
    notes.extend(plan.runner_hours().map(|hours| hours.to_string()));
    notes.extend(copies(
        &plan,
        &matrices,
        compat,
        &shell.environment.current_dir,
    ));
    if let Some((shape, found)) = side_by_side.filter(|(_, found)| !found.is_empty()) {
        let said: Vec<String> = found
            .iter()
            .map(|(variable, count)| format!("{variable} is {count}"))
            .collect();
        notes.push(format!(
            "on {} threads with {} GiB {}",
            shape.threads,
            shape.memory_gib,
            said.join(", ")
        ));
    }
    print(args, shell, &plan, &notes, sink)
}

/// Warns of published wheels that lack code for targets of the jobs that were left out for them.
fn warn_of_targets(
    plan: &Plan,
    published: &mut Published,
    args: &Args,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<(), Exit> {
    let compat = load::compat(shell)?;
    let jobs = plan
        .skipped_jobs()
        .filter(|job| !job.gfx().is_empty())
        .map(plan::JobView::to_job)
        .collect();
    let skipped = SavedPlan {
        jobs,
        ..SavedPlan::default()
    };
    if skipped.jobs.is_empty() {
        return Ok(());
    }
    // Names that cannot be read were reported before.
    let silent = &mut Sink::new();
    let expected = ExpectedCells::of(&skipped, &compat.rocm_versions(), silent);
    let unread = report::unread_targets(&report::matched(&expected, &published.wheels(compat)));
    published.add_manifests(&unread, &args.connection, shell, sink)?;
    sink.extend(report::target_shortfalls(
        &report::matched(&expected, &published.wheels(compat)),
        compat,
    ));
    Ok(())
}

/// The combination that an issue asks for, as a row of the matrix file.
fn asked_for(
    issue: &Path,
    args: &Args,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Option<RequestedCell>, Exit> {
    let matrix = super::documents::only_file(shell, &args.files)?;
    let (Some(matrix), Some(issue)) = (
        super::documents::source(&matrix, sink),
        super::documents::source(issue, sink),
    ) else {
        return Err(Exit::Fault);
    };
    let requested = config::requested(&matrix, &issue, sink);
    if let Some(requested) = &requested {
        shell.say(&format!("{} asks for {}", issue.path, requested.row));
    }
    Ok(requested)
}

fn print(
    args: &Args,
    shell: &Shell,
    plan: &Plan,
    notes: &[String],
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    if let Some(old) = &args.diff {
        let source = load::plan_source(shell, old)?;
        let old = plan::read_json(&source, sink).ok_or(Exit::Fault)?;
        let new: Vec<plan::Job> = plan.jobs().map(plan::JobView::to_job).collect();
        let changes = plan::diff(&old, &new);
        return Ok(match args.format {
            PlanFormat::Json => load::deliver(shell, args.out.as_deref(), |out| {
                serde_json::to_writer(&mut *out, &changes)?;
                out.write_all(b"\n")
            }),
            _ => load::deliver(shell, args.out.as_deref(), |out| {
                out.write_all(render::changes(&changes).as_bytes())
            }),
        });
    }
    if args.github_output {
        write_outputs(args, shell, plan, sink)?;
    }
    let generator = concat!("rock-matrix ", env!("CARGO_PKG_VERSION"));
    Ok(match args.format {
        PlanFormat::Json => load::deliver(shell, args.out.as_deref(), |out| {
            plan::write_json(plan, generator, notes, out)
        }),
        PlanFormat::Github => {
            let github = legs(plan, sink)?;
            load::deliver(shell, args.out.as_deref(), |out| {
                github
                    .shards
                    .iter()
                    .try_for_each(|shard| writeln!(out, "{}", shard.json))
            })
        }
        PlanFormat::Human if args.github_output => Exit::Done,
        PlanFormat::Human => {
            let detail = if args.explain {
                render::PlanDetail::Explain
            } else {
                render::PlanDetail::Summary
            };
            let text = render::plan(plan, notes, detail);
            load::deliver(shell, args.out.as_deref(), |out| {
                out.write_all(text.as_bytes())
            })
        }
    })
}

/// Things a person should know about the whole plan.
fn notes(plan: &Plan, compat: &Compat) -> Vec<String> {
    let (jobs, most) = (plan.job_count(), plan.jobs_per_matrix);
    let untested: BTreeSet<&str> = plan
        .jobs()
        .flat_map(plan::JobView::families_without_runner)
        .collect();
    let names = untested.into_iter().collect::<Vec<_>>().join(", ");
    let untested = (!names.is_empty())
        .then(|| format!("no runner is known for {names}, so nothing is tested there"));
    if jobs <= most {
        return untested.into_iter().collect();
    }
    let mut note = format!(
        "{jobs} jobs make {} matrices of at most {most}",
        jobs.div_ceil(most)
    );
    if jobs > plan::JOBS_PER_MATRIX {
        let in_one_run = compat.limit_value("job-artifacts");
        note += &if jobs <= in_one_run {
            format!("; a rendered workflow has them in one run, up to {in_one_run} jobs")
        } else {
            format!(
                "; a rendered workflow has up to {in_one_run} jobs, so render several with fewer matrix files each"
            )
        };
    }
    std::iter::once(note).chain(untested).collect()
}

/// Returns the diagnostic of a plan without jobs.
fn no_jobs(plan: &Plan, args: &Args, shell: &Shell) -> Diagnostic {
    let has_reasons = plan.groups.iter().any(|group| !group.excluded.is_empty());
    if !plan.published.is_empty() && !has_reasons {
        return Diagnostic::new(
            &codes::EMPTY_PLAN,
            "the plan has no jobs: all its files are published",
        )
        .help("nothing is left to build; plan without `--published` to see every job");
    }
    Diagnostic::new(&codes::EMPTY_PLAN, "the plan has no jobs").help(match args {
        Args { explain: false, .. } => {
            format!(
                "see the reasons with `{}`",
                repeated(&shell.arguments, NOT_EXPLAINED, &["--explain"])
            )
        }
        Args { only, .. } if !only.is_empty() => {
            "change the values of `--only`, or what the reasons name".to_owned()
        }
        _ => "change what the reasons name".to_owned(),
    })
}

/// Describes the source trees that jobs copy, by the first job of each file: all jobs of a file
/// copy the same trees.
fn copies(
    plan: &Plan,
    matrices: &[load::Matrix],
    compat: &Compat,
    current_dir: &Path,
) -> Vec<String> {
    let jobs = plan
        .groups
        .iter()
        .zip(matrices)
        .enumerate()
        .filter(|(_, (_, matrix))| matrix.recipe.has_sources_of_this_machine())
        .filter_map(|(number, (group, matrix))| {
            Some((group.jobs(number).next()?.to_job(), matrix))
        });
    let site = recipe::BuildSite::Container;
    let builds = jobs.filter_map(|(job, matrix)| {
        let mut build =
            recipe::build(&job, &matrix.recipe, compat, &site, &BTreeMap::new()).ok()?;
        exec::exclude_matrix_folder(&mut build, &site, current_dir);
        Some(build)
    });
    let copies: BTreeSet<String> = builds.flat_map(|build| build.copies()).collect();
    copies.into_iter().collect()
}

/// Jobs of a file whose builds are looked at for the number of parallel jobs; it hardly differs
/// between them.
const JOBS_LOOKED_AT: usize = 200;

/// How many compilers would run side by side on a machine.
fn parallel_jobs(
    plan: &Plan,
    matrices: &[load::Matrix],
    compat: &Compat,
    shape: RunnerShape,
) -> BTreeMap<String, u32> {
    let mut builds = Vec::new();
    for (number, (group, matrix)) in plan.groups.iter().zip(matrices).enumerate() {
        let jobs = group
            .jobs(number)
            .take(JOBS_LOOKED_AT)
            .map(plan::JobView::to_job);
        let given = BTreeMap::new();
        builds.extend(jobs.filter_map(|job| {
            recipe::build(
                &job,
                &matrix.recipe,
                compat,
                &recipe::BuildSite::Container,
                &given,
            )
            .ok()
        }));
    }
    recipe::parallel_jobs::on_machine(&builds, shape.threads, shape.memory_gib)
}

/// The plan in GitHub's form; warns where the legs had to be cut down or soon will be.
fn legs(plan: &Plan, sink: &mut Sink) -> Result<plan::GithubPlan, Exit> {
    let github = plan::github(plan, sink).ok_or(Exit::Fault)?;
    plan::warn_of_size(&github, sink);
    Ok(github)
}

/// `count`, `has_jobs`, `slim` and one `matrix_N` a shard, in the form of `GITHUB_OUTPUT`; on
/// stdout where that is unset.
fn write_outputs(args: &Args, shell: &Shell, plan: &Plan, sink: &mut Sink) -> Result<(), Exit> {
    let github = legs(plan, sink)?;
    if let Some(most) = args
        .most_matrices
        .filter(|most| github.shards.len() > usize::from(*most))
    {
        // The least that is too much is two.
        let (jobs, matrices) = (counted(github.count as u64, "job"), github.shards.len());
        let message = format!(
            "the plan has {matrices} matrices with {jobs}, and the workflow has jobs for {most}"
        );
        let fault = Diagnostic::new(&codes::MORE_MATRICES, message);
        sink.push(fault.help("render the workflow again with `rock-matrix render workflow`"));
        return Err(Exit::Fault);
    }
    if let Some(most) = args
        .max_legs
        .filter(|most| github.count > usize::from(*most))
    {
        let jobs = counted(github.count as u64, "job");
        let message = format!("the plan has {jobs}, and the workflow has outputs for {most}");
        let fault = Diagnostic::new(&codes::MORE_MATRICES, message);
        sink.push(fault.help("render the workflow again with `rock-matrix render workflow`"));
        return Err(Exit::Fault);
    }
    let (count, shards, slim) = (github.count, github.shards.len(), github.slim);
    let named = |name: &str, value: String| (name.to_owned(), value);
    let mut outputs = vec![
        named("count", count.to_string()),
        named("has_jobs", (count > 0).to_string()),
        named("shards", shards.to_string()),
        named("slim", slim.to_string()),
    ];
    outputs.extend(
        github
            .shards
            .into_iter()
            .enumerate()
            .map(|(number, shard)| (format!("matrix_{number}"), shard.json)),
    );
    let tests = github.tests.into_iter().enumerate();
    outputs.extend(tests.filter_map(|(number, tests)| Some((format!("test_{number}"), tests?))));
    shell.summarise_if_it_can_be(|room| render::summary(plan, room));
    shell.write_outputs(&outputs)
}

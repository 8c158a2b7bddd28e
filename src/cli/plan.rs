//! `plan`: the jobs of a matrix, and the reasons for missing ones.

mod overrides;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::command_line::repeated;
use super::publish::Connection;
use super::published;
use super::wheel::fail;
use super::{Exit, Shell, load};
use crate::codes::plan as codes;
use crate::compat::Compat;
use crate::config::{self, RequestedCell};
use crate::diagnostic::{Diagnostic, Severity, Sink, counted, is_or_are};
use crate::plan::workspace::{
    MatrixFile, SelectedPlan, Workspace, read_document, single_matrix_file,
};
use crate::plan::{self, AxisFilter, Plan, PlanInputs, RunnerShape, SavedPlan};
use crate::publish::{ManifestSelection, PublishedReleases};
use crate::report::{ExpectedCells, WheelListing};
use crate::{exec, recipe, render, report};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix plan --explain                  show the reason for each excluded combination
  rock-matrix plan --format json > plan.json  save the plan for build and publish",
    after_long_help = "\
Examples:
  rock-matrix plan                            all jobs of the matrix files in matrices/
  rock-matrix plan matrices/flash-attn.yaml --explain
                                              show the reason for each excluded combination
  rock-matrix plan --format json > plan.json  save the plan for build and publish
  rock-matrix plan --published OWNER/REPO     without wheels that are published on GitHub
  rock-matrix plan --published releases.json  the same, with a saved list of releases
  rock-matrix plan --diff plan.json           show the effect of an edit
  rock-matrix plan matrices/flash-attn.yaml --from-issue issue.md
                                              the combination that an issue requests
  rock-matrix plan --only torch=2.9.1 --only gfx=gfx942
                                              only the jobs with these values
  rock-matrix plan --only-failed run.json     only the jobs that failed in a workflow run"
)]
pub(super) struct Args {
    /// Matrix files, combined into one plan [default: matrices/*.yaml]
    ///
    /// The default is all files in `matrices/` that end in `.yaml` or `.yml`. `-` reads standard
    /// input.
    files: Vec<PathBuf>,
    /// Keep only jobs with this value, such as `torch=2.9.1`
    ///
    /// The value is that of an axis. `gfx=TARGET` keeps jobs that build for the target; families
    /// and product names are accepted too. Several values of one axis are alternatives, and an
    /// empty value matches any. Errors that concern only other jobs do not fail the plan.
    #[arg(
        long,
        value_name = "AXIS=VALUE",
        value_parser = overrides::axis_value,
        help_heading = "Selection"
    )]
    only: Vec<(String, String)>,
    /// Leave out wheels published there; can be repeated
    ///
    /// A repository on GitHub, a saved list of releases, a rock-manifest.json, or a directory of
    /// releases.
    #[arg(long, value_name = "FILE|DIR|OWNER/REPO", help_heading = "Selection")]
    published: Vec<PathBuf>,
    /// Keep only jobs that failed in a workflow run
    ///
    /// FILE is the output of `gh api repos/OWNER/REPO/actions/runs/ID/jobs --paginate`.
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    only_failed: Option<PathBuf>,
    /// Plan the one combination that an issue requests
    ///
    /// FILE is the body of the issue, with `### AXIS` above each value.
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    from_issue: Option<PathBuf>,
    #[command(flatten)]
    overrides: overrides::OverrideArgs,
    /// Output format
    #[arg(long, value_enum, default_value = "human", help_heading = "Output")]
    format: PlanFormat,
    /// Same as --format json
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    json: bool,
    /// Show the reason for each excluded combination and GPU target
    #[arg(long, help_heading = "Output")]
    explain: bool,
    /// Show what changed since a plan saved with --format json
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["explain", "github_output"],
        help_heading = "Output"
    )]
    diff: Option<PathBuf>,
    /// Estimate the build time for a machine with these threads and GiB of memory, such as 16x64
    #[arg(
        long,
        value_name = "THREADSxGIB",
        hide_short_help = true,
        help_heading = "Output"
    )]
    runner: Option<RunnerShape>,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Fail if there are no jobs
    #[arg(long, help_heading = "Limits")]
    fail_empty: bool,
    /// Split the plan into matrices of at most this many jobs
    #[arg(
        long,
        value_name = "N",
        default_value = "256",
        value_parser = clap::value_parser!(u16).range(1..=256),
        hide_short_help = true,
        help_heading = "Limits"
    )]
    max_jobs: u16,
    /// Fail if the plan needs more than this many matrices
    ///
    /// A rendered workflow passes the number of matrices that it has jobs for.
    #[arg(
        long,
        alias = "most-matrices",
        value_name = "N",
        requires = "github_output",
        value_parser = clap::value_parser!(u16).range(1..),
        hide_short_help = true,
        help_heading = "Limits"
    )]
    max_shards: Option<u16>,
    /// Fail if the plan has more than this many jobs
    ///
    /// A rendered workflow passes the number of jobs that it has outputs for.
    #[arg(
        long,
        value_name = "N",
        requires = "github_output",
        value_parser = clap::value_parser!(u16).range(1..),
        hide_short_help = true,
        help_heading = "Limits"
    )]
    max_legs: Option<u16>,
    /// Write the matrices and their number to the file that GITHUB_OUTPUT names
    ///
    /// The outputs are count, has_jobs, shards, slim, matrix_0, matrix_1, … and test_0, ….
    #[arg(long, hide_short_help = true, help_heading = "GitHub")]
    github_output: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Args {
    fn format(&self) -> PlanFormat {
        if self.json {
            PlanFormat::Json
        } else {
            self.format
        }
    }
}

/// The output format of `plan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PlanFormat {
    /// Text
    Human,
    /// The whole plan, for other commands
    Json,
    /// Matrices for GitHub (`{"include":[…]}`) of at most --max-jobs jobs, one per line
    Github,
    /// The IDs of the jobs, one per line
    Ids,
}

/// Options that are left out of the command that prints the reasons for missing cells.
const NOT_EXPLAINED: &[&str] = &["--github-output", "--fail-empty"];

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let mut requested = None;
    let exit = make(args, shell, &mut requested, &mut sink);
    let diagnostics = sink.finish();
    let reported = shell.report(&match &requested {
        Some(requested) => requested.relocate(diagnostics),
        None => diagnostics,
    });
    match exit {
        Err(exit) | Ok(exit) if exit != Exit::Done => exit,
        _ => reported,
    }
}

/// Makes the plan and prints it; sets `requested` to the combination that an issue requests.
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
        ManifestSelection::None,
        shell,
        sink,
    )?;
    sink.extend(published.name_warnings());
    let jobs_per_matrix = usize::from(args.max_jobs);
    let mut options = PlanInputs {
        published: published.published_set(compat.rocm_versions()),
        runner: args.runner,
        jobs_per_matrix,
        ..PlanInputs::default()
    };
    let workspace_options =
        load::workspace_options(shell, compat).with_overrides(args.overrides.overrides());
    let loaded = match &args.from_issue {
        None => Workspace::load(&args.files, &workspace_options),
        Some(issue) => {
            *requested = requested_cell(issue, args, shell, sink)?;
            let source = requested
                .as_ref()
                .map(|requested| &requested.source)
                .ok_or(Exit::Fault)?;
            Workspace::from_matrix(source, &workspace_options)
        }
    };
    let workspace = load::collected(loaded, sink)?;
    let read = workspace
        .paths()
        .chain(args.published.iter().map(PathBuf::as_path))
        .chain(args.diff.as_deref());
    let read = read
        .chain(args.from_issue.as_deref())
        .chain(args.only_failed.as_deref());
    load::refuse_overwriting_input(shell, args.out.as_deref(), read)?;
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    let filter = AxisFilter::new(&args.only, compat);
    let mut side_by_side = None;
    if let Some(shape) = args.runner
        && let Ok((selected, _)) = workspace.plan_selected(&options, &filter)
    {
        let found = parallel_jobs(&selected.plan, workspace.matrices(), compat, shape);
        // If the memory suffices for fewer compilers than threads, the estimate uses their number.
        let threads = found
            .values()
            .copied()
            .min()
            .unwrap_or(shape.threads)
            .min(shape.threads);
        options.runner = Some(RunnerShape { threads, ..shape });
        side_by_side = Some((shape, found));
    }
    let SelectedPlan {
        mut plan,
        hidden_errors,
    } = load::collected(workspace.plan_selected(&options, &filter), sink)?;
    if hidden_errors > 0 {
        shell.say(&format!(
            "{} of jobs that `--only` excludes {} not shown; leave out `--only` to see all",
            counted(hidden_errors, "error"),
            is_or_are(hidden_errors)
        ));
    }
    if let Some(path) = &args.only_failed {
        let run = load::source(shell, path)?;
        plan::keep_failed_jobs(&mut plan, &run, sink).map_err(|errors| {
            sink.extend(errors);
            Exit::Fault
        })?;
    }
    warn_of_targets(&plan, &mut published, args, shell, sink)?;
    plan::check_images(&plan, sink);
    // Jobs of a workflow run on their runners; others may be built on any machine, such as that of
    // `--runner`.
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
            Some(run) => plan::no_failed_jobs(&run.display().to_string()),
            None => no_jobs(&plan, args, shell),
        };
        sink.push(if args.fail_empty {
            empty.severity(Severity::Error)
        } else {
            empty
        });
    }
    let mut notes = plan::notes(&plan, compat);
    notes.extend(plan.runner_hours().map(|hours| hours.to_string()));
    notes.extend(copies(
        &plan,
        workspace.matrices(),
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

/// Warns about published wheels that lack code for targets of the jobs that were skipped for them.
fn warn_of_targets(
    plan: &Plan,
    published: &mut PublishedReleases,
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
    let wheels = WheelListing::of_sources(published, compat);
    let unread = report::unread_targets(&report::matched(&expected, &wheels));
    published::add_manifests(published, &unread, &args.connection, shell, sink)?;
    let wheels = WheelListing::of_sources(published, compat);
    sink.extend(report::target_shortfalls(
        &report::matched(&expected, &wheels),
        compat,
    ));
    Ok(())
}

/// Returns the combination that an issue requests, as a row of the matrix file.
fn requested_cell(
    issue: &Path,
    args: &Args,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Option<RequestedCell>, Exit> {
    let matrix = single_matrix_file(&args.files).map_err(|errors| fail(shell, &errors))?;
    let (matrix, issue) = match (read_document(&matrix), read_document(issue)) {
        (Ok(matrix), Ok(issue)) => (matrix, issue),
        (matrix, issue) => {
            sink.extend(matrix.err().into_iter().chain(issue.err()));
            return Err(Exit::Fault);
        }
    };
    let requested = config::requested(&matrix, &issue, sink);
    if let Some(requested) = &requested {
        shell.say(&format!("{} requests {}", issue.path, requested.row));
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
        return Ok(match args.format() {
            PlanFormat::Json => load::write_output(shell, args.out.as_deref(), |out| {
                serde_json::to_writer(&mut *out, &changes)?;
                out.write_all(b"\n")
            }),
            _ => load::write_output(shell, args.out.as_deref(), |out| {
                out.write_all(render::changes(&changes).as_bytes())
            }),
        });
    }
    if args.github_output {
        write_outputs(args, shell, plan, sink)?;
    }
    let generator = concat!("rock-matrix ", env!("CARGO_PKG_VERSION"));
    Ok(match args.format() {
        PlanFormat::Json => load::write_output(shell, args.out.as_deref(), |out| {
            plan::write_json(plan, generator, notes, out)
        }),
        PlanFormat::Github => {
            let github = legs(plan, sink)?;
            load::write_output(shell, args.out.as_deref(), |out| {
                github
                    .shards
                    .iter()
                    .try_for_each(|shard| writeln!(out, "{}", shard.json))
            })
        }
        PlanFormat::Ids => load::write_output(shell, args.out.as_deref(), |out| {
            plan.jobs()
                .try_for_each(|job| writeln!(out, "{}", job.id()))
        }),
        PlanFormat::Human if args.github_output => Exit::Done,
        PlanFormat::Human => {
            let detail = if args.explain {
                render::PlanDetail::Explain
            } else {
                render::PlanDetail::Summary
            };
            let text = render::plan(plan, notes, detail);
            load::write_output(shell, args.out.as_deref(), |out| {
                out.write_all(text.as_bytes())
            })
        }
    })
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
            "change the values of `--only`, or the settings that the reasons mention".to_owned()
        }
        _ => "change the settings that the reasons mention".to_owned(),
    })
}

/// Describes the source trees that jobs copy, by the first job of each file: all jobs of a file
/// copy the same trees.
fn copies(
    plan: &Plan,
    matrices: &[MatrixFile],
    compat: &Compat,
    current_dir: &Path,
) -> Vec<String> {
    let jobs = plan
        .groups
        .iter()
        .zip(matrices)
        .enumerate()
        .filter(|(_, (_, matrix))| matrix.recipe().has_sources_of_this_machine())
        .filter_map(|(number, (group, matrix))| {
            Some((group.jobs(number).next()?.to_job(), matrix))
        });
    let site = recipe::BuildSite::Container;
    let builds = jobs.filter_map(|(job, matrix)| {
        let mut build =
            recipe::build(&job, matrix.recipe(), compat, &site, &BTreeMap::new()).ok()?;
        exec::exclude_matrix_directory(&mut build, &site, current_dir);
        Some(build)
    });
    let copies: BTreeSet<String> = builds.flat_map(|build| build.copies()).collect();
    copies.into_iter().collect()
}

/// Number of jobs of a file that are examined for the number of parallel jobs; it hardly differs
/// between them.
const EXAMINED_JOBS: usize = 200;

/// Returns the number of compilers that run in parallel on a machine, by variable.
fn parallel_jobs(
    plan: &Plan,
    matrices: &[MatrixFile],
    compat: &Compat,
    shape: RunnerShape,
) -> BTreeMap<String, u32> {
    let mut builds = Vec::new();
    for (number, (group, matrix)) in plan.groups.iter().zip(matrices).enumerate() {
        let jobs = group
            .jobs(number)
            .take(EXAMINED_JOBS)
            .map(plan::JobView::to_job);
        let given = BTreeMap::new();
        builds.extend(jobs.filter_map(|job| {
            recipe::build(
                &job,
                matrix.recipe(),
                compat,
                &recipe::BuildSite::Container,
                &given,
            )
            .ok()
        }));
    }
    recipe::parallel_jobs::on_machine(&builds, shape.threads, shape.memory_gib)
}

/// Returns the plan in GitHub's form; warns if the matrices had to be reduced or soon will be.
fn legs(plan: &Plan, sink: &mut Sink) -> Result<plan::GithubPlan, Exit> {
    let github = plan::github(plan, sink).ok_or(Exit::Fault)?;
    plan::warn_of_size(&github, sink);
    Ok(github)
}

/// Writes `count`, `has_jobs`, `slim` and a `matrix_N` for each shard to `GITHUB_OUTPUT`, or to
/// stdout if that is unset.
fn write_outputs(args: &Args, shell: &Shell, plan: &Plan, sink: &mut Sink) -> Result<(), Exit> {
    let github = legs(plan, sink)?;
    if let Some(most) = args
        .max_shards
        .filter(|most| github.shards.len() > usize::from(*most))
    {
        // There are at least two, so the noun is always plural.
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

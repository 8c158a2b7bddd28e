//! `plan`: the jobs of a matrix, and the reasons for missing ones.

mod output;
mod overrides;

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use super::check::placed;
use super::command_line::repeated;
use super::publish::Connection;
use super::published;
use super::wheel::fail;
use super::whole_number::{Unit, whole_number};
use super::{Exit, Shell, load, misused};
use crate::codes::plan as codes;
use crate::compat::Compat;
use crate::config::recipe::RecipeDocument;
use crate::config::{self, AxisOverrides, RequestedCell};
use crate::diagnostic::{Diagnostic, Severity, Sink, SourceText, counted, is_or_are, shell_line};
use crate::plan::workspace::{
    SelectedPlan, Workspace, is_stdin, read_document, read_text, single_matrix_file,
};
use crate::plan::{
    self, AxisFilter, JobView, LARGEST_PLAN_BYTES, Plan, PlanInputs, RunnerShape, SavedPlan,
};
use crate::publish::{ManifestSelection, PublishedReleases};
use crate::recipe::parallel_jobs::PlanParallelJobs;
use crate::recipe::refusals_of_job;
use crate::report::{ExpectedCells, WheelListing};
use crate::{exec, report, sys};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix plan                            all jobs of the matrix files in matrices/
  rock-matrix plan --explain                  show the reason for each excluded combination
  rock-matrix plan --out plan.json            save the plan for build and publish
  rock-matrix plan plan.json                  show a saved plan
  rock-matrix plan --published OWNER/REPO     without wheels that are published on GitHub
  rock-matrix plan --published releases.json  the same, with a saved list of releases
  rock-matrix plan --diff plan.json           show the effect of an edit
  rock-matrix plan new.json --diff old.json   compare two saved plans
  rock-matrix plan matrices/flash-attn.yaml --from-issue issue.md
                                              the combination that an issue requests
  rock-matrix plan --only python=3.12         only the jobs with this value
  rock-matrix plan --only-failed run.json     only the jobs that failed in a workflow run")]
pub(super) struct Args {
    /// Matrix files, combined into one plan, or one saved plan [default: matrices/*.yaml]
    ///
    /// A directory stands for all files in it that end in `.yaml` or `.yml`; the default is
    /// `matrices/`. `-` reads standard input.
    files: Vec<PathBuf>,
    /// Keep only jobs with one of these values, such as `python=3.12`; can be repeated
    ///
    /// The values are those of an axis, separated by commas. Jobs must have one value of each axis
    /// that is given; repeating the option for an axis adds values. `gfx=TARGET` keeps jobs that
    /// build for the target; families and product names are accepted too. An empty value matches
    /// any. With `--axis` or `--gfx`, the values are those that these options set. Errors that
    /// concern only other jobs do not fail the plan.
    #[arg(
        long,
        value_name = "AXIS=VALUES",
        value_parser = overrides::selected_value,
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
    /// Output format [default: human, or json if the file of --out ends in .json]
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<PlanFormat>,
    /// Same as --format json
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    json: bool,
    /// Show the reason for each excluded combination and GPU target
    #[arg(long, help_heading = "Output")]
    explain: bool,
    /// Show what changed since a plan saved with --format json
    ///
    /// These are jobs that were added, removed or changed, and exclusions that are new, of cells
    /// that are built now, or of cells that left the matrix, with the reasons. `--only` selects
    /// from both plans. The new plan is that of the matrix files, or another saved plan.
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
    /// Write to this file instead of stdout, as JSON if it ends in .json
    ///
    /// `--format` and `--json` take precedence over the extension.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Fail if there are no jobs
    #[arg(long, help_heading = "Output")]
    fail_empty: bool,
    /// Split the plan into matrices of at most this many jobs
    #[arg(
        long,
        value_name = "N",
        default_value = "256",
        value_parser = whole_number::<u16>(Unit::One, 1..=256),
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
        value_parser = whole_number::<u16>(Unit::One, 1..=u64::from(u16::MAX)),
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
        value_parser = whole_number::<u16>(Unit::One, 1..=u64::from(u16::MAX)),
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
        let is_json_file = || {
            let extension = self.out.as_deref().and_then(Path::extension);
            extension.is_some_and(|extension| extension == "json")
        };
        match self.format {
            Some(format) => format,
            None if self.json || is_json_file() => PlanFormat::Json,
            None => PlanFormat::Human,
        }
    }

    /// Whether an option selects or shards jobs or replaces values, which a saved plan does not
    /// permit.
    fn has_selection(&self) -> bool {
        !self.only.is_empty()
            || !self.published.is_empty()
            || self.only_failed.is_some()
            || self.from_issue.is_some()
            || self.runner.is_some()
            || self.github_output
            || self.overrides.overrides() != AxisOverrides::default()
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

/// Options that are left out of the command that prints the reasons for missing cells: those of
/// other outputs, and those that fail.
const NOT_EXPLAINED: &[&str] = &[
    "--diff=",
    "--fail-empty",
    "--format=",
    "--github-output",
    "--json",
    "--max-legs=",
    "--max-shards=",
    "--most-matrices=",
    "--out=",
    "--quiet",
    "--verbose",
    "-o=",
    "-q",
    "-v",
];

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let mut requested = None;
    let exit = make(args, shell, &mut requested, &mut sink);
    let diagnostics = sink.finish();
    let report_exit = shell.report(&match &requested {
        Some(requested) => requested.relocate(diagnostics),
        None => diagnostics,
    });
    match exit {
        Err(exit) | Ok(exit) if exit != Exit::Done => exit,
        _ => report_exit,
    }
}

/// Makes the plan and prints it; sets `requested` to the combination that an issue requests.
fn make(
    args: &Args,
    shell: &Shell,
    requested: &mut Option<RequestedCell>,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    check_axis_values(&args.files)?;
    if let Some((source, saved)) = saved_plan(args, sink)? {
        let inputs = args.files.iter().chain(&args.diff).map(PathBuf::as_path);
        load::refuse_overwriting_input(shell, args.out.as_deref(), inputs)?;
        return match &args.diff {
            Some(old) => output::print_changes(args, shell, old, &saved, sink),
            None => output::print_saved(args, shell, &source, &saved, sink),
        };
    }
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
        published: published.published_set(compat.rocm_versions().to_vec()),
        runner: args.runner,
        jobs_per_matrix,
        explain_hint: Some(explain_hint(args, shell)),
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
            Workspace::from_matrix(source, &[], &workspace_options)
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
    let mut parallel_jobs = None;
    if let Some(shape) = args.runner
        && let Ok((selected, _)) = workspace.plan_selected(&options, &filter)
    {
        let found = PlanParallelJobs::new(&selected.plan, recipes(&workspace), compat, shape);
        options.runner = Some(found.used_shape());
        parallel_jobs = Some(found);
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
    if args.format() == PlanFormat::Human {
        warn_of_refusals(&plan, &workspace, compat, sink);
        warn_of_projects(&plan, &workspace, compat, shell, sink);
    }
    let mut notes = plan::notes(&plan, compat);
    notes.extend(filter.other_targets_note(&plan));
    notes.extend(plan.runner_hours().map(|hours| hours.to_string()));
    notes.extend(exec::copied_source_trees(
        &plan,
        recipes(&workspace),
        compat,
        &shell.environment.current_dir,
    ));
    notes.extend(parallel_jobs.and_then(|found| found.note()));
    output::print(args, shell, &plan, &notes, sink)
}

/// Refuses values of axes among the files, such as `torch=2.13`, which `--only` selects.
fn check_axis_values(files: &[PathBuf]) -> Result<(), Exit> {
    let is_axis_value = |text: &&str| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || ['-', '_'].contains(&c);
        let endings = [".yaml", ".yml", ".json"];
        overrides::axis_value(text).is_ok_and(|(axis, _)| axis.chars().all(is_name))
            && !endings.iter().any(|ending| text.ends_with(*ending))
            && !sys::exists(Path::new(text))
    };
    let mut texts = files.iter().filter_map(|file| file.to_str());
    let Some(text) = texts.find(is_axis_value) else {
        return Ok(());
    };
    let option = shell_line(["--only", text]);
    let text = format!("`{text}` is not a file: `{option}` keeps only the jobs with this value");
    Err(misused(&["plan"], ErrorKind::UnknownArgument, &text))
}

/// Reads the saved plan to show or compare, with its text; `None` if the files are matrix files.
fn saved_plan(args: &Args, sink: &mut Sink) -> Result<Option<(SourceText, SavedPlan)>, Exit> {
    let file = match &args.files[..] {
        // Standard input and pipes can be read only once.
        [file] if !is_stdin(file) && sys::is_file(file) => file,
        _ => return Ok(None),
    };
    // Files that cannot be read are reported with the matrix files.
    let source = match read_text(file, LARGEST_PLAN_BYTES) {
        Ok(source) if config::is_saved_plan(&source.text) => source,
        _ => return Ok(None),
    };
    if args.has_selection() {
        let text = format!(
            "`{}` is a saved plan, whose jobs cannot be selected or sharded and whose values \
             cannot be replaced: name the matrix files instead, or leave out the other options",
            file.display()
        );
        return Err(misused(&["plan"], ErrorKind::ArgumentConflict, &text));
    }
    let saved = plan::read_saved(&source, sink).ok_or(Exit::Fault)?;
    Ok(Some((source, saved)))
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
        .map(JobView::to_job)
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
    let expected = ExpectedCells::of(&skipped, compat.rocm_versions(), silent);
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

/// Warns if the recipe of a matrix file refuses its first job, whose build would fail. `check` tries
/// every job, which would take longer than the plan.
fn warn_of_refusals(plan: &Plan, workspace: &Workspace<'_>, compat: &Compat, sink: &mut Sink) {
    for (number, (group, recipe)) in plan.groups.iter().zip(recipes(workspace)).enumerate() {
        let Some(job) = group.jobs(number).next().map(JobView::to_job) else {
            continue;
        };
        for refusal in refusals_of_job(&job, recipe, compat) {
            let warning = refusal.severity(Severity::Warning).note(format!(
                "the build of `{}` would fail; `rock-matrix check` shows all errors",
                job.id
            ));
            sink.push(placed(warning, &group.config.locations));
        }
    }
}

/// Warns about Pythons and versions that the projects in source trees do not have. `check` compares
/// them with every job, which takes longer than with one job of each version and Python.
fn warn_of_projects(
    plan: &Plan,
    workspace: &Workspace<'_>,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) {
    let projects = exec::SourceProjects::default();
    let caller = &shell.environment.current_dir;
    for (number, (group, recipe)) in plan.groups.iter().zip(recipes(workspace)).enumerate() {
        let jobs = group.jobs_by_version_and_python(number);
        let warnings = projects.warnings_of_jobs(jobs, recipe, compat, caller);
        for warning in warnings {
            sink.push(placed(warning, &group.config.locations));
        }
    }
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
    let help = if args.explain && !args.only.is_empty() {
        "change the values of `--only`, or the settings that the reasons mention".to_owned()
    } else {
        explain_hint(args, shell)
    };
    Diagnostic::new(&codes::EMPTY_PLAN, "the plan has no jobs").help(help)
}

/// Returns the hint to the reasons for excluded combinations, which `--explain` prints.
fn explain_hint(args: &Args, shell: &Shell) -> String {
    if args.explain {
        return "change the settings that the reasons mention".to_owned();
    }
    let command = repeated(&shell.arguments, NOT_EXPLAINED, &["--explain"]);
    format!("see every reason with `{command}`")
}

/// Returns the recipes of the matrix files, in order.
fn recipes<'w>(workspace: &'w Workspace<'_>) -> impl Iterator<Item = &'w RecipeDocument> {
    workspace.matrices().iter().map(|matrix| &**matrix.recipe())
}

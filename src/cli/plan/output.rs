//! The plan as text, JSON, IDs or the matrices of a workflow, and its changes since a saved plan.

use std::borrow::Cow;
use std::path::Path;

use clap::error::ErrorKind;

use super::{Args, PlanFormat};
use crate::cli::{Exit, Shell, load, misused};
use crate::codes::plan as codes;
use crate::diagnostic::{Diagnostic, Severity, Sink, SourceText};
use crate::plan::{self, AxisFilter, Plan, PlanDiff, SavedPlan, WorkflowCapacity};
use crate::render;

/// Prints the plan, or what changed since the plan of `--diff`.
pub(super) fn print(
    args: &Args,
    shell: &Shell,
    plan: &Plan,
    notes: &[String],
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    if let Some(old) = &args.diff {
        return print_changes(args, shell, old, &SavedPlan::of(plan), sink);
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
            let text = render::plan(plan, notes, detail(args));
            load::write_output(shell, args.out.as_deref(), |out| {
                out.write_all(text.as_bytes())
            })
        }
    })
}

/// Prints a saved plan for people, as the IDs of its jobs, or as the document that it was read from.
pub(super) fn print_saved(
    args: &Args,
    shell: &Shell,
    source: &SourceText,
    saved: &SavedPlan,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let text: Cow<'_, str> = match args.format() {
        PlanFormat::Json => Cow::Borrowed(&*source.text),
        PlanFormat::Github => {
            let text = "`--format github` shards the jobs of matrix files, not of a saved plan";
            return Err(misused(&["plan"], ErrorKind::ArgumentConflict, text));
        }
        PlanFormat::Ids => {
            let ids = saved.jobs.iter().map(|job| format!("{}\n", job.id));
            Cow::Owned(ids.collect())
        }
        PlanFormat::Human => Cow::Owned(render::saved_plan(saved, detail(args))),
    };
    if saved.jobs.is_empty() {
        let empty = Diagnostic::new(&codes::EMPTY_PLAN, "the saved plan has no jobs")
            .help("plan the matrix files again after changing what the reasons mention");
        sink.push(if args.fail_empty {
            empty.severity(Severity::Error)
        } else {
            empty
        });
    }
    Ok(load::write_output(shell, args.out.as_deref(), |out| {
        out.write_all(text.as_bytes())
    }))
}

/// Returns the amount of detail of the text.
fn detail(args: &Args) -> render::PlanDetail {
    if args.explain {
        render::PlanDetail::Explain
    } else {
        render::PlanDetail::Summary
    }
}

/// Prints what changed from the saved plan `old` to `new`, for the jobs that `--only` selects.
pub(super) fn print_changes(
    args: &Args,
    shell: &Shell,
    old: &Path,
    new: &SavedPlan,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let source = load::plan_source(shell, old)?;
    let mut old = plan::read_saved(&source, sink).ok_or(Exit::Fault)?;
    if !args.only.is_empty() {
        let compat = load::compat(shell)?;
        AxisFilter::new(&args.only, compat).apply_to_saved(&mut old, compat);
    }
    let diff = plan::diff(&old, new);
    Ok(load::write_output(
        shell,
        args.out.as_deref(),
        |out| match args.format() {
            PlanFormat::Json => {
                let document = ChangesDocument {
                    version: 1,
                    diff: &diff,
                };
                serde_json::to_writer(&mut *out, &document)?;
                out.write_all(b"\n")
            }
            _ => out.write_all(render::changes(&diff).as_bytes()),
        },
    ))
}

/// The JSON document of the differences between two plans.
#[derive(serde::Serialize)]
struct ChangesDocument<'d> {
    version: u32,
    #[serde(flatten)]
    diff: &'d PlanDiff,
}

/// Returns the plan in GitHub's form; warns if the matrices had to be reduced or soon will be.
fn legs(plan: &Plan, sink: &mut Sink) -> Result<plan::GithubPlan, Exit> {
    let github = plan::github(plan, sink).ok_or(Exit::Fault)?;
    plan::warn_of_size(&github, sink);
    Ok(github)
}

/// Writes the matrices and their number to `GITHUB_OUTPUT`, or to stdout if that is unset.
fn write_outputs(args: &Args, shell: &Shell, plan: &Plan, sink: &mut Sink) -> Result<(), Exit> {
    let github = legs(plan, sink)?;
    let capacity = WorkflowCapacity {
        shards: args.max_shards,
        legs: args.max_legs,
    };
    if let Err(error) = github.check_capacity(capacity) {
        sink.push(error);
        return Err(Exit::Fault);
    }
    shell.summarise_if_it_can_be(|room| render::summary(plan, room));
    shell.write_outputs(&github.into_outputs())
}

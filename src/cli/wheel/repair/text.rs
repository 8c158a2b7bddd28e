//! What repairing a wheel came to, as a person reads it.

use std::fmt::Write as _;

use super::Done;
use crate::audit::Plan;

/// The path of the new wheel, behind the plan where it was only made.
pub(super) fn text(done: &Done, is_dry_run: bool) -> String {
    let mut text = String::new();
    if let Some(plan) = done.plan.as_ref().filter(|_| is_dry_run) {
        let _ = steps(plan, &mut text);
        for library in &done.excluded {
            let _ = writeln!(text, "leave  {library}");
        }
    }
    text + &format!("{}\n", done.out.display())
}

fn steps(plan: &Plan, text: &mut String) -> std::fmt::Result {
    for graft in &plan.grafts {
        writeln!(text, "graft  {} as {}/{}", graft.library.real_path, plan.folder, graft.name)?;
    }
    for (path, edits) in &plan.edits {
        writeln!(text, "edit   {path}")?;
        for (old, new) in &edits.rename_needed {
            writeln!(text, "         needs {new} in place of {old}")?;
        }
        for old in &edits.remove_needed {
            writeln!(text, "         needs {old} no longer")?;
        }
        if let Some(path) = edits.rpath.text() {
            writeln!(text, "         searches {path}")?;
        }
    }
    for (old, new) in &plan.moved {
        writeln!(text, "move   {old} to {new}")?;
    }
    for (path, same) in &plan.dropped {
        writeln!(text, "drop   {path}, the same as {same}")?;
    }
    Ok(())
}

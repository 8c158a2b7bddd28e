//! What repairing a wheel came to, as a person reads it.

use std::fmt::Write as _;

use crate::audit::{Graft, RepairChanges, RepairedWheel, format_size};
use crate::diagnostic::counted;
use crate::elf::SearchPathEdit;

/// The path of the new wheel, behind the plan where it was only made.
pub(super) fn text(repaired: &RepairedWheel, is_dry_run: bool) -> String {
    let mut text = String::new();
    if is_dry_run {
        let _ = steps(&repaired.changes, &mut text);
        for file in &repaired.stripped {
            let _ = writeln!(text, "strip  {file}");
        }
        for library in &repaired.excluded {
            let _ = writeln!(text, "leave  {library}");
        }
    }
    text + &format!("{}\n", repaired.path.display())
}

/// The grafted libraries, a line each.
pub(super) fn grafts(plan: &RepairChanges) -> Vec<String> {
    let line = |graft: &Graft| {
        let (path, source) = (plan.path_of(graft), &graft.library.real_path);
        let verb = if plan.present.contains(&path) {
            "holds already"
        } else {
            "grafted:"
        };
        format!(
            "{verb} {path}, {}, from {source}",
            format_size(graft.size_bytes)
        )
    };
    plan.grafts.iter().map(line).collect()
}

/// How long a search path may be that is shown as a whole, in bytes.
const LONG_BYTES: usize = 200;

/// A search path; of a long one the last entry, which is the directory of the grafted libraries, and how
/// many stand before it.
fn entries(path: &str) -> String {
    match path.rsplit_once(':').filter(|_| path.len() > LONG_BYTES) {
        None => path.to_owned(),
        Some((before, last)) => {
            let count = before.split(':').count();
            format!("{last}, after {}", counted(count, "other folder"))
        }
    }
}

fn steps(plan: &RepairChanges, text: &mut String) -> std::fmt::Result {
    for graft in &plan.grafts {
        let path = plan.path_of(graft);
        let held = match &path {
            path if plan.present.contains(path) => ", which is there",
            path if plan.replaced.contains(path) => ", in the place of another file",
            _ => "",
        };
        writeln!(
            text,
            "graft  {} as {path}, {}{held}",
            graft.library.real_path,
            format_size(graft.size_bytes)
        )?;
    }
    for (path, edits) in &plan.edits {
        writeln!(text, "edit   {path}")?;
        for (old, new) in &edits.rename_needed {
            writeln!(text, "         needs {new} in place of {old}")?;
        }
        for old in &edits.remove_needed {
            writeln!(text, "         needs {old} no longer")?;
        }
        match &edits.rpath {
            SearchPathEdit::Keep => {}
            SearchPathEdit::Remove => {
                writeln!(text, "         searches no folder of its own any longer")?;
            }
            SearchPathEdit::Rpath(path) | SearchPathEdit::Runpath(path) => {
                writeln!(text, "         searches {}", entries(path))?;
            }
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

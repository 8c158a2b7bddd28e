//! The result of a repair as text.

use std::fmt::Write as _;
use std::path::Path;

use crate::audit::{Graft, RepairChanges, RepairNote, RepairOutcome, RepairedWheel, format_size};
use crate::elf::SearchPathEdit;

/// Returns the path of the new wheel, after the planned changes in a dry run.
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
    let verb = if is_dry_run { "write  " } else { "" };
    text + &format!("{verb}{}\n", repaired.path.display())
}

/// Returns a line about something that a repair leaves as it is.
pub(in crate::cli) fn repair_note_line(note: &RepairNote, path: &Path) -> String {
    let shown = path.display();
    match note {
        RepairNote::ForeignSystem(system) => format!(
            "{shown} is for {system}, which is not audited: its tags and dependencies are kept"
        ),
        RepairNote::KeptTags(tags) => format!(
            "{shown} keeps tags that are not audited: {}",
            tags.join(", ")
        ),
        RepairNote::NothingToGraft => {
            format!("{shown} contains no libraries for Linux: nothing is grafted")
        }
    }
}

/// Returns a line about a wheel that needs no repair; `None` for others.
pub(in crate::cli) fn unchanged_line(repaired: &RepairedWheel, path: &Path) -> Option<String> {
    (repaired.outcome == RepairOutcome::LeftInPlace)
        .then(|| format!("{} needs no repair: it is left unchanged", path.display()))
}

/// Returns the grafted libraries, one line each.
pub(in crate::cli) fn graft_lines(plan: &RepairChanges) -> Vec<String> {
    let line = |graft: &Graft| {
        let (path, source) = (plan.path_of(graft), &graft.library.real_path);
        let verb = if plan.present.contains(&path) {
            "already present"
        } else {
            "grafted"
        };
        format!(
            "{verb}: {path}, {}, from {source}",
            format_size(graft.size_bytes)
        )
    };
    plan.grafts.iter().map(line).collect()
}

/// Maximum length of a search path that is shown completely, in bytes.
const LONG_BYTES: usize = 200;

/// Returns a search path; of a long one the last entry, which is the directory of grafted
/// libraries, and the number of entries before it.
fn entries(path: &str) -> String {
    match path.rsplit_once(':').filter(|_| path.len() > LONG_BYTES) {
        None => path.to_owned(),
        Some((before, last)) => {
            let count = before.split(':').count();
            let noun = if count == 1 {
                "directory"
            } else {
                "directories"
            };
            format!("{last}, after {count} other {noun}")
        }
    }
}

fn steps(plan: &RepairChanges, text: &mut String) -> std::fmt::Result {
    for graft in &plan.grafts {
        let path = plan.path_of(graft);
        let held = match &path {
            path if plan.present.contains(path) => ", already present",
            path if plan.replaced.contains(path) => ", replacing a different file",
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
            writeln!(text, "         needs {new} instead of {old}")?;
        }
        for old in &edits.remove_needed {
            writeln!(text, "         no longer needs {old}")?;
        }
        match &edits.rpath {
            SearchPathEdit::Keep => {}
            SearchPathEdit::Remove => {
                writeln!(text, "         no longer has a search path")?;
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

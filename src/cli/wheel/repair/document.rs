//! The result of a repair as JSON.

use std::path::Path;

use serde_json::{Value, json};

use crate::audit::{FindingView, Graft, RepairChanges, RepairOutcome, RepairedWheel};
use crate::diagnostic::Diagnostic;
use crate::elf::{ElfEdits, SearchPathEdit};

/// The version of the format.
const VERSION: u32 = 1;

/// Returns the document of a repaired wheel that was read from this path.
pub(super) fn document(repaired: &RepairedWheel, input: &Path) -> Value {
    let plan = &repaired.changes;
    json!({
        "version": VERSION,
        "input": input.display().to_string(),
        "wheel": repaired.path.display().to_string(),
        "platform_tags": repaired.name.platform_tags().as_slice(),
        "pure": repaired.is_pure,
        "grafts": plan.grafts.iter().map(|one| graft(plan, one)).collect::<Vec<_>>(),
        "edits": plan.edits.iter().map(|(path, edits)| edit(path, edits)).collect::<Vec<_>>(),
        "moved": plan.moved,
        "dropped": plan.dropped,
        "stripped": repaired.stripped,
        "excluded": repaired.excluded,
        "written": repaired.outcome == RepairOutcome::Written,
        "findings": views(&repaired.findings),
    })
}

/// Returns the document of a wheel that could not be repaired.
pub(super) fn of_errors(errors: &[Diagnostic], input: &Path) -> Value {
    json!({
        "version": VERSION,
        "input": input.display().to_string(),
        "error": errors.first().map(|first| &first.message),
        "findings": views(errors),
    })
}

fn views(findings: &[Diagnostic]) -> Vec<FindingView> {
    findings.iter().map(FindingView::new).collect()
}

fn graft(plan: &RepairChanges, graft: &Graft) -> Value {
    let path = plan.path_of(graft);
    json!({
        "source": graft.library.real_path,
        "path": path,
        "needed_as": graft.needed_as,
        "sha256": graft.digest,
        "size": graft.size_bytes,
        "present": plan.present.contains(&path),
        "replaces": plan.replaced.contains(&path),
        "edits": edit(&path, &graft.edits),
    })
}

/// Returns the edits of a file; `rpath` is null if the search path is kept and empty if it is
/// removed, and `rpath_tag` is the dynamic tag of a new one.
fn edit(path: &str, edits: &ElfEdits) -> Value {
    let (rpath, rpath_tag) = match &edits.rpath {
        SearchPathEdit::Keep => (None, None),
        SearchPathEdit::Remove => (Some(""), None),
        SearchPathEdit::Rpath(text) => (Some(text.as_str()), Some("RPATH")),
        SearchPathEdit::Runpath(text) => (Some(text.as_str()), Some("RUNPATH")),
    };
    json!({
        "path": path,
        "soname": edits.soname,
        "rename_needed": edits.rename_needed,
        "remove_needed": edits.remove_needed,
        "rpath": rpath,
        "rpath_tag": rpath_tag,
    })
}

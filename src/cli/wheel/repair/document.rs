//! What repairing a wheel came to, as programs read it.

use std::path::Path;

use serde_json::{Value, json};

use super::Done;
use crate::audit::{FindingView, Plan};
use crate::sys::Saved;

/// The version of the document.
const VERSION: u32 = 1;

/// The document of one wheel, which was read from this path.
pub(super) fn document(done: &Done, input: &Path) -> Value {
    let plan = done.plan.as_ref();
    json!({
        "version": VERSION,
        "input": input.display().to_string(),
        "wheel": done.out.display().to_string(),
        "platform_tags": done.name.platform.tags(),
        "pure": plan.is_none(),
        "grafts": plan.map(grafts).unwrap_or_default(),
        "edits": plan.map(edits).unwrap_or_default(),
        "moved": plan.map(|plan| &plan.moved),
        "dropped": plan.map(|plan| &plan.dropped),
        "excluded": done.excluded,
        "written": done.saved == Some(Saved::Written),
        "findings": done.findings.iter().map(FindingView::new).collect::<Vec<_>>(),
    })
}

fn grafts(plan: &Plan) -> Vec<Value> {
    let graft = |graft: &crate::audit::Graft| {
        json!({
            "source": graft.library.real_path,
            "path": format!("{}/{}", plan.folder, graft.name),
            "needed_as": graft.needed_as,
            "sha256": graft.digest,
        })
    };
    plan.grafts.iter().map(graft).collect()
}

fn edits(plan: &Plan) -> Vec<Value> {
    let edit = |(path, edits): (&String, &crate::elf::ElfEdits)| {
        json!({
            "path": path,
            "rename_needed": edits.rename_needed,
            "remove_needed": edits.remove_needed,
            "rpath": edits.rpath.text(),
        })
    };
    plan.edits.iter().map(edit).collect()
}

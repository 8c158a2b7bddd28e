//! Checks of stub programs.

use super::MAKE_AGAIN;
use super::packages::{LoaderView, OpenedWheel};
use crate::codes::sdk as codes;
use rock_diagnostic::Diagnostic;
use rock_names::resolve_link;

pub(super) fn findings(wheel: &OpenedWheel) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, file) in &wheel.files {
        let LoaderView::Stub(text) = &file.held else {
            continue;
        };
        let mut fault = |message: String| {
            found.push(
                wheel
                    .fault_at(&codes::STUB_TO_NOWHERE, path, message)
                    .help(MAKE_AGAIN),
            );
        };
        match resolve_link(path, text)
            .filter(|target| target != path)
            .and_then(|target| wheel.files.get(&target))
        {
            None => fault(format!("it runs `{text}`, which is not in the package")),
            Some(target) if !target.is_executable => {
                fault(format!("it runs `{text}`, which is not executable"));
            }
            Some(_) => {}
        }
        if !file.is_executable {
            fault("it replaces a link to a program, but is not executable".to_owned());
        }
    }
    found
}

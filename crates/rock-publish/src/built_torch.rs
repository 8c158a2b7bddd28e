//! Reports wheels that were built with another torch than their label names.

use std::collections::BTreeMap;

use super::Asset;
use crate::codes::release as codes;
use rock_compat::{Compat, torch_contradictions};
use rock_diagnostic::{Diagnostic, Location, Severity};

/// Returns a diagnostic if a wheel was built with another torch than its label names. It is a note
/// for pure Python wheels, which do not depend on that torch, and if `is_allowed`; otherwise an
/// error.
pub fn built_with_other_torch(
    asset: &Asset,
    used: &BTreeMap<String, Option<String>>,
    is_allowed: bool,
    compat: &Compat,
) -> Option<Diagnostic> {
    let found = torch_contradictions(asset.label.as_ref()?, used, compat);
    let (first, others) = found.split_first()?;
    let is_pure = asset.wheel()?.is_platform_independent();
    let message = format!("`{}`: {first}", asset.name());
    let finding = Diagnostic::new(&codes::BUILT_WITH_OTHER_TORCH, message)
        .severity(if is_pure || is_allowed {
            Severity::Note
        } else {
            Severity::Error
        })
        .at(Location::File(asset.shown.as_str().into()), "");
    let finding = others
        .iter()
        .fold(finding, |finding, other| finding.note(other.clone()));
    if is_pure {
        return Some(finding.note(
            "the wheel has no compiled code, so its contents do not depend on the torch of the \
             build",
        ));
    }
    Some(finding.help(format!(
        "build it with the torch and ROCm of its label, or publish it anyway with `--allow {}`",
        codes::BUILT_WITH_OTHER_TORCH.id
    )))
}

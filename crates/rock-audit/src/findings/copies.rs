//! Reports of a library that a wheel contains under several names.

use super::CheckContext;
use crate::codes::wheel as codes;
use crate::redundant_copies::copies;
use rock_diagnostic::{Diagnostic, counted};

/// Number of copies that are named in a finding; others are counted.
const SHOWN: usize = 5;

/// Reports each library that the wheel contains several times.
pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    copies(context.files)
        .into_iter()
        .map(|group| {
            let redundant_bytes = (group.len() as u64 - 1).saturating_mul(group[0].size_bytes);
            let message = format!(
                "the wheel contains it {} times, {redundant_bytes} bytes more than necessary",
                group.len()
            );
            let finding = context.on_member(&codes::COPIED_LIBRARY, &group[0].path, message);
            let others = &group[1..];
            let named = others.iter().take(SHOWN).fold(finding, |finding, other| {
                finding.note(format!("`{}` has the same content", other.path))
            });
            let named = match others.len().saturating_sub(SHOWN) {
                0 => named,
                more => named.note(format!("and {}", counted(more, "other file"))),
            };
            named.help(
                "drop the copies that nothing refers to with `rock-matrix wheel repair \
                 --dedup-sonames`",
            )
        })
        .collect()
}

//! gfx targets on the command line.

use crate::names::{GfxTarget, GfxTargetError};

/// gfx targets in the order in which they are named, each once.
#[derive(Debug, Clone)]
pub(super) struct Targets(pub(super) Vec<GfxTarget>);

/// Reads them from the command line.
pub(super) fn targets(text: &str) -> Result<Targets, String> {
    let mut found: Vec<GfxTarget> = Vec::new();
    for word in text.split([' ', ',', ';']).filter(|word| !word.is_empty()) {
        let target = word.parse().map_err(|error: GfxTargetError| error.to_string())?;
        if !found.contains(&target) {
            found.push(target);
        }
    }
    if found.is_empty() { Err("there is no target".to_owned()) } else { Ok(Targets(found)) }
}

//! GPU targets on the command line.

use super::Shell;
use crate::codes::matrix as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass, Location};
use crate::names::GfxTarget;

/// GPU targets as typed: targets, families and product names.
#[derive(Debug, Clone)]
pub(super) struct GfxWords(pub(super) Vec<String>);

/// Parses a list separated by commas or semicolons.
pub(super) fn gfx_words(text: &str) -> Result<GfxWords, String> {
    let parts = text.split([',', ';']).map(str::trim);
    let words: Vec<String> = parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    if words.is_empty() {
        Err("expected at least one GPU target".to_owned())
    } else {
        Ok(GfxWords(words))
    }
}

/// Resolves these words to distinct targets in their order.
///
/// # Errors
/// Returns an error for each unknown word.
pub(super) fn targets(
    words: &GfxWords,
    option: &str,
    compat: &Compat,
    shell: &Shell,
) -> Result<Vec<GfxTarget>, Diagnostics> {
    let (mut found, mut faults): (Vec<GfxTarget>, Vec<Diagnostic>) = Default::default();
    // Blanks separate words too, except in product names such as `RX 7900 XTX`.
    let words = words
        .0
        .iter()
        .flat_map(|part| match compat.resolve_gfx(part) {
            Ok(_) => vec![part.as_str()],
            // An unknown product name is one error.
            Err(_) => {
                let parts: Vec<&str> = part.split_whitespace().collect();
                let is_target = |part: &&str| compat.resolve_gfx(part).is_ok();
                if parts.iter().any(is_target) {
                    parts
                } else {
                    vec![part.as_str()]
                }
            }
        });
    for word in words {
        match compat.resolve_gfx(word) {
            Ok(targets) => {
                if let (Some(product), [target]) = (compat.product(word), targets.as_slice()) {
                    shell.say(&format!("{} is {target}", product.name));
                }
                for target in targets {
                    if !found.contains(&target) {
                        found.push(target);
                    }
                }
            }
            Err(unknown) => faults.push(
                Diagnostic::new(&codes::BAD_GFX, unknown.to_string())
                    .at(Location::Argument(format!("{option} {word}")), "")
                    .help("`rock-matrix compat list products` and `compat list families` show the names"),
            ),
        }
    }
    if faults.is_empty() {
        return Ok(found);
    }
    Err(Diagnostics::from(faults).exits_with(ExitClass::Usage))
}

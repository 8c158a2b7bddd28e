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
    match compat.resolve_gfx_words(&words.0) {
        Ok(resolved) => {
            for (product, target) in &resolved.products {
                shell.say(&format!("{product} is {target}"));
            }
            Ok(resolved.targets)
        }
        Err(errors) => {
            let errors: Vec<Diagnostic> = errors
                .iter()
                .map(|error| {
                    let argument = format!("{option} {}", error.word);
                    Diagnostic::new(&codes::BAD_GFX, error.to_string())
                        .at(Location::Argument(argument), "")
                        .help("`rock-matrix compat list products` and `compat list families` show the names")
                })
                .collect();
            Err(Diagnostics::from(errors).exits_with(ExitClass::Usage))
        }
    }
}

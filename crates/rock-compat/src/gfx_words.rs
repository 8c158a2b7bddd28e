//! Lists of gfx targets, families and products as people write them.

use super::{Compat, UnknownGfxError};
use rock_names::GfxTarget;

/// The targets of a list of words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResolvedGfx {
    /// The distinct targets, in list order.
    pub targets: Vec<GfxTarget>,
    /// The names of products in the list, with their target.
    pub products: Vec<(String, GfxTarget)>,
}

impl Compat {
    /// Resolves a list of targets, families and products. A word may contain blanks: it is a
    /// product such as `RX 7900 XTX`, or several words.
    ///
    /// # Errors
    /// Every unknown word.
    pub fn resolve_gfx_words(&self, words: &[String]) -> Result<ResolvedGfx, Vec<UnknownGfxError>> {
        let mut resolved = ResolvedGfx::default();
        let mut errors = Vec::new();
        for word in words.iter().flat_map(|word| self.split_gfx_word(word)) {
            match self.resolve_gfx(word) {
                Ok(targets) => {
                    if let (Some(product), [target]) = (self.product(word), targets.as_slice()) {
                        let product = (product.name.clone(), target.clone());
                        resolved.products.push(product);
                    }
                    for target in targets {
                        if !resolved.targets.contains(&target) {
                            resolved.targets.push(target);
                        }
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            Ok(resolved)
        } else {
            Err(errors)
        }
    }

    /// Splits a word at blanks, unless it is a product, or its parts are not words of their own: an
    /// unknown product name, `RX 6800 XTX`, is one error.
    fn split_gfx_word<'w>(&self, word: &'w str) -> Vec<&'w str> {
        let is_known = |word: &str| self.resolve_gfx(word).is_ok();
        let parts: Vec<&str> = word.split_whitespace().collect();
        let are_words = || {
            parts.iter().any(|part| self.is_full_gfx_name(part))
                || parts.iter().all(|part| is_known(part))
        };
        if !is_known(word) && are_words() {
            parts
        } else {
            vec![word]
        }
    }

    /// Expands target families, separated by commas or semicolons, to their distinct targets in
    /// list order.
    ///
    /// # Errors
    /// Every unknown family.
    pub fn expand_families(&self, families: &str) -> Result<Vec<GfxTarget>, Vec<UnknownGfxError>> {
        let (mut targets, mut errors) = (Vec::new(), Vec::new());
        let families = families.split([',', ';']).map(str::trim);
        for family in families.filter(|family| !family.is_empty()) {
            match self.resolve_gfx(family) {
                Ok(members) => targets.extend(members),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut distinct: Vec<GfxTarget> = Vec::new();
        for target in targets {
            if !distinct.contains(&target) {
                distinct.push(target);
            }
        }
        Ok(distinct)
    }
}

#[cfg(test)]
mod tests {
    use crate::Compat;

    #[test]
    fn words_are_targets_families_and_products() {
        let compat = Compat::embedded();
        let resolve = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            compat.resolve_gfx_words(&words)
        };
        let resolved = resolve(&["RX 7900 XTX", "gfx942 gfx1100"]).unwrap();
        let targets: Vec<String> = resolved.targets.iter().map(ToString::to_string).collect();
        assert_eq!(targets, ["gfx1100", "gfx942"]);
        assert_eq!(resolved.products.len(), 1);
        let errors = resolve(&["RX 79000 XTX", "gfx942 banana"]).unwrap_err();
        let words: Vec<&str> = errors.iter().map(|error| error.word.as_str()).collect();
        assert_eq!(words, ["RX 79000 XTX", "banana"]);
        assert_eq!(
            resolve(&["7900 XTX", "9070 6800"]).unwrap().targets.len(),
            3
        );
        let errors = resolve(&["RX 6800 XTX"]).unwrap_err();
        assert_eq!(errors.len(), 1);
    }

    #[test]
    fn families_are_expanded_to_distinct_targets() {
        let compat = Compat::embedded();
        let expand = |families: &str| {
            let targets = compat.expand_families(families)?;
            Ok::<_, Vec<crate::UnknownGfxError>>(
                targets.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
        };
        assert_eq!(expand("gfx942; gfx94X-dcgpu;").unwrap(), ["gfx942"]);
        assert_eq!(expand("gfx942, gfx950").unwrap(), ["gfx942", "gfx950"]);
        assert_eq!(expand("gfx942;x;y").unwrap_err().len(), 2);
    }
}

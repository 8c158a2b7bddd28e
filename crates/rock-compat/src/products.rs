//! gfx targets of target families and products.

use super::Compat;
use super::rows::ProductRow;
use rock_diagnostic::list_first;
use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_names::{GfxTarget, ProductName};

/// A word that is neither a gfx target, a family nor a product.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct UnknownGfxError {
    /// The word.
    pub word: String,
    /// The most similar target, family or product, if one is similar.
    pub nearest: Option<String>,
}

impl UnknownGfxError {
    fn message(&self) -> String {
        let message = format!("`{}` is not a gfx target, a family or a product", self.word);
        with_nearest(message, self.nearest.as_deref())
    }
}

/// Number of products that are named for a target; others are counted.
const MOST_NAMES: usize = 3;

impl Compat {
    /// Returns the targets of a word: the target itself, the members of a family, or the target of
    /// a product.
    ///
    /// # Errors
    /// The word is none of these.
    pub fn resolve_gfx(&self, word: &str) -> Result<Vec<GfxTarget>, UnknownGfxError> {
        if let Some(members) = self.family(word) {
            return Ok(members
                .iter()
                .filter_map(|member| member.parse().ok())
                .collect());
        }
        if let Ok(target) = word.parse() {
            return Ok(vec![target]);
        }
        if let Some(target) = self.product(word).and_then(|row| row.gfx.parse().ok()) {
            return Ok(vec![target]);
        }
        let tables = self.tables();
        let families = tables
            .families
            .iter()
            .flat_map(|row| std::iter::once(&row.family).chain(&row.members));
        let products = tables
            .products
            .iter()
            .flat_map(|row| [&row.product, &row.gfx]);
        let near = nearest(word, families.chain(products).map(String::as_str)).map(str::to_owned);
        Err(UnknownGfxError {
            word: word.to_owned(),
            nearest: near,
        })
    }

    /// Returns the product with this name; case, spaces and hyphens are ignored.
    pub fn product(&self, word: &str) -> Option<&ProductRow> {
        let wanted = ProductName::new(word);
        self.tables().products.iter().find(|row| {
            wanted == ProductName::new(&row.product) || wanted == ProductName::new(&row.name)
        })
    }

    /// Returns the products with this processor, in the order of the table.
    pub fn products_of(&self, processor: &str) -> Vec<&ProductRow> {
        self.tables()
            .products
            .iter()
            .filter(|row| row.gfx == processor)
            .collect()
    }

    /// Returns a target with the names of some of its products:
    /// `gfx1102 (Radeon RX 7600, Radeon RX 7700S)`.
    pub fn gfx_with_products(&self, target: &GfxTarget) -> String {
        match self.product_names(target.processor()) {
            Some(names) => format!("{target} ({names})"),
            None => target.to_string(),
        }
    }

    /// Returns the names of some products with this processor.
    pub fn product_names(&self, processor: &str) -> Option<String> {
        let products = self.products_of(processor);
        let names: Vec<&str> = products.iter().map(|row| row.name.as_str()).collect();
        (!names.is_empty()).then(|| list_first(&names, MOST_NAMES, " and "))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::Compat;
    use rock_names::ProductName;

    #[test]
    fn targets_families_and_products_name_targets() {
        let compat = Compat::embedded();
        let check = |word: &str, expect: &[&str]| {
            let found: Vec<String> = compat
                .resolve_gfx(word)
                .unwrap()
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found, expect, "{word}");
        };
        check("mi300x", &["gfx942"]);
        check("MI300X", &["gfx942"]);
        check("rx7900xtx", &["gfx1100"]);
        check("Radeon RX 7900 XTX", &["gfx1100"]);
        check("strix-halo", &["gfx1151"]);
        check("gfx90a:xnack-", &["gfx90a:xnack-"]);
        check("gfx120X-all", &["gfx1200", "gfx1201"]);
    }

    #[test]
    fn an_unknown_product_suggests_the_nearest() {
        let compat = Compat::embedded();
        let message = |word: &str| compat.resolve_gfx(word).unwrap_err().to_string();
        assert_eq!(
            message("mi300q"),
            "`mi300q` is not a gfx target, a family or a product; did you mean `mi300a`?"
        );
        assert_eq!(
            message("7900xtx"),
            "`7900xtx` is not a gfx target, a family or a product; did you mean `rx7900xtx`?"
        );
        assert_eq!(
            message("zebra"),
            "`zebra` is not a gfx target, a family or a product"
        );
    }

    #[test]
    fn no_two_products_have_one_name() {
        let compat = Compat::embedded();
        let mut seen = BTreeSet::new();
        for row in &compat.tables().products {
            assert!(
                seen.insert(ProductName::new(&row.product)),
                "{}",
                row.product
            );
            assert!(
                compat.product(&row.name).is_some_and(|found| found == row),
                "{}",
                row.name
            );
        }
    }
}

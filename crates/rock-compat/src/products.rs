//! gfx targets of target families and products.

use std::collections::BTreeSet;

use super::Compat;
use super::rows::ProductRow;
use itertools::Itertools as _;
use rock_diagnostic::list_first;
use rock_diagnostic::nearest::{did_you_mean, nearest, nearest_all};
use rock_names::{GfxTarget, ProductName};

/// A word that is neither a gfx target, a family nor a product.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct UnknownGfxError {
    /// The word.
    pub word: String,
    /// Similar targets, families or products.
    pub nearest: Vec<String>,
}

impl UnknownGfxError {
    fn message(&self) -> String {
        let message = format!("`{}` is not a gfx target, a family or a product", self.word);
        let near: Vec<&str> = self.nearest.iter().map(String::as_str).collect();
        if near.is_empty() {
            message
        } else {
            format!("{message}; {}", did_you_mean(&near))
        }
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
        let near = similar_gfx_names(word, self.gfx_names()).into_iter();
        Err(UnknownGfxError {
            word: word.to_owned(),
            nearest: near.map(str::to_owned).collect(),
        })
    }

    /// Returns the product with this name; case, spaces, hyphens and the vendor are ignored, and
    /// `RX` may be left out.
    pub fn product(&self, word: &str) -> Option<&ProductRow> {
        let wanted = ProductName::new(word);
        self.product_with_name(&wanted).or_else(|| {
            let mut rows = self.product_tables().products.iter();
            rows.find(|row| short_product_names(row).contains(&wanted))
        })
    }

    /// Returns the product with this name as its row has it.
    fn product_with_name(&self, wanted: &ProductName) -> Option<&ProductRow> {
        self.product_tables().products.iter().find(|row| {
            *wanted == ProductName::new(&row.product) || *wanted == ProductName::new(&row.name)
        })
    }

    /// Whether a word is a target, a family, or the name of a product as its row has it.
    pub(super) fn is_full_gfx_name(&self, word: &str) -> bool {
        self.family(word).is_some()
            || word.parse::<GfxTarget>().is_ok()
            || self.product_with_name(&ProductName::new(word)).is_some()
    }

    /// Returns the names of families, targets and products, for suggestions.
    pub fn gfx_names(&self) -> Vec<&str> {
        let families = self.tables().families.iter();
        let products = &self.product_tables().products;
        let of_families = families.flat_map(|row| std::iter::once(&row.family).chain(&row.members));
        let of_products = products.iter().flat_map(|row| [&row.product, &row.gfx]);
        let short = products.iter().filter_map(without_rx);
        let names = of_families.chain(of_products).map(String::as_str);
        names.chain(short).collect()
    }

    /// Returns the products with this processor, in the order of the table.
    pub fn products_of(&self, processor: &str) -> Vec<&ProductRow> {
        self.product_tables()
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

/// Returns the short names of a product, which other products may have as their full names:
/// `7900 XTX` and `Radeon 7900 XTX` for the RX 7900 XTX.
pub fn short_product_names(row: &ProductRow) -> Vec<ProductName> {
    without_rx(row).map_or_else(Vec::new, |short| {
        vec![
            ProductName::new(short),
            ProductName::new(&format!("radeon{short}")),
        ]
    })
}

fn without_rx(row: &ProductRow) -> Option<&str> {
    row.product.strip_prefix("rx")
}

/// Returns the longest prefix of a target that known targets begin with, such as `gfx12` of
/// `gfx1299`, and these targets. `None` if there are none, or too many for a message.
pub fn related_targets<'p>(
    processor: &'p str,
    known: &BTreeSet<String>,
) -> Option<(&'p str, Vec<String>)> {
    let (prefix, related) = (MIN_TARGET_PREFIX..=processor.len())
        .rev()
        .filter_map(|length| processor.get(..length))
        .map(|prefix| (prefix, targets_with_prefix(prefix, known)))
        .find(|(_, related)| !related.is_empty())?;
    (related.len() <= MAX_RELATED_TARGETS).then_some((prefix, related))
}

/// Returns the known targets with this prefix, without generic ones.
fn targets_with_prefix(prefix: &str, known: &BTreeSet<String>) -> Vec<String> {
    known
        .iter()
        .filter(|name| name.starts_with(prefix) && !name.contains('-'))
        .cloned()
        .collect()
}

/// Length of `gfx9` for gfx942, and of `gfx1` for gfx1100.
const MIN_TARGET_PREFIX: usize = 4;

/// Maximum number of related gfx targets that a message lists.
const MAX_RELATED_TARGETS: usize = 12;

/// Minimum number of characters of the beginning of a name that its completions are suggested for.
const MIN_PREFIX_CHARS: usize = 3;

/// Returns names that are similar to a word: up to three that differ only in case or punctuation,
/// otherwise up to three that begin with the word, otherwise the nearest ones with the same digits
/// and similar letters before and after them. Names with other digits are other GPUs.
pub fn similar_gfx_names<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let names: Vec<&str> = names.into_iter().unique().collect();
    let wanted = ProductName::new(word);
    let wanted = wanted.as_str();
    let select = |is_similar: &dyn Fn(&str) -> bool| -> Vec<&'a str> {
        let similar = names.iter().copied();
        similar
            .filter(|name| is_similar(ProductName::new(name).as_str()))
            .sorted_by_key(|name| name.len())
            .take(3)
            .collect()
    };
    let equal = select(&|name: &str| name == wanted || name.strip_prefix("gfx") == Some(wanted));
    if !equal.is_empty() {
        return equal;
    }
    if wanted.len() >= MIN_PREFIX_CHARS {
        let longer = select(&|name: &str| name.starts_with(wanted));
        if !longer.is_empty() {
            return longer;
        }
    }
    let (prefix, digits, suffix) = model_parts(wanted);
    let is_same_model = |name: &&str| {
        let name = ProductName::new(name);
        let (name_prefix, name_digits, name_suffix) = model_parts(name.as_str());
        name_digits == digits
            && are_similar(prefix, name_prefix)
            && are_similar(suffix, name_suffix)
    };
    nearest_all(word, names.into_iter().filter(is_same_model))
}

/// Returns the letters before the digits of a name, the digits, and the letters after them: `rx`,
/// `7900` and `xtx`. A name without digits has only the last part.
fn model_parts(name: &str) -> (&str, String, &str) {
    let digits = name.chars().filter(char::is_ascii_digit).collect();
    let first = name.find(|c: char| c.is_ascii_digit());
    let last = name.rfind(|c: char| c.is_ascii_digit());
    let prefix = first.map_or("", |first| &name[..first]);
    (prefix, digits, last.map_or(name, |last| &name[last + 1..]))
}

/// Whether two parts of names are similar, or both empty.
fn are_similar(one: &str, other: &str) -> bool {
    one.is_empty() == other.is_empty() && nearest(one, [other]).is_some()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::related_targets;
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
        check("7900 XTX", &["gfx1100"]);
        check("AMD Radeon 7900 XTX", &["gfx1100"]);
        check("AMD Instinct MI300X", &["gfx942"]);
        check("strix-halo", &["gfx1151"]);
        check("RX 6700 XT", &["gfx1031"]);
        check("rx6650xt", &["gfx1032"]);
        check("gfx90a:xnack-", &["gfx90a:xnack-"]);
        check("gfx120X-all", &["gfx1200", "gfx1201"]);
    }

    #[test]
    fn an_unknown_product_suggests_the_nearest() {
        let compat = Compat::embedded();
        let message = |word: &str| compat.resolve_gfx(word).unwrap_err().to_string();
        assert_eq!(
            message("mi300q"),
            "`mi300q` is not a gfx target, a family or a product; did you mean `mi300a`, or \
             `mi300x`?"
        );
        assert_eq!(
            message("RX7900"),
            "`RX7900` is not a gfx target, a family or a product; did you mean `rx7900xt`, \
             `rx7900xtx`, or `rx7900gre`?"
        );
        assert_eq!(
            message("7900xtxx"),
            "`7900xtxx` is not a gfx target, a family or a product; did you mean `7900xtx`?"
        );
        assert_eq!(
            message("942"),
            "`942` is not a gfx target, a family or a product; did you mean `gfx942`?"
        );
        assert_eq!(
            message("GFX90A"),
            "`GFX90A` is not a gfx target, a family or a product; did you mean `gfx90a`?"
        );
        assert_eq!(
            message("strix-hallo"),
            "`strix-hallo` is not a gfx target, a family or a product; did you mean `strix-halo`?"
        );
        assert_eq!(
            message("xr7900xtx"),
            "`xr7900xtx` is not a gfx target, a family or a product; did you mean `rx7900xtx`?"
        );
        // Other digits, and prefixes and suffixes of other models, are not misspelled.
        for word in [
            "zebra",
            "rx6400",
            "rx6300xt",
            "rx6800m",
            "w7900x",
            "gfx9420-all",
        ] {
            assert_eq!(
                message(word),
                format!("`{word}` is not a gfx target, a family or a product")
            );
        }
    }

    #[test]
    fn related_targets_share_the_longest_prefix() {
        let known = Compat::embedded().known_gfx();
        let related = |processor| {
            let (prefix, targets) = related_targets(processor, &known)?;
            Some(format!("{prefix}: {}", targets.join(" ")))
        };
        assert_eq!(
            related("gfx1299").unwrap(),
            "gfx12: gfx1200 gfx1201 gfx1250"
        );
        assert_eq!(
            related("gfx90b").unwrap(),
            "gfx90: gfx900 gfx906 gfx908 gfx90a gfx90c"
        );
        assert_eq!(related("gfx1999"), None, "too many begin with gfx1");
    }

    #[test]
    fn no_two_products_have_one_name() {
        let compat = Compat::embedded();
        let mut seen = BTreeSet::new();
        for row in &compat.product_tables().products {
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

//! Names and data outside of a matrix file that its checks need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::recipe::RecipeSet;
use rock_compat::rows::{IndexTemplateRow, ReleaseTypeRow};
use rock_compat::{Compat, short_product_names};
use rock_names::{GfxTarget, ProductName, RocmVersion};

/// Known names, for checks and for suggesting the nearest name.
#[derive(Debug, Clone, Default)]
pub struct Lookups<'c> {
    /// The recipes that a file may name.
    pub recipes: Arc<RecipeSet>,
    /// Families of gfx targets with their members.
    pub families: BTreeMap<String, Vec<GfxTarget>>,
    /// The compatibility data, for lookups that few files need.
    pub(crate) compat: Option<&'c Compat>,
    pub(crate) products: OnceLock<BTreeMap<ProductName, GfxTarget>>,
    /// Processors in any table, if they are not those of `compat`.
    pub(crate) gfx: OnceLock<BTreeSet<String>>,
    /// Rows of the release types.
    pub release_types: Vec<ReleaseTypeRow>,
    /// Layouts of indexes.
    pub index_templates: Vec<IndexTemplateRow>,
    /// Values that replace those of the file.
    pub overrides: AxisOverrides,
    /// The ROCm of this machine, for `rocm: [host]`.
    pub host_rocm: HostRocm<'c>,
    /// Names, labels and aliases of runners, and names of pools, each with its operating system.
    pub runners: BTreeMap<String, String>,
}

/// A lookup of this machine's ROCm, made when a file asks for it; by default it finds none.
#[derive(Clone, Default)]
pub struct HostRocm<'c>(Option<Arc<dyn Fn() -> Option<RocmVersion> + 'c>>);

impl<'c> HostRocm<'c> {
    /// Creates a lookup that calls `find` each time a file asks for `host`.
    pub fn new(find: impl Fn() -> Option<RocmVersion> + 'c) -> Self {
        Self(Some(Arc::new(find)))
    }

    /// Returns the version; `None` if the machine has no ROCm, or several.
    pub(super) fn find(&self) -> Option<RocmVersion> {
        self.0.as_ref().and_then(|find| find())
    }
}

impl std::fmt::Debug for HostRocm<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HostRocm").finish_non_exhaustive()
    }
}

/// Values that replace those of a matrix file, in the form in which the options of `plan` take
/// them.
///
/// ```
/// use rock_plan::config::AxisOverrides;
///
/// let overrides = AxisOverrides::default()
///     .with_axis("python", "3.11, 3.12")
///     .with_gfx("gfx942;gfx110X-all");
/// assert_ne!(overrides, AxisOverrides::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AxisOverrides {
    pub(super) release_type: Option<String>,
    /// Values by axis.
    pub(super) axes: Vec<(String, Vec<String>)>,
    /// Families and gfx targets.
    pub(super) gfx: Option<Vec<String>>,
    /// Families to test on, or a keyword.
    pub(super) test_families: Option<Vec<String>>,
}

impl AxisOverrides {
    /// Sets the release type.
    #[must_use]
    pub fn with_release_type(mut self, name: &str) -> Self {
        self.release_type = Some(name.to_owned());
        self
    }

    /// Sets the values of an axis: a list with commas, semicolons or blanks.
    #[must_use]
    pub fn with_axis(mut self, name: &str, values: &str) -> Self {
        let values = split_list(values, &[',', ';', ' ', '\t']);
        self.axes.push((name.to_owned(), values));
        self
    }

    /// Sets the gfx targets and families to build for: a list with commas or semicolons.
    #[must_use]
    pub fn with_gfx(mut self, targets: &str) -> Self {
        self.gfx = Some(split_list(targets, &[',', ';']));
        self
    }

    /// Sets the families whose runners test the wheels: a list with commas or semicolons, or one of
    /// the words that `test.families` of a matrix file accepts.
    #[must_use]
    pub fn with_test_families(mut self, families: &str) -> Self {
        self.test_families = Some(split_list(families, &[',', ';']));
        self
    }

    /// Whether the values of an axis of a matrix file are replaced.
    pub(super) fn replaces_axis(&self, name: &str) -> bool {
        let mut axes = self.axes.iter();
        axes.any(|(axis, _)| axis == name) || (name == "gfx" && self.gfx.is_some())
    }

    /// Returns the arguments of the values, as diagnostics show them: those of single values, then
    /// one for each of `axes`.
    pub(super) fn arguments(&self) -> Vec<String> {
        let single = ["--release-type", "--gfx", "--test-families"].map(str::to_owned);
        single
            .into_iter()
            .chain(self.axes.iter().map(|(name, _)| format!("--axis {name}")))
            .collect()
    }
}

/// Returns the non-empty words between these separators.
fn split_list(text: &str, separators: &[char]) -> Vec<String> {
    text.split(separators)
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

impl<'c> Lookups<'c> {
    /// Creates lookups with the families and runners of the compatibility data and these recipes.
    pub fn new(compat: &'c Compat, recipes: Arc<RecipeSet>) -> Self {
        let tables = compat.tables();
        let members =
            |names: &[String]| names.iter().filter_map(|name| name.parse().ok()).collect();
        let runners = tables.runners.iter().flat_map(|row| {
            let aliases = row.aliases.iter().map(|alias| &alias.label);
            std::iter::once(&row.name)
                .chain(&row.labels)
                .chain(aliases)
                .map(move |word| (word, &row.os))
        });
        // All members of a pool have the same operating system (`compat::validate_tables`).
        let pools = tables.runner_pools.iter().filter_map(|pool| {
            let member = compat.runner(&pool.members.first()?.runner)?;
            Some((&pool.name, &member.os))
        });
        Self {
            recipes,
            release_types: tables.release_types.clone(),
            index_templates: tables.index_templates.clone(),
            overrides: AxisOverrides::default(),
            host_rocm: HostRocm::default(),
            gfx: OnceLock::new(),
            compat: Some(compat),
            products: OnceLock::new(),
            families: tables
                .families
                .iter()
                .map(|row| (row.family.clone(), members(&row.members)))
                .collect(),
            runners: runners
                .chain(pools)
                .map(|(word, os)| (word.clone(), os.clone()))
                .collect(),
        }
    }
}

impl Lookups<'_> {
    /// Returns the processors in any table.
    pub(super) fn known_gfx(&self) -> &BTreeSet<String> {
        let of_tables = || self.compat.map(Compat::known_gfx).unwrap_or_default();
        self.gfx.get_or_init(of_tables)
    }

    /// Returns whether a processor is in any table; true without tables.
    pub(super) fn is_known_gfx(&self, processor: &str) -> bool {
        match self.gfx.get() {
            Some(known) => known.contains(processor),
            None => self
                .compat
                .is_none_or(|compat| compat.is_known_gfx(processor)),
        }
    }

    /// Returns the gfx targets by the names of their products.
    pub(super) fn products(&self) -> &BTreeMap<ProductName, GfxTarget> {
        self.products
            .get_or_init(|| self.compat.map(products).unwrap_or_default())
    }
}

/// Returns the gfx targets by the short, full and own names of their products. A short name does
/// not replace another name.
fn products(compat: &Compat) -> BTreeMap<ProductName, GfxTarget> {
    let rows = || compat.product_tables().products.iter();
    let short = rows().flat_map(|row| {
        let names = short_product_names(row).into_iter();
        names.map(move |name| (name, &row.gfx))
    });
    let named = rows()
        .flat_map(|row| [&row.name, &row.product].map(|name| (ProductName::new(name), &row.gfx)));
    short
        .chain(named)
        .filter_map(|(name, gfx)| Some((name, gfx.parse().ok()?)))
        .collect()
}

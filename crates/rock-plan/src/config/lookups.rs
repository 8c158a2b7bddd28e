//! What the checks of a matrix file must know of the rest of the world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::recipe::RecipeSet;
use rock_compat::Compat;
use rock_compat::rows::{IndexTemplateRow, ReleaseTypeRow};
use rock_names::{GfxTarget, ProductName, RocmVersion};

/// Known names, for checks and for the nearest one to a wrong one.
#[derive(Debug, Clone, Default)]
pub struct Lookups<'c> {
    /// The recipes that a file may name.
    pub recipes: Arc<RecipeSet>,
    /// Families of gfx targets with their members.
    pub families: BTreeMap<String, Vec<GfxTarget>>,
    /// The facts, for what only few files need.
    pub(crate) compat: Option<&'c Compat>,
    pub(crate) products: OnceLock<BTreeMap<ProductName, GfxTarget>>,
    /// Processors that any table names.
    pub gfx: BTreeSet<String>,
    /// What kinds of releases build.
    pub release_types: Vec<ReleaseTypeRow>,
    /// Layouts of indexes.
    pub index_templates: Vec<IndexTemplateRow>,
    /// What the command line says beside a file.
    pub given: AxisOverrides,
    /// The ROCm of this machine, for `rocm: [host]`.
    pub host_rocm: HostRocm<'c>,
    /// Names, labels and aliases of runners, and names of pools, each with its system.
    pub runners: BTreeMap<String, String>,
}

/// Looks up the ROCm of this machine when a file asks for it; none by default.
#[derive(Clone, Default)]
pub struct HostRocm<'c>(Option<Arc<dyn Fn() -> Option<RocmVersion> + 'c>>);

impl<'c> HostRocm<'c> {
    /// Creates one that calls `find`, once for each file that asks.
    pub fn new(find: impl Fn() -> Option<RocmVersion> + 'c) -> Self {
        Self(Some(Arc::new(find)))
    }

    /// Returns the version; `None` where the machine has no ROCm, or several.
    pub(super) fn find(&self) -> Option<RocmVersion> {
        self.0.as_ref().and_then(|find| find())
    }
}

impl std::fmt::Debug for HostRocm<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HostRocm").finish_non_exhaustive()
    }
}

/// What the command line says in the place of a matrix file's own values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AxisOverrides {
    /// The kind of release.
    pub release_type: Option<String>,
    /// Values by axis.
    pub axes: Vec<(String, Vec<String>)>,
    /// Families and gfx targets.
    pub gfx: Option<Vec<String>>,
    /// Families to test on, or a word.
    pub test_families: Option<Vec<String>>,
}

impl AxisOverrides {
    /// The arguments that give values, as they are told of: those of single values, then one for
    /// each of `axes`.
    pub(super) fn arguments(&self) -> Vec<String> {
        let single = ["--release-type", "--gfx", "--test-families"].map(str::to_owned);
        single
            .into_iter()
            .chain(self.axes.iter().map(|(name, _)| format!("--axis {name}")))
            .collect()
    }
}

impl<'c> Lookups<'c> {
    /// Families and runners of the facts, and these recipes.
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
        // The members of a pool are of one system (`compat::validate_tables`).
        let pools = tables.runner_pools.iter().filter_map(|pool| {
            let member = compat.runner(&pool.members.first()?.runner)?;
            Some((&pool.name, &member.os))
        });
        Self {
            recipes,
            release_types: tables.release_types.clone(),
            index_templates: tables.index_templates.clone(),
            given: AxisOverrides::default(),
            host_rocm: HostRocm::default(),
            gfx: known_gfx(compat),
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
    /// Returns the targets by product word and by the full name of the product.
    pub(super) fn products(&self) -> &BTreeMap<ProductName, GfxTarget> {
        self.products
            .get_or_init(|| self.compat.map(products).unwrap_or_default())
    }
}

/// Targets by product word and by the full name.
fn products(compat: &Compat) -> BTreeMap<ProductName, GfxTarget> {
    let rows = compat.tables().products.iter();
    let named = rows
        .flat_map(|row| [&row.name, &row.product].map(|name| (ProductName::new(name), &row.gfx)));
    named
        .filter_map(|(name, gfx)| Some((name, gfx.parse().ok()?)))
        .collect()
}

/// Processors without features, of every table that names any.
fn known_gfx(compat: &Compat) -> BTreeSet<String> {
    let tables = compat.tables();
    let of_rocm = tables
        .torch_gfx
        .iter()
        .chain(&tables.rocm_gfx)
        .flat_map(|row| &row.gfx);
    let of_packages = tables
        .packages
        .iter()
        .flat_map(|row| row.gfx.values().flatten());
    let of_families = tables.families.iter().flat_map(|row| &row.members);
    let of_runners = tables.runners.iter().flat_map(|row| &row.gpu);
    // Most names stand in many rows.
    let all: BTreeSet<&String> = of_rocm
        .chain(of_packages)
        .chain(of_families)
        .chain(of_runners)
        .collect();
    let targets = all
        .into_iter()
        .filter_map(|name| name.parse::<GfxTarget>().ok());
    targets
        .map(|target| target.processor().to_owned())
        .collect()
}

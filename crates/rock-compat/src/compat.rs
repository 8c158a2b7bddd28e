//! The compatibility data and its lookups.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::lazy_tables::{LazyTables, decode};
use super::rows::{
    ActionRow, ClaimTables, CompatTables, CoreTables, FamilyBuildTables, GfxRow, LibraryTables,
    LimitRow, MachineTables, PackageRow, PresetRow, ProductTables, Provenance, ReachRow,
    RecipeTables, RunnerPoolRow, RunnerRow, SdkTables, SonameRow, SourceTables, TableGroup,
    TorchAbiTables, TorchIndexRow, TorchRow, WheelTables,
};
use super::torch_symbols::TorchSymbols;
use rock_names::{GfxTarget, PackageVersion, RocmVersion, Version};

/// Embeds the tables that the build script wrote for a group.
macro_rules! encoded_tables {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bin"))
    };
}

/// Compatibility data: the tables, and queries about them.
#[derive(Debug, Clone)]
pub struct Compat {
    pub(super) core: CoreTables,
    products: LazyTables<ProductTables>,
    libraries: LazyTables<LibraryTables>,
    torch_abi: LazyTables<TorchAbiTables>,
    sdk: LazyTables<SdkTables>,
    machine: LazyTables<MachineTables>,
    sources: LazyTables<SourceTables>,
    wheels: LazyTables<WheelTables>,
    family_builds: LazyTables<FamilyBuildTables>,
    recipes: LazyTables<RecipeTables>,
    claims: LazyTables<ClaimTables>,
    /// Symbols of torch by name, indexed on first use.
    pub(super) torch_symbols: OnceLock<TorchSymbols>,
    /// The ROCm versions of the tables `rocm` and `torch`, parsed on first use.
    rocm_versions: OnceLock<Vec<RocmVersion>>,
    /// Versions in the core tables, parsed on first use.
    parsed: OnceLock<ParsedVersions>,
}

/// Versions of the core tables in parsed form, in the order of the rows.
#[derive(Debug, Clone)]
pub(super) struct ParsedVersions {
    /// The ROCm indexes of each torch row.
    pub(super) torch_rocm: Vec<Vec<RocmVersion>>,
    /// The versions in image tags, with the index of the row.
    pub(super) images: Vec<(usize, super::images::TagContents)>,
    /// The indexes in `images` of each torch version.
    pub(super) images_of_torch: BTreeMap<Version, Vec<usize>>,
    /// The torch versions of each row of `torch-requirements`.
    pub(super) torch_requirements: Vec<Vec<Version>>,
    /// The package versions of each row of `import-requirements`.
    pub(super) import_requirements: Vec<Vec<Version>>,
}

impl Compat {
    /// Returns the data that is embedded in the program.
    pub fn embedded() -> Self {
        Self {
            core: decode(encoded_tables!("core")),
            products: LazyTables::embedded(encoded_tables!("products")),
            libraries: LazyTables::embedded(encoded_tables!("libraries")),
            torch_abi: LazyTables::embedded(encoded_tables!("torch-abi")),
            sdk: LazyTables::embedded(encoded_tables!("sdk")),
            machine: LazyTables::embedded(encoded_tables!("machine")),
            sources: LazyTables::embedded(encoded_tables!("sources")),
            wheels: LazyTables::embedded(encoded_tables!("wheels")),
            family_builds: LazyTables::embedded(encoded_tables!("family-builds")),
            recipes: LazyTables::embedded(encoded_tables!("recipes")),
            claims: LazyTables::embedded(encoded_tables!("claims")),
            torch_symbols: OnceLock::new(),
            rocm_versions: OnceLock::new(),
            parsed: OnceLock::new(),
        }
    }

    /// Returns the data of tables that were read from YAML files, instead of the embedded data.
    /// They should be valid (`validate_tables`); a version that does not parse is ignored.
    pub fn new(mut tables: CompatTables) -> Self {
        let tables = &mut tables;
        Self {
            core: CoreTables::take_from(tables),
            products: LazyTables::loaded(ProductTables::take_from(tables)),
            libraries: LazyTables::loaded(LibraryTables::take_from(tables)),
            torch_abi: LazyTables::loaded(TorchAbiTables::take_from(tables)),
            sdk: LazyTables::loaded(SdkTables::take_from(tables)),
            machine: LazyTables::loaded(MachineTables::take_from(tables)),
            sources: LazyTables::loaded(SourceTables::take_from(tables)),
            wheels: LazyTables::loaded(WheelTables::take_from(tables)),
            family_builds: LazyTables::loaded(FamilyBuildTables::take_from(tables)),
            recipes: LazyTables::loaded(RecipeTables::take_from(tables)),
            claims: LazyTables::loaded(ClaimTables::take_from(tables)),
            torch_symbols: OnceLock::new(),
            rocm_versions: OnceLock::new(),
            parsed: OnceLock::new(),
        }
    }

    pub(super) fn parsed(&self) -> &ParsedVersions {
        let versions =
            |texts: &Vec<String>| texts.iter().filter_map(|text| text.parse().ok()).collect();
        self.parsed.get_or_init(|| {
            let images = super::images::parse_tags(&self.core.images);
            ParsedVersions {
                images_of_torch: super::images::indexes_by_torch(&images),
                images,
                torch_rocm: self
                    .core
                    .torch
                    .iter()
                    .map(|row| {
                        row.rocm_index
                            .iter()
                            .filter_map(|text| text.parse().ok())
                            .collect()
                    })
                    .collect(),
                torch_requirements: self
                    .core
                    .torch_requirements
                    .iter()
                    .map(|row| versions(&row.torch))
                    .collect(),
                import_requirements: self
                    .core
                    .import_requirements
                    .iter()
                    .map(|row| versions(&row.of))
                    .collect(),
            }
        })
    }

    /// Returns the tables that most commands use; other groups have their own accessors.
    pub fn tables(&self) -> &CoreTables {
        &self.core
    }

    /// Returns the products with their gfx targets.
    pub fn product_tables(&self) -> &ProductTables {
        self.products.get()
    }

    /// Returns the libraries and device code in wheels.
    pub fn library_tables(&self) -> &LibraryTables {
        self.libraries.get()
    }

    /// Returns the symbols that torch versions export.
    pub fn torch_abi_tables(&self) -> &TorchAbiTables {
        self.torch_abi.get()
    }

    /// Returns the tables of SDK packages.
    pub fn sdk_tables(&self) -> &SdkTables {
        self.sdk.get()
    }

    /// Returns the tables of environment variables, attention libraries, tools, paths and known failures.
    pub fn machine_tables(&self) -> &MachineTables {
        self.machine.get()
    }

    /// Returns the tables of the source trees of torch and its companions.
    pub fn source_tables(&self) -> &SourceTables {
        self.sources.get()
    }

    /// Returns the tables of wheel contents and embeddings.
    pub fn wheel_tables(&self) -> &WheelTables {
        self.wheels.get()
    }

    /// Returns the tables of target family builds.
    pub fn family_build_tables(&self) -> &FamilyBuildTables {
        self.family_builds.get()
    }

    /// Returns the tables that only recipes look up.
    pub fn recipe_tables(&self) -> &RecipeTables {
        self.recipes.get()
    }

    /// Returns the claims in prose.
    pub fn claim_tables(&self) -> &ClaimTables {
        self.claims.get()
    }

    /// Returns the rows of the table with this YAML key as JSON, if there is such a table.
    pub fn rows_of(&self, table: &str) -> Option<serde_json::Value> {
        self.core
            .rows_of(table)
            .or_else(|| self.products.rows_of(table))
            .or_else(|| self.libraries.rows_of(table))
            .or_else(|| self.torch_abi.rows_of(table))
            .or_else(|| self.sdk.rows_of(table))
            .or_else(|| self.machine.rows_of(table))
            .or_else(|| self.sources.rows_of(table))
            .or_else(|| self.wheels.rows_of(table))
            .or_else(|| self.family_builds.rows_of(table))
            .or_else(|| self.recipes.rows_of(table))
            .or_else(|| self.claims.rows_of(table))
    }

    /// Returns a copy of all tables; decodes every group.
    pub fn all_tables(&self) -> CompatTables {
        let mut tables = CompatTables::default();
        self.core.clone().add_to(&mut tables);
        self.product_tables().clone().add_to(&mut tables);
        self.library_tables().clone().add_to(&mut tables);
        self.torch_abi_tables().clone().add_to(&mut tables);
        self.sdk_tables().clone().add_to(&mut tables);
        self.machine_tables().clone().add_to(&mut tables);
        self.source_tables().clone().add_to(&mut tables);
        self.wheel_tables().clone().add_to(&mut tables);
        self.family_build_tables().clone().add_to(&mut tables);
        self.recipe_tables().clone().add_to(&mut tables);
        self.claim_tables().clone().add_to(&mut tables);
        tables
    }

    /// Returns the row for the minor version of a torch version.
    pub fn torch(&self, torch: &Version) -> Option<&TorchRow> {
        let minor = torch.minor();
        self.core.torch.iter().find(|row| row.torch == minor)
    }

    /// Returns the newest known release of the minor version of a torch release that the table
    /// `torch` does not list. `None` if it lists this release, or none of this minor version.
    pub fn newest_release_if_unlisted(&self, torch: &Version) -> Option<&str> {
        if torch.is_prerelease() || torch.is_dev() {
            return None;
        }
        let releases = &self.torch(torch)?.patches;
        let public = torch.public();
        let is_listed = releases.iter().any(|release| {
            release
                .parse::<Version>()
                .is_ok_and(|known| known == public)
        });
        releases.last().filter(|_| !is_listed).map(String::as_str)
    }

    /// Returns the index that has torch wheels of a version for a ROCm version; `from` is a value of
    /// `torch-from`.
    pub fn torch_index(
        &self,
        from: &str,
        torch: &Version,
        rocm: &RocmVersion,
    ) -> Option<&TorchIndexRow> {
        let word = match (torch.is_dev(), torch.is_prerelease()) {
            (true, _) => "nightly",
            (false, true) => "candidate",
            (false, false) => "final",
        };
        let has = |versions: &[String]| {
            versions.is_empty() || versions.iter().any(|version| version == word)
        };
        let since = |row: &TorchIndexRow| row.since.parse::<RocmVersion>().ok();
        let rows = self
            .core
            .torch_indexes
            .iter()
            .filter(|row| row.from == from && has(&row.versions));
        rows.map(|row| (since(row), row))
            .filter(|(since, _)| since.as_ref().is_none_or(|first| first <= rocm))
            .max_by(|(left, _), (right, _)| left.cmp(right))
            .map(|(_, row)| row)
    }

    /// Returns the row of a package version, by version, or by family for a commit. `package` is a
    /// normalized name.
    pub fn package(&self, package: &str, version: &PackageVersion) -> Option<&PackageRow> {
        self.core
            .packages
            .iter()
            .filter(|row| row.package == package)
            .find(|row| match version {
                PackageVersion::Commit { family, .. } => {
                    row.commit_families.iter().any(|known| known == family)
                }
                PackageVersion::Released(version) => {
                    let is = |text: &String| {
                        text.parse::<Version>()
                            .is_ok_and(|known| known == version.public())
                    };
                    row.is_released() && (is(&row.version) || row.same.iter().any(is))
                }
            })
    }

    /// Returns whether any row is about this package. `package` is a normalized name.
    pub fn has_package(&self, package: &str) -> bool {
        self.core.packages.iter().any(|row| row.package == package)
    }

    /// Returns the row with the gfx targets of official torch wheels for a ROCm version, or for its
    /// minor version.
    pub fn torch_gfx(&self, rocm: &RocmVersion) -> Option<&GfxRow> {
        find_gfx(&self.core.torch_gfx, rocm)
    }

    /// Returns the row with the gfx targets that a ROCm version, or its minor version, supports.
    pub fn rocm_gfx(&self, rocm: &RocmVersion) -> Option<&GfxRow> {
        find_gfx(&self.core.rocm_gfx, rocm)
    }

    /// Returns the reason why the toolchain of a ROCm version is too old for a target,
    /// `gfx950 needs ROCm 7.0 or later`; `None` if it is not, or no row has the target.
    pub fn gfx_too_new(&self, target: &GfxTarget, rocm: &RocmVersion) -> Option<String> {
        let row = self
            .core
            .gfx_since
            .iter()
            .find(|row| row.gfx == target.processor())?;
        let since: RocmVersion = row.rocm.parse().ok()?;
        (*rocm < since).then(|| format!("{} needs ROCm {since} or later", row.gfx))
    }

    /// Returns the ROCm versions of the tables `rocm` and `torch`, sorted and without duplicates.
    pub fn rocm_versions(&self) -> &[RocmVersion] {
        self.rocm_versions.get_or_init(|| {
            let listed = self.core.rocm.iter().map(|row| &row.rocm);
            let indexes = self.core.torch.iter().flat_map(|row| &row.rocm_index);
            let mut versions: Vec<RocmVersion> = listed
                .chain(indexes)
                .filter_map(|text| text.parse().ok())
                .collect();
            versions.sort();
            versions.dedup();
            versions
        })
    }

    /// Returns the runner pool with this name.
    pub fn pool(&self, name: &str) -> Option<&RunnerPoolRow> {
        self.core.runner_pools.iter().find(|row| row.name == name)
    }

    /// Returns the pinned commit of an action; `name` is `OWNER/REPOSITORY`.
    pub fn action(&self, name: &str) -> Option<&ActionRow> {
        self.core.actions.iter().find(|row| row.name == name)
    }

    /// Returns the runner with this name, label or alias.
    pub fn runner(&self, word: &str) -> Option<&RunnerRow> {
        self.core.runners.iter().find(|row| {
            row.name == word
                || row.labels.iter().any(|l| l == word)
                || row.aliases.iter().any(|a| a.label == word)
        })
    }

    /// Returns the gfx targets of a target family, `gfx94X-all`.
    pub fn family(&self, name: &str) -> Option<&[String]> {
        self.core
            .families
            .iter()
            .find(|row| row.family == name)
            .map(|row| row.members.as_slice())
    }

    /// Returns the row of a GitHub limit, `jobs-per-matrix`.
    pub fn limit(&self, name: &str) -> Option<&LimitRow> {
        self.core.limits.iter().find(|row| row.name == name)
    }

    /// Returns the value of a limit in the unit of its row; `usize::MAX` for a limit without a row.
    pub fn limit_value(&self, name: &str) -> usize {
        self.limit(name)
            .and_then(|row| usize::try_from(row.value).ok())
            .unwrap_or(usize::MAX)
    }

    /// Returns the number of files that a publish run may upload per hour: 90 % of the limit
    /// `content-per-hour`, which leaves some for other uses of the repository.
    pub fn uploads_per_hour(&self) -> usize {
        let most = self.limit_value("content-per-hour");
        most - most / 10
    }

    /// Returns a named set of libraries that a repair does not graft, `rocm`.
    pub fn preset(&self, name: &str) -> Option<&PresetRow> {
        self.library_tables()
            .presets
            .iter()
            .find(|row| row.name == name)
    }

    /// Returns the row of a ROCm library by its SONAME, `libamdhip64.so.6`.
    pub fn soname(&self, soname: &str) -> Option<&SonameRow> {
        self.library_tables()
            .sonames
            .iter()
            .find(|row| row.soname == soname)
    }

    /// Returns whether wheels work with another version than they were built for:
    /// `reach("rocm", "newer-minor")`.
    pub fn reach(&self, about: &str, when: &str) -> Option<&ReachRow> {
        self.library_tables()
            .reach
            .iter()
            .find(|row| row.about == about && row.when == when)
    }

    /// Returns the citation of a row: `compat/torch.yaml, torch 2.6, checked 2026-11-21`.
    pub fn cite(&self, file: &str, row: &str, origin: &Provenance) -> String {
        // A plan cites rows for each pair of versions, so that formatting takes a part of its time.
        ["compat/", file, ", ", row, ", checked ", &origin.checked].concat()
    }

    /// Returns the source of a row with reference and confidence.
    pub fn describe_provenance(&self, origin: &Provenance) -> String {
        let source = self
            .core
            .sources
            .get(&origin.source)
            .unwrap_or(&origin.source);
        let place = if origin.r#ref.is_empty() {
            String::new()
        } else {
            format!(", {}", origin.r#ref)
        };
        format!("{source}{place} ({})", origin.status.as_str())
    }
}

fn find_gfx<'a>(rows: &'a [GfxRow], rocm: &RocmVersion) -> Option<&'a GfxRow> {
    let by = |text: &str| rows.iter().find(|row| row.rocm.iter().any(|r| r == text));
    by(rocm.as_str()).or_else(|| by(rocm.minor().as_str()))
}

/// Joins texts: `none`, `a`, `a and b`, `a, b and c`.
pub(super) fn join_with_and(items: &[String]) -> String {
    match items {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::Compat;
    use crate::rows::CompatTables;
    use rock_names::RocmVersion;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test compares with the files"
    )]
    fn embedded_tables_equal_the_files() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tables");
        let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap();
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        let mut tables = CompatTables::default();
        for path in paths
            .into_iter()
            .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        {
            tables.merge(serde_yaml::from_str(&read(path)).unwrap());
        }
        assert_eq!(Compat::embedded().all_tables(), tables);
    }

    #[test]
    fn gfx_targets_of_package_versions() {
        let compat = Compat::embedded();
        let wanted = [
            "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201",
        ];
        let kept = |version: &str, rocm: &str| {
            let row = compat
                .package("flash-attn", &version.parse().unwrap())
                .unwrap();
            let rocm: RocmVersion = rocm.parse().unwrap();
            let fits = |target: &&str| {
                row.gfx["ck"].iter().any(|known| known == target)
                    && compat
                        .gfx_too_new(&target.parse().unwrap(), &rocm)
                        .is_none()
                    && compat
                        .torch_gfx(&rocm)
                        .is_none_or(|list| list.gfx.iter().any(|known| known == target))
            };
            wanted
                .iter()
                .filter(|target| fits(target))
                .copied()
                .collect::<Vec<_>>()
                .join(";")
        };
        for (version, rocm, expect) in [
            ("2.6.3", "6.1", "gfx90a;gfx942"),
            ("2.7.4.post1", "7.2", "gfx90a;gfx942"),
            ("2.8.3", "6.2", "gfx90a;gfx942"),
            ("2.8.3", "6.4", "gfx90a;gfx942"),
            ("2.8.3", "7.0", "gfx90a;gfx942;gfx950"),
            ("2.8.3", "7.14", "gfx90a;gfx942;gfx950"),
            ("fa2:4a948e9", "6.2", "gfx90a;gfx942;gfx1100;gfx1201"),
            ("fa2:4a948e9", "7.2", "gfx90a;gfx942;gfx950;gfx1100;gfx1201"),
        ] {
            assert_eq!(kept(version, rocm), expect, "{version} on ROCm {rocm}");
        }
        let gfx950 = "gfx950".parse().unwrap();
        let reason = compat.gfx_too_new(&gfx950, &"6.4.4".parse().unwrap());
        assert_eq!(reason.as_deref(), Some("gfx950 needs ROCm 7.0 or later"));
    }

    #[test]
    fn every_rocm_of_an_image_tag_is_in_the_rocm_table() {
        let compat = Compat::embedded();
        let listed: Vec<&str> = compat
            .tables()
            .rocm
            .iter()
            .map(|row| row.rocm.as_str())
            .collect();
        for image in compat.images("rocm/pytorch") {
            assert!(listed.contains(&image.rocm.as_str()), "{}", image.row.tag);
        }
        assert!(listed.contains(&"5.2"), "the HIP of Debian 12");
        let versions = compat.rocm_versions();
        assert!(versions.is_sorted() && versions.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_runner_is_found_by_name_label_and_old_label() {
        let compat = Compat::embedded();
        let name = |word: &str| compat.runner(word).map(|row| row.name.as_str());
        assert_eq!(name("ubuntu-22.04"), Some("ubuntu-22.04"));
        assert_eq!(name("linux.rocm.gpu.mi350.1"), Some("mi350"));
        assert_eq!(name("linux.rocm.gpu.gfx950.1"), Some("mi350"));
        assert_eq!(name("windows-95"), None);
        assert_eq!(compat.limit_value("no-such-limit"), usize::MAX);
        assert_eq!(
            compat.family("gfx94X-all"),
            Some(&["gfx942".to_owned()][..])
        );
    }
}

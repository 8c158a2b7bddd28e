//! The compatibility data and its lookups.

use std::sync::OnceLock;

use serde::de::DeserializeOwned;

use super::images::without_docker_hub;
use super::rows::{
    ActionRow, ClaimTables, CompatTables, CoreTables, FamilyBuildTables, GfxRow, LimitRow,
    MachineTables, PackageRow, PresetRow, Provenance, ReachRow, RecipeTables, RunnerPoolRow,
    RunnerRow, SdkTables, SonameRow, SourceTables, TableGroup, TorchAbiTables, TorchIndexRow,
    TorchRow, WheelTables,
};
use super::torch_symbols::TorchSymbols;
use super::{Support, SupportReason};
use rock_names::{GfxTarget, PackageVersion, PythonVersion, RocmVersion, Version};

/// Embeds the tables that the build script wrote for a group.
macro_rules! encoded_tables {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bin"))
    };
}

/// Compatibility data: the tables, and queries about them.
#[derive(Debug, Clone)]
pub struct Compat {
    core: CoreTables,
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
    /// Versions in the core tables, parsed on first use.
    parsed: OnceLock<ParsedVersions>,
}

/// A group of tables that is decoded on first use.
#[derive(Debug, Clone)]
struct LazyTables<T> {
    encoded: &'static [u8],
    decoded: OnceLock<T>,
}

impl<T: TableGroup + DeserializeOwned> LazyTables<T> {
    fn embedded(encoded: &'static [u8]) -> Self {
        Self {
            encoded,
            decoded: OnceLock::new(),
        }
    }

    fn loaded(tables: T) -> Self {
        Self {
            encoded: &[],
            decoded: OnceLock::from(tables),
        }
    }

    fn get(&self) -> &T {
        self.decoded.get_or_init(|| decode(self.encoded))
    }

    /// Returns a table of this group as JSON; decodes nothing for a table of another group.
    fn rows_of(&self, table: &str) -> Option<serde_json::Value> {
        T::has_table(table)
            .then(|| self.get().rows_of(table))
            .flatten()
    }
}

/// Versions of the core tables in parsed form, in the order of the rows.
#[derive(Debug, Clone)]
pub(super) struct ParsedVersions {
    /// The ROCm indexes of each torch row.
    torch_rocm: Vec<Vec<RocmVersion>>,
    /// The versions in image tags, with the index of the row.
    pub(super) images: Vec<(usize, super::images::TagContents)>,
    /// The ROCm versions of the tables `rocm` and `torch`, sorted.
    rocm: Vec<RocmVersion>,
    /// The torch versions of each row of `torch-requirements`.
    pub(super) torch_requirements: Vec<Vec<Version>>,
    /// The package versions of each row of `import-requirements`.
    pub(super) import_requirements: Vec<Vec<Version>>,
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("the build script wrote these tables with the same types")
}

impl Compat {
    /// Returns the data that is embedded in the program.
    pub fn embedded() -> Self {
        Self {
            core: decode(encoded_tables!("core")),
            torch_abi: LazyTables::embedded(encoded_tables!("torch-abi")),
            sdk: LazyTables::embedded(encoded_tables!("sdk")),
            machine: LazyTables::embedded(encoded_tables!("machine")),
            sources: LazyTables::embedded(encoded_tables!("sources")),
            wheels: LazyTables::embedded(encoded_tables!("wheels")),
            family_builds: LazyTables::embedded(encoded_tables!("family-builds")),
            recipes: LazyTables::embedded(encoded_tables!("recipes")),
            claims: LazyTables::embedded(encoded_tables!("claims")),
            torch_symbols: OnceLock::new(),
            parsed: OnceLock::new(),
        }
    }

    /// Returns the data of tables that were read from YAML files, instead of the embedded data.
    /// They should be valid (`validate_tables`); a version that does not parse is ignored.
    pub fn new(mut tables: CompatTables) -> Self {
        let tables = &mut tables;
        Self {
            core: CoreTables::take_from(tables),
            torch_abi: LazyTables::loaded(TorchAbiTables::take_from(tables)),
            sdk: LazyTables::loaded(SdkTables::take_from(tables)),
            machine: LazyTables::loaded(MachineTables::take_from(tables)),
            sources: LazyTables::loaded(SourceTables::take_from(tables)),
            wheels: LazyTables::loaded(WheelTables::take_from(tables)),
            family_builds: LazyTables::loaded(FamilyBuildTables::take_from(tables)),
            recipes: LazyTables::loaded(RecipeTables::take_from(tables)),
            claims: LazyTables::loaded(ClaimTables::take_from(tables)),
            torch_symbols: OnceLock::new(),
            parsed: OnceLock::new(),
        }
    }

    pub(super) fn parsed(&self) -> &ParsedVersions {
        let versions =
            |texts: &Vec<String>| texts.iter().filter_map(|text| text.parse().ok()).collect();
        self.parsed.get_or_init(|| ParsedVersions {
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
            images: super::images::parse_tags(&self.core.images),
            rocm: self.rocm_versions(),
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
        })
    }

    /// Returns the tables that most commands use; other groups have their own accessors.
    pub fn tables(&self) -> &CoreTables {
        &self.core
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
        rows.filter(|row| since(row).is_none_or(|first| first <= *rocm))
            .max_by_key(|row| since(row))
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
    pub fn rocm_versions(&self) -> Vec<RocmVersion> {
        let listed = self.core.rocm.iter().map(|row| &row.rocm);
        let indexes = self.core.torch.iter().flat_map(|row| &row.rocm_index);
        let mut versions: Vec<RocmVersion> = listed
            .chain(indexes)
            .filter_map(|text| text.parse().ok())
            .collect();
        versions.sort();
        versions.dedup();
        versions
    }

    /// Returns whether an official index has wheels of a torch version for a ROCm version. The index
    /// of a minor version (`7.1`) is used for its patch versions (`7.1.1`), except those with an
    /// index (`6.2.4`).
    pub fn torch_rocm_support(&self, torch: &Version, rocm: &RocmVersion) -> Support {
        let Some(row) = self.torch(torch) else {
            return self.unknown_torch(torch);
        };
        let parsed = &self.parsed().torch_rocm;
        let number = self
            .core
            .torch
            .iter()
            .position(|other| std::ptr::eq(other, row));
        let listed = number.map_or(&[][..], |number| &parsed[number]);
        let has_its_own = parsed.iter().flatten().any(|index| index == rocm);
        let serves =
            |index: &RocmVersion| index == rocm || (!has_its_own && *index == rocm.minor());
        if !has_its_own && !self.has_rocm(rocm) {
            return self.unknown_rocm(rocm);
        }
        if listed.iter().any(serves) {
            return Support::Supported {
                source: self.cite("torch.yaml", &format!("torch {}", row.torch), &row.origin),
            };
        }
        Support::Unsupported(SupportReason {
            reason: format!(
                "torch {torch} has wheels for ROCm {}, not {rocm}",
                join_with_and(&row.rocm_index)
            ),
            hint: nearest_rocm(listed, rocm).map_or_else(String::new, |near| {
                let other = if self.torch_is_in_an_image(torch, rocm) {
                    ", or `torch-from: image`, where an image has both"
                } else {
                    ", or another source of torch (`torch-from: image` or `amd-index`)"
                };
                format!("use ROCm {near}{other}")
            }),
            source: self.cite("torch.yaml", &format!("torch {}", row.torch), &row.origin),
        })
    }

    /// Returns whether a torch version has wheels for a Python version; free-threaded Pythons have a
    /// column of their own.
    pub fn torch_python_support(&self, torch: &Version, python: PythonVersion) -> Support {
        let Some(row) = self.torch(torch) else {
            return self.unknown_torch(torch);
        };
        let listed = if python.is_free_threaded() {
            &row.free_threaded
        } else {
            &row.python
        };
        let source = self.cite("torch.yaml", &format!("torch {}", row.torch), &row.origin);
        if listed.iter().any(|text| {
            text.parse::<PythonVersion>()
                .is_ok_and(|known| known == python)
        }) {
            return Support::Supported { source };
        }
        let hint = match (listed.first(), listed.last()) {
            (Some(first), Some(last)) => format!("use Python {first} to {last}"),
            _ => {
                format!(
                    "use a Python with the global lock: {} to {}",
                    row.python[0],
                    row.python[row.python.len() - 1]
                )
            }
        };
        let which = if listed.is_empty() {
            "no free-threaded Python".to_owned()
        } else {
            format!("Python {}", join_with_and(listed))
        };
        Support::Unsupported(SupportReason {
            reason: format!("torch {torch} has wheels for {which}, not {python}"),
            hint,
            source,
        })
    }

    /// Returns whether an image of a repository has these torch and ROCm versions, and this Python
    /// version if the image's own is used.
    pub fn torch_image_support(
        &self,
        repository: &str,
        torch: &Version,
        rocm: &RocmVersion,
        python: Option<PythonVersion>,
    ) -> Support {
        if !self.has_rocm(rocm) {
            return self.unknown_rocm(rocm);
        }
        match self
            .images(repository)
            .find(|image| image.has(rocm, Some(torch), python))
        {
            Some(image) => Support::Supported {
                source: format!("images.yaml, tag {}", image.row.tag),
            },
            None => {
                let near = self.nearest_tags(repository, rocm, Some(torch), python);
                let and_python = python
                    .map(|python| format!(" and Python {python}"))
                    .unwrap_or_default();
                Support::Unsupported(SupportReason {
                    reason: format!(
                        "no image of {} carries torch {torch} with ROCm {rocm}{and_python}",
                        without_docker_hub(repository)
                    ),
                    hint: format!("the nearest tags are {}", near.join(", ")),
                    source: "images.yaml".to_owned(),
                })
            }
        }
    }

    /// Returns whether a package version has a backend. A version without a row is unknown, a family
    /// that cannot be built for AMD GPUs is unsupported, and a package without rows is supported.
    pub fn package_backend_support(
        &self,
        package: &str,
        version: &PackageVersion,
        backend: &str,
    ) -> Support {
        if !self.has_package(package) {
            return Support::Supported {
                source: String::new(),
            };
        }
        let file = format!("{package}.yaml");
        if let PackageVersion::Commit { family, .. } = version
            && let Some(row) = self
                .core
                .absent_families
                .iter()
                .find(|r| r.package == package && r.family == *family)
        {
            return Support::Unsupported(SupportReason {
                reason: format!("{version}: {}", row.reason),
                hint: String::new(),
                source: self.cite(&file, &row.family, &row.origin),
            });
        }
        let Some(row) = self.package(package, version) else {
            return self.unknown_package(package, version);
        };
        let source = self.cite(&file, &format!("{package} {}", row.version), &row.origin);
        if row.backends.iter().any(|known| known == backend) {
            return Support::Supported { source };
        }
        let since = self.core.packages.iter().filter(|r| r.package == package);
        let first = since
            .filter(|r| r.backends.iter().any(|known| known == backend))
            .map(|r| r.version.as_str())
            .next();
        Support::Unsupported(SupportReason {
            reason: format!("{package} {version} has no {backend} backend in this version"),
            hint: first.map_or_else(String::new, |first| {
                format!("{backend} is there since {first}")
            }),
            source,
        })
    }

    /// Returns whether a package version supports a Python version.
    pub fn package_python_support(
        &self,
        package: &str,
        version: &PackageVersion,
        python: PythonVersion,
    ) -> Support {
        let Some(row) = self.package(package, version) else {
            return self.unknown_package(package, version);
        };
        let source = self.cite(
            &format!("{package}.yaml"),
            &format!("{package} {}", row.version),
            &row.origin,
        );
        let least = row.python_min.parse::<PythonVersion>();
        let plain = python.plain().parse::<PythonVersion>();
        match (least, plain) {
            (Ok(least), Ok(plain)) if plain < least => Support::Unsupported(SupportReason {
                reason: format!("{package} {version} needs Python {least} or later, not {python}"),
                hint: format!("use Python {least} or later"),
                source,
            }),
            _ => Support::Supported { source },
        }
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
        self.core.presets.iter().find(|row| row.name == name)
    }

    /// Returns the row of a ROCm library by its SONAME, `libamdhip64.so.6`.
    pub fn soname(&self, soname: &str) -> Option<&SonameRow> {
        self.core.sonames.iter().find(|row| row.soname == soname)
    }

    /// Returns whether wheels work with another version than they were built for:
    /// `reach("rocm", "newer-minor")`.
    pub fn reach(&self, about: &str, when: &str) -> Option<&ReachRow> {
        self.core
            .reach
            .iter()
            .find(|row| row.about == about && row.when == when)
    }

    /// Returns the citation of a row: `compat/torch.yaml, torch 2.6, checked 2026-11-21`.
    pub fn cite(&self, file: &str, row: &str, origin: &Provenance) -> String {
        format!("compat/{file}, {row}, checked {}", origin.checked)
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

    pub(super) fn unknown_package(&self, package: &str, version: &PackageVersion) -> Support {
        Support::Unknown(SupportReason {
            reason: format!("no fact speaks about {package} {version}"),
            hint: format!("known are {}", join_with_and(&self.known_versions(package))),
            source: String::new(),
        })
    }

    fn known_versions(&self, package: &str) -> Vec<String> {
        let rows = self
            .core
            .packages
            .iter()
            .filter(|row| row.package == package && row.is_released());
        rows.flat_map(|row| std::iter::once(&row.version).chain(&row.same))
            .cloned()
            .collect()
    }

    /// Returns whether the table `rocm` or `torch` has a ROCm version.
    fn has_rocm(&self, rocm: &RocmVersion) -> bool {
        self.parsed().rocm.contains(rocm)
    }

    fn unknown_rocm(&self, rocm: &RocmVersion) -> Support {
        let known = &self.parsed().rocm;
        let near = nearest_rocm(known, rocm)
            .map_or_else(String::new, |near| format!("the nearest known is {near}; "));
        Support::Unknown(SupportReason {
            reason: format!("no fact speaks about ROCm {rocm}"),
            hint: format!(
                "{near}set `unknown: lenient`, or add it to the facts as `rock-matrix compat refresh --help` says"
            ),
            source: String::new(),
        })
    }

    fn unknown_torch(&self, torch: &Version) -> Support {
        let known: Vec<String> = self
            .core
            .torch
            .iter()
            .map(|row| row.torch.clone())
            .collect();
        Support::Unknown(SupportReason {
            reason: format!("no fact speaks about torch {torch}"),
            hint: format!(
                "known are {} to {}; `rock-matrix compat list torch` shows them; `unknown: lenient` in the matrix file builds with others",
                known.first().map_or("none", String::as_str),
                known.last().map_or("none", String::as_str)
            ),
            source: String::new(),
        })
    }
}

fn find_gfx<'a>(rows: &'a [GfxRow], rocm: &RocmVersion) -> Option<&'a GfxRow> {
    let by = |text: &str| rows.iter().find(|row| row.rocm.iter().any(|r| r == text));
    by(rocm.as_str()).or_else(|| by(rocm.minor().as_str()))
}

/// Returns the listed version that is nearest to a wanted one: of its minor version, else of its
/// major version, else the last one before it, else the first one after it.
fn nearest_rocm<'a>(listed: &'a [RocmVersion], wanted: &RocmVersion) -> Option<&'a RocmVersion> {
    let of_minor = listed
        .iter()
        .find(|version| version.minor() == wanted.minor());
    let distance = |version: &&RocmVersion| {
        (
            version.parts()[1].abs_diff(wanted.parts()[1]),
            *version < wanted,
        )
    };
    let of_major = || {
        listed
            .iter()
            .filter(|version| version.major() == wanted.major())
            .min_by_key(distance)
    };
    let before = || listed.iter().filter(|version| *version < wanted).max();
    of_minor
        .or_else(of_major)
        .or_else(before)
        .or_else(|| listed.iter().min())
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
    use crate::{Support, SupportReason};
    use rock_names::{PythonVersion, RocmVersion, Version};

    fn torch_rocm(torch: &str, rocm: &str) -> Support {
        Compat::embedded().torch_rocm_support(&torch.parse().unwrap(), &rocm.parse().unwrap())
    }

    #[track_caller]
    fn unsupported_reason(support: Support) -> SupportReason {
        match support {
            Support::Unsupported(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    fn is_supported(support: &Support) -> bool {
        matches!(support, Support::Supported { .. })
    }

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
    fn patch_versions_of_torch_share_a_row() {
        for rocm in ["6.4", "7.0", "7.1", "7.2", "7.14", "10.0"] {
            let answers =
                ["2.12.0", "2.12.1", "2.12.7"].map(|torch| is_supported(&torch_rocm(torch, rocm)));
            assert_eq!(answers, [["7.1", "7.2"].contains(&rocm); 3], "{rocm}");
        }
    }

    #[test]
    fn a_refused_pair_names_the_nearest_rocm_that_works() {
        let because = unsupported_reason(torch_rocm("2.6.0", "6.2"));
        assert_eq!(
            because.reason,
            "torch 2.6.0 has wheels for ROCm 6.1 and 6.2.4, not 6.2"
        );
        assert!(
            because.hint.starts_with("use ROCm 6.2.4"),
            "{}",
            because.hint
        );
        assert_eq!(
            because.source,
            "compat/torch.yaml, torch 2.6, checked 2026-11-21"
        );
        let because = unsupported_reason(torch_rocm("2.9.1", "7.2"));
        assert!(
            because
                .hint
                .starts_with("use ROCm 6.4, or `torch-from: image`"),
            "{}",
            because.hint
        );
        assert!(
            unsupported_reason(torch_rocm("2.5.1", "5.7"))
                .hint
                .starts_with("use ROCm 6.1"),
            "the first one after it"
        );
    }

    #[test]
    fn the_index_of_a_minor_version_is_used_for_patch_versions() {
        assert!(is_supported(&torch_rocm("2.10.0", "7.1.1")));
        assert!(is_supported(&torch_rocm("2.6.0", "6.2.4")));
        assert!(
            !is_supported(&torch_rocm("2.5.1", "6.2.4")),
            "6.2.4 has its own index, and 2.5 is not in it"
        );
        assert!(
            !is_supported(&torch_rocm("2.14.0", "7.1.4")),
            "7.1.4 is not 7.14"
        );
    }

    #[test]
    fn flash_attn_has_triton_since_2_7() {
        let compat = Compat::embedded();
        let ask = |version: &str, backend: &str| {
            compat.package_backend_support("flash-attn", &version.parse().unwrap(), backend)
        };
        let because = unsupported_reason(ask("2.6.3", "triton"));
        assert!(
            because.reason.contains("no triton backend in this version"),
            "{}",
            because.reason
        );
        assert_eq!(because.hint, "triton is there since 2.7.4");
        for version in [
            "2.7.4",
            "2.7.4.post1",
            "2.8.3",
            "2.8.3.post1",
            "fa2:4a948e9",
        ] {
            assert!(
                is_supported(&ask(version, "triton")) && is_supported(&ask(version, "ck")),
                "{version}"
            );
        }
        assert!(is_supported(&ask("2.6.3", "ck")));
        assert!(matches!(ask("2.5.0", "ck"), Support::Unknown(_)));
        assert!(matches!(ask("fa4:4a948e9", "ck"), Support::Unknown(_)));
        assert!(
            unsupported_reason(ask("fa3:4a948e9", "ck"))
                .reason
                .contains("no path for AMD GPUs")
        );
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
    fn free_threaded_pythons_are_listed() {
        let compat = Compat::embedded();
        let has = |torch: &str, python: &str| {
            is_supported(
                &compat.torch_python_support(&torch.parse().unwrap(), python.parse().unwrap()),
            )
        };
        assert!(has("2.6.0", "3.13t") && has("2.9.1", "3.14t") && has("2.14.0", "3.14t"));
        assert!(!has("2.5.1", "3.12t") && !has("2.12.0", "3.13t") && !has("2.8.0", "3.14t"));
        let because = unsupported_reason(
            compat.torch_python_support(&"2.5.1".parse().unwrap(), "3.13t".parse().unwrap()),
        );
        assert_eq!(
            because.reason,
            "torch 2.5.1 has wheels for no free-threaded Python, not 3.13t"
        );
        assert_eq!(
            because.hint,
            "use a Python with the global lock: 3.9 to 3.12"
        );
    }

    #[test]
    fn versions_without_rows_are_unknown() {
        assert!(matches!(torch_rocm("2.99.0", "7.2"), Support::Unknown(_)));
        let python = Compat::embedded()
            .torch_python_support(&"2.99.0".parse().unwrap(), "3.12".parse().unwrap());
        assert!(matches!(python, Support::Unknown(_)));
        let empty = Compat::new(CompatTables::default());
        let torch: Version = "2.6.0".parse().unwrap();
        assert!(matches!(
            empty.torch_rocm_support(&torch, &"6.2".parse().unwrap()),
            Support::Unknown(_)
        ));
    }

    #[test]
    fn torch_2_5_to_2_14_have_98_supported_cells() {
        let compat = Compat::embedded();
        let pythons: Vec<PythonVersion> = (9..=14)
            .map(|minor| format!("3.{minor}").parse().unwrap())
            .collect();
        let mut cells = 0;
        for minor in 5..=14 {
            let row = compat
                .torch(&format!("2.{minor}").parse().unwrap())
                .unwrap();
            let torch: Version = row.patches.last().unwrap().parse().unwrap();
            for rocm in &row.rocm_index {
                assert!(is_supported(
                    &compat.torch_rocm_support(&torch, &rocm.parse().unwrap())
                ));
                cells += pythons
                    .iter()
                    .filter(|python| is_supported(&compat.torch_python_support(&torch, **python)))
                    .count();
            }
        }
        assert_eq!(cells, 98);
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

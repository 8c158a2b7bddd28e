//! Groups of tables that are embedded separately and decoded on first use.
//!
//! **Invariant:** each table belongs to exactly one group.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    AbsentFamilyRow, ActionRow, AttentionExpectRow, AttentionRow, BuildCostRow, BuildNeedRow,
    BuilderRow, ClaimRow, CompatTables, DeviceBundleRow, DeviceWheelRow, EmbeddingRow,
    FamilyBuildRow, FamilyRow, GfxRow, GfxSinceRow, HipRow, ImageRow, ImportRequirementRow,
    IndexTemplateRow, KnownFailureRow, LibcRow, LimitRow, PackageRow, PathRow, PinRow, PresetRow,
    ProductRow, ProfileRow, ProjectRow, ReachRow, RecipeRow, ReleaseTypeRow, RocmRow,
    RunnerPoolRow, RunnerRow, SdkBucketRow, SdkLibraryRow, SdkPackageRow, SdkScriptRow,
    SdkVersionRow, SonameRow, ToolRow, TorchAbiReadRow, TorchAbiRow, TorchAotritonRow,
    TorchCompanionRow, TorchIndexRow, TorchRequirementRow, TorchRow, TorchSourceRow,
    UnsupportedFamilyRow, VariableRow, VariableRuleRow, WheelContentRow,
};

/// Tables that are encoded and decoded together.
pub trait TableGroup: Sized {
    /// The stem of the group's file in the build directory.
    const NAME: &'static str;

    /// Moves the tables of the group out of `tables`.
    fn take_from(tables: &mut CompatTables) -> Self;

    /// Appends the rows of the group to those of `tables`.
    fn add_to(self, tables: &mut CompatTables);

    /// Returns whether the group has the table with this YAML key, `torch-abi`.
    fn has_table(table: &str) -> bool;

    /// Returns the table with this YAML key as JSON, if it belongs to the group.
    fn rows_of(&self, table: &str) -> Option<serde_json::Value>;
}

macro_rules! table_groups {
    ($($(#[$doc:meta])+ $group:ident $name:literal { $($table:ident: $rows:ty,)+ })+) => {
        $(
            $(#[$doc])+
            #[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
            #[expect(missing_docs, reason = "`CompatTables` documents the tables")]
            pub struct $group {
                $(pub $table: $rows,)+
            }

            impl TableGroup for $group {
                const NAME: &'static str = $name;

                fn take_from(tables: &mut CompatTables) -> Self {
                    Self { $($table: std::mem::take(&mut tables.$table),)+ }
                }

                fn add_to(self, tables: &mut CompatTables) {
                    $(tables.$table.extend(self.$table);)+
                }

                fn has_table(table: &str) -> bool {
                    [$(stringify!($table)),+].iter().any(|name| name.replace('_', "-") == table)
                }

                fn rows_of(&self, table: &str) -> Option<serde_json::Value> {
                    $(if stringify!($table).replace('_', "-") == table {
                        return serde_json::to_value(&self.$table).ok();
                    })+
                    None
                }
            }
        )+
    };
}

table_groups! {
    /// Tables that most commands use.
    CoreTables "core" {
        sources: BTreeMap<String, String>,
        torch: Vec<TorchRow>,
        torch_indexes: Vec<TorchIndexRow>,
        torch_requirements: Vec<TorchRequirementRow>,
        import_requirements: Vec<ImportRequirementRow>,
        rocm: Vec<RocmRow>,
        hip: Vec<HipRow>,
        torch_gfx: Vec<GfxRow>,
        rocm_gfx: Vec<GfxRow>,
        gfx_since: Vec<GfxSinceRow>,
        families: Vec<FamilyRow>,
        release_types: Vec<ReleaseTypeRow>,
        index_templates: Vec<IndexTemplateRow>,
        packages: Vec<PackageRow>,
        absent_families: Vec<AbsentFamilyRow>,
        images: Vec<ImageRow>,
        builders: Vec<BuilderRow>,
        runners: Vec<RunnerRow>,
        runner_pools: Vec<RunnerPoolRow>,
        actions: Vec<ActionRow>,
        libc: Vec<LibcRow>,
        build_costs: Vec<BuildCostRow>,
        build_needs: Vec<BuildNeedRow>,
        limits: Vec<LimitRow>,
    }

    /// Products and their gfx targets.
    ProductTables "products" {
        products: Vec<ProductRow>,
    }

    /// Libraries and device code in wheels, for audits and for picking a wheel.
    LibraryTables "libraries" {
        presets: Vec<PresetRow>,
        sonames: Vec<SonameRow>,
        reach: Vec<ReachRow>,
        device_wheels: Vec<DeviceWheelRow>,
        device_bundles: Vec<DeviceBundleRow>,
    }

    /// Symbols that torch versions export, for auditing wheels.
    TorchAbiTables "torch-abi" {
        torch_abi_read: Vec<TorchAbiReadRow>,
        torch_abi: Vec<TorchAbiRow>,
    }

    /// Python packages of the ROCm SDK.
    SdkTables "sdk" {
        sdk_packages: Vec<SdkPackageRow>,
        sdk_libraries: Vec<SdkLibraryRow>,
        sdk_scripts: Vec<SdkScriptRow>,
        sdk_versions: Vec<SdkVersionRow>,
        sdk_buckets: Vec<SdkBucketRow>,
    }

    /// Environment profiles, attention libraries, tools and paths of machines that build or run
    /// wheels, and known failures.
    MachineTables "machine" {
        profiles: Vec<ProfileRow>,
        variables: Vec<VariableRow>,
        variable_rules: Vec<VariableRuleRow>,
        attention: Vec<AttentionRow>,
        attention_expects: Vec<AttentionExpectRow>,
        tools: Vec<ToolRow>,
        paths: Vec<PathRow>,
        known_failures: Vec<KnownFailureRow>,
    }

    /// Source trees of torch and its companions.
    SourceTables "sources" {
        projects: Vec<ProjectRow>,
        torch_sources: Vec<TorchSourceRow>,
        torch_companions: Vec<TorchCompanionRow>,
        pins: Vec<PinRow>,
        torch_aotriton: Vec<TorchAotritonRow>,
    }

    /// Expected contents of wheels, and rules for embedding ROCm.
    WheelTables "wheels" {
        wheel_contents: Vec<WheelContentRow>,
        embeddings: Vec<EmbeddingRow>,
    }

    /// Builds of target families, and axis values that do not support a family.
    FamilyBuildTables "family-builds" {
        family_builds: Vec<FamilyBuildRow>,
        unsupported_families: Vec<UnsupportedFamilyRow>,
    }

    /// Tables that only recipes look up.
    RecipeTables "recipes" {
        recipe_rows: Vec<RecipeRow>,
    }

    /// Facts in prose.
    ClaimTables "claims" {
        claims: Vec<ClaimRow>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moving all groups empties the tables, so every table is in a group.
    #[test]
    fn every_table_is_in_a_group() {
        fn move_group<T: TableGroup>(from: &mut CompatTables, to: &mut CompatTables) {
            T::take_from(from).add_to(to);
        }
        let shipped = crate::shipped::tables();
        let (mut from, mut to) = (shipped.clone(), CompatTables::default());
        move_group::<CoreTables>(&mut from, &mut to);
        move_group::<ProductTables>(&mut from, &mut to);
        move_group::<LibraryTables>(&mut from, &mut to);
        move_group::<TorchAbiTables>(&mut from, &mut to);
        move_group::<SdkTables>(&mut from, &mut to);
        move_group::<MachineTables>(&mut from, &mut to);
        move_group::<SourceTables>(&mut from, &mut to);
        move_group::<WheelTables>(&mut from, &mut to);
        move_group::<FamilyBuildTables>(&mut from, &mut to);
        move_group::<RecipeTables>(&mut from, &mut to);
        move_group::<ClaimTables>(&mut from, &mut to);
        assert_eq!((from, to), (CompatTables::default(), shipped));
    }
}

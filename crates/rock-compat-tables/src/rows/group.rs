//! Tables that few commands ask for: they are encoded apart, and decoded when they are first asked
//! for.

use super::Tables;

macro_rules! table_groups {
    ($($(#[$doc:meta])+ $group:ident $name:literal: $($table:ident),+;)+) => {
        /// Tables that are decoded together.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum TableGroup {
            $($(#[$doc])+ $group,)+
        }

        impl TableGroup {
            /// Every group.
            pub const ALL: &[Self] = &[$(Self::$group),+];

            /// The name of its file in the build, without the ending.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$group => $name,)+
                }
            }

            /// The group that has the table of this name in the files; `None` for a table that is
            /// always decoded.
            pub fn of(table: &str) -> Option<Self> {
                match table.replace('-', "_").as_str() {
                    $($(stringify!($table))|+ => Some(Self::$group),)+
                    _ => None,
                }
            }
        }

        impl Tables {
            /// Takes out the tables of a group.
            #[must_use]
            pub fn take(&mut self, group: TableGroup) -> Self {
                match group {
                    $(TableGroup::$group => Self { $($table: std::mem::take(&mut self.$table),)+ ..Self::default() },)+
                }
            }
        }
    };
}

table_groups! {
    /// Symbols that versions of torch export, for auditing wheels.
    TorchAbi "torch-abi": torch_abi_read, torch_abi;
    /// The packages of the ROCm SDK.
    Sdk "sdk": sdk_packages, sdk_libraries, sdk_scripts, sdk_versions, sdk_buckets;
    /// Variables, tools and paths of a machine that builds or runs wheels, and known failures.
    Machine "machine": profiles, variables, variable_rules, attention, attention_expects, tools, paths, known_failures;
    /// Sources of torch and its companions.
    Origins "origins": projects, torch_sources, torch_companions, pins, torch_aotriton;
    /// Contents of the wheels of known projects, and libraries that are embedded into them.
    Contents "contents": wheel_contents, embeddings;
    /// Builds of families of GPU targets, and platforms that do not support them.
    FamilyBuilds "family-builds": family_builds, unsupported_families;
    /// Rows that only recipes ask for.
    RecipeRows "recipe-rows": recipe_rows;
    /// Facts in words.
    Claims "claims": claims;
}

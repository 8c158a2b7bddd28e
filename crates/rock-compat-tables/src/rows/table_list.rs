//! Operations on all tables alike.

use std::collections::BTreeMap;

use super::CompatTables;

fn replace_rows<T>(rows: &mut Vec<T>, replacements: &BTreeMap<usize, usize>) {
    for (own, replaced) in replacements {
        rows.swap(*own, *replaced);
    }
    let mut index = 0;
    rows.retain(|_| {
        index += 1;
        !replacements.contains_key(&(index - 1))
    });
}

macro_rules! impl_compat_tables {
    ($($table:ident),+ $(,)?) => {
        impl CompatTables {
            /// Appends the rows of another file. A table may be split over several files. Sources
            /// with the same name are replaced.
            pub fn merge(&mut self, other: Self) {
                self.sources.extend(other.sources);
                $(self.$table.extend(other.$table);)+
            }

            /// Moves rows of a table over others: each key of `replacements` is the index of a row
            /// that takes the place of the row at the value.
            pub(crate) fn replace_rows(
                &mut self,
                table: &str,
                replacements: &BTreeMap<usize, usize>,
            ) {
                $(if stringify!($table).replace('_', "-") == table {
                    replace_rows(&mut self.$table, replacements);
                })+
            }

            /// Returns the YAML keys of all tables but `sources`, in the order of the fields.
            pub fn names() -> Vec<String> {
                vec![$(stringify!($table).replace('_', "-")),+]
            }

            /// Returns the YAML key and the number of rows of each table but `sources`.
            pub fn row_counts(&self) -> Vec<(String, usize)> {
                vec![$((stringify!($table).replace('_', "-"), self.$table.len())),+]
            }
        }
    };
}

impl_compat_tables!(
    torch,
    torch_indexes,
    torch_requirements,
    import_requirements,
    rocm,
    hip,
    torch_gfx,
    rocm_gfx,
    gfx_since,
    families,
    products,
    family_builds,
    release_types,
    unsupported_families,
    index_templates,
    packages,
    absent_families,
    images,
    builders,
    runners,
    runner_pools,
    actions,
    libc,
    build_costs,
    build_needs,
    limits,
    presets,
    sonames,
    claims,
    reach,
    wheel_contents,
    embeddings,
    device_wheels,
    device_bundles,
    projects,
    torch_sources,
    torch_companions,
    pins,
    torch_aotriton,
    recipe_rows,
    torch_abi_read,
    torch_abi,
    profiles,
    variables,
    variable_rules,
    attention,
    attention_expects,
    tools,
    paths,
    known_failures,
    sdk_packages,
    sdk_libraries,
    sdk_scripts,
    sdk_versions,
    sdk_buckets,
);

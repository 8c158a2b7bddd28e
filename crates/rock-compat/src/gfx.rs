//! Support of gfx targets by ROCm toolchains, torch wheels and packages.

use std::collections::BTreeSet;

use super::compat::join_with_and;
use super::rows::{GfxRow, Provenance};
use super::{Compat, Hint, Support, SupportReason};
use rock_names::{GfxTarget, PackageVersion, RocmVersion};

/// The hint for a target that the tables do not cover.
const UNKNOWN_TARGET_HINT: &str = "`rock-matrix plan` does not exclude targets without data";

impl Compat {
    /// Returns the processors, without features, in any table.
    pub fn known_gfx(&self) -> BTreeSet<String> {
        // Most names occur in many rows.
        let names: BTreeSet<&String> = self.gfx_in_tables().collect();
        let targets = names
            .into_iter()
            .filter_map(|name| name.parse::<GfxTarget>().ok());
        targets
            .map(|target| target.processor().to_owned())
            .collect()
    }

    /// Returns whether a processor, without features, is in any table.
    pub fn is_known_gfx(&self, processor: &str) -> bool {
        self.gfx_in_tables()
            .any(|name| name.split(':').next() == Some(processor))
    }

    /// Returns the targets of all tables, with repetitions. The table that few commands decode
    /// comes last.
    fn gfx_in_tables(&self) -> impl Iterator<Item = &String> {
        let tables = self.tables();
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
        let of_products = std::iter::once_with(|| &self.product_tables().products).flatten();
        of_rocm
            .chain(of_packages)
            .chain(of_families)
            .chain(of_runners)
            .chain(tables.gfx_since.iter().map(|row| &row.gfx))
            .chain(of_products.map(|row| &row.gfx))
    }

    /// Returns whether the toolchain of a ROCm version compiles for a target: it does if ROCm lists
    /// the target, or if torch's wheels for this ROCm contain code for it. A target is unsupported
    /// only if the table `gfx-since` names a later ROCm version.
    pub fn toolchain_gfx_support(&self, target: &GfxTarget, rocm: &RocmVersion) -> Support {
        let row = self
            .tables()
            .gfx_since
            .iter()
            .find(|row| row.gfx == target.processor());
        match (self.gfx_too_new(target, rocm), row) {
            (Some(reason), Some(row)) => Support::Unsupported(SupportReason {
                reason,
                hint: Some(format!("use ROCm {} or later", row.rocm).into()),
                source: self.cite("gfx.yaml", &format!("gfx-since {}", row.gfx), &row.origin),
            }),
            (_, Some(row)) => Support::Supported {
                source: self.cite("gfx.yaml", &format!("gfx-since {}", row.gfx), &row.origin),
            },
            (_, None) => match self.compiled_gfx(target, rocm) {
                Some((table, row)) => Support::Supported {
                    source: self.cite_gfx(table, row),
                },
                None => Support::Unknown(SupportReason {
                    reason: format!(
                        "the compatibility data does not say whether ROCm {rocm} can compile for \
                         {target}"
                    ),
                    hint: Some(UNKNOWN_TARGET_HINT.into()),
                    source: String::new(),
                }),
            },
        }
    }

    /// Returns whether official torch wheels for a ROCm version have code objects for a target.
    pub fn torch_gfx_support(&self, target: &GfxTarget, rocm: &RocmVersion) -> Support {
        let Some(row) = self.torch_gfx(rocm) else {
            return Support::Unknown(SupportReason {
                reason: format!(
                    "the compatibility data does not say which targets torch's wheels for ROCm \
                     {rocm} contain code for"
                ),
                hint: Some(UNKNOWN_TARGET_HINT.into()),
                source: String::new(),
            });
        };
        let source = self.cite_gfx("torch-gfx", row);
        if contains_target(&row.gfx, target) {
            return Support::Supported { source };
        }
        Support::Unsupported(SupportReason {
            reason: format!(
                "torch's wheels for ROCm {rocm} contain code for {}, not {target}",
                join_with_and(&row.gfx)
            ),
            hint: self.other_rocm_with(target),
            source,
        })
    }

    /// Returns the first ROCm version that supports generic targets, which need code object
    /// version 6 (LLVM AMDGPU usage).
    pub fn first_rocm_with_generic_targets(&self) -> Option<RocmVersion> {
        let rows = self
            .tables()
            .gfx_since
            .iter()
            .filter(|row| row.gfx.ends_with("-generic"));
        rows.filter_map(|row| row.rocm.parse::<RocmVersion>().ok())
            .min()
    }

    /// Returns whether a backend of a package version can be built for a target.
    pub fn package_gfx_support(
        &self,
        package: &str,
        version: &PackageVersion,
        backend: &str,
        target: &GfxTarget,
    ) -> Support {
        let Some(row) = self.package(package, version) else {
            return self.unknown_package(package, version);
        };
        let source = self.cite(
            &format!("{package}.yaml"),
            &format!("{package} {}", row.version),
            &row.origin,
        );
        let Some(list) = row
            .gfx
            .get(backend)
            .filter(|list| !contains_target(list, target))
        else {
            return Support::Supported { source };
        };
        let others = self
            .tables()
            .packages
            .iter()
            .filter(|other| other.package == package);
        let with = others.filter(|other| {
            other
                .gfx
                .get(backend)
                .is_none_or(|list| contains_target(list, target))
        });
        let first = with.map(|other| match other.commit_families.first() {
            Some(family) => format!(
                "{family}:<commit>, read at {}",
                &other.commit[..other.commit.len().min(7)]
            ),
            None => other.version.clone(),
        });
        Support::Unsupported(SupportReason {
            reason: format!(
                "{package} {version} ({backend}) builds for {}, not {target}",
                join_with_and(list)
            ),
            hint: first
                .into_iter()
                .next()
                .map(|first| format!("{first} builds for it").into()),
            source,
        })
    }

    pub(super) fn cite_gfx(&self, table: &str, row: &GfxRow) -> String {
        self.cite(
            "gfx.yaml",
            &format!("{table} {}", row.rocm.join(", ")),
            &row.origin,
        )
    }

    /// Returns the provenance of the row that decides [`Self::toolchain_gfx_support`].
    pub(super) fn toolchain_provenance(
        &self,
        target: &GfxTarget,
        rocm: &RocmVersion,
    ) -> Option<&Provenance> {
        let since = self
            .tables()
            .gfx_since
            .iter()
            .find(|row| row.gfx == target.processor());
        since
            .map(|row| &row.origin)
            .or_else(|| Some(&self.compiled_gfx(target, rocm)?.1.origin))
    }

    /// Returns a row with the targets of a ROCm version, or of torch's wheels for it, that has this
    /// target, and its table.
    pub(super) fn compiled_gfx(
        &self,
        target: &GfxTarget,
        rocm: &RocmVersion,
    ) -> Option<(&'static str, &GfxRow)> {
        let listed = self.rocm_gfx(rocm).map(|row| ("rocm-gfx", row));
        let built = self.torch_gfx(rocm).map(|row| ("torch-gfx", row));
        let mut rows = listed.into_iter().chain(built);
        rows.find(|(_, row)| contains_target(&row.gfx, target))
    }

    fn other_rocm_with(&self, target: &GfxTarget) -> Option<Hint> {
        let rows = self
            .tables()
            .torch_gfx
            .iter()
            .filter(|row| contains_target(&row.gfx, target));
        let rocm = rows.flat_map(|row| &row.rocm).next()?;
        Some(format!("use wheels for ROCm {rocm}").into())
    }
}

pub(super) fn contains_target(list: &[String], target: &GfxTarget) -> bool {
    list.iter().any(|known| known == target.processor())
}

//! The tables with their look-ups.

use super::rows::{GfxRow, PackageRow, RunnerRow, Tables, TorchRow};
use crate::names::{PackageVersion, RocmVersion, Version};

/// The facts.
#[derive(Debug, Clone)]
pub struct Compat {
    tables: Tables,
}

impl Compat {
    /// The facts shipped with the program.
    pub fn embedded() -> Self {
        Self { tables: Tables::default() }
    }

    /// Every row.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The row of a torch version's minor, whatever the patch.
    pub fn torch(&self, torch: &Version) -> Option<&TorchRow> {
        let minor = torch.minor();
        self.tables.torch.iter().find(|row| row.torch == minor)
    }

    /// The row of a package version (by version, or by family for a commit); `package` is the normalized name.
    pub fn package(&self, package: &str, version: &PackageVersion) -> Option<&PackageRow> {
        let _ = (package, version);
        None
    }

    /// Whether any row speaks about this package (normalized name).
    pub fn has_package(&self, package: &str) -> bool {
        self.tables.packages.iter().any(|row| row.package == package)
    }

    /// The gfx targets compiled into torch wheels of this ROCm: by the exact version, else by its minor.
    pub fn torch_gfx(&self, rocm: &RocmVersion) -> Option<&GfxRow> {
        find_gfx(&self.tables.torch_gfx, rocm)
    }

    /// The gfx targets this ROCm supports: by the exact version, else by its minor.
    pub fn rocm_gfx(&self, rocm: &RocmVersion) -> Option<&GfxRow> {
        find_gfx(&self.tables.rocm_gfx, rocm)
    }

    /// Every ROCm version that any table names, sorted, each once.
    pub fn rocm_versions(&self) -> Vec<RocmVersion> {
        Vec::new()
    }

    /// The runner with this name, label or alias.
    pub fn runner(&self, word: &str) -> Option<&RunnerRow> {
        self.tables.runners.iter().find(|row| {
            row.name == word || row.labels.iter().any(|l| l == word) || row.aliases.iter().any(|a| a.label == word)
        })
    }
}

fn find_gfx<'a>(rows: &'a [GfxRow], rocm: &RocmVersion) -> Option<&'a GfxRow> {
    let by = |text: &str| rows.iter().find(|row| row.rocm.iter().any(|r| r == text));
    by(rocm.as_str()).or_else(|| by(rocm.minor().as_str()))
}

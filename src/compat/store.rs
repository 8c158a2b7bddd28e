//! The tables with their look-ups.

use super::Verdict;
use super::rows::{GfxRow, PackageRow, RunnerRow, Tables, TorchRow};
use crate::names::{GfxTarget, PackageVersion, PythonVersion, RocmVersion, Version};

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

    /// Whether the official index has wheels of this torch for this ROCm. An index named by a minor (`7.1`) serves
    /// its patches (`7.1.1`); an index named by a patch (`6.2.4`) serves only that.
    pub fn torch_rocm(&self, torch: &Version, rocm: &RocmVersion) -> Verdict {
        let _ = (torch, rocm);
        Verdict::Supported { source: String::new() }
    }

    /// Whether an image of this repository carries this torch with this ROCm.
    pub fn torch_in_image(&self, repository: &str, torch: &Version, rocm: &RocmVersion) -> Verdict {
        let _ = (repository, torch, rocm);
        Verdict::Supported { source: String::new() }
    }

    /// Whether this torch has wheels for this Python, free-threaded ones by their own column.
    pub fn torch_python(&self, torch: &Version, python: PythonVersion) -> Verdict {
        let _ = (torch, python);
        Verdict::Supported { source: String::new() }
    }

    /// Whether this package version has this backend (unknown version or family: unknown, or unsupported where a
    /// row rules the family out, such as FA3 on ROCm). Packages without rows are not constrained.
    pub fn package_backend(&self, package: &str, version: &PackageVersion, backend: &str) -> Verdict {
        let _ = (package, version, backend);
        Verdict::Supported { source: String::new() }
    }

    /// Whether this package version runs on this Python.
    pub fn package_python(&self, package: &str, version: &PackageVersion, python: PythonVersion) -> Verdict {
        let _ = (package, version, python);
        Verdict::Supported { source: String::new() }
    }

    /// Why this ROCm's toolchain cannot compile for a target that came later: `gfx950 needs ROCm 7.0 or later`;
    /// `None` when it can, or when no row speaks about it.
    pub fn gfx_too_new(&self, target: &GfxTarget, rocm: &RocmVersion) -> Option<String> {
        let _ = (target, rocm);
        None
    }

    /// The image of this repository for these versions, with its digest where known; else why there is none, with
    /// the nearest tags.
    ///
    /// # Errors
    /// One line for people when the table has no such tag.
    pub fn image(
        &self,
        repository: &str,
        rocm: &RocmVersion,
        torch: Option<&Version>,
        python: Option<PythonVersion>,
    ) -> Result<String, String> {
        let _ = (repository, rocm, torch, python);
        Err("no table".into())
    }

    /// An image with this ROCm and an old glibc.
    pub fn builder(&self, rocm: &RocmVersion) -> Option<String> {
        let _ = rocm;
        None
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

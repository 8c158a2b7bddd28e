//! Data files of libraries, with the target in their names, and source files.

use super::code_object::MACHINES;
use super::target::CodeTarget;

/// The library that a data file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataFileKind {
    /// Kernels and their selection tables for rocBLAS and hipBLASLt.
    Tensile,
    /// Kernels and tuning results for `MIOpen`.
    MiOpen,
    /// Compiled attention kernels.
    AoTriton,
}

/// A data file, as described by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// The library that it belongs to.
    pub kind: DataFileKind,
    /// The target; `None` for an index of all targets.
    pub target: Option<CodeTarget>,
}

/// The kind of a file that is compiled on a user's machine; it is not code for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// `.hip` and `.cu`.
    Source,
    /// `.bc`: LLVM bitcode of device libraries.
    Bitcode,
}

impl SourceKind {
    /// Returns the kind by the extension of a path.
    pub fn from_path(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "hip" | "cu" => Some(Self::Source),
            "bc" => Some(Self::Bitcode),
            _ => None,
        }
    }
}

/// Extensions of the files that Tensile writes next to its code objects (rocBLAS and hipBLASLt,
/// `library` directories).
const TENSILE_ENDINGS: [&str; 5] = [".dat", ".co", ".hsaco", ".yaml", ".dat.zlib"];
/// Extensions of the databases of `MIOpen` (`MIOpen`, `src/kernels`).
const MIOPEN_ENDINGS: [&str; 5] = [".kdb", ".fdb.txt", ".db.txt", ".db", ".kdb.bz2"];

impl DataFile {
    /// Parses the path of a file in a wheel; `None` if it is not a data file.
    ///
    /// Files that contain code objects are to be scanned instead: names can be wrong.
    pub fn from_path(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        let in_images = || {
            let mut parts = folder
                .split('/')
                .skip_while(|part| *part != "aotriton.images");
            parts
                .next()
                .and_then(|_| parts.next()?.strip_prefix("amd-"))
        };
        if (name.starts_with("TensileLibrary") || name.starts_with("Kernels.so-"))
            && ends(&TENSILE_ENDINGS)
        {
            return Some(Self {
                kind: DataFileKind::Tensile,
                target: tensile_target(name),
            });
        }
        if name.starts_with("gfx") && ends(&MIOPEN_ENDINGS) {
            return Some(Self {
                kind: DataFileKind::MiOpen,
                target: Some(miopen_target(name)),
            });
        }
        if name.contains(".aks") {
            let target = in_images()?;
            let target = target.split("_mod").next().unwrap_or(target);
            return Some(Self {
                kind: DataFileKind::AoTriton,
                target: Some(CodeTarget::from_text(target)),
            });
        }
        None
    }
}

/// `TensileLibrary_…_gfx942.dat`, `Kernels.so-000-gfx90a-xnack-.hsaco`: features follow with `-` in
/// place of `:`.
fn tensile_target(name: &str) -> Option<CodeTarget> {
    let text = &name[name.rfind("gfx")?..];
    let text = text.split(['.', '_']).next().unwrap_or(text);
    let text = ["-xnack", "-sramecc"]
        .iter()
        .fold(text.to_owned(), |text, feature| {
            text.replace(feature, &feature.replace('-', ":"))
        });
    Some(CodeTarget::from_text(&text))
}

/// `gfx90a68.kdb`, `gfx1030_36.HIP.fdb.txt`: the processor and the number of compute units, in
/// hexadecimal digits or, up to 64, after `_` in decimal ones (`MIOpen`, `Handle::GetDbBasename`).
fn miopen_target(name: &str) -> CodeTarget {
    let stem = name.split('.').next().unwrap_or(name);
    let is_count = |rest: &str| {
        let (digits, fewest) = rest
            .strip_prefix('_')
            .map_or((rest, 2), |digits| (digits, 1));
        rest.is_empty()
            || (fewest..=3).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let fits = |name: &&str| stem.strip_prefix(*name).is_some_and(is_count);
    let known = MACHINES
        .iter()
        .map(|(_, name)| *name)
        .filter(fits)
        .max_by_key(|name| name.len());
    CodeTarget::from_text(known.unwrap_or(stem))
}

#[cfg(test)]
mod tests {
    use super::{DataFile, SourceKind};

    fn check(path: &str, expect: &str) {
        let description = DataFile::from_path(path).map_or("-".to_owned(), |data| {
            format!(
                "{:?} {}",
                data.kind,
                data.target
                    .map_or("all".to_owned(), |target| target.to_string())
            )
        });
        assert_eq!(description, expect, "{path}");
    }

    #[test]
    fn names_of_data_files_have_their_target() {
        check(
            "torch/lib/rocblas/library/TensileLibrary_Type_HH_Contraction_l_Ailk_Bjlk_fallback_gfx1100.hsaco",
            "Tensile gfx1100",
        );
        check(
            "torch/lib/hipblaslt/library/TensileLibrary_lazy_gfx942.dat",
            "Tensile gfx942",
        );
        check(
            "rocblas/library/Kernels.so-000-gfx90a-xnack-.hsaco",
            "Tensile gfx90a:xnack-",
        );
        check("rocblas/library/TensileLibrary.yaml", "Tensile all");
        check("torch/share/miopen/db/gfx90a68.kdb", "MiOpen gfx90a");
        check(
            "torch/share/miopen/db/gfx942130.HIP.fdb.txt",
            "MiOpen gfx942",
        );
        check("torch/share/miopen/db/gfx90878.db.txt", "MiOpen gfx908");
        check(
            "torch/share/miopen/db/gfx1030_36.HIP.fdb.txt",
            "MiOpen gfx1030",
        );
        check("torch/share/miopen/db/gfx1030.kdb", "MiOpen gfx1030");
        check(
            "torch/lib/aotriton.images/amd-gfx942/flash/attn_fwd/FONLY__^bf16.aks2",
            "AoTriton gfx942",
        );
        check(
            "torch/lib/aotriton.images/amd-gfx11xx/flash/attn_fwd/FONLY__^bf16.aks2",
            "AoTriton gfx11xx",
        );
        check(
            "torch/lib/aotriton.images/amd-gfx90a_mod0/flash/x.aks2",
            "AoTriton gfx90a",
        );
    }

    #[test]
    fn other_names_have_no_target() {
        for path in [
            "lib/libtorch.so",
            "gfx942.py",
            "x/gfx942/data.bin",
            "a.aks2",
            "TensileLibrary.md",
            "",
        ] {
            check(path, "-");
        }
    }

    #[test]
    fn sources_are_known_by_their_ending() {
        assert_eq!(
            SourceKind::from_path("a/kernel.hip"),
            Some(SourceKind::Source)
        );
        assert_eq!(
            SourceKind::from_path("a/kernel.cu"),
            Some(SourceKind::Source)
        );
        assert_eq!(
            SourceKind::from_path("lib/ocml.bc"),
            Some(SourceKind::Bitcode)
        );
        assert_eq!(SourceKind::from_path("hip"), None);
    }
}

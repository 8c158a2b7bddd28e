//! Selects the gfx targets that a job compiles for.

use rock_compat::Compat;
use rock_names::{GfxTarget, PackageVersion, RocmVersion};

/// The selected targets for one combination of package version, ROCm and backend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GfxChoice {
    /// Targets to compile for, in the user's order.
    pub kept: Vec<GfxTarget>,
    /// Targets that are not compiled, with the reason.
    pub dropped: Vec<(GfxTarget, String)>,
}

/// Selects the user's targets that the package's build accepts for this backend, that the toolchain
/// can compile, and that official torch wheels contain if `torch_wheels` is set. Missing
/// compatibility data does not exclude a target.
pub fn choose_gfx(
    wanted: &[GfxTarget],
    compat: &Compat,
    package: (&str, Option<&PackageVersion>),
    backend: &str,
    rocm: Option<&RocmVersion>,
    torch_wheels: bool,
) -> GfxChoice {
    let allowed = package
        .1
        .and_then(|version| compat.package(package.0, version))
        .and_then(|row| row.gfx.get(backend));
    let in_torch = rocm
        .filter(|_| torch_wheels)
        .and_then(|rocm| compat.torch_gfx(rocm));
    let mut choice = GfxChoice::default();
    for target in wanted {
        let has = |list: &[String]| list.iter().any(|t| t == target.processor());
        let reason = if allowed.is_some_and(|list| !has(list)) {
            let list = allowed.map(|list| list.join(", ")).unwrap_or_default();
            let version = package.1.map(ToString::to_string).unwrap_or_default();
            Some(format!(
                "{} {version} ({backend}) only builds for {list}",
                package.0
            ))
        } else if let Some(since) = rocm.and_then(|rocm| compat.gfx_too_new(target, rocm)) {
            Some(since)
        } else {
            in_torch.filter(|row| !has(&row.gfx)).map(|row| {
                format!(
                    "torch wheels for ROCm {} contain no code for it",
                    row.rocm.join(", ")
                )
            })
        };
        match reason {
            Some(reason) => choice.dropped.push((target.clone(), reason)),
            None => choice.kept.push(target.clone()),
        }
    }
    choice
}

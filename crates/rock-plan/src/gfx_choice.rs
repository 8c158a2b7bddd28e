//! Selects the gfx targets that a job compiles for.

use rock_compat::{Compat, Support, SupportReason};
use rock_names::{GfxTarget, PackageVersion, RocmVersion};

/// The selected targets for one combination of package version, ROCm and backend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GfxChoice {
    /// Targets to compile for, in the user's order.
    pub(super) kept: Vec<GfxTarget>,
    /// Targets that are not compiled, with the reason.
    pub(super) dropped: Vec<(GfxTarget, SupportReason)>,
}

/// Selects the user's targets that the package's build accepts for this backend, that the toolchain
/// can compile, and that official torch wheels contain if `torch_wheels` is set. Missing
/// compatibility data does not exclude a target.
pub(super) fn choose_gfx(
    wanted: &[GfxTarget],
    compat: &Compat,
    package: (&str, Option<&PackageVersion>),
    backend: &str,
    rocm: Option<&RocmVersion>,
    torch_wheels: bool,
) -> GfxChoice {
    let by_package = |target: &GfxTarget| {
        let (name, version) = (package.0, package.1?);
        let because = unsupported(compat.package_gfx_support(name, version, backend, target))?;
        let row = compat.package(name, version)?;
        let list = row.gfx.get(backend)?.join(", ");
        let reason = format!("{name} {version} ({backend}) only builds for {list}");
        Some(SupportReason { reason, ..because })
    };
    let by_toolchain =
        |target: &GfxTarget| unsupported(compat.toolchain_gfx_support(target, rocm?));
    let by_torch = |target: &GfxTarget| {
        let rocm = rocm.filter(|_| torch_wheels)?;
        let because = unsupported(compat.torch_gfx_support(target, rocm))?;
        let row = compat.torch_gfx(rocm)?;
        let reason = format!("not in torch's wheels for ROCm {}", row.rocm.join(", "));
        Some(SupportReason { reason, ..because })
    };
    let mut choice = GfxChoice::default();
    for target in wanted {
        let because = by_package(target)
            .or_else(|| by_toolchain(target))
            .or_else(|| by_torch(target));
        match because {
            Some(because) => choice.dropped.push((target.clone(), because)),
            None => choice.kept.push(target.clone()),
        }
    }
    choice
}

fn unsupported(support: Support) -> Option<SupportReason> {
    match support {
        Support::Unsupported(because) => Some(because),
        Support::Supported { .. } | Support::Unknown(_) => None,
    }
}

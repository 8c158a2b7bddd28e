//! Selects the gfx targets that a job compiles for.

use rock_compat::{Compat, Support, SupportReason};
use rock_names::{GfxTarget, PackageVersion, RocmVersion};

/// The values of a build that decide which targets it compiles for.
#[derive(Debug, Clone, Copy)]
pub(super) struct GfxQuery<'a> {
    /// The name of the package.
    pub(super) package: &'a str,
    /// The version of the package, if it has one before the build.
    pub(super) version: Option<&'a PackageVersion>,
    pub(super) backend: &'a str,
    pub(super) rocm: Option<&'a RocmVersion>,
    /// Whether a job covers several versions of ROCm, of which it is built with `rocm`.
    pub(super) is_rocm_collapsed: bool,
    /// Whether the build uses official wheels of torch, which must contain the targets too.
    pub(super) uses_torch_wheels: bool,
}

/// The selected targets for one combination of package version, ROCm and backend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GfxChoice {
    /// Targets to compile for, in the user's order.
    pub(super) kept: Vec<GfxTarget>,
    /// Targets that are not compiled, with the reason.
    pub(super) dropped: Vec<(GfxTarget, SupportReason)>,
}

/// Selects the requested targets that the package's build accepts for this backend, that the
/// toolchain can compile, and that the torch of the build contains. Missing compatibility data does
/// not exclude a target.
pub(super) fn choose_gfx(
    requested: &[GfxTarget],
    query: &GfxQuery<'_>,
    compat: &Compat,
) -> GfxChoice {
    let mut choice = GfxChoice::default();
    for target in requested {
        let reason = query
            .package_reason(target, compat)
            .or_else(|| query.toolchain_reason(target, compat))
            .or_else(|| query.torch_reason(target, compat));
        match reason {
            Some(reason) => choice.dropped.push((target.clone(), reason)),
            None => choice.kept.push(target.clone()),
        }
    }
    choice
}

impl GfxQuery<'_> {
    /// Returns the reason why the package's build does not accept a target.
    fn package_reason(&self, target: &GfxTarget, compat: &Compat) -> Option<SupportReason> {
        let (package, version, backend) = (self.package, self.version?, self.backend);
        let support = compat.package_gfx_support(package, version, backend, target);
        let unsupported = unsupported_reason(support)?;
        let row = compat.package(package, version)?;
        let list = row.gfx.get(backend)?.join(", ");
        Some(SupportReason {
            reason: format!("{package} {version} ({backend}) only builds for {list}"),
            ..unsupported
        })
    }

    /// Returns the reason why the toolchain cannot compile for a target. It names the ROCm version
    /// if a job covers several, because the job does not show which one it is built with.
    fn toolchain_reason(&self, target: &GfxTarget, compat: &Compat) -> Option<SupportReason> {
        let rocm = self.rocm?;
        let unsupported = unsupported_reason(compat.toolchain_gfx_support(target, rocm))?;
        if !self.is_rocm_collapsed {
            return Some(unsupported);
        }
        Some(SupportReason {
            reason: format!("{}, not {rocm}", unsupported.reason),
            ..unsupported
        })
    }

    /// Returns the reason why the torch of the build does not contain a target.
    fn torch_reason(&self, target: &GfxTarget, compat: &Compat) -> Option<SupportReason> {
        let rocm = self.rocm.filter(|_| self.uses_torch_wheels)?;
        let unsupported = unsupported_reason(compat.torch_gfx_support(target, rocm))?;
        Some(SupportReason {
            reason: format!("not in torch's wheels for ROCm {rocm}"),
            ..unsupported
        })
    }
}

fn unsupported_reason(support: Support) -> Option<SupportReason> {
    match support {
        Support::Unsupported(reason) => Some(reason),
        Support::Supported { .. } | Support::Unknown(_) => None,
    }
}

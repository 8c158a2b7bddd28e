//! Selection of the artifacts that feed a package, and of their paths.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::{BuildArtifact, SplitMode};
use rock_compat::rows::{ArtifactSelector, SdkPackageRow};
use rock_names::Platform;

/// The GPUs whose artifacts a package uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeviceScope<'f> {
    /// Artifacts for any GPU and for specific GPUs.
    All,
    /// Artifacts for any GPU.
    Any,
    /// Artifacts for this gfx target, regardless of its features.
    Target(&'f str),
    /// Artifacts for any GPU and for this family.
    AnyAnd(&'f str),
}

impl DeviceScope<'_> {
    fn takes(self, artifact: &BuildArtifact) -> bool {
        match (self, artifact.name.base()) {
            (Self::All, _) | (Self::Any | Self::AnyAnd(_), None) => true,
            (Self::Any, Some(_)) | (Self::Target(_), None) => false,
            (Self::Target(target) | Self::AnyAnd(target), Some(base)) => base == target,
        }
    }
}

/// Whether an artifact selector of a row applies in this mode.
pub(super) fn is_of(take: &ArtifactSelector, mode: SplitMode) -> bool {
    take.modes.is_empty() || take.modes.iter().any(|word| word == mode.word())
}

/// Whether a package exists for the platform.
pub(super) fn is_for(package: &SdkPackageRow, platform: Platform) -> bool {
    package.platforms.is_empty() || package.platforms.iter().any(|word| word == platform.word())
}

/// Whether a package uses artifacts with the name and component of this one.
pub(super) fn takes(package: &SdkPackageRow, artifact: &BuildArtifact, mode: SplitMode) -> bool {
    let (name, component) = (artifact.name.name(), artifact.name.component().word());
    package
        .takes
        .iter()
        .filter(|take| is_of(take, mode))
        .any(|take| {
            take.names.iter().any(|known| known == name)
                && (take.components.is_empty()
                    || take.components.iter().any(|known| known == component))
        })
}

/// Returns the indices of the artifacts that feed a package, in their order.
pub(super) fn fed_by(
    package: &SdkPackageRow,
    artifacts: &[BuildArtifact],
    mode: SplitMode,
    made_for: DeviceScope<'_>,
) -> Vec<usize> {
    let feeds =
        |artifact: &BuildArtifact| made_for.takes(artifact) && takes(package, artifact, mode);
    (0..artifacts.len())
        .filter(|number| feeds(&artifacts[*number]))
        .collect()
}

/// Returns the indices of the artifacts that match a predicate and are for any GPU or, if one is
/// given, for a family.
pub(super) fn of_family(
    artifacts: &[BuildArtifact],
    family: Option<&str>,
    takes: impl Fn(&BuildArtifact) -> bool,
) -> Vec<usize> {
    let made_for = family.map_or(DeviceScope::Any, DeviceScope::AnyAnd);
    (0..artifacts.len())
        .filter(|number| made_for.takes(&artifacts[*number]) && takes(&artifacts[*number]))
        .collect()
}

/// The paths of its artifacts that a package includes.
#[derive(Debug)]
pub(super) struct PathSelection {
    includes: Option<GlobSet>,
    excludes: GlobSet,
}

impl PathSelection {
    /// Compiles the globs of a row.
    ///
    /// # Errors
    /// When a glob is invalid.
    pub(super) fn of(row: &SdkPackageRow) -> Result<Self, globset::Error> {
        let includes = if row.includes.is_empty() {
            None
        } else {
            Some(globs(&row.includes)?)
        };
        Ok(Self {
            includes,
            excludes: globs(&row.excludes)?,
        })
    }

    /// Whether a path is included.
    pub(super) fn takes(&self, path: &str) -> bool {
        self.includes
            .as_ref()
            .is_none_or(|includes| includes.is_match(path))
            && !self.excludes.is_match(path)
    }
}

/// Compiles globs that match whole paths: `*` does not match a slash, `**` does, and `NAME/**`
/// matches `NAME` and everything below it.
///
/// # Errors
/// When a glob is invalid.
pub fn globs(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    let mut add = |pattern: &str| -> Result<(), globset::Error> {
        set.add(
            GlobBuilder::new(pattern)
                .literal_separator(true)
                .backslash_escape(false)
                .build()?,
        );
        Ok(())
    };
    for pattern in patterns {
        add(pattern)?;
        if let Some(itself) = pattern.strip_suffix("/**") {
            add(itself)?;
        }
    }
    set.build()
}

#[cfg(test)]
mod tests {
    use super::globs;

    #[test]
    fn globs_hold_for_whole_paths_and_a_directory_is_one_of_what_is_below_it() {
        let set = globs(&[
            "**/cmake/**".into(),
            "bin/rocprof-*".into(),
            "share/**/compute/**".into(),
        ])
        .unwrap();
        for path in [
            "cmake",
            "lib/cmake",
            "lib/cmake/hip/a.cmake",
            "bin/rocprof-sys",
            "share/compute",
            "share/a/b/compute/x",
        ] {
            assert!(set.is_match(path), "{path}");
        }
        for path in [
            "lib/cmakes/a",
            "bin/rocprof-sys/x",
            "x/bin/rocprof-a",
            "shared/compute",
            "bin/rocprofv3",
        ] {
            assert!(!set.is_match(path), "{path}");
        }
    }
}

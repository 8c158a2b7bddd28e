//! Commands that install the projects of an index.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{FileKind, IndexFile, IndexFolder};
use rock_compat::{Compat, RuntimeRequirements, TorchWheel};
use rock_names::{DistributionName, LabelParts};

/// A function that returns the requirements of a distribution's wheels at run time for a backend,
/// `None` for the default one. An index applies it to wheels whose [`IndexFile::run_time`] is
/// `None`.
pub type RuntimeRequirementsLookup = fn(&DistributionName, Option<&str>) -> RuntimeRequirements;

/// The way to install a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstallCommand {
    /// On its own; its dependencies come from elsewhere.
    Alone,
    /// With the source distribution of a ROCm SDK, which is built on the machine that installs it
    /// and depends on the other packages of the SDK.
    Chooses,
    /// As a dependency of the SDK's source distribution.
    Chosen,
}

impl InstallCommand {
    /// Returns how the project of a file is installed.
    pub fn of(file: &IndexFile) -> Self {
        match (file.is_of_sdk, &file.kind) {
            (true, FileKind::Sdist) => Self::Chooses,
            (true, FileKind::Wheel(_)) => Self::Chosen,
            _ => Self::Alone,
        }
    }

    /// Returns the arguments of `pip install` that need only the index of the directory. Returns
    /// `None` if another project of the directory depends on this one; [`backend_releases`] has the
    /// commands for labelled wheels.
    pub fn words(self, project: &str, folder: impl IntoIterator<Item = Self>) -> Option<String> {
        match self {
            // The index has no build requirements, and the packages need only each other.
            Self::Chooses => Some(format!("'{project}[libraries,devel]' --no-build-isolation")),
            Self::Chosen if folder.into_iter().any(|other| other == Self::Chooses) => None,
            Self::Alone | Self::Chosen => Some(format!("{project} --no-deps")),
        }
    }
}

/// The newest version of one backend of a project in a directory of the index.
#[derive(Debug, Clone, PartialEq)]
pub struct BackendRelease<'f> {
    /// A wheel of the version.
    pub file: &'f IndexFile,
    /// The backend in the label.
    pub backend: Option<String>,
    /// A requirement for installers: `flash-attn==2.8.3+rocm62torch2.5`. Only this index has a
    /// version with that label.
    pub requirement: String,
    /// The matching torch wheel of the official index.
    pub torch: Option<TorchWheel>,
}

impl BackendRelease<'_> {
    /// Returns the needs of the version at run time; `lookup` applies if they are not stated.
    pub(super) fn run_time(&self, lookup: RuntimeRequirementsLookup) -> RuntimeRequirements {
        let stated = self.file.run_time.as_deref().cloned();
        stated.unwrap_or_else(|| lookup(&self.file.project, self.backend.as_deref()))
    }
}

/// Returns the newest version of each backend of a project in a directory of labelled files, the
/// default backend first. `files` are in the order of the index, newest last.
pub fn backend_releases<'f>(
    project: &str,
    files: &[&'f IndexFile],
    compat: &Compat,
) -> Vec<BackendRelease<'f>> {
    let known = compat.rocm_versions();
    // Most files of a directory have one of a few labels.
    let mut backends: FxHashMap<&str, Option<Option<String>>> = FxHashMap::default();
    let mut newest: BTreeMap<Option<String>, &'f IndexFile> = BTreeMap::new();
    for &file in files {
        let FileKind::Wheel(wheel) = &file.kind else {
            continue;
        };
        let Some(local) = wheel.version().local() else {
            continue;
        };
        let backend = backends.entry(local).or_insert_with(|| {
            let parsed = LabelParts::parse(&wheel.label()?, known).ok()?;
            Some(parsed.parts.backend)
        });
        let Some(backend) = backend else {
            continue;
        };
        let place = newest.entry(backend.clone()).or_insert(file);
        if place.version <= file.version {
            *place = file;
        }
    }
    let release = |(backend, file): (Option<String>, &'f IndexFile)| BackendRelease {
        file,
        requirement: format!("{project}=={}", file.version),
        torch: match &file.folder {
            // The official index has no torch for ROCm on Windows.
            IndexFolder::Rocm(rocm, Some(torch))
                if !torch.is_prerelease()
                    && !matches!(&file.kind, FileKind::Wheel(wheel) if wheel.is_windows_only()) =>
            {
                compat.official_torch(&torch.minor(), rocm)
            }
            _ => None,
        },
        backend,
    };
    newest.into_iter().map(release).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::InstallCommand::{Alone, Chooses, Chosen};
    use super::backend_releases;
    use crate::testing::file;
    use rock_compat::{Compat, RuntimeRequirements};
    use rock_names::DistributionName;

    /// Returns a package with the name of the backend as the only need.
    fn requires_backend(_: &DistributionName, backend: Option<&str>) -> RuntimeRequirements {
        RuntimeRequirements {
            requires: backend.map(str::to_owned).into_iter().collect(),
            ..RuntimeRequirements::default()
        }
    }

    #[test]
    fn packages_of_the_sdk_come_by_the_one_that_chooses_and_all_others_alone() {
        let words = |one: super::InstallCommand, others: &[super::InstallCommand]| {
            one.words("x", others.iter().copied())
        };
        assert_eq!(
            words(Alone, &[Alone, Chooses]).as_deref(),
            Some("x --no-deps")
        );
        assert_eq!(words(Chosen, &[Alone]).as_deref(), Some("x --no-deps"));
        assert_eq!(words(Chosen, &[Chosen, Chooses]), None);
        assert_eq!(
            words(Chooses, &[Chooses]).as_deref(),
            Some("'x[libraries,devel]' --no-build-isolation")
        );
    }

    #[test]
    fn the_newest_version_of_each_backend_is_pinned_by_its_label() {
        let names = [
            "flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl",
            "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
            "flash_attn-2.7.4+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
        ];
        let files = names.map(|name| file(name, "6.2", "2.5"));
        let found = backend_releases(
            "flash-attn",
            &files.iter().collect::<Vec<_>>(),
            &Compat::embedded(),
        );
        let lines: Vec<&str> = found
            .iter()
            .map(|release| release.requirement.as_str())
            .collect();
        let triton = "flash-attn==2.7.4.post1+rocm62torch2.5triton";
        assert_eq!(lines, ["flash-attn==2.8.3+rocm62torch2.5", triton]);
        assert!(
            found.iter().all(
                |release| release.torch.as_ref().unwrap().requirement == "torch==2.5.1+rocm6.2"
            )
        );
        let needs: Vec<Vec<String>> = found
            .iter()
            .map(|release| release.run_time(requires_backend).requires)
            .collect();
        assert_eq!(needs, [vec![], vec!["triton".to_owned()]]);
    }

    #[test]
    fn stated_needs_are_not_looked_up() {
        let name = "flash_attn-2.8.3+rocm62torch2.5triton-py3-none-any.whl";
        let mut wheel = file(name, "6.2", "2.5");
        wheel.run_time = Some(Arc::new(RuntimeRequirements::default()));
        let found = backend_releases("flash-attn", &[&wheel], &Compat::embedded());
        assert!(found[0].run_time(requires_backend).is_empty());
    }
}

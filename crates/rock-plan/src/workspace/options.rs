//! The data that matrix files are read and planned with.

use super::DataDirectories;
use super::host_probe::HostProbe;
use crate::config::AxisOverrides;
use rock_compat::Compat;
use rock_sys::{Environment, HostRoots};

/// The data that matrix files are read and planned with.
///
/// ```
/// use rock_compat::Compat;
/// use rock_plan::config::AxisOverrides;
/// use rock_plan::workspace::{DataDirectories, WorkspaceOptions};
/// use rock_sys::Environment;
///
/// let (compat, environment) = (Compat::embedded(), Environment::default());
/// let directories = DataDirectories::default();
/// let overrides = AxisOverrides::default().with_axis("python", "3.11, 3.12");
/// let options =
///     WorkspaceOptions::new(&compat, &directories, &environment).with_overrides(overrides);
/// ```
#[derive(Debug, Clone)]
pub struct WorkspaceOptions<'c> {
    compat: &'c Compat,
    directories: &'c DataDirectories,
    host: HostProbe<'c>,
    overrides: AxisOverrides,
}

impl<'c> WorkspaceOptions<'c> {
    /// Creates options for matrix files that use this compatibility data, the recipes in
    /// `directories`, and this machine for `gfx: [host]` and `rocm: [host]`. `environment` has the
    /// variables with which the ROCm of the machine is detected, such as `PATH` and `ROCM_PATH`.
    pub fn new(
        compat: &'c Compat,
        directories: &'c DataDirectories,
        environment: &'c Environment,
    ) -> Self {
        Self {
            compat,
            directories,
            host: HostProbe::new(environment),
            overrides: AxisOverrides::default(),
        }
    }

    /// Sets values that replace those of every matrix file. By default, there are none.
    #[must_use]
    pub fn with_overrides(mut self, overrides: AxisOverrides) -> Self {
        self.overrides = overrides;
        self
    }

    /// Sets the machine for `gfx: [host]` and `rocm: [host]`: the one whose files are below these
    /// directories.
    #[must_use]
    pub fn with_host_roots(mut self, roots: HostRoots) -> Self {
        self.host = self.host.with_roots(roots);
        self
    }

    /// Returns the compatibility data.
    pub fn compat(&self) -> &'c Compat {
        self.compat
    }

    /// Returns the directories of the user.
    pub fn directories(&self) -> &'c DataDirectories {
        self.directories
    }

    /// Returns the values that replace those of every matrix file.
    pub fn overrides(&self) -> &AxisOverrides {
        &self.overrides
    }

    /// Returns the machine.
    pub(super) fn host(&self) -> &HostProbe<'c> {
        &self.host
    }
}

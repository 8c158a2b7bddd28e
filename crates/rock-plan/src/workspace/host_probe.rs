//! The GPUs and the ROCm of a machine, for `gfx: [host]` and `rocm: [host]`.

use crate::codes::plan as codes;
use crate::config::{HostRocm, MatrixConfig};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Severity};
use rock_names::GfxTarget;
use rock_sys::{self as sys, Environment, HostRoots};

/// Access to the facts of a machine. They are read only if a matrix file has `[host]`.
#[derive(Debug, Clone)]
pub(super) struct HostProbe<'e> {
    roots: HostRoots,
    environment: &'e Environment,
}

impl<'e> HostProbe<'e> {
    /// Creates access to this machine; `environment` has its `PATH` and `ROCM_PATH`.
    pub(super) fn new(environment: &'e Environment) -> Self {
        Self {
            roots: HostRoots::default(),
            environment,
        }
    }

    /// Sets the machine: the one whose files are below these directories.
    pub(super) fn with_roots(self, roots: HostRoots) -> Self {
        Self { roots, ..self }
    }

    /// Returns the distinct gfx targets of the machine's GPUs.
    pub(super) fn gfx_targets(&self) -> Vec<GfxTarget> {
        rock_host::gfx_targets(&sys::read_host_facts(&self.roots, self.environment, &[]))
    }

    /// Returns the lookup of the machine's ROCm.
    pub(super) fn rocm<'c>(&self, compat: &'c Compat) -> HostRocm<'c>
    where
        'e: 'c,
    {
        let Self { roots, environment } = self.clone();
        HostRocm::new(move || {
            let facts = sys::read_host_facts(&roots, environment, &[]);
            let facts = sys::add_hip_version(facts, environment);
            rock_host::system_rocm(&facts, |hip| compat.rocm_of_hip(hip))
        })
    }
}

/// Returns the diagnostic for `gfx: [host]` without a GPU: a warning if the file has a fallback.
pub(super) fn no_gpu(config: &MatrixConfig) -> Diagnostic {
    let message = "`gfx: [host]` selects this machine's GPUs, and it has none";
    let diagnostic =
        Diagnostic::new(&codes::HOST_WITHOUT_GPU, message).at(config.locations.of("gfx"), "");
    if config.gfx_fallback.is_empty() {
        return diagnostic.help(
            "list the targets, set `gfx-fallback` to the targets to build without a GPU, or build on the machine with the GPU; `rock-matrix doctor` shows the GPUs that it detects",
        );
    }
    let targets: Vec<String> = config
        .gfx_fallback
        .iter()
        .map(ToString::to_string)
        .collect();
    diagnostic
        .severity(Severity::Warning)
        .note(format!("`gfx-fallback` is used: {}", targets.join(", ")))
}

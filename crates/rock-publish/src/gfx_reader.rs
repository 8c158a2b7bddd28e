//! Audits local wheels: the GPU targets that they have code for, the ROCm that they need, and the
//! errors that are reported when they are published.

use std::collections::BTreeMap;

use rock_audit::gfx::{GfxDocument, supported_targets};
use rock_audit::{AuditOptions, AuditedWheel, Auditor, NoLibraries, needed_rocm_majors};
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_names::Version;
use rock_sys::PositionalFile;

use crate::audit_errors::is_reported;
use crate::{LocalAsset, NeededTorch};

/// Facts from the libraries of a wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WheelCode {
    /// The GPU targets that all its libraries have code for.
    pub gfx: Vec<String>,
    /// The major versions of ROCm of which its libraries need one; empty if they need none.
    pub needs_rocm: Vec<u32>,
    /// The torch whose symbols its libraries need; `None` if they need none.
    pub needs_torch: Option<NeededTorch>,
    /// The errors that are reported when it is published.
    pub audit_errors: Vec<Diagnostic>,
}

/// Returns the GPU targets that the wheels have code for, the ROCm that they need and their
/// errors, by filename. Platform-independent wheels have neither targets nor needs. Wheels whose
/// bytes were not read are left out, and so are invalid ones, which other checks report.
///
/// The results do not depend on the libraries of this machine.
pub fn wheel_code_read(files: &[LocalAsset], compat: &Compat) -> BTreeMap<String, WheelCode> {
    let auditor = Auditor::new(compat, NoLibraries, AuditOptions::default());
    files
        .iter()
        .filter_map(|file| Some((file.name().to_owned(), read_code(file, &auditor)?)))
        .collect()
}

fn read_code(file: &LocalAsset, auditor: &Auditor<'_>) -> Option<WheelCode> {
    let name = file.asset.wheel()?;
    let is_for_any = name.is_platform_independent();
    if file.recorded_in.is_some() {
        return is_for_any.then(WheelCode::default);
    }
    let source = PositionalFile::open(&file.path).ok()?;
    let audited = auditor.audit_as(&file.asset.shown, name, &source).ok()?;
    let reported = audited.findings().iter().filter(|one| is_reported(one));
    let mut code = WheelCode {
        audit_errors: reported.cloned().collect(),
        ..WheelCode::default()
    };
    if !is_for_any {
        let majors = needed_rocm_majors(audited.files(), auditor.compat());
        code.gfx = if file.asset.file.is_of_sdk {
            all_targets(&audited)
        } else {
            gfx_targets(&audited, auditor.compat())
        };
        code.needs_rocm = majors.into_iter().collect();
        code.needs_torch = needed_torch(&audited, auditor.compat());
    }
    Some(code)
}

/// Returns the torch whose symbols the libraries of a wheel need. The libraries of torch need those
/// of each other.
fn needed_torch(audited: &AuditedWheel<'_>, compat: &Compat) -> Option<NeededTorch> {
    let is_torch = audited.name().distribution().normalized() == "torch";
    let need = audited
        .torch()
        .filter(|need| !is_torch && !need.minors.is_empty())?;
    let known = compat.torch_minors_read().iter().map(Version::minor);
    Some(NeededTorch {
        versions: need.to_string(),
        lacking: known.filter(|minor| !need.minors.contains(minor)).collect(),
    })
}

/// Returns the GPU targets that all libraries of a wheel have code for; those of all its code if
/// there are none, or if no library has any.
fn gfx_targets(audited: &AuditedWheel<'_>, compat: &Compat) -> Vec<String> {
    match supported_targets(audited.name(), audited.files(), compat) {
        Some(targets) if !targets.is_empty() => targets.iter().map(ToString::to_string).collect(),
        _ => all_targets(audited),
    }
}

/// Returns the GPU targets of all code in a wheel. The libraries in a package of the ROCm SDK
/// support different targets.
fn all_targets(audited: &AuditedWheel<'_>) -> Vec<String> {
    GfxDocument::new(audited.files()).targets().to_vec()
}

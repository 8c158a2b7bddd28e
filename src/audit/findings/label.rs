//! What the local version label says against what the libraries need.

use super::Subject;
use crate::compat::TorchEvidence;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::registry::rocm as codes;
use crate::names::{Accelerator, LabelParts};

pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let Some(parts) = subject.label() else { return Vec::new() };
    rocm(subject, &parts).into_iter().chain(torch(subject, &parts)).collect()
}

fn rocm(subject: Subject<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let Accelerator::Rocm(rocm) = &parts.accelerator else { return None };
    let majors = super::rocm_majors(subject);
    let own = rocm.parts().first().map(ToString::to_string)?;
    let (other, names) = majors.iter().find(|(major, _)| **major != own)?;
    if majors.contains_key(&own) {
        // Libraries of several releases are a finding of their own.
        return None;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let message = format!("the label says ROCm {rocm}, and `{}` is of ROCm {other}", names.join("`, `"));
    Some(
        subject
            .on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message)
            .help("build against the ROCm that the label says, or give the wheel the label that is true"),
    )
}

/// The undefined symbols of the wheel's libraries must be those of the torch that the label says.
fn torch(subject: Subject<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let minor = parts.torch.as_ref()?.minor();
    let undefined = || subject.libraries().flat_map(|(_, library)| &library.undefined).map(String::as_str);
    undefined().find(|symbol| is_of_torch(symbol))?;
    let is_read = subject.compat.torch_minors_read().iter().any(|one| one.minor() == minor);
    let fit = subject.compat.torch_minors_for(undefined());
    if !is_read || fit.fits.iter().any(|one| one.minor() == minor) {
        return None;
    }
    let message = match (fit.fits.first(), fit.fits.last()) {
        (Some(one), Some(other)) if one == other => {
            format!("the label says torch {minor}, and the symbols needed of torch are those of {one}")
        }
        (Some(first), Some(last)) => {
            format!("the label says torch {minor}, and the symbols needed of torch are those of {first} to {last}")
        }
        _ => format!("the label says torch {minor}, and the symbols needed of torch are of no one release"),
    };
    let finding = subject.on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message);
    let why = |finding: Diagnostic, why: &TorchEvidence<'_>| finding.note(format!("`{}` is of {why}", why.symbol));
    Some(
        fit.because
            .iter()
            .take(2)
            .fold(finding, why)
            .help("build against the torch that the label says, or give the wheel the label that is true"),
    )
}

/// Whether a mangled name is of a namespace of torch.
pub fn is_of_torch(symbol: &str) -> bool {
    symbol.starts_with("_Z") && ["3c10", "2at", "5torch"].iter().any(|namespace| symbol.contains(namespace))
}

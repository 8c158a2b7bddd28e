//! What the local version label says against what the libraries need.

use super::Subject;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::registry::rocm as codes;
use crate::names::{Accelerator, LabelParts};

pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let Some(parts) = subject.label() else { return Vec::new() };
    rocm(subject, &parts).into_iter().collect()
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

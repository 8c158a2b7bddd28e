//! What the local version label says against what the libraries need.

use std::collections::BTreeSet;

use super::Subject;
use crate::compat::TorchEvidence;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::registry::rocm as codes;
use crate::names::{Accelerator, GfxTarget, LabelParts};

pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = gfx(subject).into_iter().chain(python(subject)).collect();
    if let Some(parts) = subject.label() {
        let more = [rocm(subject, &parts), torch(subject, &parts), abi(subject, &parts), backend(subject, &parts)];
        found.extend(more.into_iter().flatten());
    }
    found
}

/// The gfx targets in a label, `triton.gfx942`, against those that the wheel holds code for.
fn gfx(subject: Subject<'_>) -> Option<Diagnostic> {
    let label = subject.name.label()?;
    let said: BTreeSet<GfxTarget> = label.as_str().split('.').filter_map(|word| word.parse().ok()).collect();
    let own = subject.files.iter().flat_map(|file| file.inventory.targets().into_keys());
    let held: BTreeSet<String> = own.filter_map(|one| Some(one.gfx()?.processor().to_owned())).collect();
    let is_same = said.len() == held.len() && said.iter().all(|one| held.contains(one.processor()));
    if said.is_empty() || held.is_empty() || is_same {
        return None;
    }
    let list = |words: &mut dyn Iterator<Item = String>| words.collect::<Vec<_>>().join(", ");
    let (said, held) = (list(&mut said.iter().map(ToString::to_string)), list(&mut held.into_iter()));
    let message = format!("the label says {said}, and the wheel holds code for {held}");
    Some(
        subject
            .on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message)
            .help("build for the targets that the label says, or give the wheel the label that is true"),
    )
}

/// Extension modules of another Python than the tag says (PEP 3149): its import finds none of its own.
fn python(subject: Subject<'_>) -> Option<Diagnostic> {
    let tags = subject.name.python.tags();
    let is_of_one =
        tags.iter().all(|tag| tag.starts_with("cp")) && !subject.name.abi.tags().iter().any(|abi| abi == "abi3");
    let modules: Vec<(&str, &str, String)> = subject.libraries().filter_map(|(path, _)| module(path)).collect();
    let (path, module, other) = modules.iter().filter(|_| is_of_one).find(|(_, module, _)| {
        let own = modules.iter().filter(|(_, one, _)| one == module);
        !own.clone().any(|(_, _, tag)| tags.iter().any(|one| one == tag.trim_end_matches(['t', 'd', 'm'])))
    })?;
    let message = format!("the name says {}, and `{module}` is there for {other} alone", tags.join(" and "));
    Some(
        subject
            .on_member(&codes::LABEL_NOT_IN_CONTENTS, path, message)
            .help("build with the Python that the name says, or give the wheel the tag that is true"),
    )
}

/// The path of an extension module, its path without what follows the first dot, and the Python it is for, `cp312t`.
fn module(path: &str) -> Option<(&str, &str, String)> {
    let name = path.rsplit('/').next()?;
    let (stem, rest) = name.split_once('.')?;
    let version = rest.strip_prefix("cpython-")?.split(['-', '.']).next()?;
    Some((path, &path[..path.len() - name.len() + stem.len()], format!("cp{version}")))
}

/// The C++ ABI of the label against that of the symbols of torch: those of the old one take `std::string` as `Ss`, those
/// of the new one as a name in `__cxx11` (Itanium C++ ABI, "Compression"; GCC manual, "Dual ABI").
fn abi(subject: Subject<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let is_new = parts.cxx11abi?;
    let of_torch = || subject.libraries().flat_map(|(_, library)| &library.undefined).filter(|one| is_of_torch(one));
    let of_new = of_torch().find(|symbol| symbol.contains("__cxx11"));
    let of_old = of_torch().find(|symbol| symbol.ends_with("Ss"));
    let (symbol, word) = match (is_new, of_new, of_old) {
        (true, None, Some(symbol)) => (symbol, "old"),
        (false, Some(symbol), _) => (symbol, "new"),
        _ => return None,
    };
    let message = format!("the label says cxx11abi {is_new}, and `{symbol}` is of the {word} C++ ABI");
    Some(subject.on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message))
}

/// The backend whose kernels are compiled where they run.
const TRITON: &str = "triton";

fn backend(subject: Subject<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let backend = parts.backend.as_deref()?.split('.').next().filter(|backend| *backend == TRITON)?;
    let file = subject.files.iter().find(|file| file.inventory.bundles().next().is_some())?;
    let message =
        format!("the label says {backend}, whose kernels are compiled where they run, and this holds compiled ones");
    Some(subject.on_member(&codes::LABEL_NOT_IN_CONTENTS, &file.path, message))
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

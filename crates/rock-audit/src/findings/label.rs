//! Checks of the local version label against the needs and contents of the libraries.

use std::collections::BTreeSet;

use super::CheckContext;
use super::label_words::{CK, Word, words};
use super::python_tags::check_python_tags;
use crate::codes::rocm as codes;
use rock_codeobj::CodeTarget;
use rock_compat::TorchEvidence;
use rock_diagnostic::{Diagnostic, Severity};
use rock_names::{Accelerator, GfxTarget, LabelParts, LocalLabel, Version};

/// The remedy for a label that contradicts the contents.
const CORRECT_LABEL: &str =
    "correct the label with `rock-matrix wheel label WHEEL LABEL --replace`";

/// Reports contradictions between the local version label or tags and the contents.
pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = python(context).into_iter().collect();
    // The label of a wheel that had none before ROCm was embedded names nothing else.
    let Some(label) = context
        .name
        .label()
        .filter(|label| *label != LocalLabel::embedded(None))
    else {
        return findings;
    };
    let parts = LabelParts::parse(&label, context.compat.rocm_versions());
    let tail = match &parts {
        Ok(parsed) => parsed.parts.backend.as_deref().unwrap_or_default(),
        Err(_) => label.as_str(),
    };
    let words = words(tail);
    findings.extend(gfx(context, &words));
    findings.extend(words.iter().filter_map(|word| match word {
        Word::Python(digits) => other_python(context, digits),
        Word::Abi(is_new) => abi(context, *is_new),
        Word::Backend(backend) => other_backend(context, backend),
        Word::Other(_) | Word::Gfx(_) => None,
    }));
    match parts {
        Ok(parsed) => {
            let parts = &parsed.parts;
            let of_abi = parts.cxx11abi.and_then(|is_new| abi(context, is_new));
            let more = [
                rocm(context, parts),
                accelerator(context, parts),
                torch(context, parts),
                of_abi,
            ];
            findings.extend(more.into_iter().flatten());
            let unknown: Vec<&str> = words
                .iter()
                .filter_map(|word| match word {
                    Word::Other(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            if !unknown.is_empty() {
                let message = format!(
                    "`{}` in the label is not compared with the contents",
                    unknown.join("`, `")
                );
                findings.push(context.on_wheel(&codes::LABEL_NOT_READ, message));
            }
        }
        Err(error) => {
            let names_something = ["rocm", "torch", "gfx", "cu1"]
                .iter()
                .any(|word| label.as_str().contains(word));
            let severity = if names_something {
                Severity::Warning
            } else {
                Severity::Note
            };
            let message = format!("{error}; it was not compared with the contents");
            findings.push(
                context
                    .on_wheel(&codes::LABEL_NOT_READ, message)
                    .severity(severity)
                    .help(
                        "labels have the form `rocm6.2torch2.5`, optionally followed by a backend \
                         or gfx targets",
                    ),
            );
        }
    }
    findings
}

/// Reports gfx targets in a label, `triton.gfx942`, for which the wheel contains no code.
fn gfx(context: CheckContext<'_>, words: &[Word]) -> Option<Diagnostic> {
    let named: BTreeSet<&GfxTarget> = words
        .iter()
        .filter_map(|word| match word {
            Word::Gfx(target) => Some(target),
            _ => None,
        })
        .collect();
    let held: BTreeSet<CodeTarget> = context
        .files
        .iter()
        .flat_map(|file| file.inventory.targets().into_keys())
        .filter_map(|target| Some(CodeTarget::from_text(target.gfx()?.processor())))
        .collect();
    let is_same = named.len() == held.len()
        && named
            .iter()
            .all(|target| held.contains(&CodeTarget::from(*target)));
    if named.is_empty() || held.is_empty() || is_same {
        return None;
    }
    let named: Vec<String> = named.iter().map(ToString::to_string).collect();
    let held: Vec<String> = held.iter().map(ToString::to_string).collect();
    let message = format!(
        "the label says {}, but the wheel contains code for {}",
        named.join(", "),
        held.join(", ")
    );
    Some(
        context
            .on_wheel(&codes::NAME_NOT_IN_CONTENTS, message)
            .help(format!(
                "build for the targets in the label, or {CORRECT_LABEL}"
            )),
    )
}

/// Reports gfx targets in the label of a wheel without any GPU code. A library whose code was split
/// off has it in another wheel.
pub(super) fn gfx_without_code(context: CheckContext<'_>) -> Option<Diagnostic> {
    let label = context.name.label()?;
    let parts = LabelParts::parse(&label, context.compat.rocm_versions());
    let tail = match &parts {
        Ok(parsed) => parsed.parts.backend.as_deref().unwrap_or_default(),
        Err(_) => label.as_str(),
    };
    let named: BTreeSet<GfxTarget> = words(tail)
        .into_iter()
        .filter_map(|word| match word {
            Word::Gfx(target) => Some(target),
            _ => None,
        })
        .collect();
    let has_code = context
        .files
        .iter()
        .any(|file| !file.inventory.is_empty() || !file.inventory.kpack_references.is_empty());
    if named.is_empty() || has_code {
        return None;
    }
    let named: Vec<String> = named.iter().map(ToString::to_string).collect();
    let message = format!(
        "the label names {}, but the wheel contains no GPU code",
        named.join(", ")
    );
    Some(
        context
            .on_wheel(&codes::NAME_NOT_IN_CONTENTS, message)
            .severity(Severity::Warning)
            .help(format!(
                "build for the targets in the label, or {CORRECT_LABEL}"
            )),
    )
}

/// Reports a Python in the label that the tags do not permit: `cp311` is that one alone,
/// `cp38-abi3` is that one and later ones of Python 3 (PEP 425).
fn other_python(context: CheckContext<'_>, digits: &str) -> Option<Diagnostic> {
    let tags = context.name.python_tags().as_slice();
    let is_stable = context.name.abi_tags().is_stable_abi();
    let is_permitted = tags
        .iter()
        .filter_map(|tag| tag.strip_prefix("cp").or_else(|| tag.strip_prefix("py")))
        .any(|tag_digits| {
            let is_later = python3_minor(tag_digits)
                .zip(python3_minor(digits))
                .is_some_and(|(tag_minor, label_minor)| tag_minor <= label_minor);
            tag_digits == digits
                || digits.starts_with('3') && tag_digits == "3"
                || is_stable && is_later
        });
    if is_permitted {
        return None;
    }
    let message = format!(
        "the label says Python {digits}, but the tag is {}",
        tags.join(".")
    );
    Some(context.on_wheel(&codes::NAME_NOT_IN_CONTENTS, message))
}

/// Returns the minor version of Python 3 in the digits of a tag, 12 of `312`.
fn python3_minor(digits: &str) -> Option<u32> {
    digits.strip_prefix('3')?.parse().ok()
}

/// Prefixes of libraries that only a CUDA build needs (CUDA Toolkit, "Components"; torch).
const CUDA: [&str; 8] = [
    "libcudart.so",
    "libcuda.so",
    "libcublas",
    "libcudnn",
    "libnvrtc",
    "libcufft",
    "libc10_cuda.so",
    "libtorch_cuda.so",
];
/// Libraries that only a ROCm build needs and whose names do not imply a release.
const HIP: [&str; 3] = ["libamdhip64.so", "libc10_hip.so", "libtorch_hip.so"];

/// Reports an accelerator in the label other than that of the libraries and code objects.
fn accelerator(context: CheckContext<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let with_code = context
        .files
        .iter()
        .find(|file| !file.inventory.targets().is_empty());
    let (path, message) = match &parts.accelerator {
        Accelerator::Cuda(digits) => {
            let claim = format!("the label says CUDA {digits}");
            match (needed_of(context, &HIP), with_code) {
                (Some((path, name)), _) => {
                    (path, format!("{claim}, but `{name}` is a library of ROCm"))
                }
                (None, Some(file)) => (
                    file.path.as_str(),
                    format!("{claim}, but it contains code for AMD GPUs"),
                ),
                (None, None) => return None,
            }
        }
        Accelerator::Rocm(rocm) => {
            if needed_of(context, &HIP).is_some() || with_code.is_some() {
                return None;
            }
            let (path, name) = needed_of(context, &CUDA)?;
            (
                path,
                format!("the label says ROCm {rocm}, but `{name}` is a library of CUDA"),
            )
        }
    };
    Some(
        context
            .on_member(&codes::NAME_NOT_IN_CONTENTS, path, message)
            .help(CORRECT_LABEL),
    )
}

/// Returns the first needed library with one of these prefixes, after the path of the file.
fn needed_of<'a>(context: CheckContext<'a>, prefixes: &[&str]) -> Option<(&'a str, &'a str)> {
    context
        .libraries()
        .flat_map(|(path, library)| library.needed.iter().map(move |name| (path, name.as_str())))
        .find(|(_, name)| prefixes.iter().any(|prefix| name.starts_with(prefix)))
}

/// Reports extension modules that do not exist for a Python in the tags. Wheels for any Python or
/// the stable ABI are not checked: some of their modules are for programs that bring their own
/// Python, such as debuggers.
fn python(context: CheckContext<'_>) -> Option<Diagnostic> {
    let is_stable_abi = context.name.abi_tags().is_stable_abi();
    let mut tags = context.name.python_tags().iter();
    if is_stable_abi || !tags.all(|tag| tag.starts_with("cp")) {
        return None;
    }
    let paths = context.libraries().map(|(path, _)| path);
    check_python_tags(context.file_name, context.name, paths)
}

/// Returns the undefined symbols that the audit keeps of all libraries.
fn undefined_symbols(context: CheckContext<'_>) -> impl Iterator<Item = &str> {
    context
        .libraries()
        .flat_map(|(_, library)| &library.undefined)
        .map(String::as_str)
}

/// Returns the undefined symbols of torch.
fn torch_symbols(context: CheckContext<'_>) -> impl Iterator<Item = &str> {
    undefined_symbols(context).filter(|symbol| is_torch_symbol(symbol))
}

/// Reports a C++ ABI in the label other than that of the torch symbols: the old one mangles
/// `std::string` as `Ss`, the new one as a name in `__cxx11` (Itanium C++ ABI, "Compression"; GCC
/// manual, "Dual ABI").
fn abi(context: CheckContext<'_>, is_new: bool) -> Option<Diagnostic> {
    let new_symbol = torch_symbols(context).find(|symbol| symbol.contains("__cxx11"));
    let old_symbol = torch_symbols(context).find(|symbol| symbol.ends_with("Ss"));
    let (symbol, word) = match (is_new, new_symbol, old_symbol) {
        (true, None, Some(symbol)) => (symbol, "old"),
        (false, Some(symbol), _) => (symbol, "new"),
        _ => return None,
    };
    let message =
        format!("the label says cxx11abi {is_new}, but `{symbol}` has the {word} C++ ABI");
    Some(context.on_wheel(&codes::NAME_NOT_IN_CONTENTS, message))
}

/// Reports a backend with kernels compiled at run time in a wheel with compiled code, and one with
/// kernels compiled ahead of time in a wheel without.
fn other_backend(context: CheckContext<'_>, backend: &str) -> Option<Diagnostic> {
    if backend == CK {
        let message = format!(
            "the label says {backend}, whose kernels are compiled ahead of time, but there is no \
             library"
        );
        let is_empty = context.libraries().next().is_none();
        return is_empty.then(|| context.on_wheel(&codes::NAME_NOT_IN_CONTENTS, message));
    }
    let file = context
        .files
        .iter()
        .find(|file| file.inventory.bundles().next().is_some())?;
    let message = format!(
        "the label says {backend}, whose kernels are compiled at run time, but this contains \
         compiled ones"
    );
    Some(context.on_member(&codes::NAME_NOT_IN_CONTENTS, &file.path, message))
}

/// Reports a ROCm in the label with another major version than the libraries.
fn rocm(context: CheckContext<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let Accelerator::Rocm(rocm) = &parts.accelerator else {
        return None;
    };
    let label_major = rocm.parts().first().map(ToString::to_string)?;
    let majors = super::other_majors(context, &label_major)?;
    let (other_major, names) = majors.iter().find(|(major, _)| **major != label_major)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let message = format!(
        "the label says ROCm {rocm}, but `{}` is from ROCm {other_major}",
        names.join("`, `")
    );
    Some(
        context
            .on_wheel(&codes::NAME_NOT_IN_CONTENTS, message)
            .help(format!(
                "build against the ROCm in the label, or {CORRECT_LABEL}"
            )),
    )
}

/// The torch versions whose symbols the libraries of a wheel need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TorchRequirement {
    /// The minor versions that have all of the symbols, oldest first; empty if none has.
    pub minors: Vec<String>,
    /// Some of the symbols, with the versions that have them, in words.
    pub because: Vec<String>,
}

impl std::fmt::Display for TorchRequirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.minors.first(), self.minors.last()) {
            (Some(first), Some(last)) if first == last => f.write_str(first),
            (Some(first), Some(last)) => write!(f, "{first} to {last}"),
            _ => f.write_str("no single release"),
        }
    }
}

/// Returns the torch versions that the libraries were built against, if the symbols they need imply
/// any.
pub(crate) fn torch_need(context: CheckContext<'_>) -> Option<TorchRequirement> {
    torch_symbols(context).next()?;
    let fit = context.compat.torch_minors_for(undefined_symbols(context));
    let because: Vec<String> = fit
        .because
        .iter()
        .take(2)
        .map(|evidence: &TorchEvidence<'_>| format!("`{}` is from {evidence}", evidence.symbol))
        .collect();
    let minors = fit.fits.iter().map(Version::minor).collect();
    (!because.is_empty()).then_some(TorchRequirement { minors, because })
}

/// Reports undefined symbols that the torch version in the label does not have.
fn torch(context: CheckContext<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let minor = parts.torch.as_ref()?.minor();
    let need = torch_need(context)?;
    let is_read = context
        .compat
        .torch_minors_read()
        .iter()
        .any(|version| version.minor() == minor);
    if !is_read || need.minors.contains(&minor) {
        return None;
    }
    let message = format!(
        "the label says torch {minor}, but the torch symbols that the wheel needs are those of \
         {need}"
    );
    let finding = context.on_wheel(&codes::NAME_NOT_IN_CONTENTS, message);
    Some(
        need.because
            .into_iter()
            .fold(finding, Diagnostic::note)
            .help(format!(
                "build against the torch in the label, or {CORRECT_LABEL}"
            )),
    )
}

/// Returns whether a mangled name belongs to a namespace of torch.
pub(crate) fn is_torch_symbol(symbol: &str) -> bool {
    symbol.starts_with("_Z")
        && ["3c10", "2at", "5torch"]
            .iter()
            .any(|namespace| symbol.contains(namespace))
}

//! What the local version label says against what the libraries need.

use std::collections::BTreeSet;

use super::Subject;
use super::words::{CK, Word, words};
use crate::codes::rocm as codes;
use rock_codeobj::CodeTarget;
use rock_compat::TorchEvidence;
use rock_diagnostic::{Diagnostic, Severity};
use rock_names::{Accelerator, GfxTarget, LabelParts, LocalLabel, Version};

pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = python(subject).into_iter().collect();
    // The label of a wheel that had none before ROCm was put into it names nothing else.
    let says_more = |label: &LocalLabel| *label != LocalLabel::embedded(None);
    let Some(label) = subject.name.label().filter(says_more) else {
        return found;
    };
    let parts = LabelParts::parse(&label, &subject.compat.rocm_versions());
    let tail = match &parts {
        Ok(parsed) => parsed.parts.backend.as_deref().unwrap_or_default(),
        Err(_) => label.as_str(),
    };
    let words = words(tail);
    found.extend(gfx(subject, &words));
    found.extend(words.iter().filter_map(|word| match word {
        Word::Python(digits) => other_python(subject, digits),
        Word::Abi(is_new) => abi(subject, *is_new),
        Word::Backend(backend) => other_backend(subject, backend),
        Word::Other(_) | Word::Gfx(_) => None,
    }));
    match parts {
        Ok(parsed) => {
            let parts = &parsed.parts;
            let of_abi = parts.cxx11abi.and_then(|is_new| abi(subject, is_new));
            let more = [
                rocm(subject, parts),
                accelerator(subject, parts),
                torch(subject, parts),
                of_abi,
            ];
            found.extend(more.into_iter().flatten());
            let other = |word: &Word| {
                if let Word::Other(word) = word {
                    Some(word.clone())
                } else {
                    None
                }
            };
            let unread: Vec<String> = words.iter().filter_map(other).collect();
            if !unread.is_empty() {
                let message = format!(
                    "`{}` in the label says nothing that is held against the contents",
                    unread.join("`, `")
                );
                found.push(subject.on_wheel(&codes::LABEL_NOT_READ, message));
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
            let message = format!("{error}; it was not held against the contents");
            found.push(
                subject
                    .on_wheel(&codes::LABEL_NOT_READ, message)
                    .severity(severity)
                    .help("labels are read as `rocm6.2torch2.5`, with a backend or gfx targets behind it"),
            );
        }
    }
    found
}

/// The gfx targets in a label, `triton.gfx942`, against those that the wheel holds code for.
fn gfx(subject: Subject<'_>, words: &[Word]) -> Option<Diagnostic> {
    let named = words.iter().filter_map(|word| {
        if let Word::Gfx(target) = word {
            Some(target)
        } else {
            None
        }
    });
    let said: BTreeSet<&GfxTarget> = named.collect();
    let own = subject
        .files
        .iter()
        .flat_map(|file| file.inventory.targets().into_keys());
    let held: BTreeSet<CodeTarget> = own
        .filter_map(|one| Some(CodeTarget::from_text(one.gfx()?.processor())))
        .collect();
    let is_same = said.len() == held.len()
        && said
            .iter()
            .all(|one| held.contains(&CodeTarget::from(*one)));
    if said.is_empty() || held.is_empty() || is_same {
        return None;
    }
    let list = |words: &mut dyn Iterator<Item = String>| words.collect::<Vec<_>>().join(", ");
    let (said, held) = (
        list(&mut said.iter().map(ToString::to_string)),
        list(&mut held.iter().map(ToString::to_string)),
    );
    let message = format!("the label says {said}, and the wheel holds code for {held}");
    Some(
        subject
            .on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message)
            .help("build for the targets that the label says, or give the wheel the label that is true"),
    )
}

/// A Python in the label that the tags do not allow: `cp311` is that one alone, `cp38-abi3` that
/// one and later ones of Python 3 (PEP 425).
fn other_python(subject: Subject<'_>, digits: &str) -> Option<Diagnostic> {
    let tags = subject.name.python.tags();
    let is_stable = subject.name.abi.tags().iter().any(|abi| abi == "abi3");
    let minor = |digits: &str| {
        digits
            .strip_prefix('3')
            .and_then(|minor| minor.parse::<u32>().ok())
    };
    let fits = |tag: &String| {
        let Some(own) = tag.strip_prefix("cp").or_else(|| tag.strip_prefix("py")) else {
            return false;
        };
        let is_later = minor(own)
            .zip(minor(digits))
            .is_some_and(|(own, said)| own <= said);
        own == digits || digits.starts_with('3') && own == "3" || is_stable && is_later
    };
    if tags.iter().any(fits) {
        return None;
    }
    let message = format!(
        "the label says Python {digits}, and the tag is {}",
        tags.join(".")
    );
    Some(subject.on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message))
}

/// Libraries that only a build for CUDA needs, by the beginnings of their names (CUDA Toolkit,
/// "Components"; torch).
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
/// Libraries that only a build for ROCm needs and whose names tell no release.
const HIP: [&str; 3] = ["libamdhip64.so", "libc10_hip.so", "libtorch_hip.so"];

/// The accelerator in the label against the one that libraries and code objects are for.
fn accelerator(subject: Subject<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let needed = |names: &'static [&'static str]| {
        let all = subject
            .libraries()
            .flat_map(|(path, library)| library.needed.iter().map(move |name| (path, name)));
        all.filter(move |(_, name)| names.iter().any(|known| name.starts_with(known)))
    };
    let with_code = subject
        .files
        .iter()
        .find(|file| !file.inventory.targets().is_empty());
    let (path, message) = match &parts.accelerator {
        Accelerator::Cuda(digits) => {
            let said = format!("the label says CUDA {digits}");
            match (needed(&HIP).next(), with_code) {
                (Some((path, name)), _) => (path, format!("{said}, and `{name}` is of ROCm")),
                (None, Some(file)) => (
                    file.path.as_str(),
                    format!("{said}, and it holds code for GPUs of AMD"),
                ),
                (None, None) => return None,
            }
        }
        Accelerator::Rocm(rocm) => {
            if needed(&HIP).next().is_some() || with_code.is_some() {
                return None;
            }
            let (path, name) = needed(&CUDA).next()?;
            (
                path,
                format!("the label says ROCm {rocm}, and `{name}` is of CUDA"),
            )
        }
    };
    Some(
        subject
            .on_member(&codes::LABEL_NOT_IN_CONTENTS, path, message)
            .help("give the wheel the label that is true, `rock-matrix wheel label WHEEL --local LABEL --replace`"),
    )
}

/// Extension modules of another Python than the tag says (PEP 3149): its import finds none of its
/// own.
fn python(subject: Subject<'_>) -> Option<Diagnostic> {
    let tags = subject.name.python.tags();
    let is_of_one = tags.iter().all(|tag| tag.starts_with("cp"))
        && !subject.name.abi.tags().iter().any(|abi| abi == "abi3");
    let modules: Vec<(&str, &str, String)> = subject
        .libraries()
        .filter_map(|(path, _)| module(path))
        .collect();
    let (path, module, other) = modules
        .iter()
        .filter(|_| is_of_one)
        .find(|(_, module, _)| {
            let own = modules.iter().filter(|(_, one, _)| one == module);
            !own.clone().any(|(_, _, tag)| {
                tags.iter()
                    .any(|one| one == tag.trim_end_matches(['t', 'd', 'm']))
            })
        })?;
    let message = format!(
        "the name says {}, and `{module}` is there for {other} alone",
        tags.join(" and ")
    );
    Some(
        subject
            .on_member(&codes::LABEL_NOT_IN_CONTENTS, path, message)
            .help(
                "build with the Python that the name says, or give the wheel the tag that is true",
            ),
    )
}

/// The path of an extension module, its path without what follows the first dot, and the Python it
/// is for, `cp312t`.
fn module(path: &str) -> Option<(&str, &str, String)> {
    let name = path.rsplit('/').next()?;
    let (stem, rest) = name.split_once('.')?;
    let version = rest.strip_prefix("cpython-")?.split(['-', '.']).next()?;
    Some((
        path,
        &path[..path.len() - name.len() + stem.len()],
        format!("cp{version}"),
    ))
}

/// The C++ ABI of the label against that of the symbols of torch: those of the old one take
/// `std::string` as `Ss`, those of the new one as a name in `__cxx11` (Itanium C++ ABI,
/// "Compression"; GCC manual, "Dual ABI").
fn abi(subject: Subject<'_>, is_new: bool) -> Option<Diagnostic> {
    let of_torch = || {
        subject
            .libraries()
            .flat_map(|(_, library)| &library.undefined)
            .filter(|one| is_of_torch(one))
    };
    let of_new = of_torch().find(|symbol| symbol.contains("__cxx11"));
    let of_old = of_torch().find(|symbol| symbol.ends_with("Ss"));
    let (symbol, word) = match (is_new, of_new, of_old) {
        (true, None, Some(symbol)) => (symbol, "old"),
        (false, Some(symbol), _) => (symbol, "new"),
        _ => return None,
    };
    let message =
        format!("the label says cxx11abi {is_new}, and `{symbol}` is of the {word} C++ ABI");
    Some(subject.on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message))
}

/// A backend whose kernels are compiled where they run beside compiled ones, and one whose kernels
/// are compiled ahead where nothing is.
fn other_backend(subject: Subject<'_>, backend: &str) -> Option<Diagnostic> {
    if backend == CK {
        let message = format!(
            "the label says {backend}, whose kernels are compiled ahead, and there is no library"
        );
        let is_empty = subject.libraries().next().is_none();
        return is_empty.then(|| subject.on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message));
    }
    let file = subject
        .files
        .iter()
        .find(|file| file.inventory.bundles().next().is_some())?;
    let message = format!(
        "the label says {backend}, whose kernels are compiled where they run, and this holds compiled ones"
    );
    Some(subject.on_member(&codes::LABEL_NOT_IN_CONTENTS, &file.path, message))
}

fn rocm(subject: Subject<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let Accelerator::Rocm(rocm) = &parts.accelerator else {
        return None;
    };
    let own = rocm.parts().first().map(ToString::to_string)?;
    let majors = super::other_majors(subject, &own)?;
    let (other, names) = majors.iter().find(|(major, _)| **major != own)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let message = format!(
        "the label says ROCm {rocm}, and `{}` is of ROCm {other}",
        names.join("`, `")
    );
    Some(
        subject
            .on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message)
            .help("build against the ROCm that the label says, or give the wheel the label that is true"),
    )
}

/// The torch whose symbols the libraries of a wheel need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TorchNeed {
    /// The minors that have all of them, oldest first; none where no one has.
    pub minors: Vec<String>,
    /// Some of the symbols that say so, and what they say.
    pub because: Vec<String>,
}

impl std::fmt::Display for TorchNeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.minors.first(), self.minors.last()) {
            (Some(one), Some(other)) if one == other => f.write_str(one),
            (Some(first), Some(last)) => write!(f, "{first} to {last}"),
            _ => f.write_str("no one release"),
        }
    }
}

/// The torch that the libraries were built against, as far as the symbols they need tell; `None`
/// where none does.
pub(crate) fn torch_need(subject: Subject<'_>) -> Option<TorchNeed> {
    let undefined = || {
        subject
            .libraries()
            .flat_map(|(_, library)| &library.undefined)
            .map(String::as_str)
    };
    undefined().find(|symbol| is_of_torch(symbol))?;
    let fit = subject.compat.torch_minors_for(undefined());
    let because: Vec<String> = fit
        .because
        .iter()
        .take(2)
        .map(|why: &TorchEvidence<'_>| format!("`{}` is of {why}", why.symbol))
        .collect();
    let minors = fit.fits.iter().map(Version::minor).collect();
    (!because.is_empty()).then_some(TorchNeed { minors, because })
}

/// The undefined symbols of the wheel's libraries must be those of the torch that the label says.
fn torch(subject: Subject<'_>, parts: &LabelParts) -> Option<Diagnostic> {
    let minor = parts.torch.as_ref()?.minor();
    let need = torch_need(subject)?;
    let is_read = subject
        .compat
        .torch_minors_read()
        .iter()
        .any(|one| one.minor() == minor);
    if !is_read || need.minors.contains(&minor) {
        return None;
    }
    let message = format!(
        "the label says torch {minor}, and the symbols needed of torch are those of {need}"
    );
    let finding = subject.on_wheel(&codes::LABEL_NOT_IN_CONTENTS, message);
    Some(
        need.because
            .into_iter()
            .fold(finding, Diagnostic::note)
            .help("build against the torch that the label says, or give the wheel the label that is true"),
    )
}

/// Whether a mangled name is of a namespace of torch.
pub fn is_of_torch(symbol: &str) -> bool {
    symbol.starts_with("_Z")
        && ["3c10", "2at", "5torch"]
            .iter()
            .any(|namespace| symbol.contains(namespace))
}

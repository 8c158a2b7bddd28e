//! What the file name promises against what the files need.

use std::collections::BTreeSet;

use super::{Subject, numbers};
use crate::codes::{elf, rocm as codes};
use crate::inspect::{FileFacts, FileKind, libraries};
use crate::library::Library;
use crate::search::{from_origin, is_data};
use crate::select::family_of;
use crate::tree::is_libpython;
use crate::verdict::{Verdict, python_need};
use rock_compat::policy::{PlatformPolicy, PolicyFamily};
use rock_diagnostic::{Code, Diagnostic, Severity, counted};
use rock_names::{Arch, PlatformSystem};

/// How many files with a version too new are named; the rest is counted.
const SHOWN: usize = 3;

pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let tags = subject.name.platform.tags();
    if subject.name.platform.contains("any") {
        let code: Vec<&str> = subject
            .files
            .iter()
            .filter(|file| file.binds_to_platform())
            .map(|file| file.path.as_str())
            .collect();
        let claim = if subject.name.is_any_platform() {
            "any platform"
        } else {
            "any platform beside others"
        };
        if let Some(first) = code.first() {
            let message = match code.len() {
                1 => format!("the name says {claim}, and `{first}` is machine code"),
                more => format!(
                    "the name says {claim}, and {more} files are machine code, `{first}` the first"
                ),
            };
            found.push(subject.on_wheel(&codes::CODE_IN_ANY_WHEEL, message));
        }
    }
    for tag in tags
        .iter()
        .filter(|tag| PlatformSystem::of_tag(tag) == PlatformSystem::Unknown)
    {
        let message = format!("`{tag}` is no platform that installers know");
        found.push(subject.on_wheel(&codes::UNKNOWN_PLATFORM_TAG, message).help(
            "name the platform that the wheel was built for, such as `linux_x86_64`, with `rock-matrix wheel retag --platform-tag`",
        ));
    }
    if subject.foreign_system.is_some() {
        found.extend(
            tags.iter()
                .filter_map(|tag| Some((tag, not_for_linux(subject.files, tag)?)))
                .map(|(tag, what)| {
                    subject.on_wheel(
                        &codes::FALSE_PLATFORM_TAG,
                        format!("the name claims `{tag}`, and {what}"),
                    )
                }),
        );
        return found;
    }
    let outside_data = subject
        .libraries()
        .find(|(path, _)| !is_data(path.split('/').next().unwrap_or_default()));
    if let Some((path, _)) = outside_data.filter(|_| subject.is_purelib) {
        let message = "WHEEL says `Root-Is-Purelib: true`, and this is a library";
        found.push(subject.on_member(&codes::PURELIB_WITH_LIBRARIES, path, message));
    }
    let claims_policy = subject
        .name
        .platform
        .tags()
        .iter()
        .any(|tag| PolicyFamily::of_platform_tag(tag).is_some());
    found.extend(subject.libraries().filter(|(_, library)| library.extension.is_some()).filter_map(
        |(path, library)| {
            let needed = library.needed.iter().find(|needed| is_libpython(needed))?;
            let message = format!("an extension module needs `{needed}`, which the Python that loads it need not have");
            let severity = if claims_policy { Severity::Error } else { Severity::Warning };
            let finding = subject.on_member(&elf::NEEDS_LIBPYTHON, path, message).severity(severity);
            Some(finding.help("link without `-lpythonX.Y`, or let `rock-matrix wheel repair` drop the need"))
        },
    ));
    if let Some(verdict) = subject.verdict {
        found.extend(
            subject
                .name
                .platform
                .tags()
                .iter()
                .flat_map(|tag| of_claim(subject, verdict, tag)),
        );
        found.extend(from_elsewhere(subject, verdict));
    }
    found
}

/// Whether a finding says that the platform in the name of a wheel is not that of its contents.
pub fn contradicts_claim(finding: &Diagnostic) -> bool {
    const CLAIMS: [&Code; 6] = [
        &codes::FALSE_PLATFORM_TAG,
        &codes::CODE_IN_ANY_WHEEL,
        &codes::LIBRARY_FROM_ELSEWHERE,
        &elf::OTHER_ARCHITECTURE,
        &elf::OTHER_LIBC,
        &elf::NEEDS_LIBPYTHON,
    ];
    finding.is_error() && CLAIMS.contains(&finding.code)
}

/// What the wheel's own files need that the systems of a claimed tag do not have. Libraries of the
/// machine count for nothing.
fn of_claim(subject: Subject<'_>, verdict: &Verdict<'_>, tag: &str) -> Vec<Diagnostic> {
    let claim = |what: String| {
        subject.on_wheel(
            &codes::FALSE_PLATFORM_TAG,
            format!("the name claims `{tag}`, and {what}"),
        )
    };
    if let Some(what) = other_system(subject.files, verdict, tag) {
        return vec![claim(what)];
    }
    let Some(claimed) = verdict
        .judging
        .policies
        .for_tag(tag)
        .filter(|claimed| !claimed.is_linux())
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    found.extend(
        newer_symbols(subject, verdict, claimed).map(|(what, notes)| {
            notes.into_iter().fold(claim(what), Diagnostic::note).help(
                if verdict.own_symbols.is_linux() {
                    "no manylinux tag fits it; build it in an older image".to_owned()
                } else {
                    format!("its own symbols allow `{}`", verdict.own_symbols.tag())
                },
            )
        }),
    );
    let of_claimed = |number: &usize| {
        let references = verdict.by_file.get(number).into_iter().flatten();
        references
            .filter(|one| one.policy == claimed)
            .collect::<Vec<_>>()
    };
    for (number, file) in subject.files.iter().enumerate() {
        let path = &file.path;
        let forbidden = || {
            of_claimed(&number)
                .into_iter()
                .flat_map(|one| &one.forbidden)
        };
        if let Some((library, symbols)) = forbidden().next() {
            let symbols = symbols
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("`, `");
            found.push(claim(format!(
                "`{path}` needs `{symbols}` of {library}, which need not be there"
            )));
        }
        if verdict.above_baseline.contains(&number) {
            found.push(
                claim(format!(
                    "`{path}` says that it needs a level of x86-64 above the first"
                ))
                .help("build without `-march`, or take it with `--disable-isa-ext-check`"),
            );
        }
        if let FileKind::Library(library) = &file.kind
            && let Some(need) = python_need(library.uses_pyfpe, library.uses_ucs2)
        {
            found.push(claim(format!(
                "`{path}` needs {need}, which not every system has"
            )));
        }
    }
    found
}

/// What files of the wheel need and do not find in it, by the claim of the oldest systems: newer
/// ones have what these have.
fn from_elsewhere(subject: Subject<'_>, verdict: &Verdict<'_>) -> Vec<Diagnostic> {
    let claims = subject
        .name
        .platform
        .tags()
        .iter()
        .filter(|tag| other_system(subject.files, verdict, tag).is_none());
    let claims = claims.filter_map(|tag| Some((tag, verdict.judging.policies.for_tag(tag)?)));
    let oldest = claims
        .rev()
        .filter(|(_, policy)| !policy.is_linux())
        .max_by_key(|(_, policy)| policy.priority());
    let Some((tag, claimed)) = oldest else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (number, file) in subject.files.iter().enumerate() {
        let FileKind::Library(library) = &file.kind else {
            continue;
        };
        let references = verdict
            .by_file
            .get(&number)
            .into_iter()
            .flatten()
            .filter(|one| one.policy == claimed);
        let names: BTreeSet<&String> = references.flat_map(|one| one.libraries.keys()).collect();
        let lacking = names.into_iter().filter(|name| {
            library.needed.contains(name) && !is_libpython(name) && !subject.comes_with_others(name)
        });
        let (lying, elsewhere): (Vec<_>, Vec<_>) = lacking
            .map(|name| (name.as_str(), lies_at(subject, name)))
            .partition(|(_, place)| place.is_some());
        for (name, place) in lying
            .into_iter()
            .filter_map(|(name, place)| Some((name, place?)))
        {
            if library.extension.is_none() && is_module(subject, name, place) {
                let message = format!(
                    "it needs {name}, a Python module of the wheel (`{place}`): it can be loaded after that module is \
                     imported, and not before"
                );
                let finding =
                    subject.on_member(&codes::LIBRARY_FROM_ELSEWHERE, &file.path, message);
                found.push(finding.severity(Severity::Note));
                continue;
            }
            let message = format!(
                "it needs {name}, which lies in the wheel as `{place}`, where its search path does not lead"
            );
            found.push(
                subject
                    .on_member(&codes::LIBRARY_FROM_ELSEWHERE, &file.path, message)
                    .help(format!(
                        "link it with the search path `{}`",
                        from_origin(&file.path, place)
                    )),
            );
        }
        if !elsewhere.is_empty() {
            let names: Vec<&str> = elsewhere.into_iter().map(|(name, _)| name).collect();
            let message = format!("it needs {}, which `{tag}` need not have", names.join(", "));
            found.push(subject.on_member(&codes::LIBRARY_FROM_ELSEWHERE, &file.path, message).help(
                "bring it along with `rock-matrix wheel repair`, or say that another package does with `--exclude`",
            ));
        }
    }
    found
}

/// Where in the wheel a library of this name lies, by the name of its file or by its own.
fn lies_at<'a>(subject: Subject<'a>, name: &str) -> Option<&'a str> {
    let is_named = |path: &str| path.rsplit('/').next() == Some(name);
    let mut found = subject
        .libraries()
        .filter(|(path, one)| is_named(path) || one.soname.as_deref() == Some(name));
    found.next().map(|(path, _)| path)
}

/// Returns whether the library at a path is a Python module of this name: once it is imported, the
/// loader takes it for every need of its SONAME (`ld.so(8)`), wherever the search path leads.
fn is_module(subject: Subject<'_>, name: &str, place: &str) -> bool {
    let is_it =
        |library: &Library| library.extension.is_some() && library.soname.as_deref() == Some(name);
    subject
        .libraries()
        .any(|(path, library)| path == place && is_it(library))
}

/// What the libraries are for, where a claimed tag is for another system, C library or processor.
pub(crate) fn other_system(
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    tag: &str,
) -> Option<String> {
    let policies = verdict.judging.policies;
    if let Some(what) = not_for_linux(files, tag) {
        return Some(what);
    }
    // A static program, or a library that needs no C library, is for both.
    let needs =
        |family| libraries(files).any(|(path, library)| family_of(library, path) == Some(family));
    if PolicyFamily::of_platform_tag(tag).is_some_and(|family| family != policies.family())
        && needs(policies.family())
    {
        return Some(format!(
            "its libraries are for {}",
            policies.family().as_str()
        ));
    }
    let is_linux = PlatformSystem::of_tag(tag) == PlatformSystem::Linux;
    let is_other =
        is_linux && Arch::of_platform_tag(tag).is_some_and(|arch| arch != policies.arch());
    is_other.then(|| format!("its libraries are for {}", policies.arch()))
}

/// Returns what the libraries are for, where a tag is for a system that is not judged and no file
/// of the wheel can be for it: Windows, macOS, iOS and WebAssembly have no ELF files, and other
/// systems neither glibc nor musl.
fn not_for_linux(files: &[FileFacts], tag: &str) -> Option<String> {
    let PlatformSystem::Foreign(system) = PlatformSystem::of_tag(tag) else {
        return None;
    };
    let mut libraries = libraries(files);
    let has = |kind: &FileKind| files.iter().any(|file| file.kind == *kind);
    let is_false = match system {
        "Windows" | "Cygwin" => libraries.next().is_some() && !has(&FileKind::Windows),
        "macOS" | "iOS" | "WebAssembly" => libraries.next().is_some() && !has(&FileKind::Foreign),
        _ => {
            let (of_linux, others): (Vec<_>, Vec<_>) =
                libraries.partition(|(path, library)| family_of(library, path).is_some());
            // A library that needs none is for any system.
            !of_linux.is_empty() && others.iter().all(|(_, library)| library.needed.is_empty())
        }
    };
    is_false.then(|| "its libraries are for Linux".to_owned())
}

/// The newest version of a symbol that a policy does not have, and what else it does not have.
fn newer_symbols(
    subject: Subject<'_>,
    verdict: &Verdict<'_>,
    claimed: PlatformPolicy<'_>,
) -> Option<(String, Vec<String>)> {
    if claimed.priority() <= verdict.own_symbols.priority() {
        return None;
    }
    let offenders = offenders(subject.files, claimed);
    let (path, version) = offenders.first()?;
    let others = offenders
        .iter()
        .skip(1)
        .take(SHOWN - 1)
        .map(|(path, version)| format!("`{path}` needs {version}"));
    let hidden = offenders.len().saturating_sub(SHOWN);
    let more = (hidden > 0).then(|| format!("and {} more", counted(hidden, "need")));
    Some((
        format!("`{path}` needs {version}, which it does not have"),
        others.chain(more).collect(),
    ))
}

/// Files and the versions that they need and a policy does not have, the newest first, one for each
/// file and prefix.
pub(crate) fn offenders<'f>(
    files: &'f [FileFacts],
    policy: PlatformPolicy<'_>,
) -> Vec<(&'f str, &'f str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for (path, library) in libraries(files) {
        let mut worst: std::collections::BTreeMap<&str, &str> = std::collections::BTreeMap::new();
        for version in library
            .versions
            .iter()
            .flat_map(|need| &need.versions)
            .filter(|one| !policy.permits_version(one))
        {
            let prefix = version.split('_').next().unwrap_or_default();
            let entry = worst.entry(prefix).or_insert(version);
            if numbers(entry) < numbers(version) {
                *entry = version;
            }
        }
        found.extend(worst.into_values().map(|version| (path, version)));
    }
    found.sort_by(|one, other| {
        let key = |version: &str| {
            (
                version.split('_').next().unwrap_or_default().to_owned(),
                std::cmp::Reverse(numbers(version)),
            )
        };
        key(one.1)
            .cmp(&key(other.1))
            .then_with(|| one.0.cmp(other.0))
    });
    found
}

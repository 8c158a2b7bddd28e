//! Checks of the platform tags in the file name against the needs of the files.

use std::collections::BTreeSet;

use super::{CheckContext, version_numbers};
use crate::codes::{elf, rocm as codes};
use crate::compliance::{Compliance, python_need};
use crate::inspect::{InspectedFile, InspectedKind, libraries};
use crate::library::ElfLibrary;
use crate::resolve::is_libpython;
use crate::search_path::{from_origin, is_data};
use crate::select::elf_libc;
use rock_compat::policy::{PlatformPolicy, PolicyFamily};
use rock_diagnostic::{Code, Diagnostic, Severity, counted};
use rock_names::{Arch, PlatformSystem};

/// Number of files that are named in a finding; others are counted.
const SHOWN: usize = 3;

pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let tags = context.name.platform_tags().as_slice();
    if context.name.platform_tags().contains("any") {
        let code: Vec<&str> = context
            .files
            .iter()
            .filter(|file| file.binds_to_platform())
            .map(|file| file.path.as_str())
            .collect();
        let claim = if context.name.is_any_platform() {
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
            found.push(context.on_wheel(&codes::CODE_IN_ANY_WHEEL, message));
        }
    }
    for tag in tags
        .iter()
        .filter(|tag| PlatformSystem::of_tag(tag) == PlatformSystem::Unknown)
    {
        let message = format!("`{tag}` is no platform that installers know");
        found.push(context.on_wheel(&codes::UNKNOWN_PLATFORM_TAG, message).help(
            "name the platform that the wheel was built for, such as `linux_x86_64`, with `rock-matrix wheel retag --platform-tag`",
        ));
    }
    if context.foreign_system.is_some() {
        found.extend(
            tags.iter()
                .filter_map(|tag| Some((tag, not_for_linux(context.files, tag)?)))
                .map(|(tag, what)| {
                    context.on_wheel(
                        &codes::FALSE_PLATFORM_TAG,
                        format!("the name claims `{tag}`, and {what}"),
                    )
                }),
        );
        return found;
    }
    let outside_data = context
        .libraries()
        .find(|(path, _)| !is_data(path.split('/').next().unwrap_or_default()));
    if let Some((path, _)) = outside_data.filter(|_| context.is_purelib) {
        let message = "WHEEL says `Root-Is-Purelib: true`, and this is a library";
        found.push(context.on_member(&codes::PURELIB_WITH_LIBRARIES, path, message));
    }
    let claims_policy = context
        .name
        .platform_tags()
        .iter()
        .any(|tag| PolicyFamily::of_platform_tag(tag).is_some());
    found.extend(context.libraries().filter(|(_, library)| library.extension.is_some()).filter_map(
        |(path, library)| {
            let needed = library.needed.iter().find(|needed| is_libpython(needed))?;
            let message = format!("an extension module needs `{needed}`, which the Python that loads it need not have");
            let severity = if claims_policy { Severity::Error } else { Severity::Warning };
            let finding = context.on_member(&elf::NEEDS_LIBPYTHON, path, message).severity(severity);
            Some(finding.help("link without `-lpythonX.Y`, or let `rock-matrix wheel repair` drop the need"))
        },
    ));
    if let Some(compliance) = context.compliance {
        found.extend(
            context
                .name
                .platform_tags()
                .iter()
                .flat_map(|tag| check_claim(context, compliance, tag)),
        );
        found.extend(check_missing_libraries(context, compliance));
    }
    found
}

/// Returns whether a finding is that the contents contradict the platform in the file name.
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

/// Reports needs of the wheel's files that a claimed tag does not permit. Libraries of the system
/// are ignored.
fn check_claim(context: CheckContext<'_>, compliance: &Compliance, tag: &str) -> Vec<Diagnostic> {
    let claim = |what: String| {
        context.on_wheel(
            &codes::FALSE_PLATFORM_TAG,
            format!("the name claims `{tag}`, and {what}"),
        )
    };
    if let Some(what) = other_system(context.files, compliance, tag) {
        return vec![claim(what)];
    }
    let Some(claimed) = compliance
        .policies()
        .for_tag(tag)
        .filter(|claimed| !claimed.is_linux())
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    found.extend(
        newer_symbols(context, compliance, claimed).map(|(what, notes)| {
            notes.into_iter().fold(claim(what), Diagnostic::note).help(
                if compliance.own_symbols().is_linux() {
                    "no manylinux tag fits it; build it in an older image".to_owned()
                } else {
                    format!("its own symbols allow `{}`", compliance.own_symbols().tag())
                },
            )
        }),
    );
    let of_claimed = |number: &usize| {
        let references = compliance.gaps_by_file.get(number).into_iter().flatten();
        references
            .filter(|one| compliance.policy(one.policy) == claimed)
            .collect::<Vec<_>>()
    };
    for (number, file) in context.files.iter().enumerate() {
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
        if compliance.above_baseline.contains(&number) {
            found.push(
                claim(format!(
                    "`{path}` says that it needs a level of x86-64 above the first"
                ))
                .help("build without `-march`, or take it with `--disable-isa-ext-check`"),
            );
        }
        if let InspectedKind::Library(library) = &file.kind
            && let Some(need) = python_need(library.uses_pyfpe, library.uses_ucs2)
        {
            found.push(claim(format!(
                "`{path}` needs {need}, which not every system has"
            )));
        }
    }
    found
}

/// Reports libraries that files of the wheel need and do not find in it. They are checked against
/// the claimed tag for the oldest systems, since newer systems provide a superset.
fn check_missing_libraries(context: CheckContext<'_>, compliance: &Compliance) -> Vec<Diagnostic> {
    let claims = context
        .name
        .platform_tags()
        .iter()
        .filter(|tag| other_system(context.files, compliance, tag).is_none());
    let claims = claims.filter_map(|tag| Some((tag, compliance.policies().for_tag(tag)?)));
    let oldest = claims
        .rev()
        .filter(|(_, policy)| !policy.is_linux())
        .max_by_key(|(_, policy)| policy.priority());
    let Some((tag, claimed)) = oldest else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (number, file) in context.files.iter().enumerate() {
        let InspectedKind::Library(library) = &file.kind else {
            continue;
        };
        let references = compliance
            .gaps_by_file
            .get(&number)
            .into_iter()
            .flatten()
            .filter(|one| compliance.policy(one.policy) == claimed);
        let names: BTreeSet<&String> = references.flat_map(|one| one.libraries.keys()).collect();
        let lacking = names.into_iter().filter(|name| {
            library.needed.contains(name) && !is_libpython(name) && !context.comes_with_others(name)
        });
        let (lying, elsewhere): (Vec<_>, Vec<_>) = lacking
            .map(|name| (name.as_str(), library_path(context, name)))
            .partition(|(_, place)| place.is_some());
        for (name, place) in lying
            .into_iter()
            .filter_map(|(name, place)| Some((name, place?)))
        {
            if library.extension.is_none() && is_module(context, name, place) {
                let message = format!(
                    "it needs {name}, a Python module of the wheel (`{place}`): it can be loaded after that module is \
                     imported, and not before"
                );
                let finding =
                    context.on_member(&codes::LIBRARY_FROM_ELSEWHERE, &file.path, message);
                found.push(finding.severity(Severity::Note));
                continue;
            }
            let message = format!(
                "it needs {name}, which lies in the wheel as `{place}`, where its search path does not lead"
            );
            found.push(
                context
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
            found.push(context.on_member(&codes::LIBRARY_FROM_ELSEWHERE, &file.path, message).help(
                "bring it along with `rock-matrix wheel repair`, or say that another package does with `--exclude`",
            ));
        }
    }
    found
}

/// Returns the path of a library of the wheel by its file name or SONAME.
fn library_path<'a>(context: CheckContext<'a>, name: &str) -> Option<&'a str> {
    let is_named = |path: &str| path.rsplit('/').next() == Some(name);
    let mut found = context
        .libraries()
        .filter(|(path, one)| is_named(path) || one.soname.as_deref() == Some(name));
    found.next().map(|(path, _)| path)
}

/// Returns whether the library at a path is a Python module of this name: once it is imported, the
/// loader takes it for every need of its SONAME (`ld.so(8)`), wherever the search path leads.
fn is_module(context: CheckContext<'_>, name: &str, place: &str) -> bool {
    let is_it = |library: &ElfLibrary| {
        library.extension.is_some() && library.soname.as_deref() == Some(name)
    };
    context
        .libraries()
        .any(|(path, library)| path == place && is_it(library))
}

/// Returns in words the platform of the libraries, if a claimed tag is for another system, C
/// library or processor.
pub(crate) fn other_system(
    files: &[InspectedFile],
    compliance: &Compliance,
    tag: &str,
) -> Option<String> {
    let policies = compliance.policies();
    if let Some(what) = not_for_linux(files, tag) {
        return Some(what);
    }
    // A static program, or a library that needs no C library, is for both.
    let needs =
        |family| libraries(files).any(|(path, library)| elf_libc(library, path) == Some(family));
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

/// Returns in words the platform of the libraries, if a tag is for a system that is not audited and
/// no file of the wheel can be for it: Windows, macOS, iOS and WebAssembly have no ELF files, and
/// other systems neither glibc nor musl.
fn not_for_linux(files: &[InspectedFile], tag: &str) -> Option<String> {
    let PlatformSystem::Foreign(system) = PlatformSystem::of_tag(tag) else {
        return None;
    };
    let mut libraries = libraries(files);
    let has = |kind: &InspectedKind| files.iter().any(|file| file.kind == *kind);
    let is_false = match system {
        "Windows" | "Cygwin" => libraries.next().is_some() && !has(&InspectedKind::Windows),
        "macOS" | "iOS" | "WebAssembly" => {
            libraries.next().is_some() && !has(&InspectedKind::Foreign)
        }
        _ => {
            let (of_linux, others): (Vec<_>, Vec<_>) =
                libraries.partition(|(path, library)| elf_libc(library, path).is_some());
            // A library that needs none is for any system.
            !of_linux.is_empty() && others.iter().all(|(_, library)| library.needed.is_empty())
        }
    };
    is_false.then(|| "its libraries are for Linux".to_owned())
}

/// Returns the newest symbol version that a policy does not permit, and notes on others.
fn newer_symbols(
    context: CheckContext<'_>,
    compliance: &Compliance,
    claimed: PlatformPolicy<'_>,
) -> Option<(String, Vec<String>)> {
    if claimed.priority() <= compliance.own_symbols().priority() {
        return None;
    }
    let offenders = offenders(context.files, claimed);
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

/// Returns files with the symbol versions that they need and a policy does not permit, newest
/// first, one for each file and prefix.
pub(crate) fn offenders<'f>(
    files: &'f [InspectedFile],
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
            if version_numbers(entry) < version_numbers(version) {
                *entry = version;
            }
        }
        found.extend(worst.into_values().map(|version| (path, version)));
    }
    found.sort_by(|one, other| {
        let key = |version: &str| {
            (
                version.split('_').next().unwrap_or_default().to_owned(),
                std::cmp::Reverse(version_numbers(version)),
            )
        };
        key(one.1)
            .cmp(&key(other.1))
            .then_with(|| one.0.cmp(other.0))
    });
    found
}

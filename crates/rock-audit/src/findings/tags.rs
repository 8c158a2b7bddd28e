//! Checks of the platform tags in the file name against the needs of the files.

use std::cmp::Reverse;

use super::CheckContext;
use super::python_tags::{unfit_python_tag, unknown_python_tags};
use crate::audited_libraries::elf_libc;
use crate::codes::{elf, rocm as codes};
use crate::compliance::{Compliance, python_need};
use crate::inspect::{InspectedFile, InspectedKind, libraries};
use crate::library::ElfLibrary;
use crate::resolve::is_libpython;
use crate::search_path::{from_origin, is_data};
use crate::symbol_version::{newest_versions, version_numbers, version_prefix};
use rock_compat::policy::{PlatformPolicy, PolicyFamily};
use rock_diagnostic::{Code, Diagnostic, Severity, count_more};
use rock_names::{Arch, ForeignSystem, PlatformSystem};

/// Number of files that are named in a finding; others are counted.
const SHOWN: usize = 3;

/// Reports platform tags that the files of a wheel contradict.
pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = code_in_any_wheel(context).into_iter().collect();
    findings.extend(unknown_python_tags(context.file_name, context.name));
    findings.extend(unfit_python_tag(context.file_name, context.name));
    let tags = context.name.platform_tags();
    for tag in tags
        .iter()
        .filter(|tag| PlatformSystem::of_tag(tag) == PlatformSystem::Unknown)
    {
        let message = format!("`{tag}` is not a platform that installers know");
        let help = match with_arch(context, tag) {
            Some(whole) => format!("add the architecture: `{whole}`"),
            None => "set the platform that the wheel was built for, such as `linux_x86_64`, with \
                     `rock-matrix wheel retag --platform-tag`"
                .to_owned(),
        };
        findings.push(
            context
                .on_wheel(&codes::UNKNOWN_PLATFORM_TAG, message)
                .help(help),
        );
    }
    if context.foreign_system.is_some() {
        findings.extend(tags.iter().filter_map(|tag| {
            let reason = not_for_linux(context.files, tag)?;
            Some(false_tag(context, tag, &reason))
        }));
        return findings;
    }
    let outside_data = context
        .libraries()
        .find(|(path, _)| !is_data(path.split('/').next().unwrap_or_default()));
    if let Some((path, _)) = outside_data.filter(|_| context.is_purelib) {
        let message = "WHEEL has `Root-Is-Purelib: true`, but this is a library";
        findings.push(context.on_member(&codes::PURELIB_WITH_LIBRARIES, path, message));
    }
    findings.extend(needed_libpython(context));
    if let Some(compliance) = context.compliance {
        findings.extend(
            tags.iter()
                .flat_map(|tag| check_claim(context, compliance, tag)),
        );
        findings.extend(check_missing_libraries(context, compliance));
    }
    findings
}

/// Returns a Linux tag with the architecture of the libraries, if it lacks that part:
/// `manylinux_2_28_x86_64` for `manylinux_2_28`.
fn with_arch(context: CheckContext<'_>, tag: &str) -> Option<String> {
    let arch = context
        .compliance
        .map_or(Arch::X86_64, |compliance| compliance.policies().arch());
    let whole = format!("{tag}_{arch}");
    (PlatformSystem::of_tag(&whole) == PlatformSystem::Linux).then_some(whole)
}

/// Reports a wheel for any platform that contains machine code.
fn code_in_any_wheel(context: CheckContext<'_>) -> Option<Diagnostic> {
    if !context.name.platform_tags().contains("any") {
        return None;
    }
    let claim = if context.name.is_platform_independent() {
        "any platform"
    } else {
        "any platform in addition to others"
    };
    let code: Vec<&str> = context
        .files
        .iter()
        .filter(|file| file.binds_to_platform())
        .map(|file| file.path.as_str())
        .collect();
    let first = code.first()?;
    let message = match code.len() {
        1 => format!("the filename says {claim}, but `{first}` is machine code"),
        count => format!(
            "the filename says {claim}, but {count} files are machine code, such as `{first}`"
        ),
    };
    Some(context.on_wheel(&codes::CODE_IN_ANY_WHEEL, message))
}

/// Reports extension modules that need `libpython` (PEP 513): as an error if the name claims a
/// policy.
fn needed_libpython(context: CheckContext<'_>) -> impl Iterator<Item = Diagnostic> {
    let tags = context.name.platform_tags();
    let severity = if tags
        .iter()
        .any(|tag| PolicyFamily::of_platform_tag(tag).is_some())
    {
        Severity::Error
    } else {
        Severity::Warning
    };
    context
        .libraries()
        .filter(|(_, library)| library.extension.is_some())
        .filter_map(move |(path, library)| {
            let needed = library.needed.iter().find(|needed| is_libpython(needed))?;
            let message = format!(
                "an extension module needs `{needed}`, which the Python that loads it may not have"
            );
            let finding = context.on_member(&elf::NEEDS_LIBPYTHON, path, message);
            Some(finding.severity(severity).help(
                "link without `-lpythonX.Y`, or let `rock-matrix wheel repair` remove the NEEDED \
                 entry",
            ))
        })
}

fn false_tag(context: CheckContext<'_>, tag: &str, reason: &str) -> Diagnostic {
    context.on_wheel(
        &codes::FALSE_PLATFORM_TAG,
        format!("the filename claims `{tag}`, but {reason}"),
    )
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
    if let Some(reason) = other_system(context.files, compliance, tag) {
        return vec![false_tag(context, tag, &reason)];
    }
    let Some(claimed) = compliance
        .policies()
        .for_tag(tag)
        .filter(|claimed| !claimed.is_linux())
    else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    if let Some((reason, notes)) = newer_symbols(context, compliance, claimed) {
        let own_symbol_policy = compliance.own_symbol_policy();
        let help = if own_symbol_policy.is_linux() {
            "it complies with no manylinux tag; build it in an older image".to_owned()
        } else {
            format!("its own symbols allow `{}`", own_symbol_policy.tag())
        };
        let finding = false_tag(context, tag, &reason);
        findings.push(notes.into_iter().fold(finding, Diagnostic::note).help(help));
    }
    for (file_index, file) in context.files.iter().enumerate() {
        let path = &file.path;
        let violations = compliance.file_violations(file_index, claimed);
        if let Some((library, symbols)) =
            violations.and_then(|found| found.blacklisted.iter().next())
        {
            let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
            let reason = format!(
                "`{path}` needs `{}` of {library}, which may be missing there",
                symbols.join("`, `")
            );
            findings.push(false_tag(context, tag, &reason));
        }
        if compliance.above_baseline.contains(&file_index) {
            let reason =
                format!("`{path}` is marked as needing an x86-64 level above the baseline");
            findings.push(
                false_tag(context, tag, &reason)
                    .help("build without `-march`, or accept it with `--disable-isa-ext-check`"),
            );
        }
        if let InspectedKind::Library(library) = &file.kind
            && let Some(need) = python_need(library.uses_pyfpe, library.uses_ucs2)
        {
            let reason = format!("`{path}` needs {need}, which not every system has");
            findings.push(false_tag(context, tag, &reason));
        }
    }
    findings
}

/// Reports libraries that files of the wheel need and do not find in it. They are checked against
/// the claimed tag for the oldest systems, since newer systems provide a superset.
fn check_missing_libraries(context: CheckContext<'_>, compliance: &Compliance) -> Vec<Diagnostic> {
    let oldest = context
        .name
        .platform_tags()
        .iter()
        .filter(|tag| other_system(context.files, compliance, tag).is_none())
        .filter_map(|tag| Some((tag, compliance.policies().for_tag(tag)?)))
        .rev()
        .filter(|(_, policy)| !policy.is_linux())
        .max_by_key(|(_, policy)| policy.priority());
    let Some((tag, claimed)) = oldest else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (file_index, file) in context.files.iter().enumerate() {
        let InspectedKind::Library(library) = &file.kind else {
            continue;
        };
        let mut elsewhere: Vec<&str> = Vec::new();
        let external = compliance
            .file_violations(file_index, claimed)
            .into_iter()
            .flat_map(|violations| violations.libraries.keys())
            .filter(|name| {
                library.needed.contains(name)
                    && !is_libpython(name)
                    && !context.comes_with_others(name)
            });
        for name in external {
            match library_path(context, name) {
                Some(path) => findings.push(misplaced_library(context, file, library, name, path)),
                None => elsewhere.push(name),
            }
        }
        if !elsewhere.is_empty() {
            let message = format!(
                "it needs {}, which `{tag}` does not guarantee",
                elsewhere.join(", ")
            );
            let finding = context.on_member(&codes::LIBRARY_FROM_ELSEWHERE, &file.path, message);
            findings.push(finding.help(
                "graft it with `rock-matrix wheel repair`, or pass `--exclude` if another package \
                 provides it",
            ));
        }
    }
    findings
}

/// Reports a library of the wheel that a file needs and does not find.
fn misplaced_library(
    context: CheckContext<'_>,
    user: &InspectedFile,
    user_library: &ElfLibrary,
    name: &str,
    path: &str,
) -> Diagnostic {
    if user_library.extension.is_none() && is_module(context, name, path) {
        let message = format!(
            "it needs {name}, a Python module of the wheel (`{path}`): it can be loaded only after \
             that module is imported"
        );
        return context
            .on_member(&codes::LIBRARY_FROM_ELSEWHERE, &user.path, message)
            .severity(Severity::Note);
    }
    let message =
        format!("it needs {name}, which is in the wheel as `{path}`, but not in its search path");
    context
        .on_member(&codes::LIBRARY_FROM_ELSEWHERE, &user.path, message)
        .help(format!(
            "link it with the search path `{}`",
            from_origin(&user.path, path)
        ))
}

/// Returns the path of a library of the wheel by its file name or SONAME.
fn library_path<'a>(context: CheckContext<'a>, name: &str) -> Option<&'a str> {
    context
        .libraries()
        .find(|(path, library)| {
            path.rsplit('/').next() == Some(name) || library.soname.as_deref() == Some(name)
        })
        .map(|(path, _)| path)
}

/// Returns whether the library at a path is a Python module of this name: once it is imported, the
/// dynamic linker uses it for every need of its SONAME (ld.so(8)), wherever the search path leads.
fn is_module(context: CheckContext<'_>, name: &str, module_path: &str) -> bool {
    context.libraries().any(|(path, library)| {
        path == module_path
            && library.extension.is_some()
            && library.soname.as_deref() == Some(name)
    })
}

/// Returns in words the platform of the libraries, if a claimed tag is for another system, C
/// library or processor.
pub(crate) fn other_system(
    files: &[InspectedFile],
    compliance: &Compliance,
    tag: &str,
) -> Option<String> {
    let policies = compliance.policies();
    if let Some(reason) = not_for_linux(files, tag) {
        return Some(reason);
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

fn has_kind(files: &[InspectedFile], kind: &InspectedKind) -> bool {
    files.iter().any(|file| file.kind == *kind)
}

/// Returns in words the platform of the libraries, if a tag is for a system that is not audited and
/// no file of the wheel can be for it: Windows, macOS, iOS and WebAssembly have no ELF files, and
/// other systems neither glibc nor musl.
fn not_for_linux(files: &[InspectedFile], tag: &str) -> Option<String> {
    let PlatformSystem::Foreign(system) = PlatformSystem::of_tag(tag) else {
        return None;
    };
    let mut libraries = libraries(files);
    let is_false = match system {
        ForeignSystem::Windows | ForeignSystem::Cygwin => {
            libraries.next().is_some() && !has_kind(files, &InspectedKind::Windows)
        }
        ForeignSystem::MacOs | ForeignSystem::Ios | ForeignSystem::WebAssembly => {
            libraries.next().is_some() && !has_kind(files, &InspectedKind::AppleOrWasm)
        }
        _ => {
            let (for_linux, others): (Vec<_>, Vec<_>) =
                libraries.partition(|(path, library)| elf_libc(library, path).is_some());
            // A library that needs no other one is for any system.
            !for_linux.is_empty() && others.iter().all(|(_, library)| library.needed.is_empty())
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
    if claimed.priority() <= compliance.own_symbol_policy().priority() {
        return None;
    }
    let offenders = offenders(context.files, claimed);
    let (path, version) = offenders.first()?;
    Some((
        format!("`{path}` needs {version}, which it does not provide"),
        notes_on_other_offenders(&offenders),
    ))
}

/// Returns notes on all [`offenders`] but the first.
pub(crate) fn notes_on_other_offenders(offenders: &[(&str, &str)]) -> Vec<String> {
    let others = offenders
        .iter()
        .skip(1)
        .take(SHOWN - 1)
        .map(|(path, version)| format!("`{path}` needs {version}"));
    let hidden = offenders.len().saturating_sub(SHOWN);
    let more = (hidden > 0).then(|| count_more(hidden, "and "));
    others.chain(more).collect()
}

/// Returns files with the symbol versions that they need and a policy does not permit, newest
/// first, one for each file and prefix.
pub(crate) fn offenders<'f>(
    files: &'f [InspectedFile],
    policy: PlatformPolicy<'_>,
) -> Vec<(&'f str, &'f str)> {
    let mut offenders: Vec<(&str, &str)> = Vec::new();
    for (path, library) in libraries(files) {
        let versions = library
            .versions
            .iter()
            .flat_map(|need| &need.versions)
            .map(String::as_str)
            .filter(|version| !policy.permits_version(version));
        offenders.extend(
            newest_versions(versions)
                .into_values()
                .map(|version| (path, version)),
        );
    }
    offenders.sort_by_key(|&(path, version)| {
        let newest_first = Reverse(version_numbers(version));
        (version_prefix(version), newest_first, path)
    });
    offenders
}

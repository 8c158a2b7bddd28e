//! Checks of METADATA and WHEEL against the filename.

use std::collections::BTreeSet;

use super::super::identity::{ONCE_IN_METADATA, form_errors, is_same_distribution};
use super::super::limits::MAX_TAGS;
use super::super::{HeaderDocument, WheelHeaders, ZipMember};
use super::{FindingCollector, required};
use crate::codes::rocm::TAG_MISMATCH;
use crate::codes::wheel as codes;
use rock_diagnostic::{Severity, list_first};
use rock_names::{BuildTag, LabelParts, Requirement, Version, VersionSpecifiers, WheelName};

/// Upper bound for the patch releases of a minor version of torch. A requirement that allows none
/// of them does not allow the minor version.
const PATCHES: u64 = 20;

pub(super) fn check(wheel: &WheelHeaders<'_>, name: &WheelName, findings: &mut FindingCollector) {
    check_core_metadata(
        wheel.metadata(),
        &wheel.dist_info_path("METADATA"),
        findings,
    );
    check_form(
        wheel.wheel_file(),
        ONCE_IN_WHEEL,
        &wheel.dist_info_path("WHEEL"),
        findings,
    );
    check_name_and_version(wheel, name, findings);
    check_dist_info_name(wheel, name, findings);
    check_torch(wheel, name, findings);
    check_tags(wheel, name, findings);
    check_purelib(wheel, name, findings);
}

/// Single-use headers of WHEEL (binary distribution format).
const ONCE_IN_WHEEL: &[&str] = &["Wheel-Version", "Root-Is-Purelib", "Build"];

/// Checks METADATA or PKG-INFO without the filename: the form of the headers, the required headers,
/// and the requirements.
pub(in super::super) fn check_core_metadata(
    metadata: &HeaderDocument,
    member: &str,
    findings: &mut FindingCollector,
) {
    check_form(metadata, ONCE_IN_METADATA, member, findings);
    for header in ["Metadata-Version", "Name", "Version"] {
        if let Err(message) = required(metadata, header) {
            findings.push(findings.invalid_header(member, message));
        }
    }
    if let Ok(written) = required(metadata, "Metadata-Version")
        && !is_known_metadata_version(&written)
    {
        let message = format!(
            "`Metadata-Version: {}` is not 1.x or 2.x",
            written.escape_debug()
        );
        findings.push(findings.invalid_header(member, message));
    }
    check_requirements(metadata, member, findings);
}

fn check_form(
    headers: &HeaderDocument,
    once: &[&str],
    member: &str,
    findings: &mut FindingCollector,
) {
    for message in form_errors(headers, once) {
        findings.push(findings.invalid_header(member, message));
    }
    if let Some(line) = headers.malformed_line() {
        let message = format!(
            "line {} is not a header: `{}`",
            line.line,
            line.text.escape_debug()
        );
        findings.push(findings.member(&codes::MALFORMED_HEADER, member, message));
    }
}

fn check_name_and_version(
    wheel: &WheelHeaders<'_>,
    name: &WheelName,
    findings: &mut FindingCollector,
) {
    let member = wheel.dist_info_path("METADATA");
    if let Ok(written) = required(wheel.metadata(), "Name")
        && !is_same_distribution(&written, name.distribution())
    {
        let message = format!(
            "METADATA has `Name: {written}`, but the filename has `{}`",
            name.distribution()
        );
        findings.push(findings.member(&codes::NAME_MISMATCH, &member, message));
    }
    let Ok(written) = required(wheel.metadata(), "Version") else {
        return;
    };
    match written.parse::<Version>() {
        Ok(version) if version == *name.version() => {}
        Ok(version) if version.public() == name.version().public() => {
            let label = |version: &Version| {
                version.local().map_or("no label".to_owned(), |label| {
                    format!("the label `{label}`")
                })
            };
            let message = format!(
                "the version in METADATA has {}, but the filename has {}",
                label(&version),
                label(name.version())
            );
            let help = name.label().map(|label| {
                format!("set both with `rock-matrix wheel label WHEEL {label} --replace --out DIR`")
            });
            let finding = findings.member(&codes::VERSION_MISMATCH, &member, message);
            findings.push(
                help.into_iter()
                    .fold(finding, rock_diagnostic::Diagnostic::help),
            );
        }
        Ok(version) => {
            let message = format!(
                "METADATA has `Version: {version}`, but the filename has `{}`",
                name.version()
            );
            findings.push(findings.member(&codes::VERSION_MISMATCH, &member, message));
        }
        Err(error) => findings.push(findings.invalid_header(&member, error.to_string())),
    }
}

/// Returns whether a `Metadata-Version` has a known major version. Tools must fail for a later one
/// (core metadata specification, "Metadata-Version").
fn is_known_metadata_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.')
        .is_some_and(|(major, minor)| ["1", "2"].contains(&major) && is_number(minor))
}

fn check_dist_info_name(
    wheel: &WheelHeaders<'_>,
    name: &WheelName,
    findings: &mut FindingCollector,
) {
    let stem = wheel.dist_info_stem();
    let is_same = stem
        .rsplit_once('-')
        .is_some_and(|(distribution, version)| {
            is_same_distribution(distribution, name.distribution())
                && version
                    .parse::<Version>()
                    .is_ok_and(|version| version == *name.version())
        });
    if !is_same {
        let expected = name.dist_info();
        let message = format!(
            "the directory is named `{}`, but should be named `{expected}`",
            wheel.dist_info()
        );
        findings.push(findings.member(
            &codes::DIST_INFO_FOLDER,
            &format!("{}/", wheel.dist_info()),
            message,
        ));
    }
}

/// Checks requirements by PEP 508 and PEP 440.
///
/// pip refuses wheels with an invalid requirement, uv corrects a few, PyPI accepts none.
fn check_requirements(metadata: &HeaderDocument, member: &str, findings: &mut FindingCollector) {
    for requirement in metadata.get_all("Requires-Dist") {
        if let Err(error) = requirement.parse::<Requirement>() {
            let message = format!(
                "`Requires-Dist: {}` cannot be read: {}",
                error.text.escape_debug(),
                error.reason
            );
            findings.push(findings.member(&codes::BAD_REQUIREMENT, member, message));
        }
    }
    if let Some(python) = metadata.get("Requires-Python")
        && let Err(error) = python.parse::<VersionSpecifiers>()
    {
        let message = format!(
            "`Requires-Python: {}` cannot be read: {}",
            error.text.escape_debug(),
            error.reason
        );
        findings.push(findings.member(&codes::BAD_REQUIREMENT, member, message));
    }
}

fn check_torch(wheel: &WheelHeaders<'_>, name: &WheelName, findings: &mut FindingCollector) {
    let parsed = name
        .label()
        .and_then(|label| LabelParts::parse(&label, &[]).ok());
    let torch = parsed.and_then(|parsed| parsed.parts.torch);
    for requirement in wheel.metadata().get_all("Requires-Dist") {
        // Wheels built with torch, such as torchaudio, may pin the torch of their own version.
        let Some(specifiers) =
            torch_specifiers(&requirement).filter(|text| !is_own_version(text, name))
        else {
            continue;
        };
        let Some(torch) = &torch else {
            if is_pin(&specifiers) {
                let message = format!(
                    "`Requires-Dist: {requirement}` pins a torch version, but no label names one"
                );
                findings.push(
                    findings
                        .member(
                            &codes::TORCH_REQUIREMENT,
                            &wheel.dist_info_path("METADATA"),
                            message,
                        )
                        .severity(Severity::Warning)
                        .help(
                            "require `torch` without a version, and name the torch version in the \
                             label",
                        ),
                );
            }
            continue;
        };
        if !allows(&specifiers, torch) {
            let message = format!(
                "`Requires-Dist: {requirement}` contradicts the label, which names torch {}",
                torch.minor()
            );
            findings.push(
                findings
                    .member(
                        &codes::TORCH_REQUIREMENT,
                        &wheel.dist_info_path("METADATA"),
                        message,
                    )
                    .help("require `torch` without a version"),
            );
        }
    }
}

fn is_own_version(specifiers: &str, name: &WheelName) -> bool {
    let pinned = specifiers
        .trim()
        .strip_prefix("==")
        .and_then(|version| version.trim().parse::<Version>().ok());
    pinned.is_some_and(|version| version == *name.version())
}

/// Returns the version specifiers of a requirement on torch that is not limited to an extra.
fn torch_specifiers(requirement: &str) -> Option<String> {
    let (requirement, marker) = requirement.split_once(';').unwrap_or((requirement, ""));
    let end = requirement
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
        .unwrap_or(requirement.len());
    let (name, rest) = requirement
        .trim_end()
        .split_at(end.min(requirement.trim_end().len()));
    if !name.eq_ignore_ascii_case("torch") || marker.contains("extra") {
        return None;
    }
    let rest = rest.trim();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']').map_or("", |(_, rest)| rest).trim(),
        None => rest,
    };
    Some(
        rest.trim_start_matches('(')
            .trim_end_matches(')')
            .trim()
            .to_owned(),
    )
}

/// Returns whether specifiers allow a single release, or those of one minor version: `==2.5.1`,
/// `==2.5.*` and `~=2.5.1` do, `==2.*` and `~=2.5` do not.
fn is_pin(specifiers: &str) -> bool {
    specifiers.split(',').map(str::trim).any(|one| {
        let components = |version: &str| version.trim().trim_end_matches(".*").split('.').count();
        match (one.strip_prefix("=="), one.strip_prefix("~=")) {
            (Some(version), _) => !version.trim().ends_with(".*") || components(version) >= 2,
            (None, Some(version)) => components(version) >= 3,
            (None, None) => false,
        }
    })
}

/// Returns whether specifiers allow a release of this minor version of torch, or this prerelease.
/// Local version labels are ignored.
fn allows(specifiers: &str, torch: &Version) -> bool {
    if specifiers.is_empty() {
        return true;
    }
    let without_local: Vec<&str> = specifiers
        .split(',')
        .map(|one| {
            one.split('+')
                .next()
                .unwrap_or_default()
                .trim()
                .trim_start_matches("===")
        })
        .collect();
    let joined: Vec<String> = without_local
        .iter()
        .map(|one| {
            if one.starts_with(|c: char| c.is_ascii_digit()) {
                format!("=={one}")
            } else {
                (*one).to_owned()
            }
        })
        .collect();
    let joined = joined.join(",");
    let candidates = (0..PATCHES)
        .map(|patch| format!("{}.{patch}", torch.minor()))
        .chain([torch.public().to_string()]);
    candidates
        .into_iter()
        .filter_map(|text| text.parse::<Version>().ok())
        .any(|version| version.satisfies(&joined).unwrap_or(false))
}

fn check_tags(wheel: &WheelHeaders<'_>, name: &WheelName, findings: &mut FindingCollector) {
    let member = wheel.dist_info_path("WHEEL");
    match required(wheel.wheel_file(), "Wheel-Version") {
        Ok(version) if version.starts_with("1.") => {}
        Ok(version) => findings.push(
            findings.invalid_header(&member, format!("`Wheel-Version: {version}` is not 1.x")),
        ),
        Err(message) => findings.push(findings.invalid_header(&member, message)),
    }
    let written = written_tags(wheel.wheel_file());
    let named: BTreeSet<String> = name.expanded_tags().into_iter().collect();
    if written.is_empty() {
        findings.push(findings.invalid_header(&member, "`Tag` is missing".to_owned()));
    } else if written != named {
        let message = format!(
            "WHEEL has `Tag: {}`, but the filename has {}",
            format_tags(&written),
            format_tags(&named)
        );
        findings.push(findings.member(&TAG_MISMATCH, &member, message));
    }
    let build = wheel
        .wheel_file()
        .get("Build")
        .filter(|build| !build.is_empty());
    if build.as_deref() != name.build_tag().map(BuildTag::as_str) {
        let word = |build: Option<&str>| {
            build.map_or("no build tag".to_owned(), |build| {
                format!("the build tag `{build}`")
            })
        };
        let message = format!(
            "WHEEL has {}, but the filename has {}",
            word(build.as_deref()),
            word(name.build_tag().map(BuildTag::as_str))
        );
        findings.push(findings.member(&TAG_MISMATCH, &member, message));
    }
}

/// Maximum number of tags in a message.
const SHOWN_TAGS: usize = 32;

/// Returns the tags of WHEEL, up to [`MAX_TAGS`].
fn written_tags(wheel: &HeaderDocument) -> BTreeSet<String> {
    wheel
        .get_all("Tag")
        .flat_map(|tag| expand_tag_sets(&tag))
        .take(MAX_TAGS)
        .collect()
}

/// Expands the tag sets of a wheel tag. A tag too long for a filename is not expanded, because sets
/// multiply.
fn expand_tag_sets(tag: &str) -> Vec<String> {
    let sets: Vec<Vec<&str>> = tag.split('-').map(|set| set.split('.').collect()).collect();
    let [python, abi, platform] = sets.as_slice() else {
        return vec![tag.to_owned()];
    };
    if tag.len() > WheelName::MAX_BYTES {
        return vec![tag.to_owned()];
    }
    itertools::iproduct!(python, abi, platform)
        .map(|(python, abi, platform)| format!("{python}-{abi}-{platform}"))
        .collect()
}

fn format_tags(tags: &BTreeSet<String>) -> String {
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    list_first(&tags, SHOWN_TAGS, ", and ")
}

fn check_purelib(wheel: &WheelHeaders<'_>, name: &WheelName, findings: &mut FindingCollector) {
    let member = wheel.dist_info_path("WHEEL");
    let written = match required(wheel.wheel_file(), "Root-Is-Purelib") {
        Ok(written) => written,
        Err(message) => return findings.push(findings.invalid_header(&member, message)),
    };
    let is_any = name.is_platform_independent();
    if written.eq_ignore_ascii_case(if is_any { "true" } else { "false" }) {
        return;
    }
    // Members in `NAME.data` are installed by scheme, independent of the header.
    let is_root = |member: &ZipMember| {
        let top = member.name().split('/').next().unwrap_or_default();
        !member.is_dir() && top != wheel.dist_info() && top.strip_suffix(".data").is_none()
    };
    if !is_any && !wheel.archive().members().iter().any(is_root) {
        return;
    }
    let message = format!(
        "WHEEL has `Root-Is-Purelib: {written}` in a wheel for `{}`",
        name.platform_tags()
    );
    // Such a platform wheel is installed to purelib instead of platlib, usually the same directory.
    let severity = if is_any {
        Severity::Error
    } else {
        Severity::Warning
    };
    findings.push(
        findings
            .member(&codes::PURELIB_MISMATCH, &member, message)
            .severity(severity),
    );
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{
        HeaderDocument, MAX_TAGS, SHOWN_TAGS, allows, expand_tag_sets, format_tags, is_pin,
        torch_specifiers, written_tags,
    };

    #[test]
    fn tags_are_read_up_to_the_limit() {
        let read = |tags: usize| {
            let text: String = (0..tags)
                .map(|number| format!("Tag: py{number}-none-any\n"))
                .collect();
            written_tags(&HeaderDocument::parse(text.into_bytes())).len()
        };
        assert_eq!((read(MAX_TAGS), read(MAX_TAGS + 1)), (MAX_TAGS, MAX_TAGS));
    }

    #[test]
    fn a_pin_allows_one_minor_at_most() {
        for pin in ["==2.5.1", "== 2.5.*", "~=2.5.1", ">=2,==2.5", "===2.5.1"] {
            assert!(is_pin(pin), "{pin}");
        }
        for range in ["", ">=2.5", "==2.*", "~=2.5", "!=2.5.1"] {
            assert!(!is_pin(range), "{range}");
        }
    }

    #[test]
    fn tag_sets_are_expanded_up_to_the_length_of_a_filename() {
        assert_eq!(
            expand_tag_sets("cp311.cp312-abi3-any"),
            ["cp311-abi3-any", "cp312-abi3-any"]
        );
        assert_eq!(expand_tag_sets("any"), ["any"]);
        let sets = ["a.".repeat(1 << 16), "b.".repeat(1 << 16), "c".to_owned()].join("-");
        assert_eq!(expand_tag_sets(&sets), [sets.as_str()]);
        let many: BTreeSet<String> = (100..140).map(|number| number.to_string()).collect();
        assert!(
            format_tags(&many).ends_with("130, 131, and 8 more"),
            "{SHOWN_TAGS} are told"
        );
    }

    #[test]
    fn torch_requirements_allow_a_release_of_the_label() {
        let check = |requirement: &str, torch: &str| {
            torch_specifiers(requirement)
                .is_none_or(|specifiers| allows(&specifiers, &torch.parse().unwrap()))
        };
        for fitting in [
            "torch",
            "torch (==2.5.1)",
            "torch==2.5.1",
            "torch ==2.5.1+rocm6.2",
            "torch>=2.4,<3",
            "torch~=2.5.0",
            "torch[opt]",
            "torch==2.4; extra == \"old\"",
            "torchvision==0.1",
            "torch===2.5.1",
            "Torch >= 2.5 ; python_version > '3'",
            "pytorch==1",
            "torch!=2.5.0",
        ] {
            assert!(check(fitting, "2.5"), "{fitting}");
        }
        for contradicting in [
            "torch==2.6.0",
            "torch>=2.6",
            "torch<2.5",
            "torch==2.4.*",
            "torch @ https://x/y.whl",
        ] {
            assert!(!check(contradicting, "2.5"), "{contradicting}");
        }
        assert!(check("torch==2.15.0.dev20261101", "2.15.dev20261101"));
        assert!(check("torch>=2.15.0.dev0", "2.15.dev20261101"));
    }
}

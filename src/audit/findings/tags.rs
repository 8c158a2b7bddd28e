//! What the file name promises against what the files need.

use super::{Subject, numbers};
use crate::audit::inspect::{FileFacts, libraries};
use crate::audit::search::is_data;
use crate::audit::verdict::Verdict;
use crate::compat::policy::Policy;
use crate::diagnostic::registry::rocm as codes;
use crate::diagnostic::{Diagnostic, counted};

/// How many files with a version too new are named; the rest is counted.
const SHOWN: usize = 3;

pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if subject.name.is_any_platform() {
        let code: Vec<&str> =
            subject.files.iter().filter(|file| file.kind.is_machine_code()).map(|file| file.path.as_str()).collect();
        if let Some(first) = code.first() {
            let message = match code.len() {
                1 => format!("the name says any platform, and `{first}` is machine code"),
                more => format!("the name says any platform, and {more} files are machine code, `{first}` the first"),
            };
            found.push(subject.on_wheel(&codes::CODE_IN_ANY_WHEEL, message));
        }
    }
    let outside_data = subject.libraries().find(|(path, _)| !is_data(path.split('/').next().unwrap_or_default()));
    if let Some((path, _)) = outside_data.filter(|_| subject.is_purelib) {
        let message = "WHEEL says `Root-Is-Purelib: true`, and this is a library";
        found.push(subject.on_member(&codes::PURELIB_WITH_LIBRARIES, path, message));
    }
    if let Some(verdict) = subject.verdict {
        let claims = subject.name.platform.tags().iter();
        found.extend(claims.filter_map(|tag| false_claim(subject, verdict, tag)));
    }
    found
}

/// The finding about a claimed platform tag that the symbols of the wheel's own files do not allow.
fn false_claim(subject: Subject<'_>, verdict: &Verdict<'_>, tag: &str) -> Option<Diagnostic> {
    let claimed = verdict.judging.policies.for_tag(tag).filter(|claimed| !claimed.is_linux())?;
    if claimed.priority() <= verdict.own_symbols.priority() {
        return None;
    }
    let offenders = offenders(subject.files, claimed);
    let (path, version) = offenders.first()?;
    let message = format!("the name claims `{tag}`, and `{path}` needs {version}, which it does not have");
    let mut finding = subject.on_wheel(&codes::FALSE_PLATFORM_TAG, message);
    for (path, version) in offenders.iter().skip(1).take(SHOWN - 1) {
        finding = finding.note(format!("`{path}` needs {version}"));
    }
    if offenders.len() > SHOWN {
        finding = finding.note(format!("and {} more", counted(offenders.len() - SHOWN, "need")));
    }
    Some(finding.help(if verdict.own_symbols.is_linux() {
        "no manylinux tag fits it; build it in an older image".to_owned()
    } else {
        format!("its own symbols allow `{}`", verdict.own_symbols.tag())
    }))
}

/// Files and the versions that they need and a policy does not have, the newest first, one for each file and prefix.
pub(in crate::audit) fn offenders<'f>(files: &'f [FileFacts], policy: Policy<'_>) -> Vec<(&'f str, &'f str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for (path, library) in libraries(files) {
        let mut worst: std::collections::BTreeMap<&str, &str> = std::collections::BTreeMap::new();
        for version in
            library.versions.iter().flat_map(|need| &need.versions).filter(|one| !policy.permits_version(one))
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
            (version.split('_').next().unwrap_or_default().to_owned(), std::cmp::Reverse(numbers(version)))
        };
        key(one.1).cmp(&key(other.1)).then_with(|| one.0.cmp(other.0))
    });
    found
}

//! Reads a wheel: its label, its METADATA, and whether it is valid.

use std::path::Path;

use rock_diagnostic::{Diagnostic, Location, Severity, Sink};
use rock_index::CoreMetadata;
use rock_names::{DistributionName, LabelParts, LabelStyle, RocmVersion, WheelName};
use rock_sys::PositionalFile;
use rock_wheel::codes::wheel::COMPRESSION_RATIO;
use rock_wheel::{HeaderDocument, LabelCheck, WheelError, WheelHeaders};

use crate::CheckDepth;
use crate::codes::release as codes;
use crate::sums::sha256;

/// The data of an index that come from the contents of a wheel.
#[derive(Debug)]
pub(crate) struct WheelContents {
    pub(crate) project: DistributionName,
    pub(crate) requires_python: Option<String>,
    pub(crate) requires: Vec<String>,
    pub(crate) metadata: CoreMetadata,
}

/// Parses the label; `Some(None)` for a wheel without one, and for a label without an accelerator,
/// with a warning. An ambiguous label of an accelerator is an error.
#[expect(
    clippy::option_option,
    reason = "a wheel without a label is not an error"
)]
pub(crate) fn parse_label(
    wheel: &WheelName,
    rocm_versions: &[RocmVersion],
    location: Location,
    sink: &mut Sink,
) -> Option<Option<LabelParts>> {
    let Some(label) = wheel.label() else {
        return Some(None);
    };
    match LabelParts::parse(&label, rocm_versions) {
        Ok(parsed) if parsed.ambiguous => {
            let dotted = parsed.parts.label(LabelStyle::Dotted);
            sink.push(
                Diagnostic::new(
                    &codes::AMBIGUOUS_READING,
                    format!("the label `{label}` names two versions"),
                )
                .at(location, "")
                .help(format!("separate the versions with dots, as `rock-matrix wheel label WHEEL {dotted} --replace` does")),
            );
            None
        }
        Ok(parsed) => Some(Some(parsed.parts)),
        Err(error) if label.as_str().starts_with("rocm") => {
            sink.push(Diagnostic::new(&codes::UNREADABLE_NAME, error.to_string()).at(location, ""));
            None
        }
        Err(_) => {
            sink.push(
                Diagnostic::new(
                    &codes::UNREADABLE_NAME,
                    format!("the label `{label}` names no accelerator"),
                )
                .severity(Severity::Warning)
                .at(
                    location,
                    "not listed in any index, because its accelerator is unknown",
                ),
            );
            Some(None)
        }
    }
}

/// Reads a wheel; its errors go to the sink. A wheel with an error is left out.
pub(crate) fn read_contents(
    path: &Path,
    name: &WheelName,
    depth: CheckDepth,
    sink: &mut Sink,
) -> Option<WheelContents> {
    let source = PositionalFile::open(path)
        .map_err(|error| sink.push(error.into()))
        .ok()?;
    let headers = match depth {
        CheckDepth::Verify => {
            let findings = rock_wheel::verify(&source, name);
            let has_errors = findings.iter().any(Diagnostic::is_error);
            sink.extend(findings);
            if has_errors {
                return None;
            }
            read_headers(&source, name, sink)?
        }
        CheckDepth::Identify => read_headers(&source, name, sink)?,
        CheckDepth::List => list_headers(&source, name, sink)?,
    };
    parse_metadata(headers, name, sink)
}

/// Reads METADATA alone.
fn read_headers(
    source: &PositionalFile,
    name: &WheelName,
    sink: &mut Sink,
) -> Option<HeaderDocument> {
    match rock_wheel::read_metadata(source) {
        Ok(bytes) => Some(HeaderDocument::parse(bytes)),
        Err(error) => {
            sink.push(named(&error, name));
            None
        }
    }
}

/// Reads METADATA and checks the directory of the archive.
fn list_headers(
    source: &PositionalFile,
    name: &WheelName,
    sink: &mut Sink,
) -> Option<HeaderDocument> {
    let headers = match WheelHeaders::open(source) {
        Ok(headers) => headers,
        Err(error) => {
            sink.push(named(&error, name));
            return None;
        }
    };
    let findings = rock_wheel::verify_headers(&headers, name)
        .into_iter()
        .filter(|finding| finding.is_error() || finding.code == &COMPRESSION_RATIO);
    let error_count = sink.error_count();
    sink.extend(findings);
    (sink.error_count() == error_count).then(|| headers.into_metadata())
}

/// Parses the METADATA of a wheel, which must match its name.
pub(crate) fn parse_metadata(
    headers: HeaderDocument,
    name: &WheelName,
    sink: &mut Sink,
) -> Option<WheelContents> {
    let member = format!("{}/METADATA", name.dist_info());
    if let Err(error) = rock_wheel::check_identity(&headers, name, &member, LabelCheck::MustMatch) {
        sink.push(named(&error, name));
        return None;
    }
    let project = headers.get("Name").and_then(|name| name.parse().ok());
    let requires = headers
        .get_all("Requires-Dist")
        .filter(|requirement| !is_extra(requirement))
        .map(std::borrow::Cow::into_owned)
        .collect();
    let requires_python = headers
        .get("Requires-Python")
        .map(std::borrow::Cow::into_owned);
    let metadata = CoreMetadata {
        digest: sha256(headers.bytes()),
        bytes: Some(headers.into_bytes()),
    };
    Some(WheelContents {
        project: project.unwrap_or_else(|| name.distribution().clone()),
        requires_python,
        requires,
        metadata,
    })
}

/// Returns the diagnostic for an error in this wheel.
fn named(error: &WheelError, name: &WheelName) -> Diagnostic {
    error.diagnostic(&name.to_string())
}

/// Whether a requirement applies only with an extra: `pytest; extra == "test"`.
fn is_extra(requirement: &str) -> bool {
    requirement
        .split_once(';')
        .is_some_and(|(_, marker)| marker.contains("extra"))
}

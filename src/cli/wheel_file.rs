//! Reads a wheel: its label, its METADATA, and whether it is valid.

use std::path::Path;

use super::assets::Depth;
use super::release_folder::digest;
use crate::codes::release as codes;
use crate::codes::wheel as wheel_codes;
use crate::diagnostic::{Diagnostic, Location, Severity, Sink};
use crate::index::CoreMetadata;
use crate::names::{DistributionName, LabelParts, LabelStyle, RocmVersion, WheelName};
use crate::sys::PositionalFile;
use crate::wheel::{self, HeaderDocument, LabelCheck, WheelError, WheelHeaders};

/// The data of an index that come from the contents of a wheel.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) project: DistributionName,
    pub(super) requires_python: Option<String>,
    pub(super) requires: Vec<String>,
    pub(super) metadata: CoreMetadata,
}

/// Parses the label; `Some(None)` for a wheel without one, and for a label without an accelerator,
/// with a warning. An ambiguous label of an accelerator is an error.
#[expect(clippy::option_option, reason = "a wheel without a label is no fault")]
pub(super) fn label(
    wheel: &WheelName,
    known: &[RocmVersion],
    place: Location,
    sink: &mut Sink,
) -> Option<Option<LabelParts>> {
    let Some(label) = wheel.label() else {
        return Some(None);
    };
    match LabelParts::parse(&label, known) {
        Ok(parsed) if parsed.ambiguous => {
            let dotted = parsed.parts.label(LabelStyle::Dotted);
            sink.push(
                Diagnostic::new(&codes::AMBIGUOUS_READING, format!("the label `{label}` names two versions"))
                    .at(place, "")
                    .help(format!("separate the versions with dots, as `rock-matrix wheel label WHEEL --local {dotted} --replace` does")),
            );
            None
        }
        Ok(parsed) => Some(Some(parsed.parts)),
        Err(error) if label.as_str().starts_with("rocm") => {
            sink.push(Diagnostic::new(&codes::UNREADABLE_NAME, error.to_string()).at(place, ""));
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
                    place,
                    "not listed in any index, because its accelerator is unknown",
                ),
            );
            Some(None)
        }
    }
}

/// Reads a wheel; its errors go to the sink. A wheel with an error is left out.
pub(super) fn read(
    path: &Path,
    name: &WheelName,
    depth: Depth,
    sink: &mut Sink,
) -> Option<Contents> {
    let source = PositionalFile::open(path)
        .map_err(|error| sink.push(error.into()))
        .ok()?;
    if depth == Depth::Verify {
        let found = wheel::verify(&source, name);
        let is_faulty = found.iter().any(Diagnostic::is_error);
        sink.extend(found);
        if is_faulty {
            return None;
        }
    }
    let fault = |error: WheelError| error.diagnostic(&name.to_string());
    if depth == Depth::List {
        let headers = WheelHeaders::open(&source)
            .map_err(|error| sink.push(fault(error)))
            .ok()?;
        let is_told =
            |one: &Diagnostic| one.is_error() || one.code == &wheel_codes::COMPRESSION_RATIO;
        let faults = wheel::verify_headers(&headers, name)
            .into_iter()
            .filter(is_told);
        let count = sink.error_count();
        sink.extend(faults);
        return if sink.error_count() == count {
            contents(headers.into_metadata(), name, sink)
        } else {
            None
        };
    }
    let bytes = wheel::read_metadata(&source)
        .map_err(|error| sink.push(fault(error)))
        .ok()?;
    contents(HeaderDocument::parse(bytes), name, sink)
}

/// Parses the METADATA of a wheel, which must match its name.
pub(super) fn contents(
    headers: HeaderDocument,
    name: &WheelName,
    sink: &mut Sink,
) -> Option<Contents> {
    let fault = |error: WheelError| error.diagnostic(&name.to_string());
    let member = format!("{}/METADATA", name.dist_info());
    wheel::check_identity(&headers, name, &member, LabelCheck::MustMatch)
        .map_err(|error| sink.push(fault(error)))
        .ok()?;
    let project = headers.get("Name").and_then(|name| name.parse().ok());
    let needed = headers
        .get_all("Requires-Dist")
        .filter(|requirement| !is_extra(requirement));
    let requires = needed.map(std::borrow::Cow::into_owned).collect();
    let requires_python = headers
        .get("Requires-Python")
        .map(std::borrow::Cow::into_owned);
    let metadata = CoreMetadata {
        digest: digest(headers.bytes()),
        bytes: Some(headers.into_bytes()),
    };
    Some(Contents {
        project: project.unwrap_or_else(|| name.distribution().clone()),
        requires_python,
        requires,
        metadata,
    })
}

/// Whether a requirement holds only with an extra: `pytest; extra == "test"`.
fn is_extra(requirement: &str) -> bool {
    requirement
        .split_once(';')
        .is_some_and(|(_, marker)| marker.contains("extra"))
}

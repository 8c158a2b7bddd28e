//! One wheel opened: its label, METADATA, and whether it is whole.

use std::io::Read;
use std::path::Path;

use super::assets::Depth;
use crate::diagnostic::{Diagnostic, Place, Severity, Sink, registry::release as codes};
use crate::index::CoreMetadata;
use crate::names::{DistributionName, LabelParts, LabelStyle, RocmVersion, WheelName};

/// What the index says of a wheel from its inside.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) project: DistributionName,
    pub(super) requires_python: Option<String>,
    pub(super) requires: Vec<String>,
    pub(super) metadata: CoreMetadata,
}

/// What the label says; `Some(None)` for a wheel without one, and for one whose label names no accelerator. A label that
/// names one and cannot be read for certain is a fault.
#[expect(clippy::option_option, reason = "a wheel without a label is no fault")]
pub(super) fn label(
    wheel: &WheelName,
    known: &[RocmVersion],
    place: Place,
    sink: &mut Sink,
) -> Option<Option<LabelParts>> {
    let Some(label) = wheel.label() else { return Some(None) };
    match LabelParts::parse(&label, known) {
        Ok(parsed) if parsed.ambiguous => {
            let dotted = parsed.parts.label(LabelStyle::Dotted);
            sink.push(
                Diagnostic::new(&codes::AMBIGUOUS_READING, format!("the label `{label}` names two versions"))
                    .at(place, "")
                    .help(format!("give it dots, such as `rock-matrix wheel label WHEEL {dotted}`")),
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
                Diagnostic::new(&codes::UNREADABLE_NAME, format!("the label `{label}` names no accelerator"))
                    .severity(Severity::Warning)
                    .at(place, "listed in `any`, as a wheel for every machine"),
            );
            Some(None)
        }
    }
}

pub(super) fn read(path: &Path, wheel: &WheelName, _depth: Depth, sink: &mut Sink) -> Option<Contents> {
    let bytes = crate::sys::read_bytes(path, 1 << 30).map_err(|e| sink.push(e.into())).ok()?;
    let u16_at = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?) as usize);
    let u32_at = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let end = bytes.windows(4).rposition(|w| w == b"PK\x05\x06")?;
    let (count, mut at) = (u16_at(end + 10)?, u32_at(end + 16)?);
    for _ in 0..count {
        let (method, packed) = (u16_at(at + 10)?, u32_at(at + 20)?);
        let (name, extra, comment) = (u16_at(at + 28)?, u16_at(at + 30)?, u16_at(at + 32)?);
        let local = u32_at(at + 42)?;
        let text = String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name)?).into_owned();
        if text.ends_with(".dist-info/METADATA") {
            let start = local + 30 + u16_at(local + 26)? + u16_at(local + 28)?;
            let raw = bytes.get(start..start + packed)?;
            let mut data = Vec::new();
            if method == 0 {
                data.extend_from_slice(raw);
            } else {
                flate2::read::DeflateDecoder::new(raw).read_to_end(&mut data).ok()?;
            }
            let text = String::from_utf8_lossy(&data).into_owned();
            let all = |key: &str| {
                text.lines()
                    .take_while(|l| !l.is_empty())
                    .filter_map(|l| l.strip_prefix(key))
                    .map(|v| v.trim().to_owned())
                    .collect::<Vec<_>>()
            };
            return Some(Contents {
                project: wheel.distribution.parse().ok()?,
                requires_python: all("Requires-Python:").pop(),
                requires: all("Requires-Dist:"),
                metadata: CoreMetadata { digest: super::release_folder::digest(&data), bytes: data },
            });
        }
        at += 46 + name + extra + comment;
    }
    None
}

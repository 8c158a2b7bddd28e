//! Audits of wheels.

use std::sync::OnceLock;

use rock_matrix::audit::{AuditDocument, AuditOptions, Auditor, JsonDialect, NoLibraries};
use rock_matrix::compat::Compat;
use rock_matrix::names::WheelName;
use rock_matrix::wheel::ZipWriter;
use rock_matrix::wheel::zip::MemberOptions;

use crate::WHEEL;

/// Audits a wheel of two files: the first two bytes say how long the first one is.
pub fn audit(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let (first, second) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
    let name: WheelName = WHEEL.parse().expect("it is a wheel's name");
    let dist_info = name.dist_info();
    let metadata = format!(
        "Metadata-Version: 2.1\nName: {}\nVersion: {}\n",
        name.distribution(),
        name.version()
    );
    let [metadata_path, wheel_path, record_path] =
        ["METADATA", "WHEEL", "RECORD"].map(|file| format!("{dist_info}/{file}"));
    let mut wheel = Vec::new();
    let mut writer = ZipWriter::new(&mut wheel);
    for (path, content) in [
        ("demo/_demo.so", first),
        ("demo.libs/libfoo.so.1", second),
        (metadata_path.as_str(), metadata.as_bytes()),
        (wheel_path.as_str(), b"Wheel-Version: 1.0\n".as_slice()),
        (record_path.as_str(), b"".as_slice()),
    ] {
        let stored = MemberOptions {
            level: 0,
            ..MemberOptions::default()
        };
        writer
            .add(path, content, &stored)
            .expect("memory takes everything");
    }
    writer.finish().expect("memory takes everything");

    let auditor = Auditor::new(compat(), NoLibraries, AuditOptions::default());
    let audited = auditor.audit(&name, &wheel).expect("no member is damaged");
    for dialect in [JsonDialect::Rock, JsonDialect::Auditwheel] {
        let _ = AuditDocument::new(&audited, dialect);
    }
}

fn compat() -> &'static Compat {
    static COMPAT: OnceLock<Compat> = OnceLock::new();
    COMPAT.get_or_init(Compat::embedded)
}

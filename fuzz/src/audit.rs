//! Judging wheels.

use std::sync::OnceLock;

use rock_matrix::audit::{
    Document, Excludes, Judged, Judging, Known, Look, NoLibraries, Readers, Reading, SearchPath,
    inspect, policies_for, report, select,
};
use rock_matrix::bytes::in_memory;
use rock_matrix::compat::Compat;
use rock_matrix::compat::policy::PolicyFamily;
use rock_matrix::names::WheelName;
use rock_matrix::wheel::zip::MemberOptions;
use rock_matrix::wheel::{ZipArchive, ZipWriter};

use crate::WHEEL;

/// Judges a wheel of two files: the first two bytes say how long the first one is.
pub fn audit(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let (first, second) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
    let mut wheel = Vec::new();
    let mut writer = ZipWriter::new(&mut wheel);
    for (name, content) in [("demo/_demo.so", first), ("demo.libs/libfoo.so.1", second)] {
        let stored = MemberOptions {
            level: 0,
            ..MemberOptions::default()
        };
        writer
            .add(name, content, &stored)
            .expect("memory takes everything");
    }
    writer.finish().expect("memory takes everything");

    let name: WheelName = WHEEL.parse().expect("it is a wheel's name");
    let archive = ZipArchive::open(&wheel).expect("it was just written");
    let asked = |symbol: &str| symbol.len() % 2 == 0;
    let look = Look::Everything;
    let reading = Reading {
        asked: &asked,
        make_scratch: &in_memory,
        look,
        watch: &|_| {},
        vouching: None,
    };
    let files = inspect(&archive, reading).expect("no member is damaged");
    let selected = select(&name, &files);
    let policies = policies_for(&selected, &name, PolicyFamily::Manylinux, None, None);
    let (known, path, excludes) = (
        Known::new(&NoLibraries),
        SearchPath::default(),
        Excludes::default(),
    );
    let judging = policies.as_ref().map(|policies| Judging {
        policies,
        known: &known,
        path: &path,
        excludes: &excludes,
        checks_isa: true,
        is_libc_open: selected.is_libc_open,
    });
    let judged = Judged {
        compat: compat(),
        allowed_paths: &excludes,
        is_purelib: false,
    };
    let report = report(&name, files, selected, judging, judged);
    for readers in [Readers::Own, Readers::Auditwheel] {
        let _ = Document::new(&report, readers);
    }
}

fn compat() -> &'static Compat {
    static COMPAT: OnceLock<Compat> = OnceLock::new();
    COMPAT.get_or_init(Compat::embedded)
}

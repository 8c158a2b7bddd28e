//! Source archives with as many folders as are read, and with one more.

use crate::support::hostile::{Bounds, bounded};
use crate::support::{Project, SourceArchive};

const TREE: &str = "aotriton-0.13.0+rocm7.14-gfx942-linux_x86_64-tree.tar.gz";
const BOUNDS: Bounds = Bounds {
    address_mib: 768,
    peak_mib: 192,
    cpu_s: 60,
};
const PUBLISH: [&str; 4] = ["publish", "--to", "release", "dist"];

/// Asserts that `publish` refuses an archive with one error of this code and text, and writes
/// nothing.
#[track_caller]
fn refused(bytes: &[u8], code: &str, text: &str) {
    let project = Project::new().bytes(&format!("dist/{TREE}"), bytes);
    let before = project.files();
    let stderr = bounded(&project, BOUNDS, &PUBLISH, 1).stderr;
    assert!(
        stderr.contains(&format!("error[{code}")) && stderr.contains(text),
        "{text}: {stderr}"
    );
    assert_eq!(stderr.matches("error[").count(), 1, "{text}: {stderr}");
    assert!(stderr.contains(&format!("dist/{TREE}")), "{stderr}");
    assert!(stderr.contains("\nhelp: "), "{text}: {stderr}");
    assert_eq!(project.files(), before);
}

#[track_caller]
fn accepted(bytes: &[u8]) {
    let project = Project::new().bytes(&format!("dist/{TREE}"), bytes);
    let stderr = bounded(&project, BOUNDS, &PUBLISH, 0).stderr;
    assert!(!stderr.contains("[W"), "{stderr}");
}

#[test]
fn folders_at_the_limits_are_read_and_more_are_refused() {
    let members = |count: usize| {
        let archive = (1..count).fold(SourceArchive::empty(), |archive, at| {
            archive.file(&format!("t/{at}/a"), "")
        });
        archive.bytes()
    };
    accepted(&members(100_000));
    refused(
        &members(100_001),
        "W116 damaged-archive",
        "it cannot be unpacked: more than 100000 directories",
    );
    // `t` has 1 byte, and so many folders in it 256 each but for the last.
    let paths = |bytes: usize| {
        let archive = (1..bytes / 256).fold(SourceArchive::empty(), |archive, at| {
            archive.file(&format!("t/{at:0>254}/a"), "")
        });
        archive
            .file(&format!("t/{}/a", "n".repeat(bytes % 256 + 253)), "")
            .bytes()
    };
    accepted(&paths(16 << 20));
    let above = "it cannot be unpacked: directories whose paths take more than 16 MiB together";
    refused(&paths((16 << 20) + 1), "W116 damaged-archive", above);
}

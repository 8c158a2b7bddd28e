//! `publish` and `index build` check source distributions and archives of install trees before they offer them.

use flate2::Compression;

use crate::support::hostile::{Bounds, bounded};
use crate::support::source_archive::gzip;
use crate::support::{Project, SourceArchive, appears};

const NAME: &str = "toy-1.0.tar.gz";
const TREE: &str = "aotriton-0.13.0+rocm7.14-gfx942-linux_x86_64-tree.tar.gz";
const BOUNDS: Bounds = Bounds { address_mib: 768, peak_mib: 192, cpu_s: 60 };
const COMMANDS: [&[&str]; 2] = [&["publish", "--to", "release", "dist"], &["index", "build", "dist", "--out", "pages"]];

fn toy() -> SourceArchive {
    SourceArchive::named(NAME)
}

/// Asserts that both commands refuse a file with this code and text, and write nothing.
#[track_caller]
fn refused(name: &str, bytes: &[u8], code: &str, text: &str) {
    let project = Project::new().bytes(&format!("dist/{name}"), bytes);
    let before = project.files();
    for command in COMMANDS {
        let stderr = bounded(&project, BOUNDS, command, 1).stderr;
        assert!(stderr.contains(&format!("error[{code}")) && stderr.contains(text), "{command:?} {text}: {stderr}");
        assert!(stderr.contains(&format!("dist/{name}")), "{command:?} names the file: {stderr}");
        assert_eq!(project.files(), before, "{command:?}");
    }
}

#[track_caller]
fn accepted(name: &str, bytes: &[u8]) {
    let project = Project::new().bytes(&format!("dist/{name}"), bytes);
    let stderr = bounded(&project, BOUNDS, COMMANDS[0], 0).stderr;
    assert!(!stderr.contains("[W"), "{stderr}");
}

#[test]
fn complete_source_distributions_are_published_and_indexed() {
    accepted(NAME, &toy().bytes());
    let legacy = SourceArchive::empty()
        .other(tar::EntryType::Directory, "./Toy-1.0/", "")
        .file("./Toy-1.0/PKG-INFO", "Metadata-Version: 1.1\nName: Toy\nVersion: 1.0.0\n")
        .file("./Toy-1.0/setup.py", "")
        .other(tar::EntryType::Symlink, "./Toy-1.0/docs/readme", "../PKG-INFO")
        .other(tar::EntryType::Link, "./Toy-1.0/setup.cfg", "Toy-1.0/setup.py");
    accepted(NAME, &legacy.bytes());
    // Two gzip members are one file.
    let tar = toy().file("toy-1.0/b", [7; 5000]).tar();
    let halves = [gzip(&tar[..1000], Compression::fast()), gzip(&tar[1000..], Compression::fast())].concat();
    accepted(NAME, &halves);
    accepted(TREE, &SourceArchive::tree("x").bytes());
    let project = Project::new().source_distribution("dist/toy-1.0.tar.gz");
    project.run(COMMANDS[1]).exits(0);
    assert!(project.read("pages/any/toy/index.html").contains(">toy-1.0.tar.gz</a>"), "{:?}", project.files());
}

#[test]
fn each_code_appears_with_its_fault_alone() {
    let told =
        |archive: SourceArchive| Project::new().bytes(&format!("dist/{NAME}"), &archive.bytes()).said(COMMANDS[0]);
    let sound = told(toy());
    appears("W116", &told(SourceArchive::empty()), &sound);
    appears("W117", &told(toy().file("../evil", "")), &sound);
    appears("W118", &told(toy().file("evil", "")), &sound);
}

#[test]
fn archives_that_cannot_be_unpacked_are_refused() {
    let whole = toy().file("toy-1.0/b", [7; 5000]).bytes();
    let mut damaged = whole.clone();
    let last = damaged.len() - 1;
    damaged[last - 6] ^= 1;
    for name in [NAME, TREE] {
        refused(name, b"<!DOCTYPE html><title>404</title>", "W116 damaged-archive", "it cannot be unpacked");
        refused(name, &whole[..whole.len() / 2], "W116 damaged-archive", "it cannot be unpacked");
        refused(name, &damaged, "W116 damaged-archive", "it cannot be unpacked");
        refused(name, &[&*whole, b"more"].concat(), "W116 damaged-archive", "it cannot be unpacked");
        refused(name, &toy().tar(), "W116 damaged-archive", "it cannot be unpacked");
        refused(name, &gzip(&[b'a'; 1024], Compression::fast()), "W116 damaged-archive", "it cannot be unpacked");
        refused(name, &SourceArchive::empty().bytes(), "W116 damaged-archive", "the archive is empty");
    }
}

#[test]
fn members_that_installers_do_not_unpack_are_refused() {
    use tar::EntryType::{Block, Char, Directory, Fifo, Link, Symlink};
    let code = "W117 unsafe-archive-member";
    for (archive, text) in [
        (toy().file("../evil", ""), "its path leads out of the folder that the archive is unpacked in"),
        (toy().file("toy-1.0/../../evil", ""), "its path leads out"),
        (toy().file("toy-1.0/..\\..\\evil", ""), "its path leads out"),
        (toy().file("/etc/passwd", ""), "its path leads out"),
        (toy().file("C:/evil", ""), "its path leads out"),
        (toy().file(".", ""), "its path leads out"),
        (toy().other(Symlink, "toy-1.0/a", "/etc/passwd"), "its link target `/etc/passwd` leads out"),
        (toy().other(Symlink, "toy-1.0/a", ".."), "its link target `..` leads out"),
        (toy().other(Symlink, "toy-1.0/a", "../toy-1.0/b"), "leads out of the archive's top folder"),
        (toy().other(Symlink, "toy-1.0/a/b", "../../c"), "leads out of the archive's top folder"),
        (toy().other(Symlink, "toy-1.0/a", "b/../../c"), "leads out of the archive's top folder"),
        (toy().other(Symlink, "toy-1.0/a", "b").file("toy-1.0/a/c", ""), "its path leads through the link `toy-1.0/a`"),
        (toy().other(Link, "toy-1.0/a", "/etc/passwd"), "it is a hard link to `/etc/passwd`, which is not a file"),
        (toy().other(Link, "toy-1.0/a", "toy-1.0/later"), "which is not a file in front of it"),
        (toy().other(Char, "toy-1.0/a", "x"), "it is a device"),
        (toy().other(Block, "toy-1.0/a", "x"), "it is a device"),
        (toy().other(Fifo, "toy-1.0/a", "x"), "it is a pipe"),
        (toy().file("toy-1.0/PKG-INFO", ""), "another member has the same path"),
        (toy().file("toy-1.0/./PKG-INFO", ""), "another member has the same path"),
        (toy().file("toy-1.0/PKG-INFO/a", ""), "`toy-1.0/PKG-INFO` is a file"),
        (toy().file("toy-1.0/a/b", "").file("toy-1.0/a", ""), "another member has the same path"),
        (toy().file("toy-1.0/a", "").other(Directory, "toy-1.0/a", ""), "another member has the same path"),
    ] {
        let bytes = archive.bytes();
        refused(NAME, &bytes, code, text);
        refused(TREE, &bytes, code, text);
    }
    let mut not_text = toy().file("toy-1.0/x", "").tar();
    let header = not_text.windows(9).position(|window| window == b"toy-1.0/x").unwrap();
    not_text[header + 8] = 0xff;
    let block = &mut not_text[header..header + 512];
    let mut fixed = tar::Header::from_byte_slice(block).clone();
    fixed.set_cksum();
    block.copy_from_slice(fixed.as_bytes());
    refused(NAME, &gzip(&not_text, Compression::fast()), code, "is not UTF-8");
}

#[test]
fn source_distributions_that_cannot_be_built_are_refused() {
    let code = "W118 incomplete-source-distribution";
    let info = "Metadata-Version: 2.2\nName: toy\nVersion: 1.0\n";
    let only_info = SourceArchive::empty().file("toy-1.0/PKG-INFO", info);
    refused(NAME, &only_info.bytes(), code, "there is neither `toy-1.0/pyproject.toml` nor `toy-1.0/setup.py`");
    let only_build = SourceArchive::empty().file("toy-1.0/setup.py", "");
    refused(NAME, &only_build.bytes(), code, "there is no `toy-1.0/PKG-INFO`");
    let linked = SourceArchive::empty().file("toy-1.0/setup.py", "").other(
        tar::EntryType::Symlink,
        "toy-1.0/PKG-INFO",
        "setup.py",
    );
    refused(NAME, &linked.bytes(), code, "there is no `toy-1.0/PKG-INFO`");
    refused(NAME, &toy().file("a", "").bytes(), code, "there is more than one top folder: `a`, `toy-1.0`");
    let of_info =
        |info: &str| SourceArchive::empty().file("toy-1.0/setup.py", "").file("toy-1.0/PKG-INFO", info).bytes();
    refused(NAME, &of_info(&info.replace("toy", "other")), "W050 name-mismatch", "PKG-INFO says `Name: other`");
    refused(NAME, &of_info(&info.replace("1.0", "1.1")), "W051 version-mismatch", "PKG-INFO says `Version: 1.1`");
    refused(NAME, &of_info("Name: toy\nVersion: 1.0\n"), "W055 bad-wheel-header", "`Metadata-Version` is missing");
    refused(NAME, &of_info(&info.replace("2.2", "3.0")), "W055 bad-wheel-header", "is not 1.x or 2.x");
    refused(NAME, &of_info(&info.replace("1.0", "x")), "W055 bad-wheel-header", "x");
    refused(NAME, &of_info(&format!("{info}Version: 1.0\n")), "W055 bad-wheel-header", "stands there twice");
    refused(NAME, &of_info(&format!("{info}Requires-Dist: a b\n")), "W113 bad-requirement", "`Requires-Dist: a b`");
    refused(
        NAME,
        &of_info(&format!("nonsense\n{info}")),
        "W114 malformed-header",
        "line 1 is not a header: `nonsense`",
    );
}

#[test]
fn all_faults_of_an_archive_are_reported_and_many_are_counted() {
    let archive = (0..200).fold(toy(), |archive, at| archive.file(&format!("toy-1.0/../{at}"), ""));
    let project = Project::new().bytes(&format!("dist/{NAME}"), &archive.file("b", "").bytes());
    let stderr = project.run(COMMANDS[0]).exits(1).stderr;
    assert_eq!(stderr.matches("error[W117").count(), 51, "{stderr}");
    assert!(stderr.contains("150 more findings of this kind") && stderr.contains("error[W118"), "{stderr}");
}

#[test]
fn paths_and_metadata_at_the_limits_are_read_and_those_above_are_refused() {
    let deep = |components: usize| {
        let path = ["toy-1.0"].into_iter().chain((1..components).map(|_| "d")).collect::<Vec<_>>().join("/");
        toy().file(&path, "").bytes()
    };
    accepted(NAME, &deep(128));
    refused(NAME, &deep(129), "W117 unsafe-archive-member", "its path has more than 128 components");
    let info = |bytes: usize| {
        let mut text = b"Metadata-Version: 2.2\nName: toy\nVersion: 1.0\n\n".to_vec();
        text.resize(bytes, b'x');
        SourceArchive::empty().file("toy-1.0/setup.py", "").file("toy-1.0/PKG-INFO", text).bytes()
    };
    accepted(NAME, &info(16 << 20));
    refused(NAME, &info((16 << 20) + 1), "W055 bad-wheel-header", "has 16777217 bytes; at most 16777216 are read");
}

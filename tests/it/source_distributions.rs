//! `publish` and `index build` check source distributions and archives of install trees before they
//! offer them.

use flate2::Compression;
use rock_matrix::names::Digest;
use sha2::{Digest as _, Sha256};

use crate::support::hostile::{Bounds, bounded};
use crate::support::source_archive::gzip;
use crate::support::{Project, SourceArchive, appears};

const NAME: &str = "toy-1.0.tar.gz";
const TREE: &str = "aotriton-0.13.0+rocm7.14-gfx942-linux_x86_64-tree.tar.gz";
const BOUNDS: Bounds = Bounds {
    address_mib: 768,
    peak_mib: 192,
    cpu_s: 60,
};
const COMMANDS: [&[&str]; 2] = [
    &["publish", "--to", "release", "dist"],
    &["index", "build", "dist", "--out", "pages"],
];

fn toy() -> SourceArchive {
    SourceArchive::named(NAME)
}

/// Asserts that the commands that offer a file refuse it with one error of this code and text, and
/// write nothing.
#[track_caller]
fn refused(name: &str, bytes: &[u8], code: &str, text: &str) {
    let project = Project::new().bytes(&format!("dist/{name}"), bytes);
    let before = project.files();
    // An index lists no trees.
    let commands = if name == TREE {
        &COMMANDS[..1]
    } else {
        &COMMANDS[..]
    };
    for command in commands {
        let stderr = bounded(&project, BOUNDS, command, 1).stderr;
        assert!(
            stderr.contains(&format!("error[{code}")) && stderr.contains(text),
            "{command:?} {text}: {stderr}"
        );
        assert_eq!(
            stderr.matches("error[").count(),
            1,
            "{command:?} {text}: {stderr}"
        );
        assert!(
            stderr.contains(&format!("dist/{name}")),
            "{command:?} names the file: {stderr}"
        );
        assert!(stderr.contains("\nhelp: "), "{command:?} {text}: {stderr}");
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
        .other(tar::EntryType::Directory, "Toy-1.0/", "")
        .file(
            "Toy-1.0/./PKG-INFO",
            "Metadata-Version: 1.1\nName: Toy\nVersion: 1.0.0\n",
        )
        .file("Toy-1.0/tools/setup.py", "")
        .other(
            tar::EntryType::Symlink,
            "Toy-1.0/setup.py",
            "tools/setup.py",
        )
        .other(
            tar::EntryType::Symlink,
            "Toy-1.0/docs/readme",
            "../PKG-INFO",
        )
        .other(
            tar::EntryType::Link,
            "Toy-1.0/setup.cfg",
            "Toy-1.0/tools/setup.py",
        );
    accepted(NAME, &legacy.bytes());
    // Zeros after the stream are padding.
    accepted(NAME, &[toy().bytes(), vec![0; 512]].concat());
    let project = Project::new().source_distribution("dist/toy-1.0.tar.gz");
    project.run(COMMANDS[1]).exits(0);
    assert!(
        project
            .read("pages/any/toy/index.html")
            .contains(">toy-1.0.tar.gz</a>"),
        "{:?}",
        project.files()
    );
}

#[test]
fn trees_need_no_top_folder() {
    accepted(TREE, &SourceArchive::tree("x").bytes());
    let flat = SourceArchive::empty()
        .other(tar::EntryType::Directory, "./", "")
        .file("./lib/liba.so.1", "")
        .other(tar::EntryType::Symlink, "./lib/liba.so", "liba.so.1")
        .other(tar::EntryType::Symlink, "./bin/a", "../lib/liba.so")
        .other(tar::EntryType::Symlink, "a", "bin/a");
    accepted(TREE, &flat.bytes());
    for target in ["../lib", "./../lib", "lib/../../x"] {
        let above = SourceArchive::empty()
            .other(tar::EntryType::Symlink, "a", target)
            .bytes();
        refused(
            TREE,
            &above,
            "W117",
            "may lead out of the directory into which the archive is unpacked",
        );
    }
}

/// A manifest of an earlier version may list files that were not checked.
#[test]
fn archives_that_a_manifest_lists_are_checked_again() {
    let project = Project::new().source_distribution("dist/toy-1.0.tar.gz");
    project.run(COMMANDS[0]).exits(0);
    let good = std::fs::read(project.path("release/toy-1.0.tar.gz")).unwrap();
    let page = format!("{:<1$}", "<!DOCTYPE html>", good.len());
    let digest = |bytes: &[u8]| Digest::new(Sha256::digest(bytes).into()).to_hex();
    let manifest = project
        .read("release/rock-manifest.json")
        .replace(&digest(&good), &digest(page.as_bytes()));
    std::fs::write(project.path("release/toy-1.0.tar.gz"), &page).unwrap();
    let project = project.file("release/rock-manifest.json", &manifest);
    let words = ["index", "build", "release", "--out", "pages"];
    let stderr = project.run(&words).exits(1).stderr;
    assert!(stderr.contains("error[W116 damaged-archive]"), "{stderr}");
}

#[test]
fn two_source_distributions_of_one_version_are_refused() {
    let one = SourceArchive::named("a_b-1.0.tar.gz").bytes();
    let project = Project::new()
        .bytes("dist/a_b-1.0.tar.gz", &one)
        .source_distribution("dist/a.b-1.0.0.tar.gz");
    let stderr = project.run(COMMANDS[0]).exits(1).stderr;
    assert!(
        stderr.contains(
            "`a.b-1.0.0.tar.gz` and `a_b-1.0.tar.gz` are source distributions of the same version"
        ),
        "{stderr}"
    );
}

#[test]
fn each_code_appears_with_its_fault_alone() {
    let stderr_of = |archive: SourceArchive| {
        Project::new()
            .bytes(&format!("dist/{NAME}"), &archive.bytes())
            .stderr_of(COMMANDS[0])
    };
    let sound = stderr_of(toy());
    appears("W116", &stderr_of(SourceArchive::empty()), &sound);
    appears("W117", &stderr_of(toy().file("../evil", "")), &sound);
    appears("W118", &stderr_of(toy().file("evil", "")), &sound);
}

#[test]
fn archives_that_cannot_be_unpacked_are_refused() {
    let whole = toy().file("toy-1.0/b", [7; 5000]).bytes();
    let mut damaged = whole.clone();
    let last = damaged.len() - 1;
    damaged[last - 6] ^= 1;
    let (tar, fast) = (toy().tar(), Compression::fast());
    let mut with_prefix = tar.clone();
    with_prefix[345..350].copy_from_slice(b"../..");
    let mut header = tar::Header::from_byte_slice(&with_prefix[..512]).clone();
    header.set_cksum();
    with_prefix[..512].copy_from_slice(header.as_bytes());
    for name in [NAME, TREE] {
        for (bytes, reason) in [
            (
                b"<!DOCTYPE html><title>404</title>".to_vec(),
                "it cannot be unpacked: it is not a gzip file",
            ),
            (whole[..whole.len() / 2].to_vec(), "it cannot be unpacked: "),
            (
                damaged.clone(),
                "it cannot be unpacked: corrupt gzip stream",
            ),
            (
                [&*whole, b"more"].concat(),
                "it cannot be unpacked: there is data after the gzip stream",
            ),
            (toy().tar(), "it cannot be unpacked: it is not a gzip file"),
            // Python reads the second part, and uv does not.
            (
                [gzip(&tar[..1024], fast), gzip(&tar[1024..], fast)].concat(),
                "there is data after the gzip stream",
            ),
            // Python adds the prefix to the path, and GNU tar does not.
            (
                gzip(&with_prefix, fast),
                "a header that is not in the ustar format has a path prefix",
            ),
            (
                gzip(&[&*tar, &*tar].concat(), fast),
                "there is data after the end of the archive",
            ),
            (
                gzip(&[b'a'; 1024], Compression::fast()),
                "it cannot be unpacked: ",
            ),
            (SourceArchive::empty().bytes(), "the archive is empty"),
        ] {
            refused(name, &bytes, "W116 damaged-archive", reason);
        }
    }
}

#[test]
fn members_that_could_be_unpacked_elsewhere_are_refused() {
    use tar::EntryType::{Block, Char, Directory, Fifo, Link, Symlink};
    let code = "W117 unsafe-archive-member";
    for (archive, text) in [
        (toy().file("../evil", ""), "its path has a `..` component"),
        (
            toy().file("toy-1.0/a/../b", ""),
            "its path has a `..` component",
        ),
        (
            toy().file("toy-1.0/..\\..\\evil", ""),
            "its path has a `..` component",
        ),
        (
            toy().file("toy-1.0\\evil", ""),
            "its path has a backslash in the first component",
        ),
        (
            toy().file("toy-1.0/\u{1b}[31m", ""),
            "its path has a control character",
        ),
        (toy().file("", ""), "its path is empty"),
        (
            toy().other(Link, "toy-1.0/a", "./toy-1.0/PKG-INFO"),
            "which is not an earlier file of the archive",
        ),
        (toy().file("/etc/passwd", ""), "its path is absolute"),
        (toy().file("C:/evil", ""), "its path is absolute"),
        (
            toy().file(&format!("toy-1.0/{}", "n".repeat(256)), ""),
            "a component of more than 255 bytes",
        ),
        (
            toy().other(Symlink, "toy-1.0/a", "/etc/passwd"),
            "its link target `/etc/passwd` may lead out of",
        ),
        (
            toy().other(Symlink, "toy-1.0/a/b", "../../../c"),
            "its link target `../../../c` may lead out of",
        ),
        (
            toy().other(Symlink, "toy-1.0/a", "b/../../c"),
            "its link target `b/../../c` may lead out of",
        ),
        (
            toy()
                .other(Symlink, "toy-1.0/a", "b")
                .file("toy-1.0/a/c", ""),
            "its path leads through the link `toy-1.0/a`",
        ),
        (
            toy().other(Link, "toy-1.0/a", "/etc/passwd"),
            "it is a hard link to `/etc/passwd`, which is not an earlier file",
        ),
        (
            toy().other(Link, "toy-1.0/a", "toy-1.0/later"),
            "which is not an earlier file of the archive",
        ),
        (toy().other(Char, "toy-1.0/a", "x"), "it is a device"),
        (toy().other(Block, "toy-1.0/a", "x"), "it is a device"),
        (toy().other(Fifo, "toy-1.0/a", "x"), "it is a pipe"),
        (
            toy().file("toy-1.0/PKG-INFO", ""),
            "another member has the same path",
        ),
        (
            toy().file("toy-1.0/./PKG-INFO", ""),
            "another member has the same path",
        ),
        (
            toy().file("toy-1.0/PKG-INFO/a", ""),
            "`toy-1.0/PKG-INFO` is a file",
        ),
        (
            toy().file("toy-1.0/a/b", "").file("toy-1.0/a", ""),
            "another member has the same path",
        ),
        (
            toy()
                .file("toy-1.0/a", "")
                .other(Directory, "toy-1.0/a", ""),
            "another member has the same path",
        ),
    ] {
        let bytes = archive.bytes();
        refused(NAME, &bytes, code, text);
        refused(TREE, &bytes, code, text);
    }
    // A link of a source distribution stays in its top folder.
    for target in ["..", "../toy-1.0/b"] {
        let bytes = toy().other(Symlink, "toy-1.0/a", target).bytes();
        refused(
            NAME,
            &bytes,
            code,
            "may lead out of the top-level directory of the archive",
        );
        accepted(TREE, &bytes);
    }
    let nowhere = toy().other(Symlink, ".", "toy-1.0").bytes();
    refused(TREE, &nowhere, code, "its path is empty");
    let only = SourceArchive::empty().file("../evil", "").bytes();
    refused(NAME, &only, code, "its path has a `..` component");
    let mut not_text = toy().file("toy-1.0/x", "").tar();
    let header = not_text
        .windows(9)
        .position(|window| window == b"toy-1.0/x")
        .unwrap();
    not_text[header + 8] = 0xff;
    let block = &mut not_text[header..header + 512];
    let mut fixed = tar::Header::from_byte_slice(block).clone();
    fixed.set_cksum();
    block.copy_from_slice(fixed.as_bytes());
    refused(
        NAME,
        &gzip(&not_text, Compression::fast()),
        code,
        "is not UTF-8",
    );
}

#[test]
fn source_distributions_that_cannot_be_built_are_refused() {
    let code = "W118 incomplete-source-distribution";
    let info = "Metadata-Version: 2.2\nName: toy\nVersion: 1.0\n";
    let only_info = SourceArchive::empty().file("toy-1.0/PKG-INFO", info);
    refused(
        NAME,
        &only_info.bytes(),
        code,
        "there is neither `toy-1.0/pyproject.toml` nor `toy-1.0/setup.py`",
    );
    let only_build = SourceArchive::empty().file("toy-1.0/setup.py", "");
    refused(
        NAME,
        &only_build.bytes(),
        code,
        "there is no `toy-1.0/PKG-INFO`",
    );
    let linked = SourceArchive::empty().file("toy-1.0/setup.py", "").other(
        tar::EntryType::Symlink,
        "toy-1.0/PKG-INFO",
        "setup.py",
    );
    refused(
        NAME,
        &linked.bytes(),
        code,
        "`toy-1.0/PKG-INFO` is not a regular file",
    );
    refused(
        NAME,
        &toy().file("a", "").bytes(),
        code,
        "there is more than one top-level entry: `a`, `toy-1.0`",
    );
    let below = toy().file("./toy-1.0/a", "").bytes();
    refused(
        NAME,
        &below,
        code,
        "paths start with `./`, which pip treats as the top-level directory",
    );
    let of_info = |info: &str| {
        SourceArchive::empty()
            .file("toy-1.0/setup.py", "")
            .file("toy-1.0/PKG-INFO", info)
            .bytes()
    };
    refused(
        NAME,
        &of_info(&info.replace("toy", "other")),
        "W050 name-mismatch",
        "PKG-INFO has `Name: other`",
    );
    refused(
        NAME,
        &of_info(&info.replace("1.0", "1.1")),
        "W051 version-mismatch",
        "PKG-INFO has `Version: 1.1`",
    );
    refused(
        NAME,
        &of_info("Name: toy\nVersion: 1.0\n"),
        "W055 bad-wheel-header",
        "`Metadata-Version` is missing",
    );
    refused(
        NAME,
        &of_info(&info.replace("2.2", "3.0")),
        "W055 bad-wheel-header",
        "is not 1.x or 2.x",
    );
    refused(
        NAME,
        &of_info(&info.replace("1.0", "x")),
        "W055 bad-wheel-header",
        "`x` is",
    );
    refused(
        NAME,
        &of_info(&format!("{info}Version: 1.0\n")),
        "W055 bad-wheel-header",
        "occurs twice",
    );
    refused(
        NAME,
        &of_info(&format!("{info}Requires-Dist: a b\n")),
        "W113 bad-requirement",
        "`Requires-Dist: a b`",
    );
    let project = Project::new().bytes(
        &format!("dist/{NAME}"),
        &of_info(&format!("nonsense\n{info}")),
    );
    let stderr = project.run(COMMANDS[0]).exits(0).stderr;
    assert!(
        stderr.starts_with("warning[W114 malformed-header]: line 1 is not a header: `nonsense`"),
        "{stderr}"
    );
}

#[test]
fn another_name_of_the_top_folder_is_a_warning() {
    let archive = SourceArchive::empty()
        .file(
            "master/PKG-INFO",
            "Metadata-Version: 2.2\nName: toy\nVersion: 1.0\n",
        )
        .file("master/setup.py", "");
    let project = Project::new().bytes(&format!("dist/{NAME}"), &archive.bytes());
    let stderr = project.run(COMMANDS[0]).exits(0).stderr;
    let expected = "warning[W118 incomplete-source-distribution]: the top-level directory is named \
                    `master`, but should be named `toy-1.0`";
    assert!(stderr.starts_with(expected), "{stderr}");
}

#[test]
fn faults_of_an_archive_are_reported_in_one_run_and_many_are_counted() {
    for count in [51, 2000] {
        let archive = (0..count).fold(toy(), |archive, at| {
            archive.file(&format!("toy-1.0/../{at}"), "")
        });
        let project = Project::new().bytes(&format!("dist/{NAME}"), &archive.file("b", "").bytes());
        let stderr = project.run(COMMANDS[0]).exits(1).stderr;
        assert_eq!(stderr.matches("error[W117").count(), 51, "{stderr}");
        assert!(
            stderr.contains(&format!("]: {} more findings of this kind", count - 50)),
            "{stderr}"
        );
        assert!(stderr.contains("error[W118"), "{stderr}");
    }
}

#[test]
fn paths_and_metadata_at_the_limits_are_read_and_those_above_are_refused() {
    let deep = |components: usize| {
        let path = ["toy-1.0"]
            .into_iter()
            .chain((1..components).map(|_| "d"))
            .collect::<Vec<_>>()
            .join("/");
        toy().file(&path, "").bytes()
    };
    accepted(NAME, &deep(128));
    refused(
        NAME,
        &deep(129),
        "W117 unsafe-archive-member",
        "its path has more than 128 components",
    );
    let info = |bytes: usize| {
        let mut text = b"Metadata-Version: 2.2\nName: toy\nVersion: 1.0\n\n".to_vec();
        text.resize(bytes, b'x');
        SourceArchive::empty()
            .file("toy-1.0/setup.py", "")
            .file("toy-1.0/PKG-INFO", text)
            .bytes()
    };
    accepted(NAME, &info(16 << 20));
    refused(
        NAME,
        &info((16 << 20) + 1),
        "W055 bad-wheel-header",
        "has 16777217 bytes; at most 16777216 are read",
    );
}

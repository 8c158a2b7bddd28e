//! Archives of artifacts that a few kB make ask for all the memory of a machine, or whose links
//! lead out of them.

use rock_matrix::archive::ArchiveCompression;

use crate::support::Project;
use crate::support::artifacts::{Artifacts, append, compressed};
use crate::support::rewritten::rewrite;

type Builder = tar::Builder<Vec<u8>>;

/// As much memory as any command may ask the system for here, in kB: less than what one archive
/// asks for in vain.
const ADDRESS_KIB: &str = "1500000";

/// Adds a header of this kind with a content of zeros, which compress to nothing.
fn append_zeros(tar: &mut Builder, kind: u8, mib: u64) {
    let mut header = tar::Header::new_gnu();
    header.set_path("././@LongLink").unwrap();
    header.set_entry_type(tar::EntryType::new(kind));
    header.set_size(mib << 20);
    header.set_cksum();
    tar.append(&header, std::io::Read::take(std::io::repeat(0), mib << 20))
        .unwrap();
}

/// Adds empty files of one path: no system could hold as many.
fn append_many(tar: &mut Builder, count: u32) {
    let mut header = tar::Header::new_gnu();
    header.set_path("r/stage/file").unwrap();
    header.set_mode(0o644);
    header.set_size(0);
    header.set_cksum();
    for _ in 0..count {
        tar.get_mut().extend_from_slice(header.as_bytes());
    }
}

/// Runs the program with so much memory and no more.
fn run(project: &Project, words: &[&str]) -> (Option<i32>, String) {
    let script = format!("ulimit -v {ADDRESS_KIB}; exec \"$0\" \"$@\"");
    let mut command = std::process::Command::new("bash");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_rock-matrix")])
        .args(words);
    let done = command.current_dir(project.root()).output().unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    (
        done.status.code(),
        stderr.replace(project.root().to_str().unwrap(), "[ROOT]"),
    )
}

const PLAN: &[&str] = &["sdk", "plan", "--artifact-dir", "artifacts"];
const BUILD: &[&str] = &[
    "sdk",
    "build",
    "--artifact-dir",
    "artifacts",
    "--dest-dir",
    "out",
    "--version",
    "7.10.0",
];
const FETCH: &[&str] = &[
    "sdk",
    "fetch",
    "--run-id",
    "123",
    "--local-staging",
    "staging",
    "rand",
    "--extract",
];

/// What each command says of an archive with these members.
fn errors_of(fill: impl FnOnce(&mut Builder)) -> String {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, true);
    artifacts.archive("rand_lib_generic", Some("r/stage\n"), fill);
    std::fs::create_dir_all(project.path("staging/123-linux")).unwrap();
    let archive = "rand_lib_generic.tar.zst";
    std::fs::copy(
        project.path("artifacts").join(archive),
        project.path("staging/123-linux").join(archive),
    )
    .unwrap();
    let before = project.files();
    let of = |words| {
        let (code, text) = run(&project, words);
        assert_eq!(code, Some(1), "{words:?}: {text}");
        text
    };
    let (planned, built) = (of(PLAN), of(BUILD));
    assert_eq!(planned, built);
    assert_eq!(project.files(), before, "nothing is written");
    std::fs::remove_dir_all(project.path("artifacts")).unwrap();
    let fetched = of(FETCH);
    let left = project.files();
    assert_eq!(
        left.iter()
            .filter(|file| file.starts_with("artifacts/"))
            .collect::<Vec<_>>(),
        ["artifacts/rand_lib_generic.tar.zst"]
    );
    assert_eq!(
        fetched.replace("[ROOT]/", ""),
        planned.replace("[ROOT]/", "")
    );
    planned
}

#[test]
fn archives_that_ask_for_all_memory_are_refused() {
    let names = errors_of(|tar| {
        append_zeros(tar, b'L', 64);
        append(tar, "r/stage/file", b"");
    });
    let links = errors_of(|tar| append_zeros(tar, b'K', 64));
    let pax = errors_of(|tar| append_zeros(tar, b'x', 64));
    let global = errors_of(|tar| append_zeros(tar, b'g', 64));
    insta::assert_snapshot!([names, links, pax, global].concat(), @r"
    error[S050 archive-limit]: the archive has a path of 67108864 bytes at byte 1024 of the unpacked archive; at most 4096 are read
    --> artifacts/rand_lib_generic.tar.zst
    help: fetch the artifact again, or remove it from the directory

    error[S050 archive-limit]: the archive has a link target of 67108864 bytes at byte 1024 of the unpacked archive; at most 4096 are read
    --> artifacts/rand_lib_generic.tar.zst
    help: fetch the artifact again, or remove it from the directory

    error[S050 archive-limit]: the archive has an extended header of 67108864 bytes at byte 1024 of the unpacked archive; at most 65536 are read
    --> artifacts/rand_lib_generic.tar.zst
    help: fetch the artifact again, or remove it from the directory

    error[S050 archive-limit]: the archive has an extended header of 67108864 bytes at byte 1024 of the unpacked archive; at most 65536 are read
    --> artifacts/rand_lib_generic.tar.zst
    help: fetch the artifact again, or remove it from the directory
    ");
}

/// A header is 512 bytes, and a million of them compress to some kB.
#[test]
fn archives_with_more_members_than_any_are_refused() {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, true);
    artifacts.archive("rand_lib_generic", Some("r/stage\n"), |tar| {
        append_many(tar, 250_001);
    });
    let (code, text) = run(&project, PLAN);
    assert_eq!(code, Some(1), "{text}");
    insta::assert_snapshot!(text, @r"
    error[S050 archive-limit]: the archive has more than 250000 members
    --> artifacts/rand_lib_generic.tar.zst
    help: fetch the artifact again, or remove it from the directory
    ");
}

/// Folders within folders of a manifest make one member many entries, and members that no package
/// can hold as many faults.
#[test]
fn manifests_and_faults_without_end_are_refused() {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, true);
    let roots: String = (1..=1000).map(|depth| "a/".repeat(depth) + "\n").collect();
    artifacts.archive("rand_lib_generic", Some(&roots), |tar| {
        for number in 0..2000 {
            let path = "a/".repeat(1900) + &number.to_string();
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Regular);
            header.set_size(0);
            header.set_mode(0o644);
            tar.append_data(&mut header, path, std::io::empty())
                .unwrap();
        }
    });
    artifacts.archive("rccl_lib_generic", Some("r/stage\n"), |tar| {
        for number in 0..3_000 {
            append(tar, &format!("elsewhere/{number}"), b"");
        }
    });
    let (code, text) = run(&project, PLAN);
    assert_eq!(code, Some(1), "{text}");
    let last: Vec<&str> = text.lines().filter(|line| line.contains("S050")).collect();
    insta::assert_snapshot!(last.join("\n"), @r"
    error[S050 archive-limit]: listing this artifact and those before it takes more than 1024 MiB
    error[S050 archive-limit]: the archive has more than 1000 faults
    ");
    assert_eq!(text.matches("[S002 bad-artifact]").count(), 1001);
}

/// The tree to build against is an archive in its wheel, and the chooser among packages one of
/// sources.
#[test]
fn archives_in_packages_that_ask_for_all_memory_are_refused() {
    let project = Project::new();
    Artifacts::split(&project).programs();
    project.run(BUILD).exits(0);
    let wheel = "out/dist/rocm_sdk_devel-7.10.0-py3-none-linux_x86_64.whl";
    rewrite(&project.path(wheel), |members| {
        let content = &mut members.get_mut("rocm_sdk_devel/_devel.tar").unwrap().0;
        let mut tar = Builder::new(Vec::new());
        append_zeros(&mut tar, b'L', 64);
        *content = tar.into_inner().unwrap();
    });
    let mut tar = Builder::new(Vec::new());
    append_zeros(&mut tar, b'x', 64);
    let mut sources = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut sources, &tar.into_inner().unwrap()).unwrap();
    std::fs::write(
        project.path("out/dist/rocm-7.10.0.tar.gz"),
        sources.finish().unwrap(),
    )
    .unwrap();
    let faults = |text: String| {
        let lines = text
            .lines()
            .filter(|line| line.contains("S041") || line.contains("S043"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let (verified, alone) = (
        run(&project, &["sdk", "verify", "out/dist"]),
        run(&project, &["wheel", "check", "--profile", "sdk", wheel]),
    );
    assert_eq!(
        (verified.0, alone.0),
        (Some(1), Some(1)),
        "{}{}",
        verified.1,
        alone.1
    );
    insta::assert_snapshot!(faults(verified.1) + &faults(alone.1), @r"
    error[S041 sdk-devel-tree]: the archive cannot be read: a path of 67108864 bytes at byte 0 of the unpacked archive; at most 4096 are read
    error[S041 sdk-devel-tree]: the tree has no `_rocm_sdk_devel/__init__.py`, which marks it as complete
    error[S043 bad-selector]: it cannot be read: an extended header of 67108864 bytes at byte 0 of the unpacked archive; at most 65536 are read
    error[S041 sdk-devel-tree]: the archive cannot be read: a path of 67108864 bytes at byte 0 of the unpacked archive; at most 4096 are read
    error[S041 sdk-devel-tree]: the tree has no `_rocm_sdk_devel/__init__.py`, which marks it as complete
    ");
}

/// RFC 8878, section 3.1.1.1.2: the window that a frame asks for is in its head.
#[test]
fn archives_with_a_window_beyond_the_limit_are_refused() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let path = artifacts.archive("rand_lib_generic", Some("r/stage\n"), |tar| {
        append(tar, "r/stage/file", b"");
    });
    let tar = zstd::decode_all(&*std::fs::read(&path).unwrap()).unwrap();
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    std::io::Write::write_all(&mut encoder, &tar).unwrap();
    let mut packed = encoder.finish().unwrap();
    for (log, expected) in [(27_u8, 0), (28, 1)] {
        packed[5] = (log - 10) << 3;
        std::fs::write(&path, &packed).unwrap();
        let (code, text) = run(&project, PLAN);
        assert_eq!(code, Some(expected), "{text}");
        if expected == 1 {
            insta::assert_snapshot!(text, @r"
            error[S050 archive-limit]: the archive has a zstd window of more than 128 MiB
            --> artifacts/rand_lib_generic.tar.zst
            help: fetch the artifact again, or remove it from the directory
            ");
        }
    }
}

#[test]
fn archives_with_sparse_files_are_refused_and_global_headers_accepted() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let global = |tar: &mut Builder| {
        let mut header = tar::Header::new_ustar();
        header.set_path("pax_global_header").unwrap();
        header.set_entry_type(tar::EntryType::XGlobalHeader);
        let comment = format!("52 comment={}\n", "0".repeat(40));
        header.set_size(52);
        header.set_cksum();
        tar.append(&header, comment.as_bytes()).unwrap();
    };
    // `git archive` puts it in front of everything.
    let mut tar = Builder::new(Vec::new());
    global(&mut tar);
    append(&mut tar, "artifact_manifest.txt", b"r/stage\n");
    append(&mut tar, "r/stage/lib/data", b"content");
    let path = project.path("artifacts/rand_lib_generic.tar.zst");
    std::fs::write(
        &path,
        compressed(&tar.into_inner().unwrap(), ArchiveCompression::Zstd),
    )
    .unwrap();
    let planned = project.run(PLAN).exits(0).stdout;
    assert!(planned.contains("rocm-sdk-libraries: 2 files"), "{planned}");
    artifacts.archive("fft_lib_generic", Some("r/stage\n"), |tar| {
        tar.append_pax_extensions([
            ("GNU.sparse.major", b"1".as_slice()),
            ("GNU.sparse.minor", b"0"),
        ])
        .unwrap();
        append(tar, "r/stage/sparse", b"1\n0\n4\ndata");
    });
    let stderr = project.run(PLAN).exits(1).stderr;
    artifacts.publish("staging", "123-linux");
    let fetch = [
        "sdk",
        "fetch",
        "--run-id",
        "123",
        "--local-staging",
        "staging",
        "fft",
        "--extract",
    ];
    let fetched = project.run(&fetch).exits(1).stderr;
    insta::assert_snapshot!(stderr + &fetched, @r"
    error[S002 bad-artifact]: it is a sparse file, which no package can contain
    --> artifacts/fft_lib_generic.tar.zst/r/stage/sparse
    help: fetch the artifact again, or remove it from the directory

    error[S002 bad-artifact]: the member `r/stage/sparse` is a sparse file
    --> artifacts/fft_lib_generic.tar.zst
    help: remove it and fetch it again
    ");
}

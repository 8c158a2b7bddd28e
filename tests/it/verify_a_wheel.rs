//! Checking wheels against their names and RECORDs.

use crate::support::elf::Library;
use crate::support::raw_zip::RawZip;
use crate::support::zip_records::{CENTRAL, END, LOCAL, patched};
use crate::support::{Project, Wheel};

const NAME: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

fn sound() -> Wheel {
    Wheel::named(NAME)
        .executable("flash_attn_2_cuda.so", vec![7; 50_000])
        .requires("torch")
        .requires("einops")
}

/// What is said of a wheel with one thing wrong.
#[track_caller]
fn errors_of(wheel: &Wheel) -> String {
    errors_of_bytes(wheel.name(), &wheel.bytes())
}

#[track_caller]
fn errors_of_bytes(name: &str, bytes: &[u8]) -> String {
    let run = Project::new()
        .bytes(name, bytes)
        .run(&["wheel", "verify", name])
        .exits(1);
    assert!(run.stdout.starts_with("failed "), "{}", run.stdout);
    run.stderr
}

/// Asserts that exactly these codes are given.
#[track_caller]
fn codes(text: &str, expect: &[&str]) {
    let found: Vec<&str> = text
        .lines()
        .filter_map(|line| {
            line.split_once('[')?
                .1
                .split_once("]: ")
                .map(|(code, _)| code)
        })
        .collect();
    assert_eq!(found, expect, "{text}");
}

#[test]
fn a_sound_wheel_is_reported_as_ok() {
    let project = Project::new().bytes(NAME, &sound().bytes());
    let done = project.run(&["wheel", "verify", NAME]).exits(0);
    assert_eq!(
        (done.stdout, done.stderr),
        (format!("ok     {NAME}\n"), String::new())
    );
}

#[test]
fn five_broken_wheels_have_five_messages() {
    let name = errors_of(&sound().edit("METADATA", |text| {
        text.replace("flash-attn", "flash-attn-3")
    }));
    let label = errors_of(&sound().edit("METADATA", |text| {
        text.replace("Version: 2.8.3+rocm62torch2.5", "Version: 2.8.3")
    }));
    let torch = errors_of(&Wheel::named(NAME).requires("torch==2.6.0"));
    let tag = errors_of(&sound().edit("WHEEL", |text| {
        text.replace("linux_x86_64", "manylinux_2_28_x86_64")
    }));
    let claims_purelib = sound().edit("WHEEL", |text| {
        text.replace("Purelib: false", "Purelib: true")
    });
    let purelib = Project::new()
        .bytes(NAME, &claims_purelib.bytes())
        .run(&["wheel", "verify", NAME])
        .exits(0)
        .stderr;
    insta::assert_snapshot!([name, label, torch, tag, purelib].concat(), @r"
    error[W050 name-mismatch]: METADATA has `Name: flash-attn-3`, but the filename has `flash_attn`
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.dist-info/METADATA

    error[W051 version-mismatch]: the version in METADATA has no label, but the filename has the label `rocm62torch2.5`
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.dist-info/METADATA
    help: set both with `rock-matrix wheel label WHEEL rocm62torch2.5 --replace --out DIR`

    error[W052 torch-requirement]: `Requires-Dist: torch==2.6.0` contradicts the label, which names torch 2.5
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.dist-info/METADATA
    help: require `torch` without a version

    error[R103 tag-mismatch]: WHEEL has `Tag: cp311-cp311-manylinux_2_28_x86_64`, but the filename has cp311-cp311-linux_x86_64
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.dist-info/WHEEL

    warning[W054 purelib-mismatch]: WHEEL has `Root-Is-Purelib: true` in a wheel for `linux_x86_64`
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.dist-info/WHEEL
    ");
}

#[test]
fn torch_may_be_unpinned_absent_or_pinned_to_the_label() {
    for requirement in [
        "torch",
        "torch==2.5.1",
        "torch==2.5.1+rocm6.2",
        "torch (>=2.4,<2.6)",
        "einops",
        "torch==2.4; extra == 'old'",
    ] {
        let project = Project::new().bytes(NAME, &Wheel::named(NAME).requires(requirement).bytes());
        project.run(&["wheel", "verify", NAME]).exits(0);
    }
    for requirement in [
        "torch==2.4.1",
        "torch>=2.6",
        "torch @ https://example.invalid/torch.whl",
    ] {
        codes(
            &errors_of(&Wheel::named(NAME).requires(requirement)),
            &["W052 torch-requirement"],
        );
    }
}

#[test]
fn every_fault_of_a_wheel_is_reported_in_one_run() {
    let wheel = Wheel::named(NAME)
        .requires("torch==2.6.0")
        .edit("METADATA", |text| {
            text.replace("Metadata-Version: 2.1\n", "")
        })
        .edit("WHEEL", |text| {
            text.replace("Wheel-Version: 1.0", "Wheel-Version: 2.0")
                .replace("linux", "any")
        })
        .edit("RECORD", |text| {
            text.replace("flash_attn/__init__.py,", "gone.py,")
        });
    codes(
        &errors_of(&wheel),
        &[
            "W052 torch-requirement",
            "W055 bad-wheel-header",
            "W021 record-names-no-member",
            "R103 tag-mismatch",
            "W055 bad-wheel-header",
            "W020 member-not-in-record",
        ],
    );
}

/// The help of W024 works when it is followed, also for a wheel that needs no other change.
#[test]
fn repair_writes_hashes_into_a_weak_record() {
    let weak = Wheel::named("pure-1.0-py3-none-any.whl")
        .edit("RECORD", |text| text.replacen("sha256=", "md5=", 1));
    let project = Project::new().bytes("pure-1.0-py3-none-any.whl", &weak.bytes());
    let stderr = project
        .run(&["wheel", "verify", "pure-1.0-py3-none-any.whl"])
        .exits(1)
        .stderr;
    assert!(stderr.contains("error[W024 weak-record-hash]"), "{stderr}");
    project
        .run(&["wheel", "repair", "pure-1.0-py3-none-any.whl", "-w", "out"])
        .exits(0);
    project
        .run(&["wheel", "verify", "out/pure-1.0-py3-none-any.whl"])
        .exits(0);
    project
        .run(&[
            "wheel",
            "repair",
            "pure-1.0-py3-none-any.whl",
            "-w",
            "kept",
            "--trust-record",
        ])
        .exits(0);
    project
        .run(&["wheel", "verify", "kept/pure-1.0-py3-none-any.whl"])
        .exits(1);
}

#[test]
fn record_is_held_against_the_bytes() {
    let check = |edit: fn(String) -> String, expect: &[&str]| {
        codes(&errors_of(&sound().edit("RECORD", edit)), expect);
    };
    check(
        |text| text.replacen("sha256=", "sha256=A", 1),
        &["W022 record-mismatch"],
    );
    check(
        |text| text.replace(",50000", ",50001"),
        &["W022 record-mismatch"],
    );
    check(
        |text| text.replacen("sha256=", "md5=", 1),
        &["W024 weak-record-hash"],
    );
    check(
        |text| text + "flash_attn/x.py,sha256=x,1\n",
        &["W021 record-names-no-member"],
    );
    check(
        |text| text.clone() + text.lines().next().unwrap() + "\n",
        &["W023 bad-record"],
    );
    check(|text| text + "a,b\n", &["W023 bad-record"]);
    check(
        |text| {
            text.lines()
                .skip(1)
                .map(|line| format!("{line}\n"))
                .collect()
        },
        &["W020 member-not-in-record"],
    );
}

#[test]
fn stronger_hashes_and_two_spaces_and_crlf_are_fine() {
    let wheel = sound()
        .edit("WHEEL", |text| {
            text.replace("Tag: ", "Tag:  ").replace('\n', "\r\n")
        })
        .edit("METADATA", |text| text.trim_end().to_owned());
    let project = Project::new().bytes(NAME, &wheel.bytes());
    project.run(&["wheel", "verify", NAME]).exits(0);
}

#[test]
fn two_dist_info_folders_none_or_a_misnamed_one_are_reported() {
    codes(
        &errors_of(&sound().file("other-1.dist-info/METADATA", "")),
        &["W014 dist-info-folder"],
    );
    let other = NAME.replace("flash_attn-", "flash_attn_3-");
    codes(
        &errors_of_bytes(&other, &sound().bytes()),
        &["W014 dist-info-folder", "W050 name-mismatch"],
    );
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer
        .start_file("a.py", zip::write::SimpleFileOptions::default())
        .unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    codes(&errors_of_bytes(NAME, &bytes), &["W014 dist-info-folder"]);
}

#[test]
fn a_folder_that_ends_twice_in_dist_info_is_misnamed() {
    let archive = RawZip::read(&sound().bytes()).with(|archive| {
        let twice = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .replace(".dist-info", ".dist-info.dist-info")
                .into()
        };
        for member in &mut archive.members {
            member.name = twice(&member.name);
            if member.name.ends_with(b"RECORD") {
                member.content = twice(&member.content);
            }
        }
    });
    codes(
        &errors_of_bytes(NAME, &archive.bytes()),
        &["W014 dist-info-folder"],
    );
}

#[test]
fn each_missing_file_of_dist_info_is_named() {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer
        .start_file(
            "x-1.dist-info/METADATA",
            zip::write::SimpleFileOptions::default(),
        )
        .unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let errors = errors_of_bytes("x-1-py3-none-any.whl", &bytes);
    codes(
        &errors,
        &["W015 missing-dist-info-file", "W015 missing-dist-info-file"],
    );
    assert!(
        errors.contains("`x-1.dist-info/WHEEL` is missing")
            && errors.contains("`x-1.dist-info/RECORD` is missing")
    );
}

#[test]
fn names_that_differ_in_case_are_a_warning() {
    let wheel = sound()
        .file("flash_attn/a.py", "")
        .file("flash_attn/A.py", "");
    let project = Project::new().bytes(NAME, &wheel.bytes());
    let done = project.run(&["wheel", "verify", NAME]).exits(0);
    assert_eq!(done.stdout, format!("ok     {NAME}, 1 warning\n"));
    codes(&done.stderr, &["W011 names-differ-in-case"]);
}

#[test]
fn json_gives_one_line_a_wheel() {
    let broken = "x-1-py3-none-any.whl";
    let project = Project::new()
        .bytes(NAME, &sound().bytes())
        .file(broken, "no zip");
    let done = project
        .run(&[
            "wheel",
            "verify",
            NAME,
            broken,
            "missing-1-py3-none-any.whl",
            "--json",
        ])
        .exits(1);
    let lines: Vec<serde_json::Value> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        (&lines[0]["ok"], &lines[0]["findings"]),
        (&true.into(), &serde_json::json!([]))
    );
    let finding = &lines[1]["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["name"], &finding["severity"]),
        (&"W001".into(), &"not-a-zip".into(), &"error".into())
    );
    assert_eq!(lines[2]["findings"][0]["code"], "H020");
}

#[test]
fn every_kind_of_hostile_container_is_refused_with_its_code() {
    let bytes = sound().bytes();
    let check = |wrong: &[u8], code: &str| codes(&errors_of_bytes(NAME, wrong), &[code]);
    check(b"", "W001 not-a-zip");
    check(&bytes[..bytes.len() - 1], "W001 not-a-zip");
    check(&patched(&bytes, END, 16, &[1]), "W002 damaged-zip");
    check(&patched(&bytes, CENTRAL, 8, &[1]), "W003 encrypted-member");
    check(&patched(&bytes, END, 4, &[1]), "W004 multi-disk-zip");
    check(
        &patched(&bytes, CENTRAL, 10, &[14]),
        "W005 unsupported-compression",
    );
    check(
        &patched(&bytes, CENTRAL, 46, b"/"),
        "W006 unsafe-member-name",
    );
    check(&patched(&bytes, LOCAL, 30, b"k"), "W008 headers-differ");
    check(
        &patched(&bytes, CENTRAL, 40, &[0xff, 0xa1]),
        "W010 symlink-member",
    );
    // The first data byte of the first member.
    check(
        &patched(&bytes, LOCAL, 30 + "flash_attn/__init__.py".len(), &[0xff]),
        "W012 corrupt-member",
    );
    check(&duplicate(), "W007 duplicate-member");
    check(&overlapping(), "W009 overlapping-members");
}

fn two_members(first: &str, second: &str) -> Vec<u8> {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for name in [first, second] {
        writer.start_file(name, options).unwrap();
        writer.write_all(b"12345678").unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The second member renamed to the first in both of its headers.
pub fn duplicate() -> Vec<u8> {
    let bytes = two_members("same.py", "sane.py");
    let text: Vec<u8> = bytes.clone();
    let mut renamed = text;
    for at in 0..renamed.len() - 7 {
        if &renamed[at..at + 7] == b"sane.py" {
            renamed[at..at + 7].copy_from_slice(b"same.py");
        }
    }
    renamed
}

/// Both entries of the table point to the first member.
pub fn overlapping() -> Vec<u8> {
    let bytes = two_members("a.py", "a.py.");
    // The first member's data is made to reach over the second one's header, in both of its
    // headers.
    let long = u32::try_from(8 + 10).unwrap().to_le_bytes();
    let sizes = [long, long].concat();
    patched(&patched(&bytes, LOCAL, 18, &sizes), CENTRAL, 20, &sizes)
}

#[test]
fn a_zip64_field_with_extra_data_is_reported() {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer
        .start_file("a.py", zip::write::SimpleFileOptions::default())
        .unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let central = bytes
        .windows(4)
        .position(|window| window == CENTRAL)
        .unwrap();
    let end = bytes.windows(4).position(|window| window == END).unwrap();
    let mut long = bytes[..central + 50].to_vec();
    long[central + 30] = 12;
    long.extend([1, 0, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
    long.extend(patched(&bytes[end..], END, 12, &[62]));
    codes(
        &errors_of_bytes("a-1-py3-none-any.whl", &long),
        &["W014 dist-info-folder", "W013 inexact-zip64-field"],
    );
}

#[test]
fn a_metadata_of_a_gigabyte_is_not_read() {
    let wheel = sound().edit("METADATA", |text| text + &"x".repeat(17 << 20));
    let errors = errors_of(&wheel);
    codes(&errors, &["W017 member-too-large"]);
}

#[test]
fn ten_thousand_findings_of_one_kind_are_counted_not_listed() {
    let mut wheel = sound();
    for number in 0..200 {
        wheel = wheel.file(&format!("flash_attn/m{number}.py"), "");
    }
    let wheel = wheel.edit("RECORD", |text| {
        text.lines()
            .filter(|l| !l.contains("/m"))
            .map(|l| format!("{l}\n"))
            .collect()
    });
    let errors = errors_of(&wheel);
    assert_eq!(errors.matches("error[W020").count(), 51);
    assert!(
        errors.contains("150 more findings of this kind"),
        "{errors}"
    );
}

#[test]
fn errors_in_metadata_stop_label_retag_and_index() {
    for wheel in [
        sound().header("Version: 9"),
        sound().header("Author: Jos\u{e9}").in_latin_1(),
    ] {
        let project = Project::new().bytes(&format!("dist/{NAME}"), &wheel.bytes());
        let file = format!("dist/{NAME}");
        for command in [
            &["wheel", "label", &file, "--local", "rocm62", "--replace"][..],
            &["wheel", "retag", &file, "--platform-tag", "linux_x86_64"],
            &["index", "build", "dist"],
        ] {
            let stderr = project.run(command).exits(1).stderr;
            assert!(
                stderr.starts_with("error[W055 bad-wheel-header]"),
                "{command:?}: {stderr}"
            );
        }
        assert_eq!(project.files(), [file]);
    }
}

#[test]
fn a_header_given_twice_or_text_of_another_encoding_is_reported() {
    let twice = sound().header("Version: 9").header("Name: other");
    let errors = errors_of(&twice);
    codes(&errors, &["W055 bad-wheel-header", "W055 bad-wheel-header"]);
    assert!(
        errors.contains("`Version` occurs twice, `2.8.3+rocm62torch2.5` and `9`"),
        "{errors}"
    );
    let errors = errors_of(&sound().header("Author: Jos\u{e9}").in_latin_1());
    codes(&errors, &["W055 bad-wheel-header"]);
    assert!(errors.contains("the text is not UTF-8"), "{errors}");
}

/// Tools must fail for a greater major version (core metadata specification, "Metadata-Version").
#[test]
fn metadata_of_an_unknown_major_version_is_refused() {
    let of = |version: &str| {
        let line = format!("Metadata-Version: {version}\n");
        sound().edit("METADATA", move |text| {
            text.replacen("Metadata-Version: 2.1\n", &line, 1)
        })
    };
    insta::assert_snapshot!(["3.0", "2", "two.one"].map(|version| errors_of(&of(version))).concat(), @r"
    error[W055 bad-wheel-header]: `Metadata-Version: 3.0` is not 1.x or 2.x
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.dist-info/METADATA

    error[W055 bad-wheel-header]: `Metadata-Version: 2` is not 1.x or 2.x
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.dist-info/METADATA

    error[W055 bad-wheel-header]: `Metadata-Version: two.one` is not 1.x or 2.x
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.dist-info/METADATA
    ");
    // wheel before 0.31 wrote 2.0, which was never accepted.
    for version in ["1.0", "2.0", "2.6", "2.10"] {
        Project::new()
            .bytes(NAME, &of(version).bytes())
            .run(&["wheel", "verify", NAME])
            .exits(0);
    }
}

/// Of two files of one path, pip leaves the last of the archive, and uv the one of the scheme that
/// it lists last.
#[test]
fn files_that_are_installed_at_one_path_are_refused() {
    let with = |paths: &[&str]| {
        paths.iter().fold(sound(), |wheel, path| {
            wheel.file(
                &path.replace("DATA", "flash_attn-2.8.3+rocm62torch2.5.data"),
                "x",
            )
        })
    };
    let refused = [
        with(&["DATA/purelib/flash_attn_2_cuda.so"]),
        with(&[
            "DATA/purelib/flash_attn/a.py",
            "DATA/platlib/flash_attn/a.py",
        ]),
        with(&["DATA/scripts/run", "DATA/data/bin/run"]),
        with(&["DATA/platlib/flash_attn_2_cuda.so/a.py"]),
        with(&["flash_attn/__init__.py", "DATA/purelib/flash_attn"]),
    ];
    insta::assert_snapshot!(refused.map(|wheel| errors_of(&wheel)).concat(), @r"
    error[W112 bad-data-folder]: `flash_attn_2_cuda.so` is installed at the same path
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.data/purelib/flash_attn_2_cuda.so

    error[W112 bad-data-folder]: `flash_attn-2.8.3+rocm62torch2.5.data/purelib/flash_attn/a.py` is installed at the same path
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.data/platlib/flash_attn/a.py

    error[W112 bad-data-folder]: `flash_attn-2.8.3+rocm62torch2.5.data/scripts/run` is installed at the same path
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.data/data/bin/run

    error[W112 bad-data-folder]: `flash_attn_2_cuda.so` is installed as a file where this member needs a directory
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn-2.8.3+rocm62torch2.5.data/platlib/flash_attn_2_cuda.so/a.py

    error[W112 bad-data-folder]: `flash_attn-2.8.3+rocm62torch2.5.data/purelib/flash_attn` is installed as a file where this member needs a directory
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl: flash_attn/__init__.py
    ");
    for paths in [
        &[
            "DATA/purelib/flash_attn/a.py",
            "DATA/platlib/flash_attn/b.py",
            "flash_attn/c.py",
        ][..],
        &[
            "DATA/scripts/run",
            "DATA/data/run",
            "run",
            "DATA/headers/run",
        ],
    ] {
        Project::new()
            .bytes(NAME, &with(paths).bytes())
            .run(&["wheel", "verify", NAME])
            .exits(0);
    }
}

#[test]
fn a_library_that_no_loader_reads_fails_and_data_that_begins_like_one_is_a_remark() {
    let library = Library::extension("_demo").build();
    codes(
        &errors_of(&sound().executable("flash_attn/m.so", &library[..1000])),
        &["E001 damaged-elf"],
    );
    codes(
        &errors_of(&sound().executable("flash_attn/m.so", b"\x7fELF".repeat(9))),
        &["E001 damaged-elf"],
    );
    let data = sound().file("flash_attn/m.bin", &library[..1000]);
    let outcome = Project::new()
        .bytes(NAME, &data.bytes())
        .run(&["wheel", "verify", NAME])
        .exits(0);
    assert!(outcome.stdout.starts_with("ok "), "{}", outcome.stdout);
}

//! `index build` offers no wheel that `publish` refuses, as far as that shows without RECORD and
//! the contents of members.

use crate::support::raw_zip::{RawZip, extra_field};
use crate::support::{Project, Wheel};

const NAME: &str = "demo-1.0+rocm62torch2.5-cp312-cp312-linux_x86_64.whl";
const DIST_INFO: &str = "demo-1.0+rocm62torch2.5.dist-info";

fn sound() -> Wheel {
    Wheel::named(NAME).requires("torch")
}

fn raw(edit: impl FnOnce(&mut RawZip)) -> Vec<u8> {
    RawZip::read(&sound().bytes()).with(edit).bytes()
}

/// The first line of every error.
fn errors(text: &str) -> String {
    text.lines()
        .filter(|line| line.starts_with("error["))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Both refuse the wheel with the same words, and no page is written.
#[test]
fn an_index_refuses_the_wheels_that_publish_refuses() {
    // A ZIP64 field (APPNOTE 4.5.3) of one value, where no slot of the header asks for one.
    let zip64 = extra_field(1, &[0; 8]);
    let entry_points = |line: &str| {
        let text = format!("[console_scripts]\n{line}\n");
        sound()
            .file(&format!("{DIST_INFO}/entry_points.txt"), text)
            .bytes()
    };
    let faulty = [
        raw(|archive| archive.members[0].central_extra = zip64),
        raw(|archive| archive.members[0].comment = b"x".to_vec()),
        raw(|archive| archive.gap = vec![0]),
        raw(|archive| {
            archive
                .members
                .retain(|member| !member.name.ends_with(b"RECORD"));
        }),
        entry_points("../foo = demo:main"),
        sound()
            .file("demo-1.0+rocm62torch2.5.data/nonsense/x", "")
            .bytes(),
        sound().requires("a>=").bytes(),
        sound().header("Requires-Python: three").bytes(),
        sound()
            .edit("METADATA", |text| text.replace("Name: demo", "Name : demo"))
            .bytes(),
        sound()
            .edit("METADATA", |text| text.replace("Name: demo", "Name: other"))
            .bytes(),
        sound()
            .edit("WHEEL", |text| {
                text.replace("Wheel-Version: 1.0", "Wheel-Version: 2.0")
            })
            .bytes(),
    ];
    let mut reported = String::new();
    for bytes in faulty {
        let project = Project::new().bytes(&format!("dist/{NAME}"), &bytes);
        let index = errors(
            &project
                .run(&["index", "build", "dist", "--out", "site"])
                .exits(1)
                .stderr,
        );
        let publish = errors(
            &project
                .run(&["publish", "--to", "release", "dist"])
                .exits(1)
                .stderr,
        );
        assert_eq!(index, publish);
        assert_eq!(
            project.files(),
            [format!("dist/{NAME}")],
            "nothing is written"
        );
        reported.push_str(&index);
    }
    insta::assert_snapshot!(reported, @r"
    error[W013 inexact-zip64-field]: its ZIP64 field holds more than the values that need it
    error[W107 member-comment]: `demo/__init__.py`, at byte 0, has a comment of 1 bytes
    error[W103 hidden-bytes]: 1 bytes from byte 801 on do not belong to a member
    error[W015 missing-dist-info-file]: `demo-1.0+rocm62torch2.5.dist-info/RECORD` is missing
    error[W111 bad-entry-point]: line 2: the script `../foo` would be outside the directory for scripts
    error[W112 bad-data-folder]: `nonsense` is not one of the directories data, headers, platlib, purelib, scripts
    error[W113 bad-requirement]: `Requires-Dist: a>=` cannot be read: Unexpected end of version specifier, expected version
    error[W113 bad-requirement]: `Requires-Python: three` cannot be read: it does not begin with an operator; operators are === ~= == != <= >= < >
    error[W114 malformed-header]: line 2 is not a header: `Name : demo`
    error[W050 name-mismatch]: METADATA has `Name: other`, but the filename has `demo`
    error[W055 bad-wheel-header]: `Wheel-Version: 2.0` is not 1.x
    ");
    let project = Project::new().bytes(&format!("dist/{NAME}"), &entry_points("foo = demo:main"));
    project
        .run(&["index", "build", "dist", "--out", "site"])
        .exits(0);
}

/// Nothing tells when files of a folder were uploaded: PEP 700 lets a page leave the time out, and
/// that of a file system would differ between machines.
#[test]
fn an_index_of_a_folder_has_no_upload_times() {
    let project = Project::new().bytes(&format!("dist/{NAME}"), &sound().bytes());
    project
        .run(&["index", "build", "dist", "--out", "site"])
        .exits(0);
    let pages: Vec<String> = project
        .files()
        .into_iter()
        .filter(|file| file.ends_with("index.json"))
        .collect();
    let texts: String = pages.iter().map(|page| project.read(page)).collect();
    assert!(
        texts.contains(&NAME.replace('+', "%2B")) && !texts.contains("upload-time"),
        "{pages:?}: {texts}"
    );
}

/// `MAX_INDEX_PAGE_BYTES`: 64 MiB.
#[test]
fn an_index_whose_landing_page_is_at_the_limit_is_replaced_and_a_larger_one_is_not() {
    for past in [0, 1] {
        let project = Project::new().source_distribution("dist/toy-1.0.tar.gz");
        let words = ["index", "build", "dist", "--out", "pages"];
        project.run(&words).exits(0);
        let page = project.read("pages/index.html");
        let padded = page.clone() + &" ".repeat((64 << 20) + past - page.len());
        std::fs::write(project.path("pages/index.html"), &padded).unwrap();
        let stderr = project
            .run(&words)
            .exits(i32::try_from(past).unwrap())
            .stderr;
        assert_eq!(
            stderr.contains("contains files that are not an index of this program"),
            past == 1,
            "{stderr}"
        );
        assert_eq!(project.read("pages/index.html") == padded, past == 1);
    }
}

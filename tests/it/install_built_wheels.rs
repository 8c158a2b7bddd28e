//! Lines that install what a build left in a folder.

use serde_json::Value;

use crate::support::bundle::{self, part};
use crate::support::{Outcome, Project, Wheel};

/// The folder, with a blank in its name.
const FOLDER: &str = "out put";

fn wheels(names: &[&str]) -> Project {
    names.iter().fold(Project::new(), |project, name| {
        project.file(&format!("{FOLDER}/{name}"), "")
    })
}

fn name(distribution: &str, version: &str, tag: &str) -> String {
    format!("{distribution}-{version}-{tag}-{tag}-linux_x86_64.whl")
}

fn pick(project: &Project, more: &[&str], code: i32) -> Outcome {
    project
        .run(&[&["pick", "--wheels", FOLDER, "--only-given"], more].concat())
        .exits(code)
}

const DAY: [&str; 4] = ["--python", "3.12", "--label", "rocmsdk20250528"];

/// A folder with older dates and other Pythons: three lines, in order, that a shell takes as
/// they are.
#[test]
fn the_lines_install_the_wheels_of_a_day_for_a_python() {
    let (new, old) = ("rocmsdk20250528", "rocmsdk20250501");
    let names: Vec<String> = [
        ("torchvision", "0.22.0"),
        ("torch", "2.7.0"),
        ("torchaudio", "2.7.0"),
    ]
    .iter()
    .flat_map(|(distribution, version)| {
        [
            name(distribution, &format!("{version}+{new}"), "cp312"),
            name(distribution, &format!("{version}+{old}"), "cp312"),
            name(distribution, &format!("{version}+{new}"), "cp311"),
        ]
    })
    .chain(["notes.txt".to_owned(), "torch-nightly.whl".to_owned()])
    .collect();
    let project = wheels(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let folder = std::fs::canonicalize(project.path(FOLDER)).unwrap();
    let line = |name: &str| {
        format!(
            "pip install '{}/{name}' --force-reinstall --no-deps\n",
            folder.display()
        )
    };
    let expect = [&names[3], &names[6], &names[0]]
        .map(|name| line(name))
        .concat();
    let outcome = pick(&project, &DAY, 0);
    assert_eq!(shown(&project, &DAY), expect);
    assert_eq!(outcome.stderr, "");
    let lines = shown(&project, &DAY);
    let words = shlex::split(lines.lines().next().unwrap()).unwrap();
    assert_eq!(words[2], folder.join(&names[3]).display().to_string());
    assert_eq!(
        shown(&project, &["--python", "3.12"]),
        expect,
        "the newest without a label"
    );
}

/// What is printed, with the folder as it is.
fn shown(project: &Project, more: &[&str]) -> String {
    let arguments = [&["pick", "--wheels", FOLDER, "--only-given"], more].concat();
    String::from_utf8(project.command(&arguments).output().unwrap().stdout).unwrap()
}

/// Where only other dates exist it says so and lists them.
#[test]
fn other_dates_and_pythons_are_reported_if_none_fits() {
    let project = wheels(&[
        &name("torch", "2.7.0+rocmsdk20250501", "cp312"),
        &name("torch", "2.7.0+rocmsdk20250502", "cp312"),
        &name("torchaudio", "2.7.0+rocmsdk20250528", "cp312"),
        &name("torchvision", "0.22.0+rocmsdk20250528", "cp311"),
    ]);
    let outcome = pick(&project, &DAY, 0);
    assert_eq!(outcome.stdout.lines().count(), 1, "{}", outcome.stdout);
    assert!(
        outcome
            .stderr
            .contains("warning[G200 no-wheel-fits]: no wheel of torch for Python 3.12"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stderr
            .contains("there are `rocmsdk20250501`, `rocmsdk20250502`"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("there are `cp311-cp311`"),
        "{}",
        outcome.stderr
    );
    let none = pick(
        &project,
        &[&DAY[..], &["--distribution", "torch"]].concat(),
        1,
    );
    assert!(
        none.stdout.is_empty() && none.stderr.contains("error[G200 no-wheel-fits]"),
        "{}",
        none.stderr
    );
    let unknown = pick(&project, &["--distribution", "triton"], 1);
    assert!(unknown.stderr.contains("error[G"), "{}", unknown.stderr);
    pick(&wheels(&["notes.txt"]), &[], 1);
    Project::new()
        .run(&["pick", "--wheels", "nowhere", "--only-given"])
        .exits(1);
    Project::new()
        .run(&["pick", "--label", "x", "--published", "a.json"])
        .exits(2);
}

/// Records of builds say which wheels are meant, and the suffix of a commit's build is
/// enough.
#[test]
fn wheels_that_records_of_builds_name_are_taken_and_no_others() {
    let (built, stray) = (
        name("torch", "2.7.0+git1a2b3c4d.rocm7.10.0", "cp312"),
        name("torch", "2.9.0", "cp312"),
    );
    let project = wheels(&[&built, &stray]);
    let both = pick(&project, &["--python", "3.12"], 0);
    assert!(both.stdout.contains(&stray), "{}", both.stdout);
    let labelled = pick(&project, &["--label", "rocm7.10.0"], 0);
    assert!(labelled.stdout.contains(&built), "{}", labelled.stdout);
    let record = serde_json::json!({
        "version": 1, "generator": "x", "job": "torch", "expected_wheel": built, "axes": {}, "gfx": [], "engine": "local",
        "image": null, "image_digest": null, "used": {}, "outcome": "done", "stages": [], "started_s": 0, "seconds": 0,
        "wheels": [{"name": built, "path": built, "digest": format!("sha256:{}", "ab".repeat(32)), "size_bytes": 0}],
        "disk_before_bytes": null, "disk_after_bytes": null, "log": "log",
    });
    let project = project.file(&format!("{FOLDER}/torch.build.json"), &record.to_string());
    let outcome = pick(&project, &["--python", "3.12", "--format", "json"], 0);
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        document["wheels"][0]["version"], "2.7.0+git1a2b3c4d.rocm7.10.0",
        "{}",
        outcome.stderr
    );
    assert_eq!(document["wheels"].as_array().unwrap().len(), 1);
}

#[test]
fn wheels_for_another_system_are_left_out_with_the_reason() {
    let tagged =
        |version: &str, platform: &str| format!("torch-{version}-cp312-cp312-{platform}.whl");
    let (old, new) = (
        tagged("2.8.0", "manylinux_2_28_x86_64"),
        tagged("2.9.0", "manylinux_2_39_x86_64"),
    );
    let project = wheels(&[&old, &new]);
    let machine = ["--platform", "linux_x86_64", "--glibc", "2.36"];
    let outcome = pick(&project, &machine, 0);
    assert!(
        outcome.stdout.contains(&old) && !outcome.stdout.contains(&new),
        "{}",
        outcome.stdout
    );
    insta::assert_snapshot!(outcome.stderr, @r"
    note[G200 no-wheel-fits]: `torch-2.9.0-cp312-cp312-manylinux_2_39_x86_64.whl` is left out: system: the wheel is for linux_x86_64 with glibc 2.39 or newer, you have linux_x86_64 with glibc 2.36
    
    ");
    let none = pick(&project, &["--glibc", "2.17", "--python", "3.12"], 1);
    assert_eq!(none.stdout, "");
    insta::assert_snapshot!(none.stderr, @r"
    error[G200 no-wheel-fits]: no wheel of torch for Python 3.12 that fits the system is in `out put`
     = note: `torch-2.8.0-cp312-cp312-manylinux_2_28_x86_64.whl` is left out: system: the wheel is for linux_x86_64 with glibc 2.28 or newer, you have glibc 2.17
     = note: `torch-2.9.0-cp312-cp312-manylinux_2_39_x86_64.whl` is left out: system: the wheel is for linux_x86_64 with glibc 2.39 or newer, you have glibc 2.17
    help: use a system with glibc 2.28 or newer (glibc 2.17 is too old), or build the wheel with `rock-matrix build`
    
    ");
    let document = pick(&project, &[&machine[..], &["--format", "json"]].concat(), 0).json();
    assert_eq!(document["left_out"][0]["version"], "2.9.0");
    assert!(
        pick(&project, &["--musl", "1.2"], 1)
            .stderr
            .contains("you have musl 1.2")
    );
    let newer = pick(
        &project,
        &["--platform", "linux_x86_64", "--glibc", "2.39"],
        0,
    );
    assert!(
        newer.stdout.contains(&new) && newer.stderr.is_empty(),
        "{} {}",
        newer.stdout,
        newer.stderr
    );
    // This machine is looked at unless told otherwise.
    let windows = wheels(&[&tagged("2.9.0", "win_amd64")]);
    let here = windows
        .run(&["pick", "--wheels", FOLDER, "--python", "3.12"])
        .exits(1)
        .stderr;
    assert!(
        here.contains("the wheel is for win_amd64, you have linux_"),
        "{here}"
    );
}

/// With a property that is otherwise not compared, the wheels are read, and the best one is picked.
#[test]
fn wheels_are_read_and_compared_with_another_machine() {
    let tags = "cp312-cp312-linux_x86_64.whl";
    let names = ["rocm6.3torch2.8", "rocm6.4torch2.8", "rocm6.4torch2.9"]
        .map(|label| format!("demo-1.0+{label}-{tags}"));
    let damaged = format!("demo-1.1+rocm6.4torch2.8-{tags}");
    let library = bundle::library(&[
        part(".hip_fatbin", bundle::hip_bundle(&[("gfx942", 0x4c)], 512)),
        part(".hipFatBinSegment", bundle::wrappers(1, *b"FPIH")),
    ]);
    let project = names.iter().fold(wheels(&[&damaged]), |project, name| {
        let mut wheel = Wheel::named(name);
        if *name == names[1] {
            wheel = wheel.executable("demo/_demo.so", library.clone());
        }
        project.bytes(&format!("{FOLDER}/{name}"), &wheel.bytes())
    });
    let picked = |more: &[&str], code: i32| {
        let machine = ["demo", "--python", "3.12", "--platform", "linux_x86_64"];
        pick(&project, &[&machine[..], more].concat(), code)
    };
    for (gfx, name) in [("gfx942", &names[1]), ("gfx1100", &names[0])] {
        let outcome = picked(&["--torch", "2.8.0+rocm6.4", "--gfx", gfx], 0);
        assert!(
            outcome.stdout.starts_with(&format!("{name}\nfile://")),
            "{gfx}: {}",
            outcome.stdout
        );
        // The damaged wheel is left out.
        assert!(
            outcome.stderr.contains("warning[") && !outcome.stderr.contains("error["),
            "{}",
            outcome.stderr
        );
    }
    let outcome = picked(&["--torch", "2.9.1", "--label", "rocm6.3torch2.8"], 1);
    assert!(
        outcome
            .stderr
            .contains("torch: the wheel is for 2.8, you have 2.9"),
        "{}",
        outcome.stderr
    );
    let outcome = picked(&["--rocm", "6.4", "--label", "rocm9"], 1);
    assert!(
        outcome
            .stderr
            .contains("no wheel in `out put` has this label"),
        "{}",
        outcome.stderr
    );
}

/// Whether the wheels are read or not, those that the index in the directory yanks are skipped.
#[test]
fn yanked_wheels_are_skipped_whatever_is_compared() {
    let files = ["1.0", "2.0"].map(|version| name("demo", version, "cp312"));
    let project = files.iter().fold(Project::new(), |project, file| {
        project.bytes(&format!("{FOLDER}/{file}"), &Wheel::named(file).bytes())
    });
    let index = |words: &[&str]| project.run(&[&["index"], words].concat()).exits(0);
    index(&["build", FOLDER]);
    index(&["yank", FOLDER, "demo>=2: bad", "--apply"]);
    for more in [&[] as &[&str], &["--rocm", "6.4"]] {
        let outcome = pick(&project, &[&["--python", "3.12"], more].concat(), 0);
        assert!(outcome.stdout.contains("demo-1.0-"), "{}", outcome.stdout);
        let output = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(
            output.contains(&format!("{} fits but is yanked: bad", files[1])),
            "{output}"
        );
    }
    index(&["yank", FOLDER, "demo: bad", "--apply"]);
    let outcome = pick(&project, &["demo", "--python", "3.12"], 1);
    assert_eq!(outcome.stdout, "");
    insta::assert_snapshot!(outcome.stderr, @r"
    error[G200 no-wheel-fits]: every wheel of demo for Python 3.12 that fits in `out put` is yanked
     = note: demo-2.0-cp312-cp312-linux_x86_64.whl fits but is yanked: bad
    help: build another one, or revert the yank with `rock-matrix index unyank`
    
    ");
}

#[test]
fn options_without_an_effect_on_a_folder_are_refused() {
    let project = wheels(&[&name("torch", "2.9.0", "cp312")]);
    for option in [
        &["--prereleases"][..],
        &["--withdrawn-in", "site"],
        &["--most-manifests", "3"],
        &["--deadline", "3"],
        &["--api-url", "https://example.org"],
        &["--token-file", "token"],
    ] {
        let stderr = pick(&project, option, 2).stderr;
        assert!(
            stderr.contains("cannot be used with"),
            "{option:?}: {stderr}"
        );
    }
}

//! Faults that installers refuse and that a rewritten wheel would have again: no command copies
//! them.

use crate::support::{Project, Wheel};

const NAME: &str = "torch-2.9.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl";
const STEM: &str = "torch-2.9.0+rocm7.10.0";

/// Every command that writes a wheel out of another.
fn commands() -> [Vec<&'static str>; 6] {
    [
        vec!["wheel", "repair", NAME, "--no-host-libs", "-w", "out"],
        vec![
            "wheel",
            "repair",
            NAME,
            "--no-host-libs",
            "-w",
            "out",
            "--dry-run",
        ],
        vec![
            "wheel",
            "repair",
            NAME,
            "--no-host-libs",
            "-w",
            "out",
            "--relabel",
            "rocm71",
        ],
        vec![
            "wheel",
            "label",
            NAME,
            "--local",
            "rocm72",
            "--replace",
            "-w",
            "out",
        ],
        vec!["wheel", "retag", NAME, "--build", "1", "-w", "out"],
        vec!["wheel", "embed", NAME, "--rocm", "rocm", "-w", "out"],
    ]
}

fn sound() -> Wheel {
    Wheel::named(NAME)
        .requires("filelock")
        .file(&format!("{STEM}.data/scripts/run"), "#!python\n")
}

fn project(wheel: &Wheel) -> Project {
    Project::new()
        .bytes(NAME, &wheel.bytes())
        .file("rocm/lib/libhip.so", "hip")
}

/// The first line of every error and where it is.
fn errors(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.starts_with("error[") || line.starts_with("--> "))
        .collect()
}

#[test]
fn every_command_rewrites_the_sound_wheel() {
    let project = project(&sound());
    for command in commands() {
        project.run(&command).exits(0);
    }
}

/// The codes and places are those of `wheel verify`, and nothing is written.
#[test]
fn no_command_copies_what_installers_refuse() {
    let entry_points = |line: &str| {
        let text = format!("[console_scripts]\n{line}\n");
        sound().file(&format!("{STEM}.dist-info/entry_points.txt"), text)
    };
    let faulty = [
        ("W111", entry_points("../foo = demo:main")),
        ("W112", sound().file(&format!("{STEM}.data/nonsense/x"), "")),
        (
            "W112",
            sound().file(&format!("{STEM}.data/purelib/torch/__init__.py"), ""),
        ),
        ("W113", sound().requires("a>=")),
        ("W113", sound().header("Requires-Python: three")),
        ("W114", sound().header("not a header")),
        (
            "W055",
            sound().edit("METADATA", |text| {
                text.replace("Metadata-Version: 2.1", "Metadata-Version: 3.0")
            }),
        ),
        (
            "W055",
            sound().edit("WHEEL", |text| {
                text.replace("Wheel-Version: 1.0", "Wheel-Version: 2.0")
            }),
        ),
    ];
    for (code, wheel) in faulty {
        let project = project(&wheel);
        let files = project.files();
        let verified = project.run(&["wheel", "verify", NAME]).exits(1).stderr;
        assert!(
            verified.starts_with(&format!("error[{code} ")),
            "{verified}"
        );
        for command in commands() {
            let done = project.run(&command).exits(1);
            assert_eq!(errors(&done.stderr), errors(&verified), "{command:?}");
            assert!(
                done.stderr.contains("help: correct the "),
                "{command:?}: {}",
                done.stderr
            );
            assert_eq!(
                (done.stdout.as_str(), project.files()),
                ("", files.clone()),
                "{command:?}"
            );
        }
    }
    let project = project(&sound().requires("a>="));
    insta::assert_snapshot!(project.run(&commands()[0]).exits(1).stderr, @r"
    error[W113 bad-requirement]: `Requires-Dist: a>=` cannot be read: Unexpected end of version specifier, expected version
    --> torch-2.9.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl: torch-2.9.0+rocm7.10.0.dist-info/METADATA
    help: correct the metadata of the project, and build the wheel again
    ");
}

/// A new label renames the folder; other tags leave it.
#[test]
fn a_folder_of_another_version_is_refused_unless_it_is_renamed() {
    let other = Wheel::named(&NAME.replace("2.9.0", "2.9.1")).edit("METADATA", |text| {
        text.replace("Version: 2.9.1", "Version: 2.9.0")
    });
    let project = project(&other);
    let [repair, .., label, retag, _] = commands();
    for command in [repair, retag] {
        let stderr = project.run(&command).exits(1).stderr;
        assert!(
            stderr.starts_with("error[W014 dist-info-folder]"),
            "{command:?}: {stderr}"
        );
    }
    let made = project.run(&label).exits(0).stdout;
    assert_eq!(project.stderr_of(&["wheel", "verify", made.trim()]), "");
}

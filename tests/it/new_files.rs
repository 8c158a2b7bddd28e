//! Files that commands make: as open to others as the user's umask says, and never written through
//! a link that somebody put in their place.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use crate::support::toy::{Harbour, WHEEL};
use crate::support::{Project, Wheel};

const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
const LABELLED: &str = "demo-1.0+rocm6.2.torch2.5-cp312-cp312-linux_x86_64.whl";

/// Runs a command under a umask.
#[track_caller]
fn run_under(umask: &str, inner: &Command) {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("umask {umask}; exec \"$@\""), "sh"])
        .arg(inner.get_program())
        .args(inner.get_args());
    command.current_dir(inner.get_current_dir().unwrap());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{inner:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Wheels, their METADATA, pages and folders, matrix files: new ones are for nobody else under
/// umask 077.
#[test]
fn new_files_and_folders_follow_the_umask() {
    for (umask, file_mode, folder_mode) in [
        ("077", 0o600, 0o700),
        ("022", 0o644, 0o755),
        ("002", 0o664, 0o775),
    ] {
        let project = Project::new().bytes(NAME, &Wheel::named(NAME).bytes());
        let project = project.bytes(&format!("dist/{LABELLED}"), &Wheel::named(LABELLED).bytes());
        let given = project.files();
        let run = |arguments: &[&str]| run_under(umask, &project.command(arguments));
        run(&[
            "wheel",
            "label",
            NAME,
            "--local",
            "rocm62",
            "-w",
            "made/label",
        ]);
        run(&[
            "wheel",
            "repair",
            NAME,
            "--no-host-libs",
            "-w",
            "made/repair",
        ]);
        run(&["publish", "--to", "made/release", "dist"]);
        run(&["index", "build", "dist", "--out", "made/site"]);
        run(&["man", "--out", "made/man"]);
        let made: Vec<String> = project
            .files()
            .into_iter()
            .filter(|file| !given.contains(file))
            .collect();
        assert!(made.len() > 10, "{made:?}");
        for file in &made {
            let path = project.path(file);
            let mode =
                |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), file_mode, "{file} under {umask}");
            if file.starts_with("made/") {
                assert_eq!(
                    mode(path.parent().unwrap()),
                    folder_mode,
                    "the folder of {file} under {umask}"
                );
            }
        }
    }
}

/// Files in a job's folder, files next to its wheels, and rendered files follow the umask.
#[test]
fn files_of_builds_and_rendered_ones_follow_the_umask() {
    for (umask, file_mode, folder_mode) in [("077", 0o600, 0o700), ("022", 0o644, 0o755)] {
        let harbour = Harbour::new("mkdir -p dist; cp \"$WHEELS\"/*.whl dist/", "");
        let toy = &harbour.toy;
        run_under(umask, &harbour.command(&[]));
        for words in [
            ["plan", "matrices/toy.yaml", "--out", "made/plan/plan.json"].as_slice(),
            &[
                "render",
                "workflow",
                "matrices/toy.yaml",
                "--out",
                "made/workflow/w.yml",
            ],
            &[
                "render",
                "script",
                "matrices/toy.yaml",
                "--out",
                "made/script/build.sh",
            ],
        ] {
            run_under(umask, &toy.command(words));
        }
        let place = |file: &String| {
            [".rock", "dist", "made"]
                .iter()
                .any(|folder| file.split('/').nth(1) == Some(folder))
        };
        let made: Vec<String> = toy.project.files().into_iter().filter(place).collect();
        for name in [
            "build.json",
            "logs/build.log",
            "build.sh",
            "measured.json",
            ".gitignore",
            WHEEL,
            "made/plan/plan.json",
            "made/workflow/w.yml",
            "made/script/build.sh",
        ] {
            assert!(
                made.iter().any(|file| file.ends_with(name)),
                "{name}: {made:?}"
            );
        }
        for file in &made {
            let path = toy.project.path(file);
            let mode =
                |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
            let folder = path.parent().unwrap();
            // Scripts may be executable.
            assert_eq!(mode(&path) & 0o666, file_mode, "{file} under {umask}");
            assert_eq!(
                (mode(&path) & !folder_mode, mode(folder)),
                (0, folder_mode),
                "{file} under {umask}"
            );
        }
    }
}

/// A link in a folder of wheels leads nowhere: METADATA takes its place.
#[test]
fn metadata_beside_a_wheel_replaces_a_link() {
    let project =
        Project::new().bytes(&format!("dist/{LABELLED}"), &Wheel::named(LABELLED).bytes());
    let project = project.bytes("outside", b"mine");
    let metadata = project.path(&format!("dist/{LABELLED}.metadata"));
    symlink(project.path("outside"), &metadata).unwrap();
    project.run(&["index", "build", "dist"]).exits(0);
    assert_eq!(project.read("outside"), "mine");
    assert!(!metadata.is_symlink());
    assert!(
        project
            .read(&format!("dist/{LABELLED}.metadata"))
            .contains("Name: demo")
    );

    // One that leads to the same text is replaced, too.
    std::fs::rename(&metadata, project.path("outside")).unwrap();
    symlink(project.path("outside"), &metadata).unwrap();
    project.run(&["index", "build", "dist"]).exits(0);
    assert!(!metadata.is_symlink());
}

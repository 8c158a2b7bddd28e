//! Files that commands make: as open to others as the user's umask says, and never written through a link that somebody
//! put in their place.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use crate::support::{Project, Wheel};

const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
const LABELLED: &str = "demo-1.0+rocm6.2.torch2.5-cp312-cp312-linux_x86_64.whl";

/// Runs a command under a umask.
#[track_caller]
fn run_under(umask: &str, project: &Project, arguments: &[&str]) {
    let inner = project.command(arguments);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask {umask}; exec \"$@\""), "sh"]).arg(inner.get_program()).args(inner.get_args());
    command.current_dir(project.root());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Wheels, their METADATA, pages and folders, matrix files: new ones are for nobody else under umask 077.
#[test]
fn new_files_and_folders_follow_the_umask() {
    for (umask, file_mode, folder_mode) in [("077", 0o600, 0o700), ("022", 0o644, 0o755), ("002", 0o664, 0o775)] {
        let project = Project::new().bytes(NAME, &Wheel::named(NAME).bytes());
        let project = project.bytes(&format!("dist/{LABELLED}"), &Wheel::named(LABELLED).bytes());
        let given = project.files();
        run_under(umask, &project, &["wheel", "label", NAME, "--local", "rocm62", "-w", "made/label"]);
        run_under(umask, &project, &["wheel", "repair", NAME, "--no-host-libs", "-w", "made/repair"]);
        run_under(umask, &project, &["publish", "--to", "made/release", "dist"]);
        run_under(umask, &project, &["index", "build", "dist", "--out", "made/site"]);
        run_under(umask, &project, &["man", "--out", "made/man"]);
        let made: Vec<String> = project.files().into_iter().filter(|file| !given.contains(file)).collect();
        assert!(made.len() > 10, "{made:?}");
        for file in &made {
            let path = project.path(file);
            let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), file_mode, "{file} under {umask}");
            if file.starts_with("made/") {
                assert_eq!(mode(path.parent().unwrap()), folder_mode, "the folder of {file} under {umask}");
            }
        }
    }
}

/// A link in a folder of wheels leads nowhere: METADATA takes its place.
#[test]
fn metadata_beside_a_wheel_replaces_a_link() {
    let project = Project::new().bytes(&format!("dist/{LABELLED}"), &Wheel::named(LABELLED).bytes());
    let project = project.bytes("outside", b"mine");
    let metadata = project.path(&format!("dist/{LABELLED}.metadata"));
    symlink(project.path("outside"), &metadata).unwrap();
    project.run(&["index", "build", "dist"]).exits(0);
    assert_eq!(project.read("outside"), "mine");
    assert!(!metadata.is_symlink());
    assert!(project.read(&format!("dist/{LABELLED}.metadata")).contains("Name: demo"));

    // One that leads to the same text is replaced, too.
    std::fs::rename(&metadata, project.path("outside")).unwrap();
    symlink(project.path("outside"), &metadata).unwrap();
    project.run(&["index", "build", "dist"]).exits(0);
    assert!(!metadata.is_symlink());
}

//! Links that the steps of a build leave in the folder of their job: nothing is read, written or
//! removed through them.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::support::toy::{Harbour, JOB, Toy, WHEEL};

const TAKE: &str = "mkdir -p dist; cp \"$WHEELS\"/*.whl dist/";
const STAGES: [&str; 4] = ["prepare", "build", "record", "smoke-test"];

/// A folder outside the job's, with a file for each name that a build would write, read or remove.
struct Canary {
    folder: PathBuf,
    before: Vec<(String, Vec<u8>)>,
}

impl Canary {
    fn new(toy: &Toy) -> Self {
        for name in STAGES
            .iter()
            .chain(&["build.log", "root", WHEEL, "x/build/CMakeCache.txt"])
        {
            toy.write(
                &format!("canary/{name}"),
                format!("mine: {name}").as_bytes(),
            );
        }
        let folder = toy.path("canary");
        let before = Self::state(&folder);
        Self { folder, before }
    }

    fn state(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
        let files = rock_matrix::sys::glob(folder, "**").unwrap();
        files
            .iter()
            .map(|path| (path.display().to_string(), std::fs::read(path).unwrap()))
            .collect()
    }

    #[track_caller]
    fn is_unharmed(&self, what: &str) {
        assert_eq!(Self::state(&self.folder), self.before, "{what}");
    }

    /// Puts a link to it in the place of something in the job's folder.
    fn takes_the_place_of(&self, toy: &Toy, name: &str) {
        let place = toy.job(name);
        let _ = std::fs::remove_dir_all(&place);
        symlink(&self.folder, place).unwrap();
    }
}

/// The report of a link.
fn link_report(name: &str) -> String {
    format!(
        "[HERE]/.rock/{JOB}/{name}`: it is a symbolic link
 = note: nothing is read, written or removed through a link that a build may have created
help: remove the link, then build again; `.rock` itself may be a link
"
    )
}

#[track_caller]
fn is_refused(toy: &Toy, canary: &Canary, name: &str, stderr: &str) {
    let from = stderr
        .find("error[B081 linked-folder]: cannot ")
        .unwrap_or_else(|| panic!("{name}: {stderr}"));
    assert!(
        stderr[from..].contains(&link_report(name)),
        "{name}: {stderr}"
    );
    canary.is_unharmed(name);
    assert!(toy.job(name).is_symlink(), "{name}");
}

/// Links in the place of the folders that this program owns, left by an earlier build on this
/// machine.
#[test]
fn a_build_does_not_go_on_through_links() {
    for name in ["logs", "done", "facts", "labelled", "src"] {
        let toy = Toy::building(TAKE);
        let canary = Canary::new(&toy);
        toy.build(0, &[]);
        canary.takes_the_place_of(&toy, name);
        for arguments in [["--continue", "auto"], ["--continue", "build"]] {
            let (_, stderr) = toy.build(3, &arguments);
            is_refused(&toy, &canary, name, &stderr);
        }
        std::fs::remove_file(toy.job(name)).unwrap();
        toy.build(0, &["--continue", "build"]);
        canary.takes_the_place_of(&toy, name);
        toy.build(0, &[]);
        canary.is_unharmed(name);
    }
}

/// A step whose link takes effect in the same build.
#[test]
fn a_build_ends_where_a_step_puts_a_link() {
    for name in ["logs", "done", "facts", "labelled", "src", "dist"] {
        let toy = Toy::building(&format!("rm -rf {name}; ln -s ../../canary {name}"));
        let canary = Canary::new(&toy);
        let (_, stderr) = toy.build(3, &[]);
        is_refused(&toy, &canary, name, &stderr);
    }
}

/// Paths under `clean` of a recipe are not removed behind a link.
#[test]
fn a_stage_removes_nothing_behind_a_link() {
    let toy = Toy::with_recipe(TAKE, "    clean: [made/build, made/x]\n");
    let canary = Canary::new(&toy);
    toy.build(0, &[]);
    canary.takes_the_place_of(&toy, "made");
    let (_, stderr) = toy.build(3, &["--continue", "build"]);
    is_refused(&toy, &canary, "made", &stderr);
    std::fs::remove_file(toy.job("made")).unwrap();
    std::fs::create_dir(toy.job("made")).unwrap();
    canary.takes_the_place_of(&toy, "made/build");
    toy.build(0, &["--continue", "build"]);
    canary.is_unharmed("a link at the path itself is removed");
    assert!(!toy.job("made/build").is_symlink());
}

/// Files: a link is replaced where this program writes, and not read.
#[test]
fn links_in_the_place_of_files_are_not_followed() {
    for name in ["build.json", "used.json", "figures.json", "measured.json"] {
        let toy = Toy::building(&format!(
            "{TAKE}; rm -f {name}; ln -s ../../outside.json {name}"
        ));
        let text = b"{\"secret\": \"sesame\"}";
        toy.write("outside.json", text);
        let toy = toy.recipe("  record: {torch: [unused]}\n", "");
        let (_, stderr) = toy.build(0, &[]);
        toy.build(0, &["--continue", "auto"]);
        assert_eq!(std::fs::read(toy.path("outside.json")).unwrap(), text);
        assert!(
            !stderr.contains("sesame") && !toy.text("build.json").contains("sesame"),
            "{name}: {stderr}"
        );
    }
}

/// Containers write into the job's folder alone, so links are how they would reach the machine.
#[test]
fn a_container_reaches_nothing_on_the_machine_through_links() {
    for name in ["logs", "done", "facts", "labelled", "src"] {
        let harbour = Harbour::new(TAKE, "");
        let canary = Canary::new(&harbour.toy);
        harbour.build(0, &[]);
        canary.takes_the_place_of(&harbour.toy, name);
        let calls = harbour.calls().len();
        for arguments in [["--continue", "auto"], ["--continue", "build"]] {
            let (_, stderr) = harbour.build(3, &arguments);
            is_refused(&harbour.toy, &canary, name, &stderr);
        }
        assert!(
            harbour.calls()[calls..]
                .iter()
                .all(|call| call == "version"),
            "{:?}",
            harbour.calls()
        );
        harbour.build(0, &[]);
        canary.is_unharmed(name);
    }
}

#[test]
fn wheels_behind_a_link_that_a_container_made_are_not_delivered() {
    for name in ["labelled", "dist"] {
        let harbour = Harbour::new(
            &format!("ln -s ../../canary {name}; [ -e dist ] || {{ {TAKE}; }}"),
            "",
        );
        let canary = Canary::new(&harbour.toy);
        let (_, stderr) = harbour.build(3, &[]);
        is_refused(&harbour.toy, &canary, name, &stderr);
        assert!(!harbour.toy.path("dist").join(WHEEL).exists());
    }
}

/// `clean` measures and removes what is in the folder itself.
#[test]
fn cleaning_removes_nothing_behind_links() {
    let toy = Toy::building(TAKE);
    let canary = Canary::new(&toy);
    toy.build(0, &[]);
    canary.takes_the_place_of(&toy, "src");
    let output = toy.command(&["clean", JOB]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("error[B081 linked-folder]"), "{stderr}");
    canary.is_unharmed("clean");
    assert_eq!(
        toy.command(&["clean", JOB, "--whole"])
            .output()
            .unwrap()
            .status
            .code(),
        Some(0)
    );
    canary.is_unharmed("clean --whole");
    // The folder of the job itself.
    symlink(toy.path("canary"), toy.path(".rock").join(JOB)).unwrap();
    let (_, stderr) = toy.build(3, &[]);
    assert!(stderr.contains("error[B081 linked-folder]"), "{stderr}");
    canary.is_unharmed("a fresh build");
}

/// A user keeps the folders of all jobs on a larger disk.
#[test]
fn the_folder_of_all_jobs_may_be_a_link() {
    let toy = Toy::building(TAKE);
    std::fs::create_dir(toy.path("disk")).unwrap();
    symlink(toy.path("disk"), toy.path(".rock")).unwrap();
    toy.build(0, &[]);
    let (_, stderr) = toy.build(0, &["--continue", "auto"]);
    assert!(stderr.contains("skipped 4 completed stages"), "{stderr}");
    assert!(toy.path("disk").join(JOB).join("logs/build.log").is_file());
    assert_eq!(
        toy.command(&["clean", JOB, "--whole"])
            .output()
            .unwrap()
            .status
            .code(),
        Some(0)
    );
    assert!(!toy.path("disk").join(JOB).exists() && toy.path(".rock").is_symlink());
}

//! Wheels that a build makes fit a platform.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::support::Wheel;
use crate::support::elf::Library;
use crate::support::toy::{Harbour, JOB, Toy, WHEEL, wait};

const TAKE: &str = "mkdir -p dist; cp \"$WHEELS\"/*.whl dist/";
const LIBC: &str = "libc.so.6";
/// The wheel with the platform tags of glibc 2.17.
const REPAIRED: &str = "toy-1.0+rocm62-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl";

/// A toy whose build takes a wheel with this extension module, with a line of the matrix file.
fn toy(library: &Library, matrix: &str) -> Toy {
    with_library(Toy::building(TAKE).matrix(matrix), library)
}

fn with_library(toy: Toy, library: &Library) -> Toy {
    let wheel =
        Wheel::named(WHEEL).file("toy/_toy.cpython-311-x86_64-linux-gnu.so", library.build());
    toy.write(&format!("wheels/{WHEEL}"), &wheel.bytes());
    toy
}

fn extension() -> Library {
    Library::extension("_toy")
        .needs(LIBC, &["GLIBC_2.17"])
        .needs("libamdhip64.so.6", &[])
        .needs("libc10.so", &[])
}

/// The names of the members of the only wheel in `dist`.
fn members(toy: &Toy) -> (String, String) {
    let mut found = std::fs::read_dir(toy.path("dist"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let wheel = found
        .find(|path| path.extension().is_some_and(|ending| ending == "whl"))
        .unwrap();
    let listed = Command::new("python3")
        .args(["-m", "zipfile", "-l"])
        .arg(&wheel)
        .output()
        .unwrap();
    (
        wheel.file_name().unwrap().to_str().unwrap().to_owned(),
        String::from_utf8(listed.stdout).unwrap(),
    )
}

#[test]
fn a_built_wheel_gets_the_platform_that_its_symbols_allow() {
    let toy = toy(&extension(), "");
    let (stdout, stderr) = toy.build(0, &[]);
    assert!(
        stdout.starts_with(&format!("dist/{REPAIRED}  sha256:")),
        "{stdout}"
    );
    assert!(
        stderr.contains("repaired for manylinux2014_x86_64.manylinux_2_17_x86_64"),
        "{stderr}"
    );
    let (name, listed) = members(&toy);
    assert_eq!(name, REPAIRED);
    assert!(
        !listed.contains("toy.libs/"),
        "ROCm and torch stay outside: {listed}"
    );
    let record = toy.record();
    assert_eq!(
        (&record["wheels"][0]["name"], &record["expected_wheel"]),
        (&REPAIRED.into(), &WHEEL.into())
    );
    let beside = toy
        .path("dist")
        .join(REPAIRED.replace(".whl", ".build.json"));
    assert_eq!(
        std::fs::read_to_string(beside).unwrap(),
        toy.text("build.json")
    );
    toy.project
        .run(&[
            "wheel",
            "check",
            "--no-host-libs",
            toy.path("dist").join(REPAIRED).to_str().unwrap(),
        ])
        .exits(0);
}

#[test]
fn repair_off_keeps_the_wheel_as_it_was_built() {
    for line in ["repair: off\n", "repair: {platform: off}\n"] {
        let toy = toy(&extension(), line);
        let (stdout, _) = toy.build(0, &[]);
        assert!(
            stdout.starts_with(&format!("dist/{WHEEL}  sha256:")),
            "{stdout}"
        );
        let built = std::fs::read(toy.path("wheels").join(WHEEL)).unwrap();
        assert_eq!(std::fs::read(toy.path("dist").join(WHEEL)).unwrap(), built);
    }
}

#[test]
fn a_platform_of_the_matrix_file_is_reached_or_the_wheel_refused() {
    let reached = toy(&extension(), "repair: manylinux_2_28_x86_64\n");
    let (stdout, _) = reached.build(0, &[]);
    assert!(
        stdout.contains(".manylinux_2_28_x86_64.whl  sha256:"),
        "{stdout}"
    );
    let (_, stderr) = toy(&extension(), "repair: {platform: manylinux_2_5_x86_64}\n").build(1, &[]);
    assert!(
        stderr.contains("cannot comply with `manylinux_2_5_x86_64`")
            && stderr.contains("GLIBC_2.17"),
        "{stderr}"
    );
    assert!(stderr.contains("error[B072 wheel-refused]"), "{stderr}");
}

/// Only who asks for a platform is refused.
#[test]
fn a_wheel_that_fits_no_platform_keeps_its_tag_with_a_warning() {
    let toy = toy(&Library::extension("_toy").needs(LIBC, &["GLIBC_2.99"]), "");
    let (stdout, stderr) = toy.build(0, &[]);
    assert!(
        stdout.starts_with(&format!("dist/{WHEEL}  sha256:")),
        "{stdout}"
    );
    assert!(
        stderr.contains("GLIBC_2.99") && stderr.contains("it keeps the platform tag of the build"),
        "{stderr}"
    );
}

#[test]
fn a_library_that_is_nowhere_is_named_and_can_stay_outside() {
    let library = extension().needs("libnowhere.so.1", &[]);
    let toy = toy(&library, "");
    let (_, stderr) = toy.build(1, &[]);
    assert!(
        stderr.contains("libnowhere.so.1") && stderr.contains("repair: {exclude: […]}"),
        "{stderr}"
    );
    assert!(!toy.path("dist").join(WHEEL).exists());
    let toy = toy.matrix("repair: {exclude: [\"libnowhere.so*\"]}\n");
    assert!(toy.build(0, &["--continue", "auto"]).0.contains(REPAIRED));
}

/// Libraries come from the system that the wheel was built on, which is gone when it is repaired.
#[test]
fn libraries_of_a_container_come_along_from_there() {
    let harbour = Harbour::new(TAKE, "");
    let python = "#!/bin/bash\nset -e\ncase \"$3 $4\" in\n\
        'used.json '*) echo '{\"torch\": \"1.13.1\"}' >used.json ;;\n\
        'dist/*.whl toy') python3 -m zipfile -e dist/*.whl smoke ;;\n\
        # The container is gone afterwards, with its libraries.\n\
        'smoke libraries') python3 \"$@\"; rm -r ../../container ;;\nesac\n";
    harbour.toy.write("python", python.as_bytes());
    std::fs::set_permissions(harbour.toy.path("python"), PermissionsExt::from_mode(0o755)).unwrap();
    let inner = Library::new()
        .soname("libinner.so.1")
        .exports("of_libinner_so_1");
    let outer = Library::new()
        .soname("libouter.so.1")
        .needs("libinner.so.1", &[])
        .exports("of_libouter_so_1");
    // The loader must find these two, so they need nothing of others.
    let hip = Library::new()
        .soname("libamdhip64.so.6")
        .exports("of_libamdhip64_so_6");
    let folder = harbour.toy.path("container");
    for (name, library) in [
        ("libinner.so.1", &inner),
        ("libouter.so.1", &outer),
        ("libamdhip64.so.6", &hip),
    ] {
        harbour.toy.write(
            &format!("container/{name}"),
            &library.clone().rpath(folder.to_str().unwrap()).build(),
        );
    }
    let library = Library::extension("_toy")
        .linked(LIBC)
        .needs("libouter.so.1", &[])
        .needs("libamdhip64.so.6", &[]);
    let harbour = Harbour {
        toy: with_library(harbour.toy, &library.rpath(folder.to_str().unwrap())),
    };
    let (_, stderr) = harbour.build(0, &[]);
    assert!(stderr.contains("grafted: toy.libs/libouter-"), "{stderr}");
    let log = harbour.toy.text("logs/build.log");
    assert!(
        log.contains("libraries of this system copied to libraries"),
        "{log}"
    );
    let (name, listed) = members(&harbour.toy);
    assert!(name.contains("manylinux"), "{name}");
    for (library, is_along) in [
        ("libinner", true),
        ("libouter", true),
        ("libamdhip64", false),
    ] {
        assert_eq!(
            listed.contains(&format!("toy.libs/{library}")),
            is_along,
            "{library}: {listed}"
        );
    }
}

#[test]
fn a_rendered_script_finishes_the_wheel_or_explains_how() {
    let toy = toy(&extension(), "");
    let render = |toy: &Toy| {
        let output = toy
            .command(&["render", "script", "matrices/toy.yaml"])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        toy.write("build.sh", &output.stdout);
    };
    let run = |toy: &Toy, path: &str| {
        let mut bash = Command::new("bash");
        bash.arg("build.sh")
            .current_dir(&toy.folder)
            .env("WHEELS", toy.path("wheels"))
            .env("PATH", path);
        wait(
            bash.stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap(),
            0,
            &toy.folder,
        )
        .0
    };
    render(&toy);
    let path = std::env::var("PATH").unwrap();
    let stdout = run(&toy, &path);
    let how = stdout
        .lines()
        .find_map(|line| line.strip_prefix("== to finish the wheel, run in "))
        .unwrap();
    let (folder, command) = how.split_once(": ").unwrap();
    assert_eq!(folder, format!("[HERE]/.rock/{JOB}"));
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_rock-matrix"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    let path = format!("{programs}:{path}");
    // What is printed works, and the script does the same where it can.
    let finished = toy.job("finished").join(REPAIRED);
    let by_hand = Command::new("bash")
        .args(["-c", command])
        .current_dir(toy.job(""))
        .env("PATH", &path)
        .output()
        .unwrap();
    assert!(
        by_hand.status.success(),
        "{}",
        String::from_utf8_lossy(&by_hand.stderr)
    );
    std::fs::remove_file(&finished).unwrap();
    let stdout = run(&toy, &path);
    assert!(
        stdout.contains(&format!("== finished finished/{REPAIRED}")) && finished.exists(),
        "{stdout}"
    );
    let off = toy.matrix("repair: off\n");
    render(&off);
    assert!(run(&off, &path).contains(&format!("== built dist/{WHEEL}")));
}

/// Archives that a build makes get one time, so that building twice gives the same bytes.
#[test]
fn every_stage_has_the_time_of_the_sources_commit() {
    let toy = Toy::building(&format!("{TAKE}; echo \"$SOURCE_DATE_EPOCH\" >>dates"));
    toy.build(0, &[]);
    let mut given = toy.command(&["build", JOB, "--continue", "build"]);
    given
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    wait(given.spawn().unwrap(), 0, &toy.folder);
    assert_eq!(toy.text("dates"), "315532800\n1700000000\n");

    // Two sources, of which one is under git; a script does the same.
    let toy = toy.recipe(
        "steps:",
        "sources:\n  tree: {path: tree}\n  plain: {path: plain}\nsteps:",
    );
    let python = "#!/bin/bash\ncase $4 in src/*) exec python3 \"$@\" ;; esac\n";
    toy.write("python", python.as_bytes());
    toy.write("plain/file", b"");
    toy.write("tree/file", b"");
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@example.org"])
            .args(words)
            .current_dir(toy.path("tree"));
        let date = "1600000000 +0000";
        assert!(
            git.env("GIT_COMMITTER_DATE", date)
                .env("GIT_AUTHOR_DATE", date)
                .output()
                .unwrap()
                .status
                .success()
        );
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "x"]);
    toy.build(0, &[]);
    assert_eq!(toy.text("dates"), "1600000000\n");
    std::fs::remove_dir_all(toy.path(".rock")).unwrap();
    let output = toy
        .command(&["render", "script", "matrices/toy.yaml"])
        .output()
        .unwrap();
    toy.write("build.sh", &output.stdout);
    let mut bash = Command::new("bash");
    bash.arg("build.sh")
        .current_dir(&toy.folder)
        .env("WHEELS", toy.path("wheels"))
        .env_remove("SOURCE_DATE_EPOCH");
    wait(
        bash.stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
        0,
        &toy.folder,
    );
    assert_eq!(toy.text("dates"), "1600000000\n");
}

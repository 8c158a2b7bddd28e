//! A build of a source on this machine fails, the source is fixed, and the build resumes.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::support::toy::{Harbour, JOB, Toy};

/// Compiles what changed, by make and the C compiler, and takes a wheel where that succeeds.
const MAKE: &str = "set -e; make -C src/code 2>&1; mkdir -p dist; src/code/app >dist/answer; cp \"$WHEELS\"/*.whl dist/";

const MAKEFILE: &str = "OBJECTS = $(patsubst %.c,%.o,$(wildcard *.c))
app: $(OBJECTS)
\tcc -o $@ $^
%.o: %.c
\techo $< >>compiled
\tcc -c -o $@ $<
main.o other.o: answer.h
";

/// A toy that builds a C program of the folder `code`, which does not compile.
fn broken() -> Toy {
    with_source(Toy::building(MAKE), "code")
}

/// Adds a source to a toy, with the Python of this machine to copy it and a record that needs none.
fn with_source(toy: Toy, path: &str) -> Toy {
    let sources = format!("sources:\n  code: {{path: \"{path}\"}}\nsteps:");
    let toy = toy
        .recipe("steps:", &sources)
        .recipe("\n  record: {torch: [unused]}", "");
    toy.write("code/Makefile", MAKEFILE.as_bytes());
    toy.write("code/answer.h", b"int answer(void);\n");
    toy.write(
        "code/main.c",
        b"#include <stdio.h>\n#include \"answer.h\"\nint main() { return !printf(\"%d\", answer()); }\n",
    );
    toy.write("code/other.c", b"int answer(void) { return 41 }\n");
    toy.write("code/unused.c", b"int unused;\n");
    real_python(&toy);
    toy
}

/// A Python that copies sources and passes the smoke test, which has no package to import.
fn real_python(toy: &Toy) {
    let script =
        "#!/bin/bash\ncase $2 in *\"Makes the target the same\"*) exec python3 \"$@\" ;; esac\n";
    toy.write("python", script.as_bytes());
}

/// What was compiled since the last time, in the order of names.
fn compiled(toy: &Toy) -> String {
    let path = toy.job("src/code/compiled");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join(" ")
}

#[test]
fn a_fixed_source_is_built_by_the_suggested_command() {
    let toy = broken();
    let (_, stderr) = toy.build(4, &[]);
    assert!(stderr.contains("other.c"), "{stderr}");
    assert!(compiled(&toy).contains("other.c"));
    toy.write("code/other.c", b"int answer(void) { return 42; }\n");
    let (_, stderr) = toy.follow(&stderr, "help: fix the cause, then run", 0);
    assert!(stderr.starts_with("[1/4] fetch-code\n"), "{stderr}");
    assert_eq!(toy.text("dist/answer"), "42");
    toy.write("code/other.c", b"int answer(void) { return 43; }\n");
    let (_, stderr) = toy.build(0, &["--continue", "build"]);
    assert!(
        stderr.contains(
            "the build resumes at `fetch-code`: its source has changed since it was copied\n"
        ),
        "{stderr}"
    );
    assert_eq!(toy.text("dist/answer"), "43");
}

#[test]
fn only_what_changed_is_copied_and_compiled_again() {
    let toy = broken();
    toy.write("code/other.c", b"int answer(void) { return 41; }\n");
    toy.build(0, &[]);
    assert_eq!(compiled(&toy), "main.c other.c unused.c");
    for resume in ["auto", "build"] {
        toy.build(0, &["--continue", resume]);
        assert_eq!(compiled(&toy), "", "nothing changed");
    }
    // Another time, the same content.
    touch(&toy.path("code/main.c"), SystemTime::now());
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(compiled(&toy), "");
    assert!(
        toy.text("logs/build.log").contains("src/code is "),
        "{}",
        toy.text("logs/build.log")
    );
    // Another content with an older time, as of a file that is taken from a backup.
    toy.write("code/other.c", b"int answer(void) { return 43; }\n");
    touch(
        &toy.path("code/other.c"),
        SystemTime::now() - Duration::from_hours(24),
    );
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(
        (compiled(&toy).as_str(), toy.text("dist/answer").as_str()),
        ("other.c", "43")
    );
    // A header that both include.
    toy.write("code/answer.h", b"int answer(void);\nint more;\n");
    toy.build(0, &["--continue", "build"]);
    assert_eq!(compiled(&toy), "main.c other.c");
}

fn touch(path: &Path, time: SystemTime) {
    std::fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

#[test]
fn what_the_source_no_longer_has_is_removed() {
    let toy = broken();
    toy.write("code/other.c", b"int answer(void) { return 41; }\n");
    toy.write("code/old/a.txt", b"old");
    toy.write("code/kind", b"a file");
    toy.build(0, &[]);
    toy.write(
        &format!(".rock/{JOB}/src/code/old/made.txt"),
        b"made by the build",
    );
    for name in ["unused.c", "old/a.txt", "kind"] {
        std::fs::remove_file(toy.path("code").join(name)).unwrap();
    }
    toy.write("code/kind/inside", b"a folder now");
    toy.write("code/added.c", b"int added;\n");
    compiled(&toy);
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(compiled(&toy), "added.c");
    let has = |name: &str| toy.job("src/code").join(name).exists();
    assert!(!has("unused.c") && !has("old/a.txt"), "they are gone");
    assert!(
        has("old/made.txt") && has("unused.o") && has("kind/inside"),
        "what the build made stays"
    );
}

/// A stage that is passed over on request is still one that changed.
#[test]
fn a_changed_source_is_not_forgotten_by_a_later_stage() {
    let toy = broken();
    toy.write("code/other.c", b"int answer(void) { return 41; }\n");
    toy.build(0, &[]);
    toy.write("code/other.c", b"int answer(void) { return 42; }\n");
    toy.build(0, &["--continue", "smoke-test"]);
    assert_eq!(toy.text("dist/answer"), "42");
}

/// Files and links that a build puts in place of copied ones lead nowhere else.
#[test]
fn links_among_copied_files_are_not_followed() {
    let toy = broken();
    toy.write("code/other.c", b"int answer(void) { return 41; }\n");
    toy.write("code/data/text", b"one\n");
    toy.build(0, &[]);
    toy.write("canary/text", b"mine\n");
    for name in ["data", "src-code.copied"] {
        let place = toy.job("src/code").join(name);
        let place = if name == "data" {
            place
        } else {
            toy.job("src/code.copied")
        };
        let _ = std::fs::remove_dir_all(&place);
        let _ = std::fs::remove_file(&place);
        let target = if name == "data" {
            "canary"
        } else {
            "canary/text"
        };
        std::os::unix::fs::symlink(toy.path(target), &place).unwrap();
        toy.write("code/data/text", format!("two {name}\n").as_bytes());
        toy.build(0, &["--continue", "auto"]);
        assert_eq!(
            std::fs::read_to_string(toy.path("canary/text")).unwrap(),
            "mine\n",
            "{name}"
        );
        assert_eq!(toy.text("src/code/data/text"), format!("two {name}\n"));
    }
}

#[test]
fn releases_and_environments_in_the_source_are_not_copied() {
    let toy = broken();
    toy.write("code/other.c", b"int answer(void) { return 42; }\n");
    let _ = toy.build(0, &[]);
    toy.write("code/release/rock-manifest.json", b"{}");
    toy.write("code/release/toy-1.0-py3-none-any.whl", b"wheel");
    toy.write("code/tools/venv/pyvenv.cfg", b"home = /usr/bin\n");
    let (_, stderr) = toy.build(0, &["--continue", "auto"]);
    assert!(
        !stderr.contains("fetch-code"),
        "nothing of it is a source: {stderr}"
    );
    let (_, stderr) = toy.build(0, &[]);
    assert!(stderr.contains("fetch-code: done"), "{stderr}");
    assert!(!toy.job("src/code/release").exists() && !toy.job("src/code/tools/venv").exists());
}

/// In a container the script copies.
#[test]
fn a_fixed_source_is_built_in_a_container_too() {
    let harbour = Harbour::new(MAKE, "");
    let toy = with_source(harbour.toy, "code");
    let harbour = Harbour { toy };
    let (_, stderr) = harbour.build(4, &[]);
    assert!(stderr.contains("other.c"), "{stderr}");
    harbour
        .toy
        .write("code/other.c", b"int answer(void) { return 42; }\n");
    harbour.build(0, &["--continue", "build"]);
    assert_eq!(harbour.toy.text("dist/answer"), "42");
    assert_eq!(compiled(&harbour.toy), "main.c other.c other.c unused.c");
}

#[track_caller]
fn git(folder: &Path, words: &[&str]) {
    let done = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(words)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// The package is in the folder where the program is called: the most common case.
#[test]
fn the_folder_of_the_matrix_file_is_a_source() {
    let build = "set -e; make -C src/code/code 2>&1; mkdir -p dist; cp \"$WHEELS\"/*.whl dist/";
    let toy = with_source(Toy::building(build), ".");
    toy.write("code/other.c", b"int answer(void) { return 41; }\n");
    toy.write(".gitignore", b"data/*.bin\n*.secret\n");
    toy.write("data/large.bin", b"large");
    toy.write("data/kept.bin", b"kept");
    toy.write("my.secret", b"sesame");
    toy.write("build/left.o", b"left");
    toy.write("pkg.egg-info/PKG-INFO", b"left");
    toy.write("code/__pycache__/x.pyc", b"left");
    git(&toy.folder, &["init", "-q"]);
    git(&toy.folder, &["add", "-f", "data/kept.bin"]);
    toy.build(0, &[]);
    let has = |name: &str| toy.job("src/code").join(name).exists();
    for name in [
        "code/main.c",
        "data/kept.bin",
        "recipes/toy.yaml",
        ".gitignore",
    ] {
        assert!(has(name), "{name}");
    }
    for name in [
        ".rock",
        ".git",
        "dist",
        "build/left.o",
        "pkg.egg-info",
        "matrices",
        "data/large.bin",
        "my.secret",
        "code/__pycache__",
    ] {
        assert!(!has(name), "{name}");
    }
    compiled(&toy);
    // The build itself changed the folder: there are wheels and job folders now.
    let (_, stderr) = toy.build(0, &["--continue", "auto"]);
    assert!(stderr.contains("skipped 4 completed stages"), "{stderr}");
    toy.write("my.secret", b"changed");
    let (_, stderr) = toy.build(0, &["--continue", "auto"]);
    assert!(stderr.contains("skipped 4 completed stages"), "{stderr}");
    toy.build(0, &["--out", "code/wheels"]);
    toy.build(0, &["--out", "code/wheels"]);
    assert!(
        !has("code/wheels"),
        "wheels of an earlier build are no sources"
    );
    let output = toy
        .command(&["plan", "matrices/toy.yaml"])
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let note = "note: source `code` is copied from `.` without .git, .rock, build, dist, \
                *.egg-info, __pycache__, matrices, releases, virtual environments and files that \
                git ignores\n";
    assert!(stdout.ends_with(note), "{stdout}");
}

/// A tree that the repository around it ignores is copied as a whole.
#[test]
fn an_ignored_folder_can_be_a_source() {
    let toy = broken();
    toy.write("code/other.c", b"int answer(void) { return 41; }\n");
    toy.write(".gitignore", b"code/\n");
    git(&toy.folder, &["init", "-q"]);
    toy.build(0, &[]);
    toy.write("code/other.c", b"int answer(void) { return 42; }\n");
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(toy.text("dist/answer"), "42");
}

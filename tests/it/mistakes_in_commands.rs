//! Mistakes in commands: sessions with what the user has, the commands, and everything that they
//! write, `FOLDER/NAME.console`.
//!
//! `ROCK_BLESS=1 cargo test --test it mistakes` writes the expected texts again. A bug report
//! becomes a file here first; `support/session.rs` describes the format.

use std::path::Path;

use crate::support::{Session, assert_file};

const FOLDER: &str = "tests/it/mistakes_in_commands";

/// Runs the sessions of a folder, and compares each with its file.
fn check(folder: &str, at_least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let mut names: Vec<String> = std::fs::read_dir(root.join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.strip_suffix(".console")?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() >= at_least, "{folder}: {}", names.len());
    for name in names {
        let name = format!("{folder}/{name}.console");
        let text = std::fs::read_to_string(root.join(&name)).unwrap();
        let written = Session::parse(&text).run(&root.join("shared"));
        assert_file(&format!("{FOLDER}/{name}"), &written);
    }
}

#[test]
fn mistakes_with_wheels_are_shown() {
    check("wheels", 40);
}

#[test]
fn mistakes_with_plans_and_workflows_are_shown() {
    check("plan", 25);
}

#[test]
fn mistakes_with_builds_are_shown() {
    check("build", 10);
}

#[test]
fn mistakes_with_source_trees_are_shown() {
    check("source", 15);
}

#[test]
fn mistakes_with_releases_and_indexes_are_shown() {
    check("release", 12);
}

#[test]
fn mistakes_with_releases_on_github_are_shown() {
    check("github", 12);
}

#[test]
fn mistakes_with_the_sdk_are_shown() {
    check("sdk", 12);
}

#[test]
fn mistakes_on_this_machine_are_shown() {
    check("host", 2);
}

/// Paths, ports and times of the machine on which a session was recorded are in none.
#[test]
fn sessions_do_not_depend_on_the_machine() {
    let text =
        "A session.\n\n--- bin/greet\n#!/bin/sh\necho \"$1\"\n\n$ greet $PWD\nold\n$ false\n";
    let written = Session::parse(text).run(Path::new("nowhere"));
    let expected = "A session.\n\n--- bin/greet\n#!/bin/sh\necho \"$1\"\n\n$ greet $PWD\n[ROOT]\n\n\
                    $ false\nexit 1\n";
    assert_eq!(written, expected);
    let command = "echo done after 3 s, 1.5 kB from http://127.0.0.1:4711/x; echo 64 MiB";
    let compiled = "library exports=f";
    for (file, size) in [("text", "1.5 kB"), (compiled, "[SIZE]")] {
        let session = format!("Numbers.\n\n--- file\n{file}\n\n$ {command}\n");
        let written = Session::parse(&session).run(Path::new("nowhere"));
        let expected = format!("\ndone after [TIME], {size} from [GITHUB]/x\n64 MiB\n");
        assert!(written.ends_with(&expected), "{written}");
    }
}

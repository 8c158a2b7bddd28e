//! What a person did in a source tree is never lost without a flag, however a checkout ends.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Sources;
use crate::support::git::UPSTREAM;
use crate::support::toy::{all_gone, wait, wait_until};

#[test]
fn uncommitted_work_and_commits_are_refused_without_a_flag() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    for folder in ["co", "co/third_party/a", "co/third_party/a/deep/b"] {
        let name = folder
            .strip_prefix("co/")
            .map_or("the outer repository".to_owned(), |path| {
                format!("`{path}`")
            });
        sources.write(&format!("{folder}/mine.txt"), "mine");
        for reference in ["v1", "v2"] {
            let done = sources.checkout(&["--ref", reference]).exits(1);
            let expected = format!(
                "error[C001 uncommitted-changes]: 1 file in {name} would be lost: not committed\n--> [ROOT]/co\n = \
                 note: affected: `mine.txt`\nhelp: commit them and run `rock-matrix source save-patches`, or pass \
                 `--discard-changes`\n\n"
            );
            assert_eq!(done.stderr, expected);
        }
        sources.checkout(&["--discard-commits"]).exits(1);
        sources.commit(folder, "my commit");
        let done = sources.checkout(&["--discard-changes"]).exits(1);
        assert!(done.stderr.starts_with(&format!(
            "error[C002 local-commits]: 1 commit in {name} would be lost"
        )));
        assert!(done.stderr.contains(" my commit`\n"), "{}", done.stderr);
        assert!(sources.path(&format!("{folder}/mine.txt")).exists());
        sources.write(&format!("{folder}/new.txt"), "new");
        sources
            .checkout(&["--discard-changes", "--discard-commits"])
            .exits(0);
        assert!(!sources.path(&format!("{folder}/mine.txt")).exists());
        assert!(!sources.path(&format!("{folder}/new.txt")).exists());
        let done = sources.checkout(&[]).exits(0);
        assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
    }
}

#[test]
fn a_clone_of_somebody_else_is_taken_over_without_losing_its_commits() {
    let sources = Sources::new();
    sources.git(
        "",
        &[
            "clone",
            "--quiet",
            "--recurse-submodules",
            "upstream/top",
            "co",
        ],
    );
    sources.commit("co", "mine");
    let done = sources.checkout(&[]).exits(1);
    assert!(
        done.stderr
            .starts_with("error[C002 local-commits]: 1 commit in the outer"),
        "{}",
        done.stderr
    );
    assert!(!sources.path("co/.rock").exists());
    sources.git("co", &["reset", "--quiet", "--hard", "HEAD~1"]);
    sources.checkout(&[]).exits(0);
    assert_eq!(sources.subjects("co", UPSTREAM), ["DO NOT SUBMIT: HIPIFY"]);
}

#[test]
fn a_series_that_is_under_way_is_not_taken_back() {
    let sources = Sources::new();
    sources.checkout(&["--no-hipify"]).exits(0);
    sources.patch("top", "notes.txt", "quite\nother\n", "mine", "mine.patch");
    assert!(
        !sources
            .git_command("co", &["am", "../mine.patch"])
            .output()
            .unwrap()
            .status
            .success()
    );
    let done = sources.checkout(&[]).exits(1);
    assert!(
        done.stderr.starts_with(
            "error[C003 under-way]: a series of patches is in progress in the outer repository"
        ),
        "{}",
        done.stderr
    );
    sources.checkout(&["--discard-changes"]).exits(0);
    assert!(sources.is_settled("co"));
}

#[test]
fn a_folder_with_other_things_and_bad_words_are_refused_before_anything_is_made() {
    let sources = Sources::new();
    sources.write("taken/file", "x");
    let done = sources.checkout(&["--checkout-dir", "taken"]).exits(1);
    assert!(
        done.stderr.starts_with("error[C004 folder-is-taken]: "),
        "{}",
        done.stderr
    );
    assert!(!sources.path("taken/.rock").exists());
    for words in [
        ["--ref=--upload-pack=touch x", "--no-hipify"],
        ["--ref=a:b", "--no-hipify"],
    ] {
        let mut all = Sources::words(&words);
        all.retain(|word| !["--ref", "v1"].contains(word));
        let done = sources.project.run(&all).exits(1);
        assert!(
            done.stderr.starts_with("error[C008 bad-reference]: "),
            "{}",
            done.stderr
        );
    }
    assert!(!sources.path("co").exists());
}

#[test]
fn a_ref_that_upstream_does_not_have_leaves_all_as_it_was() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    let (head, state) = (
        sources.head("co"),
        sources.project.read("co/.rock/checkout.json"),
    );
    let done = sources.checkout(&["--ref", "v9"]).exits(1);
    assert!(
        done.stderr
            .contains("error[C009 no-such-reference]: `[ROOT]/upstream/top` has no `v9`"),
        "{}",
        done.stderr
    );
    let done = sources
        .checkout(&["--origin", "nowhere/top", "--ref", "v2"])
        .exits(3);
    assert!(
        done.stderr
            .contains("error[C010 fetch-failed]: cannot fetch from `nowhere/top`"),
        "{}",
        done.stderr
    );
    assert_eq!(
        (
            sources.head("co"),
            sources.project.read("co/.rock/checkout.json")
        ),
        (head, state)
    );
    assert!(
        sources
            .git("co", &["remote", "get-url", "origin"])
            .ends_with("/upstream/top")
    );
    assert_ne!(
        sources.git("co", &["tag", "--list", "THEROCK_HIPIFY_DIFFBASE"]),
        ""
    );
    let done = sources.checkout(&[]).exits(0);
    assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
}

#[test]
fn a_fetch_that_never_came_through_is_tried_again() {
    let sources = Sources::new();
    let done = sources.checkout(&["--origin", "nowhere/top"]).exits(3);
    assert!(
        done.stderr.contains("error[C010 fetch-failed]: "),
        "{}",
        done.stderr
    );
    sources.checkout(&[]).exits(0);
}

#[test]
fn a_submodule_that_cannot_be_reached_is_gone_on_from() {
    let sources = Sources::new();
    std::fs::rename(sources.path("upstream/b"), sources.path("upstream/c")).unwrap();
    let done = sources.checkout(&[]).exits(1);
    assert!(
        done.stderr
            .contains("error[C011 submodules-failed]: the submodules cannot be checked out"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("upstream/b"),
        "what git said is shown: {}",
        done.stderr
    );
    std::fs::rename(sources.path("upstream/c"), sources.path("upstream/b")).unwrap();
    sources.checkout(&[]).exits(0);
    assert!(sources.path("co/third_party/a/deep/b/b.txt").exists());
}

#[test]
fn a_submodule_without_its_repository_is_not_guessed_about() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    std::fs::remove_dir_all(sources.path("co/.git/modules/third_party")).unwrap();
    let done = sources.checkout(&[]).exits(1);
    assert!(
        done.stderr
            .contains("error[C012 broken-submodule]: `third_party/a`"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("help: move `third_party/a` away"),
        "{}",
        done.stderr
    );
    std::fs::rename(sources.path("co/third_party/a"), sources.path("away")).unwrap();
    sources.checkout(&[]).exits(0);
    assert!(sources.path("co/third_party/a/deep/b/b.txt").exists());
}

#[test]
fn a_state_of_another_version_is_not_overwritten() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    let state = sources.project.read("co/.rock/checkout.json");
    sources.write(
        "co/.rock/checkout.json",
        &state.replace("\"version\": 1", "\"version\": 9"),
    );
    let done = sources.checkout(&[]).exits(1);
    assert!(
        done.stderr.starts_with("error[C007 bad-checkout-file]: "),
        "{}",
        done.stderr
    );
    std::fs::remove_file(sources.path("co/.rock/checkout.json")).unwrap();
    sources.checkout(&[]).exits(0);
}

#[test]
fn a_machine_without_git_is_reported() {
    let sources = Sources::new();
    let mut command = sources.project.command(&Sources::words(&[]));
    let done = command.env("PATH", "/nowhere").output().unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("error[C018 no-git]: the program `git` was not found"),
        "{stderr}"
    );
}

#[test]
fn a_disk_that_takes_no_more_is_gone_on_from() {
    let sources = Sources::new();
    // What cannot be packed is larger than a file may be.
    let mut seed = 1_u32;
    let noise: String = (0..600_000)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'0' + u8::try_from(seed >> 26).unwrap())
        })
        .collect();
    sources
        .write("upstream/top/large.txt", &noise)
        .commit("upstream/top", "large");
    sources.checkout(&[]).exits(0);
    let mut command = std::process::Command::new("bash");
    let limited = sources.project.command(&[]);
    let done = command
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_rock-matrix"),
        ])
        .args(
            Sources::words(&["--ref", "main"])
                .iter()
                .filter(|word| **word != "v1"),
        )
        .envs(
            limited
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(sources.project.root())
        .output()
        .unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("free some space, then run the same command again"),
        "{stderr}"
    );
    sources.checkout(&["--ref", "main"]).exits(0);
    assert_eq!(sources.project.read("co/large.txt"), noise);
}

/// Starts a checkout that stays in hipify.
fn hanging(sources: &Sources) -> Child {
    sources.write("slow", "");
    let mut command = sources.project.command(&Sources::words(&[]));
    let child = command
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until(|| sources.path("ready").exists(), "hipify");
    wait_until(|| !sources.project.read("ready").is_empty(), "hipify");
    child
}

fn send(child: &Child, signal: Signal) {
    kill_process(
        Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(),
        signal,
    )
    .unwrap();
}

#[test]
fn a_signal_ends_a_checkout_and_the_same_command_continues() {
    for (signal, code, name) in [(Signal::INT, 130, "SIGINT"), (Signal::TERM, 143, "SIGTERM")] {
        let sources = Sources::new();
        let child = hanging(&sources);
        let second = sources.checkout(&[]).exits(1);
        assert!(
            second.stderr.starts_with("error[C006 checkout-in-use]: "),
            "{}",
            second.stderr
        );
        send(&child, signal);
        let (_, text) = wait(child, code, sources.project.root());
        assert!(
            text.contains(&format!(
                "warning[C020 checkout-stopped]: {name} stopped the checkout"
            )),
            "{text}"
        );
        assert!(all_gone(&sources.project.read("ready")));
        std::fs::remove_file(sources.path("slow")).unwrap();
        sources.checkout(&[]).exits(0);
        assert_eq!(sources.subjects("co", UPSTREAM), ["DO NOT SUBMIT: HIPIFY"]);
        assert!(!sources.path("co/half.hip").exists());
    }
}

#[test]
fn a_killed_checkout_is_gone_on_from_and_what_it_left_is_kept() {
    let sources = Sources::new();
    let mut child = hanging(&sources);
    send(&child, Signal::KILL);
    child.wait().unwrap();
    sources.write("co/mine.txt", "mine");
    sources.write("co/.git/index.lock", "");
    std::fs::remove_file(sources.path("slow")).unwrap();
    let done = sources.checkout(&[]).exits(0);
    assert!(
        all_gone(&sources.project.read("ready")),
        "the script is ended"
    );
    assert!(
        done.stderr.contains(
            "warning[C019 changes-kept]: uncommitted files of an interrupted checkout in the \
             outer repository are kept as `refs/rock-matrix/saved/"
        ),
        "{}",
        done.stderr
    );
    let kept = sources.git(
        "co",
        &[
            "for-each-ref",
            "--format=%(refname)",
            "refs/rock-matrix/saved",
        ],
    );
    assert_eq!(
        sources.git("co", &["show", &format!("{kept}:mine.txt")]),
        "mine"
    );
    assert_eq!(
        sources.git("co", &["show", &format!("{kept}:half.hip")]),
        "half"
    );
    assert!(!sources.path("co/mine.txt").exists());
    assert_eq!(sources.subjects("co", UPSTREAM), ["DO NOT SUBMIT: HIPIFY"]);
    let done = sources.checkout(&[]).exits(0);
    assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
}

#[test]
fn a_commit_on_a_half_made_tree_is_a_persons() {
    let sources = Sources::new();
    sources.patch(
        "top",
        "first.txt",
        "first\n",
        "First",
        "patches/top/v1/top/base/0001-First.patch",
    );
    let mut child = hanging(&sources);
    send(&child, Signal::KILL);
    child.wait().unwrap();
    std::fs::remove_file(sources.path("slow")).unwrap();
    assert_eq!(
        sources.subjects("co", UPSTREAM),
        ["First"],
        "a patch that was applied is not taken for a person's"
    );
    sources.git(
        "co",
        &["commit", "--quiet", "--allow-empty", "--message", "mine"],
    );
    let done = sources.checkout(&[]).exits(1);
    assert!(
        done.stderr
            .contains("error[C002 local-commits]: 1 commit in the outer repository"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains(" mine`\n"), "{}", done.stderr);
    sources.git("co", &["reset", "--quiet", "--soft", "HEAD~1"]);
    sources.checkout(&[]).exits(0);
    assert_eq!(
        sources.subjects("co", UPSTREAM),
        ["First", "DO NOT SUBMIT: HIPIFY"]
    );
}

#[test]
fn a_tree_that_was_killed_before_its_first_commit_is_made() {
    let sources = Sources::new();
    sources.checkout(&["--no-hipify"]).exits(0);
    let state = sources.project.read("co/.rock/checkout.json");
    // As it is when the files are written and the index is not.
    sources.git("co", &["symbolic-ref", "HEAD", "refs/heads/main"]);
    std::fs::rename(
        sources.path("co/.git/index"),
        sources.path("co/.git/index.lock"),
    )
    .unwrap();
    std::fs::remove_dir_all(sources.path("co/.git/modules/third_party/a/modules/deep/b/objects"))
        .unwrap();
    std::fs::create_dir(sources.path("co/.git/modules/third_party/a/modules/deep/b/objects"))
        .unwrap();
    std::fs::remove_file(sources.path("co/third_party/a/deep/b/b.txt")).unwrap();
    sources.write("co/notes.txt", "half");
    sources.write(
        "co/.rock/checkout.json",
        &state.replace("\"done\"", "\"begun\""),
    );
    sources.checkout(&[]).exits(0);
    assert_eq!(sources.project.read("co/notes.txt"), "notes\nhipified\n");
    assert!(sources.path("co/third_party/a/deep/b/b.txt").exists());
}

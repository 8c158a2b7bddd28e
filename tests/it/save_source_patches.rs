//! Commits in a source tree become patches, and patches the same tree again.

use crate::support::Sources;
use crate::support::git::UPSTREAM;

/// Runs `source save-patches` for the tree in `co`.
fn saved(sources: &Sources, words: &[&str], code: i32) -> crate::support::Outcome {
    let mut all = vec!["source", "save-patches", "--checkout-dir", "co"];
    all.extend(words);
    sources.project.run(&all).exits(code)
}

/// A tree with commits before and after hipify, in all repositories.
fn worked_in() -> Sources {
    let sources = Sources::new();
    sources.patch(
        "top",
        "first.txt",
        "first\n",
        "First",
        "patches/top/v1/top/base/0001-First.patch",
    );
    sources.checkout(&["--no-hipify"]).exits(0);
    sources
        .write("co/second.txt", "second\n")
        .commit("co", "[ROCm] Second: a subject");
    saved(&sources, &[], 0);
    sources.checkout(&["--discard-commits"]).exits(0);
    sources.fetch_tags("co");
    sources
        .write("co/k.hip", "hip and more\n")
        .commit("co", "Above hipify");
    sources
        .write("co/third_party/a/bytes.bin", "a\0b\u{1}")
        .commit("co/third_party/a", "Bytes");
    sources.git("co/third_party/a/deep/b", &["mv", "b.txt", "c.txt"]);
    sources.commit("co/third_party/a/deep/b", "Move");
    sources
}

#[test]
fn saved_patches_make_the_same_tree_again() {
    let sources = worked_in();
    let done = saved(&sources, &[], 0);
    let expected = "\
+ third_party/a/deep/b/base/0001-Move.patch
+ third_party/a/hipified/0001-Bytes.patch
+ top/hipified/0001-Above-hipify.patch
saved: 5 patches in [ROOT]/patches/top/v1
";
    assert_eq!(done.stdout, expected);
    assert!(
        sources
            .path("patches/top/v1/top/base/0002-ROCm-Second-a-subject.patch")
            .exists()
    );
    sources.checkout(&["--checkout-dir", "fresh"]).exits(0);
    for folder in ["", "/third_party/a", "/third_party/a/deep/b"] {
        assert_eq!(
            sources.tree(&format!("fresh{folder}")),
            sources.tree(&format!("co{folder}")),
            "{folder}"
        );
    }
    assert_eq!(
        sources.subjects("fresh", UPSTREAM).last().unwrap(),
        "Above hipify"
    );
    // The tree that came of the patches makes the same patches.
    let words = [
        "source",
        "save-patches",
        "--checkout-dir",
        "fresh",
        "--check",
    ];
    let done = sources.project.run(&words).exits(0);
    assert_eq!(
        done.stdout,
        "up to date: 5 patches in [ROOT]/patches/top/v1\n"
    );
}

#[test]
fn a_check_shows_what_would_change_and_changes_nothing() {
    let sources = worked_in();
    saved(&sources, &[], 0);
    sources
        .write("patches/top/v1/top/base/0009-Old.patch", "old")
        .write("patches/top/v1/README", "kept");
    sources.write("patches/top/v1/gone/base/0001-Other.patch", "other");
    sources.write("patches/top/v1/top/base/0001-First.patch", "changed");
    let before = sources.project.files();
    let done = saved(&sources, &["--check"], 1);
    assert_eq!(
        done.stdout,
        "~ top/base/0001-First.patch\n- top/base/0009-Old.patch\n"
    );
    assert!(
        done.stderr.contains(
            "error[C024 patches-differ]: 2 files in `[ROOT]/patches/top/v1` differ from the commits"
        ),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr
            .contains("warning[C014 idle-patches]: no repository is named `gone`"),
        "{}",
        done.stderr
    );
    assert_eq!(sources.project.files(), before);
    saved(&sources, &[], 0);
    assert_eq!(sources.project.read("patches/top/v1/README"), "kept");
    assert!(
        sources
            .path("patches/top/v1/gone/base/0001-Other.patch")
            .exists()
    );
    assert!(
        !sources
            .path("patches/top/v1/top/base/0009-Old.patch")
            .exists()
    );
    let document = saved(&sources, &["--check", "--format", "json"], 0).json();
    assert_eq!(
        (&document["patches"], &document["changes"]),
        (&5.into(), &serde_json::json!({}))
    );
}

#[test]
fn patches_are_the_same_whatever_is_configured() {
    let sources = worked_in();
    saved(&sources, &[], 0);
    for (name, value) in [
        ("diff.noprefix", "true"),
        ("diff.algorithm", "histogram"),
        ("diff.context", "9"),
        ("diff.renames", "false"),
        ("format.signature", "x"),
        ("format.signOff", "true"),
        ("format.thread", "true"),
        ("format.attach", "true"),
        ("format.coverLetter", "true"),
        ("format.numbered", "true"),
        ("format.from", "true"),
        ("format.to", "x@example.com"),
        ("format.headers", "X: y\n"),
        ("format.subjectPrefix", "other"),
        ("format.useAutoBase", "true"),
        ("format.noprefix", "true"),
        ("color.ui", "always"),
    ] {
        for folder in ["co", "co/third_party/a", "co/third_party/a/deep/b"] {
            sources.git(folder, &["config", name, value]);
        }
    }
    let done = saved(&sources, &["--check"], 0);
    assert!(
        done.stdout.starts_with("up to date: 5 patches"),
        "{}",
        done.stdout
    );
}

#[test]
fn without_a_tag_of_upstream_nothing_is_saved() {
    let sources = worked_in();
    sources.git("co", &["tag", "--delete", "THEROCK_UPSTREAM_DIFFBASE"]);
    let done = saved(&sources, &[], 1);
    let expected =
        "error[C021 no-upstream-tag]: the outer repository has no tag `THEROCK_UPSTREAM_DIFFBASE`";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
    sources.git("co", &["tag", "THEROCK_UPSTREAM_DIFFBASE", "v2"]);
    let done = saved(&sources, &[], 1);
    assert!(
        done.stderr.contains("is not an ancestor of its head"),
        "{}",
        done.stderr
    );
    assert!(!sources.path("patches/top/v1/top/hipified").exists());
}

#[test]
fn a_stale_tag_of_hipify_is_not_heeded() {
    let sources = worked_in();
    sources.git("co", &["tag", "--force", "THEROCK_HIPIFY_DIFFBASE", "v2"]);
    let done = saved(&sources, &[], 0);
    assert!(
        done.stderr.contains("warning[C022 stale-hipify-tag]: "),
        "{}",
        done.stderr
    );
    assert!(
        sources
            .path("patches/top/v1/top/base/0004-Above-hipify.patch")
            .exists()
    );
}

#[test]
fn a_merge_is_named_and_work_without_a_commit_is_reported() {
    let sources = worked_in();
    sources.write("co/third_party/a/a.cu", "mine\n");
    let done = saved(&sources, &[], 0);
    let expected = "warning[C001 uncommitted-changes]: 1 file in `third_party/a` not saved in a \
                    patch: not committed";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
    sources.git(
        "co",
        &[
            "merge",
            "--quiet",
            "--strategy=ours",
            "--message",
            "Merge",
            "v2",
        ],
    );
    let done = saved(&sources, &[], 1);
    assert!(
        done.stderr
            .contains("error[C023 merge-above-upstream]: commit "),
        "{}",
        done.stderr
    );
}

#[test]
fn a_tree_that_is_not_whole_saves_nothing() {
    let sources = worked_in();
    saved(&sources, &[], 0);
    let good = sources
        .project
        .read("patches/top/v1/top/hipified/0001-Above-hipify.patch");
    sources.write(
        "patches/top/v1/top/hipified/0001-Above-hipify.patch",
        &good.replace("-hip\n", "-other\n"),
    );
    sources.checkout(&["--discard-commits"]).exits(1);
    let done = saved(&sources, &[], 1);
    assert!(done.stderr.contains("did not complete"), "{}", done.stderr);
}

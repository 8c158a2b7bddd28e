//! Patches on a source tree, before and after hipify.

use crate::support::Sources;
use crate::support::git::UPSTREAM;

/// Sources with patches of the outer repository and of a submodule, at both stages, in the set
/// `v1`.
fn patched() -> Sources {
    let sources = Sources::new();
    let to = |place: &str| format!("patches/top/v1/{place}.patch");
    sources
        .patch(
            "top",
            "notes.txt",
            "notes\nmore\nfirst\n",
            "First",
            &to("top/base/0001-First"),
        )
        .patch(
            "top",
            "second.txt",
            "second\n",
            "[ROCm] Second",
            &to("top/base/0002-Second"),
        )
        .patch(
            "top",
            "late.txt",
            "late\n",
            "Late",
            &to("top/hipified/0001-Late"),
        )
        .patch(
            "a",
            "one.txt",
            "one\n",
            "One",
            &to("third_party/a/base/0001-One"),
        )
        .patch(
            "a",
            "two.txt",
            "two\n",
            "Two",
            &to("third_party/a/base/0002-Two"),
        )
        .patch(
            "b",
            "deep.txt",
            "deep\n",
            "Deep",
            &to("third_party/a/deep/b/hipified/0001-Deep"),
        );
    sources
}

const WORDS: [&str; 6] = [
    "--ref",
    "v2",
    "--patch-dir",
    "patches/top",
    "--patchset",
    "v1",
];

#[test]
fn patches_of_each_repository_are_applied_in_the_order_of_their_names() {
    let sources = patched();
    sources
        .checkout(&[&WORDS[..], &["--no-hipify"]].concat())
        .exits(0);
    let above = |folder: &str| sources.subjects(folder, UPSTREAM);
    assert_eq!(above("co"), ["First", "[ROCm] Second"]);
    assert_eq!(above("co/third_party/a"), ["One", "Two"]);
    let dates = sources.git(
        "co",
        &["log", "--format=%ad %cd", "THEROCK_UPSTREAM_DIFFBASE..HEAD"],
    );
    assert!(
        dates
            .lines()
            .all(|line| line[..line.len() / 2] == line[line.len() / 2 + 1..]),
        "{dates}"
    );
}

#[test]
fn hipify_is_a_commit_between_both_series() {
    let sources = patched();
    sources.checkout(&WORDS).exits(0);
    let above = |folder: &str| sources.subjects(folder, UPSTREAM);
    assert_eq!(
        above("co"),
        ["First", "[ROCm] Second", "DO NOT SUBMIT: HIPIFY", "Late"]
    );
    assert_eq!(
        above("co/third_party/a"),
        ["One", "Two", "DO NOT SUBMIT: HIPIFY"]
    );
    assert_eq!(
        above("co/third_party/a/deep/b"),
        ["Deep"],
        "hipify changed nothing here"
    );
    let tagged = sources.git(
        "co",
        &["log", "-1", "--format=%s", "THEROCK_HIPIFY_DIFFBASE"],
    );
    assert_eq!(tagged, "DO NOT SUBMIT: HIPIFY");
    for folder in ["co", "co/third_party/a"] {
        let dates =
            |commit: &str| sources.git(folder, &["show", "--no-patch", "--format=%cd", commit]);
        let made = sources.git(
            folder,
            &[
                "show",
                "--no-patch",
                "--format=%ad",
                "THEROCK_HIPIFY_DIFFBASE",
            ],
        );
        assert_eq!(made, dates(UPSTREAM));
        assert_eq!(made, dates("THEROCK_HIPIFY_DIFFBASE"));
    }
    let changed = sources.git(
        "co",
        &[
            "show",
            "--format=",
            "--name-only",
            "THEROCK_HIPIFY_DIFFBASE",
        ],
    );
    assert_eq!(changed, "k.hip\nnotes.txt", "a submodule is no part of it");
    let done = sources.checkout(&WORDS).exits(0);
    assert!(
        done.stdout.starts_with("up to date: top v2 (") && done.stdout.contains(", 6 patches)"),
        "{}",
        done.stdout
    );
    assert_eq!(sources.git("co", &["status", "--porcelain"]), "");
}

#[test]
fn without_hipify_its_patches_are_left_out_and_no_tag_is_set() {
    let sources = patched();
    sources
        .checkout(&[&WORDS[..], &["--no-hipify"]].concat())
        .exits(0);
    assert_eq!(sources.git("co", &["tag", "--list", "THEROCK_*"]), UPSTREAM);
    assert!(!sources.path("co/late.txt").exists() && !sources.path("co/k.hip").exists());
}

#[test]
fn a_tag_of_hipify_does_not_outlive_it() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    let has_tag = |folder: &str| {
        !sources
            .git(folder, &["tag", "--list", "THEROCK_HIPIFY_DIFFBASE"])
            .is_empty()
    };
    assert!(has_tag("co") && has_tag("co/third_party/a"));
    sources.checkout(&["--no-hipify"]).exits(0);
    assert!(!has_tag("co") && !has_tag("co/third_party/a"));
    assert_eq!(
        sources.head("co"),
        sources.git("co", &["rev-parse", UPSTREAM])
    );
}

#[test]
fn a_patch_that_does_not_apply_is_named_and_leaves_nothing_half_applied() {
    let sources = patched();
    let bad = "patches/top/v1/third_party/a/base/0002-Two.patch";
    let good = sources.project.read(bad);
    sources.write(
        bad,
        &good
            .replace("new file mode 100644", "")
            .replace("--- /dev/null", "--- a/two.txt"),
    );
    let done = sources.checkout(&WORDS).exits(1);
    let stderr = &done.stderr;
    assert!(stderr.contains("error[C013 patch-failed]: `[ROOT]/patches/top/v1/third_party/a/base/0002-Two.patch` does not apply to `third_party/a`"), "{stderr}");
    assert!(sources.is_settled("co"));
    assert!(
        !sources
            .path("co/.git/modules/third_party/a/rebase-apply")
            .exists()
    );
    assert_eq!(
        sources.git("co/third_party/a", &["status", "--porcelain"]),
        ""
    );
    sources.write(bad, &good);
    sources.checkout(&WORDS).exits(0);
    assert_eq!(sources.subjects("co/third_party/a", UPSTREAM).len(), 3);
}

#[test]
fn what_is_no_patch_at_all_is_named_too() {
    let sources = patched();
    sources.write(
        "patches/top/v1/top/base/0001-First.patch",
        "this is no mail\n",
    );
    let done = sources.checkout(&WORDS).exits(1);
    assert!(
        done.stderr
            .contains("[C013 patch-failed]: `[ROOT]/patches/top/v1/top/base/0001-First.patch`"),
        "{}",
        done.stderr
    );
    assert!(sources.is_settled("co"));
}

#[test]
fn a_named_set_without_a_folder_is_an_error() {
    let sources = Sources::new();
    let words = ["--patchset", "rocm_2.7", "--patch-dir", "patches/top"];
    let done = sources.checkout(&words).exits(1);
    assert!(
        done.stderr
            .starts_with("error[C110 no-patch-set]: `patches/top` has no patch set `rocm_2.7`"),
        "{}",
        done.stderr
    );
    assert!(!sources.path("co").exists());
    sources
        .checkout(&[&words[..], &["--allow-empty-patchset"]].concat())
        .exits(0);
}

#[test]
fn the_set_of_a_ref_is_found_and_a_name_that_leads_elsewhere_is_not() {
    let sources = patched();
    sources.git("upstream/top", &["tag", "v1-rc9", "v2"]);
    sources
        .checkout(&["--ref", "v1-rc9", "--no-hipify"])
        .exits(0);
    assert_eq!(sources.subjects("co", UPSTREAM).len(), 2);
    let commit = sources.head("upstream/top");
    sources
        .checkout(&[
            "--ref",
            &commit,
            "--no-hipify",
            "--checkout-dir",
            "by-commit",
            "--patchset",
            "v1",
        ])
        .exits(0);
    assert_eq!(sources.head("by-commit"), sources.head("co"));
    let done = sources.checkout(&["--patchset", "../v1"]).exits(1);
    assert!(done.stderr.starts_with("error[C109 "), "{}", done.stderr);
}

/// Saved under one name and taken under another, patches would be left out.
#[test]
fn patches_of_an_outer_repository_with_another_name_are_refused_and_none_is_counted() {
    let sources = patched();
    std::fs::remove_dir_all(sources.path("patches/top/v1/third_party")).unwrap();
    let other = [&WORDS[..], &["--repo-name", "tree"]].concat();
    let outcome = sources.checkout(&other).exits(1);
    let expected = "error[C025 other-repository-name]: the patch set `v1` has patches for `top`, \
                    but none for `tree`";
    assert!(
        outcome.stderr.contains(expected) && outcome.stderr.contains("`--repo-name top`"),
        "{}",
        outcome.stderr
    );
    let done = sources.checkout(&WORDS).exits(0);
    assert!(done.stdout.contains(", 3 patches)"), "{}", done.stdout);
}

#[test]
fn patches_for_a_submodule_that_vanished_are_reported() {
    let sources = patched();
    let move_to = |place: &str| {
        std::fs::create_dir_all(sources.path("patches/top/v1/gone")).unwrap();
        std::fs::rename(
            sources.path(&format!("patches/top/v1/{place}")),
            sources.path("patches/top/v1/gone/base"),
        )
    };
    move_to("third_party/a/base").unwrap();
    let done = sources.checkout(&WORDS).exits(0);
    let expected =
        "warning[C014 idle-patches]: no repository is named `gone`, so its patches are not applied";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
}

#[test]
fn a_submodule_that_upstream_dropped_goes_and_one_that_was_removed_comes_back() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    std::fs::remove_dir_all(sources.path("co/third_party/a")).unwrap();
    sources.checkout(&[]).exits(0);
    assert!(sources.path("co/third_party/a/deep/b/b.txt").exists());
    sources.git("upstream/top", &["rm", "--quiet", "third_party/a"]);
    sources.commit("upstream/top", "without a");
    sources.checkout(&["--ref", "main"]).exits(0);
    assert!(!sources.path("co/third_party/a/a.cu").exists());
    assert_eq!(sources.git("co", &["status", "--porcelain"]), "");
    let done = sources.checkout(&["--ref", "main"]).exits(0);
    assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
    sources.checkout(&["--ref", "v1"]).exits(0);
    assert!(sources.path("co/third_party/a/a.cu").exists());
}

#[test]
fn a_hipify_that_fails_is_taken_back() {
    let sources = Sources::new();
    sources.write("bad", "");
    let done = sources.checkout(&[]).exits(1);
    assert!(
        done.stderr
            .contains("error[C015 hipify-failed]: hipify failed with exit status 1"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("cannot hipify k.cu"),
        "{}",
        done.stderr
    );
    assert_eq!(sources.git("co", &["status", "--porcelain"]), "");
    std::fs::remove_file(sources.path("bad")).unwrap();
    sources.checkout(&[]).exits(0);
    assert!(sources.path("co/k.hip").exists());
}

#[test]
fn nobodys_name_is_configured_for_the_commits() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    let who = sources.git("co", &["log", "-1", "--format=%an <%ae> %cn <%ce>"]);
    assert_eq!(
        who,
        "rock-matrix <rock-matrix@localhost> rock-matrix <rock-matrix@localhost>"
    );
    let config = sources.project.read("co/.git/config");
    assert!(!config.contains("user"), "{config}");
}

#[test]
fn uncommitted_hipify_output_differs_from_changes_by_a_person() {
    let sources = patched();
    let words = ["--no-commit-hipify", "--no-patch"];
    let done = sources
        .checkout(&[&WORDS[..], &words[..1]].concat())
        .exits(1);
    assert!(
        done.stderr
            .starts_with("error[C016 hipified-needs-commit]: "),
        "{}",
        done.stderr
    );
    sources.checkout(&words).exits(0);
    assert_eq!(sources.subjects("co", UPSTREAM), Vec::<String>::new());
    assert_eq!(
        sources.git("co", &["status", "--porcelain"]),
        " M notes.txt\n?? k.hip"
    );
    let done = sources.checkout(&words).exits(0);
    assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
    sources.write("co/notes.txt", "mine\n");
    let done = sources.checkout(&words).exits(1);
    assert!(
        done.stderr.contains("affected: `notes.txt`") && !done.stderr.contains("k.hip"),
        "{}",
        done.stderr
    );
    sources.write("co/notes.txt", "notes\nhipified\n");
    sources.checkout(&["--no-patch"]).exits(0);
    assert_eq!(sources.subjects("co", UPSTREAM), ["DO NOT SUBMIT: HIPIFY"]);
}

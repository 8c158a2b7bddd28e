//! A source tree is made, made again, and reported.

use crate::support::Sources;
use crate::support::git::UPSTREAM;

const SUBMODULES: [&str; 2] = ["co/third_party/a", "co/third_party/a/deep/b"];

#[test]
fn a_tag_a_branch_and_a_commit_are_checked_out() {
    let sources = Sources::new();
    for reference in ["v1", "v2", "main", &sources.head("upstream/top")] {
        let folder = format!("co-{}", &reference[..2]);
        let done = sources
            .checkout(&["--ref", reference, "--checkout-dir", &folder, "--no-hipify"])
            .exits(0);
        let commit = sources.git(
            "upstream/top",
            &["rev-parse", &format!("{reference}^{{commit}}")],
        );
        assert_eq!(sources.head(&folder), commit);
        assert!(
            done.stdout.starts_with("checked out: top "),
            "{}",
            done.stdout
        );
        assert_eq!(sources.git(&folder, &["status", "--porcelain"]), "");
    }
    assert!(
        !sources.path(".rock").exists(),
        "the working folder is not the tree"
    );
}

#[test]
fn a_second_run_with_another_origin_repoints_the_checkout() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    sources.write("co/.git/kept", "");
    std::fs::create_dir(sources.path("mirror")).unwrap();
    for name in ["top", "a", "b"] {
        sources.git(
            "mirror",
            &[
                "clone",
                "--quiet",
                "--mirror",
                &format!("../upstream/{name}"),
                name,
            ],
        );
    }
    let done = sources.checkout(&["--origin", "mirror/top"]).exits(0);
    assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
    assert!(
        sources
            .git("co", &["remote", "get-url", "origin"])
            .ends_with("/mirror/top")
    );
    sources.checkout(&["--ref", "v2"]).exits(0);
    assert!(
        sources
            .git("co", &["remote", "get-url", "origin"])
            .ends_with("/upstream/top")
    );
    assert!(sources.path("co/.git/kept").exists(), "it is no new clone");
}

#[test]
fn every_repository_has_the_tag_of_upstream() {
    let sources = Sources::new();
    sources.checkout(&["--no-hipify"]).exits(0);
    for (folder, upstream) in [("co", "top"), (SUBMODULES[0], "a"), (SUBMODULES[1], "b")] {
        let tagged = sources.git(folder, &["rev-parse", "THEROCK_UPSTREAM_DIFFBASE^{commit}"]);
        let reference = if upstream == "top" { "v1" } else { "main" };
        assert_eq!(
            tagged,
            sources.git(&format!("upstream/{upstream}"), &["rev-parse", reference])
        );
    }
}

#[test]
fn git_ignores_what_submodules_differ_in_and_an_empty_list_of_them_is_none() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    for folder in SUBMODULES {
        sources
            .write(&format!("{folder}/new.txt"), "x")
            .commit(folder, "mine");
    }
    sources.write("co/third_party/a/a.cu", "other\n");
    assert_eq!(sources.git("co", &["status", "--porcelain"]), "");
    assert_eq!(
        sources.git("co", &["config", "submodule.third_party/a.ignore"]),
        "all"
    );

    sources
        .write("upstream/b/.gitmodules", "")
        .commit("upstream/b", "no submodules");
    let done = sources
        .checkout(&[
            "--origin",
            "upstream/b",
            "--ref",
            "main",
            "--checkout-dir",
            "co-b",
        ])
        .exits(0);
    assert!(done.stdout.starts_with("checked out: "));
}

/// A server may answer `ls-remote` without end.
#[test]
fn an_answer_of_git_without_end_is_refused_and_not_kept() {
    use crate::support::hostile::{Bounds, bounded};
    let sources = Sources::new();
    let git = "#!/bin/sh\ncase \" $* \" in *' ls-remote '*|*' fetch '*) exec yes 0000 ;; esac\nexec /usr/bin/git \"$@\"\n";
    let project = sources.project.file("bin/git", git);
    std::process::Command::new("chmod")
        .args(["+x", "bin/git"])
        .current_dir(project.root())
        .status()
        .unwrap();
    let path = format!("{}:/usr/bin:/bin", project.path("bin").display());
    let project = project.env("PATH", path);
    let words = [
        "source",
        "checkout",
        "--origin",
        "upstream/top",
        "--ref",
        "v1",
        "--checkout-dir",
        "co",
    ];
    let within = Bounds {
        address_mib: 1024,
        peak_mib: 256,
        cpu_s: 60,
    };
    let stderr = bounded(&project, within, &words, 1).stderr;
    assert!(
        stderr.contains("error[H045 too-much-output]: `git")
            && stderr.contains("wrote more than 64 MiB"),
        "{stderr}"
    );
}

#[test]
fn a_second_run_changes_nothing_and_two_clean_runs_make_one_commit() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    let (head, log) = (
        sources.head("co"),
        sources.project.read("co/.git/logs/HEAD"),
    );
    let done = sources.checkout(&[]).exits(0);
    assert!(
        done.stdout.starts_with("up to date: top v1 ("),
        "{}",
        done.stdout
    );
    assert_eq!(
        (
            done.stderr.as_str(),
            sources.project.read("co/.git/logs/HEAD")
        ),
        ("", log)
    );
    sources.checkout(&["--checkout-dir", "other"]).exits(0);
    assert_eq!(sources.head("other"), head);
    assert_eq!(
        sources.head("other/third_party/a"),
        sources.head("co/third_party/a")
    );
    assert_ne!(sources.subjects("co", UPSTREAM), Vec::<String>::new());
}

#[test]
fn a_ref_that_means_the_same_commit_is_up_to_date_and_a_branch_that_moved_is_not() {
    let sources = Sources::new();
    let commit = sources.head("upstream/top");
    sources.checkout(&["--ref", "main"]).exits(0);
    for reference in ["v2", &commit, "main"] {
        let done = sources.checkout(&["--ref", reference]).exits(0);
        assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
    }
    sources
        .write("upstream/top/new.txt", "new\n")
        .commit("upstream/top", "moved");
    let done = sources.checkout(&["--ref", "main"]).exits(0);
    assert!(done.stdout.starts_with("checked out: "), "{}", done.stdout);
    assert!(sources.path("co/new.txt").exists());
}

#[test]
fn a_whole_commit_is_up_to_date_without_its_repository() {
    let sources = Sources::new();
    let commit = sources.head("upstream/top");
    sources.checkout(&["--ref", &commit]).exits(0);
    std::fs::rename(sources.path("upstream"), sources.path("gone")).unwrap();
    let done = sources.checkout(&["--ref", &commit]).exits(0);
    assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
    let done = sources.checkout(&["--ref", "main"]).exits(3);
    assert!(
        done.stderr.starts_with("error[C010 fetch-failed]: "),
        "{}",
        done.stderr
    );
}

#[test]
fn the_dry_run_shows_each_command_with_depth_jobs_and_without_submodules() {
    let sources = Sources::new();
    let words = [
        "--dry-run",
        "--depth",
        "1",
        "--jobs",
        "4",
        "--no-submodules",
        "--python",
        "python3.12",
    ];
    let done = sources.checkout(&words).exits(0);
    let expected = "\
git init --quiet --initial-branch=main
git config advice.detachedHead false
git remote add origin [ROOT]/upstream/top
git fetch --depth=1 --jobs=4 --no-recurse-submodules origin v1
git checkout --quiet --detach FETCH_HEAD
git tag --force --no-sign THEROCK_UPSTREAM_DIFFBASE
python3.12 tools/amd_build/build_amd.py
git add --all  # in each repository
git -c user.name=rock-matrix -c user.email=rock-matrix@localhost commit --quiet --no-verify --no-gpg-sign --message 'DO NOT SUBMIT: HIPIFY'  # in each repository
git tag --force --no-sign THEROCK_HIPIFY_DIFFBASE  # in each repository
";
    assert_eq!(done.stdout, expected);
    assert!(!sources.path("co").exists());

    let done = sources
        .checkout(&[
            "--dry-run",
            "--depth",
            "1",
            "--jobs",
            "4",
            "--format",
            "json",
        ])
        .exits(0);
    let commands = done.json()["commands"].as_array().unwrap().clone();
    let update = commands
        .iter()
        .find(|command| command["argv"][1] == "submodule")
        .unwrap();
    assert_eq!(
        update["argv"],
        serde_json::json!([
            "git",
            "submodule",
            "update",
            "--init",
            "--recursive",
            "--depth=1",
            "--jobs=4"
        ])
    );
    assert_eq!(
        commands[3]["argv"],
        serde_json::json!(["git", "fetch", "--depth=1", "--jobs=4", "origin", "v1"])
    );
}

#[test]
fn both_spellings_of_the_options_mean_the_same() {
    let sources = Sources::new();
    let words = [
        "source",
        "checkout",
        "--gitrepo-origin",
        "upstream/top",
        "--repo-hashtag",
        "v1",
        "--repo",
        "co",
    ];
    sources.project.run(&words).exits(0);
    let done = sources.checkout(&["--repo-name", "co"]).exits(0);
    assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
}

#[test]
fn the_status_reports_each_project_and_its_changes() {
    let sources = Sources::new();
    let done = sources
        .project
        .run(&["source", "status", "--checkout-dir", "co"])
        .exits(1);
    assert!(
        done.stderr.starts_with("error[C005 no-checkout]: "),
        "{}",
        done.stderr
    );
    sources.checkout(&[]).exits(0);
    sources.write("co/mine.txt", "x").commit("co", "my change");
    sources.write("co/third_party/a/a.cu", "other\n");
    let short = sources.git("co", &["rev-parse", "--short", "HEAD"]);
    let commit = sources.git("co", &["rev-parse", "--short=12", UPSTREAM]);
    let done = sources
        .project
        .run(&["source", "status", "--checkout-dir", "co"])
        .exits(0);
    let expected = format!(
        "top v1 ({commit})\n  checkout     done\n  origin       [ROOT]/upstream/top\n  patches      none\n  \
         hipified     yes\n  repositories 3\n  above        .: {short} my change\n  \
         changed      third_party/a: a.cu\n"
    );
    assert_eq!(done.stdout, expected);
    let done = sources
        .project
        .run(&[
            "source",
            "status",
            "--checkout-dir",
            "co",
            "--format",
            "json",
        ])
        .exits(0);
    let document = done.json();
    assert_eq!(
        document["repositories"][0]["above"][0]["subject"],
        "my change"
    );
    assert_eq!(
        document["repositories"][1]["changed"],
        serde_json::json!(["a.cu"])
    );
    assert_eq!(document["checkout"]["ref"], "v1");
}

#[test]
fn the_outcome_can_be_read_by_programs() {
    let sources = Sources::new();
    let outcome = |words: &[&str]| sources.checkout(words).exits(0).json();
    let first = outcome(&["--format", "json"]);
    assert_eq!(
        (&first["outcome"], &first["checkout"]["outcome"]),
        (&"checked-out".into(), &"done".into())
    );
    assert_eq!(
        first["checkout"]["commit"],
        sources.git("upstream/top", &["rev-parse", "v1"])
    );
    assert_eq!(outcome(&["--format", "json"])["outcome"], "up-to-date");
}

#[test]
fn cleaning_jobs_leaves_the_state_of_a_checkout() {
    let sources = Sources::new();
    sources.checkout(&[]).exits(0);
    let mut command = sources.project.command(&["clean", "--all"]);
    assert!(
        command
            .current_dir(sources.path("co"))
            .status()
            .unwrap()
            .success()
    );
    let done = sources.checkout(&[]).exits(0);
    assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
}

//! The versions of a build, as a workflow asks for them: each is one that installers take as it
//! stands.

use crate::support::Project;

const SHA: &str = "0123456789ABCDEF0123456789abcdef01234567";

fn wheel(project: &Project, more: &[&str]) -> String {
    let document = project
        .run(&[&["sdk", "version", "--format", "json"], more].concat())
        .exits(0)
        .json();
    document["wheel"].as_str().unwrap().to_owned()
}

#[test]
fn versions_of_wheels_are_written_as_installers_write_them() {
    let project = Project::new();
    let dev = |sha: &str| {
        wheel(
            &project,
            &[
                "--release-type",
                "dev",
                "--base",
                "7.10.0",
                "--date",
                "20251120",
                "--sha",
                sha,
            ],
        )
    };
    assert_eq!(dev(SHA), format!("7.10.0.dev0+{}", SHA.to_lowercase()));
    assert_eq!(dev("01234567"), "7.10.0.dev0+1234567", "a number");
    let suffix = |text: &str| wheel(&project, &["--base", "7.10.0", "--custom-suffix", text]);
    assert_eq!(
        [suffix(".dev0+Mine-1"), suffix(".rc1")],
        ["7.10.0.dev0+mine.1", "7.10.0rc1"]
    );
    // The build takes it.
    let leap = [
        "--release-type",
        "nightly",
        "--base",
        "7.10.0",
        "--date",
        "20240229",
    ];
    assert_eq!(wheel(&project, &leap), "7.10.0a20240229");
}

#[test]
fn what_no_version_can_be_made_of_is_refused_with_the_word() {
    let project = Project::new();
    let nightly = [
        "--release-type",
        "nightly",
        "--base",
        "7.10.0",
        "--date",
        "20251120",
    ];
    let dev = [
        "--release-type",
        "dev",
        "--base",
        "7.10.0",
        "--date",
        "20251120",
    ];
    for (words, more, why) in [
        (
            &nightly[..2],
            &["--base", "foo"][..],
            "`foo` is not a version such as 7.10.0",
        ),
        (
            &nightly[..2],
            &["--base", "7.010.0"],
            "`7.010.0` is not a version such as 7.10.0",
        ),
        (
            &nightly[..4],
            &["--date", "20250231"],
            "`20250231` is not a date such as 20251120",
        ),
        (
            &nightly[..4],
            &["--date", "19000229"],
            "`19000229` is not a date such as 20251120",
        ),
        (&dev, &["--sha", ""], "`` is not a commit hash"),
        (
            &dev,
            &["--sha", "abc def"],
            "`abc def` is not a commit hash",
        ),
        (
            &nightly[2..4],
            &["--custom-suffix", ".a", "--prerelease-version", "2"],
            "cannot be used with",
        ),
    ] {
        let stderr = project
            .run(&[&["sdk", "version"], words, more].concat())
            .exits(2)
            .stderr;
        assert!(stderr.contains(why), "{why}: {stderr}");
    }
    let words = [
        "sdk",
        "version",
        "--base",
        "7.10.0",
        "--custom-suffix",
        ".mine",
    ];
    let stderr = project.run(&words).exits(1).stderr;
    assert!(
        stderr.starts_with("error[S010 bad-sdk-version]")
            && stderr.contains("--custom-suffix .mine"),
        "{stderr}"
    );
    let project = Project::new().env("GITHUB_SHA", "main");
    let stderr = project
        .run(&[&["sdk", "version"], &dev[..]].concat())
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("`main` is not a commit hash") && stderr.contains("GITHUB_SHA"),
        "{stderr}"
    );
    assert!(
        wheel(&project, &nightly).starts_with("7.10.0a"),
        "which needs none"
    );
}

#[test]
fn a_file_without_a_version_is_reported_with_its_path() {
    for (text, why) in [
        (
            "{\"rocm-version\": \"\"}",
            "`` is not a version such as 7.10.0",
        ),
        ("{}", "`rocm-version` is missing"),
        ("[\"7.10.0\", {}]", "this is not a version file: "),
        (
            "{\"rocm-version\": \"7.10.0\", \"release-metadata\": {\"base-date\": \"20250230\"}}",
            "`20250230` is not a date such as 20251120",
        ),
    ] {
        let project = Project::new().file("version.json", text);
        let stderr = project
            .run(&["sdk", "version", "--release-type", "nightly"])
            .exits(1)
            .stderr;
        assert!(
            stderr.starts_with("error[S010 bad-sdk-version]: ") && stderr.contains(why),
            "{stderr}"
        );
        assert!(
            stderr.contains("--> version.json\n") && stderr.contains("help: "),
            "{stderr}"
        );
    }
    // Git knows no commit there, and what two words ask for is reported once.
    let words = ["sdk", "version", "--release-type", "ci", "--base", "7.10.0"];
    let stderr = Project::new().run(&words).exits(1).stderr;
    assert!(
        stderr.contains("help: pass `--sha`, or run the command in a checkout\n"),
        "{stderr}"
    );
}

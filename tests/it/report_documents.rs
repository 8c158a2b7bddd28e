//! A maintainer writes the documents that people read, from a plan and a saved listing.

use crate::support::{Outcome, Project, Wheel, appears, assert_file};

const MATRIX: &str = r#"version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: ["2.7.4.post1"]
  python: ["3.9", "3.10", "3.11"]
  torch: ["2.5.1", "2.6.0"]
  rocm: ["6.1", "6.2"]
  backend: [ck, triton]
gfx: [gfx90a, gfx942]
"#;

/// One asset of GitHub's own JSON, with the address as its API gives it.
fn asset(tag: &str, number: usize, name: &str) -> serde_json::Value {
    let encoded = name.replace('+', "%2B");
    serde_json::json!({
        "id": number, "name": name, "state": "uploaded", "size": 1000 + number,
        "digest": format!("sha256:{}", format!("{number:02x}").repeat(32)),
        "browser_download_url": format!("https://github.com/o/r/releases/download/{tag}/{encoded}"),
        "created_at": "2026-11-01T00:00:00Z",
    })
}

fn release(number: usize, tag: &str, names: &[&str]) -> serde_json::Value {
    let assets: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(at, name)| asset(tag, 10 * number + at, name))
        .collect();
    serde_json::json!({
        "id": number, "tag_name": tag, "draft": false, "prerelease": false, "immutable": number == 2,
        "published_at": format!("2026-11-{number:02}T00:00:00Z"),
        "html_url": format!("https://github.com/o/r/releases/tag/{tag}"),
        "assets": assets,
    })
}

const SECOND: [&str; 10] = [
    "flash_attn-2.7.4.post1+rocm61torch2.5-cp39-cp39-linux_x86_64.whl",
    "flash_attn-2.7.4.post1+rocm61torch2.5-cp310-cp310-manylinux_2_28_x86_64.whl",
    "flash_attn-2.7.4.post1+rocm6.2torch2.5-cp310-cp310-linux_x86_64.whl",
    "flash_attn-2.7.4.post1+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
    "flash_attn-2.7.4.post1+rocm61torch2.6-cp39-abi3-linux_x86_64.whl",
    "flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl",
    "flash_attn-2.7.4.post1+rocm72torch2.10-cp311-cp311-linux_x86_64.whl",
    "flash_attn-2.7.4.post1+rocm72torch2.9-cp311-cp311-linux_x86_64.whl",
    "flash_attn-2.7.4.post1.rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
    "SHA256SUMS",
];
const FIRST: [&str; 2] = [
    "flash_attn-2.7.4.post1+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
    "flash_attn-2.10.0+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
];

/// A project with a plan, a listing of two releases and a draft, and what two builds came to.
fn project() -> Project {
    let mut draft = release(
        3,
        "v3",
        &["flash_attn-2.7.4.post1+rocm61torch2.6triton-py3-none-any.whl"],
    );
    draft["draft"] = true.into();
    let (second, mut first) = (release(2, "v2", &SECOND), release(1, "v1", &FIRST));
    // The file that both releases have is one.
    for key in ["size", "digest"] {
        first["assets"][0][key] = second["assets"][3][key].clone();
    }
    let releases = serde_json::json!([draft, second, first]);
    let failed = r#"{"job": "flash-attn-2.7.4.post1-rocm6.2-torch2.5.1-py3.9-ck", "outcome": "failed", "stages": [
        {"stage": "compile", "state": "failed", "ended": "exit status 1 | out of memory"}]}"#;
    let capped =
        r#"{"job": "flash-attn-2.7.4.post1-rocm6.1-torch2.5.1-py3.11-ck", "outcome": "capped"}"#;
    let project = Project::new()
        .file("matrices/flash-attn.yaml", MATRIX)
        .file("releases.json", &releases.to_string())
        .file(".rock/a/build.json", failed)
        .file(".rock/b/build.json", capped)
        .file("HISTORY.md", "# Releases\n\n## History\n")
        .file("README.md", README);
    project
        .run(&[
            "plan",
            "matrices/flash-attn.yaml",
            "--format",
            "json",
            "--out",
            "plan.json",
        ])
        .exits(0);
    project
}

const README: &str = "# Wheels\n\n<!-- COVERAGE_BADGE_START -->\n<!-- COVERAGE_BADGE_END -->\n\nMine.\n\n\
                      <!-- COVERAGE_TABLE_START -->\nold\n<!-- COVERAGE_TABLE_END -->\n\nMine too.\n";

/// `report KIND --published releases.json …`.
fn report(project: &Project, kind: &str, more: &[&str], code: i32) -> Outcome {
    project
        .run(&[&["report", kind, "--published", "releases.json"], more].concat())
        .exits(code)
}

#[test]
fn notes_list_files_and_failures_and_explain_install_and_verify() {
    let project = project();
    let more = [
        "--tag",
        "v2",
        "--plan",
        "plan.json",
        "--results",
        ".rock",
        "--index-url",
        "https://o.github.io/r/simple",
    ];
    let notes = report(&project, "notes", &more, 0);
    assert_file("tests/it/report_documents/notes.md", &notes.stdout);
    assert!(
        notes
            .stderr
            .starts_with("warning[G300 unreadable-published-name]"),
        "{}",
        notes.stderr
    );
}

#[test]
fn notes_without_a_plan_or_an_index_install_from_the_files_themselves() {
    let project = project();
    let notes = report(&project, "notes", &["--tag", "v1"], 0).stdout;
    assert!(
        notes.starts_with("2 wheels.\n\n## Linux x86-64\n\n### ROCm\n"),
        "{notes}"
    );
    assert!(
        notes.contains("pip install 'https://github.com/o/r/releases/download/v1/flash_attn-2.10.0%2Brocm62torch2.5-"),
        "{notes}"
    );
    assert!(notes.contains("gh attestation verify FILE --repo o/r\n"));
    assert!(
        !notes.contains("gh release verify") && !notes.contains("SHA256SUMS\n"),
        "neither immutable nor with sums"
    );
    let draft = report(&project, "notes", &["--tag", "v3"], 0).stdout;
    assert!(
        draft.contains("1 wheel."),
        "notes are written before a draft is published"
    );
}

/// Whether there are attestations is known to the workflow alone, which passes it on.
#[test]
fn notes_name_attestations_only_where_there_are_some() {
    let project = project();
    let part = |more: &[&str]| {
        let notes = report(&project, "notes", &[&["--tag", "v1"], more].concat(), 0).stdout;
        let (_, part) = notes.split_once("## Verify\n\n").unwrap();
        part.split("<details>").next().unwrap().to_owned()
    };
    let unknown = part(&[]);
    insta::assert_snapshot!(unknown, @r"
    If the workflow that built these wheels attested them:

    ```sh
    gh attestation verify FILE --repo o/r
    ```
    ");
    assert_eq!(
        part(&["--attest", "on"]),
        unknown.replacen("If the", "The", 1)
    );
    assert_eq!(part(&["--attest", "off"]), "");
}

#[test]
fn a_wheel_has_one_backend_in_all_documents() {
    let project = project();
    let documents = [
        report(
            &project,
            "notes",
            &["--tag", "v2", "--plan", "plan.json"],
            0,
        )
        .stdout,
        report(&project, "notes", &["--tag", "v2"], 0).stdout,
        report(&project, "packages", &[], 0).stdout,
    ];
    for text in documents {
        assert!(
            text.contains("| default |") && !text.contains("| ck |"),
            "{text}"
        );
    }
}

#[test]
fn tags_in_capitals_mean_what_small_ones_do() {
    let name = "flash_attn-2.7.4.post1+rocm62torch2.5-CP311-cp311-Linux_x86_64.whl";
    let project = Project::new().file(
        "releases.json",
        &serde_json::json!([release(1, "v1", &[name])]).to_string(),
    );
    let packages = report(&project, "packages", &[], 0).stdout;
    assert!(
        packages.contains("## Linux x86-64") && packages.contains("| 3.11 |"),
        "{packages}"
    );
    assert!(
        packages.contains(&name.replace('+', "%2B")),
        "the address is that of the file: {packages}"
    );
    let machine = [
        "--only-given",
        "--python",
        "3.11",
        "--platform",
        "linux_x86_64",
    ];
    let picked = project
        .run(&[&["pick", "--published", "releases.json"], &machine[..]].concat())
        .exits(0)
        .stdout;
    assert!(picked.starts_with(&format!("{name}\n")), "{picked}");
}

#[test]
fn a_release_that_spilled_over_has_one_text() {
    let mut continuation = release(2, "v1-3", &FIRST[1..]);
    continuation["body"] = "Further files of `v1`.\n\n<!-- rock-matrix continues v1 -->\n".into();
    // A release of others that happens to have the next tag.
    let foreign = release(4, "v1-2", &SECOND[..1]);
    let spilled = serde_json::json!([release(1, "v1", &FIRST[..1]), foreign, continuation]);
    let project = Project::new().file("releases.json", &spilled.to_string());
    assert!(
        report(&project, "notes", &["--tag", "v1"], 0)
            .stdout
            .starts_with("2 wheels.\n")
    );
    assert!(
        report(&project, "notes", &["--tag", "v1-3"], 0)
            .stdout
            .starts_with("1 wheel.\n")
    );
}

#[test]
fn notes_of_many_wheels_stay_below_what_github_takes() {
    /// GitHub refuses a text of a release that is not shorter.
    const CHARACTERS: usize = 125_000;
    let wheels = |count: usize| -> Vec<String> {
        (0..count)
            .map(|at| {
                let (python, torch, rocm, patch) = (9 + at % 6, 5 + at / 6 % 10, at / 60 % 3, at / 180);
                format!(
                    "flash_attn-2.8.{patch}+rocm7{rocm}torch2.{torch}-cp3{python}-cp3{python}-manylinux_2_28_x86_64.whl"
                )
            })
            .collect()
    };
    let notes = |count: usize| {
        let names = wheels(count);
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.push("SHA256SUMS");
        let listing = serde_json::json!([release(1, "v1", &names)]).to_string();
        let text = report(
            &Project::new().file("releases.json", &listing),
            "notes",
            &["--tag", "v1"],
            0,
        )
        .stdout;
        assert!(
            text.len() < CHARACTERS && text.starts_with(&format!("{count} wheels.\n")),
            "{}",
            text.len()
        );
        text
    };
    let (whole, no_sums, short, counts) = (notes(100), notes(400), notes(999), notes(9999));
    let has = |text: &str| {
        [
            "SHA-256 of every wheel",
            "](https://",
            "| 3.9, 3.10, 3.11, 3.12, 3.13, 3.14 |",
            "; `SHA256SUMS` contains them",
        ]
        .map(|part| text.contains(part))
    };
    assert_eq!(has(&whole), [true, true, false, false], "{whole}");
    assert_eq!(has(&no_sums), [false, true, false, true], "{no_sums}");
    assert_eq!(has(&short), [false, false, true, true], "{short}");
    assert_eq!(has(&counts), [false, false, false, true], "{counts}");
    assert!(counts.contains("\n### ROCm\n\n9999 wheels.\n"), "{counts}");
}

#[test]
fn each_platform_has_its_install_line_and_rocm_comes_first() {
    let names = [
        "flash_attn-2.10.0+rocm72torch2.10-cp312-cp312-win_amd64.whl",
        "flash_attn-2.10.0+rocm72torch2.10-cp312-cp312-manylinux_2_28_x86_64.whl",
        "flash_attn-2.10.0+cu124torch2.10-cp312-cp312-manylinux_2_28_x86_64.whl",
        "flash_attn-2.10.0-py3-none-any.whl",
    ];
    let listing = serde_json::json!([release(1, "v1", &names)]).to_string();
    let project = Project::new().file("releases.json", &listing);
    let notes = report(&project, "notes", &["--tag", "v1"], 0).stdout;
    let (linux, windows) = (notes.find("pip install 'https://github.com/o/r/releases/download/v1/flash_attn-2.10.0%2Brocm72torch2.10-cp312-cp312-manylinux"), notes.find("%2Brocm72torch2.10-cp312-cp312-win_amd64.whl'"));
    assert!(linux.is_some() && linux < windows, "{notes}");
    assert!(
        notes.contains("| 12.4 |") && !notes.contains("| No accelerator |"),
        "{notes}"
    );
    let packages = report(&project, "packages", &[], 0).stdout;
    assert!(
        packages.find("| ROCm |") < packages.find("| CUDA |"),
        "{packages}"
    );
    assert!(
        packages.contains("| 12.4 |") && !packages.contains("| No accelerator |"),
        "{packages}"
    );
}

#[test]
fn an_unknown_tag_is_reported_with_the_nearest() {
    let project = project();
    let with = report(&project, "notes", &["--tag", "v22"], 1).stderr;
    let without = project.stderr_of(&[
        "report",
        "notes",
        "--published",
        "releases.json",
        "--tag",
        "v2",
    ]);
    appears("G303", &with, &without);
    assert!(with.contains("did you mean `v2`?"), "{with}");
}

/// `publish --out` without `--tag` writes a release without a tag.
#[test]
fn notes_of_a_directory_without_a_tag_explain_how_to_set_it() {
    let wheel = Wheel::named("flash_attn-2.8.3+rocm62torch2.5-py3-none-any.whl");
    let project = Project::new().bytes(&format!("dist/{}", wheel.name()), &wheel.bytes());
    project.run(&["publish", "dist", "--out", "rel"]).exits(0);
    let notes = ["report", "notes", "--tag", "v1", "--published"];
    let stderr = project
        .run(&[&notes[..], &["rel"]].concat())
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[G303 unknown-release]: no release has the tag `v1`
    --> argument `--tag`
     = note: the release in `rel` has no tag
    help: publish its wheels with the tag, with `rock-matrix publish rel --out rel-tagged --tag v1`, and pass `--published rel-tagged`
    ");
    project.follow(&stderr, "with the tag, with").exits(0);
    let text = project
        .run(&[&notes[..], &["rel-tagged"]].concat())
        .exits(0)
        .stdout;
    assert!(text.starts_with("1 wheel"), "{text}");
    let other = [
        "report",
        "notes",
        "--tag",
        "zebra",
        "--published",
        "rel-tagged",
    ];
    let stderr = project.run(&other).exits(1).stderr;
    assert!(stderr.contains("help: the tags are `v1`\n"), "{stderr}");
}

#[test]
fn the_history_gets_one_section_a_tag_and_the_second_run_changes_nothing() {
    let project = project();
    for tag in ["v1", "v2"] {
        report(
            &project,
            "notes",
            &["--tag", tag, "--history", "HISTORY.md"],
            0,
        );
    }
    let once = project.read("HISTORY.md");
    assert_file("tests/it/report_documents/history.md", &once);
    for tag in ["v1", "v2"] {
        report(
            &project,
            "notes",
            &["--tag", tag, "--history", "HISTORY.md", "--check"],
            0,
        );
        report(
            &project,
            "notes",
            &["--tag", tag, "--history", "HISTORY.md"],
            0,
        );
    }
    assert_eq!(project.read("HISTORY.md"), once);
    let stale = project.file("HISTORY.md", &once.replace("triton", "tritom"));
    let drift = report(
        &stale,
        "notes",
        &["--tag", "v2", "--history", "HISTORY.md", "--check"],
        1,
    );
    assert!(
        drift.stderr.contains("HISTORY.md:") && drift.stderr.contains("should be"),
        "{}",
        drift.stderr
    );
}

#[test]
fn a_document_without_its_marker_is_left_alone() {
    let project = project()
        .file("bare.md", "# No markers\n")
        .file("half.md", "<!-- COVERAGE_TABLE_START -->\n");
    let with = report(
        &project,
        "notes",
        &["--tag", "v2", "--history", "bare.md"],
        1,
    )
    .stderr;
    let without = project.stderr_of(&[
        "report",
        "notes",
        "--published",
        "releases.json",
        "--tag",
        "v2",
        "--history",
        "HISTORY.md",
    ]);
    appears("G302", &with, &without);
    for file in ["bare.md", "half.md"] {
        let before = project.read(file);
        let stderr = report(
            &project,
            "coverage",
            &["--plan", "plan.json", "--update", file],
            1,
        )
        .stderr;
        assert!(stderr.contains("error[G302 no-marker]"), "{stderr}");
        assert_eq!(project.read(file), before);
    }
}

#[test]
fn the_table_of_packages_folds_by_version_and_merges_releases() {
    let project = project();
    let packages = report(&project, "packages", &[], 0).stdout;
    assert_file("tests/it/report_documents/packages.md", &packages);
    assert_anchors_resolve(&packages);
    let json = report(&project, "packages", &["--format", "json"], 0).json();
    let merged = json["packages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["files"].as_array().unwrap().len() == 2);
    assert_eq!(
        merged.unwrap()["files"][0]["release"],
        "v2",
        "the newest release first"
    );
    assert_eq!(json["unread"][0]["name"], SECOND[8]);
}

#[test]
fn an_address_that_is_none_has_the_same_advice_in_every_command() {
    let project = project();
    let listed = ["--published", "releases.json"];
    for words in [
        &["report", "packages", "--base-url", "nowhere"][..],
        &["report", "page", "--base-url", "nowhere"],
        &["report", "notes", "--tag", "v2", "--base-url", "nowhere"],
        &["report", "notes", "--tag", "v2", "--index-url", "nowhere"],
        &["index", "build", "--out", "site", "--base-url", "nowhere"],
    ] {
        let stderr = project.run(&[words, &listed].concat()).exits(1).stderr;
        let advice = "pass the URL of the directory, such as `https://example.org/wheels`";
        assert!(
            stderr.contains("error[G0") && stderr.contains(advice),
            "{words:?}: {stderr}"
        );
    }
}

/// Every link into the page has one place that it leads to.
#[track_caller]
fn assert_anchors_resolve(page: &str) {
    let places = regex::Regex::new(r#"<a id="([^"]*)">"#).unwrap();
    let places: Vec<&str> = places
        .captures_iter(page)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    let unique: std::collections::BTreeSet<&str> = places.iter().copied().collect();
    assert_eq!(unique.len(), places.len(), "{places:?}");
    let links = regex::Regex::new(r"\]\(#([^)]*)\)").unwrap();
    let links: Vec<&str> = links
        .captures_iter(page)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    assert!(!links.is_empty());
    for link in links {
        assert!(unique.contains(link), "#{link} leads nowhere");
    }
    for address in regex::Regex::new(r"\]\((https?:[^)]*)\)")
        .unwrap()
        .captures_iter(page)
    {
        assert!(!address[1].contains('+'), "{}", &address[1]);
    }
}

#[test]
fn every_link_of_every_document_leads_to_what_is_listed() {
    let project = project();
    let history = [
        "--tag",
        "v2",
        "--plan",
        "plan.json",
        "--history",
        "HISTORY.md",
    ];
    report(&project, "notes", &history, 0);
    let coverage = [
        "--plan",
        "plan.json",
        "--update",
        "README.md",
        "--heatmap",
        "docs",
    ];
    report(&project, "coverage", &coverage, 0);
    let documents = [
        report(
            &project,
            "notes",
            &["--tag", "v2", "--plan", "plan.json"],
            0,
        )
        .stdout,
        report(&project, "packages", &[], 0).stdout,
        report(&project, "coverage", &["--plan", "plan.json"], 0).stdout,
        report(&project, "page", &[], 0).stdout,
        project.read("HISTORY.md"),
        project.read("README.md"),
        project.read("docs/coverage-flash-attn.svg"),
    ];
    let listed: serde_json::Value = serde_json::from_str(&project.read("releases.json")).unwrap();
    let releases = listed.as_array().unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut places: std::collections::BTreeSet<String> = releases
        .iter()
        .map(|release| text(&release["html_url"]))
        .collect();
    for asset in releases
        .iter()
        .flat_map(|release| release["assets"].as_array().unwrap())
    {
        places.insert(text(&asset["browser_download_url"]));
    }
    let links =
        regex::Regex::new(r#"\]\(([^)]*)\)|(?:href|src|aria-labelledby|aria-describedby|for|aria-controls)="([^"]*)""#)
            .unwrap();
    let mut count = 0;
    let named = regex::Regex::new(r#" id="([^"]*)""#).unwrap();
    let scripts = regex::Regex::new("(?s)<script.*?</script>").unwrap();
    for document in &documents {
        let document = scripts.replace_all(document, "");
        let ids: Vec<&str> = named
            .captures_iter(&document)
            .map(|found| found.get(1).unwrap().as_str())
            .collect();
        for found in links.captures_iter(&document) {
            let words = found.get(1).or(found.get(2)).unwrap().as_str();
            let is_reference = found.get(2).is_some() && !found[0].starts_with("href");
            for link in words.split(' ') {
                count += 1;
                let place = link.strip_prefix('#').or(is_reference.then_some(link));
                match place {
                    Some(place) => assert!(ids.contains(&place), "{} leads nowhere", &found[0]),
                    None if link == "data:," => {}
                    None if link.starts_with("https://img.shields.io/badge/") => {
                        assert!(!link.contains([' ', '"']));
                    }
                    None => assert!(places.contains(link), "{link} is no address of the list"),
                }
            }
        }
    }
    assert!(count > 40, "{count} links were looked at");
}

#[test]
fn the_fixture_of_forty_names_loses_none() {
    let project = Project::new().copy("tests/fixtures/assets.json", "releases.json");
    let outcome = project
        .run(&[
            "report",
            "packages",
            "--published",
            "releases.json",
            "--repo",
            "o/r",
        ])
        .exits(0);
    assert_anchors_resolve(&outcome.stdout);
    assert_eq!(
        outcome.stderr.matches("warning[G300 ").count(),
        3,
        "{}",
        outcome.stderr
    );
    let json = project
        .run(&[
            "report",
            "packages",
            "--published",
            "releases.json",
            "--format",
            "json",
        ])
        .exits(0)
        .json();
    let files: usize = json["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["files"].as_array().unwrap().len())
        .sum();
    // Two names are listed twice, plain and percent-encoded or for two C libraries; each is one
    // file.
    assert_eq!(files + json["unread"].as_array().unwrap().len(), 40);
    let text = |pointer: &str| json.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    assert_eq!(text("/packages/0/platform"), "linux_x86_64");
    let without = Project::new().file(
        "releases.json",
        &serde_json::json!([release(1, "v1", &FIRST)]).to_string(),
    );
    let without = without.stderr_of(&["report", "packages", "--published", "releases.json"]);
    appears("G300", &outcome.stderr, &without);
    appears("G301", &outcome.stderr, &without);
}

#[test]
fn coverage_is_between_markers_in_a_readme_and_a_picture() {
    let project = project();
    let more = [
        "--plan",
        "plan.json",
        "--update",
        "README.md",
        "--heatmap",
        "docs",
    ];
    report(&project, "coverage", &[&more[..], &["--check"]].concat(), 1);
    report(&project, "coverage", &more, 0);
    let once = project.read("README.md");
    assert_file("tests/it/report_documents/readme.md", &once);
    assert_file(
        "tests/it/report_documents/coverage-flash-attn.svg",
        &project.read("docs/coverage-flash-attn.svg"),
    );
    report(&project, "coverage", &[&more[..], &["--check"]].concat(), 0);
    report(&project, "coverage", &more, 0);
    assert_eq!(project.read("README.md"), once);
    let json = report(
        &project,
        "coverage",
        &["--plan", "matrices/flash-attn.yaml", "--format", "json"],
        0,
    )
    .json();
    assert_eq!(
        json["total"],
        serde_json::json!({"published": 10, "missing": 8, "percent": 55})
    );
    assert_eq!(json["coverage"][0]["excluded"], 6);
}

#[test]
fn a_plan_that_leaves_everything_out_has_no_percentage() {
    let matrix = MATRIX
        .replace("[ck, triton]", "[ck]")
        .replace("[\"6.1\", \"6.2\"]", "[\"6.2\"]");
    let matrix = matrix.replace("[\"2.5.1\", \"2.6.0\"]", "[\"2.6.0\"]");
    let project = project().file("none.yaml", &matrix);
    project
        .run(&[
            "plan",
            "none.yaml",
            "--format",
            "json",
            "--out",
            "none.json",
        ])
        .exits(0);
    let stdout = report(&project, "coverage", &["--plan", "none.json"], 0).stdout;
    assert!(
        stdout.contains("| Linux x86-64 | `flash-attn` | 0 | 0 | 3 | N/A |"),
        "{stdout}"
    );
    report(&project, "missing", &["--plan", "none.json"], 0);
}

#[test]
fn missing_wheels_are_in_capitals_and_the_exit_is_one() {
    let project = project();
    let outcome = report(&project, "missing", &["--plan", "plan.json"], 1);
    insta::assert_snapshot!(outcome.stdout, @r"
    flash-attn 2.7.4.post1 on Linux x86-64: 10 of 18 present, 8 missing
      Python  torch 2.5  torch 2.5  torch 2.5  torch 2.5  torch 2.6  torch 2.6
              ROCm 6.1   ROCm 6.1   ROCm 6.2   ROCm 6.2   ROCm 6.1   ROCm 6.1
                         triton                triton                triton
      3.9     yes        MISSING    MISSING    yes        yes        MISSING
      3.10    yes        MISSING    yes        yes        yes        MISSING
      3.11    MISSING    MISSING    yes        yes        yes        MISSING
    ");
    assert!(
        outcome
            .stderr
            .starts_with("8 of 18 cells are missing, in 4 wheels\n"),
        "{}",
        outcome.stderr
    );
    let one = MATRIX
        .replace("\"3.9\", \"3.10\", ", "")
        .replace(", \"2.6.0\"", "")
        .replace(", \"6.2\"", "")
        .replace(", triton", "");
    let project = project.file("matrices/one.yaml", &one);
    let stderr = report(&project, "missing", &["--plan", "matrices/one.yaml"], 1).stderr;
    assert!(
        stderr.starts_with("1 of 1 cell is missing, in 1 wheel\n"),
        "{stderr}"
    );
    let list = report(&project, "missing", &["--plan", "plan.json", "--list"], 1).stdout;
    insta::assert_snapshot!(list, @r"
    flash_attn-2.7.4.post1+rocm61torch2.5-cp311-cp311-linux_x86_64.whl
    flash_attn-2.7.4.post1+rocm61torch2.5triton-py3-none-any.whl
    flash_attn-2.7.4.post1+rocm61torch2.6triton-py3-none-any.whl
    flash_attn-2.7.4.post1+rocm62torch2.5-cp39-cp39-linux_x86_64.whl
    ");
    let json = report(
        &project,
        "missing",
        &["--plan", "plan.json", "--format", "json"],
        1,
    )
    .json();
    assert_eq!(
        (json["present"].as_u64(), json["missing"].as_u64()),
        (Some(10), Some(8))
    );
    assert_eq!(json["grids"][0]["rows"][0]["python"], "3.9");
}

#[test]
fn a_cell_that_the_plan_excludes_is_a_dash_with_its_reason() {
    let matrix = MATRIX
        .replace("[\"3.9\", \"3.10\", \"3.11\"]", "[\"3.12\", \"3.13\"]")
        .replace("[ck, triton]", "[ck]");
    let project = project().file("m.yaml", &matrix);
    let stdout = report(&project, "missing", &["--plan", "m.yaml"], 1).stdout;
    assert!(
        stdout.contains("\n  3.13    -          -          yes\n"),
        "{stdout}"
    );
    let json = report(
        &project,
        "missing",
        &["--plan", "m.yaml", "--format", "json"],
        1,
    )
    .json();
    let cell = &json["grids"][0]["rows"][1]["cells"][0];
    assert_eq!(cell["state"], "excluded");
    assert!(cell["reason"].as_str().unwrap().contains("3.13"), "{cell}");
}

#[test]
fn nothing_missing_is_exit_zero_and_what_was_published_before_a_plan_counts() {
    let project = project();
    let names: Vec<String> = {
        let plan: serde_json::Value = serde_json::from_str(&project.read("plan.json")).unwrap();
        plan["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| job["wheel"].as_str().unwrap().to_owned())
            .collect()
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = serde_json::json!([release(1, "v1", &names)]).to_string();
    let project = project.file("releases.json", &all);
    assert_eq!(
        report(&project, "missing", &["--plan", "plan.json", "--list"], 0).stdout,
        ""
    );
    let rest = [
        "plan",
        "matrices/flash-attn.yaml",
        "--published",
        "releases.json",
        "--format",
        "json",
        "--out",
        "rest.json",
    ];
    project.run(&rest).exits(0);
    let json = report(
        &project,
        "coverage",
        &["--plan", "rest.json", "--format", "json"],
        0,
    )
    .json();
    assert_eq!(json["total"]["percent"], 100);
    assert_eq!(
        json["total"]["published"].as_u64(),
        Some(12),
        "wheels that no job is left for count once"
    );
}

#[test]
fn a_folder_that_publish_wrote_is_a_listing() {
    let wheel = crate::support::Wheel::named(
        "flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl",
    );
    let project = Project::new().bytes(
        "dist/flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl",
        &wheel.bytes(),
    );
    project
        .run(&["publish", "--to", "releases", "--tag", "v1", "dist"])
        .exits(0);
    let more = [
        "report",
        "packages",
        "--published",
        "releases",
        "--base-url",
        "https://example.org/w",
    ];
    let packages = project.run(&more).exits(0).stdout;
    assert!(
        packages
            .contains("[v1](https://example.org/w/v1/flash_attn-2.7.4.post1%2Brocm62torch2.5triton-py3-none-any.whl)"),
        "{packages}"
    );
    let bare = project
        .run(&["report", "packages", "--published", "releases/v1"])
        .exits(0)
        .stdout;
    assert!(
        bare.contains("v1 `flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl`"),
        "{bare}"
    );
    let notes = project
        .run(&["report", "notes", "--tag", "v1", "--published", "releases"])
        .exits(0)
        .stdout;
    assert!(
        notes.contains(
            "pip install './flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl'"
        ),
        "{notes}"
    );
}

#[test]
fn a_manifest_has_the_gfx_targets() {
    let project = project();
    let row = serde_json::json!({
        "name": FIRST[1], "sha256": "0b".repeat(32), "size_bytes": 1011, "distribution": "flash-attn", "version": "2.10.0",
        "label": "rocm62torch2.5", "accelerator": null, "torch": "2.5", "git": null, "backend": null, "build": null,
        "python": ["cp311"], "abi": ["cp311"], "platform": ["linux_x86_64"], "covers": ["3.11"], "gfx": ["gfx90a", "gfx942"],
        "requires_python": null, "metadata_sha256": null, "index": "rocm6.2-torch2.5",
    });
    let manifest = serde_json::json!({"version": 1, "tag": "v1", "plan": null, "files": [row]});
    let project = project.file("rock-manifest.json", &manifest.to_string());
    let stdout = report(
        &project,
        "packages",
        &["--published", "rock-manifest.json"],
        0,
    )
    .stdout;
    assert!(
        stdout.contains("| gfx90a, gfx942 (planned) | [v1]("),
        "{stdout}"
    );
    assert!(!report(&project, "packages", &[], 0).stdout.contains("gfx"));
}

#[test]
fn input_of_other_kinds_is_refused_by_name() {
    let project = project()
        .file("seven.json", "7")
        .file("bad.json", "{\"job\": 1}")
        .file("empty/x", "");
    let good = project.stderr_of(&["report", "packages", "--published", "releases.json"]);
    appears(
        "G114",
        &project.stderr_of(&["report", "packages", "--published", "seven.json"]),
        &good,
    );
    appears(
        "G114",
        &project.stderr_of(&["report", "packages", "--published", "empty"]),
        &good,
    );
    project
        .run(&[
            "report",
            "packages",
            "--published",
            "releases.json",
            "--repo",
            "o",
        ])
        .exits(2);
    let notes = |results| {
        [
            "report",
            "notes",
            "--published",
            "releases.json",
            "--tag",
            "v2",
            "--plan",
            "plan.json",
            "--results",
            results,
        ]
    };
    appears(
        "G304",
        &project.stderr_of(&notes("bad.json")),
        &project.stderr_of(&notes(".rock")),
    );
    let job = "flash-attn-2.7.4.post1-rocm6.2-torch2.5.1-py3.9-ck";
    let result = |job: &str| format!("{{\"job\": \"{job}\", \"outcome\": \"failed\"}}\n");
    let project = project.file(
        "strange.json",
        &(result(job) + &result(&job.replace("py3.9", "pi3.9")) + &result("x")),
    );
    let stderr = project.run(&notes("strange.json")).exits(0).stderr;
    let near = format!(
        "the plan has no job `{}`\n--> strange.json\nhelp: did you mean `{job}`?",
        job.replace("py3.9", "pi3.9")
    );
    assert!(
        stderr.contains(&format!("warning[G304 bad-results]: {near}")),
        "{stderr}"
    );
    assert!(
        stderr.contains("the plan has no job `x`\n--> strange.json\nhelp: give the plan that"),
        "{stderr}"
    );
    assert_eq!(stderr.matches("G304").count(), 2, "{stderr}");
    project.run(&["report", "packages"]).exits(2);
    for alone in [
        &["coverage", "--plan", "plan.json"][..],
        &["notes", "--tag", "v2"],
        &["packages"],
        &["page"],
    ] {
        let read = ["--published", "releases.json"];
        project.run(&[&["report"], alone, &read].concat()).exits(0);
        let stderr = project
            .run(&[&["report"], alone, &read, &["--check"]].concat())
            .exits(2)
            .stderr;
        assert!(stderr.contains("--out <FILE>"), "{stderr}");
    }
    let over = [
        "report",
        "packages",
        "--published",
        "releases.json",
        "--out",
        "releases.json",
    ];
    project.run(&over).exits(1);
}

/// Nothing that a listing holds leaves its cell, its link or its text.
#[test]
fn a_hostile_listing_stays_text() {
    let mut evil = release(
        1,
        "v1|<script>@x",
        &[
            "flash_attn-2.7.4.post1+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
            "<img src=x onerror=alert(1)>|`x`](javascript:x).whl",
        ],
    );
    evil["html_url"] = "javascript:alert(1)".into();
    evil["assets"][0]["browser_download_url"] =
        "https://x.org/a) [b](javascript:y)\n|<script>".into();
    let project = Project::new().file("releases.json", &serde_json::json!([evil]).to_string());
    let bare = regex::Regex::new(r"[^\\`](<script|<img|\]\(javascript)").unwrap();
    for (kind, more) in [
        ("packages", vec![]),
        ("notes", vec!["--tag", "v1|<script>@x", "--repo", "o/r"]),
    ] {
        let text = report(&project, kind, &more, 0).stdout;
        let outside = text.replace("<img src=x onerror=alert(1)>\\|`x`](javascript:x)", "");
        assert!(
            !bare.is_match(&outside.replace("`v1\\|<script>@x`", "")),
            "{text}"
        );
        assert!(
            text.contains("](https://x.org/a%29%20%5Bb%5D%28javascript:y%29%0A%7C%3Cscript%3E)"),
            "{text}"
        );
    }
}

#[test]
fn what_failed_is_made_of_folders_that_are_there() {
    let words = [
        "report",
        "failures",
        "--plan",
        "plan.json",
        "--results",
        ".rock",
        "--built",
        "dst",
    ];
    let outcome = project().run(&words).exits(1);
    assert!(
        outcome
            .stderr
            .starts_with("error[H020 cannot-read-file]: there is no directory `dst`"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.stdout, "");
    let project = project().file("results.json", "[]").file("dist/README", "");
    let words = [
        "report",
        "failures",
        "--plan",
        "plan.json",
        "--built",
        "dist",
        "--results",
        "results.json",
    ];
    project
        .run(&[&words[..], &["--out", "results.json"]].concat())
        .exits(1);
    assert_eq!(project.read("results.json"), "[]");
}

/// Every command that the page shows, run as it stands there.
#[test]
fn the_commands_of_the_page_run() {
    let server =
        crate::read_what_is_published::server(fake_github::model::GithubSettings::default(), &[]);
    server.github().add_repository("OWNER/REPO");
    crate::read_what_is_published::add_to(&server, "OWNER/REPO", "v2", &SECOND, false);
    let manifest = r#"{"version": 1, "tag": "v2", "plan": null, "files": []}"#;
    let (url, project) = (
        server.url(),
        project()
            .file("rock-manifest.json", manifest)
            .file("dist/README", ""),
    );
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/documents.md")).unwrap();
    let commands: Vec<Vec<String>> = page
        .replace("\\\n", " ")
        .lines()
        .filter_map(|line| line.strip_prefix("$ rock-matrix "))
        .map(|line| shlex::split(line).unwrap())
        .collect();
    assert!(commands.len() >= 8);
    for command in commands {
        let is_live = command.iter().any(|word| word == "OWNER/REPO");
        let there = if is_live {
            &["--api-url", &url][..]
        } else {
            &[]
        };
        let words: Vec<&str> = command
            .iter()
            .map(String::as_str)
            .chain(there.iter().copied())
            .collect();
        project
            .run(&words)
            .exits(i32::from(words[..2] == ["report", "missing"]));
    }
}

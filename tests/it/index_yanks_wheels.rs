//! A user yanks wheels from an index, and installers pass over them.

use std::process::Output;

use crate::support::{Project, Served, Wheel, need_pip, pip, pips};

fn name(version: &str) -> String {
    format!("flash_attn-{version}+rocm62torch2.5-py3-none-any.whl")
}

fn project(versions: &[&str]) -> Project {
    versions.iter().fold(Project::new(), |project, version| {
        project.bytes(&format!("dist/{}", name(version)), &wheel(version))
    })
}

fn wheel(version: &str) -> Vec<u8> {
    Wheel::named(&name(version))
        .requires("torch")
        .header("Requires-Python: >=3.8")
        .bytes()
}

/// Adds a wheel to the directory of a project.
fn add_wheel(project: &Project, version: &str) {
    let path = project.path(&format!("dist/{}", name(version)));
    std::fs::write(path, wheel(version)).unwrap();
}

/// A project with an index of its wheels.
fn indexed(versions: &[&str]) -> Project {
    let project = project(versions);
    build(&project, &[]);
    project
}

const PAGE: &str = "dist/simple/rocm6.2-torch2.5/flash-attn/index.html";

fn build(project: &Project, more: &[&str]) -> String {
    index(project, "build", more)
}

/// Runs a command of the index of `dist`.
fn index(project: &Project, command: &str, more: &[&str]) -> String {
    project
        .run(&[&["index", command, "dist"], more].concat())
        .exits(0)
        .stdout
}

#[test]
fn another_index_of_a_directory_yanks_the_same_files() {
    let project = project(&["2.5.9", "2.8.3"]);
    index(&project, "build", &[]);
    index(&project, "yank", &["flash-attn<2.6", "--apply"]);
    let page = PAGE.replace("dist/simple", "site");
    index(&project, "build", &["--out", "site"]);
    assert_eq!(project.read(&page).matches("data-yanked").count(), 1);
    // The other index offers it again once that of the directory does.
    let unyank = ["flash-attn<2.6", "--apply"];
    index(&project, "unyank", &unyank);
    index(
        &project,
        "unyank",
        &[&unyank[..], &["--out", "site"]].concat(),
    );
    assert_eq!(project.read(&page).matches("data-yanked").count(), 0);
}

#[test]
fn a_release_of_a_directory_yanks_the_same_files() {
    let project = indexed(&["2.5.9", "2.8.3"]);
    index(&project, "yank", &["flash-attn<2.6: broken", "--apply"]);
    let page = PAGE.replace("dist/simple", "release/simple");
    let publish = |files: &str| {
        project
            .run(&["publish", files, "--out", "release"])
            .exits(0);
        project
            .read(&page)
            .matches("data-yanked=\"broken\"")
            .count()
    };
    assert_eq!(publish("dist"), 1);
    assert_eq!(publish("dist"), 1);
    assert_eq!(publish(&format!("dist/{}", name("2.8.3"))), 1);
    index(&project, "unyank", &["flash-attn<2.6", "--apply"]);
    assert_eq!(publish("dist"), 1, "the release keeps its yanks");
}

#[test]
fn a_release_that_is_published_again_keeps_its_edits() {
    let project = indexed(&["2.5.9", "2.8.3"]);
    index(&project, "yank", &["flash-attn: broken", "--apply"]);
    let publish = || {
        let words = ["publish", "dist", "--out", "release"];
        project.run(&words).exits(0).stderr
    };
    let note = "not yanked, although the index next to the given file yanks it";
    assert!(!publish().contains(note));
    for (command, selection) in [
        ("unyank", "flash-attn<2.6"),
        ("yank", "flash-attn>=2.6: insecure"),
    ] {
        let words = ["index", command, "release", selection, "--apply"];
        project.run(&words).exits(0);
    }
    let page = PAGE.replace("dist/simple", "release/simple");
    let edited = project.read(&page);
    assert_eq!(edited.matches("data-yanked").count(), 1);
    assert!(edited.contains("data-yanked=\"insecure\""), "{edited}");
    let stderr = publish();
    let notes: Vec<&str> = stderr
        .lines()
        .filter(|line| line.starts_with(note))
        .collect();
    let expected = format!("{note} (yank it with `index yank`): {}", name("2.5.9"));
    assert_eq!(notes, [expected]);
    assert_eq!(project.read(&page), edited);
    // A wheel that is new in the release has the yank of the directory.
    add_wheel(&project, "2.9.0");
    build(&project, &[]);
    index(&project, "yank", &["flash-attn==2.9.0: slow", "--apply"]);
    publish();
    assert!(project.read(&page).contains("data-yanked=\"slow\""));
}

/// A yanked file would be offered.
#[test]
fn a_release_of_a_directory_with_an_unreadable_page_is_an_error() {
    let project = indexed(&["2.5.9"]);
    let page = "dist/simple/rocm6.2-torch2.5/flash-attn/index.json";
    std::fs::write(project.path(page), "\"yanked\"").unwrap();
    let words = ["publish", "dist", "--out", "release"];
    let stderr = project.run(&words).exits(1).stderr;
    let error = format!("error[G020 not-an-index]: cannot read the yanked files of `{page}`: ");
    assert!(stderr.contains(&error), "{stderr}");
    assert!(!project.has("release"));
}

/// Links, metadata and files stay as they are.
#[test]
fn a_yank_that_would_change_more_is_an_error() {
    let project = project(&["2.5.9", "2.8.3"]);
    let options = ["--base-url", "https://example.org/wheels"];
    index(&project, "build", &options);
    let before = project.read(PAGE);
    let yank = ["index", "yank", "dist", "flash-attn<2.6"];
    let stderr = project
        .run(&[&yank[..], &["--apply"]].concat())
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr, @"
    error[G366 index-differs]: `dist/simple` would also change in other ways
    help: pass `--base-url https://example.org/wheels`, so that only yanks change
    ");
    assert_eq!(project.read(PAGE), before);
    project
        .run(&[&yank[..], &["--apply"], &options[..]].concat())
        .exits(0);
    assert!(project.read(PAGE).contains("data-yanked"));
}

#[test]
fn an_index_that_a_yank_would_change_more_names_the_option() {
    let help = |built: &[&str], yank: &[&str], added: &[&str]| {
        let project = project(&["2.5.9", "2.8.3"]);
        build(&project, built);
        for version in added {
            add_wheel(&project, version);
        }
        yank_help(&project, yank)
    };
    let base = ["--base-url", "https://example.org/wheels"];
    insta::assert_snapshot!(
        [
            help(&["--no-metadata"], &[], &[]),
            help(&[], &["--no-metadata"], &[]),
            help(&[], &base, &[]),
            help(&[&base[..], &["--no-metadata"]].concat(), &[], &[]),
            help(&[], &[], &["2.9.0"]),
        ]
        .join("\n"),
        @r"
    help: pass `--no-metadata`, so that only yanks change
    help: pass exactly the options that it was built with, such as `--base-url`, `--repo`, `--tag` or `--no-metadata`; if the wheels or their `.metadata` files changed, run `rock-matrix index build` first
    help: leave out `--base-url`, or `--repo` and `--tag`, so that only yanks change
    help: pass `--base-url https://example.org/wheels` and pass `--no-metadata`, so that only yanks change
    help: pass exactly the options that it was built with, such as `--base-url`, `--repo`, `--tag` or `--no-metadata`; if the wheels or their `.metadata` files changed, run `rock-matrix index build` first
    "
    );
}

/// One index announces METADATA of some of the wheels, and another one wrote that of all.
#[test]
fn an_option_that_does_not_explain_the_pages_is_not_named() {
    let project = indexed(&["2.5.9"]);
    add_wheel(&project, "2.8.3");
    let site = ["--out", "site"];
    build(&project, &site);
    build(&project, &[]);
    let given: [&[&str]; 2] = [&[], &["--no-metadata"]];
    for more in given {
        let help = yank_help(&project, &[&site[..], more].concat());
        assert!(help.starts_with("help: pass exactly the options"), "{help}");
    }
    build(&project, &site);
    let yank = ["flash-attn<2.6", "--out", "site", "--apply"];
    index(&project, "yank", &yank);
}

/// Returns the help of `index yank` for an index that it would change in other ways.
fn yank_help(project: &Project, more: &[&str]) -> String {
    let words = [&["index", "yank", "dist", "flash-attn<2.6"], more].concat();
    let stderr = project.run(&words).exits(1).stderr;
    let help = stderr.lines().find(|line| line.starts_with("help: "));
    help.unwrap().to_owned()
}

/// The index is in a directory that `--out` of `index build` named.
#[test]
fn a_yank_changes_an_index_that_exists() {
    let project = project(&["2.5.9", "2.8.3"]);
    build(&project, &["--out", "site"]);
    let refused = |words: &[&str]| project.run(words).exits(1).stderr;
    let pages = refused(&["index", "yank", "site", "flash-attn<2.6"]);
    insta::assert_snapshot!(pages, @r"
    error[G008 nothing-to-publish]: there are no wheels in `site`
    help: `site` has only the pages of an index: pass the directory with its wheels, and the pages with `--out`: `rock-matrix index yank DIR 'flash-attn<2.6' --out site`
    ");
    let none = refused(&["index", "yank", "dist", "flash-attn<2.6", "--apply"]);
    insta::assert_snapshot!(none, @r"
    error[G020 not-an-index]: there is no index in `dist/simple`
    help: pass the directory of its pages with `--out`, or build it with `rock-matrix index build dist`
    ");
    for command in ["yank", "unyank"] {
        assert_eq!(refused(&["index", command, "dist", "flash-attn<2.6"]), none);
    }
    assert!(!project.has("dist/simple"));
    let words = ["flash-attn<2.6", "--out", "site", "--apply"];
    index(&project, "yank", &words);
    let page = project.read("site/rocm6.2-torch2.5/flash-attn/index.html");
    assert_eq!(page.matches("data-yanked=").count(), 1, "{page}");
}

#[test]
fn a_rule_is_only_reported_without_apply() {
    let project = project(&["2.5.9", "2.8.3"]);
    build(&project, &[]);
    let before = project.read(PAGE);
    let stdout = index(&project, "yank", &["flash-attn<2.6: superseded"]);
    insta::assert_snapshot!(stdout, @r"
    would be yanked: flash_attn-2.5.9+rocm62torch2.5-py3-none-any.whl: superseded
    nothing was changed; add `--apply` to change the index
    ");
    assert_eq!(project.read(PAGE), before);
}

#[test]
fn what_is_yanked_stays_so_until_it_is_offered_again() {
    let project = indexed(&["2.5.9", "2.8.3"]);
    let stdout = index(
        &project,
        "yank",
        &[
            "flash-attn<2.6: <b>superseded</b>",
            "--apply",
            "--format",
            "json",
        ],
    );
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (
            &document["yank"]["applied"],
            document["yank"]["yanked"]
                .as_object()
                .map(serde_json::Map::len)
        ),
        (&true.into(), Some(1))
    );
    let page = project.read(PAGE);
    assert_eq!(
        page.matches("data-yanked=\"&lt;b&gt;superseded&lt;/b&gt;\"")
            .count(),
        1,
        "{page}"
    );
    assert!(build(&project, &[]).contains("is up to date: 5 pages, nothing written"));
    assert_eq!(project.read(PAGE), page);
    let json = project.read(&PAGE.replace("html", "json"));
    assert!(json.contains("\"yanked\": \"<b>superseded</b>\""), "{json}");
    let landing = project.read("dist/simple/index.html");
    assert!(
        landing.contains("2.8.3+rocm62") && !landing.contains("2.5.9"),
        "nobody is told to install it"
    );
    let stdout = index(&project, "unyank", &["flash-attn==2.5.9+rocm62torch2.5"]);
    assert!(
        stdout.contains("would be unyanked: flash_attn-2.5.9"),
        "{stdout}"
    );
    assert_eq!(project.read(PAGE), page);
    index(
        &project,
        "unyank",
        &["flash-attn==2.5.9+rocm62torch2.5", "--apply"],
    );
    assert!(!project.read(PAGE).contains("yanked"));
}

#[test]
fn a_new_reason_replaces_the_reason_of_a_yanked_file() {
    let project = indexed(&["2.5.9", "2.8.3"]);
    index(&project, "yank", &["flash-attn<2.6: superseded", "--apply"]);
    let before = project.read(PAGE);
    let preview = index(&project, "yank", &["flash-attn<2.6: insecure"]);
    insta::assert_snapshot!(preview, @r"
    would be yanked with a new reason: flash_attn-2.5.9+rocm62torch2.5-py3-none-any.whl: insecure (it was `superseded`)
    nothing was changed; add `--apply` to change the index
    ");
    assert_eq!(project.read(PAGE), before);
    let kept = project
        .run(&["index", "yank", "dist", "flash-attn<2.6"])
        .exits(0);
    assert_eq!(kept.stdout, "nothing to change\n");
    insta::assert_snapshot!(kept.stderr, @"already yanked with the reason `superseded`: flash_attn-2.5.9+rocm62torch2.5-py3-none-any.whl; another reason after a colon replaces it");
    let words = ["flash-attn<2.6: insecure", "--apply", "--json"];
    let document: serde_json::Value =
        serde_json::from_str(&index(&project, "yank", &words)).unwrap();
    assert_eq!(
        document["yank"]["new_reasons"][name("2.5.9")],
        serde_json::json!({"before": "superseded", "after": "insecure"})
    );
    assert_eq!(
        project.read(PAGE),
        before.replace("\"superseded\"", "\"insecure\"")
    );
    assert!(build(&project, &[]).contains("is up to date"));
}

#[test]
fn nobody_is_advised_to_install_what_is_yanked_as_a_whole() {
    let project = project(&["2.5.9"]);
    assert!(build(&project, &[]).contains("pip install flash-attn"));
    let stdout = index(&project, "yank", &["flash-attn", "--apply"]);
    assert!(
        stdout.contains("yanked: flash_attn-2.5.9+") && !stdout.contains("install with"),
        "{stdout}"
    );
}

#[test]
fn a_reason_of_the_command_is_that_of_files_without_one() {
    let project = indexed(&["2.5.9", "2.6.3"]);
    let words = [
        "flash-attn==2.5.9: slow",
        "flash-attn==2.6.3",
        "--reason",
        "broken: twice",
        "--apply",
    ];
    let stdout = index(&project, "yank", &words);
    for (version, reason) in [("2.5.9", "slow"), ("2.6.3", "broken: twice")] {
        let line = format!("yanked: {}: {reason}\n", name(version));
        assert!(stdout.contains(&line), "{stdout}");
    }
    let words = [
        "index",
        "yank",
        "dist",
        "--older-than",
        "30d",
        "--reason",
        "old",
    ];
    let stderr = project.run(&words).exits(2).stderr;
    assert!(
        stderr.contains("`--reason` is the reason for FILES"),
        "{stderr}"
    );
}

#[test]
fn metadata_of_a_wheel_that_is_gone_goes_and_that_of_others_stays() {
    let project = project(&["2.5.9", "2.6.3", "2.7.4", "2.8.3"]);
    build(&project, &[]);
    let metadata = |version: &str| format!("dist/{}.metadata", name(version));
    for version in ["2.5.9", "2.6.3", "2.7.4"] {
        std::fs::remove_file(project.path(&format!("dist/{}", name(version)))).unwrap();
    }
    // What somebody changed is theirs, and what the index never named is too.
    let project = project
        .file(&metadata("2.6.3"), "of somebody else")
        .file(&metadata("9.9"), "Name: flash-attn\n");
    let project = project.file("dist/notes.metadata", "kept");
    build(&project, &[]);
    let has =
        ["2.5.9", "2.6.3", "2.7.4", "2.8.3", "9.9"].map(|version| project.has(&metadata(version)));
    assert_eq!(has, [false, true, false, true, true]);
    assert!(project.has("dist/notes.metadata"));
    assert!(build(&project, &[]).contains("is up to date"));
}

#[test]
fn nobody_is_recommended_what_is_yanked() {
    let project = project(&["2.8.2", "2.8.3", "2.9.0"]);
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let pick = |published: &[&str], code: i32| {
        project
            .run(
                &[
                    &["pick", "--only-given", "--torch", "2.5", "--rocm", "6.2"],
                    published,
                ]
                .concat(),
            )
            .exits(code)
    };
    let release = ["--published", "release"];
    assert!(pick(&release, 0).stdout.starts_with(&name("2.9.0")));
    let yank = ["flash-attn==2.9.0: broken", "flash-attn==2.8.2", "--apply"];
    project
        .run(&[&["index", "yank", "release"], &yank[..]].concat())
        .exits(0);
    let stdout = pick(&release, 0).stdout;
    assert!(stdout.starts_with(&name("2.8.3")), "{stdout}");
    assert!(
        stdout.contains(&format!(
            "note: {} fits but is yanked: broken\n",
            name("2.9.0")
        )),
        "{stdout}"
    );
    assert!(
        !stdout.contains("2.8.2"),
        "an older one is missed by nobody: {stdout}"
    );
    let json = pick(&[&release[..], &["--format", "json"]].concat(), 0).json();
    assert_eq!(
        json["yanked"],
        serde_json::json!([
            {"name": name("2.9.0"), "reason": "broken"}, {"name": name("2.8.2"), "reason": ""},
        ])
    );
    // A list of releases has no index: it is named.
    let manifest = project.read("release/rock-manifest.json");
    let project = project.file("rock-manifest.json", &manifest);
    let with = |words: &[&str], index: &str| {
        let more = ["--published", "rock-manifest.json", "--withdrawn-in", index];
        project.run(&[words, &more].concat())
    };
    let words = ["pick", "--only-given"];
    assert!(
        with(&words, "release/simple")
            .exits(0)
            .stdout
            .starts_with(&name("2.8.3"))
    );
    let page = with(&["report", "page"], "release/simple").exits(0).stdout;
    assert!(page.contains("2.8.3") && !page.contains("\"2.9.0\"") && page.contains("\"yanked\":2"));
    let packages = with(&["report", "packages"], "release/simple")
        .exits(0)
        .stdout;
    assert!(
        packages.contains("(yanked: broken)") && packages.contains("(yanked)"),
        "{packages}"
    );
    let json = with(
        &["report", "packages", "--format", "json"],
        "release/simple",
    )
    .exits(0)
    .json();
    let files: Vec<_> = json["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["files"][0]["yanked"])
        .collect();
    assert!(
        files.contains(&&serde_json::json!("broken")) && files.contains(&&serde_json::Value::Null),
        "{files:?}"
    );
    for none in ["release", "nowhere"] {
        let stderr = with(&words, none).exits(1).stderr;
        assert!(stderr.starts_with("error[G020 not-an-index]"), "{stderr}");
    }
    assert!(
        !with(&words, "release/simple")
            .exits(0)
            .stderr
            .contains("G020")
    );
}

#[test]
fn notes_mark_what_is_yanked_and_have_no_line_that_installs_it() {
    let project = project(&["2.8.3", "2.9.0"]);
    project
        .run(&["publish", "--to", "rels", "--tag", "v1", "dist"])
        .exits(0);
    let manifest = project.read("rels/v1/rock-manifest.json");
    let project = project.file("rock-manifest.json", &manifest);
    let notes = |more: &[&str]| {
        project
            .run(&[&["report", "notes", "--tag", "v1"], more].concat())
            .exits(0)
            .stdout
    };
    let yank = |what: &str| {
        project
            .run(&["index", "yank", "rels/v1", what, "--apply"])
            .exits(0);
    };
    let folder = ["--published", "rels"];
    let line = |version: &str| format!("pip install './{}'\n", name(version));
    let before = notes(&folder);
    assert!(
        before.contains(&line("2.9.0")) && !before.contains("yanked"),
        "{before}"
    );
    yank("flash-attn==2.9.0: broken");
    let bare = [
        "--published",
        "rock-manifest.json",
        "--withdrawn-in",
        "rels/v1/simple",
    ];
    for text in [notes(&folder), notes(&bare)] {
        assert!(
            text.contains(&line("2.8.3")) && !text.contains(&line("2.9.0")),
            "{text}"
        );
        assert!(
            text.contains("| 2.9.0 (yanked: broken) |") && text.contains("| 2.8.3 |"),
            "{text}"
        );
    }
    assert!(!notes(&bare[..2]).contains("yanked"));
    let with_index = [
        "--published",
        "rels",
        "--index-url",
        "https://example.org/simple",
    ];
    assert!(
        notes(&with_index)
            .contains("pip install flash-attn==2.8.3+rocm62torch2.5 --extra-index-url")
    );
    yank("flash-attn: old");
    for text in [notes(&folder), notes(&with_index)] {
        assert!(
            !text.contains("pip install") && !text.contains("## Install"),
            "{text}"
        );
    }
}

#[test]
fn an_index_of_release_folders_keeps_what_their_own_indexes_yank() {
    let project = project(&["2.5.9", "2.8.3"]);
    project
        .run(&["publish", "--to", "rels", "--tag", "v1", "dist"])
        .exits(0);
    project
        .run(&[
            "index",
            "yank",
            "rels/v1",
            "flash-attn<2.6: broken",
            "--apply",
        ])
        .exits(0);
    let page = |given: &str, out: &str, more: &[&str]| {
        let words = ["index", "build", "--published", given, "--out", out];
        let outcome = project.run(&[&words, more].concat()).exits(0);
        let text = project.read(&format!("{out}/rocm6.2-torch2.5/flash-attn/index.html"));
        assert_eq!(
            outcome
                .stderr
                .contains("yanked, because the index in `rels/v1` yanks it: flash_attn-2.5.9"),
            text.contains("data-yanked"),
            "{}",
            outcome.stderr
        );
        text
    };
    for (given, out) in [
        ("rels", "one"),
        ("rels/v1", "two"),
        ("rels/v1/rock-manifest.json", "three"),
    ] {
        let text = page(given, out, &[]);
        assert_eq!(text.matches("data-yanked=").count(), 1, "{given}: {text}");
        assert!(text.contains("data-yanked=\"broken\""), "{given}: {text}");
    }
    let stderr = project
        .run(&["index", "yank", "rels", "flash-attn"])
        .exits(1)
        .stderr;
    let line = "`rock-matrix index yank --published rels --out DIR flash-attn`";
    assert!(stderr.contains(line), "{stderr}");
    let outcome = project
        .run(&[
            "index",
            "unyank",
            "--published",
            "rels",
            "--out",
            "one",
            "flash-attn",
            "--apply",
        ])
        .exits(0);
    assert!(
        outcome
            .stderr
            .contains("will yank it again; unyank it there: `rock-matrix index unyank rels/v1 "),
        "{}",
        outcome.stderr
    );
    let unyanked = project.read("one/rocm6.2-torch2.5/flash-attn/index.html");
    assert!(!unyanked.contains("data-yanked"));
    project
        .run(&["index", "unyank", "rels/v1", "flash-attn", "--apply"])
        .exits(0);
    assert!(!page("rels", "one", &[]).contains("data-yanked"));
}

#[test]
fn the_index_of_a_release_yanks_its_own_bytes_and_no_later_ones_of_their_name() {
    let mut project = Project::new();
    for tag in ["v9", "v10"] {
        let bytes = Wheel::named(&name("2.8.3"))
            .header(&format!("Keywords: {tag}"))
            .bytes();
        project = project.bytes(&format!("dist/{}", name("2.8.3")), &bytes);
        project
            .run(&["publish", "--to", "releases", "--tag", tag, "dist"])
            .exits(0);
    }
    let yank = |tag| yank_release(&project, tag);
    let yanked = || {
        project
            .run(&["index", "build", "--published", "releases", "--out", "site"])
            .exits(0);
        project
            .read("site/rocm6.2-torch2.5/flash-attn/index.html")
            .contains("data-yanked")
    };
    // A site that listed the old bytes as yanked has that from their release, not from itself.
    std::fs::rename(project.path("releases/v10"), project.path("v10")).unwrap();
    yank("v9");
    assert!(yanked());
    std::fs::rename(project.path("v10"), project.path("releases/v10")).unwrap();
    let pick = |code| {
        project
            .run(&["pick", "--published", "releases", "--only-given"])
            .exits(code)
            .stdout
    };
    let packages = || {
        project
            .run(&["report", "packages", "--published", "releases"])
            .exits(0)
            .stdout
    };
    assert!(!yanked() && pick(0).contains("/releases/v10/flash_attn"));
    yank("v10");
    assert!(yanked() && pick(1).is_empty() && packages().contains("(yanked: broken)"));
}

#[test]
fn a_rebuilt_file_stays_yanked_with_a_message() {
    let project = indexed(&["2.8.3", "2.9.0"]);
    index(&project, "yank", &["flash-attn<2.9: broken", "--apply"]);
    let again = Wheel::named(&name("2.8.3"))
        .header("Keywords: again")
        .bytes();
    let project = project.bytes(&format!("dist/{}", name("2.8.3")), &again);
    let outcome = project.run(&["index", "build", "dist"]).exits(0);
    let expected = format!(
        "still yanked, although its bytes changed (revert with `index unyank`): {}",
        name("2.8.3")
    );
    assert!(outcome.stderr.contains(&expected), "{outcome:?}");
    assert!(project.read(PAGE).contains("data-yanked=\"broken\""));
    assert!(
        !project
            .run(&["index", "build", "dist"])
            .exits(0)
            .stderr
            .contains("still yanked"),
        "it is known now"
    );
    // Older bytes of the name, which the index does not list, are recommended to nobody either.
    let older = Wheel::named(&name("2.8.3"))
        .header("Keywords: older")
        .bytes();
    let project = project.bytes(&format!("older/{}", name("2.8.3")), &older);
    project
        .run(&["publish", "--to", "rels", "--tag", "v1", "older"])
        .exits(0);
    let with = ["--published", "rels", "--withdrawn-in", "dist/simple"];
    let notes = project
        .run(&[&["report", "notes", "--tag", "v1"], &with[..]].concat())
        .exits(0)
        .stdout;
    assert!(
        notes.contains("(yanked: broken)") && !notes.contains("pip install"),
        "{notes}"
    );
    project
        .run(&[&["pick", "--only-given"], &with[..]].concat())
        .exits(1);
    // A folder without a manifest is no release: its index is about its names.
    let project = project.bytes(&format!("dist/{}", name("2.8.3")), &older);
    let page = "site/rocm6.2-torch2.5/flash-attn/index.html";
    project
        .run(&["index", "build", "--published", "dist", "--out", "site"])
        .exits(0);
    assert!(project.read(page).contains("data-yanked=\"broken\""));
    build(&project, &[]);
    let outcome = project
        .run(&["index", "unyank", "dist", "flash-attn==2.8.3", "--apply"])
        .exits(0);
    assert!(
        !project.read(PAGE).contains("data-yanked") && !outcome.stderr.contains("still yanked"),
        "{outcome:?}"
    );
    std::fs::remove_file(project.path(&format!("dist/{}", name("2.9.0")))).unwrap();
    build(&project, &[]);
    index(&project, "yank", &["flash-attn", "--apply"]);
    let third = Wheel::named(&name("3.0.0")).bytes();
    std::fs::remove_file(project.path(&format!("dist/{}", name("2.8.3")))).unwrap();
    let project = project.bytes(&format!("dist/{}", name("3.0.0")), &third);
    let stderr = project.run(&["index", "build", "dist"]).exits(0).stderr;
    assert!(
        stderr.contains(&format!(
            "no longer listed, so its yank is dropped: {}",
            name("2.8.3")
        )),
        "{stderr}"
    );
}

#[test]
fn a_page_that_yanks_files_and_cannot_be_read_is_an_error() {
    let project = indexed(&["2.8.3", "2.9.0"]);
    index(&project, "yank", &["flash-attn<2.9: broken", "--apply"]);
    let page = "dist/simple/rocm6.2-torch2.5/flash-attn/index.json";
    let damaged = format!("<<<<<<< HEAD\n{}", project.read(page));
    let project = project.file(page, &damaged);
    let pick: &[&str] = &["pick", "--only-given", "--published", "dist"];
    for words in [pick, &["index", "build", "dist"]] {
        let stderr = project.run(words).exits(1).stderr;
        let error = stderr.trim_start_matches(
            "only the names of the wheels in `dist` are compared, because it has no \
             rock-manifest.json; `--wheels dist` reads them\n",
        );
        assert!(
            error.starts_with(&format!(
                "error[G020 not-an-index]: cannot read the yanked files of `{page}`: "
            )),
            "{stderr}"
        );
    }
    assert_eq!(project.read(page), damaged);
}

/// A page past its limit is not read, and what it yanks would be offered again.
#[test]
fn a_page_past_its_limit_is_an_error_and_stays() {
    let limit = 64 << 20;
    let project = indexed(&["2.8.3", "2.9.0"]);
    index(&project, "yank", &["flash-attn<2.9: broken", "--apply"]);
    let page = "dist/simple/rocm6.2-torch2.5/flash-attn/index.json";
    let file = std::fs::File::options()
        .write(true)
        .open(project.path(page))
        .unwrap();
    file.set_len(limit + 1).unwrap();
    let stderr = project.run(&["index", "build", "dist"]).exits(1).stderr;
    insta::assert_snapshot!(stderr, @"
    error[G020 not-an-index]: cannot read the yanked files of `dist/simple/rocm6.2-torch2.5/flash-attn/index.json`: not a readable file of at most 67108864 bytes
    --> dist/simple/rocm6.2-torch2.5/flash-attn/index.json
    help: restore the page, or delete the index, build it and yank the files again
    ");
    assert_eq!(file.metadata().unwrap().len(), limit + 1);
    // Zeros behind the document are no JSON.
    file.set_len(limit).unwrap();
    let stderr = project.run(&["index", "build", "dist"]).exits(1).stderr;
    assert!(
        stderr.contains("index.json`: it is not a project page: trailing characters"),
        "{stderr}"
    );
}

#[test]
fn of_nightly_builds_that_stay_those_that_are_yanked_do_not_count() {
    let project = indexed(&["3.0.dev20200101", "3.0.dev20200102", "3.0.dev20200103"]);
    index(
        &project,
        "yank",
        &["flash-attn==3.0.dev20200103: broken", "--apply"],
    );
    index(
        &project,
        "yank",
        &["--older-than", "30d", "--keep", "1", "--apply"],
    );
    let page = project.read(PAGE);
    let offered = page
        .lines()
        .filter(|line| line.contains("<a ") && !line.contains("data-yanked"));
    assert_eq!(
        offered.filter(|line| line.contains("dev20200102")).count(),
        1,
        "{page}"
    );
}

#[test]
fn rules_of_a_matrix_file_yank_and_outlive_their_files() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.7.4.post1\"]\n  \
                  python: [\"3.11\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [triton]\n";
    let project = indexed(&["2.5.9", "2.8.3", "3.0.dev20200101"]);
    let with = |release: &str| {
        std::fs::write(
            project.path("m.yaml"),
            format!("{matrix}release: {release}\n"),
        )
        .unwrap();
    };
    with("{yank: [\"flash-attn<2.6: old\", flash-atn], yank-older-than: 4w, yank-keep: 0}");
    let words = ["index", "build", "dist", "--rules", "m.yaml"];
    let preview = project
        .run(&["index", "yank", "dist", "--rules", "m.yaml"])
        .exits(0);
    assert!(
        preview
            .stdout
            .contains("would be yanked: flash_attn-2.5.9+"),
        "{preview:?}"
    );
    assert!(
        !project.read(PAGE).contains("data-yanked"),
        "nothing is written"
    );
    let done = project.run(&words).exits(0);
    assert!(
        done.stderr
            .contains("warning[G019 bad-yank-rule]: no file of the index matches `flash-atn`"),
        "{done:?}"
    );
    assert!(done.stderr.contains("m.yaml:10:"), "{done:?}");
    let page = project.read(PAGE);
    assert_eq!(page.matches("data-yanked=").count(), 2, "{page}");
    assert!(
        page.contains("data-yanked=\"old\"") && page.contains("older than 28d"),
        "{page}"
    );
    for (release, place) in [
        ("{yank: [\"<2\"]}", "m.yaml:10:18"),
        ("{yank-older-than: a month}", "m.yaml:10:28"),
    ] {
        with(release);
        let stderr = project.run(&words).exits(1).stderr;
        assert!(
            stderr.starts_with("error[G019 bad-yank-rule]") && stderr.contains(place),
            "{stderr}"
        );
    }
    assert_eq!(project.read(PAGE), page);
}

#[test]
fn a_yank_of_all_that_fits_is_reported() {
    let project = indexed(&["2.8.3"]);
    index(&project, "yank", &["flash-attn: broken", "--apply"]);
    let outcome = project
        .run(&["pick", "--published", "dist", "--only-given"])
        .exits(1);
    assert!(
        outcome.stderr.contains(
            "error[G200 no-wheel-fits]: every wheel of flash-attn that fits any machine is yanked"
        ),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains(&format!(
            "note: {} fits but is yanked: broken",
            name("2.8.3")
        )),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stderr
            .contains("help: publish a wheel that is not yanked, or build one with"),
        "{}",
        outcome.stderr
    );
    let stderr = project
        .run(&[
            "report",
            "page",
            "--published",
            "dist",
            "--out",
            "page.html",
        ])
        .exits(0)
        .stderr;
    assert!(
        stderr.contains("warning[G203 no-published-wheels]")
            && stderr.contains("= note: all published wheels are yanked"),
        "{stderr}"
    );
    assert!(!stderr.contains("G307"), "the page links nothing: {stderr}");
}

#[test]
fn publishing_into_the_folder_again_leaves_what_is_yanked() {
    let project = project(&["2.5.9", "2.8.3"]);
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let words = ["index", "yank", "release", "flash-attn<2.6", "--apply"];
    project.run(&words).exits(0);
    let page = "release/simple/rocm6.2-torch2.5/flash-attn/index.html";
    assert_eq!(project.read(page).matches("data-yanked=\"\"").count(), 1);
    let third = Wheel::named(&name("2.9.0")).bytes();
    let project = project.bytes(&format!("dist/{}", name("2.9.0")), &third);
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let after = project.read(page);
    assert!(
        after.contains("2.9.0%2B") && after.matches("data-yanked=\"\"").count() == 1,
        "{after}"
    );
}

#[test]
fn nightly_builds_go_by_age_and_the_newest_stay() {
    let versions = [
        "3.0.dev20200101",
        "3.0.dev20200102",
        "3.0.dev20200103",
        "2.8.3",
    ];
    let project = indexed(&versions);
    let stdout = index(
        &project,
        "yank",
        &["--older-than", "30d", "--keep", "2", "--apply"],
    );
    assert!(
        stdout.contains("yanked: flash_attn-3.0.dev20200101+"),
        "{stdout}"
    );
    assert_eq!(project.read(PAGE).matches("data-yanked=").count(), 1);
    assert!(
        project
            .read(PAGE)
            .contains("nightly build of 2020-01-01, older than 30d")
    );
}

#[test]
fn a_rule_that_cannot_be_read_is_an_error_and_nothing_is_written() {
    let project = indexed(&["2.8.3"]);
    let before = project.read(PAGE);
    let faulty = [["yank", "<2.6"], ["yank", "flash-attn<<2"], ["unyank", ""]];
    for [command, rule] in faulty {
        let stderr = project
            .run(&["index", command, "dist", rule, "--apply"])
            .exits(1)
            .stderr;
        assert!(stderr.starts_with("error[G019 bad-yank-rule]"), "{stderr}");
    }
    assert_eq!(project.read(PAGE), before);
    let stderr = project
        .run(&["index", "yank", "dist", "flash-attn<3"])
        .exits(0)
        .stderr;
    assert!(!stderr.contains("bad-yank-rule"), "{stderr}");
}

#[test]
fn a_rule_that_means_no_file_is_an_error_that_names_the_nearest() {
    let project = project(&["2.8.3"]);
    let path = format!("dist/{}", name("2.8.3"));
    let meant = format!("did you mean `{}`?", name("2.8.3"));
    for command in ["yank", "unyank"] {
        for (rule, near) in [
            ("flash-atn", "did you mean `flash-attn`?"),
            ("zebra<2", "projects of the index are `flash-attn`"),
            (
                "flash-attn<2.0",
                "versions of `flash-attn` are `2.8.3+rocm62torch2.5`",
            ),
            (
                "flash-attn==2.8.3+rocm64torch2.5",
                "versions of `flash-attn` are `2.8.3+rocm62torch2.5`",
            ),
            (path.as_str(), meant.as_str()),
        ] {
            let stderr = project
                .run(&["index", command, "dist", rule, "--apply"])
                .exits(1)
                .stderr;
            assert!(
                stderr.starts_with("error[G019 bad-yank-rule]: no file of the index matches `"),
                "{stderr}"
            );
            assert!(stderr.contains(near) && stderr.contains(rule), "{stderr}");
        }
    }
    assert!(!project.has("dist/simple"), "nothing is written");
    // What is yanked already is meant, and an age may find nothing.
    build(&project, &[]);
    for _ in 0..2 {
        index(&project, "yank", &["flash-attn: broken", "--apply"]);
    }
    index(&project, "yank", &["--older-than", "30d", "--apply"]);
}

/// Yanks flash-attn in the index of one release.
fn yank_release(project: &Project, tag: &str) {
    let index = format!("releases/{tag}");
    project
        .run(&["index", "yank", &index, "flash-attn: broken", "--apply"])
        .exits(0);
}

/// Returns what `pip install` selects from each index for the requirement after it, from its own
/// words.
fn pip_takes(wanted: &[[&str; 2]]) -> Vec<String> {
    // Debian marks its Python as its own; a dry run installs nothing.
    let words = [
        "install",
        "--dry-run",
        "--break-system-packages",
        "--no-deps",
        "--ignore-installed",
        "--index-url",
    ];
    let call = |wanted: &[&str; 2]| {
        let words = words.iter().chain(wanted);
        words.map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let calls: Vec<Vec<String>> = wanted.iter().map(call).collect();
    let taken = |done: Output| {
        let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(
            done.status.success(),
            "{stdout}{}",
            String::from_utf8_lossy(&done.stderr)
        );
        stdout
            .lines()
            .find_map(|line| line.strip_prefix("Would install "))
            .unwrap_or_default()
            .to_owned()
    };
    pips(&calls).into_iter().map(taken).collect()
}

#[test]
fn pip_passes_over_a_yanked_wheel_unless_its_version_is_pinned() {
    let project = indexed(&["2.8.2", "2.8.3"]);
    index(&project, "yank", &["flash-attn==2.8.3: broken", "--apply"]);
    let served = Served::folder(&project.path("dist"));
    let file = format!(
        "file://{}/dist/simple/rocm6.2-torch2.5/",
        project.root().display()
    );
    let url = format!("{}/simple/rocm6.2-torch2.5/", served.url());
    let pinned = "flash-attn==2.8.3+rocm62torch2.5";
    let (file, url) = (file.as_str(), url.as_str());
    let taken = pip_takes(&[
        [file, "flash-attn"],
        [file, pinned],
        [url, "flash-attn"],
        [url, pinned],
    ]);
    let versions = ["2.8.2", "2.8.3", "2.8.2", "2.8.3"];
    assert_eq!(
        taken,
        versions.map(|version| format!("flash-attn-{version}+rocm62torch2.5"))
    );
}

#[test]
fn pip_resolves_from_metadata_and_leaves_the_wheel() {
    need_pip();
    let project = project(&["2.8.3"]);
    build(&project, &[]);
    let served = Served::folder(&project.path("dist"));
    let index = format!("{}/simple/rocm6.2-torch2.5/", served.url());
    // The wheel needs torch, which this index does not have: pip finds out before it fetches the
    // wheel.
    let done = pip(&["download", "--index-url", &index, "flash-attn", "-d"])
        .arg(project.path("got"))
        .output()
        .unwrap();
    assert!(!done.status.success());
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        stderr.contains("No matching distribution found for torch"),
        "{stderr}"
    );
    let requests = served.requests();
    let wheel = name("2.8.3").replace('+', "%2B");
    assert!(
        requests.contains(&format!("/{wheel}.metadata")),
        "{requests:?}"
    );
    assert!(!requests.contains(&format!("/{wheel}")), "{requests:?}");
}

#[test]
fn pip_takes_no_wheel_whose_requires_python_excludes_it() {
    let newer = Wheel::named(&name("2.9.0"))
        .header("Requires-Python: >=4")
        .bytes();
    let project = project(&["2.8.3"]).bytes(&format!("dist/{}", name("2.9.0")), &newer);
    build(&project, &[]);
    let index = format!(
        "file://{}/dist/simple/rocm6.2-torch2.5/",
        project.root().display()
    );
    assert_eq!(
        pip_takes(&[[index.as_str(), "flash-attn"]]),
        ["flash-attn-2.8.3+rocm62torch2.5"]
    );
}

/// Two releases have the file; one of them yanks it.
#[test]
fn a_yank_applies_to_the_release_that_it_is_in() {
    let project = project(&["2.8.3"]);
    for tag in ["v1", "v2"] {
        project
            .run(&["publish", "--out", "releases", "--tag", tag, "dist"])
            .exits(0);
    }
    let yank = |tag| yank_release(&project, tag);
    let pick = |code| {
        project
            .run(&["pick", "--published", "releases", "--only-given"])
            .exits(code)
            .stdout
    };
    assert!(pick(0).contains("/releases/v2/flash_attn"));
    yank("v2");
    assert!(pick(0).contains("/releases/v1/flash_attn"));
    yank("v1");
    assert!(pick(1).is_empty());
}

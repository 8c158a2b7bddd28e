//! A user makes an index of what is published, without the wheels.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Project, Served, Wheel, pips};

/// Folders of the index with the label of the wheel that each holds.
const LABELS: [(&str, &str); 4] = [
    ("rocm6.2-torch2.5", "rocm62torch2.5"),
    ("rocm6.2-torch2.6", "rocm62torch2.6"),
    ("rocm7.2-torch2.10", "rocm72torch2.10"),
    ("rocm7.2-torch2.9", "rocm72torch2.9"),
];

fn name(label: &str) -> String {
    format!("flash_attn-2.8.3+{label}-py3-none-any.whl")
}

fn wheel(name: &str) -> Vec<u8> {
    Wheel::named(name)
        .requires("torch")
        .header("Requires-Python: >=3.8,<4")
        .bytes()
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn asset(name: &str, bytes: &[u8], base: &str) -> Value {
    json!({
        "id": 1, "name": name, "state": "uploaded", "size": bytes.len(), "digest": format!("sha256:{}", hex(bytes)),
        "browser_download_url": format!("{base}/{name}"), "created_at": "2026-11-01T10:00:00Z",
    })
}

fn release(tag: &str, assets: Vec<Value>) -> Value {
    let assets = Value::Array(assets);
    json!({"id": 7, "tag_name": tag, "draft": false, "prerelease": false, "assets": assets})
}

const BASE: &str = "https://github.com/o/r/releases/download/v1";

fn listed(releases: &[Value]) -> Project {
    Project::new().file("releases.json", &serde_json::to_string(releases).unwrap())
}

fn build(project: &Project, more: &[&str]) -> crate::support::Outcome {
    let words = [
        "index",
        "build",
        "--published",
        "releases.json",
        "--out",
        "site",
    ];
    project.run(&[&words, more].concat()).exits(0)
}

#[test]
fn an_index_of_releases_has_their_addresses_digests_sizes_and_times() {
    let names = LABELS.map(|(_, label)| name(label));
    let assets = names
        .iter()
        .map(|name| asset(name, &wheel(name), BASE))
        .collect();
    let project = listed(&[release("v1", assets)]);
    build(&project, &[]);
    for (folder, label) in LABELS {
        let (name, page) = (
            name(label),
            project.read(&format!("site/{folder}/flash-attn/index.html")),
        );
        let url = format!("{BASE}/{}", name.replace('+', "%2B"));
        let line = format!(
            "<a href=\"{url}#sha256={}\">{name}</a><br>\n",
            hex(&wheel(&name))
        );
        assert!(
            page.contains(&line) && page.matches("<a ").count() == 1,
            "{page}"
        );
        let json: Value =
            serde_json::from_str(&project.read(&format!("site/{folder}/flash-attn/index.json")))
                .unwrap();
        assert_eq!(json["meta"]["api-version"], "1.1");
        assert_eq!(json["versions"], json!([format!("2.8.3+{label}")]));
        let file = &json["files"][0];
        assert_eq!(
            (file["url"].as_str(), file["size"].as_u64()),
            (Some(url.as_str()), Some(wheel(&name).len() as u64))
        );
        assert_eq!(file["upload-time"], "2026-11-01T10:00:00Z");
        assert_eq!(
            (&file["core-metadata"], &file["requires-python"]),
            (&Value::Null, &Value::Null)
        );
    }
    let again = build(&project, &[]).stdout;
    assert!(
        again.starts_with("site is up to date: 17 pages, nothing written\n"),
        "{again}"
    );
    assert!(
        project
            .files()
            .iter()
            .all(|file| !file.ends_with(".metadata"))
    );
}

#[test]
fn a_manifest_adds_facts_to_a_listing_of_the_same_bytes() {
    let name = name("rocm62torch2.5");
    let project = Project::new().bytes(&format!("dist/{name}"), &wheel(&name));
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let listing = |bytes: &[u8]| {
        serde_json::to_string(&[release("v1", vec![asset(&name, bytes, BASE)])]).unwrap()
    };
    let project = project.file("releases.json", &listing(&wheel(&name)));
    let known = ["--published", "release/rock-manifest.json"];
    build(&project, &known);
    let page = project.read("site/rocm6.2-torch2.5/flash-attn/index.html");
    assert!(
        page.contains("data-requires-python=\"&gt;=3.8,&lt;4\""),
        "{page}"
    );
    assert!(
        page.contains(BASE) && !page.contains("core-metadata"),
        "a release holds no METADATA: {page}"
    );
    // A row of other bytes says nothing of these.
    let project = project.file("releases.json", &listing(b"other bytes"));
    build(&project, &known);
    let page = project.read("site/rocm6.2-torch2.5/flash-attn/index.html");
    assert!(
        !page.contains("requires-python") && page.contains(&hex(b"other bytes")),
        "{page}"
    );
}

#[test]
fn a_folder_of_a_release_gives_the_pages_that_reading_its_wheels_gives() {
    let project = LABELS.iter().fold(Project::new(), |project, (_, label)| {
        project.bytes(&format!("dist/{}", name(label)), &wheel(&name(label)))
    });
    project
        .run(&["publish", "--to", "releases", "--tag", "v1", "dist"])
        .exits(0);
    project
        .run(&[
            "index",
            "build",
            "releases/v1",
            "--out",
            "read",
            "--read-all",
        ])
        .exits(0);
    for name in LABELS.map(|(_, label)| name(label)) {
        std::fs::write(project.path("releases/v1").join(name), "gone").unwrap();
    }
    project
        .run(&[
            "index",
            "build",
            "--published",
            "releases",
            "--out",
            "listed",
        ])
        .exits(0);
    for (folder, _) in LABELS {
        for page in [
            "flash-attn/index.html",
            "flash-attn/index.json",
            "index.html",
        ] {
            let of = |out: &str| project.read(&format!("{out}/{folder}/{page}"));
            assert_eq!(of("read"), of("listed"));
        }
    }
    assert!(
        project
            .read("listed/rocm6.2-torch2.5/flash-attn/index.html")
            .contains("core-metadata=\"sha256=")
    );
    let base = "https://example.org/w/";
    project
        .run(&[
            "index",
            "build",
            "--published",
            "releases",
            "--out",
            "far",
            "--base-url",
            base,
            "--no-metadata",
        ])
        .exits(0);
    let page = project.read("far/rocm6.2-torch2.5/flash-attn/index.html");
    assert!(
        page.contains("href=\"https://example.org/w/v1/flash_attn-2.8.3%2B")
            && !page.contains("core-metadata")
    );
    // METADATA files of other wheels are not announced.
    for name in LABELS.map(|(_, label)| name(label)) {
        let metadata = project.path("releases/v1").join(format!("{name}.metadata"));
        std::fs::write(metadata, "stale").unwrap();
    }
    project
        .run(&[
            "index",
            "build",
            "--published",
            "releases",
            "--out",
            "stale",
        ])
        .exits(0);
    let page = project.read("stale/rocm6.2-torch2.5/flash-attn/index.html");
    assert!(!page.contains("core-metadata"), "{page}");
}

#[test]
fn below_an_address_each_release_lies_in_its_folder_in_every_document() {
    let labels = [LABELS[0].1, LABELS[1].1];
    let mut project = Project::new();
    for (label, tag) in labels.iter().zip(["v1", "v2"]) {
        project = project.bytes(&format!("{tag}-dist/{}", name(label)), &wheel(&name(label)));
        project
            .run(&[
                "publish",
                "--to",
                "rels",
                "--tag",
                tag,
                &format!("{tag}-dist"),
            ])
            .exits(0);
    }
    let base = "https://example.org/rels";
    let made = |words: &[&str], given: &str| {
        project
            .run(&[words, &["--published", given, "--base-url", base]].concat())
            .exits(0)
            .stdout
    };
    let pages = |given: &str| {
        std::fs::remove_dir_all(project.path("site")).unwrap_or_default();
        made(&["index", "build", "--out", "site"], given);
        let pages = project
            .files()
            .into_iter()
            .filter(|file| file.starts_with("site/"));
        pages.map(|file| project.read(&file)).collect::<String>()
    };
    let texts = |given: &str| {
        let (packages, notes) = (
            made(&["report", "packages"], given),
            made(&["report", "notes", "--tag", "v2"], given),
        );
        [
            ("index", pages(given)),
            ("page", made(&["report", "page"], given)),
            ("packages", packages),
            ("notes", notes),
        ]
    };
    for (what, text) in texts("rels") {
        assert!(text.contains(&format!("{base}/v2/")), "{what}: {text}");
        assert!(
            what == "notes" || text.contains(&format!("{base}/v1/")),
            "{what}: {text}"
        );
        assert!(
            !text.contains(&format!("{base}/flash_attn")),
            "{what}: {text}"
        );
    }
    // The folder of one release is what the address is about.
    for (what, text) in texts("rels/v2") {
        assert!(
            text.contains(base) && !text.contains(&format!("{base}/v")),
            "{what}: {text}"
        );
    }
}

#[test]
fn a_manifest_by_its_bare_name_lies_in_the_folder_of_work() {
    let name = name("rocm62torch2.5");
    let project = Project::new().bytes(&format!("dist/{name}"), &wheel(&name));
    project
        .run(&["publish", "--to", ".", "--tag", "v1", "dist"])
        .exits(0);
    let manifest = project.read("v1/rock-manifest.json");
    let project = project.file("rock-manifest.json", &manifest);
    let page = |given: &str| {
        project
            .run(&["index", "build", "--published", given, "--out", "site"])
            .exits(0);
        project.read("site/rocm6.2-torch2.5/flash-attn/index.html")
    };
    let bare = page("rock-manifest.json");
    assert_eq!(bare, page("./rock-manifest.json"));
    assert!(
        bare.contains("href=\"../../../flash_attn-2.8.3%2B"),
        "{bare}"
    );
}

#[test]
fn drafts_unfinished_uploads_and_prereleases_are_left_out() {
    let of = |label: &str| asset(&name(label), b"x", BASE);
    let mut starter = of("rocm62torch2.6");
    starter["state"] = json!("starter");
    let mut draft = release("v2", vec![of("rocm72torch2.9")]);
    draft["draft"] = json!(true);
    let mut early = release("v3", vec![of("rocm72torch2.10")]);
    early["prerelease"] = json!(true);
    let project = listed(&[
        release("v1", vec![of("rocm62torch2.5"), starter]),
        draft,
        early,
    ]);
    build(&project, &[]);
    let folders =
        |project: &Project| LABELS.map(|(folder, _)| project.has(&format!("site/{folder}")));
    assert_eq!(folders(&project), [true, false, false, false]);
    build(&project, &["--prereleases"]);
    assert_eq!(folders(&project), [true, false, true, false]);
    // Whatever tells people what to install goes by the same rule.
    let pick: &[&str] = &["pick", "--only-given", "--torch", "2.10"];
    for (command, code) in [
        (pick, 0),
        (&["report", "page"], 0),
        (&["report", "packages"], 0),
    ] {
        let run = |more: &[&str]| {
            project.run(&[command, &["--published", "releases.json"], more].concat())
        };
        let (without, with) = (run(&[]).exits(code), run(&["--prereleases"]).exits(0));
        let expected = "skipped 1 release marked as a prerelease (include with `--prereleases`)";
        assert!(
            without.stderr.contains(expected) && !with.stderr.contains("skipped"),
            "{command:?}: {without:?}"
        );
        assert!(
            !without.stdout.contains("torch2.10"),
            "{command:?}: {without:?}"
        );
        assert!(with.stdout.contains("torch2.10"), "{command:?}: {with:?}");
    }
}

#[test]
fn names_that_github_changed_are_reported_and_left_out() {
    let changed = "flash_attn-2.8.3.rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
    let ambiguous = "flash_attn-2.8.3+rocm714torch2.5-cp311-cp311-linux_x86_64.whl";
    let good = name("rocm62torch2.5");
    let project = listed(&[release(
        "v1",
        [changed, ambiguous, &good]
            .iter()
            .map(|n| asset(n, b"x", BASE))
            .collect(),
    )]);
    let stderr = build(&project, &[]).stderr;
    assert_eq!(
        stderr
            .matches("warning[G300 unreadable-published-name]")
            .count(),
        2,
        "{stderr}"
    );
    assert!(
        stderr.contains(&format!("the published file `{changed}` is skipped"))
            && stderr.contains(ambiguous),
        "{stderr}"
    );
    let pages: String = project
        .files()
        .iter()
        .filter(|f| f.starts_with("site"))
        .map(|f| project.read(f))
        .collect();
    assert!(!pages.contains("rocm714") && !pages.contains("2.8.3.rocm62") && pages.contains(&good));
}

#[test]
fn files_without_digest_have_no_hash_and_are_reported_once() {
    let mut assets: Vec<Value> = LABELS
        .iter()
        .map(|(_, label)| asset(&name(label), b"x", BASE))
        .collect();
    let with = listed(&[release("v1", assets.clone())]);
    assert!(!build(&with, &[]).stderr.contains("G305"));
    assets
        .iter_mut()
        .take(2)
        .for_each(|asset| asset["digest"] = Value::Null);
    let project = listed(&[release("v1", assets)]);
    let stderr = build(&project, &[]).stderr;
    assert_eq!(
        stderr.matches("warning[G305 no-published-digest]").count(),
        1,
        "{stderr}"
    );
    assert!(
        stderr.contains("2 files are listed without a hash"),
        "{stderr}"
    );
    let page = project.read("site/rocm6.2-torch2.5/flash-attn/index.html");
    assert!(
        page.contains("-any.whl\">") && !page.contains("sha256"),
        "{page}"
    );
    assert!(
        project
            .read("site/rocm6.2-torch2.5/flash-attn/index.json")
            .contains("\"hashes\": {}")
    );
}

fn tagged(tag: &str, published: &str, name: &str, bytes: &[u8]) -> Value {
    let mut made = release(tag, vec![asset(name, bytes, &BASE.replace("v1", tag))]);
    made["published_at"] = json!(published);
    made
}

#[test]
fn one_file_in_two_releases_is_listed_once() {
    let name = name("rocm62torch2.5");
    let project = listed(&[tagged("v2", "", &name, b"x"), tagged("v1", "", &name, b"x")]);
    assert!(!build(&project, &[]).stderr.contains("G306"));
    let page = project.read("site/rocm6.2-torch2.5/flash-attn/index.html");
    assert!(
        page.matches("<a ").count() == 1 && page.contains("download/v2/"),
        "{page}"
    );
}

#[test]
fn a_site_of_no_wheels_is_written_with_a_warning_and_has_nothing_to_pick() {
    let project = listed(&[]);
    let page = [
        "report",
        "page",
        "--published",
        "releases.json",
        "--out",
        "site/finder.html",
    ];
    for (words, at) in [
        (
            &[
                "index",
                "build",
                "--published",
                "releases.json",
                "--out",
                "site/simple",
            ][..],
            "site/simple/index.html",
        ),
        (&page[..], "site/finder.html"),
    ] {
        let stderr = project.run(words).exits(0).stderr;
        assert!(
            stderr.contains("warning[G203 no-published-wheels]") && stderr.contains("publish"),
            "{stderr}"
        );
        assert!(!stderr.contains("error[") && project.has(at), "{stderr}");
    }
    assert!(
        project
            .read("site/simple/index.html")
            .contains("No wheel is offered here.")
    );
    assert!(
        project
            .read("site/finder.html")
            .contains("No wheel is published here.")
    );
    let stderr = project
        .run(&["pick", "--published", "releases.json", "--only-given"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("error[G203 no-published-wheels]"),
        "{stderr}"
    );
    // Of what counts as not finished the index lists nothing unless it is told to, and says so.
    let mut early = release("v1", vec![asset(&name("rocm62torch2.5"), b"x", BASE)]);
    early["prerelease"] = true.into();
    let project = listed(&[early]);
    let stderr = build(&project, &[]).stderr;
    assert!(
        stderr.contains("warning[G203") && stderr.contains("`--prereleases`"),
        "{stderr}"
    );
    assert!(!build(&project, &["--prereleases"]).stderr.contains("G203"));
}

#[test]
fn of_a_wheel_that_was_built_again_the_newest_release_is_offered_everywhere() {
    let name = name("rocm62torch2.5");
    let (early, late) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    // By time where it is told, else by tag, in whatever order they come.
    for (one, other) in [((late, "v1"), (early, "v2")), (("", "v10"), ("", "v9"))] {
        let new = tagged(one.1, one.0, &name, b"new");
        let old = tagged(other.1, other.0, &name, b"old!");
        for releases in [[new.clone(), old.clone()], [old, new]] {
            let project = listed(&releases);
            let stderr = build(&project, &[]).stderr;
            assert_eq!(
                stderr
                    .matches("warning[G306 older-release-differs]")
                    .count(),
                1,
                "{stderr}"
            );
            assert!(
                stderr.contains(&format!("of release `{}`", one.1))
                    && stderr.contains(&hex(b"old!")),
                "{stderr}"
            );
            let page = project.read("site/rocm6.2-torch2.5/flash-attn/index.html");
            let (address, digest) = (format!("download/{}/", one.1), hex(b"new"));
            assert!(
                page.matches("<a ").count() == 1
                    && page.contains(&address)
                    && page.contains(&digest),
                "{page}"
            );
            let picked = project
                .run(&["pick", "--published", "releases.json", "--only-given"])
                .exits(0);
            assert!(
                picked.stdout.contains(&address) && !picked.stderr.contains("G306"),
                "{}",
                picked.stderr
            );
            let words = [
                "report",
                "page",
                "--published",
                "releases.json",
                "--out",
                "page.html",
            ];
            assert!(project.run(&words).exits(0).stderr.contains("warning[G306"));
            assert!(project.read("page.html").contains(&address));
            let words = ["report", "packages", "--published", "releases.json"];
            let listed = project.run(&words).exits(0);
            assert_eq!(
                listed.stderr.matches("warning[G306").count(),
                1,
                "{}",
                listed.stderr
            );
            assert!(
                listed.stdout.contains("1 wheel of 1 release.") && listed.stdout.contains(&address)
            );
            // Nobody is offered a name that is yanked.
            let yank = [
                "index",
                "yank",
                "--published",
                "releases.json",
                "--out",
                "site",
                "--apply",
            ];
            let stderr = project
                .run(&[&yank[..], &[&format!("{name}: broken")]].concat())
                .exits(0)
                .stderr;
            assert!(!stderr.contains("G306"), "{stderr}");
            let stderr = project
                .run(&[&words[..], &["--withdrawn-in", "site"]].concat())
                .exits(0)
                .stderr;
            assert!(!stderr.contains("G306"), "{stderr}");
        }
    }
}

#[test]
fn folders_of_releases_offer_the_newest_and_two_files_of_one_release_are_an_error() {
    let name = name("rocm62torch2.5");
    let mut project = Project::new();
    for tag in ["v9", "v10"] {
        let bytes = Wheel::named(&name)
            .header(&format!("Keywords: {tag}"))
            .bytes();
        project = project.bytes(&format!("dist/{name}"), &bytes);
        project
            .run(&["publish", "--to", "releases", "--tag", tag, "dist"])
            .exits(0);
    }
    let stderr = project
        .run(&["index", "build", "--published", "releases", "--out", "site"])
        .exits(0)
        .stderr;
    assert!(stderr.contains("warning[G306"), "{stderr}");
    assert!(
        project
            .read("site/rocm6.2-torch2.5/flash-attn/index.html")
            .contains("/releases/v10/flash_attn")
    );
    let picked = project
        .run(&["pick", "--published", "releases", "--only-given"])
        .exits(0)
        .stdout;
    assert!(picked.contains("/releases/v10/flash_attn"), "{picked}");
    let upper = name.replace("flash", "FLASH");
    let twice = listed(&[release(
        "v1",
        vec![asset(&name, b"x", BASE), asset(&upper, b"y", BASE)],
    )]);
    let stderr = twice
        .run(&[
            "index",
            "build",
            "--published",
            "releases.json",
            "--out",
            "site",
        ])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[G014 same-name-twice]") && stderr.contains("of release `v1`"),
        "{stderr}"
    );
    assert!(!twice.has("site"));
}

#[test]
fn a_wheel_with_a_meaningless_label_is_in_no_index() {
    let plain = "flash_attn-2.8.3-py3-none-any.whl";
    let (weird, known) = (name("weird"), name("rocm62torch2.5"));
    let all = [plain, &weird, &known];
    let project = listed(&[release(
        "v1",
        all.iter().map(|name| asset(name, b"x", BASE)).collect(),
    )]);
    let stderr = build(&project, &[]).stderr;
    assert!(
        stderr.contains(&format!(
            "warning[G300 unreadable-published-name]: the published file `{weird}` is skipped"
        )),
        "{stderr}"
    );
    let project = all.iter().fold(project, |project, name| {
        project.bytes(&format!("dist/{name}"), &wheel(name))
    });
    let stderr = project.run(&["index", "build", "dist"]).exits(0).stderr;
    assert!(
        stderr.contains("warning[G001")
            && stderr.contains("the label `weird` names no accelerator"),
        "{stderr}"
    );
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let project = project.bytes(&format!("only/{weird}"), &wheel(&weird));
    let stdout = project
        .run(&["publish", "--to", "nothing-else", "only"])
        .exits(0)
        .stdout;
    assert!(
        !stdout.contains("install with"),
        "there is no index of it: {stdout}"
    );
    project
        .run(&[
            "index",
            "build",
            "--published",
            "release",
            "--out",
            "of-manifest",
        ])
        .exits(0);
    project
        .run(&[
            "index",
            "build",
            "--published",
            "dist",
            "--out",
            "of-folder",
        ])
        .exits(0);
    for pages in [
        "site",
        "dist/simple",
        "release/simple",
        "of-manifest",
        "of-folder",
    ] {
        let any = project.read(&format!("{pages}/any/flash-attn/index.html"));
        assert!(
            any.contains(plain) && !any.contains("weird"),
            "{pages}: {any}"
        );
        assert!(
            project.has(&format!("{pages}/rocm6.2-torch2.5"))
                && !project.has(&format!("{pages}/weird"))
        );
    }
    assert!(
        project.read("release/rock-manifest.json").contains(&weird),
        "it is published"
    );
}

#[test]
fn an_invalid_address_is_reported_and_not_on_any_page() {
    let evil = [
        "javascript:alert(1)",
        "https://me:secret@example.org",
        "https://example.org/\"><script>",
    ];
    let good = asset(&name("rocm62torch2.5"), b"x", BASE);
    let mut assets = vec![good];
    assets.extend(
        evil.iter()
            .zip(["rocm62torch2.6", "rocm72torch2.9", "rocm72torch2.10"])
            .map(|(base, label)| asset(&name(label), b"x", base)),
    );
    let project = listed(&[release("v1", assets)]);
    let stderr = build(&project, &[]).stderr;
    assert_eq!(stderr.matches("warning[G300").count(), 3, "{stderr}");
    let pages: String = project
        .files()
        .iter()
        .filter(|f| f.starts_with("site"))
        .map(|f| project.read(f))
        .collect();
    for text in ["javascript", "secret@", "<script>alert", "\"><script"] {
        assert!(!pages.contains(text), "{text}");
    }
}

#[test]
fn pip_installs_by_name_from_an_index_of_releases() {
    let project = LABELS.iter().fold(Project::new(), |project, (_, label)| {
        project.bytes(
            &format!("o/r/releases/download/v1/{}", name(label)),
            &wheel_for_all(&name(label)),
        )
    });
    let served = Served::folder(project.root());
    let base = format!("{}/o/r/releases/download/v1", served.url());
    let assets = LABELS
        .iter()
        .map(|(_, label)| asset(&name(label), &wheel_for_all(&name(label)), &base))
        .collect();
    let project = project.file(
        "releases.json",
        &serde_json::to_string(&[release("v1", assets)]).unwrap(),
    );
    build(&project, &[]);
    let target = |label: &str| project.path("installed").join(label);
    let calls = LABELS.map(|(folder, label)| {
        let index = format!("{}/site/{folder}/", served.url());
        let target = target(label).display().to_string();
        let options = ["install", "-q", "--no-deps", "--index-url", &index];
        let words = options
            .into_iter()
            .chain(["flash-attn", "--target", &target]);
        words.map(str::to_owned).collect::<Vec<_>>()
    });
    for ((folder, label), done) in LABELS.into_iter().zip(pips(&calls)) {
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        assert!(
            target(label)
                .join(format!("flash_attn-2.8.3+{label}.dist-info"))
                .is_dir(),
            "{folder}"
        );
    }
}

fn wheel_for_all(name: &str) -> Vec<u8> {
    Wheel::named(name)
        .requires("torch")
        .header("Requires-Python: >=3.8")
        .bytes()
}

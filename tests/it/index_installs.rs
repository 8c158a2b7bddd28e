//! A user installs by name from a folder of the index and gets the wheel of that ROCm and torch.

use std::process::Output;

use crate::support::{Project, Wheel, pips};

/// What a plain `flash-attn` from one flat page would be: the label that is highest as text,
/// whatever torch there is.
const LABELS: [(&str, &str); 5] = [
    ("rocm6.2-torch2.5", "rocm62torch2.5triton"),
    ("rocm6.2-torch2.6", "rocm62torch2.6triton"),
    ("rocm7.14-torch2.14", "rocm7.14torch2.14triton"),
    ("rocm7.2-torch2.10", "rocm72torch2.10triton"),
    ("rocm7.2-torch2.9", "rocm72torch2.9triton"),
];

fn wheel(name: &str) -> Vec<u8> {
    Wheel::named(name)
        .requires("torch")
        .header("Requires-Python: >=3.8")
        .bytes()
}

fn project() -> Project {
    LABELS.iter().fold(Project::new(), |project, (_, label)| {
        let name = format!("flash_attn-2.8.3+{label}-py3-none-any.whl");
        project.bytes(&format!("dist/{name}"), &wheel(&name))
    })
}

/// Installs each requirement from the index before it into a new directory, offline, and returns
/// the installed files.
fn installed(project: &Project, wanted: &[[String; 2]]) -> Vec<Result<Vec<String>, String>> {
    let target = |number: usize| project.path(&format!("installed/{number}"));
    let calls: Vec<Vec<String>> = wanted
        .iter()
        .enumerate()
        .map(|(number, [index, requirement])| {
            let target = target(number).display().to_string();
            let options = ["-q", "install", "--no-deps", "--index-url", index];
            [&options[..], &["--target", &target, requirement]]
                .concat()
                .into_iter()
                .map(str::to_owned)
                .collect()
        })
        .collect();
    let found = |(number, output): (usize, Output)| {
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let mut names: Vec<String> = std::fs::read_dir(target(number))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".dist-info").map(str::to_owned))
            .collect();
        names.sort();
        Ok(names)
    };
    pips(&calls).into_iter().enumerate().map(found).collect()
}

#[test]
fn pip_takes_from_each_folder_the_newest_wheel_of_its_torch_and_no_other() {
    // An older version and a Python that nobody has stand beside the wheel that is wanted.
    let mut project = project();
    for (_, label) in LABELS {
        for name in [
            format!("flash_attn-2.8.2+{label}-py3-none-any.whl"),
            format!("flash_attn-2.9.0+{label}-cp32-none-any.whl"),
        ] {
            project = project.bytes(&format!("dist/{name}"), &wheel(&name));
        }
    }
    let published = project
        .run(&["publish", "--to", "a release", "dist", "--format", "json"])
        .exits(0)
        .json();
    let folders = published["indexes"].as_array().unwrap();
    assert_eq!(folders.len(), LABELS.len());
    let root = project.root().to_str().unwrap();
    let other = |number: usize| LABELS[(number + 1) % LABELS.len()].1;
    let mut wanted = Vec::new();
    for (number, (folder, label)) in LABELS.into_iter().enumerate() {
        let page = project.read(&format!("a release/simple/{folder}/flash-attn/index.html"));
        assert_eq!(page.matches("<a href=").count(), 3, "{page}");
        let named = |label: &str| page.contains(&format!("%2B{label}-"));
        assert_eq!(
            LABELS
                .iter()
                .filter(|(_, one)| named(one))
                .collect::<Vec<_>>(),
            [&(folder, label)],
            "{page}"
        );
        let url = folders.iter().find(|f| f["folder"] == folder).unwrap()["url"]
            .as_str()
            .unwrap();
        let url = url.replace("[ROOT]", root);
        assert!(
            url.starts_with("file:///") && url.contains("a%20release"),
            "{url}"
        );
        wanted.push([url.clone(), "flash-attn".to_owned()]);
        wanted.push([url, format!("flash-attn==2.8.3+{}", other(number))]);
    }
    let installed = installed(&project, &wanted);
    for (number, (folder, label)) in LABELS.into_iter().enumerate() {
        let [taken, refused] = &installed[2 * number..2 * number + 2] else {
            panic!("{installed:?}")
        };
        assert_eq!(taken, &Ok(vec![format!("flash_attn-2.8.3+{label}")]));
        let refused = refused.as_ref().unwrap_err();
        assert!(
            refused.contains("No matching distribution"),
            "{folder} offers {}: {refused}",
            other(number)
        );
    }
}

#[test]
fn pip_would_take_a_wheel_of_any_torch_from_one_page_that_has_all() {
    let project = project();
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let wheels: Vec<String> = project
        .files()
        .into_iter()
        .filter(|file| file.starts_with("release/flash"))
        .collect();
    let links = wheels.iter().filter(|file| file.contains(".whl"));
    let links: String = links
        .map(|file| format!("<a href=\"../../{file}\">{}</a>", &file["release/".len()..]))
        .collect();
    let project = project.bytes(
        "flat/flash-attn/index.html",
        format!("<!DOCTYPE html>{links}").as_bytes(),
    );
    let flat = format!("file://{}/flat/", project.path("").display());
    let taken = installed(&project, &[[flat, "flash-attn".to_owned()]]).remove(0);
    let [taken] = taken.as_deref().unwrap() else {
        panic!("{taken:?}")
    };
    let unfit = LABELS
        .iter()
        .filter(|(_, label)| *taken != format!("flash_attn-2.8.3+{label}"))
        .count();
    assert_eq!(
        unfit,
        LABELS.len() - 1,
        "one wheel for all, whatever torch there is: {taken}"
    );
}

#[test]
fn pip_refuses_a_wheel_whose_bytes_are_not_those_of_the_index() {
    let project = project();
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let name = "flash_attn-2.8.3+rocm62torch2.5triton-py3-none-any.whl";
    let mut bytes = std::fs::read(project.path("release").join(name)).unwrap();
    bytes.push(0);
    let project = project.bytes(&format!("release/{name}"), &bytes);
    let url = format!(
        "file://{}/simple/rocm6.2-torch2.5/",
        project.path("release").display()
    );
    let refused = installed(&project, &[[url, "flash-attn".to_owned()]]).remove(0);
    let refused = refused.unwrap_err();
    assert!(refused.contains("DO NOT MATCH THE HASHES"), "{refused}");
}

#[test]
fn every_link_of_an_index_leads_to_a_file_with_the_digest_it_names() {
    use sha2::{Digest as _, Sha256};
    let project = project().bytes(
        "dist/plain-1.0-py3-none-any.whl",
        &wheel("plain-1.0-py3-none-any.whl"),
    );
    project
        .run(&["index", "build", "dist", "--out", "site/wheels"])
        .exits(0);
    let link = regex::Regex::new("<a href=\"([^\"#]+)#sha256=([0-9a-f]{64})\"").unwrap();
    let mut links = 0;
    for file in project
        .files()
        .iter()
        .filter(|file| file.starts_with("site/") && file.ends_with("index.html"))
    {
        let folder = project.path(file).parent().unwrap().to_owned();
        for found in link.captures_iter(&project.read(file)) {
            let bytes = std::fs::read(folder.join(found[1].replace("%2B", "+"))).unwrap();
            let digest: String = Sha256::digest(bytes)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!(digest, &found[2]);
            links += 1;
        }
    }
    assert_eq!(links, LABELS.len() + 1);
    assert!(project.has("site/wheels/any/plain/index.json"));
}

#[test]
fn an_index_of_its_own_is_written_once_and_forgets_what_is_gone() {
    let project = project();
    let first = project.run(&["index", "build", "dist"]).exits(0);
    assert!(
        first.stdout.starts_with("wrote dist/simple: 21 pages\n"),
        "{}",
        first.stdout
    );
    assert!(project.has("dist/flash_attn-2.8.3+rocm62torch2.5triton-py3-none-any.whl.metadata"));
    assert!(first.stdout.contains("install with:\n"), "{}", first.stdout);
    // The commands are printed for new indexes only.
    let second = project.run(&["index", "build", "dist"]).exits(0);
    assert_eq!(
        second.stdout,
        "dist/simple is up to date: 21 pages, nothing written\n"
    );
    std::fs::remove_file(
        project.path("dist/flash_attn-2.8.3+rocm62torch2.5triton-py3-none-any.whl"),
    )
    .unwrap();
    project.run(&["index", "build", "dist"]).exits(0);
    assert!(
        !project.has("dist/simple/rocm6.2-torch2.5") && project.has("dist/simple/rocm6.2-torch2.6")
    );
}

#[test]
fn an_index_that_lists_files_is_not_emptied_for_a_folder_or_a_list_without_wheels() {
    let project = project();
    project.run(&["index", "build", "dist"]).exits(0);
    for (_, label) in LABELS {
        std::fs::remove_file(
            project.path(&format!("dist/flash_attn-2.8.3+{label}-py3-none-any.whl")),
        )
        .unwrap();
    }
    std::fs::create_dir(project.path("new")).unwrap();
    let (before, project) = (project.files(), project.file("none.json", "[]"));
    // One that no index lists is as good as none.
    let weird = "flash_attn-2.8.3+mine-py3-none-any.whl";
    let project = project.bytes(&format!("weird/{weird}"), &Wheel::named(weird).bytes());
    let stderr = project
        .run(&["index", "build", "weird", "--out", "dist/simple"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("error[G008") && stderr.contains("`dist/simple` was not changed"),
        "{stderr}"
    );
    std::fs::remove_dir_all(project.path("weird")).unwrap();
    let empty: [&[&str]; 3] = [
        &["dist"],
        &["new", "--out", "dist/simple"],
        &["--published", "none.json", "--out", "dist/simple"],
    ];
    for what in empty {
        let refused = project
            .run(&[&["index", "build"], what].concat())
            .exits(1)
            .stderr;
        assert!(
            refused.contains("note: `dist/simple` was not changed and still lists its files"),
            "{refused}"
        );
        assert!(
            refused.contains("help: delete `dist/simple` if it should list nothing"),
            "{refused}"
        );
    }
    std::fs::remove_file(project.path("none.json")).unwrap();
    assert_eq!(project.files(), before);
    let refused = project.run(&["index", "build", "new"]).exits(1).stderr;
    assert!(
        refused.contains("error[G008 nothing-to-publish]") && !project.has("new/simple"),
        "{refused}"
    );
}

#[test]
fn links_below_an_address_name_no_metadata_where_there_is_none() {
    let project = project();
    let base = "https://example.org/o/r/releases/download/v1/";
    project
        .run(&[
            "index",
            "build",
            "dist",
            "--out",
            "site",
            "--base-url",
            base,
            "--no-metadata",
        ])
        .exits(0);
    let page = project.read("site/rocm6.2-torch2.5/flash-attn/index.html");
    assert!(
        page.contains("href=\"https://example.org/o/r/releases/download/v1/flash_attn-2.8.3%2Brocm62torch2.5triton")
    );
    assert!(!page.contains("core-metadata"));
    assert!(
        !project
            .files()
            .iter()
            .any(|file| file.ends_with(".metadata"))
    );
}

/// Pages outside of the directory of the wheels announce METADATA that is there, and write none.
#[test]
fn the_wheels_of_pages_elsewhere_are_only_read() {
    let project = project();
    let before = project.files();
    let elsewhere = ["index", "build", "dist", "--out", "site"];
    project.run(&elsewhere).exits(0);
    let page = "site/rocm6.2-torch2.5/flash-attn/index.html";
    assert!(!project.read(page).contains("core-metadata"));
    let mut files = project.files();
    files.retain(|file| !file.starts_with("site/"));
    assert_eq!(files, before);

    let stdout = project.run(&["index", "build", "dist"]).exits(0).stdout;
    let line = format!(
        "\nwrote {} `.metadata` files next to the wheels\n",
        LABELS.len()
    );
    assert!(stdout.contains(&line), "{stdout}");
    let document = self::project()
        .run(&["index", "build", "dist", "--json"])
        .exits(0)
        .json();
    assert_eq!(document["metadata_count"], LABELS.len());
    project.run(&elsewhere).exits(0);
    assert!(project.read(page).contains("core-metadata=\"sha256="));
    let wheel = "dist/flash_attn-2.8.3+rocm62torch2.5triton-py3-none-any.whl";
    let project = project.file(&format!("{wheel}.metadata"), "of another wheel");
    project.run(&elsewhere).exits(0);
    assert!(!project.read(page).contains("core-metadata"));
}

/// Other indexes may announce the METADATA files.
#[test]
fn an_index_without_metadata_keeps_the_files_of_other_indexes() {
    let project = project();
    let build = |words: &[&str]| {
        let words = [&["index", "build", "dist"], words].concat();
        project.run(&words).exits(0).stdout
    };
    build(&[]);
    build(&["--out", "site"]);
    build(&["--out", "dist/other"]);
    let files = project.files();
    assert!(files.iter().any(|file| file.ends_with(".metadata")));
    let pages = ["site", "dist/other", "dist/simple"]
        .map(|index| format!("{index}/rocm6.2-torch2.5/flash-attn/index.html"));
    let announced = || {
        pages
            .each_ref()
            .map(|page| project.read(page).contains("core-metadata=\"sha256="))
    };
    assert_eq!(announced(), [true, true, true]);
    let stdout = build(&["--no-metadata"]);
    assert!(!stdout.contains("removed"), "{stdout}");
    assert_eq!(project.files(), files);
    assert_eq!(announced(), [true, true, false]);
    // A file that is not that of the wheel is replaced before it is announced.
    let wheel = "dist/flash_attn-2.8.3+rocm62torch2.5triton-py3-none-any.whl";
    let metadata = format!("{wheel}.metadata");
    std::fs::write(project.path(&metadata), "of another wheel").unwrap();
    build(&[]);
    assert_eq!(announced(), [true, true, true]);
    assert!(project.read(&metadata).contains("Name: "));
}

/// `publish DIR/*` includes METADATA files that `index build DIR` wrote.
#[test]
fn metadata_next_to_a_wheel_is_not_published_itself() {
    let project = project();
    project.run(&["index", "build", "dist"]).exits(0);
    let wheel = "dist/flash_attn-2.8.3+rocm62torch2.5triton-py3-none-any.whl";
    let metadata = format!("{wheel}.metadata");
    let stderr = project
        .run(&["publish", "--out", "release", wheel, &metadata])
        .exits(0)
        .stderr;
    assert!(
        stderr.contains("skipped 1 `.metadata` file: the METADATA is in the wheel next to it"),
        "{stderr}"
    );
    std::fs::remove_file(project.path(wheel)).unwrap();
    let stderr = project
        .run(&["publish", "--out", "other", &metadata])
        .exits(1)
        .stderr;
    assert!(stderr.starts_with("error[G001"), "{stderr}");
}

#[test]
fn pages_instead_of_wheels_have_help() {
    let project = project();
    project.run(&["index", "build", "dist"]).exits(0);
    let wheels = "help: `dist/simple` has only the pages of an index: pass `dist`, which has the \
                  wheels";
    let pages = "help: pass the pages of its index, `dist/simple`";
    for (words, help) in [
        (&["index", "yank", "dist/simple", "flash-attn"][..], wheels),
        (
            &["publish", "--out", "release", "dist/simple/"],
            "pass `dist`,",
        ),
        (&["pick", "--wheels", "dist/simple"], wheels),
        (&["pick", "--published", "dist/simple"], wheels),
        (
            &[
                "report",
                "page",
                "--published",
                "dist",
                "--yanked-in",
                "dist",
                "--out",
                "page",
            ],
            pages,
        ),
    ] {
        let stderr = project.run(words).exits(1).stderr;
        assert!(stderr.contains(help), "{stderr}");
    }
}

#[test]
fn pages_are_not_written_over_other_things() {
    let project = project().file("site/index.html", "<h1>my home page</h1>");
    for out in ["site", "dist", "."] {
        let refused = project
            .run(&["index", "build", "dist", "--out", out])
            .exits(1);
        assert!(
            refused.stderr.starts_with("error[G016 cannot-index]"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(project.read("site/index.html"), "<h1>my home page</h1>");
}

#[test]
fn the_landing_page_shows_the_line_that_installs_and_why_it_is_so() {
    let project = project();
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let page = project.read("release/simple/index.html");
    let lines: Vec<&str> = page
        .lines()
        .filter(|line| line.contains("2.8.3+rocm62torch2.5triton --extra"))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    <pre><code>pip install flash-attn==2.8.3+rocm62torch2.5triton --extra-index-url <span data-index="rocm6.2-torch2.5/">ADDRESS-OF-THIS-PAGE/rocm6.2-torch2.5/</span></code></pre>
    <pre><code>pip install torch==2.5.1+rocm6.2 flash-attn==2.8.3+rocm62torch2.5triton --extra-index-url <span data-index="rocm6.2-torch2.5/">ADDRESS-OF-THIS-PAGE/rocm6.2-torch2.5/</span> --extra-index-url https://download.pytorch.org/whl/rocm6.2</code></pre>
    "#);
    assert!(
        page.contains("An installer keeps an installed torch 2.5"),
        "{page}"
    );
    assert!(
        page.contains("<pre><code>export FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE\n</code></pre>"),
        "{page}"
    );
    assert!(page.find("rocm7.14-torch2.14").unwrap() < page.find("rocm7.2-torch2.10").unwrap());
    assert!(page.find("rocm7.2-torch2.10").unwrap() < page.find("rocm7.2-torch2.9").unwrap());
}

#[test]
fn a_wheel_of_another_project_inside_is_not_offered() {
    let name = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
    let other = Wheel::named(name).edit("METADATA", |text| {
        text.replace("Name: flash-attn", "Name: flush-attn")
    });
    let project = Project::new().bytes(&format!("dist/{name}"), &other.bytes());
    let stderr = project.run(&["index", "build", "dist"]).exits(1).stderr;
    assert!(stderr.starts_with("error[W050 name-mismatch]"), "{stderr}");
    assert_eq!(project.files(), [format!("dist/{name}")]);
}

/// Labels that installers order against ROCm are reported with both names, once a project.
#[test]
fn versions_that_sort_against_their_rocm_are_reported() {
    let name = |label: &str| format!("torch-2.9.0+{label}-cp312-cp312-linux_x86_64.whl");
    let stderr_of = |labels: &[&str]| {
        let wheels = labels.iter().map(|label| name(label));
        let add = |project: Project, name: String| {
            project.bytes(&format!("dist/{name}"), &Wheel::named(&name).bytes())
        };
        wheels
            .fold(Project::new(), add)
            .run(&["index", "build", "dist"])
            .exits(0)
            .stderr
    };
    let stderr = stderr_of(&["rocm7.14.0", "rocm10.2.0", "rocm7.2.0"]);
    assert!(
        stderr.contains("warning[G124 labels-misordered]"),
        "{stderr}"
    );
    assert!(
        stderr.contains("installers consider torch 2.9.0+rocm10.2.0 older than 2.9.0+rocm7.14.0"),
        "{stderr}"
    );
    assert!(
        stderr.contains("help: install from the directory of one ROCm version"),
        "{stderr}"
    );
    assert_eq!(stderr_of(&["rocm7.14.0", "rocm7.2.0"]), "");
    assert_eq!(
        stderr_of(&["rocm10.1torch2.15", "rocm7.2torch2.9"]),
        "",
        "the torch decides there, and its folder"
    );
}

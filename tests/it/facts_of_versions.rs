//! `compat explain` and `compat refresh`: what goes together, and what an index says that the table
//! does not.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::Project;
use crate::support::pages::{Page, Pages};

fn explain(arguments: &[&str], code: i32) -> String {
    Project::new()
        .run(&[&["-v", "compat", "explain"], arguments].concat())
        .exits(code)
        .stdout
}

#[test]
fn a_refused_pair_has_reason_row_and_nearest_pair() {
    insta::assert_snapshot!(explain(&["torch=2.9.1", "rocm=7.2"], 1), @r"
    torch 2.9.1 with ROCm 7.2: no
      because: torch 2.9.1 has wheels for ROCm 6.3 and 6.4, not 7.2
      help: use ROCm 6.4, or `torch-from: image`: an image has both
      from: compat/torch.yaml, torch 2.9, checked 2026-11-21
      read in: pytorch/test-infra tools/scripts/generate_binary_build_matrix.py (git history), f563b660a 2025-10-14, 06789010b 2025-11-11 (verified)
      note: no official rocm7.x index for 2.9.x; AMD images and AMD index do carry 2.9.1 with 7.x
    ");
}

#[test]
fn a_gfx_target_is_judged_by_package_toolchain_and_torch_wheels() {
    let values = [
        "flash_attn=2.8.3",
        "backend=ck",
        "gfx=gfx950;gfx1100",
        "rocm=6.3",
        "torch=2.7.0",
    ];
    let stdout = explain(&values, 1);
    let verdicts: Vec<&str> = stdout
        .lines()
        .filter(|line| !line.starts_with([' ', 'a']))
        .collect();
    assert_eq!(
        verdicts,
        [
            "torch 2.7.0 with ROCm 6.3: yes",
            "flash-attn 2.8.3 with the ck backend: yes",
            "flash-attn 2.8.3 (ck) for gfx950: yes",
            "flash-attn 2.8.3 (ck) for gfx1100: no",
            "ROCm 6.3 compiling for gfx950: no (inferred)",
            "torch's wheels for ROCm 6.3 on gfx950: no (inferred)",
            "ROCm 6.3 compiling for gfx1100: yes",
            "torch's wheels for ROCm 6.3 on gfx1100: yes (inferred)",
        ]
    );
    assert!(
        stdout.contains("help: fa2:<commit>, read at 0251105 builds for it"),
        "{stdout}"
    );
    assert!(
        stdout.contains("because: gfx950 needs ROCm 7.0 or later"),
        "{stdout}"
    );
    assert!(
        stdout.contains("also: gfx1030 is in no released or HEAD allow-list; gfx1100 only after"),
        "{stdout}"
    );
}

#[test]
fn contested_facts_about_free_threaded_wheels_are_reported() {
    let stdout = explain(&["torch=2.14.0", "python=3.14t"], 0);
    assert!(
        stdout.starts_with("torch 2.14.0 with Python 3.14t: yes\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("also: ROCm publishes no free-threaded torch\n"),
        "{stdout}"
    );
    assert!(stdout.contains("(contested)"), "{stdout}");
}

#[test]
fn a_version_that_no_table_lists_exits_with_1() {
    let project = Project::new();
    let answers = project
        .run(&[
            "compat",
            "explain",
            "torch=2.99.0",
            "rocm=7.2",
            "--format",
            "json",
        ])
        .exits(1)
        .json();
    assert_eq!(answers["version"], 1);
    assert_eq!(answers["answers"][0]["answer"], "unknown");
    assert_eq!(answers["answers"][0]["origin"], Value::Null);
    let explain = |words: &[&str]| project.run(&[&["compat", "explain"], words].concat());
    for words in [
        &["flash-attn=9.9", "torch=2.9"][..],
        &["rocm=7.0", "python=3.99"],
    ] {
        explain(words).exits(1);
    }
    let known = explain(&["rocm=5.2", "gfx=gfx90a"]).exits(0).stdout;
    assert!(
        known.starts_with("ROCm 5.2 compiling for gfx90a: unknown\n"),
        "{known}"
    );
}

#[test]
fn an_answer_that_is_not_verified_has_its_status() {
    let facts = "\
sources: {pages: pages}
rocm: [{rocm: \"8.0\", origin: &o {status: verified, source: pages, checked: 2026-11-26}}]
torch:
  - torch: \"3.0\"
    patches: [\"3.0.0\"]
    rocm-index: [\"8.0\"]
    python: [\"3.12\"]
    origin: {status: inferred, source: pages, checked: 2026-11-26}
torch-gfx: [{rocm: [\"8.0\"], gfx: [gfx942], origin: *o}]
rocm-gfx: [{rocm: [\"8.0\"], gfx: [gfx942], origin: *o}]
";
    let project = Project::new().file("facts/all.yaml", facts);
    let answered = project.run(&[
        "compat",
        "explain",
        "--compat",
        "facts",
        "torch=3.0",
        "rocm=8.0",
        "gfx=gfx942",
    ]);
    insta::assert_snapshot!(answered.exits(0).stdout, @r"
    torch 3.0 with ROCm 8.0: yes (inferred)
    ROCm 8.0 compiling for gfx942: yes
    torch's wheels for ROCm 8.0 on gfx942: yes
    ");
}

#[test]
fn repeated_misspelt_and_invalid_axes_are_reported() {
    let project = Project::new();
    let stderr = project
        .run(&["compat", "explain", "torhc=2.6.0", "rocm=6", "rocm=6.2"])
        .exits(2)
        .stderr;
    for part in [
        "did you mean `torch`?",
        "`6` is not a ROCm version",
        "rocm is given twice",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}

/// The table of the program, and pages that say the same.
fn table() -> (Vec<Value>, BTreeMap<String, Vec<String>>) {
    let rows = Project::new()
        .run(&["compat", "list", "torch", "--format", "json"])
        .exits(0)
        .json();
    let rows = rows.as_array().unwrap().clone();
    let texts = |row: &Value, column: &str| -> Vec<String> {
        row[column]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap().to_owned())
            .collect()
    };
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &rows {
        for rocm in texts(row, "rocm-index") {
            let page = files.entry(rocm.clone()).or_default();
            for patch in texts(row, "patches") {
                for python in [texts(row, "python"), texts(row, "free-threaded")].concat() {
                    let abi = format!("cp{}", python.replace('.', ""));
                    let tags = format!("{}-{abi}-manylinux_2_28_x86_64", abi.trim_end_matches('t'));
                    page.push(format!("torch-{patch}+rocm{rocm}-{tags}.whl"));
                }
            }
        }
    }
    (rows, files)
}

fn html(files: &[String]) -> String {
    let link = |file: &String| {
        let path = file.replace('+', "%2B");
        format!(
            "    <a href=\"/whl/{path}#sha256={:064x}\" data-dist-info-metadata=\"x\">{file}</a><br/>\n",
            7
        )
    };
    format!(
        "<!DOCTYPE html>\n<html>\n  <body>\n{}  </body>\n</html>\n",
        files.iter().map(link).collect::<String>()
    )
}

fn pages(files: &BTreeMap<String, Vec<String>>) -> BTreeMap<String, Page> {
    let root: String = files
        .keys()
        .map(|rocm| format!("<a href=\"rocm{rocm}/\">rocm{rocm}</a>\n"))
        .collect();
    let of = |(rocm, files): (&String, &Vec<String>)| {
        (
            format!("/whl/rocm{rocm}/torch/"),
            Page::Body(html(files).into_bytes()),
        )
    };
    files
        .iter()
        .map(of)
        .chain([("/whl/".to_owned(), Page::Body(root.into_bytes()))])
        .collect()
}

#[test]
fn an_index_that_agrees_with_the_table_proposes_nothing() {
    let server = Pages::serve(pages(&table().1));
    let from = format!("{}/whl", server.address);
    let ran = Project::new()
        .run(&["compat", "refresh", "--check", "--from", &from])
        .exits(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr, "the torch table is up to date\n");
}

/// Facts are published: the address in a row has no user and no password.
#[test]
fn a_patch_holds_no_password_of_the_index() {
    let (_, mut files) = table();
    files
        .get_mut("7.14")
        .unwrap()
        .push("torch-2.16.0+rocm7.14-cp312-cp312-manylinux_2_28_x86_64.whl".to_owned());
    let server = Pages::serve(pages(&files));
    let from = server
        .address
        .replace("http://", "http://somebody:passw0rd@")
        + "/whl";
    for format in ["human", "json"] {
        let ran = Project::new()
            .run(&[
                "compat",
                "refresh",
                "--from",
                &from,
                "--format",
                format,
                "--verbose",
            ])
            .exits(0);
        assert!(
            ran.stdout.contains(&format!("{}/whl", server.address)),
            "{}",
            ran.stdout
        );
        assert!(
            !ran.stdout.contains("somebody") && !ran.stdout.contains("passw0rd"),
            "{}",
            ran.stdout
        );
        assert!(!ran.stderr.contains("passw0rd"), "{}", ran.stderr);
    }
}

#[test]
fn additions_of_an_index_become_a_complete_patch() {
    let (_, mut files) = table();
    files.get_mut("7.14").unwrap().extend(
        [
            "2.14.2-cp314-cp314",
            "2.16.0-cp312-cp312",
            "2.16.0-cp312-cp312t",
        ]
        .map(|text| text.split_once('-').unwrap())
        .map(|(version, tags)| {
            format!("torch-{version}+rocm7.14-{tags}-manylinux_2_28_x86_64.whl")
        }),
    );
    files.insert(
        "7.16".into(),
        vec!["torch-2.16.0+rocm7.16-cp312-cp312-manylinux_2_28_x86_64.whl".into()],
    );
    let server = Pages::serve(pages(&files));
    let from = format!("{}/whl", server.address);
    let project = Project::new()
        .copy("matrices/compat", "matrices/compat")
        .env("SOURCE_DATE_EPOCH", "1796083200");
    let ran = project
        .run(&["compat", "refresh", "--check", "--from", &from])
        .exits(1);
    assert_eq!(
        ran.stderr,
        "torch 2.14: patches +2.14.2\n\
         torch 2.16: patches +2.16.0\n\
         torch 2.16: rocm-index +7.14 +7.16\n\
         torch 2.16: python +3.12\n\
         torch 2.16: free-threaded +3.12t\n\
         ROCm 7.16 is not in the rocm table yet: add its row to rocm.yaml with the patch\n"
    );
    assert!(
        ran.stdout
            .contains("\n+    patches: [\"2.14.0\", \"2.14.1\", \"2.14.2\"]\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("checked: 2026-12-01"), "{}", ran.stdout);
    let same = project
        .run(&["compat", "refresh", "--from", &from])
        .exits(0);
    assert_eq!(
        same.stdout, ran.stdout,
        "without --check a difference is no fault"
    );

    let patched = applied(&project.read("matrices/compat/torch.yaml"), &ran.stdout);
    let new_rocm =
        "  - {rocm: \"7.16\", origin: {status: verified, source: index, checked: 2026-12-01}}\n";
    let rocm = project.read("matrices/compat/rocm.yaml") + new_rocm;
    let project = project
        .file("matrices/compat/torch.yaml", &patched)
        .file("matrices/compat/rocm.yaml", &rocm);
    let again = &[
        "compat",
        "refresh",
        "--check",
        "--compat",
        "matrices/compat",
        "--from",
        &from,
    ];
    assert_eq!(project.run(again).exits(0).stdout, "");
}

/// A text with a unified diff applied.
fn applied(text: &str, patch: &str) -> String {
    let (old, mut new, mut at): (Vec<&str>, Vec<&str>, usize) =
        (text.lines().collect(), Vec::new(), 0);
    for line in patch.lines().skip(2) {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            let start: usize = hunk.split([',', ' ']).next().unwrap().parse().unwrap();
            new.extend(&old[at..start - 1]);
            at = start - 1;
            continue;
        }
        let (sign, line) = line.split_at(1);
        if sign != "+" {
            assert_eq!(old[at], line, "the context fits");
            at += 1;
        }
        if sign != "-" {
            new.push(line);
        }
    }
    new.extend(&old[at..]);
    new.join("\n") + "\n"
}

#[test]
fn redirects_missing_indexes_and_broken_pages_are_lived_with() {
    let (_, files) = table();
    let mut served = pages(&files);
    served.remove("/whl/");
    served.remove("/whl/rocm5.7/torch/");
    let moved = served
        .insert(
            "/whl/rocm7.2/torch/".into(),
            Page::Redirect("/elsewhere/".into()),
        )
        .unwrap();
    served.insert("/elsewhere/".into(), moved);
    let broken =
        b"\xff\xfe<a href=\"torch-9.whl\"><a href='torch-2.14.0+rocm7.14-cp310'><a href=\"%ff%zz\"><a <a href=";
    let Some(Page::Body(page)) = served.get_mut("/whl/rocm7.14/torch/") else {
        panic!("it is there")
    };
    page.extend(broken);
    let server = Pages::serve(served);
    let from = format!("{}/whl/", server.address);
    let ran = Project::new()
        .run(&["compat", "refresh", "--check", "--from", &from])
        .exits(0);
    assert!(
        ran.stderr
            .contains("there is no index rocm5.7; its rows in the table are kept"),
        "{}",
        ran.stderr
    );
    assert!(server.requests().contains(&"/elsewhere/".to_owned()));
}

#[test]
fn a_failing_server_an_endless_page_and_no_server_are_faults_of_the_machine() {
    let refresh = |page: Page| {
        let mut served = pages(&table().1);
        served.insert("/whl/rocm6.1/torch/".into(), page);
        let server = Pages::serve(served);
        let from = format!("{}/whl", server.address);
        let ran = Project::new()
            .run(&["compat", "refresh", "--from", &from])
            .exits(3);
        assert_eq!(ran.stdout, "");
        ran.stderr.replace(&server.address, "[SERVER]")
    };
    insta::assert_snapshot!(refresh(Page::Status(500)), @r"
    error[K004 cannot-fetch]: cannot fetch [SERVER]/whl/rocm6.1/torch/: the server responded with 500
    --> [SERVER]/whl/rocm6.1/torch/
    help: check the address and the network; saved pages work as well: pass their directory
    ");
    let stderr = refresh(Page::Filler(40 << 20));
    assert!(
        stderr.starts_with(
            "error[K004 cannot-fetch]: cannot fetch [SERVER]/whl/rocm6.1/torch/: the page is larger"
        ),
        "{stderr}"
    );
    let stderr = refresh(Page::Redirect("/whl/rocm6.1/torch/".into()));
    assert!(stderr.contains("redirect"), "{stderr}");
    let stderr = Project::new()
        .run(&["compat", "refresh", "--from", "http://127.0.0.1:1/whl"])
        .exits(3)
        .stderr;
    assert!(
        stderr.starts_with("error[K004 cannot-fetch]: cannot fetch http://127.0.0.1:1/whl/: "),
        "{stderr}"
    );
    let empty = Pages::serve(BTreeMap::new());
    let stderr = Project::new()
        .run(&["compat", "refresh", "--from", &empty.address])
        .exits(3)
        .stderr;
    assert!(
        stderr.contains("error[K004 cannot-fetch]: no page of torch was found under"),
        "{stderr}"
    );
}

#[test]
fn saved_pages_are_read_like_those_of_a_server() {
    let (_, files) = table();
    let mut project = Project::new();
    for (number, (rocm, files)) in files.iter().enumerate() {
        let name = ["torch/index.html", "torch.html", "torch"][number % 3];
        project = project.file(&format!("whl/rocm{rocm}/{name}"), &html(files));
    }
    let ran = project
        .run(&[
            "compat", "refresh", "--check", "--from", "whl", "--format", "json",
        ])
        .exits(0);
    let document = ran.json();
    assert_eq!(
        (&document["version"], &document["patch"]),
        (&Value::from(1), &Value::from(""))
    );
    assert_eq!(document["read"].as_array().unwrap().len(), files.len());
    let path = project
        .files()
        .into_iter()
        .find(|path| path.starts_with("whl/rocm7.2/"))
        .unwrap();
    let page = project.read(&path).replace("torch-2.13.0", "torch-2.13.1");
    let project = project.file(&path, &page);
    let document = project
        .run(&[
            "compat", "refresh", "--check", "--from", "whl", "--format", "json",
        ])
        .exits(1)
        .json();
    let differences = serde_json::json!([
        {"torch": "2.13", "column": "patches", "added": ["2.13.1"], "removed": []}
    ]);
    assert_eq!(
        document["differences"], differences,
        "2.13.0 is still in the index of 7.1"
    );
}

#[test]
fn a_faulty_row_of_a_facts_folder_is_shown_at_its_line() {
    let project = Project::new().copy("matrices/compat", "facts");
    let text = project.read("facts/torch.yaml").replace(
        "rocm-index: [\"6.1\", \"6.2.4\"]",
        "rocm-index: [\"6.1\", \"6.25\"]",
    );
    let project = project.file("facts/torch.yaml", &text);
    insta::assert_snapshot!(project.run(&["compat", "list", "--compat", "facts"]).exits(1).stderr, @r#"
    error[K002 bad-row]: torch 2.6: rocm-index: `6.25` is not in the rocm table
      --> facts/torch.yaml:22:5
       |
    22 |   - torch: "2.6"
       |     ^^^^^^^^^^^^
       |
    help: fix the row; docs/compat.md describes its columns
    "#);
}

/// GitHub's limits are constants of the program and rows of the tables; both say the same.
#[test]
fn limits_of_github_are_those_of_the_tables() {
    let compat = rock_matrix::compat::Compat::embedded();
    assert_eq!(
        compat.limit_value("jobs-per-matrix"),
        rock_matrix::plan::JOBS_PER_MATRIX
    );
    assert_eq!(
        compat.limit_value("job-outputs"),
        rock_matrix::plan::OUTPUT_BYTES
    );
    let summary = rock_matrix::render::actions::SUMMARY_BYTES;
    assert_eq!(
        u64::try_from(compat.limit_value("step-summary")),
        Ok(summary)
    );
}

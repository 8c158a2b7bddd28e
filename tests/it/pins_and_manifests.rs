//! Where sources come from: projects, presets, pins of a checkout of torch, patch sets and
//! manifests.

use crate::support::{Outcome, Project, Served};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const OTHER: &str = "76543210fedcba9876543210fedcba9876543210";

/// A project folder with a checkout of torch that pins audio, triton and triton's version.
fn pinned() -> Project {
    let row = format!("ubuntu|pytorch|torchaudio|main|{COMMIT}|https://example.org/audio\n");
    Project::new()
        .file(
            "torch/related_commits",
            &format!("# pins\n{row}{}", row.replace("ubuntu", "centos")),
        )
        .file(
            "torch/.ci/docker/ci_commit_pins/triton.txt",
            &format!("{OTHER}\n"),
        )
        .file("torch/.ci/docker/triton_version.txt", "3.4.0\n")
}

/// The projects of `source plan --format json`.
#[track_caller]
fn plan(project: &Project, arguments: &[&str]) -> Vec<serde_json::Value> {
    let document = project
        .run(&[&["source", "plan", "--format", "json"], arguments].concat())
        .exits(0)
        .json();
    document["projects"].as_array().unwrap().clone()
}

/// What one value of the one planned project is, and what says so.
#[track_caller]
fn one(project: &Project, arguments: &[&str], key: &str) -> String {
    let projects = plan(project, arguments);
    assert_eq!(projects.len(), 1);
    let value = &projects[0][key];
    format!(
        "{} by {}",
        value["value"].as_str().unwrap_or("nothing"),
        value["from"].as_str().unwrap()
    )
}

#[track_caller]
fn fault(project: &Project, arguments: &[&str]) -> Outcome {
    let outcome = project
        .run(&[&["source", "plan"], arguments].concat())
        .exits(1);
    assert!(outcome.stderr.contains("\nhelp: "), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    outcome
}

/// The table of projects, without any checkout and any network.
#[test]
fn a_plan_without_pins_is_the_table_of_projects() {
    let stdout = Project::new().run(&["source", "plan"]).exits(0).stdout;
    insta::assert_snapshot!(stdout, @r"
    torch (pytorch)
      origin   https://github.com/pytorch/pytorch.git       compat/projects.yaml, torch, checked 2026-11-21
      ref      nightly                                      compat/projects.yaml, torch, checked 2026-11-21
      patches  nightly                                      if it exists
      hipify   on                                           compat/projects.yaml, torch, checked 2026-11-21
    triton (triton)
      origin   https://github.com/ROCm/triton.git           compat/projects.yaml, triton, checked 2026-11-21
      ref      a pin                                        torch's .ci/docker/ci_commit_pins/triton.txt, once it is checked out
      patches  none                                         the commit is pinned
      hipify   on                                           compat/projects.yaml, triton, checked 2026-11-21
    audio (pytorch_audio)
      origin   https://github.com/pytorch/audio.git         compat/projects.yaml, audio, checked 2026-11-21
      ref      nightly                                      compat/projects.yaml, audio, checked 2026-11-21
      patches  nightly                                      if it exists
      hipify   on                                           compat/projects.yaml, audio, checked 2026-11-21
    vision (pytorch_vision)
      origin   https://github.com/pytorch/vision.git        compat/projects.yaml, vision, checked 2026-11-21
      ref      nightly                                      compat/projects.yaml, vision, checked 2026-11-21
      patches  nightly                                      if it exists
      hipify   on                                           compat/projects.yaml, vision, checked 2026-11-21
    apex (apex)
      origin   https://github.com/ROCm/apex.git             compat/projects.yaml, apex, checked 2026-11-21
      ref      master                                       compat/projects.yaml, apex, checked 2026-11-21
      patches  master                                       if it exists
      hipify   off                                          compat/projects.yaml, apex, checked 2026-11-21
    ");
}

/// Triton on Windows is another repository with another pin, and is never hipified.
#[test]
fn triton_on_windows_comes_from_its_own_repository_without_hipify() {
    let plain = Project::new();
    let windows = ["triton", "--platform", "windows", "--hipify"];
    let planned = plan(&plain, &windows);
    assert_eq!(
        planned[0]["origin"]["value"],
        "https://github.com/triton-lang/triton-windows.git"
    );
    assert_eq!(planned[0]["hipify"], false);
    assert_eq!(planned[0]["ref"]["value"], "main-windows");
    let with_pin = Project::new().file("ci_commit_pins/triton-windows.txt", &format!("{COMMIT}\n"));
    assert_eq!(
        one(&with_pin, &windows, "ref"),
        format!("{COMMIT} by ci_commit_pins/triton-windows.txt:1")
    );
    let names = |platform: &str| -> Vec<String> {
        let planned = plan(&plain, &["--platform", platform]);
        planned
            .iter()
            .map(|one| one["project"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("windows"), ["torch", "triton", "audio", "vision"]);
    assert_eq!(
        names("linux"),
        ["torch", "triton", "audio", "vision", "apex"]
    );
    let stderr = fault(&plain, &["apex", "--platform", "windows"]).stderr;
    assert!(
        stderr.starts_with("error[C105 unknown-project]: `apex` is not built on windows\n"),
        "{stderr}"
    );
}

/// What is asked for, else the pin, else the default.
#[test]
fn an_option_comes_before_a_pin_and_a_pin_before_the_default() {
    let project = pinned();
    let audio = |more: &[&str], key: &str| one(&project, &[&["audio"], more].concat(), key);
    let row = "compat/projects.yaml, audio, checked 2026-11-21";
    assert_eq!(audio(&[], "ref"), format!("nightly by {row}"));
    assert_eq!(
        audio(&["--torch-dir", "torch"], "ref"),
        format!("{COMMIT} by torch/related_commits:2")
    );
    assert_eq!(
        audio(&["--torch-dir", "torch", "--ref", "v2.7.0"], "ref"),
        "v2.7.0 by --ref"
    );
    assert_eq!(
        audio(&[], "origin"),
        format!("https://github.com/pytorch/audio.git by {row}")
    );
    let pinned = audio(&["--torch-dir", "torch"], "origin");
    assert_eq!(
        pinned,
        "https://example.org/audio by torch/related_commits:2"
    );
    let requested = audio(
        &[
            "--torch-dir",
            "torch",
            "--origin",
            "https://example.org/mine",
        ],
        "origin",
    );
    assert_eq!(requested, "https://example.org/mine by --origin");
    // vision has no row there, and none is needed.
    assert!(
        one(&project, &["vision", "--torch-dir", "torch"], "ref").starts_with("nightly by compat/")
    );
}

/// A set of patches was made for a ref, not for the commit that a pin names.
#[test]
fn a_pinned_checkout_has_no_patches_unless_a_set_is_named() {
    let project = pinned().file("patches/custom/audio/base/0001-x.patch", "");
    let audio = ["audio", "--torch-dir", "torch", "--patch-dir", "patches"];
    assert_eq!(
        one(&project, &audio, "patchset"),
        "nothing by the commit is pinned"
    );
    let named = [&audio[..], &["--patchset", "custom"]].concat();
    assert_eq!(one(&project, &named, "patchset"), "custom by in patches");
}

/// A commit that must be pinned is, or the project and the file are named.
#[test]
fn a_related_commit_that_is_required_and_missing_fails_with_project_and_file() {
    let project = pinned();
    let required = ["vision", "--require-related-commit", "--torch-dir", "torch"];
    let stderr = fault(&project, &required).stderr;
    assert!(
        stderr.starts_with(
            "error[C103 no-related-commit]: `torch/related_commits` has no row for `torchvision`\n"
        ),
        "{stderr}"
    );
    let without = Project::new().file("torch/version.txt", "2.9.0\n");
    let stderr = fault(&without, &required).stderr;
    assert!(
        stderr.contains(
            "torch's checkout has no `related_commits`, so the commit of `torchvision` is unknown"
        ),
        "{stderr}"
    );
    plan(
        &project,
        &["audio", "--require-related-commit", "--torch-dir", "torch"],
    );
    plan(
        &project,
        &[
            "vision",
            "--require-related-commit",
            "--torch-dir",
            "torch",
            "--ref",
            "main",
        ],
    );
    let later = one(&Project::new(), &["vision", "--preset", "rocm-2.13"], "ref");
    assert_eq!(
        later,
        "nothing by torch's related_commits, once it is checked out"
    );
}

/// Faults of the file stop a plan, unless they are rows that may be left out.
#[test]
fn a_bad_row_of_related_commits_stops_a_plan_unless_lenient() {
    let project = pinned();
    let text = project.read("torch/related_commits");
    let project = project.file("torch/related_commits", &format!("garbage first\n{text}"));
    let stderr = fault(&project, &["audio", "--torch-dir", "torch"]).stderr;
    insta::assert_snapshot!(stderr, @r"
    error[C101 bad-related-row]: a row has 6 fields, but this line has 1 field
     --> torch/related_commits:1:1
      |
    1 | garbage first
      | ^^^^^^^^^^^^^
      |
    help: a row is `os|source|project|branch|commit|origin`; `--lenient` skips lines that are not rows
    ");
    let lenient = ["audio", "--torch-dir", "torch", "--lenient"];
    assert_eq!(
        one(&project, &lenient, "ref"),
        format!("{COMMIT} by torch/related_commits:3")
    );
    // What is not read says nothing.
    plan(&project, &["triton", "--torch-dir", "torch"]);
    plan(
        &project,
        &["audio", "--torch-dir", "torch", "--ref", "main"],
    );
}

/// Triton's commit, or the branch of its release.
#[test]
fn triton_is_taken_at_the_commit_or_at_the_release_that_torch_names() {
    let project = pinned();
    let triton = ["triton", "--torch-dir", "torch"];
    let pin = format!("{OTHER} by torch/.ci/docker/ci_commit_pins/triton.txt:1");
    assert_eq!(one(&project, &triton, "ref"), pin);
    let release = [&triton[..], &["--release"]].concat();
    assert_eq!(
        one(&project, &release, "ref"),
        "release/3.4.x by torch/.ci/docker/triton_version.txt:1"
    );
    let empty = Project::new().file("torch/version.txt", "2.9.0\n");
    let stderr = fault(&empty, &triton).stderr;
    assert!(
        stderr.starts_with(
            "error[C104 no-pin]: torch's checkout has no `.ci/docker/ci_commit_pins/triton.txt`"
        ),
        "{stderr}"
    );
    let bad = Project::new().file("torch/.ci/docker/ci_commit_pins/triton.txt", "main\n");
    assert!(
        fault(&bad, &triton)
            .stderr
            .contains("`main` is not a commit of 7 to 40 hex digits")
    );
    assert!(
        fault(&empty, &["triton", "--torch-dir", "nowhere"])
            .stderr
            .contains("no checkout of torch at `nowhere`")
    );
    assert_eq!(
        one(&empty, &[&triton[..], &["--ref", "main"]].concat(), "ref"),
        "main by --ref"
    );
}

/// A ref finds its set, a commit takes the set that is named, and no name leads out of the
/// root.
#[test]
fn a_patch_set_is_found_by_ref_or_by_name_under_the_root_only() {
    let project = Project::new()
        .file("patches/v2.7.0/x", "")
        .file("patches/main/x", "");
    let torch = |more: &[&'static str]| [&["torch", "--patch-dir", "patches"], more].concat();
    assert_eq!(
        one(&project, &torch(&["--ref", "v2.7.0-rc9"]), "patchset"),
        "v2.7.0 by in patches"
    );
    assert_eq!(
        one(
            &project,
            &torch(&["--ref", COMMIT, "--patchset", "main"]),
            "patchset"
        ),
        "main by in patches"
    );
    assert_eq!(
        one(&project, &torch(&["--ref", "release/2.9"]), "patchset"),
        "nothing by patches has none of release/2.9"
    );
    let stderr = fault(&project, &torch(&["--patchset", "../x"])).stderr;
    assert!(
        stderr.starts_with(
            "error[C109 bad-patch-set-name]: `../x` is not the name of a directory in the patch \
             root\n"
        ),
        "{stderr}"
    );
    let stderr = fault(&project, &torch(&["--patchset", "rocm_2.7"])).stderr;
    assert!(
        stderr.starts_with("error[C110 no-patch-set]: `patches` has no patch set `rocm_2.7`\n"),
        "{stderr}"
    );
}

/// Sources that go together have a name.
#[test]
fn a_preset_names_refs_projects_and_what_the_build_needs() {
    let project = Project::new();
    let document = project
        .run(&["source", "plan", "--preset", "rocm-2.7", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        document["env"],
        serde_json::json!({"USE_FLASH_ATTENTION": "0", "USE_MEM_EFF_ATTENTION": "0"})
    );
    assert_eq!(document["projects"][0]["ref"]["value"], "release/2.7");
    assert_eq!(
        document["projects"][0]["origin"]["value"],
        "https://github.com/ROCm/pytorch.git"
    );
    assert_eq!(document["projects"][0]["patchset"]["value"], "rocm_2.7");
    assert_eq!(document["projects"].as_array().unwrap().len(), 4);
    let refs: Vec<String> = plan(&project, &["--preset", "default-2025"])
        .iter()
        .map(|one| {
            format!(
                "{} {}",
                one["project"].as_str().unwrap(),
                one["ref"]["value"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(refs, ["torch v2.7.0", "audio v2.7.0", "vision v0.22.0"]);
    let stderr = fault(&project, &["--preset", "rocm-2.31"]).stderr;
    assert!(
        stderr.starts_with("error[C106 unknown-source-preset]: there is no preset `rocm-2.31`; did you mean `rocm-2.1"),
        "{stderr}"
    );
    let stderr = fault(&project, &["--preset", "rocm-2.7", "--platform", "windows"]).stderr;
    assert!(
        stderr.contains("preset `rocm-2.7` is not built on windows"),
        "{stderr}"
    );
    let stderr = fault(&project, &["vison"]).stderr;
    assert!(
        stderr.starts_with(
            "error[C105 unknown-project]: there is no project `vison`; did you mean `vision`?\n"
        ),
        "{stderr}"
    );
    project
        .run(&["source", "plan", "torch", "audio", "--ref", "main"])
        .exits(2);
}

const CMAKE: &str = "torch/cmake/External/aotriton.cmake";

/// A checkout of torch whose AOTriton has an archive for one ROCm of two.
fn with_aotriton() -> Project {
    let (zeros, ones) = ("0".repeat(64), "1".repeat(64));
    pinned().file("torch/version.txt", "2.9.0\n").file(
        CMAKE,
        &format!(
            "set(__AOTRITON_VER \"0.11.1b\")\nset(__AOTRITON_MANYLINUX_LIST manylinux_2_28 manylinux_2_28)\n\
             set(__AOTRITON_ROCM_LIST \"rocm7.1\" \"rocm7.2\")\nif(DEFINED ENV{{PYTORCH_AOTRITON_COMMIT}})\n  \
             set(__AOTRITON_CI_COMMIT \"$ENV{{PYTORCH_AOTRITON_COMMIT}}\")\nelse()\n  \
             set(__AOTRITON_CI_COMMIT \"{COMMIT}\")\nendif()\nset(__AOTRITON_SHA256_LIST {zeros} {ones})\n\
             set(__AOTRITON_IMAGE_LIST amd-gfx942 amd-gfx115x)\nset(__AOTRITON_IMAGE_SHA256_LIST {ones} {ones})\n\
             set(__AOTRITON_Z gz)\n"
        ),
    )
}

/// One view of all pins of a checkout.
#[test]
fn the_pins_of_a_checkout_are_shown_with_their_lines() {
    let project = with_aotriton();
    let outcome = project
        .run(&["source", "pins", "torch", "--gfx", "gfx1151"])
        .exits(0);
    assert_eq!(outcome.stderr, "");
    insta::assert_snapshot!(outcome.stdout, @r"
    torch          2.9.0                                     torch/version.txt:1
    triton         76543210fedcba9876543210fedcba9876543210  torch/.ci/docker/ci_commit_pins/triton.txt:1
    triton-version 3.4.0                                     torch/.ci/docker/triton_version.txt:1
    torchaudio     0123456789abcdef0123456789abcdef01234567  https://example.org/audio for ubuntu
    torchaudio     0123456789abcdef0123456789abcdef01234567  https://example.org/audio for centos
    aotriton       0.11.1b                                   torch/cmake/External/aotriton.cmake
      commit       0123456789abcdef0123456789abcdef01234567  torch/cmake/External/aotriton.cmake:7
      mode         download
      archive      aotriton-0.11.1b-manylinux_2_28_x86_64-rocm7.1-shared.tar.gz  unavailable
      archive      aotriton-0.11.1b-manylinux_2_28_x86_64-rocm7.2-shared.tar.gz  1111111111111111111111111111111111111111111111111111111111111111
      images       aotriton-0.11.1b-images-amd-gfx115x.tar.gz  1111111111111111111111111111111111111111111111111111111111111111
    ");
    let json = project
        .run(&["source", "pins", "torch", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(json["aotriton"]["commit"], COMMIT);
    assert_eq!(json["aotriton"]["generation"], "C");
    assert_eq!(json["aotriton"]["commit_from"], format!("{CMAKE}:7"));
    assert_eq!(
        json["aotriton"]["released_with"],
        serde_json::json!(["0.11b"])
    );
    assert_eq!(json["pins"][0]["value"], OTHER);
    assert_eq!(json["related"][0]["project"], "torchaudio");
    let other = with_aotriton().env("PYTORCH_AOTRITON_COMMIT", OTHER);
    let json = other
        .run(&["source", "pins", "torch", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        (
            &json["aotriton"]["commit"],
            &json["aotriton"]["commit_from"]
        ),
        (&OTHER.into(), &"PYTORCH_AOTRITON_COMMIT".into())
    );
}

/// In doubt the command fails, unless nothing needs the commit or the default is asked for.
#[test]
fn an_unknown_pin_is_an_error_only_if_it_is_needed() {
    let merged = |project: Project| {
        let text = project.read(CMAKE);
        project.file(CMAKE, &format!("<<<<<<< HEAD\n{text}"))
    };
    let project = merged(with_aotriton());
    let pins = ["source", "pins", "torch"];
    let stderr = project.run(&pins).exits(1).stderr;
    insta::assert_snapshot!(stderr, @r"
    error[C111 unknown-pin]: cannot determine the commit of aotriton: the file has conflict markers
    --> torch/cmake/External/aotriton.cmake:1
    help: set PYTORCH_AOTRITON_COMMIT, or use the default commit with `--default`
    ");
    let stdout = project
        .run(&[&pins[..], &["--default"]].concat())
        .exits(0)
        .stdout;
    assert!(
        stdout.contains("1f9a37cdfbfce218fa0c07f5c0de40403019e168"),
        "{stdout}"
    );
    let installed = merged(with_aotriton()).env("AOTRITON_INSTALLED_PREFIX", "/opt/aotriton");
    assert!(
        installed
            .run(&pins)
            .exits(0)
            .stdout
            .contains("mode         installed at /opt/aotriton\n")
    );
    let none = Project::new().file("torch/version.txt", "2.9.0\n");
    assert!(
        none.run(&pins)
            .exits(1)
            .stderr
            .contains("the checkout has no pin in cmake/External/aotriton.cmake or")
    );
    assert!(
        none.run(&["source", "pins", "nowhere"])
            .exits(1)
            .stderr
            .contains("no checkout of torch at `nowhere`")
    );
}

/// A digest of zeros is no archive.
#[test]
fn an_archive_that_was_never_made_is_reported() {
    let project = with_aotriton();
    let pins = |rocm: &str, code: i32| {
        project
            .run(&[
                "source", "pins", "torch", "--rocm", rocm, "--format", "json",
            ])
            .exits(code)
    };
    let there = pins("7.2", 0);
    assert_eq!(
        there.json()["aotriton"]["taken"],
        "aotriton-0.11.1b-manylinux_2_28_x86_64-rocm7.2-shared.tar.gz"
    );
    assert_eq!(there.stderr, "");
    let zeros = pins("7.1", 0);
    assert_eq!(zeros.json()["aotriton"]["taken"], "unavailable");
    assert_eq!(zeros.json()["aotriton"]["archives"][0]["available"], false);
    assert!(
        zeros.stderr.starts_with(
            "warning[C113 no-archive]: aotriton 0.11.1b has no archive for ROCm 7.1: the digest of \
             aotriton-0.11.1b-manylinux_2_28_x86_64-rocm7.1-shared.tar.gz is all zeros\n"
        ),
        "{}",
        zeros.stderr
    );
    let built = pins("7.0", 0);
    assert!(
        built.json()["aotriton"]["taken"]
            .as_str()
            .unwrap()
            .starts_with("none: the library is built from source")
    );
}

/// What git says in a folder of the project.
fn git(project: &Project, folder: &str, words: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command
        .args(["-C", project.path(folder).to_str().unwrap()])
        .args(words);
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A commit of what lies in a folder of the project.
fn commit(project: &Project, folder: &str) -> String {
    git(project, folder, &["add", "-A"]);
    git(
        project,
        folder,
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.org",
            "commit",
            "-q",
            "-m",
            "one",
        ],
    );
    git(project, folder, &["rev-parse", "HEAD"])
}

/// A git repository in the project with one commit of what lies there.
fn repository(project: &Project, folder: &str, origin: &str) -> String {
    git(project, folder, &["init", "-q", "-b", "main"]);
    git(project, folder, &["remote", "add", "origin", origin]);
    commit(project, folder)
}

/// A copy that is here is taken before a build, and one at another commit is reported.
#[test]
fn a_copy_of_aotriton_is_found_and_judged_by_the_pin() {
    let library = "aotriton/build/install_dir/lib/libaotriton_v2.so";
    let copy = |project: &Project, more: &[&str]| {
        let outcome = project
            .run(&[&["source", "pins", "torch", "--format", "json"], more].concat())
            .exits(0);
        (
            outcome.json()["aotriton"]["copy"]["name"].clone(),
            outcome.stderr,
        )
    };
    let both = ["--aotriton", "aotriton", "--site-packages", "site"];
    let built = with_aotriton()
        .file(library, "")
        .file("site/pyaotriton.so", "");
    assert_eq!(copy(&built, &both), ("built".into(), String::new()));
    assert_eq!(
        copy(&with_aotriton().file("site/pyaotriton.so", ""), &both),
        ("module".into(), String::new())
    );
    assert_eq!(
        copy(&with_aotriton().file("site/x", ""), &both),
        ("source".into(), String::new())
    );
    let named = with_aotriton()
        .file(library, "")
        .env("AOTRITON_INSTALLED_PREFIX", "/opt/aotriton");
    assert_eq!(copy(&named, &both), ("installed".into(), String::new()));
    let head = repository(&built, "aotriton", "https://example.org/aotriton");
    let (name, outcome) = copy(&built, &both);
    assert_eq!(name, "built");
    let expect =
        format!("warning[C112 other-commit]: `aotriton` is at {head}, but torch pins {COMMIT}\n");
    assert!(outcome.starts_with(&expect), "{outcome}");
    let same = built.env("PYTORCH_AOTRITON_COMMIT", head);
    assert_eq!(copy(&same, &both).1, "");
}

#[test]
fn a_version_that_this_torch_was_not_released_with_is_reported() {
    let project = with_aotriton();
    let text = project.read(CMAKE).replace("0.11.1b", "0.9b");
    let stderr = project
        .file(CMAKE, &text)
        .run(&["source", "pins", "torch"])
        .exits(0)
        .stderr;
    assert!(
        stderr.starts_with("warning[C114 unusual-version]: torch 2.9 pins aotriton 0.9b, but was released with 0.11b\n"),
        "{stderr}"
    );
}

/// What is checked out becomes a manifest.
#[test]
fn trees_are_locked_into_a_manifest_with_their_versions() {
    let project = pinned().file("torch/version.txt", "2.13.0a0\n");
    std::fs::rename(project.path("torch"), project.path("pytorch")).unwrap();
    let project = project
        .file("triton/x", "")
        .file("pytorch_vision/version.txt", "0.27.0\n");
    let torch = repository(&project, "pytorch", "https://example.org/pytorch");
    let triton = repository(&project, "triton", "https://example.org/triton");
    repository(&project, "pytorch_vision", "https://example.org/vision");
    let outcome = project
        .run(&["source", "lock", "--suffix", "+rocm7.2"])
        .exits(0);
    let json = outcome.json();
    assert_eq!(json["schema_version"], 1);
    let expect = |repo: &str, commit: &str, version: &str| serde_json::json!({"repo": format!("https://example.org/{repo}"), "commit": commit, "branch": "main", "version": version});
    assert_eq!(
        json["pytorch"],
        expect("pytorch", &torch, "2.13.0a0+rocm7.2")
    );
    assert_eq!(json["triton"], expect("triton", &triton, "3.4.0+rocm7.2"));
    assert!(
        outcome.stderr.starts_with(
            "warning[C117 strange-companion]: vision is 0.27.0+rocm7.2, but this torch needs 0.28\n"
        ),
        "{}",
        outcome.stderr
    );
    let out = [
        "source",
        "lock",
        "torch",
        "--pytorch-git-ref",
        "release/2.13",
        "--out",
        ".",
    ];
    project.run(&out).exits(0);
    let written = project.read("therock-manifest_torch_linux_release-2.13.json");
    assert!(
        written.contains("\"branch\": \"release/2.13\"") && !written.contains("triton"),
        "{written}"
    );
    let stderr = project.run(&["source", "lock", "audio"]).exits(1).stderr;
    assert!(
        stderr.starts_with(
            "error[C118 no-tree]: there is no git checkout of audio at `./pytorch_audio`\n"
        ),
        "{stderr}"
    );
    let stderr = Project::new().run(&["source", "lock"]).exits(1).stderr;
    assert!(
        stderr.starts_with("error[C118 no-tree]: no source tree found in `.`\n"),
        "{stderr}"
    );
}

/// A tree that left what was checked out cannot be locked, one that is there is locked with
/// its patches.
#[test]
fn a_tree_is_locked_as_it_was_checked_out_or_not_at_all() {
    let project = Project::new().file("pytorch/version.txt", "2.9.0\n");
    let head = repository(&project, "pytorch", "https://example.org/elsewhere");
    let state = |head: &str| {
        serde_json::json!({
            "version": 1, "generator": "rock-matrix", "outcome": "done", "project": "torch", "name": "pytorch",
            "origin": "https://example.org/pytorch", "ref": "v2.9.0", "commit": COMMIT, "hipify": false,
            "patches": {"set": "v2.9.0", "folder": "/patches", "files": {"pytorch/base/0001-x.patch": "ab"}},
            "commit_hipify": false, "submodules": true,
            "repositories": [{"path": "", "upstream": COMMIT, "hipified": null, "head": head}],
        })
        .to_string()
    };
    let project = project.file("pytorch/.rock/checkout.json", &state(&head));
    let json = project.run(&["source", "lock"]).exits(0).json();
    let expect = serde_json::json!({
        "repo": "https://example.org/pytorch", "commit": COMMIT, "branch": "v2.9.0", "version": "2.9.0",
        "patchset": "v2.9.0", "patches": [{"path": "pytorch/base/0001-x.patch", "sha256": "ab"}],
    });
    assert_eq!(json["pytorch"], expect);
    let stderr = project
        .file("pytorch/.rock/checkout.json", &state(OTHER))
        .run(&["source", "lock"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[C119 tree-moved]: `./pytorch` has changed since its checkout"),
        "{stderr}"
    );
}

/// A project where git finds each address of the facts below `upstream`, and the commits of those
/// there.
fn with_upstream() -> (Project, [String; 4]) {
    let project = Project::new()
        .file("upstream/ROCm/pytorch.git/version.txt", "2.13.0\n")
        .file(
            "upstream/ROCm/pytorch.git/large.txt",
            &"not asked for\n".repeat(1000),
        )
        .file(
            "upstream/ROCm/pytorch.git/.ci/docker/triton_version.txt",
            "3.4.0\n",
        )
        .file("upstream/ROCm/triton.git/x", "")
        .file("upstream/pytorch/audio/version.txt", "2.11.0\n")
        .file("upstream/pytorch/vision/version.txt", "0.28.0\n")
        .file("upstream/ROCm/apex/version.txt", "1.13.0\n");
    let instead = format!("url.{}/.insteadOf", project.path("upstream").display());
    let commits = [
        "ROCm/triton.git",
        "pytorch/audio",
        "pytorch/vision",
        "ROCm/apex",
    ];
    let commits = commits.map(|folder| repository(&project, &format!("upstream/{folder}"), "none"));
    let project = project
        .file(
            "upstream/ROCm/pytorch.git/.ci/docker/ci_commit_pins/triton.txt",
            &format!("{}\n", commits[0]),
        )
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", &instead)
        .env("GIT_CONFIG_VALUE_0", "https://github.com/");
    (project, commits)
}

/// A manifest of what repositories have needs no tree: torch at its branch, the others as it
/// pins them.
#[test]
fn what_is_built_together_is_locked_without_a_tree() {
    let (project, [triton, audio, vision, apex]) = with_upstream();
    let row = |name: &str, commit: &str, origin: &str| {
        format!("ubuntu|pytorch|{name}|main|{commit}|https://github.com/{origin}\n")
    };
    let top = "upstream/ROCm/pytorch.git";
    let related =
        row("torchaudio", &audio, "pytorch/audio") + &row("torchvision", &vision, "pytorch/vision");
    let project = project.file(&format!("{top}/related_commits"), &related);
    repository(&project, top, "none");
    git(&project, top, &["checkout", "-q", "-b", "release/2.13"]);
    let lock = [
        "source",
        "lock",
        "--remote",
        "--preset",
        "rocm-2.13",
        "--suffix",
        "+rocm7.2",
    ];
    let errors = project.run(&lock).exits(1).stderr;
    assert!(errors.contains("has no row for `apex`"), "{errors}");
    let some = project
        .run(&[&lock[..], &["torch", "audio"]].concat())
        .exits(0)
        .json();
    assert_eq!(
        (some["pytorch_audio"]["commit"].as_str(), some.get("triton")),
        (Some(audio.as_str()), None)
    );

    let project = project.file(
        &format!("{top}/related_commits"),
        &(related + &row("apex", &apex, "ROCm/apex")),
    );
    let torch = commit(&project, top);
    let json = project.run(&lock).exits(0).json();
    let expect = |key: &str, commit: &str, version: &str| {
        assert_eq!(
            (&json[key]["commit"], &json[key]["version"]),
            (&commit.into(), &version.into()),
            "{key}"
        );
    };
    expect("pytorch", &torch, "2.13.0+rocm7.2");
    expect("triton", &triton, "3.4.0+rocm7.2");
    expect("pytorch_audio", &audio, "2.11.0+rocm7.2");
    expect("pytorch_vision", &vision, "0.28.0+rocm7.2");
    expect("apex", &apex, "1.13.0+rocm7.2");
    assert_eq!(json["pytorch"]["branch"], "release/2.13");
    assert_eq!(
        json["pytorch"]["repo"],
        "https://github.com/ROCm/pytorch.git"
    );
    let stderr = project
        .run(&[&lock[..], &["torch", "--pytorch-git-ref", "gone"]].concat())
        .exits(1)
        .stderr;
    assert!(stderr.contains("has no `gone`"), "{stderr}");
    assert_eq!(
        std::fs::read_dir(project.root()).unwrap().count(),
        1,
        "nothing is left behind"
    );
}

/// Two repositories with a commit each, and the manifest that `source lock` makes of them.
fn locked() -> Project {
    let project = Project::new()
        .file("one/pytorch/version.txt", "2.13.0\n")
        .file("one/triton/x", "");
    for folder in ["one/pytorch", "one/triton"] {
        let origin = project.path(folder).to_str().unwrap().to_owned();
        repository(&project, folder, &origin);
    }
    project
        .run(&[
            "source",
            "lock",
            "--checkout-root",
            "one",
            "--out",
            "m.json",
        ])
        .exits(0);
    project
}

/// The commits of a manifest of the trees in a folder.
fn commits(project: &Project, folder: &str) -> Vec<String> {
    let json = project
        .run(&["source", "lock", "--checkout-root", folder])
        .exits(0)
        .json();
    ["pytorch", "triton"]
        .map(|key| json[key]["commit"].as_str().unwrap_or("none").to_owned())
        .to_vec()
}

/// A manifest makes the same trees elsewhere, torch first.
#[test]
fn a_manifest_is_checked_out_at_its_commits() {
    let project = locked();
    let checkout = [
        "source",
        "checkout",
        "--manifest",
        "m.json",
        "--checkout-root",
        "two",
    ];
    let stdout = project
        .run(&[&checkout[..], &["--expected-pytorch-git-ref", "main"]].concat())
        .exits(0)
        .stdout;
    let projects: Vec<&str> = stdout
        .lines()
        .map(|line| line.split(' ').nth(2).unwrap())
        .collect();
    assert_eq!(projects, ["torch", "triton"], "{stdout}");
    assert_eq!(commits(&project, "two"), commits(&project, "one"));
    let some = [
        "source",
        "checkout",
        "--manifest",
        "m.json",
        "--checkout-root",
        "three",
        "--projects",
        "torch ;",
    ];
    project.run(&some).exits(0);
    assert_eq!(commits(&project, "three")[1], "none");
}

/// What does not fit is refused before anything is fetched.
#[test]
fn a_manifest_that_does_not_fit_is_refused() {
    let project = locked();
    let output_of = |more: &[&str]| {
        let all = [
            &[
                "source",
                "checkout",
                "--manifest",
                "m.json",
                "--checkout-root",
                "two",
            ],
            more,
        ]
        .concat();
        project
            .run(&all)
            .exits(1)
            .stderr
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        output_of(&["--expected-pytorch-git-ref", "release/2.9"]),
        "error[C116 other-torch]: `m.json` has torch of `main`, but `release/2.9` was expected"
    );
    assert_eq!(
        output_of(&["--projects", "torch;nothing"]),
        "error[C105 unknown-project]: there is no project `nothing`"
    );
    assert_eq!(
        output_of(&["--projects", "audio"]),
        "error[C115 bad-source-manifest]: `m.json` has no `pytorch_audio`"
    );
    let text = project.read("m.json");
    std::fs::write(
        project.path("m.json"),
        text.replace("\"schema_version\": 1", "\"schema_version\": 2"),
    )
    .unwrap();
    assert_eq!(
        output_of(&[]),
        "error[C115 bad-source-manifest]: `schema_version` is 2, and 1 is known"
    );
    let patched = text.replacen(
        "\"branch\"",
        "\"patches\": [{\"path\": \"p/base/1.patch\", \"sha256\": \"00\"}], \"branch\"",
        1,
    );
    std::fs::write(project.path("m.json"), patched).unwrap();
    assert_eq!(
        output_of(&[]),
        "error[C120 other-patches]: the patches of torch differ from those in the manifest"
    );
    assert!(!project.has("two"));
    project
        .run(&["source", "checkout", "torch", "--manifest", "m.json"])
        .exits(2);
}

/// Padding with blank lines changes nothing but the size of a manifest or pin.
#[test]
fn the_size_of_manifests_and_pins_has_a_limit() {
    let padded = |project: &Project, file: &str, bytes: usize| {
        let text = project.read(file).trim_end().to_owned();
        std::fs::write(
            project.path(file),
            format!("{text}{}", "\n".repeat(bytes - text.len())),
        )
        .unwrap();
    };
    let project = locked();
    let words = [
        "source",
        "checkout",
        "--manifest",
        "m.json",
        "--checkout-root",
        "two",
        "--projects",
        "audio",
    ];
    let first = |words: &[&str], project: &Project| {
        project
            .run(words)
            .exits(1)
            .stderr
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    padded(&project, "m.json", 1 << 20);
    assert_eq!(
        first(&words, &project),
        "error[C115 bad-source-manifest]: `m.json` has no `pytorch_audio`"
    );
    padded(&project, "m.json", (1 << 20) + 1);
    let large =
        "error[H020 cannot-read-file]: cannot read `m.json`: it is larger than 1048576 bytes";
    assert_eq!(first(&words, &project), large);
    let project = pinned();
    let pin = "torch/.ci/docker/ci_commit_pins/triton.txt";
    padded(&project, pin, 4 << 20);
    let pins = |project: &Project| project.run(&["source", "pins", "torch"]).exits(1);
    assert!(pins(&project).stdout.contains(OTHER));
    padded(&project, pin, (4 << 20) + 1);
    let stderr = pins(&project).stderr;
    assert!(
        stderr.contains("triton.txt`: it is larger than 4194304 bytes\n"),
        "{stderr}"
    );
}

/// A manifest at an address.
#[test]
fn a_manifest_is_read_from_an_address() {
    let project = locked();
    let served = Served::folder(project.root());
    let url = format!("{}/m.json", served.url());
    project
        .run(&[
            "source",
            "checkout",
            "--manifest-url",
            &url,
            "--checkout-root",
            "two",
            "--projects",
            "triton",
        ])
        .exits(0);
    assert_eq!(served.requests(), ["/m.json"]);
    assert_eq!(commits(&project, "two")[1], commits(&project, "one")[1]);
    let missing = [
        "source",
        "checkout",
        "--manifest-url",
        &format!("{}/none", served.url()),
    ];
    project.run(&missing).exits(3);
}

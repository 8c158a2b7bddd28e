//! Where sources come from: projects, presets, pins of a checkout of torch, patch sets and manifests.

use crate::support::{Outcome, Project};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const OTHER: &str = "76543210fedcba9876543210fedcba9876543210";

/// A project folder with a checkout of torch that pins audio, triton and triton's version.
fn pinned() -> Project {
    let row = format!("ubuntu|pytorch|torchaudio|main|{COMMIT}|https://example.org/audio\n");
    Project::new()
        .file("torch/related_commits", &format!("# pins\n{row}{}", row.replace("ubuntu", "centos")))
        .file("torch/.ci/docker/ci_commit_pins/triton.txt", &format!("{OTHER}\n"))
        .file("torch/.ci/docker/triton_version.txt", "3.4.0\n")
}

/// The projects of `source plan --format json`.
#[track_caller]
fn plan(project: &Project, arguments: &[&str]) -> Vec<serde_json::Value> {
    let said = project.run(&[&["source", "plan", "--format", "json"], arguments].concat()).exits(0).json();
    said["projects"].as_array().unwrap().clone()
}

/// What one value of the one planned project is, and what says so.
#[track_caller]
fn one(project: &Project, arguments: &[&str], key: &str) -> String {
    let projects = plan(project, arguments);
    assert_eq!(projects.len(), 1);
    let value = &projects[0][key];
    format!("{} by {}", value["value"].as_str().unwrap_or("nothing"), value["from"].as_str().unwrap())
}

#[track_caller]
fn fault(project: &Project, arguments: &[&str]) -> Outcome {
    let said = project.run(&[&["source", "plan"], arguments].concat()).exits(1);
    assert!(said.stderr.contains("\nhelp: "), "{}", said.stderr);
    assert_eq!(said.stdout, "");
    said
}

/// TS3: the table of projects, without any checkout and any network.
#[test]
fn a_plan_without_pins_is_the_table_of_projects() {
    let said = Project::new().run(&["source", "plan"]).exits(0).stdout;
    insta::assert_snapshot!(said, @r"
    torch (pytorch)
      origin   https://github.com/pytorch/pytorch.git       compat/projects.yaml, torch, checked 2026-11-21
      ref      nightly                                      compat/projects.yaml, torch, checked 2026-11-21
      patches  nightly                                      where there is one
      hipify   on                                           compat/projects.yaml, torch, checked 2026-11-21
    triton (triton)
      origin   https://github.com/ROCm/triton.git           compat/projects.yaml, triton, checked 2026-11-21
      ref      a pin                                        torch's .ci/docker/ci_commit_pins/triton.txt, once it is checked out
      patches  none                                         the commit is pinned
      hipify   on                                           compat/projects.yaml, triton, checked 2026-11-21
    audio (pytorch_audio)
      origin   https://github.com/pytorch/audio.git         compat/projects.yaml, audio, checked 2026-11-21
      ref      nightly                                      compat/projects.yaml, audio, checked 2026-11-21
      patches  nightly                                      where there is one
      hipify   on                                           compat/projects.yaml, audio, checked 2026-11-21
    vision (pytorch_vision)
      origin   https://github.com/pytorch/vision.git        compat/projects.yaml, vision, checked 2026-11-21
      ref      nightly                                      compat/projects.yaml, vision, checked 2026-11-21
      patches  nightly                                      where there is one
      hipify   on                                           compat/projects.yaml, vision, checked 2026-11-21
    apex (apex)
      origin   https://github.com/ROCm/apex.git             compat/projects.yaml, apex, checked 2026-11-21
      ref      master                                       compat/projects.yaml, apex, checked 2026-11-21
      patches  master                                       where there is one
      hipify   off                                          compat/projects.yaml, apex, checked 2026-11-21
    ");
}

/// TS8: triton on Windows is another repository with another pin, and is never hipified.
#[test]
fn triton_on_windows_comes_from_its_own_repository_without_hipify() {
    let plain = Project::new();
    let windows = ["triton", "--platform", "windows", "--hipify"];
    let planned = plan(&plain, &windows);
    assert_eq!(planned[0]["origin"]["value"], "https://github.com/triton-lang/triton-windows.git");
    assert_eq!(planned[0]["hipify"], false);
    assert_eq!(planned[0]["ref"]["value"], "main-windows");
    let with_pin = Project::new().file("ci_commit_pins/triton-windows.txt", &format!("{COMMIT}\n"));
    assert_eq!(one(&with_pin, &windows, "ref"), format!("{COMMIT} by ci_commit_pins/triton-windows.txt:1"));
    let names = |platform: &str| -> Vec<String> {
        let planned = plan(&plain, &["--platform", platform]);
        planned.iter().map(|one| one["project"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("windows"), ["torch", "triton", "audio", "vision"]);
    assert_eq!(names("linux"), ["torch", "triton", "audio", "vision", "apex"]);
    let said = fault(&plain, &["apex", "--platform", "windows"]).stderr;
    assert!(said.starts_with("error[C105 unknown-project]: `apex` is not built on windows\n"), "{said}");
}

/// TS4: what is asked for, else the pin, else the default.
#[test]
fn an_option_comes_before_a_pin_and_a_pin_before_the_default() {
    let project = pinned();
    let audio = |more: &[&str], key: &str| one(&project, &[&["audio"], more].concat(), key);
    let row = "compat/projects.yaml, audio, checked 2026-11-21";
    assert_eq!(audio(&[], "ref"), format!("nightly by {row}"));
    assert_eq!(audio(&["--torch-dir", "torch"], "ref"), format!("{COMMIT} by torch/related_commits:2"));
    assert_eq!(audio(&["--torch-dir", "torch", "--ref", "v2.7.0"], "ref"), "v2.7.0 by --ref");
    assert_eq!(audio(&[], "origin"), format!("https://github.com/pytorch/audio.git by {row}"));
    let pinned = audio(&["--torch-dir", "torch"], "origin");
    assert_eq!(pinned, "https://example.org/audio by torch/related_commits:2");
    let asked = audio(&["--torch-dir", "torch", "--origin", "https://example.org/mine"], "origin");
    assert_eq!(asked, "https://example.org/mine by --origin");
    // vision has no row there, and none is needed.
    assert!(one(&project, &["vision", "--torch-dir", "torch"], "ref").starts_with("nightly by compat/"));
}

/// TS4: a set of patches was made for a ref, not for the commit that a pin names.
#[test]
fn a_pinned_checkout_has_no_patches_unless_a_set_is_named() {
    let project = pinned().file("patches/custom/audio/base/0001-x.patch", "");
    let audio = ["audio", "--torch-dir", "torch", "--patch-dir", "patches"];
    assert_eq!(one(&project, &audio, "patchset"), "nothing by the commit is pinned");
    let named = [&audio[..], &["--patchset", "custom"]].concat();
    assert_eq!(one(&project, &named, "patchset"), "custom by in patches");
}

/// TS6: a commit that must be pinned is, or the project and the file are named.
#[test]
fn a_related_commit_that_is_required_and_missing_fails_with_project_and_file() {
    let project = pinned();
    let required = ["vision", "--require-related-commit", "--torch-dir", "torch"];
    let said = fault(&project, &required).stderr;
    assert!(
        said.starts_with("error[C103 no-related-commit]: `torch/related_commits` has no row for `torchvision`\n"),
        "{said}"
    );
    let without = Project::new().file("torch/version.txt", "2.9.0\n");
    let said = fault(&without, &required).stderr;
    assert!(
        said.contains("torch's checkout has no `related_commits`, so no commit of `torchvision` is known"),
        "{said}"
    );
    plan(&project, &["audio", "--require-related-commit", "--torch-dir", "torch"]);
    plan(&project, &["vision", "--require-related-commit", "--torch-dir", "torch", "--ref", "main"]);
    let later = one(&Project::new(), &["vision", "--preset", "rocm-2.13"], "ref");
    assert_eq!(later, "nothing by torch's related_commits, once it is checked out");
}

/// TS5: faults of the file stop a plan, unless they are rows that may be left out.
#[test]
fn a_bad_row_of_related_commits_stops_a_plan_and_a_lenient_one_goes_on() {
    let project = pinned();
    let text = project.read("torch/related_commits");
    let project = project.file("torch/related_commits", &format!("garbage first\n{text}"));
    let said = fault(&project, &["audio", "--torch-dir", "torch"]).stderr;
    insta::assert_snapshot!(said, @r"
    error[C101 bad-related-row]: a row has 6 fields, and this line has 1 field
     --> torch/related_commits:1:1
      |
    1 | garbage first
      | ^^^^^^^^^^^^^
      |
    help: a row is `os|source|project|branch|commit|origin`; `--lenient` leaves out what is none
    ");
    let lenient = ["audio", "--torch-dir", "torch", "--lenient"];
    assert_eq!(one(&project, &lenient, "ref"), format!("{COMMIT} by torch/related_commits:3"));
    // What is not read says nothing.
    plan(&project, &["triton", "--torch-dir", "torch"]);
    plan(&project, &["audio", "--torch-dir", "torch", "--ref", "main"]);
}

/// TS7: triton's commit, or the branch of its release.
#[test]
fn triton_is_taken_at_the_commit_or_at_the_release_that_torch_names() {
    let project = pinned();
    let triton = ["triton", "--torch-dir", "torch"];
    let pin = format!("{OTHER} by torch/.ci/docker/ci_commit_pins/triton.txt:1");
    assert_eq!(one(&project, &triton, "ref"), pin);
    let release = [&triton[..], &["--release"]].concat();
    assert_eq!(one(&project, &release, "ref"), "release/3.4.x by torch/.ci/docker/triton_version.txt:1");
    let empty = Project::new().file("torch/version.txt", "2.9.0\n");
    let said = fault(&empty, &triton).stderr;
    assert!(
        said.starts_with("error[C104 no-pin]: torch's checkout has no `.ci/docker/ci_commit_pins/triton.txt`"),
        "{said}"
    );
    let bad = Project::new().file("torch/.ci/docker/ci_commit_pins/triton.txt", "main\n");
    assert!(fault(&bad, &triton).stderr.contains("`main` is not a commit of 7 to 40 hex digits"));
    assert!(fault(&empty, &["triton", "--torch-dir", "nowhere"]).stderr.contains("no checkout of torch at `nowhere`"));
    assert_eq!(one(&empty, &[&triton[..], &["--ref", "main"]].concat(), "ref"), "main by --ref");
}

/// TS19: a ref finds its set, a commit takes the set that is named, and no name leads out of the root.
#[test]
fn a_patch_set_is_found_by_ref_or_by_name_under_the_root_only() {
    let project = Project::new().file("patches/v2.7.0/x", "").file("patches/main/x", "");
    let torch = |more: &[&'static str]| [&["torch", "--patch-dir", "patches"], more].concat();
    assert_eq!(one(&project, &torch(&["--ref", "v2.7.0-rc9"]), "patchset"), "v2.7.0 by in patches");
    assert_eq!(one(&project, &torch(&["--ref", COMMIT, "--patchset", "main"]), "patchset"), "main by in patches");
    assert_eq!(
        one(&project, &torch(&["--ref", "release/2.9"]), "patchset"),
        "nothing by patches has none of release/2.9"
    );
    let said = fault(&project, &torch(&["--patchset", "../x"])).stderr;
    assert!(
        said.starts_with("error[C109 bad-patch-set-name]: `../x` does not name a folder under the patch root\n"),
        "{said}"
    );
    let said = fault(&project, &torch(&["--patchset", "rocm_2.7"])).stderr;
    assert!(said.starts_with("error[C110 no-patch-set]: `patches` has no patch set `rocm_2.7`\n"), "{said}");
}

/// TS3: sources that go together have a name.
#[test]
fn a_preset_names_refs_projects_and_what_the_build_needs() {
    let project = Project::new();
    let said = project.run(&["source", "plan", "--preset", "rocm-2.7", "--format", "json"]).exits(0).json();
    assert_eq!(said["env"], serde_json::json!({"USE_FLASH_ATTENTION": "0", "USE_MEM_EFF_ATTENTION": "0"}));
    assert_eq!(said["projects"][0]["ref"]["value"], "release/2.7");
    assert_eq!(said["projects"][0]["origin"]["value"], "https://github.com/ROCm/pytorch.git");
    assert_eq!(said["projects"][0]["patchset"]["value"], "rocm_2.7");
    assert_eq!(said["projects"].as_array().unwrap().len(), 4);
    let refs: Vec<String> = plan(&project, &["--preset", "default-2025"])
        .iter()
        .map(|one| format!("{} {}", one["project"].as_str().unwrap(), one["ref"]["value"].as_str().unwrap()))
        .collect();
    assert_eq!(refs, ["torch v2.7.0", "audio v2.7.0", "vision v0.22.0"]);
    let said = fault(&project, &["--preset", "rocm-2.31"]).stderr;
    assert!(
        said.starts_with("error[C106 unknown-preset]: there is no preset `rocm-2.31`; did you mean `rocm-2.1"),
        "{said}"
    );
    let said = fault(&project, &["--preset", "rocm-2.7", "--platform", "windows"]).stderr;
    assert!(said.contains("preset `rocm-2.7` is not built on windows"), "{said}");
    let said = fault(&project, &["vison"]).stderr;
    assert!(
        said.starts_with("error[C105 unknown-project]: there is no project `vison`; did you mean `vision`?\n"),
        "{said}"
    );
    project.run(&["source", "plan", "torch", "audio", "--ref", "main"]).exits(2);
}

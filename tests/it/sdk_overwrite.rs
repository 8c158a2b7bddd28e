//! What `sdk build --overwrite` may remove: packages, and nothing else.

use crate::support::Project;
use crate::support::artifacts::Artifacts;

const BUILD: &[&str] = &[
    "sdk",
    "build",
    "--artifact-dir",
    "artifacts",
    "--dest-dir",
    "out",
    "--version",
    "7.10.0",
    "--overwrite",
];

#[test]
fn packages_are_replaced_and_files_of_others_are_not() {
    let project = Project::new();
    Artifacts::split(&project);
    project.run(BUILD).exits(0);
    project.run(&["index", "build", "out/dist"]).exits(0);
    assert!(
        project.has("out/dist/simple/any/index.html"),
        "{:?}",
        project.files()
    );
    // Packages of another version, and of a family in a folder of its own, are packages.
    let older = "rocm_sdk_libraries_gfx94x_dcgpu-7.9.0-py3-none-linux_x86_64.whl";
    let project = project
        .file(&format!("out/dist/gfx94X-dcgpu/{older}"), "")
        .file("out/dist/rocm-7.9.0.tar.gz", "");
    project.run(BUILD).exits(0);
    assert!(!project.has("out/dist/simple"));
    assert!(!project.has("out/dist/gfx94X-dcgpu") && !project.has("out/dist/rocm-7.9.0.tar.gz"));
    let project = project
        .file("out/dist/notes.txt", "mine")
        .file("out/dist/torch-2.9.0-cp312-cp312-linux_x86_64.whl", "")
        .file(
            "out/dist/mine/deep/rocm_sdk_core-7.9.0-py3-none-linux_x86_64.whl",
            "",
        )
        .file("out/dist/rocm-notes.md", "");
    std::fs::create_dir(project.path("out/dist/empty")).unwrap();
    let before = project.files();
    let stderr = project.run(BUILD).exits(1).stderr;
    assert_eq!(project.files(), before);
    insta::assert_snapshot!(stderr, @r"
    error[S051 foreign-output]: 5 files are not packages of the SDK and would be removed
    --> out/dist
     = note: they are `empty`, `mine/deep/rocm_sdk_core-7.9.0-py3-none-linux_x86_64.whl`, `notes.txt`, `rocm-notes.md`, `torch-2.9.0-cp312-cp312-linux_x86_64.whl`
    help: move them elsewhere, or choose another directory (`--out`)
    ");
}

#[test]
fn a_folder_of_packages_that_is_a_link_is_not_replaced() {
    let project = Project::new();
    Artifacts::split(&project);
    let project = project
        .file(
            "elsewhere/rocm_sdk_core-7.9.0-py3-none-linux_x86_64.whl",
            "",
        )
        .file("out/x", "");
    std::os::unix::fs::symlink("../elsewhere", project.path("out/dist")).unwrap();
    let before = project.files();
    let stderr = project.run(BUILD).exits(1).stderr;
    assert_eq!(project.files(), before);
    insta::assert_snapshot!(stderr, @r"
    error[S051 foreign-output]: the package directory is a link, and its target would be removed
    --> out/dist
    help: remove the link, or write to its target (`--out`)
    ");
}

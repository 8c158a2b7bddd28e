//! An index that cannot be written leaves the one that was there.

use std::collections::BTreeMap;

use crate::support::{Project, Wheel};

fn wheel(number: usize) -> (String, Vec<u8>) {
    let name = format!("flash_attn-2.8.{number}+rocm62torch2.5-py3-none-any.whl");
    let bytes = Wheel::named(&name).header("Requires-Python: >=3.8").bytes();
    (name, bytes)
}

fn with(project: Project, numbers: std::ops::Range<usize>) -> Project {
    numbers.map(wheel).fold(project, |project, (name, bytes)| {
        project.bytes(&format!("dist/{name}"), &bytes)
    })
}

fn site(project: &Project) -> BTreeMap<String, String> {
    let pages = project
        .files()
        .into_iter()
        .filter(|file| file.starts_with("site"));
    pages
        .map(|file| (file.clone(), project.read(&file)))
        .collect()
}

#[test]
fn a_disk_that_takes_no_more_leaves_the_old_index_and_nothing_half_written() {
    let project = with(Project::new(), 0..3);
    let words = ["index", "build", "dist", "--out", "site"];
    project.run(&words).exits(0);
    let before = site(&project);
    let project = with(project, 3..60);
    let stderr = project.run_limited(8, &words).exits(3).stderr;
    assert!(
        stderr.contains("error[H") && stderr.contains("cannot write"),
        "{stderr}"
    );
    assert!(stderr.contains("the index was not changed"), "{stderr}");
    assert_eq!(site(&project), before);
    let beside: Vec<_> = std::fs::read_dir(project.root())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(beside.len(), 2, "{beside:?}");
    assert!(
        !project
            .files()
            .iter()
            .any(|file| file.contains(".tmp") || file.contains(".rock-"))
    );
    project.run(&words).exits(0);
    assert!(
        project
            .read("site/rocm6.2-torch2.5/flash-attn/index.html")
            .contains("2.8.59%2B")
    );
}

#[test]
fn pages_that_lost_their_wheels_go_and_pages_that_are_the_same_stay_the_files_they_were() {
    use std::os::unix::fs::MetadataExt as _;
    let other = Wheel::named("plain-1.0-py3-none-any.whl").bytes();
    let project = with(Project::new(), 0..2).bytes("dist/plain-1.0-py3-none-any.whl", &other);
    let words = ["index", "build", "dist", "--out", "site"];
    project.run(&words).exits(0);
    let inode = || {
        std::fs::metadata(project.path("site/rocm6.2-torch2.5/flash-attn/index.html"))
            .unwrap()
            .ino()
    };
    let before = inode();
    assert!(project.has("site/any/plain/index.json"));
    std::fs::remove_file(project.path("dist/plain-1.0-py3-none-any.whl")).unwrap();
    let stdout = project.run(&words).exits(0).stdout;
    assert!(stdout.starts_with("wrote site: 5 pages\n"), "{stdout}");
    assert!(!project.has("site/any") && inode() == before);
}

//! Artifacts of a run that come in spite of faults, kills and other runs.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::support::artifacts::{Artifacts, append};
use crate::support::http::{Request, answer};
use crate::support::{Project, Served};

/// A member that takes a while to write, and next to nothing packed.
const LARGE_BYTES: usize = 96 << 20;

const FETCH: [&str; 6] = [
    "sdk",
    "fetch",
    "--run-id",
    "123",
    "--local-staging",
    "staging",
];

/// A run with three artifacts, the second of them large.
fn staged(project: &Project) {
    let artifacts = Artifacts::new(project, true);
    artifacts.archive("fft_lib_generic", Some("s/stage\n"), |tar| {
        append(tar, "s/stage/lib/first", b"fft");
    });
    artifacts.archive("rand_lib_generic", Some("s/stage\n"), |tar| {
        append(tar, "s/stage/large", &vec![0; LARGE_BYTES]);
        append(tar, "s/stage/lib/second", b"rand");
    });
    artifacts.publish("staging", "123-linux");
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn fetch(project: &Project, more: &[&str], code: i32) -> String {
    project.run(&[&FETCH, more].concat()).exits(code).stderr
}

/// Starts a run, and waits until something is below this path.
fn begun(project: &Project, more: &[&str], path: &str) -> Child {
    let words = [&FETCH, more].concat();
    let mut child = project
        .command(&words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while names(&project.path(path)).is_empty() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before `{path}` was there"
        );
        std::thread::sleep(Duration::from_micros(200));
    }
    child
}

/// Sends a signal by its name.
fn signal(name: &str, child: &Child) {
    assert!(
        Command::new("kill")
            .args(["-s", name, &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
}

fn killed(mut child: Child) {
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
}

/// What a killed run leaves is no artifact, and goes with the next run, whatever that
/// fetches.
#[test]
fn a_run_that_is_killed_while_it_unpacks_leaves_nothing_for_good() {
    let project = Project::new();
    staged(&project);
    let hidden = ".rand_lib_generic.rock-new";
    killed(begun(
        &project,
        &["--extract"],
        &format!("artifacts/{hidden}"),
    ));
    let left = names(&project.path("artifacts"));
    assert!(
        left.iter().any(|name| name == hidden) && !project.has("artifacts/rand_lib_generic"),
        "{left:?}"
    );
    // Beside all other artifacts, it is none.
    std::fs::rename(
        project.path("artifacts").join(hidden),
        project.path("aside"),
    )
    .unwrap();
    fetch(&project, &["--extract"], 0);
    std::fs::rename(
        project.path("aside"),
        project.path("artifacts").join(hidden),
    )
    .unwrap();
    let plan = project
        .run(&[
            "sdk",
            "plan",
            "--artifact-dir",
            "artifacts",
            "--format",
            "json",
        ])
        .exits(1);
    assert!(
        plan.stderr.contains("rocm-profiler") && !plan.stderr.contains("rock-new"),
        "{}",
        plan.stderr
    );
    fetch(&project, &["^base"], 0);
    let left = names(&project.path("artifacts"));
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
    fetch(&project, &["--extract", "--delete-after-extract"], 0);
    assert_eq!(
        names(&project.path("artifacts")),
        ["base_lib_generic", "fft_lib_generic", "rand_lib_generic"]
    );
    assert_eq!(
        project.read("artifacts/rand_lib_generic/s/stage/lib/second"),
        "rand"
    );
}

#[test]
fn two_runs_into_one_folder_come_one_after_the_other() {
    let project = Project::new();
    staged(&project);
    for (way, path) in [
        (
            ["--extract", "--delete-after-extract"],
            "artifacts/.rand_lib_generic.rock-new",
        ),
        (
            ["--flatten", "--delete-after-extract"],
            "artifacts/.tree.rock-new/rand_lib_generic",
        ),
    ] {
        let first = begun(&project, &way, path);
        signal("STOP", &first);
        let words = [&FETCH, way.as_slice()].concat();
        let mut second = project
            .command(&words)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(second.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains("waiting for another run to end"), "{line}");
        signal("CONT", &first);
        assert!(first.wait_with_output().unwrap().status.success());
        assert_eq!(lines.count(), 0);
        assert!(second.wait().unwrap().success());
        let left = names(&project.path("artifacts"));
        assert!(
            left.iter()
                .all(|name| !name.starts_with('.') && !name.contains(".tar")),
            "{left:?}"
        );
    }
    assert_eq!(
        project.read("artifacts/rand_lib_generic/s/stage/lib/second"),
        "rand"
    );
    assert_eq!(project.read("artifacts/lib/second"), "rand");
}

/// One archive of several that is damaged, a disk that is full, a kill: the tree is as it
/// was.
#[test]
fn one_tree_comes_as_a_whole_or_stays_as_it_was() {
    let project = Project::new()
        .bytes("tree/lib/first", b"old")
        .bytes("tree/lib/mine", b"mine");
    staged(&project);
    let flat = ["--flatten", "--output-dir", "tree", "--layout", "manager"];
    let damaged = project.path("staging/123-linux/sparse_lib_generic.tar.zst");
    let good = project.path("staging/123-linux/fft_lib_generic.tar.zst");
    let bytes = std::fs::read(good).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() - 6]).unwrap();
    let as_it_was = || {
        assert_eq!(names(&project.path("tree/lib")), ["first", "mine"]);
        assert_eq!(project.read("tree/lib/first"), "old");
        names(&project.path("tree"))
    };
    let stderr = fetch(&project, &flat, 1);
    assert!(
        stderr.contains("[S002 bad-artifact]") && stderr.contains("damaged or truncated"),
        "{stderr}"
    );
    assert_eq!(as_it_was(), [".download_cache", "lib"]);
    std::fs::remove_file(damaged).unwrap();
    let stderr = project
        .run_limited(1024, &[&FETCH, &flat[..]].concat())
        .exits(3)
        .stderr;
    assert!(stderr.contains("cannot write"), "{stderr}");
    assert_eq!(as_it_was(), [".download_cache", "lib"]);
    let in_the_way = project.path("tree/share");
    std::fs::write(&in_the_way, "a file").unwrap();
    let stderr = fetch(&project, &flat, 3);
    assert!(
        stderr.contains("there is a file in place of a directory"),
        "{stderr}"
    );
    assert_eq!(as_it_was(), [".download_cache", "lib", "share"]);
    std::fs::remove_file(in_the_way).unwrap();
    killed(begun(
        &project,
        &flat,
        "tree/.tree.rock-new/rand_lib_generic",
    ));
    assert_eq!(as_it_was(), [".download_cache", ".tree.rock-new", "lib"]);
    let outcome = project.run(&[&FETCH, flat.as_slice()].concat()).exits(0);
    assert_eq!(outcome.stdout, "tree\n");
    assert_eq!(
        names(&project.path("tree")),
        [".download_cache", "large", "lib", "share"]
    );
    assert_eq!(
        names(&project.path("tree/lib")),
        ["first", "mine", "second"]
    );
    assert_eq!(
        (
            project.read("tree/lib/first"),
            project.read("tree/lib/mine")
        ),
        ("fft".into(), "mine".into())
    );
}

/// What is unpacked from the archive that is published is not fetched and unpacked again.
#[test]
fn what_was_unpacked_stays_as_long_as_the_same_archive_is_published() {
    use std::os::unix::fs::MetadataExt as _;
    let project = Project::new();
    staged(&project);
    let staged = project.path("staging/123-linux");
    let publish = |name: &str| {
        let archive = staged.join(format!("{name}.tar.zst"));
        std::fs::write(
            staged.join(format!("{name}.tar.zst.sha256sum")),
            hex(&std::fs::read(archive).unwrap()),
        )
        .unwrap();
    };
    publish("fft_lib_generic");
    let inode = |path: &str| std::fs::metadata(project.path(path)).unwrap().ino();
    let only = [
        "_lib_",
        "--exclude",
        "^base|^rand",
        "--extract",
        "--verbose",
    ];
    let apart = [only.as_slice(), &["--delete-after-extract"]].concat();
    let stderr = fetch(&project, &apart, 0);
    assert!(
        stderr.contains("unpacked artifacts/fft_lib_generic\n"),
        "{stderr}"
    );
    assert_eq!(names(&project.path("artifacts")), ["fft_lib_generic"]);
    assert_eq!(
        names(&project.path("artifacts/fft_lib_generic")),
        [".archive.sha256sum", "artifact_manifest.txt", "s"]
    );
    let before = inode("artifacts/fft_lib_generic");
    // Nobody asks for the archive.
    let hidden = project.path("hidden");
    std::fs::rename(staged.join("fft_lib_generic.tar.zst"), &hidden).unwrap();
    std::fs::write(
        staged.join("fft_lib_generic.tar.zst"),
        std::fs::read(&hidden).unwrap(),
    )
    .unwrap();
    let stderr = fetch(&project, &apart, 0);
    assert!(
        stderr.contains("already there: artifacts/fft_lib_generic\n")
            && !stderr.contains("fetched"),
        "{stderr}"
    );
    assert_eq!(
        (
            inode("artifacts/fft_lib_generic"),
            names(&project.path("artifacts")).len()
        ),
        (before, 1)
    );
    // Who wants the archive too gets it, and the folder stays.
    let stderr = fetch(&project, &only, 0);
    assert!(
        stderr.contains("fetched artifacts/fft_lib_generic.tar.zst"),
        "{stderr}"
    );
    assert!(
        stderr.contains("already there: artifacts/fft_lib_generic\n"),
        "{stderr}"
    );
    assert_eq!(inode("artifacts/fft_lib_generic"), before);
    assert_eq!(names(&project.path("artifacts")).len(), 3);
    // Another archive takes its place.
    let artifacts = Artifacts::new(&project, true);
    let other = artifacts.archive("fft_lib_generic", Some("s/stage\n"), |tar| {
        append(tar, "s/stage/lib/other", b"x");
    });
    std::fs::rename(other, staged.join("fft_lib_generic.tar.zst")).unwrap();
    publish("fft_lib_generic");
    fetch(&project, &apart, 0);
    assert_eq!(
        names(&project.path("artifacts/fft_lib_generic/s/stage/lib")),
        ["other"]
    );
    // Packages are made of such folders, and what says where they come from goes into none.
    let plan = project
        .run(&[
            "sdk",
            "plan",
            "--artifact-dir",
            "artifacts",
            "--format",
            "json",
        ])
        .exits(1);
    assert!(!plan.stderr.contains("sha256sum"), "{}", plan.stderr);
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A page or an archive that breaks off, ends too early or has other bytes is asked for
/// again, from where it broke where the server can; what is not there is not.
#[test]
fn a_damaged_download_is_requested_again() {
    let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let sum = hex(&bytes);
    let listed = |names: &[&str]| {
        let each = names.iter().map(|name| {
            let size = if name.ends_with("sum") {
                sum.len()
            } else {
                bytes.len()
            };
            format!("<Contents><Key>123-linux/{name}</Key><Size>{size}</Size></Contents>")
        });
        each.collect::<String>()
    };
    let first = format!(
        "<ListBucketResult>{}<NextContinuationToken>two</NextContinuationToken></ListBucketResult>",
        listed(&[
            "a_lib_generic.tar.zst",
            "b_lib_generic.tar.zst",
            "d_lib_generic.tar.zst"
        ])
    );
    let second = format!(
        "<ListBucketResult>{}</ListBucketResult>",
        listed(&[
            "c_lib_generic.tar.zst",
            "c_lib_generic.tar.zst.sha256sum",
            "e_lib_generic.tar.zst"
        ])
    );
    let seen = Mutex::new(Vec::<String>::new());
    let (body, text) = (bytes.clone(), sum);
    let served = Served::answering(move |request: &Request| {
        let times = {
            let mut seen = seen.lock().unwrap();
            seen.push(request.path.clone());
            seen.iter().filter(|path| **path == request.path).count()
        };
        let whole = || answer("200 OK", "ETag: \"v1\"\r\n", &body);
        let broken = || whole()[..150_000].to_vec();
        let name = request.path.rsplit('/').next().unwrap();
        match (name, times) {
            ("?list-type=2&prefix=123-linux%2F", 1) => answer("503 Slow Down", "", b""),
            ("?list-type=2&prefix=123-linux%2F", _) => answer("200 OK", "", first.as_bytes()),
            ("?list-type=2&prefix=123-linux%2F&continuation-token=two", 1) => {
                answer("200 OK", "", &second.as_bytes()[..90])
            }
            ("?list-type=2&prefix=123-linux%2F&continuation-token=two", _) => {
                answer("200 OK", "", second.as_bytes())
            }
            ("a_lib_generic.tar.zst", 1) => broken(),
            ("a_lib_generic.tar.zst", _) => {
                assert_eq!(request.header("if-range"), Some("\"v1\""));
                let from = request
                    .header("range")
                    .unwrap()
                    .strip_prefix("bytes=")
                    .unwrap()
                    .strip_suffix('-')
                    .unwrap();
                let range = format!(
                    "Content-Range: bytes {from}-{}/{}\r\n",
                    body.len() - 1,
                    body.len()
                );
                answer(
                    "206 Partial Content",
                    &range,
                    &body[from.parse().unwrap()..],
                )
            }
            ("b_lib_generic.tar.zst", 1) => answer("200 OK", "", &body[..70_000]),
            ("c_lib_generic.tar.zst", 1) => answer("200 OK", "", &vec![b'x'; body.len()]),
            ("c_lib_generic.tar.zst.sha256sum", _) => answer("200 OK", "", text.as_bytes()),
            // Here the rest is not to be had, and the file is another one by then.
            ("e_lib_generic.tar.zst", 1) => broken(),
            ("b_lib_generic.tar.zst" | "c_lib_generic.tar.zst" | "e_lib_generic.tar.zst", _) => {
                whole()
            }
            _ => answer("404 Not Found", "", b""),
        }
    });
    let project = Project::new();
    let url = served.url();
    let run = |more: &[&str], code| {
        project
            .run(&[&["sdk", "fetch", "--run-id", "123", "--bucket", &url], more].concat())
            .exits(code)
            .stderr
    };
    run(&["--exclude", "^d"], 0);
    for name in ["a", "b", "c", "e"] {
        let fetched =
            std::fs::read(project.path(&format!("artifacts/{name}_lib_generic.tar.zst"))).unwrap();
        assert!(fetched == bytes, "{name}: {} bytes", fetched.len());
    }
    assert_eq!(names(&project.path("artifacts")).len(), 5);
    let request_count =
        |name: &str, all: &[String]| all.iter().filter(|path| path.contains(name)).count();
    let all = served.requests();
    for (name, times) in [
        ("prefix", 4),
        ("a_lib", 2),
        ("b_lib", 2),
        ("zst.sha", 1),
        ("c_lib", 3),
        ("e_lib", 3),
    ] {
        assert_eq!(request_count(name, &all), times, "{name}: {all:?}");
    }
    let stderr = run(&["^d"], 3);
    assert!(
        stderr.contains("[K004 cannot-fetch]") && stderr.contains("responded with 404"),
        "{stderr}"
    );
    assert_eq!(request_count("d_lib", &served.requests()), 1);
    // Nor is a bucket that is not there; what then helps is another place.
    let other = format!("{url}/none");
    let stderr = project
        .run(&["sdk", "fetch", "--run-id", "7", "--bucket", &other])
        .exits(3)
        .stderr;
    assert!(
        stderr.contains("`--local-staging`") && stderr.contains("`--release-type`"),
        "{stderr}"
    );
    assert_eq!(served.requests().len(), 1);
}

#[test]
fn an_archive_is_unpacked_while_another_is_on_its_way() {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, true);
    for name in ["fft_lib_generic", "rand_lib_generic"] {
        artifacts.archive(name, Some("s/stage\n"), |tar| {
            append(tar, "s/stage/lib/file", name.as_bytes());
        });
    }
    let staged = artifacts.publish("bucket", "123-linux");
    let size = |name: &str| std::fs::metadata(staged.join(name)).unwrap().len();
    let each = ["fft_lib_generic.tar.zst", "rand_lib_generic.tar.zst"].map(|name| {
        format!(
            "<Contents><Key>123-linux/{name}</Key><Size>{}</Size></Contents>",
            size(name)
        )
    });
    let listing = format!("<ListBucketResult>{}</ListBucketResult>", each.concat());
    let unpacked = project.path("artifacts/fft_lib_generic/s/stage/lib/file");
    let staged = staged.clone();
    let served =
        Served::answering(
            move |output: &Request| match output.path.rsplit('/').next().unwrap() {
                name if name.starts_with('?') => answer("200 OK", "", listing.as_bytes()),
                "rand_lib_generic.tar.zst" => {
                    let patience = Instant::now() + Duration::from_secs(30);
                    while !unpacked.is_file() {
                        if Instant::now() > patience {
                            return answer("404 Not Found", "", b"");
                        }
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    answer(
                        "200 OK",
                        "",
                        &std::fs::read(staged.join("rand_lib_generic.tar.zst")).unwrap(),
                    )
                }
                name => answer("200 OK", "", &std::fs::read(staged.join(name)).unwrap()),
            },
        );
    project
        .run(&[
            "sdk",
            "fetch",
            "--run-id",
            "123",
            "--bucket",
            &served.url(),
            "--extract",
        ])
        .exits(0);
    assert_eq!(
        project.read("artifacts/rand_lib_generic/s/stage/lib/file"),
        "rand_lib_generic"
    );
}

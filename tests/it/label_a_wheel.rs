//! Giving a wheel another label or other tags.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use rock_matrix::bytes::{ByteSink, ReadAt};
use rock_matrix::wheel::record::{Record, RecordRow};
use rock_matrix::wheel::{ExistingLabel, RewriteOptions, relabel, rewrite};

use crate::support::{Project, Wheel};

const PLAIN: &str = "flash_attn-2.8.3-cp311-cp311-linux_x86_64.whl";
const LABELLED: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

fn plain() -> Wheel {
    Wheel::named(PLAIN)
        .executable("flash_attn_2_cuda.so", vec![7; 50_000])
        .file("flash_attn-2.8.3.data/scripts/tool", "#!python\n")
        .file("with,comma.txt", "x")
        .requires("torch")
}

fn project() -> Project {
    let wheel = plain();
    Project::new().bytes(wheel.name(), &wheel.bytes())
}

/// Names, contents and modes of a wheel, as another zip library reads them.
fn members(bytes: &[u8]) -> Vec<(String, Vec<u8>, u32)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).unwrap();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            (
                file.name().unwrap().into_owned(),
                content,
                file.unix_mode().unwrap_or(0),
            )
        })
        .collect()
}

fn member(bytes: &[u8], name: &str) -> String {
    let found = members(bytes).into_iter().find(|(found, ..)| found == name);
    String::from_utf8(found.unwrap_or_else(|| panic!("no {name}")).1).unwrap()
}

fn bytes(project: &Project, path: &str) -> Vec<u8> {
    std::fs::read(project.path(path)).unwrap()
}

#[test]
fn a_label_goes_into_name_metadata_folders_and_record() {
    let project = project();
    let before = bytes(&project, PLAIN);
    let done = project
        .run(&["wheel", "label", PLAIN, "--local", "rocm62torch2.5"])
        .exits(0);
    assert_eq!(done.stdout, format!("{LABELLED}\n"));
    assert_eq!(done.stderr, "", "the path is printed once");
    assert_eq!(bytes(&project, PLAIN), before, "the input stays");

    let (before, after) = (members(&before), members(&bytes(&project, LABELLED)));
    let names: Vec<&str> = after.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "flash_attn/__init__.py",
            "flash_attn_2_cuda.so",
            "flash_attn-2.8.3+rocm62torch2.5.data/scripts/tool",
            "with,comma.txt",
            "flash_attn-2.8.3+rocm62torch2.5.dist-info/METADATA",
            "flash_attn-2.8.3+rocm62torch2.5.dist-info/WHEEL",
            "flash_attn-2.8.3+rocm62torch2.5.dist-info/RECORD",
        ]
    );
    for ((old_name, old, old_mode), (name, new, mode)) in before.iter().zip(&after) {
        assert_eq!(old_mode, mode, "{name}");
        if name.ends_with("METADATA") {
            let old = String::from_utf8(old.clone()).unwrap();
            assert_eq!(
                String::from_utf8_lossy(new),
                old.replace("Version: 2.8.3\n", "Version: 2.8.3+rocm62torch2.5\n")
            );
        } else if !name.ends_with("RECORD") {
            assert_eq!(old, new, "{old_name}");
        }
    }
    project.run(&["wheel", "verify", LABELLED]).exits(0);
}

#[test]
fn record_matches_the_bytes_and_its_old_rows_are_kept() {
    let odd = "sha256=kept-as-it-is,1";
    let wheel = plain().edit("RECORD", move |text| {
        text.lines()
            .map(|line| match line.split_once(".so,") {
                Some((path, _)) => format!("{path}.so,{odd}\n"),
                None => format!("{line}\n"),
            })
            .collect()
    });
    let project = Project::new().bytes(wheel.name(), &wheel.bytes());
    project
        .run(&["wheel", "label", PLAIN, "--local", "rocm62torch2.5"])
        .exits(0);
    let after = members(&bytes(&project, LABELLED));
    let record = Record::parse(&after.last().unwrap().1, "RECORD").unwrap();
    let paths: Vec<&str> = record.rows.iter().map(|row| row.path.as_str()).collect();
    assert!(
        paths.iter().eq(after.iter().map(|(name, ..)| name)),
        "rows stand in the order of members"
    );
    for (row, (name, content, _)) in record.rows.iter().zip(&after) {
        if name == "flash_attn_2_cuda.so" {
            assert_eq!(
                (row.hash.as_str(), row.size.as_str()),
                ("sha256=kept-as-it-is", "1")
            );
        } else if name.ends_with("RECORD") {
            assert_eq!(*row, RecordRow::without_hash(name));
        } else {
            assert_eq!(*row, RecordRow::for_content(name, content));
        }
    }
}

#[test]
fn signatures_of_the_old_record_go() {
    let wheel = plain()
        .file("flash_attn-2.8.3.dist-info/RECORD.jws", "{}")
        .file("flash_attn-2.8.3.dist-info/licenses/LICENSE", "free");
    let project = Project::new().bytes(wheel.name(), &wheel.bytes());
    project
        .run(&["wheel", "label", PLAIN, "--local", "rocm62torch2.5"])
        .exits(0);
    let after = bytes(&project, LABELLED);
    let names: Vec<String> = members(&after).into_iter().map(|(name, ..)| name).collect();
    assert!(!names.iter().any(|name| name.ends_with("RECORD.jws")));
    assert!(
        names.iter().position(|n| n.ends_with("LICENSE"))
            > names.iter().position(|n| n.ends_with("comma.txt"))
    );
    project.run(&["wheel", "verify", LABELLED]).exits(0);
}

#[test]
fn what_is_wrong_with_a_wheel_is_not_hidden_by_a_new_label_or_tag() {
    let without = |part: &'static str| {
        move |text: String| {
            text.lines()
                .filter(|line| !line.contains(part))
                .map(|line| format!("{line}\n"))
                .collect()
        }
    };
    let wrong_hash = |text: String| {
        text.replace("METADATA,sha256=", "METADATA,sha256=x")
            .replace("WHEEL,sha256=", "WHEEL,sha256=x")
    };
    let faulty = [
        (plain().edit("RECORD", without(".so")), "W020"),
        (
            plain()
                .edit("RECORD", without("METADATA"))
                .edit("RECORD", without("/WHEEL")),
            "W020",
        ),
        (plain().edit("RECORD", wrong_hash), "W022"),
        (
            plain().edit("METADATA", |text| {
                text.replace("Name: flash-attn", "Name: flush-attn")
            }),
            "W050",
        ),
        (
            plain().edit("METADATA", |text| {
                text.replace("Version: 2.8.3", "Version: 2.8.4")
            }),
            "W051",
        ),
    ];
    for (wheel, code) in faulty {
        let project = Project::new().bytes(PLAIN, &wheel.bytes());
        for change in [
            &["label", PLAIN, "--local", "rocm62torch2.5"][..],
            &["retag", PLAIN, "--platform-tag", "+any"],
        ] {
            let all: Vec<&str> = ["wheel"].iter().chain(change).copied().collect();
            let stderr = project.run(&all).exits(1).stderr;
            assert!(
                stderr.starts_with(&format!("error[{code} ")),
                "{code} {change:?}: {stderr}"
            );
            assert_eq!(project.files(), [PLAIN], "nothing was written");
        }
    }
}

#[test]
fn a_pipe_or_a_device_is_no_wheel_and_is_not_waited_for() {
    let project = Project::new();
    let status = Command::new("mkfifo")
        .arg(project.path(PLAIN))
        .status()
        .unwrap();
    assert!(status.success());
    std::os::unix::fs::symlink("/dev/zero", project.path(LABELLED)).unwrap();
    for name in [PLAIN, LABELLED] {
        for command in [
            &["wheel", "verify", name][..],
            &["wheel", "label", name, "--local", "rocm62"],
            &["wheel", "retag", name, "--platform-tag", "linux_x86_64"],
            &["publish", "--to", "d", name],
        ] {
            let stderr = project.run(command).exits(1).stderr;
            assert!(
                stderr.contains("it is not a regular file"),
                "{command:?}: {stderr}"
            );
        }
    }
}

#[test]
fn a_wheel_that_is_interrupted_while_it_is_written_leaves_nothing() {
    let large = plain().file("large.bin", vec![0x5a; 64 << 20]).stored();
    let project = Project::new().bytes(PLAIN, &large.bytes());
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let command = ["wheel", "label", PLAIN, "--local", "rocm62", "-w", "out"];
        let mut child = project.command(&command).spawn().unwrap();
        let open = format!("/proc/{}/fd", child.id());
        // A file without a name shows as deleted among those that are open.
        let writes = || {
            let names = std::fs::read_dir(&open).into_iter().flatten().flatten();
            names
                .filter_map(|entry| std::fs::read_link(entry.path()).ok())
                .any(|path| path.to_string_lossy().contains("/out/"))
        };
        while !writes() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        let _ = kill_process(Pid::from_child(&child), signal);
        let _ = child.wait().unwrap();
        let left: Vec<String> = project
            .files()
            .into_iter()
            .filter(|name| name.starts_with("out/"))
            .collect();
        assert!(!left.iter().any(|name| name.contains(".tmp")), "{left:?}");
        let _ = std::fs::remove_dir_all(project.path("out"));
    }
}

#[test]
fn the_same_command_again_finds_its_result_and_writes_nothing() {
    let project = project();
    let command = [
        "wheel",
        "label",
        PLAIN,
        "--local",
        "rocm62torch2.5",
        "--json",
    ];
    assert_eq!(project.run(&command).exits(0).json()["written"], true);
    let first = bytes(&project, LABELLED);
    let again = project.run(&command).exits(0);
    assert_eq!(again.json()["written"], false);
    assert_eq!(again.stderr, format!("already up to date: {LABELLED}\n"));
    assert_eq!(bytes(&project, LABELLED), first);
    assert_eq!(project.files(), [LABELLED, PLAIN], "nothing else is left");
    // The label it has already is nothing to do.
    project
        .run(&["wheel", "label", LABELLED, "--local", "ROCm62torch2.5"])
        .exits(0);
    assert_eq!(bytes(&project, LABELLED), first);
}

#[test]
fn another_file_of_that_name_is_kept_without_replace() {
    let project = project().file(LABELLED, "mine");
    let stderr = project
        .run(&["wheel", "label", PLAIN, "--local", "rocm62torch2.5"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[W061 output-exists]: `flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl` exists with different content
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl
    help: replace it with `--replace`, or choose another directory with `--out DIR`
    ");
    assert_eq!(project.read(LABELLED), "mine");
    project
        .run(&[
            "wheel",
            "label",
            PLAIN,
            "--local",
            "rocm62torch2.5",
            "-w",
            "new/folder",
        ])
        .exits(0);
    project
        .run(&[
            "wheel",
            "label",
            PLAIN,
            "--local",
            "rocm62torch2.5",
            "--replace",
        ])
        .exits(0);
    assert_eq!(
        bytes(&project, LABELLED),
        bytes(&project, &format!("new/folder/{LABELLED}"))
    );
}

/// Other commands for wheels take directories, too.
#[test]
fn a_directory_is_the_wheels_in_it() {
    const OTHER: &str = "other-1.0-py3-none-any.whl";
    let project = Project::new()
        .bytes(&format!("dist/{PLAIN}"), &plain().bytes())
        .bytes(&format!("dist/{OTHER}"), &Wheel::named(OTHER).bytes())
        .file("dist/notes.txt", "not a wheel")
        .file("empty/notes.txt", "not a wheel");
    let done = project
        .run(&["wheel", "label", "dist", "rocm62", "--out", "out"])
        .exits(0);
    assert_eq!(
        done.stdout,
        "out/flash_attn-2.8.3+rocm62-cp311-cp311-linux_x86_64.whl\n\
         out/other-1.0+rocm62-py3-none-any.whl\n"
    );
    let done = project
        .run(&["wheel", "retag", "dist", "--build", "2", "--json"])
        .exits(0);
    assert_eq!(done.stdout.lines().count(), 2, "{}", done.stdout);
    project.run(&["wheel", "verify", "dist", "out"]).exits(0);

    for command in [
        &["wheel", "label", "empty", "rocm62"][..],
        &["wheel", "retag", "empty", "--build", "2"],
        &["wheel", "embed", "empty", "--rocm", "dist"],
    ] {
        let stderr = project.run(command).exits(1).stderr;
        assert!(
            stderr.starts_with("error[W080 wheel-not-there]: there are no wheels in `empty`"),
            "{stderr}"
        );
    }
}

/// A shell expands a pattern to several wheels.
#[test]
fn several_wheels_are_labelled_with_the_last_argument() {
    const OTHER: &str = "other-1.0-py3-none-any.whl";
    let project = project().bytes(OTHER, &Wheel::named(OTHER).bytes());
    let both = "out/flash_attn-2.8.3+rocm7.1-cp311-cp311-linux_x86_64.whl\n\
                out/other-1.0+rocm7.1-py3-none-any.whl\n";
    let done = project
        .run(&["wheel", "label", PLAIN, OTHER, "rocm7.1", "-o", "out"])
        .exits(0);
    assert_eq!(done.stdout, both);
    let done = project
        .run(&[
            "wheel", "label", "--local", "rocm7.1", PLAIN, OTHER, "-o", "out",
        ])
        .exits(0);
    assert_eq!(done.stdout, both);

    for words in [&[PLAIN][..], &[PLAIN, OTHER]] {
        let stderr = project
            .run(&[&["wheel", "label"], words].concat())
            .exits(2)
            .stderr;
        assert!(
            stderr.starts_with(
                "error: the following required arguments were not provided:\n  <LABEL>\n"
            ),
            "{stderr}"
        );
    }
    let first = project
        .run(&["wheel", "label", "rocm7.1", PLAIN, OTHER])
        .exits(2)
        .stderr;
    let expected = format!(
        "error: the label comes after the wheels: `rock-matrix wheel label {PLAIN} {OTHER} rocm7.1`"
    );
    assert!(first.starts_with(&expected), "{first}");
    let words = ["wheel", "label", "rocm7.1", PLAIN, "-o", "lab", "--dry-run"];
    let first = project.run(&words).exits(2).stderr;
    let expected = format!("`rock-matrix wheel label {PLAIN} rocm7.1 -o lab --dry-run`");
    assert!(first.contains(&expected), "{first}");
    let words = ["wheel", "label", "+rocm7.1", "."];
    let first = project.run(&words).exits(2).stderr;
    let expected = "`rock-matrix wheel label . +rocm7.1`";
    assert!(first.contains(expected), "{first}");
    for option in [&["--local", "rocm7.2"][..], &["--remove"]] {
        let words = [&["wheel", "label", PLAIN, "rocm7.1"], option].concat();
        let both = project.run(&words).exits(2).stderr;
        let expected = format!(
            "error: the label `rocm7.1` cannot be used with '{}': leave out one of them\n",
            option[0]
        );
        assert!(both.starts_with(&expected), "{both}");
    }
    // A directory is not a label, even if its name is one.
    let project = project.bytes("rocm7.2/other-1.0-py3-none-any.whl", b"");
    let missing = project
        .run(&["wheel", "label", PLAIN, "rocm7.2"])
        .exits(2)
        .stderr;
    assert!(
        missing.contains("were not provided:\n  <LABEL>\n"),
        "{missing}"
    );
    let empty = project
        .run(&["wheel", "label", PLAIN, "", "--replace"])
        .exits(2)
        .stderr;
    assert!(
        empty.starts_with("error: the label is empty: use `--remove` to remove the label"),
        "{empty}"
    );
    let stderr = project
        .run(&["wheel", "label", PLAIN, "rocm-7.1"])
        .exits(2)
        .stderr;
    assert!(
        stderr.starts_with("error: invalid value 'rocm-7.1' for '<LABEL>': `rocm-7.1` contains no")
            && stderr.contains("as in `rocm7.1`\n"),
        "{stderr}"
    );
}

/// The other wheels are still changed.
#[test]
fn a_wheel_with_an_error_does_not_stop_the_others() {
    let project = project().file("broken-1.0-py3-none-any.whl", "no wheel");
    let words = [
        "wheel",
        "retag",
        "broken-1.0-py3-none-any.whl",
        PLAIN,
        "--build",
        "2",
    ];
    let done = project.run(&words).exits(1);
    assert!(done.stderr.starts_with("error[W001 "), "{}", done.stderr);
    assert_eq!(
        done.stdout,
        "flash_attn-2.8.3-2-cp311-cp311-linux_x86_64.whl\n"
    );
}

/// Not even with `--replace`. Neither of them is written.
#[test]
fn no_wheel_of_a_run_replaces_another() {
    let project = Project::new()
        .bytes(&format!("dist/{PLAIN}"), &plain().bytes())
        .bytes(&format!("dist/{LABELLED}"), &Wheel::named(LABELLED).bytes());
    let done = project
        .run(&[
            "wheel",
            "label",
            "dist",
            "rocm63",
            "--replace",
            "--out",
            "out",
        ])
        .exits(1);
    let result = "out/flash_attn-2.8.3+rocm63-cp311-cp311-linux_x86_64.whl";
    for (wheel, other) in [(PLAIN, LABELLED), (LABELLED, PLAIN)] {
        let error = format!(
            "error[W061 output-exists]: `{result}` would also be the result of `dist/{other}`\n\
             --> dist/{wheel}\n"
        );
        assert!(done.stderr.contains(&error), "{}", done.stderr);
    }
    assert!(!project.has("out"));
}

/// A result has the name of an input that is read later.
#[test]
fn no_input_of_a_run_is_replaced() {
    let next = "dist/flash_attn-2.8.3+rocm63-cp311-cp311-linux_x86_64.whl";
    let (py2, py3) = (
        "dist/one-1.0-py2-none-any.whl",
        "dist/one-1.0-py3-none-any.whl",
    );
    let named = |path: &str| Wheel::named(path.strip_prefix("dist/").unwrap());
    for (input, unread, words) in [
        (
            format!("dist/{LABELLED}"),
            next,
            &["wheel", "label", "dist", "rocm63", "--replace"][..],
        ),
        (
            py2.to_owned(),
            py3,
            &["wheel", "retag", "dist", "--python-tag", "py3", "--replace"][..],
        ),
        (
            py2.to_owned(),
            "dist/one-1.0+rocm63-py2-none-any.whl",
            &[
                "wheel",
                "repair",
                py2,
                "dist",
                "--relabel=rocm63",
                "--out=dist",
                "--replace",
            ][..],
        ),
    ] {
        let content = named(unread).file("unread.txt", "").bytes();
        let project = Project::new()
            .bytes(&input, &named(&input).bytes())
            .bytes(unread, &content);
        let stderr = project.run(words).exits(1).stderr;
        let error = format!("would replace `{unread}`, another wheel of this run");
        assert!(stderr.contains(&error), "{stderr}");
        assert_eq!(bytes(&project, unread), content);
    }
}

/// `dist/` and `./dist/` are the same directory.
#[test]
fn no_result_of_a_run_is_replaced_by_another_path() {
    let (first, second) = ("one-1.0-py310-none-any.whl", "one-1.0-py311-none-any.whl");
    let wheel = Wheel::named(first).file("first.txt", "");
    let project = Project::new()
        .bytes(&format!("dist/{first}"), &wheel.bytes())
        .bytes(&format!("dist/{second}"), &Wheel::named(second).bytes());
    let (first, second) = (format!("dist/{first}"), format!("./dist/{second}"));
    let options = ["--python-tag", "py3", "--replace"];
    let words = [&["wheel", "retag", &first, &second], &options[..]].concat();
    for words in [words.clone(), [&words[..], &["--dry-run"]].concat()] {
        let done = project.run(&words).exits(1);
        let error = "`dist/one-1.0-py3-none-any.whl` would also be the result of \
                     `./dist/one-1.0-py311-none-any.whl`";
        assert!(done.stderr.contains(error), "{}", done.stderr);
        assert_eq!(done.stdout, "");
    }
    assert!(!project.has("dist/one-1.0-py3-none-any.whl"));
}

/// The second path adds nothing.
#[test]
fn a_wheel_that_is_named_twice_is_labelled_once() {
    let project = project();
    let twice = format!("./{PLAIN}");
    let words = ["wheel", "label", PLAIN, &twice, "rocm63"];
    let result = "flash_attn-2.8.3+rocm63-cp311-cp311-linux_x86_64.whl";
    let dry = project.run(&[&words[..], &["-n"]].concat()).exits(0);
    assert_eq!(dry.stdout, format!("write  {result}\n"));
    assert_eq!(project.run(&words).exits(0).stdout, format!("{result}\n"));
}

#[test]
fn an_existing_label_is_replaced_or_extended_only_on_request() {
    let wheel = Wheel::named(LABELLED);
    let project = Project::new().bytes(LABELLED, &wheel.bytes());
    let label = |extra: &[&str]| {
        project.run(
            &[
                &["wheel", "label", LABELLED, "--local", "rocm7.2torch2.14"],
                extra,
            ]
            .concat(),
        )
    };
    let stderr = label(&[]).exits(1).stderr;
    insta::assert_snapshot!(stderr, @r"
    error[W060 has-label]: the wheel already has the label `rocm62torch2.5`
    --> flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl
    help: pass `--replace` to replace it, or `--append` to add to it
    ");
    assert_eq!(
        label(&["--replace"]).exits(0).stdout,
        "flash_attn-2.8.3+rocm7.2torch2.14-cp311-cp311-linux_x86_64.whl\n"
    );
    for force in ["--force", "--overwrite"] {
        label(&[force]).exits(0);
    }
    assert_eq!(
        label(&["--append"]).exits(0).stdout,
        "flash_attn-2.8.3+rocm62torch2.5.rocm7.2torch2.14-cp311-cp311-linux_x86_64.whl\n"
    );
    for file in project.files() {
        project.run(&["wheel", "verify", &file]).exits(0);
    }
    let appended = "flash_attn-2.8.3+rocm62torch2.5.rocm7.2torch2.14-cp311-cp311-linux_x86_64.whl";
    let project = Project::new()
        .bytes(LABELLED, &wheel.bytes())
        .file(appended, "mine");
    let words = ["wheel", "label", LABELLED, "rocm7.2torch2.14", "--append"];
    project.run(&words).exits(1);
    let replaced = project
        .run(&[&words[..], &["--replace"]].concat())
        .exits(0)
        .stdout;
    assert_eq!(replaced, format!("{appended}\n"));
}

#[test]
fn a_label_is_removed_from_the_name_and_the_metadata() {
    let project = Project::new().bytes(LABELLED, &Wheel::named(LABELLED).bytes());
    let remove = |more: &[&str]| project.run(&[&["wheel", "label", "--remove"], more].concat());
    let done = remove(&[LABELLED]).exits(0);
    assert_eq!(done.stdout, format!("{PLAIN}\n"));
    project.run(&["wheel", "verify", PLAIN]).exits(0);
    let again = remove(&[PLAIN]).exits(0);
    assert_eq!(again.stderr, format!("already up to date: {PLAIN}\n"));
    remove(&[LABELLED, "--append"]).exits(2);
}

/// A dry run fails where the same command would fail.
#[test]
fn a_dry_run_prints_the_paths_and_writes_nothing() {
    const OTHER: &str = "other-1.0-py3-none-any.whl";
    let project = project().bytes(OTHER, &Wheel::named(OTHER).bytes());
    let words = ["wheel", "label", PLAIN, OTHER, "+rocm7.1", "--out", "out"];
    let dry = project.run(&[&words[..], &["-n"]].concat()).exits(0);
    insta::assert_snapshot!(dry.stdout, @r"
    write  out/flash_attn-2.8.3+rocm7.1-cp311-cp311-linux_x86_64.whl
    write  out/other-1.0+rocm7.1-py3-none-any.whl
    ");
    let retag = ["wheel", "retag", OTHER, "--build", "2", "--dry-run"];
    let document = project
        .run(&[&retag[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert_eq!(document["wheel"], "other-1.0-2-py3-none-any.whl");
    assert_eq!(document["written"], false);
    assert!(!project.has("out") && !project.has("other-1.0-2-py3-none-any.whl"));

    let twice = format!("copy/{OTHER}");
    let copy = project.bytes(&twice, &Wheel::named(OTHER).file("x.txt", "").bytes());
    let words = [
        "wheel", "label", OTHER, &twice, "rocm7.1", "-n", "-o", "out",
    ];
    let stderr = copy.run(&words).exits(1).stderr;
    assert!(stderr.contains("would also be the result of"), "{stderr}");
    let present = copy.file("out/other-1.0+rocm7.1-py3-none-any.whl", "mine");
    let words = ["wheel", "label", OTHER, "rocm7.1", "-n", "-o", "out"];
    let stderr = present.run(&words).exits(1).stderr;
    assert!(stderr.starts_with("error[W061 output-exists]"), "{stderr}");
}

#[test]
fn a_wheel_that_was_renamed_by_hand_is_mended_by_its_label() {
    let project = Project::new().bytes(LABELLED, &plain().bytes());
    let stderr = project.run(&["wheel", "verify", LABELLED]).exits(1).stderr;
    assert!(
        stderr.contains("error[W051 version-mismatch]: the version in METADATA has no label"),
        "{stderr}"
    );
    let stderr = project
        .run(&["wheel", "label", LABELLED, "--local", "rocm62torch2.5"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[W062 output-is-input]"),
        "{stderr}"
    );
    project
        .run(&[
            "wheel",
            "label",
            LABELLED,
            "--local",
            "rocm62torch2.5",
            "-w",
            "mended",
        ])
        .exits(0);
    project
        .run(&["wheel", "verify", &format!("mended/{LABELLED}")])
        .exits(0);
}

#[test]
fn a_file_named_after_another_version_is_refused() {
    let other = PLAIN.replace("2.8.3", "2.8.4");
    let project = Project::new().bytes(&other, &plain().bytes());
    let stderr = project
        .run(&["wheel", "label", &other, "--local", "rocm62"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[W051 version-mismatch]: the filename has version `2.8.4`"),
        "{stderr}"
    );
    assert_eq!(project.files(), [other]);
}

#[test]
fn a_text_that_is_no_label_is_a_bad_command_line_with_a_suggestion() {
    let stderr = project()
        .run(&["wheel", "label", PLAIN, "--local", "rocm6.2+torch 2.5"])
        .exits(2)
        .stderr;
    assert!(
        stderr
            .contains("letters and digits in segments joined with `.`, such as `rocm6.2.torch2.5`"),
        "{stderr}"
    );
}

#[test]
fn a_version_in_a_module_that_differs_is_reported_and_left() {
    let module = "__version__: str = \"2.8.2\"\n";
    let wheel = plain()
        .file("flash_attn/__init__.py", "__version__ = '2.8.3'\n")
        .file("flash_attn/version.py", module);
    let project = Project::new().bytes(PLAIN, &wheel.bytes());
    let stderr = project
        .run(&["wheel", "label", PLAIN, "--local", "rocm62torch2.5"])
        .exits(0)
        .stderr;
    let note = "note[W056 other-version-string]: the module's `__version__` is `2.8.3`, but the wheel's version is `2.8.3+rocm62torch2.5`";
    assert!(stderr.contains(note), "{stderr}");
    let quiet = project
        .run(&[
            "wheel",
            "label",
            PLAIN,
            "--local",
            "rocm62torch2.5",
            "-q",
            "--force",
        ])
        .exits(0)
        .stderr;
    insta::assert_snapshot!(quiet, @r"
    warning[W056 other-version-string]: the module's `__version__` is `2.8.2`, but the wheel's version is `2.8.3+rocm62torch2.5`
    --> flash_attn-2.8.3-cp311-cp311-linux_x86_64.whl: flash_attn/version.py
    ");
    assert_eq!(
        member(&bytes(&project, LABELLED), "flash_attn/version.py"),
        module
    );
}

#[test]
fn a_percent_encoded_file_gets_its_real_name() {
    let project = Project::new().bytes(
        &LABELLED.replace('+', "%2B"),
        &Wheel::named(LABELLED).bytes(),
    );
    let encoded = LABELLED.replace('+', "%2B");
    let stderr = project.run(&["wheel", "verify", &encoded]).exits(1).stderr;
    assert!(
        stderr.starts_with("error[W016 bad-wheel-name]: the filename `")
            && stderr.contains(&format!("rename it to `{LABELLED}`")),
        "{stderr}"
    );
    project
        .run(&["wheel", "label", &encoded, "--local", "rocm62torch2.5"])
        .exits(0);
    project.run(&["wheel", "verify", LABELLED]).exits(0);
}

#[test]
fn source_date_epoch_is_the_time_of_every_member() {
    let times = |value: &str| {
        let project = project().env("SOURCE_DATE_EPOCH", value);
        project
            .run(&["wheel", "label", PLAIN, "--local", "x1"])
            .exits(0);
        let bytes = bytes(&project, "flash_attn-2.8.3+x1-cp311-cp311-linux_x86_64.whl");
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut times: Vec<String> = (0..archive.len())
            .map(|at| {
                archive
                    .by_index(at)
                    .unwrap()
                    .last_modified()
                    .unwrap()
                    .to_string()
            })
            .collect();
        times.dedup();
        times
    };
    assert_eq!(times("1700000001"), ["2023-11-14 22:13:20"]);
    assert_eq!(times("5"), ["1980-01-01 00:00:00"]);
    let project = project().env("SOURCE_DATE_EPOCH", "soon");
    let stderr = project
        .run(&["wheel", "label", PLAIN, "--local", "x1"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[W063 bad-source-date]: `SOURCE_DATE_EPOCH` is `soon`"),
        "{stderr}"
    );
}

#[test]
fn tags_are_replaced_added_and_written_inside() {
    let retag = |options: &[&str]| {
        let project = project();
        let out = project
            .run(&[&["wheel", "retag", PLAIN, "-w", "out"], options].concat())
            .exits(0)
            .stdout;
        let out = out.trim().to_owned();
        project.run(&["wheel", "verify", &out]).exits(0);
        let wheel = member(&bytes(&project, &out), "flash_attn-2.8.3.dist-info/WHEEL");
        (
            out.trim_start_matches("out/flash_attn-2.8.3-").to_owned(),
            wheel,
        )
    };
    let (name, wheel) = retag(&[
        "--platform-tag",
        "+manylinux_2_28_x86_64.manylinux_2_24_x86_64",
    ]);
    assert_eq!(
        name,
        "cp311-cp311-linux_x86_64.manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
    );
    insta::assert_snapshot!(wheel, @r"
    Wheel-Version: 1.0
    Generator: made for a test
    Root-Is-Purelib: false
    Tag: cp311-cp311-linux_x86_64
    Tag: cp311-cp311-manylinux_2_24_x86_64
    Tag: cp311-cp311-manylinux_2_28_x86_64
    ");
    let (name, wheel) = retag(&[
        "--python-tag",
        "py3",
        "--abi-tag=none",
        "--platform-tag",
        "manylinux_2_28_x86_64",
        "--build",
        "2",
    ]);
    assert_eq!(name, "2-py3-none-manylinux_2_28_x86_64.whl");
    assert!(
        wheel.ends_with("Root-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\nBuild: 2\n"),
        "{wheel}"
    );
}

#[test]
fn a_build_number_is_removed_by_an_empty_text() {
    let name = PLAIN.replace("-cp311-cp311", "-1-cp311-cp311");
    let project = Project::new().bytes(&name, &Wheel::named(&name).bytes());
    assert_eq!(
        project
            .run(&["wheel", "retag", &name, "--build", ""])
            .exits(0)
            .stdout,
        format!("{PLAIN}\n")
    );
    project.run(&["wheel", "verify", PLAIN]).exits(0);
    project
        .run(&["wheel", "retag", &name, "--build", "x"])
        .exits(2);
    project.run(&["wheel", "retag", &name]).exits(2);
}

#[test]
fn a_wheel_for_every_platform_that_gets_one_is_no_purelib() {
    let name = "flash_attn-2.8.3-py3-none-any.whl";
    let project = Project::new().bytes(name, &Wheel::named(name).bytes());
    let out = project
        .run(&["wheel", "retag", name, "--platform-tag", "linux_x86_64"])
        .exits(0)
        .stdout;
    project.run(&["wheel", "verify", out.trim()]).exits(0);
}

#[test]
fn a_wheel_with_wrong_tags_inside_is_mended_by_its_own_tags() {
    let wheel = plain().edit("WHEEL", |text| text.replace("linux_x86_64", "any"));
    let project = Project::new().bytes(PLAIN, &wheel.bytes());
    project
        .run(&[
            "wheel",
            "retag",
            PLAIN,
            "--platform-tag",
            "linux_x86_64",
            "-w",
            "out",
        ])
        .exits(0);
    project
        .run(&["wheel", "verify", &format!("out/{PLAIN}")])
        .exits(0);
}

#[test]
fn a_wheel_that_is_not_there_or_is_none_is_the_inputs_fault() {
    let project = project()
        .file("broken-1-py3-none-any.whl", "PK")
        .file("notes.txt", "");
    let stderr_of = |path: &str| {
        project
            .run(&["wheel", "label", path, "--local", "x"])
            .exits(1)
            .stderr
    };
    assert!(
        stderr_of("missing-1-py3-none-any.whl")
            .starts_with("error[H020 cannot-read-file]: cannot read `missing")
    );
    assert!(
        stderr_of("broken-1-py3-none-any.whl")
            .starts_with("error[W001 not-a-zip]: it is not a zip archive")
    );
    assert!(
        stderr_of("notes.txt")
            .starts_with("error[W016 bad-wheel-name]: `notes.txt` is not a wheel name")
    );
    let piped = project.run(&["wheel", "check", "-"]).exits(1).stderr;
    insta::assert_snapshot!(piped, @r"
    error[H020 cannot-read-file]: wheels are not read from standard input: `-` is not a path
    help: pass the paths as arguments, for example with `xargs`
    ");
}

#[test]
fn a_folder_that_cannot_be_written_is_the_machines_fault_and_leaves_nothing() {
    let project = project().file("out", "a file");
    let stderr = project
        .run(&["wheel", "label", PLAIN, "--local", "x", "-w", "out"])
        .exits(3)
        .stderr;
    assert!(
        stderr.starts_with("error[H021 cannot-write-file]: cannot write `out/flash_attn-2.8.3+x"),
        "{stderr}"
    );
    assert_eq!(project.files(), [PLAIN, "out"]);
}

/// Python's reader is another judge of what is written.
#[test]
fn python_reads_what_is_written() {
    let project = project();
    project
        .run(&["wheel", "label", PLAIN, "--local", "rocm62torch2.5"])
        .exits(0);
    let script = "import sys, zipfile, email\n\
                  with zipfile.ZipFile(sys.argv[1]) as z:\n\
                  \x20   assert z.testzip() is None\n\
                  \x20   name = next(n for n in z.namelist() if n.endswith('METADATA'))\n\
                  \x20   print(email.message_from_bytes(z.read(name))['Version'])\n";
    match Command::new("python3")
        .args(["-c", script])
        .arg(project.path(LABELLED))
        .output()
    {
        Ok(done) => {
            assert!(
                done.status.success(),
                "{}",
                String::from_utf8_lossy(&done.stderr)
            );
            assert_eq!(
                String::from_utf8_lossy(&done.stdout),
                "2.8.3+rocm62torch2.5\n"
            );
        }
        Err(error) => {
            let _ = writeln!(
                std::io::stderr(),
                "skipped: python3 cannot be started: {error}"
            );
        }
    }
}

/// Blocks that were compressed apart are one stream to others.
#[test]
fn python_reads_members_compressed_in_blocks() {
    let old = Wheel::named(PLAIN).file("big.txt", "old").bytes();
    let wheel = rock_matrix::wheel::Wheel::open(&old).unwrap();
    let lines: Vec<u8> = (0..1_300_000)
        .flat_map(|number: u32| format!("{number}\n").into_bytes())
        .collect();
    assert!(lines.len() > 8 << 20, "{}", lines.len());
    let mut edits = rock_matrix::wheel::WheelEdits::default();
    edits
        .replaced
        .insert("big.txt".to_owned(), lines.as_slice().into());
    let mut bytes = Vec::new();
    rewrite(&wheel, &edits, &RewriteOptions::default(), &mut bytes).unwrap();
    let project = Project::new().bytes(PLAIN, &bytes);
    project.run(&["wheel", "verify", PLAIN]).exits(0);
    let script = "import sys, zipfile\n\
                  with zipfile.ZipFile(sys.argv[1]) as z:\n\
                  \x20   assert z.testzip() is None\n\
                  \x20   print(z.read('big.txt') == b''.join(b'%d\\n' % n for n in range(1300000)))\n";
    match Command::new("python3")
        .args(["-c", script])
        .arg(project.path(PLAIN))
        .output()
    {
        Ok(done) => assert_eq!(String::from_utf8_lossy(&done.stdout), "True\n", "{done:?}"),
        Err(error) => {
            let _ = writeln!(
                std::io::stderr(),
                "skipped: python3 cannot be started: {error}"
            );
        }
    }
}

#[test]
fn a_wheel_of_5_gib_is_labelled_by_copying_and_found_by_other_readers() {
    let name = "large-1-py3-none-any.whl";
    let small = Wheel::named(name)
        .file("large/zeros.bin", "")
        .stored()
        .bytes();
    let size: u64 = 5 << 30;
    let source = with_hole(&small, "large/zeros.bin", size);
    let wheel = rock_matrix::wheel::Wheel::open(&source).unwrap();
    let change = relabel(
        &wheel,
        &name.parse().unwrap(),
        &"rocm62".parse().unwrap(),
        ExistingLabel::Refuse,
    )
    .unwrap();
    let mut labelled = Holes::default();
    let length = rewrite(
        &wheel,
        &change.edits,
        &RewriteOptions::default(),
        &mut labelled,
    )
    .unwrap();
    assert!(length > size && length == labelled.end);

    let project = Project::new();
    let path = project.path(&change.name.to_string());
    labelled.save(&path);
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(archive.by_name("large/zeros.bin").unwrap().size(), size);
    let mut text = String::new();
    archive
        .by_name("large-1+rocm62.dist-info/METADATA")
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.contains("Version: 1+rocm62\n"));
    if let Ok(done) = Command::new("python3")
        .args(["-m", "zipfile", "-l"])
        .arg(&path)
        .output()
    {
        let listed = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(
            done.status.success() && listed.contains(&size.to_string()),
            "{listed}"
        );
    }
    // The file is opened and its dist-info read; its 5 GiB are not.
    let named = change.name.to_string();
    let stderr = project
        .run(&["wheel", "label", &named, "--local", "rocm63"])
        .exits(1)
        .stderr;
    assert!(stderr.starts_with("error[W060 has-label]"), "{stderr}");
}

/// A large file that is held as the stretches that are not zero.
#[derive(Default)]
struct Holes {
    stretches: Vec<(u64, Vec<u8>)>,
    end: u64,
}

impl Holes {
    fn save(&self, path: &std::path::Path) {
        use std::os::unix::fs::FileExt;
        let file = std::fs::File::create(path).unwrap();
        self.stretches
            .iter()
            .for_each(|(offset, bytes)| file.write_all_at(bytes, *offset).unwrap());
        file.set_len(self.end).unwrap();
    }
}

impl ReadAt for Holes {
    fn size_bytes(&self) -> u64 {
        self.end
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let length = usize::try_from(self.end - offset.min(self.end))
            .unwrap()
            .min(buffer.len());
        buffer[..length].fill(0);
        for (start, bytes) in &self.stretches {
            for (position, byte) in (*start..)
                .zip(bytes)
                .filter(|(at, _)| (offset..offset + length as u64).contains(at))
            {
                buffer[usize::try_from(position - offset).unwrap()] = *byte;
            }
        }
        Ok(length)
    }
}

impl Write for Holes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.stretches.push((self.end, bytes.to_vec()));
        self.end += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl ByteSink for Holes {
    fn copy_from(&mut self, source: &dyn ReadAt, offset: u64, length: u64) -> std::io::Result<()> {
        if length > 1 << 30 {
            // Only zeros are as long as this here.
            self.end += length;
            return Ok(());
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        source.read_exact_at(&mut bytes, offset)?;
        self.write_all(&bytes)
    }

    fn overwrite(&mut self, _: u64, _: &[u8]) -> std::io::Result<()> {
        Err(std::io::Error::other("a label changes no large member"))
    }
}

/// A wheel in which an empty stored member was given a size.
fn with_hole(wheel: &[u8], member: &str, size: u64) -> Holes {
    let source = wheel.to_vec();
    let archive = rock_matrix::wheel::ZipArchive::open(&source).unwrap();
    let contents: BTreeMap<String, Vec<u8>> = archive
        .members()
        .iter()
        .map(|m| (m.name().to_owned(), archive.read(m, 1 << 20).unwrap()))
        .collect();
    let (mut pieces, mut central, mut position) = (Vec::new(), Vec::new(), 0_u64);
    for entry in archive.members() {
        let (name, content) = (entry.name(), &contents[entry.name()]);
        let is_hole = name == member;
        let length = if is_hole { size } else { content.len() as u64 };
        let wide = position >= u64::from(u32::MAX);
        let name_length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let sizes = if is_hole {
            [0xff; 8].to_vec()
        } else {
            [u32::try_from(length).unwrap().to_le_bytes(); 2].concat()
        };
        let mut field: Vec<u8> = if is_hole {
            [length.to_le_bytes(); 2].concat()
        } else {
            Vec::new()
        };
        let extra = |field: &[u8]| match field.len() {
            0 => Vec::new(),
            n => [
                &[1, 0],
                u16::try_from(n).unwrap().to_le_bytes().as_slice(),
                field,
            ]
            .concat(),
        };
        let mut common = vec![45, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        common.extend(entry.crc32().to_le_bytes());
        common.extend(&sizes);
        common.extend(name_length);
        let local_extra = extra(&field);
        let mut local = b"PK\x03\x04".to_vec();
        local.extend(&common);
        local.extend(u16::try_from(local_extra.len()).unwrap().to_le_bytes());
        local.extend(name.as_bytes());
        local.extend(&local_extra);
        local.extend(content);
        if wide {
            field.extend(position.to_le_bytes());
        }
        let central_extra = extra(&field);
        central.extend(b"PK\x01\x02\x2d\x03");
        central.extend(&common);
        central.extend(u16::try_from(central_extra.len()).unwrap().to_le_bytes());
        central.extend([0; 6]);
        central.extend((0o100_644_u32 << 16).to_le_bytes());
        central.extend(if wide {
            [0xff; 4]
        } else {
            u32::try_from(position).unwrap().to_le_bytes()
        });
        central.extend(name.as_bytes());
        central.extend(&central_extra);
        let header = local.len() as u64 - content.len() as u64;
        pieces.push((position, local));
        position += header + length;
    }
    let count = archive.members().len() as u64;
    let mut end = central.clone();
    end.write_all(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\x03\x2d\0\0\0\0\0\0\0\0\0")
        .unwrap();
    for value in [count, count, central.len() as u64, position] {
        end.extend(value.to_le_bytes());
    }
    end.extend(b"PK\x06\x07\0\0\0\0");
    end.extend((position + central.len() as u64).to_le_bytes());
    end.extend(b"\x01\0\0\0PK\x05\x06\0\0\0\0");
    end.extend([0xff; 12]);
    end.extend([0; 2]);
    let length = end.len() as u64;
    pieces.push((position, end));
    Holes {
        stretches: pieces,
        end: position + length,
    }
}

/// Such wheels are published: a tool that repacked them wrote no hashes.
#[test]
fn a_wheel_without_hashes_is_refused_by_what_makes_none_and_mended_by_what_does() {
    let bare = plain().edit("RECORD", |text| {
        let path = |line: &str| {
            line.split(",sha256=")
                .next()
                .unwrap_or_default()
                .trim_end_matches(',')
                .to_owned()
        };
        text.lines()
            .map(|line| format!("{},,\n", path(line)))
            .collect()
    });
    let project = Project::new().bytes(PLAIN, &bare.bytes());
    for refused in [
        &["label", PLAIN, "--local", "rocm62torch2.5"][..],
        &["retag", PLAIN, "--build", "2"],
    ] {
        let stderr = project.run(&[&["wheel"], refused].concat()).exits(1).stderr;
        assert!(
            stderr.starts_with("error[W024 weak-record-hash]: RECORD has no acceptable hash for 6"),
            "{stderr}"
        );
        assert!(
            stderr.contains("help: `rock-matrix wheel repair WHEEL`"),
            "{stderr}"
        );
    }
    let verified = project.run(&["wheel", "verify", PLAIN]).exits(1).stderr;
    assert_eq!(verified.matches("error[W024").count(), 1, "{verified}");
    assert!(
        verified.contains(" = note: the same in 5 other files\n"),
        "{verified}"
    );
    let trusting = [
        "wheel",
        "repair",
        PLAIN,
        "--relabel",
        "rocm62torch2.5",
        "--trust-record",
        "-w",
        "out",
    ];
    assert!(
        project
            .run(&trusting)
            .exits(1)
            .stderr
            .contains("without `--trust-record`")
    );
    let mended = project
        .run(&[
            "wheel",
            "repair",
            PLAIN,
            "--relabel",
            "rocm62torch2.5",
            "-w",
            "out",
        ])
        .exits(0);
    assert!(mended.stderr.contains("warning[W024"), "{}", mended.stderr);
    let out = format!("out/{LABELLED}");
    project.run(&["wheel", "verify", &out]).exits(0);
    project
        .run(&["wheel", "retag", &out, "--build", "2"])
        .exits(0);
}

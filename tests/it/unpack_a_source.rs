//! Source archives are unpacked into the job's folder and nowhere else, by every Python.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use flate2::{Compression, write::GzEncoder};

use crate::support::Project;
use crate::support::artifacts::{append, append_other};

const MATRIX: &str = "version: 1\ndistribution: mine\nrecipe: mine\naxes: {python: [\"3.12\"], rocm: [\"7.14.0\"]}\nunknown: lenient\n\
    gfx: [gfx942]\ntorch-from: host\npython-from: host\n";
const RECIPE: &str = "recipe: 1\nname: mine\nversion-from: build\nleaves: tree\nsources:\n  mine: {artifact: a.tar.gz}\n  own: {path: tree}\n\
    edits:\n  - {file: src/mine/setup.py, find: old, replace: new}\n  - {file: src/mine/made/file, write: made}\n  \
    - {remove: [src/mine/gone/file]}\nsteps:\n  - {stage: build, argv: [\"true\"]}\n";
/// Takes from Python what versions before 3.8.17 and 3.11.4 do not have.
const WITHOUT_FILTERS: &str = "import tarfile\nfor name in ('data_filter', 'tar_filter', 'fully_trusted_filter'):\n    \
    vars(tarfile).pop(name, None)\n";

type Builder = tar::Builder<Vec<u8>>;

/// A job whose source is an archive, next to a file that is none of its business.
struct Job {
    project: Project,
}

/// The commands that the program renders for the recipe.
fn steps() -> &'static [Vec<String>] {
    static STEPS: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    STEPS.get_or_init(|| {
        let project = Project::new()
            .file("m.yaml", MATRIX)
            .file("mine.yaml", RECIPE);
        let stdout = project
            .run(&[
                "render",
                "recipe",
                "mine.yaml",
                "m.yaml",
                "--engine",
                "local",
            ])
            .exits(0)
            .stdout;
        let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
        let words = |step: &serde_json::Value| {
            step["argv"]
                .as_array()
                .unwrap()
                .iter()
                .map(|word| word.as_str().unwrap().to_owned())
                .collect()
        };
        whole["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(words)
            .collect()
    })
}

/// The Python behind `python3`, without the programs in front of it that choose one of several.
fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let words = ["-c", "import sys; print(sys.executable)"];
        String::from_utf8(Command::new("python3").args(words).output().unwrap().stdout)
            .unwrap()
            .trim()
            .to_owned()
    })
}

impl Job {
    fn new(fill: impl FnOnce(&mut Builder)) -> Self {
        let mut builder = Builder::new(Vec::new());
        fill(&mut builder);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        std::io::Write::write_all(&mut packed, &builder.into_inner().unwrap()).unwrap();
        let project = Project::new()
            .file("m.yaml", MATRIX)
            .file("mine.yaml", RECIPE)
            .file("victim", "old")
            .file("job/src/other/setup.py", "old")
            .bytes("a.tar.gz", &packed.finish().unwrap());
        Self { project }
    }

    /// Runs a step in the job's folder, with a text that Python runs first.
    fn run(&self, step: usize, before: &str) -> Output {
        self.run_program(step, &|program| format!("{before}{program}"))
    }

    /// Runs a step in the job's folder, with its program changed.
    fn run_program(&self, step: usize, change: &dyn Fn(&str) -> String) -> Output {
        let [_, option, program, rest @ ..] = &steps()[step][..] else {
            panic!("{:?}", steps())
        };
        let program = change(program);
        let mut command = Command::new(python());
        let caller = self.project.root().to_str().unwrap();
        command.args([option, &program]).args(
            rest.iter()
                .map(|word| word.replace("${ROCK_CALLER}", caller)),
        );
        command.current_dir(self.project.path("job"));
        command.output().unwrap()
    }

    /// Everything of the job's folder, with what is in files and where links lead.
    fn left(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.project.path("job"), "", &mut found);
        found.sort();
        found
    }

    fn refused(&self, before: &str) -> String {
        let output = self.run(0, before);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert_eq!(
            self.left(),
            ["src/", "src/other/", "src/other/setup.py 644 old"],
            "{stderr}"
        );
        assert_eq!(self.project.read("victim"), "old", "{stderr}");
        assert!(!self.project.has("evil"), "{stderr}");
        stderr.replace(self.project.root().to_str().unwrap(), "[ROOT]")
    }
}

fn list(folder: &Path, above: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{above}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_symlink() {
            found.push(format!(
                "{name} -> {}",
                std::fs::read_link(&path).unwrap().display()
            ));
        } else if path.is_dir() {
            found.push(format!("{name}/"));
            list(&path, &format!("{name}/"), found);
        } else {
            let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
            found.push(format!(
                "{name} {mode:o} {}",
                std::fs::read_to_string(&path).unwrap()
            ));
        }
    }
}

fn with_mode(builder: &mut Builder, path: &str, mode: u32) {
    let mut header = tar::Header::new_gnu();
    header.set_path(path).unwrap();
    header.set_mode(mode);
    header.set_size(1);
    header.set_cksum();
    builder.append(&header, b"x".as_slice()).unwrap();
}

fn link(builder: &mut Builder, path: &str, text: &str) {
    append_other(builder, tar::EntryType::Symlink, path, text);
}

fn long_link(builder: &mut Builder, path: &str, text: &str) {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    builder.append_link(&mut header, path, text).unwrap();
}

fn long_folder(builder: &mut Builder, path: &str) {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    builder
        .append_data(&mut header, path, std::io::empty())
        .unwrap();
}

/// Links that stay in the archive's folder are kept and followed; the rest is as tarfile's filter
/// `data` has it.
#[test]
fn what_stays_in_the_top_folder_of_a_source_archive_is_kept() {
    let mut seen = Vec::new();
    for before in ["", WITHOUT_FILTERS] {
        let job = Job::new(|tar| {
            append_other(tar, tar::EntryType::XGlobalHeader, "pax_global_header", "");
            append_other(tar, tar::EntryType::Directory, "./mine-1.0/", "");
            with_mode(tar, "mine-1.0/run", 0o6777);
            with_mode(tar, "mine-1.0/secret", 0o066);
            link(tar, "mine-1.0/lib64", "lib");
            append(tar, "mine-1.0/lib/a", b"a");
            append(tar, "mine-1.0/lib64/b", b"b");
            link(tar, "mine-1.0/lib/up", "../run");
            link(tar, "mine-1.0/later", "none");
            append_other(tar, tar::EntryType::Link, "mine-1.0/same", "mine-1.0/lib/a");
            link(tar, "mine-1.0/replaced", "lib/a");
            append(tar, "mine-1.0/replaced", b"new");
        });
        let output = job.run(0, before);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        seen.push(job.left().join("\n"));
    }
    assert_eq!(seen[0], seen[1]);
    insta::assert_snapshot!(seen[0], @r"
    src/
    src/mine/
    src/mine/later -> none
    src/mine/lib/
    src/mine/lib/a 644 a
    src/mine/lib/b 644 b
    src/mine/lib/up -> ../run
    src/mine/lib64 -> lib
    src/mine/replaced 644 new
    src/mine/run 755 x
    src/mine/same 644 a
    src/mine/secret 644 x
    src/other/
    src/other/setup.py 644 old
    ");
}

#[test]
fn source_archives_that_lead_out_of_the_job_are_refused_by_every_python() {
    let out = |kind, text: &'static str| {
        move |tar: &mut Builder| append_other(tar, kind, "mine/passwd", text)
    };
    let mut reports = Vec::new();
    for before in ["", WITHOUT_FILTERS] {
        let refuse = |fill: &dyn Fn(&mut Builder)| {
            Job::new(|tar| {
                append(tar, "mine/setup.py", b"old");
                fill(tar);
            })
            .refused(before)
        };
        let all = [
            refuse(&|tar| {
                link(tar, "mine/out", "../../../..");
                append(tar, "mine/out/evil", b"x");
            }),
            refuse(&|tar| {
                link(tar, "mine/out", "../../../victim");
                append(tar, "mine/out", b"x");
            }),
            refuse(&|tar| {
                link(tar, "mine/a", "b/c");
                append(tar, "mine/b/c/file", b"x");
                link(tar, "mine/d", "a/../../../../victim");
            }),
            // Each link is fine where nothing else is, and both together are not.
            refuse(&|tar| {
                link(tar, "mine/deep/first", "second/../setup.py");
                link(tar, "mine/deep/second", "..");
            }),
            refuse(&out(tar::EntryType::Symlink, "/etc/passwd")),
            refuse(&out(tar::EntryType::Link, "/etc/passwd")),
            refuse(&out(tar::EntryType::Link, "../../victim")),
            refuse(&out(tar::EntryType::Symlink, "../other/setup.py")),
            refuse(&out(tar::EntryType::Link, "mine/none")),
            refuse(&out(tar::EntryType::Fifo, "")),
            refuse(&out(tar::EntryType::Char, "")),
            refuse(&out(tar::EntryType::Block, "")),
            refuse(&|tar| append(tar, "/evil", b"x")),
            refuse(&|tar| append(tar, "mine/../../../evil", b"x")),
            refuse(&|tar| append(tar, "mine/setup.py/below", b"x")),
            refuse(&|tar| append(tar, "beside", b"x")),
            refuse(&|tar| link(tar, "beside", "mine")),
            refuse(&|tar| {
                link(tar, "mine/one", "two");
                link(tar, "mine/two", "one");
                append(tar, "mine/one/file", b"x");
            }),
        ];
        reports.push(all.concat());
    }
    assert_eq!(reports[0], reports[1]);
    insta::assert_snapshot!(reports[0], @r"
    a.tar.gz: member 'mine/out' leads out of the archive's top folder
    a.tar.gz: member 'mine/out' leads out of the archive's top folder
    a.tar.gz: member 'mine/d' leads out of the archive's top folder
    a.tar.gz: member 'mine/deep/first' leads out of the archive's top folder
    a.tar.gz: member 'mine/passwd' has an absolute path or link target
    a.tar.gz: member 'mine/passwd' has an absolute path or link target
    a.tar.gz: member 'mine/passwd' leads out of the archive's top folder
    a.tar.gz: member 'mine/passwd' leads out of the archive's top folder
    a.tar.gz: member 'mine/passwd' is another name of 'mine/none', which is no file in front of it
    a.tar.gz: member 'mine/passwd' is neither a file, a folder nor a link
    a.tar.gz: member 'mine/passwd' is neither a file, a folder nor a link
    a.tar.gz: member 'mine/passwd' is neither a file, a folder nor a link
    a.tar.gz: member '/evil' has an absolute path or link target
    a.tar.gz: member 'mine/../../../evil' leads out of the archive's top folder
    a.tar.gz: it cannot be unpacked: [Errno 17] File exists: '[ROOT]/job/src/mine.unpacking/mine/setup.py'
    a.tar.gz: member 'beside' lies beside the archive's top folder
    a.tar.gz: member 'beside' lies beside the archive's top folder
    a.tar.gz: member 'mine/one/file' leads through a link out of the archive's top folder, or through too many links
    ");
}

/// Each name is short, and what it leads to is longer than the system takes: whoever asks for the
/// real path in one piece gets none (CVE-2025-4517).
#[test]
fn a_chain_of_links_longer_than_paths_may_be_is_refused() {
    let folder = "d".repeat(240);
    for before in ["", WITHOUT_FILTERS] {
        let job = Job::new(|tar| {
            let (mut real, mut steps) = ("mine".to_owned(), "mine".to_owned());
            for step in 'a'..='p' {
                long_link(tar, &format!("{real}/{step}"), &folder);
                real = format!("{real}/{folder}");
                long_folder(tar, &real);
                steps = format!("{steps}/{step}");
            }
            let up = format!("{steps}/{}", "l".repeat(254));
            long_link(tar, &up, &"../".repeat(16));
            long_link(
                tar,
                "mine/out",
                &format!("{}/../../../../victim", &up["mine/".len()..]),
            );
            append(tar, "mine/out", b"x");
        });
        let stderr = job.refused(before);
        assert!(stderr.contains("File name too long"), "{stderr}");
    }
}

/// The same through the program: the build ends, and nothing is written outside.
#[test]
fn a_build_ends_at_a_source_archive_that_leads_out_of_it() {
    let job = Job::new(|tar| {
        link(tar, "mine/out", "../../../../../victim");
        append(tar, "mine/out", b"x");
    });
    std::fs::create_dir(job.project.path("tree")).unwrap();
    let stderr = job
        .project
        .run(&[
            "build",
            "--all",
            "--matrix",
            "m.yaml",
            "--matrix",
            "mine.yaml",
        ])
        .exits(4)
        .stderr;
    assert!(
        stderr.contains("member 'mine/out' leads out of the archive's top folder"),
        "{stderr}"
    );
    assert_eq!(job.project.read("victim"), "old");
}

/// Copies and checkouts keep the links that their sources have.
#[test]
fn edits_do_not_follow_links_of_sources_out_of_the_job() {
    let job = Job::new(|tar| append(tar, "mine/x", b""));
    let tree = job.project.path("job/src/mine");
    std::fs::create_dir_all(&tree).unwrap();
    let symlink =
        |text: &str, name: &str| std::os::unix::fs::symlink(text, tree.join(name)).unwrap();
    symlink("../../../victim", "setup.py");
    symlink("../../..", "made");
    symlink("../../../out", "gone");
    let kept = job.project.path("out/file");
    std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::write(&kept, "kept").unwrap();
    let mut messages = String::new();
    for step in 2..5 {
        let output = job.run(step, "");
        assert_eq!(output.status.code(), Some(1));
        messages += &String::from_utf8(output.stderr).unwrap();
    }
    assert!(job.project.read("victim") == "old" && kept.exists() && !job.project.has("file"));
    insta::assert_snapshot!(messages.replace(job.project.root().canonicalize().unwrap().to_str().unwrap(), "[ROOT]"), @r"
    src/mine/setup.py: a link leads to [ROOT]/victim, out of the job's folder; the sources are not edited there
    src/mine/made/file: a link leads to [ROOT]/file, out of the job's folder; the sources are not written there
    src/mine/gone/file: a link leads to [ROOT]/out/file, out of the job's folder; nothing is removed there
    ");
}

/// A name that only a step can find out may hold `..`: behind a link it leads elsewhere than its
/// text.
#[test]
fn edits_use_the_path_that_was_checked() {
    let job = Job::new(|tar| append(tar, "mine/x", b""));
    std::os::unix::fs::symlink("../../out/below", job.project.path("job/src/link")).unwrap();
    std::fs::create_dir_all(job.project.path("out/below")).unwrap();
    for name in ["job/src/file", "out/file"] {
        std::fs::write(job.project.path(name), "old").unwrap();
    }
    let with = |path: &str| format!("import sys\nsys.argv[1] = {path:?}\n");
    let mut text = String::new();
    for step in 2..5 {
        let output = job.run(step, &with("src/link/../file"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        text += &String::from_utf8(output.stderr).unwrap();
    }
    assert_eq!(
        [
            job.project.read("job/src/file"),
            job.project.read("out/file")
        ],
        ["old", "old"]
    );
    insta::assert_snapshot!(text.replace(job.project.root().canonicalize().unwrap().to_str().unwrap(), "[ROOT]"), @r"
    src/link/../file: a link leads to [ROOT]/out/file, out of the job's folder; the sources are not edited there
    src/link/../file: a link leads to [ROOT]/out/file, out of the job's folder; the sources are not written there
    src/link/../file: a link leads to [ROOT]/out/file, out of the job's folder; nothing is removed there
    ");
    // Of a link with a slash behind it, the link is removed.
    let output = job.run(4, &with("src/link/"));
    assert!(output.status.success(), "{output:?}");
    assert!(
        !job.project.path("job/src/link").is_symlink() && job.project.path("out/below").is_dir()
    );
}

/// A header of any kind with a content and the right sum.
fn raw(builder: &mut Builder, kind: u8, content: &[u8]) {
    let mut header = tar::Header::new_ustar();
    header.set_path("mine/header").unwrap();
    header.set_entry_type(tar::EntryType::new(kind));
    header.set_mode(0o644);
    header.set_size(content.len() as u64);
    header.set_cksum();
    builder.append(&header, content).unwrap();
}

/// A pax header of this length that says nothing about a member.
fn comment(length: usize) -> Vec<u8> {
    let start = format!("{length} comment=");
    format!("{start}{}\n", "c".repeat(length - start.len() - 1)).into_bytes()
}

/// tarfile reads such headers whole, whatever size they claim, and recurses for each.
#[test]
fn large_headers_of_source_archives_are_refused() {
    let output_of = |fill: &dyn Fn(&mut Builder)| {
        let job = Job::new(|tar| {
            append(tar, "mine/setup.py", b"old");
            fill(tar);
            append(tar, "mine/last", b"x");
        });
        let output = job.run(0, "");
        assert_eq!(
            output.status.success(),
            job.project.has("job/src/mine/last")
        );
        let text = if output.status.success() {
            "unpacked\n".into()
        } else {
            String::from_utf8(output.stderr).unwrap()
        };
        let short = text.replace(
            job.project.root().canonicalize().unwrap().to_str().unwrap(),
            "[ROOT]",
        );
        short.replace(&"n".repeat(8), "")
    };
    let all = [
        output_of(&|tar| raw(tar, b'x', &comment(64 << 10))),
        output_of(&|tar| raw(tar, b'x', &comment((64 << 10) + 1))),
        output_of(&|tar| raw(tar, b'X', &comment((64 << 10) + 1))),
        output_of(&|tar| raw(tar, b'g', &comment(64 << 10))),
        output_of(&|tar| raw(tar, b'g', &comment((64 << 10) + 1))),
        output_of(&|tar| raw(tar, b'g', b"10 path=a\n")),
        // The limit of the system is shorter by the folder's path.
        output_of(&|tar| raw(tar, b'L', &[b'n'; 4096])),
        output_of(&|tar| raw(tar, b'L', &[b'n'; 4097])),
        output_of(&|tar| raw(tar, b'L', &[b'n'; 4098])),
        output_of(&|tar| raw(tar, b'K', &[b'n'; 4098])),
        output_of(&|tar| {
            raw(
                tar,
                b'x',
                format!("5007 path={}\n", "n".repeat(4996)).as_bytes(),
            );
        }),
        output_of(&|tar| (0..100).for_each(|_| raw(tar, b'g', b""))),
        output_of(&|tar| (0..101).for_each(|_| raw(tar, b'g', b""))),
        output_of(&|tar| (0..1000).for_each(|_| raw(tar, b'x', b""))),
        output_of(&|tar| raw(tar, b'x', b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n")),
        output_of(&|tar| raw(tar, b'S', b"")),
        output_of(&|tar| raw(tar, b'x', b"11 size=-9\n")),
        output_of(&|tar| tar.get_mut().extend([7; 512])),
        output_of(&|tar| {
            for kind in [b'L', b'K'] {
                raw(tar, kind, b"mine/last\0");
            }
        }),
        output_of(&|tar| (0..2).for_each(|_| raw(tar, b'L', b"mine/long\0"))),
        output_of(&|tar| (0..2).for_each(|_| raw(tar, b'K', b"mine/long\0"))),
    ];
    insta::assert_snapshot!(all.concat(), @"
    unpacked
    a.tar.gz: it cannot be unpacked: an extended header has 65537 bytes, more than 65536, at byte 1024
    a.tar.gz: it cannot be unpacked: an extended header has 65537 bytes, more than 65536, at byte 1024
    unpacked
    a.tar.gz: it cannot be unpacked: an extended header has 65537 bytes, more than 65536, at byte 1024
    a.tar.gz: it cannot be unpacked: an extended header gives all members one path, link or size
    a.tar.gz: member '' lies beside the archive's top folder
    a.tar.gz: member '' has a path of more than 4096 bytes
    a.tar.gz: it cannot be unpacked: an extended header has 4098 bytes, more than 4097, at byte 1024
    a.tar.gz: it cannot be unpacked: an extended header has 4098 bytes, more than 4097, at byte 1024
    a.tar.gz: member '' has a path of more than 4096 bytes
    unpacked
    a.tar.gz: it cannot be unpacked: a member has more than 100 extended headers, at byte 52224
    a.tar.gz: it cannot be unpacked: a member has more than 100 extended headers, at byte 52224
    a.tar.gz: it cannot be unpacked: a sparse file is not supported, at byte 1024
    a.tar.gz: it cannot be unpacked: a sparse file is not supported, at byte 1024
    a.tar.gz: it cannot be unpacked: a size is less than 0
    a.tar.gz: it cannot be unpacked: invalid header, at byte 1024
    unpacked
    a.tar.gz: it cannot be unpacked: two extended headers of one kind describe one member, at byte 2048
    a.tar.gz: it cannot be unpacked: two extended headers of one kind describe one member, at byte 2048
    ");
}

/// Members are counted with their names; here the limits are small, since those of the program take
/// seconds to reach.
#[test]
fn members_and_names_of_source_archives_are_limited() {
    let job = |count: usize, name: &str| {
        Job::new(|tar| (0..count).for_each(|at| append(tar, &format!("mine{name}{at}"), b"x")))
    };
    let refused_with = |limit: &str, small: &str, count: usize, name: &str| {
        let job = job(count, name);
        let output = job.run_program(0, &|program| {
            assert!(program.contains(limit), "{program}");
            program.replace(limit, small)
        });
        assert_eq!(output.status.success(), job.project.has("job/src/mine"));
        !output.status.success()
    };
    let refused = |limit: &str, small: &str, count| refused_with(limit, small, count, "/");
    assert!(!refused("MOST_MEMBERS = 250000", "MOST_MEMBERS = 3", 3));
    assert!(refused("MOST_MEMBERS = 250000", "MOST_MEMBERS = 3", 4));
    assert!(!refused(
        "MOST_NAME_BYTES = 64 << 20",
        "MOST_NAME_BYTES = 18",
        3
    ));
    assert!(refused(
        "MOST_NAME_BYTES = 64 << 20",
        "MOST_NAME_BYTES = 18",
        4
    ));
    // Bytes, not characters.
    assert!(!refused_with(
        "MOST_NAME_BYTES = 64 << 20",
        "MOST_NAME_BYTES = 24",
        3,
        "/\u{e4}"
    ));
    assert!(refused_with(
        "MOST_NAME_BYTES = 64 << 20",
        "MOST_NAME_BYTES = 23",
        3,
        "/\u{e4}"
    ));
}

/// The limits are methods that tarfile calls: a Python that has none of that name would not call
/// them.
#[test]
fn a_python_without_the_overridden_methods_is_refused() {
    let job = Job::new(|tar| append(tar, "mine/setup.py", b"new"));
    let before = "import tarfile\ndel tarfile.TarInfo._proc_member\n";
    let stderr = job.refused(before);
    let version = stderr
        .split("Python ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .unwrap()
        .to_owned();
    assert!(version.starts_with("3."), "{stderr}");
    insta::assert_snapshot!(stderr.replace(&version, "3.x"), @"tarfile of Python 3.x has no TarInfo._proc_member, which limits what it reads; use another Python");
}

/// Steps before it may have left links in the job's folder.
#[test]
fn sources_are_not_unpacked_or_copied_through_links_of_the_job() {
    let job = Job::new(|tar| append(tar, "mine/setup.py", b"new"));
    let folder = job.project.path("job");
    let symlink =
        |text: &str, name: &str| std::os::unix::fs::symlink(text, folder.join(name)).unwrap();
    for (name, kept) in [
        ("out/mine/setup.py", "kept"),
        ("out/own/file", "kept"),
        ("tree/file", "new"),
    ] {
        let path = job.project.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, kept).unwrap();
    }
    for name in ["src/mine", "src/own"] {
        symlink("../../out", name);
    }
    symlink("../../out", "src/mine.unpacking");
    symlink("../../out/own/file", "src/own.copied");
    for step in [0, 1] {
        let output = job.run(step, "");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    // What was copied is noted with its times.
    let note = folder.join("src/own.copied");
    assert!(!note.is_symlink());
    std::fs::remove_file(note).unwrap();
    assert_eq!(
        job.left(),
        [
            "src/",
            "src/mine/",
            "src/mine/setup.py 644 new",
            "src/other/",
            "src/other/setup.py 644 old",
            "src/own/",
            "src/own/file 644 new"
        ]
    );
    std::fs::remove_dir_all(folder.join("src")).unwrap();
    symlink("../out", "src");
    let mut messages = String::new();
    for step in [0, 1] {
        let output = job.run(step, "");
        assert_eq!(output.status.code(), Some(1));
        messages += &String::from_utf8(output.stderr).unwrap();
    }
    assert_eq!(
        job.project.read("out/mine/setup.py") + &job.project.read("out/own/file"),
        "keptkept"
    );
    assert!(!job.project.has("out/mine.unpacking"));
    insta::assert_snapshot!(messages.replace(job.project.root().canonicalize().unwrap().to_str().unwrap(), "[ROOT]"), @r"
    src/mine: a link leads to [ROOT]/out/mine, out of the job's folder; nothing is unpacked there
    src/own: a link leads to [ROOT]/out/own, out of the job's folder; nothing is copied there
    ");
}

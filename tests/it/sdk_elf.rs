//! Libraries and programs of both linkers, also with program headers where splitting off the code
//! for GPUs moves them, on their way into packages of the SDK: they load and run from there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rock_matrix::elf::{Elf, ProgramHeader, segment_flag, segment_type, verify};

use crate::support::Project;
use crate::support::artifacts::Artifacts;
use crate::support::linked::{find_lld, headers_at_end, linked_by, run, warnings};

const LIBRARY: &str = "static int kept = 2; int lib(int); int answer(void) { return 40 + kept; } int lib(int n) { return n; }";
const PROGRAM: &str = "#include <stdio.h>\nint main(int n, char **v) { printf(\"%d %s\\n\", n, v[n - 1]); return 0; }";

/// What `cc` makes of a source.
fn compiled(folder: &Path, source: &str, words: &[&str]) -> Vec<u8> {
    std::fs::write(folder.join("source.c"), source).unwrap();
    run(Command::new("cc")
        .current_dir(folder)
        .args(["-O1", "-o", "made", "source.c"])
        .args(words));
    std::fs::read(folder.join("made")).unwrap()
}

/// How the linkers of this machine are asked for.
fn linkers(folder: &Path) -> Vec<Vec<String>> {
    let lld = find_lld("libraries of lld in packages of the SDK");
    [vec![]]
        .into_iter()
        .chain(lld.map(|lld| linked_by(&lld, &folder.join("linker"))))
        .collect()
}

/// The core package with these files, unpacked.
fn unpacked(files: &BTreeMap<String, Vec<u8>>) -> (Project, PathBuf) {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    for (path, bytes) in files {
        artifacts.executable(&format!("core-hip_lib_generic/hip/stage/{path}"), bytes);
    }
    let words = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "out",
        "--version",
        "7.10.0",
    ];
    project.run(&words).exits(0);
    let site = project.path("site");
    let wheel = project.path("out/dist/rocm_sdk_core-7.10.0-py3-none-linux_x86_64.whl");
    run(Command::new("python3")
        .args(["-m", "zipfile", "-e"])
        .arg(wheel)
        .arg(&site));
    let root = site.join("_rocm_sdk_core");
    for path in files.keys() {
        // Python's unpacker does not keep permissions; installers do.
        run(Command::new("chmod").arg("755").arg(root.join(path)));
    }
    (project, root)
}

fn loads(path: &Path) {
    let script = "import ctypes, sys; assert ctypes.CDLL(sys.argv[1]).answer() == 42";
    run(Command::new("python3")
        .args(["-c", script])
        .arg(path)
        .env("LD_BIND_NOW", "1"));
}

/// Whatever linked them and wherever their program headers are, libraries load from the
/// package.
#[test]
fn libraries_of_both_linkers_and_split_ones_load_from_the_package() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = BTreeMap::new();
    for (number, linker) in linkers(folder.path()).iter().enumerate() {
        for (kind, more) in [
            ("bare", vec![]),
            (
                "path",
                vec!["-Wl,-rpath,$ORIGIN/llvm/lib", "-Wl,--enable-new-dtags"],
            ),
        ] {
            let name = |form: &str| format!("lib{kind}{number}{form}.so.1");
            let make = |form: &str| {
                let soname = format!("-Wl,-soname,{}", name(form));
                let mut words = vec!["-shared", "-fPIC", soname.as_str()];
                words.extend(
                    linker
                        .iter()
                        .map(String::as_str)
                        .chain(more.iter().copied()),
                );
                compiled(folder.path(), LIBRARY, &words)
            };
            files.insert(format!("lib/{}", name("")), make(""));
            for (spare, gap) in [(0, 0), (0, 0x20_0000), (5, 0), (5, 0x20_0000)] {
                let form = format!("s{spare}g{gap}");
                files.insert(
                    format!("lib/{}", name(&form)),
                    headers_at_end(&make(&form), spare, gap),
                );
            }
        }
    }
    let (_project, root) = unpacked(&files);
    for (path, before) in &files {
        let after = std::fs::read(root.join(path)).unwrap();
        assert_eq!(verify(&after), [], "{path}");
        assert!(
            after.len() > before.len() && warnings(&root.join(path)).is_empty(),
            "{path}"
        );
        loads(&root.join(path));
    }
}

/// Names that share their end with the old search path stay.
#[test]
fn no_name_changes_that_shares_its_end_with_a_search_path() {
    let folder = tempfile::tempdir().unwrap();
    // The function is named as the path ends, so that one string is the end of the other.
    let words = [
        "-shared",
        "-fPIC",
        "-s",
        "-Wl,-soname,libshared.so.1",
        "-Wl,-rpath,$ORIGIN/llvm/lib",
        "-Wl,--enable-new-dtags",
        "-Wl,--no-as-needed",
        "-lm",
    ];
    let library = compiled(folder.path(), LIBRARY, &words);
    assert!(
        !library.windows(5).any(|window| window == b"\0lib\0"),
        "one string is the end of the other"
    );
    let elf = Elf::read(&library).unwrap();
    let strings = elf.string_table(&library).unwrap();
    let strings_of = |tag| elf.dynamic_strings(&strings, tag).unwrap();
    assert_eq!(
        strings_of(rock_matrix::elf::tag::RUNPATH),
        ["$ORIGIN/llvm/lib"]
    );
    let path = "lib/libshared.so.1".to_owned();
    let before = folder.path().join("before.so");
    std::fs::write(&before, &library).unwrap();
    let (_project, root) = unpacked(&[(path.clone(), library.clone())].into());
    let symbols = |file: &Path| {
        run(Command::new("readelf")
            .arg("--dyn-syms")
            .arg("-W")
            .arg(file))
    };
    let dynamic = |file: &Path| -> Vec<String> {
        let all = run(Command::new("readelf").arg("-dW").arg(file));
        let named = all
            .lines()
            .filter(|line| line.contains("(NEEDED)") || line.contains("(SONAME)"));
        named
            .map(|line| line.split_once('[').unwrap().1.to_owned())
            .collect()
    };
    assert!(
        symbols(&before).lines().any(|line| line.ends_with(" lib")),
        "{}",
        symbols(&before)
    );
    assert_eq!(symbols(&root.join(&path)), symbols(&before));
    assert_eq!(dynamic(&root.join(&path)), dynamic(&before));
    assert!(dynamic(&before).len() >= 2);
    loads(&root.join(&path));
}

/// What kernels before 5.18 need of a program holds after its search path changed.
#[test]
fn programs_run_from_the_package_and_keep_what_old_kernels_need() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = BTreeMap::new();
    for (number, linker) in linkers(folder.path()).iter().enumerate() {
        let forms = [
            ("pie", vec!["-pie", "-fPIE"]),
            ("fixed", vec!["-no-pie"]),
            ("path", vec!["-pie", "-fPIE", "-Wl,-rpath,/opt/x"]),
        ];
        for (kind, mut words) in forms {
            words.extend(linker.iter().map(String::as_str));
            let program = compiled(folder.path(), PROGRAM, &words);
            for spare in [0, 3] {
                files.insert(
                    format!("bin/{kind}{number}moved{spare}"),
                    headers_at_end(&program, spare, 0),
                );
            }
            files.insert(format!("bin/{kind}{number}"), program);
        }
    }
    let (_project, root) = unpacked(&files);
    let first = |elf: &Elf| *elf.load_segments().next().unwrap();
    for (path, before) in &files {
        let file = root.join(path);
        assert_eq!(
            run(Command::new(&file)
                .args(["is", "well"])
                .env("LD_BIND_NOW", "1")),
            "3 well\n",
            "{path}"
        );
        let (before, bytes) = (Elf::read(before).unwrap(), std::fs::read(&file).unwrap());
        let after = Elf::read(&bytes).unwrap();
        assert_eq!(verify(&bytes), [], "{path}");
        assert_eq!(first(&after), first(&before), "{path}");
        assert_eq!(first(&after).flags & segment_flag::WRITE, 0, "{path}");
        let lowest = |elf: &Elf| {
            elf.load_segments()
                .map(|load: &ProgramHeader| load.address)
                .min()
        };
        assert_eq!(lowest(&after), lowest(&before), "{path}");
        let headers = after.segment(segment_type::PHDR).unwrap();
        assert_eq!(
            headers.address - first(&after).address,
            headers.offset,
            "{path}"
        );
    }
}

/// No search path goes into what no loader of this machine reads.
#[test]
fn libraries_of_32_bits_are_packed_as_they_are() {
    let mut library = plain_library();
    // `EI_CLASS`: 32 bits. Nothing else of it is looked at, or it would be a damaged file.
    library[4] = 1;
    let (_project, root) = unpacked(&[("lib/lib32.so.1".to_owned(), library.clone())].into());
    assert!(std::fs::read(root.join("lib/lib32.so.1")).unwrap() == library);
}

fn plain_library() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    compiled(
        folder.path(),
        LIBRARY,
        &["-shared", "-fPIC", "-Wl,-soname,lib32.so.1"],
    )
}

/// `sdk rpath` alone does what a build does: entries behind those that are there, as an RPATH, and
/// twice is once.
#[test]
fn search_paths_are_changed_and_files_keep_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "-shared",
        "-fPIC",
        "-Wl,-soname,liba.so.1",
        "-Wl,-rpath,$ORIGIN/x",
        "-Wl,--enable-new-dtags",
    ];
    let library = headers_at_end(&compiled(folder.path(), LIBRARY, &words), 0, 0x20_0000);
    let project = Project::new()
        .bytes("lib/liba.so.1", &library)
        .bytes("lib/notes.txt", b"no library");
    let path = project.path("lib/liba.so.1");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("liba.so.1", project.path("lib/liba.so")).unwrap();
    let stdout_of = |more: &[&str]| {
        project
            .run(&[&["sdk", "rpath"], more].concat())
            .exits(0)
            .stdout
    };
    assert_eq!(
        stdout_of(&["lib/liba.so.1"]),
        "lib/liba.so.1: RUNPATH $ORIGIN/x\n"
    );
    assert!(
        std::fs::read(&path).unwrap() == library,
        "asking changes nothing"
    );
    assert_eq!(
        stdout_of(&["--force", "lib/liba.so"]),
        "lib/liba.so: RPATH $ORIGIN/x (changed)\n"
    );
    let more = ["--add", "$ORIGIN/y", "--add", "$ORIGIN/x", "lib/liba.so.1"];
    assert_eq!(
        stdout_of(&more),
        "lib/liba.so.1: RPATH $ORIGIN/x:$ORIGIN/y (changed)\n"
    );
    let once = std::fs::read(&path).unwrap();
    assert_eq!(
        stdout_of(&more),
        "lib/liba.so.1: RPATH $ORIGIN/x:$ORIGIN/y\n"
    );
    assert!(std::fs::read(&path).unwrap() == once);
    assert!(project.path("lib/liba.so").is_symlink() && verify(&once).is_empty());
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o755);
    loads(&path);
    let outcome = project
        .run(&[
            "sdk",
            "rpath",
            "--set",
            "/opt/a",
            "--format",
            "json",
            "lib/liba.so.1",
            "lib/notes.txt",
        ])
        .exits(1);
    assert!(
        outcome.stderr.contains("[E007 uneditable-elf]")
            && outcome.stderr.contains("it is not an ELF file"),
        "{}",
        outcome.stderr
    );
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&json["files"][0]["rpath"], &json["files"][0]["changed"]),
        (&"/opt/a".into(), &true.into())
    );
    assert_eq!(project.read("lib/notes.txt"), "no library");
    for (words, reason) in [
        (
            ["--set", "/opt/a::/opt/b"],
            "the working directory of the program",
        ),
        (["--add", ""], "the working directory of the program"),
        (["--add", "/opt/a:/opt/b"], "one directory, without colons"),
    ] {
        let stderr = project
            .run(&[&["sdk", "rpath"][..], &words, &["lib/liba.so.1"]].concat())
            .exits(2)
            .stderr;
        assert!(stderr.contains(reason), "{stderr}");
    }
}

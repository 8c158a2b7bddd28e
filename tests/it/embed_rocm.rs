//! ROCm put into a wheel of torch.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::os::unix::fs::symlink;

use rock_matrix::bytes::ReadAt;
use rock_matrix::elf::{Elf, tag};

use crate::support::elf::Library;
use crate::support::{Outcome, Project, Wheel, need_pip, pip};

const WHEEL: &str = "torch-2.9.0+rocm7.10.0-cp312-cp312-win_amd64.whl";
const FAT: &str = "torch-2.9.0+rocm.rocm7.10.0-cp312-cp312-win_amd64.whl";
const LINUX: &str = "torch-2.9.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl";
const FAT_LINUX: &str = "torch-2.9.0+rocm.rocm7.10.0-cp312-cp312-linux_x86_64.whl";
const INIT: &str = "import os\n\ndef _load_dll_libraries():\n    dll_paths = []\n    for dll_path in dll_paths:\n        pass\n";
const INSERTED: &str =
    "    dll_paths.insert(0, os.path.join(os.path.dirname(__file__), 'lib', 'rocm', 'bin'))\n";

fn torch(name: &str, init: &str) -> Wheel {
    let wheel = Wheel::named(name);
    let dist_info = wheel.dist_info();
    wheel
        .file("torch/__init__.py", init)
        .file("torch/lib/torch_hip.dll", vec![7; 50_000])
        .file(
            &format!("{}/scripts/tool", dist_info.replace(".dist-info", ".data")),
            "#!python\n",
        )
        .requires("filelock")
        .requires("rocm[libraries]==7.10.0")
        .requires("triton==3.5.0; platform_system == \"Linux\"")
}

/// A wheel, and a folder of ROCm.
fn project(wheel: &Wheel) -> Project {
    Project::new()
        .bytes(wheel.name(), &wheel.bytes())
        .file("rocm/bin/amdhip64_7.dll", &"hip ".repeat(40_000))
        .file("rocm/bin/rocblas/library/Tensile gfx1151.dat", "kernels")
        .file("rocm/bin/hipcc.exe", "x")
        .file("rocm/lib/llvm/bin/clang.exe", "x")
        .file("rocm/lib/rocm_sysdeps/lib/z.dll", "x")
        .file("rocm/lib/host-math/lib/blas.dll", "x")
        .file("rocm/share/ünter/doc.txt", "x")
}

fn embed(project: &Project, wheel: &str, more: &[&str], code: i32) -> Outcome {
    project
        .run(&[&["wheel", "embed", wheel, "--rocm", "rocm"], more].concat())
        .exits(code)
}

fn members(project: &Project, name: &str) -> BTreeMap<String, Vec<u8>> {
    let bytes = std::fs::read(project.path(name)).unwrap();
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).unwrap();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            (file.name().unwrap().into_owned(), content)
        })
        .collect()
}

fn text(members: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    let bytes = members
        .get(name)
        .unwrap_or_else(|| panic!("no {name} in {:?}", members.keys()));
    String::from_utf8(bytes.clone()).unwrap()
}

/// What stays out, the statement, and names that agree everywhere; a second run does nothing.
#[test]
fn a_fat_wheel_holds_rocm_and_agrees_with_itself() {
    let project = project(&torch(WHEEL, INIT));
    let before = std::fs::read(project.path(WHEEL)).unwrap();
    let done = embed(&project, WHEEL, &[], 0);
    assert_eq!(done.stdout, format!("{FAT}\n"));
    assert_eq!(
        std::fs::read(project.path(WHEEL)).unwrap(),
        before,
        "the input stays"
    );
    let fat = members(&project, FAT);
    let of_rocm: Vec<&str> = fat
        .keys()
        .filter_map(|name| name.strip_prefix("torch/lib/rocm/"))
        .collect();
    assert_eq!(
        of_rocm,
        [
            "bin/amdhip64_7.dll",
            "bin/rocblas/library/Tensile gfx1151.dat",
            "share/ünter/doc.txt"
        ],
        "neither compilers nor programs nor what is linked into the libraries"
    );
    assert_eq!(
        text(&fat, "torch/__init__.py"),
        INIT.replace("    for dll_path", &format!("{INSERTED}    for dll_path"))
    );
    let metadata = text(&fat, "torch-2.9.0+rocm.rocm7.10.0.dist-info/METADATA");
    assert!(
        metadata.contains("\nVersion: 2.9.0+rocm.rocm7.10.0\n") && !metadata.contains("libraries"),
        "{metadata}"
    );
    assert!(
        metadata.contains("Requires-Dist: filelock\nRequires-Dist: triton==3.5.0; platform_system"),
        "{metadata}"
    );
    assert!(fat.contains_key("torch-2.9.0+rocm.rocm7.10.0.data/scripts/tool"));
    project.run(&["wheel", "verify", FAT]).exits(0);

    let size = std::fs::metadata(project.path(FAT)).unwrap().len();
    assert!(size < 20_000, "what compresses is compressed: {size}");
    let modified = || {
        std::fs::metadata(project.path(FAT))
            .unwrap()
            .modified()
            .unwrap()
    };
    let first = modified();
    let again = embed(&project, WHEEL, &[], 0);
    assert!(
        again.stderr.contains("already up to date") && again.stdout == done.stdout,
        "{}",
        again.stderr
    );
    let third = embed(&project, FAT, &[], 0);
    assert_eq!(
        third.stdout, done.stdout,
        "a wheel with ROCm stays as it is"
    );
    assert!(
        third.stderr.contains("note[W093 embedded-already]"),
        "{}",
        third.stderr
    );
    assert_eq!(
        (
            modified(),
            std::fs::read_dir(project.path(".")).unwrap().count()
        ),
        (first, 3)
    );
    let copied = embed(&project, WHEEL, &["-w", "other", "--format", "json"], 0);
    assert!(
        copied.stdout.contains("\"label\":\"rocm.rocm7.10.0\""),
        "{}",
        copied.stdout
    );
    assert_eq!(
        std::fs::read(project.path(&format!("other/{FAT}"))).unwrap(),
        std::fs::read(project.path(FAT)).unwrap(),
        "the same bytes every time"
    );
}

/// Torch imports the module that looks for ROCm's packages wherever it is there, and fails
/// where they are not.
#[test]
fn the_wheels_of_a_directory_get_rocm() {
    let wheel = torch(WHEEL, INIT);
    let project = project(&wheel).bytes(&format!("dist/{WHEEL}"), &wheel.bytes());
    let done = embed(&project, "dist", &[], 0);
    assert_eq!(done.stdout, format!("dist/{FAT}\n"));
}

#[test]
fn the_module_that_loads_rocm_packages_goes_with_their_requirement() {
    let module = "torch/_rocm_init.py";
    let wheel = torch(WHEEL, INIT).file(module, "def initialize():\n    import rocm_sdk\n");
    let project = project(&wheel);
    embed(&project, WHEEL, &[], 0);
    assert!(!members(&project, FAT).contains_key(module));
    project.run(&["wheel", "verify", FAT]).exits(0);
    embed(&project, WHEEL, &["--keep-requires", "-w", "kept"], 0);
    assert!(
        members(&project, &format!("kept/{FAT}")).contains_key(module),
        "who brings the packages wants it"
    );
}

/// Of a wheel with ROCm in it no packages of ROCm are expected; one that only says so is
/// refused, and one that does not say so.
#[test]
fn a_wheel_with_rocm_in_it_passes_the_check_and_one_that_pretends_does_not() {
    let check = |project: &Project, wheel: &str, exit: i32| {
        let arguments = [
            "wheel",
            "check",
            wheel,
            "--expect",
            "torch",
            "--no-host-libs",
            "-v",
        ];
        let stderr = project.run(&arguments).exits(exit).stderr;
        let codes: Vec<String> = stderr
            .lines()
            .filter_map(|line| Some(line.split_once('[')?.1.split_once(' ')?.0.to_owned()))
            .filter(|code| code.starts_with(['R', 'W']))
            .collect();
        codes.join(" ")
    };
    let noise: Vec<u8> = (0..200_000_u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0])
        .collect();
    let large = |name: &str| {
        torch(name, INIT)
            .file("torch/noise.bin", noise.clone())
            .stored()
    };
    let library = |soname: &str, needed: &str| Library::new().soname(soname).linked(needed).build();
    let linux = large(LINUX).executable(
        "torch/lib/libtorch_hip.so",
        library("libtorch_hip.so", "libamdhip64.so.7"),
    );
    let of_linux = project(&linux).bytes(
        "rocm/lib/libamdhip64.so.7",
        &library("libamdhip64.so.7", "libc.so.6"),
    );
    let bare = "torch-2.9.0-cp312-cp312-win_amd64.whl";
    let unlabelled = Wheel::named(bare)
        .file("torch/__init__.py", INIT)
        .file("torch/noise.bin", noise.clone())
        .stored();
    for (project, wheel) in [
        (project(&large(WHEEL)), WHEEL),
        (of_linux, LINUX),
        (project(&unlabelled), bare),
    ] {
        let fat = embed(&project, wheel, &[], 0).stdout;
        assert_eq!(check(&project, fat.trim(), 0), "", "{fat}");
        let before = check(&project, wheel, 1);
        assert!(
            before.contains("R150"),
            "the same wheel without it lacks its start of ROCm: {before}"
        );
        let plain = wheel.replace("2.9.0-", "2.9.0+rocm7.10.0-");
        project
            .run(&[
                "wheel",
                "label",
                fat.trim(),
                "--local",
                "rocm7.10.0",
                "--replace",
                "-w",
                "other",
            ])
            .exits(0);
        let silent = check(&project, &format!("other/{plain}"), 1);
        assert!(
            silent.contains("R125"),
            "the label does not say it: {silent}"
        );
    }
    let hollow = project(&large(FAT).requires("rocm[libraries]==7.10.0"));
    assert_eq!(check(&hollow, FAT, 1), "R125 R150", "it only says so");
}

#[test]
fn a_wheel_without_a_label_gets_one_and_requirements_stay_on_demand() {
    let plain = "torch-2.9.0-cp312-cp312-win_amd64.whl";
    let wheel = Wheel::named(plain)
        .file("torch/__init__.py", INIT.replace('\n', "\r\n"))
        .requires("rocm[libraries]==7");
    let project = project(&wheel);
    let done = embed(&project, plain, &["--keep-requires"], 0);
    assert_eq!(done.stdout, "torch-2.9.0+rocm-cp312-cp312-win_amd64.whl\n");
    let fat = members(&project, done.stdout.trim());
    assert!(
        text(&fat, "torch-2.9.0+rocm.dist-info/METADATA")
            .contains("Requires-Dist: rocm[libraries]==7\n")
    );
    assert!(
        text(&fat, "torch/__init__.py").contains(&INSERTED.replace('\n', "\r\n")),
        "line ends are those of the file"
    );
}

/// Pip takes it from a folder by name, which fails where file name and METADATA disagree.
#[test]
fn pip_installs_a_fat_wheel_by_name() {
    need_pip();
    let project = project(&torch(WHEEL, INIT));
    embed(&project, WHEEL, &["-w", "fat"], 0);
    let (target, fat) = (project.path("target"), project.path("fat"));
    let options = [
        "install",
        "--no-index",
        "--no-deps",
        "--only-binary=:all:",
        "--platform",
        "win_amd64",
    ];
    let mut install = pip(&options);
    install.args([
        "--python-version",
        "3.12",
        "--implementation",
        "cp",
        "--abi",
        "cp312",
    ]);
    install
        .arg("--find-links")
        .arg(&fat)
        .arg("--target")
        .arg(&target)
        .arg("torch");
    let output = install.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(target.join("torch/lib/rocm/bin/amdhip64_7.dll").is_file());
    assert!(
        target
            .join("torch-2.9.0+rocm.rocm7.10.0.dist-info/METADATA")
            .is_file()
    );
}

/// Asserts that a fault ends it with nothing written, and is absent with another wheel or folder.
#[track_caller]
fn appears(code: &str, with: &Project, without: &Project, wheel: &str) {
    let before = std::fs::read_dir(with.path(".")).unwrap().count();
    let stderr = embed(with, wheel, &[], 1).stderr;
    assert!(stderr.contains(&format!("error[{code} ")), "{stderr}");
    assert_eq!(
        std::fs::read_dir(with.path(".")).unwrap().count(),
        before,
        "nothing was written"
    );
    let stderr = embed(without, wheel, &[], 0).stderr;
    assert!(!stderr.contains(code), "{stderr}");
}

/// Asserts that a remark is reported for one, and not for the other.
#[track_caller]
fn edited(code: &str, with: &Outcome, without: &Outcome) {
    assert!(
        with.stderr.contains(code) && !without.stderr.contains(code),
        "{} {}",
        with.stderr,
        without.stderr
    );
}

#[test]
fn the_line_that_the_statement_goes_before_must_be_there_once() {
    let sound = project(&torch(WHEEL, INIT));
    appears(
        "W091",
        &project(&torch(WHEEL, "import os\n")),
        &sound,
        WHEEL,
    );
    std::fs::remove_file(sound.path(FAT)).unwrap();
    let twice = format!("{INIT}    for dll_path in dll_paths:\n        pass\n");
    appears("W091", &project(&torch(WHEEL, &twice)), &sound, WHEEL);
}

#[test]
fn rocm_is_embedded_only_where_there_are_rules() {
    fn appears(code: &str, with: &str, without: &str) {
        let stderr = embed(&project(&torch(with, INIT)), with, &[], 1).stderr;
        assert!(stderr.contains(code), "{stderr}");
        let stderr = embed(&project(&torch(without, INIT)), without, &[], 0).stderr;
        assert!(!stderr.contains(code), "{stderr}");
    }
    let other = "demo-1.0-cp312-cp312-win_amd64.whl";
    let demo = Wheel::named(other);
    let stderr = embed(&project(&demo), other, &[], 1).stderr;
    assert!(
        stderr.contains("error[W090 no-embedding]")
            && stderr.contains("there are rules for torch for windows"),
        "{stderr}"
    );
    appears(
        "W090",
        "torch-2.9.0+rocm7.10.0-cp312-cp312-macosx_11_0_arm64.whl",
        WHEEL,
    );
}

#[test]
fn a_folder_of_rocm_that_cannot_be_packed_is_refused() {
    let (sound, empty, away) = (
        project(&torch(WHEEL, INIT)),
        project(&torch(WHEEL, INIT)),
        project(&torch(WHEEL, INIT)),
    );
    for folder in ["bin", "share"] {
        std::fs::remove_dir_all(empty.path(&format!("rocm/{folder}"))).unwrap();
    }
    appears("W092", &empty, &sound, WHEEL);
    std::fs::remove_file(sound.path(FAT)).unwrap();
    symlink("/etc/hostname", away.path("rocm/bin/away.dll")).unwrap();
    appears("W092", &away, &sound, WHEEL);
    let stderr = project(&torch(WHEEL, INIT))
        .run(&["wheel", "embed", WHEEL, "--rocm", "nowhere"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("nowhere") && stderr.contains("error[H"),
        "{stderr}"
    );
}

#[test]
fn repeated_and_untested_embeddings_and_links_are_reported() {
    let (plain, linked) = (project(&torch(WHEEL, INIT)), project(&torch(WHEEL, INIT)));
    symlink("amdhip64_7.dll", linked.path("rocm/bin/amdhip64.dll")).unwrap();
    let first = embed(&plain, WHEEL, &[], 0);
    let with_links = embed(&linked, WHEEL, &[], 0);
    edited("W094", &with_links, &first);
    let copies = members(&linked, FAT);
    assert_eq!(
        copies["torch/lib/rocm/bin/amdhip64.dll"],
        copies["torch/lib/rocm/bin/amdhip64_7.dll"]
    );
    edited("W093", &embed(&plain, FAT, &[], 0), &first);
    let linux = embed(&project(&torch(LINUX, INIT)), LINUX, &[], 0);
    edited("W095", &linux, &first);
}

/// On Linux search paths lead to ROCm, and its libraries have the names that loaders ask for.
#[test]
fn libraries_for_linux_search_rocm_in_the_wheel_first() {
    let needs_hip = |soname: &str| {
        Library::new()
            .soname(soname)
            .linked("libamdhip64.so.7")
            .linked("libc.so.6")
    };
    let wheel = torch(LINUX, INIT)
        .executable(
            "torch/lib/libtorch_hip.so",
            needs_hip("libtorch_hip.so").runpath("$ORIGIN").build(),
        )
        .executable(
            "torch/_C.cpython-312-x86_64-linux-gnu.so",
            needs_hip("_C.so").build(),
        )
        .executable(
            "torch/lib/libc10.so",
            Library::new()
                .soname("libc10.so")
                .linked("libc.so.6")
                .build(),
        );
    let project = project(&wheel);
    let hip = Library::new()
        .soname("libamdhip64.so.7")
        .linked("libc.so.6")
        .build();
    let project = project.bytes("rocm/lib/libamdhip64.so.7.1.2", &hip);
    symlink(
        "libamdhip64.so.7.1.2",
        project.path("rocm/lib/libamdhip64.so.7"),
    )
    .unwrap();
    symlink("libamdhip64.so.7", project.path("rocm/lib/libamdhip64.so")).unwrap();
    let done = embed(&project, LINUX, &[], 0);
    assert_eq!(done.stdout, format!("{FAT_LINUX}\n"));
    let fat = members(&project, FAT_LINUX);
    assert_eq!(fat["torch/lib/rocm/lib/libamdhip64.so.7"], hip);
    assert!(!fat.contains_key("torch/lib/rocm/lib/libamdhip64.so.7.1.2"));
    assert!(
        fat.contains_key("torch/lib/rocm/lib/rocm_sysdeps/lib/z.dll"),
        "libraries of ROCm need it on Linux"
    );
    assert_eq!(
        text(&fat, "torch/__init__.py"),
        INIT,
        "search paths lead there"
    );
    let searched = |path: &str| {
        let file: &dyn ReadAt = &fat[path];
        let elf = Elf::read(file).unwrap();
        elf.dynamic_strings(&elf.string_table(file).unwrap(), tag::RUNPATH)
            .unwrap()
    };
    assert_eq!(
        searched("torch/lib/libtorch_hip.so"),
        ["$ORIGIN/rocm/lib:$ORIGIN"]
    );
    assert_eq!(
        searched("torch/_C.cpython-312-x86_64-linux-gnu.so"),
        ["$ORIGIN/lib/rocm/lib"]
    );
    assert_eq!(searched("torch/lib/libc10.so"), [""; 0]);
    project.run(&["wheel", "verify", FAT_LINUX]).exits(0);
}

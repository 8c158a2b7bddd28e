//! Repaired wheels load and run: whatever linked them, after one repair and after another on top of
//! it.

use std::path::Path;
use std::process::Command;

use crate::repair_a_wheel::{LIBC, NAME, member, members_of, project, repaired, wheel};
use crate::support::elf::Library;
use crate::support::linked::{find_lld, find_tool, headers_at_end, linked_by};
use crate::support::{Project, Wheel};

type Members = Vec<(String, Vec<u8>)>;

fn unpack(project: &Project, members: &[(String, Vec<u8>)]) -> std::path::PathBuf {
    let folder = project.path("installed");
    for (name, content) in members {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

/// Unpacks the members, loads the extension in another process with all symbols bound at once, and
/// calls its functions, and through them those of every library that it needs.
#[track_caller]
pub(super) fn assert_loads(project: &Project, members: &[(String, Vec<u8>)]) {
    assert_loads_beside(project, members, &project.path("nothing"));
}

/// The same, with libraries of a folder that the environment names.
#[track_caller]
fn assert_loads_beside(project: &Project, members: &[(String, Vec<u8>)], folder: &Path) {
    let code = format!(
        "import ctypes; lib = ctypes.CDLL({:?}); assert lib.PyInit__demo() == 42; lib.call_everything(); print('called')",
        unpack(project, members)
            .join("demo/_demo.so")
            .to_str()
            .unwrap()
    );
    let mut python = Command::new("python3");
    let output = python
        .args(["-c", &code])
        .env("LD_BIND_NOW", "1")
        .env("LD_LIBRARY_PATH", folder)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "called\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_library_of_the_machine_comes_along_with_what_it_needs_and_all_of_it_loads() {
    let deep = Library::new()
        .soname("libdeep.so.2")
        .exports("of_libdeep_so_2");
    let host = Library::new()
        .soname("libhost.so.1")
        .needs("libdeep.so.2", &[])
        .exports("of_libhost_so_1");
    let library = Library::extension("_demo")
        .linked(LIBC)
        .needs("libhost.so.1", &[]);
    let project = project(
        &wheel(&library),
        &[("libhost.so.1", &host), ("libdeep.so.2", &deep)],
    );
    assert_loads(&project, &repaired(&project, &[]).1);
}

/// A function in x86-64 that returns a number.
fn returns(function: &str, number: u32) -> String {
    format!(
        "\n.globl {function}\n.type {function}, @function\n{function}: mov ${number}, %eax\nret\n"
    )
}

/// Runs Python code with the folder that the members were unpacked into; tells what it printed.
#[track_caller]
fn python(project: &Project, members: &[(String, Vec<u8>)], code: &str) -> String {
    let mut python = Command::new("python3");
    let output = python
        .args(["-c", code])
        .current_dir(unpack(project, members))
        .env("LD_BIND_NOW", "1");
    let output = output.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn two_files_that_find_two_libraries_under_one_name_each_keep_their_own() {
    let answer = "\n.globl answer\n.type answer, @function\nanswer: jmp of_libdep_so_1@PLT\n";
    let user = |folder: &str| {
        let user = Library::new()
            .linked(LIBC)
            .needs("libdep.so.1", &[])
            .assembly(answer);
        user.runpath(&format!("/opt/{folder}")).build()
    };
    let dep = |number: u32| {
        Library::new()
            .soname("libdep.so.1")
            .assembly(&returns("of_libdep_so_1", number))
    };
    let wheel = Wheel::named(NAME)
        .executable("demo/a.so", user("x"))
        .executable("demo/b.so", user("y"));
    let project = project(
        &wheel,
        &[("x/libdep.so.1", &dep(1)), ("y/libdep.so.1", &dep(2))],
    );
    let (plan, members) = repaired(&project, &[]);
    let grafts = plan["grafts"].as_array().unwrap();
    assert_eq!(
        grafts.iter().map(|one| &one["source"]).collect::<Vec<_>>(),
        {
            let mut sources = vec!["/opt/x/libdep.so.1", "/opt/y/libdep.so.1"];
            sources.sort_by_key(|source| grafts.iter().position(|one| one["source"] == **source));
            sources
        }
    );
    let code = "import ctypes; print([ctypes.CDLL(f'./demo/{name}.so').answer() for name in 'ab'])";
    assert_eq!(python(&project, &members, code), "[1, 2]\n");
}

#[test]
fn a_library_that_is_needed_by_its_path_comes_along_and_loads() {
    let host = Library::new().exports("of__build_libnos_so");
    let beside = Library::new().exports("of__ORIGIN_in_libbeside_so").build();
    let library = Library::extension("_demo")
        .linked(LIBC)
        .needs("/build/libnos.so", &[]);
    let library = library.needs("$ORIGIN/in/libbeside.so", &[]);
    let wheel = wheel(&library).executable("demo/in/libbeside.so", beside);
    let project = project(&wheel, &[]).bytes("root/build/libnos.so", &host.build());
    let (plan, members) = repaired(&project, &[]);
    assert_eq!(plan["grafts"].as_array().unwrap().len(), 1, "{plan:#}");
    assert_eq!(plan["grafts"][0]["source"], "/build/libnos.so");
    assert_loads(&project, &members);
}

#[test]
fn what_was_stripped_and_then_edited_loads() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1")
        .flag("-g");
    let library = Library::extension("_demo")
        .linked(LIBC)
        .needs("libhost.so.1", &[])
        .flag("-g");
    let project = project(&wheel(&library), &[("libhost.so.1", &host)]);
    assert_loads(&project, &repaired(&project, &["--strip"]).1);
}

/// A search path that was dropped, beside one that stays.
#[test]
fn a_library_whose_search_path_alone_was_edited_loads() {
    let inner = Library::new()
        .soname("libinner.so")
        .exports("of_libinner_so")
        .build();
    let library = Library::extension("_demo")
        .linked(LIBC)
        .needs("libinner.so", &[]);
    let library = library.runpath("/opt/rocm/lib:$ORIGIN/inner");
    let project = project(
        &wheel(&library).executable("demo/inner/libinner.so", inner),
        &[],
    );
    let (plan, members) = repaired(&project, &["--fix-rpath"]);
    assert_eq!(plan["edits"][0]["rpath"], "$ORIGIN/inner");
    assert_loads(&project, &members);
}

/// Layouts that GNU ld and lld make: with segments apart or together, without spare dynamic
/// entries, without section headers, with large pages.
const GNU: [&[&str]; 4] = [
    &[],
    &["-Wl,-z,noseparate-code", "-Wl,--spare-dynamic-tags=0"],
    &["-s"],
    &["-Wl,-z,max-page-size=0x200000"],
];
const LLD: [&[&str]; 3] = [
    &[],
    &["-Wl,-z,nocombreloc"],
    &["-Wl,-z,separate-code", "-s"],
];

#[test]
fn every_layout_loads_after_a_repair_and_after_another_on_top_of_it() {
    if find_tool(&["python3"], "loading repaired wheels").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut ways: Vec<Vec<String>> = GNU
        .iter()
        .map(|flags| flags.iter().map(|flag| (*flag).to_owned()).collect())
        .collect();
    if let Some(lld) = find_lld("repaired wheels of lld") {
        let driver = linked_by(&lld, folder.path());
        ways.extend(LLD.iter().map(|flags| {
            driver
                .iter()
                .cloned()
                .chain(flags.iter().map(|flag| (*flag).to_owned()))
                .collect()
        }));
    }
    // Versions are looked for in the library of the new name.
    let script = folder.path().join("host.map");
    std::fs::write(&script, "HOST_1 { global: of_libhost_so_1_HOST_1; };\n").unwrap();
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1_HOST_1");
    let host = host.flag(&format!("-Wl,--version-script={}", script.display()));
    let away = Library::new()
        .soname("libaway.so.2")
        .exports("of_libaway_so_2");
    for flags in &ways {
        let library = Library::extension("_demo")
            .linked(LIBC)
            .needs("libhost.so.1", &["HOST_1"]);
        let library = library.needs("libaway.so.2", &[]);
        let plain = flags
            .iter()
            .fold(library, |library, flag| library.flag(flag))
            .build();
        for bytes in [headers_at_end(&plain, 0, 0x20_0000), plain] {
            let wheel = Wheel::named(NAME).executable("demo/_demo.so", bytes);
            let project = project(&wheel, &[("libhost.so.1", &host), ("libaway.so.2", &away)]);
            let (plan, members) = repaired(&project, &["--exclude", "libaway*"]);
            assert_loads_beside(&project, &members, &project.path("root/opt"));
            let again = repaired_again(&project, plan["wheel"].as_str().unwrap());
            assert_loads(&project, &again);
        }
    }
}

/// Repairs a repaired wheel, so that libraries that were left out are grafted into another directory.
#[track_caller]
fn repaired_again(project: &Project, wheel: &str) -> Members {
    let arguments = [
        "wheel",
        "repair",
        wheel,
        "--json",
        "--sysroot",
        "root",
        "-L",
        ".more",
        "-w",
        "again",
    ];
    let run = project.run(&arguments).exits(0);
    let plan: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let edits = &plan["edits"];
    assert_eq!(
        edits[0]["rpath"], "$ORIGIN/../demo.libs:$ORIGIN/../demo.more",
        "{plan:#}"
    );
    let members = members_of(&project.path(plan["wheel"].as_str().unwrap()));
    member(&members, "demo-1.0.dist-info/sboms/rock-matrix.cdx.json");
    member(&members, "demo-1.0.dist-info/sboms/rock-matrix-2.cdx.json");
    members
}

#[test]
fn a_program_that_moved_is_started_by_what_was_left_in_its_place() {
    if find_tool(&["python3"], "starting a program that moved").is_none() {
        return;
    }
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1");
    // Ends with 7 when it was called with one argument (x86-64: `exit` is call 60).
    let start = "
        .globl started
        started: mov (%rsp), %rdi
        add $5, %rdi
        mov $60, %eax
        syscall
    ";
    let program = Library::program()
        .needs("libhost.so.1", &[])
        .assembly(start)
        .flag("-Wl,-e,started");
    let interpreter = "-Wl,--dynamic-linker=/lib64/ld-linux-x86-64.so.2";
    let wheel = Wheel::named(NAME).executable(
        "demo-1.0.data/scripts/tool",
        program.flag(interpreter).build(),
    );
    let project = project(&wheel, &[("libhost.so.1", &host)]);
    let folder = unpack(&project, &repaired(&project, &[]).1);
    let program = folder.join("demo.scripts/tool");
    let mut permissions = std::fs::metadata(&program).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&program, permissions).unwrap();
    // As an installer has placed it, which writes the path of Python into the first line.
    let code = "import runpy, sys, sysconfig; folder, script = sys.argv[1:3]; sysconfig.get_path = lambda _: folder; \
        sys.argv = ['tool', 'one']; runpy.run_path(script, run_name='__main__')";
    let mut python = Command::new("python3");
    let script = folder.join("demo-1.0.data/scripts/tool");
    let status = python
        .args(["-c", code])
        .arg(&folder)
        .arg(script)
        .env("LD_BIND_NOW", "1")
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(7));
}

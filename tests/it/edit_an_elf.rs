//! Libraries and programs that are edited still load and run.
//!
//! They are compiled here, edited, and loaded in another process with all symbols bound at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rock_matrix::bytes::ReadAt;
use rock_matrix::elf::{
    Elf, ElfEdits, PatchedFile, SearchPathEdit, edit, segment_flag, segment_type, strip, tag,
    verify,
};

use crate::support::Project;
use crate::support::linked::{
    edit_file, find_lld, find_tool, headers_at_end, linked_by, run, save, warnings,
};

/// A library with a versioned function.
const DEPENDENCY: &str = "int dep_answer(void) { return 40; }\n";
const VERSIONS: &str = "DEP_1 { global: dep_answer; local: *; };\n";
/// A library that only is needed, as extension modules need the one of Python.
const PYTHON: &str = "int python_like;\n";
/// Constructors, thread-local storage, memory that starts as zeros, pointers that are relocated, a
/// function that is chosen when it is loaded, and a look at the program headers that the loader
/// keeps.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
int dep_answer(void);
static char zeros[100000];
static int constructed;
static __thread int local = 1;
static const char *const texts[] = {0, zeros + 5, (const char *)&constructed};
static int one(void) { return 1; }
static int (*choose(void))(void) { return one; }
int chosen(void) __attribute__((ifunc("choose")));
__attribute__((constructor)) static void construct(void) { constructed = 1; }
static int each(struct dl_phdr_info *info, size_t size, void *found) {
    if (!strstr(info->dlpi_name, "libsample")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) *(int *)found = 1;
    return 0;
}
int answer(void) {
    int found = 0;
    dl_iterate_phdr(each, &found);
    if (!found || texts[1] != zeros + 5 || zeros[99999] || !constructed || chosen() != 1) return -1;
    return dep_answer() + local + constructed;
}
"#;
/// Loads a library, calls its function, and takes nothing that the environment offers.
const LOADER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments) {
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); return 1; }
    int (*answer)(void) = (int (*)(void))dlsym(library, "answer");
    printf("%d\n", answer());
    return 0;
}
"#;
const PROGRAM: &str = r#"
#include <stdio.h>
int dep_answer(void);
static char zeros[300000];
int main(int count, char **arguments) { printf("%d %s\n", dep_answer() + zeros[count] + 2, arguments[1]); return 0; }
"#;

/// A folder with the dependency, under the name that it is linked by, and a program that loads
/// libraries.
struct Workshop {
    project: Project,
    linker: Vec<String>,
}

impl Workshop {
    fn new(story: &str, linker: Option<&Path>) -> Option<Self> {
        find_tool(&["cc"], story)?;
        find_tool(&["readelf"], story)?;
        let project = Project::new()
            .file("dep.c", DEPENDENCY)
            .file("dep.map", VERSIONS)
            .file("python.c", PYTHON)
            .file("sample.c", LIBRARY)
            .file("loader.c", LOADER)
            .file("program.c", PROGRAM)
            .file("libs/none", "");
        let options = linker
            .map(|lld| linked_by(lld, &project.path("linker")))
            .unwrap_or_default();
        let workshop = Self {
            project,
            linker: options,
        };
        workshop.compile("loader", &["loader.c", "-ldl"]);
        workshop.compile(
            "libdep.so.1",
            &[
                "dep.c",
                "-shared",
                "-fPIC",
                "-Wl,-soname,libdep.so.1,--version-script,dep.map",
            ],
        );
        workshop.compile(
            "libpython3.12.so.1.0",
            &[
                "python.c",
                "-shared",
                "-fPIC",
                "-Wl,-soname,libpython3.12.so.1.0",
            ],
        );
        let graft = ElfEdits {
            soname: Some("libdep-0123abcd.so.1".to_owned()),
            ..ElfEdits::default()
        };
        edit_file(
            &workshop.path("libdep.so.1"),
            &workshop.path("libs/libdep-0123abcd.so.1"),
            &graft,
        );
        Some(workshop)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.path(name)
    }

    #[track_caller]
    fn compile(&self, out: &str, arguments: &[&str]) -> PathBuf {
        let mut cc = Command::new("cc");
        cc.current_dir(self.project.root())
            .args(["-O1", "-w", "-o", out])
            .args(&self.linker)
            .args(arguments);
        run(&mut cc);
        self.path(out)
    }

    /// The library that is edited. It finds what it needs only where edits say.
    fn library(&self, name: &str, options: &[&str]) -> PathBuf {
        let always = [
            "sample.c",
            "-shared",
            "-fPIC",
            "-Wl,-soname,libsample.so",
            "-Wl,--no-as-needed",
            "libdep.so.1",
            "libpython3.12.so.1.0",
        ];
        self.compile(name, &[always.as_slice(), options].concat())
    }

    /// What the function of a library answers, in a process of its own.
    fn answer(&self, library: &Path) -> Result<String, String> {
        let mut loader = Command::new(self.path("loader"));
        let done = loader
            .arg(library)
            .env("LD_BIND_NOW", "1")
            .env_remove("LD_LIBRARY_PATH")
            .output()
            .unwrap();
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned());
        }
        Err(format!(
            "{} {}",
            done.status,
            String::from_utf8_lossy(&done.stderr)
        ))
    }
}

fn repair() -> ElfEdits {
    ElfEdits {
        soname: Some("libsample-89abcdef.so".to_owned()),
        rename_needed: BTreeMap::from([(
            "libdep.so.1".to_owned(),
            "libdep-0123abcd.so.1".to_owned(),
        )]),
        remove_needed: ["libpython3.12.so.1.0".to_owned()].into(),
        rpath: SearchPathEdit::Rpath("$ORIGIN/libs".to_owned()),
    }
}

fn rpath(text: &str) -> ElfEdits {
    ElfEdits {
        rpath: SearchPathEdit::Rpath(text.to_owned()),
        ..ElfEdits::default()
    }
}

/// Repairs a library and edits the result again. Each loads; a third edit has nothing to do.
#[track_caller]
fn check_library(workshop: &Workshop, library: &Path) {
    assert!(
        workshop.answer(library).is_err(),
        "{}: it finds what it needs before",
        library.display()
    );
    let size = std::fs::metadata(library).unwrap().len();
    let once = workshop.path("libsample-once.so");
    edit_file(library, &once, &repair());
    assert_eq!(
        workshop.answer(&once),
        Ok("42".to_owned()),
        "{}",
        library.display()
    );
    assert!(std::fs::metadata(&once).unwrap().len() - size < (64 << 10) + 4096);
    let twice = workshop.path("libsample-twice.so");
    edit_file(&once, &twice, &rpath("$ORIGIN/nowhere:$ORIGIN/libs"));
    assert_eq!(
        workshop.answer(&twice),
        Ok("42".to_owned()),
        "{}",
        library.display()
    );
    assert!(edit_file(&twice, &once, &rpath("$ORIGIN/nowhere:$ORIGIN/libs")).is_empty());

    let cleared = workshop.path("libsample-cleared.so");
    edit_file(
        &twice,
        &cleared,
        &ElfEdits {
            rpath: SearchPathEdit::Remove,
            ..ElfEdits::default()
        },
    );
    let refused = workshop.answer(&cleared).unwrap_err();
    assert!(refused.contains("libdep-0123abcd.so.1"), "{refused}");
    let runpath = ElfEdits {
        rpath: SearchPathEdit::Runpath("$ORIGIN/libs".to_owned()),
        ..ElfEdits::default()
    };
    edit_file(&cleared, &once, &runpath);
    assert_eq!(
        workshop.answer(&once),
        Ok("42".to_owned()),
        "{}",
        library.display()
    );
}

/// Ways to link that lead to other layouts: with segments apart or together, without spare dynamic
/// entries, without the entry that may be given up, with a search path, without section headers or
/// symbols, in large pages.
const GNU: [&[&str]; 9] = [
    &["-Wl,-z,separate-code"],
    &["-Wl,-z,noseparate-code"],
    &["-Wl,--spare-dynamic-tags=0"],
    &["-Wl,--spare-dynamic-tags=0,-z,nocombreloc"],
    &["-Wl,-rpath,/opt/rocm/lib,--disable-new-dtags"],
    &[
        "-Wl,-rpath,/opt/rocm/lib,--enable-new-dtags",
        "-Wl,-z,now,-z,relro",
    ],
    &["-Wl,--hash-style=sysv", "-g"],
    &["-s"],
    &["-Wl,-z,max-page-size=0x200000"],
];
const LLD: [&[&str]; 6] = [
    &[],
    &["-Wl,-z,nocombreloc"],
    &["-Wl,-rpath,/opt/rocm/lib", "-g"],
    &["-Wl,-z,separate-code", "-s"],
    &["-Wl,-z,norelro", "-Wl,--hash-style=both"],
    &["-Wl,-z,max-page-size=0x10000"],
];

#[test]
fn libraries_of_gnu_ld_load_after_every_edit() {
    let Some(workshop) = Workshop::new("libraries of GNU ld", None) else {
        return;
    };
    for options in GNU {
        check_library(&workshop, &workshop.library("libsample.so", options));
    }
}

#[test]
fn libraries_of_lld_load_after_every_edit() {
    let story = "libraries of lld";
    let Some(lld) = find_lld(story) else { return };
    let Some(workshop) = Workshop::new(story, Some(&lld)) else {
        return;
    };
    for options in LLD {
        check_library(&workshop, &workshop.library("libsample.so", options));
    }
    // A table without an empty entry and without one that may be given up.
    let library = workshop.library("libsample.so", &["-Wl,-z,nocombreloc"]);
    let patch = edit_file(&library, &workshop.path("moved.so"), &rpath("$ORIGIN/libs"));
    let source = std::fs::read(&library).unwrap();
    let (before, after) = (
        Elf::read(&source).unwrap(),
        Elf::read(&PatchedFile::new(&source, &patch)).unwrap(),
    );
    assert_eq!(
        before.dynamic_slots(),
        before.dynamic_entries().len() as u64 + 1
    );
    let address = |elf: &Elf| elf.segment(segment_type::DYNAMIC).unwrap().address;
    assert_ne!(address(&before), address(&after));
    let symbols = run(Command::new("readelf")
        .arg("-sW")
        .arg(workshop.path("moved.so")));
    let symbol = symbols
        .lines()
        .find(|line| line.ends_with(" _DYNAMIC"))
        .unwrap_or_default();
    assert!(
        symbol.contains(&format!("{:016x}", address(&after))),
        "{symbol}"
    );
}

#[test]
fn libraries_whose_program_headers_were_moved_load_after_every_edit() {
    let story = "program headers at the end";
    let lld = find_lld(story);
    let linkers = [None].into_iter().chain(lld.as_deref().map(Some));
    for workshop in linkers.filter_map(|linker| Workshop::new(story, linker)) {
        for options in [&[][..], &["-Wl,-z,nocombreloc"]] {
            let library = std::fs::read(workshop.library("libsample-plain.so", options)).unwrap();
            for (spare, gap) in [(0, 0), (0, 0x20_0000), (5, 0), (5, 0x20_0000)] {
                let moved = workshop.path("libsample-moved.so");
                save(&headers_at_end(&library, spare, gap), &moved);
                check_library(&workshop, &moved);
            }
        }
    }
}

#[test]
fn programs_run_after_every_edit() {
    let story = "programs";
    let lld = find_lld(story);
    let linkers = [None].into_iter().chain(lld.as_deref().map(Some));
    for workshop in linkers.filter_map(|linker| Workshop::new(story, linker)) {
        for options in [
            &["-pie", "-fPIE"][..],
            &["-no-pie"],
            &["-pie", "-fPIE", "-Wl,-rpath,/opt/lib"],
            &["-pie", "-s"],
        ] {
            let compiled = workshop.compile(
                "program",
                &[&["program.c", "libdep.so.1"], options].concat(),
            );
            let plain = std::fs::read(compiled).unwrap();
            check_program(&workshop, &plain);
            for spare in [0, 3] {
                check_program(&workshop, &headers_at_end(&plain, spare, 0));
            }
        }
    }
}

#[track_caller]
fn check_program(workshop: &Workshop, program: &[u8]) {
    let [before, once, twice] = ["before", "once", "twice"].map(|name| workshop.path(name));
    save(&program.to_vec(), &before);
    edit_file(&before, &once, &repair());
    edit_file(&once, &twice, &rpath("$ORIGIN/nowhere:$ORIGIN/libs"));
    let first = |elf: &Elf| *elf.load_segments().next().unwrap();
    let source = Elf::read(&program.to_vec()).unwrap();
    for path in [&once, &twice] {
        assert_eq!(
            run(Command::new(path).arg("well").env("LD_BIND_NOW", "1")),
            "42 well\n"
        );
        let elf = Elf::read(&std::fs::read(path).unwrap()).unwrap();
        assert_eq!(first(&elf), first(&source));
        assert_eq!(first(&elf).flags & segment_flag::WRITE, 0);
        let headers = elf.segment(segment_type::PHDR).unwrap();
        assert_eq!(
            headers.address - first(&elf).address,
            headers.offset,
            "where Linux before 5.18 looks for them"
        );
    }
}

#[test]
fn a_library_is_stripped_and_then_edited() {
    let story = "strip";
    let lld = find_lld(story);
    let linkers = [None].into_iter().chain(lld.as_deref().map(Some));
    for workshop in linkers.filter_map(|linker| Workshop::new(story, linker)) {
        let library = workshop.library("libsample.so", &["-g"]);
        let source = std::fs::read(&library).unwrap();
        let patch = strip(&source).unwrap();
        let stripped = workshop.path("libsample-stripped.so");
        save(&PatchedFile::new(&source, &patch), &stripped);
        assert_eq!(warnings(&stripped), [""; 0]);
        let size = std::fs::metadata(&stripped).unwrap().len();
        assert!(
            size < source.len() as u64,
            "{size} of {} bytes",
            source.len()
        );
        check_library(&workshop, &stripped);

        // The other way round, nothing is lost, and so little is won.
        let once = workshop.path("libsample-once.so");
        edit_file(&library, &once, &repair());
        let edited = std::fs::read(&once).unwrap();
        let late = workshop.path("libsample-late.so");
        save(&PatchedFile::new(&edited, &strip(&edited).unwrap()), &late);
        assert_eq!(
            (workshop.answer(&late), warnings(&late)),
            (Ok("42".to_owned()), vec![])
        );
    }
}

#[test]
fn whether_a_library_still_loads_that_another_tool_stripped_after_an_edit_is_known() {
    let Some(workshop) = Workshop::new("GNU strip after an edit", None) else {
        return;
    };
    if find_tool(&["strip"], "GNU strip after an edit").is_none() {
        return;
    }
    let library = workshop.library("libsample.so", &[]);
    let edited = workshop.path("libsample-edited.so");
    edit_file(&library, &edited, &repair());
    assert_eq!(workshop.answer(&edited), Ok("42".to_owned()));
    run(Command::new("strip").arg("-s").arg(&edited));
    let faults = verify(&std::fs::read(&edited).unwrap());
    let answer = workshop.answer(&edited);
    assert_eq!(
        answer.is_ok(),
        faults.is_empty(),
        "it is found to have {faults:?}, and loading it gives {answer:?}"
    );
}

#[test]
fn exceptions_fly_through_a_grafted_libstdcxx() {
    let story = "a grafted libstdc++";
    if find_tool(&["g++"], story).is_none() {
        return;
    }
    let Some(workshop) = Workshop::new(story, None) else {
        return;
    };
    let source = "#include <stdexcept>\n#include <string>\n\
        extern \"C\" int answer() { try { throw std::runtime_error(\"42\"); } \
        catch (const std::exception &e) { return std::stoi(e.what()); } }\n";
    std::fs::write(workshop.path("throw.cpp"), source).unwrap();
    let mut compiler = Command::new("g++");
    compiler.current_dir(workshop.project.root()).args([
        "-shared",
        "-fPIC",
        "-o",
        "libthrow.so",
        "throw.cpp",
    ]);
    run(&mut compiler);
    let real = run(Command::new("g++").arg("-print-file-name=libstdc++.so.6"));
    let name = "libstdc++-0123abcd.so.6";
    let graft = ElfEdits {
        soname: Some(name.to_owned()),
        ..rpath("$ORIGIN")
    };
    edit_file(
        Path::new(real.trim()),
        &workshop.path("libs").join(name),
        &graft,
    );
    let edits = ElfEdits {
        rename_needed: BTreeMap::from([("libstdc++.so.6".to_owned(), name.to_owned())]),
        ..rpath("$ORIGIN/libs")
    };
    let edited = workshop.path("libthrow-edited.so");
    edit_file(&workshop.path("libthrow.so"), &edited, &edits);
    assert_eq!(workshop.answer(&edited), Ok("42".to_owned()));
    let elf = std::fs::read(&edited).unwrap();
    let elf = (Elf::read(&elf).unwrap(), elf);
    let strings = elf.0.string_table(&elf.1).unwrap();
    let needs = elf.0.version_needs(&elf.1, &strings).unwrap();
    assert!(needs.iter().any(|need| need.library == name), "{needs:?}");
}

#[test]
fn python_loads_an_edited_library_after_the_one_it_was_made_of() {
    let story = "Python's ctypes";
    if find_tool(&["python3"], story).is_none() {
        return;
    }
    let Some(workshop) = Workshop::new(story, None) else {
        return;
    };
    let edited = workshop.path("libsample-edited.so");
    edit_file(&workshop.library("libsample.so", &[]), &edited, &repair());
    let script = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).answer())";
    let mut python = Command::new("python3");
    assert_eq!(
        run(python
            .args(["-c", script])
            .arg(&edited)
            .env("LD_BIND_NOW", "1")),
        "42\n"
    );
}

#[test]
fn libraries_of_other_machines_have_no_fault_after_edits() {
    let story = "other machines";
    let clang = [
        "clang", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15",
    ];
    let (Some(clang), Some(lld), Some(_)) = (
        find_tool(&clang, story),
        find_lld(story),
        find_tool(&["readelf"], story),
    ) else {
        return;
    };
    let project = Project::new()
        .file("dep.c", DEPENDENCY)
        .file("dep.map", VERSIONS);
    let project = project.file(
        "sample.c",
        "int dep_answer(void);\nint answer(void) { return dep_answer() + 2; }\n",
    );
    for target in [
        "i686-linux-gnu",
        "aarch64-linux-gnu",
        "powerpc64-linux-gnu",
        "powerpc64le-linux-gnu",
        "riscv64-linux-gnu",
    ] {
        let object = |name: &str| {
            let mut compiler = Command::new(&clang);
            compiler.current_dir(project.root()).args([
                "-c",
                "-fPIC",
                "-ffreestanding",
                "-target",
                target,
            ]);
            run(compiler.args(["-o", &format!("{name}.o"), &format!("{name}.c")]));
        };
        let link = |arguments: &[&str]| {
            run(Command::new(&lld)
                .current_dir(project.root())
                .arg("-shared")
                .args(arguments));
        };
        object("dep");
        object("sample");
        link(&[
            "-soname",
            "libdep.so.1",
            "--version-script",
            "dep.map",
            "-o",
            "libdep.so.1",
            "dep.o",
        ]);
        link(&[
            "-soname",
            "libsample.so",
            "-o",
            "libsample.so",
            "sample.o",
            "libdep.so.1",
        ]);
        let [once, twice] = ["once.so", "twice.so"].map(|name| project.path(name));
        edit_file(&project.path("libsample.so"), &once, &repair());
        edit_file(&once, &twice, &rpath("$ORIGIN/nowhere:$ORIGIN/libs"));
        let bytes = std::fs::read(&twice).unwrap();
        let elf = Elf::read(&bytes).unwrap();
        let needs = elf
            .version_needs(&bytes, &elf.string_table(&bytes).unwrap())
            .unwrap();
        assert_eq!(needs[0].library, "libdep-0123abcd.so.1", "{target}");
    }
}

#[test]
fn static_programs_are_left_as_they_are() {
    let Some(workshop) = Workshop::new("static programs", None) else {
        return;
    };
    let source = "int main(void) { return 0; }\n";
    std::fs::write(workshop.path("static.c"), source).unwrap();
    let bytes = std::fs::read(workshop.compile("static", &["static.c", "-static"])).unwrap();
    assert_eq!(verify(&bytes), []);
    let names = ElfEdits {
        rpath: SearchPathEdit::Remove,
        ..repair()
    };
    assert!(
        edit(
            &bytes,
            &ElfEdits {
                soname: None,
                ..names
            }
        )
        .unwrap()
        .is_empty()
    );
    assert!(edit(&bytes, &rpath("$ORIGIN")).is_err());
    let elf = Elf::read(&bytes).unwrap();
    assert_eq!(elf.dynamic_value(tag::NEEDED), None);
    assert!(bytes.size_bytes() > 0);
}

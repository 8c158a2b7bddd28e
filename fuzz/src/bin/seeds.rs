//! Makes the inputs that fuzzing begins with: `seeds FOLDER` writes a folder for each target.
//!
//! All of them are made here, by the builders of the library and by the C compiler of the machine.

// What counts coverage in everything that is linked here is part of libFuzzer.
use libfuzzer_sys as _;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rock_matrix::compat::Compat;
use rock_matrix::config::{self, Lookups, recipe::RecipeSet};
use rock_matrix::diagnostic::{Sink, SourceText};
use rock_matrix::elf::sample_for_fuzzing;
use rock_matrix::plan;
use rock_matrix::wheel::ZipWriter;
use rock_matrix::wheel::record::{Record, RecordRow};
use rock_matrix::wheel::zip::MemberOptions;
use rock_matrix_fuzz::made::{self as code, Part};
use rock_matrix_fuzz::seeds::{BUCKETS, tars};
use rock_matrix_fuzz::{CHOICES, CONTENT, INFO, WHEEL};

fn main() -> io::Result<()> {
    let folder = std::env::args_os()
        .nth(1)
        .ok_or(io::ErrorKind::InvalidInput)?;
    let folder = Path::new(&folder);
    let library = compiled(&[
        "-shared",
        "-fPIC",
        "-Wl,-soname,libdemo.so,-rpath,$ORIGIN/../lib",
    ])?;
    let program = compiled(&["-pie", "-fPIE", "-Wl,-rpath,/opt/lib"])?;
    let made: Vec<Vec<u8>> = MADE
        .iter()
        .map(|choices| sample_for_fuzzing(*choices))
        .collect();
    let linked = [&library, &program];

    write(folder, "elf", made.iter().cloned())?;
    write_linked(folder, "elf", linked.map(Clone::clone))?;
    write(folder, "elf_edit", made_edits())?;
    write_linked(folder, "elf_edit", linked.map(|file| edits_of(file)))?;
    let with_code = [code::library(&wrapped()), code::library(&packed())];
    write(
        folder,
        "audit",
        made.windows(2).step_by(3).map(|two| pair(&two[0], &two[1])),
    )?;
    write_linked(
        folder,
        "audit",
        [pair(&library, &with_code[0]), pair(&with_code[1], &program)],
    )?;
    write(folder, "zip", wheels(&made[1]))?;
    write(folder, "zip_fields", zip_fields())?;
    write(
        folder,
        "entry_points",
        ENTRY_POINTS.iter().map(|text| text.as_bytes().to_vec()),
    )?;
    write(
        folder,
        "requirement",
        REQUIREMENTS.iter().map(|text| text.as_bytes().to_vec()),
    )?;
    write(folder, "bundle", bundles())?;
    write(folder, "ccob", compressed())?;
    write(folder, "kpack", archives())?;
    write(
        folder,
        "record",
        RECORDS.iter().map(|text| text.as_bytes().to_vec()),
    )?;
    write(
        folder,
        "metadata",
        HEADERS.iter().map(|text| text.as_bytes().to_vec()),
    )?;
    write(
        folder,
        "cmake",
        CMAKE.iter().map(|text| text.as_bytes().to_vec()),
    )?;
    write(
        folder,
        "related_commits",
        RELATED.iter().map(|text| text.as_bytes().to_vec()),
    )?;
    write(folder, "plan", plans())?;
    write(
        folder,
        "page",
        PAGES.iter().map(|text| text.as_bytes().to_vec()),
    )?;
    write(folder, "tar", tars().into_iter())?;
    write(
        folder,
        "bucket",
        BUCKETS.iter().map(|text| text.as_bytes().to_vec()),
    )?;
    write(
        folder,
        "wheel_name",
        NAMES.iter().map(|text| text.as_bytes().to_vec()),
    )
}

/// A matrix file with one of everything that a plan carries.
const MATRIX: &str = r#"version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: ["2.8.3"]
  python: ["3.8", "3.11"]
  torch: ["2.5.1"]
  rocm: ["6.2"]
  backend: [ck, triton]
gfx: [gfx942, gfx1100]
secrets: [HF_TOKEN]
docker: {args: ["--env=A=b"], groups: [video]}
vars: {gib-per-job: "2.8"}
indexes: {torch: "https://e.example/whl/{rocm}"}
"#;

/// Plans as the program writes them.
fn plans() -> impl Iterator<Item = Vec<u8>> {
    let compat = Compat::embedded();
    let recipes = Arc::new(RecipeSet::with_shipped([]));
    let one_cell = MATRIX.replace("\"3.8\", ", "").replace("ck, ", "");
    [MATRIX.to_owned(), one_cell].into_iter().map(move |text| {
        let mut sink = Sink::new();
        let config = config::read(
            &SourceText::new("m.yaml", text),
            &Lookups::new(&compat, recipes.clone()),
            &mut sink,
        );
        let config = config.expect("it is a matrix file");
        let recipe = recipes.known(&config.recipe).expect("it is shipped");
        let profile = recipe.profile(&config.distribution.normalized());
        let plan = plan::plan(
            vec![(config, profile)],
            &compat,
            &plan::PlanInputs::default(),
            &mut sink,
        );
        let mut made = Vec::new();
        plan::write_json(&plan.expect("it has jobs"), "seeds", &[], &mut made)
            .expect("memory takes everything");
        made
    })
}

/// Pages of indexes: of torch, of a root, of JSON, and what is no page.
const PAGES: [&str; 5] = [
    "<a href=\"/whl/torch-2.5.1%2Brocm6.2-cp311-cp311-linux_x86_64.whl#sha256=00\">torch</a><br>\n<A data-x='>' HREF=x.whl>",
    "<a href=\"rocm6.2/\">rocm6.2</a> <a href='/whl/rocm6.2.4/'>x</a> <a href=cu118/>y</a>",
    r#"{"files": [{"filename": "a-1-py3-none-any.whl", "hashes": {"sha256": "00"}, "yanked": "old", "core-metadata": {"sha256": "00"}}]}"#,
    r#"{"meta": {"api-version": "1.4"}, "name": "a", "files": [{"filename": "a.whl", "yanked": true}, {"filename": "b.whl"}]}"#,
    "<a <a href='<a href=\"%zz%e9?x#y\\",
];

/// Writes what is the same on every machine.
fn write(folder: &Path, target: &str, seeds: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
    let folder = folder.join(target);
    std::fs::create_dir_all(&folder)?;
    for (number, seed) in seeds.enumerate() {
        std::fs::write(folder.join(format!("{number:02}")), seed)?;
    }
    Ok(())
}

/// Writes what the C compiler of a machine had a part in.
fn write_linked(folder: &Path, target: &str, seeds: [Vec<u8>; 2]) -> io::Result<()> {
    for (name, seed) in ["linked-library", "linked-program"].into_iter().zip(seeds) {
        std::fs::write(folder.join(target).join(name), seed)?;
    }
    Ok(())
}

/// Two files as the target `audit` takes them.
fn pair(first: &[u8], second: &[u8]) -> Vec<u8> {
    let length = u16::try_from(first.len()).expect("it is small");
    [&length.to_le_bytes(), first, second].concat()
}

/// Files of every class and byte order, libraries and programs, with their program headers at both
/// ends.
const MADE: [[u8; 8]; 10] = [
    [0, 0, 0, 0, 0, 0, 4, 4],
    [0, 1, 0, 0, 0, 0, 8, 4],
    [0, 5, 1, 0, 0, 0, 9, 0],
    [0, 2, 5, 0, 0, 0, 7, 5],
    [0, 0, 0, 0, 2, 56, 20, 0],
    [1, 0, 0, 0, 1, 0, 37, 2],
    [2, 0, 0, 0, 0, 0, 4, 4],
    [3, 1, 0, 0, 0, 0, 2, 4],
    [4, 0, 0, 0, 0, 0, 63, 1],
    [5, 2, 0, 0, 0, 32, 4, 3],
];

/// A file by the C compiler, with GNU's hash table, symbol versions and notes.
fn compiled(flags: &[&str]) -> io::Result<Vec<u8>> {
    const CODE: &str = "void *malloc(unsigned long);
        int PyInit_demo(void) { return 42; }
        __attribute__((weak)) int other(void) { return 7; }
        int main(void) { return malloc(1) != 0 ? other() : PyInit_demo(); }";
    let folder = std::env::temp_dir().join(format!("seeds-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (source, output) = (folder.join("code.c"), folder.join("out"));
    std::fs::write(&source, CODE)?;
    let mut command = Command::new("cc");
    command.args([
        "-O1",
        "-s",
        "-nostartfiles",
        "-Wl,-z,noseparate-code,-z,norelro,-e,main",
        "-o",
    ]);
    let status = command.arg(&output).arg(&source).args(flags).status()?;
    let bytes = std::fs::read(&output);
    std::fs::remove_dir_all(&folder)?;
    if status.success() {
        bytes
    } else {
        Err(io::ErrorKind::Other.into())
    }
}

/// Bits: a name, a rename, a removal, two for the search path, a long name. What they choose
/// follows.
const EDITS: [[u8; 7]; 4] = [
    [0b01_0011, 4, 1, 4, 0, 6, 0],
    [0b01_1000, 2, 0, 0, 0, 5, 0],
    [0b00_1100, 0, 0, 0, 1, 7, 0],
    [0b11_0000, 90, 0, 0, 0, 6, 0],
];

fn made_edits() -> impl Iterator<Item = Vec<u8>> {
    MADE.into_iter().enumerate().map(|(number, kind)| {
        let (first, second) = (EDITS[number % 4], EDITS[(number + 1) % 4]);
        [&[0][..], &kind, &first, &second, &[0]].concat()
    })
}

fn edits_of(file: &[u8]) -> Vec<u8> {
    let seed = [&[1][..], &[0; 8], &EDITS[0], &EDITS[3], &[0], file].concat();
    assert_eq!(seed.len(), CHOICES + file.len());
    seed
}

/// Choices and parts of archives: plain, with extra fields, with a data descriptor, with comments.
fn zip_fields() -> impl Iterator<Item = Vec<u8>> {
    let crc32 = crc32fast::hash(CONTENT).to_le_bytes();
    let size = u32::try_from(CONTENT.len())
        .expect("it is small")
        .to_le_bytes();
    let descriptor = [b"PK\x07\x08", &crc32[..], &size, &size].concat();
    let name = "demo/ü.py".as_bytes();
    let path = [&[1], &crc32fast::hash(name).to_le_bytes()[..], name].concat();
    let field = |id: u16, content: &[u8]| {
        let length = u16::try_from(content.len()).expect("it is small");
        [&id.to_le_bytes()[..], &length.to_le_bytes(), content].concat()
    };
    let path = field(0x7075, &path);
    let time = field(0x5455, &[1, 0, 0, 0, 0]);
    let wide = field(1, &[[7, 0, 0, 0, 0, 0, 0, 0]; 2].concat());
    let seeds: [(u8, [&[u8]; 6]); 6] = [
        (0, [b"demo.py", b"", b"", b"", b"", b""]),
        (4, [name, &path, &path, b"", b"", b""]),
        (0, [b"demo.py", &time, &time, b"note", b"", b"comment"]),
        (3, [b"demo.py", b"", b"", b"", &descriptor, b""]),
        (0, [b"demo.py", &wide, b"", b"", b"", b""]),
        (0, [b"demo/", b"", b"", b"", b"", b""]),
    ];
    seeds
        .map(|(choices, parts)| {
            let length = |part: &[u8]| u8::try_from(part.len()).expect("it is small");
            let parts: Vec<u8> = parts
                .iter()
                .flat_map(|part| [&[length(part)], *part].concat())
                .collect();
            [&[choices][..], &parts].concat()
        })
        .into_iter()
}

const ENTRY_POINTS: [&str; 4] = [
    "[console_scripts]\ndemo = demo.cli:main\ndemo-gpu=demo.cli:App.run [gpu, all]\n",
    "# made\r\n[gui_scripts]\r\n  demo = demo:gui\r\n[demo.plugins]\r\nany name = demo\r\n",
    "[console_scripts]\n../demo = case:main\npython = case:main\ndemo =\n;demo = a\n",
    "demo = a:b\n[x\n[]\n[x]\n[x]\na = b\na = c\n",
];

const REQUIREMENTS: [&str; 5] = [
    "torch",
    "torch [opt, all] (>=2.5,<3) ; python_version > '3.8' and extra == \"x\"",
    "a @ https://example.invalid/a;b.whl ; os_name not in 'posix'",
    "a==1.*,!=1.2+rocm6.2; (sys_platform == 'linux' or ('x' in platform_machine))",
    "a>=; bad",
];

const TARGETS: [(&str, u32); 3] = [
    ("gfx942", 0x54c),
    ("gfx90a:sramecc+:xnack-", 0xe3f),
    ("gfx1100", 0x41),
];

/// Bundles alone, in libraries with what leads to them, and text that only looks like one.
fn bundles() -> impl Iterator<Item = Vec<u8>> + use<> {
    let bundle = code::hip_bundle(&TARGETS, 128);
    let windows = [code::part(".hip_fat", bundle.clone())];
    let files = [
        bundle,
        two_bundles(),
        code::library(&wrapped()),
        code::library(&packed()),
        code::pe_library(&windows),
        code::code_object(0x54c, 3, 192),
    ];
    files
        .into_iter()
        .map(|file| [&[0, 6, 63, 200, 1, 17, 99, 31][..], &file].concat())
}

fn two_bundles() -> Vec<u8> {
    code::concatenated(
        &[
            code::hip_bundle(&TARGETS, 128),
            code::hip_bundle(&TARGETS[1..], 64),
        ],
        256,
    )
}

/// The sections of a library with bundles.
fn wrapped() -> [Part; 3] {
    [
        code::part(
            ".rodata",
            b"text __CLANG_OFFLOAD_BUNDLE__ and CCOB".to_vec(),
        ),
        code::part(".hip_fatbin", two_bundles()),
        code::part(".hipFatBinSegment", code::wrappers(2, *b"FPIH")),
    ]
}

/// The sections of a library with a compressed bundle, and with code in an archive beside it.
fn packed() -> [Part; 3] {
    [
        code::part(
            ".hip_fatbin",
            code::compressed(&code::hip_bundle(&TARGETS, 128), 2, 1),
        ),
        code::part(
            ".rocm_kpack_ref",
            code::kpack_reference("blas", &["../.kpack/blas_@GFXARCH@.kpack"]),
        ),
        code::part(".hipFatBinSegment", code::wrappers(1, *b"HIPK")),
    ]
}

/// Every version and method, made here from a bundle, and as data that was compressed before.
fn compressed() -> impl Iterator<Item = Vec<u8>> + use<> {
    let bundle = code::hip_bundle(&TARGETS, 96);
    (0..6).flat_map(move |number: u8| {
        let kind = number % 3 | number / 3 << 2;
        let whole = code::compressed(&bundle, u16::from(kind % 3) + 1, u16::from(kind >> 2));
        let data = whole[[20, 24, 32][usize::from(kind % 3)]..].to_vec();
        let raw = u16::try_from(bundle.len().div_ceil(64))
            .expect("it is small")
            .to_le_bytes();
        [
            [&[kind, 5, 80, 255, 2][..], &bundle].concat(),
            [&[kind | 8, raw[0], raw[1], 255, 2][..], &data].concat(),
        ]
    })
}

fn archives() -> impl Iterator<Item = Vec<u8>> + use<> {
    let references = code::kpack_reference(
        "blas",
        &["../.kpack/blas_@GFXARCH@.kpack", ".kpack/x.kpack"],
    );
    [
        code::kpack(&["gfx942", "gfx1100"], &["blas", "fft"]),
        code::kpack(&[], &[]),
        references,
    ]
    .into_iter()
}

/// Archives: empty, small, a whole wheel; with what only other writers write; the text files of a
/// wheel alone.
fn wheels(library: &[u8]) -> impl Iterator<Item = Vec<u8>> + use<> {
    let tags = WHEEL
        .trim_end_matches(".whl")
        .split_once("-cp")
        .map_or("", |(_, tags)| tags);
    let headers =
        format!("Wheel-Version: 1.0\nGenerator: seeds\nRoot-Is-Purelib: false\nTag: cp{tags}\n");
    let metadata = HEADERS[0].as_bytes().to_vec();
    let files = [
        (
            "demo/__init__.py".to_owned(),
            b"\"\"\"A module.\"\"\"\n".repeat(20),
        ),
        ("demo/_demo.so".to_owned(), library.to_vec()),
        (format!("{INFO}/METADATA"), metadata.clone()),
        (format!("{INFO}/WHEEL"), headers.clone().into_bytes()),
    ];
    let mut rows: Vec<RecordRow> = files
        .iter()
        .map(|(path, content)| RecordRow::for_content(path, content))
        .collect();
    rows.push(RecordRow::without_hash(&format!("{INFO}/RECORD")));
    let record = (format!("{INFO}/RECORD"), Record { rows }.to_bytes());
    let whole: Vec<(String, Vec<u8>)> = files.into_iter().chain([record]).collect();
    let small = vec![
        ("a/".to_owned(), Vec::new()),
        ("a/b".to_owned(), b"content".to_vec()),
    ];
    let odd = [Odd::Descriptors, Odd::Wide].map(|odd| odd_zip(&whole[2..], odd));
    let parts = [
        metadata.as_slice(),
        headers.as_bytes(),
        RECORDS[0].as_bytes(),
        b"a/b",
    ];
    let texts = [0_u8, 1].map(|choice| [&[choice][..], &parts.join(&0xff)].concat());
    [
        (Vec::new(), 0),
        (small.clone(), 0),
        (small, 9),
        (whole.clone(), 6),
        (whole, 0),
    ]
    .map(|(files, level)| zipped(&files, level))
    .into_iter()
    .chain(odd)
    .chain(texts)
}

/// What an archive may have, and our own writer leaves out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Odd {
    /// Sizes behind the data (APPNOTE 4.3.9), a comment, and extra fields.
    Descriptors,
    /// ZIP64 fields and records that nothing needs (APPNOTE 4.5.3, 4.3.14 and 4.3.15).
    Wide,
}

/// An archive of stored members.
fn odd_zip(files: &[(String, Vec<u8>)], odd: Odd) -> Vec<u8> {
    let (mut bytes, mut central) = (Vec::new(), Vec::new());
    let number = |value: usize| u32::try_from(value).expect("it is small").to_le_bytes();
    let half = |value: usize| u16::try_from(value).expect("it is small").to_le_bytes();
    let is_wide = odd == Odd::Wide;
    for (name, content) in files {
        let (offset, crc, size) = (
            bytes.len(),
            crc32fast::hash(content).to_le_bytes(),
            content.len() as u64,
        );
        let slots = if is_wide {
            [0xff; 8].to_vec()
        } else {
            [number(content.len()); 2].concat()
        };
        // The extended timestamp of Info-ZIP has nothing to do with sizes.
        let extra = match odd {
            Odd::Descriptors => b"UT\x05\0\x03\0\0\0\0".to_vec(),
            Odd::Wide => [&[1, 0, 16, 0][..], &size.to_le_bytes(), &size.to_le_bytes()].concat(),
        };
        let common = |sums: &[u8]| {
            let flags = if is_wide { [0, 0] } else { [8, 0] };
            let lengths = [half(name.len()), half(extra.len())].concat();
            [&[45, 0], &flags[..], &[0, 0, 0, 0, 0x21, 0], sums, &lengths].concat()
        };
        let sums = [&crc[..], &slots].concat();
        bytes.extend_from_slice(b"PK\x03\x04");
        bytes.extend(common(if is_wide { &sums } else { &[0; 12] }));
        bytes.extend([name.as_bytes(), &extra, content].concat());
        if !is_wide {
            bytes.extend([&b"PK\x07\x08"[..], &sums].concat());
        }
        central.extend(
            [
                &b"PK\x01\x02-\x03"[..],
                &common(&sums),
                &[0; 10],
                &number(offset),
            ]
            .concat(),
        );
        central.extend([name.as_bytes(), &extra].concat());
    }
    let (offset, length, count) = (bytes.len(), central.len(), files.len());
    bytes.extend(central);
    if is_wide {
        let end = bytes.len() as u64;
        bytes.extend(
            [
                &b"PK\x06\x06"[..],
                &44_u64.to_le_bytes(),
                &[45, 3, 45, 0],
                &[0; 8],
            ]
            .concat(),
        );
        bytes.extend(
            [count, count, length, offset]
                .map(|value| (value as u64).to_le_bytes())
                .concat(),
        );
        bytes.extend(
            [
                &b"PK\x06\x07\0\0\0\0"[..],
                &end.to_le_bytes(),
                &[1, 0, 0, 0],
            ]
            .concat(),
        );
    }
    bytes.extend(
        [
            &b"PK\x05\x06\0\0\0\0"[..],
            &half(count),
            &half(count),
            &number(length),
            &number(offset),
        ]
        .concat(),
    );
    bytes.extend_from_slice(b"\x07\0comment");
    bytes
}

fn zipped(files: &[(String, Vec<u8>)], level: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    for (name, content) in files {
        let level = if name.ends_with('/') { 0 } else { level };
        writer
            .add(
                name,
                content,
                &MemberOptions {
                    level,
                    ..MemberOptions::default()
                },
            )
            .expect("memory takes everything");
    }
    writer.finish().expect("memory takes everything");
    bytes
}

/// CMake files: whole, and with what has no end.
const CMAKE: [&str; 2] = [
    "if(NOT __INCLUDED)\n  set(__VER \"0.11b\")  # comment\n  set(__LIST\n      \"rocm6.4\"\n      rocm7.0)\n  if(DEFINED ENV{COMMIT})\n    set(__COMMIT \"$ENV{COMMIT}\")\n  else()\n    set(__COMMIT \"0123456789abcdef0123456789abcdef01234567\")\n  endif()\nendif()\n",
    "#[[ bracket\ncomment ]]\nSET(A [==[x ]] y]==] \"q\\\\\"r\" -D\"a b\"=c CACHE STRING \"about\" FORCE)\nelseif(X)\n<<<<<<< HEAD\nset(B ${C} PARENT_SCOPE\n",
];

/// Rows that agree, and what is wrong with others.
const RELATED: [&str; 2] = [
    "# pins\nubuntu|pytorch|torchaudio|main|0123456789abcdef0123456789abcdef01234567|https://example.org/audio\ncentos|pytorch|torchaudio|main|0123456789abcdef0123456789abcdef01234567|https://example.org/audio\n",
    "garbage\nubuntu|pytorch|apex|main|0123abc|https://example.org/apex\ncentos|pytorch|apex|main|7654321|https://example.org/apex\n\nubuntu|pytorch||main|zzz|-x\n",
];

const RECORDS: [&str; 3] = [
    "demo/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\ndemo-1.0.dist-info/RECORD,,\n",
    "\"a,\"\"b\"\".py\",sha512=x,1\r\n\"\",,\r\n",
    "a\rb,c,\"d\ne\"\n\n,,",
];

const HEADERS: [&str; 4] = [
    "Metadata-Version: 2.1\nName: demo\nVersion: 1.0+rocm62torch2.5\nRequires-Dist: torch (>=2.5,!=2.5.1)\n\nA description.\n",
    "Wheel-Version: 1.0\r\nRoot-Is-Purelib: false\r\nTag:  cp312-cp312-linux_x86_64\r\nTag: cp312-abi3-any\r\n",
    "name: demo\n\tmore\nNo header\nVersion\n: x\nVersion: 1",
    "\n\nbody",
];

const NAMES: [&str; 6] = [
    "demo-1.0-py3-none-any.whl",
    "flash_attn-2.8.3+rocm62torch2.5-1a-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
    "flash_attn-2.8.3%2Brocm6.2-cp311-cp311-linux_x86_64.whl",
    "Flash.Attn-1!2.8.3rc1.post1.dev2+A_b-py2.py3-none-linux_x86_64.any.whl",
    "flash-attn-2.8.3-cp311-cp311-linux_x86_64.whl",
    "a-1.tar.gz",
];

//! Makes the inputs that fuzzing begins with: `seeds FOLDER` writes a folder for each target.
//!
//! All of them are made here, by the builders of the library and by the C compiler of the machine.

use std::io;
use std::path::Path;
use std::process::Command;

use rock_matrix::elf::made_for_fuzzing;
use rock_matrix::wheel::ZipWriter;
use rock_matrix::wheel::record::{Record, Row};
use rock_matrix::wheel::zip::NewMember;
use rock_matrix_fuzz::{CHOICES, WHEEL, made as code};

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or(io::ErrorKind::InvalidInput)?;
    let folder = Path::new(&folder);
    let library = compiled(&["-shared", "-fPIC", "-Wl,-soname,libdemo.so,-rpath,$ORIGIN/../lib"])?;
    let program = compiled(&["-pie", "-fPIE", "-Wl,-rpath,/opt/lib"])?;
    let made: Vec<Vec<u8>> = MADE.iter().map(|choices| made_for_fuzzing(*choices)).collect();
    let files: Vec<&Vec<u8>> = made.iter().chain([&library, &program]).collect();

    let elf = files.iter().map(|file| (*file).clone());
    write(folder, "elf", elf)?;
    write(folder, "elf_edit", edits(&library, &program))?;
    let pairs = files.windows(2).step_by(3).map(|pair| {
        let length = u16::try_from(pair[0].len()).expect("it is small");
        [&length.to_le_bytes(), pair[0].as_slice(), pair[1]].concat()
    });
    write(folder, "audit", pairs)?;
    write(folder, "zip", wheels(&made[1]))?;
    write(folder, "bundle", bundles())?;
    write(folder, "ccob", compressed())?;
    write(folder, "kpack", archives())?;
    write(folder, "record", RECORDS.iter().map(|text| text.as_bytes().to_vec()))?;
    write(folder, "metadata", HEADERS.iter().map(|text| text.as_bytes().to_vec()))?;
    write(folder, "wheel_name", NAMES.iter().map(|text| text.as_bytes().to_vec()))
}

fn write(folder: &Path, target: &str, seeds: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
    let folder = folder.join(target);
    std::fs::create_dir_all(&folder)?;
    for (number, seed) in seeds.enumerate() {
        std::fs::write(folder.join(format!("{number:02}")), seed)?;
    }
    Ok(())
}

/// Files of every class and byte order, libraries and programs, with their program headers at both ends.
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
    command.args(["-O1", "-s", "-nostartfiles", "-Wl,-z,noseparate-code,-z,norelro,-e,main", "-o"]);
    let status = command.arg(&output).arg(&source).args(flags).status()?;
    let bytes = std::fs::read(&output);
    std::fs::remove_dir_all(&folder)?;
    if status.success() { bytes } else { Err(io::ErrorKind::Other.into()) }
}

fn edits(library: &[u8], program: &[u8]) -> impl Iterator<Item = Vec<u8>> + use<> {
    // Bits: a name, a rename, a removal, two for the search path, a long name.
    let choices = [
        [0b01_0011, 4, 1, 4, 0, 6, 0],
        [0b01_1000, 2, 0, 0, 0, 5, 0],
        [0b00_1100, 0, 0, 0, 1, 7, 0],
        [0b11_0000, 90, 0, 0, 0, 6, 0],
    ];
    let made = MADE.into_iter().enumerate().map(move |(number, kind)| {
        let (first, second) = (choices[number % 4], choices[(number + 1) % 4]);
        [&[0][..], &kind, &first, &second, &[0]].concat()
    });
    let whole = [library, program].into_iter().map(move |file| {
        let seed = [&[1][..], &[0; 8], &choices[0], &choices[3], &[0], file].concat();
        assert_eq!(seed.len(), CHOICES + file.len());
        seed
    });
    made.chain(whole)
}

const TARGETS: [(&str, u32); 3] = [("gfx942", 0x54c), ("gfx90a:sramecc+:xnack-", 0xe3f), ("gfx1100", 0x41)];

/// Bundles alone, in libraries with what leads to them, and text that only looks like one.
fn bundles() -> impl Iterator<Item = Vec<u8>> + use<> {
    let bundle = code::hip_bundle(&TARGETS, 128);
    let two = code::concatenated(&[bundle.clone(), code::hip_bundle(&TARGETS[1..], 64)], 256);
    let wrapped = [
        code::part(".rodata", b"text __CLANG_OFFLOAD_BUNDLE__ and CCOB".to_vec()),
        code::part(".hip_fatbin", two.clone()),
        code::part(".hipFatBinSegment", code::wrappers(2, *b"FPIH")),
    ];
    let packed = [
        code::part(".hip_fatbin", code::compressed(&bundle, 2, 1)),
        code::part(".rocm_kpack_ref", code::kpack_reference("blas", &["../.kpack/blas_@GFXARCH@.kpack"])),
        code::part(".hipFatBinSegment", code::wrappers(1, *b"HIPK")),
    ];
    let windows = [code::part(".hip_fat", bundle.clone())];
    let files = [
        bundle,
        two,
        code::library(&wrapped),
        code::library(&packed),
        code::pe_library(&windows),
        code::code_object(0x54c, 3, 192),
    ];
    files.into_iter().map(|file| [&[0, 6, 63, 200, 1, 17, 99, 31][..], &file].concat())
}

/// Every version and method, made here from a bundle, and as data that was compressed before.
fn compressed() -> impl Iterator<Item = Vec<u8>> + use<> {
    let bundle = code::hip_bundle(&TARGETS, 96);
    (0..6).flat_map(move |number: u8| {
        let kind = number % 3 | number / 3 << 2;
        let whole = code::compressed(&bundle, u16::from(kind % 3) + 1, u16::from(kind >> 2));
        let data = whole[[20, 24, 32][usize::from(kind % 3)]..].to_vec();
        let raw = u16::try_from(bundle.len().div_ceil(64)).expect("it is small").to_le_bytes();
        [[&[kind, 5, 80, 255, 2][..], &bundle].concat(), [&[kind | 8, raw[0], raw[1], 255, 2][..], &data].concat()]
    })
}

fn archives() -> impl Iterator<Item = Vec<u8>> + use<> {
    let references = code::kpack_reference("blas", &["../.kpack/blas_@GFXARCH@.kpack", ".kpack/x.kpack"]);
    [code::kpack(&["gfx942", "gfx1100"], &["blas", "fft"]), code::kpack(&[], &[]), references].into_iter()
}

/// Archives: empty, small, a whole wheel.
fn wheels(library: &[u8]) -> impl Iterator<Item = Vec<u8>> + use<> {
    let info = "demo-1.0.dist-info";
    let tags = WHEEL.trim_end_matches(".whl").trim_start_matches("demo-1.0-");
    let files = [
        ("demo/__init__.py".to_owned(), b"\"\"\"A module.\"\"\"\n".repeat(20)),
        ("demo/_demo.so".to_owned(), library.to_vec()),
        (format!("{info}/METADATA"), HEADERS[0].as_bytes().to_vec()),
        (
            format!("{info}/WHEEL"),
            format!("Wheel-Version: 1.0\nGenerator: seeds\nRoot-Is-Purelib: false\nTag: {tags}\n").into_bytes(),
        ),
    ];
    let mut rows: Vec<Row> = files.iter().map(|(path, content)| Row::of_content(path, content)).collect();
    rows.push(Row::bare(&format!("{info}/RECORD")));
    let record = (format!("{info}/RECORD"), Record { rows }.to_bytes());
    let whole: Vec<(String, Vec<u8>)> = files.into_iter().chain([record]).collect();
    let small = vec![("a/".to_owned(), Vec::new()), ("a/b".to_owned(), b"content".to_vec())];
    [(Vec::new(), 0), (small.clone(), 0), (small, 9), (whole.clone(), 6), (whole, 0)]
        .into_iter()
        .map(|(files, level)| zipped(&files, level))
}

fn zipped(files: &[(String, Vec<u8>)], level: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    for (name, content) in files {
        let level = if name.ends_with('/') { 0 } else { level };
        writer.add(name, content, &NewMember { level, ..NewMember::default() }).expect("memory takes everything");
    }
    writer.finish().expect("memory takes everything");
    bytes
}

const RECORDS: [&str; 3] = [
    "demo/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\ndemo-1.0.dist-info/RECORD,,\n",
    "\"a,\"\"b\"\".py\",sha512=x,1\r\n\"\",,\r\n",
    "a\rb,c,\"d\ne\"\n\n,,",
];

const HEADERS: [&str; 4] = [
    "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nRequires-Dist: torch (>=2.5)\n\nA description.\n",
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

//! Wheels, archives, libraries and artifacts that a few lines of text describe.
//!
//! A line is read as a shell reads it; `\n` is a line end and `\xNN` a character. A wheel fits its
//! file name unless a line changes it:
//! - `file PATH TEXT`, `zeros PATH SIZE`, `noise PATH SIZE`: a member
//! - `elf PATH …`, `library PATH …`, `gpu PATH …`: a library, see [`library`]
//! - `requires REQUIREMENT`: a line of METADATA
//! - `edit FILE FROM TO`, `append FILE TEXT`: changes METADATA, WHEEL or RECORD
//! - `stored`: members are not compressed
//! - `member FIELD VALUE`, `archive comment HEX`, `add PATH TEXT`: fields of the first member and
//!   of the archive, and a member that RECORD does not list
//! - `patch local|central|end OFFSET HEX`: bytes of the first header of this kind

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::artifacts::Artifacts;
use super::bundle::{self, part};
use super::elf::Library;
use super::raw_zip::{RawMember, RawZip};
use super::zip_records::{CENTRAL, END, LOCAL, patched};
use super::{Project, SourceArchive, Wheel};

/// Tags of dynamic entries with a text (gABI, "Dynamic Section").
const SONAME: u64 = 14;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;

/// Returns the wheel of this file name.
pub fn wheel(name: &str, text: &str) -> Vec<u8> {
    let lines = lines(text);
    let mut wheel = Wheel::named(name);
    let mut fields = Vec::new();
    let mut patches = Vec::new();
    for line in &lines {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        wheel = match line[..] {
            ["file", path, text] => wheel.file(path, text),
            ["zeros", path, size] => wheel.file(path, vec![0_u8; size.parse().unwrap()]),
            ["noise", path, size] => wheel.file(path, noise(size.parse().unwrap())),
            ["elf" | "library" | "gpu", path, ..] => {
                wheel.executable(path, library_of(line[0], &line[2..]))
            }
            ["requires", requirement] => wheel.requires(requirement),
            ["edit", file, from, to] => {
                let (from, to) = (from.to_owned(), to.to_owned());
                wheel.edit(file, move |text| text.replace(&from, &to))
            }
            ["append", file, more] => {
                let more = more.to_owned();
                wheel.edit(file, move |text| text + &more)
            }
            ["stored"] => wheel.stored(),
            ["member" | "archive" | "add", ..] => {
                fields.push(line.clone());
                wheel
            }
            ["patch", kind, at, with] => {
                patches.push((kind, at, with));
                wheel
            }
            _ => panic!("a wheel has no {line:?}"),
        };
    }
    let mut bytes = wheel.bytes();
    if !fields.is_empty() {
        let mut archive = RawZip::read(&bytes);
        for line in fields {
            set_field(&mut archive, &line);
        }
        bytes = archive.bytes();
    }
    for (kind, at, with) in patches {
        let kind = match kind {
            "local" => LOCAL,
            "central" => CENTRAL,
            "end" => END,
            other => panic!("no record of a zip archive is called `{other}`"),
        };
        bytes = patched(&bytes, kind, at.parse().unwrap(), &hex(with));
    }
    bytes
}

/// Sets a field of an archive or of its first member, or adds a member.
fn set_field(archive: &mut RawZip, line: &[&str]) {
    match *line {
        ["add", path, text] => archive.members.push(RawMember::new(path, text.as_bytes())),
        ["archive", "comment", comment] => archive.comment = hex(comment),
        ["member", "streamed"] => {
            let member = &mut archive.members[0];
            member.flags |= 1 << 3;
            member.is_streamed = true;
            member.descriptor = member.true_descriptor();
        }
        ["member", "flags", flags] => archive.members[0].flags |= flags.parse::<u16>().unwrap(),
        ["member", "version", version] => archive.members[0].version = version.parse().unwrap(),
        ["member", "local-extra", extra] => archive.members[0].local_extra = hex(extra),
        _ => panic!("an archive has no {line:?}"),
    }
}

/// Returns the source distribution of this file name: `file PATH TEXT` and `link PATH TARGET` add
/// to what installers need, and `empty` at the beginning leaves that out.
pub fn source_archive(name: &str, text: &str) -> Vec<u8> {
    let mut archive = if text.starts_with("empty") {
        SourceArchive::empty()
    } else {
        SourceArchive::named(name)
    };
    for line in &lines(text) {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        archive = match line[..] {
            ["empty"] => archive,
            ["file", path, text] => archive.file(path, text),
            ["link", path, target] => archive.other(tar::EntryType::Symlink, path, target),
            _ => panic!("a source distribution has no {line:?}"),
        };
    }
    archive.bytes()
}

/// Writes artifacts of a ROCm build to the folder `artifacts`: those of a split build after
/// `split`, and a file or link for each other line.
pub fn artifacts(project: &Project, text: &str) {
    let artifacts = if text.starts_with("split") {
        Artifacts::split(project)
    } else {
        Artifacts::new(project, true)
    };
    for line in &lines(text) {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        match line[..] {
            ["split"] => {}
            ["programs"] => artifacts.programs(),
            ["file", path, text] => artifacts.file(path, text.as_bytes()),
            ["link", path, target] => artifacts.link(path, target),
            ["elf" | "library", path, ..] => {
                artifacts.executable(path, library_of(line[0], &line[2..]));
            }
            _ => panic!("artifacts have no {line:?}"),
        }
    }
}

/// Returns the library of one line:
/// - `elf needed=… soname=… rpath=… runpath=…`, written by hand and the same on every machine
/// - `library extension=… soname=… needs=SONAME:VERSION,… linked=… exports=… runpath=…`, by the C
///   compiler; `program` at the beginning makes a program
/// - `gpu gfx90a NAME=TARGET … wrappers=N compressed cut=N`, with a bundle of code for GPUs
///
/// `patch=OFFSET:HEX` changes bytes; `first-load+OFFSET` counts from the header of the first loaded
/// segment.
pub fn library(line: &str) -> Vec<u8> {
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    library_of(words[0], &words[1..])
}

fn library_of(kind: &str, options: &[&str]) -> Vec<u8> {
    if kind == "gpu" {
        return gpu(options);
    }
    let (patches, options): (Vec<&str>, Vec<&str>) = options
        .iter()
        .copied()
        .partition(|option| option.starts_with("patch="));
    let mut bytes = if kind == "elf" {
        by_hand(&options)
    } else {
        compiled(&options)
    };
    for patch in patches {
        let (at, with) = patch["patch=".len()..].split_once(':').unwrap();
        let at = match at.strip_prefix("first-load+") {
            Some(more) => first_load(&bytes) + more.parse::<usize>().unwrap(),
            None => at.parse().unwrap(),
        };
        let with = hex(with);
        bytes[at..at + with.len()].copy_from_slice(&with);
    }
    bytes
}

fn by_hand(options: &[&str]) -> Vec<u8> {
    let (mut needed, mut texts) = (Vec::new(), Vec::new());
    for &option in options {
        match option.split_once('=') {
            Some(("needed", name)) => needed.push(name),
            Some(("soname", text)) => texts.push((SONAME, text)),
            Some(("rpath", text)) => texts.push((RPATH, text)),
            Some(("runpath", text)) => texts.push((RUNPATH, text)),
            _ => panic!("a library has no `{option}`"),
        }
    }
    rock_testkit::library(&needed, &texts)
}

fn compiled(options: &[&str]) -> Vec<u8> {
    let mut library = Library::new();
    for &option in options {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        library = match key {
            "program" => Library::program(),
            "extension" => library.exports(&format!("PyInit_{value}")),
            "soname" => library.soname(value),
            "needs" => {
                let (soname, versions) = value.split_once(':').unwrap_or((value, ""));
                let versions = versions.split(',').filter(|version| !version.is_empty());
                library.needs(soname, &versions.collect::<Vec<_>>())
            }
            "linked" => library.linked(value),
            "exports" => library.exports(value),
            "runpath" => library.runpath(value),
            _ => panic!("a library has no `{option}`"),
        };
    }
    library.build()
}

fn gpu(options: &[&str]) -> Vec<u8> {
    let (mut targets, mut wrappers, mut is_compressed, mut cut) = (Vec::new(), 1, false, 0);
    for &option in options {
        match option.split_once('=') {
            Some(("wrappers", count)) => wrappers = count.parse().unwrap(),
            Some(("cut", count)) => cut = count.parse().unwrap(),
            Some((name, target)) => targets.push((name, machine(target))),
            None if option == "compressed" => is_compressed = true,
            None => targets.push((option, machine(option))),
        }
    }
    let mut code = bundle::hip_bundle(&targets, 512);
    if is_compressed {
        code = bundle::compressed(&code, 2, 0);
    }
    code.truncate(code.len() - cut);
    let wrappers = bundle::wrappers(wrappers, *b"FPIH");
    bundle::library(&[
        part(".hip_fatbin", code),
        part(".hipFatBinSegment", wrappers),
    ])
}

/// Machine numbers (LLVM AMDGPU usage, "AMDGPU ELF Header `e_flags`").
fn machine(target: &str) -> u32 {
    match target {
        "gfx90a" => 0x3f,
        "gfx942" => 0x4c,
        "gfx1100" => 0x41,
        "gfx11-generic" => 0x54,
        _ => panic!("`{target}` has no machine number here"),
    }
}

/// Where the header of the first loaded segment of a 64-bit file begins.
fn first_load(bytes: &[u8]) -> usize {
    let table = u64::from_le_bytes(bytes[32..40].try_into().unwrap());
    let mut headers = (usize::try_from(table).unwrap()..).step_by(56);
    headers
        .find(|at| bytes[*at..*at + 4] == [1, 0, 0, 0])
        .unwrap()
}

/// Returns bytes that no compression makes fewer of.
fn noise(count: u32) -> Vec<u8> {
    (0..count)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0])
        .collect()
}

fn lines(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(words)
        .filter(|words| !words.is_empty())
        .collect()
}

fn words(line: &str) -> Vec<String> {
    let words = shlex::split(line).unwrap_or_else(|| panic!("`{line}` is not quoted well"));
    words.iter().map(|word| unescaped(word)).collect()
}

fn unescaped(word: &str) -> String {
    static CHARACTER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\\x([0-7][0-9a-f])").unwrap());
    let word = CHARACTER.replace_all(word, |found: &Captures<'_>| {
        char::from(u8::from_str_radix(&found[1], 16).unwrap()).to_string()
    });
    word.replace("\\n", "\n")
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

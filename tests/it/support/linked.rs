//! Libraries and programs that are compiled for a story, and whether they load.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use rock_matrix::bytes::{RangeReader, ReadAt};
use rock_matrix::elf::{
    Elf, ElfClass, ElfEdits, ElfPatch, PatchedFile, ProgramHeader, edit, segment_flag,
    segment_type, verify,
};

/// Which of these programs is here; where none is, that is said aloud.
pub fn find_tool(names: &[&str], story: &str) -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let found = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {story}: none of {names:?} is here"
        );
    }
    found
}

/// LLVM's linker under any of the names that packages give it.
pub fn find_lld(story: &str) -> Option<PathBuf> {
    let names = [
        "ld.lld",
        "ld.lld-21",
        "ld.lld-20",
        "ld.lld-19",
        "ld.lld-18",
        "ld.lld-17",
        "ld.lld-16",
        "ld.lld-15",
    ];
    find_tool(&names, story)
}

/// What a driver is told to link with this `ld.lld`. It looks for that name in a folder, whatever a
/// package calls the program, and takes no path of it: a link of that name is made in `folder`.
pub fn linked_by(lld: &Path, folder: &Path) -> Vec<String> {
    std::fs::create_dir_all(folder).unwrap();
    std::os::unix::fs::symlink(lld, folder.join("ld.lld")).unwrap();
    vec!["-fuse-ld=lld".to_owned(), format!("-B{}", folder.display())]
}

/// Runs a tool that must succeed.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let done = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success(),
        "{command:?}: {} {stderr}",
        done.status
    );
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// What `readelf -a` warns of.
pub fn warnings(file: &Path) -> Vec<String> {
    let done = Command::new("readelf")
        .args(["-a", "-W"])
        .arg(file)
        .env("LC_ALL", "C")
        .output();
    let done = done.unwrap_or_else(|error| panic!("readelf: {error}"));
    let text = [done.stdout, done.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let is_warning = |line: &&str| line.contains("Warning:") || line.contains("Error:");
    text.lines().filter(is_warning).map(str::to_owned).collect()
}

/// Edits a file into another; the result has no fault. What was to be edited has none either.
#[track_caller]
pub fn edit_file(from: &Path, to: &Path, edits: &ElfEdits) -> ElfPatch {
    let source = std::fs::read(from).unwrap();
    assert_eq!(verify(&source), [], "{}", from.display());
    let patch = edit(&source, edits).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    let patched = PatchedFile::new(&source, &patch);
    assert_eq!(verify(&patched), []);
    save(&patched, to);
    assert_eq!(warnings(to), [""; 0], "{}", to.display());
    patch
}

/// Writes a file as it streams by. It can be run.
pub fn save(source: &dyn ReadAt, to: &Path) {
    let mut file = std::fs::File::create(to).unwrap();
    std::io::copy(
        &mut RangeReader::new(source, 0, source.size_bytes()),
        &mut file,
    )
    .unwrap();
    drop(file);
    run(Command::new("chmod").arg("755").arg(to));
}

/// Moves the program headers into a segment at the end of the file, with room for so many more,
/// `gap` bytes above where it had to be: as splitting the code for GPUs off leaves ROCm's
/// libraries. Programs get no gap.
pub fn headers_at_end(bytes: &[u8], spare: usize, gap: u64) -> Vec<u8> {
    const PAGE: u64 = 4096;
    let elf = Elf::read(&bytes.to_vec()).unwrap();
    let format = elf.header().format;
    assert_eq!(format.class, ElfClass::Elf64);
    let mut segments: Vec<ProgramHeader> = elf.segments().to_vec();
    segments.retain(|segment| segment.kind != segment_type::PHDR);
    let size = ((segments.len() + 2 + spare) * ProgramHeader::header_size(format.class)) as u64;
    let mut address = elf
        .load_segments()
        .map(ProgramHeader::memory_end)
        .max()
        .unwrap()
        .next_multiple_of(PAGE)
        + gap;
    let mut offset = (bytes.len() as u64).next_multiple_of(PAGE);
    if elf.segment(segment_type::INTERP).is_some() {
        let base = elf.load_segments().next().unwrap().address;
        offset = offset.max(address - base);
        address = offset + base;
    }
    let cover = ProgramHeader {
        kind: segment_type::LOAD,
        flags: segment_flag::READ,
        offset,
        address,
        physical_address: address,
        file_size: size,
        memory_size: size,
        align: PAGE,
    };
    let last = segments.iter().rposition(ProgramHeader::is_load).unwrap();
    segments.insert(last + 1, cover);
    segments.insert(
        0,
        ProgramHeader {
            kind: segment_type::PHDR,
            align: 8,
            ..cover
        },
    );
    let mut moved = bytes.to_vec();
    moved.resize(usize::try_from(offset).unwrap(), 0);
    moved.extend(segments.iter().flat_map(|segment| segment.to_bytes(format)));
    moved.resize(usize::try_from(offset + size).unwrap(), 0);
    // `e_phoff` and `e_phnum` of 64-bit files.
    format.put_u64(&mut moved, 32, offset);
    format.put_u16(&mut moved, 56, u16::try_from(segments.len()).unwrap());
    moved
}

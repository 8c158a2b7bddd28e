//! Editing ELF files.

use std::collections::{BTreeMap, BTreeSet};

use rock_matrix::bytes::ReadAt;
use rock_matrix::elf::{
    Elf, ElfEdits, ElfPatch, LayoutError, PatchedFile, ProgramHeader, SearchPathEdit, edit,
    sample_for_fuzzing, tag, verify,
};

/// How many bytes of the input choose the file and the edits.
pub const CHOICES: usize = 24;

/// Names that edits use: some that the made files have, and some that are hard.
const NAMES: [&str; 12] = [
    "libc.so.6",
    "libfoo.so.1",
    "libsample.so",
    "sample",
    "libfoo-89abcdef.so.1",
    "$ORIGIN",
    "$ORIGIN/../demo.libs:$ORIGIN",
    "/opt:$ORIGIN",
    "",
    "a\0b",
    "lib\u{fc}.so",
    "x",
];

/// Edits a file twice. Byte 0 says whether the file is the rest of the input, or one that the next
/// eight choose, with the rest as changes of single bytes.
pub fn elf_edit(bytes: &[u8]) {
    let Some((choices, rest)) = bytes.split_first_chunk::<CHOICES>() else {
        return;
    };
    let mut source = rest.to_vec();
    let mut is_sound = false;
    if choices[0] & 1 == 0 {
        source = sample_for_fuzzing(choices[1..9].try_into().expect("eight"));
        is_sound = rest.len() < 3;
        for change in rest.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % source.len();
            source[at] = change[2];
        }
    }
    let first = edits(&choices[9..16]);
    let second = edits(&choices[16..23]);
    let Some(once) = edited(&source, &first, is_sound) else {
        return;
    };
    // A rename of a rename, or of what is removed, goes further the second time.
    let targets: BTreeSet<&String> = first.rename_needed.values().collect();
    let is_chain = targets
        .iter()
        .any(|to| first.rename_needed.contains_key(*to) || first.remove_needed.contains(*to));
    if !is_chain {
        let patch = edit(&once, &first).expect("the same edits are allowed again");
        assert!(patch.is_empty(), "the second time, nothing is left to do");
    }
    edited(&once, &second, is_sound);
}

fn edits(choices: &[u8]) -> ElfEdits {
    let name = |at: usize| NAMES[usize::from(choices[at]) % NAMES.len()].to_owned();
    let has = |bit: u8| choices[0] >> bit & 1 != 0;
    let mut edits = ElfEdits {
        soname: has(0).then(|| name(1)),
        ..ElfEdits::default()
    };
    if has(1) {
        edits.rename_needed = BTreeMap::from([(name(2), name(3))]);
    }
    if has(2) {
        edits.remove_needed = BTreeSet::from([name(4)]);
    }
    if has(5) {
        edits.soname = Some("long".repeat(usize::from(choices[1]) * 40 + 1));
    }
    edits.rpath = match choices[0] >> 3 & 3 {
        0 => SearchPathEdit::Keep,
        1 => SearchPathEdit::Remove,
        2 => SearchPathEdit::Rpath(name(5)),
        _ => SearchPathEdit::Runpath(name(5)),
    };
    edits
}

/// The file after an edit that was not refused, with everything that an edit promises checked.
fn edited(source: &Vec<u8>, edits: &ElfEdits, is_sound: bool) -> Option<Vec<u8>> {
    let faults = verify(source);
    assert!(!is_sound || faults.is_empty(), "{faults:?}");
    let patch = edit(source, edits).ok()?;
    let patched = PatchedFile::new(source, &patch);
    // A program that says that it takes much memory is given so many zeros.
    if patched.size_bytes() > (source.len() as u64) + (64 << 20) {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(patched.size_bytes()).expect("it is small")];
    patched
        .read_exact_at(&mut bytes, 0)
        .expect("all of it can be read");

    let after = verify(&bytes);
    assert!(
        after.iter().all(|fault| faults.contains(fault)),
        "{after:?}"
    );
    check_bytes(source, &bytes, &patch);
    check_meaning(source, &bytes, edits);
    if !patch.is_empty() {
        check_growth(source, &bytes, &faults);
    }
    Some(bytes)
}

/// What is not overwritten stays, and no loaded byte moves.
fn check_bytes(source: &[u8], bytes: &[u8], patch: &ElfPatch) {
    let kept = usize::try_from(patch.kept_bytes()).expect("it is small");
    let mut at = 0;
    for (offset, over) in patch.overwrites() {
        let offset = usize::try_from(*offset).expect("it is small");
        assert!(at <= offset && offset + over.len() <= kept);
        assert_eq!(source[at..offset], bytes[at..offset]);
        assert_eq!(over[..], bytes[offset..offset + over.len()]);
        at = offset + over.len();
    }
    assert_eq!(source[at..kept], bytes[at..kept]);
    let (before, after) = (read(source), read(bytes));
    for load in before.load_segments() {
        let stays = |other: &ProgramHeader| {
            (other.offset, other.address, other.flags) == (load.offset, load.address, load.flags)
                && other.file_size >= load.file_size
        };
        assert!(after.load_segments().any(stays), "{load:?}");
    }
}

fn read(bytes: &[u8]) -> Elf {
    Elf::read(&bytes.to_vec()).expect("what was edited can be read")
}

/// The edits are there, and all else says what it said.
fn check_meaning(source: &Vec<u8>, bytes: &Vec<u8>, edits: &ElfEdits) {
    let (before, after) = (read(source), read(bytes));
    let texts = |elf: &Elf, bytes: &Vec<u8>, tag: u64| {
        elf.string_table(bytes)
            .and_then(|strings| elf.dynamic_strings(&strings, tag))
    };
    if let (Some(soname), Ok(found)) = (&edits.soname, texts(&after, bytes, tag::SONAME)) {
        assert_eq!(found.first(), Some(soname));
    }
    if let (Some(path), Ok(rpath), Ok(runpath)) = (
        edits.rpath.text(),
        texts(&after, bytes, tag::RPATH),
        texts(&after, bytes, tag::RUNPATH),
    ) {
        assert_eq!([rpath, runpath].concat(), [path]);
    }
    if let (Ok(old), Ok(new)) = (
        texts(&before, source, tag::NEEDED),
        texts(&after, bytes, tag::NEEDED),
    ) {
        let expect: Vec<String> = old
            .into_iter()
            .filter(|name| !edits.remove_needed.contains(name))
            .map(|name| edits.rename_needed.get(&name).cloned().unwrap_or(name))
            .collect();
        assert_eq!(new, expect);
    }
    if let (Ok(old), Ok(new)) = (before.symbols(source), after.symbols(bytes)) {
        assert_eq!(old, new);
    }
}

/// A sound file grows by little, or to where it ends in memory: there are the program headers of
/// programs.
fn check_growth(source: &[u8], bytes: &[u8], faults: &[LayoutError]) {
    let elf = read(source);
    let align = elf
        .load_segments()
        .map(|load| load.align)
        .max()
        .unwrap_or_default();
    let end = elf
        .load_segments()
        .map(ProgramHeader::memory_end)
        .max()
        .unwrap_or_default();
    let room = usize::try_from(end.saturating_add(align.saturating_mul(2))).unwrap_or(usize::MAX);
    if faults.is_empty() && align <= 1 << 16 {
        assert!(
            bytes.len() < source.len().max(room).saturating_add(1 << 20),
            "{} to {}",
            source.len(),
            bytes.len()
        );
    }
}

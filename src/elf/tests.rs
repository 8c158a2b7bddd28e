//! Real files of this machine, and files that are cut off.

use super::{Elf, Header, machine, segment_type, tag};

/// The program that runs these tests.
#[expect(clippy::disallowed_methods, reason = "a real file, and `sys` is above this layer")]
fn own() -> Vec<u8> {
    std::fs::read(std::env::current_exe().unwrap()).unwrap()
}

#[test]
fn a_program_of_this_machine_tells_its_libraries_and_their_versions() {
    let bytes = own();
    let elf = Elf::read(&bytes).unwrap();
    let strings = elf.strings(&bytes).unwrap();
    let needed = elf.texts(&strings, tag::NEEDED).unwrap();
    assert!(needed.iter().any(|name| name.starts_with("libc.so")), "{needed:?}");
    let needs = elf.version_needs(&bytes, &strings).unwrap();
    assert!(needs.iter().all(|need| needed.contains(&need.library)), "{needs:?}");
    assert!(needs.iter().any(|need| need.versions.iter().any(|version| version.starts_with("GLIBC_2."))), "{needs:?}");
    assert!(elf.interpreter(&bytes).unwrap().is_some_and(|path| path.contains("ld")));
    assert!(elf.sections(&bytes).unwrap().iter().any(|section| section.name == ".dynsym" && section.is_alloc()));
    let symbols = elf.symbols(&bytes).unwrap();
    let name = |name: u32| strings.text(name.into()).unwrap();
    assert!(symbols.iter().any(|symbol| symbol.is_undefined() && name(symbol.name) == "malloc"));
    assert!(elf.loaded_end() <= bytes.len() as u64);
    assert!(elf.segment(segment_type::DYNAMIC).is_some() && elf.header().machine != machine::AMDGPU);
}

#[test]
fn a_file_cut_off_anywhere_is_an_error_and_never_a_panic() {
    let bytes = own();
    let whole = Elf::read(&bytes).unwrap();
    let end = usize::try_from(whole.segment(segment_type::DYNAMIC).unwrap().file_end()).unwrap();
    for length in (0..2000).chain((2000..end).step_by(end / 200)) {
        let cut = bytes[..length].to_vec();
        assert!(Elf::read(&cut).is_err(), "{length} of {} bytes", bytes.len());
    }
}

#[test]
fn a_header_that_means_nothing_is_refused() {
    let message = |bytes: &[u8]| Header::parse(bytes).unwrap_err().to_string();
    assert_eq!(message(b"MZ"), "it is no ELF file");
    assert_eq!(message(b"\x7fELF"), "its header says class 0, which does not exist");
    assert_eq!(message(b"\x7fELF\x02\x05"), "its header says byte order 5, which does not exist");
    assert_eq!(message(b"\x7fELF\x02\x01"), "the file header at 0x0 lies outside the file");
}

//! Reading ELF files.

use rock_matrix::elf::{Elf, PatchedFile, is_elf, strip, tag, verify};

/// Reads everything that can be read of a file; what a strip leaves must be readable and no more
/// faulty.
pub fn elf(bytes: &[u8]) {
    let source = bytes.to_vec();
    let faults = verify(&source);
    for fault in &faults {
        assert!(!fault.to_string().is_empty());
    }
    let Ok(elf) = Elf::read(&source) else {
        assert!(!faults.is_empty(), "what cannot be read is a fault");
        return;
    };
    assert!(is_elf(bytes) && elf.loaded_end() <= elf.size_bytes());
    let sections = elf.sections(&source);
    if let Ok(sections) = &sections {
        assert!(sections.len() * 40 <= bytes.len());
    }
    let _ = elf.interpreter(&source);
    let _ = elf.x86_isa_needed(&source);
    let count = elf.symbol_count(&source);
    let symbols = elf.symbols(&source);
    if let (Ok(symbols), Ok(count)) = (&symbols, count) {
        assert!(symbols.len() as u64 <= count && symbols.len() * 16 <= bytes.len());
    }
    if let Ok(strings) = elf.string_table(&source) {
        for tag in [tag::NEEDED, tag::SONAME, tag::RPATH, tag::RUNPATH] {
            let _ = elf.dynamic_strings(&strings, tag);
        }
        let _ = elf.version_needs(&source, &strings);
        let names = ["PyInit_demo", "sample", ""].map(str::to_owned);
        let _ = elf.find_defined_function(&source, &strings, &names);
        for symbol in symbols.iter().flatten() {
            let _ = strings.get(symbol.name.into());
        }
    }
    if let Ok(patch) = strip(&source) {
        let stripped = PatchedFile::new(&source, &patch);
        let again =
            Elf::read(&stripped).expect("what could be read can be read when it is stripped");
        assert!(
            again.load_segments().eq(elf.load_segments()),
            "no segment moves"
        );
    }
}

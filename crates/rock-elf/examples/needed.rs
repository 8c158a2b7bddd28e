//! Prints NEEDED, RPATH and RUNPATH of a file, or writes a copy with another RPATH.
#![expect(clippy::disallowed_methods, reason = "programs access files")]
#![expect(clippy::print_stdout, reason = "programs print")]

use rock_bytes::ReadAt;
use rock_elf::{Elf, ElfEdits, PatchedFile, SearchPathEdit, edit, tag};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let file = std::fs::read(args.first().ok_or("usage: needed FILE [RPATH OUTPUT]")?)?;
    let elf = Elf::read(&file)?;
    let strings = elf.string_table(&file)?;
    let tags = [tag::NEEDED, tag::RPATH, tag::RUNPATH];
    for (name, tag) in ["NEEDED", "RPATH", "RUNPATH"].into_iter().zip(tags) {
        for value in elf.dynamic_strings(&strings, tag)? {
            println!("{name} {value}");
        }
    }
    if let [_, rpath, output] = &args[..] {
        let rpath = SearchPathEdit::Rpath(rpath.clone());
        let edits = ElfEdits {
            rpath,
            ..ElfEdits::default()
        };
        let patch = edit(&file, &edits)?;
        let patched = PatchedFile::new(&file, &patch);
        let mut bytes = vec![0; usize::try_from(patched.size_bytes())?];
        patched.read_exact_at(&mut bytes, 0)?;
        std::fs::write(output, bytes)?;
    }
    Ok(())
}

//! Prints the gfx targets that a file contains code for, with the amount of code for each.
#![expect(clippy::disallowed_methods, reason = "programs access files")]
#![expect(clippy::print_stdout, reason = "programs print")]

use rock_codeobj::{CodeScanner, FileLayout, ScanDepth};
use rock_elf::Elf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: targets FILE")?;
    let file = std::fs::read(path)?;
    let mut scanner = CodeScanner::new(ScanDepth::Headers);
    for chunk in file.chunks(256 << 10) {
        scanner.feed(chunk);
    }
    let layout = match Elf::read(&file) {
        Ok(elf) => FileLayout::from_elf(&elf, &elf.sections(&file)?),
        Err(_) => FileLayout::from_pe(&file).unwrap_or_default(),
    };
    let inventory = scanner.finish(&layout);
    for (target, totals) in inventory.targets() {
        let (objects, bytes) = (totals.objects, totals.bytes);
        println!("{target}: {objects} code objects, {bytes} bytes");
    }
    Ok(())
}

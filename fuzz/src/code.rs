//! Finding code for GPUs.

use rock_matrix::codeobj::{
    CodeInventory, CodeScanner, CompressedBundleHeader, FileLayout, InventoryTotals, KpackArchive,
    KpackReference, ScanDepth,
};
use rock_matrix::elf::Elf;

use crate::made;

/// A file in pieces of any size has the same inventory as in one. The first 8 bytes are sizes of
/// pieces.
pub fn bundle(bytes: &[u8]) {
    let Some((sizes, file)) = bytes.split_first_chunk::<8>() else {
        return;
    };
    for depth in [ScanDepth::Tables, ScanDepth::Headers] {
        let whole = scanned(file, depth, &[]);
        assert_eq!(scanned(file, depth, sizes), whole, "in pieces of {sizes:?}");
        ask(&whole);
    }
}

/// A compressed bundle: the first byte says version and method, and whether the rest is the
/// compressed data or what is to be compressed; the next 4 bytes are sizes of pieces.
pub fn ccob(bytes: &[u8]) {
    let Some(([kind, sizes @ ..], rest)) = bytes.split_first_chunk::<5>() else {
        return;
    };
    let (version, method) = (u16::from(kind % 3) + 1, u16::from(kind >> 2 & 1));
    let mut file = made::compressed(if kind >> 3 & 1 == 0 { rest } else { b"" }, version, method);
    if kind >> 3 & 1 != 0 {
        file.truncate([20, 24, 32][usize::from(version) - 1]);
        file.extend(rest);
        let total = u32::try_from(file.len()).expect("it is small");
        match version {
            2 => file[8..12].copy_from_slice(&total.to_le_bytes()),
            3 => file[8..16].copy_from_slice(&u64::from(total).to_le_bytes()),
            _ => {}
        }
        let raw = u32::from_le_bytes([sizes[0], sizes[1], 0, 0]) * 64;
        let at = [8, 12, 16][usize::from(version) - 1];
        file[at..at + 4].copy_from_slice(&raw.to_le_bytes());
    }
    let _ = CompressedBundleHeader::parse(&file);
    for depth in [ScanDepth::Tables, ScanDepth::Headers] {
        let whole = scanned(&file, depth, &[]);
        assert_eq!(scanned(&file, depth, sizes), whole);
        ask(&whole);
    }
}

/// Archives of code, and what refers to them.
pub fn kpack(bytes: &[u8]) {
    if let Ok(kpack) = KpackArchive::read(&bytes.to_vec()) {
        assert!(KpackArchive::is_kpack(bytes));
        ask(&CodeInventory::from_kpack(&kpack, bytes.len() as u64));
    }
    if let Ok(reference) = KpackReference::parse(bytes) {
        for archive in ["demo/.kpack/blas_lib_gfx942.kpack", ".kpack/x.kpack"] {
            let _ = reference.matching_target("demo/libblas.so", archive);
        }
        let names = [reference.kernel_name.clone() + "#0"];
        assert!(
            reference.is_contained_in(&names)
                && reference.is_contained_in(std::slice::from_ref(&reference.kernel_name))
        );
    }
}

fn scanned(file: &[u8], depth: ScanDepth, sizes: &[u8]) -> CodeInventory {
    let mut scanner = CodeScanner::new(depth);
    let mut rest = file;
    if !sizes.is_empty() {
        for size in sizes.iter().cycle().take(4096) {
            // Small, and also as large as what is kept from one piece to the next.
            let (piece, more) = rest.split_at((usize::from(*size) + 1).min(rest.len()));
            scanner.feed(piece);
            rest = more;
        }
    }
    scanner.feed(rest);
    let _ = scanner.has_candidates();
    scanner.finish(&layout(file))
}

fn layout(file: &[u8]) -> FileLayout {
    let source = file.to_vec();
    if let Ok(elf) = Elf::read(&source) {
        return FileLayout::from_elf(&elf, &elf.sections(&source).unwrap_or_default());
    }
    FileLayout::from_pe(&source).unwrap_or_else(FileLayout::without_sections)
}

fn ask(inventory: &CodeInventory) {
    let mut union = InventoryTotals::default();
    union.add(inventory);
    let _ = (
        inventory.is_empty(),
        inventory.targets(),
        inventory.kinds(),
        inventory.mismatches(),
    );
    let _ = (
        inventory.packed_bytes(),
        inventory.raw_bytes(),
        inventory.code_object_versions(),
    );
    let _ = (
        inventory.has_wrapper_mismatch(),
        inventory.empty_bundles().count(),
    );
}

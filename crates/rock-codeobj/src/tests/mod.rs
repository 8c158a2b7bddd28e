//! Tests with generated libraries, bundles and lookalikes: complete, truncated, and in chunks.

use super::limits::{
    MAX_BUNDLE_ENTRIES, MAX_CONTAINERS, MAX_ENTRIES, MAX_ID_BYTES, MAX_LOOKALIKES,
    MAX_OPEN_BUNDLES, MAX_UNPACKED_BYTES, MAX_WRAPPERS, MAX_ZSTD_WINDOW_LOG,
};
use super::{
    CodeInventory, CodeLocation, CodeScanner, FileLayout, InventoryTotals, ScanDepth, ScanLimit,
};
use rock_elf::Elf;
use rock_testkit::bundle::{
    Part, bundle, code_object, compressed, concatenated, hip_bundle, id, library, part, pe_library,
    wrappers,
};

mod chunks;
mod containers;
mod damage;
mod limits;

fn layout(bytes: &[u8]) -> FileLayout {
    let bytes = bytes.to_vec();
    if FileLayout::is_pe(&bytes) {
        return FileLayout::from_pe(&bytes).unwrap();
    }
    let Ok(elf) = Elf::read(&bytes) else {
        return FileLayout::without_sections();
    };
    let sections = elf.sections(&bytes).unwrap_or_default();
    FileLayout::from_elf(&elf, &sections)
}

fn scan_with(bytes: &[u8], layout: &FileLayout, depth: ScanDepth, piece: usize) -> CodeInventory {
    let mut scanner = CodeScanner::new(depth);
    bytes.chunks(piece).for_each(|piece| scanner.feed(piece));
    scanner.finish(layout)
}

fn scan(bytes: &[u8]) -> CodeInventory {
    scan_with(bytes, &layout(bytes), ScanDepth::Headers, 256 << 10)
}

/// Renders containers, damages and limits, one per line.
fn summary(inventory: &CodeInventory) -> Vec<String> {
    let containers = inventory.containers.iter().map(|container| {
        let entry = |entry: &super::ContainerEntry| {
            let version = entry.object.as_ref().and_then(|object| object.version);
            format!(
                " {}{}",
                entry.target().unwrap(),
                version.map_or(String::new(), |version| format!("/{version}"))
            )
        };
        let entries: String = container.device_entries().map(entry).collect();
        format!(
            "{} {} at {:#x}:{entries}",
            container.location, container.kind, container.offset
        )
    });
    let damages = inventory
        .damages
        .iter()
        .map(|damage| format!("{:#x}: {}", damage.offset, damage.reason));
    containers
        .chain(damages)
        .chain(inventory.limits.iter().map(ScanLimit::to_string))
        .collect()
}

/// Returns the limits that a scan exceeded.
fn limits_of(inventory: &CodeInventory) -> Vec<ScanLimit> {
    inventory.limits.iter().copied().collect()
}

/// Builds a library with this content in its read-only data.
fn rodata(content: Vec<u8>) -> Vec<u8> {
    library(&[part(".rodata", content)])
}

/// Builds a library with a section for bundles at 0x100, and up to five wrappers.
fn fatbin(content: Vec<u8>, wrapper_count: usize) -> Vec<u8> {
    let mut records = wrappers(wrapper_count, *b"FPIH");
    records.resize(128, 0);
    library(&[
        part(".hipFatBinSegment", records),
        part(".hip_fatbin", content),
    ])
}

/// Builds a bundle that needs many blocks when compressed.
fn noisy_bundle() -> Vec<u8> {
    let mut bytes = hip_bundle(&TWO, 300_000);
    let mut state = 1_u32;
    for byte in &mut bytes[400..300_000] {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = state.to_be_bytes()[0];
    }
    bytes
}

const TWO: [(&str, u32); 2] = [("gfx942", 0x54c), ("gfx1100", 0x41)];

fn check(bytes: &[u8], expect: &[&str]) {
    assert_eq!(summary(&scan(bytes)), expect);
}

//! Names of libraries in the version needs (LSB Core 10.7, `vn_file`).

use super::super::limits::MAX_VERSION_LIBRARIES;
use super::super::{Elf, ElfError, tag};
use super::{ElfEdits, StringTableBuilder};
use rock_bytes::ReadAt;

/// Returns the file offset of `vn_file` for each renamed library, with its new value.
///
/// The dynamic linker looks up the library of a version need by this name, and asserts that it is
/// loaded (glibc, `elf/dl-version.c`, `_dl_check_map_versions`).
///
/// # Errors
/// Fails if the table is malformed, or if a library with version needs is to be removed.
pub(super) fn renamed_libraries(
    elf: &Elf,
    source: &dyn ReadAt,
    edits: &ElfEdits,
    names: &mut StringTableBuilder,
) -> Result<Vec<(u64, u32)>, ElfError> {
    let (what, format) = ("the table of needed symbol versions", elf.header().format);
    let (Some(mut at), Some(count)) = (
        elf.dynamic_value(tag::VERNEED),
        elf.dynamic_value(tag::VERNEEDNUM),
    ) else {
        return Ok(Vec::new());
    };
    if edits.rename_needed.is_empty() && edits.remove_needed.is_empty() {
        return Ok(Vec::new());
    }
    let mut removed = Vec::new();
    for entry in elf
        .dynamic_entries()
        .iter()
        .filter(|entry| entry.tag == tag::NEEDED)
    {
        let name = String::from_utf8_lossy(names.get(entry.value)?).into_owned();
        removed.extend(edits.remove_needed.get(&name).cloned());
    }
    let mut found = Vec::new();
    for _ in 0..count.min(MAX_VERSION_LIBRARIES) {
        let mut entry = [0; 16];
        elf.read_address(source, what, at, &mut entry)?;
        let name = String::from_utf8_lossy(names.get(format.u32(&entry, 4).into())?).into_owned();
        if removed.contains(&name) {
            return Err(ElfError::not_editable(format!(
                "it needs symbol versions of `{name}`, which would be removed"
            )));
        }
        if let Some(to) = edits.rename_needed.get(&name).filter(|to| **to != name) {
            let place = elf.file_offset(at).ok_or(ElfError::OutOfBounds {
                what,
                offset: at,
                container: "the loaded segments",
            })?;
            let too_far = |_| ElfError::not_editable("its names are farther apart than 4 GiB");
            found.push((place + 4, u32::try_from(names.insert(to)).map_err(too_far)?));
        }
        match format.u32(&entry, 12) {
            0 => break,
            next => at = at.wrapping_add(next.into()),
        }
    }
    Ok(found)
}

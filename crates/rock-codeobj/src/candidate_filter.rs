//! Selects the candidates that are code containers, once the layout of the file is known.

use super::bundle::BundleReader;
use super::code_object::CodeObject;
use super::entry::ContainerEntry;
use super::inventory::{CodeContainer, CodeContainerKind, CodeDamage, CodeInventory, CodeLocation};
use super::layout::{CodeFileKind, FileLayout, FileRange};
use super::scan::{CandidateKind, CodeCandidate, CompressedBundle, ScanDepth, ScanResults};

/// The place of a candidate in the file.
struct CandidateLocation {
    location: CodeLocation,
    /// The file offset at which a container must end.
    end: u64,
}

impl CandidateLocation {
    /// Returns `true` if only valid containers count: outside of the section for bundles, a magic
    /// may be part of other data.
    fn is_strict(&self) -> bool {
        matches!(self.location, CodeLocation::Embedded(_))
    }
}

struct CandidateFilter<'a> {
    layout: &'a FileLayout,
    file_bytes: u64,
    depth: ScanDepth,
    starts_with_code: bool,
    /// The largest end offset of the containers so far; candidates before it are inside of one.
    covered: u64,
    inventory: CodeInventory,
}

/// Creates the inventory of a file of `file_bytes` bytes from the results of a scan.
pub(super) fn filter_candidates(
    mut results: ScanResults,
    layout: &FileLayout,
    file_bytes: u64,
    depth: ScanDepth,
) -> CodeInventory {
    results.candidates.sort_by_key(|candidate| candidate.offset);
    let fatbin = layout.fatbin_section();
    let starts_with_code = results
        .candidates
        .first()
        .is_some_and(|candidate| candidate.offset == 0);
    let inventory = CodeInventory {
        fatbin,
        limits: results.limits,
        ..CodeInventory::default()
    };
    let mut filter = CandidateFilter {
        layout,
        file_bytes,
        depth,
        starts_with_code,
        covered: 0,
        inventory,
    };
    if let Some(range) = layout.wrapper_section() {
        // The section is an array of records of 24 bytes.
        let counted = results.wrappers.iter().filter(|wrapper| {
            let into = wrapper.offset.checked_sub(range.offset);
            into.is_some_and(|into| into % 24 == 0 && into.saturating_add(24) <= range.size_bytes)
        });
        for wrapper in counted {
            *(if wrapper.is_kpack {
                &mut filter.inventory.kpack_wrappers
            } else {
                &mut filter.inventory.wrappers
            }) += 1;
        }
    }
    let at_start = |candidate: &CodeCandidate| {
        fatbin.is_some_and(|section| section.offset == candidate.offset)
    };
    let has_start = results.candidates.iter().any(at_start);
    for candidate in results.candidates {
        filter.add_candidate(candidate);
    }
    if let Some(section) = fatbin
        && !has_start
        && filter.inventory.kpack_wrappers == 0
    {
        filter.add_damage(
            section.offset,
            format!("`{}` does not begin with one", layout.fatbin_name()),
        );
    }
    filter.inventory.damages.sort();
    filter.inventory.damages.dedup();
    filter
        .inventory
        .containers
        .sort_by_key(|container| container.offset);
    filter.inventory
}

impl CandidateFilter<'_> {
    fn add_damage(&mut self, offset: u64, reason: String) {
        self.inventory.damages.push(CodeDamage { offset, reason });
    }

    fn locate(&self, offset: u64) -> Option<CandidateLocation> {
        let end = self.file_bytes;
        match self.layout.kind {
            CodeFileKind::DeviceElf => (offset == 0).then_some(CandidateLocation {
                location: CodeLocation::File,
                end,
            }),
            CodeFileKind::Other if self.starts_with_code => Some(CandidateLocation {
                location: CodeLocation::File,
                end,
            }),
            CodeFileKind::Other => Some(CandidateLocation {
                location: CodeLocation::Embedded(String::new()),
                end,
            }),
            CodeFileKind::HostElf | CodeFileKind::Pe => {
                if let Some(section) = self
                    .inventory
                    .fatbin
                    .filter(|section| section.contains(offset))
                {
                    return Some(CandidateLocation {
                        location: CodeLocation::Section(self.layout.fatbin_name()),
                        end: section.end().min(end),
                    });
                }
                let section = self.layout.loaded_section_name(offset)?;
                Some(CandidateLocation {
                    location: CodeLocation::Embedded(section.to_owned()),
                    end,
                })
            }
        }
    }

    fn add_candidate(&mut self, candidate: CodeCandidate) {
        let offset = candidate.offset;
        if offset < self.covered {
            return;
        }
        let Some(location) = self.locate(offset) else {
            return;
        };
        match candidate.kind {
            CandidateKind::Bundle(reader) => self.add_bundle(offset, reader, location),
            CandidateKind::Compressed(bundle) => {
                self.add_compressed_bundle(offset, *bundle, location);
            }
            CandidateKind::InvalidCompressed(error) if !location.is_strict() => {
                self.add_damage(offset, error.to_string());
            }
            CandidateKind::InvalidCompressed(_) => {}
            CandidateKind::Object { object, size } => {
                self.add_code_object(offset, object, size, location);
            }
        }
    }

    fn add_container(
        &mut self,
        kind: CodeContainerKind,
        location: CandidateLocation,
        range: FileRange,
        raw_bytes: u64,
        entries: Vec<ContainerEntry>,
    ) {
        self.covered = self.covered.max(range.end());
        self.inventory.containers.push(CodeContainer {
            kind,
            location: location.location,
            offset: range.offset,
            packed_bytes: range.size_bytes,
            raw_bytes,
            entries,
            declared_targets: Vec::new(),
        });
    }

    fn add_bundle(&mut self, offset: u64, reader: BundleReader, location: CandidateLocation) {
        let room = location.end.saturating_sub(offset);
        let (entries, table_end) = reader.into_parts();
        let table_end = match table_end {
            Ok(table_end) => table_end,
            Err(_) if location.is_strict() => {
                return self.add_entries_of_invalid_bundle(offset, &entries);
            }
            Err(error) => return self.add_damage(offset, error.to_string()),
        };
        let errors = entry_errors(&entries, table_end, room, true);
        if location.is_strict() && !is_plausible(&entries, &errors, true) {
            return self.add_entries_of_invalid_bundle(offset, &entries);
        }
        for error in errors {
            self.add_damage(offset, error);
        }
        let ends = entries
            .iter()
            .filter(|entry| entry.size_bytes > 0)
            .filter_map(entry_end)
            .filter(|end| *end <= room);
        let size = ends.max().unwrap_or(0).max(table_end);
        self.add_container(
            CodeContainerKind::Bundle,
            location,
            FileRange {
                offset,
                size_bytes: size,
            },
            size,
            entries,
        );
    }

    /// Adds the code objects of an invalid bundle as containers.
    fn add_entries_of_invalid_bundle(&mut self, offset: u64, entries: &[ContainerEntry]) {
        for entry in entries {
            let at = offset.saturating_add(entry.offset);
            if let Some(object) = &entry.object
                && let Some(location) = self.locate(at)
            {
                self.add_code_object(at, object.clone(), entry.size_bytes, location);
            }
        }
    }

    fn add_compressed_bundle(
        &mut self,
        offset: u64,
        bundle: CompressedBundle,
        location: CandidateLocation,
    ) {
        let CompressedBundle {
            header,
            size_bytes,
            reader,
            error,
        } = bundle;
        let is_whole = self.depth == ScanDepth::Headers;
        let (entries, table_end) = reader.into_parts();
        let room = location.end.saturating_sub(offset);
        let overlong = format!("its header claims {size_bytes} bytes, but there are {room}");
        let (mut errors, is_read) = match (error, table_end) {
            (Some(error), Ok(_)) => (vec![error.to_string()], true),
            (Some(error), Err(_)) => (vec![error.to_string()], false),
            (None, Ok(table_end)) => (
                entry_errors(&entries, table_end, header.raw_bytes, is_whole),
                true,
            ),
            (None, Err(error)) => (vec![error.to_string()], false),
        };
        if errors.is_empty() && size_bytes > room {
            errors.push(overlong);
        }
        if location.is_strict() && !(is_read && is_plausible(&entries, &errors, is_whole)) {
            return;
        }
        for error in errors {
            self.add_damage(offset, error);
        }
        if is_read {
            let range = FileRange {
                offset,
                size_bytes: size_bytes.min(room),
            };
            self.add_container(
                CodeContainerKind::Compressed(header.version),
                location,
                range,
                header.raw_bytes,
                entries,
            );
        }
    }

    fn add_code_object(
        &mut self,
        offset: u64,
        object: CodeObject,
        size: u64,
        location: CandidateLocation,
    ) {
        let room = location.end.saturating_sub(offset);
        if size > room {
            if location.is_strict() {
                return;
            }
            self.add_damage(
                offset,
                format!("its header claims {size} bytes, but there are {room}"),
            );
        }
        // A file that is a code object may have data after its section headers.
        let size_bytes = if location.location == CodeLocation::File && offset == 0 {
            self.file_bytes
        } else {
            size.min(room)
        };
        let range = FileRange { offset, size_bytes };
        let entry = ContainerEntry {
            id: None,
            offset,
            size_bytes,
            object: Some(object),
        };
        self.add_container(
            CodeContainerKind::Elf,
            location,
            range,
            size_bytes,
            vec![entry],
        );
    }
}

fn entry_end(entry: &ContainerEntry) -> Option<u64> {
    entry.offset.checked_add(entry.size_bytes)
}

/// Returns the problems of entries, which must lie between the end of the table and the end of the
/// bundle.
fn entry_errors(
    entries: &[ContainerEntry],
    table_end: u64,
    end: u64,
    has_heads: bool,
) -> Vec<String> {
    let error = |entry: &ContainerEntry| {
        let id = entry.id.as_ref().map_or("", |id| id.text.as_str());
        let (size, offset) = (entry.size_bytes, entry.offset);
        if size == 0 {
            return None;
        }
        if offset < table_end || entry_end(entry).is_none_or(|entry_end| entry_end > end) {
            return Some(format!(
                "the {size} bytes at {offset:#x} of entry `{id}` are outside of it"
            ));
        }
        let is_gfx = entry.target().is_some_and(|target| target.gfx().is_some());
        let is_missing = has_heads && is_gfx && entry.object.is_none();
        is_missing.then(|| format!("entry `{id}` at {offset:#x} does not contain a code object"))
    };
    entries.iter().filter_map(error).collect()
}

/// Returns `true` if a bundle outside of the section for bundles is one.
fn is_plausible(entries: &[ContainerEntry], errors: &[String], has_heads: bool) -> bool {
    let is_known = |entry: &ContainerEntry| {
        entry
            .id
            .as_ref()
            .is_some_and(super::BundleEntryId::is_known)
    };
    errors.is_empty()
        && entries.iter().all(is_known)
        && (!has_heads || entries.iter().any(|entry| entry.object.is_some()))
}

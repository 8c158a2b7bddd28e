//! Which of the things that were found count, now that the layout of the file is known.

use super::bundle::BundleReader;
use super::entry::Entry;
use super::flags::CodeObject;
use super::inventory::{Container, ContainerKind, Damage, Inventory, Place};
use super::layout::{FileKind, FileLayout, Stretch};
use super::scan::{Candidate, CompressedBundle, Depth, Finds, Found};

/// What is known of the place of a candidate.
struct Spot {
    place: Place,
    /// Where what lies there must end.
    end: u64,
}

impl Spot {
    /// Whether only what is valid in every respect counts: elsewhere, the magic bytes may be text
    /// of another program.
    fn is_strict(&self) -> bool {
        matches!(self.place, Place::Embedded(_))
    }
}

struct Judge<'a> {
    layout: &'a FileLayout,
    file_bytes: u64,
    depth: Depth,
    begins_with_code: bool,
    /// Where the farthest of the containers ends: what lies before belongs to it.
    covered: u64,
    inventory: Inventory,
}

/// Makes the inventory of a file of so many bytes.
pub(super) fn judge(
    mut finds: Finds,
    layout: &FileLayout,
    file_bytes: u64,
    depth: Depth,
) -> Inventory {
    finds.candidates.sort_by_key(|candidate| candidate.offset);
    let fatbin = layout.fatbin();
    let begins_with_code = finds
        .candidates
        .first()
        .is_some_and(|candidate| candidate.offset == 0);
    let inventory = Inventory {
        fatbin,
        limits: finds.limits,
        ..Inventory::default()
    };
    let mut judge = Judge {
        layout,
        file_bytes,
        depth,
        begins_with_code,
        covered: 0,
        inventory,
    };
    if let Some(stretch) = layout.wrappers() {
        // An array of records of 24 bytes.
        let counted = finds.wrappers.iter().filter(|wrapper| {
            let into = wrapper.offset.checked_sub(stretch.offset);
            into.is_some_and(|into| into % 24 == 0 && into.saturating_add(24) <= stretch.size_bytes)
        });
        for wrapper in counted {
            *(if wrapper.is_kpack {
                &mut judge.inventory.kpack_wrappers
            } else {
                &mut judge.inventory.wrappers
            }) += 1;
        }
    }
    let at_start =
        |candidate: &Candidate| fatbin.is_some_and(|section| section.offset == candidate.offset);
    let has_start = finds.candidates.iter().any(at_start);
    for candidate in finds.candidates {
        judge.candidate(candidate);
    }
    if let Some(section) = fatbin
        && !has_start
        && judge.inventory.kpack_wrappers == 0
    {
        judge.damage(
            section.offset,
            format!("`{}` does not begin with one", layout.fatbin_name()),
        );
    }
    judge.inventory.damages.sort();
    judge.inventory.damages.dedup();
    judge
        .inventory
        .containers
        .sort_by_key(|container| container.offset);
    judge.inventory
}

impl Judge<'_> {
    fn damage(&mut self, offset: u64, reason: String) {
        self.inventory.damages.push(Damage { offset, reason });
    }

    fn spot(&self, offset: u64) -> Option<Spot> {
        let end = self.file_bytes;
        match self.layout.kind {
            FileKind::DeviceElf => (offset == 0).then_some(Spot {
                place: Place::File,
                end,
            }),
            FileKind::Other if self.begins_with_code => Some(Spot {
                place: Place::File,
                end,
            }),
            FileKind::Other => Some(Spot {
                place: Place::Embedded(String::new()),
                end,
            }),
            FileKind::HostElf | FileKind::Pe => {
                if let Some(section) = self
                    .inventory
                    .fatbin
                    .filter(|section| section.contains(offset))
                {
                    return Some(Spot {
                        place: Place::Section(self.layout.fatbin_name()),
                        end: section.end().min(end),
                    });
                }
                let section = self.layout.loaded_at(offset)?;
                Some(Spot {
                    place: Place::Embedded(section.to_owned()),
                    end,
                })
            }
        }
    }

    fn candidate(&mut self, candidate: Candidate) {
        let offset = candidate.offset;
        if offset < self.covered {
            return;
        }
        let Some(spot) = self.spot(offset) else {
            return;
        };
        match candidate.what {
            Found::Bundle(reader) => self.bundle(offset, reader, spot),
            Found::Compressed(bundle) => self.compressed(offset, *bundle, spot),
            Found::NotCompressed(fault) if !spot.is_strict() => {
                self.damage(offset, fault.to_string());
            }
            Found::NotCompressed(_) => {}
            Found::Object { object, size } => self.object(offset, object, size, spot),
        }
    }

    fn add(
        &mut self,
        kind: ContainerKind,
        spot: Spot,
        stretch: Stretch,
        raw_bytes: u64,
        entries: Vec<Entry>,
    ) {
        self.covered = self.covered.max(stretch.end());
        self.inventory.containers.push(Container {
            kind,
            place: spot.place,
            offset: stretch.offset,
            packed_bytes: stretch.size_bytes,
            raw_bytes,
            entries,
            told: Vec::new(),
        });
    }

    fn bundle(&mut self, offset: u64, reader: BundleReader, spot: Spot) {
        let room = spot.end.saturating_sub(offset);
        let (entries, table_end) = reader.into_parts();
        let table_end = match table_end {
            Ok(table_end) => table_end,
            Err(_) if spot.is_strict() => return self.salvage(offset, &entries),
            Err(fault) => return self.damage(offset, fault.to_string()),
        };
        let faults = entry_faults(&entries, table_end, room, true);
        if spot.is_strict() && !is_believed(&entries, &faults, true) {
            return self.salvage(offset, &entries);
        }
        for fault in faults {
            self.damage(offset, fault);
        }
        let ends = entries
            .iter()
            .filter(|entry| entry.size_bytes > 0)
            .filter_map(end_of)
            .filter(|end| *end <= room);
        let size = ends.max().unwrap_or(0).max(table_end);
        self.add(
            ContainerKind::Bundle,
            spot,
            Stretch {
                offset,
                size_bytes: size,
            },
            size,
            entries,
        );
    }

    /// The code objects of what turned out to be no bundle stand for themselves.
    fn salvage(&mut self, offset: u64, entries: &[Entry]) {
        for entry in entries {
            let at = offset.saturating_add(entry.offset);
            if let Some(object) = &entry.object
                && let Some(spot) = self.spot(at)
            {
                self.object(at, object.clone(), entry.size_bytes, spot);
            }
        }
    }

    fn compressed(&mut self, offset: u64, bundle: CompressedBundle, spot: Spot) {
        let CompressedBundle {
            header,
            size_bytes,
            reader,
            fault,
        } = bundle;
        let is_whole = self.depth == Depth::Everything;
        let (entries, table_end) = reader.into_parts();
        let room = spot.end.saturating_sub(offset);
        let overlong = format!("its header claims {size_bytes} bytes, and there are {room}");
        let (mut faults, is_read) = match (fault, table_end) {
            (Some(fault), Ok(_)) => (vec![fault.to_string()], true),
            (Some(fault), Err(_)) => (vec![fault.to_string()], false),
            (None, Ok(table_end)) => (
                entry_faults(&entries, table_end, header.raw_bytes, is_whole),
                true,
            ),
            (None, Err(fault)) => (vec![fault.to_string()], false),
        };
        if faults.is_empty() && size_bytes > room {
            faults.push(overlong);
        }
        if spot.is_strict() && !(is_read && is_believed(&entries, &faults, is_whole)) {
            return;
        }
        for fault in faults {
            self.damage(offset, fault);
        }
        if is_read {
            let stretch = Stretch {
                offset,
                size_bytes: size_bytes.min(room),
            };
            self.add(
                ContainerKind::Compressed(header.version),
                spot,
                stretch,
                header.raw_bytes,
                entries,
            );
        }
    }

    fn object(&mut self, offset: u64, object: CodeObject, size: u64, spot: Spot) {
        let room = spot.end.saturating_sub(offset);
        if size > room {
            if spot.is_strict() {
                return;
            }
            self.damage(
                offset,
                format!("its header claims {size} bytes, and there are {room}"),
            );
        }
        // A file that is a code object may have more behind its section headers.
        let size_bytes = if spot.place == Place::File && offset == 0 {
            self.file_bytes
        } else {
            size.min(room)
        };
        let stretch = Stretch { offset, size_bytes };
        let entry = Entry {
            id: None,
            offset,
            size_bytes,
            object: Some(object),
        };
        self.add(ContainerKind::Elf, spot, stretch, size_bytes, vec![entry]);
    }
}

fn end_of(entry: &Entry) -> Option<u64> {
    entry.offset.checked_add(entry.size_bytes)
}

/// What is wrong with entries that must lie between the end of the table and the end of the bundle.
fn entry_faults(entries: &[Entry], table_end: u64, end: u64, has_heads: bool) -> Vec<String> {
    let fault = |entry: &Entry| {
        let id = entry.id.as_ref().map_or("", |id| id.text.as_str());
        let (size, offset) = (entry.size_bytes, entry.offset);
        if size == 0 {
            return None;
        }
        if offset < table_end || end_of(entry).is_none_or(|entry_end| entry_end > end) {
            return Some(format!(
                "the {size} bytes at {offset:#x} of entry `{id}` lie outside of it"
            ));
        }
        let is_gfx = entry.target().is_some_and(|target| target.gfx().is_some());
        let is_missing = has_heads && is_gfx && entry.object.is_none();
        is_missing.then(|| format!("entry `{id}` at {offset:#x} holds no code object"))
    };
    entries.iter().filter_map(fault).collect()
}

/// Whether a bundle outside of the section for bundles counts.
fn is_believed(entries: &[Entry], faults: &[String], has_heads: bool) -> bool {
    let is_known = |entry: &Entry| entry.id.as_ref().is_some_and(super::EntryId::is_known);
    faults.is_empty()
        && entries.iter().all(is_known)
        && (!has_heads || entries.iter().any(|entry| entry.object.is_some()))
}

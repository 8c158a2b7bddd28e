//! Readers of the archives of packages: the tree of a devel package and the source distribution of
//! `rocm`. Neither is unpacked.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use super::wheel::loader_view;
use super::{LoaderView, PackedTree, PayloadEntry, SelectorSdist};
use crate::limits::{MAX_LIBRARY_BYTES, MAX_SOURCE_BYTES};
use crate::{DEVEL_TARBALL, XZ_EXTENSION};
use rock_audit::{ElfLibrary, layout_code};
use rock_bytes::archive::limits::MAX_MEMBER_IN_MEMORY_BYTES;
use rock_bytes::archive::{
    ArchiveCompression, ParsedMember, ParsedMemberKind, for_each_member, gunzip, is_damage,
};
use rock_bytes::{ReadAt, start_threads};
use rock_diagnostic::{Diagnostic, Location};
use rock_elf::{Elf, is_elf};
use rock_wheel::{Wheel, WheelError, ZipMember};

/// Whether a member of a devel wheel is the archive of its tree.
pub(super) fn is_devel_archive(member: &str) -> bool {
    let file = member.split_once('/').map_or("", |(_, file)| file);
    file.strip_suffix(XZ_EXTENSION).unwrap_or(file) == DEVEL_TARBALL
}

/// Lists the tree of a devel wheel. Problems of its libraries are added to `found`.
///
/// # Errors
/// When it cannot be read or decompressed. A damaged archive is not an error, but a fault of the
/// tree.
pub(super) fn read_devel_tree(
    wheel: &Wheel<'_>,
    shown: &str,
    archive: &ZipMember,
    found: &mut Vec<Diagnostic>,
) -> Result<PackedTree, WheelError> {
    let mut payload = PackedTree {
        member: archive.name().to_owned(),
        ..PackedTree::default()
    };
    let place = Location::Member {
        wheel: shown.to_owned(),
        member: archive.name().to_owned(),
    };
    let mut visit = |member: ParsedMember, content: &mut dyn Read| {
        let path = path_of(&member)?;
        let held = match member.kind {
            ParsedMemberKind::File { size_bytes, .. } => {
                read_library(&path, size_bytes, content, &place, found)?
            }
            _ => LoaderView::Data,
        };
        payload.entries.push(PayloadEntry {
            path,
            kind: member.kind,
            held,
        });
        Ok(())
    };
    let reader = wheel.archive().reader(archive);
    let read = if Path::new(archive.name())
        .extension()
        .is_some_and(|ending| ending == "xz")
    {
        start_threads();
        let threads = u32::try_from(rayon::current_num_threads()).unwrap_or(1);
        ArchiveCompression::Xz
            .decoder(reader, threads)
            .and_then(|reader| for_each_member(reader, &mut visit).map(drop))
    } else {
        for_each_member(reader, &mut visit).map(drop)
    };
    payload.fault = damage(read).map_err(WheelError::Read)?;
    Ok(payload)
}

/// Returns the damage of an archive, or the error if it could not be read for another reason.
fn damage(read: io::Result<()>) -> io::Result<Option<String>> {
    match read {
        Ok(()) => Ok(None),
        Err(error) if is_damage(&error) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Reads how a loader sees a member. Only the first bytes of files that are not ELF are read.
fn read_library(
    path: &str,
    size_bytes: u64,
    content: &mut dyn Read,
    place: &Location,
    found: &mut Vec<Diagnostic>,
) -> io::Result<LoaderView> {
    let mut head = [0; 4];
    if size_bytes < 64 {
        return Ok(LoaderView::Data);
    }
    content.read_exact(&mut head)?;
    if !is_elf(&head) {
        return Ok(LoaderView::Data);
    }
    if size_bytes > MAX_LIBRARY_BYTES {
        return Err(damaged(format!(
            "`{path}` has {size_bytes} bytes; of a library at most {MAX_LIBRARY_BYTES} are read"
        )));
    }
    // Many libraries of a tree are read one after the other, and each is gone before the next.
    let is_small = size_bytes <= MAX_MEMBER_IN_MEMORY_BYTES;
    let mut scratch = rock_sys::allocate_scratch(if is_small { size_bytes } else { u64::MAX })?;
    scratch.append(&head)?;
    let mut piece = vec![0; 1 << 16];
    loop {
        match content.read(&mut piece)? {
            0 => break,
            length => scratch.append(&piece[..length])?,
        }
    }
    let source: &dyn ReadAt = scratch.as_ref();
    let Ok(elf) = Elf::read(source) else {
        return Ok(LoaderView::Data);
    };
    let file_name = path.rsplit('/').next().unwrap_or_default();
    if elf.header().machine == rock_elf::machine::AMDGPU || elf.is_debug_only(source) {
        return Ok(LoaderView::Data);
    }
    let Ok(library) = ElfLibrary::read(source, &elf, file_name, &|_| false) else {
        return Ok(LoaderView::Data);
    };
    let held = loader_view(&library);
    if matches!(held, LoaderView::Linked(_)) {
        let fault = |fault: rock_elf::LayoutError| {
            Diagnostic::new(layout_code(&fault), format!("`{path}`: {fault}")).at(place.clone(), "")
        };
        found.extend(rock_elf::verify(source).into_iter().map(fault));
    }
    Ok(held)
}

/// Reads the source distribution of `rocm`.
///
/// # Errors
/// When it cannot be read. A damaged archive is not an error, but a fault of the source
/// distribution.
pub(super) fn read_sdist(shown: &str, file: impl Read) -> io::Result<SelectorSdist> {
    let mut files = BTreeMap::new();
    let mut left = MAX_SOURCE_BYTES;
    let mut visit = |member: ParsedMember, content: &mut dyn Read| {
        let ParsedMemberKind::File { size_bytes, .. } = member.kind else {
            return Ok(());
        };
        let too_large = || damaged(format!("it has more than {MAX_SOURCE_BYTES} bytes"));
        left = left.checked_sub(size_bytes).ok_or_else(too_large)?;
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        files.insert(path_of(&member)?, bytes);
        Ok(())
    };
    let read = gunzip(file).and_then(|file| for_each_member(file, &mut visit));
    Ok(SelectorSdist {
        path: shown.to_owned(),
        files,
        fault: damage(read)?,
    })
}

/// Returns the path of a member without a trailing slash.
fn path_of(member: &ParsedMember) -> io::Result<String> {
    let path = member
        .path
        .as_deref()
        .ok_or_else(|| damaged("it has a name that is not UTF-8".to_owned()))?;
    Ok(path.trim_end_matches('/').to_owned())
}

fn damaged(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::{MAX_LIBRARY_BYTES, MAX_SOURCE_BYTES, read_library, read_sdist};
    use rock_diagnostic::Location;

    struct Failing;

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            // EIO.
            Err(io::Error::from_raw_os_error(5))
        }
    }

    #[test]
    fn a_library_past_its_limit_is_refused_before_it_is_read() {
        let place = Location::Argument("x".to_owned());
        let read = |size_bytes: u64| {
            read_library(
                "lib/x.so",
                size_bytes,
                &mut b"\x7fELF"[..].chain(Failing),
                &place,
                &mut Vec::new(),
            )
            .unwrap_err()
        };
        assert_eq!(
            read(MAX_LIBRARY_BYTES).raw_os_error(),
            Some(5),
            "it is read"
        );
        let expected = "`lib/x.so` has 8589934593 bytes; of a library at most 8589934592 are read";
        assert_eq!(read(MAX_LIBRARY_BYTES + 1).to_string(), expected);
    }

    #[test]
    fn a_source_distribution_past_its_limit_is_refused() {
        let fault = |bytes: u64| {
            let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(
                Vec::new(),
                flate2::Compression::fast(),
            ));
            let mut header = tar::Header::new_gnu();
            header.set_mode(0o644);
            for (name, bytes) in [("rocm-1/a", 1), ("rocm-1/b", bytes - 1)] {
                header.set_size(bytes);
                tar.append_data(&mut header, name, io::repeat(b'x').take(bytes))
                    .unwrap();
            }
            let packed = tar.into_inner().unwrap().finish().unwrap();
            read_sdist("rocm.tar.gz", &*packed).unwrap().fault
        };
        assert_eq!(fault(MAX_SOURCE_BYTES), None);
        assert!(
            fault(MAX_SOURCE_BYTES + 1)
                .unwrap()
                .contains("it has more than 16777216 bytes")
        );
    }

    #[test]
    fn a_fault_of_the_machine_is_not_one_of_the_source_distribution() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut packed, &[0; 1024]).unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(read_sdist("rocm.tar.gz", &*packed).unwrap().fault, None);
        let cut_off = read_sdist("rocm.tar.gz", &packed[..packed.len() - 1]).unwrap();
        assert!(cut_off.fault.is_some());
        let error = read_sdist("rocm.tar.gz", packed[..20].chain(Failing)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(5));
    }
}

//! Reading a wheel: the facts of every file that a loader or a GPU would take.

use rayon::prelude::*;

use super::library::Library;
use crate::bytes::{MakeScratch, ReadAt};
use crate::elf::{Elf, ElfError, is_elf, machine};
use crate::wheel::{Archive, Member, MemberView, WheelError};

/// A file of a wheel that holds machine code.
#[derive(Debug, Clone, PartialEq)]
pub struct FileFacts {
    /// Its path in the wheel.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// What it is.
    pub kind: FileKind,
}

/// What a file is.
#[derive(Debug, Clone, PartialEq)]
pub enum FileKind {
    /// A library or program for the processor.
    Library(Box<Library>),
    /// A file that begins as an ELF file and cannot be read as one: why.
    Damaged(String),
    /// Code for a GPU.
    Device,
}

/// The libraries among files, with their paths.
pub(super) fn libraries(files: &[FileFacts]) -> impl Iterator<Item = (&str, &Library)> {
    files.iter().filter_map(|file| match &file.kind {
        FileKind::Library(library) => Some((file.path.as_str(), library.as_ref())),
        _ => None,
    })
}

/// How a wheel is read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// Which undefined symbols are kept.
    pub asked: &'a (dyn Fn(&str) -> bool + Sync),
    /// Where a member goes that must be read out of order.
    pub make_scratch: &'a MakeScratch<'a>,
}

impl std::fmt::Debug for Reading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reading")
    }
}

/// What the first bytes of a file are looked at for.
const HEAD_BYTES: usize = 64;

/// The facts of every file of the wheel that holds machine code, by path. Members are read in parallel, the largest
/// first, each only as far as its tables need.
///
/// # Errors
/// Every member that is damaged or cannot be read.
pub fn inspect(archive: &Archive<'_>, reading: Reading<'_>) -> Result<Vec<FileFacts>, Vec<WheelError>> {
    let mut members: Vec<&Member> = archive.members().iter().filter(|member| may_hold_code(member)).collect();
    members.sort_by_key(|member| std::cmp::Reverse(member.size_bytes()));
    let read: Vec<Result<Option<FileFacts>, WheelError>> =
        members.par_iter().with_max_len(1).map(|member| inspect_member(archive, member, reading)).collect();
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for one in read {
        match one {
            Ok(facts) => files.extend(facts),
            Err(fault) => faults.push(fault),
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    if faults.is_empty() { Ok(files) } else { Err(faults) }
}

/// Python files may begin with any bytes; no loader takes them.
fn may_hold_code(member: &Member) -> bool {
    let is_python = std::path::Path::new(member.name()).extension().is_some_and(|ending| ending == "py");
    !member.is_folder() && !is_python && member.size_bytes() >= 4
}

fn inspect_member(
    archive: &Archive<'_>,
    member: &Member,
    reading: Reading<'_>,
) -> Result<Option<FileFacts>, WheelError> {
    let view = MemberView::new(archive, member, reading.make_scratch, None);
    let mut head = vec![0; HEAD_BYTES.min(usize::try_from(member.size_bytes()).unwrap_or(HEAD_BYTES))];
    view.read_exact_at(&mut head, 0).map_err(|error| view.fault(error))?;
    if !is_elf(&head) {
        return Ok(None);
    }
    let kind = match read_library(&view, member.name(), reading) {
        Ok(kind) => kind,
        Err(ElfError::Read(error)) => return Err(view.fault(error)),
        Err(error) => FileKind::Damaged(error.to_string()),
    };
    Ok(Some(FileFacts { path: member.name().to_owned(), size_bytes: member.size_bytes(), kind }))
}

fn read_library(source: &dyn ReadAt, path: &str, reading: Reading<'_>) -> Result<FileKind, ElfError> {
    let elf = Elf::read(source)?;
    if elf.header().machine == machine::AMDGPU {
        return Ok(FileKind::Device);
    }
    let file_name = path.rsplit('/').next().unwrap_or(path);
    Ok(FileKind::Library(Box::new(Library::read(source, &elf, file_name, reading.asked)?)))
}

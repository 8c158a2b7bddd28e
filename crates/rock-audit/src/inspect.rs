//! Reading a wheel: the facts of every file that a loader or a GPU would take.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::library::Library;
use super::limits::{MAX_BESIDE_BYTES, MAX_HELD_BYTES, MAX_SPARE_BYTES};
use rock_bytes::{
    BufferPool, ChunkSender, MemoryBudget, ReadAt, ScratchAllocator, ScratchFactory, start_threads,
    tee_to_thread,
};
use rock_codeobj::{
    CodeDamage, CodeInventory, CodeScanner, DataFile, FileLayout, KpackArchive, KpackError,
    KpackReference, ScanDepth, SourceKind,
};
use rock_elf::{Elf, ElfError, LayoutError, is_elf, machine};
use rock_wheel::{
    ContentObserver, MemberView, ProgressCallback, ProgressMeter, RecordVerifier, WheelError,
    ZipArchive, ZipMember,
};

/// A file of a wheel that holds machine code, or code for GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct FileFacts {
    /// Its path in the wheel.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// CRC-32 of its content.
    pub crc32: u32,
    /// What it is.
    pub kind: FileKind,
    /// The code for GPUs in it; empty where nobody looked.
    pub inventory: CodeInventory,
    /// What is wrong with its layout, where that was asked for.
    pub layout_faults: Vec<LayoutError>,
    /// Whether all of it was read, and is what RECORD says.
    pub is_vouched: bool,
}

/// What a file is.
#[derive(Debug, Clone, PartialEq)]
pub enum FileKind {
    /// A library or program for the processor.
    Library(Box<Library>),
    /// A file that begins as an ELF file and cannot be read as one: why.
    Damaged(String),
    /// Code for a GPU, in a file of its own.
    Device,
    /// What debuggers read of a library or program that lies elsewhere: no loader takes it.
    Debug,
    /// A library or program for Windows.
    Windows,
    /// A library or program for macOS, iOS or WebAssembly.
    Foreign,
    /// Data, a bundle or an archive with code for GPUs.
    Data,
    /// A text that is compiled on a user's machine.
    Source(SourceKind),
}

impl FileFacts {
    /// Whether loaders take it, or would were it whole: data may begin as an ELF file as well.
    pub fn is_for_loaders(&self) -> bool {
        match self.kind {
            FileKind::Library(_) => true,
            FileKind::Damaged(_) => {
                let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
                let is_program = !name.contains('.')
                    && ["bin", "scripts"].contains(&folder.rsplit('/').next().unwrap_or(""));
                let mut endings = name.split('.').skip(1);
                let is_debug = name.split('.').next_back() == Some("debug");
                is_program || !is_debug && endings.any(|part| part == "so")
            }
            _ => false,
        }
    }

    /// Whether it binds its wheel to a platform: libraries and code for GPUs do. Programs for
    /// Windows run there alone, and wheels for any platform carry them on purpose, as those of pip
    /// and setuptools do with launchers.
    pub fn binds_to_platform(&self) -> bool {
        match self.kind {
            FileKind::Library(_) | FileKind::Device => true,
            FileKind::Windows => !self.inventory.is_empty(),
            _ => false,
        }
    }
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
    /// How much is looked at of code for GPUs, and of layouts.
    pub look: Look,
    /// Which undefined symbols are kept.
    pub asked: &'a (dyn Fn(&str) -> bool + Sync),
    /// Where a member goes that must be read out of order.
    pub make_scratch: &'a ScratchFactory<'a>,
    /// Is told how far it has come.
    pub watch: &'a ProgressCallback<'a>,
    /// RECORD, where large libraries are to be held against it on the way.
    pub vouching: Option<&'a RecordVerifier<'a>>,
}

impl std::fmt::Debug for Reading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reading")
    }
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// What loaders need.
    Libraries,
    /// The same, and whether loaders take the layout, of files that are held as a whole: to read a
    /// larger one twice would cost more than all else.
    HeldLayouts,
    /// The same, and whether loaders take the layout.
    Layouts,
    /// Code for GPUs, too, by the tables of its bundles.
    Tables,
    /// All of each file: the header of every code object, and whether loaders take the layout.
    Everything,
}

impl Look {
    /// Whether code for GPUs is looked for.
    fn scans(self) -> bool {
        matches!(self, Self::Tables | Self::Everything)
    }
}

/// What the first bytes of a file are looked at for.
const HEAD_BYTES: usize = 64;

/// What lies beside the largest member is read before the threads of the pool would have begun.
const SOON_READ_BYTES: u64 = 2 << 20;

/// The facts of every file of the wheel that holds machine code, by path. Members are read in
/// parallel, the largest first, each only as far as its tables need.
///
/// # Errors
/// Every member that is damaged or cannot be read.
pub fn inspect(
    archive: &ZipArchive<'_>,
    reading: Reading<'_>,
) -> Result<Vec<FileFacts>, Vec<WheelError>> {
    inspect_some(archive, reading, &|_| true)
}

/// The same as [`inspect`], for some of the members.
///
/// # Errors
/// Every one of them that is damaged or cannot be read.
pub fn inspect_some(
    archive: &ZipArchive<'_>,
    reading: Reading<'_>,
    is_asked: &dyn Fn(&ZipMember) -> bool,
) -> Result<Vec<FileFacts>, Vec<WheelError>> {
    let is_read = |member: &&ZipMember| may_hold_code(member) && is_asked(member);
    let mut members: Vec<&ZipMember> = archive.members().iter().filter(is_read).collect();
    members.sort_by_key(|member| std::cmp::Reverse(member.size_bytes()));
    let meter = ProgressMeter::new(
        members.iter().map(|member| member.size_bytes()).sum(),
        reading.watch,
    );
    let budget = MemoryBudget::new(budget_bytes(
        members.first().map_or(0, |member| member.size_bytes()),
    ));
    let spare = BufferPool::new(MAX_SPARE_BYTES);
    let inspect = |member: &&ZipMember| {
        let share = budget.take(MemberView::max_held_bytes(member));
        let rooms = ScratchAllocator::new(&budget, reading.make_scratch);
        let make_scratch = |size_bytes: u64| rooms.scratch(size_bytes);
        let facts = inspect_member(
            archive,
            member,
            Reading {
                make_scratch: &make_scratch,
                ..reading
            },
            &spare,
        );
        drop((share, rooms));
        meter.add(member.size_bytes());
        facts
    };
    let others_bytes: u64 = members
        .iter()
        .skip(1)
        .map(|member| member.size_bytes())
        .sum();
    let read: Vec<Result<Option<FileFacts>, WheelError>> = if others_bytes <= SOON_READ_BYTES {
        members.iter().map(inspect).collect()
    } else {
        start_threads();
        members.par_iter().with_max_len(1).map(inspect).collect()
    };
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for one in read {
        match one {
            Ok(facts) => files.extend(facts),
            Err(fault) => faults.push(fault),
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    if faults.is_empty() {
        Ok(files)
    } else {
        Err(faults)
    }
}

/// Returns how much all members together may hold in memory, by the size of the largest.
pub(super) fn budget_bytes(largest: u64) -> u64 {
    largest.min(MAX_HELD_BYTES) + MAX_BESIDE_BYTES
}

/// Python files may begin with any bytes; no loader takes them.
fn may_hold_code(member: &ZipMember) -> bool {
    let is_python = std::path::Path::new(member.name())
        .extension()
        .is_some_and(|ending| ending == "py");
    !member.is_dir() && !is_python && member.size_bytes() >= 4
}

fn inspect_member(
    archive: &ZipArchive<'_>,
    member: &ZipMember,
    reading: Reading<'_>,
    spare: &BufferPool,
) -> Result<Option<FileFacts>, WheelError> {
    let depth = if reading.look == Look::Everything {
        ScanDepth::Headers
    } else {
        ScanDepth::Tables
    };
    let scans = reading.look.scans();
    let scanner = Mutex::new(CodeScanner::new(depth));
    let mut hasher = reading
        .vouching
        .and_then(|vouching| vouching.hasher(member));
    let is_watched = scans || hasher.is_some();
    let holds = hasher.is_some();
    let mut see = |bytes: &[u8]| {
        if scans {
            lock(&scanner).feed(bytes);
        }
        if let Some(hasher) = &mut hasher {
            hasher.update(bytes);
        }
    };
    let read = |watching: Option<Watching<'_, '_>>| {
        let sight = Sight {
            watching: watching.map(Mutex::new),
            scanner: &scanner,
            depth,
            reads_all: holds,
            spare,
        };
        read_member(archive, member, reading, &sight)
    };
    let mut facts = match is_watched {
        false => read(None)?,
        true if member.size_bytes() < LONG_BYTES => read(Some(Watching::Here(&mut see)))?,
        true => tee_to_thread(&mut see, |passage| read(Some(Watching::Beside(passage))))?,
    };
    if let (Some(facts), Some(vouching), Some(hasher)) = (&mut facts, reading.vouching, hasher) {
        facts.is_vouched = vouching.matches(member, hasher);
    }
    Ok(facts)
}

/// A member of this size takes much longer to read than a thread to start.
const LONG_BYTES: u64 = 32 << 20;

/// Who sees the bytes of a member as they pass by.
enum Watching<'w, 's> {
    /// The thread that reads them.
    Here(&'w mut (dyn FnMut(&[u8]) + Send + 's)),
    /// Another one.
    Beside(&'w mut ChunkSender<'s>),
}

/// What reading a member is watched with.
struct Sight<'s, 'w, 'f> {
    watching: Option<Mutex<Watching<'w, 'f>>>,
    scanner: &'s Mutex<CodeScanner>,
    depth: ScanDepth,
    /// Whether all of what holds code is read.
    reads_all: bool,
    spare: &'s BufferPool,
}

impl Sight<'_, '_, '_> {
    fn see(&self, piece: &[u8]) {
        match self.watching.as_ref().map(lock).as_deref_mut() {
            Some(Watching::Here(see)) => see(piece),
            Some(Watching::Beside(passage)) => passage.copy(piece),
            None => {}
        }
    }

    /// The scanner, once it has seen all that passed by.
    fn scanner(&self) -> MutexGuard<'_, CodeScanner> {
        if let Some(Watching::Beside(passage)) = self.watching.as_ref().map(lock).as_deref_mut() {
            passage.settle();
        }
        lock(self.scanner)
    }
}

/// Reads a member as far as its tables need, or as a whole where that is asked for.
fn read_member(
    archive: &ZipArchive<'_>,
    member: &ZipMember,
    reading: Reading<'_>,
    sight: &Sight<'_, '_, '_>,
) -> Result<Option<FileFacts>, WheelError> {
    let see = |piece: &[u8]| sight.see(piece);
    let observer: Option<Box<ContentObserver<'_>>> = if sight.watching.is_some() {
        Some(Box::new(see))
    } else {
        None
    };
    let view =
        MemberView::new(archive, member, reading.make_scratch, observer).with_buffers(sight.spare);
    let mut head =
        vec![0; HEAD_BYTES.min(usize::try_from(member.size_bytes()).unwrap_or(HEAD_BYTES))];
    view.read_exact_at(&mut head, 0)
        .map_err(|error| view.wheel_error(error))?;
    let mut facts = FileFacts {
        path: member.name().to_owned(),
        size_bytes: member.size_bytes(),
        crc32: member.crc32(),
        kind: FileKind::Data,
        inventory: CodeInventory::default(),
        layout_faults: Vec::new(),
        is_vouched: false,
    };
    let mut unread = None;
    let layout = if is_elf(&head) {
        match read_elf(&view, sight, &mut facts, reading) {
            Ok(layout) => layout,
            Err(Unread::Member(error)) => return Err(error),
            Err(Unread::Elf(ElfError::Io(error))) => return Err(view.wheel_error(error)),
            Err(Unread::Elf(error)) if rock_codeobj::is_code_object(&head) => {
                facts.kind = FileKind::Device;
                unread = Some(error.to_string());
                reading.look.scans().then(FileLayout::code_object)
            }
            Err(Unread::Elf(error)) => {
                facts.kind = FileKind::Damaged(error.to_string());
                None
            }
        }
    } else if let Some(kind) = foreign_kind(&head).filter(|kind| {
        // Windows files are searched for code.
        *kind == FileKind::Foreign || !reading.look.scans()
    }) {
        facts.kind = kind;
        None
    } else if !reading.look.scans() {
        return Ok(None);
    } else {
        match other_file(&view, &head, &mut facts) {
            Other::Searched(layout) => Some(layout),
            Other::Told => None,
            Other::Unrelated => return Ok(None),
        }
    };
    let reference = layout.as_ref().and_then(FileLayout::kpack_reference);
    if let Some(layout) = layout {
        view.finish()?;
        facts.inventory =
            std::mem::replace(&mut *sight.scanner(), CodeScanner::new(sight.depth)).finish(&layout);
        // What a code object lacks is mostly told by its size already.
        if let Some(reason) = unread.filter(|_| facts.inventory.damages.is_empty()) {
            facts
                .inventory
                .damages
                .push(CodeDamage { offset: 0, reason });
        }
    }
    if let Some(stretch) = reference {
        match KpackReference::read(&view, stretch) {
            Ok(reference) => facts.inventory.kpack_references.push(reference),
            Err(KpackError::Io(error)) => return Err(view.wheel_error(error)),
            Err(error) => facts.inventory.damages.push(CodeDamage {
                offset: stretch.offset,
                reason: error.to_string(),
            }),
        }
    }
    if sight.reads_all {
        view.finish()?;
    }
    Ok(Some(facts))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why an ELF file could not be read.
enum Unread {
    Member(WheelError),
    Elf(ElfError),
}

impl From<WheelError> for Unread {
    fn from(error: WheelError) -> Self {
        Self::Member(error)
    }
}

impl From<ElfError> for Unread {
    fn from(error: ElfError) -> Self {
        Self::Elf(error)
    }
}

/// Reads an ELF file. A layout is told where there may be code for GPUs: then all of the file is to
/// be read.
fn read_elf(
    view: &MemberView<'_, '_>,
    sight: &Sight<'_, '_, '_>,
    facts: &mut FileFacts,
    reading: Reading<'_>,
) -> Result<Option<FileLayout>, Unread> {
    let elf = Elf::read(view)?;
    facts.kind = if elf.header().machine == machine::AMDGPU {
        FileKind::Device
    } else if elf.is_debug_only(view) {
        facts.kind = FileKind::Debug;
        return Ok(None);
    } else {
        let file_name = facts.path.rsplit('/').next().unwrap_or(&facts.path);
        FileKind::Library(Box::new(Library::read(
            view,
            &elf,
            file_name,
            reading.asked,
        )?))
    };
    let layout = if reading.look.scans() {
        device_layout(view, &elf, sight)?
    } else {
        None
    };
    // Last, because section headers end the file: what lies before them has streamed by then.
    let looks = match reading.look {
        Look::Layouts | Look::Everything => true,
        Look::HeldLayouts => view.is_fully_buffered(),
        Look::Libraries | Look::Tables => false,
    };
    if looks && facts.kind != FileKind::Device {
        facts.layout_faults = rock_elf::verify(view);
    }
    Ok(layout)
}

/// The layout of a file in which there may be code for GPUs.
fn device_layout(
    view: &MemberView<'_, '_>,
    elf: &Elf,
    sight: &Sight<'_, '_, '_>,
) -> Result<Option<FileLayout>, Unread> {
    // What no loader maps holds no code for GPUs either: symbols and debug sections need not be
    // unpacked.
    view.stream_to(elf.loaded_end())?;
    view.keep_section_names();
    if !sight.scanner().has_candidates() {
        return Ok(None);
    }
    if elf.header().machine != machine::AMDGPU {
        return Ok(Some(FileLayout::from_elf(elf, &elf.sections(view)?)));
    }
    match elf
        .load_segments()
        .find(|load| load.file_end() > elf.size_bytes())
    {
        Some(load) => Err(ElfError::OutOfBounds {
            what: "a loaded segment",
            offset: load.offset,
            container: "the file",
        }
        .into()),
        None => Ok(Some(FileLayout::code_object())),
    }
}

/// Returns what a file is by its first bytes, where it is a library or program for another system
/// than Linux.
///
/// Mach-O has one of four magic numbers. A file of several architectures has another one and their
/// number, which is small; class files of Java have the same magic number and a version from 45 on
/// there (`mach-o/loader.h`, `mach-o/fat.h`; file, `magic/Magdir/cafebabe`). WebAssembly begins
/// with `\0asm` (core specification, 5.5.16).
fn foreign_kind(head: &[u8]) -> Option<FileKind> {
    const MOST_ARCHITECTURES: u32 = 43;
    let (magic, rest) = head.split_first_chunk::<4>()?;
    let number = rest
        .first_chunk::<4>()
        .map(|number| u32::from_be_bytes(*number));
    match magic {
        b"\0asm" | [0xfe, 0xed, 0xfa, 0xce | 0xcf] | [0xce | 0xcf, 0xfa, 0xed, 0xfe] => {
            Some(FileKind::Foreign)
        }
        [0xca, 0xfe, 0xba, 0xbe | 0xbf] => number
            .filter(|number| *number < MOST_ARCHITECTURES)
            .map(|_| FileKind::Foreign),
        _ => FileLayout::is_pe(head).then_some(FileKind::Windows),
    }
}

/// A file that is no ELF file.
enum Other {
    /// It has nothing to do with machine code.
    Unrelated,
    /// What it holds is told by its name or its first bytes.
    Told,
    /// It must be searched.
    Searched(FileLayout),
}

/// What a file is that is no ELF file.
fn other_file(view: &MemberView<'_, '_>, head: &[u8], facts: &mut FileFacts) -> Other {
    if FileLayout::is_pe(head) {
        let Some(layout) = FileLayout::from_pe(view) else {
            return Other::Unrelated;
        };
        facts.kind = FileKind::Windows;
        return Other::Searched(layout);
    }
    if KpackArchive::is_kpack(head) {
        match KpackArchive::read(view) {
            Ok(kpack) => facts.inventory = CodeInventory::from_kpack(&kpack, facts.size_bytes),
            Err(error) => facts.inventory.damages.push(CodeDamage {
                offset: 0,
                reason: error.to_string(),
            }),
        }
        return Other::Told;
    }
    if rock_codeobj::is_bundle(head) {
        return Other::Searched(FileLayout::other_file());
    }
    if let Some(data) = DataFile::from_path(&facts.path) {
        facts.inventory = CodeInventory::from_data_file(&data, facts.size_bytes);
        return Other::Told;
    }
    match SourceKind::from_path(&facts.path) {
        Some(kind) => {
            facts.kind = FileKind::Source(kind);
            Other::Told
        }
        None => Other::Unrelated,
    }
}

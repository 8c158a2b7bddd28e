//! Inspection of the members of a wheel: properties of files that the dynamic linker or a GPU
//! loads.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::library::ElfLibrary;
use super::limits::{MAX_HELD_BYTES, MAX_OTHERS_BYTES, MAX_SPARE_BYTES};
use super::member_contents::{MemberContents, identify_member};
use rock_bytes::{
    BufferPool, ChunkSender, MemoryBudget, ReadAt, ScratchAllocator, ScratchFactory, start_threads,
    tee_to_thread,
};
use rock_codeobj::{
    CodeDamage, CodeInventory, CodeScanner, FileLayout, FileRange, KpackError, KpackReference,
    ScanDepth, SourceKind,
};
use rock_elf::LayoutError;
use rock_wheel::{
    ContentObserver, MemberView, ProgressCallback, ProgressMeter, RecordVerifier, WheelError,
    ZipArchive, ZipMember,
};

/// A file of a wheel with machine code or GPU code.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectedFile {
    /// The path in the wheel.
    pub path: String,
    /// The uncompressed size in bytes.
    pub size_bytes: u64,
    /// The CRC-32 of the uncompressed contents, from the central directory.
    pub crc32: u32,
    /// The kind of file, with the properties of a library.
    pub kind: InspectedKind,
    /// The GPU code; empty if the inspection did not search for it.
    pub inventory: CodeInventory,
    /// Properties of the ELF layout with which the file cannot be loaded, if the inspection checks
    /// them.
    pub layout_errors: Vec<LayoutError>,
    /// Whether the file was read completely and matches its digest in RECORD.
    pub record_verified: bool,
}

/// The kind of a file with machine code or GPU code.
#[derive(Debug, Clone, PartialEq)]
pub enum InspectedKind {
    /// An ELF library or program for the host.
    Library(Box<ElfLibrary>),
    /// A file with an ELF header that cannot be parsed, with the reason.
    Damaged(String),
    /// A code object for a GPU.
    Device,
    /// Separate debug info of a library or program, which no dynamic linker loads.
    Debug,
    /// A PE file: a library or program for Windows.
    Windows,
    /// A Mach-O or WebAssembly file: a library or program for macOS, iOS or WebAssembly.
    AppleOrWasm,
    /// Data with GPU code: an offload bundle, a kpack archive, or a data file.
    Data,
    /// A source file that is compiled at run time.
    Source(SourceKind),
}

impl InspectedFile {
    /// Returns whether the dynamic linker loads the file, or would if it were not damaged: data may
    /// start like an ELF file as well.
    pub fn is_loadable(&self) -> bool {
        match self.kind {
            InspectedKind::Library(_) => true,
            InspectedKind::Damaged(_) => {
                let (directory, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
                let is_program = !name.contains('.')
                    && ["bin", "scripts"].contains(&directory.rsplit('/').next().unwrap_or(""));
                let mut endings = name.split('.').skip(1);
                let is_debug = name.split('.').next_back() == Some("debug");
                is_program || !is_debug && endings.any(|part| part == "so")
            }
            _ => false,
        }
    }

    /// Returns whether the file makes its wheel specific to a platform, as libraries and GPU code
    /// do. Programs for Windows only run there, but wheels for any platform contain some on
    /// purpose, such as the launchers of pip and setuptools.
    pub fn binds_to_platform(&self) -> bool {
        match self.kind {
            InspectedKind::Library(_) | InspectedKind::Device => true,
            InspectedKind::Windows => !self.inventory.is_empty(),
            _ => false,
        }
    }
}

/// Returns the libraries among the files, with their paths.
pub(super) fn libraries(files: &[InspectedFile]) -> impl Iterator<Item = (&str, &ElfLibrary)> {
    files.iter().filter_map(|file| match &file.kind {
        InspectedKind::Library(library) => Some((file.path.as_str(), library.as_ref())),
        _ => None,
    })
}

/// Returns the paths of files that were read completely and match RECORD.
pub(crate) fn verified_paths(files: &[InspectedFile]) -> BTreeSet<&str> {
    files
        .iter()
        .filter(|file| file.record_verified)
        .map(|file| file.path.as_str())
        .collect()
}

/// Options of [`inspect_members`].
#[derive(Clone, Copy)]
pub struct InspectOptions<'a> {
    /// The subjects of the inspection.
    pub inspection: Inspection,
    /// Returns whether an undefined symbol is kept in [`ElfLibrary::undefined`].
    pub keeps_symbol: &'a (dyn Fn(&str) -> bool + Sync),
    /// Creates storage for members that must be read out of order.
    pub make_scratch: &'a ScratchFactory<'a>,
    /// Receives the progress.
    pub progress: &'a ProgressCallback<'a>,
    /// Verifies large libraries against RECORD while they are read.
    pub record: Option<&'a RecordVerifier<'a>>,
}

impl std::fmt::Debug for InspectOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InspectOptions")
    }
}

/// The subjects of an inspection besides the properties that the dynamic linker uses, which are
/// always inspected. By default, everything is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The files whose ELF layout is checked.
    pub layouts: LayoutChecks,
    /// The search for GPU code.
    pub gpu_code: CodeSearch,
}

/// The files whose ELF layout is checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LayoutChecks {
    /// No file.
    None,
    /// Files that are in memory: reading larger ones twice would take longer than everything else.
    Buffered,
    /// All files.
    #[default]
    All,
}

/// The search for GPU code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CodeSearch {
    /// GPU code is not searched for.
    None,
    /// GPU code is searched for by the tables of offload bundles.
    Tables,
    /// The header of every code object is read as well.
    #[default]
    Headers,
}

impl Inspection {
    /// The properties that the dynamic linker uses, and nothing else.
    pub const LIBRARIES: Self = Self {
        layouts: LayoutChecks::None,
        gpu_code: CodeSearch::None,
    };
    /// The inspection before a repair: also the ELF layout of files that are in memory.
    pub const REPAIR: Self = Self {
        layouts: LayoutChecks::Buffered,
        gpu_code: CodeSearch::None,
    };
    /// A fast search for GPU code, without ELF layouts.
    pub const GPU_TABLES: Self = Self {
        layouts: LayoutChecks::None,
        gpu_code: CodeSearch::Tables,
    };
    /// The ELF layout of all files, without GPU code.
    pub const LAYOUTS: Self = Self {
        layouts: LayoutChecks::All,
        gpu_code: CodeSearch::None,
    };

    /// Returns whether GPU code is searched for.
    pub(super) fn scans(self) -> bool {
        self.gpu_code != CodeSearch::None
    }
}

/// Number of bytes by which the kind of a file is recognized.
const HEAD_BYTES: usize = 64;

/// Size of all members other than the largest, in bytes, up to which starting threads takes longer
/// than reading the members.
const SERIAL_BYTES: u64 = 2 << 20;

/// Inspects every member with machine code and returns them sorted by path. Members are read in
/// parallel, largest first, each only as far as its tables require.
///
/// # Errors
/// Returns one error for each member that is damaged or cannot be read.
pub fn inspect_members(
    archive: &ZipArchive<'_>,
    options: InspectOptions<'_>,
) -> Result<Vec<InspectedFile>, Vec<WheelError>> {
    inspect_selected_members(archive, options, &|_| true)
}

/// Inspects the members that `is_selected` selects; see [`inspect_members`].
///
/// # Errors
/// Returns one error for each of them that is damaged or cannot be read.
pub(crate) fn inspect_selected_members(
    archive: &ZipArchive<'_>,
    options: InspectOptions<'_>,
    is_selected: &dyn Fn(&ZipMember) -> bool,
) -> Result<Vec<InspectedFile>, Vec<WheelError>> {
    let mut members: Vec<&ZipMember> = archive
        .members()
        .iter()
        .filter(|member| may_contain_code(member) && is_selected(member))
        .collect();
    members.sort_by_key(|member| std::cmp::Reverse(member.size_bytes()));
    let meter = ProgressMeter::new(
        members.iter().map(|member| member.size_bytes()).sum(),
        options.progress,
    );
    let budget = MemoryBudget::new(budget_bytes(
        members.first().map_or(0, |member| member.size_bytes()),
    ));
    let buffers = BufferPool::new(MAX_SPARE_BYTES);
    let inspect = |member: &&ZipMember| {
        let share = budget.take(MemberView::max_held_bytes(member));
        let scratch = ScratchAllocator::new(&budget, options.make_scratch);
        let make_scratch = |size_bytes: u64| scratch.allocate(size_bytes);
        let file = inspect_member(
            archive,
            member,
            InspectOptions {
                make_scratch: &make_scratch,
                ..options
            },
            &buffers,
        );
        drop((share, scratch));
        meter.add(member.size_bytes());
        file
    };
    let others_bytes: u64 = members
        .iter()
        .skip(1)
        .map(|member| member.size_bytes())
        .sum();
    let read: Vec<Result<Option<InspectedFile>, WheelError>> = if others_bytes <= SERIAL_BYTES {
        members.iter().map(inspect).collect()
    } else {
        start_threads();
        members.par_iter().with_max_len(1).map(inspect).collect()
    };
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for result in read {
        match result {
            Ok(file) => files.extend(file),
            Err(error) => errors.push(error),
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    if errors.is_empty() {
        Ok(files)
    } else {
        Err(errors)
    }
}

/// Returns the memory budget in bytes for all members together, given the size of the largest.
pub(super) fn budget_bytes(largest: u64) -> u64 {
    largest.min(MAX_HELD_BYTES) + MAX_OTHERS_BYTES
}

/// Returns whether a member may contain code. Python files never do, whatever their first bytes
/// are.
fn may_contain_code(member: &ZipMember) -> bool {
    let is_python = std::path::Path::new(member.name())
        .extension()
        .is_some_and(|ending| ending == "py");
    !member.is_dir() && !is_python && member.size_bytes() >= 4
}

fn inspect_member(
    archive: &ZipArchive<'_>,
    member: &ZipMember,
    options: InspectOptions<'_>,
    buffers: &BufferPool,
) -> Result<Option<InspectedFile>, WheelError> {
    let depth = if options.inspection.gpu_code == CodeSearch::Headers {
        ScanDepth::Headers
    } else {
        ScanDepth::Tables
    };
    let scans = options.inspection.scans();
    let scanner = Mutex::new(CodeScanner::new(depth));
    let mut hasher = options.record.and_then(|verifier| verifier.hasher(member));
    let is_observed = scans || hasher.is_some();
    let is_hashed = hasher.is_some();
    let mut observe = |bytes: &[u8]| {
        if scans {
            lock(&scanner).feed(bytes);
        }
        if let Some(hasher) = &mut hasher {
            hasher.update(bytes);
        }
    };
    let read = |observer: Option<ByteObserver<'_, '_>>| {
        let scan = MemberScan {
            observer: observer.map(Mutex::new),
            scanner: &scanner,
            depth,
            reads_all: is_hashed,
            buffers,
        };
        read_member(archive, member, options, &scan)
    };
    let mut file = match is_observed {
        false => read(None)?,
        true if member.size_bytes() < LONG_BYTES => {
            read(Some(ByteObserver::SameThread(&mut observe)))?
        }
        true => tee_to_thread(&mut observe, |sender| {
            read(Some(ByteObserver::OtherThread(sender)))
        })?,
    };
    if let (Some(file), Some(verifier), Some(hasher)) = (&mut file, options.record, hasher) {
        file.record_verified = verifier.matches(member, hasher);
    }
    Ok(file)
}

/// Size in bytes from which a member takes much longer to read than a thread takes to start.
const LONG_BYTES: u64 = 32 << 20;

/// The receiver of the bytes of a member while it is read.
enum ByteObserver<'w, 's> {
    /// A function, called on the thread that reads.
    SameThread(&'w mut (dyn FnMut(&[u8]) + Send + 's)),
    /// Another thread.
    OtherThread(&'w mut ChunkSender<'s>),
}

/// The state of the inspection of one member.
pub(super) struct MemberScan<'s, 'w, 'f> {
    observer: Option<Mutex<ByteObserver<'w, 'f>>>,
    scanner: &'s Mutex<CodeScanner>,
    depth: ScanDepth,
    /// Whether members with code are read completely.
    reads_all: bool,
    buffers: &'s BufferPool,
}

impl MemberScan<'_, '_, '_> {
    fn observe(&self, bytes: &[u8]) {
        match self.observer.as_ref().map(lock).as_deref_mut() {
            Some(ByteObserver::SameThread(observe)) => observe(bytes),
            Some(ByteObserver::OtherThread(sender)) => sender.send_copy(bytes),
            None => {}
        }
    }

    /// Returns the scanner after it has processed all bytes read so far.
    pub(super) fn scanner(&self) -> MutexGuard<'_, CodeScanner> {
        if let Some(ByteObserver::OtherThread(sender)) =
            self.observer.as_ref().map(lock).as_deref_mut()
        {
            sender.wait_until_received();
        }
        lock(self.scanner)
    }
}

/// Reads a member as far as its tables require, or completely if requested. Returns `None` for one
/// without machine code.
fn read_member(
    archive: &ZipArchive<'_>,
    member: &ZipMember,
    options: InspectOptions<'_>,
    scan: &MemberScan<'_, '_, '_>,
) -> Result<Option<InspectedFile>, WheelError> {
    let observer = scan
        .observer
        .as_ref()
        .map(|_| Box::new(|bytes: &[u8]| scan.observe(bytes)) as Box<ContentObserver<'_>>);
    let view =
        MemberView::new(archive, member, options.make_scratch, observer).with_buffers(scan.buffers);
    let mut head =
        vec![0; HEAD_BYTES.min(usize::try_from(member.size_bytes()).unwrap_or(HEAD_BYTES))];
    view.read_exact_at(&mut head, 0)
        .map_err(|error| view.wheel_error(error))?;
    let mut file = InspectedFile {
        path: member.name().to_owned(),
        size_bytes: member.size_bytes(),
        crc32: member.crc32(),
        kind: InspectedKind::Data,
        inventory: CodeInventory::default(),
        layout_errors: Vec::new(),
        record_verified: false,
    };
    match identify_member(&view, &head, scan, options, &mut file)? {
        MemberContents::Unrelated => return Ok(None),
        MemberContents::Identified => {}
        MemberContents::Searched {
            layout,
            parse_error,
        } => {
            view.finish()?;
            file.inventory = take_inventory(scan, &layout, parse_error);
            if let Some(range) = layout.kpack_reference() {
                read_kpack_reference(&view, range, &mut file.inventory)?;
            }
        }
    }
    if scan.reads_all {
        view.finish()?;
    }
    Ok(Some(file))
}

/// Returns the GPU code that the scanner found in a file that was read completely. `parse_error` is
/// the reason why the file, a code object, cannot be parsed.
fn take_inventory(
    scan: &MemberScan<'_, '_, '_>,
    layout: &FileLayout,
    parse_error: Option<String>,
) -> CodeInventory {
    let scanner = std::mem::replace(&mut *scan.scanner(), CodeScanner::new(scan.depth));
    let mut inventory = scanner.finish(layout);
    // The scan usually reports that a code object is cut off already.
    if let Some(reason) = parse_error.filter(|_| inventory.damages.is_empty()) {
        inventory.damages.push(CodeDamage { offset: 0, reason });
    }
    inventory
}

/// Adds the reference to kpack archives at `range` to the GPU code of a file, or its damage.
fn read_kpack_reference(
    view: &MemberView<'_, '_>,
    range: FileRange,
    inventory: &mut CodeInventory,
) -> Result<(), WheelError> {
    match KpackReference::read(view, range) {
        Ok(reference) => inventory.kpack_references.push(reference),
        Err(KpackError::Io(error)) => return Err(view.wheel_error(error)),
        Err(error) => inventory.damages.push(CodeDamage {
            offset: range.offset,
            reason: error.to_string(),
        }),
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{
        InspectOptions, InspectedFile, InspectedKind, Inspection, ReadAt, WheelError, ZipArchive,
        inspect_members,
    };
    use crate::testing::{gpu_library, wheel};
    use insta::assert_snapshot;
    use rock_codeobj::CodeInventory;
    use rock_sys::allocate_scratch;
    use rock_testkit::bundle;
    use rock_testkit::raw_zip::RawZip;

    /// Returns a wheel with a library, a damaged one, GPU code, and files without code.
    fn wheel_with_code() -> Vec<u8> {
        let library = rock_testkit::library(&["libc.so.6"], &[]);
        let kpack = bundle::kpack(&["gfx942"], &["demo"]);
        wheel(&[
            ("demo/__init__.py", library.as_slice()),
            ("demo/notes.txt", b"Notes on this wheel"),
            (
                "demo/libgpu.so",
                gpu_library(&[("gfx942", 0x4c)]).as_slice(),
            ),
            ("demo/libdemo.so", library.as_slice()),
            ("demo/libdamaged.so", &library[..80]),
            ("demo/.kpack/demo_gfx942.kpack", kpack.as_slice()),
        ])
    }

    fn inspect(
        file: &dyn ReadAt,
        inspection: Inspection,
    ) -> Result<Vec<InspectedFile>, Vec<WheelError>> {
        let archive = ZipArchive::open(file).unwrap();
        let options = InspectOptions {
            inspection,
            keeps_symbol: &|_| false,
            make_scratch: &allocate_scratch,
            progress: &|_| {},
            record: None,
        };
        inspect_members(&archive, options)
    }

    /// Returns the path, the kind and the GPU targets of a file.
    fn line(file: &InspectedFile) -> String {
        let kind = match &file.kind {
            InspectedKind::Library(_) => "library",
            InspectedKind::Damaged(_) => "damaged",
            InspectedKind::Data => "data",
            other => panic!("{other:?}"),
        };
        let mut words = vec![format!("{}:", file.path), kind.to_owned()];
        words.extend(file.inventory.targets().keys().map(ToString::to_string));
        words.join(" ")
    }

    fn lines(files: &[InspectedFile]) -> String {
        files.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn files_with_code_are_sorted_by_path() {
        let files = inspect(&wheel_with_code(), Inspection::default()).unwrap();
        assert_snapshot!(lines(&files), @r"
        demo/.kpack/demo_gfx942.kpack: data gfx942
        demo/libdamaged.so: damaged
        demo/libdemo.so: library
        demo/libgpu.so: library gfx942
        ");
    }

    #[test]
    fn an_inspection_of_libraries_finds_no_gpu_code() {
        let files = inspect(&wheel_with_code(), Inspection::LIBRARIES).unwrap();
        assert_snapshot!(lines(&files), @r"
        demo/libdamaged.so: damaged
        demo/libdemo.so: library
        demo/libgpu.so: library
        ");
    }

    #[test]
    fn a_member_with_a_wrong_checksum_is_an_error() {
        let corrupt = RawZip::read(&wheel_with_code()).with(|archive| {
            for member in &mut archive.members {
                if member.name == b"demo/libgpu.so" {
                    member.crc32 = Some(0);
                }
            }
        });
        let errors = inspect(&corrupt.bytes(), Inspection::default()).unwrap_err();
        assert!(
            matches!(
                errors.as_slice(),
                [WheelError::CorruptMember { member, .. }] if member == "demo/libgpu.so"
            ),
            "{errors:?}"
        );
    }

    /// Data may start like an ELF file.
    #[test]
    fn damaged_files_are_loadable_by_their_path() {
        let is_loadable = |path: &str| {
            let file = InspectedFile {
                path: path.to_owned(),
                size_bytes: 80,
                crc32: 0,
                kind: InspectedKind::Damaged("it is cut off".to_owned()),
                inventory: CodeInventory::default(),
                layout_errors: Vec::new(),
                record_verified: false,
            };
            file.is_loadable()
        };
        for path in [
            "demo/_demo.so",
            "demo.libs/libdemo.so.1.2",
            "demo/bin/tool",
            "demo-1.0.data/scripts/tool",
        ] {
            assert!(is_loadable(path), "{path}");
        }
        for path in ["demo/tool", "demo/bin/tool.bin", "demo/libdemo.so.debug"] {
            assert!(!is_loadable(path), "{path}");
        }
    }
}

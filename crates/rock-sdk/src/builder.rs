//! Writes the Python packages of the ROCm SDK.

use std::collections::{BTreeMap, BTreeSet};

use rock_audit::{NoProgress, ProgressReporter};
use rock_bytes::archive::{TarBuilder, TarMember, TarMemberKind, compress_xz};
use rock_bytes::{Concat, RangeReader, ReadAt, ScratchStorage, start_threads};
use rock_compat::rows::SdkTables;
use rock_diagnostic::Diagnostic;
use rock_names::{DistributionNameError, WheelName};
use rock_sys::{DirectorySwap, FileError, OnExisting, ScratchSpace, Signals, StagingDirectory};
use rock_wheel::{
    DosTime, MemberContent, NewWheel, NewWheelFile, NewWheelOptions, ProgressMeter, WheelError,
};

use crate::build_error::SdkBuildError;
use crate::codes::sdk as codes;
use crate::file_contents::open_contents;
use crate::python::{self, BuildInfo};
use crate::stoppable::StoppableWriter;
use crate::{
    DevelKind, DevelTree, FileContent, PackageKind, ResolvedLayout, RuntimePackage, check_output,
};

/// The archive with the tree of a devel package, in its module.
pub const DEVEL_TARBALL: &str = "_devel.tar";
/// The extension of files that are compressed with xz.
pub const XZ_EXTENSION: &str = ".xz";

/// A package that was written.
#[derive(Debug)]
pub struct WrittenPackage {
    /// The path, relative to the output directory.
    pub path: String,
    /// The size of the file.
    pub size_bytes: u64,
}

/// Writes the packages of a layout.
pub struct SdkBuilder<'b> {
    layout: &'b ResolvedLayout,
    facts: &'b SdkTables,
    build: BuildInfo,
    platform_tag: String,
    wheel_options: NewWheelOptions,
    /// The time of the members of archives, in seconds since 1970-01-01.
    time_s: u64,
    is_tree_compressed: bool,
    has_device_init: bool,
    scratch: ScratchSpace,
    progress: &'b dyn ProgressReporter,
    on_package: &'b (dyn Fn(&str) + Sync),
}

/// Writes at the end of scratch storage.
struct ScratchWriter<'s>(&'s mut dyn ScratchStorage);

impl std::io::Write for ScratchWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.append(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The content of a file of a wheel, and whether it is executable.
type WheelEntry<'f> = (Box<dyn ReadAt + 'f>, bool);

/// The parts of a wheel.
struct WheelParts<'p> {
    kind: PackageKind,
    project: &'p str,
    made_for: Option<&'p str>,
    files: BTreeMap<String, WheelEntry<'p>>,
    /// The content of `entry_points.txt`.
    scripts: Option<String>,
    /// The subdirectory of the output directory.
    subdirectory: Option<&'p str>,
}

/// The default compression level of wheels.
const COMPRESSION_LEVEL: u32 = 6;

impl<'b> SdkBuilder<'b> {
    /// Creates a builder of the packages of a layout. `build` has the values that all packages
    /// contain, and `platform_tag` is the validated tag of the wheels. All members have the first
    /// time that wheels can represent, 1980-01-01.
    pub fn new(
        layout: &'b ResolvedLayout,
        facts: &'b SdkTables,
        build: BuildInfo,
        platform_tag: String,
    ) -> Self {
        let builder = Self {
            layout,
            facts,
            build,
            platform_tag,
            wheel_options: NewWheelOptions {
                level: COMPRESSION_LEVEL,
                time: DosTime::from_epoch_s(0),
            },
            time_s: 0,
            is_tree_compressed: false,
            has_device_init: false,
            scratch: ScratchSpace::default(),
            progress: &NoProgress,
            on_package: &|_| (),
        };
        builder.with_member_time_s(DosTime::clamp_epoch_s(0))
    }

    /// Sets the time of all members, in seconds since 1970-01-01. It must be one that wheels can
    /// represent, also for the sdist and the devel tree, because installers build wheels from them.
    #[must_use]
    pub fn with_member_time_s(mut self, time_s: i64) -> Self {
        self.wheel_options.time = DosTime::from_epoch_s(time_s);
        self.time_s = time_s.unsigned_abs();
        self
    }

    /// Sets the compression level of wheels, from 0 for uncompressed members to 9.
    #[must_use]
    pub fn with_compression_level(mut self, level: u32) -> Self {
        self.wheel_options.level = level;
        self
    }

    /// Sets whether the trees of devel packages are compressed with xz.
    #[must_use]
    pub fn with_compressed_tree(mut self, is_compressed: bool) -> Self {
        self.is_tree_compressed = is_compressed;
        self
    }

    /// Sets whether device packages have the `__init__.py` of the libraries, too.
    #[must_use]
    pub fn with_device_init(mut self, has_init: bool) -> Self {
        self.has_device_init = has_init;
        self
    }

    /// Sets the storage for data that is not kept in memory.
    #[must_use]
    pub fn with_scratch(mut self, scratch: ScratchSpace) -> Self {
        self.scratch = scratch;
        self
    }

    /// Sets the receiver of the progress of each wheel.
    #[must_use]
    pub fn with_progress(mut self, progress: &'b dyn ProgressReporter) -> Self {
        self.progress = progress;
        self
    }

    /// Sets the receiver of the name of each package before it is written.
    #[must_use]
    pub fn with_package_listener(mut self, on_package: &'b (dyn Fn(&str) + Sync)) -> Self {
        self.on_package = on_package;
        self
    }

    /// Writes all packages into the locked directory, or none: they are written to a staging
    /// directory that replaces it at the end. A signal in `signals` stops the build.
    ///
    /// # Errors
    /// When the directory has files and they may not be overwritten, a package cannot be written,
    /// or a signal was received.
    pub fn build(
        &self,
        directory: DirectorySwap,
        overwrite: bool,
        signals: &Signals,
    ) -> Result<Vec<WrittenPackage>, SdkBuildError> {
        let dist = directory.target().to_owned();
        let staging = directory.stage()?;
        // The build that held the lock before may have written packages.
        check_output(&dist, overwrite, self.facts)?;
        let written = self.write_all(&staging, signals);
        if let Some(signal) = signals.pending() {
            return Err(SdkBuildError::Stopped(signal));
        }
        let mut written = written?;
        staging.commit()?;
        written.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(written)
    }

    /// Writes devel packages in parallel with the others: each is one file, whose digest is
    /// computed by one thread.
    fn write_all(
        &self,
        staging: &StagingDirectory,
        signals: &Signals,
    ) -> Result<Vec<WrittenPackage>, Vec<Diagnostic>> {
        let libraries = self
            .layout
            .packages
            .iter()
            .filter(|package| package.kind == PackageKind::Libraries);
        let families: Vec<Option<&str>> = libraries
            .map(|package| package.made_for.as_deref())
            .collect();
        let has_subdirectories = families.len() > 1;
        start_threads();
        let (trees, packages) = rayon::join(
            || {
                let write = |tree: &DevelTree| {
                    let subdirectory = tree.made_for.as_deref().filter(|_| has_subdirectories);
                    self.write_devel(tree, subdirectory, staging, signals)
                };
                self.layout
                    .devel
                    .iter()
                    .map(write)
                    .collect::<Result<Vec<_>, _>>()
            },
            || {
                let write = |package: &RuntimePackage| {
                    (self.on_package)(&package.distribution);
                    self.write_runtime(package, staging, signals)
                };
                self.layout
                    .packages
                    .iter()
                    .map(write)
                    .collect::<Result<Vec<_>, _>>()
            },
        );
        let mut written: Vec<WrittenPackage> = match (packages, trees) {
            (Ok(packages), Ok(trees)) => packages.into_iter().chain(trees).collect(),
            (packages, trees) => {
                let errors = packages.err().into_iter().chain(trees.err()).flatten();
                return Err(errors.collect());
            }
        };
        let families = if has_subdirectories {
            families
        } else {
            vec![None]
        };
        for family in families {
            let sdist = self
                .write_sdist(family, staging)
                .map_err(|error| vec![error.into()])?;
            written.push(sdist);
        }
        Ok(written)
    }

    fn write_runtime(
        &self,
        package: &RuntimePackage,
        staging: &StagingDirectory,
        signals: &Signals,
    ) -> Result<WrittenPackage, Vec<Diagnostic>> {
        let contents: Vec<&FileContent> = package
            .files
            .values()
            .map(|placed| &placed.content)
            .collect();
        let opened = open_contents(&self.layout.artifacts, &contents)?;
        let mut files: BTreeMap<String, WheelEntry<'_>> = BTreeMap::new();
        for ((path, placed), bytes) in package.files.iter().zip(opened) {
            files.insert(
                format!("{}/{path}", package.directory),
                (bytes, placed.is_executable),
            );
        }
        if package.kind == PackageKind::Device {
            let target = package.made_for.as_deref().unwrap_or_default();
            let links = python::device_links(package, &self.build.version);
            files.insert(
                format!("{}/.devel_links/{target}.json", package.directory),
                (Box::new(links.into_bytes()), false),
            );
            // pip removes only directories in which it removed a file.
            files.insert(
                format!("{}/.device-{target}", package.directory),
                (Box::new(Vec::new()), false),
            );
        }
        if package.kind != PackageKind::Device || self.has_device_init {
            files
                .entry(format!("{}/__init__.py", package.directory))
                .or_insert_with(|| (Box::new(Vec::new()), false));
        }
        let scripts = python::entry_points(package, &self.build, self.facts);
        let made_for = package.made_for.as_deref();
        let parts = WheelParts {
            kind: package.kind,
            project: &package.distribution,
            made_for,
            files,
            scripts,
            subdirectory: None,
        };
        self.write_wheel(parts, staging, signals)
    }

    fn write_devel(
        &self,
        tree: &DevelTree,
        subdirectory: Option<&str>,
        staging: &StagingDirectory,
        signals: &Signals,
    ) -> Result<WrittenPackage, Vec<Diagnostic>> {
        let project = tree.distribution.as_str();
        let payload = self.payload(tree)?;
        let mut files: BTreeMap<String, WheelEntry<'_>> = BTreeMap::new();
        let path = format!("{}/{DEVEL_TARBALL}", python::module(project));
        if self.is_tree_compressed {
            files.insert(
                format!("{path}{XZ_EXTENSION}"),
                (self.compress(&payload, signals)?, false),
            );
        } else {
            files.insert(path, (Box::new(payload), false));
        }
        let made_for = tree.made_for.as_deref();
        self.write_wheel(
            WheelParts {
                kind: PackageKind::Devel,
                project,
                made_for,
                files,
                scripts: None,
                subdirectory,
            },
            staging,
            signals,
        )
    }

    /// Returns the tree of a devel package as an archive.
    fn payload<'t>(&'t self, tree: &'t DevelTree) -> Result<Concat<'t>, Vec<Diagnostic>> {
        let root = &tree.directory;
        let contents: Vec<FileContent> = tree
            .entries
            .iter()
            .filter_map(|entry| match &entry.kind {
                DevelKind::File {
                    bytes,
                    search: Some(search),
                    ..
                } => Some(FileContent::Searching(*bytes, search.clone())),
                DevelKind::File {
                    bytes,
                    search: None,
                    ..
                } => Some(FileContent::Copy(*bytes)),
                DevelKind::Owned(_) | DevelKind::Link(_) | DevelKind::Directory => None,
            })
            .collect();
        let mut opened =
            open_contents(&self.layout.artifacts, &contents.iter().collect::<Vec<_>>())?
                .into_iter();
        let mut tar = TarBuilder::new();
        let mut push = |path: &str, kind, mode, content: Option<Box<dyn ReadAt + 't>>| {
            let path = format!("{root}/{path}");
            tar.push(
                &TarMember {
                    path: &path,
                    kind,
                    mode,
                    time_s: self.time_s,
                },
                content,
            )
            .map_err(|error| {
                vec![
                    Diagnostic::new(
                        &codes::BAD_ARTIFACT,
                        format!("`{path}` cannot be in an archive: {error}"),
                    )
                    .help("rename it in the build that created it"),
                ]
            })
        };
        // `rocm_sdk` unpacks the files of the root first.
        push(
            "__init__.py",
            TarMemberKind::File,
            0o644,
            Some(Box::new(Vec::new())),
        )?;
        for entry in &tree.entries {
            let path = entry.path.as_str();
            match &entry.kind {
                DevelKind::Directory => push(path, TarMemberKind::Directory, 0o755, None)?,
                DevelKind::Owned(text) | DevelKind::Link(text) => {
                    push(path, TarMemberKind::Symlink(text), 0o777, None)?;
                }
                DevelKind::File { is_executable, .. } => {
                    let mode = if *is_executable { 0o755 } else { 0o644 };
                    let content: Option<Box<dyn ReadAt + 't>> =
                        opened.next().map(|bytes| bytes as Box<dyn ReadAt>);
                    push(path, TarMemberKind::File, mode, content)?;
                }
            }
        }
        Ok(tar.finish())
    }

    /// Compresses a source with xz into scratch storage, because the size of a member must be known
    /// before it is written.
    fn compress(
        &self,
        source: &dyn ReadAt,
        signals: &Signals,
    ) -> Result<Box<dyn ReadAt>, Vec<Diagnostic>> {
        start_threads();
        let threads = u32::try_from(rayon::current_num_threads()).unwrap_or(1);
        let made = self.scratch.allocate(u64::MAX).and_then(|mut scratch| {
            let mut target = StoppableWriter {
                target: ScratchWriter(scratch.as_mut()),
                signals,
            };
            compress_xz(source, threads, &mut target)?;
            Ok(scratch as Box<dyn ReadAt>)
        });
        made.map_err(|error| vec![self.scratch.file_error(error).into()])
    }

    /// Returns the filename of the wheel of a package. The version and the platform tag are those
    /// of validated options.
    fn wheel_name(&self, project: &str) -> Result<WheelName, Diagnostic> {
        let distribution = project.parse().map_err(|error: DistributionNameError| {
            Diagnostic::new(&codes::BAD_ARTIFACT, error.to_string())
        })?;
        let version = self.build.version.parse().expect("a valid version");
        Ok(WheelName::new(
            &distribution,
            version,
            "py3".parse().expect("a valid tag"),
            "none".parse().expect("a valid tag"),
            self.platform_tag.parse().expect("a valid tag"),
        ))
    }

    fn write_wheel(
        &self,
        parts: WheelParts<'_>,
        staging: &StagingDirectory,
        signals: &Signals,
    ) -> Result<WrittenPackage, Vec<Diagnostic>> {
        let WheelParts {
            kind,
            project,
            made_for,
            mut files,
            scripts,
            subdirectory,
        } = parts;
        for (path, text) in python::modules(kind, project, made_for, &self.build, self.facts) {
            files.insert(path, (Box::new(text.into_bytes()), false));
        }
        let wheel_name = self.wheel_name(project).map_err(|error| vec![error])?;
        let name = wheel_name.to_string();
        let top: BTreeSet<&str> = files
            .keys()
            .filter_map(|path| path.split('/').next())
            .collect();
        let top: String = top
            .into_iter()
            .map(|directory| format!("{directory}\n"))
            .collect();
        let metadata = python::metadata(kind, project, &self.build, self.facts);
        // All modules must be installed next to `rocm_sdk`, which is pure: some systems have
        // another directory for the rest.
        let about = format!(
            "Wheel-Version: 1.0\nGenerator: rock-matrix ({})\nRoot-Is-Purelib: true\nTag: {}\n",
            env!("CARGO_PKG_VERSION"),
            wheel_name.compressed_tag()
        );
        let mut described: Vec<(&str, &[u8])> = vec![
            ("METADATA", metadata.as_bytes()),
            ("WHEEL", about.as_bytes()),
        ];
        described.extend(
            scripts
                .as_ref()
                .map(|text| ("entry_points.txt", text.as_bytes())),
        );
        described.push(("top_level.txt", top.as_bytes()));
        let path = subdirectory.map_or_else(|| name.clone(), |parent| format!("{parent}/{name}"));
        let place = staging
            .staged_path(&path)
            .map_err(|error| vec![error.into()])?;
        let entries = files
            .iter()
            .map(|(path, (bytes, is_executable))| NewWheelFile {
                path: path.into(),
                content: MemberContent::Source(bytes.as_ref()),
                is_executable: *is_executable,
                is_compressed: path.ends_with(XZ_EXTENSION),
            });
        let total_bytes = files.values().map(|(bytes, _)| bytes.size_bytes()).sum();
        let report = self.progress.start(&name);
        let meter = ProgressMeter::new(total_bytes, report.as_ref());
        let mut size_bytes = 0;
        rock_sys::save::<Diagnostic>(&place, OnExisting::Replace, |target| {
            let mut target = StoppableWriter { target, signals };
            let dist_info = wheel_name.dist_info();
            let new_wheel = NewWheel {
                dist_info: &dist_info,
                metadata: &described,
                options: &self.wheel_options,
            };
            size_bytes =
                new_wheel
                    .write(entries, &mut target, &meter)
                    .map_err(|error| match error {
                        WheelError::Write(error) => FileError::new("write", &place, error).into(),
                        error => error.diagnostic(&name),
                    })?;
            Ok(())
        })
        .map_err(|fault| vec![fault])?;
        Ok(WrittenPackage { path, size_bytes })
    }

    /// Writes the source distribution of `rocm`, for all GPUs or for one family.
    fn write_sdist(
        &self,
        family: Option<&str>,
        staging: &StagingDirectory,
    ) -> Result<WrittenPackage, FileError> {
        let build = match family {
            Some(family) => BuildInfo {
                gpus: self.build.gpus.of(family),
                ..self.build.clone()
            },
            None => self.build.clone(),
        };
        let stem = format!("rocm-{}", build.version);
        let mut tar = TarBuilder::new();
        for (path, text) in python::project(&build, self.facts) {
            let path = format!("{stem}/{path}");
            let member = TarMember {
                path: &path,
                kind: TarMemberKind::File,
                mode: 0o644,
                time_s: self.time_s,
            };
            tar.push(&member, Some(Box::new(text.into_bytes())))
                .map_err(|error| cannot(&path, &error))?;
        }
        let file = format!("{stem}.tar.gz");
        let mut gzip = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::new(9));
        let fault = |error| cannot(&file, &error);
        let tar = tar.finish();
        std::io::copy(&mut RangeReader::new(&tar, 0, tar.size_bytes()), &mut gzip)
            .map_err(fault)?;
        let bytes = gzip.finish().map_err(fault)?;
        let path = family.map_or_else(|| file.clone(), |family| format!("{family}/{file}"));
        staging.write(&path, &bytes)?;
        Ok(WrittenPackage {
            path,
            size_bytes: bytes.len() as u64,
        })
    }
}

fn cannot(path: &str, error: &std::io::Error) -> FileError {
    FileError {
        action: "write",
        path: path.into(),
        reason: error.to_string(),
        source: None,
    }
}

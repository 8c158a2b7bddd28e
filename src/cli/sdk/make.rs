//! Packages, written one after the other.

use std::collections::{BTreeMap, BTreeSet};

use super::contents;
use super::laid::Laid;
use super::stopping::Stoppable;
use crate::archive::{self, TarBuilder, TarMemberKind};
use crate::bytes::{Concat, RangeReader, ReadAt, ScratchStorage, start_threads};
use crate::cli::wheel::{Bar, Watchers};
use crate::codes::sdk as codes;
use crate::compat::rows::SdkTables;
use crate::diagnostic::Diagnostic;
use crate::names::{DistributionNameError, WheelName};
use crate::sdk::python::{self, BuildInfo};
use crate::sdk::{self, DevelKind, DevelTree, FileContent, PackageKind, RuntimePackage};
use crate::sys::{self, FileError, OnExisting, ScratchSpace, Signals, StagingDirectory};
use crate::wheel::{self, NewWheel, NewWheelFile, NewWheelOptions, ProgressMeter, WheelError};

/// The tree to build against, in its wheel.
pub(super) const TARBALL: &str = "_devel.tar";
/// How what xz made is named.
pub(super) const XZ: &str = ".xz";

/// A package that was made.
pub(super) struct Made {
    /// Its path below `dist`.
    pub(super) path: String,
    pub(super) size_bytes: u64,
}

/// Makes packages.
pub(super) struct Maker<'m> {
    pub(super) laid: &'m Laid,
    pub(super) facts: &'m SdkTables,
    pub(super) build: BuildInfo,
    pub(super) tag: String,
    pub(super) options: NewWheelOptions,
    pub(super) time_s: u64,
    /// Whether the tree to build against is compressed by xz.
    pub(super) compresses_tree: bool,
    /// Whether packages for one target have the `__init__.py` of the libraries, too.
    pub(super) inits_devices: bool,
    /// Where what memory is not to hold goes.
    pub(super) room: ScratchSpace,
    /// Who watches how far it is.
    pub(super) watchers: Watchers,
    /// What ends the work.
    pub(super) signals: Signals,
}

/// Writes at the end of a scratch.
struct Appended<'s>(&'s mut dyn ScratchStorage);

impl std::io::Write for Appended<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.append(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A file of a wheel before it is read: its bytes, and whether it may be run.
type File<'f> = (Box<dyn ReadAt + 'f>, bool);

/// What a wheel is made of.
struct Parts<'p> {
    kind: PackageKind,
    project: &'p str,
    made_for: Option<&'p str>,
    files: BTreeMap<String, File<'p>>,
    /// The console scripts, as `entry_points.txt` has them.
    scripts: Option<String>,
    /// The folder of `dist` that it goes into.
    below: Option<&'p str>,
}

impl Maker<'_> {
    pub(super) fn package(
        &self,
        package: &RuntimePackage,
        staging: &StagingDirectory,
    ) -> Result<Made, Vec<Diagnostic>> {
        let contents: Vec<&FileContent> = package
            .files
            .values()
            .map(|placed| &placed.content)
            .collect();
        let opened = contents::open_all(&self.laid.read, &contents)?;
        let mut files: BTreeMap<String, File<'_>> = BTreeMap::new();
        for ((path, placed), bytes) in package.files.iter().zip(opened) {
            files.insert(
                format!("{}/{path}", package.folder),
                (bytes, placed.is_executable),
            );
        }
        if package.kind == PackageKind::Device {
            let target = package.made_for.as_deref().unwrap_or_default();
            let links = sdk::python::device_links(package, &self.build.version);
            files.insert(
                format!("{}/.devel_links/{target}.json", package.folder),
                (Box::new(links.into_bytes()), false),
            );
            // pip removes a folder only where it removes a file that lies right in it.
            files.insert(
                format!("{}/.device-{target}", package.folder),
                (Box::new(Vec::new()), false),
            );
        }
        if package.kind != PackageKind::Device || self.inits_devices {
            files
                .entry(format!("{}/__init__.py", package.folder))
                .or_insert_with(|| (Box::new(Vec::new()), false));
        }
        let scripts = python::entry_points(package, &self.build, self.facts);
        let made_for = package.made_for.as_deref();
        let parts = Parts {
            kind: package.kind,
            project: &package.distribution,
            made_for,
            files,
            scripts,
            below: None,
        };
        self.wheel(parts, staging)
    }

    pub(super) fn devel(
        &self,
        tree: &DevelTree,
        below: Option<&str>,
        staging: &StagingDirectory,
    ) -> Result<Made, Vec<Diagnostic>> {
        let project = tree.distribution.as_str();
        let payload = self.payload(tree)?;
        let mut files: BTreeMap<String, File<'_>> = BTreeMap::new();
        let path = format!("{}/{TARBALL}", python::module(project));
        if self.compresses_tree {
            files.insert(format!("{path}{XZ}"), (self.compressed(&payload)?, false));
        } else {
            files.insert(path, (Box::new(payload), false));
        }
        let made_for = tree.made_for.as_deref();
        self.wheel(
            Parts {
                kind: PackageKind::Devel,
                project,
                made_for,
                files,
                scripts: None,
                below,
            },
            staging,
        )
    }

    /// The tree to build against, as one archive.
    fn payload<'t>(&'t self, tree: &'t DevelTree) -> Result<Concat<'t>, Vec<Diagnostic>> {
        let root = &tree.folder;
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
                DevelKind::Owned(_) | DevelKind::Link(_) | DevelKind::Folder => None,
            })
            .collect();
        let mut opened =
            contents::open_all(&self.laid.read, &contents.iter().collect::<Vec<_>>())?.into_iter();
        let mut tar = TarBuilder::new();
        let mut push = |path: &str, kind, mode, content: Option<Box<dyn ReadAt + 't>>| {
            let path = format!("{root}/{path}");
            tar.push(
                &archive::TarMember {
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
                    .help("rename it in the build that made it"),
                ]
            })
        };
        // Its extractor wants the files of the root first.
        push(
            "__init__.py",
            TarMemberKind::File,
            0o644,
            Some(Box::new(Vec::new())),
        )?;
        for entry in &tree.entries {
            let path = entry.path.as_str();
            match &entry.kind {
                DevelKind::Folder => push(path, TarMemberKind::Directory, 0o755, None)?,
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

    /// What xz makes of a source, in a file without a name beside the packages: its size must be
    /// known before it is packed.
    fn compressed(&self, source: &dyn ReadAt) -> Result<Box<dyn ReadAt>, Vec<Diagnostic>> {
        start_threads();
        let threads = u32::try_from(rayon::current_num_threads()).unwrap_or(1);
        let made = self.room.allocate(u64::MAX).and_then(|mut scratch| {
            let mut target = Stoppable {
                target: Appended(scratch.as_mut()),
                signals: &self.signals,
            };
            archive::compress_xz(source, threads, &mut target)?;
            Ok(scratch as Box<dyn ReadAt>)
        });
        made.map_err(|error| vec![self.room.file_error(error).into()])
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
            self.tag.parse().expect("a valid tag"),
        ))
    }

    fn wheel(&self, parts: Parts<'_>, staging: &StagingDirectory) -> Result<Made, Vec<Diagnostic>> {
        let Parts {
            kind,
            project,
            made_for,
            mut files,
            scripts,
            below,
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
            .map(|folder| format!("{folder}\n"))
            .collect();
        let metadata = python::metadata(kind, project, &self.build, self.facts);
        // Everything lies beside `rocm_sdk`, which is pure: on systems with two folders it must not
        // go into the other.
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
        let path = below.map_or_else(|| name.clone(), |below| format!("{below}/{name}"));
        let place = staging
            .staged_path(&path)
            .map_err(|error| vec![error.into()])?;
        let entries = files
            .iter()
            .map(|(path, (bytes, is_executable))| NewWheelFile {
                path: path.into(),
                content: wheel::MemberContent::Source(bytes.as_ref()),
                is_executable: *is_executable,
                is_compressed: path.ends_with(XZ),
            });
        let total_bytes = files.values().map(|(bytes, _)| bytes.size_bytes()).sum();
        let bar = Bar::new(self.watchers, &name);
        let watch = |progress| bar.tell(progress);
        let meter = ProgressMeter::new(total_bytes, &watch);
        let mut size_bytes = 0;
        sys::save::<Diagnostic>(&place, OnExisting::Replace, |target| {
            let mut target = Stoppable {
                target,
                signals: &self.signals,
            };
            let dist_info = wheel_name.dist_info();
            let new_wheel = NewWheel {
                dist_info: &dist_info,
                metadata: &described,
                options: &self.options,
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
        Ok(Made { path, size_bytes })
    }

    /// The source distribution of `rocm`, for all GPUs or for one family.
    pub(super) fn project(
        &self,
        family: Option<&str>,
        staging: &StagingDirectory,
    ) -> Result<Made, FileError> {
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
            let member = archive::TarMember {
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
        Ok(Made {
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

//! Options of audits.

use std::path::{Path, PathBuf};

use super::bar::Watchers;
use crate::audit::{
    AuditOptions, Auditor, InspectionDepth, LibraryPatterns, NoLibraries, Sysroot, SystemLibraries,
};
use crate::cli::Shell;
use crate::codes::wheel as codes;
use crate::compat::Compat;
use crate::compat::policy::PolicyFile;
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass, Severity, Sink, SourceText, nearest};
use crate::sys::{self, ScratchSpace};

/// What is read at most of a file of patterns or policies.
const LIMIT_BYTES: u64 = 16 << 20;

/// Settings of an audit that depend on the command.
#[derive(Debug, Clone, Default)]
pub(super) struct AuditSettings {
    /// Depth to which each member is inspected.
    pub(super) depth: InspectionDepth,
    /// The requested platform tag.
    pub(super) platform: Option<String>,
    /// Whether large libraries are verified while they are read.
    pub(super) verify_record: bool,
}

/// Options of every command that audits.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Options {
    /// Search libraries in these folders, joined with colons, and in no configured ones
    #[arg(long, value_name = "DIRS")]
    ldpaths: Option<String>,
    /// Search libraries below this folder, as if it were the root
    #[arg(long, value_name = "DIR", default_value = "/")]
    sysroot: PathBuf,
    /// Search no libraries on this machine: the result is the same everywhere
    #[arg(long, conflicts_with_all = ["ldpaths", "sysroot"])]
    no_host_libs: bool,
    /// Leave libraries of this name or path where they are; a shell pattern
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Leave known sets of libraries where they are: rocm, torch, cuda or jax; `none` for no set
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    exclude_preset: Vec<String>,
    /// Leave libraries where they are, one pattern a line
    #[arg(long, value_name = "FILE")]
    exclude_file: Option<PathBuf>,
    /// Judge by the policies of this file, in auditwheel's form
    #[arg(long, value_name = "FILE")]
    policy_file: Option<PathBuf>,
    /// Take libraries that need a level of x86-64 above the first
    #[arg(long)]
    disable_isa_ext_check: bool,
    /// Allow search paths from the root that match; a shell pattern
    #[arg(long, value_name = "GLOB")]
    allow_rpath: Vec<String>,
    #[command(flatten)]
    work: Work,
    /// Patterns of excluded libraries of a build, which are no option of the command line.
    #[arg(skip)]
    left_outside: Vec<String>,
}

/// The word of `--exclude-preset` for no set of libraries.
const NO_PRESET: &str = "none";

/// Source of the libraries that are grafted into the wheels of a build.
#[derive(Debug, Clone)]
pub(in crate::cli) enum BuildLibraries {
    /// Libraries of this machine.
    Machine,
    /// Copies of the libraries of a container, below this folder; none where the build left none.
    Below(PathBuf),
}

/// Where members go that must be read out of order.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Work {
    /// Put members of more than 512 MiB that must be read out of order into this folder [default:
    /// the one for temporary files]
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
}

impl Work {
    /// The folder, where files can be made in it.
    ///
    /// # Errors
    /// When none can.
    pub(super) fn room(&self) -> Result<ScratchSpace, Diagnostic> {
        Ok(ScratchSpace::new(self.work_dir.as_deref())?)
    }
}

impl Options {
    /// Returns the options of a build: its libraries, and the patterns of those that are excluded.
    pub(super) fn of_build(libraries: &BuildLibraries, outside: &[String]) -> Self {
        let sysroot = match libraries {
            BuildLibraries::Machine => PathBuf::from("/"),
            BuildLibraries::Below(root) => root.clone(),
        };
        Self {
            ldpaths: None,
            no_host_libs: !Sysroot::new(&sysroot).is_there(),
            sysroot,
            exclude: Vec::new(),
            exclude_preset: Vec::new(),
            exclude_file: None,
            policy_file: None,
            disable_isa_ext_check: false,
            allow_rpath: Vec::new(),
            work: Work { work_dir: None },
            left_outside: outside.to_vec(),
        }
    }

    /// Adds default presets of excluded libraries, unless presets or `none` are named.
    pub(super) fn with_presets(&self, presets: &[&str]) -> Self {
        let exclude_preset = match self.exclude_preset.as_slice() {
            [] => presets.iter().map(|name| (*name).to_owned()).collect(),
            named => named.to_vec(),
        };
        Self {
            exclude_preset,
            ..self.clone()
        }
    }

    /// Creates an auditor with these options.
    ///
    /// # Errors
    /// Returns presets that do not exist, invalid patterns and files that cannot be read.
    pub(super) fn auditor<'c>(
        &self,
        settings: AuditSettings,
        compat: &'c Compat,
        shell: &Shell,
    ) -> Result<Auditor<'c>, Diagnostics> {
        let mut sink = Sink::new();
        let mut patterns: Vec<String> = self
            .exclude
            .iter()
            .chain(&self.left_outside)
            .cloned()
            .collect();
        for name in self
            .exclude_preset
            .iter()
            .filter(|_| self.exclude_preset != [NO_PRESET])
        {
            match compat.preset(name) {
                Some(preset) => patterns.extend(preset.patterns.iter().cloned()),
                None => {
                    let known: Vec<&str> = compat
                        .tables()
                        .presets
                        .iter()
                        .map(|row| row.name.as_str())
                        .collect();
                    let near = nearest::nearest(name, known.iter().copied());
                    let message =
                        nearest::with_nearest(format!("there is no preset `{name}`"), near);
                    sink.push(
                        Diagnostic::new(&codes::UNKNOWN_PRESET, message).help(format!(
                            "known are {}, and `{NO_PRESET}` alone for no set",
                            known.join(", ")
                        )),
                    );
                }
            }
        }
        if let Some(file) = &self.exclude_file {
            match sys::read_text(file, LIMIT_BYTES) {
                Ok(text) => patterns.extend(pattern_lines(&text)),
                Err(fault) => sink.push(fault.into()),
            }
        }
        let mut parse = |patterns: &[String]| {
            LibraryPatterns::new(patterns.iter().map(String::as_str)).unwrap_or_else(|error| {
                sink.push(
                    Diagnostic::new(&codes::BAD_PATTERN, error.to_string())
                        .help("shell patterns have `*`, `?` and `[…]`"),
                );
                LibraryPatterns::default()
            })
        };
        let (exclude, allowed_rpaths) = (parse(&patterns), parse(&self.allow_rpath));
        let policies =
            self.policy_file
                .as_ref()
                .and_then(|path| match sys::read_text(path, LIMIT_BYTES) {
                    Ok(text) => PolicyFile::read(
                        &SourceText::new(path.display().to_string(), text),
                        &mut sink,
                    ),
                    Err(fault) => {
                        sink.push(fault.into());
                        None
                    }
                });
        let scratch = self.work.room().unwrap_or_else(|fault| {
            sink.push(fault);
            ScratchSpace::default()
        });
        let sysroot = Sysroot::new(&self.sysroot);
        if !self.no_host_libs && !sysroot.is_there() {
            sink.push(
                no_folder(&self.sysroot)
                    .help("no library would be found below it; correct `--sysroot`"),
            );
        }
        let found = sink.finish();
        if found.iter().any(Diagnostic::is_error) {
            let has_bad_pattern = found.iter().any(|one| one.code == &codes::BAD_PATTERN);
            let errors = Diagnostics::from(found);
            return Err(if has_bad_pattern {
                errors.exits_with(ExitClass::Usage)
            } else {
                errors
            });
        }
        let options = AuditOptions {
            depth: settings.depth,
            exclude,
            allowed_rpaths,
            policies,
            ignore_isa_extensions: self.disable_isa_ext_check,
            requested_platform: settings.platform,
            verify_record: settings.verify_record,
            scratch,
        };
        let auditor = if self.no_host_libs {
            Auditor::new(compat, NoLibraries, options)
        } else {
            let path = sysroot.search_path(self.ldpaths.as_deref(), &shell.environment);
            if self.ldpaths.is_some() {
                let told = |folder: &str| no_folder(Path::new(folder)).severity(Severity::Warning);
                let missing = sysroot.missing(&path.system).into_iter().map(told);
                shell.report(
                    &missing
                        .map(|one| one.help("correct `--ldpaths`"))
                        .collect::<Vec<_>>(),
                );
            }
            Auditor::new(compat, SystemLibraries::new(sysroot, path), options)
        };
        Ok(auditor.with_progress(Watchers::of(shell)))
    }

    /// Returns a warning for each pattern of `--exclude` that matched no library, unless one of the
    /// wheels could not be read: it may contain the only match.
    pub(super) fn unmatched_excludes(
        &self,
        auditor: &Auditor<'_>,
        wheels: usize,
    ) -> Vec<Diagnostic> {
        if auditor.audited_count() < wheels {
            return Vec::new();
        }
        let unmatched = auditor.unmatched_excludes();
        self.exclude
            .iter()
            .filter(|pattern| unmatched.contains(&pattern.as_str()))
            .map(|pattern| {
                Diagnostic::new(
                    &codes::UNMATCHED_EXCLUDE,
                    format!("`--exclude {pattern}` left nothing out"),
                )
                .help(unmatched_help(pattern))
            })
            .collect()
    }
}

/// Returns the help for a pattern that matched no library.
fn unmatched_help(pattern: &str) -> &'static str {
    if pattern.is_empty() {
        "an empty pattern matches nothing: leave it out"
    } else if pattern.contains(['*', '?', '[']) {
        "no library that is needed has such a name or path: `rock-matrix wheel show` lists them"
    } else {
        "patterns match whole names: end them with `.so*`"
    }
}

/// That a folder to search libraries in is not there.
fn no_folder(path: &Path) -> Diagnostic {
    let reason = "there is no such folder".to_owned();
    sys::FileError {
        action: "read",
        path: path.to_owned(),
        reason,
        source: None,
    }
    .into()
}

/// Patterns of a file: one a line, without empty lines and those that begin with `#`.
fn pattern_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
}

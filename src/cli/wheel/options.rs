//! Options of commands that audit wheels.

use std::path::{Path, PathBuf};

use crate::audit::{
    AuditOptions, Auditor, Inspection, LibraryPatterns, NoLibraries, Sysroot, SystemLibraries,
    pattern_lines, preset_patterns,
};
use crate::cli::Shell;
use crate::cli::completed_value::{self, CompletedValue};
use crate::cli::reporters::WheelReporter;
use crate::codes::wheel as codes;
use crate::compat::Compat;
use crate::compat::policy::PolicyFile;
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass, Severity, Sink, SourceText};
use crate::sys::{self, ScratchSpace};

/// Maximum size of a file with patterns or policies, in bytes.
const LIMIT_BYTES: u64 = 16 << 20;

/// Settings of an audit that depend on the command.
#[derive(Debug, Clone, Default)]
pub(super) struct AuditSettings {
    /// The subjects of the inspection of each member.
    pub(super) inspection: Inspection,
    /// The requested platform tag.
    pub(super) platform: Option<String>,
    /// Whether large libraries are verified while they are read.
    pub(super) verify_record: bool,
}

// Options of every command that audits.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Options {
    /// Exclude libraries whose name or path matches this shell pattern
    ///
    /// Excluded libraries are neither grafted nor reported as missing. Patterns must match the
    /// whole name or path; `*` also matches slashes. Can be repeated.
    #[arg(long, value_name = "GLOB", help_heading = "Libraries")]
    exclude: Vec<String>,
    /// Exclude known sets of libraries: rocm, torch, cuda, jax, or none
    ///
    /// `none` excludes no set. `wheel repair` excludes rocm, torch and cuda by default, other
    /// commands no set. Separate several with commas.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = CompletedValue(completed_value::exclude_presets),
        hide_possible_values = true,
        help_heading = "Libraries"
    )]
    exclude_preset: Vec<String>,
    /// Exclude libraries that match the patterns in this file, one per line
    ///
    /// Empty lines and lines that begin with `#` are ignored.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Libraries",
        hide_short_help = true
    )]
    exclude_file: Option<PathBuf>,
    /// Ignore the libraries of this machine, for the same result everywhere
    #[arg(
        long,
        conflicts_with_all = ["ldpaths", "sysroot"],
        help_heading = "Libraries"
    )]
    no_host_libs: bool,
    /// Search for libraries in these directories instead of the configured ones
    ///
    /// Separate directories with colons. They replace `LD_LIBRARY_PATH`, the configuration of the
    /// dynamic linker and its default directories. `AUDITWHEEL_LD_LIBRARY_PATH` is still searched,
    /// before them.
    #[arg(
        long,
        value_name = "DIRS",
        help_heading = "Libraries",
        hide_short_help = true
    )]
    ldpaths: Option<String>,
    /// Search for libraries below this directory, as if it were the root
    ///
    /// Use it for the file system of a container image, for example.
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/",
        help_heading = "Libraries",
        hide_short_help = true
    )]
    sysroot: PathBuf,
    /// Allow absolute search paths (RPATH) that match this shell pattern
    #[arg(
        long,
        value_name = "GLOB",
        help_heading = "Libraries",
        hide_short_help = true
    )]
    allow_rpath: Vec<String>,
    /// Use the platform policies in this file, in auditwheel's format
    ///
    /// They replace the built-in policies.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Platform",
        hide_short_help = true
    )]
    policy_file: Option<PathBuf>,
    /// Accept libraries that require x86-64-v2 or later
    #[arg(long, help_heading = "Platform", hide_short_help = true)]
    disable_isa_ext_check: bool,
    #[command(flatten, next_help_heading = "Performance")]
    work: Work,
}

// Storage for members that must be read out of order.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Work {
    /// Directory for members over 512 MiB [default: the system's temporary directory]
    ///
    /// Only members that must be read out of order are unpacked to it.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    work_dir: Option<PathBuf>,
}

impl Work {
    /// Returns the storage.
    ///
    /// # Errors
    /// Returns an error if no file can be created in the directory.
    pub(super) fn room(&self) -> Result<ScratchSpace, Diagnostic> {
        Ok(ScratchSpace::new(self.work_dir.as_deref())?)
    }
}

impl Options {
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
        let mut patterns = self.exclude.clone();
        match preset_patterns(&self.exclude_preset, compat) {
            Ok(presets) => patterns.extend(presets),
            Err(errors) => sink.extend(errors),
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
            inspection: settings.inspection,
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
                let warnings: Vec<Diagnostic> = sysroot
                    .missing(&path.system)
                    .into_iter()
                    .map(|folder| {
                        no_folder(Path::new(folder))
                            .severity(Severity::Warning)
                            .help("correct `--ldpaths`")
                    })
                    .collect();
                shell.report(&warnings);
            }
            Auditor::new(compat, SystemLibraries::new(sysroot, path), options)
        };
        Ok(auditor.with_progress(WheelReporter::new(shell)))
    }

    /// Returns a warning for each pattern of `--exclude` that matched no library, unless one of the
    /// wheels could not be read: it may contain the only match.
    pub(super) fn unmatched_excludes(
        &self,
        auditor: &Auditor<'_>,
        wheels: usize,
    ) -> Vec<Diagnostic> {
        auditor.unmatched_exclude_findings(&self.exclude, wheels)
    }
}

/// Returns the error that a library directory does not exist.
fn no_folder(path: &Path) -> Diagnostic {
    let reason = "there is no such directory".to_owned();
    sys::FileError {
        action: "read",
        path: path.to_owned(),
        reason,
        source: None,
    }
    .into()
}

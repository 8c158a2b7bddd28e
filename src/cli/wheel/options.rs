//! What wheels are judged with, as options say it.

use std::path::{Path, PathBuf};

use super::bar::Watchers;
use super::judging::Judge;
use crate::audit::Sysroot;
use crate::audit::{Excludes, Look, MachineLibraries, NoLibraries, SearchPath};
use crate::cli::{Exit, Shell, load};
use crate::codes::wheel as codes;
use crate::compat::policy::{PolicyFamily, PolicyFile};
use crate::diagnostic::{Diagnostic, Severity, Sink, SourceText, nearest};
use crate::sys::{self, ScratchSpace};

/// What is read at most of a file of patterns or policies.
const LIMIT_BYTES: u64 = 16 << 20;

/// Options of every command that judges.
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

    /// Gathers what the options name.
    ///
    /// # Errors
    /// The exit of the command, after telling which presets do not exist and what cannot be read.
    pub(super) fn judge(&self, look: Look, shell: &Shell) -> Result<Judge, Exit> {
        let compat = load::compat(shell)?;
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
        let mut excludes = |patterns: &[String]| {
            Excludes::new(patterns.iter().map(String::as_str)).unwrap_or_else(|reason| {
                sink.push(
                    Diagnostic::new(&codes::BAD_PATTERN, reason)
                        .help("shell patterns have `*`, `?` and `[…]`"),
                );
                Excludes::default()
            })
        };
        let (excludes, allowed_paths) = (excludes(&patterns), excludes(&self.allow_rpath));
        let policy_file =
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
        let room = self.work.room().unwrap_or_else(|fault| {
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
            let is_of_words = |one: &Diagnostic| {
                one.code == &codes::UNKNOWN_PRESET || one.code == &codes::BAD_PATTERN
            };
            let is_usage = found.iter().any(is_of_words);
            return Err(match super::report(shell, &found) {
                Exit::Fault if is_usage => Exit::Usage,
                exit => exit,
            });
        }
        let host = if !self.no_host_libs && sysroot.is_of_musl() {
            PolicyFamily::Musllinux
        } else {
            PolicyFamily::Manylinux
        };
        let (libraries, path): (Box<dyn MachineLibraries>, SearchPath) = if self.no_host_libs {
            (Box::new(NoLibraries), SearchPath::default())
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
            (Box::new(sysroot), path)
        };
        let checks_isa = !self.disable_isa_ext_check;
        let (root, given) = (self.sysroot.clone(), self.exclude.clone());
        let watchers = Watchers::of(shell);
        Ok(Judge {
            libraries,
            host,
            root,
            given,
            path,
            excludes,
            allowed_paths,
            policy_file,
            checks_isa,
            watchers,
            room,
            ..Judge::alone(compat, look)
        })
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

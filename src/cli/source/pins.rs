//! `source pins`: every pin of a torch checkout, and the downloads that are available for it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::choices::read_files;
use super::{Exit, Format, OutputFormat, Shell, load};
use crate::codes::sources as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Sink, SourceText};
use crate::names::{RocmVersion, Version};
use crate::source::pins::{
    self, AotritonCopy, AotritonMode, ArchiveDigest, LocalCopies, PinnedCommit, PinnedSources,
    TorchAotriton,
};
use crate::source::related::{RelatedCommits, RowStrictness};
use crate::sys;

/// Time limit for reading the commit of a checkout with git.
const ASKED: Duration = Duration::from_secs(10);

/// Show every pin of a torch checkout and the AOTriton downloads for it
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix source pins pytorch                           show all pins
  rock-matrix source pins pytorch --rocm 7.2 --gfx gfx1151  show the archives for a ROCm and a GPU",
    after_long_help = "\
Only local files are read. The exit code is 1 if the commit of AOTriton cannot be determined, unless
AOTRITON_INSTALLED_PREFIX is set or --default is given.

Examples:
  rock-matrix source pins pytorch                           show all pins
  rock-matrix source pins pytorch --rocm 7.2 --gfx gfx1151  show the archives for a ROCm and a GPU
  rock-matrix source pins pytorch --aotriton aotriton       compare a checkout with the pin"
)]
pub(super) struct Args {
    /// Directory of the torch checkout
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Show the archive that torch uses for this ROCm version
    #[arg(long, value_name = "VERSION", help_heading = "AOTriton")]
    rocm: Option<RocmVersion>,
    /// Show only the images for these GPU targets, such as gfx942,gfx1151
    ///
    /// Targets are separated by `,`, `;` or blanks.
    #[arg(long, alias = "gpu", value_name = "LIST", help_heading = "AOTriton")]
    gfx: Option<String>,
    /// CPU architecture in the names of archives
    #[arg(
        long,
        value_name = "CPU",
        default_value = "x86_64",
        help_heading = "AOTriton"
    )]
    cpu: String,
    /// Use the default commit if the checkout pins none
    ///
    /// The default is in the table `pins`.
    #[arg(long, help_heading = "AOTriton")]
    default: bool,
    /// AOTriton checkout to compare with the pin and to search for a build
    #[arg(long, value_name = "DIR", help_heading = "AOTriton")]
    aotriton: Option<PathBuf>,
    /// Directory of Python packages to search for an installed AOTriton
    #[arg(long, value_name = "DIR", help_heading = "AOTriton")]
    site_packages: Option<PathBuf>,
    /// Skip invalid rows of `related_commits` with a warning
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let mut sink = Sink::new();
    let shown = args.folder.display().to_string();
    if !shell.environment.current_dir.join(&args.folder).is_dir() {
        let fault = Diagnostic::new(
            &codes::NO_PIN,
            format!("there is no checkout of torch at `{shown}`"),
        );
        return shell.report(&[fault
            .at(Location::Argument(shown), "")
            .help("pass the folder of a torch checkout")]);
    }
    let document = args.read(compat, shell, &mut sink);
    let printed = shell.print(&match args.format.get() {
        Format::Human => human(&document),
        Format::Json => {
            serde_json::to_string_pretty(&document)
                .expect("a struct of texts and numbers serialises")
                + "\n"
        }
    });
    match shell.report(&sink.finish()) {
        Exit::Done => printed,
        exit => exit,
    }
}

#[derive(serde::Serialize)]
struct Document {
    version: u32,
    torch: Option<Told>,
    pins: Vec<Told>,
    related: Vec<Related>,
    aotriton: Option<Package>,
}

/// A value and the file and line it was read from.
#[derive(serde::Serialize)]
struct Told {
    name: String,
    value: String,
    from: String,
}

#[derive(serde::Serialize)]
struct Related {
    project: String,
    os: String,
    commit: String,
    origin: String,
    line: usize,
}

#[derive(serde::Serialize)]
struct Package {
    #[serde(skip)]
    name: String,
    version: Option<String>,
    generation: String,
    file: Option<String>,
    commit: Option<String>,
    /// The origin of the commit, or the reason why it is unknown.
    commit_from: String,
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    archives: Vec<Archive>,
    /// The archive that torch uses for `--rocm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<String>,
    images: Vec<Archive>,
    /// The existing copy that a build uses, if one was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    copy: Option<Told>,
    /// The versions that this torch was released with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    released_with: Vec<String>,
}

#[derive(serde::Serialize)]
struct Archive {
    r#for: String,
    name: String,
    sha256: Option<String>,
    available: bool,
}

impl Args {
    fn read(&self, compat: &Compat, shell: &Shell, sink: &mut Sink) -> Document {
        let rows = || {
            compat
                .source_tables()
                .pins
                .iter()
                .filter(|row| row.beside == "torch")
        };
        let version_file = "version.txt";
        let paths = rows().map(|row| row.file.as_str()).chain([version_file]);
        let files = read_files(&self.folder, paths, sink);
        let line = |name: &str, source: &SourceText| Told {
            name: name.to_owned(),
            value: source
                .text
                .trim()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
            from: format!("{}:1", source.path),
        };
        let torch = files.get(version_file).map(|source| line("torch", source));
        let texts = rows().filter(|row| row.format == "text");
        let pins = texts
            .filter_map(|row| Some(line(&row.pin, files.get(&row.file)?)))
            .collect();
        let strictness = if self.lenient {
            RowStrictness::Lenient
        } else {
            RowStrictness::Strict
        };
        let related = rows()
            .find(|row| row.format == "related-commits")
            .and_then(|row| files.get(&row.file));
        let related = related.map(|source| RelatedCommits::parse(source, strictness, sink));
        let related = related
            .iter()
            .flat_map(RelatedCommits::rows)
            .map(|row| Related {
                project: row.project.clone(),
                os: row.os.clone(),
                commit: row.commit.clone(),
                origin: row.origin.clone(),
                line: row.line,
            });
        let related = related.collect();
        let variable = |name: &str| shell.environment.get(name).map(str::to_owned);
        let pinned = pins::read(compat, pins::with_archives(compat), &files, variable);
        let pinned = pinned.map(|pinned| {
            if self.default {
                pinned.or_default()
            } else {
                pinned
            }
        });
        let aotriton =
            pinned.map(|pinned| self.package(&pinned, torch.as_ref(), compat, shell, sink));
        Document {
            version: 1,
            torch,
            pins,
            related,
            aotriton,
        }
    }

    fn package(
        &self,
        pinned: &PinnedSources<'_>,
        torch: Option<&Told>,
        compat: &Compat,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Package {
        let mode = pinned.mode(|name| shell.environment.variables.get(name).cloned());
        let (commit, commit_from) = self.commit(pinned, &mode, sink);
        let copies = self.copies(pinned, &mode, shell);
        let copy = copies
            .as_ref()
            .map(|copies| copy_value(&pins::copy(copies), pinned));
        if let (Some(folder), Some(commit)) = (&self.aotriton, &commit) {
            sink.extend(mismatch(folder, commit, shell));
        }
        let archive = |r#for: &str, name: String, sum: &ArchiveDigest| Archive {
            r#for: r#for.to_owned(),
            name,
            sha256: if let ArchiveDigest::Digest(digest) = sum {
                Some(digest.to_hex())
            } else {
                None
            },
            available: *sum != ArchiveDigest::Absent,
        };
        let wanted: Vec<&str> = self
            .gfx
            .iter()
            .flat_map(|text| text.split([';', ',', ' ']))
            .collect();
        let is_wanted = |image: &&pins::AotritonImages| {
            wanted.is_empty() || wanted.iter().any(|target| image.is_for(target))
        };
        Package {
            name: pinned.row.pin.clone(),
            version: pinned.version.clone(),
            generation: pinned.row.generation.clone(),
            file: pinned.file.clone(),
            commit,
            commit_from,
            mode: match mode {
                AotritonMode::Installed(_) => "installed",
                AotritonMode::FromSource => "from-source",
                AotritonMode::Download => "download",
            },
            prefix: if let AotritonMode::Installed(prefix) = mode {
                Some(prefix)
            } else {
                None
            },
            archives: pinned
                .builds
                .iter()
                .map(|build| archive(&build.rocm, pinned.archive(build, &self.cpu), &build.sum))
                .collect(),
            taken: self
                .rocm
                .as_ref()
                .map(|rocm| self.taken(pinned, rocm, compat, sink)),
            images: pinned
                .images
                .iter()
                .filter(is_wanted)
                .map(|image| archive(&image.name, pinned.image(image), &image.sum))
                .collect(),
            copy,
            released_with: released_with(pinned, torch, compat, sink),
        }
    }

    /// Returns the commit and its origin; reports an error if it is unknown but required.
    fn commit(
        &self,
        pinned: &PinnedSources<'_>,
        mode: &AotritonMode,
        sink: &mut Sink,
    ) -> (Option<String>, String) {
        match &pinned.commit {
            PinnedCommit::Known { commit, from } => (Some(commit.clone()), from.to_string()),
            PinnedCommit::Unknown { reason, line } => {
                let is_needed = !matches!(mode, AotritonMode::Installed(_));
                let name = pinned
                    .file
                    .clone()
                    .unwrap_or_else(|| self.folder.display().to_string());
                let place = line.map_or_else(|| name.clone(), |line| format!("{name}:{line}"));
                if is_needed {
                    sink.push(
                        Diagnostic::new(
                            &codes::UNKNOWN_PIN,
                            format!(
                                "cannot determine the commit of {}: {reason}",
                                pinned.row.pin
                            ),
                        )
                        .at(Location::File(place.into()), "")
                        .help(format!(
                            "set {}, or use the default commit with `--default`",
                            pinned.row.env
                        )),
                    );
                }
                (None, reason.clone())
            }
        }
    }

    /// Describes the archive that torch uses for a ROCm; reports a warning if there is none.
    fn taken(
        &self,
        pinned: &PinnedSources<'_>,
        rocm: &RocmVersion,
        compat: &Compat,
        sink: &mut Sink,
    ) -> String {
        let others = || {
            let there = pinned
                .builds
                .iter()
                .filter(|build| build.sum != ArchiveDigest::Absent);
            let names: Vec<&str> = there.map(|build| build.rocm.as_str()).collect();
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        };
        let version = pinned.version.as_deref().unwrap_or("of this pin");
        let mut missing = |why: String| {
            let message = format!(
                "{} {version} has no archive for ROCm {rocm}: {why}",
                pinned.row.pin
            );
            sink.push(Diagnostic::new(&codes::NO_ARCHIVE, message).help(format!(
                "build it from source, or use a ROCm version with an archive: {}",
                others()
            )));
        };
        match pinned.taken(rocm, compat) {
            TorchAotriton::Archive(build) | TorchAotriton::Clamped(build)
                if build.sum == ArchiveDigest::Absent =>
            {
                missing(format!(
                    "the digest of {} is all zeros",
                    pinned.archive(build, &self.cpu)
                ));
                "unavailable".to_owned()
            }
            TorchAotriton::Archive(build) => pinned.archive(build, &self.cpu),
            TorchAotriton::Clamped(build) => {
                format!(
                    "{}, the nearest listed one",
                    pinned.archive(build, &self.cpu)
                )
            }
            TorchAotriton::BuiltRuntime => {
                "none: the library is built from source, images are downloaded".to_owned()
            }
            TorchAotriton::Refused => {
                missing("it is not listed".to_owned());
                "unavailable".to_owned()
            }
        }
    }

    /// Returns the existing copies; `None` if there is no place to look for them.
    fn copies(
        &self,
        pinned: &PinnedSources<'_>,
        mode: &AotritonMode,
        shell: &Shell,
    ) -> Option<LocalCopies> {
        let here = &shell.environment.current_dir;
        let row = pinned.row;
        let built = self
            .aotriton
            .as_ref()
            .map(|folder| folder.join(&row.installed));
        let built = built.filter(|folder| sys::is_file(&here.join(folder).join(&row.library)));
        let has_module = |folder: &&PathBuf| {
            let names = sys::entry_names(&here.join(folder)).unwrap_or_default();
            !row.module.is_empty() && names.iter().any(|name| name.starts_with(&row.module))
        };
        let shown = |folder: &Path| folder.display().to_string();
        let copies = LocalCopies {
            installed: if let AotritonMode::Installed(prefix) = mode {
                Some(prefix.clone())
            } else {
                None
            },
            built: built.as_deref().map(shown),
            module: self
                .site_packages
                .as_ref()
                .filter(has_module)
                .map(|folder| shown(folder)),
        };
        let was_looked_for =
            self.aotriton.is_some() || self.site_packages.is_some() || copies.installed.is_some();
        was_looked_for.then_some(copies)
    }
}

fn copy_value(copy: &AotritonCopy, pinned: &PinnedSources<'_>) -> Told {
    let (name, value, from) = match copy {
        AotritonCopy::Installed(prefix) => (
            "installed",
            prefix.clone(),
            pinned.row.installed_env.clone(),
        ),
        AotritonCopy::Built(folder) => (
            "built",
            folder.clone(),
            format!("{} exists", pinned.row.library),
        ),
        AotritonCopy::Module(folder) => (
            "module",
            folder.clone(),
            format!("{} exists", pinned.row.module),
        ),
        AotritonCopy::Source => ("source", String::new(), "there is no copy".to_owned()),
    };
    Told {
        name: name.to_owned(),
        value,
        from,
    }
}

/// Returns a warning if a checkout is at another commit than the pinned one.
fn mismatch(folder: &Path, commit: &str, shell: &Shell) -> Option<Diagnostic> {
    let git = sys::find_program("git", &shell.environment)?;
    let shown = folder.display().to_string();
    let here = shell
        .environment
        .current_dir
        .join(folder)
        .display()
        .to_string();
    let head = sys::probe(
        &git,
        &["-C", &here, "rev-parse", "HEAD"],
        &shell.environment,
        ASKED,
    );
    let head = head.first_line_of_success()?;
    if head.starts_with(&commit.to_ascii_lowercase()) {
        return None;
    }
    let message = format!("`{shown}` is at {head}, but torch pins {commit}");
    Some(
        Diagnostic::new(&codes::OTHER_COMMIT, message)
            .at(Location::File(shown.into()), "")
            .help(format!(
                "check out {commit} there, or ignore this if another commit is used on purpose"
            )),
    )
}

/// Returns the versions that this torch was released with; reports a warning if the pinned one does
/// not fit.
fn released_with(
    pinned: &PinnedSources<'_>,
    torch: Option<&Told>,
    compat: &Compat,
    sink: &mut Sink,
) -> Vec<String> {
    let minor = torch
        .and_then(|torch| torch.value.parse::<Version>().ok())
        .map(|version| version.minor());
    let Some((minor, (fits, row))) = minor.and_then(|minor| {
        let fits = pinned.fits(compat, &minor)?;
        Some((minor, fits))
    }) else {
        return Vec::new();
    };
    let known: Vec<String> = row.upstream.iter().chain(&row.fork).cloned().collect();
    if !fits {
        let version = pinned.version.as_deref().unwrap_or_default();
        let message = format!(
            "torch {minor} pins {} {version}, but was released with {}",
            pinned.row.pin,
            known.join(", ")
        );
        sink.push(
            Diagnostic::new(&codes::UNUSUAL_VERSION, message)
                .note(compat.cite("pins.yaml", &format!("torch-aotriton {minor}"), &row.origin))
                .help(
                    "check that the pin was changed on purpose: point releases are compatible, \
                     others may not be",
                ),
        );
    }
    known
}

fn human(document: &Document) -> String {
    let mut text = String::new();
    for value in document.torch.iter().chain(&document.pins) {
        let _ = writeln!(text, "{:14} {:40}  {}", value.name, value.value, value.from);
    }
    for row in &document.related {
        let _ = writeln!(
            text,
            "{:14} {:40}  {} for {}",
            row.project, row.commit, row.origin, row.os
        );
    }
    let Some(package) = &document.aotriton else {
        return text;
    };
    let version = package.version.as_deref().unwrap_or("unknown");
    let _ = writeln!(
        text,
        "{:14} {version:40}  {}",
        package.name,
        package.file.as_deref().unwrap_or("no file")
    );
    let commit = package.commit.as_deref().unwrap_or("unknown");
    let _ = writeln!(text, "  commit       {commit:40}  {}", package.commit_from);
    let mode = match &package.prefix {
        Some(prefix) => format!("installed at {prefix}"),
        None => package.mode.replace('-', " "),
    };
    let _ = writeln!(text, "  mode         {mode}");
    if let Some(copy) = &package.copy {
        let _ = writeln!(text, "  copy         {} {}", copy.name, copy.value);
    }
    if let Some(taken) = &package.taken {
        let _ = writeln!(text, "  taken        {taken}");
    }
    for (name, archives) in [("archive", &package.archives), ("images", &package.images)] {
        for archive in archives {
            let sum = match (&archive.sha256, archive.available) {
                (Some(sum), _) => sum.as_str(),
                (None, true) => "no digest",
                (None, false) => "unavailable",
            };
            let _ = writeln!(text, "  {name:12} {}  {sum}", archive.name);
        }
    }
    text
}

//! `wheel embed`: embed the ROCm runtime in a wheel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::output::{self, DestinationArgs};
use super::{OutputFormat, fail};
use crate::audit::embed::{
    EmbeddedFile, RocmRequirement, embed_rocm, embedded_search_path, embedding_rule, is_embedded,
    select_embedded_files, tree_entries,
};
use crate::audit::{EditedFile, ElfLibrary, FileChanges, StripMode, WheelFile};
use crate::cli::{Exit, Shell, load};
use crate::codes::{elf as elf_codes, wheel as codes};
use crate::compat::rows::EmbeddingRow;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::elf::{Elf, ElfEdits, SearchPathEdit, tag};
use crate::sys::{self, PositionalFile, ReopenedFile};
use crate::wheel::{
    AddedMember, LabelCheck, MemberContent, MemberView, RenamePlan, Wheel, WheelEdits,
};

/// Embed the ROCm runtime in a wheel, so that it needs no ROCm packages
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix wheel embed torch-2.9.0+rocm7.10.0-cp312-cp312-win_amd64.whl --rocm build/dist/rocm
  rock-matrix wheel embed torch-2.9.0-cp312-cp312-win_amd64.whl --rocm rocm --out fat",
    after_long_help = "\
For torch wheels for Windows; support for Linux is experimental. The local version label gets the
prefix `rocm.`, and the requirement of ROCm packages is removed. The input is not modified: the new
wheel is written under its new name, and its path is printed. A wheel that already contains ROCm
does not change. The compatibility data defines which files are embedded and where:
`rock-matrix compat list embeddings`. SOURCE_DATE_EPOCH sets the time of all members.

Examples:
  rock-matrix wheel embed torch-2.9.0+rocm7.10.0-cp312-cp312-win_amd64.whl --rocm build/dist/rocm
  rock-matrix wheel embed torch-2.9.0-cp312-cp312-win_amd64.whl --rocm rocm --out fat"
)]
pub(super) struct Args {
    /// Wheel to embed ROCm in; the file is not modified
    wheel: PathBuf,
    /// Folder of the ROCm installation
    #[arg(long, value_name = "DIR")]
    rocm: PathBuf,
    /// Keep the requirement of ROCm packages
    ///
    /// Installers then install these packages as well.
    #[arg(long)]
    keep_requires: bool,
    #[command(flatten)]
    destination: DestinationArgs,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    embedded(args, shell).unwrap_or_else(|errors| fail(shell, &errors))
}

fn embedded(args: &Args, shell: &Shell) -> Result<Exit, Diagnostics> {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return Ok(exit),
    };
    let input = WheelFile::open(&args.wheel)?;
    let wheel = Wheel::open(&input.file).map_err(|error| error.diagnostic(&input.file_name))?;
    output::check_copied(&wheel, &input, LabelCheck::Ignore)?;
    let row = embedding_rule(&input.name, compat)?;
    let save = |change: RenamePlan<'_>| {
        let destination = args.destination.destination();
        let (out, saved) = output::save(&args.wheel, &wheel, &change, destination, shell)?;
        Ok(output::tell(
            &args.wheel,
            &out,
            saved,
            change,
            &args.format,
            shell,
        ))
    };
    if is_embedded(&wheel, row) {
        let place = Location::Member {
            wheel: input.file_name.clone(),
            member: row.into.clone(),
        };
        let finding = Diagnostic::new(&codes::EMBEDDED_ALREADY, "the wheel already contains ROCm")
            .at(place, "");
        return save(RenamePlan {
            name: input.name.clone(),
            edits: WheelEdits::default(),
            findings: vec![finding],
        });
    }
    let leaves = tree_entries(&args.rocm).map_err(Diagnostic::from)?;
    let soname = |path: &str| {
        let file = PositionalFile::open(&args.rocm.join(path)).ok()?;
        let elf = Elf::read(&file).ok()?;
        elf.dynamic_strings(&elf.string_table(&file).ok()?, tag::SONAME)
            .ok()?
            .pop()
    };
    let (selected, findings) =
        select_embedded_files(&args.rocm.display().to_string(), &leaves, row, &soname)?;
    let sources: Vec<ReopenedFile> = selected
        .iter()
        .map(|file| ReopenedFile::new(&args.rocm.join(&file.path)))
        .collect::<Result<_, _>>()
        .map_err(Diagnostic::from)?;
    let added = |(file, source): (&EmbeddedFile, _)| {
        let content = MemberContent::Source(source);
        let added = if file.is_executable {
            AddedMember::executable(content)
        } else {
            AddedMember::plain(content)
        };
        (file.name.clone(), added)
    };
    let files: BTreeMap<String, AddedMember<'_>> = selected
        .iter()
        .zip(&sources)
        .map(|(file, source): (_, &ReopenedFile)| added((file, source)))
        .collect();
    let requirements = if args.keep_requires {
        RocmRequirement::Kept
    } else {
        RocmRequirement::Dropped
    };
    let mut change = embed_rocm(&wheel, &input.name, row, files, requirements)?;
    change.findings.extend(findings);
    let edited = with_search_paths(&input, &wheel, row, &selected)?;
    let archive = wheel.archive();
    let replaced = edited.iter().filter_map(|(path, edited)| {
        Some((path.clone(), edited.content(archive, archive.member(path)?)))
    });
    change.edits.replaced.extend(replaced);
    save(change)
}

/// Returns the libraries of the wheel that need embedded ones, with a search path to these.
fn with_search_paths<'w>(
    input: &WheelFile,
    wheel: &'w Wheel<'_>,
    row: &EmbeddingRow,
    embedded: &[EmbeddedFile],
) -> Result<Vec<(String, EditedFile<'w>)>, Diagnostics> {
    if row.search.is_empty() {
        return Ok(Vec::new());
    }
    let below = format!("{}/", row.search);
    let names: BTreeSet<&str> = embedded
        .iter()
        .filter_map(|file| file.name.strip_prefix(&below))
        .collect();
    let archive = wheel.archive();
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for member in archive
        .members()
        .iter()
        .filter(|member| is_library(member.name()))
    {
        let path = member.name();
        let view = MemberView::new(archive, member, &sys::allocate_scratch, None);
        let file_name = path.rsplit('/').next().unwrap_or(path);
        let made = Elf::read(&view)
            .and_then(|elf| ElfLibrary::read(&view, &elf, file_name, &|_| false))
            .and_then(|library| {
                let rpath = embedded_search_path(path, &library, row, &names);
                if rpath == SearchPathEdit::Keep {
                    return Ok(None);
                }
                FileChanges::new(
                    &view,
                    &ElfEdits {
                        rpath,
                        ..ElfEdits::default()
                    },
                    StripMode::None,
                )
                .map(Some)
            });
        match made {
            Ok(Some(changes)) if !changes.is_empty() => {
                let base = MemberView::forward(archive, member, &sys::allocate_scratch);
                files.push((path.to_owned(), EditedFile::new(Box::new(base), changes)));
            }
            Ok(_) => {}
            Err(error) => {
                let place = Location::Member {
                    wheel: input.file_name.clone(),
                    member: path.to_owned(),
                };
                let message = format!("it cannot be changed safely: {error}");
                faults.push(Diagnostic::new(&elf_codes::UNEDITABLE_ELF, message).at(place, ""));
            }
        }
    }
    Diagnostics::check(faults)?;
    Ok(files)
}

/// Returns whether a member is named like a shared library for Linux.
fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".so").is_some() || name.contains(".so.")
}

//! `wheel embed`: put ROCm into a wheel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::output::{self, Destination};
use super::{Printing, fail};
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

/// Put ROCm into a wheel, so that it needs no packages of ROCm beside it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For wheels of torch for Windows; those for Linux are experimental. The label gets `rocm.` in front,
and the requirement of ROCm's packages goes. The wheel itself stays as it is; a new one is written,
and its path printed. A wheel that holds ROCm already stays as it is. What is put where is a row of
the facts: `rock-matrix compat list embeddings`. SOURCE_DATE_EPOCH sets the time of all members.

Examples:
  rock-matrix wheel embed torch-2.9.0+rocm7.10.0-cp312-cp312-win_amd64.whl --rocm build/dist/rocm
  rock-matrix wheel embed torch-2.9.0-cp312-cp312-win_amd64.whl --rocm rocm -w fat --keep-requires")]
pub(super) struct Args {
    /// The wheel
    wheel: PathBuf,
    /// The folder that ROCm is installed in
    #[arg(long, value_name = "DIR")]
    rocm: PathBuf,
    /// Keep the requirement of ROCm's packages, which installers then bring as well
    #[arg(long)]
    keep_requires: bool,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    printing: Printing,
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
        let (out, saved) = output::save(&args.wheel, &wheel, &change, &args.destination, shell)?;
        Ok(output::tell(
            &args.wheel,
            &out,
            saved,
            change,
            &args.printing,
            shell,
        ))
    };
    if is_embedded(&wheel, row) {
        let place = Location::Member {
            wheel: input.file_name.clone(),
            member: row.into.clone(),
        };
        let told =
            Diagnostic::new(&codes::EMBEDDED_ALREADY, "the wheel holds ROCm already").at(place, "");
        return save(RenamePlan {
            name: input.name.clone(),
            edits: WheelEdits::default(),
            findings: vec![told],
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
    let (along, told) =
        select_embedded_files(&args.rocm.display().to_string(), &leaves, row, &soname)?;
    let sources: Vec<ReopenedFile> = along
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
    let files: BTreeMap<String, AddedMember<'_>> = along
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
    change.findings.extend(told);
    let edited = led(&input, &wheel, row, &along)?;
    let archive = wheel.archive();
    let replaced = edited.iter().filter_map(|(path, edited)| {
        Some((path.clone(), edited.content(archive, archive.member(path)?)))
    });
    change.edits.replaced.extend(replaced);
    save(change)
}

/// Libraries of the wheel that need one of ROCm, with a search path that leads to it.
fn led<'w>(
    input: &WheelFile,
    wheel: &'w Wheel<'_>,
    row: &EmbeddingRow,
    along: &[EmbeddedFile],
) -> Result<Vec<(String, EditedFile<'w>)>, Diagnostics> {
    if row.search.is_empty() {
        return Ok(Vec::new());
    }
    let below = format!("{}/", row.search);
    let names: BTreeSet<&str> = along
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

/// Whether a member is named as shared libraries of Linux are.
fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".so").is_some() || name.contains(".so.")
}

//! Artifacts read and laid out, with everything that a person should know of it.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::mixed;
use super::read::{self, Read};
use super::wanted::{Made, Wanted};
use crate::bytes::{has_same_content, start_threads};
use crate::cli::wheel::report;
use crate::cli::{Exit, Shell, load};
use crate::codes::sdk as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location};
use crate::sdk::{
    self, ContentComparison, DevelTree, LayoutRequest, PackageLayout, PathOverlap, SplitMode,
};
use crate::sys::{FileError, ScratchSpace};

/// What is made of which artifacts.
pub(super) struct Laid {
    pub(super) read: Read,
    pub(super) made: Made,
    pub(super) layout: PackageLayout,
    pub(super) devel: Vec<DevelTree>,
}

/// Reads the artifacts and lays them out; what must be kept of archives is kept in `room`, and what
/// was found is told. `Err` is the exit of a command that cannot go on. Where libraries are made
/// for families, only those of `families` are taken, or all when none is asked for.
pub(super) fn lay_out(
    wanted: &Wanted,
    (nonce, families): (&str, &BTreeSet<String>),
    room: &ScratchSpace,
    shell: &Shell,
) -> Result<Laid, Exit> {
    let compat = load::compat(shell)?;
    let (laid, findings) =
        laid(wanted, (nonce, families), room, compat).map_err(|faults| report(shell, faults))?;
    match shell.report(&findings) {
        Exit::Done => Ok(laid),
        exit => Err(exit),
    }
}

fn laid(
    wanted: &Wanted,
    (nonce, families): (&str, &BTreeSet<String>),
    room: &ScratchSpace,
    compat: &Compat,
) -> Result<(Laid, Vec<Diagnostic>), Vec<Diagnostic>> {
    let one = |fault: Diagnostic| vec![fault];
    let mut read = read::read(&wanted.artifact_dir, room)?;
    let mut findings = std::mem::take(&mut read.findings);
    if read.artifacts.is_empty() {
        let place = Location::File(wanted.artifact_dir.display().to_string().into());
        findings.push(Diagnostic::new(&codes::NO_ARTIFACT, "there is no artifact in the folder").at(place, "").help(
            "artifacts are folders such as `base_lib_generic`, each with an `artifact_manifest.txt`, \
                     or archives of them",
        ));
        return Err(findings);
    }
    let (made, told) = match wanted.made(&read) {
        Ok(made) => made,
        Err(fault) => {
            findings.push(fault);
            return Err(findings);
        }
    };
    findings.extend(told);
    if made.mode == SplitMode::Legacy {
        read.keep_families(families);
    }
    findings.extend(
        mixed::findings(&read, made.version.as_deref()).map_err(|error| one(error.into()))?,
    );
    let aliases = wanted.runtime_alias.clone();
    findings.extend(sdk::spellings(&read.artifacts, &compat.tables().families));
    let facts = compat.sdk_tables();
    let wish = LayoutRequest {
        mode: made.mode,
        platform: wanted.platform,
        nonce: nonce.to_owned(),
        aliases,
    };
    let layout = match sdk::lay_out(&read.artifacts, facts, &wish) {
        Ok(layout) => layout,
        Err(faults) => {
            findings.extend(faults);
            return Err(findings);
        }
    };
    let devel = sdk::devel_trees(&read.artifacts, facts, &wish, &layout, wanted.keep_dangling);
    let shared = sdk::overlaps(&read.artifacts, &layout, &devel);
    findings.extend(overlaps(&read, &shared, wanted.strict).map_err(|error| one(error.into()))?);
    findings.extend(sdk::told(&read.artifacts, &layout, &devel, &wish));
    if findings.iter().any(Diagnostic::is_error) {
        return Err(findings);
    }
    Ok((
        Laid {
            read,
            made,
            layout,
            devel,
        },
        findings,
    ))
}

/// Paths that several artifacts have with different bytes. Only files of one size are read, and
/// those in parallel.
fn overlaps(
    read: &Read,
    overlaps: &BTreeSet<PathOverlap>,
    is_strict: bool,
) -> Result<Vec<Diagnostic>, FileError> {
    let told = |overlap: &PathOverlap| {
        let is_other = match overlap.sameness(&read.artifacts) {
            ContentComparison::Same => false,
            ContentComparison::Other => true,
            ContentComparison::Bytes => {
                let (kept, other) = (read.open(overlap.kept)?, read.open(overlap.other)?);
                let fault = |error| FileError::new("compare", &read.path(overlap.other), error);
                !has_same_content(kept.as_ref(), other.as_ref()).map_err(fault)?
            }
        };
        Ok(is_other.then(|| overlap.told(&read.artifacts, is_strict)))
    };
    let all: Vec<&PathOverlap> = overlaps.iter().collect();
    start_threads();
    let told: Result<Vec<Option<Diagnostic>>, FileError> = all.into_par_iter().map(told).collect();
    Ok(told?.into_iter().flatten().collect())
}
